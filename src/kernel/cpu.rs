//! What the processor and the operating system support, asked without std.

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use core::sync::atomic::{AtomicU8, Ordering};

const ASKED: u8 = 1;
const AVX2: u8 = 2;
const AVX512: u8 = 4;
const INTEL: u8 = 8;
const GATHERS_FAST: u8 = 16;
const TWO_TURNS: u8 = 32;

/// AVX2 and BMI1/2.
pub(super) fn has_avx2() -> bool {
    when_choosing() & AVX2 != 0
}

/// AVX-512 as Ice Lake and Zen 4 have it: F, BW, DQ, VL, IFMA, VBMI; and AVX2.
#[cfg(leveldb_bloom_avx512)]
pub(super) fn has_avx512() -> bool {
    when_choosing() & AVX512 != 0
}

/// Whether AVX-512 can be used without slowing down all else: Intel's processors lower their clock
/// for it.
#[cfg(leveldb_bloom_avx512)]
pub(super) fn prefers_avx512() -> bool {
    when_choosing() & (AVX512 | INTEL) == AVX512
}

/// Whether the processor does 512 bits in two turns of 256, as AMD's fourth generation (Zen 4)
/// does. For the AVX-512 kernel, before whose use it was asked whether there is AVX-512.
#[cfg(leveldb_bloom_avx512)]
#[inline]
pub(super) fn takes_two_turns() -> bool {
    FEATURES.load(Ordering::Relaxed) & TWO_TURNS != 0
}

/// Whether multiplying a vector of 32-bit numbers takes ten cycles, three times what a single
/// number takes. For the AVX2 kernel, before whose use it was asked whether there is AVX2.
#[inline]
pub(super) fn multiplies_slowly() -> bool {
    FEATURES.load(Ordering::Relaxed) & INTEL != 0
}

/// Whether a gather takes less time than as many loads. It does on Intel's processors from Sapphire
/// Rapids on, which are known by AVX-512's half-precision floats. On many earlier ones gathers are
/// slowed down, because they could leak other programs' memory (GDS), and AMD's processors make
/// loads of a gather, which may take longer than loads of one's own.
pub(super) fn gathers_fast() -> bool {
    features() & GATHERS_FAST != 0
}

/// `features`, for the choice of a kernel: once, not wherever one is looked for.
#[inline(never)]
fn when_choosing() -> u8 {
    features()
}

static FEATURES: AtomicU8 = AtomicU8::new(0);

fn features() -> u8 {
    // Two threads may both ask, and find the same.
    match FEATURES.load(Ordering::Relaxed) {
        0 => {
            let found = ask();
            FEATURES.store(found, Ordering::Relaxed);
            found
        }
        known => known,
    }
}

// Once, not wherever a kernel is looked for: that is half a kilobyte.
#[inline(never)]
// __cpuid is a safe function in newer compilers.
#[allow(unused_unsafe)]
fn ask() -> u8 {
    // SAFETY: every x86-64 processor has cpuid.
    let (zero, one) = unsafe { (__cpuid(0), __cpuid(1)) };
    let has = |register: u32, bits: &[u32]| bits.iter().all(|bit| register & (1 << bit) != 0);
    // sse3, ssse3, sse4.1, sse4.2, popcnt, osxsave and avx. Processors with AVX have those of SSE,
    // too, and compilers may use them wherever AVX2 is allowed; but emulators can leave them out.
    if zero.eax < 7 || !has(one.ecx, &[0, 9, 19, 20, 23, 27, 28]) {
        return ASKED;
    }
    // SAFETY: leaf 0 said that leaf 7 exists; xgetbv needs osxsave, which leaf 1 just showed.
    let (seven, xcr0) = unsafe { (__cpuid_count(7, 0), xcr0()) };
    let mut found = ASKED;
    // As "GenuineIntel" begins.
    if zero.ebx == u32::from_le_bytes(*b"Genu") {
        found |= INTEL;
    }
    // The system keeps xmm and ymm; bmi1, avx2, bmi2.
    if has(xcr0, &[1, 2]) && has(seven.ebx, &[3, 5, 8]) {
        found |= AVX2;
        // avx512_fp16
        if found & INTEL != 0 && has(seven.edx, &[23]) {
            found |= GATHERS_FAST;
        }
        // The system keeps opmask and zmm; f, dq, ifma, bw, vl; vbmi.
        if has(xcr0, &[5, 6, 7]) && has(seven.ebx, &[16, 17, 21, 30, 31]) && has(seven.ecx, &[1]) {
            found |= AVX512;
            // Family 25, as AMD's third and fourth generations have it; the third has no AVX-512.
            if (one.eax >> 20) as u8 == 25 - 15 {
                found |= TWO_TURNS;
            }
        }
    }
    found
}

/// # Safety
/// The processor has xsave and the system uses it.
#[target_feature(enable = "xsave")]
unsafe fn xcr0() -> u32 {
    // SAFETY: the caller's word.
    unsafe { _xgetbv(0) as u32 }
}
