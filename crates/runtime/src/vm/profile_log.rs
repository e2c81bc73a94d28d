//! Mono's log profiler: writes all kinds of events that the format has, while the program runs
//! (`saki_profile::mlpd::log`).
//!
//! ```text
//!   runtime → is_on? → events, calls, heap_shots ┐
//!   sampler → samples                            ├→ names (what is a method, a class, called) → LogWriter → file or program
//!   thread "profile-log", once a second → counters, names of threads, sync point ┘
//! ```
//!
//! The thread that causes an event writes it into its own buffer, so a thread's events are in the order in which they
//! happened and calls nest. An event without a listener costs one load and a branch, and no event is on a path that
//! compiled code takes inline. Calls are reported by probes, which methods have only if they are compiled after
//! `prepare` asked for them; code with probes is not kept in the code cache.
//!
//! Invariant: locks of this module are held between two safepoints only, and not while a type or a name is looked up;
//! so collections may write to the log, too. There is one log in a process. Left out: contexts, gaps between JIT
//! helpers.

pub mod calls;
pub mod callspec;
mod clock;
mod commands;
pub mod control;
mod counters;
pub(crate) mod events;
pub(crate) mod heap_shots;
mod log;
mod names;
mod root_regions;
mod samples;
pub mod settings;
mod stacks;

pub use settings::{LogEvents, LogSettings};

