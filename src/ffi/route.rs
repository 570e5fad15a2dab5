//! How a policy's `CreateFilter` reaches the host's `std::string`.
//!
//! `CreateFilter(const Slice*, int, std::string* dst)` appends to a string whose layout depends on
//! the compiler and library that built the host. We do not touch what is inside: the host's own
//! `std::string::append(const char*, size_t)` does the work, and is found by its name. *Which*
//! string a host has is written in the mangled name of any of its functions that takes one;
//! `leveldb::DestroyDB` is one that every LevelDB has.
//!
//! The module that calls `CreateFilter` is the host, or was compiled with its headers, so it is
//! asked first, and at the time of the call. In this order, from the most to the least trusted:
//!
//! 1. The calling module: first without opening it (see `find_unopened`). Where it is our own,
//!    because the host was linked statically with us: what the linker resolved there.
//! 2. What the calling module links; what the linker resolved elsewhere; the global scope. If the
//!    calling module imports members of one kind of string, and of one only, a host with another
//!    kind is refused. So is then a host of unknown string, unless the calling module links it or
//!    is the program.
//! 3. Where no LevelDB is found: the string whose members the calling module imports. Where the
//!    caller is not known: the string of all modules with a LevelDB, if they have the same kind.
//! 4. The same again with an `append` that may not be the host's own (see `Trust`).
//! 5. Where all of that shows nothing: the string that `dst` looks like (see `Visible`). A program that
//!    makes filters without a LevelDB may import nothing of its string, as all members are inline.
//!
//! Where a place has a LevelDB, but no string that we know, that LevelDB's own code appends: an
//! object made by its `leveldb_filterpolicy_create`, or its original bloom policy.

use core::ffi::{CStr, c_char, c_void};
use core::ptr::{self, NonNull};
use core::{hint, mem};

use super::abi::{CreatePolicy, NewPolicy};
use super::address;
use super::closure::Closure;
use super::elf::{self, Binding};
use super::memory;
use super::modules::{self, Scope};
use super::stats::Route;
use super::type_info::{self, Names};

/// `std::string::append(const char*, size_t)`, as the Itanium ABI calls a member function. It may
/// throw std::bad_alloc, which passes through `create_filter`'s assembly.
pub(super) type Append = unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> *mut c_void;

/// A kind of `std::string`, by the names that tell it.
struct StringKind {
    /// `leveldb::DestroyDB(const std::string&, const Options&)` with this string.
    host: &'static CStr,
    append: &'static CStr,
    /// By what a module's use of this string is seen in the mangled names that it imports. The old
    /// string's stands where a member's class does, behind `_ZN` or `_ZNK`. The others' is that of
    /// their namespace, wherever in a name: from C++20 on members are inline, and a module need not
    /// import one, only functions that take the string. It is so much of `append`, behind `_ZN`.
    mark_len: usize,
    route: Route,
}

impl StringKind {
    /// Whether a module that refers to this name uses the string.
    // Once, not for each kind.
    #[inline(never)]
    fn is_used_by(&self, name: &CStr, binding: Binding) -> bool {
        match binding {
            // Not an import of the module's own: every copy of this library imports these.
            Binding::WeakImport
                if name == self.append || name.to_bytes().starts_with(b"_ZN7leveldb") =>
            {
                return false;
            }
            // What all empty strings of the old kind share is copied into a program.
            Binding::Own if name != c"_ZNSs4_Rep20_S_empty_rep_storageE" => return false,
            _ => {}
        }
        let mark = member(self.append).get(..self.mark_len).unwrap_or(&[]);
        match self.route {
            Route::AppendCopyOnWrite => member(name).starts_with(mark),
            _ => {
                let mut rest = name.to_bytes();
                while !rest.is_empty() && !rest.starts_with(mark) {
                    rest = rest.get(1..).unwrap_or(&[]);
                }
                !rest.is_empty()
            }
        }
    }
}

