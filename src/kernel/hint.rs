//! What the compiler and the processor cannot know by themselves.

/// The value itself, hidden from the optimiser, which would otherwise unroll a loop of a few steps
/// or take a vector apart lane by lane.
#[inline(always)]
pub(super) fn hidden(value: usize) -> usize {
    #[cfg(all(
        not(miri),
        any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")
    ))]
    let value = {
        let mut value = value;
        // SAFETY: no instruction, only a comment.
        unsafe {
            core::arch::asm!(
                "/* {0} */", inout(reg) value, options(pure, nomem, nostack, preserves_flags)
            )
        }
        value
    };
    value
}

/// Returns `answer` by way of a branch, so that the processor can guess it and go on. An address
/// that depends on the answer would otherwise wait for the whole query.
#[inline(always)]
pub(super) fn through_a_branch(answer: bool) -> bool {
    if !answer {
        return false;
    }
    // The compiler has to execute assembly where it stands, and so needs the branch.
    #[cfg(all(
        not(miri),
        any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")
    ))]
    // SAFETY: no instruction, only a comment.
    unsafe {
        core::arch::asm!("/* */", options(nomem, nostack, preserves_flags))
    }
    true
}

/// Prefetches memory that will be used soon. Any address will do.
#[inline(always)]
pub(super) fn prefetch(address: *const u8) {
    #[cfg(all(not(miri), target_arch = "x86_64"))]
    // SAFETY: a prefetch never faults.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(address.cast())
    }
    #[cfg(all(not(miri), target_arch = "aarch64"))]
    // SAFETY: a prefetch never faults.
    unsafe {
        core::arch::asm!(
            "prfm pldl1keep, [{0}]", in(reg) address, options(nostack, readonly, preserves_flags)
        )
    }
    // Other targets have no stable way to prefetch.
    let _ = address;
}
