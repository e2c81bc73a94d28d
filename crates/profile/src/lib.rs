//! Profiles: measurements as stacks with weights over time, and the files that they are written to and read from.
//!
//! A consumer of `saki_sampler` fills a [`Profile`] by [`ProfileBuilder`]; writers (`Format`) do not depend on the
//! sampler. Invariant: no `unsafe`, no knowledge of the virtual machine; text that a profiled program chose (names of
//! methods, threads, files) is escaped wherever it is written. Heap snapshots ([`heap`]) are graphs, not profiles;
//! their files are written in the same way. Left out: sampling.

mod bundle;
pub mod call_tree;
pub mod diff;
pub mod files;
mod firefox;
mod folded;
mod format;
pub mod heap;
mod html;
pub mod json;
pub mod mlpd;
pub mod model;
mod names;
mod pprof;
mod sources;
mod speedscope;
mod svg;
pub mod table;

pub use call_tree::CallTree;
pub use format::{Format, READ_FORMATS, UnknownFormat, read, read_named, write};
pub use model::{Frame, Function, FunctionKind, Profile, ProfileBuilder, Sample, ThreadInfo, Unit, Wait};
