//! What the ELF tables of loaded modules say: the names they define and import, and what their
//! references were bound to.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::{hint, ptr};

use super::address::Module;
use super::closure::Closure;
use super::memory;

#[cfg(all(target_pointer_width = "32", not(target_env = "gnu")))]
use libc::Elf32_Ehdr as FileHeader;
#[cfg(all(target_pointer_width = "64", not(target_env = "gnu")))]
use libc::Elf64_Ehdr as FileHeader;
#[cfg(target_pointer_width = "32")]
use libc::{Elf32_Phdr as ProgramHeader, Elf32_Sym as Symbol};
#[cfg(target_pointer_width = "64")]
use libc::{Elf64_Phdr as ProgramHeader, Elf64_Sym as Symbol};

/// Where the tables of one loaded module are. Valid as long as something keeps the module loaded,
/// which whoever uses them sees to.
#[derive(Default)]
pub(super) struct Tables {
    base: usize,
    strings: usize,
    symbols: usize,
    gnu_hash: usize,
    hash: usize,
    relocations: [Relocations; 3],
}

/// A table of relocations: its address, its bytes, and the words an entry has.
#[derive(Clone, Copy, Default)]
struct Relocations {
    start: usize,
    bytes: usize,
    entry_words: usize,
}

/// An entry of a module's dynamic section: what it is, and its value.
#[repr(C)]
struct Dynamic {
    tag: isize,
    value: usize,
}

const DT_NULL: isize = 0;
const DT_PLTRELSZ: isize = 2;
const DT_HASH: isize = 4;
const DT_STRTAB: isize = 5;
const DT_SYMTAB: isize = 6;
const DT_RELA: isize = 7;
const DT_RELASZ: isize = 8;
const DT_REL: isize = 17;
const DT_RELSZ: isize = 18;
const DT_PLTREL: isize = 20;
const DT_JMPREL: isize = 23;
const DT_GNU_HASH: isize = 0x6fff_fef5;

/// The bytes of a page, on machines with the smallest.
#[cfg(not(target_env = "gnu"))]
const LEAST_PAGE: usize = 4096;

/// Whether the numbers in a table of the older kind have 64 bits (of which the low half comes
/// last).
const WIDE_HASH: bool = cfg!(target_arch = "s390x");

const REL_WORDS: usize = 2;
const RELA_WORDS: usize = 3;

/// One of a module's references to a name, as the loader has bound it.
pub(super) struct Reference {
    /// The address it is bound to. If a function is bound lazily and was not called yet, that is in
    /// the module itself.
    pub(super) target: *const c_void,
    /// The module's own definition of the name, NULL where it has none.
    pub(super) own_definition: *const c_void,
}

impl Tables {
    /// The tables of the module that contains `address`. Not by dl_iterate_phdr, whose lock a child
    /// of fork may find taken for ever.
    ///
    /// # Safety
    /// The module stays loaded.
    #[cfg(target_env = "gnu")]
    #[inline(never)]
    unsafe fn around(address: *const c_void) -> Option<Tables> {
        // SAFETY: the caller's word. The loader has put the module at `base`, with that section.
        unsafe {
            let (base, dynamic) = Module::around(address)?.dynamic()?;
            Tables::read(base, dynamic.as_ptr().cast())
        }
    }

    /// The tables of the module that contains `address`, from the headers at the beginning of its
    /// file.
    ///
    /// # Safety
    /// The module stays loaded.
    #[cfg(not(target_env = "gnu"))]
    unsafe fn around(address: *const c_void) -> Option<Tables> {
        let start = Module::around(address)?.start;
        // SAFETY: the caller's word that the module stays loaded. `start` is where the loader
        // mapped the beginning of the module, at least a page, and only headers in that page are
        // read, once it has been seen to be ELF's.
        unsafe {
            if !(*start.cast::<[u8; 4]>()).eq(b"\x7fELF") {
                return None;
            }
            let header = &*start.cast::<FileHeader>();
            let (from, number) = (header.e_phoff as usize, usize::from(header.e_phnum));
            // Beyond the first page nothing need be mapped: the loader reads headers from the file.
            if from.saturating_add(number * size_of::<ProgramHeader>()) > LEAST_PAGE {
                return None;
            }
            let headers: &[ProgramHeader] = memory::array(start.byte_add(from).cast(), number);
            let loaded = headers.iter().find(|header| header.p_type == libc::PT_LOAD)?;
            if loaded.p_offset != 0 {
                return None;
            }
            let base = (start as usize).wrapping_sub(loaded.p_vaddr as usize);
            Tables::read(base, dynamic_section(base, headers)?)
        }
    }

