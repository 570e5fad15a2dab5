//! Keys and values as text, and back.

use std::ffi::OsStr;
use std::fmt::{self, Write as _};

use base64::Engine as _;
use base64::alphabet;
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use clap::ValueEnum;

use crate::printable::printable;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Encoding {
    /// Text as it is, any other byte as \xff
    Escaped,
    /// Hexadecimal digits
    Hex,
    /// Of the standard alphabet; the other one is read, too
    Base64,
}

impl Encoding {
    /// The bytes that an argument stands for, or what was expected.
    pub fn decode(self, argument: &OsStr) -> Result<Vec<u8>, String> {
        let text = argument.to_string_lossy();
        match self {
            // Where arguments are bytes, as a shell's $'\xff' is, these are the key's.
            Encoding::Escaped => unescaped(argument.as_encoded_bytes()).ok_or(
                r"expected \\, \' or \x and two hexadecimal digits behind a backslash".into(),
            ),
            Encoding::Hex => {
                let digits = text.trim_start_matches("hex:").trim_start_matches("0x");
                let digits: String = digits.chars().filter(|c| !c.is_whitespace()).collect();
                unhex(digits.as_bytes()).ok_or("expected pairs of hexadecimal digits".into())
            }
            Encoding::Base64 => {
                let config = GeneralPurposeConfig::new()
                    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
                    .with_decode_allow_trailing_bits(true);
                let alphabet = match text.contains(['-', '_']) {
                    true => &alphabet::URL_SAFE,
                    false => &alphabet::STANDARD,
                };
                let decoded = GeneralPurpose::new(alphabet, config).decode(text.trim());
                decoded.map_err(|error| format!("expected base64: {error}"))
            }
        }
    }

    /// `bytes` as text, which is made while it is written: a value may be large.
    pub fn show(self, bytes: &[u8]) -> Shown<'_> {
        Shown(self, bytes)
    }
}

/// The bytes of a command's KEY.
pub fn key(argument: &OsStr, encoding: Option<Encoding>) -> Result<Vec<u8>, String> {
    match encoding {
        Some(encoding) => encoding.decode(argument).map_err(|expected| format!("KEY: {expected}")),
        // Where arguments are bytes, as a shell's $'\xff' is, these are the key's.
        None => Ok(argument.as_encoded_bytes().to_vec()),
    }
}

pub struct Shown<'a>(Encoding, &'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Encoding::Hex => self.1.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
            Encoding::Base64 => Base64Display::new(self.1, &STANDARD).fmt(f),
            Encoding::Escaped => escape(self.1, f),
        }
    }
}

impl serde::Serialize for Shown<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn escape(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let mut utf8 = [0; 4];
            let text = &*c.encode_utf8(&mut utf8);
            match c {
                '\\' | '\'' => write!(f, "\\{c}")?,
                ' '..='~' => f.write_char(c)?,
                _ if !c.is_ascii() && printable(text) == text => f.write_char(c)?,
                _ => text.bytes().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?,
            }
        }
        chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
    }
    Ok(())
}

fn unescaped(mut text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    while let Some((&byte, rest)) = text.split_first() {
        text = rest;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&escaped, rest) = text.split_first()?;
        text = rest;
        match escaped {
            b'\\' | b'\'' => bytes.push(escaped),
            b'x' => {
                let (digits, rest) = text.split_at_checked(2)?;
                text = rest;
                bytes.extend(unhex(digits)?);
            }
            _ => return None,
        }
    }
    Some(bytes)
}

fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let nibble = |digit: u8| char::from(digit).to_digit(16);
    let byte = |pair: &[u8]| match *pair {
        [high, low] => Some((nibble(high)? << 4 | nibble(low)?) as u8),
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_again() {
        let all: Vec<u8> = (0..=255).chain("'é\u{202e}\\\u{2028}日".bytes()).collect();
        for encoding in [Encoding::Escaped, Encoding::Hex, Encoding::Base64] {
            for len in [0, 1, 2, 3, 128, all.len()] {
                let text = encoding.show(&all[..len]).to_string();
                assert!(text.chars().all(|c| !c.is_control()), "{text}");
                assert_eq!(encoding.decode(OsStr::new(&text)), Ok(all[..len].to_vec()));
            }
        }
        let shown = Encoding::Escaped.show("a'\0é\u{202e}\\".as_bytes()).to_string();
        assert_eq!(shown, r"a\'\x00é\xe2\x80\xae\\");
        for wrong in [r"\", r"\n", r"\x", r"\x1", r"\xgg"] {
            assert!(Encoding::Escaped.decode(OsStr::new(wrong)).is_err(), "{wrong}");
        }
    }
}
