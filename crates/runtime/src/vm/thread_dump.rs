//! The managed stacks of all threads, for programs that ask for them; at SIGQUIT they are written to standard output,
//! and the program goes on, as under Mono.
//!
//! The signal handler only wakes a thread that exists for this purpose; the finalizer thread would not do, since a
//! finalizer may be what hangs. That thread stops the world and records frames. Names come from metadata, whose locks a
//! stopped thread may hold, so they are looked up and the dump is written when the world runs again. Until then a walk
//! and a hold keep the methods from being freed. The same thread writes reports of crashes (`crash_report`)
//! and begins the end at SIGTERM (`termination`).
//!
//! When there are many threads, those with equal stacks are written as one entry, with their number, names and ids.
//! Threads that wait for each other are named again at the end, as a deadlock (`thread_waits`).
//!
//! Left out: native frames, and values of locals.

use crate::crash_report;
use crate::leaked_threads;
use crate::stack_text;
use crate::stack_trace::{self, TraceFrame};
use crate::thread_waits::{self, Awaited, Wait};
use crate::upper_layers::upper_layers;
use crate::vm::termination;
use rustc_hash::{FxHashMap, FxHashSet};
use saki_os::FaultContext;
use saki_os::services::{self, Service};
use saki_os::signal::{self, Disposition};
use saki_profile::heap::report::thousands;
use saki_sync::WaitWord;
use saki_thread::{ManagedThread, StopReason, ThreadKind, ThreadRef, WaitState};
use saki_types::Method;
use saki_types::collectible::Hold;
use std::fmt::Write as _;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

/// Counts the signals and the reports of crashes that are asked for.
static ASKED: WaitWord = WaitWord::new(0);
/// What signals ask for. Set by a handler before it counts in `ASKED`, taken by the thread after it has read that.
static DUMP_IS_WANTED: AtomicBool = AtomicBool::new(false);
static CLIENT_WAITS: AtomicBool = AtomicBool::new(false);
static END_IS_WANTED: AtomicBool = AtomicBool::new(false);
/// The process in which the thread that writes dumps runs; 0 = none. A child made by `fork` lacks the thread until it
/// is started again. Set at each start; Relaxed: a crash before that reports for itself.
static SERVICE_PROCESS: AtomicI32 = AtomicI32::new(0);
/// The system's number of that thread, which it sets first. Relaxed: it is compared, and by that thread alone equal.
static SERVICE_THREAD: AtomicU32 = AtomicU32::new(0);

/// How long threads get to stop for the report of a crash.
const STOP_PATIENCE: Duration = Duration::from_secs(1);
/// The most frames of a stack that are written.
const MAX_FRAMES: usize = 1000;
/// If there are more threads, those with equal stacks are written as one entry.
const MAX_SINGLE_THREADS: usize = 50;
/// The most ranges of thread ids that are written for one name.
const MAX_RANGES: usize = 20;
/// The most names of threads that are written for one stack.
const MAX_NAMES: usize = 20;
/// The most different waits that are written for one stack.
const MAX_GROUP_WAITS: usize = 5;

/// The stack of one thread at the moment when it was stopped.
pub struct Stack {
    pub thread: ThreadRef,
    wait_state: WaitState,
    was_running: bool,
    /// Whether the thread is green and had no carrier.
    was_parked: bool,
    /// What it waits for, if that is known.
    wait: Option<Wait>,
    /// It did not stop, so nothing else is known.
    is_unknown: bool,
    /// The innermost `MAX_FRAMES` frames, the innermost first.
    pub frames: Vec<TraceFrame>,
    depth: usize,
}

/// Starts the thread, which serves the host's clients at `signal::of_clients`, reports aborts and, if `at_quit`, writes
/// stacks at SIGQUIT.
///
/// # Errors
/// The system's, for the handlers and the thread.
pub fn start(at_quit: bool) -> io::Result<()> {
    start_thread()?;
    crash_report::report_aborts()?;
    signal::install(signal::of_clients(), ask_for_client)?;
    if at_quit { signal::install(libc::SIGQUIT, ask_for_dump) } else { Ok(()) }
}

/// Starts the thread if it does not run.
pub(crate) fn start_if_absent() -> io::Result<()> {
    if has_service() { Ok(()) } else { start_thread() }
}

