//! What a filter knows of its method's frame. The filter is a function of its own that is compiled after the method.

use rustc_hash::FxHashMap;

/// Frame layout of a method with filters: the slots of its locals.
#[derive(Default, Debug)]
pub(crate) struct ParentFrame {
    /// By local number: offset from FP, and whether the slot holds a pointer to the local.
    pub slots: FxHashMap<u32, (i32, bool)>,
}

/// Key bit of slots that hold a pointer to a struct parameter.
pub(crate) const INDIRECT_KEY: u64 = 1 << 32;
