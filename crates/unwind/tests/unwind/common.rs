//! A small compiler for tests: statements with nested try clauses → Cranelift → placed code, as `jit` does it.

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, BlockCall, ExceptionTableData, ExceptionTableItem, ExceptionTag, ExtFuncData,
    ExternalName, FuncRef, Function, InstBuilder, MemFlagsData, Signature, TrapCode, UserExternalName, UserFuncName,
    Value, types,
};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, lookup_by_name};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, FinalizedMachExceptionHandler, FinalizedRelocTarget, binemit};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use saki_abi::stubs::trap;
use saki_abi::thread::{THREAD_EXIT_FRAME_OFFSET, THREAD_PENDING_EXCEPTION_OFFSET};
use saki_abi::{
    AddressUse, EnclosingHandler, IlMapEntry, ObjRef, Object, ProtectedCall, Reloc, RelocKind, StubId, ThreadAbi,
    TrapSite,
};
use saki_code::{CodeInfo, CodeKind, NewBody, PlacedClause, PlacedTarget, StubHooks, enter, place, stub_address};
use saki_unwind::{Callbacks, FaultKind, Frame, install};
use std::cell::{Cell, RefCell};

/// A statement of the test language.
#[derive(Clone)]
pub enum Stmt {
    /// Calls `fn()`.
    Call(usize),
    /// Calls a helper thunk with a number.
    Helper(&'static CodeInfo, i64),
    Try {
        body: Vec<Stmt>,
        kind: Kind,
        handler: Vec<Stmt>,
    },
    Return(i64),
    /// Repeats a body.
    Loop(i64, Vec<Stmt>),
    /// Loads from a small address.
    LoadNull,
    /// Signed division; both are opaque to the optimiser.
    Divide(i64, i64),
    /// Traps with a user code.
    Trap(u8),
    /// Logs the exception of the innermost enclosing handler.
    LogException(&'static CodeInfo),
}

#[derive(Clone, Copy)]
pub enum Kind {
    /// Address of the caught exception object; 0 = all.
    Catch(usize),
    Filter(usize),
    Finally,
    Fault,
}

pub fn call(target: &'static CodeInfo) -> Stmt {
    Stmt::Call(target.start)
}

pub fn try_(body: Vec<Stmt>, kind: Kind, handler: Vec<Stmt>) -> Stmt {
    Stmt::Try { body, kind, handler }
}

fn isa() -> OwnedTargetIsa {
    let mut flags = settings::builder();
    for (name, value) in [
        ("enable_pinned_reg", "true"),
        ("preserve_frame_pointers", "true"),
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("opt_level", "speed"),
        ("log2_min_function_alignment", "5"),
    ] {
        flags.set(name, value).unwrap();
    }
    lookup_by_name("x86_64-unknown-linux-gnu").unwrap().finish(settings::Flags::new(flags)).unwrap()
}

/// One function being compiled.
pub struct Unit<'a> {
    pub builder: FunctionBuilder<'a>,
    symbols: Vec<usize>,
    clauses: Vec<PlacedClause>,
    /// Innermost first.
    handlers: Vec<(u32, Block)>,
    caught: Vec<Value>,
}

fn signature(convention: CallConv, params: usize, result: Option<types::Type>) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params = vec![AbiParam::new(types::I64); params];
    signature.returns.extend(result.map(AbiParam::new));
    signature
}

