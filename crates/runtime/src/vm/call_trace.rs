//! `--trace`: a line for each call and each return, with arguments and results, as Mono writes them; and for exceptions
//! that are asked for.
//!
//! Methods are compiled with a probe at their begin, which stores the arguments in the frame and passes their address,
//! and one at each end. As in the log of calls (`profile_log::calls`), nothing is inlined, and code with probes is not
//! kept in the code cache. SIGUSR2 switches the trace off and on.
//!
//! The number behind the time is the depth of the call, and the number in front of it the managed thread's, where Mono
//! writes the native one's: green threads share those. Left out: as in `profile_log::calls`; the wrapper through which
//! Mono calls Main; a line for a frame that an exception leaves, which Mono does not write either.

use crate::fields::ManagedField;
use crate::profile_log::callspec::CallSpec;
use crate::references::{Obj, Str};
use crate::stack_trace;
use crate::thread::CurrentThread;
use crate::{crash_report, type_objects};
use rustc_hash::FxHashMap;
use saki_abi::{HelperId, ObjRef};
use saki_base::locks::{Mutex, rank};
use saki_code::{CodeKind, PlacedClause};
use saki_il::ir::{
    AliasClass, BinOp, CallSig, CallTarget, Function, Inst, IrType, Local, LocalId, LocalKind, MemFlags, MemType,
    NullCheck, Op, Symbol, Terminator, ValueId,
};
use saki_metadata::ElementType;
use saki_os::FaultContext;
use saki_os::clock::Moment;
use saki_os::signal::{self, Disposition};
use saki_thread::ManagedThread;
use saki_types::{LibraryType, Method, Ty};
use saki_unwind::Frame;
use std::fmt::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is traced; nothing if it is not set.
static TRACE: OnceLock<Trace> = OnceLock::new();
/// Whether lines are written. Relaxed: a switch.
static IS_ENABLED: AtomicBool = AtomicBool::new(false);

/// In the low bits of a method's address: the code is the method's wrapper for a call of native code.
const TO_NATIVE: usize = 1;
/// In the low bits of a method's address: the probe has no result, since another method's takes its place (a tail
/// call).
pub(super) const NO_RESULT: usize = 2;
const TAGS: usize = TO_NATIVE | NO_RESULT;
/// Bytes that each argument takes in the frame: a word, which names structs by their addresses, and room for a vector
/// that comes in a register.
pub(super) const ROOM_BYTES: usize = 32;
/// Offset of a vector in its room.
const VECTOR_OFFSET: usize = 16;

static MESSAGE: ManagedField = ManagedField::new(LibraryType::Exception, "_message");

struct Trace {
    spec: CallSpec,
    started: Moment,
    /// The depth of calls by managed id of the thread.
    depths: Mutex<rank::CallDepths, FxHashMap<u32, i64>>,
}

/// Before the machine starts: has methods compiled with probes.
///
/// # Errors
/// The system's, for the handler of SIGUSR2.
pub(super) fn prepare(spec: &CallSpec) -> std::io::Result<()> {
    IS_ENABLED.store(!spec.is_disabled(), Ordering::Relaxed);
    let trace = Trace { spec: spec.clone(), started: Moment::now(), depths: Mutex::default() };
    let _ = TRACE.set(trace);
    signal::install(libc::SIGUSR2, switch)
}

/// The handler of SIGUSR2.
fn switch(_: &mut FaultContext) -> Disposition {
    IS_ENABLED.fetch_xor(true, Ordering::Relaxed);
    Disposition::Handled
}

/// Whether code is compiled for a trace, which other runs cannot use.
pub(crate) fn is_wanted() -> bool {
    TRACE.get().is_some()
}

fn enabled() -> Option<&'static Trace> {
    TRACE.get().filter(|_| IS_ENABLED.load(Ordering::Relaxed))
}

impl Trace {
    fn includes(&self, method: &Method, is_wrapper: bool) -> bool {
        match self.spec.decision(method, is_wrapper) {
            Some(is_wanted) => is_wanted,
            // As under Mono, wrappers are called what their methods are.
            None => self.spec.is_empty(),
        }
    }

