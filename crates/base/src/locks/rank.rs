//! The table of the machine's locks: what each protects, and which may be taken while it is held.
//!
//! Locks are listed from the outside to the inside: a lock is taken before those that follow it, never after. A row has
//! the lock's rank, which is a type, the file of the lock, and
//!
//! - `over [...]`: the ranks that may be taken while it is held, and those that may be taken while these are. An empty
//!   list: none but those of the last section;
//! - `over_all`: every later rank;
//! - `anywhere` (the last section): it may be taken while any lock of another section is held, and none is taken under
//!   it; `anywhere_over [...]`, `anywhere_over_all`: but these.
//!
//! A rank stands for all locks of its place in the program: each type's, each domain's. No two locks of one rank are
//! held by a thread at once. A new nesting that debug builds refuse is either a mistake, or belongs into the list of
//! the outer lock: the row says who has to be asked first.
//!
//! The rank that divides the table is `World`. A thread that waits for a lock outside of a safe region keeps a stop of
//! the world waiting, so a lock must not be held at a safepoint: locks that follow `World` never are, and those before
//! it are waited for in safe regions, or by threads that run no managed code.
//!
//! Invariant: each lock of the machine has its row here; tidy finds rows without a lock and locks without a row. Left
//! out: how the order is checked (`order`).

use std::fmt;

/// The rank of a lock, a type without values.
pub trait Rank: Send + Sync + 'static {
    /// Position in the table.
    const INDEX: u16;
    /// Held by a stop of the world, which another thread may end.
    const IS_OF_STOP: bool = Self::INDEX == World::INDEX || Self::INDEX == StackMoves::INDEX;
}

/// What may be taken under a lock.
enum Inner {
    /// These, and what may be taken under them.
    These(&'static [u16]),
    /// Everything that follows in the table.
    All,
}

/// A row of the table.
pub struct RankRow {
    /// The name of the rank's type.
    pub name: &'static str,
    file: &'static str,
    inner: Inner,
    is_anywhere: bool,
}

impl fmt::Display for RankRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (crates/{})", self.name, self.file)
    }
}

/// The row of a rank.
pub fn row(index: u16) -> &'static RankRow {
    &TABLE[usize::from(index)]
}

/// Whether a thread that holds a lock of rank `outer` may wait for one of rank `inner`.
pub fn may_be_taken_under(outer: u16, inner: u16) -> bool {
    outer < inner && (may_be_taken_anywhere(inner) && !may_be_taken_anywhere(outer) || is_listed(outer, inner))
}

/// Whether a rank is of the last section. Threads that take such a lock while they hold one that a fork holds are
/// managed threads, which have stopped by then.
pub fn may_be_taken_anywhere(index: u16) -> bool {
    row(index).is_anywhere
}

fn is_listed(outer: u16, inner: u16) -> bool {
    match row(outer).inner {
        Inner::All => true,
        Inner::These(these) => these.iter().any(|&next| next == inner || next < inner && is_listed(next, inner)),
    }
}

macro_rules! inner {
    (over [$($inner:ident),*]) => { Inner::These(&[$($inner::INDEX),*]) };
    (anywhere_over [$($inner:ident),*]) => { Inner::These(&[$($inner::INDEX),*]) };
    (over_all) => { Inner::All };
    (anywhere_over_all) => { Inner::All };
    (anywhere) => { Inner::These(&[]) };
}

macro_rules! is_anywhere {
    (anywhere) => {
        true
    };
    (anywhere_over) => {
        true
    };
    (anywhere_over_all) => {
        true
    };
    ($other:ident) => {
        false
    };
}

