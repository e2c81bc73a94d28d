//! IR to Cranelift IR, one function at a time.
//!
//! Blocks are translated in reverse postorder, so that a value's definition is translated before its uses. Locals whose
//! address is not taken become Cranelift variables, the others stack slots. Values are kept as Cranelift values of the
//! machine type (`signatures::machine_type`); loads extend narrow memory types.
//!
//! | level | files | knows |
//! |---|---|---|
//! | walk | `translate` | the IR function; each instruction's family |
//! | families | `arith`, `memory`, `calls`, … | the instructions of one family; `barriers` is shared by `memory` and `atomics` |
//! | context | `context` (`Lowering`) | operands, locals, facts, regions; calls and checks that may throw |
//! | machine | `clif_builder` (`ClifBuilder`) | Cranelift's builder, symbols, stack slots, calls that do not throw |
//!
//! Invariant: a level names lower ones only, and no family names another.
//!
//! Invariant: no recursion over the IR; code that can throw goes through `call` or `check` of the context, which know
//! the region.

mod alloc;
mod arith;
mod atomics;
mod barriers;
mod calls;
mod casts;
mod clif_builder;
mod context;
mod control;
mod conv;
mod delegates;
mod failure;
mod handles;
mod memory;
mod monitors;
mod native;
mod native_transition;
mod parent_frame;
mod ranges;
mod thread_statics;
mod translate;
mod vectors;

use crate::cfg::ControlFlow;
use crate::error::Lowered;
use crate::options::CompilerOptions;
use crate::signatures;
use crate::symbols::SymbolTable;
use clif_builder::ClifBuilder;
use context::Lowering;
use cranelift_codegen::ir as clif;
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_frontend::FunctionBuilderContext;
use saki_il::ir::Function;

pub(crate) use calls::poll_stub;
pub(crate) use parent_frame::{INDIRECT_KEY, ParentFrame};

/// Translates `func` into `target`, whose signature is set here too.
///
/// # Errors
/// `InvalidIr`, `Load`.
pub(crate) fn lower(
    func: &Function,
    target: &mut clif::Function,
    builder_context: &mut FunctionBuilderContext,
    symbols: &mut SymbolTable,
    isa: &OwnedTargetIsa,
    options: &CompilerOptions,
    parent: Option<&ParentFrame>,
) -> Lowered {
    let flow = ControlFlow::compute(func)?;
    let is_method = !func.is_filter && !func.is_continuation;
    let has_this = func.sig.has_this || is_method && func.method.is_some_and(|method| !method.is_static());
    target.signature = signatures::managed(&func.sig, has_this, CallConv::Tail);
    let clif = ClifBuilder::new(target, builder_context, symbols, isa, options);
    let mut cx = Lowering::new(func, &flow, clif, parent);
    translate::function(&mut cx, has_this)?;
    cx.finish();
    Ok(())
}
