//! System.Environment, and a few facts about the process that other classes ask for.

use crate::arguments::{optional_string, string_array, units_at};
use saki_interop::dllmap::configuration_directory;
use saki_runtime::object::exceptions;
use saki_runtime::vm::{crash_report, exit as process_exit, host_settings, stack_trace, unhandled};
use saki_runtime::{Array, CurrentThread, ExceptionType, InternalCall, Managed, Obj, Str, vm};
use saki_types::universe;
use std::ffi::{CStr, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// `PlatformID.Unix`.
const PLATFORM_UNIX: i32 = 4;

fn platform(_t: CurrentThread) -> i32 {
    PLATFORM_UNIX
}

fn new_line<'t>(t: CurrentThread<'t>) -> Managed<Str<'t>> {
    Str::new(t, "\n")
}

fn environment_variable<'t>(t: CurrentThread<'t>, name: *const libc::c_char) -> Managed<Option<Str<'t>>> {
    // SAFETY: managed code passes NUL-terminated UTF-8 that lives through the call.
    let name = unsafe { CStr::from_ptr(name) };
    if name.is_empty() || name.to_bytes().contains(&b'=') {
        return Ok(None);
    }
    match std::env::var_os(OsStr::from_bytes(name.to_bytes())) {
        Some(value) => Str::from_utf8(t, value.as_bytes()).map(Some),
        None => Ok(None),
    }
}

fn environment_variable_names<'t>(t: CurrentThread<'t>) -> Managed<Array<'t>> {
    let names: Vec<String> = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    string_array(t, &names)
}

/// An empty value removes the variable.
fn set_environment_variable(
    _t: CurrentThread,
    name: *const u16,
    name_length: i32,
    value: *const u16,
    value_length: i32,
) {
    let text = |units: &[u16]| {
        let end = units.iter().position(|&u| u == 0).unwrap_or(units.len());
        OsString::from_vec(String::from_utf16_lossy(&units[..end]).into_bytes())
    };
    // SAFETY: the managed caller pins both strings for the call.
    let (name, value) = unsafe { (text(units_at(name, name_length)), text(units_at(value, value_length))) };
    if name.is_empty() || name.as_bytes().contains(&b'=') {
        return;
    }
    if value.is_empty() {
        // SAFETY: std's own lock orders this with every reader in this process but foreign C code, which .NET's
        // Environment cannot protect on any runtime.
        unsafe { std::env::remove_var(name) };
    } else {
        // SAFETY: std's own lock orders this with every reader in this process but foreign C code, which .NET's
        // Environment cannot protect on any runtime.
        unsafe { std::env::set_var(name, value) };
    }
}

fn command_line_args<'t>(t: CurrentThread<'t>) -> Managed<Array<'t>> {
    string_array(t, vm::command_line())
}

/// Ends the process with this code, after the handlers of ProcessExit.
///
/// # Errors
/// NotSupportedException where the host does not let programs end its process.
pub fn exit(t: CurrentThread, code: i32) -> Managed<()> {
    if !vm::options().host.programs_may_exit {
        let message = "The host does not let programs end its process.";
        return Err(exceptions::throw(t, ExceptionType::NotSupported, message));
    }
    vm::set_exit_code(code);
    process_exit::run_exit_hooks(t);
    // Handlers of ProcessExit may have set another one.
    saki_thread::end_process(vm::exit_code())
}

fn fail_fast(t: CurrentThread, message: Option<Str>, exception: Option<Obj>, _source: Option<Obj>) {
    match message {
        None => saki_base::tell!("CLR: Managed code called FailFast without specifying a reason."),
        Some(message) => saki_base::tell!("CLR: Managed code called FailFast, saying \"{}\"", message.to_rust()),
    }
    saki_base::messages::tell(format_args!("{}", crash_report::lines_of(&stack_trace::walk(t))));
    if let Some(exception) = exception {
        unhandled::report(t, exception);
    }
    crash_report::abort_reported()
}

fn get_exit_code(_t: CurrentThread) -> i32 {
    vm::exit_code()
}

