//! `--replace-bodies HZ`: a thread that replaces bodies of random methods HZ times a second while the program runs
//! them, and takes them back.
//!
//! It compiles methods again with and without inlining, makes the new version current, and after some time an older
//! one. With each batch it settles what was replaced and checks, while the world is stopped, that nothing leads to
//! versions that were replaced (`object::versions`).
//!
//! Left out: methods that end before the process; wrappers and native code.

use crate::compile;
use crate::entries::existing_entry;
use crate::object::versions::{self, CodeVersion, Purpose, Replaced};
use crate::thread::CurrentThread;
use rustc_hash::FxHashMap;
use saki_abi::vtable::VTable;
use saki_thread::{StopReason, ThreadKind};
use saki_types::{Method, universe};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts since the start.
#[derive(Default)]
pub struct ReplacementStatistics {
    /// Versions that were compiled and became current.
    pub made: AtomicU64,
    /// Older versions that became current again.
    pub taken_back: AtomicU64,
    /// Times that the world was stopped to settle what was replaced.
    pub stops: AtomicU64,
    /// Times that something led to a version that was not current any more.
    pub wrong: AtomicU64,
}

pub static STATISTICS: ReplacementStatistics = ReplacementStatistics {
    made: AtomicU64::new(0),
    taken_back: AtomicU64::new(0),
    stops: AtomicU64::new(0),
    wrong: AtomicU64::new(0),
};

/// Methods of one stop of the world.
const BATCH: u32 = 32;
/// Versions of a method; when it has so many, older ones are taken back only.
const MAX_VERSIONS: usize = 4;

/// Starts the thread; `times_a_second` is at least 1. `versions::prepare_replacing` was called before code was
/// compiled.
///
/// # Errors
/// The system's, for the thread.
pub fn start(times_a_second: u32) -> io::Result<()> {
    let interval = Duration::from_secs(1) * BATCH / times_a_second.max(1);
    saki_thread::spawn(ThreadKind::Internal, Some("Body replacement"), 0, move |thread| {
        // SAFETY: the thread just attached.
        let t = unsafe { CurrentThread::from_abi(thread.abi()) };
        let mut replacer = Replacer { t, known: FxHashMap::default() };
        loop {
            thread.sleep(Some(interval), false);
            replacer.replace_batch();
        }
    })?;
    Ok(())
}

struct Replacer<'t> {
    t: CurrentThread<'t>,
    /// The versions of the methods that were chosen before.
    known: FxHashMap<*const Method, Vec<&'static CodeVersion>>,
}

impl Replacer<'_> {
    /// A number below `bound`, which is not 0.
    fn below(&self, bound: usize) -> usize {
        (saki_os::random::number() >> 16) as usize % bound
    }

    fn replace_batch(&mut self) {
        let mut replaced = Vec::new();
        for _ in 0..BATCH {
            let candidates = versions::replaceable_count();
            if candidates > 0 {
                let number = self.below(candidates);
                replaced.extend(self.replace(versions::replaceable(number)));
            }
        }
        // Found before the stop, since the fact is computed under the loader lock.
        let slots: Vec<_> = replaced.iter().map(|replaced| slot_of(replaced.method)).collect();
        saki_thread::with_world_stopped(StopReason::Unloading, |token| {
            versions::settle(&replaced, token);
            // Relaxed, here and below: counters.
            STATISTICS.stops.fetch_add(1, Ordering::Relaxed);
            for (Replaced { method, .. }, slot) in replaced.iter().zip(&slots) {
                STATISTICS.wrong.fetch_add(stale_leads(method, *slot), Ordering::Relaxed);
            }
        });
    }

    /// Makes another version of the method current: what was replaced.
    fn replace(&mut self, method: &'static Method) -> Option<Replaced> {
        let version = versions::current(method)?;
        let known = self.known.entry(method).or_default();
        if known.is_empty() {
            known.push(version);
        }
        let retired: Vec<_> = known.iter().copied().filter(|known| known.is_retired()).collect();
        let is_full = known.len() >= MAX_VERSIONS;
        if !retired.is_empty() && (is_full || self.below(2) == 0) {
            let older = retired[self.below(retired.len())];
            if !versions::replace(method, version, older).ok()? {
                return None;
            }
            // Relaxed: a counter.
            STATISTICS.taken_back.fetch_add(1, Ordering::Relaxed);
        } else if !is_full {
            let purpose = if version.purpose == Purpose::Optimised { Purpose::Uninlined } else { Purpose::Optimised };
            let _entered = universe::enter(method.owner.universe());
            let Ok(body) = compile::compile_version(self.t, method, purpose) else {
                self.t.take_pending();
                return None;
            };
            let made: &'static CodeVersion = Box::leak(CodeVersion::new(method, body, purpose));
            if !versions::replace(method, version, made).ok()? {
                return None;
            }
            self.known.entry(method).or_default().push(made);
            // Relaxed: a counter.
            STATISTICS.made.fetch_add(1, Ordering::Relaxed);
        } else {
            return None;
        }
        Some(Replaced { method, version })
    }
}

/// The slot of its owner's vtable that leads to the method.
fn slot_of(method: &'static Method) -> Option<u32> {
    let is_led = method.is_virtual() && !method.owner.is_value_type() && method.generic_args().is_empty();
    method.vtable_slot().ok().flatten().filter(|_| is_led)
}

/// How many places lead to a version of the method that is not current. The world is stopped.
fn stale_leads(method: &'static Method, slot: Option<u32>) -> u64 {
    let (Some(entry), Some(version)) = (existing_entry(method), versions::current(method)) else { return 0 };
    let (stub, code) = (entry.stub_address(), version.code());
    let is_stale = |&address: &usize| address != stub && address != code;
    // SAFETY: the world is stopped.
    let called = unsafe { entry.called_addresses() };
    // Relaxed, here and below: the world is stopped.
    let vtable = method.owner.runtime.vtable.load(Ordering::Relaxed) as *const VTable;
    // SAFETY: null or the type's vtable, which lives as long as the process: the method does.
    let vtable = unsafe { vtable.as_ref() };
    let in_vtable = vtable.zip(slot).map(|(vtable, slot)| vtable.slot(slot).load(Ordering::Relaxed));
    let entry_target = entry.target();
    called.iter().chain(&in_vtable).chain(&entry_target).filter(|address| is_stale(address)).count() as u64
}
