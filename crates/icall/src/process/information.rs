//! System.Diagnostics.Process: facts about processes from /proc; their modules and names.

use super::{modules, processes};
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, Place, Str};
use saki_types::{LibraryType, universe};

/// `MonoProcessError`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadError {
    NotFound = 1,
    Other = 2,
}

fn read(pid: i32, file: &str) -> Result<String, ReadError> {
    let path = format!("/proc/{pid}/{file}");
    match saki_thread::blocking(|| std::fs::read(path)) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(ReadError::NotFound),
        Err(_) => Err(ReadError::Other),
    }
}

/// The command's name.
pub(super) fn name_of(pid: i32) -> Option<String> {
    Some(read(pid, "comm").ok()?.trim_end().to_owned())
}

/// A number from /proc/PID/status, times `scale`.
fn status(pid: i32, key: &str, scale: i64) -> Result<i64, ReadError> {
    let text = read(pid, "status")?;
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    let number = value.and_then(|value| value.split_whitespace().next()?.parse::<i64>().ok());
    number.map(|number| number * scale).ok_or(ReadError::Other)
}

/// Field of /proc/PID/stat, counted from the parent's id (0), which follows the name and the state.
fn stat(pid: i32, index: usize) -> Result<i64, ReadError> {
    let text = read(pid, "stat")?;
    let (_, fields) = text.rsplit_once(") ").ok_or(ReadError::Other)?;
    fields.split_whitespace().nth(index + 1).and_then(|field| field.parse().ok()).ok_or(ReadError::Other)
}

/// Converts from the unit of /proc's processor times.
pub(crate) fn ticks_to_100_ns(ticks: i64) -> i64 {
    // SAFETY: asks for a constant.
    let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1);
    ticks * (10_000_000 / ticks_per_second)
}

/// A time of /proc/PID/stat, in 100 ns.
fn stat_time(pid: i32, index: usize) -> Result<i64, ReadError> {
    Ok(ticks_to_100_ns(stat(pid, index)?))
}

/// The processor times of a process in the user's code and in the system, in 100 ns.
pub(super) fn processor_times(pid: i32) -> Option<(i64, i64)> {
    Some((stat_time(pid, 10).ok()?, stat_time(pid, 11).ok()?))
}

/// When a process started, as a FILETIME.
pub(super) fn start_time(pid: i32) -> Option<i64> {
    let uptime = read_uptime()?;
    Some(processes::file_time_now() - uptime + stat_time(pid, 18).ok()?)
}

/// The time since the system started, in 100 ns.
fn read_uptime() -> Option<i64> {
    let text = saki_thread::blocking(|| std::fs::read_to_string("/proc/uptime")).ok()?;
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some((seconds * 1e7) as i64)
}

/// `MonoProcessData`.
pub(crate) fn data(pid: i32, kind: i32) -> Result<i64, ReadError> {
    let peak = |peak, now| match status(pid, peak, 1024) {
        Ok(0) | Err(ReadError::Other) => status(pid, now, 1024),
        result => result,
    };
    match kind {
        0 => status(pid, "Threads", 1),
        1 => stat_time(pid, 10),
        2 => stat_time(pid, 11),
        3 => Ok(stat_time(pid, 10)? + stat_time(pid, 11)?),
        4 => status(pid, "VmRSS", 1024),
        5 => peak("VmHWM", "VmRSS"),
        6 => status(pid, "VmData", 1024),
        7 => status(pid, "VmSize", 1024),
        8 => peak("VmPeak", "VmSize"),
        9 => Ok(stat(pid, 6)? + stat(pid, 7)?),
        10 => stat_time(pid, 18),
        11 => stat(pid, 0),
        12 => status(pid, "VmSwap", 1024),
        _ => Err(ReadError::Other),
    }
}

fn get_process_data(_t: CurrentThread, pid: i32, kind: i32, error: Place<i32>) -> i64 {
    let (value, code) = match data(pid, kind) {
        Ok(value) => (value, 0),
        Err(error) => (0, error as i32),
    };
    error.set(code);
    value
}

fn get_process(_t: CurrentThread, pid: i32) -> usize {
    saki_thread::blocking(|| processes::open(pid)).unwrap_or(0)
}

fn get_processes<'t>(t: CurrentThread<'t>) -> Managed<Array<'t>> {
    let names = t.managed().blocking(|| {
        let entries = std::fs::read_dir("/proc").ok()?.flatten();
        Some(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect::<Vec<i32>>())
    });
    let Some(mut pids) = names else {
        let message = "This system does not support EnumProcesses";
        return Err(exceptions::throw(t, ExceptionType::NotSupported, message));
    };
    pids.sort_unstable();
    let int = universe().library_type(LibraryType::Int32).to_managed(t)?;
    let array = Array::new(t, int, pids.len())?;
    array.set_numbers(0, &pids);
    Ok(array)
}

/// The name of this program without its extension, or of the process's command.
fn process_name<'t>(t: CurrentThread<'t>, handle: usize) -> Managed<Option<Str<'t>>> {
    match processes::lookup(handle) {
        Some(process) => Str::new(t, process.name.rsplit('/').next().unwrap_or("")).map(Some),
        None => Ok(None),
    }
}

fn get_modules<'t>(t: CurrentThread<'t>, _this: Option<Obj>, handle: usize) -> Managed<Array<'t>> {
    let process = processes::lookup(handle);
    modules::of_process(t, process.as_deref())
}

/// The window of another process: none that could be named here.
fn main_window(_t: CurrentThread, _process_id: i32) -> isize {
    0
}

/// The internal calls of `System.Diagnostics.Process`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Diagnostics.Process::GetModules_icall", &get_modules),
    InternalCall::new("System.Diagnostics.Process::GetProcessData", &get_process_data),
    InternalCall::new("System.Diagnostics.Process::GetProcess_internal", &get_process),
    InternalCall::new("System.Diagnostics.Process::GetProcesses_internal", &get_processes),
    InternalCall::new("@6.14 System.Diagnostics.Process::MainWindowHandle_icall", &main_window),
    InternalCall::new("System.Diagnostics.Process::ProcessName_icall", &process_name),
];
