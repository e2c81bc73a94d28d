//! The importer: CIL → IR. ECMA-335 Partition III.
//!
//! One `Importer` imports one method; inlined callees and filters are imported by the same code with another `Scope`
//! (and, for filters, another function under construction). Each reachable block is imported once, lowest offset first.
//! From the bottom up: `builder` appends to the function; the `Emitter` has the state of the code being emitted, and
//! each family of instructions is a file of its methods; `dispatch` chooses among the families; `blocks`, `inline` and
//! `filters`, methods of the `Importer`, go over bodies. A family that has more to do than to emit returns a
//! `NextStep`.
//!
//! Invariants: CIL is not verified, so the importer's own safety does not rely on its validity; an error in one
//! instruction (missing members, bad tokens) becomes code that throws at that place; an error that makes the body
//! meaningless (stack underflow, bad opcodes) is `InvalidProgram` for the method. Left out: optimisation after import
//! (`opt`).

mod arithmetic;
mod arrays;
mod blocks;
mod builder;
mod call_sites;
mod callees;
mod calls;
pub(crate) mod class_init;
mod comparers;
mod continuation;
mod delegates;
mod dispatch;
mod edges;
mod emitter;
mod evaluation_stack;
mod exceptions;
pub(crate) mod facts;
mod fields;
mod filters;
mod guards;
mod importer;
mod inline;
mod intrinsic_table;
mod intrinsics;
pub(crate) mod kinds;
mod library_loops;
mod memory;
mod native_calls;
pub(crate) mod new_objects;
mod next_step;
mod objects;
mod operand_kinds;
mod operands;
pub(crate) mod options;
mod positions;
mod profile;
mod prologue;
mod ranges;
mod returns;
mod scan;
mod scope;
mod stack;
mod state;
mod tail_calls;
mod type_tests;
mod typed_references;
mod varargs;
mod vars;
mod vectors;

use crate::ir::{CallSig, Function, IrType};
use builder::FnBuilder;
use emitter::{CallTemps, Emitter, Knowledge};
use facts::Noting;
pub use facts::{Facts, NothingInitialised};
use importer::Importer;
use kinds::{call_sig, this_type};
pub use options::{Continuation, DECLINED, ImportOptions, Least, LibraryLoop};
use rustc_hash::FxHashMap;
use saki_types::{LoadError, LoadErrorKind, LoadResult, Method};
use scope::Scope;
pub use vectors::is_vector_operation;

/// Translates the body of `method`.
///
/// # Errors
/// `InvalidProgram` for a body without meaning; the errors of loading the signature, the locals' types or a catch type.
/// `NotSupported` when the method has no CIL body.
pub fn import(method: &'static Method, options: &ImportOptions, facts: &dyn Facts) -> LoadResult<Box<Function>> {
    import_at(method, options, facts, None)
}

/// Translates the part of the body that a frame of the method has before it at a loop: a function that takes the
/// frame's pointer (`Function::is_continuation`).
///
/// # Errors
/// Those of `import`.
pub fn import_continuation(
    method: &'static Method,
    options: &ImportOptions,
    facts: &dyn Facts,
    at: &Continuation,
) -> LoadResult<Box<Function>> {
    import_at(method, options, facts, Some(at))
}

fn import_at(
    method: &'static Method,
    options: &ImportOptions,
    facts: &dyn Facts,
    continuation: Option<&Continuation>,
) -> LoadResult<Box<Function>> {
    let sig = method.sig()?;
    let Some(body) = method.body()? else {
        let name = method.full_name();
        return Err(LoadError::new(LoadErrorKind::NotSupported, format!("{name} has no CIL body"), name));
    };
    // Making the full name takes as long as importing some instructions, and hardly anyone asks for it
    // (`Function::title`). That of a dynamic method says little more than its own name.
    let name = if method.is_dynamic() { method.name.into() } else { "".into() };
    let mut ir_sig = prologue::own_signature(method, call_sig(sig, this_type(method))?);
    if continuation.is_some() {
        ir_sig = CallSig { has_this: false, params: vec![IrType::I64], ret: ir_sig.ret };
    }
    let facts = Noting(facts);
    let mut scope = Scope::new(method, sig, body, facts)?;
    if options.inline {
        scope.block_counts = facts.0.block_counts(method);
    }
    let emit = Emitter {
        facts,
        options,
        method,
        b: FnBuilder::new(Some(method), name, ir_sig, false),
        s: scope,
        parent: None,
        deferred: Vec::new(),
        known: Knowledge::default(),
        widened_joins: Vec::new(),
        temps: CallTemps::default(),
        arg_block: None,
        has_loops: false,
        has_calls: false,
        makes_pointers: false,
        counts_loops: false,
        statements: if options.inline { Vec::new() } else { facts.0.statements(method) },
    };
    let mut importer = Importer {
        emit,
        inlining: vec![method],
        not_inlinable: FxHashMap::default(),
        is_guessed: false,
        inline_budget_bytes: inline::BUDGET_BYTES,
    };
    let begin = match continuation {
        Some(at) => importer.emit.begin_continuation(at)?,
        None => importer.emit.begin_method()?,
    };
    if let Some(begin) = begin {
        importer.import_from(begin)?;
        importer.emit.finish_finally_handlers();
        importer.import_filters()?;
        importer.emit.end_method();
    }
    let Emitter { b, s, deferred, .. } = importer.emit;
    s.recycle();
    let mut function = b.f;
    function.deferred_errors = deferred;
    crate::opt::run(&mut function, options);
    Ok(function)
}
