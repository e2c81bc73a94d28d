//! `FileShare` between the handles of this process, by device and inode.
//!
//! Invariant: the first handle of a file decides how it may be shared until the last one is closed; a handle is counted from
//! its successful `open` until its `close`. Left out: other processes (as in Mono).

use super::file_handles::Access;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::LazyLock;

/// `FileShare` bits that matter.
const SHARE_READ: i32 = 1;
const SHARE_WRITE: i32 = 2;
const SHARE_MASK: i32 = 7;

/// The identity of a file on disk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileIdentity {
    pub device: u64,
    pub inode: u64,
}

struct Shared {
    share: i32,
    handles: usize,
}

static FILES: LazyLock<Mutex<HashMap<FileIdentity, Shared>>> = LazyLock::new(Mutex::default);

/// Counts a new handle. False when the share modes forbid it; then it is not counted.
pub fn open(file: FileIdentity, share: i32, access: Access) -> bool {
    let share = share & SHARE_MASK;
    let mut files = FILES.lock();
    match files.get_mut(&file) {
        None => {
            files.insert(file, Shared { share, handles: 1 });
            true
        }
        Some(shared) => {
            let forbidden = shared.share == 0
                || share == 0
                || (shared.share == SHARE_READ && access != Access::READ)
                || (shared.share == SHARE_WRITE && access != Access::WRITE);
            shared.handles += usize::from(!forbidden);
            !forbidden
        }
    }
}

/// Counts a duplicate of a handle that is counted.
pub fn add_handle(file: FileIdentity) {
    if let Some(shared) = FILES.lock().get_mut(&file) {
        shared.handles += 1;
    }
}

/// Uncounts a handle.
pub fn close(file: FileIdentity) {
    let mut files = FILES.lock();
    if let Some(shared) = files.get_mut(&file) {
        shared.handles -= 1;
        if shared.handles == 0 {
            files.remove(&file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_handle_decides() {
        let file = FileIdentity { device: u64::MAX, inode: 1 };
        assert!(open(file, SHARE_READ, Access::READ_WRITE));
        assert!(!open(file, SHARE_READ, Access::WRITE), "writers are not allowed");
        assert!(!open(file, 0, Access::READ), "no exclusive handle beside another");
        assert!(open(file, SHARE_READ | SHARE_WRITE, Access::READ));
        close(file);
        close(file);
        assert!(open(file, 0, Access::WRITE), "all handles are gone");
        assert!(!open(file, 3, Access::READ));
        close(file);
    }
}
