//! What `typeid` and `dynamic_cast` ask of our objects: a `std::type_info` that says "a class
//! derived from leveldb::FilterPolicy".
//!
//! It is an object of the C++ runtime's, which we neither link nor know beforehand; its virtual
//! table and its base are found by name, as the host's string is. Hosts compiled without RTTI have
//! no base to name, and then ask for none.

use core::ffi::{CStr, c_char, c_void};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::elf;
use super::modules::{self, Scope};

/// The Itanium C++ ABI's `__si_class_type_info`; without its last field, a `__class_type_info`.
#[repr(C)]
pub(super) struct TypeInfo {
    methods: AtomicPtr<c_void>,
    name: *const c_char,
    base: AtomicPtr<c_void>,
}

// SAFETY: the name is never changed, and the rest is atomic.
unsafe impl Sync for TypeInfo {}

impl TypeInfo {
    /// Whether it is the type of this library's policies, or of another copy's in the process.
    ///
    /// # Safety
    /// `self` is the type of some C++ class.
    pub(super) unsafe fn is_a_copys(&self) -> bool {
        // SAFETY: the caller's word; by the C++ ABI a type's name is a C string.
        unsafe { CStr::from_ptr(self.name) == NAME }
    }
}

const NAME: &CStr = c"N13leveldb_bloom12FilterPolicyE";

/// The type of every policy of ours.
pub(super) static TYPE_INFO: TypeInfo = TypeInfo {
    methods: AtomicPtr::new(ptr::null_mut()),
    name: NAME.as_ptr(),
    base: AtomicPtr::new(ptr::null_mut()),
};

/// The names by which the parts are found. [`super::route`] has them as weak references for the
/// linker.
pub(super) const DERIVED_METHODS: &CStr = c"_ZTVN10__cxxabiv120__si_class_type_infoE";
pub(super) const CLASS_METHODS: &CStr = c"_ZTVN10__cxxabiv117__class_type_infoE";
pub(super) const BASE: &CStr = c"_ZTIN7leveldb12FilterPolicyE";

/// Where the three names are, NULL where they are not.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Names {
    pub(super) derived_methods: Option<NonNull<c_void>>,
    pub(super) class_methods: Option<NonNull<c_void>>,
    pub(super) base: Option<NonNull<c_void>>,
}

impl Names {
    pub(super) fn find(scope: &Scope) -> Names {
        Names {
            derived_methods: scope.find(DERIVED_METHODS),
            class_methods: scope.find(CLASS_METHODS),
            base: scope.find(BASE),
        }
    }

    /// The C++ runtime's half of it alone, of the first module that has it: for who has no LevelDB
    /// that we see, and may have classes of it.
    pub(super) fn first_loaded() -> Names {
        let class_methods = modules::first_loaded(CLASS_METHODS);
        Names { derived_methods: None, class_methods, base: None }
    }
}

/// Whether the type has its base class: nothing is left to find.
pub(super) fn is_complete() -> bool {
    COMPLETE.load(Ordering::Acquire)
}

/// Set last: `base` is stored before the methods that read it, and so is no sign yet that those are
/// there; methods alone may be those of a class without a base.
static COMPLETE: AtomicBool = AtomicBool::new(false);

/// Whether the runtime was found: until then no host may ask for the type.
pub(super) fn is_known() -> bool {
    !TYPE_INFO.methods.load(Ordering::Acquire).is_null()
}

/// Completes the type as far as `names` allow: as a class derived from LevelDB's, or as a class
/// without a base; or leaves it as it is.
pub(super) fn complete(names: Names) {
    /// An object points behind the first two entries of its virtual table.
    const FIRST_METHOD: usize = 2 * size_of::<usize>();

    match names {
        Names { derived_methods: Some(methods), base: Some(base), .. } => {
            // Of the C++ runtime that the base is an object of: a module may have linked one, and
            // use that of the program. SAFETY: by the C++ ABI the base begins with the address of
            // its virtual table, in a module that stays as long as the host.
            let methods = unsafe {
                let runtime = base.cast::<*const c_void>().read();
                let derived = elf::definition_around(runtime, DERIVED_METHODS);
                derived.filter(|derived| !derived.is_null()).unwrap_or(methods.as_ptr())
            };
            TYPE_INFO.base.store(base.as_ptr(), Ordering::Release);
            let methods = methods.cast_mut().wrapping_byte_add(FIRST_METHOD);
            TYPE_INFO.methods.store(methods, Ordering::Release);
            COMPLETE.store(true, Ordering::Release);
        }
        Names { class_methods: Some(methods), .. } => {
            let methods = methods.as_ptr().wrapping_byte_add(FIRST_METHOD);
            let (none, order) = (ptr::null_mut(), Ordering::AcqRel);
            // Not over what another thread has found, which may be more.
            let _ = TYPE_INFO.methods.compare_exchange(none, methods, order, Ordering::Relaxed);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The one test here that touches the type: what it finds is kept for the process.
    #[test]
    fn a_type_that_was_found_stays() {
        static WORDS: [usize; 9] = [0; 9];
        let at = |i: usize| NonNull::new((&raw const WORDS[i]).cast_mut().cast::<c_void>());
        let address = |i| at(i).map_or(ptr::null_mut(), NonNull::as_ptr);
        let is = |methods, base| {
            assert_eq!(TYPE_INFO.methods.load(Ordering::Relaxed), methods);
            assert_eq!(TYPE_INFO.base.load(Ordering::Relaxed), base);
            assert_eq!(is_complete(), !base.is_null());
        };
        let none = Names { derived_methods: None, class_methods: None, base: None };

        complete(none);
        is(ptr::null_mut(), ptr::null_mut());
        complete(Names { derived_methods: at(0), ..none });
        is(ptr::null_mut(), ptr::null_mut());
        complete(Names { derived_methods: at(0), class_methods: at(3), base: None });
        is(address(5), ptr::null_mut());
        complete(Names { derived_methods: at(0), class_methods: at(3), base: at(8) });
        is(address(2), address(8));
        // Another host, which has no types.
        complete(Names { derived_methods: at(1), class_methods: at(4), base: None });
        is(address(2), address(8));
    }
}
