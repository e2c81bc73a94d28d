//! The virtual machine as a whole: starts its parts in the order that the class library needs, runs a program, exits.

use crate::cells::RootCell;
use crate::domains::{self, Domain};
use crate::exception_types::ExceptionType;
use crate::exceptions::{self, Thrown, ToManaged};
pub use crate::exit_code::{exit_code, set_exit_code};
use crate::fields::ManagedField;
use crate::heap_client::RuntimeHeapClient;
use crate::host_events::{self, ClausePart, HostEvent, HostEventKind};
use crate::invoke::{self, Slot};
use crate::object::{perturbation, versions};
use crate::profile_log::{self, LogEvents};
use crate::references::{Array, Obj, Str, Word};
use crate::thread::{CurrentThread, Managed};
use crate::upper_layers::{self, HostEvents, UpperLayers};
use crate::vm::net::{self, NetRuntime};
use crate::vm::options::{self, VmOptions};
use crate::vm::services;
use crate::vm::upcalls::RuntimeUpcalls;
use crate::vm::{body_replacement, termination, tiers};
use crate::{
    call_trace, class_library, code_cache, compile, coverage, crash_report, finalizer, first_chance, fork, handles,
    helpers, host_probes, internal_calls, library_loops, monitors, source_lines, stack_text, thread_dump, thread_hooks,
    thrown_frames, unhandled, upcalls, walk_check,
};
use saki_abi::{ObjRef, ThreadAbi};
use saki_code::{PlacedClause, StubHooks};
use saki_jit::CompilerOptions;
use saki_os::clock;
use saki_os::errata::{self, LockedReads};
use saki_os::message_log;
use saki_os::random;
use saki_reactor::PolledBy;
use saki_thread::ThreadKind;
use saki_types::binder::{Binder, PROFILE, SearchPaths};
use saki_types::{Assembly, LibraryProfile, LibraryType, LoadError, Method, Type, universe};
use saki_unwind::{Callbacks, FaultKind, Frame};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The reason why the machine could not start or the program could not be loaded.
#[derive(Debug)]
pub struct StartError(pub String);

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<LoadError> for StartError {
    fn from(error: LoadError) -> Self {
        StartError(error.message)
    }
}

static COMMAND_LINE: OnceLock<Vec<String>> = OnceLock::new();

/// # Safety
/// `abi` is the current thread's, `exception` is a live object, and `ty` is null or the address of a type's record.
unsafe fn is_instance(abi: *mut ThreadAbi, exception: ObjRef, ty: *const (), _frame: &Frame) -> bool {
    if ty.is_null() {
        return true;
    }
    // SAFETY: the unwinder passes the current thread.
    let t = unsafe { CurrentThread::from_abi(abi) };
    // SAFETY: catch clauses hold the address of a `&'static Type`.
    let ty = unsafe { &*(ty as *const Type) };
    // SAFETY: the unwinder passes the exception in flight.
    unsafe { Obj::from_word(exception) }.is_some_and(|exception| exception.is_instance(t, ty).unwrap_or(false))
}

/// # Safety
/// `exception` is a live object, and `frame` a managed frame of the current thread.
unsafe fn as_seen_by(exception: ObjRef, frame: &Frame) -> ObjRef {
    let Some(code) = frame.code() else { return exception };
    // SAFETY: code that has handlers is placed with its `&'static Method`.
    let Some(method) = (unsafe { (code.method as *const Method).as_ref() }) else { return exception };
    // SAFETY: the unwinder passes the exception in flight.
    unsafe { Obj::from_word(exception) }.map(|exception| exceptions::as_seen_by(exception, method)).word()
}

/// # Safety
/// `exception` is a live exception.
unsafe fn on_throw(_: *mut ThreadAbi, exception: ObjRef) {
    if host_events::is_wanted(HostEventKind::Thrown)
        // SAFETY: the unwinder passes the exception in flight.
        && let Some(exception) = unsafe { Obj::from_word(exception) }
    {
        host_events::tell(HostEvent::Thrown(exception));
    }
}