    /// # Safety
    /// `dynamic` is the dynamic section of a module that stays loaded, at `base`.
    // Not inlined into both callers.
    #[inline(never)]
    unsafe fn read(base: usize, mut entry: *const Dynamic) -> Option<Tables> {
        // SAFETY: the caller's word: the section is that of a module that the loader has loaded,
        // for which it has walked it to its DT_NULL.
        unsafe {
            // A module that is loaded below the place it was linked for has a negative base. (With
            // 32 bits such a number may be an ordinary high address.) No loader that leaves offsets
            // gives a module such a base.
            let below_0 = cfg!(target_pointer_width = "64") && (base as isize) < 0;
            let least = if below_0 { 0 } else { base };
            let mut tables = Tables { base, ..Tables::default() };
            tables.relocations[0].entry_words = RELA_WORDS;
            tables.relocations[1].entry_words = REL_WORDS;
            while (*entry).tag != DT_NULL {
                let value = (*entry).value;
                // Most loaders replace offsets by addresses; some leave them as offsets from the
                // base.
                let address = if value < least { base.wrapping_add(value) } else { value };
                let [rela, rel, plt] = &mut tables.relocations;
                match (*entry).tag {
                    DT_STRTAB => tables.strings = address,
                    DT_SYMTAB => tables.symbols = address,
                    DT_GNU_HASH => tables.gnu_hash = address,
                    DT_HASH => tables.hash = address,
                    DT_RELA => rela.start = address,
                    DT_RELASZ => rela.bytes = value,
                    DT_REL => rel.start = address,
                    DT_RELSZ => rel.bytes = value,
                    DT_JMPREL => plt.start = address,
                    DT_PLTRELSZ => plt.bytes = value,
                    DT_PLTREL => {
                        plt.entry_words =
                            if value == DT_RELA as usize { RELA_WORDS } else { REL_WORDS };
                    }
                    _ => {}
                }
                entry = entry.add(1);
            }
            if tables.strings == 0 || tables.symbols == 0 {
                return None;
            }
            Some(tables)
        }
    }

    /// The module's definition of `name`: NULL where it has none.
    // Not inlined into each caller.
    #[inline(never)]
    pub(super) fn definition(&self, name: &CStr) -> *const c_void {
        self.symbol(name).map_or(ptr::null(), |symbol| self.address(symbol))
    }

    /// The symbol that defines `name`.
    fn symbol(&self, name: &CStr) -> Option<&Symbol> {
        // Hidden from the compiler, which would write out eight steps.
        let step = |hash: u32, byte: &u8| {
            hint::black_box(hash.wrapping_mul(33).wrapping_add((*byte).into()))
        };
        let hash = name.to_bytes().iter().fold(5381, step);
        // SAFETY: the linker wrote these tables, which the loader looks names up in, too; whoever
        // made `self` keeps the module loaded. A table of the older kind has the number of symbols
        // behind that of its buckets. One of the newer kind begins with four numbers. Behind them
        // are a bloom filter's words, the first symbol of each bucket (0 where it is empty), and
        // for each symbol from `first` on its hash, of which the last bit says that the bucket ends
        // there.
        unsafe {
            let (hashes, mut index, end);
            if self.gnu_hash != 0 {
                let table = self.gnu_hash as *const u32;
                let [buckets, first, words] = [0, 1, 2].map(|i| *table.add(i));
                let words = words as usize * (size_of::<usize>() / size_of::<u32>());
                let starts = table.add(4 + words);
                let bucket = hash.checked_rem(buckets)?;
                index = *starts.add(bucket as usize);
                // Before the first of them, whose index is `first`.
                hashes = Some(starts.wrapping_add(buckets as usize).wrapping_sub(first as usize));
                end = u32::MAX;
            } else if self.hash != 0 {
                (hashes, index) = (None, 1);
                end = *(self.hash as *const u32).add(if WIDE_HASH { 3 } else { 1 });
            } else {
                return None;
            }
            while 0 < index && index < end {
                let other =
                    hashes.map_or(hash & !1, |hashes| hashes.wrapping_add(index as usize).read());
                let symbol = &*(self.symbols as *const Symbol).add(index as usize);
                if other | 1 == hash | 1 && symbol.st_shndx != 0 && self.name(symbol) == name {
                    return Some(symbol);
                }
                if other & 1 != 0 {
                    break;
                }
                index += 1;
            }
        }
        None
    }

