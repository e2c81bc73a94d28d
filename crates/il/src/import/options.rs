//! What the user of the importer decides and knows: options, and questions to the running machine.

use saki_types::{Method, Ty};

/// Options of an import.
#[derive(Clone, Copy, Debug)]
pub struct ImportOptions {
    pub inline: bool,
    pub eliminate_bounds_checks: bool,
    /// Safepoints at method entries and back edges.
    pub emit_polls: bool,
    /// Keep struct and address-exposed locals in variables where possible.
    pub promote_locals: bool,
    /// Import operations of vector types in line, by the processor's vector instructions.
    pub vectors: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        ImportOptions {
            inline: true,
            eliminate_bounds_checks: true,
            emit_polls: true,
            promote_locals: true,
            vectors: true,
        }
    }
}

/// Questions of the importer to the running VM.
pub trait ImportEnv {
    /// Whether the class constructor has finished (or there is none), so that accesses need no check.
    fn is_initialised(&self, ty: Ty) -> bool;

    /// Whether this method's body may be inlined into callers (a profiler or a detour may forbid it).
    fn may_inline(&self, _method: &'static Method) -> bool {
        true
    }

    /// Whether calls of this method may be replaced by the importer's built-in code.
    fn may_use_intrinsic(&self, _method: &'static Method) -> bool {
        true
    }

    /// The Rust function that replaces this method's loop, if there is one. Without `ImportOptions::vectors` only those that correct the body count.
    fn library_loop(&self, _method: &'static Method) -> Option<LibraryLoop> {
        None
    }

    /// The CIL offsets at which statements of the method begin, in ascending order, if code is to tell when it reaches them
    /// (`HelperId::CoverStatement`). Called only without `ImportOptions::inline`.
    fn statements(&self, _method: &'static Method) -> Vec<u32> {
        Vec::new()
    }
}

/// Returned by a function of a `LibraryLoop` to decline, if its result is not a reference.
pub const DECLINED: i32 = i32::MIN;

/// The least number of elements for which calling the function pays: for fewer, the method's CIL is faster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Least {
    /// Index of the argument with the number of elements, `this` counted.
    pub argument: u32,
    pub count: u32,
}

/// How a Rust function replaces a method of the class library (`library_loops`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LibraryLoop {
    /// The function may decline, by returning `DECLINED`, or null (neither of which the method itself ever returns); then the body runs. If the method has no
    /// result, such a function returns an int32.
    pub may_decline: bool,
    pub least: Option<Least>,
    /// The function is not there for its speed: it does as .NET does where the body does not, so it also runs without vectors.
    pub corrects: bool,
}

impl LibraryLoop {
    /// Whether the function always does all of the method's work.
    pub fn is_whole(self) -> bool {
        !self.may_decline && self.least.is_none()
    }
}

/// An environment in which no class is initialised yet.
pub struct NothingInitialised;

impl ImportEnv for NothingInitialised {
    fn is_initialised(&self, _ty: Ty) -> bool {
        false
    }
}
