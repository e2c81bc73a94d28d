//! Code that belongs to no method: the helpers' thunks, the thunks by which Rust calls managed code, and the C entries of delegates.

use super::compiler::compiler;
use crate::code_cache::{self, Identity, Lookup};
use crate::entries::code_error;
use crate::upcalls::upcalls;
use saki_abi::{HelperId, Reloc};
use saki_code::{CodeKind, NewBody, PlacedTarget};
use saki_il::ir::{CallSig, IrType};
use saki_jit::{CompiledCode, Compiler, LibCall, RelocTarget};
use saki_types::{LoadError, LoadErrorKind, LoadResult};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The thunks' addresses by number; 0 = not compiled.
static HELPER_THUNKS: [AtomicUsize; HelperId::ALL.len()] = [const { AtomicUsize::new(0) }; HelperId::ALL.len()];

/// Address of a helper's thunk, compiled on first use.
pub(super) fn helper_thunk(id: HelperId) -> LoadResult<usize> {
    let place = &HELPER_THUNKS[id as usize];
    // Acquire: the code is visible before its address.
    match place.load(Ordering::Acquire) {
        0 => {}
        address => return Ok(address),
    }
    let compiled = thunk_code(Some(Identity::Helper(id)), CodeKind::HelperThunk, |c| c.compile_helper_thunk(id))?;
    let address = place_thunk(&compiled, CodeKind::HelperThunk)?;
    // Release: publishes the code. If two threads compile a thunk, either result will do.
    place.store(address, Ordering::Release);
    Ok(address)
}

/// The relocation, with its target resolved.
pub(super) fn with_target(reloc: &Reloc<RelocTarget>, target: PlacedTarget) -> Reloc<PlacedTarget> {
    Reloc { offset: reloc.offset, kind: reloc.kind, usage: reloc.usage, target, addend: reloc.addend }
}

/// The address of a target that is native code.
pub(super) fn native_address(target: RelocTarget) -> Option<usize> {
    match target {
        RelocTarget::Stub(stub) => Some(saki_code::stub_address(stub)),
        RelocTarget::HelperFunction(id) => Some(upcalls().helper_function(id)),
        RelocTarget::LibCall(LibCall::Memcpy) => Some(libc::memcpy as *const () as usize),
        RelocTarget::Symbol(_) | RelocTarget::CallbackDispatcher | RelocTarget::CallbackCookie => None,
    }
}

/// Compiles the thunk by which Rust calls managed code of this signature. `classes` has all facts about the signature that
/// the thunk depends on.
///
/// # Errors
/// `NotSupported` when the code region is full.
pub fn invoke_thunk(sig: &CallSig, classes: &[u8]) -> LoadResult<usize> {
    let compiled =
        thunk_code(Some(Identity::InvokeThunk(classes)), CodeKind::EntryThunk, |c| c.compile_invoke_thunk(sig))?;
    place_thunk(&compiled, CodeKind::EntryThunk)
}

/// Code that belongs to no method, from the cache or compiled.
fn thunk_code(
    identity: Option<Identity>,
    kind: CodeKind,
    compile: impl FnOnce(&Compiler) -> Result<CompiledCode, saki_jit::CompileError>,
) -> LoadResult<CompiledCode> {
    let slot = identity.and_then(code_cache::slot);
    if let Some(Lookup::Found(compiled, _)) = slot.map(|slot| slot.find()) {
        return Ok(compiled);
    }
    let compiled =
        compile(compiler()).map_err(|error| LoadError::new(LoadErrorKind::NotSupported, error.to_string(), ""))?;
    if let Some(slot) = slot {
        slot.keep(&compiled, kind, Vec::new());
    }
    Ok(compiled)
}

fn place_thunk(compiled: &CompiledCode, kind: CodeKind) -> LoadResult<usize> {
    place_thunk_with(compiled, kind, |_| None)
}

/// `extra` resolves the targets that only some thunks have.
fn place_thunk_with(
    compiled: &CompiledCode,
    kind: CodeKind,
    extra: impl Fn(RelocTarget) -> Option<usize>,
) -> LoadResult<usize> {
    let mut relocs = Vec::new();
    for reloc in &compiled.relocs {
        let Some(target) = extra(reloc.target).or_else(|| native_address(reloc.target)) else {
            saki_base::bug!("thunk {} names {:?}", compiled.name, reloc.target)
        };
        relocs.push(with_target(reloc, PlacedTarget::Address(target)));
    }
    let mut body = NewBody::new(kind, std::ptr::null(), compiled.name.clone());
    body.tables.frame_size_bytes = compiled.tables.frame_size_bytes;
    body.tables.spill_area = compiled.tables.spill_area;
    Ok(saki_code::place(compiled.bytes.clone(), compiled.alignment_bytes, &relocs, body).map_err(code_error)?.start)
}

/// Code of a C entry that is not placed yet.
pub type CallbackEntry = CompiledCode;

/// Compiles the C function that native code calls for delegates of this native signature; placed once per delegate.
///
/// # Errors
/// `NotSupported` with the compiler's message.
pub fn compile_callback_entry(sig: &CallSig) -> LoadResult<CompiledCode> {
    let compile = |c: &Compiler| c.compile_native_to_managed_thunk(sig);
    match scalar_classes(sig) {
        Some(classes) => thunk_code(Some(Identity::CallbackEntry(&classes)), CodeKind::NativeThunk, compile),
        None => thunk_code(None, CodeKind::NativeThunk, compile),
    }
}

/// One byte for each parameter and the result; None when there are structs, whose registers depend on their fields.
fn scalar_classes(sig: &CallSig) -> Option<Vec<u8>> {
    let class = |ty: &IrType| match ty {
        IrType::Void => Some(0),
        IrType::I32 => Some(1),
        IrType::F32 => Some(2),
        IrType::F64 => Some(3),
        IrType::I64 | IrType::Ref | IrType::ByRef => Some(4),
        IrType::V128 | IrType::Struct(_) | IrType::Block(_) => None,
    };
    sig.params.iter().chain([&sig.ret.unwrap_or(IrType::Void)]).map(class).collect()
}

/// Places a callback entry whose dispatcher `extern "C" fn(cookie, slots: *const u64, result: *mut u64)` is called with
/// `cookie`.
///
/// # Errors
/// `NotSupported` when the code region is full.
pub fn place_callback_entry(compiled: &CompiledCode, dispatcher: usize, cookie: usize) -> LoadResult<usize> {
    place_thunk_with(compiled, CodeKind::NativeThunk, |target| match target {
        RelocTarget::CallbackDispatcher => Some(dispatcher),
        RelocTarget::CallbackCookie => Some(cookie),
        _ => None,
    })
}
