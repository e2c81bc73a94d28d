//! The functions that stand in for `SystemNative_LowLevelMonitor_*` of .NET 9's libSystem.Native: monitors by which the
//! thread pool guards its counts.
//!
//! The library's monitors are mutexes and condition variables of the C library, in which a thread waits with its
//! carrier. A thousand workers that waited for one took all carriers there are, and the thread that had the mutex,
//! whose turn it was not, found none to go on. Here a thread that waits parks, and owners are managed threads.
//!
//! Invariant: no wait ends but by a signal or its timeout; `Thread.Interrupt` ends none. Left out: .NET 10, whose class
//! library does not have these monitors.

use saki_base::bug;
use saki_icall::io::native_streams::outside_native_code;
use saki_runtime::{CurrentThread, OwnFunction};
use saki_sync::monitor::{BlockEnd, Blocker, EnterEnd, Monitor, MonitorNode, WaitOutcome};
use saki_thread::ManagedThread;
use std::time::Duration;

/// A thread whose waits no request ends.
struct Steady(&'static ManagedThread);

impl Blocker for Steady {
    fn managed_id(&self) -> u32 {
        self.0.managed_id()
    }

    fn node(&self) -> &'static MonitorNode {
        self.0.node()
    }

    fn block(&self, timeout: Option<Duration>, _interruptible: bool) -> BlockEnd {
        self.0.block(timeout, false)
    }
}

/// Runs `body` with the monitor and the current thread in managed state, where it may park.
///
/// # Safety
/// `monitor` is a result of `create` that has not been destroyed.
unsafe fn with<R>(monitor: *const Monitor, body: impl FnOnce(&Monitor, CurrentThread) -> R) -> R {
    // SAFETY: a monitor that `create` has made stays where it is until `destroy`, which nobody has called yet.
    let monitor = unsafe { &*monitor };
    outside_native_code(|t| body(monitor, t))
}

fn leave(monitor: &Monitor, t: CurrentThread) {
    if monitor.exit(t.id()).is_err() {
        bug!("a thread leaves a monitor of the class library that it does not have");
    }
}

fn wait_within(monitor: &Monitor, t: CurrentThread, timeout: Option<Duration>) -> bool {
    match monitor.wait(&Steady(t.managed()), timeout) {
        Ok(outcome) => outcome == WaitOutcome::Pulsed,
        Err(_) => bug!("a thread waits in a monitor of the class library that it does not have"),
    }
}

extern "C" fn create() -> *const Monitor {
    Box::into_raw(Box::new(Monitor::new()))
}

/// # Safety
/// `monitor` is a result of `create` that nobody uses any more.
unsafe extern "C" fn destroy(monitor: *mut Monitor) {
    // SAFETY: `create` made the box, and the class library destroys a monitor once.
    drop(unsafe { Box::from_raw(monitor) });
}

/// # Safety
/// `monitor` is a result of `create` that has not been destroyed.
unsafe extern "C" fn acquire(monitor: *const Monitor) {
    // SAFETY: the class library keeps a monitor while it enters it.
    unsafe {
        with(monitor, |monitor, t| match monitor.enter(&Steady(t.managed()), None) {
            Ok(EnterEnd::Entered) => {}
            end => bug!("entering a monitor of the class library ended with {end:?}"),
        });
    }
}

/// # Safety
/// `monitor` is a result of `create` that has not been destroyed.
unsafe extern "C" fn release(monitor: *const Monitor) {
    // SAFETY: the class library keeps a monitor while it has it.
    unsafe { with(monitor, leave) }
}

/// # Safety
/// `monitor` is a result of `create` that has not been destroyed.
unsafe extern "C" fn wait(monitor: *const Monitor) {
    // SAFETY: the class library keeps a monitor while it waits in it.
    unsafe {
        with(monitor, |monitor, t| wait_within(monitor, t, None));
    }
}

/// Whether a signal came within `milliseconds` (negative: for ever).
///
/// # Safety
/// `monitor` is a result of `create` that has not been destroyed.
unsafe extern "C" fn timed_wait(monitor: *const Monitor, milliseconds: i32) -> i32 {
    let timeout = u64::try_from(milliseconds).ok().map(Duration::from_millis);
    // SAFETY: the class library keeps a monitor while it waits in it.
    unsafe { with(monitor, |monitor, t| i32::from(wait_within(monitor, t, timeout))) }
}

/// # Safety
/// `monitor` is a result of `create` that has not been destroyed.
unsafe extern "C" fn signal_release(monitor: *const Monitor) {
    // SAFETY: the class library keeps a monitor while it has it.
    unsafe {
        with(monitor, |monitor, t| {
            if monitor.pulse(t.id()).is_err() {
                bug!("a thread signals a monitor of the class library that it does not have");
            }
            leave(monitor, t);
        });
    }
}

const fn own_function(name: &'static str, address: *const ()) -> OwnFunction {
    OwnFunction { library: "libSystem.Native", name, address, original: None }
}

/// See the module header.
pub static OWN_FUNCTIONS: &[OwnFunction] = &[
    own_function("SystemNative_LowLevelMonitor_Create", create as *const ()),
    own_function("SystemNative_LowLevelMonitor_Destroy", destroy as *const ()),
    own_function("SystemNative_LowLevelMonitor_Acquire", acquire as *const ()),
    own_function("SystemNative_LowLevelMonitor_Release", release as *const ()),
    own_function("SystemNative_LowLevelMonitor_Wait", wait as *const ()),
    own_function("SystemNative_LowLevelMonitor_TimedWait", timed_wait as *const ()),
    own_function("SystemNative_LowLevelMonitor_Signal_Release", signal_release as *const ()),
];
