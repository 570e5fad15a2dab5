//! Where a table's bytes come from.

use alloc::string::String;

/// Bytes that can be read from any offset: a slice, a file.
pub trait ReadAt {
    /// How many bytes there are.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// The reason, in words, why they could not be read.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), String>;
}

impl ReadAt for [u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), String> {
        let found = usize::try_from(offset)
            .ok()
            .and_then(|offset| self.get(offset..)?.get(..buffer.len()))
            .ok_or("the bytes end before")?;
        buffer.copy_from_slice(found);
        Ok(())
    }
}

impl<R: ReadAt + ?Sized> ReadAt for &R {
    fn len(&self) -> u64 {
        (**self).len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), String> {
        (**self).read_at(offset, buffer)
    }
}
