mod global;
mod metadata;

pub use global::*;
