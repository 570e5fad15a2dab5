//! What an ELF file says about how it is bound.

use std::fs::File;
use std::path::{Path, PathBuf};

use memchr::memmem;
use object::read::elf::{ElfFile, FileHeader, ProgramHeader as _};
use object::{
    Object as _, ObjectSection as _, ObjectSymbol as _, ObjectSymbolTable as _, ReadCache, ReadRef,
    RelocationTarget,
};

/// The functions that make LevelDB's bloom filter policy, by which a preloaded library is asked.
const ASKED: [&[u8]; 2] =
    [b"leveldb_filterpolicy_create_bloom", b"_ZN7leveldb20NewBloomFilterPolicyEi"];

pub struct Elf {
    /// Processor and width.
    pub machine: String,
    /// The path of the loader that it names; `None` where it is static.
    pub loader: Option<PathBuf>,
    pub is_musl: bool,
    /// One of its calls goes to whoever comes first with a bloom filter policy.
    pub asks: bool,
}

impl Elf {
    pub fn read(path: &Path) -> Result<Elf, String> {
        let cache = ReadCache::new(File::open(path).map_err(|error| error.to_string())?);
        let file = object::File::parse(&cache).map_err(|error| error.to_string())?;
        let loader = match &file {
            object::File::Elf32(elf) => loader(elf),
            object::File::Elf64(elf) => loader(elf),
            _ => return Err("is no ELF file".into()),
        };
        let strings = file.section_by_name(".dynstr").and_then(|strings| strings.data().ok());
        let needs_glibc = strings.is_some_and(|it| memmem::find(it, b"libc.so.6").is_some());
        let is_musl = match &loader {
            Some(loader) => loader.to_string_lossy().contains("ld-musl"),
            None => !needs_glibc,
        };
        let asks = file.dynamic_relocations().into_iter().flatten().any(|(_, relocation)| {
            let RelocationTarget::Symbol(symbol) = relocation.target() else { return false };
            let table = file.dynamic_symbol_table();
            let symbol = table.and_then(|table| table.symbol_by_index(symbol).ok());
            symbol.is_some_and(|it| it.name_bytes().is_ok_and(|name| ASKED.contains(&name)))
        });
        let (machine, width) = (file.architecture(), if file.is_64() { 64 } else { 32 });
        let machine = format!("{machine:?} ({width} bits)");
        Ok(Elf { machine, loader, is_musl, asks })
    }
}

fn loader<'a, Header: FileHeader, R: ReadRef<'a>>(elf: &ElfFile<'a, Header, R>) -> Option<PathBuf> {
    let mut headers = elf.elf_program_headers().iter();
    let path = headers.find_map(|it| it.interpreter(elf.endian(), elf.data()).ok()?)?;
    Some(String::from_utf8_lossy(path).into_owned().into())
}
