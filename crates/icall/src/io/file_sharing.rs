//! `FileShare`: which handles of a file may be open at the same time, in this process and among processes.
//!
//! Within the process each open handle counts with its own access and sharing, by device and inode: a new one may do
//! only what all others share, and must share what they do. Other processes are told by an advisory lock (flock(2)), as
//! .NET does it: a handle that shares nothing has the file for itself. Invariant: a handle is counted from its
//! successful `open` until its `close`. Left out: file systems without locks, and programs that do not ask for them.

use super::file_handles::Access;
use saki_base::locks::{Mutex, rank};
use std::collections::HashMap;
use std::sync::LazyLock;

/// `FileShare` bits that matter; they are the `FileAccess` bits of what others may do.
const SHARE_MASK: i32 = 3;

/// The identity of a file on disk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileIdentity {
    pub device: u64,
    pub inode: u64,
}

/// How a handle uses its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    pub file: FileIdentity,
    pub access: Access,
    /// `FileShare`.
    pub share: i32,
}

impl Use {
    /// Whether the other use of the same file forbids this one.
    fn is_at_odds_with(self, other: Use) -> bool {
        let share = |of: Use| of.share & SHARE_MASK;
        self.access.0 & !share(other) != 0 || other.access.0 & !share(self) != 0
    }
}

static USES: LazyLock<Mutex<rank::FileUses, HashMap<FileIdentity, Vec<Use>>>> = LazyLock::new(Mutex::default);

/// Counts a new handle. False when it does not go with the others; then it is not counted.
pub fn open(new: Use) -> bool {
    let mut uses = USES.lock();
    let of_file = uses.entry(new.file).or_default();
    let is_allowed = !of_file.iter().any(|other| new.is_at_odds_with(*other));
    if is_allowed {
        of_file.push(new);
    }
    is_allowed
}

/// Counts a duplicate of a handle that is counted.
pub fn add_handle(duplicate: Use) {
    USES.lock().entry(duplicate.file).or_default().push(duplicate);
}

/// Uncounts a handle.
pub fn close(gone: Use) {
    let mut uses = USES.lock();
    let Some(of_file) = uses.get_mut(&gone.file) else { return };
    if let Some(place) = of_file.iter().position(|other| *other == gone) {
        of_file.swap_remove(place);
    }
    if of_file.is_empty() {
        uses.remove(&gone.file);
    }
}

/// Takes the lock that tells other processes how the file is shared. It goes when the last duplicate of the descriptor
/// is closed. False: another process has the file for itself, or uses it although this one wants it alone.
pub fn lock_among_processes(fd: i32, share: i32) -> bool {
    let operation = if share & SHARE_MASK == 0 { libc::LOCK_EX } else { libc::LOCK_SH };
    // SAFETY: an open descriptor; the call does not wait.
    let is_locked = unsafe { libc::flock(fd, operation | libc::LOCK_NB) } == 0;
    is_locked || super::errors::errno() != libc::EWOULDBLOCK
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: i32 = 0;
    const READ: i32 = 1;
    const BOTH: i32 = 3;

    #[test]
    fn each_handle_counts_with_its_own_access_and_sharing() {
        let file = FileIdentity { device: u64::MAX, inode: 1 };
        let by = |access, share| Use { file, access, share };
        let strict_reader = by(Access::READ, READ);
        assert!(open(strict_reader) && open(strict_reader), "readers go together");
        assert!(!open(by(Access::WRITE, BOTH)), "they allow no writer");
        assert!(!open(by(Access::READ, NONE)), "no exclusive handle beside others");
        close(strict_reader);
        assert!(!open(by(Access::WRITE, BOTH)), "one of them is still open");
        close(strict_reader);
        let writer = by(Access::WRITE, BOTH);
        assert!(open(writer));
        assert!(!open(strict_reader), "a reader that allows no writers, beside one");
        assert!(open(by(Access::READ, BOTH)));
        close(writer);
        assert!(open(strict_reader), "the writer is gone");
        close(by(Access::READ, BOTH));
        close(strict_reader);
        assert!(open(by(Access::READ_WRITE, NONE)), "all are gone");
        close(by(Access::READ_WRITE, NONE));
        assert!(!USES.lock().contains_key(&file));
    }
}
