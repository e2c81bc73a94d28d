//! System.AppDomain: the loaded assemblies, running a program. Loading is in `assembly_loading`.

use crate::handles::require_assembly;
use crate::invocation::invoke_boxed;
use crate::known;
use crate::objects::assembly_object;
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::object::{self, unboxed};
use saki_runtime::{CurrentThread, InternalCall, ObjRef};
use saki_types::{GenericContext, universe};

/// `GetAssemblies(bool reflectionOnly)`, in load order.
fn get_assemblies(t: CurrentThread, _this: ObjRef, reflection_only: u8) -> ObjRef {
    t.run(|| {
        let binder = universe().binder();
        // Held until the objects are made.
        let loaded = binder.loaded();
        let assemblies = if reflection_only != 0 { binder.reflection_only() } else { loaded.to_vec() };
        let array = object::new_array(t, known::ASSEMBLY.get(t)?, assemblies.len())?;
        for (index, assembly) in assemblies.iter().enumerate() {
            let item = assembly_object(t, assembly)?;
            object::set_element_ref(t, array, index, item);
        }
        Ok(array)
    })
}

/// `ExecuteAssembly(Assembly, string[] args)`: runs the entry point in this domain.
fn execute_assembly(t: CurrentThread, _this: ObjRef, assembly: ObjRef, args: ObjRef) -> i32 {
    t.run(|| {
        let image = require_assembly(t, assembly)?.image;
        let token = image.meta.entry_point_token();
        if token.is_nil() {
            let message = "The assembly has no entry point.";
            return Err(exceptions::throw(t, "System", "MissingMethodException", message));
        }
        let main = image.resolve_method(token, &GenericContext::NONE).to_managed(t)?;
        let takes_args = !main.sig().to_managed(t)?.params.is_empty();
        let mut arguments = ObjRef::NULL;
        if takes_args {
            arguments = object::new_array(t, universe().object(), 1)?;
            let args = if args.is_null() { object::new_array(t, universe().string(), 0)? } else { args };
            object::set_element_ref(t, arguments, 0, args);
        }
        let result = invoke_boxed(t, main, ObjRef::NULL, arguments)?;
        // SAFETY: an Int32 box when `Main` returns int.
        Ok(if result.is_null() { 0 } else { unsafe { *(unboxed(result) as *const i32) } })
    })
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.AppDomain::GetAssemblies", &get_assemblies),
    InternalCall::new("System.AppDomain::ExecuteAssembly", &execute_assembly),
];
