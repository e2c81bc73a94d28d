//! The compile driver: method → IR → machine code → placed and published.
//!
//! Publication order: code and tables → i-cache → code map (all in `saki_code::place`) → `MethodRuntime::code` → entry cell.
//! Two threads may compile one method at the same time; the first to publish wins and the other's body stays unused.

use crate::class_init;
use crate::code_cache::{self, Identity, Lookup};
use crate::entries::{code_error, compiled_code, entry_address, entry_of, lives_with_domain, unbox_entry_address};
use crate::events::{LogEvents, is_logged};
use crate::exceptions::{self, ToManaged};
use crate::initialised;
use crate::internal_calls;
use crate::library_loops;
use crate::statics;
use crate::strings;
use crate::tail_arguments::KeptTailArguments;
use crate::thread::{CurrentThread, Managed};
use crate::type_objects;
use crate::upcalls::upcalls;
use crate::upper_layers::upper_layers;
use crate::vtables::vtable_of;
use parking_lot::RwLock;
use rustc_hash::FxHashMap;
use saki_abi::{AddressUse, HelperId, Reloc};
use saki_code::{CodeInfo, CodeKind, PlacedTarget};
use saki_il::import::{ImportEnv, ImportOptions};
use saki_il::ir::{CallSig, Function, IrType, Symbol};
use saki_jit::{CompiledBy, CompiledCode, Compiler, CompilerOptions, RelocTarget};
use saki_sampler::events::{self, EventKind};
use saki_types::resolved::{self, Resolved};
use saki_types::{LoadError, LoadErrorKind, LoadResult, Method, Ty, Type, collectible};
use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

static COMPILER: OnceLock<Compiler> = OnceLock::new();
static OPTIONS: OnceLock<CompilerOptions> = OnceLock::new();

/// The costs of compiling, for `saki --stats`; see `keep_statistics`.
#[derive(Default)]
pub struct CompileStatistics {
    pub methods: AtomicU64,
    pub code_bytes: AtomicU64,
    pub import_nanoseconds: AtomicU64,
    pub codegen_nanoseconds: AtomicU64,
    pub place_nanoseconds: AtomicU64,
}

pub static STATISTICS: CompileStatistics = CompileStatistics {
    methods: AtomicU64::new(0),
    code_bytes: AtomicU64::new(0),
    import_nanoseconds: AtomicU64::new(0),
    codegen_nanoseconds: AtomicU64::new(0),
    place_nanoseconds: AtomicU64::new(0),
};

static ARE_STATISTICS_WANTED: AtomicBool = AtomicBool::new(false);

/// Starts to keep `STATISTICS`. They are off by default: clocks and counters that all threads share would take a tenth of the
/// time of compiling a small method.
pub fn keep_statistics() {
    // Relaxed: set before managed code runs.
    ARE_STATISTICS_WANTED.store(true, Ordering::Relaxed);
}

fn are_statistics_wanted() -> bool {
    ARE_STATISTICS_WANTED.load(Ordering::Relaxed)
}

/// Measures for the statistics.
struct Stopwatch(Option<Instant>);

impl Stopwatch {
    fn start() -> Stopwatch {
        Stopwatch(are_statistics_wanted().then(Instant::now))
    }

    /// Adds the time since the start.
    fn add_to(&self, total: &AtomicU64) -> u64 {
        let Some(started) = self.0 else { return 0 };
        let nanoseconds = started.elapsed().as_nanos() as u64;
        // Relaxed: a counter.
        total.fetch_add(nanoseconds, Ordering::Relaxed);
        nanoseconds
    }
}

/// What to print while compiling.
#[derive(Clone, Default, Debug)]
pub struct DumpOptions {
    /// Print the IR of methods whose full name contains this.
    pub ir: Option<String>,
    /// Print Cranelift's input and the machine code of methods with this name.
    pub clif: Option<String>,
    /// Print each method's name when it is compiled.
    pub trace: bool,
}

