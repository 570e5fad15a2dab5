//! What the ELF tables of loaded modules say: the names they import, and what their references
//! were bound to.

use core::ffi::{CStr, c_char, c_int, c_void};

use super::{memory, modules};

#[cfg(target_pointer_width = "32")]
use libc::{Elf32_Ehdr as FileHeader, Elf32_Phdr as ProgramHeader, Elf32_Sym as Symbol};
#[cfg(target_pointer_width = "64")]
use libc::{Elf64_Ehdr as FileHeader, Elf64_Phdr as ProgramHeader, Elf64_Sym as Symbol};

/// The tables of one loaded module. Only made while something keeps the module loaded.
#[derive(Default)]
pub(super) struct Tables {
    base: usize,
    strings: usize,
    symbols: usize,
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
const DT_STRTAB: isize = 5;
const DT_SYMTAB: isize = 6;
const DT_RELA: isize = 7;
const DT_RELASZ: isize = 8;
const DT_REL: isize = 17;
const DT_RELSZ: isize = 18;
const DT_PLTREL: isize = 20;
const DT_JMPREL: isize = 23;

/// The bytes of a page, on machines with the smallest.
const LEAST_PAGE: usize = 4096;

const REL_WORDS: usize = 2;
const RELA_WORDS: usize = 3;

/// A reference of a module's.
pub(super) struct Reference {
    /// What it is bound to. Before the first call of a function that is bound lazily, a place in
    /// the module itself.
    pub(super) target: *const c_void,
    /// The module's own definition of the name, NULL where it has none.
    pub(super) own_definition: *const c_void,
}

impl Tables {
    /// The tables of the module around `address`, by the headers with which its file begins: no lock is
    /// taken that a child of fork may find taken.
    ///
    /// # Safety
    /// The module stays loaded.
    unsafe fn around(address: *const c_void) -> Option<Tables> {
        let start = modules::start_of(address)?;
        // SAFETY: where a loader has put the beginning of a file, which says whether it is one of ELF: a
        // page, in which the headers are.
        unsafe {
            if !(*start.cast::<[u8; 4]>()).eq(b"\x7fELF") {
                return None;
            }
            let header = &*start.cast::<FileHeader>();
            let (from, number) = (header.e_phoff as usize, usize::from(header.e_phnum));
            // Elsewhere nothing may be mapped: the loader reads them from the file.
            if from.saturating_add(number * size_of::<ProgramHeader>()) > LEAST_PAGE {
                return None;
            }
            let headers: &[ProgramHeader] = memory::array(start.byte_add(from).cast(), number);
            let loaded = headers.iter().find(|header| header.p_type == libc::PT_LOAD)?;
            if loaded.p_offset != 0 {
                return None;
            }
            Tables::read((start as usize).wrapping_sub(loaded.p_vaddr as usize), headers)
        }
    }

