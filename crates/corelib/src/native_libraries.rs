//! Native libraries of programs on .NET's class libraries: NativeLibrary, and finding the functions of P/Invokes.
//!
//! A P/Invoke asks in this order, as in .NET: the assembly's DllImportResolver, the load context's `LoadUnmanagedDll`,
//! the file system, the load context's event. A name is tried with ".so" and with "lib" in front, in each of the
//! folders that the host names, beside the assembly, and wherever the dynamic linker looks; the message of a library
//! that is not there names the files in the host's folders. Left out: Mono's rules (`interop::resolve`); closing
//! libraries.

use crate::arguments::AssemblyArgument;
use crate::load_context::managed_context;
use crate::text::text_at;
use saki_interop::library::{self, Library};
use saki_interop::resolve::{self, NativeName};
use saki_metadata::{TableId, Token};
use saki_reflect::objects::assembly_object;
use saki_runtime::ExceptionType;
use saki_runtime::exec::invoke;
use saki_runtime::object::exceptions;
use saki_runtime::{CurrentThread, InternalCall, Managed, Slot, Str, Thrown, ToManaged, vm};
use saki_types::class::attribute_blob;
use saki_types::{Assembly, Method, universe};
use std::path::Path;

/// `DllImportSearchPath.AssemblyDirectory`.
const ASSEMBLY_DIRECTORY: u32 = 2;

/// The host's property with the folders of native libraries, each with a slash at its end.
const SEARCH_DIRECTORIES: &str = "NATIVE_DLL_SEARCH_DIRECTORIES";

/// The native function of a P/Invoke method.
///
/// # Errors
/// DllNotFoundException, EntryPointNotFoundException; what the program's resolvers throw; load errors.
pub fn resolve_native(t: CurrentThread, method: &'static Method) -> Managed<usize> {
    if vm::options().net.is_none() {
        return resolve::resolve_native(t, method);
    }
    let name = NativeName::of(t, method)?;
    if let Some(own) = name.own_address() {
        return Ok(own);
    }
    let assembly = method.image().assembly();
    let paths = search_paths(t, method)?;
    let module = match ask_program(t, &name.library, assembly, paths)? {
        Some(module) => module,
        None => find(t, &name.library, assembly, paths)?,
    };
    name.address_in(module, std::slice::from_ref(&name.function)).ok_or_else(|| {
        let (function, library) = (&name.function, &name.library);
        let message = format!("Unable to find an entry point named '{function}' in shared library '{library}'.");
        exceptions::throw(t, ExceptionType::EntryPointNotFound, &message)
    })
}

/// The value of the method's or the assembly's DefaultDllImportSearchPathsAttribute.
fn search_paths(t: CurrentThread, method: &'static Method) -> Managed<Option<u32>> {
    const NAMESPACE: &str = "System.Runtime.InteropServices";
    const NAME: &str = "DefaultDllImportSearchPathsAttribute";
    let image = method.image();
    let assembly = Token::new(TableId::Assembly, 1);
    let of_method = method.rid().map(|rid| Token::new(TableId::MethodDef, rid));
    for parent in of_method.into_iter().chain([assembly]) {
        // Behind the prolog of two bytes lies the value.
        let blob = attribute_blob(image, parent, NAMESPACE, NAME).to_managed(t)?;
        if let Some(value) = blob.and_then(|blob| blob.get(2..6)?.try_into().ok()) {
            return Ok(Some(u32::from_le_bytes(value)));
        }
    }
    Ok(None)
}

/// Calls a static method of the core assembly that gives a library's handle, or 0.
fn call_for_handle(t: CurrentThread, class: (&str, &str), method: &str, words: &[Slot]) -> Managed<Option<Library>> {
    let class = universe().corlib().find_type(class.0, class.1).to_managed(t)?;
    let methods = class.map(|class| class.methods_named(method)).transpose().to_managed(t)?.unwrap_or_default();
    let Some(method) = methods.into_iter().find(|method| method.is_static()) else { return Ok(None) };
    let handle = invoke::invoke(t, method, words)?.as_i64();
    Ok((handle != 0).then(|| Library::of_handle(handle.cast_unsigned() as usize)))
}

