//! What may be a key, and what may hold keys.

use std::borrow::Cow;
use std::slice;

use leveldb_bloom::{FlatKeys, Key};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyMemoryView, PyString, PyTuple};

/// Work on fewer keys than this is done before another thread has got the interpreter.
pub const FEW: usize = 1000;

/// As many keys as are taken from an iterator at once.
const BATCH: usize = 1 << 16;

/// The bytes of a bytes-like object, which `what` names in errors: its own if it is `bytes`, else a
/// copy, because anything else can change.
pub fn bytes_of<'py>(object: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyBytes>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(bytes.clone());
    }
    let refused = |kind: &str| {
        let kind = kind.to_owned();
        Err(PyTypeError::new_err(format!("{what} is bytes, not {kind}")))
    };
    let name = object.get_type().name()?;
    if object.is_instance_of::<PyString>() {
        return refused("text: encode it, as in key.encode()");
    }
    let view = match PyMemoryView::from(object) {
        Ok(view) => view,
        Err(error) if error.is_instance_of::<PyTypeError>(object.py()) => {
            return refused(&name.to_cow()?);
        }
        Err(error) => return Err(error),
    };
    let format: String = view.getattr("format")?.extract()?;
    // Names of fields stand between colons.
    let letters: String = format.split(':').step_by(2).collect();
    if letters.contains(['u', 'w']) {
        return refused("text: encode it");
    }
    if letters.contains(['O', 'P', 'z']) {
        return refused("references to objects");
    }
    Ok(view.call_method0("tobytes")?.cast_into()?)
}

