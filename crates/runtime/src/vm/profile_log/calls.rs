//! Calls: methods compiled with a probe at their begin and one at each end, and frames that an exception leaves.
//!
//! With probes nothing is inlined, so every call appears in the log. A tail call ends the caller before it begins the
//! callee. Left out: methods that were compiled before the probes were asked for, and methods whose bodies the runtime
//! supplies (delegates' `Invoke`, accessors of arrays).

use super::callspec::CallSpec;
use super::events::method_of;
use super::names::{Part, part_of};
use super::{LogEvents, log_of, now_ns};
use crate::thread::CurrentThread;
use saki_abi::HelperId;
use saki_code::CodeKind;
use saki_il::ir::{BinOp, CallSig, CallTarget, Function, Inst, IrType, Op, Symbol, Terminator, ValueId};
use saki_profile::mlpd::event;
use saki_thread::ManagedThread;
use saki_types::Method;
use saki_unwind::Frame;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// The methods that get probes; none if this is not set.
static PROBES: OnceLock<CallSpec> = OnceLock::new();

pub(super) fn compile_probes(spec: &CallSpec) {
    let _ = PROBES.set(spec.clone());
}

/// Whether code is compiled with probes, which other runs cannot use.
pub fn are_probed() -> bool {
    PROBES.get().is_some()
}

/// The part of the method that has probes, if any.
fn probed_part(method: &'static Method) -> Option<Part> {
    let spec = PROBES.get()?;
    let part = match method.body() {
        Ok(Some(_)) => Part::Body,
        _ if method.is_pinvoke() => Part::ToNative,
        _ => return None,
    };
    spec.includes(method).then_some(part)
}

/// Adds probes to code of `method`, if its calls are recorded.
pub(crate) fn add_probes(method: &'static Method, function: &mut Function) {
    let Some(part) = probed_part(method) else { return };
    for index in 0..function.blocks.len() {
        let is_end = matches!(function.blocks[index].terminator, Terminator::Ret(_) | Terminator::TailCall { .. });
        if is_end {
            let at = function.blocks[index].terminator_il_offset;
            let probe = probe(function, method, part, HelperId::ProfileLeave, at);
            function.blocks[index].insts.extend(probe);
        }
    }
    let probe = probe(function, method, part, HelperId::ProfileEnter, 0);
    function.blocks[0].insts.splice(0..0, probe);
}

fn probe(function: &mut Function, method: &'static Method, part: Part, helper: HelperId, at: u32) -> Vec<ValueId> {
    let mut insts = Vec::new();
    let mut add = |op, ty| {
        let value = ValueId(function.insts.len() as u32);
        function.insts.push(Inst { op, ty, il_offset: at });
        insts.push(value);
        value
    };
    let mut argument = add(Op::SymbolAddr(Symbol::MethodHandle(method)), IrType::I64);
    if part != Part::Body {
        let tag = add(Op::ConstI64(part as i64), IrType::I64);
        argument = add(Op::Bin(BinOp::Or, argument, tag), IrType::I64);
    }
    let sig = CallSig { has_this: false, params: vec![IrType::I64], ret: None };
    let call =
        Op::Call { target: CallTarget::Helper(helper), sig: Box::new(sig), args: vec![argument], struct_result: None };
    add(call, IrType::Void);
    insts
}

/// A probe at the begin of a method, or at an end.
///
/// # Safety
/// `tagged` is the address of a method, with a part in its low bits.
pub(crate) unsafe fn probed(t: CurrentThread, tagged: usize, is_end: bool) {
    let (address, part) = part_of(tagged);
    let what = if is_end { event::LEAVE } else { event::ENTER };
    // SAFETY: the probe was compiled with the address of the method that it belongs to, whose record outlives its code.
    write(t.managed(), unsafe { &*(address as *const Method) }, part, what);
}

fn write(thread: &ManagedThread, method: &'static Method, part: Part, what: u8) {
    let Some(log) = log_of(LogEvents::CALLS) else { return };
    let id = log.names.method(&log.writer, method, part);
    // Relaxed: a change that is seen late makes the log a little longer or shorter.
    let max_depth = log.max_call_depth.load(Ordering::Relaxed);
    log.write(thread, |log| {
        if what == event::ENTER {
            log.call_depth += 1;
        }
        if log.call_depth <= max_depth {
            log.buffer.event(what, now_ns()).method(id);
        }
        if what != event::ENTER {
            log.call_depth = log.call_depth.saturating_sub(1);
        }
    });
}

/// Reports that an exception leaves the frame.
#[cold]
pub(crate) fn left_by_exception(thread: &ManagedThread, frame: &Frame) {
    let Some(method) = method_of(frame) else { return };
    let is_body = frame.code().is_some_and(|info| matches!(info.kind, CodeKind::Method | CodeKind::NativeThunk));
    if let Some(part) = probed_part(method).filter(|_| is_body) {
        write(thread, method, part, event::LEAVE_BY_EXCEPTION);
    }
}

/// Whether calls are being written.
#[inline]
pub fn are_written() -> bool {
    super::is_on(LogEvents::CALLS)
}

/// Reports that native code calls the method through a delegate, or (`has_ended`) that the call is over.
pub fn called_by_native(t: CurrentThread, method: &'static Method, has_ended: bool) {
    if PROBES.get().is_some_and(|spec| spec.includes(method)) {
        write(t.managed(), method, Part::FromNative, if has_ended { event::LEAVE } else { event::ENTER });
    }
}
