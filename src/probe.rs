//! From a key's hash to the positions of its bits.
//!
//! This is the definition. Kernels compute the same positions faster, and are tested against it.

use core::iter::FusedIterator;
use core::num::NonZeroU64;

/// The bit positions of one key in a filter of `bits` bits, `k` of them, by double hashing.
///
/// Position `j` is `(h + j * delta) mod 2^32 % bits` with `delta` = `h` rotated right by 17. The
/// sum wraps at 32 bits *before* the division, as in LevelDB, so the bits of a filter beyond 2^32
/// are never used.
///
/// ```
/// use leveldb_bloom::{FilterPolicy, Positions, bloom_hash};
///
/// let filter = FilterPolicy::new(10).create_filter(&["hello"])?;
/// // The last byte is the number of probes.
/// let (k, array) = filter.split_last().unwrap();
/// for p in Positions::new(bloom_hash(b"hello"), (*k).into(), array.len() as u64 * 8) {
///     assert_eq!(array[p as usize / 8] >> (p % 8) & 1, 1);
/// }
/// # Ok::<(), leveldb_bloom::FilterTooLarge>(())
/// ```
#[derive(Clone, Debug)]
pub struct Positions {
    sum: u32,
    delta: u32,
    left: u32,
    bits: NonZeroU64,
}

impl Positions {
    /// The first `k` positions for `hash` in `bits` bits. A filter of no bits has no positions.
    #[must_use]
    pub fn new(hash: u32, k: u32, bits: u64) -> Self {
        let (bits, left) = match NonZeroU64::new(bits) {
            Some(bits) => (bits, k),
            None => (NonZeroU64::MIN, 0),
        };
        Positions { sum: hash, delta: hash.rotate_right(17), left, bits }
    }
}

impl Iterator for Positions {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let position = u64::from(self.sum) % self.bits;
        self.sum = self.sum.wrapping_add(self.delta);
        Some(position)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Positions {}

impl FusedIterator for Positions {}

/// The number of bits of an array. In 64 bits, because on a 32-bit machine the number for 2^29 bytes
/// would wrap to zero.
fn bits_of(array: &[u8]) -> u64 {
    array.len() as u64 * 8
}

/// The byte that holds a position, and the position's bit in it.
fn place(position: u64) -> (usize, u8) {
    ((position / 8) as usize, 1 << (position % 8))
}

/// Sets the bits of a key with this hash in a filter's bit array.
pub(crate) fn insert(hash: u32, k: u32, array: &mut [u8]) {
    for position in Positions::new(hash, k, bits_of(array)) {
        let (byte, mask) = place(position);
        if let Some(byte) = array.get_mut(byte) {
            *byte |= mask;
        }
    }
}

/// Whether all bits of a key with this hash are set in a filter's bit array.
pub(crate) fn contains(hash: u32, k: u32, array: &[u8]) -> bool {
    Positions::new(hash, k, bits_of(array)).all(|position| {
        let (byte, mask) = place(position);
        array.get(byte).is_some_and(|byte| byte & mask != 0)
    })
}