    /// Changes the depth of a thread's calls; gives the depth that a line shows.
    fn count(&self, thread: u32, is_end: bool) -> i64 {
        let mut depths = self.depths.lock();
        let depth = depths.entry(thread).or_default();
        if is_end {
            *depth -= 1;
            return *depth;
        }
        *depth += 1;
        *depth - 1
    }

    fn write(&self, thread: u32, depth: i64, text: &str) {
        let seconds = self.started.elapsed().as_secs_f64();
        print(&format!("[0x{thread:x}: {seconds:.5} {depth}] {text}\n"));
    }
}

fn print(text: &str) {
    saki_base::messages::tell_beside_output(format_args!("{text}"));
}

/// Adds probes to code of `method`, if its calls are traced.
pub(crate) fn add_probes(method: &'static Method, function: &mut Function) {
    let Some(trace) = TRACE.get() else { return };
    let tag = match method.body() {
        Ok(Some(_)) => 0,
        _ if method.is_pinvoke() => TO_NATIVE,
        _ => return,
    };
    if !trace.includes(method, tag == TO_NATIVE) {
        return;
    }
    let result = function.sig.ret;
    for index in 0..function.blocks.len() {
        let (value, tag) = match function.blocks[index].terminator {
            Terminator::Ret(value) => (value, tag),
            Terminator::TailCall { .. } => (None, tag | NO_RESULT),
            _ => continue,
        };
        let at = function.blocks[index].terminator_il_offset;
        let words: Vec<ValueId> = value.filter(|_| result.is_some()).into_iter().collect();
        let probe = Probe::new(function, at).finish(method, tag, HelperId::TraceLeave, &words);
        function.blocks[index].insts.extend(probe);
    }
    let mut probe = Probe::new(function, 0);
    let words = probe.arguments();
    let probe = probe.finish(method, tag, HelperId::TraceEnter, &words);
    function.blocks[0].insts.splice(0..0, probe);
}

/// The instructions of one probe.
pub(super) struct Probe<'f> {
    function: &'f mut Function,
    insts: Vec<ValueId>,
    at: u32,
}

impl Probe<'_> {
    pub(super) fn new(function: &mut Function, at: u32) -> Probe<'_> {
        Probe { function, insts: Vec::new(), at }
    }

    pub(super) fn add(&mut self, op: Op, ty: IrType) -> ValueId {
        let value = ValueId(self.function.insts.len() as u32);
        self.function.insts.push(Inst { op, ty, il_offset: self.at });
        self.insts.push(value);
        value
    }

    /// The values of the parameters, which their locals hold at the begin. Structs are named by their addresses.
    pub(super) fn arguments(&mut self) -> Vec<ValueId> {
        let count = self.function.sig.params.len();
        let mut words = Vec::with_capacity(count);
        for index in 0..count as u32 {
            let place = self.function.locals.iter().position(|local| local.kind == LocalKind::Param(index));
            let Some(place) = place else {
                words.push(self.add(Op::ConstI64(0), IrType::I64));
                continue;
            };
            let (local, ty) = (LocalId(place as u32), self.function.locals[place].ty);
            words.push(match ty {
                IrType::Struct(_) | IrType::Block(_) => self.add(Op::LocalAddr(local), IrType::ByRef),
                ty => self.add(Op::LocalGet(local), ty),
            });
        }
        words
    }

    /// Stores the words and calls the helper.
    pub(super) fn finish(
        mut self,
        method: &'static Method,
        tag: usize,
        helper: HelperId,
        words: &[ValueId],
    ) -> Vec<ValueId> {
        let block = LocalId(self.function.locals.len() as u32);
        self.function.locals.push(Local {
            ty: IrType::Block((words.len().max(1) * ROOM_BYTES) as u32),
            kind: LocalKind::Normal,
            address_exposed: true,
            zero_init: false,
            pinned: false,
        });
        let addr = self.add(Op::LocalAddr(block), IrType::ByRef);
        let flags = MemFlags { null_check: NullCheck::None, alias: AliasClass::Any, volatile: false, unaligned: false };
        for (index, &value) in words.iter().enumerate() {
            let offset = (index * ROOM_BYTES) as i32;
            let store = |probe: &mut Self, offset, value, mem| {
                probe.add(Op::Store { addr, offset, value, mem, flags }, IrType::Void);
            };
            match self.function.insts[value.0 as usize].ty {
                IrType::I32 => store(&mut self, offset, value, MemType::I32),
                IrType::F32 => store(&mut self, offset, value, MemType::F32),
                IrType::F64 => store(&mut self, offset, value, MemType::F64),
                IrType::V128 => {
                    let place = offset + VECTOR_OFFSET as i32;
                    store(&mut self, place, value, MemType::V128);
                    let place = self.add(Op::ConstI64(place.into()), IrType::I64);
                    let place = self.add(Op::Bin(BinOp::Add, addr, place), IrType::I64);
                    store(&mut self, offset, place, MemType::I64);
                }
                _ => store(&mut self, offset, value, MemType::I64),
            }
        }
        let mut tagged = self.add(Op::SymbolAddr(Symbol::MethodHandle(method)), IrType::I64);
        if tag != 0 {
            let tag = self.add(Op::ConstI64(tag as i64), IrType::I64);
            tagged = self.add(Op::Bin(BinOp::Or, tagged, tag), IrType::I64);
        }
        let sig = CallSig { has_this: false, params: vec![IrType::I64, IrType::I64], ret: None };
        let target = CallTarget::Helper(helper);
        self.add(Op::Call { target, sig: Box::new(sig), args: vec![tagged, addr], struct_result: None }, IrType::Void);
        self.insts
    }
}