/// # Safety
/// `abi` is the current thread's, `exception` is a live exception, and `frame` a frame of the thread.
unsafe fn on_frame(abi: *mut ThreadAbi, exception: ObjRef, frame: &Frame) {
    // SAFETY: the unwinder passes the exception in flight.
    let Some(exception) = (unsafe { Obj::from_word(exception) }) else { return };
    // SAFETY: the unwinder passes the current thread.
    let t = unsafe { CurrentThread::from_abi(abi) };
    thrown_frames::append(t, exception, frame);
    first_chance::frame_added(t, exception);
}

/// # Safety
/// `abi` is the current thread's, `exception` is a live object, and `frame` is a frame of the thread.
unsafe fn on_leave(abi: *mut ThreadAbi, exception: ObjRef, frame: &Frame) {
    if host_events::is_wanted(HostEventKind::MethodLeftByException) {
        // SAFETY: the unwinder passes the exception in flight.
        host_probes::left_by_exception(frame, unsafe { Obj::from_word(exception) });
    }
    if call_trace::is_enabled() {
        // SAFETY: the unwinder passes the current thread.
        call_trace::left_by_exception(unsafe { CurrentThread::from_abi(abi) }.managed(), frame);
    }
    if profile_log::is_on(LogEvents::CALLS) {
        // SAFETY: the unwinder passes the current thread.
        profile_log::calls::left_by_exception(unsafe { CurrentThread::from_abi(abi) }.managed(), frame);
    }
}

/// # Safety
/// `abi` is the current thread's, `exception` is a live object, and `frame` the frame of the thread that has the
/// clause.
unsafe fn on_clause(abi: *mut ThreadAbi, exception: ObjRef, frame: &Frame, kind: PlacedClause, index: u32) {
    if call_trace::is_enabled() {
        call_trace::clause_entered(frame, kind, index);
    }
    if host_events::is_wanted(HostEventKind::ClauseEntered)
        && let Some(method) = profile_log::events::method_of(frame)
    {
        let part = match kind {
            PlacedClause::Catch(_) => ClausePart::Catch,
            PlacedClause::Filter(_) => ClausePart::Filter,
            PlacedClause::Finally => ClausePart::Finally,
            PlacedClause::Fault => ClausePart::Fault,
        };
        // SAFETY: the unwinder passes the exception in flight.
        let exception = unsafe { Obj::from_word(exception) };
        host_events::tell(HostEvent::ClauseEntered(method, index, part, exception));
    }
    if profile_log::is_on(LogEvents::EXCEPTION) {
        // SAFETY: the unwinder passes the current thread.
        let t = unsafe { CurrentThread::from_abi(abi) };
        // SAFETY: the unwinder passes the exception in flight.
        let Some(exception) = (unsafe { Obj::from_word(exception) }) else { return };
        profile_log::events::clause_entered(t.managed(), exception, frame, kind, index);
    }
}

/// # Safety
/// `abi` is the current thread's.
unsafe fn new_fault_exception(abi: *mut ThreadAbi, kind: FaultKind) -> ObjRef {
    // SAFETY: the unwinder passes the current thread.
    let t = unsafe { CurrentThread::from_abi(abi) };
    let exception = match kind {
        FaultKind::NullReference => ExceptionType::NullReference,
        FaultKind::IndexOutOfRange => ExceptionType::IndexOutOfRange,
        FaultKind::DivideByZero => ExceptionType::DivideByZero,
        FaultKind::Overflow => ExceptionType::Overflow,
        FaultKind::InvalidCast => ExceptionType::InvalidCast,
        FaultKind::StackOverflow => return exceptions::stack_overflow_object(t).word(),
    };
    let null_text = universe().profile().null_reference_text;
    let message = null_text.filter(|_| kind == FaultKind::NullReference);
    exceptions::new_exception(t, exception, message).unwrap_or_else(|_| t.take_exception()).word()
}

