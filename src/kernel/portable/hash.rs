//! Hashes.

use super::super::Key;
use super::super::bits::hidden;
use super::longer_end;
use crate::hash::{BLOOM_SEED as SEED, M};

/// `hash::hash`, with the last word taken from the key's last four bytes.
#[inline(always)]
pub(in super::super) fn hash(key: &[u8]) -> u32 {
    if key.len() < 4 {
        return hash_out_of_line(Key::new(key));
    }
    let mut h = first(key.len());
    // One place and one length: a query has no register for more.
    let (mut at, mut left) = (key.as_ptr(), key.len());
    // SAFETY: `left` bytes of the key begin at `at`, as each step keeps it. The last read begins
    // four bytes before the key's end, and the key has at least four, as was seen above.
    unsafe {
        // Four words at a time. Left to itself the compiler would put the odd words first, with
        // more to do before the first step.
        while left >= 16 {
            for i in 0..4 {
                h = step(h, word_at(at.add(4 * i)));
            }
            (at, left) = (at.add(16), left - 16);
        }
        while left >= 4 {
            h = step(h, word_at(at));
            (at, left) = (at.add(4), left - 4);
        }
        if left == 0 { h } else { finish(h, word_at(at.add(left).sub(4)), left) }
    }
}

/// `hash` in as few instructions and jumps as may be, because they are what takes the time of a
/// filter of one short key: with 140 and 15 (in LevelDB's whole call) in place of 184 and 23, one of
/// four bytes at 2 bits took 6.8 ns in place of 9.5, where stock takes 7.8 (AMD EPYC of the fifth
/// generation, 2026-11-29).
#[inline(always)]
pub(super) fn hash_compact(key: Key) -> u32 {
    let mut h = first(key.len());
    let (mut at, mut left) = (key.as_ptr(), key.len());
    // SAFETY: `left` bytes of the key begin at `at`, as each step keeps it. What `finish` is given
    // begins four bytes before the key's end, and the key has at least four, as was seen above it.
    unsafe {
        if left >= 4 {
            if left >= 8 {
                while left >= 8 {
                    // Hidden, because the compiler would write out more words at a time.
                    h = hidden(step(step(h, word_at(at)), word_at(at.add(4))));
                    (at, left) = (at.add(8), left - 8);
                }
                // Here as well as below: a key of 8, 16 or 32 bytes then jumps once less.
                if left == 0 {
                    return h;
                }
            }
            if left >= 4 {
                h = step(h, word_at(at));
                (at, left) = (at.add(4), left - 4);
                if left == 0 {
                    return h;
                }
            }
            return finish(h, word_at(at.add(left).sub(4)), left);
        }
    }
    hash_of_few_bytes(key)
}

/// The hash of a key of three bytes or fewer; of any other a wrong one.
#[inline(always)]
pub(super) fn hash_of_few_bytes(key: Key) -> u32 {
    let (h, at, len) = (first(key.len()), key.as_ptr(), key.len());
    if len == 0 {
        return h;
    }
    // SAFETY: each byte is one that the key was seen to have.
    let byte = |i| u32::from(unsafe { at.add(i).read() }) << (8 * i);
    let mut tail = byte(0);
    if len > 1 {
        tail |= byte(1);
        if len > 2 {
            tail |= byte(2);
        }
    }
    last_step(h, tail)
}

/// `hash_compact` out of line, for keys that are not many.
#[inline(never)]
pub(crate) fn hash_out_of_line(key: Key) -> u32 {
    hash_compact(key)
}

/// The last step, for the `len % 4` bytes after a key's whole words, of which there are some; they
/// are taken from its last four bytes.
#[inline(always)]
fn finish(h: u32, last: u32, len: usize) -> u32 {
    // By 32 bits less eight for each: a shift by a number that may be too large goes by its
    // remainder by 32.
    last_step(h, last.wrapping_shr((len as u32).wrapping_mul(8).wrapping_neg()))
}

/// The step for the bytes after a key's whole words, of which there are some.
#[inline(always)]
fn last_step(h: u32, tail: u32) -> u32 {
    let h = h.wrapping_add(tail).wrapping_mul(M);
    h ^ (h >> 24)
}

/// How many keys are hashed side by side: each step of one waits for the step before.
pub(in super::super) const SIDE_BY_SIDE: usize = 4;

