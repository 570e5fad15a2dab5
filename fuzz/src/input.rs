//! The fuzzer's bytes, cut into what a target needs. Where none are left there are zeros and empty
//! slices.

use bloom::Key;

/// What is left of the input.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Input(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    /// 0 to `most`, both included.
    pub fn up_to(&mut self, most: usize) -> usize {
        let high = if most > 0xff { self.byte() } else { 0 };
        usize::from(u16::from_le_bytes([self.byte(), high])) % (most + 1)
    }

    pub fn u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        let given = self.take(8);
        bytes[..given.len()].copy_from_slice(given);
        u64::from_le_bytes(bytes)
    }

    /// The next `len` bytes, or as many as there are.
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// 0 to 255 bytes, as many as the next byte says.
    pub fn piece(&mut self) -> &'a [u8] {
        let len = self.byte();
        self.take(len.into())
    }

    pub fn rest(&mut self) -> &'a [u8] {
        self.take(usize::MAX)
    }

    /// Keys: each from bytes of its own; or many that overlap, so that a short input can fill a
    /// kernel's vectors, of one length or of many.
    pub fn keys(&mut self) -> Vec<Key<'a>> {
        let (way, count) = (self.byte(), self.up_to(150));
        if way % 3 == 0 {
            return (0..count.min(40)).map(|_| Key::new(self.piece())).collect();
        }
        let (length, stride) = (self.up_to(120), self.up_to(9));
        let pool = self.piece();
        let key = |i: usize| {
            let start = (i * stride) % (pool.len() + 1);
            let length = if way % 3 == 1 { length } else { (i * 7 + length) % 67 };
            Key::new(&pool[start..(start + length).min(pool.len())])
        };
        (0..count).map(key).collect()
    }

    /// Bits per key: mostly small, sometimes large or below 0.
    pub fn bits_per_key(&mut self) -> i32 {
        match self.byte() {
            bits @ 0..=120 => bits.into(),
            121..=127 => -1 - i32::from(self.byte()),
            bits => (i32::from(bits) - 128) * 15,
        }
    }
}