static DUMP: OnceLock<DumpOptions> = OnceLock::new();

/// Errors that compiled code throws by `HelperId::ThrowDeferred`, by method.
static DEFERRED: RwLock<Option<FxHashMap<usize, Vec<LoadError>>>> = RwLock::new(None);
/// Whether `DEFERRED` has errors of a method that may be freed; if not, `forget_deferred_errors` needs no lock.
static HAS_MORTAL_DEFERRED: AtomicBool = AtomicBool::new(false);

/// Sets the options of compiling. Called once.
pub(crate) fn init(options: CompilerOptions, dump: DumpOptions) {
    let _ = OPTIONS.set(options);
    let _ = DUMP.set(dump);
}

/// The compiler, set up when the first body needs it: a run that finds all its code in the cache needs no compiler.
pub(crate) fn compiler() -> &'static Compiler {
    COMPILER.get_or_init(|| {
        let Some(options) = OPTIONS.get() else { saki_base::bug!("code was compiled before start-up said how") };
        match Compiler::new(options.clone()) {
            Ok(compiler) => compiler,
            Err(error) => saki_base::bug!("the code generator does not start: {error}"),
        }
    })
}

/// The facts about the running machine that the importer may ask for, and a record of those that it used.
#[derive(Default)]
struct Env {
    /// Types whose constructors had run.
    initialised: RefCell<Vec<Ty>>,
    /// The only classes with a static constructor that may be taken for initialised; None: all that are initialised.
    allowed: Option<Vec<Ty>>,
}

impl ImportEnv for Env {
    fn is_initialised(&self, ty: Ty) -> bool {
        let is_initialised = initialised::is_initialised(ty);
        // Types without a static constructor always count as initialised, so they need not be recorded.
        if is_initialised && !matches!(ty.has_initializer(), Ok(false)) {
            if self.allowed.as_ref().is_some_and(|allowed| !allowed.contains(&ty)) {
                return false;
            }
            let mut known = self.initialised.borrow_mut();
            if !known.contains(&ty) {
                known.push(ty);
            }
        }
        is_initialised
    }

    fn library_loop(&self, method: &'static Method) -> Option<saki_il::import::LibraryLoop> {
        library_loops::kind(method)
    }

    fn statements(&self, method: &'static Method) -> Vec<u32> {
        upcalls().statements(method)
    }
}

/// The hook behind every entry stub: compiles the method and gives its address; 0 with an exception pending.
///
/// # Safety
/// Called by the compile trampoline with the current thread and an entry's argument.
pub unsafe extern "C" fn compile_hook(abi: *mut saki_abi::ThreadAbi, argument: *const ()) -> usize {
    // SAFETY: the trampoline passes the pinned register.
    let t = unsafe { CurrentThread::from_abi(abi) };
    // SAFETY: entries are made with a `&'static Method` as argument.
    let method = unsafe { &*(argument as *const Method) };
    // SAFETY: as above.
    let _kept = unsafe { KeptTailArguments::new(abi) };
    t.run(|| compile_method(t, method))
}

