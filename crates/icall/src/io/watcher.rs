//! System.IO.FileSystemWatcher: the implementation that the class library uses.

use saki_runtime::{CurrentThread, InternalCall};

/// inotify, through P/Invoke.
const COREFX_INOTIFY: i32 = 6;

fn supports_fsw(_t: CurrentThread) -> i32 {
    COREFX_INOTIFY
}

/// The internal calls of `System.IO.FileSystemWatcher`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.IO.FileSystemWatcher::InternalSupportsFSW", &supports_fsw)];
