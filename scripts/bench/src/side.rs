//! Who does the work.

use std::ffi::{CString, c_char, c_int, c_void};
use std::hint::black_box;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use leveldb_bloom::{
    BloomFilterPolicy, FilterBuilder, FlatKeys, Kernel, bloom_hash, hash_may_match,
};

use crate::keys::{Keys, Slice};
use crate::work::{BITS, Given, How, Work};

/// Somebody who can do work that is given to all.
pub trait Side {
    fn name(&self) -> &str;

    /// Whether filters and answers must be those of stock.
    fn same_format(&self) -> bool;

    /// What is ready to be timed; `None` where this side has nothing for such work.
    fn prepare<'w>(&'w self, work: &'w Work) -> Option<Prepared<'w>>;
}

pub struct Prepared<'w> {
    /// Does the work once. What it returns is only there to be needed.
    pub run: Box<dyn Fn() -> usize + 'w>,
    /// What the work comes to: each filter's bytes, and a byte for each answer. Left out by sides
    /// with another format.
    pub result: Vec<u8>,
}

/// A library's function of that name.
///
/// # Safety
/// `F` is the function's type.
unsafe fn function<F: Copy>(library: *mut c_void, name: &str) -> Result<F, String> {
    let c_name = CString::new(name).map_err(|error| error.to_string())?;
    // SAFETY: an open library, which is never closed.
    let address = unsafe { libc::dlsym(library, c_name.as_ptr()) };
    if address.is_null() {
        return Err(format!("it has no {name}"));
    }
    assert_eq!(size_of::<F>(), size_of::<*mut c_void>());
    // SAFETY: the caller says that `F` is its type.
    Ok(unsafe { std::mem::transmute_copy(&address) })
}

fn c_path(file: &Path) -> Result<CString, String> {
    CString::new(file.as_os_str().as_bytes()).map_err(|error| error.to_string())
}

fn open(file: &Path) -> Result<*mut c_void, String> {
    let path = c_path(file)?;
    // SAFETY: loads a library that scripts/bench.sh built for this.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        // SAFETY: after a failure there is a message.
        let message = unsafe { std::ffi::CStr::from_ptr(libc::dlerror()) };
        return Err(message.to_string_lossy().into_owned());
    }
    Ok(library)
}

type Ask = unsafe extern "C" fn(*const c_void, *const Slice, usize, *const Slice) -> usize;

/// The functions of calls.cc.
#[derive(Clone, Copy)]
pub struct Calls {
    policy: unsafe extern "C" fn(*const c_char, c_int) -> *const c_void,
    callbacks_policy: unsafe extern "C" fn(*const c_char, *const c_char, c_int) -> *const c_void,
    destroy: unsafe extern "C" fn(*const c_void),
    create: unsafe extern "C" fn(*const c_void, *const Slice, usize, usize, *mut u8) -> usize,
    query: Ask,
    chain: Ask,
    filters: unsafe extern "C" fn(*const c_void, *const Slice, usize, *const Slice, usize) -> usize,
    one_of_many: Ask,
}

impl Calls {
    pub fn open(file: &Path) -> Result<Self, String> {
        let library = open(file)?;
        // SAFETY: the types are those in calls.cc.
        unsafe {
            Ok(Calls {
                policy: function(library, "calls_policy")?,
                callbacks_policy: function(library, "calls_callbacks_policy")?,
                destroy: function(library, "calls_destroy")?,
                create: function(library, "calls_create")?,
                query: function(library, "calls_query")?,
                chain: function(library, "calls_chain")?,
                filters: function(library, "calls_filters")?,
                one_of_many: function(library, "calls_one_of_many")?,
            })
        }
    }
}

/// A `leveldb::FilterPolicy` through its virtual functions: stock's, ours as LevelDB sees it, or
/// our callbacks in one of LevelDB's.
pub struct Virtual {
    name: String,
    calls: Calls,
    library: CString,
    /// The LevelDB that is given the library's callbacks.
    host: Option<CString>,
    /// What LEVELDB_BLOOM_KERNEL is to say.
    kernel: Option<&'static str>,
}

struct VirtualPolicy {
    calls: Calls,
    policy: *const c_void,
}

impl Drop for VirtualPolicy {
    fn drop(&mut self) {
        // SAFETY: `calls_policy` made it, and its owner is gone.
        unsafe { (self.calls.destroy)(self.policy) }
    }
}