/// A mangled name behind the beginning that members of a class or a namespace have.
// Once, not in each of its callers.
#[inline(never)]
fn member(name: &CStr) -> &[u8] {
    let member = name.to_bytes().strip_prefix(b"_ZN").unwrap_or(&[]);
    member.strip_prefix(b"K").unwrap_or(member)
}

const fn c_str(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("no NUL at the end"),
    }
}

/// size_t in a mangled name.
#[cfg(target_pointer_width = "64")]
macro_rules! size_t {
    () => {
        "m"
    };
}
/// size_t in a mangled name.
#[cfg(not(target_pointer_width = "64"))]
macro_rules! size_t {
    () => {
        "j"
    };
}

pub(super) static CREATE: &CStr = c"leveldb_filterpolicy_create";
pub(super) static ORIGINAL: &CStr = c"_ZN7leveldb20NewBloomFilterPolicyEi";

/// The same names as weak references for the linker. A static link resolves them from the host it
/// links, whose names no dynamic table shows. A shared library keeps them as weak dynamic
/// references, which makes the linker of a program with a static LevelDB export them to us.
#[repr(C)]
struct Linked {
    strings: [LinkedString; 3],
    type_info: type_info::Names,
}

#[repr(C)]
struct LinkedString {
    host: *const c_void,
    append: Option<Append>,
}

/// The names, once, for both looking them up and the linker. A macro, because `concat!` takes only
/// literals.
macro_rules! names {
    (
        $($route:ident, $mark:literal, $host:literal, $append:literal;)*
        // In the order of `type_info::Names`.
        $($type_info:literal;)*
    ) => {
        static STRING_KINDS: [StringKind; 3] = [$(StringKind {
            host: c_str(concat!($host, "\0")),
            append: c_str(concat!($append, size_t!(), "\0")),
            mark_len: $mark.len(),
            route: Route::$route,
        }),*];
        // `.dc.a` is a word of an address's length.
        core::arch::global_asm!(
            ".pushsection .data.rel.ro.leveldb_bloom_linked,\"aw\"",
            ".balign 8",
            ".globl leveldb_bloom_linked",
            ".hidden leveldb_bloom_linked",
            "leveldb_bloom_linked:",
            $(
                concat!(".weak ", $host), concat!(".dc.a ", $host),
                concat!(".weak ", $append, size_t!()), concat!(".dc.a ", $append, size_t!()),
            )*
            $(concat!(".weak ", $type_info), concat!(".dc.a ", $type_info),)*
            ".size leveldb_bloom_linked, . - leveldb_bloom_linked",
            // Where there is no archive. (gold would leave a name that nothing defines to the
            // loader.)
            ".weak leveldb_bloom_linked_writers",
            ".hidden leveldb_bloom_linked_writers",
            "leveldb_bloom_linked_writers:",
            ".dc.a 0, 0, 0",
            ".popsection",
        );
    };
}

names! {
    AppendCxx11, "St7__cxx11",
        "_ZN7leveldb9DestroyDBERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKNS_7OptionsE",
        "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc";
    AppendCopyOnWrite, "Ss",
        "_ZN7leveldb9DestroyDBERKSsRKNS_7OptionsE",
        "_ZNSs6appendEPKc";
    AppendLibcxx, "St3__1",
        "_ZN7leveldb9DestroyDBERKNSt3__112basic_stringIcNS0_11char_traitsIcEENS0_9allocatorIcEEEERKNS_7OptionsE",
        "_ZNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEE6appendEPKc";
    "_ZTVN10__cxxabiv120__si_class_type_infoE";
    "_ZTVN10__cxxabiv117__class_type_infoE";
    "_ZTIN7leveldb12FilterPolicyE";
}

unsafe extern "C" {
    #[link_name = "leveldb_bloom_linked"]
    static LINKED: Linked;
    /// For each string a function of the part of LevelDB that writes filters, in the archive's own
    /// module: it is all that there is of a LevelDB where a program links the tables and no
    /// database.
    #[link_name = "leveldb_bloom_linked_writers"]
    static WRITERS: [*const c_void; STRING_KINDS.len()];
}

