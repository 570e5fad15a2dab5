//! The exported C functions, with the arguments that a program with bugs might pass: NULL with a
//! length, offsets of any value, lengths that fit nothing. The Rust API says what is right.

#![no_main]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use bloom::Kernel;
use bloom::ffi::leveldb::Link;
use leveldb_bloom_fuzz::{Input, Original, planted, portable};
use libfuzzer_sys::fuzz_target;

use exports::*;

/// capi/exports.rs, as build.rs prepares it.
#[allow(clippy::all, dead_code, non_camel_case_types, reason = "checked where it is from")]
mod exports {
    include!(concat!(env!("OUT_DIR"), "/exports.rs"));
}

/// What capi/shared/lib.rs tells the exports.
fn link() -> Link {
    Link::Dynamic
}

const OK: c_int = LEVELDB_BLOOM_OK;
const INVALID: c_int = LEVELDB_BLOOM_INVALID_ARGUMENT;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let bits = input.bits_per_key();
    // Each in turn, by what leaves the meaning of the bytes as it is.
    let kernels: Vec<_> = Kernel::available().collect();
    // SAFETY: there is no other thread.
    unsafe {
        std::env::set_var("LEVELDB_BLOOM_KERNEL", kernels[data.len() % kernels.len()].name())
    };
    // SAFETY: each function gets what its header allows. What a pointer and a length name is there
    // in full, unless the function has to see for itself that it is not.
    unsafe {
        let policy = leveldb_bloom_policy_create(bits);
        assert!(!policy.is_null());
        let builder = leveldb_bloom_builder_create(bits);
        let mut added = Vec::new();
        while !input.is_empty() {
            // A caller that forgot the policy.
            let policy = if input.byte() % 16 == 0 { ptr::null_mut() } else { policy };
            match input.byte() % 9 {
                0 => apart(policy, bits, &mut input),
                1 => flat(policy, bits, &mut input),
                2 => flat_queries(&mut input),
                3 => queries(&mut input),
                4 => build(builder, bits, &mut added, &mut input),
                5 => unite(&mut input),
                6 => look_inside(&mut input),
                7 => callbacks(policy, bits, &mut input),
                _ => numbers(policy, &mut input),
            }
        }
        leveldb_bloom_builder_destroy(builder);
        leveldb_bloom_policy_destroy(policy);
    }
});

/// A pointer to bytes; for none it may be anything.
fn pointer(bytes: &[u8], way: u8) -> *const c_char {
    match (bytes, way % 3) {
        ([], 0) => ptr::null(),
        ([], 1) => ptr::without_provenance(usize::MAX),
        _ => bytes.as_ptr().cast(),
    }
}

/// The filter for `keys`, and that it is right.
fn check_filter(bits: i32, keys: &[&[u8]], made: &[u8]) {
    let mut expected = portable(bits).create_filter(keys).expect("a small filter");
    expected[0] ^= u8::from(keys.iter().any(|key| planted(key)));
    assert_eq!(made, expected, "{bits} bits per key: {keys:x?}");
}

/// create_filter and fill_filter, with keys of which some are NULL.
unsafe fn apart(policy: *mut leveldb_bloom_policy, bits: i32, input: &mut Input) {
    let way = input.byte();
    let keys = input.keys();
    let mut pointers: Vec<*const c_char> = keys.iter().map(|key| pointer(key, way)).collect();
    let lengths: Vec<usize> = keys.iter().map(|key| key.len()).collect();
    if way & 8 != 0 {
        for pointer in pointers.iter_mut().step_by(3) {
            *pointer = ptr::null();
        }
    }
    // NULL is a key only without a length.
    let unreadable =
        pointers.iter().zip(&lengths).any(|(pointer, length)| pointer.is_null() && *length != 0);
    // SAFETY: arrays of as many entries as keys, or NULL, which is to be noticed.
    unsafe {
        let (array, missing) = match way & 0x30 {
            0x30 => (ptr::null(), !keys.is_empty()),
            _ => (pointers.as_ptr(), unreadable),
        };
        let mut length = 77;
        let made =
            leveldb_bloom_create_filter(policy, array, lengths.as_ptr(), keys.len(), &mut length);
        if policy.is_null() || missing {
            assert!(made.is_null() && length == 0);
        } else {
            check_filter(bits, &keys, std::slice::from_raw_parts(made.cast(), length));
            leveldb_bloom_free(made.cast());
        }

        let slices: Vec<leveldb_bloom_slice> = pointers
            .iter()
            .zip(&lengths)
            .map(|(&data, &size)| leveldb_bloom_slice { data, size })
            .collect();
        let wrong = input.up_to(2);
        let length = portable(bits).filter_len(keys.len()).expect("a small filter") + wrong;
        let mut filter = vec![0x77u8; length].into_boxed_slice();
        let array = if array.is_null() { ptr::null() } else { slices.as_ptr() };
        let place = filter.as_mut_ptr().cast();
        let status = leveldb_bloom_fill_filter(policy, array, keys.len(), place, length);
        check_filled(status, !policy.is_null() && !missing && wrong == 0, bits, &keys, &filter);
    }
}

