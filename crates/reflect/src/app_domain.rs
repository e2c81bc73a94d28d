//! System.AppDomain: the loaded assemblies, running a program. Loading is in `assembly_loading`.

use crate::handles::require_assembly;
use crate::invocation::invoke_boxed;
use crate::objects::assembly_object;
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj};
use saki_types::{GenericContext, LibraryType, universe};

/// `GetAssemblies(bool reflectionOnly)`, in load order.
fn get_assemblies<'t>(t: CurrentThread<'t>, _this: Option<Obj>, reflection_only: bool) -> Managed<Array<'t>> {
    let binder = universe().binder();
    // While `loaded` exists, no assembly is freed: it is held until their objects are made.
    let loaded = binder.loaded();
    let assemblies = if reflection_only { binder.reflection_only() } else { loaded.to_vec() };
    let array = Array::new(t, universe().library_type(LibraryType::Assembly).to_managed(t)?, assemblies.len())?;
    for (index, assembly) in assemblies.iter().enumerate() {
        let item = assembly_object(t, assembly)?;
        array.set(t, index, Some(item));
    }
    Ok(array)
}

/// `ExecuteAssembly(Assembly, string[] args)`: runs the entry point in this domain.
fn execute_assembly(t: CurrentThread, _this: Option<Obj>, assembly: Option<Obj>, args: Option<Array>) -> Managed<i32> {
    let image = require_assembly(t, assembly)?.image;
    let token = image.meta.entry_point_token();
    if token.is_nil() {
        let message = "The assembly has no entry point.";
        return Err(exceptions::throw(t, ExceptionType::MissingMethod, message));
    }
    let main = image.resolve_method(token, &GenericContext::NONE).to_managed(t)?;
    let takes_args = !main.sig().to_managed(t)?.params.is_empty();
    let mut arguments = None;
    if takes_args {
        let list = Array::new(t, universe().object(), 1)?;
        let args = match args {
            Some(args) => args,
            None => Array::new(t, universe().string(), 0)?,
        };
        list.set(t, 0, Some(*args));
        arguments = Some(list);
    }
    let result = invoke_boxed(t, main, None, arguments)?;
    // `Main` returns int, or nothing.
    Ok(result.and_then(|exit_code| exit_code.unboxed::<i32>()).unwrap_or(0))
}

/// The internal calls of `System.AppDomain`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.AppDomain::GetAssemblies", &get_assemblies),
    InternalCall::new("System.AppDomain::ExecuteAssembly", &execute_assembly),
];
