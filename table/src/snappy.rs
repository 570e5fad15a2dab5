//! Snappy's block format, decompressed.

use alloc::vec::Vec;

use crate::bytes::Bytes;
use crate::codec::Refusal;

/// Replaces `output` by the decompressed `input`.
///
/// # Errors
/// Where `input` is not what snappy makes, or would take more than `limit` bytes.
pub fn decompress_snappy(input: &[u8], limit: usize, output: &mut Vec<u8>) -> Result<(), Refusal> {
    const CUT: Refusal = Refusal::damaged("snappy", "more bytes");
    output.clear();
    let mut input = Bytes(input);
    let len = input.varint32().ok_or(Refusal::damaged("snappy", "a length"))?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    if len > limit {
        return Err(Refusal::TooLarge { len: len as u64, limit: limit as u64 });
    }
    // An element of three bytes gives 64 at most: a length beyond that is not believed.
    if len / 64 > input.0.len() {
        return Err(Refusal::damaged("snappy", "a length that the bytes can give"));
    }
    output.try_reserve_exact(len).map_err(|_| Refusal::NoMemory)?;
    while let Some((&tag, rest)) = input.0.split_first() {
        input.0 = rest;
        let upper = usize::from(tag >> 2);
        if tag & 3 == 0 {
            let count = match upper {
                0..=59 => upper + 1,
                _ => little_endian(input.take(upper - 59).ok_or(CUT)?).saturating_add(1),
            };
            let literal = input.take(count).ok_or(CUT)?;
            if literal.len() > len - output.len() {
                return Err(Refusal::damaged("snappy", "no more than the stated length"));
            }
            output.extend_from_slice(literal);
            continue;
        }
        let (count, distance) = match tag & 3 {
            1 => {
                let low = little_endian(input.take(1).ok_or(CUT)?);
                ((upper & 7) + 4, (upper >> 3) << 8 | low)
            }
            2 => (upper + 1, little_endian(input.take(2).ok_or(CUT)?)),
            _ => (upper + 1, little_endian(input.take(4).ok_or(CUT)?)),
        };
        if count > len - output.len() {
            return Err(Refusal::damaged("snappy", "no more than the stated length"));
        }
        let start = match output.len().checked_sub(distance) {
            Some(start) if distance != 0 => start,
            _ => return Err(Refusal::damaged("snappy", "a copy of bytes before it")),
        };
        // A copy may reach into what it writes: then it repeats.
        let mut left = count;
        while left > 0 {
            let piece = left.min(output.len() - start);
            output.extend_from_within(start..start + piece);
            left -= piece;
        }
    }
    if output.len() == len {
        Ok(())
    } else {
        Err(Refusal::damaged("snappy", "as many bytes as the stated length"))
    }
}

/// Of at most four bytes; on a machine of 16 bits the largest that it can say.
fn little_endian(bytes: &[u8]) -> usize {
    let value = bytes.iter().rev().fold(0, |value: u32, &byte| value << 8 | u32::from(byte));
    usize::try_from(value).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decompressed(input: &[u8]) -> Result<Vec<u8>, Refusal> {
        let mut output = Vec::new();
        decompress_snappy(input, 1 << 20, &mut output).map(|()| output)
    }

    #[test]
    fn elements() {
        assert_eq!(decompressed(b"\0").unwrap(), b"");
        assert_eq!(decompressed(b"\x03\x08abc").unwrap(), b"abc");
        // A literal of three, then a copy of 5 from 3 before, which repeats.
        assert_eq!(decompressed(b"\x08\x08abc\x05\x03").unwrap(), b"abcabcab");
        assert_eq!(decompressed(b"\x08\x08abc\x12\x03\0").unwrap(), b"abcabcab");
        assert_eq!(decompressed(b"\x08\x08abc\x13\x03\0\0\0").unwrap(), b"abcabcab");
        assert_eq!(decompressed(b"\x09\x0cabcd\x05\x02").unwrap(), b"abcdcdcdc");
        // A literal's length in one to four bytes.
        let text: Vec<u8> = (0..200).collect();
        for length in [&b"\xf0\xc7"[..], b"\xf4\xc7\0", b"\xf8\xc7\0\0", b"\xfc\xc7\0\0\0"] {
            assert_eq!(decompressed(&[b"\xc8\x01", length, &text].concat()).unwrap(), text);
        }
        // The longest copy that takes two bytes, from 300 before.
        let text: Vec<u8> = (0..300).map(|i| (i * i % 251) as u8).collect();
        let copied = decompressed(&[b"\xb7\x02\xf4\x2b\x01", &text[..], b"\x3d\x2c"].concat());
        assert_eq!(copied.unwrap(), [&text[..], &text[..11]].concat());
    }

    #[test]
    fn damage() {
        let inputs: [&[u8]; 11] = [
            b"",
            b"\x80",
            b"\x03\x08ab",
            b"\x04\x08abc",
            b"\x02\x08abc",
            b"\x08\x08abc\x05\x04",
            b"\x08\x08abc\x12\0\0",
            b"\x07\x08abc\x05\x03",
            b"\x08\x08abc\x05",
            b"\xff\xff\x3f\0a",
            b"\x04\xfc\xff\xff\xff\xff",
        ];
        for input in inputs {
            assert!(matches!(decompressed(input), Err(Refusal::Damaged { .. })), "{input:?}");
        }
        // A literal and a copy that would be more than the stated length are not written at all.
        for input in [b"\x04\x08abc\x08abc", &b"\x04\x08abc\x05\x03"[..]] {
            let mut output = Vec::new();
            assert!(decompress_snappy(input, 1 << 20, &mut output).is_err() && output == b"abc");
        }
        let mut output = Vec::new();
        assert_eq!(decompress_snappy(b"\x03\x08abc", 3, &mut output), Ok(()));
        let refused = Err(Refusal::TooLarge { len: 3, limit: 2 });
        assert_eq!(decompress_snappy(b"\x03\x08abc", 2, &mut output), refused);
        let mut output = Vec::new();
        assert!(decompress_snappy(b"\xff\xff\x3f\0a", 1 << 20, &mut output).is_err());
        assert_eq!(output.capacity(), 0, "memory taken for a length that was not believed");
        let huge = decompressed(b"\xff\xff\xff\xff\x0f");
        assert!(matches!(huge, Err(Refusal::TooLarge { .. })));
    }
}
