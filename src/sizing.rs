//! How many bits to spend: the false-positive rate of a filter, before and after it is made.
//!
//! The textbook gives (1 - e^(-kn/m))^k for n keys and k probes in m bits. The real rate is higher,
//! for four reasons that are counted here:
//!
//! - A filter knows a key by a 32-bit hash. Of all absent keys, 1 - (1 - 2^-32)^n share the hash of
//!   one of the n keys and match, however many bits there are.
//! - The probes of a key are an arithmetic progression. In a small filter an absent key often has
//!   the progression of one of the keys, or nearly so: about 2n/m^2 * (1 + 2f + 2f^2 + ...), where f
//!   is the share of bits that are set.
//! - A progression whose step shares a divisor with m returns to its start after L < k probes, and
//!   tests only L bits.
//! - The third probe is the remainder of 65,537 * c for one of only 196,608 numbers c, so that in a
//!   large filter it reaches fewer bits than the others (see [`ThirdProbe`]).
//!
//! Not counted: a number of bits that shares a divisor with 2^32 - 1, and sizes above 20,000 keys at
//! which the third probe's bits meet those of others. docs/settings.md has the measured rates.

use core::ffi::CStr;
use core::fmt;

use crate::filter::{Filter, MAX_PROBES, filter_len, probes_for};
use crate::policy::Encoding;
use crate::ribbon::Ribbon;

/// The most bits per key that are useful in general: from here on the number of probes stays at
/// [`MAX_PROBES`]. Filters of up to some thousand keys still gain a little from more. With one or two
/// keys, or 300 million and more, 44 bits have more false positives than 10.
pub const MAX_USEFUL_BITS_PER_KEY: i32 = 44;

/// The expected false-positive rate, 0 to 1, of a filter for `num_keys` different keys; 1 if such a
/// filter cannot be made. Zero bits per key and below behave as 0.
///
/// It holds for keys that differ at random. Ordered keys, such as big-endian numbers, have much
/// higher rates. For random keys the real rate is higher, too:
///
/// - with 20,000 to some millions of keys: mostly up to 1.5 times, at one size in twenty up to seven
///   times;
/// - with fewer than 20 keys: up to a third more at 16 bits and fewer, up to six times above;
/// - where the number of bits shares a divisor of 51 or more with 2^32 - 1. A few keys more or less
///   avoid that.
///
/// docs/settings.md has examples of each.
///
/// ```
/// use leveldb_bloom::false_positive_rate;
///
/// assert!((false_positive_rate(10, 1_000) - 0.0085).abs() < 0.0005);
/// // Theory says 0.007 % for 20 bits per key, but the hash has only 32 bits.
/// assert!((false_positive_rate(20, 50_000_000) - 0.0116).abs() < 0.0005);
/// ```
#[must_use]
pub fn false_positive_rate(bits_per_key: i32, num_keys: usize) -> f64 {
    let Some(len) = filter_len(num_keys, bits_per_key) else { return 1.0 };
    let (bits, k, keys) = ((len as u64 - 1) * 8, probes_for(bits_per_key), num_keys as f64);
    rate(bits, k, fill_of(bits, k, keys), keys)
}

/// The fewest bits per key that give a false-positive rate of at most `rate` in a filter of
/// `num_keys` keys, as [`false_positive_rate`] estimates it. `None` where no number of bits up to
/// [`MAX_USEFUL_BITS_PER_KEY`] does.
///
/// ```
/// use leveldb_bloom::bits_per_key_for;
///
/// assert_eq!(bits_per_key_for(0.01, 1_000), Some(10));
/// assert_eq!(bits_per_key_for(0.001, 50_000_000), None);
/// ```
#[must_use]
pub fn bits_per_key_for(rate: f64, num_keys: usize) -> Option<i32> {
    (1..=MAX_USEFUL_BITS_PER_KEY).find(|&bits| false_positive_rate(bits, num_keys) <= rate)
}

/// Why a number of bits per key is probably a mistake. A policy with it works all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnwiseBitsPerKey(&'static CStr);

impl UnwiseBitsPerKey {
    /// The text as a C string.
    #[must_use]
    pub fn as_c_str(self) -> &'static CStr {
        self.0
    }
}

impl fmt::Display for UnwiseBitsPerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.to_str().unwrap_or_default())
    }
}

impl core::error::Error for UnwiseBitsPerKey {}