const NATIVE_LIBRARY: (&str, &str) = ("System.Runtime.InteropServices", "NativeLibrary");
const LOAD_CONTEXT: (&str, &str) = ("System.Runtime.Loader", "AssemblyLoadContext");

/// Asks the assembly's resolver, then its load context, if that is one of the program's.
fn ask_program(
    t: CurrentThread,
    name: &str,
    assembly: &'static Assembly,
    paths: Option<u32>,
) -> Managed<Option<Library>> {
    if std::ptr::eq(assembly, universe().corlib().assembly()) {
        return Ok(None);
    }
    let words = [
        Slot::from_ref(Str::new(t, name)?),
        Slot::from_ref(assembly_object(t, assembly)?),
        Slot::from_bool(paths.is_some()),
        Slot::from_i32(paths.unwrap_or(0).cast_signed()),
    ];
    match call_for_handle(t, NATIVE_LIBRARY, "LoadLibraryCallbackStub", &words)? {
        Some(found) => Ok(Some(found)),
        None => ask_context(t, name, assembly),
    }
}

fn ask_context(t: CurrentThread, name: &str, assembly: &'static Assembly) -> Managed<Option<Library>> {
    let Some(context) = managed_context(assembly).filter(|(_, is_default)| !is_default) else { return Ok(None) };
    let words = [Slot::from_ref(Str::new(t, name)?), Slot::from_i64(context.0 as i64)];
    call_for_handle(t, LOAD_CONTEXT, "ResolveUnmanagedDll", &words)
}

fn ask_event(t: CurrentThread, name: &str, assembly: &'static Assembly) -> Managed<Option<Library>> {
    let Some((context, _)) = managed_context(assembly) else { return Ok(None) };
    let words = [
        Slot::from_ref(Str::new(t, name)?),
        Slot::from_ref(assembly_object(t, assembly)?),
        Slot::from_i64(context as i64),
    ];
    call_for_handle(t, LOAD_CONTEXT, "ResolveUnmanagedDllUsingEvent", &words)
}

/// Looks for a library, and asks the load context's event at last.
///
/// # Errors
/// DllNotFoundException; what handlers of the event throw.
fn find(t: CurrentThread, name: &str, assembly: &'static Assembly, paths: Option<u32>) -> Managed<Library> {
    let directory = assembly.image.meta.path().parent();
    let directory = directory.filter(|_| paths.is_none_or(|paths| paths & ASSEMBLY_DIRECTORY != 0));
    // Loading runs foreign initialisers and may take long, so the world must not have to wait for this thread
    // meanwhile.
    let tried = match t.managed().blocking(|| probe(name, directory)) {
        Ok(found) => return Ok(found),
        Err(tried) => tried,
    };
    match std::ptr::eq(assembly, universe().corlib().assembly()) {
        true => Err(not_found(t, name, &tried)),
        false => ask_event(t, name, assembly)?.ok_or_else(|| not_found(t, name, &tried)),
    }
}

/// The forms of a library's name, in order.
fn variations(name: &str) -> Vec<String> {
    if Path::new(name).is_absolute() {
        return vec![name.to_owned()];
    }
    let has_suffix = name.ends_with(".so") || name.contains(".so.");
    let suffixes = if has_suffix { ["", ".so"] } else { [".so", ""] };
    // A prefix would go before the folder.
    let prefixes: &[&str] = if name.contains('/') { &[""] } else { &["", "lib"] };
    suffixes.iter().flat_map(|suffix| prefixes.iter().map(move |prefix| format!("{prefix}{name}{suffix}"))).collect()
}