fn check_filled(status: c_int, valid: bool, bits: i32, keys: &[&[u8]], filter: &[u8]) {
    if valid {
        assert_eq!(status, OK);
        check_filter(bits, keys, filter);
    } else {
        assert_eq!(status, INVALID);
        assert!(filter.iter().all(|byte| *byte == 0x77), "unchanged");
    }
}

/// Flat keys as C has them, and what they must be taken for.
enum Flat<'a> {
    Offsets32(&'a [u8], Vec<i32>),
    Offsets64(&'a [u8], Vec<i64>),
    Fixed(&'a [u8], usize, usize),
}

impl<'a> Flat<'a> {
    fn new(input: &mut Input<'a>) -> Self {
        let way = input.byte();
        let (count, data) = (input.up_to(70), input.piece());
        if way % 4 == 0 {
            let length = data.len().checked_div(count).unwrap_or(3);
            return Flat::Fixed(data, length, if length == 0 { 20 } else { count });
        }
        let mut last = 0i64;
        let mut offsets: Vec<i64> = Vec::new();
        for _ in 0..=count {
            match input.byte() {
                step @ 0..=252 => last += i64::from(step % 9),
                253 => last = input.u64() as i64,
                254 => last = last.wrapping_neg(),
                _ => last = data.len() as i64 + i64::from(input.byte() % 2),
            }
            offsets.push(last);
        }
        if way % 4 == 1 {
            Flat::Offsets32(data, offsets.iter().map(|offset| *offset as i32).collect())
        } else {
            Flat::Offsets64(data, offsets)
        }
    }

    fn count(&self) -> usize {
        match self {
            Flat::Offsets32(_, offsets) => offsets.len() - 1,
            Flat::Offsets64(_, offsets) => offsets.len() - 1,
            Flat::Fixed(.., count) => *count,
        }
    }

    /// `None` where they are to be refused.
    fn keys(&self) -> Option<Vec<&'a [u8]>> {
        let at = |data: &'a [u8], offsets: &mut dyn Iterator<Item = i64>| {
            let offsets: Vec<usize> =
                offsets.map(|offset| usize::try_from(offset).ok()).collect::<Option<_>>()?;
            offsets.windows(2).map(|pair| data.get(pair[0]..pair[1])).collect()
        };
        match self {
            // With no keys nobody looks at the offsets.
            _ if self.count() == 0 => Some(Vec::new()),
            Flat::Offsets32(data, offsets) => at(data, &mut offsets.iter().map(|o| (*o).into())),
            Flat::Offsets64(data, offsets) => at(data, &mut offsets.iter().copied()),
            Flat::Fixed(data, length, count) => {
                (0..*count).map(|i| data.get(i * length..(i + 1) * length)).collect()
            }
        }
    }
}