impl Unit<'_> {
    fn import(&mut self, address: usize, signature: Signature) -> FuncRef {
        let index = self.symbols.len() as u32;
        self.symbols.push(address);
        let name = self.builder.func.declare_imported_user_function(UserExternalName { namespace: 0, index });
        let signature = self.builder.import_signature(signature);
        let name = ExternalName::user(name);
        self.builder.import_function(ExtFuncData { name, signature, colocated: true, patchable: false })
    }

    /// A managed call with all handlers around it; the result, if any, is dropped.
    fn managed_call(&mut self, address: usize, arguments: &[Value], result: Option<types::Type>) {
        let function = self.import(address, signature(CallConv::Tail, arguments.len(), result));
        if self.handlers.is_empty() {
            self.builder.ins().call(function, arguments);
            return;
        }
        let normal = self.builder.create_block();
        let pool = &mut self.builder.func.dfg.value_lists;
        let normal_call = BlockCall::new(normal, [], pool);
        let items: Vec<_> = self
            .handlers
            .iter()
            .map(|&(clause, block)| {
                let payload = [BlockArg::TryCallExn(0), BlockArg::TryCallExn(1)];
                ExceptionTableItem::Tag(ExceptionTag::from_u32(clause), BlockCall::new(block, payload, pool))
            })
            .collect();
        let signature = self.builder.func.dfg.ext_funcs[function].signature;
        let table = ExceptionTableData::new(signature, normal_call, items);
        let table = self.builder.func.dfg.exception_tables.push(table);
        self.builder.ins().try_call(function, arguments, table);
        self.builder.switch_to_block(normal);
    }

    fn unreachable(&mut self) {
        self.builder.ins().trap(TrapCode::unwrap_user(trap::UNREACHABLE));
        let dead = self.builder.create_block();
        self.builder.switch_to_block(dead);
    }

    fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Call(address) => self.managed_call(*address, &[], Some(types::I64)),
            Stmt::Helper(thunk, number) => {
                let number = self.builder.ins().iconst(types::I64, *number);
                self.managed_call(thunk.start, &[number], None);
            }
            Stmt::LogException(thunk) => {
                let exception = *self.caught.last().unwrap();
                self.managed_call(thunk.start, &[exception], None);
            }
            Stmt::Return(value) => {
                let value = self.builder.ins().iconst(types::I64, *value);
                self.builder.ins().return_(&[value]);
                let dead = self.builder.create_block();
                self.builder.switch_to_block(dead);
            }
            Stmt::Loop(count, body) => {
                let (head, after) = (self.builder.create_block(), self.builder.create_block());
                let left = self.builder.append_block_param(head, types::I64);
                let count = self.builder.ins().iconst(types::I64, *count);
                self.builder.ins().jump(head, &[count.into()]);
                self.builder.switch_to_block(head);
                self.statements(body);
                let left = self.builder.ins().iadd_imm_s(left, -1);
                self.builder.ins().brif(left, head, &[left.into()], after, &[]);
                self.builder.switch_to_block(after);
            }
            Stmt::LoadNull => {
                let null = self.opaque_word(0);
                let flags = MemFlagsData::new();
                let value = self.builder.ins().load(types::I64, flags, null, 16);
                self.keep(value);
            }
            Stmt::Divide(a, b) => {
                let (a, b) = (self.opaque_word(*a), self.opaque_word(*b));
                let value = self.builder.ins().sdiv(a, b);
                self.keep(value);
            }
            Stmt::Trap(code) => {
                let condition = self.opaque_word(1);
                self.builder.ins().trapnz(condition, TrapCode::unwrap_user(*code));
            }
            Stmt::Try { body, kind, handler } => self.try_statement(body, *kind, handler),
        }
    }

    fn opaque_word(&mut self, value: i64) -> Value {
        let thread = self.builder.ins().get_pinned_reg(types::I64);
        let offset = std::mem::offset_of!(ThreadAbi, stub_result) as i64;
        let address = self.builder.ins().iadd_imm_s(thread, offset);
        let value = self.builder.ins().iconst(types::I64, value);
        self.builder.ins().atomic_store(MemFlagsData::trusted(), value, address);
        self.builder.ins().atomic_load(types::I64, MemFlagsData::trusted(), address)
    }

    fn keep(&mut self, value: Value) {
        let thread = self.builder.ins().get_pinned_reg(types::I64);
        let slot = std::mem::offset_of!(ThreadAbi, stub_result) as i32;
        self.builder.ins().store(MemFlagsData::trusted(), value, thread, slot);
    }

    fn try_statement(&mut self, body: &[Stmt], kind: Kind, handler: &[Stmt]) {
        let clause = self.clauses.len() as u32;
        self.clauses.push(match kind {
            Kind::Catch(ty) => PlacedClause::Catch(ty as *const ()),
            Kind::Filter(code) => PlacedClause::Filter(code),
            Kind::Finally => PlacedClause::Finally,
            Kind::Fault => PlacedClause::Fault,
        });
        let landing = self.builder.create_block();
        let exception = self.builder.append_block_param(landing, types::I64);
        let selector = self.builder.append_block_param(landing, types::I64);
        let after = self.builder.create_block();
        self.handlers.insert(0, (clause, landing));
        self.statements(body);
        self.handlers.remove(0);
        if matches!(kind, Kind::Finally) {
            self.statements(handler);
        }
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(landing);
        self.caught.push(exception);
        self.statements(handler);
        self.caught.pop();
        if matches!(kind, Kind::Finally | Kind::Fault) {
            self.managed_call(stub_address(StubId::ResumeUnwind), &[exception, selector], None);
            self.unreachable();
        }
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(after);
    }
}