    fn address(&self, symbol: &Symbol) -> *const c_void {
        self.base.wrapping_add(symbol.st_value as usize) as *const c_void
    }

    fn name(&self, symbol: &Symbol) -> &CStr {
        // SAFETY: the linker made the symbol's name an offset into the module's strings, each of
        // which ends with a zero; whoever made the tables keeps the module loaded.
        unsafe { CStr::from_ptr((self.strings + symbol.st_name as usize) as *const c_char) }
    }

    /// Calls `visit` with the module's references to `name` that the loader had to bind.
    pub(super) fn references(&self, name: &CStr, mut visit: impl FnMut(Reference)) {
        self.each_relocation(&mut |(symbol, place): (&Symbol, *const *const c_void)| {
            if self.name(symbol) == name {
                visit(Reference {
                    // SAFETY: `each_relocation` gives a place that the loader has relocated, where
                    // a word can be read, aligned or not. (Where only half a word is relocated, in
                    // code that is not position-independent, more code follows.)
                    target: unsafe { place.read_unaligned() },
                    own_definition: if symbol.st_shndx != 0 {
                        self.address(symbol)
                    } else {
                        ptr::null()
                    },
                });
            }
        });
    }

    /// Shows `visitor` the symbols that the module's relocations name, and the words they
    /// relocate.
    // Once, not in both of its callers.
    #[inline(never)]
    fn each_relocation(
        &self,
        visitor: &mut dyn for<'s> Closure<(&'s Symbol, *const *const c_void)>,
    ) {
        // Hidden from the compiler, which would write out one loop for each.
        for table in hint::black_box(&self.relocations[..]) {
            let words = table.bytes / size_of::<usize>();
            // SAFETY: the module's dynamic section, which the linker wrote, says where its table is
            // and how long; whoever made the tables keeps the module loaded.
            let words = unsafe { memory::array(table.start as *const usize, words) };
            for relocation in words.chunks_exact(table.entry_words.max(REL_WORDS)) {
                let &[offset, info, ..] = relocation else { continue };
                let index = if cfg!(target_pointer_width = "64") { info >> 32 } else { info >> 8 };
                if index != 0 {
                    // SAFETY: the linker gave the relocation an index into the module's own symbol
                    // table.
                    let symbol = unsafe { &*(self.symbols as *const Symbol).add(index) };
                    let place = self.base.wrapping_add(offset) as *const *const c_void;
                    visitor.call((symbol, place));
                }
            }
        }
    }
}

/// Where a module at `base` has its dynamic section.
fn dynamic_section(base: usize, headers: &[ProgramHeader]) -> Option<*const Dynamic> {
    let dynamic = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC)?;
    Some(base.wrapping_add(dynamic.p_vaddr as usize) as *const Dynamic)
}

/// Who defines what a module refers to by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    Import,
    WeakImport,
    /// The module itself; another definition may come before it.
    Own,
}

/// Shows `visitor` the names that the module around `address` refers to. They are taken from its
/// relocations, so that a name may come several times, and one that nothing refers to does not
/// come: no table that all modules have says how many symbols there are. Returns false, without a
/// call, where the module's tables cannot be read.
///
/// # Safety
/// The module stays loaded meanwhile.
pub(super) unsafe fn references_around(
    address: *const c_void,
    visitor: &mut dyn for<'n> Closure<(&'n CStr, Binding)>,
) -> bool {
    const STB_WEAK: u8 = 2;
    // SAFETY: the caller's promise.
    let Some(tables) = (unsafe { Tables::around(address) }) else { return false };
    tables.each_relocation(&mut |(symbol, _): (&Symbol, *const *const c_void)| {
        let binding = match (symbol.st_shndx, symbol.st_info >> 4) {
            (0, STB_WEAK) => Binding::WeakImport,
            (0, _) => Binding::Import,
            _ => Binding::Own,
        };
        visitor.call((tables.name(symbol), binding));
    });
    true
}

