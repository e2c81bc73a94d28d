//! The compile driver: method → IR → machine code → placed and published.
//!
//! | file | about |
//! |---|---|
//! | `job` | one compilation, in three acts |
//! | `facts` | what compilations ask of the machine, and what they rely on |
//! | `link` | cells, addresses, placing |
//! | `noted` | what the first tier's code notes for the second |
//! | `shared` | bodies for several instantiations of a method |
//! | `thunks` | code that belongs to no method |
//! | `compiler` | the code generator of the machine |
//! | `deferred`, `statistics`, `dump` | errors that code throws when it gets there; costs; printing |
//!
//! Publication order: code and tables → code map → i-cache (all in `saki_code::place`) → `MethodRuntime::version` →
//! entry, calls, vtables (`versions`). Two threads may compile one method at the same time; the first to publish wins
//! and the other's body stays unused.

mod compiler;
mod deferred;
mod dump;
mod facts;
mod job;
mod link;
mod noted;
mod shared;
mod statistics;
mod thunks;

pub(crate) use compiler::compiler;
pub use deferred::deferred_error;
pub(crate) use deferred::forget_deferred_errors;
pub use dump::DumpOptions;
pub(crate) use facts::MachineFacts;
pub(crate) use job::CompileJob;
pub(crate) use noted::{begin_child, hold, release};
pub use shared::{SHARED_BODIES, SHARED_COPIES};
pub use statistics::{BASELINE_METHODS, CompileStatistics, GUARDED_CALLS, IL_BYTES, STATISTICS, keep_statistics};
pub use thunks::{CallbackEntry, compile_callback_entry, invoke_thunk, place_callback_entry};

use crate::class_init;
use crate::code_cache::{self, Conditions, Identity, Lookup, Slot};
use crate::entries::compiled_code;
use crate::events::{LogEvents, is_logged};
use crate::exceptions::{self, ToManaged};
use crate::host_events::{self, HostEvent, tell_if_wanted};
use crate::object::perturbation;
use crate::object::versions::{self, CodeVersion, Purpose};
use crate::tail_arguments::KeptTailArguments;
use crate::thread::{CurrentThread, Managed};
use crate::upcalls::upcalls;
use job::{Body, CompileFailure};
use saki_code::{CodeInfo, CodeKind};
use saki_il::import::Continuation;
use saki_il::ir::Function;
use saki_jit::{CompiledBy, CompiledCode, CompilerOptions, Tiers};
use saki_sampler::events::{self, EventKind};
use saki_types::{Assumption, Method};
use statistics::{Stopwatch, are_statistics_wanted};
use std::sync::atomic::Ordering;

/// Sets the options of compiling. Called once.
pub(crate) fn init(options: CompilerOptions, dump: DumpOptions) {
    compiler::init(options);
    dump::init(dump);
}

/// For what methods are compiled in this run that have no version which counts.
pub(crate) fn purpose() -> Purpose {
    if upcalls().are_calls_probed() { Purpose::Probed } else { Purpose::Optimised }
}

/// For what a method is compiled first.
fn first_purpose(method: &'static Method) -> Purpose {
    let purpose = purpose();
    let is_counted = purpose == Purpose::Optimised
        && compiler::tiers() == Tiers::Both
        && !versions::may_end(method)
        && matches!(method.body(), Ok(Some(_)));
    if is_counted { Purpose::Counted } else { purpose }
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
    // SAFETY: `abi` is the calling thread's own structure, and its tail arguments are those of the call that led here.
    let _kept = unsafe { KeptTailArguments::new(abi) };
    t.run(|| compile_method(t, method).map_err(|thrown| crate::exception_trace::begin_in_callee(t, thrown, method)))
}

/// The method's code address, compiling it if needed.
///
/// # Errors
/// The exception for why it cannot be compiled.
pub fn compile_method(t: CurrentThread, method: &'static Method) -> Managed<usize> {
    if let Some(known) = compiled_code(method) {
        return Ok(known);
    }
    if host_events::are_any_wanted() {
        return compile_told(t, method);
    }
    compile_first(t, method)
}