/// Checks that a number of bits per key is sensible.
///
/// # Errors
/// [`UnwiseBitsPerKey`], whose text says why it is not.
pub fn validate(bits_per_key: i32) -> Result<(), UnwiseBitsPerKey> {
    let text = match bits_per_key {
        ..=0 => c"no bits per key: filters have 64 bits however many keys they hold; 10 is usual",
        1..=3 => c"fewer than 4 bits per key: a fifth of absent keys or more match; 10 is usual",
        4..=MAX_USEFUL_BITS_PER_KEY => return Ok(()),
        45..=1000 => {
            c"more than 44 bits per key gain little: the number of probes stays at 30; 10 is usual"
        }
        _ => c"this is the number of bits for each key, not for a whole filter; 10 is usual",
    };
    Err(UnwiseBitsPerKey(text))
}

/// What can be read from a filter's bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FilterInfo {
    /// How the filter is written.
    pub encoding: Encoding,
    /// The stored number of probes, k. With 0 or more than [`MAX_PROBES`] the filter matches every
    /// key. A filter of fewer than two bytes has no bits and matches none. Of a ribbon filter, the
    /// number of bits that the sum of its slots has.
    pub probes: u32,
    /// The number of bits.
    pub bits: u64,
    /// How many of them are set.
    pub bits_set: u64,
    /// `bits_set / bits`; 0 if there are none.
    pub fill: f64,
    /// An estimate of the number of different keys. Infinite if all bits are set or the filter
    /// matches every key. Of a ribbon filter, which does not tell, the most that it is made for.
    pub estimated_keys: f64,
    /// The expected rate of false positives, from the fill; of a ribbon filter 2^-`probes`.
    pub false_positive_rate: f64,
}

impl FilterInfo {
    /// Reads a filter; any bytes may be given.
    ///
    /// ```
    /// use leveldb_bloom::{FilterPolicy, FilterInfo};
    ///
    /// let filter = FilterPolicy::new(10).create_filter(&["hello", "world"])?;
    /// let info = FilterInfo::of(&filter);
    /// assert_eq!((info.probes, info.bits, info.bits_set), (6, 64, 10));
    /// assert!((info.estimated_keys - 2.0).abs() < 0.3);
    /// # Ok::<(), leveldb_bloom::FilterTooLarge>(())
    /// ```
    #[must_use]
    pub fn of(filter: &[u8]) -> FilterInfo {
        let (mut probes, array) = match filter.split_last() {
            Some((&probes, array)) => (u32::from(probes), array),
            None => (0, filter),
        };
        let bits = array.len() as u64 * 8;
        let bits_set = count_ones(array);
        let fill = if bits == 0 { 0.0 } else { real(bits_set) / real(bits) };
        let mut encoding = Encoding::Bloom;
        let (estimated_keys, false_positive_rate) = match Filter::parse(filter) {
            Filter::Never => (0.0, 0.0),
            Filter::Probe { k, .. } => estimate(bits, bits_set, k),
            Filter::Always => match Ribbon::parse(filter) {
                None => (f64::INFINITY, 1.0),
                Some(ribbon) => {
                    (encoding, probes) = (Encoding::Ribbon, ribbon.result_bits());
                    (real(ribbon.most_keys()), power(0.5, probes))
                }
            },
        };
        FilterInfo { encoding, probes, bits, bits_set, fill, estimated_keys, false_positive_rate }
    }
}

fn count_ones(array: &[u8]) -> u64 {
    let mut words = array.chunks_exact(8);
    let whole = (&mut words).map(|word| word.try_into().map_or(0, u64::from_ne_bytes).count_ones());
    let sum: u64 = whole.map(u64::from).sum();
    sum + words.remainder().iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>()
}

/// The number of keys and the false-positive rate of a filter with `bits_set` of `bits` bits set,
/// and `k` probes.
fn estimate(bits: u64, bits_set: u64, k: u32) -> (f64, f64) {
    // Any bytes may be a filter, even with bits set that no probe reaches.
    if bits_set >= reachable(bits) {
        return (f64::INFINITY, 1.0);
    }
    let m = real(reachable(bits));
    let fill = real(bits_set) / m;
    let mut keys = m / f64::from(k) * (0.0 - ln(1.0 - fill));
    if !ThirdProbe::is_uniform(bits, k) {
        // A key's third probe may set no new bit: there are between this many keys and k / (k - 1)
        // times as many.
        let (mut low, mut high) = (keys, keys * f64::from(k) / f64::from(k - 1));
        for _ in 0..40 {
            keys = (low + high) / 2.0;
            if fill_of(bits, k, keys) < fill { low = keys } else { high = keys }
        }
    }
    (keys, rate(bits, k, fill, keys))
}