/// Compiles and places a Tail function.
fn compile(
    name: &str,
    kind: CodeKind,
    params: usize,
    result: Option<types::Type>,
    build: impl FnOnce(&mut Unit, &[Value]),
) -> &'static CodeInfo {
    let isa = isa();
    let sig = signature(CallConv::Tail, params, result);
    let mut context = Context::for_function(Function::with_name_signature(UserFuncName::user(0, 0), sig));
    let mut builder_context = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(&mut context.func, &mut builder_context);
    let mut unit = Unit { builder, symbols: vec![], clauses: vec![], handlers: vec![], caught: vec![] };
    let entry = unit.builder.create_block();
    unit.builder.append_block_params_for_function_params(entry);
    unit.builder.switch_to_block(entry);
    let params = unit.builder.block_params(entry).to_vec();
    build(&mut unit, &params);
    unit.builder.seal_all_blocks();
    let (symbols, clauses) = (unit.symbols, unit.clauses);
    unit.builder.finalize(isa.frontend_config());
    let text = context.func.display().to_string();
    if let Err(error) = cranelift_codegen::verify_function(&context.func, &*isa) {
        panic!("{error}\n{text}");
    }
    let names = context.func.params.user_named_funcs().clone();
    let compiled = context.compile(&*isa, &mut ControlPlane::default()).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let buffer = &compiled.buffer;
    let mut info = NewBody::new(kind, std::ptr::null(), name.to_owned());
    let (mut calls, mut handlers) = (vec![], vec![]);
    for site in buffer.call_sites() {
        let first_handler = handlers.len() as u32;
        for handler in site.exception_handlers {
            let FinalizedMachExceptionHandler::Tag(tag, landing_offset) = *handler else { panic!("{handler:?}") };
            handlers.push(EnclosingHandler { clause_index: tag.as_u32(), landing_offset });
        }
        let handler_count = handlers.len() as u32 - first_handler;
        if handler_count > 0 {
            let frame_offset_bytes = site.frame_offset.unwrap();
            let return_offset = site.ret_addr;
            calls.push(ProtectedCall { return_offset, frame_offset_bytes, first_handler, handler_count });
        }
    }
    info.tables.protected_calls = calls.into();
    info.tables.handlers = handlers.into();
    info.tables.clauses = clauses.into();
    info.tables.il_map = Box::new([IlMapEntry { native_offset: 0, il_offset: 0x11 }]);
    info.tables.traps =
        buffer.traps().iter().map(|t| TrapSite { offset: t.offset, code: t.code.as_raw().get() }).collect();
    let relocs: Vec<_> = buffer
        .relocs()
        .iter()
        .map(|reloc| Reloc {
            offset: reloc.offset,
            kind: match reloc.kind {
                binemit::Reloc::X86CallPCRel4 | binemit::Reloc::X86PCRel4 => RelocKind::X86PcRelative4,
                binemit::Reloc::Abs8 => RelocKind::Absolute8,
                other => panic!("{other:?}"),
            },
            usage: match reloc.kind {
                binemit::Reloc::X86CallPCRel4 => AddressUse::Called,
                _ => AddressUse::AddressTaken,
            },
            target: match &reloc.target {
                FinalizedRelocTarget::ExternalName(ExternalName::User(name)) => {
                    PlacedTarget::Address(symbols[names[*name].index as usize])
                }
                FinalizedRelocTarget::Func(offset) => PlacedTarget::OwnOffset(*offset),
                other => panic!("{other:?}"),
            },
            addend: reloc.addend,
        })
        .collect();
    place(buffer.data().to_vec(), 32, &relocs, info).unwrap()
}

/// A method `fn() -> i64`.
pub fn method(name: &str, statements: &[Stmt]) -> &'static CodeInfo {
    compile(name, CodeKind::Method, 0, Some(types::I64), |unit, _| {
        unit.statements(statements);
        let zero = unit.builder.ins().iconst(types::I64, 0);
        unit.builder.ins().return_(&[zero]);
    })
}