/// The method's code address, compiling it if needed.
///
/// # Errors
/// The exception for why it cannot be compiled.
pub fn compile_method(t: CurrentThread, method: &'static Method) -> Managed<usize> {
    // Acquire: the code is visible before its address.
    let known = method.runtime.code.load(Ordering::Acquire);
    if known != 0 {
        return Ok(known);
    }
    exceptions::ensure_stack(t, exceptions::COMPILATION_STACK_BYTES)?;
    // A thread that is about to enter another domain may compile the first method that it calls there.
    let _entered = saki_types::universe::enter(method.owner.universe());
    class_init::ensure_module(t, method.image())?;
    let began_ns = events::is_on(EventKind::Compilation).then(saki_os::clock::monotonic_ns);
    let (code, compiled_by) = match place_cached(t, Identity::Method(method), method)? {
        Cached::Placed(code) => (code, CompiledBy::EarlierRun),
        Cached::TooEarly(allowed) => compile_and_place(t, method, Some(allowed))?,
        Cached::Absent => compile_and_place(t, method, None)?,
    };
    if let Some(began_ns) = began_ns {
        upcalls().compiled(t, method, code, compiled_by, began_ns);
    }
    // Release: publishes the placed code. The first to publish wins.
    let code = match method.runtime.code.compare_exchange(0, code, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => code,
        Err(earlier) => {
            if method.is_dynamic()
                && let Some(body) = saki_code::lookup(code)
            {
                upcalls().discard_body(body);
            }
            earlier
        }
    };
    entry_of(method).to_managed(t)?.set_target(code);
    crate::vtable_code::update(method, code);
    if is_logged(LogEvents::ALWAYS) {
        upcalls().code_published(method, code);
    }
    Ok(code)
}

/// The outcome of a look-up in the code cache.
enum Cached {
    /// The body's address.
    Placed(usize),
    /// As `Lookup::TooEarly`.
    TooEarly(Vec<Ty>),
    Absent,
}

/// Places the body that an earlier run compiled, if there is one and its conditions hold.
fn place_cached(t: CurrentThread, identity: Identity, method: &'static Method) -> Managed<Cached> {
    let started = Stopwatch::start();
    let Some(slot) = code_cache::slot(identity) else { return Ok(Cached::Absent) };
    let (compiled, kind) = match slot.find() {
        Lookup::Found(compiled, kind) => (compiled, kind),
        Lookup::TooEarly(initialised) => return Ok(Cached::TooEarly(initialised)),
        Lookup::Absent => return Ok(Cached::Absent),
    };
    let info = place_compiled(t, compiled, kind, std::ptr::from_ref(method).cast())?;
    started.add_to(&code_cache::STATISTICS.find_nanoseconds);
    Ok(Cached::Placed(info.start))
}

/// `allowed`: see `Env`.
fn compile_and_place(
    t: CurrentThread,
    method: &'static Method,
    allowed: Option<Vec<Ty>>,
) -> Managed<(usize, CompiledBy)> {
    let env = Env { allowed, ..Env::default() };
    let Some(slot) = code_cache::slot(Identity::Method(method)) else {
        let function = import(method, &env).to_managed(t)?;
        let compiled = generate(t, method, &function)?;
        let (kind, compiled_by) = (kind_of(method, &function), compiled.compiled_by);
        saki_il::recycle(function);
        return Ok((place(t, method, compiled, kind)?.start, compiled_by));
    };
    let (function, mut looked_up) = resolved::record(|| import(method, &env));
    let function = function.to_managed(t)?;
    let kind = kind_of(method, &function);
    let (compiled, more) = resolved::record(|| generate(t, method, &function));
    let compiled = compiled?;
    let compiled_by = compiled.compiled_by;
    let may_be_kept = function.deferred_errors.is_empty();
    saki_il::recycle(function);
    if may_be_kept {
        looked_up.extend(more);
        looked_up.push(Resolved::Method(method));
        slot.keep(&compiled, kind, looked_up, &env.initialised.take());
    }
    Ok((place(t, method, compiled, kind)?.start, compiled_by))
}

pub(crate) fn kind_of(method: &Method, function: &Function) -> CodeKind {
    if method.is_pinvoke() || method.is_internal_call() {
        CodeKind::NativeThunk
    } else if function.is_stub {
        CodeKind::Stub
    } else {
        CodeKind::Method
    }
}

/// The importer's options as the compiler is set up. When calls are probed nothing is inlined, so that each call is seen.
pub(crate) fn import_options() -> ImportOptions {
    let inline = !upcalls().are_calls_probed();
    ImportOptions { inline, vectors: compiler().options().vectors, ..ImportOptions::default() }
}

