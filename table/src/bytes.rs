//! Numbers at the beginning of a slice.

/// A slice from which numbers are taken one after another; `None` where the bytes do not hold one.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    /// LevelDB's varint32: at most five bytes. Bits beyond the 32nd are dropped, as LevelDB does.
    #[inline]
    pub(crate) fn varint32(&mut self) -> Option<u32> {
        let (&first, rest) = self.0.split_first()?;
        if first < 0x80 {
            self.0 = rest;
            return Some(u32::from(first));
        }
        self.varint(5).map(|value| value as u32)
    }

    /// LevelDB's varint64: at most ten bytes.
    pub(crate) fn varint64(&mut self) -> Option<u64> {
        self.varint(10)
    }

    fn varint(&mut self, most: usize) -> Option<u64> {
        let mut value = 0;
        for (i, &byte) in self.0.iter().take(most).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.0 = self.0.get(i + 1..)?;
                return Some(value);
            }
        }
        None
    }

    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }
}

/// The little-endian u32 at `at`.
#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints() {
        let mut bytes = Bytes(&[0x00, 0x7f, 0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0x0f]);
        assert_eq!(bytes.varint32(), Some(0));
        assert_eq!(bytes.varint32(), Some(127));
        assert_eq!(bytes.varint32(), Some(128));
        assert_eq!(bytes.varint32(), Some(u32::MAX));
        assert_eq!(bytes.varint32(), None);
        assert_eq!(Bytes(&[0x80; 20]).varint32(), None);
        assert_eq!(Bytes(&[0x80; 20]).varint64(), None);
        assert_eq!(Bytes(&[0x80]).varint64(), None);
        let five = [0x81, 0x80, 0x80, 0x80, 0x80, 0x00];
        assert_eq!((Bytes(&five).varint32(), Bytes(&five).varint64()), (None, Some(1)));
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Bytes(&most).varint64(), Some(u64::MAX));
    }
}
