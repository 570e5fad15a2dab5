//! What the processor and the operating system support, found out without std.

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use core::sync::atomic::{AtomicU8, Ordering};

const KNOWN: u8 = 1;
const AVX2: u8 = 2;
#[cfg(leveldb_bloom_avx512)]
const AVX512: u8 = 4;
#[cfg(leveldb_bloom_avx512)]
const INTEL: u8 = 8;

/// AVX2, BMI1 and BMI2.
pub(super) fn has_avx2() -> bool {
    features() & AVX2 != 0
}

/// AVX-512 as Ice Lake and Zen 4 have it: F, BW, DQ, VL, IFMA, VBMI and GFNI; and AVX2.
#[cfg(leveldb_bloom_avx512)]
pub(super) fn has_avx512() -> bool {
    features() & AVX512 != 0
}

/// Whether AVX-512 does not slow down the rest of the program: Intel's processors lower their clock
/// for it.
#[cfg(leveldb_bloom_avx512)]
pub(super) fn prefers_avx512() -> bool {
    features() & (AVX512 | INTEL) == AVX512
}

fn features() -> u8 {
    static FEATURES: AtomicU8 = AtomicU8::new(0);
    // Two threads may both look, and find the same.
    match FEATURES.load(Ordering::Relaxed) {
        0 => {
            let found = look();
            FEATURES.store(found, Ordering::Relaxed);
            found
        }
        known => known,
    }
}

// __cpuid is a safe function in newer compilers.
#[allow(unused_unsafe)]
fn look() -> u8 {
    // SAFETY: every x86-64 processor has cpuid.
    let (zero, one) = unsafe { (__cpuid(0), __cpuid(1)) };
    let has = |register: u32, bits: &[u32]| bits.iter().all(|bit| register & (1 << bit) != 0);
    // sse3, ssse3, sse4.1, sse4.2, popcnt, osxsave and avx: compilers may use all of them wherever
    // AVX2 is allowed, and emulators can leave out some.
    if zero.eax < 7 || !has(one.ecx, &[0, 9, 19, 20, 23, 27, 28]) {
        return KNOWN;
    }
    // SAFETY: leaf 7 exists, as leaf 0 says; xgetbv needs osxsave, which leaf 1 has.
    let (seven, xcr0) = unsafe { (__cpuid_count(7, 0), xcr0()) };
    // The system keeps xmm and ymm; bmi1, avx2 and bmi2.
    if !has(xcr0, &[1, 2]) || !has(seven.ebx, &[3, 5, 8]) {
        return KNOWN;
    }
    #[cfg(leveldb_bloom_avx512)]
    {
        // As "GenuineIntel" begins.
        let intel = if zero.ebx == u32::from_le_bytes(*b"Genu") { INTEL } else { 0 };
        // The system keeps opmask and zmm; f, dq, ifma, bw and vl; vbmi, gfni.
        if has(xcr0, &[5, 6, 7]) && has(seven.ebx, &[16, 17, 21, 30, 31]) && has(seven.ecx, &[1, 8])
        {
            return KNOWN | AVX2 | AVX512 | intel;
        }
    }
    KNOWN | AVX2
}

/// # Safety
/// The processor has xsave and the system uses it.
#[target_feature(enable = "xsave")]
unsafe fn xcr0() -> u32 {
    // SAFETY: the caller's.
    unsafe { _xgetbv(0) as u32 }
}
