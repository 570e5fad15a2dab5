//! Key bytes to a 32-bit hash: LevelDB's `Hash` (util/hash.cc), similar to Murmur.
//!
//! This is the definition. Kernels compute the same hash faster, and are tested against this one.

/// The seed that LevelDB's bloom filter gives to [`hash`].
pub const BLOOM_SEED: u32 = 0xbc9f_1d34;

/// The multiplier of each step.
pub(crate) const M: u32 = 0xc6a4_a793;

/// LevelDB's `Hash(data, n, seed)`, the same on every machine.
///
/// The length is used modulo 2^32, as in the original. The one to three bytes after the last whole
/// word are unsigned. (LevelDB before 1.18 and some ports sign-extend them, which gives another hash
/// where such a byte is 0x80 or above.)
#[must_use]
pub fn hash(data: &[u8], seed: u32) -> u32 {
    let mut h = seed ^ (data.len() as u32).wrapping_mul(M);

    let mut words = data.chunks_exact(4);
    for word in &mut words {
        let word = word.try_into().map_or(0, u32::from_le_bytes);
        h = h.wrapping_add(word).wrapping_mul(M);
        h ^= h >> 16;
    }

    let tail = words.remainder();
    if !tail.is_empty() {
        for (i, byte) in tail.iter().enumerate() {
            h = h.wrapping_add(u32::from(*byte) << (8 * i));
        }
        h = h.wrapping_mul(M);
        h ^= h >> 24;
    }
    h
}

/// The hash by which a bloom filter knows a key: [`hash`] with [`BLOOM_SEED`].
#[must_use]
pub fn bloom_hash(key: &[u8]) -> u32 {
    hash(key, BLOOM_SEED)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From LevelDB's own util/hash_test.cc; the first five with the filter's seed.
    #[test]
    fn hash_of_known_bytes() {
        assert_eq!(bloom_hash(b""), 0xbc9f_1d34);
        assert_eq!(bloom_hash(&[0x62]), 0xef13_45c4);
        assert_eq!(bloom_hash(&[0xc3, 0x97]), 0x5b66_3814);
        assert_eq!(bloom_hash(&[0xe2, 0x99, 0xa5]), 0x323c_078f);
        assert_eq!(bloom_hash(&[0xe1, 0x80, 0xb9, 0x32]), 0xed21_633a);
        let record = [
            0x01, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
            0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x14,
            0x00, 0x00, 0x00, 0x18, 0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00,
            0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        ];
        assert_eq!(hash(&record, 0x1234_5678), 0xf333_dabb);
    }
}