/// In a forked child: starts the thread if its parent has one.
pub(crate) fn start_again() -> io::Result<()> {
    if SERVICE_PROCESS.load(Ordering::Relaxed) == 0 { Ok(()) } else { start_thread() }
}

fn start_thread() -> io::Result<()> {
    services::machine().start(Service::ThreadDump, || {
        SERVICE_THREAD.store(saki_os::thread::native_id(), Ordering::Relaxed);
        let mut done = 0;
        loop {
            // Acquire: pairs with `wake_service`: who asks because the machine ends has said so before.
            let asked = ASKED.load(Ordering::Acquire);
            if services::machine().is_ending() {
                // Relaxed: crash reports are then written without the thread.
                return SERVICE_PROCESS.store(0, Ordering::Relaxed);
            }
            if asked == done {
                ASKED.wait(done, None);
            } else {
                done = asked;
                if crash_report::serve() {
                    continue;
                }
                // Relaxed, both: the load of `ASKED` has acquired what the handler stored.
                if CLIENT_WAITS.swap(false, Ordering::Relaxed) {
                    (upper_layers().host.serve_request)();
                }
                if DUMP_IS_WANTED.swap(false, Ordering::Relaxed) {
                    dump();
                }
                // Relaxed: as above.
                if END_IS_WANTED.swap(false, Ordering::Relaxed) {
                    termination::begin();
                }
            }
        }
    })?;
    SERVICE_PROCESS.store(own_process(), Ordering::Relaxed);
    Ok(())
}

/// Async-signal-safe.
pub(crate) fn own_process() -> i32 {
    // SAFETY: no preconditions.
    unsafe { libc::getpid() }
}

/// Whether the thread that `start` makes is there. Async-signal-safe.
pub(crate) fn has_service() -> bool {
    SERVICE_PROCESS.load(Ordering::Relaxed) == own_process()
}

/// Whether that thread is there and is not the calling one. Async-signal-safe.
pub(crate) fn is_served_by_another() -> bool {
    has_service() && SERVICE_THREAD.load(Ordering::Relaxed) != saki_os::thread::native_id()
}

/// Makes the thread look for what it has to do. Async-signal-safe.
pub(crate) fn wake_service() {
    // Release: the thread sees why it was woken.
    ASKED.atomic().fetch_add(1, Ordering::Release);
    ASKED.wake(1);
}

/// The signal handlers.
fn ask_for_dump(_context: &mut FaultContext) -> Disposition {
    // Relaxed: `wake_service` releases.
    DUMP_IS_WANTED.store(true, Ordering::Relaxed);
    wake_service();
    Disposition::Handled
}

fn ask_for_client(_context: &mut FaultContext) -> Disposition {
    // Relaxed: as above.
    CLIENT_WAITS.store(true, Ordering::Relaxed);
    wake_service();
    Disposition::Handled
}

/// The handler of SIGTERM (`termination`).
pub(crate) fn ask_for_end(_context: &mut FaultContext) -> Disposition {
    // Relaxed: as above.
    END_IS_WANTED.store(true, Ordering::Relaxed);
    wake_service();
    Disposition::Handled
}

/// Stops the world, records the stacks of all threads and calls `action` with them when the world runs again. The
/// methods in the frames are kept until `action` returns.
pub fn with_stacks<R>(action: impl FnOnce(&[Stack]) -> R) -> R {
    let _held = Hold::new();
    let _walk = saki_code::walks().enter();
    let mut stacks = Vec::new();
    saki_thread::with_world_stopped(StopReason::Inspection, |_| {
        saki_thread::for_each_thread(|thread| stacks.push(note(thread)));
    });
    action(&stacks)
}

fn dump() {
    saki_base::messages::tell_beside_output(format_args!("{}", all()));
    // Afterwards, so that the stacks are there even if the heap cannot be collected.
    if let Ok(leaked) = leaked_threads::find()
        && !leaked.is_empty()
    {
        let text = with_stacks(|stacks| describe_leaked(stacks, &leaked, false));
        saki_base::messages::tell_beside_output(format_args!("\n{text}"));
    }
}