pub(crate) fn import(method: &'static Method, env: &dyn ImportEnv) -> LoadResult<Box<Function>> {
    let started = Stopwatch::start();
    if method.is_open() {
        let message = format!(
            "Could not execute the method because the containing type '{}', is not fully instantiated.",
            method.owner.full_name()
        );
        return Err(LoadError::new(LoadErrorKind::InvalidOperation, message, method.full_name()));
    }
    let mut function = match method.body()? {
        Some(_) if is_library_loop(method) => Box::new(saki_il::synth::internal_call::internal_call(method)?),
        Some(_) => saki_il::import::import(method, &import_options(), env)?,
        None if method.is_internal_call() && internal_calls::find(method).is_none() => {
            Box::new(saki_il::synth::internal_call::missing_internal_call(method)?)
        }
        None => match saki_il::synth::synthesise(method)? {
            Some(function) => Box::new(function),
            None if method.is_abstract() => {
                let message = format!("abstract method {} was called", method.full_name());
                return Err(LoadError::new(LoadErrorKind::InvalidProgram, message, method.full_name()));
            }
            None => {
                let message = format!("{} has no body that Saki can run", method.full_name());
                return Err(LoadError::new(LoadErrorKind::BadImageFormat, message, method.full_name()));
            }
        },
    };
    upcalls().add_probes(method, &mut function);
    started.add_to(&STATISTICS.import_nanoseconds);
    if let Some(dump) = DUMP.get() {
        if dump.trace {
            saki_base::tell!("compile {}", method.full_name());
        }
        if dump.ir.as_ref().is_some_and(|name| method.full_name().contains(name.as_str())) {
            saki_base::tell!("{function}");
        }
    }
    if !function.deferred_errors.is_empty() {
        if method.is_dynamic() || collectible::owner_of(method).is_some() {
            // Relaxed: a thread that forgets the method's errors got the method through lists under locks.
            HAS_MORTAL_DEFERRED.store(true, Ordering::Relaxed);
        }
        DEFERRED
            .write()
            .get_or_insert_default()
            .insert(method as *const Method as usize, function.deferred_errors.clone());
    }
    Ok(function)
}

/// Whether a library loop's function replaces the whole method.
fn is_library_loop(method: &'static Method) -> bool {
    library_loops::kind(method)
        .is_some_and(|function| function.is_whole() && (function.corrects || compiler().options().vectors))
}

/// Forgets the errors of a method that is freed.
pub(crate) fn forget_deferred_errors(method: &'static Method) {
    let key = method as *const Method as usize;
    // Relaxed: see the store.
    if HAS_MORTAL_DEFERRED.load(Ordering::Relaxed)
        && DEFERRED.read().as_ref().is_some_and(|table| table.contains_key(&key))
    {
        DEFERRED.write().get_or_insert_default().remove(&key);
    }
}

/// The load error number `index` that the importer met in `method`.
pub fn deferred_error(method: &'static Method, index: usize) -> LoadError {
    let table = DEFERRED.read();
    let errors = table.as_ref().and_then(|t| t.get(&(method as *const Method as usize)));
    match errors.and_then(|e| e.get(index)) {
        Some(error) => error.clone(),
        None => saki_base::bug!("{} has no deferred error {index}", method.full_name()),
    }
}

fn generate(t: CurrentThread, method: &'static Method, function: &Function) -> Managed<CompiledCode> {
    let started = Stopwatch::start();
    let compiled = compiler().compile(function);
    let compiled = compiled.map_err(|error| match error {
        saki_jit::CompileError::Load(error) => exceptions::throw_load_error(t, &error),
        error => {
            let message = format!("{}: {error}", method.full_name());
            exceptions::throw_load_error(t, &LoadError::new(LoadErrorKind::InvalidProgram, message, method.full_name()))
        }
    })?;
    let nanoseconds = started.add_to(&STATISTICS.codegen_nanoseconds);
    crate::sharing_statistics::note(method, compiled.bytes.len() as u32, nanoseconds);
    if let Some(name) = DUMP.get().and_then(|d| d.clif.as_ref())
        && method.full_name().contains(name.as_str())
    {
        match compiler().dump(function) {
            Ok(dump) => saki_base::tell!("{dump}"),
            Err(error) => saki_base::tell!("{}: {error}", method.full_name()),
        }
    }
    Ok(compiled)
}