/// A method that calls itself until the stack ends.
pub fn endless_recursion(name: &str) -> &'static CodeInfo {
    // Calls itself through a cell, which is filled in once it is placed.
    let cell: &'static Cell<usize> = Box::leak(Box::new(Cell::new(0)));
    let info = compile(name, CodeKind::Method, 0, Some(types::I64), |unit, _| {
        let address = unit.builder.ins().iconst(types::I64, cell.as_ptr() as i64);
        let target = unit.builder.ins().load(types::I64, MemFlagsData::trusted(), address, 0);
        let sig = unit.builder.import_signature(signature(CallConv::Tail, 0, Some(types::I64)));
        let inst = unit.builder.ins().call_indirect(sig, target, &[]);
        let result = unit.builder.inst_results(inst)[0];
        let result = unit.builder.ins().iadd_imm_s(result, 1);
        unit.builder.ins().return_(&[result]);
    });
    cell.set(info.start);
    info
}

/// A filter that runs the statements and then returns `answer`.
pub fn filter(name: &str, statements: &[Stmt], answer: i64) -> &'static CodeInfo {
    compile(name, CodeKind::Filter, 2, Some(types::I32), |unit, params| {
        unit.caught.push(params[1]);
        unit.statements(statements);
        let answer = unit.builder.ins().iconst(types::I32, answer);
        unit.builder.ins().return_(&[answer]);
    })
}

/// A helper thunk for `fn(thread, i64)`.
pub fn helper_thunk(name: &str, helper: unsafe extern "C" fn(*mut ThreadAbi, i64)) -> &'static CodeInfo {
    compile(name, CodeKind::HelperThunk, 1, None, |unit, params| {
        let flags = MemFlagsData::trusted();
        let thread = unit.builder.ins().get_pinned_reg(types::I64);
        let frame = unit.builder.ins().get_frame_pointer(types::I64);
        unit.builder.ins().store(flags, frame, thread, THREAD_EXIT_FRAME_OFFSET);
        let function = unit.import(helper as usize, signature(CallConv::SystemV, 2, None));
        unit.builder.ins().call(function, &[thread, params[0]]);
        let pending = unit.builder.ins().load(types::I64, flags, thread, THREAD_PENDING_EXCEPTION_OFFSET);
        let (throw, done) = (unit.builder.create_block(), unit.builder.create_block());
        unit.builder.ins().brif(pending, throw, &[], done, &[]);
        unit.builder.switch_to_block(throw);
        unit.managed_call(stub_address(StubId::ThrowPending), &[], None);
        unit.unreachable();
        unit.builder.ins().jump(done, &[]);
        unit.builder.switch_to_block(done);
        unit.builder.ins().return_(&[]);
    })
}

/// The thread that `run` runs on this OS thread, or null.
pub fn current_thread() -> *mut ThreadAbi {
    CURRENT.get()
}

thread_local! {
    static LOG: RefCell<Vec<i64>> = const { RefCell::new(vec![]) };
    static TRACE: RefCell<Vec<String>> = const { RefCell::new(vec![]) };
    static CURRENT: Cell<*mut ThreadAbi> = const { Cell::new(std::ptr::null_mut()) };
}

/// # Safety
/// None needed; unsafe only by the type of helpers.
unsafe extern "C" fn log_helper(_: *mut ThreadAbi, number: i64) {
    LOG.with_borrow_mut(|log| log.push(number));
}

/// # Safety
/// `thread` is the current thread.
unsafe extern "C" fn throw_helper(thread: *mut ThreadAbi, exception: i64) {
    // SAFETY: the current thread.
    unsafe { (*thread).pending_exception = ObjRef(exception as *mut Object) };
}

/// A helper in Rust that calls managed code again: the exception passes through both boundaries.
///
/// # Safety
/// `thread` is the current thread, `target` the address of a compiled `fn()`.
unsafe extern "C" fn nested_helper(thread: *mut ThreadAbi, target: i64) {
    // SAFETY: `target` is a compiled `fn()`.
    let status = unsafe { enter(thread, target as usize, [0; 3], std::ptr::null_mut()) };
    LOG.with_borrow_mut(|log| log.push(-i64::from(status)));
}

/// Notes the names of the frames of a walk from Rust code.
///
/// # Safety
/// `thread` is the current thread.
unsafe extern "C" fn walk_helper(thread: *mut ThreadAbi, _: i64) {
    // SAFETY: the current thread, in Rust code.
    let frames = unsafe { saki_unwind::Frames::of_thread(thread) };
    TRACE.with_borrow_mut(|trace| {
        trace.extend(frames.map(|frame| frame.code().map_or("<entry>".into(), |info| info.name().to_owned())));
    });
}

