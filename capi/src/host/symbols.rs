//! The C++ names by which a host's `std::string` is known, and where the linker found them.
//!
//! A static link leaves no names for the loader. So the names are weak references besides, for the
//! linker to fill in. A shared library keeps them as weak references for the loader, which has the
//! linker of a program with a static LevelDB export them to us.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;

/// One of [`NAMES`].
#[derive(Clone, Copy)]
pub(super) struct Symbol(usize);

impl Symbol {
    /// `leveldb::DestroyDB(const std::string&, const Options&)`, which every LevelDB has, with the
    /// kind of string of this number.
    pub(super) const fn destroy_db(kind: usize) -> Symbol {
        Symbol(2 * kind)
    }

    /// `std::string::append(const char*, size_t)`.
    pub(super) const fn append(kind: usize) -> Symbol {
        Symbol(2 * kind + 1)
    }

    /// What all empty copy-on-write strings share.
    pub(super) const EMPTY_REP: Symbol = Symbol(6);

    pub(super) fn name(self) -> &'static CStr {
        NAMES.get(self.0).copied().unwrap_or(c"")
    }

    /// Where the linker found it.
    pub(super) fn linked(self) -> Option<NonNull<c_void>> {
        // SAFETY: the assembly below defines it, and the linker or the loader has filled it.
        unsafe { LINKED.get(self.0).copied()? }
    }
}

/// `size_t` in a mangled name.
#[cfg(target_pointer_width = "64")]
macro_rules! size_t {
    () => {
        "m"
    };
}
#[cfg(not(target_pointer_width = "64"))]
macro_rules! size_t {
    () => {
        "j"
    };
}

macro_rules! names {
    ($($name:expr,)*) => {
        static NAMES: [&CStr; 7] = [$(
            match CStr::from_bytes_with_nul(concat!($name, "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            },
        )*];
        // `.dc.a` is a word of an address's length.
        core::arch::global_asm!(
            ".pushsection .data.rel.ro.leveldb_bloom_linked,\"aw\"",
            ".balign 8",
            ".globl leveldb_bloom_linked",
            ".hidden leveldb_bloom_linked",
            "leveldb_bloom_linked:",
            $(concat!(".weak ", $name), concat!(".dc.a ", $name),)*
            ".size leveldb_bloom_linked, . - leveldb_bloom_linked",
            ".popsection",
        );
    };
}

names! {
    "_ZN7leveldb9DestroyDBERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKNS_7OptionsE",
    concat!("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc", size_t!()),
    "_ZN7leveldb9DestroyDBERKSsRKNS_7OptionsE",
    concat!("_ZNSs6appendEPKc", size_t!()),
    "_ZN7leveldb9DestroyDBERKNSt3__112basic_stringIcNS0_11char_traitsIcEENS0_9allocatorIcEEEERKNS_7OptionsE",
    concat!("_ZNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEE6appendEPKc", size_t!()),
    "_ZNSs4_Rep20_S_empty_rep_storageE",
}

unsafe extern "C" {
    #[link_name = "leveldb_bloom_linked"]
    static LINKED: [Option<NonNull<c_void>>; 7];
}