unsafe fn flat(policy: *mut leveldb_bloom_policy, bits: i32, input: &mut Input) {
    let flat = Flat::new(input);
    let keys = flat.keys();
    let (way, wrong) = (input.byte(), input.up_to(3) / 3);
    let length = portable(bits).filter_len(flat.count()).expect("a small filter") + wrong;
    let mut filter = vec![0x77u8; length].into_boxed_slice();
    let place: *mut c_char = filter.as_mut_ptr().cast();
    // SAFETY: the data and offsets are there in full, or NULL.
    let status = unsafe {
        match &flat {
            Flat::Offsets32(data, offsets) => leveldb_bloom_fill_filter_offsets32(
                policy,
                pointer(data, way),
                data.len(),
                offsets.as_ptr(),
                flat.count(),
                place,
                length,
            ),
            Flat::Offsets64(data, offsets) => leveldb_bloom_fill_filter_offsets64(
                policy,
                pointer(data, way),
                data.len(),
                offsets.as_ptr(),
                flat.count(),
                place,
                length,
            ),
            Flat::Fixed(data, key_length, count) => leveldb_bloom_fill_filter_fixed(
                policy,
                pointer(data, way),
                *key_length,
                *count,
                place,
                length,
            ),
        }
    };
    let valid = !policy.is_null() && keys.is_some() && wrong == 0;
    check_filled(status, valid, bits, &keys.unwrap_or_default(), &filter);

    // SAFETY: NULL, or lengths whose product no memory has.
    unsafe {
        let (none, some) = (ptr::null(), [0u8; 4].as_ptr().cast());
        let huge = usize::MAX / 2;
        let none32 =
            leveldb_bloom_fill_filter_offsets32(policy, none, 9, ptr::null(), 1, place, length);
        let many = leveldb_bloom_fill_filter_offsets64(
            policy,
            some,
            4,
            ptr::null(),
            usize::MAX,
            place,
            length,
        );
        let fixed = leveldb_bloom_fill_filter_fixed(policy, some, huge, 3, place, length);
        assert!(![none32, many, fixed].contains(&OK));
    }
}

unsafe fn flat_queries(input: &mut Input) {
    let flat = Flat::new(input);
    let (way, keys) = (input.byte(), flat.keys());
    let filter = input.piece();
    let count = flat.count();
    let mut results = vec![7u8; count].into_boxed_slice();
    let mut bitmap = vec![0x77u8; count.div_ceil(8)].into_boxed_slice();
    let mut matches = usize::MAX;
    let wanted = |bit: u8, place: *mut u8| if way & bit == 0 { place } else { ptr::null_mut() };
    let result_place = wanted(8, results.as_mut_ptr());
    let bitmap_place = wanted(16, bitmap.as_mut_ptr());
    let number_place: *mut usize = if way & 32 == 0 { &mut matches } else { ptr::null_mut() };
    let (filter_pointer, filter_length) = (pointer(filter, way), filter.len());
    // SAFETY: the data, the offsets and the filter are there in full, and so is the room.
    let status = unsafe {
        match &flat {
            Flat::Offsets32(data, offsets) => leveldb_bloom_keys_may_match_offsets32(
                pointer(data, way),
                data.len(),
                offsets.as_ptr(),
                count,
                filter_pointer,
                filter_length,
                result_place,
                bitmap_place,
                number_place,
            ),
            Flat::Offsets64(data, offsets) => leveldb_bloom_keys_may_match_offsets64(
                pointer(data, way),
                data.len(),
                offsets.as_ptr(),
                count,
                filter_pointer,
                filter_length,
                result_place,
                bitmap_place,
                number_place,
            ),
            Flat::Fixed(data, length, _) => leveldb_bloom_keys_may_match_fixed(
                pointer(data, way),
                *length,
                count,
                filter_pointer,
                filter_length,
                result_place,
                bitmap_place,
                number_place,
            ),
        }
    };
    let Some(keys) = keys else {
        assert_eq!(status, INVALID);
        assert!(results.iter().all(|answer| *answer == 7), "unchanged");
        assert!(bitmap.iter().all(|byte| *byte == 0x77) && matches == usize::MAX, "unchanged");
        return;
    };
    assert_eq!(status, OK);
    let expected: Vec<u8> = keys.iter().map(|key| answer(key, filter)).collect();
    let ones = expected.iter().filter(|answer| **answer == 1).count();
    if !result_place.is_null() {
        assert_eq!(*results, *expected, "{keys:x?} in {filter:x?}");
    }
    if !bitmap_place.is_null() {
        let bit = |i: usize| bitmap[i / 8] >> (i % 8) & 1;
        assert!((0..count).all(|i| bit(i) == expected[i]), "bitmap of {keys:x?} in {filter:x?}");
        assert!((count..bitmap.len() * 8).all(|i| bit(i) == 0), "bits beyond the last");
    }
    if !number_place.is_null() {
        assert_eq!(matches, ones);
    }
}

/// The right answer, which LevelDB gives too.
fn answer(key: &[u8], filter: &[u8]) -> u8 {
    let answer = portable(10).key_may_match(key, filter);
    assert_eq!(answer, Original::key_may_match(key, filter) ^ planted(key), "{key:x?} {filter:x?}");
    answer.into()
}