pub(in super::super) fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
    // Here a call takes longer than the hash: 1,000 keys of one byte at 2 bits took 1.2 us in place
    // of 1.9, where stock takes as long (AMD EPYC of the fifth generation, 2026-11-29).
    if longer_end(keys) < 4 {
        for (key, h) in keys.iter().zip(hashes) {
            *h = if key.len() < 4 { hash_of_few_bytes(*key) } else { hash_out_of_line(*key) };
        }
        return;
    }
    let mut fours = keys.chunks_exact(SIDE_BY_SIDE);
    let mut out = hashes.chunks_exact_mut(SIDE_BY_SIDE);
    for (keys, hashes) in (&mut fours).zip(&mut out) {
        if let Ok(four) = <&[Key; SIDE_BY_SIDE]>::try_from(keys) {
            hashes.copy_from_slice(&hash_four(four));
        }
    }
    // Two or three keys are hashed side by side, too, if they are long, with one of them repeated
    // to make four: three of 200 bytes took 120 ns in place of 169 one after the other (with their
    // bits; Intel Xeon with AMX, 2026-11-26).
    let (rest, out) = (fours.remainder(), out.into_remainder());
    if let (&[a, b, ..], [x, y, ..]) = (rest, &mut *out) {
        if are_long(rest, 1, 128) {
            let mut four = [0; SIDE_BY_SIDE];
            hash_keys(&[a, b, *rest.last().unwrap_or(&b), b], &mut four);
            (*x, *y) = (four[0], four[1]);
            if let [_, _, z] = out {
                *z = four[2];
            }
            return;
        }
    }
    for (key, h) in rest.iter().zip(out) {
        *h = hash_out_of_line(*key);
    }
}

#[inline(always)]
fn hash_four(keys: &[Key; SIDE_BY_SIDE]) -> [u32; SIDE_BY_SIDE] {
    let len = keys[0].len();
    // One length, and a multiple of 4: only whole words, and no key ends before another.
    if keys.iter().fold(len % 4, |differ, key| differ | (key.len() ^ len)) == 0 {
        let mut h = [first(len); SIDE_BY_SIDE];
        for w in 0..len / 4 {
            for (h, key) in h.iter_mut().zip(keys) {
                // SAFETY: `w` is less than the whole words of the keys, which are of one length.
                *h = step(*h, unsafe { word(key, 4 * w) });
            }
        }
        return h;
    }
    let lens = keys.map(|key| key.len());
    let least = lens.into_iter().fold(usize::MAX, usize::min);
    if least < 4 {
        return keys.map(hash_out_of_line);
    }
    let mut h = lens.map(first);
    for w in 0..least / 4 {
        for (h, key) in h.iter_mut().zip(keys) {
            // SAFETY: `w` is less than the whole words of the shortest key.
            *h = step(*h, unsafe { word(key, 4 * w) });
        }
    }
    let most = lens.into_iter().fold(0, usize::max);
    // A key that has no more words reads its last one again, and keeps its hash.
    for w in least / 4..most / 4 {
        for i in 0..SIDE_BY_SIDE {
            let at = (4 * w).min(lens[i] - 4);
            // SAFETY: the key has at least four bytes (`least`), and `at` is at most four before
            // its end.
            let next = step(h[i], unsafe { word(&keys[i], at) });
            h[i] = if w < lens[i] / 4 { next } else { h[i] };
        }
    }
    for (h, key) in h.iter_mut().zip(keys) {
        // Computed for every key: whether bytes are left is unpredictable among mixed lengths.
        // SAFETY: the key has at least four bytes (`least`), and these are its last.
        let finished = finish(*h, unsafe { word(key, key.len() - 4) }, key.len());
        *h = if key.len() % 4 == 0 { *h } else { finished };
    }
    h
}

/// A hash before the first step.
#[inline(always)]
fn first(len: usize) -> u32 {
    SEED ^ (len as u32).wrapping_mul(M)
}

/// The step for a whole word.
#[inline(always)]
fn step(h: u32, word: u32) -> u32 {
    let h = h.wrapping_add(word).wrapping_mul(M);
    h ^ (h >> 16)
}

/// # Safety
/// The key has four bytes there.
#[inline(always)]
unsafe fn word(key: &Key, at: usize) -> u32 {
    // SAFETY: the caller's word.
    unsafe { word_at(key.as_ptr().add(at)) }
}

/// # Safety
/// Four bytes can be read there.
#[inline(always)]
unsafe fn word_at(at: *const u8) -> u32 {
    // SAFETY: the caller's word.
    u32::from_le(unsafe { at.cast::<u32>().read_unaligned() })
}

/// Whether the keys, less `but` of them, have `bytes` bytes or more together, as judged by the
/// shorter of the first and the last. A processor does not look far enough ahead to overlap the
/// hashes of such keys unless they are hashed side by side: four keys of 256 bytes took 374 ns,
/// with AVX2 202 and with AVX-512 218 (AMD EPYC of the fourth generation, 2026-11-24).
#[inline(always)]
pub(super) fn are_long(keys: &[Key], but: usize, bytes: usize) -> bool {
    // The shorter of the two: a single long key has nothing to be hashed beside.
    let [first, .., last] = keys else { return false };
    first.len().min(last.len()).wrapping_mul(keys.len().saturating_sub(but)) >= bytes
}
