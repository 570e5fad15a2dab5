//! The fastest code there is for blocks, all of it from other crates.

use std::cell::RefCell;
use std::io::Read;

use leveldb_bloom_table::{Codec, Compression, Refusal};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// Snappy, zstd, and checksums by the processor's own instruction. For one thread.
#[derive(Default)]
pub struct Fast {
    zstd: RefCell<FrameDecoder>,
}

impl Codec for Fast {
    fn decompress(
        &self,
        compression: Compression,
        input: &[u8],
        limit: usize,
        output: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        match compression {
            Compression::Snappy => snappy(input, limit, output),
            Compression::Zstd => zstd(&mut self.zstd.borrow_mut(), input, limit, output),
            _ => Err(Refusal::Unknown),
        }
    }

    fn crc32c(&self, bytes: &[u8]) -> u32 {
        crc32c::crc32c(bytes)
    }
}

fn snappy(input: &[u8], limit: usize, output: &mut Vec<u8>) -> Result<(), Refusal> {
    let damaged = || Refusal::damaged("snappy", "what snappy writes");
    let len = snap::raw::decompress_len(input).map_err(|_| damaged())?;
    if len > limit {
        return Err(Refusal::TooLarge { len: len as u64, limit: limit as u64 });
    }
    // Three bytes give 64 at most: a length beyond that is not believed.
    if len / 64 > input.len() {
        return Err(damaged());
    }
    // What is already there is overwritten, and need not be zeros.
    if output.len() < len {
        output.try_reserve(len - output.len()).map_err(|_| Refusal::NoMemory)?;
        output.resize(len, 0);
    }
    let written = snap::raw::Decoder::new().decompress(input, output).map_err(|_| damaged())?;
    output.truncate(written);
    Ok(())
}

fn zstd(
    decoder: &mut FrameDecoder,
    input: &[u8],
    limit: usize,
    output: &mut Vec<u8>,
) -> Result<(), Refusal> {
    output.clear();
    let mut stream = StreamingDecoder::new_with_decoder(input, decoder).map_err(|_| {
        let zlib = matches!(input, [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..]);
        Refusal::damaged(
            "zstd",
            if zlib {
                "a zstd frame (this looks like zlib, which Minecraft's LevelDB writes under the same \
                 number)"
            } else {
                "a zstd frame"
            },
        )
    })?;
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    (&mut stream)
        .take(most)
        .read_to_end(output)
        .map_err(|_| Refusal::damaged("zstd", "what zstd writes"))?;
    if output.len() > limit {
        return Err(Refusal::TooLarge { len: output.len() as u64, limit: limit as u64 });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    fn sample() -> Vec<u8> {
        (0..20_000u32).flat_map(|i| (i / 7 * 31).to_le_bytes()).collect()
    }

    fn decompressed(method: Compression, input: &[u8]) -> Result<Vec<u8>, Refusal> {
        // A buffer with something in it, as the block before leaves it.
        let mut output = vec![7; 1000];
        Fast::default().decompress(method, input, 1 << 20, &mut output).map(|()| output)
    }

    #[test]
    fn both_methods_give_back_what_went_in() {
        for bytes in [sample(), b"short".to_vec(), Vec::new()] {
            let snappy = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
            assert_eq!(decompressed(Compression::Snappy, &snappy).unwrap(), bytes);
            let mut portable = Vec::new();
            leveldb_bloom_table::decompress_snappy(&snappy, 1 << 20, &mut portable).unwrap();
            assert_eq!(portable, bytes);
            let zstd = compress_to_vec(&bytes[..], CompressionLevel::Fastest);
            assert_eq!(decompressed(Compression::Zstd, &zstd).unwrap(), bytes);
        }
        assert_eq!(decompressed(Compression::Other(4), b""), Err(Refusal::Unknown));
    }

    /// Every byte in turn: the decoders must not panic, and what snappy makes of it must be the same
    /// as what the portable decoder makes of it.
    #[test]
    fn damage_has_an_answer() {
        let bytes = &sample()[..1000];
        let zstd = compress_to_vec(bytes, CompressionLevel::Fastest);
        let snappy = snap::raw::Encoder::new().compress_vec(bytes).unwrap();
        for flipped in [0x01, 0x80, 0xff] {
            for at in 0..zstd.len() {
                let mut damaged = zstd.clone();
                damaged[at] ^= flipped;
                let _ = decompressed(Compression::Zstd, &damaged);
                let _ = decompressed(Compression::Zstd, &zstd[..at]);
            }
            for at in 0..snappy.len() {
                let mut damaged = snappy.clone();
                damaged[at] ^= flipped;
                let mut portable = Vec::new();
                let result =
                    leveldb_bloom_table::decompress_snappy(&damaged, 1 << 20, &mut portable);
                let fast = decompressed(Compression::Snappy, &damaged);
                assert_eq!(result.is_ok(), fast.is_ok(), "byte {at} ^ {flipped:02x}");
                if let Ok(fast) = fast {
                    assert_eq!(fast, portable);
                }
            }
        }
    }

    #[test]
    fn limits() {
        let zeros = vec![0; 1 << 20];
        for (method, stored) in [
            (Compression::Snappy, snap::raw::Encoder::new().compress_vec(&zeros).unwrap()),
            (Compression::Zstd, compress_to_vec(&zeros[..], CompressionLevel::Fastest)),
        ] {
            let mut output = Vec::new();
            let result = Fast::default().decompress(method, &stored, (1 << 20) - 1, &mut output);
            assert!(matches!(result, Err(Refusal::TooLarge { .. })), "{result:?}");
            assert_eq!(decompressed(method, &stored).unwrap().len(), 1 << 20);
        }
        assert!(decompressed(Compression::Snappy, b"\xff\xff\x3f\0a").is_err());
        let zlib = decompressed(Compression::Zstd, b"\x78\x9c\x03\0\0\0\0\x01").unwrap_err();
        assert!(format!("{zlib:?}").contains("Minecraft"));
    }
}
