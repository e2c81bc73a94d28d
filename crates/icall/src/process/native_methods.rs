//! Microsoft.Win32.NativeMethods: operations on process handles.
//!
//! Left out: WaitForInputIdle.

use super::{information, processes};
use saki_interop::host::set_last_error;
use saki_runtime::{CurrentThread, InternalCall, Place};

const ERROR_ACCESS_DENIED: i32 = 5;
const ERROR_INVALID_HANDLE: i32 = 6;
const ERROR_GEN_FAILURE: i32 = 31;
const ERROR_INVALID_PARAMETER: i32 = 87;
const ERROR_PROC_NOT_FOUND: i32 = 127;

/// The Win32 code for an operation on a process that failed with an errno value.
fn error_of(errno: i32) -> i32 {
    match errno {
        libc::EINVAL => ERROR_INVALID_PARAMETER,
        libc::EPERM | libc::EACCES => ERROR_ACCESS_DENIED,
        libc::ESRCH => ERROR_PROC_NOT_FOUND,
        _ => ERROR_GEN_FAILURE,
    }
}

fn lookup(handle: usize) -> Option<std::sync::Arc<processes::KnownProcess>> {
    let found = processes::lookup(handle);
    if found.is_none() {
        set_last_error(ERROR_INVALID_HANDLE);
    }
    found
}

fn close_process(_t: CurrentThread, handle: usize) -> bool {
    processes::close(handle)
}

fn get_current_process(_t: CurrentThread) -> usize {
    processes::current()
}

fn get_current_process_id(_t: CurrentThread) -> i32 {
    std::process::id() as i32
}

fn get_exit_code(_t: CurrentThread, handle: usize, code: Place<i32>) -> bool {
    let Some(process) = lookup(handle) else { return false };
    code.set(process.end().map_or(processes::STILL_ACTIVE, |end| end.exit_code));
    true
}

/// Ends a process: an exit code of -1 kills it, with any other one it is asked to end.
fn terminate(_t: CurrentThread, handle: usize, exit_code: i32) -> bool {
    let Some(process) = lookup(handle) else { return false };
    if process.end().is_some() {
        // The process has ended; its id may belong to another process by now.
        set_last_error(ERROR_PROC_NOT_FOUND);
        return false;
    }
    // SAFETY: sends a signal to a process.
    let sent = unsafe { libc::kill(process.pid, if exit_code == -1 { libc::SIGKILL } else { libc::SIGTERM }) };
    if sent == 0 {
        return true;
    }
    set_last_error(error_of(crate::io::errors::errno()));
    false
}

fn get_times(
    _t: CurrentThread,
    handle: usize,
    creation: Place<i64>,
    exit: Place<i64>,
    kernel: Place<i64>,
    user: Place<i64>,
) -> bool {
    let Some(process) = lookup(handle) else { return false };
    let (user_time, kernel_time) = information::processor_times(process.pid).unwrap_or_default();
    let start = if process.is_child { process.start_time } else { information::start_time(process.pid).unwrap_or(0) };
    creation.set(start);
    exit.set(process.end().map_or(0, |end| end.time));
    kernel.set(kernel_time);
    user.set(user_time);
    true
}

/// `ProcessPriorityClass` with the range of nice values that mean it, and the one to set.
const PRIORITIES: [(i32, std::ops::RangeInclusive<i32>, i32); 6] = [
    (0x100, -20..=-16, -20),
    (0x80, -15..=-11, -11),
    (0x8000, -10..=-1, -5),
    (0x20, 0..=0, 0),
    (0x4000, 1..=10, 5),
    (0x40, 11..=19, 15),
];

fn get_priority(_t: CurrentThread, handle: usize) -> i32 {
    let Some(process) = lookup(handle) else { return 0 };
    // -1 is a value as well.
    saki_os::error::set_errno(0);
    // SAFETY: no preconditions.
    let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, process.pid as libc::id_t) };
    let errno = crate::io::errors::errno();
    if nice == -1 && errno != 0 {
        set_last_error(error_of(errno));
        return 0;
    }
    PRIORITIES.iter().find(|(_, range, _)| range.contains(&nice)).map_or(0, |(class, ..)| *class)
}

fn set_priority(_t: CurrentThread, handle: usize, class: i32) -> bool {
    let Some(process) = lookup(handle) else { return false };
    let Some((.., nice)) = PRIORITIES.iter().find(|(known, ..)| *known == class) else {
        set_last_error(ERROR_INVALID_PARAMETER);
        return false;
    };
    // SAFETY: changes the priority of a process.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, process.pid as libc::id_t, *nice) } == 0 {
        return true;
    }
    set_last_error(error_of(crate::io::errors::errno()));
    false
}

/// Returns the defaults of Windows; Linux has no such limits.
fn get_working_set_size(_t: CurrentThread, handle: usize, min: Place<usize>, max: Place<usize>) -> bool {
    match lookup(handle) {
        Some(process) if process.is_child => {
            min.set(204_800);
            max.set(1_413_120);
            true
        }
        _ => false,
    }
}

/// There is no input loop to wait for, so the wait times out.
fn wait_for_input_idle(_t: CurrentThread, _handle: usize, _milliseconds: i32) -> i32 {
    const WAIT_TIMEOUT: i32 = 0x102;
    WAIT_TIMEOUT
}

/// The internal calls of `Microsoft.Win32.NativeMethods`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("Microsoft.Win32.NativeMethods::CloseProcess", &close_process),
    InternalCall::new("Microsoft.Win32.NativeMethods::GetCurrentProcess", &get_current_process),
    InternalCall::new("Microsoft.Win32.NativeMethods::GetCurrentProcessId", &get_current_process_id),
    InternalCall::new("Microsoft.Win32.NativeMethods::GetExitCodeProcess", &get_exit_code),
    InternalCall::new("Microsoft.Win32.NativeMethods::GetPriorityClass", &get_priority),
    InternalCall::new("Microsoft.Win32.NativeMethods::GetProcessTimes", &get_times),
    InternalCall::new("Microsoft.Win32.NativeMethods::GetProcessWorkingSetSize", &get_working_set_size),
    InternalCall::new("Microsoft.Win32.NativeMethods::SetPriorityClass", &set_priority),
    InternalCall::new("Microsoft.Win32.NativeMethods::TerminateProcess", &terminate),
    InternalCall::new("Microsoft.Win32.NativeMethods::WaitForInputIdle", &wait_for_input_idle),
];
