//! Mono.Security.Cryptography.KeyPairPersistence: access rights of the files that keep key pairs.

use saki_runtime::{CurrentThread, InternalCall};
use std::ffi::OsString;
use std::fs::{Metadata, Permissions, metadata, set_permissions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;

/// Rights of group and others that a user's store must not give.
const ANY_OF_OTHERS: u32 = 0o077;
/// Rights of group and others that the machine's store must not give.
const WRITE_OF_OTHERS: u32 = 0o022;

/// A path, from a NUL-terminated UTF-16 string, and the metadata of its file.
fn look_up(path: *const u16) -> Option<(OsString, Metadata)> {
    if path.is_null() {
        return None;
    }
    // SAFETY: managed code passes the pinned characters of a string, which end with NUL.
    let length = unsafe { (0..).take_while(|&i| *path.add(i) != 0).count() };
    // SAFETY: as counted above.
    let text = String::from_utf16_lossy(unsafe { std::slice::from_raw_parts(path, length) });
    let path = OsString::from_vec(text.into_bytes());
    let metadata = metadata(&path).ok()?;
    Some((path, metadata))
}

fn lacks(path: *const u16, rights: u32) -> bool {
    look_up(path).is_some_and(|(_, found)| found.permissions().mode() & rights == 0)
}

/// Directories also get `directory_mode`.
fn protect(path: *const u16, mode: u32, directory_mode: u32) -> bool {
    let Some((path, found)) = look_up(path) else { return false };
    let mode = if found.is_dir() { mode | directory_mode } else { mode };
    set_permissions(path, Permissions::from_mode(mode)).is_ok()
}

/// Every file system here has rights of some kind.
fn can_secure(_t: CurrentThread, _root: *const u16) -> bool {
    true
}

fn protect_user(_t: CurrentThread, path: *const u16) -> bool {
    protect(path, 0o600, 0o100)
}

fn protect_machine(_t: CurrentThread, path: *const u16) -> bool {
    protect(path, 0o644, 0o111)
}

fn is_user_protected(_t: CurrentThread, path: *const u16) -> bool {
    lacks(path, ANY_OF_OTHERS)
}

fn is_machine_protected(_t: CurrentThread, path: *const u16) -> bool {
    lacks(path, WRITE_OF_OTHERS)
}

/// The internal calls of `Mono.Security.Cryptography.KeyPairPersistence`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("Mono.Security.Cryptography.KeyPairPersistence::_CanSecure", &can_secure),
    InternalCall::new("Mono.Security.Cryptography.KeyPairPersistence::_ProtectUser", &protect_user),
    InternalCall::new("Mono.Security.Cryptography.KeyPairPersistence::_ProtectMachine", &protect_machine),
    InternalCall::new("Mono.Security.Cryptography.KeyPairPersistence::_IsUserProtected", &is_user_protected),
    InternalCall::new("Mono.Security.Cryptography.KeyPairPersistence::_IsMachineProtected", &is_machine_protected),
];
