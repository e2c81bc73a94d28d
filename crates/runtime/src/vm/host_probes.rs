//! Probes at the begin and the ends of methods for a host's profiler, which says for each method which it gets.
//!
//! They are those of a trace (`call_trace`), told apart by a bit. With a context, a probe stores the arguments, and at
//! an end the result behind them, in rooms in the frame, one for each: a word; the address of a struct.
//! Invariant: code with probes is not kept in the code cache, and nothing is inlined in it. Left out: methods that were
//! compiled before a profiler asked, and bodies of the runtime's own.

use crate::call_trace::{self, NO_RESULT, Probe};
use crate::host_events::{HostEvent, HostEventKind, is_wanted, tell_if_wanted};
use crate::profile_log::events::method_of;
use crate::references::Obj;
use crate::upper_layers::host_events;
use saki_abi::HelperId;
use saki_il::ir::{CallTarget, Function, IrType, Op, Symbol, Terminator};
use saki_types::Method;
use saki_unwind::Frame;

/// Bytes from one argument's room to the next.
pub const ROOM_BYTES: usize = call_trace::ROOM_BYTES;

/// The probes of a method, as `MonoProfilerCallInstrumentationFlags` numbers them.
pub mod probes {
    /// At its begin.
    pub const ENTER: u32 = 1 << 1;
    /// With the arguments.
    pub const ENTER_CONTEXT: u32 = 1 << 2;
    /// Where it returns.
    pub const LEAVE: u32 = 1 << 3;
    /// With arguments and result.
    pub const LEAVE_CONTEXT: u32 = 1 << 4;
    /// Where it ends by a call of another method.
    pub const TAIL_CALL: u32 = 1 << 5;
    /// Where an exception leaves it.
    pub const EXCEPTION_LEAVE: u32 = 1 << 6;
}

/// In the low bits of a method's address: the probe has a context.
const CONTEXT: usize = 1;
/// In the low bits of a method's address: the probe is a host's, not a trace's.
const HOST: usize = 4;
const TAGS: usize = CONTEXT | NO_RESULT | HOST;
const _: () = assert!(align_of::<Method>() > TAGS, "the tags fit under a method's address");

/// Whether a probe is a host's.
pub(crate) fn is_of_host(tagged: usize) -> bool {
    tagged & HOST != 0
}

/// Adds to code of `method` the probes that the host wants.
pub(crate) fn add_probes(method: &'static Method, function: &mut Function) {
    if !is_wanted(HostEventKind::Probes) || !matches!(method.body(), Ok(Some(_))) {
        return;
    }
    let wanted = (host_events().probes)(method);
    let tag_of = |context: u32| if wanted & context != 0 { HOST | CONTEXT } else { HOST };
    for index in 0..function.blocks.len() {
        let at = function.blocks[index].terminator_il_offset;
        let insts = match &function.blocks[index].terminator {
            Terminator::Ret(result) if wanted & probes::LEAVE != 0 => {
                let result = result.filter(|_| function.sig.ret.is_some());
                let mut probe = Probe::new(function, at);
                let mut words = Vec::new();
                if wanted & probes::LEAVE_CONTEXT != 0 {
                    words = probe.arguments();
                    words.extend(result);
                }
                probe.finish(method, tag_of(probes::LEAVE_CONTEXT), HelperId::TraceLeave, &words)
            }
            Terminator::TailCall { target, .. } if wanted & probes::TAIL_CALL != 0 => {
                let called = match target {
                    CallTarget::Direct(called) | CallTarget::InternalCall(called) => Some(*called),
                    _ => None,
                };
                let mut probe = Probe::new(function, at);
                let word = match called {
                    Some(called) => probe.add(Op::SymbolAddr(Symbol::MethodHandle(called)), IrType::I64),
                    None => probe.add(Op::ConstI64(0), IrType::I64),
                };
                probe.finish(method, HOST | NO_RESULT, HelperId::TraceLeave, &[word])
            }
            _ => continue,
        };
        function.blocks[index].insts.extend(insts);
    }
    if wanted & probes::ENTER != 0 {
        let mut probe = Probe::new(function, 0);
        let words = if wanted & probes::ENTER_CONTEXT != 0 { probe.arguments() } else { Vec::new() };
        let probe = probe.finish(method, tag_of(probes::ENTER_CONTEXT), HelperId::TraceEnter, &words);
        function.blocks[0].insts.splice(0..0, probe);
    }
}

/// A probe is reached.
///
/// # Safety
/// `tagged` is the address of a method, with some of `TAGS` in its low bits, and `words` that of the rooms that a probe
/// of it has filled.
pub(crate) unsafe fn reached(tagged: usize, words: usize, is_end: bool) {
    // SAFETY: the address that the probe was compiled with; the running code keeps its method.
    let method = unsafe { &*((tagged & !TAGS) as *const Method) };
    let words_or_none = if tagged & CONTEXT != 0 { words } else { 0 };
    tell_if_wanted(match (is_end, tagged & NO_RESULT != 0) {
        (false, _) => HostEvent::MethodEntered(method, words_or_none),
        (true, false) => HostEvent::MethodLeft(method, words_or_none),
        (true, true) => {
            // SAFETY: the probe has stored the address of a method there, or 0; its code names that method.
            let called = unsafe { (words as *const *const Method).read().as_ref() };
            HostEvent::MethodTailCalls(method, called)
        }
    });
}

/// An exception leaves the frame.
#[cold]
pub(crate) fn left_by_exception(frame: &Frame, exception: Option<Obj>) {
    let is_body = frame.code().is_some_and(|info| info.kind == saki_code::CodeKind::Method);
    let Some(method) = method_of(frame).filter(|method| is_body && matches!(method.body(), Ok(Some(_)))) else {
        return;
    };
    if (host_events().probes)(method) & probes::EXCEPTION_LEAVE != 0 {
        tell_if_wanted(HostEvent::MethodLeftByException(method, exception));
    }
}