/// The definition of `name` in the module around `address`: NULL where it has none, `None` where
/// its tables cannot be read.
///
/// # Safety
/// The module stays loaded meanwhile.
pub(super) unsafe fn definition_around(
    address: *const c_void,
    name: &CStr,
) -> Option<*const c_void> {
    // SAFETY: the caller's promise.
    let tables = unsafe { Tables::around(address) };
    tables.map(|tables| tables.definition(name))
}

/// How many bytes the definition of `name` in the module around `address` has: 0 where there is none.
///
/// # Safety
/// The module stays loaded meanwhile.
pub(super) unsafe fn size_around(address: *const c_void, name: &CStr) -> usize {
    // SAFETY: the caller's promise.
    let tables = unsafe { Tables::around(address) };
    tables.and_then(|tables| Some(tables.symbol(name)?.st_size)).unwrap_or(0) as usize
}

/// Whether the module around `address` has a definition of `name`; true where its tables cannot be
/// read.
///
/// # Safety
/// The module stays loaded meanwhile.
pub(super) unsafe fn defines(address: *const c_void, name: &CStr) -> bool {
    // SAFETY: the caller's promise.
    unsafe { definition_around(address, name) }.is_none_or(|found| !found.is_null())
}

type InModule<'a> = &'a mut dyn for<'t> Closure<(&'t Tables, &'t CStr)>;

/// Shows `visitor` the tables of every module and the name of its file, which is empty for the
/// program. The loader's lock is held meanwhile, so it may not load, unload or look up anything.
#[inline(never)]
pub(super) fn in_every_module(mut visitor: InModule<'_>) {
    // SAFETY: `pass_on` has dl_iterate_phdr's signature and is given `visitor`, which outlives it.
    unsafe { libc::dl_iterate_phdr(Some(pass_on), (&raw mut visitor).cast()) };
}

/// # Safety
/// As dl_iterate_phdr calls it, with `in_every_module`'s `visitor`.
unsafe extern "C" fn pass_on(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    visitor: *mut c_void,
) -> c_int {
    // SAFETY: `in_every_module` passed `visitor`; dl_iterate_phdr passes a valid entry, and keeps
    // its module loaded meanwhile.
    unsafe {
        let visitor = &mut *visitor.cast::<InModule<'_>>();
        let headers = memory::array((*info).dlpi_phdr, usize::from((*info).dlpi_phnum));
        let base = (*info).dlpi_addr as usize;
        let dynamic = dynamic_section(base, headers);
        if let Some(tables) = dynamic.and_then(|dynamic| Tables::read(base, dynamic)) {
            let file = (*info).dlpi_name;
            visitor.call((&tables, if file.is_null() { c"" } else { CStr::from_ptr(file) }));
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first definition of a name in the modules that are there.
    fn first_definition(name: &CStr) -> *const c_void {
        let mut first: *const c_void = ptr::null();
        in_every_module(&mut |(tables, _): (&Tables, &CStr)| {
            if first.is_null() {
                first = tables.definition(name);
            }
        });
        first
    }

    #[test]
    fn definitions_are_those_that_the_loader_finds() {
        for name in [c"getppid", c"strerror", c"rewinddir"] {
            // SAFETY: a C string.
            let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            assert!(!found.is_null());
            assert_eq!(first_definition(name), found.cast_const(), "{name:?}");
            // SAFETY: nobody unloads the C library, or this program.
            unsafe {
                assert!(defines(found, name));
                assert!(!defines(found, c"leveldb_bloom_no_such_name"));
                assert!(!defines(first_definition as *const c_void, c"getppid"));
            }
        }
        assert!(first_definition(c"leveldb_bloom_no_such_name").is_null());
        assert!(first_definition(c"").is_null());
    }
}
