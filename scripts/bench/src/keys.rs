//! Keys to put into filters and to ask for.

use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A key laid out as `leveldb::Slice`, so that one list serves every side.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slice<'k> {
    data: *const u8,
    size: usize,
    borrowed: PhantomData<&'k [u8]>,
}

impl<'k> Slice<'k> {
    pub fn new(bytes: &'k [u8]) -> Self {
        Slice { data: bytes.as_ptr(), size: bytes.len(), borrowed: PhantomData }
    }
}

impl AsRef<[u8]> for Slice<'_> {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `new` took the two from a slice that is borrowed as long.
        unsafe { std::slice::from_raw_parts(self.data, self.size) }
    }
}

/// SplitMix64: the same keys in every run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

/// Random keys, one after the other in memory, as LevelDB keeps them.
pub struct Keys {
    /// Point into `bytes`, which never changes.
    slices: Vec<Slice<'static>>,
    bytes: Arc<[u8]>,
    /// Whether the keys are listed as they lie in memory.
    pub in_order: bool,
}

impl Keys {
    pub fn random(n: usize, lengths: RangeInclusive<usize>, seed: u64) -> Self {
        let mut random = Random(seed);
        let (shortest, spread) = (*lengths.start(), lengths.end() - lengths.start() + 1);
        let lengths: Vec<usize> = (0..n).map(|_| shortest + random.below(spread)).collect();
        let total = lengths.iter().sum();
        let mut bytes = Vec::with_capacity(total + 8);
        while bytes.len() < total {
            bytes.extend_from_slice(&random.next().to_le_bytes());
        }
        bytes.truncate(total);
        Self::of(bytes, lengths.into_iter())
    }

    /// Keys of these lengths, one after the other.
    pub fn of(bytes: Vec<u8>, lengths: impl Iterator<Item = usize>) -> Self {
        let bytes: Arc<[u8]> = bytes.into();
        let mut start = bytes.as_ptr();
        let slices = lengths.map(|size| {
            let slice = Slice { data: start, size, borrowed: PhantomData };
            start = start.wrapping_add(size);
            slice
        });
        let slices: Vec<_> = slices.collect();
        assert_eq!(slices.iter().map(|slice| slice.size).sum::<usize>(), bytes.len());
        Keys { slices, bytes, in_order: true }
    }

    /// The same keys listed in random order, so that their bytes are all over memory.
    pub fn shuffled(mut self) -> Self {
        Random(5).shuffle(&mut self.slices);
        self.in_order = false;
        self
    }

    /// `n` of these keys: each in turn, again and again.
    pub fn cycled(&self, n: usize) -> Self {
        self.chosen((0..self.slices.len()).cycle().take(n))
    }

    /// So many copies of each, one list after the other in memory.
    pub fn repeated(&self, copies: usize) -> Self {
        let lengths = self.slices.iter().map(|slice| slice.size);
        Self::of(self.bytes.repeat(copies), lengths.cycle().take(self.slices.len() * copies))
    }

    /// These keys by their numbers, where they are.
    pub fn chosen(&self, which: impl Iterator<Item = usize>) -> Self {
        let slices = which.map(|i| self.slices[i]).collect();
        Keys { slices, bytes: Arc::clone(&self.bytes), in_order: false }
    }

    /// Each of these keys or, as likely, that of `others` in its place, copied one after the other.
    pub fn or(&self, others: &Keys, random: &mut Random) -> Self {
        let pairs = self.slices.iter().zip(&others.slices);
        let slices = pairs.map(|(one, other)| [*one, *other][random.below(2)]).collect();
        Keys { slices, bytes: Arc::clone(&self.bytes), in_order: false }.copied()
    }

    /// Copies of these keys, one after the other in memory.
    pub fn copied(&self) -> Self {
        let lengths = self.slices.iter().map(|key| key.size);
        Self::of(self.borrowed().concat(), lengths)
    }

    pub fn slices<'a>(&'a self) -> &'a [Slice<'a>] {
        &self.slices
    }

    /// Their bytes, and where each begins and the last ends.
    pub fn flat(&self) -> (&[u8], Vec<i32>) {
        assert!(self.in_order, "keys that lie one behind the other");
        let start = self.bytes.as_ptr().addr();
        let begins = self.slices.iter().map(|key| key.data.addr() - start);
        let offsets: Vec<i32> =
            begins.chain([self.bytes.len()]).map(|at| at.try_into().expect("2 GiB")).collect();
        (&self.bytes, offsets)
    }

    /// The same list, as a user of the Rust library has it.
    pub fn borrowed(&self) -> &[&[u8]] {
        let probe: &[u8] = &[1, 2, 3];
        // SAFETY: two words both; a raw pointer and a number may have any value.
        let slice = unsafe { std::mem::transmute::<&[u8], Slice>(probe) };
        assert!(slice.data == probe.as_ptr() && slice.size == 3, "Rust's slices are not LevelDB's");
        // SAFETY: the layout was looked at; the keys live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.slices.as_ptr().cast(), self.slices.len()) }
    }
}
