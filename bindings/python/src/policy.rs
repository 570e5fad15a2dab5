//! `Policy`.

use leveldb_bloom::{
    Encoding, FilterBuilder, FilterPolicy, MAX_RIBBON_BITS_PER_KEY, bits_per_key_for,
    false_positive_rate,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::filter::Filter;
use crate::{keys, no_memory};

#[pyclass(frozen, eq, hash, module = "leveldb_bloom")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Policy {
    pub core: FilterPolicy,
}

#[pymethods]
impl Policy {
    #[new]
    #[pyo3(signature = (bits_per_key = 10, encoding = "bloom"))]
    pub fn new(bits_per_key: i32, encoding: &str) -> PyResult<Self> {
        if bits_per_key < 0 {
            return Err(PyValueError::new_err("bits_per_key is negative"));
        }
        let core = FilterPolicy::new(bits_per_key).with_encoding(encoding_of(encoding)?);
        Ok(Policy { core })
    }

    #[classmethod]
    #[pyo3(signature = (rate, *, keys, encoding = "bloom"))]
    fn for_rate(
        _class: &Bound<'_, PyType>,
        rate: f64,
        keys: usize,
        encoding: &str,
    ) -> PyResult<Self> {
        if !(rate > 0.0 && rate < 1.0) {
            return Err(PyValueError::new_err("a false-positive rate lies between 0 and 1"));
        }
        let bits = match encoding_of(encoding)? {
            Encoding::Bloom => bits_per_key_for(rate, keys),
            Encoding::Ribbon => {
                (1..=MAX_RIBBON_BITS_PER_KEY).find(|&bits| ribbon_rate(bits) <= rate)
            }
        };
        let bits = bits.ok_or_else(|| {
            PyValueError::new_err(format!(
                "no number of bits per key gives a rate of {rate} in a filter of {keys} keys"
            ))
        })?;
        Policy::new(bits, encoding)
    }

    #[getter]
    fn bits_per_key(&self) -> i32 {
        self.core.bits_per_key()
    }

    #[getter]
    fn encoding(&self) -> &'static str {
        name_of(self.core.encoding())
    }

    #[getter]
    fn probes(&self) -> u32 {
        self.core.probes()
    }

    #[getter]
    fn kernel(&self) -> &'static str {
        self.core.kernel().name()
    }

    fn filter_size(&self, num_keys: usize) -> PyResult<usize> {
        self.core.filter_len(num_keys).ok_or_else(|| no_memory(leveldb_bloom::FilterTooLarge))
    }

    fn false_positive_rate(&self, num_keys: usize) -> f64 {
        match self.core.encoding() {
            Encoding::Bloom => false_positive_rate(self.core.bits_per_key(), num_keys),
            Encoding::Ribbon => ribbon_rate(self.core.bits_per_key()),
        }
    }

    fn create_filter(&self, py: Python<'_>, keys: &Bound<'_, PyAny>) -> PyResult<Filter> {
        let mut builder = FilterBuilder::new(self.core);
        keys::in_batches(keys, |batch| {
            builder.try_extend(batch.iter().map(|key| key.as_bytes())).map_err(no_memory)
        })?;
        let total = builder.num_keys();
        Filter::finish(py, total, || builder.finish_for(total))
    }

    fn __repr__(&self) -> String {
        format!("Policy(bits_per_key={}, encoding='{}')", self.bits_per_key(), self.encoding())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (i32, &'static str)) {
        (py.get_type::<Policy>(), (self.bits_per_key(), self.encoding()))
    }
}

fn encoding_of(name: &str) -> PyResult<Encoding> {
    match name {
        "bloom" => Ok(Encoding::Bloom),
        "ribbon" => Ok(Encoding::Ribbon),
        _ => Err(PyValueError::new_err(format!("encoding is 'bloom' or 'ribbon', not {name:?}"))),
    }
}

pub fn name_of(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Bloom => "bloom",
        Encoding::Ribbon => "ribbon",
    }
}

/// The false-positive rate of ribbon filters, however many keys they have.
fn ribbon_rate(bits_per_key: i32) -> f64 {
    0.5_f64.powi(bits_per_key)
}