    /// # Safety
    /// The headers are those of a module that stays loaded, at `base`.
    // Once, not in both of its callers: that is a kilobyte.
    #[inline(never)]
    unsafe fn read(base: usize, headers: &[ProgramHeader]) -> Option<Tables> {
        // SAFETY: a loaded module's dynamic section ends with DT_NULL.
        unsafe {
            let dynamic = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC)?;
            // A module that was linked for a higher place than it has got has a base below 0. (With 32
            // bits such a number is a high place.) Loaders that leave offsets give it none.
            let below_0 = cfg!(target_pointer_width = "64") && (base as isize) < 0;
            let least = if below_0 { 0 } else { base };
            let mut tables = Tables { base, ..Tables::default() };
            tables.relocations[0].entry_words = RELA_WORDS;
            tables.relocations[1].entry_words = REL_WORDS;
            let mut entry = base.wrapping_add(dynamic.p_vaddr as usize) as *const Dynamic;
            while (*entry).tag != DT_NULL {
                let value = (*entry).value;
                // Most loaders write the address; some leave the offset from the module's base.
                let address = if value < least { base.wrapping_add(value) } else { value };
                let [rela, rel, plt] = &mut tables.relocations;
                match (*entry).tag {
                    DT_STRTAB => tables.strings = address,
                    DT_SYMTAB => tables.symbols = address,
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

    fn name(&self, symbol: &Symbol) -> &CStr {
        // SAFETY: a symbol's name is an offset into the module's strings, which end with NUL each.
        unsafe { CStr::from_ptr((self.strings + symbol.st_name as usize) as *const c_char) }
    }

    /// Calls `visit` with the module's references to `name` that the loader had to bind.
    pub(super) fn references(&self, name: &CStr, mut visit: impl FnMut(Reference)) {
        self.each_relocation(&mut |symbol, place| {
            if self.name(symbol) == name {
                visit(Reference {
                    // SAFETY: a word of the module's, aligned or not. (Where it is half a word, in code
                    // that is not position-independent, more of the code follows.)
                    target: unsafe { place.read_unaligned() },
                    own_definition: if symbol.st_shndx != 0 {
                        self.base.wrapping_add(symbol.st_value as usize) as *const c_void
                    } else {
                        core::ptr::null()
                    },
                });
            }
        });
    }

    /// Calls `visit` with the symbols that the module's relocations name, and the words they relocate.
    // Once, not in both of its callers: that is two kilobytes.
    #[inline(never)]
    fn each_relocation(&self, visit: &mut dyn FnMut(&Symbol, *const *const c_void)) {
        for table in &self.relocations {
            let words = table.bytes / size_of::<usize>();
            // SAFETY: the module's own table of relocations.
            let words = unsafe { memory::array(table.start as *const usize, words) };
            for relocation in words.chunks_exact(table.entry_words.max(REL_WORDS)) {
                let &[offset, info, ..] = relocation else { continue };
                let index = if cfg!(target_pointer_width = "64") { info >> 32 } else { info >> 8 };
                if index != 0 {
                    // SAFETY: a relocation's symbol is in the symbol table.
                    let symbol = unsafe { &*(self.symbols as *const Symbol).add(index) };
                    visit(symbol, self.base.wrapping_add(offset) as *const *const c_void);
                }
            }
        }
    }
}

/// Calls `visit` with the names that the module around `address` imports from others, some of them
/// several times: those that something in it refers to, and whether it can do without. (How many
/// symbols there are, no table says that all modules have.) Returns false where nobody can say. The
/// module stays loaded meanwhile: its code calls us, or a name was just found in it.
// Once, not in each of its callers: that is two kilobytes.
#[inline(never)]
pub(super) fn imports_around(address: *const c_void, visit: &mut dyn FnMut(&CStr, bool)) -> bool {
    const STB_WEAK: u8 = 2;
    // SAFETY: the caller's word.
    let Some(tables) = (unsafe { Tables::around(address) }) else { return false };
    tables.each_relocation(&mut |symbol, _| {
        if symbol.st_shndx == 0 {
            visit(tables.name(symbol), symbol.st_info >> 4 == STB_WEAK);
        }
    });
    true
}

/// Calls `visit` with the tables of every module. What it calls may not load, unload or look up
/// anything: the loader's lock is held.
pub(super) fn in_every_module(mut visit: &mut dyn FnMut(&Tables)) {
    // SAFETY: `pass_on` has dl_iterate_phdr's signature and is given `visit`, which outlives it.
    unsafe { libc::dl_iterate_phdr(Some(pass_on), (&raw mut visit).cast()) };
}

unsafe extern "C" fn pass_on(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    visit: *mut c_void,
) -> c_int {
    // SAFETY: `in_every_module` gave `visit`; dl_iterate_phdr passes a valid entry, and keeps what it is
    // of loaded.
    unsafe {
        let visit = &mut *visit.cast::<&mut dyn FnMut(&Tables)>();
        let headers = memory::array((*info).dlpi_phdr, usize::from((*info).dlpi_phnum));
        if let Some(tables) = Tables::read((*info).dlpi_addr as usize, headers) {
            visit(&tables);
        }
    }
    0
}