/// # Safety
/// `abi` is the current thread's.
unsafe fn open_stack_reserve(abi: *mut ThreadAbi, address: usize, in_large_frame: bool, sp: usize) -> bool {
    // SAFETY: the unwinder passes the current thread.
    unsafe { CurrentThread::from_abi(abi) }.managed().open_stack_reserve(address, in_large_frame, sp)
}

/// # Safety
/// `abi` is the current thread's.
unsafe fn has_stack_to_throw(abi: *mut ThreadAbi, sp: usize) -> bool {
    // SAFETY: the unwinder passes the current thread.
    unsafe { CurrentThread::from_abi(abi) }.managed().has_stack_to_throw(sp)
}

/// # Safety
/// `abi` is the current thread's.
unsafe fn is_outside_native_code(abi: *mut ThreadAbi) -> bool {
    // SAFETY: the fault handler passes the thread that it runs on, whose structure is never freed.
    !unsafe { CurrentThread::from_abi(abi) }.managed().is_in_safe_region()
}

fn current_thread() -> *mut ThreadAbi {
    saki_thread::current().map_or(std::ptr::null_mut(), |thread| thread.abi())
}

/// The started machine of this process, which loads and runs programs. The value stays on the main thread, which
/// started it.
pub struct Vm {
    /// The main thread's. A pointer, so that the value cannot be sent to another thread.
    main_thread: *mut ThreadAbi,
}

/// A machine that is about to start.
pub struct VmBuilder {
    layers: UpperLayers,
    options: VmOptions,
}

impl VmBuilder {
    /// Sets what the host decides before the start.
    #[must_use]
    pub fn options(self, options: VmOptions) -> VmBuilder {
        VmBuilder { options, ..self }
    }

    /// Sets the events that the host is notified of.
    #[must_use]
    pub fn host(mut self, events: HostEvents) -> VmBuilder {
        self.layers.host = events;
        self
    }

    /// Starts the machine on the calling thread, which becomes the main thread. Once per process.
    ///
    /// # Errors
    /// No memory, no class libraries, class libraries of another version, a machine that was started before.
    pub fn start(self) -> Result<Vm, StartError> {
        Ok(Vm { main_thread: start(options::keep(self.options), self.layers)? })
    }
}

/// The core assembly, and the profile of its class libraries: the first one that there is in the program's folders,
/// else in the framework's.
fn core_assembly(options: &VmOptions) -> (PathBuf, &'static LibraryProfile) {
    if let Some(net) = &options.net {
        return (net.core_library(), &LibraryProfile::NET);
    }
    let framework = options.framework_root.join(PROFILE);
    let file_in = |folder: &Path, profile: &LibraryProfile| folder.join(format!("{}.dll", profile.core_assembly));
    let folders = options.mono_path.iter().chain([&framework]);
    let candidates = folders.map(|folder| file_in(folder, &LibraryProfile::MONO));
    let found = candidates.into_iter().find(|file| file.is_file()).map(|file| (file, &LibraryProfile::MONO));
    // Opening the file that is not there says so.
    found.unwrap_or_else(|| (file_in(&framework, &LibraryProfile::MONO), &LibraryProfile::MONO))
}

