//! What the page asks of the library, for page/bloom.js.
//!
//! JavaScript writes keys into memory it got from [`take`], calls a function with pointers and
//! lengths, reads the answer, and gives the memory back with [`give_back`].

#![cfg_attr(target_family = "wasm", no_std)]
#![allow(clippy::missing_safety_doc, reason = "only page/bloom.js calls these")]

extern crate alloc;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::slice;

use leveldb_bloom::{Encoding, FilterInfo, FilterPolicy, Positions, bloom_hash, key_may_match};

#[cfg(feature = "table")]
mod table;

#[cfg(target_family = "wasm")]
mod runtime {
    //! What std would bring.

    use lol_alloc::{AssumeSingleThreaded, FreeListAllocator};

    // SAFETY: the page starts no worker, and WebAssembly has no thread of its own.
    #[global_allocator]
    static ALLOCATOR: AssumeSingleThreaded<FreeListAllocator> =
        unsafe { AssumeSingleThreaded::new(FreeListAllocator::new()) };

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        core::arch::wasm32::unreachable()
    }
}

/// `len` bytes of zeros; NULL where there is no memory for them.
#[unsafe(no_mangle)]
pub extern "C" fn take(len: usize) -> *mut u8 {
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(len).is_err() {
        return core::ptr::null_mut();
    }
    bytes.resize(len, 0);
    // Boxed, so that there is no more room than len says, which give_back relies on.
    Box::leak(bytes.into_boxed_slice()).as_mut_ptr()
}

/// Gives back what [`take`] gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn give_back(start: *mut u8, len: usize) {
    // SAFETY: bloom.js pairs every take with one give_back of the same length.
    drop(unsafe { Vec::from_raw_parts(start, len, len) });
}

/// The bytes that bloom.js wrote.
unsafe fn bytes<'a>(start: *const u8, len: usize) -> &'a [u8] {
    // SAFETY: bloom.js passes what `take` gave, and nothing changes it during a call.
    unsafe { slice::from_raw_parts(start, len) }
}

/// k, as LevelDB derives it from bits per key.
#[unsafe(no_mangle)]
pub extern "C" fn probes_for(bits_per_key: i32) -> u32 {
    leveldb_bloom::probes_for(bits_per_key)
}

/// The length in bytes of a filter, its last byte included; 0 where it cannot be said.
#[unsafe(no_mangle)]
pub extern "C" fn filter_len(num_keys: usize, bits_per_key: i32) -> usize {
    leveldb_bloom::filter_len(num_keys, bits_per_key).unwrap_or(0)
}

/// The hash that a filter takes of a key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hash(key: *const u8, len: usize) -> u32 {
    // SAFETY: see `bytes`.
    bloom_hash(unsafe { bytes(key, len) })
}

/// The positions of a hash in `bits` bits, as many as there is room for, 4 bytes each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn positions(hash: u32, bits: u32, positions: *mut u8, len: usize) {
    // SAFETY: see `bytes`; nothing else uses them during the call.
    let positions = unsafe { slice::from_raw_parts_mut(positions, len) };
    let asked = Positions::new(hash, (len / 4) as u32, bits.into());
    for (out, position) in positions.chunks_exact_mut(4).zip(asked) {
        out.copy_from_slice(&(position as u32).to_le_bytes());
    }
}

/// Adds a key to a filter of any size, with the number of probes that its last byte says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn insert(key: *const u8, key_len: usize, filter: *mut u8, len: usize) {
    // SAFETY: see `bytes`; the key and the filter are apart.
    let (key, filter) = unsafe { (bytes(key, key_len), slice::from_raw_parts_mut(filter, len)) };
    let Some((&mut k, array)) = filter.split_last_mut() else { return };
    for position in Positions::new(bloom_hash(key), k.into(), array.len() as u64 * 8) {
        if let Some(byte) = array.get_mut(position as usize / 8) {
            *byte |= 1 << (position % 8);
        }
    }
}

/// Whether a filter may hold the key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn may_match(
    key: *const u8,
    key_len: usize,
    filter: *const u8,
    len: usize,
) -> bool {
    // SAFETY: see `bytes`.
    unsafe { key_may_match(bytes(key, key_len), bytes(filter, len)) }
}

/// How many of the keys match, which lie one after another and have `key_len` bytes each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn count_matches(
    keys: *const u8,
    keys_len: usize,
    key_len: usize,
    filter: *const u8,
    len: usize,
) -> usize {
    // SAFETY: see `bytes`.
    let (keys, filter) = unsafe { (bytes(keys, keys_len), bytes(filter, len)) };
    keys.chunks_exact(key_len.max(1)).filter(|key| key_may_match(key, filter)).count()
}

/// Puts `each` keys at a time into a filter, and asks it for as many absent ones: a byte for each, 1 where
/// it passes. All keys have `key_len` bytes. Returns the length of the first filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn passes(
    key_len: usize,
    each: usize,
    bits_per_key: i32,
    ribbon: bool,
    present: *const u8,
    present_len: usize,
    absent: *const u8,
    absent_len: usize,
    answers: *mut u8,
    answers_len: usize,
) -> usize {
    // SAFETY: see `bytes`.
    let (present, absent) = unsafe { (bytes(present, present_len), bytes(absent, absent_len)) };
    // SAFETY: see `bytes`; nothing else uses them during the call.
    let answers = unsafe { slice::from_raw_parts_mut(answers, answers_len) };
    let (key_len, each) = (key_len.max(1), each.max(1));
    let encoding = if ribbon { Encoding::Ribbon } else { Encoding::Bloom };
    let policy = FilterPolicy::new(bits_per_key).with_encoding(encoding);
    let mut first_len = 0;
    let groups = present.chunks(each * key_len).zip(absent.chunks(each * key_len));
    for ((present, absent), answers) in groups.zip(answers.chunks_mut(each)) {
        let filter = policy.create_filter_from(present.chunks_exact(key_len)).unwrap_or_default();
        for (answer, key) in answers.iter_mut().zip(absent.chunks_exact(key_len)) {
            *answer = key_may_match(key, &filter).into();
        }
        if first_len == 0 {
            first_len = filter.len();
        }
    }
    first_len
}

/// The rate of false positives that the library expects of a filter, by the bits that are set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn false_positive_rate(filter: *const u8, len: usize) -> f64 {
    // SAFETY: see `bytes`.
    FilterInfo::of(unsafe { bytes(filter, len) }).false_positive_rate
}
