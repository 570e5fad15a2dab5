//! The filters of a LevelDB table file, and whether they know its keys.
//!
//! ```sh
//! cargo run --example filters -- DB/000005.ldb
//! ```

use std::process::ExitCode;

use leveldb_bloom_table::{Filters, Portable, Table};

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: filters TABLE");
        return ExitCode::from(2);
    };
    let file = match std::fs::read(&path) {
        Ok(file) => file,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    };
    match print_filters(&file) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print_filters(file: &[u8]) -> Result<(), leveldb_bloom_table::Error> {
    let table = Table::open(file, Portable)?;
    for (number, block) in table.filters().iter().enumerate() {
        let bytes = table.read_filters(number)?;
        let filters = Filters::parse(&bytes, block.handle.offset)?;
        println!("{}: {} filters", block.policy, filters.len());
        for filter in (0..filters.len()).filter_map(|number| filters.filter(number)) {
            println!("  {} bytes, last byte {:?}", filter.len(), filter.last());
        }
    }
    Ok(())
}