/// A probe at the begin of a method, or at an end.
///
/// # Safety
/// `tagged` is the address of a method, with some of `TAGS` in its low bits, and `words` that of the words that a probe
/// of it has stored.
pub(crate) unsafe fn traced(t: CurrentThread, tagged: usize, words: usize, is_end: bool) {
    let Some(trace) = enabled() else { return };
    // SAFETY: methods are aligned to more than the tags, so this is the address that the probe was compiled with; the
    // running code keeps its method.
    let method = unsafe { &*((tagged & !TAGS) as *const Method) };
    let mut text = String::from(if is_end { "LEAVE: " } else { "ENTER: " });
    if tagged & TO_NATIVE != 0 {
        text.push_str("(wrapper managed-to-native) ");
    }
    text.push_str(&method.tool_name());
    let depth = trace.count(t.id(), is_end);
    match is_end {
        true if tagged & NO_RESULT != 0 => {}
        // SAFETY: `words` is the place of this probe in its frame, where a probe at an end that has a result has stored
        // one word.
        true => unsafe { write_result(&mut text, method, words) },
        // SAFETY: the same place, where a probe at the begin has stored a word for each parameter of this method.
        false => unsafe { write_arguments(&mut text, method, words) },
    }
    trace.write(t.id(), depth, &text);
}

/// Native code calls the method through a delegate, or (`has_ended`) that call is over.
pub fn called_by_native(t: CurrentThread, method: &'static Method, has_ended: bool) {
    let Some(trace) = enabled().filter(|trace| trace.includes(method, true)) else { return };
    let what = if has_ended { "LEAVE" } else { "ENTER" };
    let depth = trace.count(t.id(), has_ended);
    trace.write(t.id(), depth, &format!("{what}: (wrapper native-to-managed) {}", method.tool_name()));
}

/// Whether calls by native code are told of.
#[inline]
pub fn is_enabled() -> bool {
    IS_ENABLED.load(Ordering::Relaxed)
}

/// An exception leaves the frame, whose call is over.
#[cold]
pub(crate) fn left_by_exception(thread: &ManagedThread, frame: &Frame) {
    let Some(trace) = enabled() else { return };
    let Some(info) = frame.code().filter(|info| !info.method.is_null()) else { return };
    // SAFETY: not null, hence the `&'static Method` that the code was placed with; the frame keeps its code.
    let method = unsafe { &*(info.method as *const Method) };
    let is_probed = match info.kind {
        CodeKind::Method => matches!(method.body(), Ok(Some(_))) && trace.includes(method, false),
        CodeKind::NativeThunk => method.is_pinvoke() && trace.includes(method, true),
        _ => false,
    };
    if is_probed {
        trace.count(thread.managed_id(), true);
    }
}

