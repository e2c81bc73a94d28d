//! The managed stacks of all threads, for programs that ask for them; at SIGQUIT they are written to standard output, and the program
//! goes on, as under Mono.
//!
//! The signal handler only wakes a thread that exists for this purpose; the finalizer thread would not do, since a finalizer may be what
//! hangs. That thread stops the world and records frames. Names come from metadata, whose locks a stopped thread may hold, so they are
//! looked up and the dump is written when the world runs again. Until then a walk and a hold keep the methods from being freed.
//!
//! When there are many threads, those with equal stacks are written as one entry, with their number and ids.
//!
//! Left out: native frames, and values of locals.

use crate::source_lines::source_position;
use crate::stack_trace::{self, NO_IL_OFFSET, TraceFrame};
use crate::upper_layers::upper_layers;
use rustc_hash::FxHashMap;
use saki_os::FaultContext;
use saki_os::signal::{self, Disposition};
use saki_sync::WaitWord;
use saki_thread::{ManagedThread, StopReason, ThreadKind, ThreadRef, WaitState};
use saki_types::Method;
use saki_types::collectible::Hold;
use std::fmt::Write as _;
use std::io;
use std::sync::atomic::Ordering;

/// Counts the signals.
static ASKED: WaitWord = WaitWord::new(0);

/// The most frames of a stack that are written.
const MAX_FRAMES: usize = 1000;
/// If there are more threads, those with equal stacks are written as one entry.
const MAX_SINGLE_THREADS: usize = 50;
/// The most ranges of thread ids that are written for one stack.
const MAX_RANGES: usize = 20;

/// The stack of one thread at the moment when it was stopped.
pub struct Stack {
    pub thread: ThreadRef,
    wait_state: WaitState,
    was_running: bool,
    /// Whether the thread is green and had no carrier.
    was_parked: bool,
    /// The innermost `MAX_FRAMES` frames, the innermost first.
    pub frames: Vec<TraceFrame>,
    depth: usize,
}

/// Makes SIGQUIT write stacks.
///
/// # Errors
/// The system's, for the handler and the thread.
pub fn start() -> io::Result<()> {
    saki_os::thread::start_service("thread-dump", || {
        let mut done = 0;
        loop {
            // Relaxed: the number alone matters.
            let asked = ASKED.load(Ordering::Relaxed);
            if asked == done {
                ASKED.wait(done, None);
            } else {
                done = asked;
                if !(upper_layers().host.serve_request)() {
                    dump();
                }
            }
        }
    })?;
    signal::install(libc::SIGQUIT, ask)
}

/// The signal handler.
fn ask(_context: &mut FaultContext) -> Disposition {
    // Relaxed: as above.
    ASKED.atomic().fetch_add(1, Ordering::Relaxed);
    ASKED.wake(1);
    Disposition::Handled
}

/// Stops the world, records the stacks of all threads and calls `action` with them when the world runs again. The methods in the
/// frames are kept until `action` returns.
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
    let text = with_stacks(describe);
    saki_base::messages::tell_beside_output(format_args!("{text}"));
}

/// Records a thread's stack. The world is stopped.
fn note(thread: &'static ManagedThread) -> Stack {
    let (frames, depth) = stack_trace::walk_stopped(thread, MAX_FRAMES);
    let was_running = !thread.is_in_safe_region();
    let was_parked = !was_running && !thread.is_safe();
    Stack { thread: ThreadRef::to(thread), wait_state: thread.wait_state(), was_running, was_parked, frames, depth }
}

/// Threads with equal stacks and states.
struct Group<'a> {
    first: &'a Stack,
    ids: Vec<u32>,
}

/// The parts of a stack that are compared.
type StackKey = (&'static str, usize, Vec<(*const Method, u32)>);

/// Groups the stacks, in the order of their first threads.
fn group(stacks: &[Stack]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: FxHashMap<StackKey, usize> = FxHashMap::default();
    for stack in stacks {
        let frames = stack.frames.iter().map(|frame| (std::ptr::from_ref(frame.method), frame.il_offset)).collect();
        let place = *places.entry((activity(stack), stack.depth, frames)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group { first: stack, ids: Vec::new() });
        }
        groups[place].ids.push(stack.thread.managed_id());
    }
    groups
}

fn describe(stacks: &[Stack]) -> String {
    let mut out = String::from("Full thread dump:\n");
    if stacks.len() <= MAX_SINGLE_THREADS {
        stacks.iter().for_each(|stack| describe_thread(&mut out, stack));
        return out;
    }
    for mut group in group(stacks) {
        if let [_] = group.ids[..] {
            describe_thread(&mut out, group.first);
            continue;
        }
        group.ids.sort_unstable();
        let count = with_separators(group.ids.len());
        let _ = writeln!(out, "\n{count} threads with this stack ({}): {}", activity(group.first), ranges(&group.ids));
        describe_frames(&mut out, group.first);
    }
    out
}

fn describe_thread(out: &mut String, stack: &Stack) {
    let thread = &stack.thread;
    let name = thread.name().unwrap_or_else(|| match thread.kind() {
        ThreadKind::Main => "main".into(),
        _ => "<unnamed thread>".into(),
    });
    let _ = write!(out, "\n\"{name}\" (thread {}, ", thread.managed_id());
    // A thread that waits for a carrier has none.
    let native_id = thread.native_id();
    if native_id != 0 {
        let _ = write!(out, "system's {native_id}, ");
    }
    let _ = writeln!(out, "{})", activity(stack));
    describe_frames(out, stack);
}

fn activity(stack: &Stack) -> &'static str {
    match stack.wait_state {
        WaitState::Sleep => "sleeping",
        WaitState::Join => "joining a thread",
        WaitState::Monitor => "waiting for a lock",
        WaitState::Handle => "waiting for a handle",
        WaitState::Running | WaitState::Native if stack.was_running => "running",
        WaitState::Running | WaitState::Native if stack.was_parked => "waiting",
        WaitState::Running | WaitState::Native => "in native code",
    }
}

fn describe_frames(out: &mut String, stack: &Stack) {
    stack.frames.iter().for_each(|frame| describe_frame(out, frame));
    if stack.depth > stack.frames.len() {
        let _ = writeln!(out, "  ... {} frames more", stack.depth - stack.frames.len());
    }
}

/// `1,234`.
fn with_separators(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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

fn describe_frame(out: &mut String, frame: &TraceFrame) {
    let _ = write!(out, "  at {}", frame.method.full_name());
    if frame.il_offset != NO_IL_OFFSET {
        let _ = write!(out, " [0x{:05x}]", frame.il_offset);
    }
    if let Some(position) = source_position(frame.method, frame.il_offset) {
        let _ = write!(out, " in {}:{}", position.file, position.line);
    }
    out.push('\n');
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
    fn thousands_are_separated() {
        assert_eq!([7, 100, 1234, 1_000_000].map(with_separators), ["7", "100", "1,234", "1,000,000"]);
    }
}
