//! `Filter` and `FilterInfo`.

use leveldb_bloom::{FilterPolicy, FilterTooLarge, key_may_match, union};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::policy::name_of;
use crate::{keys, no_memory};

/// The bytes of a filter. Python's `bytes` are never changed.
#[pyclass(frozen, module = "leveldb_bloom")]
pub struct Filter {
    bytes: Py<PyBytes>,
}

impl Filter {
    /// The filter that `make` makes: without the interpreter, unless it is of few keys.
    pub fn finish(
        py: Python<'_>,
        num_keys: usize,
        make: impl FnOnce() -> Result<Vec<u8>, FilterTooLarge> + Send,
    ) -> PyResult<Self> {
        let made = if num_keys < keys::FEW { make() } else { py.detach(make) };
        Ok(Filter { bytes: PyBytes::new(py, &made.map_err(no_memory)?).unbind() })
    }
}

#[pymethods]
impl Filter {
    #[new]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Filter { bytes: keys::bytes_of(data, "a filter")?.unbind() })
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let filter = self.bytes.as_bytes(py);
        match key.cast_exact::<PyBytes>() {
            Ok(key) => Ok(key_may_match(key.as_bytes(), filter)),
            Err(_) => Ok(key_may_match(keys::bytes_of(key, "a key")?.as_bytes(), filter)),
        }
    }

    fn may_match_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (filter, mut answers) = (self.bytes.as_bytes(py), Vec::new());
        // A filter says itself how it was made; such a policy reads both encodings.
        let reader = FilterPolicy::ribbon(1);
        keys::in_batches(keys, |batch| {
            let start = answers.len();
            answers.try_reserve(batch.len()).map_err(no_memory)?;
            answers.resize(start + batch.len(), false);
            reader.keys_may_match(batch, filter, &mut answers[start..]);
            Ok(())
        })?;
        PyBytes::new_with(py, answers.len(), |bytes| {
            bytes.iter_mut().zip(&answers).for_each(|(byte, &answer)| *byte = answer.into());
            Ok(())
        })
    }

    #[getter]
    fn info(&self, py: Python<'_>) -> FilterInfo {
        let filter = self.bytes.as_bytes(py);
        FilterInfo { core: py.detach(|| leveldb_bloom::FilterInfo::of(filter)) }
    }

    fn __bytes__(&self, py: Python<'_>) -> Py<PyBytes> {
        self.bytes.clone_ref(py)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.bytes.as_bytes(py).len()
    }

    /// Not by its length: a filter of no bytes is a filter, too.
    fn __bool__(&self) -> bool {
        true
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, Filter>) -> bool {
        self.bytes.as_bytes(py) == other.get().bytes.as_bytes(py)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.bytes.bind(py).hash()
    }

    fn __or__(&self, py: Python<'_>, other: &Bound<'_, Filter>) -> PyResult<Self> {
        let (first, second) = (self.bytes.as_bytes(py), other.get().bytes.as_bytes(py));
        let united = PyBytes::new_with(py, first.len(), |bytes| {
            bytes.copy_from_slice(first);
            union(bytes, second).map_err(|error| PyValueError::new_err(error.to_string()))
        })?;
        Ok(Filter { bytes: united.unbind() })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<leveldb_bloom.Filter: {} bytes>", self.__len__(py))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (Py<PyBytes>,)) {
        (py.get_type::<Filter>(), (self.bytes.clone_ref(py),))
    }
}

/// What the bytes of a filter say.
#[pyclass(frozen, eq, module = "leveldb_bloom")]
#[derive(PartialEq)]
pub struct FilterInfo {
    core: leveldb_bloom::FilterInfo,
}

#[pymethods]
impl FilterInfo {
    #[getter]
    fn encoding(&self) -> &'static str {
        name_of(self.core.encoding)
    }

    #[getter]
    fn probes(&self) -> u32 {
        self.core.probes
    }

    #[getter]
    fn bits(&self) -> u64 {
        self.core.bits
    }

    #[getter]
    fn bits_set(&self) -> u64 {
        self.core.bits_set
    }

    #[getter]
    fn fill(&self) -> f64 {
        self.core.fill
    }

    #[getter]
    fn estimated_keys(&self) -> f64 {
        self.core.estimated_keys
    }

    #[getter]
    fn false_positive_rate(&self) -> f64 {
        self.core.false_positive_rate
    }

    fn __repr__(&self) -> String {
        let info = &self.core;
        format!(
            "FilterInfo(encoding='{}', probes={}, bits={}, bits_set={}, fill={}, estimated_keys={}, false_positive_rate={})",
            self.encoding(),
            info.probes,
            info.bits,
            info.bits_set,
            info.fill,
            info.estimated_keys,
            info.false_positive_rate
        )
    }
}