impl VirtualPolicy {
    fn create(&self, keys: &[Slice], per: usize, out: *mut u8) -> usize {
        // SAFETY: a living policy and a list of keys; `out` is NULL or has room for a filter.
        unsafe { (self.calls.create)(self.policy, keys.as_ptr(), keys.len(), per, out) }
    }

    fn filter(&self, keys: &[Slice], bits: i32) -> Vec<u8> {
        let len = BloomFilterPolicy::new(bits).filter_len(keys.len()).unwrap_or(0);
        // Room to see that it is longer.
        let mut filter = vec![0; len + 64];
        let len = self.create(keys, keys.len(), filter.as_mut_ptr());
        filter.truncate(len);
        filter
    }

    fn ask(&self, function: Ask, keys: &[Slice], filter: &[u8]) -> usize {
        // SAFETY: a living policy, a list of keys, and a filter.
        unsafe { function(self.policy, keys.as_ptr(), keys.len(), &Slice::new(filter)) }
    }

    fn ask_all(&self, keys: &[Slice], filters: &[Slice]) -> usize {
        let (function, number) = (self.calls.filters, filters.len());
        // SAFETY: a living policy, a list of keys and one of filters.
        unsafe { function(self.policy, keys.as_ptr(), keys.len(), filters.as_ptr(), number) }
    }

    fn ask_each(&self, keys: &[Slice], filters: &[Slice]) -> usize {
        assert_eq!(keys.len(), filters.len());
        let function = self.calls.one_of_many;
        // SAFETY: a living policy, a list of keys, and one of as many filters.
        unsafe { function(self.policy, keys.as_ptr(), keys.len(), filters.as_ptr()) }
    }

    fn answers<'a>(&'a self, keys: &'a [Slice], filter: &'a [u8]) -> impl Iterator<Item = u8> + 'a {
        keys.chunks(1).map(move |key| self.ask(self.calls.query, key, filter) as u8)
    }
}

impl Virtual {
    /// The library's own policy, or its callbacks in a policy of the LevelDB `host`.
    pub fn new(
        name: &str,
        calls: Calls,
        library: &Path,
        host: Option<&Path>,
        kernel: Option<&'static str>,
    ) -> Result<Self, String> {
        let (path, host) = (c_path(library)?, host.map(c_path).transpose()?);
        let side = Virtual { name: name.to_owned(), calls, library: path, host, kernel };
        if side.policy(BITS).policy.is_null() {
            return Err(format!("{}: no bloom filter policy in it", library.display()));
        }
        Ok(side)
    }

    fn policy(&self, bits: i32) -> VirtualPolicy {
        const KERNEL: &str = "LEVELDB_BLOOM_KERNEL";
        // SAFETY: nothing else in this process reads or writes the environment meanwhile: the work
        // is done by one thread, and the peers read theirs when they are loaded.
        unsafe {
            if let Some(kernel) = self.kernel {
                std::env::set_var(KERNEL, kernel);
            }
            let library = self.library.as_ptr();
            let policy = match &self.host {
                Some(host) => (self.calls.callbacks_policy)(host.as_ptr(), library, bits),
                None => (self.calls.policy)(library, bits),
            };
            std::env::remove_var(KERNEL);
            VirtualPolicy { calls: self.calls, policy }
        }
    }

    /// What a policy of ours says in its line of statistics: how its filters reach the host.
    ///
    /// # Errors
    /// A policy that is not ours, or does not do the work itself, or with another kernel: its
    /// filters would be right all the same.
    pub fn route(&self) -> Result<String, String> {
        const STATS: &str = "LEVELDB_BLOOM_STATS";
        let name = &self.name;
        let file = std::env::temp_dir().join(format!("leveldb-bloom-{}", std::process::id()));
        // SAFETY: as in `policy`.
        unsafe { std::env::set_var(STATS, &file) };
        let policy = self.policy(BITS);
        // SAFETY: as in `policy`.
        unsafe { std::env::remove_var(STATS) };
        let keys = [Slice::new(b"key")];
        let filter = policy.filter(&keys, BITS);
        policy.ask(self.calls.query, &keys, &filter);
        drop(policy);
        let line = std::fs::read_to_string(&file).map_err(|_| format!("{name} is not ours"))?;
        let _ = std::fs::remove_file(&file);
        let value: serde_json::Value =
            serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let (route, kernel) = (value["route"].as_str(), value["kernel"].as_str());
        let did = [&value["filters"], &value["queries"]].map(|number| number.as_u64());
        match route {
            Some(route)
                if route != "original"
                    && did == [Some(1); 2]
                    && self.kernel.is_none_or(|wanted| kernel == Some(wanted)) =>
            {
                Ok(route.to_owned())
            }
            _ => Err(format!("{name} did not do all of the work itself: {line}")),
        }
    }
}

