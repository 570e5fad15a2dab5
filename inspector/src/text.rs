//! Numbers, keys and plots as text.

use std::path::Path;

use console::Term;
use indicatif::HumanCount;
use textwrap::{Options, WordSeparator, WordSplitter};

use crate::encoding::Encoding;
use crate::printable::printable;

/// 1234567 as 1,234,567.
pub fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

pub fn bytes(number: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut value = number as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", units[unit])
}

/// A share as percent, with as many digits as say something.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 {
        "0 %".into()
    } else if percent >= 99.95 {
        "100 %".into()
    } else if percent >= 9.95 {
        format!("{percent:.1} %")
    } else if percent >= 0.0995 {
        format!("{percent:.2} %")
    } else if percent >= 1e-9 {
        let digits = (1.0 - percent.log10().floor()) as usize;
        format!("{percent:.digits$} %")
    } else {
        format!("{percent:.1e} %")
    }
}

/// A sentence out of what stands in another one.
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// With one digit after the point, unless that is a zero.
pub fn tenths(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

pub fn hex(bytes: &[u8]) -> String {
    Encoding::Hex.show(bytes).to_string()
}

/// A key as somebody can read it, and give it to `probe` again: text in quotes, or `hex:`.
pub fn key(key: &[u8]) -> String {
    const MOST: usize = 80;
    // Escapes would have to be told from what a key may hold itself, and `probe` knows none.
    let is_text = |text: &&str| !text.is_empty() && printable(text) == *text;
    let text = match std::str::from_utf8(key).ok().filter(is_text) {
        Some(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        None => format!("hex:{}", hex(key)),
    };
    if text.chars().count() <= MOST * 2 {
        return text;
    }
    let begin: String = text.chars().take(MOST).collect();
    format!("{begin}... ({} bytes)", key.len())
}

/// A path as a terminal can show it: a file's name may hold anything.
pub fn path(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// For a terminal that has colours; `print` takes them off for others.
pub fn styled(style: anstyle::Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

pub const BOLD: anstyle::Style = anstyle::Style::new().bold();
pub const BAD: anstyle::Style = anstyle::AnsiColor::Red.on_default().bold();
pub const WASTED: anstyle::Style = anstyle::AnsiColor::Yellow.on_default().bold();

/// `text` in lines that the terminal has room for, or of 100 where there is none; the first after
/// `first`, the others after as many spaces.
pub fn wrap(text: &str, first: &str) -> String {
    const MOST: usize = 100;
    let columns = Term::stdout().size_checked().map_or(MOST, |(_, columns)| columns.into());
    wrap_to(columns.min(MOST), text, first)
}

fn wrap_to(width: usize, text: &str, first: &str) -> String {
    let indent = " ".repeat(first.chars().count());
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(&indent)
        .word_splitter(WordSplitter::NoHyphenation)
        .word_separator(WordSeparator::AsciiSpace)
        .break_words(false);
    let words: Vec<_> = text.split_whitespace().collect();
    textwrap::fill(&words.join(" "), options) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1 << 20), "1.0 MiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        let shares = [0.0, 0.5, 0.0084, 0.00012, 0.0000012, 1.0];
        let texts = shares.map(percent);
        assert_eq!(texts, ["0 %", "50.0 %", "0.84 %", "0.012 %", "0.00012 %", "100 %"]);
        assert_eq!(
            (tenths(10.0), tenths(10.04), tenths(10.06)),
            ("10".into(), "10".into(), "10.1".into())
        );
    }

    #[test]
    fn keys_can_be_read() {
        assert_eq!(key(b"user:1"), "\"user:1\"");
        assert_eq!(key(b"a\"b"), "\"a\\\"b\"");
        assert_eq!(key(b"a\0b"), "hex:610062");
        assert_eq!(key("é\u{202e}".as_bytes()), "hex:c3a9e280ae");
        assert_eq!(key("\u{2028}é".as_bytes()), "hex:e280a8c3a9");
        assert_eq!(key("é".as_bytes()), "\"é\"");
        assert_eq!(key(b""), "hex:");
        assert!(key(&[0; 1000]).ends_with("... (1000 bytes)"));
    }

    #[test]
    fn lines_wrap() {
        assert_eq!(wrap_to(7, "aa bb cc", "- "), "- aa bb\n  cc\n");
        assert_eq!(wrap_to(5, "abcdefghij k", "- "), "- abcdefghij\n  k\n");
    }
}