/// Opens the first file that is there.
///
/// # Errors
/// The files in the host's folders, each with the reason why it cannot be opened.
fn probe(name: &str, assembly_directory: Option<&Path>) -> Result<Library, String> {
    let listed = vm::options().net.as_ref().and_then(|net| net.property(SEARCH_DIRECTORIES)).unwrap_or_default();
    let directories: Vec<&str> = listed.split(':').filter(|directory| !directory.is_empty()).collect();
    let mut tried = String::new();
    for name in variations(name) {
        for directory in &directories {
            let slash = if directory.ends_with('/') { "" } else { "/" };
            let path = format!("{directory}{slash}{name}");
            match open_file(&path) {
                Ok(found) => return Ok(found),
                Err(why) => tried.push_str(&format!("{why}\n")),
            }
        }
        let beside = assembly_directory.filter(|_| !Path::new(&name).is_absolute()).map(|folder| folder.join(&name));
        let beside = beside.and_then(|path| open_file(&path.display().to_string()).ok());
        // The C library's own name is that of a text for linkers, or of nothing.
        let linked = if name == "libc" { "libc.so.6" } else { &name };
        if let Some(found) = beside.or_else(|| library::open_path(Path::new(linked)).ok()) {
            return Ok(found);
        }
    }
    Err(tried)
}

/// Opens a file, in the linker's words if it is not there, without calling the linker.
fn open_file(path: &str) -> Result<Library, String> {
    match Path::new(path).exists() {
        true => library::open_path(Path::new(path)),
        false => Err(format!("{path}: cannot open shared object file: No such file or directory")),
    }
}

fn not_found(t: CurrentThread, name: &str, tried: &str) -> Thrown {
    let message = format!(
        "Unable to load shared library '{name}' or one of its dependencies. In order to help diagnose loading problems, \
         consider using a tool like strace. If you're using glibc, consider setting the LD_DEBUG environment variable: \
         \n{tried}"
    );
    exceptions::throw(t, ExceptionType::DllNotFound, &message)
}

fn load_from_path(t: CurrentThread, path: *const u16, throws: i32) -> Managed<isize> {
    let path = text_at(path);
    match t.managed().blocking(|| library::open_path(Path::new(&path))) {
        Ok(library) => Ok(library.handle().cast_signed()),
        Err(_) if throws == 0 => Ok(0),
        Err(why) => Err(not_found(t, &path, &format!("{why}\n"))),
    }
}

fn load_by_name(
    t: CurrentThread,
    name: *const u16,
    assembly: AssemblyArgument,
    has_flags: i32,
    flags: u32,
    throws: i32,
) -> Managed<isize> {
    let (name, assembly) = (text_at(name), assembly.assembly());
    let paths = (has_flags != 0).then_some(flags);
    let found = match ask_context(t, &name, assembly)? {
        Some(found) => Ok(found),
        None => find(t, &name, assembly, paths),
    };
    match found {
        Ok(library) => Ok(library.handle().cast_signed()),
        Err(_) if throws == 0 && t.pending().is_some_and(|thrown| ExceptionType::DllNotFound.is(thrown.ty())) => {
            t.take_pending();
            Ok(0)
        }
        Err(thrown) => Err(thrown),
    }
}

/// Libraries stay loaded: code of theirs may be known elsewhere.
fn free_library(_t: CurrentThread, _handle: isize) {}

fn symbol(t: CurrentThread, handle: isize, name: *const u16, throws: i32) -> Managed<isize> {
    let name = text_at(name);
    match Library::of_handle(handle.cast_unsigned()).symbol(&name) {
        Some(address) => Ok(address.cast_signed()),
        None if throws == 0 => Ok(0),
        None => {
            let message = format!("Unable to find an entry point named '{name}' in shared library.");
            Err(exceptions::throw(t, ExceptionType::EntryPointNotFound, &message))
        }
    }
}

/// The internal calls of `NativeLibrary`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::NativeLibrary_LoadFromPath", &load_from_path),
    InternalCall::new("@net QCall::NativeLibrary_LoadByName", &load_by_name),
    InternalCall::new("@net QCall::NativeLibrary_FreeLib", &free_library),
    InternalCall::new("@net QCall::NativeLibrary_GetSymbol", &symbol),
];

#[cfg(test)]
mod tests {
    use super::variations;

    #[test]
    fn names_are_tried_with_suffix_and_prefix() {
        assert_eq!(variations("c"), ["c.so", "libc.so", "c", "libc"]);
        assert_eq!(variations("libc.so.6"), ["libc.so.6", "liblibc.so.6", "libc.so.6.so", "liblibc.so.6.so"]);
        assert_eq!(variations("x/such.dll"), ["x/such.dll.so", "x/such.dll"]);
        assert_eq!(variations("/x/c"), ["/x/c"]);
    }
}