impl Side for Virtual {
    fn name(&self) -> &str {
        &self.name
    }

    fn same_format(&self) -> bool {
        true
    }

    fn prepare<'w>(&'w self, work: &'w Work) -> Option<Prepared<'w>> {
        match work {
            Work::Create { keys, per, bits, .. } => {
                let (policy, keys, per) = (self.policy(*bits), keys.slices(), *per);
                let result =
                    keys.chunks_exact(per).flat_map(|keys| policy.filter(keys, *bits)).collect();
                let run = move || policy.create(keys, per, std::ptr::null_mut());
                Some(Prepared { run: Box::new(run), result })
            }
            Work::Query { members, asked, bits, how } => {
                let policy = self.policy(*bits);
                let filter = policy.filter(members.slices(), *bits);
                let mut result = filter.clone();
                result.extend(policy.answers(asked.slices(), &filter));
                let function = match how {
                    How::Chain => self.calls.chain,
                    // LevelDB has no call for many keys: so many calls.
                    _ => self.calls.query,
                };
                let run = move || policy.ask(function, asked.slices(), &filter);
                Some(Prepared { run: Box::new(run), result })
            }
            Work::Filters { members, asked } => {
                let policy = self.policy(BITS);
                let filters: Vec<Vec<u8>> =
                    members.iter().map(|members| policy.filter(members.slices(), BITS)).collect();
                let mut result = filters.concat();
                for filter in &filters {
                    result.extend(policy.answers(asked.slices(), filter));
                }
                let run = move || {
                    let filters: Vec<Slice> = filters.iter().map(|f| Slice::new(f)).collect();
                    policy.ask_all(asked.slices(), &filters)
                };
                Some(Prepared { run: Box::new(run), result })
            }
            Work::OneOfMany { members, per, copies, asked, which, filters } => {
                let policy = self.policy(BITS);
                let make = |keys: &[Slice]| policy.filter(keys, BITS);
                let own = one_after_the_other(members.slices(), *per, make);
                let mut result = own.borrowed().concat();
                let filters =
                    filters.get_or_init(|| own.repeated(*copies)).chosen(which.iter().copied());
                for (key, filter) in asked.slices().chunks(1).zip(filters.borrowed()) {
                    result.extend(policy.answers(key, filter));
                }
                let run = move || policy.ask_each(asked.slices(), filters.slices());
                Some(Prepared { run: Box::new(run), result })
            }
        }
    }
}

/// Filters of so many members each, one after the other in memory.
fn one_after_the_other<K>(members: &[K], per: usize, filter: impl Fn(&[K]) -> Vec<u8>) -> Keys {
    let filters: Vec<Vec<u8>> = members.chunks_exact(per).map(filter).collect();
    Keys::of(filters.concat(), filters.iter().map(Vec::len))
}

/// One of our kernels, through the Rust library.
pub struct Ours(pub &'static Kernel);

impl Ours {
    fn policy(&self, bits: i32) -> BloomFilterPolicy {
        BloomFilterPolicy::with_kernel(bits, self.0)
    }
}

/// Makes filters and shows each.
type ToEach<'k> = Box<dyn Fn(&mut dyn FnMut(&[u8])) + 'k>;

/// The filters of `per` keys each, as the policy makes them of keys that are `given` so.
fn each_filter<'k>(
    policy: BloomFilterPolicy,
    keys: &'k Keys,
    per: usize,
    given: Given,
) -> ToEach<'k> {
    match given {
        Given::Listed => Box::new(move |show| {
            let mut filter = Vec::new();
            for keys in keys.borrowed().chunks_exact(per) {
                create(&policy, keys, &mut filter);
                show(&filter);
            }
        }),
        Given::Owned => {
            let owned: Vec<Vec<u8>> = keys.borrowed().iter().map(|key| key.to_vec()).collect();
            Box::new(move |show| {
                let mut filter = Vec::new();
                for keys in owned.chunks_exact(per) {
                    create(&policy, keys, &mut filter);
                    show(&filter);
                }
            })
        }
        Given::Flat => {
            let (data, offsets) = keys.flat();
            Box::new(move |show| {
                for from in (0..offsets.len() - per).step_by(per) {
                    let keys = FlatKeys::with_offsets32(data, &offsets[from..=from + per]);
                    let keys = keys.expect("offsets that rise").iter();
                    show(&policy.create_filter_from(keys).expect("a filter that fits in memory"));
                }
            })
        }
        Given::Built => Box::new(move |show| {
            let mut builder = FilterBuilder::new(policy);
            for keys in keys.borrowed().chunks_exact(per) {
                builder.extend(keys.iter().copied());
                show(&builder.finish().expect("a filter that fits in memory"));
            }
        }),
    }
}

