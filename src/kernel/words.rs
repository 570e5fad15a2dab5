//! Bytes from which words are read at any place.

/// At least `N` bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtLeast<'a, const N: usize>(&'a [u8]);

impl<'a, const N: usize> AtLeast<'a, N> {
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        (bytes.len() >= N).then_some(AtLeast(bytes))
    }

    /// The `N` bytes at `place`, or the last `N`, and where they begin.
    #[inline(always)]
    pub(crate) fn read(self, place: usize) -> ([u8; N], usize) {
        let place = place.min(self.0.len() - N);
        // SAFETY: there are at least `N` bytes from there on. The compiler keeps the check of an
        // index, though it is a minimum, and a query reads a dozen words.
        (unsafe { self.0.as_ptr().add(place).cast::<[u8; N]>().read() }, place)
    }
}
