//! The hashes of keys that share most of their bytes with the one before.
//!
//! A block of LevelDB's may hold more keys than anybody can hash whole: a key of a megabyte, say,
//! and a hundred thousand others that share all but its end. The hash begins with the key's length
//! and goes on from front to back, so that of keys of one length it is the same as far as they are.

use leveldb_bloom::{BLOOM_SEED, Ribbon, hash, hash_may_match, key_may_match};

/// For short keys nothing is gained: they take less time than what they share would save.
const LONG: usize = 1024;

/// So many bytes are between two states that are kept; words are hashed whole.
const EVERY: usize = 256;

/// Of so many lengths at once they are kept. Keys with a number behind them have a few.
const LENGTHS: usize = 16;

/// Hashes the keys of a block, one after another.
#[derive(Default)]
pub struct Hashes {
    /// The length used last is the last.
    lengths: Vec<Length>,
    /// The bytes of long keys that were hashed.
    hashed: u64,
}

/// The last key of a length.
struct Length {
    len: usize,
    /// So many of its first bytes are those of the last key of all.
    same: usize,
    /// The states behind each [`EVERY`] bytes.
    states: Vec<u32>,
}

impl Hashes {
    /// Begins with another block.
    pub fn begin(&mut self) {
        self.lengths.clear();
        self.hashed = 0;
    }

    /// The bytes of long keys that were hashed in this block.
    pub fn hashed(&self) -> u64 {
        self.hashed
    }

    /// Whether a filter may hold the next key, whose first `shared` bytes are those of the key
    /// before; `shared` may count some of the 8 bytes behind both as well.
    pub fn may_match(&mut self, key: &[u8], shared: usize, filter: &[u8]) -> bool {
        for length in &mut self.lengths {
            length.same = length.same.min(shared);
        }
        if key.len() < LONG {
            return key_may_match(key, filter);
        }
        // Another hash, which cannot go on where keys differ.
        if Ribbon::parse(filter).is_some() {
            self.hashed += key.len() as u64;
            return key_may_match(key, filter);
        }
        hash_may_match(self.hash_of(key), filter)
    }

    /// The hash of a long key.
    fn hash_of(&mut self, key: &[u8]) -> u32 {
        let len = key.len();
        let mut length = match self.lengths.iter().position(|length| length.len == len) {
            Some(place) => self.lengths.remove(place),
            None => {
                if self.lengths.len() == LENGTHS {
                    self.lengths.remove(0);
                }
                Length { len, same: 0, states: Vec::new() }
            }
        };
        length.states.truncate(length.same / EVERY);
        let mut state = length.states.last().copied().unwrap_or(BLOOM_SEED ^ times(len));
        let rest = &key[length.states.len() * EVERY..];
        self.hashed += rest.len() as u64;
        for piece in rest.chunks(EVERY) {
            // The hash of a piece begins with its length in the same way: without it, it goes on.
            state = hash(piece, state ^ times(piece.len()));
            if piece.len() == EVERY {
                length.states.push(state);
            }
        }
        length.same = len;
        self.lengths.push(length);
        state
    }
}

/// What a length is to the hash.
fn times(len: usize) -> u32 {
    (len as u32).wrapping_mul(0xc6a4_a793)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveldb_bloom::bloom_hash;

    /// A filter that holds what has this hash, and hardly anything else.
    fn filter_of(hash: u32) -> [u8; 33] {
        let mut filter = [0; 33];
        filter[32] = 30;
        for at in leveldb_bloom::Positions::new(hash, 30, 256) {
            filter[at as usize / 8] |= 1 << (at % 8);
        }
        filter
    }

    #[test]
    fn they_are_those_of_whole_keys() {
        let mut random = 1_u32;
        let mut any = |n: usize| {
            random = random.wrapping_mul(1_103_515_245).wrapping_add(12345);
            (random >> 16) as usize % n
        };
        let mut hashes = Hashes::default();
        let (mut whole, mut hashed) = (0, 0);
        for block in 0..20 {
            hashes.begin();
            let mut before: Vec<u8> = Vec::new();
            // More lengths than are kept in every other block, and short keys among the long.
            let lengths = if block % 2 == 0 { 3 } else { 2 * LENGTHS };
            for _ in 0..200 {
                let mut key = before.clone();
                key.resize(if any(9) == 0 { any(40) } else { 3000 + any(lengths) }, b'k');
                let most = if any(9) == 0 { 3000 } else { 50 };
                let from = key.len() - any(key.len().min(most) + 1);
                key[from..].iter_mut().for_each(|byte| *byte = any(3) as u8);
                let stored = [&key[..], &[1, 7, 0, 0, 0, 0, 0, 0]].concat();
                let most = stored.iter().zip(&before).take_while(|(a, b)| a == b).count();
                let shared = if any(9) == 0 { any(most + 1) } else { most };
                let filter = filter_of(bloom_hash(&key));
                assert!(hashes.may_match(&key, shared, &filter), "{} bytes", key.len());
                if key.len() >= LONG {
                    let state = hashes.lengths.last().unwrap().states.clone();
                    assert_eq!(hashes.hash_of(&key), bloom_hash(&key), "{} bytes", key.len());
                    assert_eq!(hashes.lengths.last().unwrap().states, state);
                }
                whole += key.len() as u64;
                before = stored;
            }
            hashed += hashes.hashed();
            assert!(hashes.lengths.len() <= LENGTHS);
        }
        assert!(hashed * 5 < whole * 4, "{hashed} of {whole}");
    }

    #[test]
    fn what_is_shared_is_not_hashed_again() {
        let mut hashes = Hashes::default();
        let mut key = vec![b'k'; 1 << 20];
        for i in 0..100_000_u32 {
            key[(1 << 20) - 4..].copy_from_slice(&i.to_le_bytes());
            let shared = if i == 0 { 0 } else { key.len() - 4 };
            let known = i % 10_000 == 9;
            let filter = filter_of(if known { bloom_hash(&key) } else { i });
            assert!(hashes.may_match(&key, shared, &filter) || !known, "{i}");
        }
        assert!(hashes.hashed() < (1 << 20) + 100_000 * EVERY as u64 + 1, "{}", hashes.hashed());
    }
}
