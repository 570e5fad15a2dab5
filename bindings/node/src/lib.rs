//! The native module of the Node package leveldb-bloom. index.js is its only caller: it has looked at
//! all arguments, and no other thread can change the memory it gives. index.d.ts documents what users
//! see.

use leveldb_bloom::{
    Encoding, FilterBuilder, FilterPolicy, FlatKeys, MAX_RIBBON_BITS_PER_KEY, bits_per_key_for,
};
use napi::bindgen_prelude::{BigInt64ArraySlice, Int32ArraySlice, Uint8ArraySlice};
use napi::{Error, Result, Status};
use napi_derive::napi;

/// A policy's bits per key, after the limits, and what follows from them.
#[napi(object, object_from_js = false)]
pub struct Policy {
    /// Bits per key.
    pub bits_per_key: i32,
    /// How many bits a key sets.
    pub probes: u32,
    /// Which implementation does the work.
    pub kernel: &'static str,
}

/// What the bytes of a filter say.
#[napi(object, object_from_js = false)]
pub struct FilterInfo {
    /// `bloom` or `ribbon`.
    pub encoding: &'static str,
    /// The stored number.
    pub probes: u32,
    /// How many bits there are.
    pub bits: f64,
    /// How many are ones.
    pub bits_set: f64,
    /// Their share.
    pub fill: f64,
    /// About how many keys it holds.
    pub estimated_keys: f64,
    /// The expected share of absent keys that pass.
    pub false_positive_rate: f64,
}

/// Collects keys.
#[napi]
pub struct Builder {
    core: FilterBuilder,
}

#[napi]
impl Builder {
    /// A builder without keys.
    #[napi(constructor)]
    pub fn new(bits_per_key: i32, ribbon: bool) -> Self {
        Builder { core: FilterBuilder::new(policy_of(bits_per_key, ribbon)) }
    }

    /// Adds a key.
    #[napi(catch_unwind)]
    pub fn add(&mut self, key: &[u8]) -> Result<()> {
        self.core.try_extend([key].into_iter()).map_err(error)
    }

    /// Adds keys; which, see `flat`.
    #[napi(catch_unwind)]
    pub fn add_many(
        &mut self,
        data: &[u8],
        key_length: f64,
        offsets32: Option<Int32ArraySlice<'_>>,
        offsets64: Option<BigInt64ArraySlice<'_>>,
    ) -> Result<()> {
        let keys = flat(data, key_length, &offsets32, &offsets64)?;
        self.core.try_extend(keys.iter()).map_err(error)
    }

    /// The number of keys.
    #[napi]
    pub fn size(&self) -> f64 {
        self.core.num_keys() as f64
    }

    /// Writes the filter, and has no keys then, nor memory for them, which the collector cannot see.
    #[napi(catch_unwind)]
    pub fn finish(&mut self, total_keys: f64, mut filter: Uint8ArraySlice<'_>) -> Result<()> {
        self.core.finish_into(total_keys as usize, written(&mut filter)).map_err(error)?;
        self.core = FilterBuilder::new(*self.core.policy());
        Ok(())
    }
}

/// The facts of a policy.
#[napi]
pub fn policy(bits_per_key: i32, ribbon: bool) -> Policy {
    let core = policy_of(bits_per_key, ribbon);
    Policy {
        bits_per_key: core.bits_per_key(),
        probes: core.probes(),
        kernel: core.kernel().name(),
    }
}

/// The fewest bits per key for this rate.
#[napi]
pub fn bits_per_key(rate: f64, num_keys: f64, ribbon: bool) -> Option<i32> {
    if ribbon {
        (1..=MAX_RIBBON_BITS_PER_KEY)
            .find(|&bits| false_positive_rate(bits, true, num_keys) <= rate)
    } else {
        bits_per_key_for(rate, num_keys as usize)
    }
}