/// The share of bits set by `keys` keys with `k` probes each.
fn fill_of(bits: u64, k: u32, keys: f64) -> f64 {
    let third = ThirdProbe::of(bits, k, keys);
    1.0 - third.missed_by_others * (1.0 - third.share_set)
}

/// The effect of the third probes of `keys` keys; the other probes are taken for random positions.
///
/// With h = a * 2^17 + b, delta is b * 2^15 + a, and h + 2 * delta = (2^16 + 1) * (2a + b) modulo
/// 2^32. a has 2^15 values and b 2^17, so c = 2a + b has 3 * 2^16. Each c of the middle third is
/// that of one key in 2^17; from there the share falls linearly to 0 at both ends.
struct ThirdProbe {
    /// The share of all bits that the others of the k probes leave clear.
    missed_by_others: f64,
    /// The share of all bits that third probes set.
    share_set: f64,
    /// The probability that a key's third probe was the third probe of another.
    shared: f64,
}

impl ThirdProbe {
    /// Two keys share a sum in one of 2^18 * 3/5 cases. With fewer bits than that the third probe is
    /// as random as the others.
    fn is_uniform(bits: u64, k: u32) -> bool {
        k < 3 || bits <= (1 << 18) * 3 / 5
    }

    fn of(bits: u64, k: u32, keys: f64) -> ThirdProbe {
        let m = real(reachable(bits));
        let missed_by_others = exp(-f64::from(k.max(1) - 1) * keys / m);
        if Self::is_uniform(bits, k) {
            let share_set = 1.0 - exp(-keys / m);
            return ThirdProbe { missed_by_others, share_set, shared: share_set };
        }
        // Keys for each sum in the middle.
        let load = keys / 131_072.0;
        let clear = exp(-load);
        let (set, shared) = if load < 1e-3 {
            // The other branch as a series, because its rounding errors are too large here.
            (keys * (1.0 - load * 5.0 / 12.0), load * 5.0 / 6.0)
        } else {
            let middle = 1.0 - clear;
            let sides = 1.0 - middle / load;
            let shared_in_sides = 0.5 - (1.0 - (1.0 + load) * clear) / (load * load);
            (65_536.0 * (middle + 2.0 * sides), middle / 2.0 + shared_in_sides)
        };
        ThirdProbe { missed_by_others, share_set: set / m, shared }
    }
}

fn real(bits: u64) -> f64 {
    bits as f64
}

/// The bits that a 32-bit position can reach.
fn reachable(bits: u64) -> u64 {
    bits.min(1 << 32)
}

/// The rate of false positives of a filter of `bits`, `fill` of them set by `keys` keys with `k`
/// probes each.
fn rate(bits: u64, k: u32, fill: f64, keys: f64) -> f64 {
    let bits = reachable(bits);
    let m = real(bits);

    let set = |positions: u32| power(fill, positions.min(k));
    let shifted = 1.0 + (1..k).map(|shift| 2.0 * set(shift)).sum::<f64>();

    let short_cycles: f64 = (1..k)
        .filter(|&len| bits % u64::from(len) == 0)
        .map(|len| {
            // Where the 32-bit sum wraps, up to k - 1 times, the progression leaves its cycle for
            // another, unless 2^32 is a multiple of the distance between the cycle's positions.
            let steps = bits / u64::from(len);
            let wraps = if (1_u64 << 32).checked_rem(steps) == Some(0) { 1 } else { k };
            let positions = (1..=wraps).map(|wrap| set(len * wrap)).sum::<f64>();
            steps_of_cycle(len) / m * (positions / f64::from(wraps))
        })
        .sum();
    let same_progression = (2.0 * keys / (m * m) * shifted).clamp(0.0, 1.0);
    let same_hash = 1.0 - exp(-keys / 4_294_967_296.0);
    let third = ThirdProbe::of(bits, k, keys);
    let all_set = set(k - 1) * (1.0 - third.missed_by_others * (1.0 - third.shared));
    let no = (1.0 - all_set) * (1.0 - short_cycles.clamp(0.0, 1.0)) * (1.0 - same_progression);
    (1.0 - no * (1.0 - same_hash)).clamp(0.0, 1.0)
}

