//! System.Security.Principal: Windows identities as POSIX users. A token is a user id.

use crate::arguments::non_null;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Str};
use saki_types::universe;
use std::ffi::{CStr, CString};

/// Token of a user that does not exist.
const NO_TOKEN: usize = usize::MAX - 1;
/// Bytes for the strings of a passwd or group entry.
const ENTRY_BYTES: usize = 16 << 10;

struct User {
    name: CString,
    id: u32,
    group: u32,
}

/// Runs one of the reentrant look-ups in the user database and copies what it finds.
fn find_user(
    look_up: impl FnOnce(*mut libc::passwd, *mut libc::c_char, usize, *mut *mut libc::passwd) -> i32,
) -> Option<User> {
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::uninit();
    let mut found = std::ptr::null_mut();
    let mut text = vec![0 as libc::c_char; ENTRY_BYTES];
    let outcome = look_up(entry.as_mut_ptr(), text.as_mut_ptr(), text.len(), &mut found);
    if outcome != 0 || found.is_null() {
        return None;
    }
    // SAFETY: `found` says that the entry was filled in.
    let entry = unsafe { entry.assume_init() };
    // SAFETY: a string inside `text`.
    let name = unsafe { CStr::from_ptr(entry.pw_name) }.to_owned();
    Some(User { name, id: entry.pw_uid, group: entry.pw_gid })
}

fn user_by_id(id: u32) -> Option<User> {
    // SAFETY: `find_user` passes places of the sizes given.
    find_user(|entry, text, length, found| unsafe { libc::getpwuid_r(id, entry, text, length, found) })
}

fn user_by_name(name: &CStr) -> Option<User> {
    // SAFETY: the name is NUL-terminated; `find_user` passes places of the sizes given.
    find_user(|entry, text, length, found| unsafe { libc::getpwnam_r(name.as_ptr(), entry, text, length, found) })
}

/// Whether the user is in the group that the look-up finds.
fn is_member(
    user: usize,
    look_up: impl FnOnce(*mut libc::group, *mut libc::c_char, usize, *mut *mut libc::group) -> i32,
) -> bool {
    let Some(user) = user_by_id(user as u32) else { return false };
    let mut entry = std::mem::MaybeUninit::<libc::group>::uninit();
    let mut found = std::ptr::null_mut();
    let mut text = vec![0 as libc::c_char; ENTRY_BYTES];
    if look_up(entry.as_mut_ptr(), text.as_mut_ptr(), text.len(), &mut found) != 0 || found.is_null() {
        return false;
    }
    // SAFETY: `found` says that the entry was filled in.
    let group = unsafe { entry.assume_init() };
    if user.group == group.gr_gid {
        return true;
    }
    let mut members = group.gr_mem;
    // SAFETY: a null-terminated array of strings inside `text`.
    unsafe {
        while !(*members).is_null() {
            if CStr::from_ptr(*members) == user.name.as_c_str() {
                return true;
            }
            members = members.add(1);
        }
    }
    false
}

fn current_token(_t: CurrentThread) -> usize {
    // SAFETY: no preconditions.
    unsafe { libc::geteuid() as usize }
}

fn token_name<'t>(t: CurrentThread<'t>, token: usize) -> Managed<Str<'t>> {
    match user_by_id(token as u32) {
        Some(user) => Str::from_utf8(t, user.name.to_bytes()),
        None => Str::new(t, ""),
    }
}

fn user_token(t: CurrentThread, name: Option<Str>) -> Managed<usize> {
    let name = non_null(t, name, "username")?;
    let user = CString::new(name.to_rust()).ok().and_then(|name| user_by_name(&name));
    Ok(user.map_or(NO_TOKEN, |user| user.id as usize))
}

/// Lists Windows groups, of which there are none; POSIX groups are asked for one by one.
fn roles<'t>(t: CurrentThread<'t>, _token: usize) -> Managed<Array<'t>> {
    Array::new(t, universe().string(), 0)
}

fn is_member_of_group_id(_t: CurrentThread, user: usize, group: usize) -> bool {
    // SAFETY: `is_member` passes places of the sizes given.
    is_member(user, |entry, text, length, found| unsafe {
        libc::getgrgid_r(group as libc::gid_t, entry, text, length, found)
    })
}

fn is_member_of_group_name(_t: CurrentThread, user: usize, group: *const libc::c_char) -> bool {
    if group.is_null() {
        return false;
    }
    // SAFETY: managed code passes NUL-terminated UTF-8; `is_member` passes places of the sizes given.
    is_member(user, |entry, text, length, found| unsafe { libc::getgrnam_r(group, entry, text, length, found) })
}

fn close_token(_t: CurrentThread, _token: usize) -> bool {
    true
}

fn duplicate_token(_t: CurrentThread, token: usize) -> usize {
    token
}

/// Sets the process's effective user and group: POSIX has no identity per thread.
fn set_current_token(_t: CurrentThread, token: usize) -> bool {
    let Some(user) = user_by_id(token as u32) else { return false };
    // SAFETY: no preconditions.
    unsafe { libc::setegid(user.group) == 0 && libc::seteuid(user.id) == 0 }
}

fn revert_to_self(_t: CurrentThread) -> bool {
    // SAFETY: no preconditions.
    unsafe { libc::seteuid(libc::getuid()) == 0 && libc::setegid(libc::getgid()) == 0 }
}

/// The internal calls of `System.Security.Principal.WindowsIdentity`, `System.Security.Principal.WindowsPrincipal`
/// and `System.Security.Principal.WindowsImpersonationContext`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Security.Principal.WindowsIdentity::GetCurrentToken", &current_token),
    InternalCall::new("System.Security.Principal.WindowsIdentity::GetTokenName", &token_name),
    InternalCall::new("System.Security.Principal.WindowsIdentity::GetUserToken", &user_token),
    InternalCall::new("System.Security.Principal.WindowsIdentity::_GetRoles", &roles),
    InternalCall::new("System.Security.Principal.WindowsPrincipal::IsMemberOfGroupId", &is_member_of_group_id),
    InternalCall::new("System.Security.Principal.WindowsPrincipal::IsMemberOfGroupName", &is_member_of_group_name),
    InternalCall::new("System.Security.Principal.WindowsImpersonationContext::CloseToken", &close_token),
    InternalCall::new("System.Security.Principal.WindowsImpersonationContext::DuplicateToken", &duplicate_token),
    InternalCall::new("System.Security.Principal.WindowsImpersonationContext::SetCurrentToken", &set_current_token),
    InternalCall::new("System.Security.Principal.WindowsImpersonationContext::RevertToSelf", &revert_to_self),
];
