//! The three kinds of `std::string`, and what the bytes of one show.

use core::ffi::c_void;
use core::mem;
use core::ptr::{self, NonNull};

use super::abi::Append;
use super::modules::{self, Scope};
use super::route::Way;
use super::symbols::Symbol;
use crate::diagnosis::statistics::Route;

/// A kind of `std::string`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StringKind {
    /// libstdc++'s of C++11: a pointer to the characters, the size, and the capacity or, if there are
    /// few characters, these.
    Cxx11,
    /// libstdc++'s older one: a pointer to the characters, which follow the size, the capacity and a
    /// count of references.
    CopyOnWrite,
    /// libc++'s, whose first word is 0 if it is empty.
    Libcxx,
}

impl StringKind {
    pub(super) const ALL: [StringKind; 3] =
        [StringKind::Cxx11, StringKind::CopyOnWrite, StringKind::Libcxx];

    pub(super) const fn route(self) -> Route {
        match self {
            StringKind::Cxx11 => Route::AppendCxx11,
            StringKind::CopyOnWrite => Route::AppendCopyOnWrite,
            StringKind::Libcxx => Route::AppendLibcxx,
        }
    }

    /// Whether a LevelDB of this kind is in `scope`.
    pub(super) fn has_host(self, scope: &Scope) -> bool {
        scope.find(Symbol::destroy_db(self as usize)).is_some_and(|host| {
            // The loader may have filled in another's.
            !matches!(scope, Scope::Linked) || modules::is_own(host.as_ptr())
        })
    }

    /// The string's own `append`, as `scope` has it.
    pub(super) fn append(self, scope: &Scope) -> Option<Way> {
        let append = scope.find(Symbol::append(self as usize))?;
        // SAFETY: the mangled name, which only this function has.
        let append = unsafe { mem::transmute::<NonNull<c_void>, Append>(append) };
        Some(Way::Append(append, self.route()))
    }

    /// Whether only a string of this kind looks like that.
    ///
    /// # Safety
    /// `string` is a `std::string`.
    pub(super) unsafe fn is_shown_by(self, string: *const c_void, scope: &Scope) -> bool {
        // SAFETY: no string is shorter.
        let first = unsafe { string.cast::<usize>().read() };
        match self {
            // Characters in memory of their own are aligned; those of a copy-on-write string lie three
            // words behind that. libc++ has an odd capacity first, or characters.
            StringKind::Cxx11 => unsafe {
                // SAFETY: the caller's promise.
                is_short(string) || (self.may_be(string) && first % TWO_WORDS == 0)
            },
            StringKind::CopyOnWrite => {
                let empty = scope.find(Symbol::EMPTY_REP);
                empty.is_some_and(|rep| first == rep.addr().get().wrapping_add(THREE_WORDS))
            }
            StringKind::Libcxx => first == 0,
        }
    }

    /// Whether a string of this kind can look like that.
    ///
    /// # Safety
    /// `string` is a `std::string`.
    pub(super) unsafe fn may_be(self, string: *const c_void) -> bool {
        let words = string.cast::<usize>();
        // SAFETY: the caller's promise. The smallest string has one word; more is read where other words
        // follow it in any case. A pointer is followed where a host's name says that it is one.
        unsafe {
            let first = words.read();
            match self {
                StringKind::Cxx11 => {
                    let (size, capacity) = (words.add(1).read(), words.add(2).read());
                    let is_long = capacity >= 16 && capacity <= isize::MAX as usize;
                    is_short(string) || (first != 0 && is_long && size <= capacity)
                }
                // One without a capacity is empty, and then another library's (see `is_shown_by`), which
                // this one would try to free.
                StringKind::CopyOnWrite => {
                    !is_short(string)
                        && first.wrapping_sub(THREE_WORDS) % TWO_WORDS == 0
                        && ptr::with_exposed_provenance::<usize>(first).sub(2).read() > 0
                }
                StringKind::Libcxx => !is_short(string),
            }
        }
    }
}

const TWO_WORDS: usize = 2 * size_of::<usize>();
const THREE_WORDS: usize = 3 * size_of::<usize>();

/// Whether it has its characters in itself, as only short ones of C++11 have.
///
/// # Safety
/// `string` is a `std::string`.
unsafe fn is_short(string: *const c_void) -> bool {
    // SAFETY: no string is shorter than a word.
    unsafe { string.cast::<usize>().read() == string.addr().wrapping_add(TWO_WORDS) }
}