/// Starts the parts in the order in which they need each other.
fn start(options: &VmOptions, layers: UpperLayers) -> Result<*mut ThreadAbi, StartError> {
    let text = |error: &dyn std::fmt::Display| StartError(error.to_string());
    clock::set_machine(options.clock);
    random::set_machine(options.random);
    message_log::set(&options.messages);
    upcalls::set(&RuntimeUpcalls);
    prepare_observers(options)?;
    // Before the collector's threads exist: in a process with several threads the kernel takes milliseconds to register
    // it.
    saki_os::membarrier::initialise();
    errata::prepare();
    saki_gc::init(options.heap, &RuntimeHeapClient).map_err(|e| text(&e))?;
    saki_code::init().map_err(|e| text(&e))?;
    if !handles::has_room() || !monitors::has_room() {
        return Err(StartError("no address space for tables of handles and monitors".to_owned()));
    }
    saki_tools::install(&options.tools, source_lines::lines_of, stack_text::name_of_code)
        .map_err(|e| StartError(format!("--perf: {e}")))?;
    let paths = SearchPaths {
        mono_path: options.mono_path.clone(),
        application_base: PathBuf::new(),
        framework_root: options.framework_root.clone(),
        trusted: options.net.as_ref().map(|net| Arc::new(net.trusted_assemblies())),
        resource_roots: options.net.as_ref().map(NetRuntime::resource_roots).unwrap_or_default(),
    };
    upper_layers::set(layers);
    let layers = upper_layers::upper_layers();
    let (corlib, profile) = core_assembly(options);
    let binder = Binder::new(paths).with_assembly_caches(&options.assembly_caches).with_events(layers.loader_events);
    saki_types::universe::init_with(binder, &corlib, profile).map_err(|error| {
        // If the mscorlib is too different to start at all, the error itself would not help the user.
        let image = saki_metadata::Image::open(&corlib).ok();
        match (image, saki_os::address_space::scarcity()) {
            // It could not be mapped.
            (None, Some(scarcity)) => StartError(format!("{}; {scarcity}", error.message)),
            (image, _) => {
                let differs = image.and_then(|image| class_library::identify(&image).err());
                differs.map_or_else(|| error.into(), StartError)
            }
        }
    })?;
    class_library::set(class_library::identify(universe().corlib().meta).map_err(StartError)?);
    internal_calls::set_table(&layers.internal_calls);
    library_loops::set_table(&layers.library_loops);
    let stress = options.heap.stress.is_some();
    let usual = CompilerOptions::new(saki_gc::heap_layout());
    let compiler_options = CompilerOptions {
        verify: options.verify,
        keep_allocations: options.keep_allocations || saki_gc::is_each_allocation_told(),
        stress_poll: stress,
        fence_after_atomics: errata::locked_reads() == LockedReads::NeedFence || !saki_jit::atomics_are_fences(),
        symmetric_barriers: !saki_os::membarrier::is_asymmetric(),
        inline_handles: saki_sync::handle_table::is_room_whole(),
        saturates_conversions: universe().profile().saturates_conversions,
        vectors: options.vectors && saki_jit::has_vectors(),
        tiers: options.tiers,
        calls_to_hot: options.hot_after.unwrap_or(usual.calls_to_hot),
        rounds_to_hot: options.hot_after.unwrap_or(usual.rounds_to_hot),
        ..usual
    };
    if let Some(places) = &options.code_cache {
        code_cache::init(&compiler_options, places);
    }
    compile::init(compiler_options, options.dump.clone());
    if options.hot_after.is_some() || options.hot_seed.is_some() {
        tiers::serve_calls_at_once();
    }
    if let Some(seed) = options.hot_seed {
        perturbation::start(seed);
    }
    if options.tiers == saki_jit::Tiers::Both {
        versions::prepare_tiers();
    }
    if options.replace_bodies_hz.is_some() {
        versions::prepare_replacing();
    }
    saki_code::install_hooks(StubHooks {
        compile: compile::compile_hook,
        resolve_interface: helpers::resolve_interface_hook,
        poll: helpers::poll_hook,
        poll_entry: helpers::poll_entry_hook,
        class_init: helpers::class_init_hook,
        alloc_slow: helpers::alloc_slow_hook,
        barrier_slow: helpers::barrier_slow_hook,
        hot: tiers::hot_hook,
        native_entered: saki_thread::tell_stopper,
        native_returned: helpers::native_returned_hook,
        unwind: saki_unwind::HOOKS,
    });
    saki_unwind::install(Callbacks {
        is_instance,
        as_seen_by,
        on_throw,
        on_frame,
        on_leave,
        on_clause,
        new_fault_exception,
        current_thread,
        open_stack_reserve,
        has_stack_to_throw,
        is_outside_native_code,
        report_end: crash_report::report_end,
        write_name: crash_report::write_name,
    });
    saki_unwind::fault::install_handlers().map_err(|e| text(&e))?;
    handles::hook_carriers();
    let thread = saki_thread::try_attach_current(ThreadKind::Main).map_err(|e| no_main_thread(&e))?;
    let (io_default, polled_by) = match options.threads {
        saki_sched::ThreadMode::Native => (saki_reactor::IoModel::Blocking, PolledBy::OwnThread),
        saki_sched::ThreadMode::Green | saki_sched::ThreadMode::Mn { .. } => {
            (saki_reactor::IoModel::Epoll, PolledBy::Others { begun: || saki_sched::start_polling(&POLLER) })
        }
    };
    let io = options.io.unwrap_or(io_default);
    if io != io_default {
        io.check().map_err(|cause| StartError(format!("--io={io} does not work here: {cause}")))?;
    }
    saki_reactor::start(io, polled_by);
    saki_sched::start(options.threads, options.hot_stacks, options.small_stacks)
        .map_err(|e| no_scheduler(options, &e))?;
    saki_thread::add_hooks(&thread_hooks::HOOKS);
    // SAFETY: the thread just attached.
    let t = unsafe { CurrentThread::from_abi(thread.abi()) };
    bootstrap(t)
        .map_err(|_: Thrown| StartError(format!("start-up failed: {}", unhandled::describe(t, t.take_exception()))))?;
    fork::hook().map_err(|e| StartError(format!("no memory to take notice of forks: {e}")))?;
    finalizer::start().map_err(|e| StartError(format!("no thread for finalizers: {e}")))?;
    services::start();
    if let Some(times_a_second) = options.check_walks_hz {
        walk_check::start(times_a_second).map_err(|e| StartError(format!("--check-walks: {e}")))?;
    }
    if let Some(times_a_second) = options.replace_bodies_hz {
        body_replacement::start(times_a_second).map_err(|e| StartError(format!("--replace-bodies: {e}")))?;
    }
    if options.thread_dumps || options.serves_clients {
        thread_dump::start(options.thread_dumps).map_err(|e| StartError(format!("no thread dumps: {e}")))?;
    }
    Ok(t.abi())
}

