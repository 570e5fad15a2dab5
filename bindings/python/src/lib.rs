//! The native module of the Python package leveldb-bloom: LevelDB's bloom filter for Python's
//! objects. python/leveldb_bloom/_native.pyi documents what Python sees.

use pyo3::prelude::*;

mod builder;
mod filter;
mod keys;
mod policy;

#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::builder::Builder;
    #[pymodule_export]
    use crate::filter::{Filter, FilterInfo};
    #[pymodule_export]
    use crate::policy::Policy;

    #[pymodule_export]
    #[allow(non_upper_case_globals, missing_docs)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// What the core says of a filter, or of keys, for which there is no memory.
fn no_memory(error: impl std::error::Error) -> PyErr {
    pyo3::exceptions::PyMemoryError::new_err(error.to_string())
}
