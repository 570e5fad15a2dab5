//! Numbers as people type them: one rule for every option.

/// A count: 1000, 1,000, 1e6, 5k, 2.5M, 1B, which is 10^9, or 1T.
pub fn count<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let number = number(text, |unit| match unit {
        "" => Some(1),
        "k" => Some(1000),
        "m" => Some(1_000_000),
        "b" | "g" => Some(1_000_000_000),
        "t" => Some(1_000_000_000_000),
        _ => None,
    })?;
    T::try_from(number).map_err(|_| "too large a number".into())
}

/// Bytes: as a count, but B is a byte; KB, MB and so on are powers of 1000, KiB, MiB and so on of 1024.
pub fn bytes(text: &str) -> Result<u64, String> {
    number(text, |unit| {
        let unit = unit.strip_suffix('b').unwrap_or(unit);
        let (prefix, base) =
            unit.strip_suffix('i').map_or((unit, 1000_u64), |prefix| (prefix, 1024));
        let power = ["", "k", "m", "g", "t"].iter().position(|it| *it == prefix)?;
        (base == 1000 || power > 0).then(|| base.pow(power as u32))
    })
}

/// At least 1.
pub fn some<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    match count::<u64>(text)? {
        0 => Err("expected 1 at least".into()),
        number => T::try_from(number).map_err(|_| "too large a number".into()),
    }
}

/// A count, which may be negative.
pub fn signed(text: &str) -> Result<i32, String> {
    match text.strip_prefix('-') {
        Some(positive) => count(positive).map(|number: i32| -number),
        None => count(text),
    }
}

fn number(text: &str, factor: impl Fn(&str) -> Option<u64>) -> Result<u64, String> {
    let expected = || String::from("expected a number such as 1000, 1e6, 5M or, of bytes, 64KiB");
    let end = text.rfind(|c: char| c.is_ascii_digit() || c == '.').map_or(0, |last| last + 1);
    let (digits, unit) = text.split_at(end);
    let factor = factor(&unit.to_ascii_lowercase()).ok_or_else(expected)?;
    let (whole, fraction) = digits.split_once(['.', 'e', 'E']).unwrap_or((digits, ""));
    // A comma before other than three digits is somebody's decimal point.
    let mut groups = whole.split(',').skip(1);
    if !groups.all(|group| group.len() == 3)
        || fraction.contains(',')
        || text.starts_with(['+', '-'])
    {
        return Err(expected());
    }
    let digits = digits.replace(['_', ','], "");
    if let Ok(whole) = digits.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(|| "too large a number".into());
    }
    match digits.parse::<f64>().map(|number| number * factor as f64) {
        Ok(number) if number > 1e18 => Err("too large a number".into()),
        // 8.2 times a million is less than 8,200,000 in binary.
        Ok(number) if factor > 1 || number.fract() == 0.0 => Ok(number.round() as u64),
        _ => Err(expected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for (text, number) in [
            ("1000", 1000),
            ("1,000", 1000),
            ("1_000", 1000),
            ("1,234,567", 1_234_567),
            ("5.0", 5),
            ("5k", 5000),
            ("2.5M", 2_500_000),
            ("8.2m", 8_200_000),
            ("1,500.5k", 1_500_500),
            ("1B", 1_000_000_000),
            ("1b", 1_000_000_000),
            ("1G", 1_000_000_000),
            ("1.5T", 1_500_000_000_000_u64),
            ("1e6", 1_000_000),
            ("1E9", 1_000_000_000),
            ("2.5e3", 2500),
        ] {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        let wrong = [
            "", "ten", ".", ",", "1,5M", "1,50", "1,2345", "1.5,000k", "0.5", "1.2.3k", "5 M", "M",
            "1e",
        ];
        for wrong in wrong.into_iter().chain([
            "e6",
            "1e-1",
            "1KiB",
            "5kb",
            "-1",
            "+1",
            "1e40",
            "99999999999T",
            "NaN",
            "inf",
        ]) {
            assert!(count::<u64>(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            (signed("-5"), signed("1k"), count::<u8>("256").is_err()),
            (Ok(-5), Ok(1000), true)
        );
        assert_eq!(
            (some("1"), some::<u64>("0").is_err(), some::<u64>("0.0001k").is_err()),
            (Ok(1_u64), true, true)
        );
    }

    #[test]
    fn bytes_have_units_of_their_own() {
        for (text, number) in [
            ("1B", 1),
            ("64", 64),
            ("64KiB", 65536),
            ("2MB", 2_000_000),
            ("2M", 2_000_000),
            ("1GiB", 1 << 30),
            ("1e6", 1_000_000),
            ("1Ki", 1024),
        ] {
            assert_eq!(bytes(text), Ok(number), "{text}");
        }
        assert!(bytes("1iB").is_err() && bytes("1.5").is_err() && bytes("1x").is_err());
    }
}
