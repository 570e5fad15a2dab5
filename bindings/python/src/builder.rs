//! `Builder`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use leveldb_bloom::FilterBuilder;
use pyo3::prelude::*;

use crate::filter::Filter;
use crate::policy::Policy;
use crate::{keys, no_memory};

/// Who holds the lock never waits for the interpreter: it may be taken with or without it.
#[pyclass(frozen, module = "leveldb_bloom")]
pub struct Builder {
    policy: Policy,
    core: Mutex<FilterBuilder>,
}

impl Builder {
    fn lock(&self) -> MutexGuard<'_, FilterBuilder> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Builder {
    #[new]
    #[pyo3(signature = (policy = None))]
    fn new(policy: Option<&Bound<'_, Policy>>) -> PyResult<Self> {
        let policy = policy.map_or_else(|| Policy::new(10, "bloom"), |given| Ok(*given.get()))?;
        Ok(Builder { policy, core: Mutex::new(FilterBuilder::new(policy.core)) })
    }

    #[getter]
    fn policy(&self) -> Policy {
        self.policy
    }

    fn add(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let key = keys::bytes_of(key, "a key")?;
        self.lock().try_extend([key.as_bytes()].into_iter()).map_err(no_memory)
    }

    fn update(&self, keys: &Bound<'_, PyAny>) -> PyResult<()> {
        keys::in_batches(keys, |batch| {
            self.lock().try_extend(batch.iter().map(|key| key.as_bytes())).map_err(no_memory)
        })
    }

    fn __len__(&self) -> usize {
        self.lock().num_keys()
    }

    #[pyo3(signature = (total_keys = None))]
    fn finish(&self, py: Python<'_>, total_keys: Option<usize>) -> PyResult<Filter> {
        Filter::finish(py, self.__len__(), || {
            let mut core = self.lock();
            let total = total_keys.unwrap_or(core.num_keys());
            core.finish_for(total)
        })
    }

    fn __repr__(&self) -> String {
        format!("<leveldb_bloom.Builder: {} keys>", self.__len__())
    }
}