/// Compiles a method while the host listens.
#[cold]
fn compile_told(t: CurrentThread, method: &'static Method) -> Managed<usize> {
    // The host's functions, too, need some.
    exceptions::ensure_stack(t, exceptions::COMPILATION_STACK_BYTES)?;
    tell_if_wanted(HostEvent::CompilationBegins(method));
    let code = compile_first(t, method);
    upcalls().tell_host_deferred(t);
    tell_if_wanted(match code {
        Ok(code) => HostEvent::Compiled(method, code),
        Err(_) => HostEvent::CompilationFailed(method),
    });
    code
}

fn compile_first(t: CurrentThread, method: &'static Method) -> Managed<usize> {
    exceptions::ensure_stack(t, exceptions::COMPILATION_STACK_BYTES)?;
    // A thread that is about to enter another domain may compile the first method that it calls there.
    let _entered = saki_types::universe::enter(method.owner.universe());
    class_init::ensure_module(t, method.image())?;
    let began_ns = events::is_on(EventKind::Compilation).then(saki_os::clock::monotonic_ns);
    let mut purpose = purpose();
    let mut found = place_cached(t, Identity::Method(method), method)?;
    if !matches!(found, Cached::Placed(_)) && first_purpose(method) == Purpose::Counted {
        purpose = Purpose::Counted;
        found = place_cached(t, Identity::FirstTier(method), method)?;
    }
    if matches!(found, Cached::Absent) && shared::may_share(method, purpose) {
        found = place_cached(t, Identity::Shared(method), method)?;
    }
    let (body, compiled_by) = match found {
        Cached::Placed(body) => (body, CompiledBy::EarlierRun),
        Cached::Refused(conditions) => compile_and_place(t, method, &mut purpose, Some(conditions))?,
        Cached::Absent => compile_and_place(t, method, &mut purpose, None)?,
    };
    if let Some(began_ns) = began_ns {
        upcalls().compiled(t, method, body.start, compiled_by, began_ns);
    }
    let code = body.start;
    if purpose == Purpose::Counted {
        // Relaxed: a counter that nobody counts in yet.
        method.runtime.heat.store(perturbation::first_heat(method), Ordering::Relaxed);
    }
    if let Err((earlier, _)) = versions::publish(method, CodeVersion::new(method, body, purpose)).to_managed(t)? {
        if method.is_dynamic() {
            upcalls().discard_body(body);
        }
        return Ok(earlier.code());
    }
    log_published(method, code);
    Ok(code)
}

/// Has Mono's log tell of code that threads may run from now on.
pub(crate) fn log_published(method: &'static Method, code: usize) {
    if is_logged(LogEvents::ALWAYS) {
        upcalls().code_published(method, code);
    }
}