unsafe fn queries(input: &mut Input) {
    let (way, keys) = (input.byte(), input.keys());
    let filters: Vec<&[u8]> = (0..input.up_to(5)).map(|_| input.piece()).collect();
    let pointers: Vec<*const c_char> = keys.iter().map(|key| pointer(key, way)).collect();
    let lengths: Vec<usize> = keys.iter().map(|key| key.len()).collect();
    let slices: Vec<leveldb_bloom_slice> = filters
        .iter()
        .map(|filter| leveldb_bloom_slice { data: pointer(filter, way), size: filter.len() })
        .collect();
    // SAFETY: arrays of as many entries as keys and filters, or NULL with whatever length.
    unsafe {
        for (i, filter) in filters.iter().enumerate() {
            let (place, length) = (slices[i].data, filter.len());
            let expected: Vec<u8> = keys.iter().map(|key| answer(key, filter)).collect();
            let ones = expected.iter().filter(|answer| **answer == 1).count();
            for (key, expected) in keys.iter().zip(&expected) {
                let data = pointer(key, way);
                assert_eq!(leveldb_bloom_key_may_match(data, key.len(), place, length), *expected);
                let hash = leveldb_bloom_hash(data, key.len());
                assert_eq!(hash, bloom::bloom_hash(key));
                assert_eq!(leveldb_bloom_hash_may_match(hash, place, length), *expected);
                let mut positions = [u64::MAX; 31];
                let room = usize::from(way) % 32;
                let found = leveldb_bloom_positions(
                    data,
                    key.len(),
                    place,
                    length,
                    positions.as_mut_ptr(),
                    room,
                );
                assert!(found <= 30 && positions[room..].iter().all(|p| *p == u64::MAX));
                if found > 0 && found <= room {
                    let set = |p: &u64| filter[(p / 8) as usize] >> (p % 8) & 1 == 1;
                    assert_eq!(positions[..found].iter().all(set), *expected == 1);
                }
            }
            let mut results = vec![7u8; keys.len()].into_boxed_slice();
            let found = leveldb_bloom_keys_may_match(
                pointers.as_ptr(),
                lengths.as_ptr(),
                keys.len(),
                place,
                length,
                results.as_mut_ptr(),
            );
            assert_eq!((found, &*results), (ones, &expected[..]), "{keys:x?} in {filter:x?}");
        }
        for (key, data) in keys.iter().zip(&pointers).take(5) {
            let mut results = vec![7u8; filters.len()].into_boxed_slice();
            let found = leveldb_bloom_filters_may_match(
                *data,
                key.len(),
                slices.as_ptr(),
                slices.len(),
                results.as_mut_ptr(),
            );
            let expected: Vec<u8> = filters.iter().map(|filter| answer(key, filter)).collect();
            assert_eq!(*results, *expected);
            assert_eq!(found, expected.iter().filter(|answer| **answer == 1).count());
        }
        let (none, many) = (ptr::null(), input.u64() as usize);
        let any = leveldb_bloom_key_may_match(none, many, [0xffu8, 6].as_ptr().cast(), 2);
        assert_eq!(any, 1, "counts as empty");
        assert_eq!(leveldb_bloom_key_may_match(none, many, none, many), 0, "both empty");
        let mut result = 7;
        let nulls = ptr::null::<*const c_char>();
        let lengths = lengths.as_ptr();
        assert_eq!(leveldb_bloom_keys_may_match(nulls, lengths, many, none, many, &mut result), 0);
        assert_eq!(leveldb_bloom_filters_may_match(none, many, ptr::null(), many, &mut result), 0);
        assert_eq!(result, 7, "nothing stored");
    }
}