pub(crate) fn place(
    t: CurrentThread,
    method: &'static Method,
    compiled: CompiledCode,
    kind: CodeKind,
) -> Managed<&'static CodeInfo> {
    let placing = Stopwatch::start();
    let info = place_compiled(t, compiled, kind, method as *const Method as *const ())?;
    if are_statistics_wanted() {
        // Relaxed: counters.
        STATISTICS.methods.fetch_add(1, Ordering::Relaxed);
        STATISTICS.code_bytes.fetch_add(u64::from(info.len_bytes), Ordering::Relaxed);
        placing.add_to(&STATISTICS.place_nanoseconds);
    }
    Ok(info)
}

/// Where code that names a method's entry is led.
///
/// There is one tier, so compiled code is final: callers placed later need no stub, and earlier ones need it only until the method is compiled.
/// A function pointer always names the stub.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MethodTarget {
    /// The code that names it: a recursive call.
    OwnBody,
    Code(usize),
    /// The stub, until the method is compiled and the call is patched.
    CodeLater,
    /// The stub, for ever.
    Entry,
}

impl MethodTarget {
    /// `is_own`: the code that names the method is its body. `code`: where the method's code is, if it is compiled. `can_wait`: both methods stay as
    /// long as their domain, so that a call may be listed until the method is compiled.
    fn of(usage: AddressUse, is_own: bool, code: Option<usize>, can_wait: bool) -> MethodTarget {
        match (usage, code) {
            (AddressUse::AddressTaken, _) => MethodTarget::Entry,
            (AddressUse::Called, _) if is_own => MethodTarget::OwnBody,
            (AddressUse::Called, Some(code)) => MethodTarget::Code(code),
            (AddressUse::Called, None) if can_wait => MethodTarget::CodeLater,
            (AddressUse::Called, None) => MethodTarget::Entry,
        }
    }
}

/// Resolves what the code names, copies it into the code heap and publishes it in the code map.
fn place_compiled(
    t: CurrentThread,
    mut compiled: CompiledCode,
    kind: CodeKind,
    method: *const (),
) -> Managed<&'static CodeInfo> {
    let mut filter_addresses = Vec::new();
    for filter in std::mem::take(&mut compiled.filters) {
        filter_addresses.push(place_compiled(t, filter, CodeKind::Filter, method)?.start);
    }
    let mut relocs = Vec::with_capacity(compiled.relocs.len());
    // SAFETY: null or a `&'static Method`.
    let stays = unsafe { method.cast::<Method>().as_ref() }.is_none_or(lives_with_domain);
    for reloc in &compiled.relocs {
        let target = match reloc.target {
            RelocTarget::Symbol(Symbol::MethodEntry(callee)) => {
                // Wrappers around a method are not its body.
                let is_own = std::ptr::eq(callee, method as *const Method) && kind == CodeKind::Method;
                let can_wait = stays && lives_with_domain(callee);
                match MethodTarget::of(reloc.usage, is_own, compiled_code(callee), can_wait) {
                    MethodTarget::OwnBody => PlacedTarget::OwnOffset(0),
                    MethodTarget::Code(code) => PlacedTarget::Address(code),
                    MethodTarget::CodeLater => PlacedTarget::Method(entry_of(callee).to_managed(t)?),
                    MethodTarget::Entry => {
                        if reloc.usage == AddressUse::AddressTaken {
                            keep_named(reloc.target, method);
                        }
                        PlacedTarget::Address(entry_address(callee).to_managed(t)?)
                    }
                }
            }
            named => {
                keep_named(named, method);
                PlacedTarget::Address(resolve(t, named, &compiled)?)
            }
        };
        relocs.push(with_target(reloc, target));
    }
    let mut info = CodeInfo::new(kind, method, compiled.name);
    info.tables = compiled.tables.bind(
        |method| std::ptr::from_ref(method).cast(),
        |ty| std::ptr::from_ref(ty).cast(),
        |index| filter_addresses[index as usize],
    );
    let placed = saki_code::place(compiled.bytes, compiled.alignment_bytes, &relocs, info).map_err(code_error);
    let placed = placed.to_managed(t)?;
    if let Some(owner) = collectible::of(method.addr()) {
        owner.add_body(std::ptr::from_ref(placed).addr());
    }
    Ok(placed)
}