/// `base` to the power of `exponent`; `core` has no `powi`.
fn power(base: f64, exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

/// How many steps modulo a multiple of `len` return after exactly `len` probes: Euler's totient.
fn steps_of_cycle(len: u32) -> f64 {
    const fn gcd(a: u32, b: u32) -> u32 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    static TOTIENTS: [u8; MAX_PROBES as usize + 1] = {
        let mut totients = [0; MAX_PROBES as usize + 1];
        let mut len = 1;
        while len < totients.len() {
            let mut step = 1;
            while step <= len {
                totients[len] += (gcd(len as u32, step as u32) == 1) as u8;
                step += 1;
            }
            len += 1;
        }
        totients
    };
    TOTIENTS.get(len as usize).copied().unwrap_or(0).into()
}

/// e^x for x <= 0; `core` has none.
fn exp(x: f64) -> f64 {
    // e^x = 2^n * e^r with |r| <= ln 2 / 2.
    let n = (x * core::f64::consts::LOG2_E - 0.5) as i64;
    if n < -1022 {
        return 0.0;
    }
    let r = x - n as f64 * core::f64::consts::LN_2;
    let (mut sum, mut term, mut i) = (1.0, 1.0_f64, 1.0);
    while term.abs() > 1e-17 {
        term *= r / i;
        sum += term;
        i += 1.0;
    }
    sum * f64::from_bits(((1023 + n) as u64) << 52)
}

/// The natural logarithm for 0 < x <= 1 of ordinary size; `core` has none.
fn ln(x: f64) -> f64 {
    // x = 2^n * y with 2/3 < y <= 4/3, and ln y = 2 artanh((y - 1) / (y + 1)).
    let (mut y, mut n) = (x, 0.0);
    while y <= 2.0 / 3.0 {
        (y, n) = (y * 2.0, n - 1.0);
    }
    let s = (y - 1.0) / (y + 1.0);
    let (mut sum, mut power, mut i) = (0.0, s, 1.0);
    while f64::abs(power) > 1e-34 {
        sum += power / i;
        power *= s * s;
        i += 2.0;
    }
    2.0 * sum + n * core::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FilterPolicy, Positions, bloom_hash};
    use std::string::ToString;
    use std::vec::Vec;

    #[test]
    fn exp_and_ln_as_in_std() {
        for i in 0..=100_000 {
            let x = -f64::from(i) / 130.0;
            let wanted = x.exp();
            assert!((exp(x) - wanted).abs() <= wanted * 1e-13 + 1e-307, "exp({x})");
        }
        // The least that is not rounded more coarsely than the others.
        let (least, wanted) = (exp(-708.1), (-708.1f64).exp());
        assert!((least - wanted).abs() <= wanted * 1e-13, "{least}");
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        for i in 1..=100_000 {
            let x = f64::from(i) / 100_000.0;
            assert!((ln(x) - x.ln()).abs() < 1e-13, "ln({x}): {} {}", ln(x), x.ln());
        }
    }

    fn random(state: &mut u64) -> u32 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 16) as u32
    }

    /// The rate seen with random hashes: filters of `num_keys`, each asked as often as it takes.
    fn seen(bits_per_key: i32, num_keys: usize, asked: usize) -> f64 {
        let policy = FilterPolicy::new(bits_per_key);
        let len = policy.filter_len(num_keys).unwrap() - 1;
        let k = policy.probes();
        let mut state = 0x9e37_79b9_7f4a_7c15;
        let (mut yes, mut all) = (0, 0);
        while all < asked {
            let mut array = std::vec![0; len];
            for _ in 0..num_keys {
                crate::probe::insert(random(&mut state), k, &mut array);
            }
            for _ in 0..1000.max(num_keys) {
                yes += usize::from(crate::probe::contains(random(&mut state), k, &array));
                all += 1;
            }
        }
        yes as f64 / all as f64
    }

    #[test]
    fn estimates_are_near_what_is_seen() {
        let mut compared = 0;
        for bits_per_key in [2, 5, 10, 16, 20, 30, 44] {
            for num_keys in [1, 2, 5, 10, 20, 50, 100, 1000, 10_000] {
                let estimate = false_positive_rate(bits_per_key, num_keys);
                if estimate < 2e-4 {
                    continue;
                }
                compared += 1;
                let seen = seen(bits_per_key, num_keys, (1000.0 / estimate) as usize);
                let off = match (bits_per_key, num_keys) {
                    (_, 20..) => 0.83..1.2,
                    (..=10, _) => 0.88..1.33,
                    (..=16, _) => 0.7..1.33,
                    _ => 0.16..1.33,
                };
                assert!(
                    off.contains(&(estimate / seen)),
                    "{bits_per_key} bits, {num_keys} keys: {estimate:.6} estimated, {seen:.6} seen"
                );
            }
        }
        // Fewer, and some are estimated so low that they were left out.
        assert_eq!(compared, 53);
    }

    /// What the documentation says of more bits than are useful.
    #[test]
    fn bits_beyond_the_most_useful_still_help_small_filters() {
        let at_most = seen(MAX_USEFUL_BITS_PER_KEY, 100, 3_000_000);
        assert!((25_000.0..37_000.0).contains(&(1.0 / at_most)), "{at_most}");
        let beyond = seen(100, 100, 3_000_000);
        assert!((0.05..0.2).contains(&(beyond / at_most)), "{beyond}, not a tenth of {at_most}");
        let gained = |keys| false_positive_rate(44, keys) / false_positive_rate(1000, keys);
        assert!(gained(5_000) > 1.5 && gained(10_000) < 1.2 && gained(1_000_000) < 1.001);
        for keys in [1, 2] {
            let (most, usual) = (seen(44, keys, 300_000), seen(10, keys, 300_000));
            assert!(most > 2.0 * usual, "{keys} keys: {most} and {usual}");
        }
        // With 32 bits, filters of more keys cannot be made.
        #[cfg(target_pointer_width = "64")]
        {
            for keys in [300_000_000, 1_000_000_000] {
                assert!(false_positive_rate(44, keys) > false_positive_rate(10, keys));
            }
            assert!(false_positive_rate(44, 200_000_000) < false_positive_rate(10, 200_000_000));
        }
        for bits_per_key in [45, 60, 1000] {
            let text = validate(bits_per_key).unwrap_err().to_string();
            assert!(text.contains("gain little"), "{text}");
        }
    }

    /// The rates that the documentation gives of few keys.
    #[test]
    fn estimates_for_few_keys_of_many_bits() {
        for (bits_per_key, num_keys, expected) in [(40, 20, 1.46), (40, 10, 2.1), (42, 2, 5.5)] {
            let seen = seen(bits_per_key, num_keys, 3_000_000);
            let times = seen / false_positive_rate(bits_per_key, num_keys);
            assert!(
                (0.88..1.12).contains(&(times / expected)),
                "{bits_per_key} bits, {num_keys} keys: {seen:.6} seen, {times:.2} times the estimate"
            );
        }
    }

    /// Of 768 and 6,144 bits, the cycles of 3 steps stay what they are where the sum wraps.
    #[test]
    fn estimates_count_cycles_that_a_wrap_does_not_leave() {
        for (bits_per_key, num_keys) in [(32, 24), (24, 64), (32, 192)] {
            let estimate = false_positive_rate(bits_per_key, num_keys);
            let seen = seen(bits_per_key, num_keys, 10_000_000);
            assert!(
                (0.75..1.3).contains(&(seen / estimate)),
                "{bits_per_key} bits, {num_keys} keys: {estimate:.6} estimated, {seen:.6} seen"
            );
        }
    }

    /// The rates that the documentation gives where the bits share a divisor with 2^32 - 1.
    #[test]
    fn estimates_leave_out_what_a_size_shares_with_the_hash() {
        for (bits_per_key, num_keys, expected) in [
            (10, 81, 0.0104),
            (15, 27, 0.0027),
            (10, 204, 0.0115),
            (10, 52_428, 0.035),
            (20, 131_070, 0.0029),
            (30, 17_476, 0.000_73),
        ] {
            let seen = seen(bits_per_key, num_keys, 1_000_000);
            assert!(
                (0.9..1.1).contains(&(seen / expected)),
                "{bits_per_key} bits, {num_keys} keys: {seen:.6} seen"
            );
        }
    }

    /// The rates that the documentation gives of sizes that have nothing else in common.
    #[test]
    fn estimates_leave_out_where_third_probes_meet_others() {
        for (bits_per_key, num_keys, expected) in
            [(15, 100_000, 0.0026), (20, 371_000, 0.000_94), (28, 125_199, 0.000_21)]
        {
            let seen = seen(bits_per_key, num_keys, 3_000_000);
            assert!(
                (0.9..1.1).contains(&(seen / expected)),
                "{bits_per_key} bits, {num_keys} keys: {seen:.6} seen"
            );
        }
    }

    #[test]
    fn estimates_for_large_filters() {
        for (bits_per_key, num_keys, off) in [
            (5, 100_003, 1.0..1.2),
            (5, 1_000_000, 0.95..1.1),
            (8, 200_000, 1.0..1.3),
            (10, 20_000, 1.0..1.1),
            (10, 50_007, 1.0..1.15),
            (10, 200_007, 1.05..1.25),
            (10, 1_000_000, 1.05..1.25),
            (10, 1_000_007, 1.05..1.25),
            (10, 3_000_000, 1.0..1.2),
        ] {
            let seen = seen(bits_per_key, num_keys, 1_000_000);
            let estimate = false_positive_rate(bits_per_key, num_keys);
            assert!(
                off.contains(&(seen / estimate)),
                "{bits_per_key} bits, {num_keys} keys: {estimate:.6} estimated, {seen:.6} seen"
            );
        }
    }

    #[test]
    fn what_a_large_filter_says() {
        let policy = FilterPolicy::new(10);
        for num_keys in [10_000, 100_003, 1_000_000_u32] {
            let keys: Vec<_> = (0..num_keys).map(u32::to_le_bytes).collect();
            let info = FilterInfo::of(&policy.create_filter(&keys).unwrap());
            let keys_off = info.estimated_keys / f64::from(num_keys);
            assert!((0.98..1.02).contains(&keys_off), "{num_keys}: {info:?}");
            let rate_off = info.false_positive_rate / false_positive_rate(10, num_keys as usize);
            assert!((0.97..1.03).contains(&rate_off), "{num_keys}: {info:?}");
        }
    }

    #[test]
    fn few_keys_in_many_bits() {
        // From 131 to 132 keys the third probe's share is computed in another way.
        for keys in [0.01, 1.0, 10.0, 131.0, 132.0] {
            let info = ThirdProbe::of(10_000_000, 6, keys);
            let shared = keys / 157_286.4;
            assert!((info.shared / shared - 1.0).abs() < 1e-3, "{keys}: {}", info.shared);
            let set = keys - keys * keys / 2.0 / 157_286.4;
            assert!((info.share_set * 1e7 / set - 1.0).abs() < 1e-6, "{keys}: {}", info.share_set);
        }
    }

    #[test]
    fn where_the_third_probe_is_like_the_others() {
        assert!(ThirdProbe::is_uniform(157_286, 3));
        assert!(!ThirdProbe::is_uniform(157_287, 3));
        assert!(ThirdProbe::is_uniform(157_287, 2));
    }

    #[test]
    fn the_hash_sets_a_floor() {
        let floor = 1.0 - (-50e6_f64 / 4_294_967_296.0).exp();
        for bits in [20, 30, 44] {
            let rate = false_positive_rate(bits, 50_000_000);
            assert!((rate - floor).abs() < 1e-4, "{bits}: {rate}");
        }
        assert_eq!(bits_per_key_for(0.01, 50_000_000), None);
        assert!(bits_per_key_for(0.02, 50_000_000).is_some());
        // More keys than there are hashes.
        #[cfg(target_pointer_width = "64")]
        for (num_keys, floor) in [(1 << 32, 0.632), (1 << 33, 0.864)] {
            assert!(false_positive_rate(44, num_keys) > floor, "{num_keys}");
        }
    }

    #[test]
    fn odd_sizes_have_a_rate() {
        assert_eq!(false_positive_rate(10, 0), 0.0);
        assert_eq!(false_positive_rate(i32::MAX, usize::MAX), 1.0);
        assert_eq!(false_positive_rate(i32::MIN, 7), false_positive_rate(0, 7));
        assert!(false_positive_rate(0, 1_000_000) > 0.999);
        assert!(false_positive_rate(i32::MAX, 1) > 0.0);
        for rate in [f64::NAN, -1.0, 0.0] {
            assert_eq!(bits_per_key_for(rate, 1), None);
        }
        assert_eq!(bits_per_key_for(1.0, 1), Some(1));
        assert_eq!(bits_per_key_for(0.0, 0), Some(1));
    }

    #[test]
    fn silly_numbers_of_bits_are_explained() {
        for bits in 4..=44 {
            assert_eq!(validate(bits), Ok(()));
        }
        for (bits, text) in [
            (i32::MIN, "no bits"),
            (0, "no bits"),
            (1, "fewer than 4"),
            (3, "fewer than 4"),
            (45, "more than 44"),
            (1000, "more than 44"),
            (1001, "for each key"),
            (1 << 30, "for each key"),
        ] {
            let message = validate(bits).unwrap_err().to_string();
            assert!(message.contains(text), "{bits}: {message}");
            assert_eq!(validate(bits).unwrap_err().as_c_str().to_str(), Ok(&message[..]));
        }
    }

    #[test]
    fn what_a_filter_says() {
        for (bits_per_key, num_keys) in [(10, 20), (10, 1000), (16, 300), (5, 5000), (44, 100)] {
            let keys: Vec<_> = (0..num_keys).map(|i: u32| i.to_le_bytes()).collect();
            let policy = FilterPolicy::new(bits_per_key);
            let filter = policy.create_filter(&keys).unwrap();
            let info = FilterInfo::of(&filter);
            let mut bits: Vec<u64> = Vec::new();
            for key in &keys {
                bits.extend(Positions::new(bloom_hash(key), policy.probes(), info.bits));
            }
            bits.sort_unstable();
            bits.dedup();
            assert_eq!(info.bits_set, bits.len() as u64);
            // By their bits, which are rounded: i686 without SSE2 computes in wider registers.
            let fill = bits.len() as f64 / info.bits as f64;
            assert_eq!(info.fill.to_bits(), fill.to_bits());
            assert_eq!(info.probes, policy.probes());
            let keys_off = info.estimated_keys / f64::from(num_keys);
            assert!((0.85..1.15).contains(&keys_off), "{num_keys}: {info:?}");
            let expected = false_positive_rate(bits_per_key, num_keys as usize);
            let rate_off = info.false_positive_rate / expected;
            assert!((0.5..1.5).contains(&rate_off), "{num_keys}: {info:?}");
        }
    }

    #[test]
    fn bits_that_no_position_can_name() {
        for (bits, bits_set) in [((1 << 32) + 64, 1 << 32), ((1 << 33) + 8, 3 << 31)] {
            assert_eq!(estimate(bits, bits_set, 6), (f64::INFINITY, 1.0), "{bits_set} of {bits}");
        }
        let (keys, rate) = estimate((1 << 32) + 64, (1 << 32) - 1, 6);
        assert!(keys.is_finite() && rate <= 1.0, "{keys}, {rate}");
        // Not minus zero, which is printed as such.
        assert!(estimate(64, 0, 6).0.is_sign_positive());
    }

    #[test]
    fn steps_that_return_are_the_totient() {
        let totients = [1, 1, 2, 2, 4, 2, 6, 4, 6, 4, 10, 4, 12, 6, 8];
        for (len, totient) in (1..).zip(totients) {
            assert_eq!(steps_of_cycle(len), f64::from(totient), "{len}");
        }
    }

    #[test]
    fn a_filter_that_is_nearly_full() {
        let mut filter = [0xff; 101];
        filter[50] = 0xfe;
        for k in 1..=30 {
            filter[100] = k;
            let info = FilterInfo::of(&filter);
            let by_chance = (799.0f64 / 800.0).powi(k.into());
            assert!(info.false_positive_rate >= by_chance, "{k} probes: {info:?}");
        }
    }

    #[test]
    fn filters_of_any_bytes() {
        for (filter, probes, bits, set, keys, rate) in [
            (&[][..], 0, 0, 0, 0.0, 0.0),
            (&[6], 6, 0, 0, 0.0, 0.0),
            (&[0, 6], 6, 8, 0, 0.0, 0.0),
            (&[255, 6], 6, 8, 8, f64::INFINITY, 1.0),
            (&[1, 0], 0, 8, 1, f64::INFINITY, 1.0),
            (&[1, 31], 31, 8, 1, f64::INFINITY, 1.0),
        ] {
            let info = FilterInfo::of(filter);
            let seen = (info.probes, info.bits, info.bits_set);
            assert_eq!(seen, (probes, bits, set), "{filter:?}");
            assert_eq!(info.fill, if set == 0 { 0.0 } else { set as f64 / 8.0 }, "{filter:?}");
            assert_eq!((info.estimated_keys, info.false_positive_rate), (keys, rate), "{filter:?}");
        }
    }
}