/// What appends a filter to the host's string.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// The string's own function.
    Append(Append, Route),
    /// The host's `leveldb_filterpolicy_create`, whose object appends what a callback returns.
    Create(CreatePolicy),
    /// The host's own bloom policy.
    Original(NewPolicy),
}

/// Takes a way, or refuses it.
type Accept<'a> = &'a mut dyn Closure<Way, Option<Route>>;

/// The kind of a string by its own bytes.
#[derive(Clone, Copy)]
pub(super) struct Visible(&'static StringKind);

impl Visible {
    /// That of a short string: one of libstdc++'s begins with the address of its bytes, which are in
    /// itself, and an empty one of libc++ with zeros. (A copy-on-write string begins with an address,
    /// too, but of bytes that have a header before them, for which there would be no room.)
    ///
    /// # Safety
    /// `string` is a string.
    pub(super) unsafe fn of(string: *const c_void) -> Option<Visible> {
        /// The address and the length.
        const TWO_WORDS: usize = 2 * size_of::<usize>();
        let [cxx11, _, libcxx] = &STRING_KINDS;
        // SAFETY: the caller's promise. No string is smaller.
        let first = unsafe { string.cast::<usize>().read() };
        match first.wrapping_sub(string.addr()) {
            TWO_WORDS => Some(Visible(cxx11)),
            _ if first == 0 => Some(Visible(libcxx)),
            _ => None,
        }
    }
}

/// Offers `accept` the ways to the string of whoever runs the code at `caller` (NULL where that is
/// unknown), best first, until it takes one. An `append` that may be another library's than the
/// host's comes late, and last what the string itself shows.
pub(super) fn find(
    caller: *const c_void,
    visible: Option<Visible>,
    linked_create: Option<CreatePolicy>,
    accept: Accept<'_>,
) -> Option<Route> {
    let found = find_with(Trust::Imported, caller, None, linked_create, &mut *accept);
    found.or_else(|| find_with(Trust::AnyOfItsKind, caller, visible, linked_create, accept))
}

fn find_with(
    trust: Trust,
    caller: *const c_void,
    visible: Option<Visible>,
    linked_create: Option<CreatePolicy>,
    accept: Accept<'_>,
) -> Option<Route> {
    let own = address::is_own(caller);
    let in_library = address::is_in_library(caller);
    // Code that was made while the program runs is in no module, nor is the address that a tool puts
    // in place of the caller's to see a function's end (the kernel's uretprobes do).
    let in_none = !address::is_in_module(caller);
    let unopened = find_unopened(own, trust, caller, accept);
    let scope = if own || unopened.is_some() {
        Scope::Global
    } else {
        // A module that was not opened before takes memory to open, and is half open for good where
        // that fails. Who makes a filter cannot go on without it. (Who makes a policy can; and the
        // program is open.)
        if !caller.is_null() && (in_library || in_none) {
            memory::wait();
        }
        Scope::of_address(caller)
    };
    let module = Some(&scope).filter(|scope| matches!(scope, Scope::Module(_)));
    let callers_own =
        unopened.or_else(|| module.and_then(|module| find_in(module, caller, trust, accept)));
    let found = callers_own.or_else(|| {
        let callers_kind = host_around(caller).or_else(|| imported_kind(caller));
        let mut accept_linked = |way| match (way, callers_kind) {
            (Way::Append(_, route), Some(kind)) if route != kind.route => None,
            _ => accept.call(way),
        };
        let linked = module.and_then(|it| find_in(it, ptr::null(), trust, &mut accept_linked));
        // An object made by a host that the module does not link appends to that host's string, not
        // to the caller's.
        let mut accept_of_others = |way| match (way, callers_kind) {
            (Way::Create(create), Some(_))
                if in_library && !address::is_own(create as *const c_void) =>
            {
                None
            }
            (Way::Original(_), Some(_)) if in_library => None,
            _ => accept_linked(way),
        };
        linked
            .or_else(|| find_linked(linked_create, trust, &mut accept_of_others))
            .or_else(|| find_in(&Scope::Global, ptr::null(), trust, &mut accept_of_others))
            .or_else(|| {
                let unanimous =
                    if callers_kind.is_none() && in_none { find_unanimous(trust) } else { None };
                let way = unanimous.or_else(|| {
                    let kind = callers_kind.or(visible.map(|Visible(kind)| kind))?;
                    find_append(&scope, kind).map(|append| Way::Append(append, kind.route))
                });
                way.and_then(|way| accept.call(way))
            })
    });
    if found.is_some() {
        complete_type_info(&scope);
    }
    modules::clear_error();
    found
}

/// The ways to the caller's string for which its module need not be opened, because that runs the
/// module's constructors again while the process ends. Which string it is says the host that was
/// linked into our own module (`own`), or one in the caller's; or, where no LevelDB is to be seen,
/// what the caller's module imports. `append` is then the module's own, or that of the whole
/// process.
fn find_unopened(
    own: bool,
    trust: Trust,
    caller: *const c_void,
    accept: Accept<'_>,
) -> Option<Route> {
    if own {
        return linked_string(true, trust).and_then(|way| accept.call(way));
    }
    if caller.is_null() {
        return None;
    }
    let [a, b, c] = host_names();
    let kind = match host_around(caller) {
        Some(kind) => kind,
        None if modules::others_have(&[a, b, c, CREATE, ORIGINAL]) == 0 => imported_kind(caller)?,
        None => return None,
    };
    // SAFETY: the module's code is calling us.
    let own_append = unsafe { elf::definition_around(caller, kind.append)? };
    let own_append = NonNull::new(own_append.cast_mut());
    let append = match own_append {
        // SAFETY: the mangled name, which only this function has.
        Some(append) => unsafe { mem::transmute::<NonNull<c_void>, Append>(append) },
        None => find_append(&Scope::of_process(), kind)?,
    };
    let trusted = is_the_hosts(append, caller, kind, trust);
    if trusted { accept.call(Way::Append(append, kind.route)) } else { None }
}

/// The string of a LevelDB in the module around `caller`, which calls us. (NULL lies in no module.)
#[inline(never)]
fn host_around(caller: *const c_void) -> Option<&'static StringKind> {
    string_kinds().iter().find(|kind| {
        // SAFETY: the module's code is calling us.
        let host = unsafe { elf::definition_around(caller, kind.host) };
        host.is_some_and(|host| !host.is_null())
    })
}

