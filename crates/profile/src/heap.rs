//! Heap snapshots: which objects live, what refers to what, and why they live.
//!
//! [`HeapGraph`] is the snapshot, [`GraphBuilder`] makes one from addresses, [`Analysis`] computes retained sizes,
//! [`paths`] finds the shortest paths from roots, `file` is the format. Memory: 12 bytes for each object and 4 for each
//! reference, and a bit for each 8 bytes of the heap while a graph is made; an analysis takes some 60 bytes more for
//! each object and 8 for each reference.
//!
//! Invariant: an object's number is its rank by address, so numbers of one snapshot say nothing of another. Left out:
//! contents of objects.

pub mod analysis;
mod builder;
pub mod file;
mod graph;
pub mod html;
pub mod paths;
pub mod report;

pub use analysis::{Analysis, TypeRow};
pub use builder::{GraphBuilder, TooLarge};
pub use graph::{DOMAIN_MARK, Edge, HeapGraph, HeapType, Slots};
