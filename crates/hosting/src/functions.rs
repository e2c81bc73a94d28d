//! Static methods of programs as C functions for hosts (CoreCLR's `coreclr_create_delegate`).
//!
//! Any thread of the host may ask; one that the machine does not know becomes a thread of it. Errors are HRESULTs, as
//! CoreCLR gives them (dotnet/runtime `src/coreclr/vm/corhost.cpp`): that of the exception which loading throws, or one
//! of those below.

use saki_interop::callers_only::host_entry;
use saki_interop::reverse_calls::ReverseCall;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{CurrentThread, ManagedField};
use saki_types::binder::AssemblyName;
use saki_types::{Image, LibraryType, LoadError, LoadErrorKind, LoadResult, Method, Ty, universe};

/// COR_E_MISSINGMETHOD: no such static method.
const MISSING_METHOD: i32 = 0x8013_1513_u32 as i32;
/// COR_E_AMBIGUOUSMATCH: several methods of that name.
const AMBIGUOUS: i32 = 0x8000_211D_u32 as i32;
/// E_FAIL.
const FAILED: i32 = 0x8000_4005_u32 as i32;

/// Why a host gets no function.
pub struct NoFunction {
    /// The HRESULT.
    pub result: i32,
    /// One line.
    pub text: String,
}

/// The address of the C function of a static method: `assembly` is a display name, `class` a full name with `+` before
/// nested types.
///
/// # Errors
/// See the module header.
pub fn function_of(assembly: &str, class: &str, method: &str) -> Result<usize, NoFunction> {
    let call = ReverseCall::enter();
    // SAFETY: `enter` has made the thread current and RUNNING; `t` does not leave this function.
    let t = unsafe { CurrentThread::from_abi(call.abi()) };
    let found = find(t, assembly, class, method);
    // SAFETY: what `find` returns are numbers and texts; no frame of this function or of its caller holds a reference.
    unsafe { call.leave() };
    found.map_err(|(result, reason)| NoFunction { result, text: format!("{assembly}: {class}.{method}: {reason}") })
}

fn find(t: CurrentThread, assembly: &str, class: &str, method: &str) -> Result<usize, (i32, String)> {
    let class = class_of(assembly, class).to_managed(t).map_err(|_| take(t))?;
    let named = class.methods_named(method).to_managed(t).map_err(|_| take(t))?;
    let is_usable =
        |method: &&'static Method| method.is_static() && !method.owner.is_open && method.generic_args().is_empty();
    match named[..] {
        [_, _, ..] => Err((AMBIGUOUS, "there are several methods of that name".to_owned())),
        [method] if is_usable(&method) => host_entry(t, method).map_err(|_| take(t)),
        _ => Err((MISSING_METHOD, "there is no such static method".to_owned())),
    }
}

fn class_of(assembly: &str, class: &str) -> LoadResult<Ty> {
    let missing =
        || LoadError::new(LoadErrorKind::TypeLoad, format!("Could not load type '{class}'."), class.to_owned());
    let name = AssemblyName::parse(assembly)
        .ok_or_else(|| LoadError::new(LoadErrorKind::FileLoad, "no assembly name".to_owned(), assembly.to_owned()))?;
    let image: &'static Image = universe().binder().resolve(&name, None)?.image;
    image.find_type_by_path(class)?.ok_or_else(missing)
}

/// The HRESULT and the type of the exception that was thrown, which ends here.
fn take(t: CurrentThread) -> (i32, String) {
    static RESULT: ManagedField = ManagedField::new(LibraryType::Exception, "_HResult");
    match t.take_pending() {
        Some(exception) => (RESULT.get(exception), exception.ty().full_name()),
        None => (FAILED, "failed".to_owned()),
    }
}