/// The stacks of all threads.
pub fn all() -> String {
    with_stacks(describe)
}

/// The stacks of the threads that no other thread can wake (`leaked_threads`); runs a full collection.
///
/// # Errors
/// A text: the heap could not be collected.
pub fn leaked() -> Result<String, String> {
    let leaked = leaked_threads::find()?;
    if leaked.is_empty() {
        return Ok("Each thread can be woken by another one, or goes on by itself.\n".into());
    }
    Ok(with_stacks(|stacks| describe_leaked(stacks, &leaked, true)))
}

/// Names the leaked threads, also with their stacks and waits.
fn describe_leaked(stacks: &[Stack], leaked: &[ThreadRef], has_stacks: bool) -> String {
    let names = Names::of_all(stacks);
    // None of them has gone on since, except those that were interrupted or aborted.
    let ids: FxHashSet<u32> = leaked.iter().map(|thread| thread.managed_id()).collect();
    let mut leaked: Group = stacks.iter().filter(|stack| ids.contains(&stack.thread.managed_id())).collect();
    leaked.sort_by_key(|stack| stack.thread.managed_id());
    let count = thousands(leaked.len() as u64);
    let threads = if leaked.len() == 1 { "thread" } else { "threads" };
    let mut out = format!("No other thread can wake {count} {threads}: {}\n", members(&leaked));
    if has_stacks {
        describe_stacks(&mut out, &leaked, &names);
    }
    out
}

/// Records a thread's stack. The world is stopped.
fn note(thread: &'static ManagedThread) -> Stack {
    let (frames, depth) = stack_trace::walk_stopped(thread, MAX_FRAMES);
    let was_running = !thread.is_in_safe_region();
    let was_parked = !was_running && !thread.is_safe();
    let (wait_state, wait) = (thread.wait_state(), Wait::of(thread));
    Stack { thread: ThreadRef::to(thread), wait_state, was_running, was_parked, wait, is_unknown: false, frames, depth }
}

/// A thread that did not stop.
fn note_unstopped(thread: &'static ManagedThread) -> Stack {
    Stack {
        thread: ThreadRef::to(thread),
        wait_state: WaitState::Running,
        was_running: true,
        was_parked: false,
        wait: None,
        is_unknown: true,
        frames: Vec::new(),
        depth: 0,
    }
}

/// The stacks of the threads but this one, which a signal ends (`None`: no managed thread), for its report. Where the
/// caller keeps methods, as in `with_stacks`, and the thread waits in the signal's handler.
pub(crate) fn others(ending: Option<&'static ManagedThread>) -> String {
    let mut stacks = Vec::new();
    let note = |thread, has_stopped| stacks.push(if has_stopped { note(thread) } else { note_unstopped(thread) });
    if !saki_thread::visit_stopping_threads(ending, STOP_PATIENCE, note) {
        return "other threads: the world is stopped, so their frames cannot be read\n".into();
    }
    if stacks.is_empty() {
        return String::new();
    }
    let mut out = String::from("other threads:\n");
    let names = Names { crashed: ending.map(ManagedThread::managed_id), ..Names::of_all(&stacks) };
    describe_stacks(&mut out, &stacks.iter().collect::<Vec<_>>(), &names);
    describe_deadlocks(&mut out, &stacks, &names);
    out
}

/// Threads with equal stacks and states.
type Group<'a> = Vec<&'a Stack>;

/// The parts of a stack that are compared.
type StackKey = (&'static str, usize, Vec<(*const Method, u32)>);

/// Groups the stacks, in the order of their first threads.
fn group<'a>(stacks: &[&'a Stack]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut places: FxHashMap<StackKey, usize> = FxHashMap::default();
    for &stack in stacks {
        let frames = stack.frames.iter().map(|frame| (std::ptr::from_ref(frame.method), frame.il_offset)).collect();
        let place = *places.entry((activity(stack), stack.depth, frames)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group::new());
        }
        groups[place].push(stack);
    }
    groups
}

/// The names of the threads in a dump.
struct Names<'a> {
    stacks: FxHashMap<u32, &'a Stack>,
    /// The thread whose crash is reported.
    crashed: Option<u32>,
}