/// Looks for what our policies' type is made of, unless all of it was found before.
// Once, not in each of its callers.
#[inline(never)]
fn complete_type_info(scope: &Scope) {
    if !type_info::is_complete() {
        type_info::complete(linked().type_info);
    }
    if !type_info::is_complete() {
        type_info::complete(Names::find(scope));
    }
}

/// Takes the ways of filters that we make.
pub(super) fn by_us(way: Way) -> Option<Route> {
    match way {
        Way::Append(_, route) => Some(route),
        Way::Create(_) => Some(Route::Delegate),
        Way::Original(_) => None,
    }
}

/// Looks through the loaded modules before there is a caller to go by. Completes the type of our
/// policies, as far as the modules allow: the host may ask for it before it asks for a filter.
/// Returns whether any has a LevelDB whose string we know, or a C API to go through.
pub(super) fn survey(linked_create: Option<CreatePolicy>) -> bool {
    let mut found = find(ptr::null(), None, linked_create, &mut by_us).is_some();
    complete_type_info(&Scope::Global);
    // Further modules are looked through also where a way was found: a host outside the global
    // scope may ask for a policy's type before it asks for a filter.
    if !found || !type_info::is_known() {
        let [a, b, c] = host_names();
        modules::for_each(&[a, b, c, CREATE, type_info::BASE], &mut |scope: &Scope| {
            let string = find_string(scope, ptr::null(), Trust::AnyOfItsKind);
            let is_host = string.is_some() || find_create(scope).is_some();
            found |= is_host;
            // What has no LevelDB that we know may have classes of it, and ask for a policy's type.
            if is_host || !type_info::is_known() {
                complete_type_info(scope);
            }
            !found || !type_info::is_known()
        });
        type_info::complete(Names::first_loaded());
    }
    modules::clear_error();
    found
}

