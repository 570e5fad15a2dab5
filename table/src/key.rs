//! The keys that a database stores: the program's key, and 8 bytes of LevelDB's own.

/// How a table has its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyFormat {
    /// With 8 bytes of LevelDB's own behind each, as databases write them.
    #[default]
    Internal,
    /// As they are: a `TableBuilder` by itself, TensorFlow and the libraries of other languages write such tables.
    Plain,
}

impl KeyFormat {
    /// Takes a stored key apart. `None` for one that a database does not write.
    #[inline]
    #[must_use]
    pub fn parse(self, key: &[u8]) -> Option<InternalKey<'_>> {
        match self {
            KeyFormat::Internal => InternalKey::parse(key),
            KeyFormat::Plain => {
                Some(InternalKey { user_key: key, sequence: 0, kind: KeyKind::Value })
            }
        }
    }
}

/// What an entry does to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// The key was deleted.
    Deletion,
    /// The key has the entry's value.
    Value,
    /// A number that LevelDB does not define.
    Other(u8),
}

/// A stored key, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InternalKey<'a> {
    /// The program's key. This is what a filter is made for.
    pub user_key: &'a [u8],
    /// The number of the write; 0 where the table has none.
    pub sequence: u64,
    /// What the write did.
    pub kind: KeyKind,
}

impl<'a> InternalKey<'a> {
    /// Takes a stored key apart: the last 8 bytes are the kind, and the sequence in the upper 56
    /// bits. `None` for a key of fewer bytes, which no database writes.
    #[inline]
    #[must_use]
    pub fn parse(key: &'a [u8]) -> Option<Self> {
        let (user_key, tag) = key.split_last_chunk()?;
        let tag = u64::from_le_bytes(*tag);
        let kind = match tag as u8 {
            0 => KeyKind::Deletion,
            1 => KeyKind::Value,
            other => KeyKind::Other(other),
        };
        Some(InternalKey { user_key, sequence: tag >> 8, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_key() {
        let key = InternalKey::parse(b"ab\x01\x07\0\0\0\0\0\0").unwrap();
        assert_eq!(key, InternalKey { user_key: b"ab", sequence: 7, kind: KeyKind::Value });
        let empty = InternalKey::parse(b"\0\xff\xff\xff\xff\xff\xff\xff").unwrap();
        assert_eq!((empty.user_key, empty.sequence), (&b""[..], (1 << 56) - 1));
        assert_eq!(empty.kind, KeyKind::Deletion);
        assert_eq!(InternalKey::parse(b"\x01\0\0\0\0\0\0"), None);
    }
}
