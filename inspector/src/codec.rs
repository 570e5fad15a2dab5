//! The fastest code there is for blocks, all of it from other crates.

use std::cell::RefCell;
use std::io::{ErrorKind, Read};

use flate2::bufread::{DeflateDecoder, ZlibDecoder};
use leveldb_bloom_table::{Codec, Compression, Refusal};
use zstd::stream::read::Decoder;
use zstd::zstd_safe::{DCtx, ResetDirective};

/// Snappy, zstd, the deflate of Minecraft's LevelDB, and checksums by the processor's own
/// instruction. For one thread.
pub struct Fast {
    zstd: RefCell<DCtx<'static>>,
}

impl Default for Fast {
    fn default() -> Self {
        Fast { zstd: RefCell::new(DCtx::create()) }
    }
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
            Compression::Zlib => {
                let damaged = || Refusal::damaged("zlib", "what zlib writes");
                all_of(ZlibDecoder::new(input), limit, output, damaged)
            }
            Compression::Zstd => zstd(&mut self.zstd.borrow_mut(), input, limit, output),
            Compression::RawDeflate => {
                let damaged = || Refusal::damaged("deflate", "what zlib's deflate writes");
                all_of(DeflateDecoder::new(input), limit, output, damaged)
            }
            Compression::None | Compression::Other(_) => Err(Refusal::Unknown),
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
    state: &mut DCtx<'static>,
    input: &[u8],
    limit: usize,
    output: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let damaged = || Refusal::damaged("zstd", "what zstd writes");
    state.reset(ResetDirective::SessionOnly).map_err(|_| damaged())?;
    let mut rest = input;
    all_of(Decoder::with_context(&mut rest, state).single_frame(), limit, output, damaged)?;
    // Another frame is none of LevelDB's.
    if rest.is_empty() { Ok(()) } else { Err(damaged()) }
}

/// What a decoder makes of its input, up to one byte more than is allowed, to see that there is one.
fn all_of(
    decoder: impl Read,
    limit: usize,
    output: &mut Vec<u8>,
    damaged: impl Fn() -> Refusal,
) -> Result<(), Refusal> {
    output.clear();
    match decoder.take(limit as u64 + 1).read_to_end(output) {
        Err(error) if error.kind() == ErrorKind::OutOfMemory => Err(Refusal::NoMemory),
        Err(_) => Err(damaged()),
        Ok(len) if len > limit => Err(Refusal::TooLarge { len: len as u64, limit: limit as u64 }),
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression as Level;
    use flate2::read::{DeflateEncoder, ZlibEncoder};
    use std::io::Read;

    /// As the four methods store `bytes`.
    fn stored(bytes: &[u8]) -> Vec<(Compression, Vec<u8>)> {
        let snappy = snap::raw::Encoder::new().compress_vec(bytes).unwrap();
        let zstd = zstd::bulk::compress(bytes, 1).unwrap();
        let mut all = vec![(Compression::Snappy, snappy), (Compression::Zstd, zstd)];
        for level in [Level::none(), Level::fast(), Level::default(), Level::best()] {
            let (mut zlib, mut raw) = (Vec::new(), Vec::new());
            ZlibEncoder::new(bytes, level).read_to_end(&mut zlib).unwrap();
            DeflateEncoder::new(bytes, level).read_to_end(&mut raw).unwrap();
            all.extend([(Compression::Zlib, zlib), (Compression::RawDeflate, raw)]);
        }
        all
    }

    fn sample() -> Vec<u8> {
        (0..20_000u32).flat_map(|i| (i / 7 * 31).to_le_bytes()).collect()
    }

    fn decompressed(method: Compression, input: &[u8]) -> Result<Vec<u8>, Refusal> {
        // A buffer with something in it, as the block before leaves it.
        let mut output = vec![7; 1000];
        Fast::default().decompress(method, input, 1 << 20, &mut output).map(|()| output)
    }

    #[test]
    fn all_methods_give_back_what_went_in() {
        for bytes in [sample(), b"short".to_vec(), Vec::new()] {
            for (method, stored) in stored(&bytes) {
                assert_eq!(decompressed(method, &stored).unwrap(), bytes, "{method:?}");
                if method == Compression::Snappy {
                    let mut portable = Vec::new();
                    leveldb_bloom_table::decompress_snappy(&stored, 1 << 20, &mut portable)
                        .unwrap();
                    assert_eq!(portable, bytes);
                }
            }
        }
        assert_eq!(decompressed(Compression::Other(3), b""), Err(Refusal::Unknown));
    }

    /// Every byte in turn: the decoders must not panic, and what snappy makes of it must be the
    /// same as what the portable decoder makes of it.
    #[test]
    fn damage_has_an_answer() {
        let bytes = &sample()[..1000];
        for (method, stored) in stored(bytes) {
            for at in 0..stored.len() {
                // What is short of its end is not taken for all.
                let short = decompressed(method, &stored[..at]);
                assert!(short.is_err(), "{method:?}, {at} bytes of {}: {short:?}", stored.len());
                for flipped in [0x01, 0x80, 0xff] {
                    let mut damaged = stored.clone();
                    damaged[at] ^= flipped;
                    let fast = decompressed(method, &damaged);
                    if method == Compression::Snappy {
                        let mut portable = Vec::new();
                        let result = leveldb_bloom_table::decompress_snappy(
                            &damaged,
                            1 << 20,
                            &mut portable,
                        );
                        assert_eq!(result.is_ok(), fast.is_ok(), "byte {at} ^ {flipped:02x}");
                        if let Ok(fast) = fast {
                            assert_eq!(fast, portable);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn limits() {
        let zeros = vec![0; 1 << 20];
        for (method, stored) in stored(&zeros) {
            let mut output = Vec::new();
            for limit in [0, 1000, (1 << 20) - 1] {
                let result = Fast::default().decompress(method, &stored, limit, &mut output);
                assert!(matches!(result, Err(Refusal::TooLarge { .. })), "{method:?}: {result:?}");
            }
            assert_eq!(decompressed(method, &stored).unwrap().len(), 1 << 20);
        }
        assert!(decompressed(Compression::Snappy, b"\xff\xff\x3f\0a").is_err());
    }
}
