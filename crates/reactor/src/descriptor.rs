//! The records of all descriptors, by number, and who waits in them.
//!
//! A record (`record`) belongs to a descriptor number: it is never freed, but serves the next descriptor of that
//! number. Late reports for a closed descriptor wake waiters spuriously. Left out: waiting (`waits`), and asking the
//! system (`poller`).

use crate::backend::Backend;
use crate::record::{DescriptorRecord, Readiness, Watch};
use saki_thread::ManagedThread;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

#[derive(Clone, Copy)]
pub(crate) enum Waiter {
    Thread(&'static ManagedThread),
    /// See `observer`.
    Observer,
}

impl PartialEq for Waiter {
    fn eq(&self, other: &Waiter) -> bool {
        match (self, other) {
            (Waiter::Thread(thread), Waiter::Thread(other)) => std::ptr::eq(*thread, *other),
            (Waiter::Observer, Waiter::Observer) => true,
            _ => false,
        }
    }
}

pub(crate) type WaitedDescriptor = &'static DescriptorRecord<Waiter>;

/// Records come in blocks, which are made when the first of their numbers is used.
const BLOCK: usize = 256;
/// Blocks for as many descriptors as the kernel allows a process by default (`fs.nr_open`); descriptors beyond cannot
/// be waited for.
const BLOCKS: usize = (1 << 20) / BLOCK;

type Records = [OnceLock<Box<[DescriptorRecord<Waiter>]>>; BLOCKS];

static RECORDS: Records = [const { OnceLock::new() }; BLOCKS];
/// In a forked child, records of its own in their place: a thread of the parent may have been in the middle of a
/// change. Null otherwise; changes before the child has a second thread.
static CHILD_RECORDS: AtomicPtr<Records> = AtomicPtr::new(std::ptr::null_mut());

/// In a forked child, which has no thread that waits.
pub(crate) fn forget_all() {
    let records = Box::new([const { OnceLock::new() }; BLOCKS]);
    // Release: pairs with the Acquire in `record`, for threads that the child starts later.
    CHILD_RECORDS.store(Box::into_raw(records), Ordering::Release);
}

/// The record of a number.
pub(crate) fn record(fd: i32) -> Option<WaitedDescriptor> {
    let number = usize::try_from(fd).ok()?;
    // Acquire: pairs with the Release in `forget_all`.
    // SAFETY: null, or leaked by `forget_all`.
    let records = unsafe { CHILD_RECORDS.load(Ordering::Acquire).as_ref() }.unwrap_or(&RECORDS);
    let block = records.get(number / BLOCK)?;
    let records = block.get_or_init(|| (0..BLOCK).map(|_| DescriptorRecord::new()).collect());
    Some(&records[number % BLOCK])
}

pub(crate) struct Descriptor<'a> {
    pub(crate) backend: &'a dyn Backend,
    pub(crate) fd: i32,
}

impl Watch for Descriptor<'_> {
    type Error = io::Error;

    fn once(&self, wanted: Readiness) -> io::Result<()> {
        self.backend.watch_once(self.fd, wanted)
    }

    fn always(&self, is_watched: bool) -> io::Result<bool> {
        self.backend.watch_always(self.fd, is_watched)
    }
}
