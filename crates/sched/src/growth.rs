//! Which threads begin on small stacks, which grow (`thread::growth`), and the inner parts of those that have grown.
//!
//! A stack as large as programs ask for takes a page table of its own, and one more memory access whenever the
//! processor looks for its page. Small stacks share page tables; but a thread that often runs into the end of its small
//! stack pays for that each time. So only a crowd begins on small stacks, and only while few of them grow.
//!
//! | word | written by | read by |
//! |---|---|---|
//! | `FROM`, `ABOVE` | the start; Relaxed | threads that start others |
//! | `BEGUN`, `GROWN` | anyone, added to and halved; Relaxed | the same: hints |
//!
//! Invariant: `Green::inner` is used by the thread itself, and by whoever ends it.

use crate::cold;
use crate::green::Green;
use crate::parts::stacks;
use saki_fiber::SMALL_STACK_BYTES;
use saki_os::GuardKind;
use saki_thread::ManagedThread;
use saki_thread::growth::{Growth, StackPart};
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads beyond which stacks are small at first.
const DEFAULT_FROM: usize = 1 << 10;
/// Larger stacks are not small at first: a start is refused where there is no address space for one.
const MOST_BYTES: usize = 64 << 20;
/// After so many threads the older ones count half.
const WINDOW: usize = 1 << 13;
/// Of the threads of a window, one of so many may grow; if more do, threads begin on large stacks,
const MOST_GROWN_SHARE: usize = 4;
/// except one of so many, which shows whether that has changed.
const PROBED_SHARE: usize = 64;

/// Which threads begin on small stacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SmallStacks {
    /// Those that start when there are so many.
    pub from: usize,
    /// A test aid: their stacks grow at the entry of a method when they have used so many bytes.
    pub grow_above: Option<usize>,
}

impl Default for SmallStacks {
    fn default() -> SmallStacks {
        SmallStacks { from: DEFAULT_FROM, grow_above: None }
    }
}

impl fmt::Display for SmallStacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.from)?;
        self.grow_above.map_or(Ok(()), |bytes| write!(f, ":{bytes}"))
    }
}

impl FromStr for SmallStacks {
    type Err = String;

    fn from_str(text: &str) -> Result<SmallStacks, String> {
        let number = |text: &str| text.parse().map_err(|_| format!("'{text}' is no number"));
        let (from, above) = text.split_once(':').map_or((text, None), |(from, above)| (from, Some(above)));
        let grow_above = above.map(number).transpose()?;
        if grow_above.is_some_and(|bytes| bytes > SMALL_STACK_BYTES / 2) {
            return Err(format!("a small stack grows above {} bytes at most", SMALL_STACK_BYTES / 2));
        }
        Ok(SmallStacks { from: number(from)?, grow_above })
    }
}

static FROM: AtomicUsize = AtomicUsize::new(DEFAULT_FROM);
static ABOVE: AtomicUsize = AtomicUsize::new(usize::MAX);
static BEGUN: AtomicUsize = AtomicUsize::new(0);
static GROWN: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn start(small: SmallStacks) {
    FROM.store(small.from, Ordering::Relaxed);
    ABOVE.store(small.grow_above.unwrap_or(usize::MAX), Ordering::Relaxed);
}

/// The size of the stack on which a thread is to begin that wants so many bytes.
pub(crate) fn first_bytes(wanted_bytes: usize) -> usize {
    let is_crowd = cold::present() >= FROM.load(Ordering::Relaxed);
    // With protected pages the number of stacks is limited, and an inner part is one more.
    let can_be_small = (SMALL_STACK_BYTES + 1..=MOST_BYTES).contains(&wanted_bytes);
    if !can_be_small || !is_crowd || stacks().guard() != GuardKind::Markers {
        return wanted_bytes;
    }
    let (begun, grown) = (BEGUN.fetch_add(1, Ordering::Relaxed) + 1, GROWN.load(Ordering::Relaxed));
    if begun >= WINDOW {
        BEGUN.store(begun / 2, Ordering::Relaxed);
        GROWN.store(grown / 2, Ordering::Relaxed);
    }
    let is_deep = grown * MOST_GROWN_SHARE > begun && grown > PROBED_SHARE && !begun.is_multiple_of(PROBED_SHARE);
    if is_deep && ABOVE.load(Ordering::Relaxed) == usize::MAX { wanted_bytes } else { SMALL_STACK_BYTES }
}

/// How the stack of a thread grows.
pub(crate) fn of(green: &Green) -> Growth {
    // SAFETY: the thread itself asks, which runs.
    match (unsafe { *green.inner_bytes.get() }, ABOVE.load(Ordering::Relaxed)) {
        (0, _) => Growth::None,
        (_, usize::MAX) => Growth::WhenFull,
        (_, bytes) => Growth::Above(bytes),
    }
}

/// See `SchedulerHooks`.
pub(crate) fn take_inner(thread: &'static ManagedThread) -> Option<StackPart> {
    let green = Green::of(thread)?;
    // SAFETY: the thread itself calls.
    let (inner, outer, bytes) =
        unsafe { (&mut *green.inner.get(), (*green.stack.get()).as_ref(), *green.inner_bytes.get()) };
    if inner.is_none() {
        let stack = stacks().take(bytes).ok()?;
        GROWN.fetch_add(1, Ordering::Relaxed);
        if outer.is_none_or(|outer| stack.top() > outer.low()) {
            stacks().give(stack);
            return None;
        }
        *inner = Some(stack);
    }
    inner.as_ref().map(|stack| StackPart { usable: stack.bounds(), guard: stack.guard() })
}

/// The thread, which waits or has ended, gives back the inner part of its stack, if it has one and is not on it. For
/// the thread itself, or whoever ends it.
#[inline]
pub(crate) fn give_inner(green: &'static Green, has_ended: bool) {
    // SAFETY: the thread itself calls, or it has ended.
    let inner = unsafe { &mut *green.inner.get() };
    if inner.is_some() && (has_ended || !green.thread.is_on_inner_stack()) {
        green.thread.put_down_inner_stack();
        inner.take().into_iter().for_each(|stack| stacks().give(stack));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_read_as_they_are_written() {
        for text in ["0", "1024", "0:0", "7:2048"] {
            assert_eq!(text.parse::<SmallStacks>().map(|small| small.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "x", "1:", "1:x", "1:1000000"] {
            assert!(text.parse::<SmallStacks>().is_err(), "{text}");
        }
    }
}