/// An exception was thrown. Its stack follows if the trace asks for exceptions of its class.
#[cold]
pub(crate) fn thrown(t: CurrentThread, exception: Obj) {
    let Some(trace) = enabled() else { return };
    let (thread, class) = (t.id(), exception.ty());
    let message = MESSAGE.str(exception).map_or_else(|| "(null)".to_owned(), Str::to_rust);
    let mut text = format!("[0x{thread:x}:] EXCEPTION handling: {}: {message}\n", class.full_name());
    if trace.spec.includes_exception(class) {
        text += &crash_report::lines_of(&stack_trace::walk(t));
    }
    print(&text);
}

/// A clause of the frame's method is about to run.
#[cold]
pub(crate) fn clause_entered(frame: &Frame, kind: PlacedClause, index: u32) {
    let Some(trace) = enabled() else { return };
    let Some(info) = frame.code().filter(|info| !info.method.is_null()) else { return };
    // SAFETY: not null, hence the `&'static Method` that the code was placed with; the frame keeps its code.
    let method = unsafe { &*(info.method as *const Method) };
    if !trace.includes(method, false) {
        return;
    }
    let name = method.tool_name();
    let text = match kind {
        PlacedClause::Catch(_) | PlacedClause::Filter(_) => {
            format!("EXCEPTION: catch found at clause {index} of {name}\n")
        }
        PlacedClause::Finally => format!("EXCEPTION: finally clause {index} of {name}\n"),
        PlacedClause::Fault => format!("EXCEPTION: fault clause {index} of {name}\n"),
    };
    print(&text);
}

/// # Safety
/// `words` is the address of the words that a probe at the begin of `method` has stored, with a room for each argument.
unsafe fn write_arguments(text: &mut String, method: &'static Method, words: usize) {
    text.push('(');
    let Ok(sig) = method.sig() else {
        text.push(')');
        return;
    };
    let mut at = words;
    if !method.is_static() {
        // SAFETY: the probe of an instance method has stored `this` first, in a room of its own.
        let this = unsafe { (at as *const usize).read() };
        if method.owner.is_value_type() {
            let _ = write!(text, "value:0x{this:x}");
        } else {
            // SAFETY: `this` of a class is null or an object, which the frame of the probe holds.
            write_this(text, unsafe { Obj::from_word(ObjRef(this as *mut saki_abi::Object)) });
        }
        at += ROOM_BYTES;
        if !sig.params.is_empty() {
            text.push_str(", ");
        }
    }
    for (index, ty) in sig.params.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        // SAFETY: `at` has passed one room for each parameter before this one, `this` included, so the word here is
        // this parameter's.
        unsafe { write_value(text, ty, at, false) };
        at += ROOM_BYTES;
    }
    text.push(')');
}

/// # Safety
/// `words` is the address of the word that a probe at an end of `method` has stored, if the method has a result.
unsafe fn write_result(text: &mut String, method: &'static Method, words: usize) {
    let Some(ret) = method.sig().ok().map(|sig| sig.ret).filter(|ret| ret.element_type != ElementType::Void) else {
        return;
    };
    // SAFETY: the method returns a value, and its probe has stored that in the only room.
    unsafe { write_value(text, ret, words, true) };
}

fn write_this(text: &mut String, this: Option<Obj>) {
    let Some(this) = this else {
        text.push_str("this:NULL");
        return;
    };
    let (address, ty) = (this.address(), this.ty());
    let _ = match (this.as_str(), stands_for(this)) {
        (Some(string), _) => write!(text, "this:[STRING:0x{address:x}:{}]", string.to_rust()),
        (None, Some(stood_for)) => write!(text, "[this:[TYPE:0x{address:x}:{}]]", stood_for.full_name()),
        (None, None) => {
            let domain = crate::domains::current().friendly_name();
            write!(text, "this:0x{address:x}[{} {domain}]", ty.full_name())
        }
    };
}

/// The type that a System.RuntimeType stands for.
fn stands_for(object: Obj) -> Option<Ty> {
    std::ptr::eq(object.ty(), object.ty().universe().runtime_type())
        .then(|| type_objects::type_of_object(object))
        .flatten()
}

