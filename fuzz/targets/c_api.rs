//! The exported C functions, with arguments that a program with bugs might pass: NULL with a length,
//! any offsets, lengths that do not fit. What is right is what LevelDB and the Rust API give.

#![no_main]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use bloom::Key;
use leveldb_bloom_capi::api::callbacks::leveldb_bloom_vtable;
use leveldb_bloom_fuzz::Input;
use libfuzzer_sys::fuzz_target;

const OK: c_int = 0;
const INVALID: c_int = 1;
const MISMATCH: c_int = 4;

type Bytes = *const c_char;
type Room = *mut c_char;

/// As a C program sees them, in include/leveldb_bloom.h. A `Key` has the layout of its slice.
#[repr(C)]
struct Policy([u8; 0]);

#[repr(C)]
struct Builder([u8; 0]);

type Transform = unsafe extern "C" fn(*mut c_void, key: Bytes, usize, buffer: Room, usize) -> usize;

unsafe extern "C" {
    fn leveldb_bloom_policy_create(bits_per_key: c_int) -> *mut Policy;
    fn leveldb_bloom_policy_create_ribbon(bits_per_key: c_int) -> *mut Policy;
    fn leveldb_bloom_policy_create_transformed(
        bits_per_key: c_int,
        name: Bytes,
        transform: Option<Transform>,
        destructor: Option<unsafe extern "C" fn(*mut c_void)>,
        state: *mut c_void,
    ) -> *mut Policy;
    fn leveldb_bloom_policy_destroy(policy: *mut Policy);
    fn leveldb_bloom_filter_size(policy: *const Policy, num_keys: usize) -> usize;
    fn leveldb_bloom_create_filter(
        policy: *const Policy,
        keys: *const Bytes,
        lengths: *const usize,
        num_keys: usize,
        filter_length: *mut usize,
    ) -> *mut u8;
    fn leveldb_bloom_free(memory: *mut u8);
    fn leveldb_bloom_fill_filter(
        policy: *const Policy,
        keys: *const Key<'_>,
        num_keys: usize,
        filter: *mut u8,
        length: usize,
    ) -> c_int;
    fn leveldb_bloom_fill_filter_offsets32(
        policy: *const Policy,
        data: Bytes,
        data_length: usize,
        offsets: *const i32,
        num_keys: usize,
        filter: *mut u8,
        length: usize,
    ) -> c_int;
    fn leveldb_bloom_fill_filter_fixed(
        policy: *const Policy,
        data: Bytes,
        key_length: usize,
        num_keys: usize,
        filter: *mut u8,
        length: usize,
    ) -> c_int;
    fn leveldb_bloom_key_may_match(key: Bytes, len: usize, filter: Bytes, length: usize) -> u8;
    fn leveldb_bloom_keys_may_match(
        keys: *const Bytes,
        lengths: *const usize,
        num_keys: usize,
        filter: Bytes,
        length: usize,
        results: *mut u8,
    ) -> usize;
    fn leveldb_bloom_keys_may_match_offsets64(
        data: Bytes,
        data_length: usize,
        offsets: *const i64,
        num_keys: usize,
        filter: Bytes,
        length: usize,
        results: *mut u8,
        bitmap: *mut u8,
        matches: *mut usize,
    ) -> c_int;
    fn leveldb_bloom_keys_may_match_fixed(
        data: Bytes,
        key_length: usize,
        num_keys: usize,
        filter: Bytes,
        length: usize,
        results: *mut u8,
        bitmap: *mut u8,
        matches: *mut usize,
    ) -> c_int;
    fn leveldb_bloom_filters_may_match(
        key: Bytes,
        len: usize,
        filters: *const Key<'_>,
        num_filters: usize,
        results: *mut u8,
    ) -> usize;
    fn leveldb_bloom_positions(
        key: Bytes,
        len: usize,
        filter: Bytes,
        length: usize,
        positions: *mut u64,
        capacity: usize,
    ) -> usize;
    fn leveldb_bloom_union(into: *mut u8, into_length: usize, from: Bytes, length: usize) -> c_int;
    fn leveldb_bloom_builder_create(bits_per_key: c_int) -> *mut Builder;
    fn leveldb_bloom_builder_create_ribbon(bits_per_key: c_int) -> *mut Builder;
    fn leveldb_bloom_builder_destroy(builder: *mut Builder);
    fn leveldb_bloom_builder_add(builder: *mut Builder, key: Bytes, len: usize) -> c_int;
    fn leveldb_bloom_builder_add_offsets32(
        builder: *mut Builder,
        data: Bytes,
        data_length: usize,
        offsets: *const i32,
        num_keys: usize,
    ) -> c_int;
    fn leveldb_bloom_builder_num_keys(builder: *const Builder) -> usize;
    fn leveldb_bloom_builder_filter_size(builder: *const Builder, total_keys: usize) -> usize;
    fn leveldb_bloom_builder_finish(
        builder: *mut Builder,
        total_keys: usize,
        filter: *mut u8,
        length: usize,
    ) -> c_int;
    fn leveldb_bloom_status_message(status: c_int) -> Bytes;
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let how = How { bits: input.bits_per_key(), ribbon: input.byte() % 2 == 0 };
    let How { bits, ribbon } = how;
    // SAFETY: each function gets what the header allows: what a pointer and a length name is there,
    // unless the function has to find out that it is not.
    unsafe {
        let (policy, builder) = if ribbon {
            (leveldb_bloom_policy_create_ribbon(bits), leveldb_bloom_builder_create_ribbon(bits))
        } else {
            (leveldb_bloom_policy_create(bits), leveldb_bloom_builder_create(bits))
        };
        let mut added = Vec::new();
        while !input.is_empty() {
            // A caller that forgot the policy.
            let policy = if input.byte() % 16 == 0 { null_mut() } else { policy };
            match input.byte() % 6 {
                0 => create(policy, how, &mut input),
                1 => create_flat(policy, how, &mut input),
                2 => query(&mut input),
                3 => query_flat(&mut input),
                4 => build(builder, how, &mut added, &mut input),
                _ => callbacks(policy, how, &mut input),
            }
        }
        leveldb_bloom_builder_destroy(builder);
        leveldb_bloom_policy_destroy(policy);
    }
});

