//! A machine for a program that .NET's host has resolved: from runtime properties to a started [`Vm`].
//!
//! Both ways in meet here: `saki app.dll`, which has asked the installed host resolver, and `libcoreclr.so`, which the
//! host has loaded. The core library among the trusted assemblies decides about the class libraries. With Mono's
//! mscorlib there the machine is the usual one, so that a host of CoreCLR's interface can run programs on Mono's class
//! libraries.
//!
use crate::contract::HostContract;
use crate::properties::{CoreLibrary, RuntimeProperties};
use crate::thread_pool::with_pool_settings;
use saki_corelib::own_executable;
pub use saki_corelib::own_executable::OwnExecutable;
use saki_runtime::vm::net::NetRuntime;
use saki_runtime::vm::{StartError, VmOptions};
use saki_runtime::{HostEvents, Vm};
use std::path::Path;

/// What a machine starts from.
pub struct NetStart {
    /// For `AppContext`, in the host's order.
    pub properties: RuntimeProperties,
    /// What the program's command line begins with, where that is not the path of its assembly.
    pub program: Option<String>,
    /// What the program takes for the process's executable, where that is not so.
    pub executable: Option<OwnExecutable>,
    /// The host's functions, if it has any.
    pub contract: Option<HostContract>,
    /// The machine's options; those about class libraries are set here.
    pub options: VmOptions,
    /// What the host wants to be told.
    pub events: HostEvents,
}

/// Starts a machine on the calling thread, which becomes its main thread. Once in a process.
///
/// # Errors
/// No core library among the trusted assemblies, or one that no machine starts on; the machine's own errors.
pub fn start(start: NetStart) -> Result<Vm, StartError> {
    match start.properties.core_library() {
        None => Err(StartError("TRUSTED_PLATFORM_ASSEMBLIES names no core library".to_owned())),
        Some(CoreLibrary::Net(_)) => start_on_net(start),
        Some(CoreLibrary::Mono(path)) => start_on_mono(start, &path),
    }
}

fn start_on_net(start: NetStart) -> Result<Vm, StartError> {
    if let Some(executable) = start.executable {
        own_executable::set(executable);
    }
    let runtime =
        NetRuntime { properties: with_pool_settings(&start.properties, start.options.threads), program: start.program };
    let options = VmOptions { net: Some(runtime), ..start.options };
    Vm::builder(saki_corelib::upper_layers()).options(options).host(start.events).start()
}

/// `mscorlib` lies in the profile's folder below the framework's root.
fn start_on_mono(start: NetStart, mscorlib: &Path) -> Result<Vm, StartError> {
    let root = mscorlib.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    let mut options = VmOptions { framework_root: root.to_path_buf(), ..start.options };
    let folders = start.properties.trusted_assemblies().filter_map(Path::parent).map(Path::to_path_buf);
    for folder in folders.filter(|folder| Some(folder.as_path()) != mscorlib.parent()) {
        if !options.mono_path.contains(&folder) {
            options.mono_path.push(folder);
        }
    }
    Vm::builder(saki_icall::upper_layers()).options(options).host(start.events).start()
}
