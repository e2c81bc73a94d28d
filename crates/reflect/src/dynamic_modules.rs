//! System.Reflection.Emit.AssemblyBuilder and ModuleBuilder: the native identity of assemblies made at run time.
//!
//! Such an assembly is an empty image in memory (`saki_types::dynamic`) that dynamic methods can belong to, and delegate types,
//! each in an image of its own. Left out: other types made at run time (`TypeBuilder.CreateType` throws
//! NotImplementedException) and saving.

use crate::cache::{self, Kind};
use crate::handles::{self, ASSEMBLY_BUILDER_HANDLE, MODULE_BUILDER_HANDLE, address, assembly_of};
use crate::objects::types_of_array;
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::object::{array_length, element_address, get_element_ref};
use saki_runtime::type_objects::{type_object, type_of_object};
use saki_runtime::{InternalCall, Managed, ManagedField, ObjRef, Thread, strings};
use saki_types::binder::AssemblyName;
use saki_types::dynamic::{DelegateMember, create_assembly, create_delegate_type, create_module};
use saki_types::method::impl_flags::RUNTIME;
use saki_types::{Ty, universe};

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

/// `ModuleBuilder.RegisterToken(object, int)`: nothing looks builders up by token, since no code names them.
unsafe extern "C" fn register_token(_t: Thread, _builder: ObjRef, _object: ObjRef, _token: i32) {}

/// The RuntimeType of a delegate's builder; None for builders of anything else.
fn delegate_type(t: Thread, builder: ObjRef) -> Managed<Option<ObjRef>> {
    static NAME: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "tname");
    static NAMESPACE: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "nspace");
    static PARENT: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "parent");
    static FLAGS: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "attrs");
    static MODULE: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "pmodule");
    static CTORS: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "ctors");
    static METHODS: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "methods");
    static METHOD_COUNT: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "num_methods");
    static INTERFACES: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "interfaces");
    static NESTING: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "nesting_type");
    static FIELDS: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "fields");
    static GENERIC: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "generic_params");
    static SUBTYPES: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "subtypes");
    static CTOR: MemberFields = MemberFields::of("ConstructorBuilder");
    static METHOD: MemberFields = MemberFields::of("MethodBuilder");
    static METHOD_NAME: ManagedField = ManagedField::corlib(EMIT, "MethodBuilder", "name");
    static RETURN_TYPE: ManagedField = ManagedField::corlib(EMIT, "MethodBuilder", "rtype");
    let parent = PARENT.get_ref(builder);
    let is_delegate = !parent.is_null()
        && type_of_object(parent).is_some_and(|parent| parent.is_corlib("System", "MulticastDelegate"));
    if !is_delegate
        || [&INTERFACES, &NESTING, &FIELDS, &GENERIC, &SUBTYPES].iter().any(|f| !f.get_ref(builder).is_null())
    {
        return Ok(None);
    }
    let (ctors, methods) = (CTORS.get_ref(builder), METHODS.get_ref(builder));
    let ctor_count = if ctors.is_null() { 0 } else { array_length(ctors) };
    let method_count = if methods.is_null() { 0 } else { METHOD_COUNT.get::<i32>(builder).max(0) as usize };
    let mut members = Vec::new();
    for index in 0..ctor_count {
        let ctor = get_element_ref(ctors, index);
        let Some(member) = CTOR.member(ctor, ".ctor".to_string(), universe().void()) else { return Ok(None) };
        members.push(member);
    }
    for index in 0..method_count {
        let method = get_element_ref(methods, index);
        let ret = RETURN_TYPE.get_ref(method);
        let ret = if ret.is_null() { Some(universe().void()) } else { type_of_object(ret) };
        let name = text(METHOD_NAME.get_ref(method));
        let Some(member) = ret.and_then(|ret| METHOD.member(method, name, ret)) else { return Ok(None) };
        members.push(member);
    }
    let module = MODULE.get_ref(builder);
    // SAFETY: 0 or the address of an `Image`.
    let Some(image) = (unsafe { handles::image(MODULE_BUILDER_HANDLE.get(module)) }) else { return Ok(None) };
    let (namespace, name) = (text(NAMESPACE.get_ref(builder)), text(NAME.get_ref(builder)));
    let ty = create_delegate_type(image, &namespace, &name, FLAGS.get::<u32>(builder), &members).to_managed(t)?;
    cache::get_or_make(Kind::Module, address(ty.image()), 0, || Ok(module))?;
    type_object(t, ty).map(Some)
}

/// What the builders of constructors and methods have in common.
struct MemberFields {
    parameters: ManagedField,
    flags: ManagedField,
    impl_flags: ManagedField,
}

impl MemberFields {
    const fn of(builder: &'static str) -> Self {
        MemberFields {
            parameters: ManagedField::corlib(EMIT, builder, "parameters"),
            flags: ManagedField::corlib(EMIT, builder, "attrs"),
            impl_flags: ManagedField::corlib(EMIT, builder, "iattrs"),
        }
    }

    /// None when the runtime does not supply the body, or for parameters of types that are not finished.
    fn member(&self, builder: ObjRef, name: String, ret: Ty) -> Option<DelegateMember> {
        let impl_flags = self.impl_flags.get::<i32>(builder) as u16;
        let params = types_of_array(self.parameters.get_ref(builder))?;
        let flags = self.flags.get::<i32>(builder) as u16;
        (impl_flags & RUNTIME == RUNTIME).then_some(DelegateMember { name, flags, impl_flags, ret, params })
    }
}

/// `TypeBuilder.create_runtime_class()`: null leaves the builder in the type's place, which is enough for the type that
/// nobody sees.
unsafe extern "C" fn create_runtime_class(t: Thread, builder: ObjRef) -> ObjRef {
    static ROW: ManagedField = ManagedField::corlib(EMIT, "TypeBuilder", "table_idx");
    t.run(|| match ROW.get::<i32>(builder) {
        WRAPPERS_TYPE_ROW => Ok(ObjRef::NULL),
        _ => {
            if let Some(made) = delegate_type(t, builder)? {
                return Ok(made);
            }
            let message = "System.Reflection.Emit.TypeBuilder::create_runtime_class";
            Err(exceptions::throw(t, "System", "NotImplementedException", message))
        }
    })
}

pub const TABLE: &[InternalCall] = &[
    ("System.Reflection.Emit.AssemblyBuilder::basic_init", init_assembly as *const ()),
    ("System.Reflection.Emit.ModuleBuilder::basic_init", init_module as *const ()),
    ("System.Reflection.Emit.ModuleBuilder::RegisterToken", register_token as *const ()),
    ("System.Reflection.Emit.ModuleBuilder::set_wrappers_type", set_wrappers_type as *const ()),
    ("System.Reflection.Emit.TypeBuilder::create_runtime_class", create_runtime_class as *const ()),
];
