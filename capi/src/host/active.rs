//! Which implementation a process uses, for leveldb_bloom_active.

use core::ffi::CStr;

use super::modules::{self, First, Scope, first, forget_error};
use super::route::{Way, append_that_a_host_shows, c_api, host_kind};
use super::string::StringKind;
use super::{Link, original};
use crate::diagnosis::statistics::Route;

/// Which implementation `leveldb_filterpolicy_create_bloom` resolves to, and how its filters reach the
/// host.
#[must_use]
pub fn active(link: Link) -> &'static CStr {
    if link.is_source_build {
        return c"leveldb_bloom (source build)";
    }
    if link.is_another_first || !link.is_static && first() == First::Anothers {
        return c"original (another definition of leveldb_filterpolicy_create_bloom comes first)";
    }
    if let Some((_, why)) = original(link) {
        return why;
    }
    let text = match seen(link).or_else(searched) {
        Some(Route::AppendCxx11) => c"leveldb_bloom (append-cxx11)",
        Some(Route::AppendCopyOnWrite) => c"leveldb_bloom (append-copy-on-write)",
        Some(Route::AppendLibcxx) => c"leveldb_bloom (append-libc++)",
        Some(Route::Delegate) => c"leveldb_bloom (delegate)",
        Some(_) => c"leveldb_bloom (decided when LevelDB calls)",
        None => c"leveldb_bloom (no LevelDB found)",
    };
    forget_error();
    text
}

/// The way to a LevelDB that is linked with us or in the global scope.
fn seen(link: Link) -> Option<Route> {
    [Scope::Linked, Scope::Global].iter().find_map(|scope| {
        match append_that_a_host_shows(scope).or_else(|| c_api(scope, link.create))? {
            Way::Append(_, route) => Some(route),
            _ => Some(Route::Delegate),
        }
    })
}

/// The way to LevelDBs that were loaded with RTLD_LOCAL, if it is the same for all; otherwise
/// [`Route::None`].
fn searched() -> Option<Route> {
    let mut found = None;
    modules::for_each_library(|library| {
        let shown = host_kind(library).map(StringKind::route);
        if let Some(route) = shown.or_else(|| c_api(library, None).map(|_| Route::None)) {
            let is_the_same = found.is_none_or(|before| before == route);
            found = Some(if is_the_same { route } else { Route::None });
        }
    });
    found
}
