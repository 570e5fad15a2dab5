//! What a user can ask for by the environment, and what the library says.

pub(crate) mod encoding;
pub(crate) mod environment;
pub(crate) mod kernel;
pub(crate) mod message;
pub(crate) mod statistics;