impl<'a> Names<'a> {
    fn of_all(stacks: &'a [Stack]) -> Names<'a> {
        Names { stacks: stacks.iter().map(|stack| (stack.thread.managed_id(), stack)).collect(), crashed: None }
    }

    /// `"main" (thread 1)`
    fn of(&self, id: u32) -> String {
        match self.stacks.get(&id) {
            _ if self.crashed == Some(id) => format!("the crashed thread ({id})"),
            Some(stack) => format!("\"{}\" (thread {id})", name_of(stack)),
            None => format!("thread {id}, which has ended"),
        }
    }
}

fn describe(stacks: &[Stack]) -> String {
    let mut out = String::from("Full thread dump:\n");
    let names = Names::of_all(stacks);
    describe_stacks(&mut out, &stacks.iter().collect::<Vec<_>>(), &names);
    describe_deadlocks(&mut out, stacks, &names);
    out
}

/// Each stack; of many threads those with equal stacks as one.
fn describe_stacks(out: &mut String, stacks: &[&Stack], names: &Names) {
    if stacks.len() <= MAX_SINGLE_THREADS {
        return stacks.iter().for_each(|stack| describe_thread(out, stack, names));
    }
    for group in group(stacks) {
        match group[..] {
            [single] => describe_thread(out, single, names),
            _ => describe_group(out, &group, names),
        }
    }
}

fn describe_group(out: &mut String, group: &Group, names: &Names) {
    let count = thousands(group.len() as u64);
    let members = members(group);
    let _ = writeln!(out, "\n{count} threads with this stack ({}): {members}", activity(group[0]));
    let mut waits: Vec<&Wait> = Vec::new();
    let mut rest: usize = 0;
    for wait in group.iter().filter_map(|stack| stack.wait.as_ref()) {
        match waits.contains(&wait) {
            true => {}
            false if waits.len() < MAX_GROUP_WAITS => waits.push(wait),
            false => rest += 1,
        }
    }
    waits.iter().for_each(|wait| describe_wait(out, wait, names));
    if rest > 0 {
        let _ = writeln!(out, "  {} of them wait for others", thousands(rest as u64));
    }
    describe_frames(out, group[0]);
}

fn describe_wait(out: &mut String, wait: &Wait, names: &Names) {
    let _ = writeln!(out, "  waits for {}", wait.describe(|id| names.of(id)));
}

/// Names each group of threads that wait for each other.
fn describe_deadlocks(out: &mut String, stacks: &[Stack], names: &Names) {
    let waits = stacks.iter().filter_map(|stack| Some((stack.thread.managed_id(), stack.wait.as_ref()?)));
    for cycle in thread_waits::deadlocks(waits) {
        let _ = match cycle.len() {
            1 => writeln!(out, "\nDeadlock of a thread with itself:"),
            count => writeln!(out, "\nDeadlock of {count} threads:"),
        };
        for id in cycle {
            if let Some(wait) = names.stacks.get(&id).and_then(|stack| stack.wait.as_ref()) {
                let _ = writeln!(out, "  {} waits for {}", names.of(id), wait.describe(|id| names.of(id)));
            }
        }
    }
}

/// The name that the thread is shown with.
fn name_of(stack: &Stack) -> String {
    stack.thread.name().unwrap_or_else(|| match stack.thread.kind() {
        ThreadKind::Main => "main".into(),
        _ => "<unnamed thread>".into(),
    })
}

/// `"reader" (thread 3), "writer" (thread 7 to 9), thread 12`: the threads of a group, by name; those without a name
/// come last.
fn members(group: &Group) -> String {
    let mut by_name: Vec<(String, Vec<u32>)> = Vec::new();
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let mut unnamed = Vec::new();
    for stack in group {
        let id = stack.thread.managed_id();
        match stack.thread.name() {
            None => unnamed.push(id),
            Some(name) => {
                let place = *places.entry(name.clone()).or_insert(by_name.len());
                if place == by_name.len() {
                    by_name.push((name, Vec::new()));
                }
                by_name[place].1.push(id);
            }
        }
    }
    list_members(by_name, unnamed)
}

fn list_members(mut by_name: Vec<(String, Vec<u32>)>, mut unnamed: Vec<u32>) -> String {
    let count = by_name.len();
    let mut parts = Vec::new();
    for (name, ids) in by_name.iter_mut().take(MAX_NAMES) {
        ids.sort_unstable();
        parts.push(format!("{name:?} ({})", ranges(ids)));
    }
    if count > MAX_NAMES {
        parts.push(format!("... ({} names more)", thousands((count - MAX_NAMES) as u64)));
    }
    if !unnamed.is_empty() {
        unnamed.sort_unstable();
        parts.push(ranges(&unnamed));
    }
    parts.join(", ")
}

fn describe_thread(out: &mut String, stack: &Stack, names: &Names) {
    let thread = &stack.thread;
    let _ = write!(out, "\n\"{}\" (thread {}, ", name_of(stack), thread.managed_id());
    // A thread that waits for a carrier has none.
    let native_id = thread.native_id();
    if native_id != 0 {
        let _ = write!(out, "system's {native_id}, ");
    }
    let _ = writeln!(out, "{})", activity(stack));
    if let Some(wait) = &stack.wait {
        describe_wait(out, wait, names);
    }
    describe_frames(out, stack);
}

fn activity(stack: &Stack) -> &'static str {
    match stack.wait_state {
        WaitState::Sleep => "sleeping",
        WaitState::Join => "joining a thread",
        WaitState::Monitor if matches!(&stack.wait, Some(Wait { awaited: Awaited::Pulse { .. }, .. })) => {
            "waiting for a pulse"
        }
        WaitState::Monitor => "waiting for a lock",
        WaitState::Handle => "waiting for a handle",
        _ if stack.is_unknown => "running, and did not stop",
        WaitState::Running | WaitState::Native if stack.wait.is_some() => "waiting for a class constructor",
        WaitState::Running | WaitState::Native if stack.was_running => "running",
        WaitState::Running | WaitState::Native if stack.was_parked => "waiting",
        WaitState::Running | WaitState::Native => "in native code",
    }
}

