//! Builds IR by hand and runs compiled code in this process, with stand-ins for the runtime's stubs and helpers.
//!
//! Exceptions: `ThrowPending` and the throwing helpers walk the frame-pointer chain to the first call site with a handler
//! and land there (no second pass: a finally is entered like a catch). Without a handler the call made by `Machine::run`
//! ends with the exception as its result.

#![allow(dead_code, reason = "each test binary uses a part")]

#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
mod arch;
mod corlib;
mod heap;

#[allow(unused_imports, reason = "each test binary uses a part")]
pub use arch::TRAP;
#[allow(unused_imports, reason = "each test binary uses a part")]
pub use corlib::{corlib, corlib_type};
pub use heap::HEAP;
use saki_abi::{CALLEE_SAVED, HelperId, NativeAbi, StubId, ThreadAbi};
use saki_il::ir::*;
use saki_jit::{CompiledCode, Compiler, CompilerOptions, RelocTarget, Tiers};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

/// Every way in which a native function is called.
pub const TRANSITIONS: [Transition; 3] = [Transition::None, Transition::Leave, Transition::LeaveSavingError];

/// Function under construction.
pub struct Ir {
    pub func: Function,
    pub current: usize,
}

impl Ir {
    pub fn new(name: &str, params: &[IrType], ret: Option<IrType>) -> Ir {
        let func = Function {
            method: None,
            name: name.to_owned().into(),
            sig: CallSig { has_this: false, params: params.to_vec(), ret },
            locals: params
                .iter()
                .enumerate()
                .map(|(index, &ty)| Local {
                    ty,
                    kind: LocalKind::Param(index as u32),
                    address_exposed: false,
                    zero_init: false,
                    pinned: false,
                })
                .collect(),
            ..Function::default()
        };
        let mut ir = Ir { func, current: 0 };
        ir.block(None);
        ir
    }

    pub fn block(&mut self, region: Option<RegionId>) -> BlockId {
        self.func.blocks.push(Block {
            insts: Vec::new(),
            terminator: Terminator::Unreachable,
            terminator_il_offset: 0,
            region,
            cold: false,
            then_is_likely: false,
            few_rounds: false,
        });
        BlockId(self.func.blocks.len() as u32 - 1)
    }

    pub fn at(&mut self, block: BlockId) -> &mut Ir {
        self.current = block.0 as usize;
        self
    }

    pub fn local(&mut self, ty: IrType, address_exposed: bool) -> LocalId {
        self.func.locals.push(Local { ty, kind: LocalKind::Normal, address_exposed, zero_init: true, pinned: false });
        LocalId(self.func.locals.len() as u32 - 1)
    }

    pub fn push(&mut self, op: Op, ty: IrType) -> ValueId {
        let il_offset = self.func.insts.len() as u32;
        self.func.insts.push(Inst { op, ty, il_offset });
        let id = ValueId(self.func.insts.len() as u32 - 1);
        self.func.blocks[self.current].insts.push(id);
        id
    }

    pub fn get(&mut self, local: u32) -> ValueId {
        let ty = self.func.locals[local as usize].ty;
        self.push(Op::LocalGet(LocalId(local)), ty)
    }

    pub fn set(&mut self, local: LocalId, value: ValueId) {
        self.push(Op::LocalSet(local, value), IrType::Void);
    }

    pub fn i32(&mut self, n: i32) -> ValueId {
        self.push(Op::ConstI32(n), IrType::I32)
    }

    pub fn i64(&mut self, n: i64) -> ValueId {
        self.push(Op::ConstI64(n), IrType::I64)
    }

    pub fn bin(&mut self, op: BinOp, a: ValueId, b: ValueId, ty: IrType) -> ValueId {
        self.push(Op::Bin(op, a, b), ty)
    }

    pub fn helper(&mut self, helper: HelperId, params: &[IrType], ret: Option<IrType>, args: &[ValueId]) -> ValueId {
        let sig = Box::new(CallSig { has_this: false, params: params.to_vec(), ret });
        let target = CallTarget::Helper(helper);
        self.push(Op::Call { target, sig, args: args.to_vec(), struct_result: None }, ret.unwrap_or(IrType::Void))
    }

    pub fn end(&mut self, terminator: Terminator) {
        self.func.blocks[self.current].terminator = terminator;
    }

    pub fn ret(&mut self, value: ValueId) {
        self.end(Terminator::Ret(Some(value)));
    }