fn set_exit_code(_t: CurrentThread, code: i32) {
    vm::set_exit_code(code);
}

fn has_shutdown_started(_t: CurrentThread) -> bool {
    process_exit::has_shutdown_started()
}

fn tick_count(t: CurrentThread) -> i32 {
    const NANOSECONDS_PER_MILLISECOND: u64 = 1_000_000;
    (t.vm().clock().monotonic_ns() / NANOSECONDS_PER_MILLISECOND) as i32
}

fn processor_count(_t: CurrentThread) -> i32 {
    saki_sched::parallelism() as i32
}

fn page_size(_t: CurrentThread) -> i32 {
    saki_os::page_size_bytes() as i32
}

fn is_64_bit_operating_system(_t: CurrentThread) -> bool {
    true
}

/// The kernel's release, which managed code parses as a version.
fn os_version_string<'t>(t: CurrentThread<'t>) -> Managed<Str<'t>> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Str::new(t, release.trim_end())
}

/// Host name up to the first dot.
fn machine_name<'t>(t: CurrentThread<'t>) -> Managed<Option<Str<'t>>> {
    let mut buffer = [0u8; 256];
    // SAFETY: the buffer has this length; the last byte stays 0.
    let outcome = unsafe { libc::gethostname(buffer.as_mut_ptr().cast(), buffer.len() - 1) };
    if outcome != 0 {
        return Ok(None);
    }
    let name = buffer.split(|&b| b == 0 || b == b'.').next().unwrap_or_default();
    Str::from_utf8(t, name).map(Some)
}

/// Name and home directory of the user in the password database.
fn password_entry() -> Option<(String, String)> {
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::uninit();
    let mut found = std::ptr::null_mut();
    let mut text = [0 as libc::c_char; 4096];
    // SAFETY: all pointers are to locals of the sizes given.
    let outcome =
        unsafe { libc::getpwuid_r(libc::getuid(), entry.as_mut_ptr(), text.as_mut_ptr(), text.len(), &mut found) };
    if outcome != 0 || found.is_null() {
        return None;
    }
    // SAFETY: `found` says that the entry was filled in.
    let entry = unsafe { entry.assume_init() };
    // SAFETY: strings inside `text`.
    let string = |p| unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned();
    Some((string(entry.pw_name), string(entry.pw_dir)))
}

fn user_name<'t>(t: CurrentThread<'t>) -> Managed<Str<'t>> {
    let name = password_entry().map(|(name, _)| name).or_else(|| std::env::var("USER").ok());
    Str::new(t, name.as_deref().unwrap_or("somebody"))
}

fn home<'t>(t: CurrentThread<'t>) -> Managed<Str<'t>> {
    let home = std::env::var("HOME").ok().or_else(|| password_entry().map(|(_, home)| home));
    Str::new(t, home.as_deref().unwrap_or("/"))
}

/// Mount points of devices.
fn logical_drives<'t>(t: CurrentThread<'t>) -> Managed<Array<'t>> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut drives: Vec<&str> = Vec::new();
    for line in mounts.lines() {
        let mut words = line.split(' ');
        if let (Some(device), Some(place)) = (words.next(), words.next())
            && device.starts_with('/')
            && !drives.contains(&place)
        {
            drives.push(place);
        }
    }
    if drives.is_empty() {
        drives.push("/");
    }
    string_array(t, &drives)
}

/// Where machine.config is.
fn machine_config_path<'t>(t: CurrentThread<'t>) -> Managed<Str<'t>> {
    Str::new(t, &format!("{}/mono/4.5/machine.config", configuration_directory().display()))
}

/// The folder that holds the configuration directory; System.Web takes it for the folder of the installation.
fn machine_install_directory<'t>(t: CurrentThread<'t>) -> Managed<Str<'t>> {
    let directory = configuration_directory();
    let parent = directory.parent().unwrap_or(Path::new("."));
    Str::new(t, &parent.display().to_string())
}

