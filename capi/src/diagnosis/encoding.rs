//! How policies of LevelDB's own names write filters: as `LEVELDB_BLOOM_ENCODING` says.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering};

use leveldb_bloom::Encoding;

use super::environment::variable;
use super::message::Line;

/// The encoding of a policy that is being made, where its maker names none. Reads the environment each
/// time.
pub(crate) fn of_environment() -> Encoding {
    static REFUSED: AtomicBool = AtomicBool::new(false);
    match variable(c"LEVELDB_BLOOM_ENCODING") {
        None => Encoding::Bloom,
        Some(value) => of_name(value).unwrap_or_else(|| {
            // Of a long name the beginning, so that the rest has room.
            let start = value.to_bytes().get(..40).unwrap_or(value.to_bytes());
            let parts: [&[u8]; 3] = [
                b"there is no encoding LEVELDB_BLOOM_ENCODING=",
                start,
                b"; using bloom, and there are: bloom ribbon",
            ];
            say_once(&REFUSED, &parts);
            Encoding::Bloom
        }),
    }
}

/// Says that LevelDB's own policy is used where ribbon filters were asked for, and why.
#[cold]
pub(crate) fn is_the_originals(why: &CStr) {
    static SAID: AtomicBool = AtomicBool::new(false);
    say_once(&SAID, &[b"no ribbon filters are made here: ", why.to_bytes()]);
}

pub(crate) fn name(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Bloom => "bloom",
        Encoding::Ribbon => "ribbon",
    }
}

fn of_name(value: &CStr) -> Option<Encoding> {
    let all = [Encoding::Bloom, Encoding::Ribbon];
    all.into_iter().find(|&it| name(it).as_bytes() == value.to_bytes())
}

#[cold]
fn say_once(said: &AtomicBool, parts: &[&[u8]]) {
    if said.swap(true, Ordering::Relaxed) {
        return;
    }
    let mut line = Line::new();
    line.push(b"leveldb_bloom: ");
    parts.iter().for_each(|part| line.push(part));
    line.push(b"\n");
    line.write_to(None);
}
