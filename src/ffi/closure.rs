//! Closures that are handed to code which is compiled once, for all of them.

/// What `dyn FnMut` is, without the copy of each closure that its table has for `FnOnce`: those
/// were a kilobyte of the library.
pub(super) trait Closure<A, R = ()> {
    fn call(&mut self, argument: A) -> R;
}

impl<A, R, F: FnMut(A) -> R> Closure<A, R> for F {
    fn call(&mut self, argument: A) -> R {
        self(argument)
    }
}
