//! Running a program on .NET's class libraries: the properties that a host gives, and the managed methods that start
//! and end a program.
//!
//! The order is that of .NET's own runtime: `AppContext.Setup` with all properties, the event sources, the command
//! line, start-up hooks, `Main`. Left out: finding a .NET and its properties (the hosts), and internal calls
//! (`icall::net`).

use crate::class_library;
use crate::exceptions::ToManaged;
use crate::fields::ManagedField;
use crate::invoke::{self, Slot};
use crate::references::{Array, Obj, Str};
use crate::thread::{CurrentThread, Managed};
use saki_abi::ObjRef;
use saki_types::TrustedAssemblies;
use saki_types::{Assembly, GenericContext, LibraryType, Method, universe};
use std::path::{Path, PathBuf};

/// What a host says about the .NET that a program runs on.
#[derive(Clone, Debug, Default)]
pub struct NetRuntime {
    /// Properties of the runtime in the host's order, among them TRUSTED_PLATFORM_ASSEMBLIES; `AppContext` has them
    /// all.
    pub properties: Vec<(String, String)>,
    /// What the command line begins with; None: the path of the program's assembly.
    pub program: Option<String>,
}

/// The property with the files of all assemblies, separated by colons.
const TRUSTED_PLATFORM_ASSEMBLIES: &str = "TRUSTED_PLATFORM_ASSEMBLIES";

impl NetRuntime {
    /// A property of the runtime.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn trusted_files(&self) -> impl Iterator<Item = &Path> {
        let list = self.property(TRUSTED_PLATFORM_ASSEMBLIES).unwrap_or_default();
        list.split(':').filter(|file| !file.is_empty()).map(Path::new)
    }

    /// The file of the core assembly; that of the properties' last framework where it is not listed.
    pub(super) fn core_library(&self) -> PathBuf {
        let name = saki_contract::LibraryProfile::NET.core_assembly;
        let mut files = self.trusted_files();
        let listed = files.find(|file| file.file_stem().is_some_and(|stem| stem == name));
        listed.map_or_else(|| PathBuf::from(format!("{name}.dll")), Path::to_path_buf)
    }

    /// The folders in which satellite assemblies lie, in folders named after their culture.
    pub(super) fn resource_roots(&self) -> Vec<PathBuf> {
        let listed = self.property("PLATFORM_RESOURCE_ROOTS").unwrap_or_default();
        let base = self.property("APP_CONTEXT_BASE_DIRECTORY").unwrap_or_default();
        let folders = std::iter::once(base).chain(listed.split(':'));
        folders.filter(|folder| !folder.is_empty()).map(PathBuf::from).collect()
    }

    /// The listed files by the names of their assemblies; of several for one name the first counts.
    pub(super) fn trusted_assemblies(&self) -> TrustedAssemblies {
        let mut files = TrustedAssemblies::default();
        for file in self.trusted_files() {
            if let Some(stem) = file.file_stem().and_then(|stem| stem.to_str()) {
                files.entry(stem.to_ascii_lowercase()).or_insert_with(|| file.to_path_buf());
            }
        }
        files
    }
}

/// A static method of the core assembly that starts or ends a program.
fn start_method(t: CurrentThread, namespace: &str, class: &str, name: &str) -> Managed<Option<&'static Method>> {
    let Some(ty) = universe().corlib().find_type(namespace, class).to_managed(t)? else { return Ok(None) };
    let mut methods = ty.methods().to_managed(t)?;
    Ok(methods.find(|method| method.name == name && method.is_static()))
}

/// Texts that end with a NUL, and an array of their addresses.
struct NativeTexts<T> {
    texts: Vec<Vec<T>>,
}

impl<T> NativeTexts<T> {
    fn addresses(&self) -> Vec<*const T> {
        self.texts.iter().map(|text| text.as_ptr()).collect()
    }
}

fn utf16(texts: impl IntoIterator<Item = impl AsRef<str>>) -> NativeTexts<u16> {
    let texts = texts.into_iter().map(|text| text.as_ref().encode_utf16().chain([0]).collect());
    NativeTexts { texts: texts.collect() }
}