unsafe fn build<'a>(
    builder: *mut leveldb_bloom_builder,
    bits: i32,
    added: &mut Vec<&'a [u8]>,
    input: &mut Input<'a>,
) {
    // SAFETY: a living builder, and data and offsets that are there in full.
    unsafe {
        let way = input.byte();
        if way & 1 == 0 {
            for key in input.keys() {
                assert_eq!(leveldb_bloom_builder_add(builder, pointer(key, way), key.len()), OK);
                added.push(key);
            }
        } else {
            let flat = Flat::new(input);
            let status = match &flat {
                Flat::Offsets32(data, offsets) => leveldb_bloom_builder_add_offsets32(
                    builder,
                    pointer(data, way),
                    data.len(),
                    offsets.as_ptr(),
                    flat.count(),
                ),
                Flat::Offsets64(data, offsets) => leveldb_bloom_builder_add_offsets64(
                    builder,
                    pointer(data, way),
                    data.len(),
                    offsets.as_ptr(),
                    flat.count(),
                ),
                Flat::Fixed(data, length, count) => {
                    leveldb_bloom_builder_add_fixed(builder, pointer(data, way), *length, *count)
                }
            };
            let keys = flat.keys();
            assert_eq!(status, if keys.is_some() { OK } else { INVALID });
            added.extend(keys.unwrap_or_default());
        }
        assert_eq!(leveldb_bloom_builder_add(builder, ptr::null(), 5), INVALID);
        assert_eq!(leveldb_bloom_builder_add(ptr::null_mut(), ptr::null(), 0), INVALID);
        assert_eq!(leveldb_bloom_builder_num_keys(builder), added.len());
        if way & 2 == 0 {
            return;
        }
        let length = leveldb_bloom_builder_filter_size(builder, 0);
        let mut filter = vec![0x77u8; length].into_boxed_slice();
        let place: *mut c_char = filter.as_mut_ptr().cast();
        assert_eq!(leveldb_bloom_builder_finish(builder, 0, place, length - 1), INVALID);
        assert_eq!(leveldb_bloom_builder_finish(builder, 0, ptr::null_mut(), length), INVALID);
        assert_eq!(leveldb_bloom_builder_num_keys(builder), added.len());
        assert_eq!(leveldb_bloom_builder_finish(builder, 0, place, length), OK);
        check_filter(bits, added, &filter);
        added.clear();
        assert_eq!(leveldb_bloom_builder_num_keys(builder), 0);
    }
}

unsafe fn unite(input: &mut Input) {
    let (way, into, from) = (input.byte(), input.piece(), input.piece());
    let mut expected = into.to_vec();
    let fit = bloom::union(&mut expected, from).is_ok();
    let mut united = into.to_vec().into_boxed_slice();
    // SAFETY: bytes that are there in full; NULL is to be noticed.
    unsafe {
        let place: *mut c_char = united.as_mut_ptr().cast();
        assert_eq!(leveldb_bloom_union(ptr::null_mut(), 3, pointer(from, 2), from.len()), INVALID);
        assert_eq!(leveldb_bloom_union(place, united.len(), ptr::null(), 3), INVALID);
        let status = leveldb_bloom_union(place, united.len(), pointer(from, 2), from.len());
        assert_eq!(status, if fit { OK } else { LEVELDB_BLOOM_MISMATCH });
        let _ = leveldb_bloom_union(place, united.len(), pointer(from, way), from.len());
    }
    assert_eq!(*united, *expected);
    answer(from, into);
}

unsafe fn look_inside(input: &mut Input) {
    let (way, filter) = (input.byte(), input.piece());
    let mut info = leveldb_bloom_info {
        bits: 7,
        bits_set: 7,
        probes: 7,
        reserved: 7,
        fill: 7.0,
        estimated_keys: 7.0,
        false_positive_rate: 7.0,
    };
    // SAFETY: bytes that are there in full, or NULL, which is to be noticed.
    unsafe {
        assert_eq!(
            leveldb_bloom_inspect(pointer(filter, 2), filter.len(), ptr::null_mut()),
            INVALID
        );
        assert_eq!(leveldb_bloom_inspect(ptr::null(), 9, &mut info), INVALID);
        assert_eq!(info.bits, 7, "unchanged");
        assert_eq!(leveldb_bloom_inspect(pointer(filter, way), filter.len(), &mut info), OK);
    }
    let (k, array) = filter.split_last().map_or((0, filter), |(k, array)| (*k, array));
    let set: u64 = array.iter().map(|byte| u64::from(byte.count_ones())).sum();
    assert_eq!(info.bits, array.len() as u64 * 8, "{filter:x?}");
    assert_eq!((info.bits_set, info.reserved), (set, 0), "{filter:x?}");
    assert!(filter.len() < 2 || info.probes == k.into(), "{filter:x?}");
    assert!((0.0..=1.0).contains(&info.fill) && (0.0..=1.0).contains(&info.false_positive_rate));
    assert!(info.estimated_keys >= 0.0);
    answer(filter, filter);
}

