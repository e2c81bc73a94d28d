//! What the program takes for its own executable, and what a start of it runs.
//!
//! Under .NET the process's executable is `dotnet`, an apphost or a single file; here it is Saki's command. Programs
//! start themselves again by `Environment.ProcessPath`, with the assembly as the first argument if the file is called
//! `dotnet`, and look for files beside it. So the path is the one that .NET has, and the class library's start of a
//! process whose file is this executable starts Saki with the options of this run.
//!
//! Invariant: a process that is started otherwise gets the file and the words that the program gave. Left out: starts
//! by other means than `System.Diagnostics.Process` (a shell, exec by a native library), which run .NET itself; the
//! words that `dotnet` has for others than programs (`dotnet build`), which are left to it.

use crate::fields;
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::object::exceptions;
use saki_runtime::{CurrentThread, ExceptionType, Managed, Obj, OwnFunction, Str};
use std::ffi::{CStr, CString, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// See the module header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnExecutable {
    /// What `Environment.ProcessPath` gives, without symbolic links.
    pub path: PathBuf,
    /// Whether it is `dotnet`, whose arguments begin with the program.
    pub is_muxer: bool,
    /// Saki's command, and the options that it was given.
    pub command: Vec<String>,
}

/// Set before the program begins; empty where .NET's host is the process's executable.
static OWN: OnceLock<OwnExecutable> = OnceLock::new();

/// Says what the program's executable is. Before the program begins, once in a process.
pub fn set(own: OwnExecutable) {
    let _ = OWN.set(own);
}

/// The words of `dotnet` and of Saki that are followed by a program.
const EXEC: &str = "exec";

impl OwnExecutable {
    fn is_same_file(&self, file: &Path) -> bool {
        let id = |path: &Path| std::fs::metadata(path).ok().map(|status| (status.dev(), status.ino()));
        file == self.path || id(file).is_some_and(|file| Some(file) == id(&self.path))
    }

    /// The words that start Saki in place of `file` with `arguments` in the folder `folder`; None if the process is to
    /// be started as the program says.
    fn words(&self, file: &Path, arguments: &[&OsStr], folder: &Path) -> Option<Vec<CString>> {
        if !self.is_same_file(file) {
            return None;
        }
        let command = self.command.iter().map(OsStr::new);
        let words: Vec<&OsStr> = match (self.is_muxer, arguments) {
            (false, arguments) => command.chain([file.as_os_str()]).chain(arguments.iter().copied()).collect(),
            (true, [word, arguments @ ..]) if *word == EXEC => with_exec(command, arguments),
            (true, [program, ..]) if is_program(&folder.join(program)) => with_exec(command, arguments),
            (true, _) => return None,
        };
        words.into_iter().map(|word| CString::new(word.as_bytes()).ok()).collect()
    }
}