/// Runs `Main` and returns the exit code.
pub(super) fn run_main(
    t: CurrentThread,
    net: &NetRuntime,
    assembly: &'static Assembly,
    args: &[String],
) -> Managed<i32> {
    let (keys, values) = (utf16(net.properties.iter().map(|p| &p.0)), utf16(net.properties.iter().map(|p| &p.1)));
    if let Some(setup) = start_method(t, "System", "AppContext", "Setup")? {
        let (keys, values) = (keys.addresses(), values.addresses());
        let count = Slot::from_i32(i32::try_from(keys.len()).unwrap_or(i32::MAX));
        invoke::invoke(t, setup, &[Slot(keys.as_ptr() as u64), Slot(values.as_ptr() as u64), count])?;
    }
    if let Some(sources) =
        start_method(t, "System.Diagnostics.Tracing", "EventSource", "InitializeDefaultEventSources")?
    {
        invoke::invoke(t, sources, &[])?;
    }
    let array = command_line(t, net, assembly, args)?;
    if let Some(hooks) = start_method(t, "System", "StartupHookProvider", "ManagedStartup")? {
        let words = [Slot(0)];
        let count = hooks.sig().to_managed(t)?.params.len().min(words.len());
        invoke::invoke(t, hooks, &words[..count])?;
    }
    let token = assembly.image.meta.entry_point_token();
    let main = assembly.image.resolve_method(token, &GenericContext::NONE).to_managed(t)?;
    let sig = main.sig().to_managed(t)?;
    crate::exit_code::note_main(sig.ret != universe().void());
    let word = [Slot::from_ref(array.obj(t))];
    let result = invoke::invoke(t, main, &word[..sig.params.len().min(1)])?;
    Ok(if sig.ret == universe().void() { crate::exit_code::exit_code() } else { result.as_i32() })
}

/// The argument of `Main`, which the class library keeps as the command line as well.
fn command_line(
    t: CurrentThread,
    net: &NetRuntime,
    assembly: &Assembly,
    args: &[String],
) -> Managed<crate::cells::RootCell> {
    let texts = utf16(args);
    let program = utf16([net.program.clone().unwrap_or_else(|| assembly.path.display().to_string())]);
    if let Some(method) = start_method(t, "System", "Environment", "InitializeCommandLineArgs")? {
        let addresses = texts.addresses();
        let count = Slot::from_i32(i32::try_from(args.len()).unwrap_or(i32::MAX));
        let words = [Slot(program.addresses()[0] as u64), count, Slot(addresses.as_ptr() as u64)];
        let result = invoke::invoke(t, method, &words)?;
        // SAFETY: the method's result is an array of strings.
        if let Some(array) = unsafe { result.as_obj() } {
            return Ok(crate::cells::RootCell::new(array));
        }
    }
    let array = Array::new(t, universe().string(), args.len())?;
    for (index, arg) in args.iter().enumerate() {
        array.set(t, index, Some(Str::new(t, arg)?.into()));
    }
    Ok(crate::cells::RootCell::new(array))
}

/// Tells the program of an unhandled exception, and writes .NET's text for it.
pub(super) fn report_unhandled(t: CurrentThread, exception: Obj) {
    static HANDLERS: ManagedField = ManagedField::new(LibraryType::AppContext, "UnhandledException");
    let raised: Managed<()> = (|| {
        if let Some(raise) = start_method(t, "System", "AppContext", "OnUnhandledException")? {
            return invoke::invoke(t, raise, &[Slot::from_ref(exception)]).map(|_| ());
        }
        // SAFETY: the static's slot, scanned as a root, holds a delegate or null.
        let Some(handler) = (unsafe { Obj::from_word(*HANDLERS.static_address::<ObjRef>()) }) else { return Ok(()) };
        let event = universe().library_type(LibraryType::UnhandledExceptionEventArgs).to_managed(t)?;
        let arguments = Obj::new(t, event)?;
        if let Some(constructor) = event.find_method(".ctor", 2).to_managed(t)? {
            let words = [Slot::from_ref(arguments), Slot::from_ref(exception), Slot::from_bool(true)];
            invoke::invoke(t, constructor, &words)?;
        }
        let call = saki_il::synth::delegate::invoke_method(handler.ty()).to_managed(t)?;
        let sender = None::<Obj>;
        invoke::invoke(t, call, &[Slot::from_ref(handler), Slot::from_ref(sender), Slot::from_ref(arguments)])?;
        Ok(())
    })();
    if raised.is_err() {
        t.take_pending();
    }
    const WITHOUT_TEXT: &str = "\n   Cannot print exception string because Exception.ToString() failed.";
    let text = crate::unhandled::text_of(t, exception);
    match text {
        Some(text) => saki_base::messages::tell(format_args!("Unhandled exception. {text}\n")),
        None if class_library::is_net_since(10) => saki_base::messages::tell(format_args!("{WITHOUT_TEXT}\n")),
        None => saki_base::messages::tell(format_args!("Unhandled exception. {WITHOUT_TEXT}\n")),
    }
}

/// Tells the class library that the process ends.
///
/// # Errors
/// What handlers of ProcessExit throw.
pub fn notify_exit(t: CurrentThread) -> Managed<()> {
    match start_method(t, "System", "AppContext", "OnProcessExit")? {
        Some(method) => invoke::invoke(t, method, &[]).map(|_| ()),
        None => Ok(()),
    }
}