/// The text that an embedding host has given in place of machine.config.
fn bundled_machine_config<'t>(t: CurrentThread<'t>) -> Managed<Option<Str<'t>>> {
    host_settings::machine_config().map(|text| Str::new(t, &text)).transpose()
}

/// The folder that `mono/gac` is in: the class library appends the rest itself.
fn gac_path<'t>(t: CurrentThread<'t>) -> Managed<Option<Str<'t>>> {
    let root = universe().binder().paths().framework_root.clone();
    optional_string(t, root.parent().and_then(Path::to_str))
}

/// The special folders of Windows do not exist here.
fn windows_folder_path<'t>(t: CurrentThread<'t>, _folder: i32) -> Managed<Str<'t>> {
    Str::new(t, "")
}

/// Does nothing: only Windows broadcasts changes of settings.
fn broadcast_setting_change(_t: CurrentThread) {}

fn current_process_id(_t: CurrentThread) -> i32 {
    std::process::id() as i32
}

/// The configuration switch ThrowUnobservedTaskExceptions, off by default since .NET 4.5.
fn throws_unobserved_task_exceptions(_t: CurrentThread) -> bool {
    false
}

/// The internal calls of 5 classes, `Environment`, `ICalls`, `InternalConfigurationHost` among them.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Environment::get_Platform", &platform),
    InternalCall::new("System.Environment::GetNewLine", &new_line),
    InternalCall::new("System.Environment::internalGetEnvironmentVariable_native", &environment_variable),
    InternalCall::new("System.Environment::GetEnvironmentVariableNames", &environment_variable_names),
    InternalCall::new("System.Environment::InternalSetEnvironmentVariable", &set_environment_variable),
    InternalCall::new("System.Environment::GetCommandLineArgs", &command_line_args),
    InternalCall::new("System.Environment::Exit", &exit),
    InternalCall::new("System.Environment::FailFast", &fail_fast),
    InternalCall::new("System.Environment::get_ExitCode", &get_exit_code),
    InternalCall::new("System.Environment::set_ExitCode", &set_exit_code),
    InternalCall::new("System.Environment::get_HasShutdownStarted", &has_shutdown_started),
    InternalCall::new("System.Environment::get_TickCount", &tick_count),
    InternalCall::new("System.Environment::get_ProcessorCount", &processor_count),
    InternalCall::new("System.Environment::GetPageSize", &page_size),
    InternalCall::new("System.Environment::GetIs64BitOperatingSystem", &is_64_bit_operating_system),
    InternalCall::new("System.Environment::GetOSVersionString", &os_version_string),
    InternalCall::new("System.Environment::get_MachineName", &machine_name),
    InternalCall::new("System.Environment::get_UserName", &user_name),
    InternalCall::new("System.Environment::internalGetHome", &home),
    InternalCall::new("System.Environment::GetLogicalDrivesInternal", &logical_drives),
    InternalCall::new("System.Environment::GetMachineConfigPath", &machine_config_path),
    InternalCall::new("System.Web.Util.ICalls::GetMachineConfigPath", &machine_config_path),
    InternalCall::new("System.Web.Util.ICalls::GetMachineInstallDirectory", &machine_install_directory),
    InternalCall::new("System.Environment::get_bundled_machine_config", &bundled_machine_config),
    InternalCall::new(
        "System.Configuration.InternalConfigurationHost::get_bundled_machine_config",
        &bundled_machine_config,
    ),
    InternalCall::new(
        "System.Configuration.InternalConfigurationHost::get_bundled_app_config",
        &bundled_machine_config,
    ),
    InternalCall::new("System.Environment::internalGetGacPath", &gac_path),
    InternalCall::new("System.Environment::GetWindowsFolderPath", &windows_folder_path),
    InternalCall::new("System.Environment::internalBroadcastSettingChange", &broadcast_setting_change),
    InternalCall::new("Microsoft.Win32.NativeMethods::GetCurrentProcessId", &current_process_id),
    InternalCall::new("System.CLRConfig::CheckThrowUnobservedTaskExceptions", &throws_unobserved_task_exceptions),
];