/// The expected share of absent keys that pass.
#[napi]
pub fn false_positive_rate(bits_per_key: i32, ribbon: bool, num_keys: f64) -> f64 {
    if ribbon {
        0.5_f64.powi(bits_per_key)
    } else {
        leveldb_bloom::false_positive_rate(bits_per_key, num_keys as usize)
    }
}

/// The size in bytes of a filter of so many keys, if a number can hold it.
#[napi]
pub fn filter_size(bits_per_key: i32, ribbon: bool, num_keys: f64) -> Option<f64> {
    policy_of(bits_per_key, ribbon).filter_len(num_keys as usize).map(|size| size as f64)
}

/// One query.
#[napi(catch_unwind)]
pub fn may_match(key: &[u8], filter: &[u8]) -> bool {
    leveldb_bloom::key_may_match(key, filter)
}

/// A 1 or 0 for each key; which keys, see `flat`.
#[napi(catch_unwind)]
pub fn may_match_many(
    filter: &[u8],
    mut answers: Uint8ArraySlice<'_>,
    data: &[u8],
    key_length: f64,
    offsets32: Option<Int32ArraySlice<'_>>,
    offsets64: Option<BigInt64ArraySlice<'_>>,
) -> Result<()> {
    let keys = flat(data, key_length, &offsets32, &offsets64)?;
    // A filter says itself how it was made; such a policy reads both encodings.
    let reader = FilterPolicy::ribbon(1);
    let mut keys = keys.iter();
    let mut batch = [false; 1024];
    for answers in written(&mut answers).chunks_mut(batch.len()) {
        let batch = &mut batch[..answers.len().min(keys.len())];
        reader.keys_may_match_from(keys.by_ref().take(batch.len()), filter, batch);
        answers.iter_mut().zip(batch).for_each(|(answer, &mut may)| *answer = may.into());
    }
    Ok(())
}

/// Adds the keys of another filter.
#[napi(catch_unwind)]
pub fn union(mut into: Uint8ArraySlice<'_>, from: &[u8]) -> Result<()> {
    leveldb_bloom::union(written(&mut into), from).map_err(error)
}

/// What the bytes of a filter say.
#[napi(catch_unwind)]
pub fn info(filter: &[u8]) -> FilterInfo {
    let info = leveldb_bloom::FilterInfo::of(filter);
    FilterInfo {
        encoding: match info.encoding {
            Encoding::Bloom => "bloom",
            Encoding::Ribbon => "ribbon",
        },
        probes: info.probes,
        bits: info.bits as f64,
        bits_set: info.bits_set as f64,
        fill: info.fill,
        estimated_keys: info.estimated_keys,
        false_positive_rate: info.false_positive_rate,
    }
}

fn policy_of(bits_per_key: i32, ribbon: bool) -> FilterPolicy {
    let encoding = if ribbon { Encoding::Ribbon } else { Encoding::Bloom };
    FilterPolicy::new(bits_per_key).with_encoding(encoding)
}

/// Keys one behind the other: of one length, or with offsets of either size.
fn flat<'a>(
    data: &'a [u8],
    key_length: f64,
    offsets32: &'a Option<Int32ArraySlice<'_>>,
    offsets64: &'a Option<BigInt64ArraySlice<'_>>,
) -> Result<FlatKeys<'a>> {
    match (offsets32, offsets64) {
        (Some(offsets), _) => FlatKeys::with_offsets32(data, offsets),
        (_, Some(offsets)) => FlatKeys::with_offsets64(data, offsets),
        _ => {
            let length = (key_length as usize).max(1);
            FlatKeys::fixed(data, length, data.len() / length)
        }
    }
    .map_err(error)
}

/// Memory that a function writes to.
fn written<'a>(memory: &'a mut Uint8ArraySlice<'_>) -> &'a mut [u8] {
    // SAFETY: index.js has made it for this call, and gives it as no other argument.
    unsafe { memory.as_mut() }
}

fn error(error: impl std::error::Error) -> Error {
    Error::new(Status::GenericFailure, error.to_string())
}