    /// A region with one clause.
    pub fn region(&mut self, parent: Option<RegionId>, kind: ClauseKind, handler: BlockId) -> (RegionId, LocalId) {
        let exception_local = self.local(IrType::Ref, false);
        self.func.clauses.push(Clause { kind, handler, exception_local });
        self.func.regions.push(Region { parent, clauses: vec![self.func.clauses.len() as u32 - 1] });
        (RegionId(self.func.regions.len() as u32 - 1), exception_local)
    }
}

pub fn plain(mem_alias: AliasClass) -> MemFlags {
    MemFlags { null_check: NullCheck::None, alias: mem_alias, volatile: false, unaligned: false }
}

pub fn checked(mem_alias: AliasClass) -> MemFlags {
    MemFlags { null_check: NullCheck::Needed, ..plain(mem_alias) }
}

pub fn compiler() -> Compiler {
    Compiler::new(options()).unwrap()
}

/// The usual options; those of the tests in `first_tier` name the baseline compiler.
pub fn options() -> CompilerOptions {
    let is_first = env!("CARGO_CRATE_NAME") == "first_tier";
    let tiers = if is_first { Tiers::First } else { Tiers::Second };
    CompilerOptions { verify: true, tiers, ..CompilerOptions::new(HEAP) }
}

/// Executable memory with its contents. Only one may exist at a time, since the stubs find it through a static.
pub struct Machine {
    base: *mut u8,
    used: usize,
    pub bodies: Vec<(usize, CompiledCode)>,
    pub compiler: Compiler,
    pub thread: Box<ThreadAbi>,
    pub symbols: HashMap<String, usize>,
    /// Functions of a test in place of the stand-ins.
    pub helpers: Vec<(HelperId, usize)>,
    thunks: HashMap<String, usize>,
    serial: Option<MutexGuard<'static, ()>>,
}

const MACHINE_BYTES: usize = 1 << 20;
static SERIAL: Mutex<()> = Mutex::new(());
static MACHINE: std::sync::atomic::AtomicPtr<Machine> = std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());

unsafe extern "C" {
    fn saki_jit_test_enter(
        code: usize,
        args: *const u64,
        ret: *mut u64,
        thunk: usize,
        thread: *mut ThreadAbi,
        saved: *mut [usize; 2],
    ) -> u64;
    fn saki_jit_test_escape(exception: usize, sp: usize) -> !;
    fn saki_jit_test_land(
        exception: usize,
        payload: usize,
        sp: usize,
        frame: usize,
        pc: usize,
        thread: usize,
        kept: *const [usize; CALLEE_SAVED.len()],
    ) -> !;
    fn saki_jit_test_throw_pending();
    fn saki_jit_test_poll();
    fn saki_jit_test_barrier();
}

thread_local! {
    static SAVED: std::cell::Cell<[usize; 2]> = const { std::cell::Cell::new([0; 2]) };
}

/// Takes the pending exception to the first handler above `frame`/`pc`.
///
/// # Safety
/// Called by the stub of `ThrowPending`: `thread` is the test's thread struct, `frame` and `pc` are the throwing
/// frame's, `kept` its callee-saved registers where landings keep them.
unsafe extern "C" fn unwind(thread: *mut ThreadAbi, frame: usize, pc: usize, kept: *const usize) -> ! {
    // SAFETY: the test's thread struct outlives the run.
    let exception = unsafe { std::mem::replace(&mut (*thread).pending_exception, saki_abi::ObjRef::NULL) };
    let saved = SAVED.get();
    let (mut frame, mut pc) = (frame, pc);
    // SAFETY: `Machine::run` stored it and does not move while code runs.
    let machine = unsafe { &*MACHINE.load(std::sync::atomic::Ordering::Relaxed) };
    let mut kept_at = std::array::from_fn::<_, { CALLEE_SAVED.len() }, _>(|index| kept.wrapping_add(index));
    while frame != saved[1] {
        for (start, code) in &machine.bodies {
            let call = code.tables.protected_calls.iter().find(|call| start + call.return_offset as usize == pc);
            if let Some(call) = call {
                let handler = code.tables.handlers_of(call)[0];
                let sp = frame - call.frame_offset_bytes as usize;
                let landing = start + handler.landing_offset as usize;
                let values = kept_at.map(|place| match NativeAbi::HOST.landings_keep_registers {
                    // SAFETY: a word of the stub's, or one where a prologue saves a register.
                    true => unsafe { *place },
                    false => 0,
                });
                // SAFETY: the compiler's tables say so.
                unsafe { saki_jit_test_land(exception.address(), 77, sp, frame, landing, thread as usize, &values) }
            }
            let area = code.tables.spill_area.filter(|_| (*start..start + code.bytes.len()).contains(&(pc - 1)));
            for (index, place) in kept_at.iter_mut().enumerate() {
                if let Some(bytes_below_fp) = area.and_then(|area| area.saved_register_bytes(index)) {
                    *place = (frame - bytes_below_fp as usize) as *const usize;
                }
            }
        }
        // SAFETY: every frame keeps the chain of frames up to `saved[1]`.
        unsafe {
            pc = *((frame + 8) as *const usize);
            frame = *(frame as *const usize);
        }
    }
    // SAFETY: `saved[0]` is the stack pointer of the entry's frame, which is still there.
    unsafe { saki_jit_test_escape(exception.address(), saved[0]) }
}