fn describe_frames(out: &mut String, stack: &Stack) {
    for frame in &stack.frames {
        let _ = writeln!(out, "  at {}", stack_text::describe(frame));
    }
    if stack.depth > stack.frames.len() {
        let _ = writeln!(out, "  ... {} frames more", stack.depth - stack.frames.len());
    }
}

/// `3, 7 to 9`: ascending numbers, those that follow each other as one.
fn ranges(ids: &[u32]) -> String {
    let runs: Vec<&[u32]> = ids.chunk_by(|a, b| a + 1 == *b).collect();
    let mut text = String::new();
    for run in runs.iter().take(MAX_RANGES) {
        let separator = if text.is_empty() { "thread " } else { ", " };
        let _ = match run {
            [first, .., last] => write!(text, "{separator}{first} to {last}"),
            [first, ..] => write!(text, "{separator}{first}"),
            [] => Ok(()),
        };
    }
    if runs.len() > MAX_RANGES {
        text.push_str(", ...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_follow_each_other_are_a_range() {
        let check = |ids: &[u32], expect| assert_eq!(ranges(ids), expect);
        check(&[7], "thread 7");
        check(&[3, 7, 8, 9, 12], "thread 3, 7 to 9, 12");
        check(
            &(0..50).map(|n| 2 * n).collect::<Vec<_>>(),
            "thread 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, ...",
        );
    }

    #[test]
    fn threads_of_a_group_are_listed_by_name() {
        let named = |name: &str, ids: &[u32]| (name.to_owned(), ids.to_vec());
        let check = |by_name: &[(String, Vec<u32>)], unnamed: &[u32], expect: &str| {
            assert_eq!(list_members(by_name.to_vec(), unnamed.to_vec()), expect);
        };
        check(&[], &[4, 3], "thread 3 to 4");
        check(
            &[named("reader", &[9, 3]), named("a \"b\"", &[5, 6])],
            &[7],
            r#""reader" (thread 3, 9), "a \"b\"" (thread 5 to 6), thread 7"#,
        );
        let many: Vec<_> = (1..=1022).map(|id| named(&id.to_string(), &[id])).collect();
        assert!(list_members(many, Vec::new()).ends_with(r#", "20" (thread 20), ... (1,002 names more)"#));
    }
}
