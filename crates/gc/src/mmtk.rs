//! The binding to MMTk: the only module that names it.
//!
//! Plan: StickyImmix with a non-moving nursery. An old object is one whose mark bit survived (sticky marks); a nursery
//! collection marks what is young and reached and moves nothing; a full collection also evacuates fragmented blocks,
//! around the objects that stack words pin. See Blackburn & McKinley, "Immix" (PLDI 2008) and Demers et al., "Combining
//! generational and conservative garbage collection" (POPL 1990).
//!
//! The files from the bottom up: `layout`, `addresses`, `bits` and `instance` (with `huge_pages`, `by_need`,
//! `residence` and `zeroing`, which give it memory, and `thread_pointers`) say where the heap lies and what is known
//! about an address; `mutator` allocates; `in_place`, `object_model` and `chase` trace, `trim` gives memory back;
//! `active_plan` lists the carriers; `weak_tracer`, `scanning`, `clock`, `trigger` and `collection` are the steps of a
//! collection, `fork` is what happens to them when the process forks; `binding` puts all this together.
//!
//! Invariant: every type of MMTk stays inside; the rest of the crate sees addresses and `ObjRef`s. One heap per
//! process.
//! Left out: MMTk's finalizers and reference types (ours are `finalize` and `weak`).

mod active_plan;
mod addresses;
mod binding;
mod bits;
mod by_need;
mod chase;
mod clock;
mod collection;
mod fork;
mod huge_pages;
mod in_place;
mod instance;
mod layout;
mod mutator;
mod object_model;
mod residence;
mod scanning;
mod thread_pointers;
mod trigger;
mod trim;
mod weak_tracer;
mod zeroing;

pub(crate) use active_plan::{bind_thread, for_each_finalizable_buffer, hook_carriers};
pub(crate) use addresses::{HEAP_START, in_heap_range};
pub(crate) use binding::init;
pub(crate) use bits::{has_mark_bit, is_unlogged};
pub(crate) use collection::{collect_from_outside, report_from_now_on};
pub(crate) use fork::{end_workers, hook as hook_forks};
pub(crate) use instance::{find_object, for_each_object, is_heap_address, options, policy, used_bytes};
pub(crate) use layout::{LARGE_OBJECT_BYTES, LAYOUT};
pub(crate) use mutator::{
    allocate, allocate_in_place, allocated_bytes, allocated_bytes_of_all, collect, heap_of, is_in_buffer,
    is_in_new_object, log_object, push_finalizable, stress_safepoint,
};
pub(crate) use object_model::{is_old, prefetch_fate};

// Named for its feature `release_max_level_off`, which removes MMTk's logging from its inner loops.
use log as _;