pub fn set_pending(thread: *mut ThreadAbi, number: usize) {
    // SAFETY: the test's thread struct outlives the run.
    unsafe { (*thread).pending_exception = saki_abi::ObjRef(number as *mut _) };
}

/// Numbers that stand for exceptions thrown by helpers.
pub const NULL_REFERENCE: u64 = 0x101;
pub const INDEX_OUT_OF_RANGE: u64 = 0x102;
pub const DIVIDE_BY_ZERO: u64 = 0x103;
pub const OVERFLOW: u64 = 0x104;
pub const INVALID_CAST: u64 = 0x105;
pub const ARRAY_TYPE_MISMATCH: u64 = 0x106;

/// # Safety
/// `thread` is the test's thread struct.
unsafe extern "C" fn helper_throw(thread: *mut ThreadAbi, exception: usize) {
    set_pending(thread, exception);
}
/// # Safety
/// `thread` is the test's thread struct.
unsafe extern "C" fn helper_null(thread: *mut ThreadAbi) {
    set_pending(thread, NULL_REFERENCE as usize);
}
/// # Safety
/// `thread` is the test's thread struct.
unsafe extern "C" fn helper_index(thread: *mut ThreadAbi) {
    set_pending(thread, INDEX_OUT_OF_RANGE as usize);
}
/// # Safety
/// `thread` is the test's thread struct.
unsafe extern "C" fn helper_divide(thread: *mut ThreadAbi) {
    set_pending(thread, DIVIDE_BY_ZERO as usize);
}
/// # Safety
/// `thread` is the test's thread struct.
unsafe extern "C" fn helper_overflow(thread: *mut ThreadAbi) {
    set_pending(thread, OVERFLOW as usize);
}
/// # Safety
/// None needed; unsafe only by the type of helpers.
unsafe extern "C" fn helper_fmod(_: *mut ThreadAbi, a: f64, b: f64) -> f64 {
    a % b
}
/// A stand-in for helpers that only counts its calls.
///
/// # Safety
/// `thread` is the test's thread struct.
unsafe extern "C" fn helper_count(thread: *mut ThreadAbi) -> u64 {
    // SAFETY: the test's thread struct outlives the run.
    unsafe {
        (*thread).stub_result += 1;
        (*thread).stub_result
    }
}

impl Machine {
    pub fn new() -> Machine {
        Machine::with_options(options())
    }