/// The relocation, with its target resolved.
fn with_target(reloc: &Reloc<RelocTarget>, target: PlacedTarget) -> Reloc<PlacedTarget> {
    Reloc { offset: reloc.offset, kind: reloc.kind, usage: reloc.usage, target, addend: reloc.addend }
}

/// Keeps a dynamic method for ever once code takes its address, because holders of the address cannot be tracked.
fn keep_named(target: RelocTarget, by: *const ()) {
    if let RelocTarget::Symbol(Symbol::MethodEntry(named) | Symbol::MethodHandle(named)) = target
        && named.is_dynamic()
        && !std::ptr::eq(named, by.cast())
    {
        upcalls().keep_dynamic_method(named);
    }
}

/// The address of a relocation's target.
fn resolve(t: CurrentThread, target: RelocTarget, compiled: &CompiledCode) -> Managed<usize> {
    let address = match target {
        RelocTarget::Symbol(symbol) => return resolve_symbol(t, symbol),
        RelocTarget::Stub(stub) => saki_code::stub_address(stub),
        RelocTarget::HelperFunction(id) => upcalls().helper_function(id),
        RelocTarget::LibCall(saki_jit::LibCall::Memcpy) => libc::memcpy as *const () as usize,
        RelocTarget::CallbackDispatcher | RelocTarget::CallbackCookie => {
            saki_base::bug!("{}: a callback thunk is placed by `callbacks`", compiled.name)
        }
    };
    Ok(address)
}

fn resolve_symbol(t: CurrentThread, symbol: Symbol) -> Managed<usize> {
    Ok(match symbol {
        Symbol::TypeHandle(ty) => ty as *const Type as usize,
        Symbol::MethodHandle(method) => method as *const Method as usize,
        Symbol::FieldHandle(field) => field as *const saki_types::Field as usize,
        Symbol::VTable(ty) => std::ptr::from_ref(vtable_of(ty).to_managed(t)?).addr(),
        Symbol::MethodEntry(method) => entry_address(method).to_managed(t)?,
        Symbol::UnboxEntry(method) => unbox_entry_address(method).to_managed(t)?,
        Symbol::StaticField(field) => statics::static_field_address(field).to_managed(t)? as usize,
        Symbol::ThreadStaticPlace(field) => statics::thread_static_place(field).to_managed(t)?,
        Symbol::ClassInitFlag(ty) => ty.runtime.init_done.as_ptr() as usize,
        Symbol::StringLiteral(image, token) => strings::literal_cell(t, image, token)?.address(),
        Symbol::TypeObject(ty) => type_objects::cell_of(t, ty)?.address(),
        Symbol::Helper(id) => helper_thunk(id).to_managed(t)?,
        Symbol::InternalCall(method) => match internal_call_address(method) {
            Some(address) => address,
            None => upcalls().helper_function(HelperId::MissingInternalCall),
        },
        Symbol::NativeCell(method) => crate::upper_layers::native_cell(method),
        Symbol::MarshalInfo(method, index) => (upper_layers().interop.marshal_info)(t, method, index)?,
        Symbol::VarArgCookie(image, token) => crate::upper_layers::vararg_cookie(image, token),
    })
}