macro_rules! ranks {
    ($($(#[doc = $protects:literal])+ $name:ident in $file:literal, $how:ident $([$($inner:ident),*])?;)+) => {
        #[repr(u16)]
        enum Index { $($name),+ }

        $(
            $(#[doc = $protects])+
            pub enum $name {}
            impl Rank for $name {
                const INDEX: u16 = Index::$name as u16;
            }
        )+

        static TABLE: &[RankRow] = &[$(RankRow {
            name: stringify!($name),
            file: $file,
            inner: inner!($how $([$($inner),*])?),
            is_anywhere: is_anywhere!($how),
        }),+];
    };
}

ranks! {
    // May be held while the world is stopped, so nothing that happens in a stop takes them. A thread waits for them in
    // a safe region, or is no managed thread.
    /// All first uses of types: what is computed then, and vtables. A handler of AssemblyResolve, which is managed
    /// code, runs under it, and may end the process, and so a profile, or change Mono's log.
    Loader in "types/src/lazy.rs", over_all;
    /// The command's profile session, from its start to the writing of the profile.
    ProfileSession in "cli/src/profile/command.rs", over_all;
    /// The sampling of Mono's log; the sampler is started and stopped under it.
    LogSamples in "runtime/src/vm/profile_log/log.rs", over_all;
    /// The sampler's reader between the session's start and its end.
    SampleReader in "sampler/src/reader_thread.rs", over_all;
    /// One heap snapshot at a time.
    HeapSnapshot in "gc/src/snapshot.rs", over_all;

    // The stop itself.
    /// Held during a stop of the world, and for each change of the list of carriers. Waiting for the end of a stop
    /// counts as waiting for it.
    World in "thread/src/stop.rs", over_all;
    /// Shared by whoever moves stacks of parked threads; a stopped world holds it exclusively.
    StackMoves in "thread/src/cold_stack.rs", over_all;

    // Taken before those that a fork holds.
    /// The handle of this process.
    CurrentProcess in "icall/src/process/processes.rs", over [ProcessWatcher, WatchedProcesses, Processes];
    /// The descriptor that the watcher of child processes waits on.
    ProcessWatcher in "icall/src/process/processes.rs", over [];
    /// What waits for descriptors in the class library's selector, by descriptor.
    SelectorJobs in "icall/src/threading/io_selector.rs", over [DescriptorRecord, ReactorStart];
    /// The buffer of the thread that waits in epoll.
    EpollEvents in "reactor/src/backend/epoll.rs", over [DescriptorRecord, SelectorNotes];
    /// The side of the ring that reports, held by the thread that waits.
    UringCompletions in "reactor/src/backend/uring.rs", over [DescriptorRecord, SelectorNotes];
    /// Who waits for one descriptor.
    DescriptorRecord in "reactor/src/record.rs", over [PollSet];
    /// How far the weak processing of the collection that runs has got.
    WeakStep in "gc/src/weak.rs", over [DeadOwners, DynamicMethods, Ephemerons, WeakFields];
    /// Who wants to look at the heap at the end of the collection.
    SnapshotRequest in "gc/src/snapshot_request.rs", over [
        Threads, Finalizers, RootRanges, StaticRoots, CellChunks, Owners
    ];
    /// Collectible assemblies and domains that a collection found dead.
    DeadOwners in "runtime/src/vm/collectible.rs", over [
        FinalizerState, LoadedAssemblies, Owners, OutlivingVTables
    ];
    /// Vtables that remember casts to types which may end before them.
    OutlivingVTables in "runtime/src/object/cast_cache.rs", over [];
    /// The lists of dynamic methods.
    DynamicMethods in "runtime/src/vm/dynamic_methods.rs", over [FinalizerState, DynamicRecords];

    // Held before a fork, in this order, until it is over.
    /// Carriers to use again.
    FreeCarriers in "thread/src/carrier.rs", over [];
    /// The list of workers.
    Workers in "sched/src/workers.rs", over [];
    /// The green threads whose stacks may be moved.
    ColdThreads in "sched/src/cold.rs", over [];
    /// The starting of the reactor.
    ReactorStart in "reactor/src/poller.rs", over [];
    /// What the finalizer thread is asked for and does.
    FinalizerState in "runtime/src/vm/finalizer_signal.rs", over [Finalizers];
    /// One writer of cache files at a time.
    CacheWriting in "runtime/src/exec/code_cache.rs", over [CachedBodies, FreshBodies, IdentifiedFiles];
    /// The class constructors that run, and who waits for them.
    RunningInitialisers in "runtime/src/exec/class_init.rs", over [CellChunks, FreedCells];
    /// The methods that are to be compiled for the second tier.
    HotMethods in "runtime/src/vm/tiers.rs", over [];
    /// The cells in which code of the first tier notes what it meets.
    NotedCells in "runtime/src/exec/compile/noted.rs", over [];
    /// The records of dynamic methods.
    DynamicRecords in "types/src/dynamic_records.rs", over [Threads];
    /// The child processes that are watched.
    WatchedProcesses in "icall/src/process/processes.rs", over [];
    /// The child processes by their handles.
    Processes in "icall/src/process/processes.rs", over [Waitables, ProcessResult];
    /// Events, mutexes, semaphores and what waits for them.
    Waitables in "runtime/src/exec/waitables/table.rs", over [];
    /// Descriptors that became ready, for the class library's selector.
    SelectorNotes in "icall/src/threading/io_selector/parked.rs", over [];
    /// The threads that look up names, and their work.
    LookUpPool in "icall/src/net/look_ups.rs", over [];

    // Threads and carriers.
    /// The types with thread-static fields, by block number.
    ThreadStaticTypes in "runtime/src/object/statics.rs", over [Threads];
    /// The proof that the world is stopped for a fork.
    ForkStop in "thread/src/fork.rs", over [];
    /// What parts do for each carrier.
    CarrierHooks in "thread/src/registry.rs", over [Finalizers, OrphanedSlots, ArmedCarriers];
    /// What parts do for each thread.
    ThreadHooks in "thread/src/registry.rs", over [ThreadName, WalkCheckTimers];
    /// The list of carriers.
    Carriers in "thread/src/carrier.rs", over [OrphanedThreads, ArmedCarriers];
    /// The list of threads.
    Threads in "thread/src/registry.rs", over [ThreadName, WalkCheckTimers];
    /// Threads that carriers ran which have ended since the last collection.
    OrphanedThreads in "thread/src/carrier.rs", over [];
    /// The threads that wait for the end of one.
    Joiners in "thread/src/managed_thread.rs", over [];
    /// The name of one thread as the machine shows it.
    ThreadName in "thread/src/managed_thread.rs", over [];

    // The heap. Collections take these with the world stopped.
    /// The proof that the world is stopped for a collection.
    CollectionStop in "gc/src/world.rs", over [];
    /// The times of the collection that runs.
    CollectionClock in "gc/src/mmtk/clock.rs", over [];
    /// What recent collections say about the size of the nursery.
    NurseryTimes in "gc/src/policy.rs", over [];
    /// How much recent collections say that the program will allocate.
    HeapDemand in "gc/src/policy.rs", over [];
    /// How long collections have taken too much of the time.
    OverheadStreak in "gc/src/policy.rs", over [];
    /// How often allocations are to be sampled.
    ObserverRequests in "gc/src/observer.rs", over [];
    /// Objects with finalizers, and those whose finalizers are due.
    Finalizers in "gc/src/finalize.rs", over [BoundCarriers, ReleasedThreads, ThreadNames];
    /// The tables of weak keys that the collection that runs has found.
    Ephemerons in "gc/src/ephemeron.rs", over [];
    /// The objects with weak fields that the collection that runs has found.
    WeakFields in "gc/src/weak_fields.rs", over [];
    /// Memory that holds roots.
    RootRanges in "gc/src/roots.rs", over [];
    /// The carriers that have a part of the heap.
    BoundCarriers in "gc/src/mmtk/active_plan.rs", over [];
    /// Slots that carriers remembered which have ended since the last collection.
    OrphanedSlots in "gc/src/mmtk/active_plan.rs", over [];
    /// Why a collector thread could not be started.
    WorkerFailure in "gc/src/mmtk/collection.rs", over [];

    // Internal calls.
    /// The folder where stages of a crash report are noted.
    CrashFolder in "icall/src/mono/crash_state.rs", over [];
    /// The program's performance counters.
    CounterCategories in "icall/src/diagnostics/counter_table.rs", over [];
    /// Decoded signatures of calls with a variable number of arguments.
    VarargSignatures in "icall/src/system/arg_iterator.rs", over [];
    /// Native data of cultures: numbers.
    NumberFormats in "icall/src/globalization/culture_data.rs", over [];
    /// Native data of cultures: texts.
    TextInfos in "icall/src/globalization/culture_info.rs", over [];
    /// Which files the program has open, and how they are shared.
    FileUses in "icall/src/io/file_sharing.rs", over [];
    /// The records of open files.
    FileHandles in "icall/src/io/file_handles.rs", over [];
    /// Mapped files by name, and their counts of references.
    NamedMaps in "icall/src/io/memory_map.rs", over [];
    /// The records of open sockets.
    Sockets in "icall/src/net/socket_table.rs", over [];
    /// The answer of one look-up.
    LookUpAnswer in "icall/src/net/look_ups.rs", over [];
    /// The exit code of one child process.
    ProcessResult in "icall/src/process/processes.rs", over [];
    /// The thread pool's queue of requests and its workers.
    ThreadPool in "runtime/src/vm/thread_pool/pool.rs", over [];

    // Reflection.
    /// The modules that are made at run time.
    EmittedModules in "reflect/src/emit/emitted_module.rs", over [];
    /// The tokens and the state of one module that is made at run time.
    EmittedModule in "reflect/src/emit/emitted_module.rs", over [];
    /// The modules that are made at run time on .NET's class libraries.
    DynamicModules in "corelib/src/emit/module.rs", over [];
    /// The records of one of them.
    DynamicModule in "corelib/src/emit/module.rs", over [];
    /// Reflection objects by what they describe.
    ReflectionObjects in "reflect/src/cache.rs", over [CellChunks, FreedCells];
    /// Native copies of assemblies' names.
    AssemblyNames in "reflect/src/assembly_name.rs", over [];
    /// Native descriptions of type parameters.
    GenericParameters in "reflect/src/type_handle.rs", over [];
    /// Properties by type.
    Properties in "reflect/src/members.rs", over [];
    /// Events by type.
    Events in "reflect/src/members.rs", over [];
    /// Attribute blobs that lie in no image.
    AttributeBlobs in "reflect/src/emit/attributes.rs", over [];
    /// Lists of generic arguments with which tokens are resolved.
    TokenContexts in "reflect/src/tokens.rs", over [];

    // Interop.
    /// Delegate types that native code may call.
    CallbackTypes in "interop/src/delegates.rs", over [];
    /// Code that calls a function pointer, by delegate type.
    NativeInvokes in "interop/src/delegates.rs", over [];
    /// Callbacks of one delegate type to use again.
    CallbackContexts in "interop/src/delegates.rs", over [CallbackEntries];
    /// Callbacks by the address that native code calls.
    CallbackEntries in "interop/src/delegates.rs", over [];
    /// Delegate types over functions of a host in Rust.
    HostDelegateTypes in "interop/src/host_functions.rs", over [];
    /// Entries for delegates of one such type to use again.
    HostDelegateEntries in "interop/src/host_functions.rs", over [HostDelegate];
    /// The delegate of such an entry and its function.
    HostDelegate in "interop/src/host_functions.rs", over [];
    /// The C functions through which hosts call methods.
    RawEntries in "interop/src/raw_entries.rs", over [];
    /// Descriptors of marshalled parameters.
    MarshalDescriptors in "interop/src/descriptor.rs", over [];
    /// The dllmaps of assemblies.
    DllMaps in "interop/src/resolve.rs", over [];
    /// Native libraries that are loaded.
    NativeLibraries in "interop/src/library.rs", over [];

    // Domains, profiling, and the ends of methods and assemblies.
    /// Aborts and interrupts that are repeated until they are noticed.
    UnnoticedRequests in "runtime/src/vm/interruption.rs", over [];
    /// The timers of `--check-walks`.
    WalkCheckTimers in "runtime/src/vm/walk_check.rs", over [];
    /// How deep the calls of each thread are, for `--trace`.
    CallDepths in "runtime/src/vm/call_trace.rs", over [];
    /// The statements that coverage counts, by method.
    CoveredMethods in "runtime/src/vm/coverage.rs", over [];
    /// Debug symbols by image.
    SourceSymbols in "runtime/src/vm/source_lines.rs", over [];
    /// Dead collectible assemblies and domains whose code may still be walked.
    RetiredOwners in "runtime/src/vm/collectible.rs", over [];
    /// Dead dynamic methods whose code may still be walked.
    RetiredMethods in "runtime/src/vm/dynamic_methods.rs", over [];
    /// The handles of threads that have ended.
    ReleasedThreads in "runtime/src/vm/thread_objects.rs", over [];
    /// The names of all threads that the program sees.
    ThreadNames in "runtime/src/vm/thread_names.rs", over [];
    /// The environment variables of a program on .NET's class libraries.
    ProgramEnvironment in "corelib/src/environment.rs", over [];
    /// When Mono's log takes its next snapshot of the heap.
    HeapShots in "runtime/src/vm/profile_log/log.rs", over [];
    /// The counters that Mono's log writes.
    LogCounters in "runtime/src/vm/profile_log/log.rs", over [];

    // Compiling and calling.
    /// The bodies that instantiations of a method share.
    SharedForms in "runtime/src/exec/compile/shared.rs", over [];
    /// The classes whose `new` the program has redirected.
    RedirectedMethods in "runtime/src/exec/proxy_calls.rs", over [];
    /// The context-static fields by their numbers.
    ContextStatics in "runtime/src/exec/context_statics.rs", over [];
    /// The methods whose code can be replaced.
    ReplaceableMethods in "runtime/src/object/versions.rs", over [];
    /// Code that calls methods from Rust, by signature.
    InvokeThunks in "runtime/src/exec/invoke.rs", over [];
    /// Errors that compiled code throws, by method.
    DeferredErrors in "runtime/src/exec/compile/deferred.rs", over [];
    /// What the code cache knows of each image.
    CachedModules in "runtime/src/exec/code_cache/module.rs", over [];
    /// The bodies of each file in the code cache.
    CachedBodies in "runtime/src/exec/code_cache/module.rs", over [];
    /// The bodies of one file that this run has compiled.
    FreshBodies in "runtime/src/exec/code_cache/module.rs", over [];
    /// The identities of the contents of files.
    IdentifiedFiles in "runtime/src/exec/code_cache/contents.rs", over [FreshRecords];
    /// The identities that this run has found, to be kept.
    FreshRecords in "runtime/src/exec/code_cache/remembered.rs", over [];

    // Objects and the facts about them.
    /// The list of domains.
    Domains in "runtime/src/object/domain.rs", over [DomainThreads, CellChunks, FreedCells];
    /// The name of one domain.
    DomainName in "runtime/src/object/domain.rs", over [];
    /// The data that a program keeps in one domain.
    DomainData in "runtime/src/object/domain.rs", over [CellChunks, FreedCells];
    /// The threads in one domain.
    DomainThreads in "runtime/src/object/domain.rs", over [];
    /// The interned strings of one domain.
    InternedStrings in "runtime/src/object/domain.rs", over [CellChunks, FreedCells];
    /// The string literals of compiled code.
    Literals in "runtime/src/object/strings.rs", over [CellChunks, FreedCells];
    /// The classes of transparent proxies.
    ProxyClasses in "runtime/src/object/proxies.rs", over [];
    /// The contract with one assembly of the class library.
    ContractSections in "runtime/src/object/class_library.rs", over [];
    /// The load contexts of .NET's class libraries.
    LoadContexts in "corelib/src/load_context.rs", over [];
    /// The missing internal calls that the program has made.
    MissingCalls in "runtime/src/object/missing.rs", over [];
    /// The memory of static fields that holds references.
    StaticRoots in "runtime/src/object/statics.rs", over [OwnedStaticRoots];
    /// The same that lies among the records of collectible assemblies.
    OwnedStaticRoots in "runtime/src/object/statics.rs", over [];
    /// The writable copies of images' data.
    WritableSections in "runtime/src/object/statics.rs", over [];
    /// The targets of normal GC handles during a collection.
    NormalHandles in "runtime/src/object/handles.rs", over [];
    /// The memory of root cells.
    CellChunks in "runtime/src/object/cells.rs", over [];
    /// Root cells to use again.
    FreedCells in "runtime/src/object/cells.rs", over [];

    // Types.
    /// Layouts of types as native code sees them.
    NativeLayouts in "il/src/synth/marshal/layout.rs", over [];
    /// Types whose native layout is being computed, under the loader lock.
    NativeLayoutsInProgress in "il/src/synth/marshal/layout.rs", over [];
    /// Where a domain looks for assemblies.
    SearchPaths in "types/src/domain.rs", over [];
    /// A domain's redirections of assemblies.
    AppConfig in "types/src/domain.rs", over [];
    /// The assemblies of a domain.
    LoadedAssemblies in "types/src/domain.rs", over [];
    /// The assemblies of a domain's reflection-only context.
    ReflectionOnlyAssemblies in "types/src/domain.rs", over [];
    /// The modules of an assembly beside its manifest.
    ModuleImages in "types/src/domain.rs", over [];
    /// The types made at run time of an assembly.
    EmittedTypes in "types/src/domain.rs", over [];
    /// The nested types of a type made at run time.
    NestedTypes in "types/src/domain.rs", over [];
    /// The type forwarders that led to types of an image.
    ForwardersPassed in "types/src/domain.rs", over [];
    /// A domain's arrays, pointers, byrefs and generic instances.
    ConstructedTypes in "types/src/domain.rs", over [];
    /// A domain's instances of generic methods.
    MethodInstances in "types/src/domain.rs", over [];
    /// A domain's stubs of remoting.
    RemotingStubs in "types/src/domain.rs", over [];
    /// A domain's stubs of calls to native functions.
    NativeCalls in "types/src/domain.rs", over [];
    /// The metadata files that are mapped.
    OpenedFiles in "types/src/files.rs", over [];
    /// The list of collectible assemblies and domains.
    Owners in "types/src/collectible.rs", over [];

    // Code.
    /// Stubs that unbox, by method.
    UnboxStubs in "code/src/entry.rs", over [StubSlots];
    /// Jumps to functions that are out of reach, by function.
    Veneers in "code/src/stub_slots.rs", over [StubSlots];
    /// The growth of the room for stubs.
    StubSlots in "code/src/stub_slots.rs", over [GdbInterface, JitDump, PerfMap];
    /// The code memory of a child that is being forked.
    ChildViews in "code/src/region.rs", over [];
    /// The code that debuggers are told about.
    GdbInterface in "tools/src/gdb.rs", over [];
    /// The file that `perf inject` reads.
    JitDump in "tools/src/jitdump.rs", over [];
    /// The file that `perf report` reads.
    PerfMap in "tools/src/perf_map.rs", over [];

    // The sampler.
    /// The timers of the threads that are sampled.
    ArmedCarriers in "sampler/src/carriers.rs", over [];
    /// The thread of the sampler's reader.
    SampleReaderThread in "sampler/src/reader_thread.rs", over [];
    /// The refreshing of the list of native modules.
    NativeModules in "sampler/src/modules.rs", over [];

    // Waiting for descriptors.
    /// The descriptors that `poll` waits for.
    PollSet in "reactor/src/backend/poll.rs", over [];

    // The scheduler.
    /// The stacks of one size.
    StackClass in "fiber/src/pool.rs", over [];

    // Small lists that may be needed anywhere.
    /// The objects that the collection that runs has moved, for a profiler.
    ObservedMoves in "gc/src/observer.rs", anywhere;
    /// The thread that waits for the last foreground thread.
    ProcessEnd in "thread/src/exit.rs", anywhere_over [
        SlotCounts, FreeWorkers, IdleCarriers, Injector, UringSubmissions
    ];
    /// How many carriers may run, and who waits to come back.
    SlotCounts in "sched/src/slots.rs", anywhere;
    /// Workers to use again.
    FreeWorkers in "sched/src/carriers.rs", anywhere;
    /// Ids and structures of threads to use again.
    ThreadStructures in "thread/src/registry.rs", anywhere;
    /// The carriers that sleep.
    IdleCarriers in "sched/src/idle.rs", anywhere;
    /// The scheduler's common queue.
    Injector in "sched/src/injector.rs", anywhere;
    /// The large objects, by their addresses.
    LargeObjects in "gc/src/large.rs", anywhere;
    /// The side of the ring that takes orders.
    UringSubmissions in "reactor/src/backend/uring.rs", anywhere;
    /// The timers of green threads.
    Timers in "sched/src/timers.rs", anywhere;
    /// Who waits for one monitor.
    MonitorQueues in "sync/src/monitor.rs", anywhere;
    /// Monitors to use again.
    FreeMonitors in "sync/src/monitor_table.rs", anywhere;
    /// What one collectible assembly or domain owns.
    OwnerState in "types/src/collectible.rs", anywhere_over [OwnerJudgement];
    /// Which owners the collection that runs judges.
    OwnerJudgement in "runtime/src/vm/collectible.rs", anywhere;
    /// Large rooms in the code heap to use again.
    LargeRooms in "code/src/heap.rs", anywhere;
    /// Records of calls that wait for code, to use again.
    FreedCallSites in "code/src/call_sites.rs", anywhere;
    /// Freed items that any processor may use again.
    SpilledItems in "sync/src/recycler.rs", anywhere;
    /// The installation of signal handlers.
    SignalActions in "os/src/signal.rs", anywhere;
    /// What is left of the memory for records of crowds.
    Records in "os/src/records.rs", anywhere;
    /// The regions of roots that Mono's log has written.
    LogRootRegions in "runtime/src/vm/profile_log/root_regions.rs", anywhere;
    /// The stacks that Mono's log has numbered.
    LogStacks in "runtime/src/vm/profile_log/stacks.rs", anywhere_over_all;
    /// The vtables that Mono's log has described.
    LoggedVTables in "runtime/src/vm/profile_log/names.rs", anywhere_over_all;
    /// The classes that it has described.
    LoggedClasses in "runtime/src/vm/profile_log/names.rs", anywhere_over_all;
    /// The images that it has described.
    LoggedImages in "runtime/src/vm/profile_log/names.rs", anywhere_over_all;
    /// The domains that it has described.
    LoggedDomains in "runtime/src/vm/profile_log/names.rs", anywhere_over_all;
    /// The methods that it has described.
    LoggedMethods in "runtime/src/vm/profile_log/names.rs", anywhere_over_all;
    /// The thread names that it has written.
    LoggedThreads in "runtime/src/vm/profile_log/names.rs", anywhere_over_all;
    /// The native functions that it has described.
    LoggedNatives in "runtime/src/vm/profile_log/names.rs", anywhere_over_all;
    /// The numbers of stacks of sampled objects.
    NumberedStacks in "runtime/src/vm/profile_events.rs", anywhere_over_all;
    /// The numbers of types of sampled objects.
    NumberedNames in "runtime/src/vm/profile_events.rs", anywhere_over_all;
    /// Names for profiles.
    SampledNames in "runtime/src/vm/profile_events.rs", anywhere;
    /// Records of sampled threads to use again.
    FreeSampleRings in "sampler/src/threads.rs", anywhere;
    /// Events that wait for the sampler's reader.
    WaitingEvents in "sampler/src/events.rs", anywhere;
    /// The buffers of some threads for Mono's log.
    LogShard in "profile/src/mlpd/log.rs", anywhere_over [LogSink, LogMetadata];
    /// The file of Mono's log.
    LogSink in "profile/src/mlpd/log.rs", anywhere_over [LogMetadata];
    /// The buffer of descriptions for Mono's log.
    LogMetadata in "profile/src/mlpd/log.rs", anywhere;
    /// The queues of events for EventListener.
    EventSessions in "runtime/src/object/runtime_events.rs", anywhere;
    /// The internal calls of an embedding host.
    HostCalls in "runtime/src/exec/host_calls.rs", anywhere;
    /// The channels by which a host in Rust ends the machine.
    HostEnds in "saki/src/vm.rs", anywhere;
    /// Maps of native libraries of an embedding host.
    HostMaps in "interop/src/host_maps.rs", anywhere;
    /// The configuration that an embedding host has given.
    HostConfig in "runtime/src/vm/host_settings.rs", anywhere;
    /// Functions that an embedding host has given for later.
    HostFunctions in "monosgen/src/host_functions.rs", anywhere;
    /// The limits of resources that an embedding host has set.
    HostLimits in "monosgen/src/counters.rs", anywhere;
    /// What an embedding host has set.
    HostSettings in "monosgen/src/config.rs", anywhere;
    /// Records that are made for an embedding host.
    HostRecords in "monosgen/src/host_records.rs", anywhere;
    /// Texts that an embedding host was given.
    HostTexts in "monosgen/src/text.rs", anywhere;
    /// The newest values of a program's instruments.
    MetricValues in "corelib/src/metrics.rs", anywhere;
    /// The newest values of counters of a program's event sources.
    EventCounterValues in "corelib/src/event_counters.rs", anywhere;
    /// The interner of strings.
    Symbols in "base/src/interner.rs", anywhere;
    /// Why the answer of a command has not arrived.
    AnswerFailure in "base/src/messages.rs", anywhere;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_listed_before_those_that_are_taken_under_them() {
        let mut has_seen_anywhere = false;
        for (index, row) in TABLE.iter().enumerate() {
            if let Inner::These(these) = row.inner {
                for &inner in these {
                    assert!(usize::from(inner) > index, "{row} is over {}, which stands before it", super::row(inner));
                }
            }
            assert!(row.is_anywhere || !has_seen_anywhere, "{row} stands among those that may be taken anywhere");
            has_seen_anywhere |= row.is_anywhere;
        }
    }

    #[test]
    fn what_may_be_taken_follows_from_the_lists() {
        let allows = |outer: u16, inner: u16| may_be_taken_under(outer, inner);
        assert!(allows(World::INDEX, StackMoves::INDEX) && !allows(StackMoves::INDEX, World::INDEX));
        assert!(allows(Loader::INDEX, World::INDEX), "a handler of AssemblyResolve runs under it");
        assert!(!allows(Domains::INDEX, World::INDEX) && !allows(Domains::INDEX, Domains::INDEX));
        assert!(allows(Domains::INDEX, FreedCells::INDEX), "it is listed");
        assert!(!allows(Domains::INDEX, Literals::INDEX), "later in the table, but not listed");
        assert!(allows(Domains::INDEX, Symbols::INDEX), "anywhere");
        assert!(!allows(Symbols::INDEX, AnswerFailure::INDEX));
        assert!(allows(WeakStep::INDEX, BoundCarriers::INDEX), "by way of the finalizers");
    }
}