/// The outcome of a look-up in the code cache.
enum Cached {
    Placed(&'static CodeInfo),
    /// A body that cannot be used, because one of these conditions does not hold, or not yet.
    Refused(Conditions),
    Absent,
}

/// Places the body that an earlier run compiled, if there is one and its conditions hold.
fn place_cached(t: CurrentThread, identity: Identity, method: &'static Method) -> Managed<Cached> {
    let started = Stopwatch::start();
    let Some(slot) = code_cache::slot(identity) else { return Ok(Cached::Absent) };
    let (code, kind) = match slot.find() {
        Lookup::Found(code, kind) => (code, kind),
        Lookup::Refused(conditions) => return Ok(Cached::Refused(conditions)),
        Lookup::Absent => return Ok(Cached::Absent),
    };
    let info = place(t, method, code, kind)?;
    started.add_to(&code_cache::STATISTICS.find_nanoseconds);
    Ok(Cached::Placed(info))
}

/// Compiles for this purpose, or for the second tier if the first one does not cover the method. `refused`: see
/// `MachineFacts::recording`.
fn compile_and_place(
    t: CurrentThread,
    method: &'static Method,
    purpose: &mut Purpose,
    refused: Option<Conditions>,
) -> Managed<(&'static CodeInfo, CompiledBy)> {
    loop {
        let slot = code_cache::slot(match purpose {
            Purpose::Counted => Identity::FirstTier(method),
            _ => Identity::Method(method),
        });
        if refused.is_none()
            && let Some(copy) = shared::place_copy(t, method, *purpose)?
        {
            return Ok((copy, CompiledBy::Baseline));
        }
        let facts = match slot {
            Some(_) => MachineFacts::recording(refused.clone()),
            None => MachineFacts::default(),
        };
        let mut job = CompileJob::new(method, *purpose, compiler(), &facts);
        let body = match execute(t, &mut job, |job| job.execute()) {
            Ok(body) => body,
            Err(CompileFailure::Uncovered) => {
                *purpose = Purpose::Optimised;
                continue;
            }
            Err(failure) => return Err(exceptions::throw_load_error(t, &failure.load_error(method))),
        };
        keep(slot, method, &body, &facts);
        let compiled_by = body.code.compiled_by;
        return Ok((install(t, method, body)?, compiled_by));
    }
}

/// A body of a method that is compiled again, for another version of its code. Nothing leads to it.
///
/// # Errors
/// The exception for why it cannot be compiled.
pub(crate) fn compile_version(
    t: CurrentThread,
    method: &'static Method,
    purpose: Purpose,
) -> Managed<&'static CodeInfo> {
    let facts = MachineFacts::default();
    let mut job = CompileJob::new(method, purpose, compiler(), &facts);
    let body = execute_or_throw(t, &mut job, |job| job.execute())?;
    install(t, method, body)
}

/// Keeps a body for later runs, if it can be used there.
fn keep(slot: Option<Slot>, method: &'static Method, body: &Body, facts: &MachineFacts) {
    if let Some(slot) = slot.filter(|_| body.deferred_errors.is_empty()) {
        let mut assumed = facts.take_assumed();
        assumed.push(Assumption::Method(method));
        slot.keep(&body.code, body.kind, assumed);
    }
}

/// What is compiled for a method that has a version which counts.
#[derive(Clone, Copy)]
pub(crate) enum NextTier<'a> {
    Whole,
    Continuation(Continuation<'a>),
}

/// Compiles a method for its next tier, in a safe region, so that nobody waits for it. Nothing leads to the body. The
/// body of an earlier run is taken if its conditions hold by now.
///
/// # Errors
/// The exception for why it cannot be compiled.
pub(crate) fn compile_next_tier(
    t: CurrentThread,
    method: &'static Method,
    what: NextTier,
) -> Managed<&'static CodeInfo> {
    let _entered = saki_types::universe::enter(method.owner.universe());
    let began_ns = events::is_on(EventKind::Compilation).then(saki_os::clock::monotonic_ns);
    tell_if_wanted(HostEvent::CompilationBegins(method));
    let placed = place_next_tier(t, method, what);
    if host_events::are_any_wanted() {
        upcalls().tell_host_deferred(t);
        tell_if_wanted(match placed {
            Ok((body, _)) => HostEvent::Compiled(method, body.start),
            Err(_) => HostEvent::CompilationFailed(method),
        });
    }
    let (body, compiled_by) = placed?;
    if let Some(began_ns) = began_ns {
        upcalls().compiled(t, method, body.start, compiled_by, began_ns);
    }
    Ok(body)
}

fn place_next_tier(
    t: CurrentThread,
    method: &'static Method,
    what: NextTier,
) -> Managed<(&'static CodeInfo, CompiledBy)> {
    let slot = match what {
        NextTier::Whole => code_cache::slot(Identity::Method(method)),
        NextTier::Continuation(_) => None,
    };
    let mut refused = None;
    if slot.is_some() {
        match place_cached(t, Identity::Method(method), method)? {
            Cached::Placed(body) => return Ok((body, CompiledBy::EarlierRun)),
            Cached::Refused(conditions) => refused = Some(conditions),
            Cached::Absent => {}
        }
    }
    let facts = match slot {
        Some(_) => MachineFacts::recording_late(refused),
        None => MachineFacts::default(),
    };
    let mut job = CompileJob::new(method, Purpose::Optimised, compiler(), &facts);
    let body = execute_or_throw(t, &mut job, |job| {
        saki_thread::blocking(|| match what {
            NextTier::Whole => job.execute(),
            NextTier::Continuation(at) => job.execute_continuation(&at),
        })
    })?;
    keep(slot, method, &body, &facts);
    let compiled_by = body.code.compiled_by;
    Ok((install(t, method, body)?, compiled_by))
}