/// What a policy was made with.
#[derive(Clone, Copy)]
struct How {
    bits: c_int,
    ribbon: bool,
}

impl How {
    /// The filter that it must make.
    fn create(self, keys: &[Key<'_>]) -> Vec<u8> {
        if self.ribbon {
            compare::create_ribbon(self.bits, keys)
        } else {
            compare::create(self.bits, keys)
        }
    }

    /// The answers that it must give.
    fn query(self, keys: &[Key<'_>], filter: &[u8]) -> Vec<bool> {
        if self.ribbon { compare::query_ribbon(keys, filter) } else { compare::query(keys, filter) }
    }
}

/// A pointer to bytes; for none of them it may be anything.
fn pointer(bytes: &[u8], way: u8) -> Bytes {
    match (bytes, way % 3) {
        ([], 0) => null(),
        ([], 1) => std::ptr::without_provenance(usize::MAX),
        _ => bytes.as_ptr().cast(),
    }
}

/// Exactly as long as it has to be, so that AddressSanitizer sees what is written after it.
fn room(len: usize) -> Box<[u8]> {
    vec![0x77; len].into_boxed_slice()
}

/// The status is right, and so is the filter, or it is unchanged.
fn check_filled(status: c_int, valid: bool, how: How, keys: &[Key<'_>], filter: &[u8]) {
    if valid {
        assert_eq!((status, filter), (OK, &how.create(keys)[..]));
    } else {
        assert_eq!(status, INVALID);
        assert!(filter.iter().all(|byte| *byte == 0x77), "changed");
    }
}

/// Separate keys, some of them NULL.
unsafe fn create(policy: *mut Policy, how: How, input: &mut Input) {
    let (way, keys) = (input.byte(), input.keys());
    let mut pointers: Vec<Bytes> = keys.iter().map(|key| pointer(key.as_bytes(), way)).collect();
    let lengths: Vec<usize> = keys.iter().map(|key| key.len()).collect();
    if way & 8 != 0 {
        pointers.iter_mut().step_by(3).for_each(|pointer| *pointer = null());
    }
    // NULL is a key only without a length.
    let mut valid = !policy.is_null()
        && pointers.iter().zip(&lengths).all(|(pointer, len)| !pointer.is_null() || *len == 0);
    let list = if way & 0x30 == 0x30 { null() } else { pointers.as_ptr() };
    valid &= !list.is_null() || keys.is_empty();
    // SAFETY: lists of as many entries as keys, or NULL.
    unsafe {
        let mut len = 77;
        let made =
            leveldb_bloom_create_filter(policy, list, lengths.as_ptr(), keys.len(), &mut len);
        if valid {
            let filter = std::slice::from_raw_parts(made, len);
            assert_eq!(filter, how.create(&keys));
            leveldb_bloom_free(made);
        } else {
            assert!(made.is_null() && len == 0);
        }
        let wrong = input.up_to(2);
        let mut filter = room(how.create(&keys).len() + wrong);
        let slices: Vec<Key> = (pointers.iter().zip(&lengths))
            .map(|(data, len)| Key::from_raw_parts(data.cast(), *len))
            .collect();
        let list = if list.is_null() { null() } else { slices.as_ptr() };
        let (place, len) = (filter.as_mut_ptr(), filter.len());
        let status = leveldb_bloom_fill_filter(policy, list, keys.len(), place, len);
        check_filled(status, valid && wrong == 0, how, &keys, &filter);
    }
}

/// Data and offsets, mostly rising; and the keys they name, if they name any.
fn flat<'a>(input: &mut Input<'a>) -> (&'a [u8], Vec<i64>, Option<Vec<Key<'a>>>) {
    let (count, data) = (input.up_to(70), input.piece());
    let mut last = 0_i64;
    let mut next = |_| {
        match input.byte() {
            step @ 0..=252 => last += i64::from(step % 9),
            253 => last = input.u64() as i32 as i64,
            254 => last = -last,
            _ => last = data.len() as i64 + i64::from(input.byte() % 2),
        }
        // Both widths of offsets are made of them.
        last = last.clamp(i32::MIN.into(), i32::MAX.into());
        last
    };
    let offsets: Vec<i64> = (0..=count).map(&mut next).collect();
    let key = |pair: &[i64]| {
        let range = usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?;
        data.get(range).map(Key::new)
    };
    let keys = offsets.windows(2).map(key).collect();
    (data, offsets, keys)
}

unsafe fn create_flat(policy: *mut Policy, how: How, input: &mut Input) {
    let (way, (data, offsets, keys)) = (input.byte(), flat(input));
    let offsets: Vec<i32> = offsets.iter().map(|offset| *offset as i32).collect();
    let (count, pointer) = (offsets.len() - 1, pointer(data, way));
    // SAFETY: a policy or NULL; the data and offsets are there.
    unsafe {
        let wrong = input.up_to(3) / 3;
        let expected = how.create(&vec![Key::new(&[]); count]).len();
        assert_eq!(
            leveldb_bloom_filter_size(policy, count),
            if policy.is_null() { 0 } else { expected }
        );
        let mut filter = room(expected + wrong);
        let (place, len) = (filter.as_mut_ptr(), filter.len());
        let status = leveldb_bloom_fill_filter_offsets32(
            policy,
            pointer,
            data.len(),
            offsets.as_ptr(),
            count,
            place,
            len,
        );
        // Without keys nobody reads the offsets.
        let keys = if count == 0 { Some(Vec::new()) } else { keys };
        let valid = !policy.is_null() && keys.is_some() && wrong == 0;
        check_filled(status, valid, how, &keys.unwrap_or_default(), &filter);

        // NULL, and lengths whose product no memory has.
        let some = c"data".as_ptr();
        let none = leveldb_bloom_fill_filter_offsets32(policy, null(), 9, null(), 1, place, len);
        let huge = leveldb_bloom_fill_filter_fixed(policy, some, usize::MAX / 2, 3, place, len);
        assert!(none != OK && huge != OK);
    }
}

unsafe fn query(input: &mut Input) {
    let (way, keys) = (input.byte(), input.keys());
    let filters: Vec<&[u8]> = (0..input.up_to(5)).map(|_| input.piece()).collect();
    let pointers: Vec<Bytes> = keys.iter().map(|key| pointer(key.as_bytes(), way)).collect();
    let lengths: Vec<usize> = keys.iter().map(|key| key.len()).collect();
    let mut columns = Vec::new();
    // SAFETY: lists of as many entries as keys and filters, or NULL with any length.
    unsafe {
        for filter in &filters {
            let expected: Vec<u8> =
                compare::query_ribbon(&keys, filter).into_iter().map(u8::from).collect();
            let (place, length) = (pointer(filter, way), filter.len());
            for (i, data) in pointers.iter().enumerate() {
                let answer = leveldb_bloom_key_may_match(*data, lengths[i], place, length);
                assert_eq!(answer, expected[i], "{:x?} in {filter:x?}", keys[i].as_bytes());
                let mut positions = [u64::MAX; 31];
                let capacity = usize::from(way) % 32;
                let list = positions.as_mut_ptr();
                let found =
                    leveldb_bloom_positions(*data, lengths[i], place, length, list, capacity);
                assert!(found <= 30 && positions[capacity..].iter().all(|p| *p == u64::MAX));
                if 0 < found && found <= capacity {
                    let set = |p: &u64| filter[(p / 8) as usize] >> (p % 8) & 1 == 1;
                    assert_eq!(positions[..found].iter().all(set), answer == 1);
                }
            }
            let mut results = room(keys.len());
            let (list, answers) = (pointers.as_ptr(), results.as_mut_ptr());
            let ones = leveldb_bloom_keys_may_match(
                list,
                lengths.as_ptr(),
                keys.len(),
                place,
                length,
                answers,
            );
            assert_eq!(&results[..], &expected[..]);
            assert_eq!(ones, expected.iter().filter(|answer| **answer == 1).count());
            columns.push(expected);
        }
        let list: Vec<Key> = filters.iter().map(|filter| Key::new(filter)).collect();
        for (i, data) in pointers.iter().enumerate().take(5) {
            let mut results = room(filters.len());
            let (answers, count) = (results.as_mut_ptr(), list.len());
            leveldb_bloom_filters_may_match(*data, lengths[i], list.as_ptr(), count, answers);
            assert!(results.iter().zip(&columns).all(|(result, column)| *result == column[i]));
        }
        // NULL counts as empty.
        let many = input.u64() as usize;
        assert_eq!(leveldb_bloom_key_may_match(null(), many, [-1, 6].as_ptr(), 2), 1);
        assert_eq!(leveldb_bloom_key_may_match(null(), many, null(), many), 0);
        let mut result = 7;
        let ones = leveldb_bloom_keys_may_match(null(), &many, many, null(), many, &mut result)
            + leveldb_bloom_filters_may_match(null(), many, null(), many, &mut result);
        assert_eq!((ones, result), (0, 7), "nothing is stored");
        let mut into = input.piece().to_vec();
        let from = input.piece();
        let mut expected = into.clone();
        let fit = bloom::union(&mut expected, from).is_ok();
        let (place, len) = (into.as_mut_ptr(), into.len());
        let status = leveldb_bloom_union(place, len, from.as_ptr().cast(), from.len());
        assert_eq!((status, into), (if fit { OK } else { MISMATCH }, expected));
        assert!(!CStr::from_ptr(leveldb_bloom_status_message(status)).is_empty());
    }
}

unsafe fn query_flat(input: &mut Input) {
    let (way, (data, offsets, keys)) = (input.byte(), flat(input));
    let (filter, count) = (input.piece(), offsets.len() - 1);
    let (mut results, mut bitmap, mut matches) = (room(count), room(count.div_ceil(8)), usize::MAX);
    let wanted = |bit: u8, place: *mut u8| if way & bit == 0 { place } else { null_mut() };
    let answers = wanted(8, results.as_mut_ptr());
    let bits = wanted(16, bitmap.as_mut_ptr());
    let (place, length) = (pointer(filter, way), filter.len());
    let (pointer, len) = (pointer(data, way), data.len());
    // Keys of one length instead, where the data divides into them.
    let fixed = way & 32 != 0 && count > 0 && len % count == 0;
    let keys = match fixed {
        true if len == 0 => Some(vec![Key::new(&[]); count]),
        true => Some(data.chunks(len / count).map(Key::new).collect()),
        false if count == 0 => Some(Vec::new()),
        false => keys,
    };
    // SAFETY: data, offsets and filter are there, and room for the answers.
    let status = unsafe {
        if fixed {
            leveldb_bloom_keys_may_match_fixed(
                pointer,
                len / count,
                count,
                place,
                length,
                answers,
                bits,
                &mut matches,
            )
        } else {
            let list = offsets.as_ptr();
            leveldb_bloom_keys_may_match_offsets64(
                pointer,
                len,
                list,
                count,
                place,
                length,
                answers,
                bits,
                &mut matches,
            )
        }
    };
    let Some(keys) = keys else {
        assert_eq!((status, matches), (INVALID, usize::MAX));
        assert!(results.iter().chain(&bitmap).all(|byte| *byte == 0x77), "changed");
        return;
    };
    let expected = compare::query_ribbon(&keys, filter);
    assert_eq!((status, matches), (OK, expected.iter().filter(|answer| **answer).count()));
    if !answers.is_null() {
        assert!(results.iter().zip(&expected).all(|(result, answer)| *result == u8::from(*answer)));
    }
    if !bits.is_null() {
        let bit = |i: usize| bitmap[i / 8] >> (i % 8) & 1 == 1;
        let right = |i| bit(i) == expected.get(i).copied().unwrap_or(false);
        assert!((0..bitmap.len() * 8).all(right));
    }
}

unsafe fn build<'a>(
    builder: *mut Builder,
    how: How,
    added: &mut Vec<Key<'a>>,
    input: &mut Input<'a>,
) {
    let way = input.byte();
    // SAFETY: a living builder, and data and offsets that are there.
    unsafe {
        if way & 1 == 0 {
            for key in input.keys() {
                let data = pointer(key.as_bytes(), way);
                assert_eq!(leveldb_bloom_builder_add(builder, data, key.len()), OK);
                added.push(key);
            }
        } else {
            let (data, offsets, keys) = flat(input);
            let offsets: Vec<i32> = offsets.iter().map(|offset| *offset as i32).collect();
            let keys = if offsets.len() == 1 { Some(Vec::new()) } else { keys };
            let (pointer, len) = (pointer(data, way), data.len());
            let (list, count) = (offsets.as_ptr(), offsets.len() - 1);
            let status = leveldb_bloom_builder_add_offsets32(builder, pointer, len, list, count);
            assert_eq!(status, if keys.is_some() { OK } else { INVALID });
            added.extend(keys.unwrap_or_default());
        }
        assert_eq!(leveldb_bloom_builder_add(builder, null(), 5), INVALID);
        assert_eq!(leveldb_bloom_builder_add(null_mut(), null(), 0), INVALID);
        assert_eq!(leveldb_bloom_builder_num_keys(builder), added.len());
        if way & 2 == 0 {
            return;
        }
        let mut filter = room(leveldb_bloom_builder_filter_size(builder, 0));
        let (place, len) = (filter.as_mut_ptr(), filter.len());
        assert_eq!(leveldb_bloom_builder_finish(builder, 0, place, len - 1), INVALID);
        assert_eq!(leveldb_bloom_builder_finish(builder, 0, null_mut(), len), INVALID);
        let status = leveldb_bloom_builder_finish(builder, 0, place, len);
        check_filled(status, true, how, added, &filter);
        added.clear();
    }
}

/// The callbacks, with a policy and with one that filters every key twice.
unsafe fn callbacks(policy: *mut Policy, how: How, input: &mut Input) {
    let (way, keys, other) = (input.byte(), input.keys(), input.piece());
    let pointers: Vec<Bytes> = keys.iter().map(|key| pointer(key.as_bytes(), way)).collect();
    let lengths: Vec<usize> = keys.iter().map(|key| key.len()).collect();
    let table = leveldb_bloom_vtable();
    let (Some(create), Some(query), Some(destroy)) =
        (table.create_filter, table.key_may_match, table.destructor)
    else {
        panic!("a table with holes");
    };
    // SAFETY: what LevelDB calls them with.
    unsafe {
        let (name, state) = (c"doubled".as_ptr(), null_mut());
        let doubling =
            leveldb_bloom_policy_create_transformed(how.bits, name, Some(double), None, state);
        for state in [policy, doubling] {
            // A transformed policy has LevelDB's own encoding.
            let (times, how) =
                if state == doubling { (2, How { ribbon: false, ..how }) } else { (1, how) };
            let seen: Vec<Vec<u8>> = keys.iter().map(|key| key.as_bytes().repeat(times)).collect();
            let seen: Vec<Key> = seen.iter().map(|key| Key::new(key)).collect();
            let (list, count, mut length) = (pointers.as_ptr(), keys.len() as c_int, 77);
            let made = create(state.cast(), list, lengths.as_ptr(), count, &mut length);
            let filter = std::slice::from_raw_parts(made.cast::<u8>(), length);
            if state.is_null() {
                assert_eq!(filter.last(), Some(&31), "without a policy every key matches");
            } else {
                assert_eq!(filter, how.create(&seen));
            }
            let expected = how.query(&seen, other);
            for (i, key) in pointers.iter().enumerate() {
                assert_eq!(query(state.cast(), *key, lengths[i], made, length), 1, "lost");
                if !state.is_null() {
                    let other_pointer = pointer(other, way);
                    let answer = query(state.cast(), *key, lengths[i], other_pointer, other.len());
                    assert_eq!(answer, u8::from(expected[i]));
                }
            }
            leveldb_bloom_free(made.cast());
        }
        destroy(doubling.cast());
        destroy(null_mut());
    }
}

/// A canonical form for which the first buffer is often too small.
unsafe extern "C" fn double(
    _: *mut c_void,
    key: Bytes,
    len: usize,
    buffer: Room,
    room: usize,
) -> usize {
    if 0 < len && 2 * len <= room {
        // SAFETY: a key, and room for two.
        unsafe {
            key.copy_to_nonoverlapping(buffer, len);
            key.copy_to_nonoverlapping(buffer.add(len), len);
        }
    }
    2 * len
}