/// Whether our own module has the LevelDB that we were linked with.
pub(super) fn host_is_linked() -> bool {
    linked_string(true, Trust::Imported).is_some()
}

/// Whether the modules have more than one LevelDB.
pub(super) fn several_leveldbs() -> bool {
    modules::others_have(&host_names()) > 1
}

/// Whether a policy of the LevelDB around `around` is for whoever asks. Beside other LevelDBs it is
/// only if the process finds that one first, as all then would without us (those that are loaded by
/// plugins for themselves have their own), and if their strings are alike, so that each can use it.
pub(super) fn is_for_all(around: *const c_void) -> bool {
    let all = modules::others_have(&host_names());
    if all < 2 {
        return true;
    }
    let Some(kind) = host_around(around) else { return false };
    let Some(first) = modules::first(kind.host) else { return false };
    address::are_one(first.as_ptr(), around) && modules::others_have(&[kind.host]) == all
}

/// Hidden from the compiler, which would write out a search among them for each.
fn string_kinds() -> &'static [StringKind] {
    hint::black_box(&STRING_KINDS)
}

// Once, not in each of its callers.
#[inline(never)]
fn host_names() -> [&'static CStr; STRING_KINDS.len()] {
    STRING_KINDS.each_ref().map(|kind| kind.host)
}

fn linked() -> &'static Linked {
    // SAFETY: the assembly above defines it with the layout of `Linked`; the linker or loader
    // filled it before any code ran.
    unsafe { &LINKED }
}

/// The string of the host that the linker resolved: with `own`, only of a host in our own module.
#[inline(never)]
fn linked_string(own: bool, trust: Trust) -> Option<Way> {
    // SAFETY: the assembly above defines them, or capi/static/leveldb_names.c in its place; the
    // linker or loader filled them before any code ran.
    let writers = unsafe { &WRITERS };
    let mut strings = linked().strings.iter().zip(writers).zip(string_kinds());
    strings.find_map(|((string, writer), kind)| {
        let host = if own {
            [string.host, *writer].into_iter().find(|part| address::is_own(*part))?
        } else {
            string.host
        };
        let append = string.append?;
        let trusted = !host.is_null() && is_the_hosts(append, host, kind, trust);
        trusted.then_some(Way::Append(append, kind.route))
    })
}

fn find_linked(create: Option<CreatePolicy>, trust: Trust, accept: Accept<'_>) -> Option<Route> {
    // First a LevelDB in our own module, which is the one we were linked with. Kinds of string that
    // it leaves undefined may have been resolved to another LevelDB in the process.
    linked_string(true, trust)
        .or_else(|| linked_string(false, trust))
        .or(create.map(Way::Create))
        .and_then(|way| accept.call(way))
}

/// What is there in `scope`; unless `around` is NULL, in the module around it alone.
#[inline(never)]
fn find_in(
    scope: &Scope,
    around: *const c_void,
    trust: Trust,
    accept: Accept<'_>,
) -> Option<Route> {
    if let Some((append, route)) = find_string(scope, around, trust) {
        return accept.call(Way::Append(append, route));
    }
    find_create(scope)
        .filter(|create| is_within(*create as *const c_void, around))
        .and_then(|create| accept.call(Way::Create(create)))
        .or_else(|| {
            find_original(scope)
                .filter(|original| is_within(*original as *const c_void, around))
                .and_then(|original| accept.call(Way::Original(original)))
        })
}

/// Whether `found` lies in the module around `around`. True if `around` is NULL, for any module.
fn is_within(found: *const c_void, around: *const c_void) -> bool {
    around.is_null() || address::are_one(found, around)
}