/// Executes a job, and has the program answer what it waits for. The calling thread is managed.
fn execute(
    _: CurrentThread,
    job: &mut CompileJob,
    act: impl Fn(&CompileJob) -> Result<Body, CompileFailure>,
) -> Result<Body, CompileFailure> {
    loop {
        match act(job) {
            Err(CompileFailure::Unanswered(request)) => job.answer(request),
            done => return done,
        }
    }
}

fn execute_or_throw(
    t: CurrentThread,
    job: &mut CompileJob,
    act: impl Fn(&CompileJob) -> Result<Body, CompileFailure>,
) -> Managed<Body> {
    execute(t, job, act).map_err(|failure| exceptions::throw_load_error(t, &failure.load_error(job.method)))
}

/// Makes a body ready to run. It is not published.
fn install(t: CurrentThread, method: &'static Method, body: Body) -> Managed<&'static CodeInfo> {
    let placing = Stopwatch::start();
    let is_baseline = body.code.compiled_by == CompiledBy::Baseline && !method.is_dynamic();
    let info = place(t, method, body.code, body.kind)?;
    deferred::keep(method, info, body.deferred_errors);
    note_installed(info, is_baseline, &placing);
    Ok(info)
}

fn note_installed(info: &CodeInfo, is_baseline: bool, placing: &Stopwatch) {
    if is_baseline {
        // Relaxed: a counter.
        BASELINE_METHODS.fetch_add(1, Ordering::Relaxed);
    }
    if are_statistics_wanted() {
        // Relaxed: counters.
        STATISTICS.methods.fetch_add(1, Ordering::Relaxed);
        STATISTICS.code_bytes.fetch_add(u64::from(info.len_bytes), Ordering::Relaxed);
        placing.add_to(&STATISTICS.place_nanoseconds);
    }
}

fn place(t: CurrentThread, method: &'static Method, code: CompiledCode, kind: CodeKind) -> Managed<&'static CodeInfo> {
    let cells = link::fill(t, &code)?;
    link::place(code, kind, std::ptr::from_ref(method).cast(), &cells).to_managed(t)
}

/// Compiles and installs a function that `method` may have, without publishing it: for `compile_all`.
///
/// # Errors
/// The exception for why it cannot be compiled.
pub(crate) fn try_out(t: CurrentThread, job: &mut CompileJob, function: &Function) -> Managed<()> {
    let body = execute_or_throw(t, job, |job| job.execute_wrapper(function))?;
    install(t, job.method, body).map(|_| ())
}

/// Compiles and places a function that is no method's body: wrappers around native code. `method`: the method to which
/// stack traces and descriptors relate it. Without identity it is compiled anew in each process.
///
/// # Errors
/// InvalidProgramException with the compiler's message; exceptions of resolving its symbols.
pub fn place_wrapper(
    t: CurrentThread,
    identity: Option<Identity>,
    method: &'static Method,
    function: &Function,
) -> Managed<usize> {
    if let Some(identity) = identity
        && let Cached::Placed(body) = place_cached(t, identity, method)?
    {
        return Ok(body.start);
    }
    let facts = MachineFacts::default();
    let mut job = CompileJob::new(method, Purpose::Optimised, compiler(), &facts);
    let body = execute_or_throw(t, &mut job, |job| job.execute_wrapper(function))?;
    if let Some(slot) = identity.and_then(code_cache::slot) {
        // The types that the wrapper converts are those of the signature.
        slot.keep(&body.code, body.kind, vec![Assumption::Method(method)]);
    }
    Ok(install(t, method, body)?.start)
}
