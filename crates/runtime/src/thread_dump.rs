//! The managed stacks of all threads, for programs that ask; at SIGQUIT they go to standard output, and the program goes on, as
//! under Mono.
//!
//! The signal handler only wakes a thread of its own. Not the finalizer thread: a finalizer may be what hangs. That thread stops
//! the world and notes frames; names come from metadata, whose locks a stopped thread may hold, so they are looked up, and all is written,
//! when the world runs again. Meanwhile a walk and a hold keep the methods from being freed.
//!
//! Left out: native frames, and values of locals.

use crate::source_lines::source_position;
use crate::stack_trace::{self, NO_IL_OFFSET, TraceFrame};
use saki_os::FaultContext;
use saki_os::signal::{self, Disposition};
use saki_sync::WaitWord;
use saki_thread::{ManagedThread, StopReason, ThreadKind, ThreadRef, WaitState};
use saki_types::collectible::Hold;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::sync::atomic::Ordering;

/// Counts the signals.
static ASKED: WaitWord = WaitWord::new(0);

/// Frames written of a deeper stack.
const MAX_FRAMES: usize = 1000;

/// What one thread was doing when it was stopped.
pub struct Stack {
    pub thread: ThreadRef,
    wait_state: WaitState,
    was_running: bool,
    /// Innermost first; the innermost `MAX_FRAMES`.
    pub frames: Vec<TraceFrame>,
    depth: usize,
}

/// From now on SIGQUIT writes stacks.
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
                dump();
            }
        }
    })?;
    signal::install(libc::SIGQUIT, ask)
}

/// The handler.
fn ask(_context: &mut FaultContext) -> Disposition {
    // Relaxed: as above.
    ASKED.atomic().fetch_add(1, Ordering::Relaxed);
    ASKED.wake(1);
    Disposition::Handled
}

/// Stops the world, notes what all threads do and calls `action` with it when the world runs again. The methods in the frames are kept
/// until `action` returns.
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
    let mut out = io::stdout().lock();
    // Nobody is there to be told of a closed standard output.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The world is stopped.
fn note(thread: &'static ManagedThread) -> Stack {
    let (frames, depth) = stack_trace::walk_stopped(thread, MAX_FRAMES);
    let was_running = !thread.is_in_safe_region();
    Stack { thread: ThreadRef::to(thread), wait_state: thread.wait_state(), was_running, frames, depth }
}

fn describe(stacks: &[Stack]) -> String {
    let mut out = String::from("Full thread dump:\n");
    for stack in stacks {
        let thread = &stack.thread;
        let name = thread.name().unwrap_or_else(|| match thread.kind() {
            ThreadKind::Main => "main".into(),
            _ => "<unnamed thread>".into(),
        });
        let _ = write!(out, "\n\"{name}\" (thread {}, system's {}, ", thread.managed_id(), thread.native_id());
        out.push_str(match stack.wait_state {
            WaitState::Sleep => "sleeping)\n",
            WaitState::Join => "joining a thread)\n",
            WaitState::Monitor => "waiting for a lock)\n",
            WaitState::Handle => "waiting for a handle)\n",
            WaitState::Running | WaitState::Native if stack.was_running => "running)\n",
            WaitState::Running | WaitState::Native => "in native code)\n",
        });
        stack.frames.iter().for_each(|frame| describe_frame(&mut out, frame));
        if stack.depth > stack.frames.len() {
            let _ = writeln!(out, "  ... {} frames more", stack.depth - stack.frames.len());
        }
    }
    out
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