/// The string of every LevelDB in the process, if all have the same kind.
fn find_unanimous(trust: Trust) -> Option<Way> {
    let mut unanimous: Option<(Append, Route)> = None;
    let mut differ = false;
    modules::for_each(&host_names(), &mut |scope: &Scope| {
        if let Some((append, route)) = find_string(scope, ptr::null(), trust) {
            // Its base is nowhere else where nobody else sees that LevelDB.
            complete_type_info(scope);
            differ = unanimous.is_some_and(|(_, first)| first != route);
            unanimous = unanimous.or(Some((append, route)));
        }
        !differ
    });
    if differ { None } else { unanimous.map(|(append, route)| Way::Append(append, route)) }
}

/// The string whose members the module around `caller` imports, if it is one kind only. (NULL lies
/// in no module.)
#[inline(never)]
fn imported_kind(caller: *const c_void) -> Option<&'static StringKind> {
    // SAFETY: the caller's code is calling us.
    let imported = unsafe { Imported::around(caller) }?;
    let mut kinds = imported.strings.iter().zip(&STRING_KINDS).filter(|(used, _)| **used);
    let (Some((_, kind)), None) = (kinds.next(), kinds.next()) else { return None };
    Some(kind)
}

/// What a module imports of a C++ library.
struct Imported {
    /// Members of each of `STRING_KINDS`.
    strings: [bool; STRING_KINDS.len()],
    /// Whether it imports members of anything in namespace std.
    any: bool,
}

impl Imported {
    /// Of the module around `address`; `None` where its imports cannot be read.
    ///
    /// # Safety
    /// The module stays loaded meanwhile.
    // Once, not in both of its callers.
    #[inline(never)]
    unsafe fn around(address: *const c_void) -> Option<Imported> {
        let mut imported = Imported { strings: [false; STRING_KINDS.len()], any: false };
        let in_library = address::is_in_library(address);
        let mut visit = |(name, binding): (&CStr, Binding)| {
            // What a program copies from its C++ library, a library may have a definition of: one
            // that has a C++ library in it.
            if binding == Binding::Own && in_library {
                return;
            }
            imported.any |= binding == Binding::Import && member(name).starts_with(b"S");
            for (used, kind) in imported.strings.iter_mut().zip(&STRING_KINDS) {
                *used |= kind.is_used_by(name, binding);
            }
        };
        // SAFETY: the caller's promise.
        let known = unsafe { elf::references_around(address, &mut visit) };
        known.then_some(imported)
    }
}

fn find_append(scope: &Scope, kind: &StringKind) -> Option<Append> {
    let append = scope.find(kind.append)?;
    // SAFETY: `scope` found the mangled name, which only this function has.
    Some(unsafe { mem::transmute::<NonNull<c_void>, Append>(append) })
}

/// The string of a LevelDB in `scope`; unless `around` is NULL, of one in the module around it.
#[inline(never)]
fn find_string(scope: &Scope, around: *const c_void, trust: Trust) -> Option<(Append, Route)> {
    string_kinds().iter().find_map(|kind| {
        let host = scope.find(kind.host)?;
        if !is_within(host.as_ptr(), around) {
            return None;
        }
        let append = find_append(scope, kind)?;
        is_the_hosts(append, host.as_ptr(), kind, trust).then_some((append, kind.route))
    })
}

/// Which `append` outside the host's module is taken for that of the host's string. A host that
/// hides a C++ library of its own imports nothing from another one, and yet may see one, through a
/// library it links.
#[derive(Clone, Copy)]
enum Trust {
    /// That of a library of which the host imports something.
    Imported,
    /// Any. It allocates as its own library does, and so does the host, unless the host hides an
    /// `operator new` of its own. Not for copy-on-write strings: their empty string is a place in
    /// their library, which another library would try to free.
    AnyOfItsKind,
}