/// Gives all keys to `consume`, batch by batch and without the interpreter, unless they are few.
///
/// `keys` is an iterable of bytes-like objects, or an array of numpy or pyarrow, whose memory is read
/// where it is. An error ends it; batches that `consume` has taken are not given back.
pub fn in_batches(
    keys: &Bound<'_, PyAny>,
    mut consume: impl FnMut(&[Key<'_>]) -> PyResult<()> + Send,
) -> PyResult<()> {
    let known = keys.is_exact_instance_of::<PyList>() || keys.is_exact_instance_of::<PyTuple>();
    if !known {
        if is_a(keys, "numpy", "ndarray")? {
            if let Some(rows) = Rows::of(keys)? {
                return give(keys.py(), rows.iter(), consume);
            }
        } else if is_a(keys, "pyarrow", "ChunkedArray")? {
            let chunks = keys.getattr("chunks")?;
            return chunks.try_iter()?.try_for_each(|chunk| arrow(&chunk?, &mut consume));
        } else if is_a(keys, "pyarrow", "Array")? {
            return arrow(keys, consume);
        }
    }
    objects(keys, consume)
}

fn objects(
    keys: &Bound<'_, PyAny>,
    mut consume: impl FnMut(&[Key<'_>]) -> PyResult<()> + Send,
) -> PyResult<()> {
    let py = keys.py();
    let mut objects = keys.try_iter().map_err(|error| match keys.get_type().name() {
        Ok(name) if error.is_instance_of::<PyTypeError>(py) => {
            PyTypeError::new_err(format!("keys are an iterable of bytes, not {name}"))
        }
        _ => error,
    })?;
    let mut held: Vec<Bound<'_, PyBytes>> = Vec::new();
    loop {
        for object in objects.by_ref().take(BATCH) {
            let object = object?;
            held.push(match object.cast_into_exact::<PyBytes>() {
                Ok(bytes) => bytes,
                Err(other) => bytes_of(&other.into_inner(), "a key")?,
            });
        }
        if held.is_empty() {
            return Ok(());
        }
        let keys: Vec<Key<'_>> = held.iter().map(|bytes| Key::new(bytes.as_bytes())).collect();
        if keys.len() < FEW {
            consume(&keys)?
        } else {
            py.detach(|| consume(&keys))?
        }
        held.clear();
    }
}

/// Gives keys that lie in an array's memory.
fn give<'k>(
    py: Python<'_>,
    mut keys: impl ExactSizeIterator<Item = &'k [u8]> + Send,
    mut consume: impl FnMut(&[Key<'_>]) -> PyResult<()> + Send,
) -> PyResult<()> {
    let few = keys.len() < FEW;
    let mut work = move || {
        let mut batch = Vec::with_capacity(keys.len().min(FEW));
        loop {
            batch.clear();
            batch.extend(keys.by_ref().take(FEW).map(Key::new));
            if batch.is_empty() {
                return Ok(());
            }
            consume(&batch)?;
        }
    };
    if few { work() } else { py.detach(work) }
}

/// Whether an object is of a class in a module, which has then been imported by somebody.
fn is_a(object: &Bound<'_, PyAny>, module: &str, class: &str) -> PyResult<bool> {
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let py = object.py();
    let modules = MODULES.get_or_try_init(py, || {
        PyResult::Ok(py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?.unbind())
    })?;
    // While a module is being imported its classes may be missing.
    let module = modules.bind(py).get_item(module)?;
    match module.map(|module| module.getattr_opt(class)).transpose()?.flatten() {
        Some(class) => object.is_instance(&class),
        None => Ok(false),
    }
}

/// Keys of one length at equal distances in an array of numpy's.
struct Rows<'py> {
    /// Keeps the memory.
    _array: Bound<'py, PyAny>,
    first: usize,
    count: usize,
    stride: isize,
    len: usize,
    /// Of numpy's strings the zeros at the end are no part.
    padded: bool,
}

impl<'py> Rows<'py> {
    /// `None` if the array holds, or its rows are, objects to be taken one by one.
    fn of(array: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let py = array.py();
        let numpy = py.import("numpy")?;
        if array.is_instance(&numpy.getattr("ma")?.getattr("MaskedArray")?)? {
            return Err(PyTypeError::new_err("the array is masked: take array.compressed()"));
        }
        // Without what a subclass may have changed.
        let array = numpy.call_method1("asarray", (array,))?;
        let dtype = array.getattr("dtype")?;
        let kind: char = dtype.getattr("kind")?.extract()?;
        let size: usize = dtype.getattr("itemsize")?.extract()?;
        let shape: Vec<usize> = array.getattr("shape")?.extract()?;
        let strides: Vec<isize> = array.getattr("strides")?.extract()?;
        let objects: bool = dtype.getattr("hasobject")?.extract()?;
        let len = match (kind, &shape[..], &strides[..]) {
            ('U' | 'T', ..) => {
                return Err(PyTypeError::new_err(
                    "keys are bytes, not text: encode them, as in numpy.char.encode(array, 'utf-8')",
                ));
            }
            ('O', [_], _) => return Ok(None),
            ('S' | 'V', [_], _) if !objects => size,
            ('u' | 'i', [_, _], _) if size == 1 && strides[1] != 1 => return Ok(None),
            ('u' | 'i', [_, columns], _) if size == 1 => *columns,
            _ => {
                let dtype = dtype.str()?;
                return Err(PyTypeError::new_err(format!(
                    "keys are not what an array of dtype {dtype} with {} dimensions holds: view it as \
                     the bytes that a key is, as in array.astype('>u8').view('V8')",
                    shape.len()
                )));
            }
        };
        let interface = array.getattr("__array_interface__")?;
        let (first, _): (usize, bool) = interface.get_item("data")?.extract()?;
        let (count, stride) = (shape[0], strides[0]);
        Ok(Some(Rows { _array: array, first, count, stride, len, padded: kind == 'S' }))
    }

    fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Send + use<'_, 'py> {
        let Rows { first, stride, len, padded, .. } = *self;
        (0..self.count).map(move |i| {
            let address = first.wrapping_add_signed(stride.wrapping_mul(i as isize));
            let key = if len == 0 {
                &[]
            } else {
                // SAFETY: numpy's shape and strides say that element `i` lies there. `self` holds a
                // reference to the array, which therefore keeps its memory.
                unsafe { slice::from_raw_parts(address as *const u8, len) }
            };
            let end = if padded {
                key.iter().rposition(|&byte| byte != 0).map_or(0, |i| i + 1)
            } else {
                len
            };
            &key[..end]
        })
    }
}

/// Gives the keys of an array of pyarrow's.
fn arrow(
    array: &Bound<'_, PyAny>,
    consume: impl FnMut(&[Key<'_>]) -> PyResult<()> + Send,
) -> PyResult<()> {
    let py = array.py();
    let kind = array.getattr("type")?.str()?;
    let kind = kind.to_cow()?;
    let num_keys = array.len()?;
    let buffers = array.call_method0("buffers")?;
    let buffer = |i: usize| Buffer::of(&buffers.get_item(i)?);
    let offset: usize = array.getattr("offset")?.extract()?;
    if array.getattr("null_count")?.extract::<usize>()? != 0 {
        return Err(PyValueError::new_err(
            "there are nulls among the keys: take array.drop_null()",
        ));
    }
    match &*kind {
        "binary" => {
            let (offsets, data) = (buffer(1)?, buffer(2)?);
            let offsets = words::<i32>(offsets.part(offset, 4, num_keys, 1)?);
            give(py, flat(FlatKeys::with_offsets32(data.bytes(), &offsets))?.iter(), consume)
        }
        "large_binary" => {
            let (offsets, data) = (buffer(1)?, buffer(2)?);
            let offsets = words::<i64>(offsets.part(offset, 8, num_keys, 1)?);
            give(py, flat(FlatKeys::with_offsets64(data.bytes(), &offsets))?.iter(), consume)
        }
        _ if kind.starts_with("fixed_size_binary[") => {
            let len: usize = array.getattr("type")?.getattr("byte_width")?.extract()?;
            let data = buffer(1)?;
            let data = data.part(offset, len, num_keys, 0)?;
            give(py, flat(FlatKeys::fixed(data, len, num_keys))?.iter(), consume)
        }
        "string" | "large_string" | "string_view" => Err(PyTypeError::new_err(
            "keys are bytes, not text: array.cast('binary') has its UTF-8, without a copy",
        )),
        _ => Err(PyTypeError::new_err(format!(
            "keys are arrays of binary, large_binary or fixed_size_binary, not of {kind}"
        ))),
    }
}

fn flat<T>(keys: Result<T, leveldb_bloom::InvalidOffsets>) -> PyResult<T> {
    keys.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Numbers in memory that need not be aligned: what came through a pipe may lie anywhere.
fn words<T: bytemuck::Pod>(bytes: &[u8]) -> Cow<'_, [T]> {
    bytemuck::try_cast_slice(bytes)
        .map_or_else(|_| Cow::Owned(bytemuck::pod_collect_to_vec(bytes)), Cow::Borrowed)
}

/// A buffer of pyarrow's, or none.
struct Buffer<'py> {
    /// Keeps the memory.
    _object: Bound<'py, PyAny>,
    address: usize,
    len: usize,
}

impl<'py> Buffer<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let (mut address, mut len) = (0, 0);
        if !object.is_none() {
            if !object.getattr("is_cpu")?.is_truthy()? {
                return Err(PyTypeError::new_err("the array is not in this processor's memory"));
            }
            address = object.getattr("address")?.extract()?;
            len = object.getattr("size")?.extract()?;
        }
        Ok(Buffer { _object: object.clone(), address, len })
    }

    fn bytes(&self) -> &[u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: pyarrow says that so many bytes lie there. `self` holds a reference to the buffer,
        // which therefore keeps its memory.
        unsafe { slice::from_raw_parts(self.address as *const u8, self.len) }
    }

    /// The elements of an array from `offset` on: `count` of `size` bytes, and `more`. Of no elements
    /// nothing need be there.
    fn part(&self, offset: usize, size: usize, count: usize, more: usize) -> PyResult<&[u8]> {
        let part = || {
            let start = offset.checked_mul(size)?;
            let len = count.checked_add(more)?.checked_mul(size)?;
            self.bytes().get(start..start.checked_add(len)?)
        };
        if count == 0 {
            return Ok(&[]);
        }
        part().ok_or_else(|| PyValueError::new_err("the array is longer than its memory"))
    }
}