/// What counts and records while code is compiled and runs: before anything is compiled.
fn prepare_observers(options: &VmOptions) -> Result<(), StartError> {
    // .NET's programs can ask for them (`JitInfo`, the meter System.Runtime).
    if options.statistics || options.net.is_some() {
        compile::keep_statistics();
    }
    if let Some(settings) = &options.log {
        profile_log::prepare(settings);
    }
    if let Some(settings) = &options.coverage {
        coverage::prepare(settings);
    }
    if let Some(spec) = &options.trace {
        call_trace::prepare(spec).map_err(|e| StartError(format!("--trace: {e}")))?;
    }
    Ok(())
}

/// Where address space is limited, that is why its first stack or thread finds no room.
fn no_main_thread(error: &std::io::Error) -> StartError {
    StartError(match saki_os::address_space::scarcity() {
        Some(scarcity) => format!("no memory for the main thread; {scarcity}"),
        None => format!("no memory for the main thread: {error}"),
    })
}

fn no_scheduler(options: &VmOptions, error: &std::io::Error) -> StartError {
    use std::io::ErrorKind::{OutOfMemory, WouldBlock};
    let is_no_room = matches!(error.kind(), OutOfMemory | WouldBlock);
    StartError(match saki_os::address_space::scarcity().filter(|_| is_no_room) {
        Some(scarcity) => format!("no memory for the stacks of --threads={}; {scarcity}", options.threads),
        None => format!("--threads={} does not work here: {error}", options.threads),
    })
}

