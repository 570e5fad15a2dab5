//! LevelDB's own filter, to compare with.

use std::path::Path;

use crate::leveldb::{CxxString, Policy, Slice, Stock};

/// LevelDB's policies. Dereferences to nothing of ours.
pub struct Original {
    stock: &'static Stock,
    policies: Vec<Option<Policy>>,
    string: CxxString,
}

impl Original {
    /// The most bits per key that it is asked for.
    pub const MAX_BITS_PER_KEY: u32 = 2000;

    /// Loads the library that `LEVELDB_BLOOM_STOCK` names, as scripts/fuzz.sh sets it.
    fn load() -> Original {
        let file = std::env::var("LEVELDB_BLOOM_STOCK")
            .expect("LEVELDB_BLOOM_STOCK, the path of libleveldb.so: use scripts/fuzz.sh");
        let stock = Stock::load(Path::new(&file)).unwrap_or_else(|error| panic!("{error}"));
        let stock: &Stock = Box::leak(Box::new(stock));
        Original { stock, policies: Vec::new(), string: stock.new_string() }
    }

    /// Runs `f` with the one of this thread.
    pub fn with<R>(f: impl FnOnce(&mut Original) -> R) -> R {
        thread_local! {
            static ORIGINAL: std::cell::RefCell<Original> = Original::load().into();
        }
        ORIGINAL.with_borrow_mut(f)
    }

    fn policy(&mut self, bits_per_key: u32) -> &Policy {
        let at = bits_per_key as usize;
        if self.policies.len() <= at {
            self.policies.resize_with(at + 1, || None);
        }
        let stock = self.stock;
        self.policies[at].get_or_insert_with(|| stock.new_policy(bits_per_key))
    }

    /// The filter that LevelDB makes.
    pub fn filter(bits_per_key: u32, keys: &[&[u8]]) -> Vec<u8> {
        let slices: Vec<Slice> = keys.iter().map(|key| Slice::new(key)).collect();
        Self::with(|original| {
            original.policy(bits_per_key);
            let Original { policies, string, .. } = original;
            string.set(&[]);
            if let Some(Some(policy)) = policies.get(bits_per_key as usize) {
                policy.create_filter(&slices, string);
            }
            string.bytes().to_vec()
        })
    }

    /// LevelDB's answer.
    pub fn key_may_match(key: &[u8], filter: &[u8]) -> bool {
        Self::with(|original| {
            original.policy(10).key_may_match(&Slice::new(key), &Slice::new(filter))
        })
    }
}
