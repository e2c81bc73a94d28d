//! Samples for profilers: a thread of the machine signals all managed threads at intervals, and each tells in its
//! signal handler where it is.
//!
//! The first profiler that asks owns the settings. Intervals are of wall time, or of the processor time of the process.
//!
//! | variable | meaning | who moves it |
//! |---|---|---|
//! | `MODE` | off, or what is measured | the owner, at any time: Relaxed, a late look takes a sample more or less |
//! | `HZ` | samples a second | the same |
//!
//! Invariant: the handler takes no lock and allocates nothing. Left out: walking the stack.

use crate::profilers::{Profiler, has_begun, raise_sample_hit};
use saki_os::FaultContext;
use saki_os::signal::Disposition;
use saki_os::thread::send_signal;
use saki_thread::ThreadKind;
use std::ffi::c_int;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// `MonoProfilerSampleMode`: no samples.
const OFF: u32 = 0;
/// Processor time of the process.
const PROCESS: u32 = 1;
/// The samples a second before a profiler has said how many.
const DEFAULT_HZ: u32 = 100;

static MODE: AtomicU32 = AtomicU32::new(OFF);
static HZ: AtomicU32 = AtomicU32::new(DEFAULT_HZ);

/// The address of the profiler that owns the settings; 0 = none. Written before the machine starts, by
/// compare-and-swap: Relaxed, since it is only compared.
static OWNER: AtomicUsize = AtomicUsize::new(0);

/// The thread that sends signals, once it runs.
static SENDER: OnceLock<Thread> = OnceLock::new();

/// The signal of samples, which no other part of the machine uses.
fn signal() -> c_int {
    libc::SIGRTMIN() + 10
}

fn is_owner(handle: &'static Profiler) -> bool {
    OWNER.load(Ordering::Relaxed) == ptr::from_ref(handle).addr()
}

/// Has samples taken once a mode is set; 0 when the machine has begun to start. The first profiler owns the settings.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_enable_sampling(handle: &'static Profiler) -> c_int {
    if has_begun() {
        return 0;
    }
    // Relaxed: see `OWNER`. It is no failure that another profiler was first.
    let _ = OWNER.compare_exchange(0, ptr::from_ref(handle).addr(), Ordering::Relaxed, Ordering::Relaxed);
    1
}

/// Sets what is measured and how many samples a second are taken; 0 for a profiler that does not own the settings.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_set_sample_mode(handle: &'static Profiler, mode: u32, hz: u32) -> c_int {
    if !is_owner(handle) {
        return 0;
    }
    HZ.store(hz.max(1), Ordering::Relaxed);
    MODE.store(mode, Ordering::Relaxed);
    if let Some(sender) = SENDER.get() {
        sender.unpark();
    }
    1
}

/// What is measured, and how many samples a second are taken; 1 for the profiler that owns the settings.
///
/// # Safety
/// `mode` and `hz` are null or have room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_profiler_get_sample_mode(
    handle: &'static Profiler,
    mode: *mut u32,
    hz: *mut u32,
) -> c_int {
    // SAFETY: null or the host's room.
    unsafe { crate::call::put(mode, MODE.load(Ordering::Relaxed)) };
    // SAFETY: null or the host's room.
    unsafe { crate::call::put(hz, HZ.load(Ordering::Relaxed)) };
    c_int::from(is_owner(handle))
}

/// The machine has started: if a profiler asked for samples, begins to send signals.
pub(crate) fn begin() {
    if OWNER.load(Ordering::Relaxed) == 0 {
        return;
    }
    if let Err(error) = saki_os::signal::install(signal(), handle) {
        return saki_base::tell!("saki: no samples for profilers: {error}");
    }
    let spawned = saki_thread::spawn(ThreadKind::Internal, Some("Profiler"), 0, |_| {
        saki_thread::blocking(|| {
            let _ = SENDER.set(std::thread::current());
            send();
        });
    });
    if let Err(error) = spawned {
        saki_base::tell!("saki: no samples for profilers: {error}");
    }
}

/// The machine ends: no more samples.
pub(crate) fn end() {
    MODE.store(OFF, Ordering::Relaxed);
}

/// Sends signals for ever.
fn send() {
    let own = saki_os::thread::native_id();
    loop {
        let mode = MODE.load(Ordering::Relaxed);
        if mode == OFF {
            // Woken when the mode changes.
            std::thread::park();
            continue;
        }
        let interval = Duration::from_secs(1) / HZ.load(Ordering::Relaxed).max(1);
        if mode == PROCESS {
            sleep_of_process(interval);
        } else {
            std::thread::sleep(interval);
        }
        if MODE.load(Ordering::Relaxed) != OFF {
            saki_thread::for_each_carrier(|carrier| {
                let id = carrier.native_id();
                if id != 0 && id != own {
                    // A thread that has ended gets none.
                    let _ = send_signal(id, signal());
                }
            });
        }
    }
}

/// Waits until the process has used so much processor time.
fn sleep_of_process(interval: Duration) {
    let time = libc::timespec {
        tv_sec: interval.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(interval.subsec_nanos() as i32),
    };
    // SAFETY: a time, and no room for the rest of it.
    unsafe { libc::clock_nanosleep(libc::CLOCK_PROCESS_CPUTIME_ID, 0, &raw const time, ptr::null_mut()) };
}

/// The handler: tells where the thread is, if it is managed, with the kernel's context.
fn handle(fault: &mut FaultContext) -> Disposition {
    if MODE.load(Ordering::Relaxed) != OFF && saki_thread::current().is_some() {
        let (_, context) = fault.raw();
        raise_sample_hit(ptr::without_provenance(fault.pc()), context);
    }
    Disposition::Handled
}
