//! How many absent keys pass the two kinds of filter, when keys are numbers in order.
//!
//! ```sh
//! cargo run --release --example ordered_keys
//! ```

use leveldb_bloom::{FilterPolicy, FilterTooLarge};

fn main() -> Result<(), FilterTooLarge> {
    // Every second number is there; its neighbour is not.
    let big_endian = |number: u64| number.to_be_bytes().to_vec();
    let decimal = |number: u64| format!("user{number:012}").into_bytes();
    let policies = [("bloom", FilterPolicy::new(10)), ("ribbon", FilterPolicy::ribbon(10))];
    for (kind, key) in
        [("big-endian", &big_endian as &dyn Fn(u64) -> Vec<u8>), ("user%012d", &decimal)]
    {
        for (name, policy) in policies {
            let (mut passed, mut bytes, mut absent_keys) = (0, 0, 0);
            // As LevelDB makes them: a filter for each block of a few dozen keys.
            for block in 0..1000 {
                let numbers = (block * 34..block * 34 + 34).map(|index| index * 2);
                let present: Vec<_> = numbers.clone().map(key).collect();
                let filter = policy.create_filter(&present)?;
                bytes += filter.len();
                for absent in numbers.map(|number| key(number + 1)) {
                    absent_keys += 1;
                    passed += usize::from(policy.key_may_match(&absent, &filter));
                }
            }
            let rate = 100.0 * passed as f64 / absent_keys as f64;
            println!("{kind:10}  {name:6}  {bytes:6} bytes  {rate:6.2} % of absent keys pass");
        }
    }
    Ok(())
}