/// `exec` is Saki's first word.
fn with_exec<'a>(mut command: impl Iterator<Item = &'a OsStr>, arguments: &[&'a OsStr]) -> Vec<&'a OsStr> {
    let saki = command.next().into_iter();
    saki.chain([OsStr::new(EXEC)]).chain(command).chain(arguments.iter().copied()).collect()
}

/// Whether `dotnet` takes its first word for a program.
fn is_program(file: &Path) -> bool {
    let is_assembly =
        file.extension().is_some_and(|end| end.eq_ignore_ascii_case("dll") || end.eq_ignore_ascii_case("exe"));
    is_assembly && file.is_file()
}

/// `SystemNative_GetProcessPath`.
type GetProcessPath = unsafe extern "C" fn() -> *mut c_char;

/// `SystemNative_ForkAndExecProcess`.
type ForkAndExec = unsafe extern "C" fn(
    *const c_char,
    *const *const c_char,
    *const *const c_char,
    *const c_char,
    c_int,
    c_int,
    c_int,
    c_int,
    u32,
    u32,
    *mut u32,
    c_int,
    *mut c_int,
    *mut c_int,
    *mut c_int,
    *mut c_int,
) -> c_int;

/// The addresses of the library's functions; the resolver stores each before compiled code gets ours.
static GET_PROCESS_PATH: AtomicUsize = AtomicUsize::new(0);
static FORK_AND_EXEC: AtomicUsize = AtomicUsize::new(0);

fn original(cell: &AtomicUsize) -> usize {
    // Acquire: pairs with the Release of the resolver.
    match cell.load(Ordering::Acquire) {
        0 => saki_base::bug!("a function of libSystem.Native is called before it was found"),
        address => address,
    }
}

/// The path, which the caller frees.
///
/// # Safety
/// Compiled code calls it as native code.
unsafe extern "C" fn get_process_path() -> *mut c_char {
    if let Some(path) = OWN.get().and_then(|own| CString::new(own.path.as_os_str().as_bytes()).ok()) {
        // SAFETY: a text that ends in NUL and lives for the call.
        return unsafe { libc::strdup(path.as_ptr()) };
    }
    // SAFETY: the address of the library's function, which has this signature.
    let function: GetProcessPath = unsafe { std::mem::transmute(original(&GET_PROCESS_PATH)) };
    // SAFETY: it takes nothing.
    unsafe { function() }
}

/// The texts up to the null pointer.
///
/// # Safety
/// `texts` leads to such an array of texts, which stay for 'a.
unsafe fn texts<'a>(mut texts: *const *const c_char) -> Vec<&'a OsStr> {
    let mut all = Vec::new();
    loop {
        // SAFETY: not behind the null pointer, at which the loop ends.
        let text = unsafe { texts.read() };
        if text.is_null() {
            return all;
        }
        // SAFETY: a text of the array, which ends in NUL.
        all.push(OsStr::from_bytes(unsafe { CStr::from_ptr(text) }.to_bytes()));
        // SAFETY: the array goes on up to the null pointer.
        texts = unsafe { texts.add(1) };
    }
}

/// The words that start Saki in place of the program's own executable.
///
/// # Safety
/// The arguments are those of a call of the library's function: a text, an array of texts up to a null pointer, and a
/// text or null.
unsafe fn own_words(file: *const c_char, words: *const *const c_char, folder: *const c_char) -> Option<Vec<CString>> {
    let own = OWN.get()?;
    // SAFETY: the class library pins the file's name, which ends in NUL, for the call.
    let file = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(file) }.to_bytes()));
    // SAFETY: the class library makes the array with a null pointer at the end, and frees it after the call.
    let words = unsafe { texts(words) };
    let folder = match folder.is_null() {
        true => Path::new(""),
        // SAFETY: not null, so the folder's name, pinned for the call as well.
        false => Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(folder) }.to_bytes())),
    };
    own.words(file, words.get(1..).unwrap_or_default(), folder)
}

/// See the module header.
///
/// # Safety
/// The arguments are those of a call of the library's function. Compiled code calls it as native code.
unsafe extern "C" fn fork_and_exec(
    file: *const c_char,
    words: *const *const c_char,
    environment: *const *const c_char,
    folder: *const c_char,
    redirects_input: c_int,
    redirects_output: c_int,
    redirects_error: c_int,
    sets_user: c_int,
    user: u32,
    group: u32,
    groups: *mut u32,
    group_count: c_int,
    child: *mut c_int,
    input: *mut c_int,
    output: *mut c_int,
    error: *mut c_int,
) -> c_int {
    // SAFETY: the arguments of a call of the library's function.
    let own = unsafe { own_words(file, words, folder) };
    let addresses: Option<Vec<*const c_char>> =
        own.as_ref().map(|own| own.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect());
    let (file, words) = match &addresses {
        Some(addresses) => (addresses[0], addresses.as_ptr()),
        None => (file, words),
    };
    // SAFETY: the address of the library's function, which has this signature.
    let function: ForkAndExec = unsafe { std::mem::transmute(original(&FORK_AND_EXEC)) };
    // SAFETY: compiled code's arguments go on unchanged, but for words of ours that live for the call and end in null.
    unsafe {
        function(
            file,
            words,
            environment,
            folder,
            redirects_input,
            redirects_output,
            redirects_error,
            sets_user,
            user,
            group,
            groups,
            group_count,
            child,
            input,
            output,
            error,
        )
    }
}