    pub fn with_options(options: CompilerOptions) -> Machine {
        let serial = SERIAL.lock().unwrap_or_else(|e| e.into_inner());
        let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        // SAFETY: a fresh anonymous mapping; below 2 GiB so that direct calls reach everything in it.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), MACHINE_BYTES, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        assert_ne!(base, libc::MAP_FAILED);
        // SAFETY: all-zero is a valid ThreadAbi (null pointers, zero counters).
        let thread = unsafe { Box::new(std::mem::zeroed::<ThreadAbi>()) };
        Machine {
            base: base.cast(),
            used: 0,
            bodies: Vec::new(),
            compiler: Compiler::new(options).unwrap(),
            thread,
            symbols: HashMap::new(),
            thunks: HashMap::new(),
            helpers: Vec::new(),
            serial: Some(serial),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> usize {
        self.used = self.used.next_multiple_of(64);
        assert!(self.used + bytes.len() < MACHINE_BYTES);
        let address = self.base as usize + self.used;
        // SAFETY: inside the mapping, checked above.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) };
        self.used += bytes.len();
        address
    }

    fn target(&mut self, target: RelocTarget) -> usize {
        match target {
            RelocTarget::Stub(stub) => {
                if matches!(
                    stub,
                    StubId::CallNative
                        | StubId::CallNativeSavingError
                        | StubId::CallNativeInMemory
                        | StubId::CallNativeInMemorySavingError
                ) {
                    return self.write(&arch::call_native());
                }
                let address = match stub {
                    StubId::ThrowPending | StubId::ResumeUnwind => saki_jit_test_throw_pending as *const () as usize,
                    StubId::Poll | StubId::PollEntry => saki_jit_test_poll as *const () as usize,
                    _ => saki_jit_test_barrier as *const () as usize,
                };
                if stub == StubId::ResumeUnwind {
                    return self.write(&arch::resume_unwind(address));
                }
                self.preserving_pad(format!("{stub:?}"), address)
            }
            RelocTarget::Symbol(Symbol::Helper(helper)) => {
                let key = format!("helper {helper:?}");
                if let Some(&known) = self.thunks.get(&key) {
                    return known;
                }
                let code = self.compiler.compile_helper_thunk(helper).unwrap();
                let address = self.place(code);
                self.thunks.insert(key, address);
                address
            }
            RelocTarget::HelperFunction(helper) => match helper {
                _ if self.helper(helper).is_some() => self.helper(helper).unwrap_or_default(),
                HelperId::Throw | HelperId::Rethrow => helper_throw as *const () as usize,
                HelperId::ThrowNullReference => helper_null as *const () as usize,
                HelperId::ThrowIndexOutOfRange => helper_index as *const () as usize,
                HelperId::ThrowDivideByZero => helper_divide as *const () as usize,
                HelperId::ThrowOverflow => helper_overflow as *const () as usize,
                HelperId::FRem => helper_fmod as *const () as usize,
                _ => helper_count as *const () as usize,
            },
            RelocTarget::LibCall(_) => libc::memcpy as *const () as usize,
            other => *self.symbols.get(&format!("{other:?}")).unwrap_or_else(|| panic!("no symbol {other:?}")),
        }
    }

    /// A jump that changes no register.
    fn preserving_pad(&mut self, key: String, target: usize) -> usize {
        if let Some(&known) = self.thunks.get(&key) {
            return known;
        }
        let bytes = arch::jump(target);
        let address = self.write(&bytes);
        self.thunks.insert(key, address);
        address
    }

    /// The function that a test has for the helper.
    fn helper(&self, helper: HelperId) -> Option<usize> {
        self.helpers.iter().find(|(id, _)| *id == helper).map(|(_, address)| *address)
    }

    pub fn place(&mut self, code: CompiledCode) -> usize {
        let targets: Vec<usize> = code.relocs.iter().map(|reloc| self.target(reloc.target)).collect();
        let start = self.write(&code.bytes);
        for (reloc, target) in code.relocs.iter().zip(targets) {
            // SAFETY: the field lies in the code just written.
            unsafe {
                arch::relocate(start + reloc.offset as usize, reloc.kind, (target as i64).wrapping_add(reloc.addend))
            };
        }
        arch::synchronise(start..start + code.bytes.len());
        self.bodies.push((start, code));
        start
    }

    pub fn compile(&mut self, ir: &Ir) -> usize {
        let code = self.compiler.compile(&ir.func).unwrap_or_else(|e| panic!("{e}"));
        self.place(code)
    }

    /// Runs code; returns the result slot, or the exception that left the code.
    pub fn run(&mut self, sig: &CallSig, code: usize, args: &[u64]) -> Result<u64, u64> {
        let thunk = self.compiler.compile_invoke_thunk(sig).unwrap();
        let thunk = self.place(thunk);
        MACHINE.store(self, std::sync::atomic::Ordering::Relaxed);
        let mut ret = 0;
        let thread = &raw mut *self.thread;
        // SAFETY: `saved` is written before the code runs; the compiled code follows the conventions under test.
        let exception = unsafe {
            saki_jit_test_enter(code, args.as_ptr(), &mut ret, thunk, thread, SAVED.with(|saved| saved.as_ptr()))
        };
        if exception == 0 { Ok(ret) } else { Err(exception) }
    }

    /// Compiles and runs.
    pub fn eval(&mut self, ir: &Ir, args: &[u64]) -> Result<u64, u64> {
        let code = self.compile(ir);
        self.run(&ir.func.sig, code, args)
    }
}