/// `create_filter`, whose errors no work here can bring about.
fn create<K: AsRef<[u8]>>(policy: &BloomFilterPolicy, keys: &[K], filter: &mut Vec<u8>) {
    filter.clear();
    policy.append_filter(keys, filter).expect("a filter that fits in memory");
}

impl Side for Ours {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn same_format(&self) -> bool {
        true
    }

    fn prepare<'w>(&'w self, work: &'w Work) -> Option<Prepared<'w>> {
        let new = |policy: &BloomFilterPolicy, keys: &[&[u8]]| {
            let mut filter = Vec::new();
            create(policy, keys, &mut filter);
            filter
        };
        match work {
            Work::Create { keys, per, bits, given } => {
                let each = each_filter(self.policy(*bits), keys, *per, *given);
                let mut result = Vec::new();
                each(&mut |filter| result.extend_from_slice(filter));
                let run = move || {
                    let mut bytes = 0;
                    each(&mut |filter| bytes += black_box(filter).len());
                    bytes
                };
                Some(Prepared { run: Box::new(run), result })
            }
            Work::Query { members, asked, bits, how } => {
                let (policy, all, asked) = (self.policy(*bits), asked, asked.borrowed());
                let filter = new(&policy, members.borrowed());
                let mut result = filter.clone();
                let mut answers = vec![false; asked.len()];
                match how {
                    How::Batch(_) | How::Flat(_) => {
                        policy.keys_may_match(asked, &filter, &mut answers);
                    }
                    How::OneByOne | How::Chain | How::Hashed => {
                        for (answer, key) in answers.iter_mut().zip(asked) {
                            *answer = policy.key_may_match(key, &filter);
                        }
                    }
                }
                result.extend(answers.iter().map(|answer| u8::from(*answer)));
                let run: Box<dyn Fn() -> usize> = match *how {
                    How::OneByOne => Box::new(move || {
                        let one = |key: &&[u8]| policy.key_may_match(key, &filter);
                        asked.iter().filter(|key| one(key)).count()
                    }),
                    How::Hashed => {
                        let hashes: Vec<u32> = asked.iter().map(|key| bloom_hash(key)).collect();
                        Box::new(move || {
                            hashes.iter().filter(|hash| hash_may_match(**hash, &filter)).count()
                        })
                    }
                    How::Chain => Box::new(move || {
                        let (mut next, mut ones) = (0, 0);
                        for _ in asked {
                            let yes = policy.key_may_match(asked[next], &filter);
                            ones += usize::from(yes);
                            next += 1 + usize::from(yes);
                            if next >= asked.len() {
                                next -= asked.len();
                            }
                        }
                        ones
                    }),
                    How::Flat(size) => {
                        let (data, offsets) = all.flat();
                        Box::new(move || {
                            let mut answers = vec![false; size];
                            let mut ones = 0;
                            for from in (0..asked.len()).step_by(size) {
                                let to = asked.len().min(from + size);
                                let keys = FlatKeys::with_offsets32(data, &offsets[from..=to]);
                                let keys = keys.expect("offsets that rise").iter();
                                ones += policy.keys_may_match_from(keys, &filter, &mut answers);
                                black_box(&mut answers);
                            }
                            ones
                        })
                    }
                    How::Batch(size) => Box::new(move || {
                        let mut answers = vec![false; size];
                        let mut ones = 0;
                        for keys in asked.chunks(size) {
                            ones += policy.keys_may_match(keys, &filter, &mut answers);
                            black_box(&mut answers);
                        }
                        ones
                    }),
                };
                Some(Prepared { run, result })
            }
            Work::Filters { members, asked } => {
                let (policy, asked) = (self.policy(BITS), asked.borrowed());
                let filters: Vec<Vec<u8>> =
                    members.iter().map(|members| new(&policy, members.borrowed())).collect();
                let mut result = filters.concat();
                let listed: Vec<&[u8]> = filters.iter().map(|filter| &filter[..]).collect();
                let mut answers = vec![false; filters.len()];
                let mut by_key = Vec::new();
                for key in asked {
                    policy.filters_may_match(key, &listed, &mut answers);
                    by_key.extend_from_slice(&answers);
                }
                for i in 0..filters.len() {
                    result
                        .extend(by_key.iter().skip(i).step_by(filters.len()).map(|&a| u8::from(a)));
                }
                let run = move || {
                    let listed: Vec<&[u8]> = filters.iter().map(|filter| &filter[..]).collect();
                    let mut answers = vec![false; filters.len()];
                    let mut ones = 0;
                    for key in asked {
                        ones += policy.filters_may_match(key, &listed, &mut answers);
                        black_box(&mut answers);
                    }
                    ones
                };
                Some(Prepared { run: Box::new(run), result })
            }
            Work::OneOfMany { members, per, copies, asked, which, filters } => {
                let (policy, asked) = (self.policy(BITS), asked.borrowed());
                let make = |keys: &[&[u8]]| new(&policy, keys);
                let own = one_after_the_other(members.borrowed(), *per, make);
                let mut result = own.borrowed().concat();
                let filters =
                    filters.get_or_init(|| own.repeated(*copies)).chosen(which.iter().copied());
                for (key, filter) in asked.iter().zip(filters.borrowed()) {
                    result.push(policy.key_may_match(key, filter).into());
                }
                let run = move || {
                    let pairs = asked.iter().zip(filters.borrowed());
                    pairs.filter(|(key, filter)| policy.key_may_match(key, filter)).count()
                };
                Some(Prepared { run: Box::new(run), result })
            }
        }
    }
}