/// Writes an argument, or a result, as Mono does.
///
/// # Safety
/// `at` is the address of a word that a probe stored for a value of this type.
unsafe fn write_value(text: &mut String, ty: Ty, at: usize, is_result: bool) {
    // SAFETY: a room begins with a word, of which the value's own bytes were stored; the others are not looked at.
    let [word, int] = unsafe { [(at as *const usize).read_unaligned(), (at as *const u32).read() as usize] };
    let ty = ty.underlying();
    let number = if is_result { "result=" } else { "" };
    let _ = match ty.element_type {
        ElementType::Boolean | ElementType::Char | ElementType::I1 | ElementType::U1 => {
            write!(text, "{number}{}", int as u8 as i8)
        }
        ElementType::I2 | ElementType::U2 => write!(text, "{number}{}", int as u16 as i16),
        ElementType::I4 | ElementType::U4 => write!(text, "{number}{}", int as u32 as i32),
        ElementType::I8 | ElementType::U8 if is_result => write!(text, "lresult=0x{word:16x}"),
        ElementType::I8 | ElementType::U8 => write!(text, "0x{word:016x}"),
        // SAFETY: the word holds a float.
        ElementType::R4 if is_result => write!(text, "FP={:.6}", unsafe { (at as *const f32).read() }),
        // SAFETY: the word holds a float.
        ElementType::R4 => write!(text, "{:.6}", unsafe { (at as *const f32).read() }),
        // SAFETY: the word holds a double.
        ElementType::R8 if is_result => write!(text, "FP={:.6}", unsafe { (at as *const f64).read() }),
        // SAFETY: the word holds a double.
        ElementType::R8 => write!(text, "{:.6}", unsafe { (at as *const f64).read() }),
        ElementType::ByRef => write!(text, "[BYREF:0x{word:x}]"),
        ElementType::TypedByRef => write!(text, "[TYPEDBYREF:0x{word:x}]"),
        ElementType::I | ElementType::U | ElementType::Ptr | ElementType::FnPtr => write!(text, "{number}0x{word:x}"),
        _ if ty.is_value_type() => {
            let size = ty.value_size_bytes().unwrap_or(0) as usize;
            text.push('[');
            for index in 0..size {
                // SAFETY: the word is the address of a struct of this size, which the frame holds.
                let byte = unsafe { ((word + index) as *const u8).read() };
                let _ = write!(text, "{byte:02x},");
            }
            text.push(']');
            Ok(())
        }
        _ => {
            // SAFETY: null or an object, which the frame of the probe holds.
            let object = unsafe { Obj::from_word(ObjRef(word as *mut saki_abi::Object)) };
            write_object(text, ty, object, is_result)
        }
    };
}

fn write_object(text: &mut String, declared: Ty, object: Option<Obj>, is_result: bool) -> std::fmt::Result {
    let Some(object) = object else {
        return match declared.element_type {
            ElementType::String => text.write_str("[STRING:null]"),
            _ if is_result => text.write_str("[OBJECT:(nil)]"),
            _ => text.write_str("(nil)"),
        };
    };
    let (address, ty) = (object.address(), object.ty());
    if let Some(string) = object.as_str() {
        return write!(text, "[STRING:0x{address:x}:{}]", string.to_rust());
    }
    if let Some(stood_for) = stands_for(object) {
        return write!(text, "[TYPE:{}]", stood_for.full_name());
    }
    if let Some(array) = object.as_array() {
        return write!(text, "[{}:[{}]0x{address:x}]", ty.full_name(), array.length());
    }
    match ty.element_type {
        ElementType::I4 => write!(text, "[INT32:0x{address:x}:{}]", object.unboxed::<i32>().unwrap_or_default()),
        ElementType::I8 if is_result => {
            write!(text, "[INT64:0x{address:x}:{}]", object.unboxed::<i64>().unwrap_or_default())
        }
        ElementType::Boolean if is_result => {
            write!(text, "[BOOLEAN:0x{address:x}:{}]", object.unboxed::<u8>().unwrap_or_default())
        }
        _ => write!(text, "[{}:0x{address:x}]", ty.full_name()),
    }
}