#[inline(never)]
fn is_the_hosts(append: Append, host: *const c_void, kind: &StringKind, trust: Trust) -> bool {
    address::are_one(append as *const c_void, host)
        || match trust {
            // SAFETY: `host` lies in a module that the linker, the loader or a look-up just found;
            // as in `find_function`, nobody unloads it now.
            Trust::Imported => unsafe { Imported::around(host) }.is_none_or(|other| other.any),
            Trust::AnyOfItsKind => kind.route != Route::AppendCopyOnWrite,
        }
}

fn find_create(scope: &Scope) -> Option<CreatePolicy> {
    let create = find_function(scope, CREATE)?;
    // SAFETY: `find_function` found the name, to which LevelDB's C API gives this signature.
    Some(unsafe { mem::transmute::<NonNull<c_void>, CreatePolicy>(create) })
}

fn find_original(scope: &Scope) -> Option<NewPolicy> {
    let original = find_function(scope, ORIGINAL)?;
    // SAFETY: `find_function` found the mangled name, which gives the arguments; the result is as
    // in LevelDB's header.
    Some(unsafe { mem::transmute::<NonNull<c_void>, NewPolicy>(original) })
}

/// A function of the host's that we define as well. In a program that is not position-independent
/// and takes the function's address, what is found may be the program's own entry for it, which may
/// lead to us: then the next definition.
#[inline(never)]
fn find_function(scope: &Scope, name: &CStr) -> Option<NonNull<c_void>> {
    let found = scope.find(name)?;
    // SAFETY: who loads and unloads a LevelDB does not unload it while it makes a policy or a
    // filter; other modules that define its names stay, too, or the name would lead nowhere.
    let is_definition = unsafe { elf::defines(found.as_ptr(), name) };
    if is_definition { Some(found) } else { modules::next(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_string_shows_what_it_is() {
        let mut string = [0usize; 4];
        let route = |string: &[usize; 4]| {
            // SAFETY: no shorter than a string, and only its first word is read.
            unsafe { Visible::of(string.as_ptr().cast()) }.map(|Visible(kind)| kind.route)
        };
        assert!(route(&string) == Some(Route::AppendLibcxx));
        for (words, cxx11) in [(0, false), (1, false), (2, true), (3, false)] {
            string[0] = string[words..].as_ptr().addr();
            assert_eq!(route(&string) == Some(Route::AppendCxx11), cxx11, "{words}");
            assert!(cxx11 || route(&string).is_none(), "{words}");
        }
        string[0] = 1;
        assert!(route(&string).is_none());
    }

    #[test]
    fn what_a_copy_of_us_imports_says_nothing_of_its_module() {
        let [cxx11, copy_on_write, libcxx] = &STRING_KINDS;
        let writers = [
            (cxx11, c"_ZN7leveldb10PutFixed32EPNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEj"),
            (copy_on_write, c"_ZN7leveldb10PutFixed32EPSsj"),
            (
                libcxx,
                c"_ZN7leveldb10PutFixed32EPNSt3__112basic_stringIcNS0_11char_traitsIcEENS0_9allocatorIcEEEEj",
            ),
        ];
        for (kind, writer) in writers {
            for name in [kind.host, kind.append, writer] {
                assert!(!kind.is_used_by(name, Binding::WeakImport), "{name:?}");
                assert!(!kind.is_used_by(name, Binding::Own), "{name:?}");
            }
            assert!(kind.is_used_by(kind.append, Binding::Import));
        }
        for (kind, writer) in [writers[0], writers[2]] {
            assert!(kind.is_used_by(writer, Binding::Import));
        }
        assert!(cxx11.is_used_by(c"_ZNKSt7__cxx1112basic_stringIcE4sizeEv", Binding::WeakImport));
        assert!(!cxx11.is_used_by(libcxx.append, Binding::Import));
        assert!(!copy_on_write.is_used_by(c"_ZN7leveldb10PutFixed32EPSsj", Binding::Import));
        assert!(copy_on_write.is_used_by(c"_ZNKSs4sizeEv", Binding::Import));
        assert!(copy_on_write.is_used_by(c"_ZNSs4_Rep20_S_empty_rep_storageE", Binding::Own));
    }
}
