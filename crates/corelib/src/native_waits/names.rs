//! Look-ups of host names, by the library's functions on the threads of `icall::net::look_ups`: another OS thread runs
//! them, so they get copies of all that may lie on the stack of the thread that asks.

use super::original;
use super::structures::HostEntry;
use saki_icall::io::native_streams::outside_native_code;
use saki_icall::net::look_ups;
use saki_os::error::{errno, set_errno};
use std::ffi::{CStr, CString};

/// `EAI_FAIL` of the library.
const FAILED: i32 = 3;

/// Runs a look-up on another thread. Returns what it returned, with its `errno`; None: the thread is aborted.
fn run<R: Send + 'static>(look_up: impl FnOnce() -> R + Send + 'static) -> Option<R> {
    let answer = outside_native_code(|t| {
        look_ups::run(t, || {
            let answer = look_up();
            (answer, errno())
        })
    });
    let (answer, number) = answer.ok()?;
    set_errno(number);
    Some(answer)
}

/// # Safety
/// Compiled code calls it as the library's function.
pub(super) unsafe extern "C" fn get_host_entry_for_name(name: *const u8, family: i32, entry: *mut HostEntry) -> i32 {
    if name.is_null() || entry.is_null() || !saki_reactor::waits_park() {
        // SAFETY: compiled code's arguments for the library's function.
        return unsafe { original::get_host_entry_for_name(name, family, entry) };
    }
    // SAFETY: not null; a NUL-terminated name.
    let name: CString = unsafe { CStr::from_ptr(name.cast()) }.to_owned();
    let answer = run(move || {
        let mut found: HostEntry = [0; 4];
        // SAFETY: a NUL-terminated name, and room for the description.
        let code = unsafe { original::get_host_entry_for_name(name.as_ptr().cast(), family, &mut found) };
        (code, found)
    });
    let Some((code, found)) = answer else { return FAILED };
    // SAFETY: not null; compiled code's room for the description.
    unsafe { *entry = found };
    code
}

/// Room for as many bytes of text as the caller has.
fn room(text: *mut u8, len: i32) -> Vec<u8> {
    let len = if text.is_null() { 0 } else { usize::try_from(len).unwrap_or(0) };
    vec![0; len]
}

/// The address of the room, or null where the caller gave that.
fn address(room: &mut [u8]) -> *mut u8 {
    if room.is_empty() { std::ptr::null_mut() } else { room.as_mut_ptr() }
}

/// # Safety
/// Compiled code calls it as the library's function.
pub(super) unsafe extern "C" fn get_name_info(
    address_bytes: *const u8,
    address_len: i32,
    is_ipv6: i8,
    host: *mut u8,
    host_len: i32,
    service: *mut u8,
    service_len: i32,
    flags: i32,
) -> i32 {
    let known_len = usize::try_from(address_len).ok().filter(|_| !address_bytes.is_null());
    let Some(len) = known_len.filter(|_| saki_reactor::waits_park()) else {
        // SAFETY: compiled code's arguments for the library's function.
        return unsafe {
            original::get_name_info(address_bytes, address_len, is_ipv6, host, host_len, service, service_len, flags)
        };
    };
    // SAFETY: not null; so many bytes of address.
    let bytes = unsafe { std::slice::from_raw_parts(address_bytes, len) }.to_vec();
    let (mut host_room, mut service_room) = (room(host, host_len), room(service, service_len));
    let answer = run(move || {
        let (host, host_len) = (address(&mut host_room), host_room.len() as i32);
        let (service, service_len) = (address(&mut service_room), service_room.len() as i32);
        // SAFETY: an address, and room for two texts, with their lengths.
        let code = unsafe {
            original::get_name_info(bytes.as_ptr(), address_len, is_ipv6, host, host_len, service, service_len, flags)
        };
        (code, host_room, service_room)
    });
    let Some((code, host_text, service_text)) = answer else { return FAILED };
    for (text, place) in [(host_text, host), (service_text, service)] {
        // SAFETY: `text` is empty, or as long as compiled code's room at `place`, which is not null then.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), place, text.len()) };
    }
    code
}