/// The poller in which idle carriers wait.
static POLLER: saki_sched::Poller = saki_sched::Poller { poll: saki_reactor::poll, interrupt: saki_reactor::interrupt };

/// Makes the objects that must exist before managed code runs, in the order that the class library needs.
fn bootstrap(t: CurrentThread) -> Managed<()> {
    domains::start(t)?;
    let tombstone = Obj::new(t, universe().object())?;
    let _ = TOMBSTONE.set(RootCell::new(tombstone));
    saki_gc::set_ephemeron_tombstone(tombstone.word());
    Ok(())
}

static TOMBSTONE: OnceLock<RootCell> = OnceLock::new();

/// `GC.get_ephemeron_tombstone`.
pub fn ephemeron_tombstone<'t>(t: CurrentThread<'t>) -> Option<Obj<'t>> {
    TOMBSTONE.get()?.obj(t)
}

/// The AppDomain object of the current domain; None while the machine starts.
pub fn domain_object<'t>(t: CurrentThread<'t>) -> Option<Obj<'t>> {
    universe().runtime::<Domain>()?.object(t)
}

/// Sets the command line, program first, of a host that runs methods itself. It stays if it was set before.
pub fn set_command_line(arguments: Vec<String>) {
    let _ = COMMAND_LINE.set(arguments);
}

/// Program path and arguments, as `Environment.GetCommandLineArgs` gives them.
pub fn command_line() -> &'static [String] {
    COMMAND_LINE.get().map_or(&[], |args| args.as_slice())
}

/// The program's assembly in the current domain.
pub fn entry_assembly() -> Option<&'static Assembly> {
    domains::current().entry_assembly()
}

impl Vm {
    /// A builder for a machine with these upper layers.
    pub fn builder(layers: UpperLayers) -> VmBuilder {
        VmBuilder { layers, options: VmOptions::default() }
    }

    /// The thread that started the machine, which is the calling one.
    pub fn main_thread(&self) -> CurrentThread<'_> {
        // SAFETY: the value has not left the thread that started the machine, and `'_` is the borrow of it.
        unsafe { CurrentThread::from_abi(self.main_thread) }
    }

    /// Loads a program, without running it.
    ///
    /// # Errors
    /// One line naming the file and what is wrong.
    pub fn load_program(&self, path: &Path) -> Result<&'static Assembly, StartError> {
        load_program(path)
    }

    /// Runs `Main` with these arguments, waits for the foreground threads and runs the exit handlers and finalizers.
    /// Returns the process's exit code; the host still has to exit. An unhandled exception is reported, and ends the
    /// process.
    pub fn run(self, assembly: &'static Assembly, arguments: &[String]) -> i32 {
        run_main(self.main_thread(), assembly, arguments);
        crate::exit::shut_down(self.main_thread());
        exit_code()
    }

    /// Ends a machine whose host lives on, without a program: waits for the foreground threads and runs the exit
    /// handlers and finalizers. No managed code may be called any more. Returns `Environment.ExitCode`.
    pub fn end(self) -> i32 {
        crate::exit::shut_down(self.main_thread());
        services::end(self.main_thread());
        exit_code()
    }

    /// Like [`Vm::run`], for a host that lives on. The threads that serve the machine have ended when this returns,
    /// unless one was busy for two seconds; no managed code may be called any more.
    pub fn run_and_end(self, assembly: &'static Assembly, arguments: &[String]) -> i32 {
        run_main(self.main_thread(), assembly, arguments);
        crate::exit::shut_down(self.main_thread());
        services::end(self.main_thread());
        exit_code()
    }
}