/// See the module header.
pub(crate) static OWN_FUNCTIONS: &[OwnFunction] = &[
    OwnFunction {
        library: "libSystem.Native",
        name: "SystemNative_GetProcessPath",
        address: get_process_path as *const (),
        original: Some(&GET_PROCESS_PATH),
    },
    OwnFunction {
        library: "libSystem.Native",
        name: "SystemNative_ForkAndExecProcess",
        address: fork_and_exec as *const (),
        original: Some(&FORK_AND_EXEC),
    },
];

/// The fields of a ProcessModule.
const FILE: &str = "_fileName";
const NAME: &str = "_moduleName";

/// The executable, if the module is Saki's command.
fn executable_of(t: CurrentThread, module: Obj) -> Managed<Option<&'static Path>> {
    let Some(own) = OWN.get() else { return Ok(None) };
    let file = fields::get_ref(t, module, FILE)?.and_then(Obj::as_str);
    let is_command = file.is_some_and(|file| {
        own.command.first().is_some_and(|saki| saki.encode_utf16().eq(file.units().iter().copied()))
    });
    Ok(is_command.then_some(&*own.path))
}

/// A field of a ProcessModule, or what the executable has in its place.
fn of_module<'t>(
    t: CurrentThread<'t>,
    module: Option<Obj<'t>>,
    field: &str,
    executable: impl FnOnce(&'static Path) -> Option<&'static OsStr>,
) -> Managed<Option<Str<'t>>> {
    let module = module.ok_or_else(|| exceptions::throw_default(t, ExceptionType::NullReference))?;
    match executable_of(t, module)?.and_then(executable) {
        Some(text) => Str::new(t, &text.to_string_lossy()).map(Some),
        None => Ok(fields::get_ref(t, module, field)?.and_then(Obj::as_str)),
    }
}

fn module_file<'t>(t: CurrentThread<'t>, module: Option<Obj<'t>>) -> Managed<Option<Str<'t>>> {
    of_module(t, module, FILE, |path| Some(path.as_os_str()))
}

fn module_name<'t>(t: CurrentThread<'t>, module: Option<Obj<'t>>) -> Managed<Option<Str<'t>>> {
    of_module(t, module, NAME, Path::file_name)
}

/// The first of the process's modules is its executable.
pub(crate) const LOOPS: &[LoopRow] = &[
    LoopRow::new("System.Diagnostics.ProcessModule::get_FileName() System.String", &module_file).correcting(),
    LoopRow::new("System.Diagnostics.ProcessModule::get_ModuleName() System.String", &module_name).correcting(),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(is_muxer: bool, file: &str, arguments: &[&str]) -> Option<String> {
        let command = vec!["/bin/saki".to_owned(), "--threads=mn".to_owned()];
        let own = OwnExecutable { path: "/no/where/dotnet".into(), is_muxer, command };
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let words = own.words(Path::new(file), &arguments, Path::new("/"))?;
        Some(words.iter().map(|word| word.to_str().expect("a text")).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn only_the_executable_starts_saki() {
        assert_eq!(words_of(false, "/bin/true", &["x"]), None);
        assert_eq!(
            words_of(false, "/no/where/dotnet", &[]).as_deref(),
            Some("/bin/saki --threads=mn /no/where/dotnet")
        );
        assert_eq!(
            words_of(false, "/no/where/dotnet", &["a b"]).as_deref(),
            Some("/bin/saki --threads=mn /no/where/dotnet a b")
        );
    }

    #[test]
    fn dotnet_starts_programs_only() {
        let program = std::env::temp_dir().join(format!("saki-own-{}.dll", std::process::id()));
        std::fs::write(&program, "").expect("written");
        let text = program.display().to_string();
        let muxer = |arguments: &[&str]| words_of(true, "/no/where/dotnet", arguments);
        let expected = format!("/bin/saki exec --threads=mn {text} x");
        assert_eq!(muxer(&[&text, "x"]), Some(expected));
        assert_eq!(
            muxer(&["exec", "--roll-forward", "Major", "a.dll"]).as_deref(),
            Some("/bin/saki exec --threads=mn --roll-forward Major a.dll")
        );
        assert_eq!(muxer(&["build"]), None);
        assert_eq!(muxer(&[]), None);
        std::fs::remove_file(&program).expect("removed");
    }
}