use crate::domain;
pub(crate) use crate::events::is_logged as is_on;
use crate::events::{change_logged, set_logged};
use clock::now_ns;
use events::ToLog;
use log::{COLLECTOR_THREAD, LOG, Log, OWN_THREAD, log_of};
use names::Names;
use root_regions::RootRegions;
use saki_base::locks::Mutex;
use saki_os::ExitStage;
use saki_os::services::{self, Service};
use saki_profile::mlpd::event::{self, metadata, sync_point};
use saki_profile::mlpd::{Header, log::LogWriter};
use saki_sampler::allocations;
use saki_thread::{ManagedThread, ThreadKind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

/// The time between two writes of buffers and counters, as in Mono.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// Before the machine starts: compiles methods with probes, if calls are to be written, and starts to keep the
/// statistics that counters show.
pub(super) fn prepare(settings: &LogSettings) {
    if settings.calls {
        calls::compile_probes(&settings.callspec);
    }
    if settings.events.has(LogEvents::COUNTER) {
        crate::compile::keep_statistics();
    }
}

/// Begins the log. Before `Main`, on its thread.
///
/// # Errors
/// The log's file, or that of the sampler, cannot be written.
pub fn begin(settings: &LogSettings) -> Result<(), String> {
    let sink = settings.output.open(settings.is_zipped).map_err(|error| error.to_string())?;
    let server = settings.port.map(commands::listen).transpose()?;
    let port = server.as_ref().map_or(0, |(_, port)| *port);
    let start_ns = now_ns();
    let arguments = &settings.arguments;
    let header = Header { arguments, port, start_unix_ns: saki_os::clock::realtime_ns(), start_ns };
    let log = Log {
        writer: LogWriter::new(sink, &header, OWN_THREAD),
        names: Names::default(),
        settings: settings.clone(),
        max_frames: AtomicUsize::new(settings.max_frames),
        max_call_depth: AtomicU32::new(settings.max_call_depth),
        heap_shots: Mutex::new(settings.heap_shots),
        samples: Mutex::new(settings.samples),
        root_regions: RootRegions::default(),
        counters: Mutex::default(),
        has_ended: AtomicBool::new(false),
    };
    if LOG.set(log).is_err() {
        return Err("a log is being written already".to_owned());
    }
    let Some(log) = LOG.get() else { return Ok(()) };
    log.thread_loaded(OWN_THREAD);
    log.name_thread(OWN_THREAD, "Profiler");
    log.thread_loaded(COLLECTOR_THREAD);
    log.name_thread(COLLECTOR_THREAD, "Collector");
    saki_thread::for_each_thread(|thread| log.thread_loaded(thread.managed_id().into()));
    log.look_around();
    let events = settings.effective_events();
    heap_shots::begin(settings.heap_shots);
    set_logged(events);
    log.tell_heap();
    if let Some((clock, hz)) = settings.samples {
        // The sampler's reader may be busy with a profile that a client has asked for.
        saki_thread::blocking(|| samples::start(clock, hz)).map_err(|error| error.to_string())?;
    }
    if let Some((listener, _)) = server {
        commands::serve(listener, take_heap_shot).map_err(|error| error.to_string())?;
    }
    saki_os::at_exit(ExitStage::ProfileLog, at_exit);
    services::machine()
        .start(Service::ProfileLog, || {
            while !log.is_over() && services::machine().pause(FLUSH_INTERVAL) {
                log.flush();
            }
        })
        .map_err(|error| error.to_string())
}

/// Serves a client's command for a heap shot. False: the log has ended.
fn take_heap_shot() -> bool {
    let log = LOG.get().filter(|log| !log.is_over());
    log.inspect(|log| heap_shots::take(log)).is_some()
}

/// Drops dead records from the names that the log knows.
pub(crate) fn forget_dead() {
    if let Some(log) = LOG.get() {
        log.names.forget_dead();
    }
}

fn at_exit() {
    end();
}

/// Ends the log; messages about it go to standard error.
pub fn end() {
    let Some(log) = LOG.get() else { return };
    // AcqRel: one thread ends it.
    if log.has_ended.swap(true, Ordering::AcqRel) {
        return;
    }
    if log.settings.shot_at_end {
        heap_shots::take(log);
    }
    // The thread counts as stopped while it waits for another one that changes the samples, or for the last of them.
    saki_thread::blocking(|| {
        if log.samples.lock().take().is_some() {
            // All samples have gone to the log.
            let _ = saki_sampler::stop();
        }
    });
    log.look_around();
    log.add_counters();
    log.end_events(LogEvents::ALL);
    if let Err(error) = log.writer.end() {
        saki_base::tell!("saki: the profile was not written: {error}");
    }
}

impl Log {
    fn is_over(&self) -> bool {
        // Relaxed: a hint.
        self.has_ended.load(Ordering::Relaxed) || self.writer.has_ended()
    }

    /// Ends listening to these kinds; the allocations until now are written.
    fn end_events(&self, kinds: LogEvents) {
        let end = || change_logged(kinds, false);
        if kinds.has(LogEvents::ALLOCATION) && is_on(LogEvents::ALLOCATION) {
            allocations::flush_all::<ToLog>(end);
        } else {
            end();
        }
        self.tell_heap();
    }

    /// The work of every second.
    fn flush(&self) {
        if self.is_over() {
            if self.writer.has_ended() {
                // The output has failed or its reader is gone; `end` reports why.
                self.end_events(LogEvents::ALL);
            }
            return;
        }
        self.look_around();
        self.add_counters();
        if is_on(LogEvents::ALLOCATION) {
            allocations::flush_all::<ToLog>(|| {});
        }
        let before_ns = now_ns();
        self.writer.flush();
        self.writer.sync_point(sync_point::PERIODIC, before_ns);
    }

    /// Describes new domains, assemblies and names of threads.
    fn look_around(&self) {
        // This may be a thread that no collection stops. One that has begun does not see what is held from now on, but
        // the records that it finds dead are freed when the walks that are under way have ended.
        let _walk = saki_code::walks().enter();
        let ids = domain::ROOT_DOMAIN_ID..domain::ROOT_DOMAIN_ID + domain::count() as i32;
        for domain in ids.filter_map(domain::by_id) {
            self.names.domain(&self.writer, domain);
            for assembly in domain.universe.binder().loaded().iter() {
                self.names.image(&self.writer, assembly.image);
            }
        }
        saki_thread::for_each_thread(|thread| {
            if let Some(name) = name_of(thread) {
                self.name_thread(thread.managed_id().into(), &name);
            }
        });
    }

    fn add_counters(&self) {
        if is_on(LogEvents::COUNTER) {
            // Reading takes locks under which the log's are taken.
            let values = counters::read();
            let mut counters = self.counters.lock();
            self.writer.write(OWN_THREAD, |log| counters.add_to(&values, &mut log.buffer, now_ns()));
        }
    }

    fn thread_loaded(&self, thread: u64) {
        self.writer.write_metadata(|buffer| {
            buffer.event(event::METADATA_LOAD, now_ns()).byte(metadata::THREAD).pointer(thread);
        });
    }

    fn name_thread(&self, thread: u64, name: &str) {
        if self.names.is_new_thread_name(thread, name) {
            self.writer.write_metadata(|buffer| {
                buffer.event(event::METADATA_NAME, now_ns()).byte(metadata::THREAD).pointer(thread).text(name);
            });
        }
    }
}

fn name_of(thread: &ManagedThread) -> Option<String> {
    thread.name().or_else(|| (thread.kind() == ThreadKind::Main).then(|| "Main".to_owned()))
}

/// To be called when a thread begins, in its hook (`saki_thread::ThreadHooks`).
pub(crate) fn thread_attached(thread: &ManagedThread) {
    if let Some(log) = log_of(LogEvents::ALWAYS) {
        log.thread_loaded(thread.managed_id().into());
    }
}

/// To be called when a thread ends, in its hook.
pub(crate) fn thread_detaching(thread: &ManagedThread) {
    let Some(log) = log_of(LogEvents::ALWAYS) else { return };
    if is_on(LogEvents::ALLOCATION) {
        allocations::flush::<ToLog>(thread);
    }
    let id = thread.managed_id().into();
    if let Some(name) = name_of(thread) {
        log.name_thread(id, &name);
    }
    log.writer.forget_thread(id);
    log.names.forget_thread(id);
    log.writer.write_metadata(|buffer| {
        buffer.event(event::METADATA_UNLOAD, now_ns()).byte(metadata::THREAD).pointer(id);
    });
}

/// To be called when a domain is unloaded, with its types and methods.
pub(crate) fn domain_unloaded(domain: &domain::Domain) {
    if let Some(log) = log_of(LogEvents::ALWAYS) {
        log.names.domain_unloaded(&log.writer, domain);
    }
}