/// The Rust function that implements a method, or replaces its loop.
fn internal_call_address(method: &'static Method) -> Option<usize> {
    match library_loops::find(method) {
        Some(row) => Some(row.function as usize),
        None => internal_calls::find(method).map(|row| row.function as usize),
    }
}

/// The thunks' addresses by number; 0 = not compiled.
static HELPER_THUNKS: [AtomicUsize; HelperId::ALL.len()] = [const { AtomicUsize::new(0) }; HelperId::ALL.len()];

/// Address of a helper's thunk, compiled on first use.
fn helper_thunk(id: HelperId) -> LoadResult<usize> {
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
        slot.keep(&compiled, kind, Vec::new(), &[]);
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
        let target = match reloc.target {
            target if extra(target).is_some() => extra(target).unwrap_or_default(),
            RelocTarget::Stub(stub) => saki_code::stub_address(stub),
            RelocTarget::HelperFunction(id) => upcalls().helper_function(id),
            RelocTarget::LibCall(saki_jit::LibCall::Memcpy) => libc::memcpy as *const () as usize,
            other => saki_base::bug!("thunk {} names {other:?}", compiled.name),
        };
        relocs.push(with_target(reloc, PlacedTarget::Address(target)));
    }
    let mut info = CodeInfo::new(kind, std::ptr::null(), compiled.name.clone());
    info.tables.frame_size_bytes = compiled.tables.frame_size_bytes;
    info.tables.spill_area = compiled.tables.spill_area;
    Ok(saki_code::place(compiled.bytes.clone(), compiled.alignment_bytes, &relocs, info).map_err(code_error)?.start)
}

/// Compiles and places a function that is no method's body: wrappers around native code. `method`: the method to which stack
/// traces and descriptors relate it.
///
/// # Errors
/// InvalidProgramException with the compiler's message; exceptions of resolving its symbols.
pub fn place_wrapper(
    t: CurrentThread,
    identity: Identity,
    method: &'static Method,
    function: &Function,
) -> Managed<usize> {
    if let Cached::Placed(code) = place_cached(t, identity, method)? {
        return Ok(code);
    }
    let kind = kind_of(method, function);
    let (compiled, mut looked_up) = resolved::record(|| generate(t, method, function));
    let compiled = compiled?;
    if let Some(slot) = code_cache::slot(identity) {
        // The types that the wrapper converts are those of the signature.
        looked_up.push(Resolved::Method(method));
        slot.keep(&compiled, kind, looked_up, &[]);
    }
    Ok(place(t, method, compiled, kind)?.start)
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

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: Option<usize> = Some(0x1000);

    #[test]
    fn calls_are_led_to_code_and_function_pointers_to_the_entry() {
        use AddressUse::{AddressTaken, Called};
        let check = |usage, is_own, code, can_wait, expected| {
            let found = MethodTarget::of(usage, is_own, code, can_wait);
            assert_eq!(found, expected, "{usage:?} {is_own} {code:?} {can_wait}");
        };
        check(Called, false, CODE, true, MethodTarget::Code(0x1000));
        check(Called, false, CODE, false, MethodTarget::Code(0x1000));
        check(Called, false, None, true, MethodTarget::CodeLater);
        // A list of calls must not outlive a method that may end before its domain.
        check(Called, false, None, false, MethodTarget::Entry);
        // While a method is compiled it has no code, unless another thread has been faster.
        for code in [None, CODE] {
            check(Called, true, code, true, MethodTarget::OwnBody);
        }
        // Function pointers are compared: each names the stub, whenever and by whichever code it was taken.
        for (is_own, code, can_wait) in
            [(false, None, true), (false, CODE, true), (true, CODE, true), (true, None, false), (false, CODE, false)]
        {
            check(AddressTaken, is_own, code, can_wait, MethodTarget::Entry);
        }
    }
}