/// The callback table, for a policy and for one that writes each key twice.
unsafe fn callbacks(policy: *mut leveldb_bloom_policy, bits: i32, input: &mut Input) {
    let (way, keys, other) = (input.byte(), input.keys(), input.piece());
    let pointers: Vec<*const c_char> = keys.iter().map(|key| pointer(key, way)).collect();
    let lengths: Vec<usize> = keys.iter().map(|key| key.len()).collect();
    // SAFETY: as LevelDB calls them.
    unsafe {
        let table = &*leveldb_bloom_vtable();
        let (Some(create), Some(ask), Some(destroy)) =
            (table.create_filter, table.key_may_match, table.destructor)
        else {
            panic!("a table with holes");
        };
        let doubling = leveldb_bloom_policy_create_transformed(
            bits,
            c"doubled".as_ptr(),
            Some(double),
            None,
            policy.cast(),
        );
        for state in [policy, doubling] {
            let seen: Vec<Vec<u8>> =
                keys.iter().map(|key| key.repeat(if state == doubling { 2 } else { 1 })).collect();
            let seen: Vec<&[u8]> = seen.iter().map(Vec::as_slice).collect();
            let state: *mut c_void = state.cast();
            let count = keys.len() as c_int;
            let mut length = 77;
            let made = create(state, pointers.as_ptr(), lengths.as_ptr(), count, &mut length);
            let filter: &[u8] = std::slice::from_raw_parts(made.cast(), length);
            if state.is_null() {
                assert_eq!(filter.last(), Some(&31), "without a policy every key matches");
            } else {
                check_filter(bits, &seen, filter);
            }
            for (key, seen) in keys.iter().zip(&seen) {
                let answered = ask(state, pointer(key, way), key.len(), made, length);
                assert_eq!(answered, 1, "{key:x?} is lost");
                let answered =
                    ask(state, pointer(key, way), key.len(), pointer(other, way), other.len());
                assert_eq!(answered, answer(seen, other), "{key:x?} in {other:x?}");
            }
            leveldb_bloom_free(made.cast());
        }
        destroy(doubling.cast());
        destroy(ptr::null_mut());
    }
}

/// A canonical form for which the first buffer is often too small.
unsafe extern "C" fn double(
    _state: *mut c_void,
    key: *const c_char,
    key_length: usize,
    buffer: *mut c_char,
    buffer_length: usize,
) -> usize {
    if 2 * key_length <= buffer_length && key_length > 0 {
        // SAFETY: a key, and room for two.
        unsafe {
            ptr::copy_nonoverlapping(key, buffer, key_length);
            ptr::copy_nonoverlapping(key, buffer.add(key_length), key_length);
        }
    }
    2 * key_length
}

/// The functions of numbers, and those that take nothing or NULL.
unsafe fn numbers(policy: *mut leveldb_bloom_policy, input: &mut Input) {
    let (bits, number) = (input.u64() as c_int, input.u64());
    let keys = number as usize >> (input.byte() % 64);
    let rate = f64::from_bits(input.u64());
    // SAFETY: numbers, and NULL where it is allowed.
    unsafe {
        let expected = leveldb_bloom_false_positive_rate(bits, keys);
        assert!((0.0..=1.0).contains(&expected), "{bits} bits for {keys} keys: {expected}");
        let found = leveldb_bloom_bits_per_key_for(rate, keys);
        if found > 0 {
            let reached = leveldb_bloom_false_positive_rate(found, keys);
            assert!(reached <= rate, "{found} bits for {keys} keys: {reached} > {rate}");
            let fewer = leveldb_bloom_false_positive_rate(found - 1, keys);
            assert!(found == 1 || fewer > rate, "{} bits are enough for {rate}", found - 1);
        } else {
            assert_eq!(found, 0);
        }
        let other = leveldb_bloom_policy_create(bits);
        let size = leveldb_bloom_filter_size(other, keys);
        assert_eq!(size, portable(bits).filter_len(keys).unwrap_or(0));
        let status = leveldb_bloom_fill_filter(other, ptr::null(), keys, ptr::null_mut(), 0);
        assert_ne!(status, OK);
        leveldb_bloom_policy_destroy(other);
        assert_eq!(leveldb_bloom_filter_size(ptr::null(), keys), 0);
        assert_eq!(leveldb_bloom_kernel(policy).is_null(), policy.is_null());
        for status in [bits, number as c_int] {
            assert!(!CStr::from_ptr(leveldb_bloom_status_message(status)).is_empty());
        }
        let advice = leveldb_bloom_validate(bits);
        assert!(advice.is_null() || !CStr::from_ptr(advice).is_empty());
        leveldb_bloom_policy_destroy(ptr::null_mut());
        leveldb_bloom_builder_destroy(ptr::null_mut());
        leveldb_bloom_free(ptr::null_mut());
        answer(&number.to_le_bytes(), &[0xff, 6]);
    }
}
