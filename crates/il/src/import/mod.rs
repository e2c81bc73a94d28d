//! The importer: CIL → IR. ECMA-335 Partition III.
//!
//! One `Importer` imports one method; inlined callees and filters are imported by the same code with another `Scope`
//! (and, for filters, another function under construction). Each reachable block is imported once, lowest offset first.
//!
//! Invariants: CIL is not verified, so the importer's own safety does not rely on its validity; an error in one instruction
//! (missing members, bad tokens) becomes code that throws at that place; an error that makes the body meaningless (stack
//! underflow, bad opcodes) is `InvalidProgram` for the method. Left out: optimisation after import (`opt`).

mod arithmetic;
mod arrays;
mod blocks;
mod builder;
mod call_sites;
mod calls;
pub(crate) mod class_init;
mod comparers;
mod delegates;
mod dispatch;
mod exceptions;
mod fields;
mod filters;
mod inline;
mod intrinsic_table;
mod intrinsics;
mod kinds;
mod library_loops;
mod memory;
mod new_objects;
mod objects;
mod operand_kinds;
mod prologue;
mod scan;
mod scope;
mod stack;
mod tail_calls;
mod type_tests;
mod typed_references;
mod varargs;
mod vars;
mod vectors;

use crate::ir::{Function, LocalId, MemType, ValueId};
pub(crate) use kinds::mem_type as memory_type;

use builder::FnBuilder;
use kinds::{call_sig, this_type};
use rustc_hash::{FxHashMap, FxHashSet};
use saki_types::{LoadError, LoadErrorKind, LoadResult, Method, Ty};
use scope::Scope;

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

    /// The Rust function that replaces this method's loop, if there is one. Called only with `ImportOptions::vectors`.
    fn library_loop(&self, _method: &'static Method) -> Option<LibraryLoop> {
        None
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

/// State of one import; see the module header.
struct Importer<'e> {
    env: &'e dyn ImportEnv,
    options: &'e ImportOptions,
    /// The outermost method.
    method: &'static Method,
    b: FnBuilder,
    s: Box<Scope>,
    /// While a filter is imported: the function that contains it.
    parent: Option<Box<FnBuilder>>,
    /// Load errors that the emitted code throws.
    deferred: Vec<LoadError>,
    /// Locals of small integer types: their values are always in range.
    narrow_locals: FxHashMap<LocalId, MemType>,
    /// Calls whose result is of a small integer type, with its range.
    narrow_calls: FxHashMap<ValueId, (i32, i32)>,
    /// Locals of joins whose type was widened after a predecessor had written them.
    widened_joins: Vec<LocalId>,
    /// Types whose constructors ran earlier in the current block, or in the prologue.
    initialised_here: Vec<Ty>,
    initialised_at_entry: Vec<Ty>,
    /// Unexposed reference locals known, in the current block, to be non-null, with their exact type if that is known.
    known_locals: FxHashMap<LocalId, Option<Ty>>,
    /// Struct temps (including copies for callees) that are free again because their last call has been emitted, with their types.
    free_temps: Vec<(Ty, LocalId)>,
    /// Temps that hold arguments of the call being made.
    argument_temps: Vec<(Ty, LocalId)>,
    /// Methods being inlined, outermost first.
    inlining: Vec<&'static Method>,
    /// Methods found not to be inlinable at a limit of bytes.
    not_inlinable: FxHashSet<(&'static Method, usize)>,
    /// Parameter that holds the address of the variable arguments.
    arg_block: Option<LocalId>,
    /// CIL bytes that may still be inlined.
    inline_budget_bytes: u32,
    has_loops: bool,
    has_calls: bool,
}

/// Translates the body of `method`.
///
/// # Errors
/// `InvalidProgram` for a body without meaning; the errors of loading the signature, the locals' types or a catch type.
/// `NotSupported` when the method has no CIL body.
pub fn import(method: &'static Method, options: &ImportOptions, env: &dyn ImportEnv) -> LoadResult<Box<Function>> {
    let sig = method.sig()?;
    let Some(body) = method.body()? else {
        let name = method.full_name();
        return Err(LoadError::new(LoadErrorKind::NotSupported, format!("{name} has no CIL body"), name));
    };
    // The full name of a dynamic method says little more than its own name, and making it takes as long as importing some instructions.
    let name = if method.is_dynamic() { method.name.into() } else { method.full_name().into() };
    let ir_sig = prologue::own_signature(method, call_sig(sig, this_type(method))?);
    let mut importer = Importer {
        env,
        options,
        method,
        b: FnBuilder::new(Some(method), name, ir_sig, false),
        s: Scope::new(method, sig, body)?,
        parent: None,
        deferred: Vec::new(),
        narrow_locals: FxHashMap::default(),
        narrow_calls: FxHashMap::default(),
        widened_joins: Vec::new(),
        initialised_here: Vec::new(),
        initialised_at_entry: Vec::new(),
        known_locals: FxHashMap::default(),
        free_temps: Vec::new(),
        argument_temps: Vec::new(),
        inlining: vec![method],
        not_inlinable: FxHashSet::default(),
        arg_block: None,
        inline_budget_bytes: inline::BUDGET_BYTES,
        has_loops: false,
        has_calls: false,
    };
    importer.import_method()?;
    let Importer { b, s, deferred, .. } = importer;
    s.recycle();
    let mut function = b.f;
    function.deferred_errors = deferred;
    crate::opt::run(&mut function, options);
    Ok(function)
}