extern "C" fn never_compiled(_: *mut ThreadAbi, _: *const ()) -> usize {
    unreachable!("the tests place all methods that they call")
}

extern "C" fn never_resolved(_: *mut ThreadAbi, _: ObjRef, _: *const ()) -> usize {
    unreachable!("the tests have no interfaces")
}

extern "C" fn never_grows(_: *mut ThreadAbi, _: usize, _: usize, _: usize, _: usize) -> usize {
    unreachable!("no test polls")
}

extern "C" fn never_slow(_: *mut ThreadAbi) {
    unreachable!("the tests have neither classes nor a heap, and do not poll")
}

/// Thunks that every test uses.
pub struct Thunks {
    pub log: &'static CodeInfo,
    pub throw: &'static CodeInfo,
    pub nested: &'static CodeInfo,
    pub walk: &'static CodeInfo,
}

impl Thunks {
    pub fn new() -> Thunks {
        saki_code::install_hooks(StubHooks {
            compile: never_compiled,
            resolve_interface: never_resolved,
            poll: never_slow,
            poll_entry: never_grows,
            class_init: never_slow,
            alloc_slow: never_slow,
            barrier_slow: never_slow,
            hot: never_slow,
            native_entered: never_slow,
            native_returned: never_slow,
            unwind: saki_unwind::HOOKS,
        });
        install(Callbacks {
            is_instance: |_, exception, ty, _| exception.address() == ty as usize,
            as_seen_by: |exception, _| exception,
            on_frame: |_, _, frame: &Frame| {
                let name = frame.code().unwrap().name().to_owned();
                assert_eq!(frame.il_offset(), Some(0x11));
                TRACE.with_borrow_mut(|trace| trace.push(name));
            },
            on_throw: |_, _| {},
            on_leave: |_, _, _| {},
            on_clause: |_, _, _, _, _| {},
            new_fault_exception: |_, kind: FaultKind| ObjRef((FAULT_BASE + kind as usize * 8) as *mut Object),
            current_thread,
            open_stack_reserve: |_, _, _, _| false,
            has_stack_to_throw: |_, _| false,
            is_outside_native_code: |_| true,
            report_end: |_, _, _| false,
            write_name: |_, _| {},
        });
        Thunks {
            log: helper_thunk("log", log_helper),
            throw: helper_thunk("throw", throw_helper),
            nested: helper_thunk("nested", nested_helper),
            walk: helper_thunk("walk", walk_helper),
        }
    }

    pub fn log(&self, number: i64) -> Stmt {
        Stmt::Helper(self.log, number)
    }

    pub fn throw(&self, exception: usize) -> Stmt {
        Stmt::Helper(self.throw, exception as i64)
    }

    pub fn nested(&self, target: &CodeInfo) -> Stmt {
        Stmt::Helper(self.nested, target.start as i64)
    }
}

/// Addresses that stand for exception objects of faults.
pub const FAULT_BASE: usize = 0x70_0000;

pub fn fault_exception(kind: FaultKind) -> usize {
    FAULT_BASE + kind as usize * 8
}

/// The outcome of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The result, or the exception that left the code.
    pub result: Result<u64, usize>,
    pub log: Vec<i64>,
    pub trace: Vec<String>,
}

pub fn run(target: &CodeInfo) -> Outcome {
    // SAFETY: all fields are integers, atomics or nullable pointers.
    let mut thread: Box<ThreadAbi> = unsafe { Box::new(std::mem::zeroed()) };
    let bounds = saki_os::thread::stack_bounds().unwrap();
    (thread.stack_limit, thread.stack_base) = (bounds.start, bounds.end);
    let thread = Box::into_raw(thread);
    CURRENT.set(thread);
    let mut value = 0;
    // SAFETY: tests run `fn() -> i64` methods.
    let status = unsafe { enter(thread, target.start, [0; 3], &mut value) };
    CURRENT.set(std::ptr::null_mut());
    // SAFETY: made above; managed code is done with it.
    let thread = unsafe { Box::from_raw(thread) };
    assert_eq!(thread.exit_frame, 0);
    assert_eq!(thread.pending_exception.is_null(), status == 0);
    Outcome {
        result: if status == 0 { Ok(value) } else { Err(thread.pending_exception.address()) },
        log: LOG.take(),
        trace: TRACE.take(),
    }
}
