//! The OS threads that are sampled: each carrier that runs managed code, from when it is attached until it detaches.
//!
//! Left out: timers and rings (`threads`), when a session begins and ends (`session`).

use crate::events::Kinds;
use crate::threads;
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use saki_os::TimerClock;
use saki_thread::{Carrier, CarrierHooks};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The signal of timers, and of wall-clock ticks.
pub const SIGNAL: i32 = libc::SIGPROF;

/// The rates of the kinds of sampling.
#[derive(Clone, Copy)]
pub struct Rates {
    pub timers: Option<(TimerClock, u32)>,
    pub wall_hz: Option<u32>,
    pub events: Kinds,
}

impl Rates {
    /// Whether samples are of processor time.
    pub fn counts_cpu(&self) -> bool {
        self.timers.is_some_and(|(clock, _)| clock == TimerClock::ThreadCpu)
    }
}

/// The time between two samples.
pub fn interval(hz: u32) -> Duration {
    Duration::from_secs(1) / hz.max(1)
}

/// The threads being sampled, by the kernel's id; None while nothing is. Locked by hooks, for moments; no thread stops
/// the world while it holds the lock.
static ARMED: Mutex<rank::ArmedCarriers, Option<Arming>> = Mutex::new(None);

pub struct Arming {
    pub rates: Rates,
    pub threads: FxHashMap<u32, threads::Armed>,
}

static HOOKS: CarrierHooks = CarrierHooks { attached, detaching };
static HAS_HOOKS: AtomicBool = AtomicBool::new(false);

/// Samples the carriers that are attached from now on, once `arm_all` was called in this process.
pub fn begin(rates: Rates) {
    *ARMED.lock() = Some(Arming { rates, threads: FxHashMap::default() });
}

/// Samples the carriers that exist, too.
pub fn arm_all() {
    // Relaxed: under no lock, but a second session cannot begin at the same time.
    if HAS_HOOKS.swap(true, Ordering::Relaxed) {
        saki_thread::for_each_carrier(arm);
    } else {
        saki_thread::add_carrier_hooks(&HOOKS);
    }
}

/// Ends what `begin` began: the threads whose timers run still, None if there is nothing to end.
pub fn end() -> Option<Arming> {
    ARMED.lock().take()
}

/// The rates of the session, if there is one.
pub fn rates() -> Option<Rates> {
    Some(ARMED.lock().as_ref()?.rates)
}

/// The record of an OS thread that is being sampled.
pub fn record_of(native_id: u32) -> Option<&'static threads::ThreadRecord> {
    ARMED.lock().as_ref()?.threads.get(&native_id).map(threads::Armed::record)
}

fn attached(carrier: &'static Carrier) {
    arm(carrier);
}

fn arm(carrier: &'static Carrier) {
    let mut guard = ARMED.lock();
    let Some(arming) = guard.as_mut() else { return };
    let Rates { timers, wall_hz, .. } = arming.rates;
    // The ring has room for whichever signals come more often.
    let Some(hz) = timers.map(|(_, hz)| hz).max(wall_hz) else { return };
    let native_id = carrier.native_id();
    if native_id == 0 || arming.threads.contains_key(&native_id) {
        return;
    }
    if let Some(armed) = threads::arm(native_id, SIGNAL, timers.map(|(clock, hz)| (clock, interval(hz))), hz) {
        arming.threads.insert(native_id, armed);
    }
}

fn detaching(carrier: &'static Carrier) {
    let armed = ARMED.lock().as_mut().and_then(|arming| arming.threads.remove(&carrier.native_id()));
    if let Some(armed) = armed {
        threads::disarm(armed);
    }
}