fn load_program(path: &Path) -> Result<&'static Assembly, StartError> {
    let directory =
        std::fs::canonicalize(path).ok().and_then(|p| p.parent().map(Path::to_path_buf)).unwrap_or_default();
    universe().binder().set_application_base(&directory);
    let mut config = path.as_os_str().to_owned();
    config.push(".config");
    if let Ok(text) = std::fs::read_to_string(config) {
        universe().binder().set_config(saki_types::app_config::AppConfig::parse(&text));
    }
    let assembly = universe().binder().load_file(path)?;
    domains::current().set_entry_assembly(assembly);
    domains::current().set_friendly_name(&path.file_name().unwrap_or_default().to_string_lossy());
    Ok(assembly)
}

/// Runs `Main` of an assembly that a host has loaded, which becomes the program's; the exit code so far. The machine
/// and other threads go on. An unhandled exception is reported, and ends the process.
pub fn execute(t: CurrentThread, assembly: &'static Assembly, args: &[String]) -> i32 {
    run_main(t, assembly, args);
    exit_code()
}

/// Makes a loaded assembly the program of the current domain: the entry assembly, with its folder and configuration.
///
/// # Errors
/// OutOfMemoryException.
pub fn make_program(t: CurrentThread, assembly: &'static Assembly) -> Managed<()> {
    static APPLICATION_BASE: ManagedField = ManagedField::new(LibraryType::AppDomainSetup, "application_base");
    static CONFIGURATION_FILE: ManagedField = ManagedField::new(LibraryType::AppDomainSetup, "configuration_file");
    domains::current().set_entry_assembly(assembly);
    let mut base = assembly.path.parent().unwrap_or(Path::new("/")).display().to_string();
    if !base.ends_with('/') {
        base.push('/');
    }
    let base = Str::new(t, &base)?;
    let config = Str::new(t, &format!("{}.config", assembly.path.display()))?;
    if let Some(setup) = domains::current().setup(t) {
        APPLICATION_BASE.set_ref(t, setup, base);
        CONFIGURATION_FILE.set_ref(t, setup, config);
    }
    Ok(())
}

/// Runs `Main` with these arguments. Reports an unhandled exception.
fn run_main(t: CurrentThread, assembly: &'static Assembly, args: &[String]) {
    let mut command_line = vec![assembly.path.display().to_string()];
    command_line.extend(args.iter().cloned());
    let _ = COMMAND_LINE.set(command_line);
    match try_run_main(t, assembly, args) {
        // A thread that still runs may set another exit code.
        Ok(code) => set_exit_code(code),
        Err(Thrown(())) => unhandled::report_and_exit(t),
    }
}

fn try_run_main(t: CurrentThread, assembly: &'static Assembly, args: &[String]) -> Managed<i32> {
    if let Some(net) = &options::options().net {
        if let Err(error) = termination::install() {
            saki_base::tell!("saki: SIGTERM will end the process without ProcessExit: {error}");
        }
        return net::run_main(t, net, assembly, args);
    }
    make_program(t, assembly)?;

    let token = assembly.image.meta.entry_point_token();
    let main = assembly.image.resolve_method(token, &saki_types::GenericContext::NONE).to_managed(t)?;
    let is_sta =
        saki_types::class::has_attribute(assembly.image, token, "System", "STAThreadAttribute").to_managed(t)?;
    crate::threads::set_main_apartment(t, is_sta);
    let sig = main.sig().to_managed(t)?;
    crate::exit_code::note_main(sig.ret != universe().void());
    let mut word = [Slot(0)];
    if !sig.params.is_empty() {
        let array = Array::new(t, universe().string(), args.len())?;
        for (index, arg) in args.iter().enumerate() {
            array.set(t, index, Some(Str::new(t, arg)?.into()));
        }
        word[0] = Slot::from_ref(array);
    }
    let result = invoke::invoke(t, main, &word[..sig.params.len().min(1)])?;
    if sig.ret == universe().void() {
        return Ok(exit_code());
    }
    Ok(result.as_i32())
}