/// Somebody else's filter, behind the functions of rocksdb.cc and goleveldb.go.
pub struct Shared {
    name: String,
    create: unsafe extern "C" fn(c_int, *const Slice, usize, usize) -> usize,
    filter: unsafe extern "C" fn(c_int, *const Slice, usize) -> *mut c_void,
    query: unsafe extern "C" fn(*mut c_void, *const Slice, usize) -> usize,
    destroy: unsafe extern "C" fn(*mut c_void),
}

struct SharedFilter<'s>(&'s Shared, *mut c_void);

impl Drop for SharedFilter<'_> {
    fn drop(&mut self) {
        // SAFETY: `peer_filter` made it, and its owner is gone.
        unsafe { (self.0.destroy)(self.1) }
    }
}

impl SharedFilter<'_> {
    fn query(&self, keys: &[Slice]) -> usize {
        // SAFETY: a living filter and a list of keys.
        unsafe { (self.0.query)(self.1, keys.as_ptr(), keys.len()) }
    }
}

impl Shared {
    pub fn open(name: &str, file: &Path) -> Result<Self, String> {
        let library = open(file)?;
        // SAFETY: the types are those in rocksdb.cc and goleveldb.go.
        unsafe {
            Ok(Shared {
                name: name.to_owned(),
                create: function(library, "peer_create")?,
                filter: function(library, "peer_filter")?,
                query: function(library, "peer_query")?,
                destroy: function(library, "peer_destroy")?,
            })
        }
    }
}

impl Side for Shared {
    fn name(&self) -> &str {
        &self.name
    }

    fn same_format(&self) -> bool {
        false
    }

    fn prepare<'w>(&'w self, work: &'w Work) -> Option<Prepared<'w>> {
        let run: Box<dyn Fn() -> usize> = match work {
            Work::Create { keys, per, bits, given: Given::Listed } => Box::new(move || {
                let keys = keys.slices();
                // SAFETY: a list of keys.
                unsafe { (self.create)(*bits, keys.as_ptr(), keys.len(), *per) }
            }),
            Work::Query { members, asked, bits, how: How::OneByOne } => {
                let members = members.slices();
                // SAFETY: a list of keys.
                let filter = unsafe { (self.filter)(*bits, members.as_ptr(), members.len()) };
                let filter = SharedFilter(self, filter);
                assert_eq!(filter.query(members), members.len(), "{} lost keys", self.name);
                Box::new(move || filter.query(asked.slices()))
            }
            Work::Create { .. }
            | Work::Query { .. }
            | Work::Filters { .. }
            | Work::OneOfMany { .. } => return None,
        };
        Some(Prepared { run, result: Vec::new() })
    }
}
