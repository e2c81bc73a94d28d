//! System.Reflection.Emit.AssemblyBuilder and ModuleBuilder: the native identity of assemblies made at run time.
//!
//! Such an assembly is an empty image in memory (`saki_types::dynamic`) that dynamic methods can belong to. Left out: types
//! made at run time (`TypeBuilder.CreateType` throws NotImplementedException) and saving.

use crate::cache::{self, Kind};
use crate::handles::{ASSEMBLY_BUILDER_HANDLE, MODULE_BUILDER_HANDLE, address, assembly_of};
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::object::{array_length, element_address};
use saki_runtime::{InternalCall, ManagedField, ObjRef, Thread, strings};
use saki_types::binder::AssemblyName;
use saki_types::dynamic::{create_assembly, create_module};

const EMIT: &str = "System.Reflection.Emit";
/// Row of the type that every module which can run gets for the wrappers of its methods; Saki has no use for it.
const WRAPPERS_TYPE_ROW: i32 = 0xff_ffff;

fn text(object: ObjRef) -> String {
    if object.is_null() { String::new() } else { strings::to_rust(object) }
}

/// `AssemblyBuilder.basic_init(AssemblyBuilder)`
unsafe extern "C" fn init_assembly(t: Thread, builder: ObjRef) {
    static NAME: ManagedField = ManagedField::corlib(EMIT, "AssemblyBuilder", "name");
    static VERSION: ManagedField = ManagedField::corlib(EMIT, "AssemblyBuilder", "version");
    static CULTURE: ManagedField = ManagedField::corlib(EMIT, "AssemblyBuilder", "culture");
    /// Hexadecimal digits in ASCII.
    static KEY_TOKEN: ManagedField = ManagedField::corlib(EMIT, "AssemblyBuilder", "pktoken");
    t.run(|| {
        let mut identity = AssemblyName {
            name: text(NAME.get_ref(builder)),
            culture: text(CULTURE.get_ref(builder)),
            ..AssemblyName::default()
        };
        for (slot, part) in identity.version.iter_mut().zip(text(VERSION.get_ref(builder)).split('.')) {
            *slot = part.parse().unwrap_or(0);
        }
        let token = KEY_TOKEN.get_ref(builder);
        if !token.is_null() {
            // SAFETY: a byte[] of this length.
            let digits = unsafe { std::slice::from_raw_parts(element_address(token, 0, 1), array_length(token)) };
            let digit = |d: u8| (d as char).to_digit(16).unwrap_or(0) as u8;
            identity.public_key_token = digits.chunks_exact(2).map(|d| digit(d[0]) << 4 | digit(d[1])).collect();
        }
        let assembly = create_assembly(&identity).to_managed(t)?;
        ASSEMBLY_BUILDER_HANDLE.set(builder, address(assembly));
        cache::get_or_make(Kind::Assembly, address(assembly), 0, || Ok(builder))?;
        Ok(())
    });
}

/// `ModuleBuilder.basic_init(ModuleBuilder)`
unsafe extern "C" fn init_module(t: Thread, builder: ObjRef) {
    static NAME: ManagedField = ManagedField::corlib(EMIT, "ModuleBuilder", "name");
    static ASSEMBLY: ManagedField = ManagedField::corlib(EMIT, "ModuleBuilder", "assemblyb");
    t.run(|| {
        let Some(assembly) = assembly_of(ASSEMBLY.get_ref(builder)) else {
            return Err(exceptions::throw_argument_null(t, "assembly"));
        };
        let image = create_module(assembly, &text(NAME.get_ref(builder))).to_managed(t)?;
        MODULE_BUILDER_HANDLE.set(builder, address(image));
        cache::get_or_make(Kind::Module, address(image), 0, || Ok(builder))?;
        Ok(())
    });
}

/// `ModuleBuilder.set_wrappers_type(ModuleBuilder, Type)`: dynamic methods need no type here.
unsafe extern "C" fn set_wrappers_type(_t: Thread, _builder: ObjRef, _ty: ObjRef) {}

/// `TypeBuilder.create_runtime_class()`: null leaves the builder in the type's place, which is enough for the type that
/// nobody sees.
unsafe extern "C" fn create_runtime_class(t: Thread, builder: ObjRef) -> ObjRef {
    static ROW: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "table_idx");
    t.run(|| match ROW.get::<i32>(builder) {
        WRAPPERS_TYPE_ROW => Ok(ObjRef::NULL),
        _ => {
            let message = "System.Reflection.Emit.TypeBuilder::create_runtime_class";
            Err(exceptions::throw(t, "System", "NotImplementedException", message))
        }
    })
}

pub const TABLE: &[InternalCall] = &[
    ("System.Reflection.Emit.AssemblyBuilder::basic_init", init_assembly as *const ()),
    ("System.Reflection.Emit.ModuleBuilder::basic_init", init_module as *const ()),
    ("System.Reflection.Emit.ModuleBuilder::set_wrappers_type", set_wrappers_type as *const ()),
    ("System.Reflection.Emit.TypeBuilder::create_runtime_class", create_runtime_class as *const ()),
];
