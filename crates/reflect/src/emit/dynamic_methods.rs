//! System.Reflection.Emit.DynamicMethod: from the builder's objects to a `saki_types` dynamic method.
//!
//! The CIL is used as emitted; its tokens index `DynamicMethod.refs`. Strings in `refs` are kept in the cells of string
//! literals. Left out: builders of types and members as references, and bodies set by DynamicILInfo's local signature
//! or exception blob (the class library lacks those too).

use super::blocks::clauses;
use super::builders::{
    ARRAY_METHOD_NAME, ARRAY_METHOD_PARAMETERS, ARRAY_METHOD_PARENT, bytes, elements, length, part, text,
};
use crate::handles::{DYNAMIC_METHOD_HANDLE, Handle, MODULE_BUILDER_HANDLE, address, field_of, method_of};
use crate::module::image_of_module;
use crate::objects::types_of_array;
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::strings;
use saki_runtime::vm::dynamic_methods;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj};
use saki_types::dynamic::{DynamicBody, DynamicCode, DynamicMethodSpec, DynamicRef, create_method};
use saki_types::dynamic_records;
use saki_types::{Image, LibraryType, LocalSig, Method, MethodSig, Ty, universe};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Throws for what cannot be part of a dynamic method.
fn not_supported<T>(t: CurrentThread, message: &str) -> Managed<T> {
    Err(exceptions::throw(t, ExceptionType::NotSupported, message))
}

fn require_type(t: CurrentThread, object: Option<Obj>) -> Managed<Ty> {
    match object.and_then(Obj::as_type) {
        Some(ty) => Ok(ty),
        None => not_supported(t, "A dynamic method can name only types of the runtime."),
    }
}

fn require_types(t: CurrentThread, array: Option<Array>) -> Managed<Vec<Ty>> {
    match types_of_array(array) {
        Some(types) => Ok(types),
        None => not_supported(t, "A dynamic method can name only types of the runtime."),
    }
}

/// The image behind a RuntimeModule or ModuleBuilder.
fn image_behind(t: CurrentThread, module: Option<Obj>) -> Managed<&'static Image> {
    let found = match module {
        Some(module) if module.ty().is(LibraryType::ModuleBuilder) => {
            MODULE_BUILDER_HANDLE.get::<Handle<Image>>(module).get()
        }
        Some(module) if module.ty().is(LibraryType::RuntimeModule) => image_of_module(module),
        _ => None,
    };
    match found {
        Some(image) => Ok(image),
        None => not_supported(t, "The module of a dynamic method must be one of the runtime."),
    }
}

/// The method of a DynamicMethod object, without code when it is new.
///
/// # Errors
/// NotSupportedException.
fn method_for(t: CurrentThread, object: Obj) -> Managed<&'static Method> {
    static NAME: ManagedField = ManagedField::new(LibraryType::DynamicMethod, "name");
    static RETURN_TYPE: ManagedField = ManagedField::new(LibraryType::DynamicMethod, "returnType");
    static PARAMETERS: ManagedField = ManagedField::new(LibraryType::DynamicMethod, "parameters");
    static MODULE: ManagedField = ManagedField::new(LibraryType::DynamicMethod, "module");
    static OWNER: ManagedField = ManagedField::new(LibraryType::DynamicMethod, "owner");
    static SKIP_VISIBILITY: ManagedField = ManagedField::new(LibraryType::DynamicMethod, "skipVisibility");
    if let Some(known) = method_of(object) {
        return Ok(known);
    }
    let owner = OWNER.obj(object).map(|owner| require_type(t, Some(owner))).transpose()?;
    let ret = require_type(t, RETURN_TYPE.obj(object))?;
    let sig = MethodSig::managed(false, ret, require_types(t, PARAMETERS.array(object))?);
    let spec = DynamicMethodSpec {
        name: text(NAME.str(object)),
        module: image_behind(t, MODULE.obj(object))?,
        owner,
        sig,
        skips_visibility: SKIP_VISIBILITY.get::<u8>(object) != 0,
    };
    let made = create_method(spec);
    // SAFETY: an aligned word inside a live object; managed code only reads it.
    let cell = unsafe { AtomicUsize::from_ptr(DYNAMIC_METHOD_HANDLE.address(object)) };
    // Two threads may make the method at once, when dynamic methods call each other: the first one wins. Release:
    // publishes the method; Acquire: sees it.
    match cell.compare_exchange(0, address(made), Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            dynamic_methods::register(made, object);
            Ok(made)
        }
        Err(_) => {
            // SAFETY: made above and not published.
            unsafe { dynamic_records::free(&[made]) };
            Ok(method_of(object).unwrap_or_else(|| saki_base::bug!("a dynamic method has lost its handle")))
        }
    }
}

/// The `calli` signature that a SignatureHelper describes.
fn call_signature(t: CurrentThread, helper: Obj) -> Managed<MethodSig> {
    static ARGUMENTS: ManagedField = ManagedField::new(LibraryType::SignatureHelper, "arguments");
    static RETURN_TYPE: ManagedField = ManagedField::new(LibraryType::SignatureHelper, "returnType");
    static CONVENTIONS: ManagedField = ManagedField::new(LibraryType::SignatureHelper, "callConv");
    static UNMANAGED: ManagedField = ManagedField::new(LibraryType::SignatureHelper, "unmanagedCallConv");
    /// System.Reflection.CallingConventions.
    const VARARG: i32 = 2;
    const HAS_THIS: i32 = 0x20;
    const EXPLICIT_THIS: i32 = 0x40;
    let conventions = CONVENTIONS.get::<i32>(helper);
    let ret = RETURN_TYPE.obj(helper);
    Ok(MethodSig {
        has_this: conventions & HAS_THIS != 0,
        explicit_this: conventions & EXPLICIT_THIS != 0,
        is_vararg: conventions & VARARG != 0,
        // Values of CallingConvention are greater by 1 than those of signatures; Winapi, which is 1, is C on this
        // platform.
        unmanaged_convention: match UNMANAGED.get::<i32>(helper) {
            0 => 0,
            convention => (convention - 1).clamp(1, 4) as u8,
        },
        generic_param_count: 0,
        ret: if ret.is_none() { universe().void() } else { require_type(t, ret)? },
        params: require_types(t, ARGUMENTS.array(helper))?,
        sentinel: None,
    })
}

/// The method that `ModuleBuilder.GetArrayMethod` describes.
fn array_method(t: CurrentThread, object: Obj) -> Managed<&'static Method> {
    let array = require_type(t, ARRAY_METHOD_PARENT.obj(object))?;
    let params = require_types(t, ARRAY_METHOD_PARAMETERS.array(object))?;
    let name = text(ARRAY_METHOD_NAME.str(object));
    match array.find_method_sig(&name, &params).to_managed(t)? {
        Some(method) => Ok(method),
        None => Err(exceptions::throw(t, ExceptionType::MissingMethod, &format!("{}.{name}", array.full_name()))),
    }
}

/// The reference that an element of `refs` stands for.
fn reference(t: CurrentThread, object: Option<Obj>, signatures: &mut Vec<MethodSig>) -> Managed<DynamicRef> {
    let Some(object) = object else {
        return not_supported(t, "A dynamic method names null.");
    };
    let ty = object.ty();
    if ty == universe().string() {
        Ok(DynamicRef::Text)
    } else if ty.is(LibraryType::DynamicMethod) {
        method_for(t, object).map(DynamicRef::Method)
    } else if ty.is(LibraryType::SignatureHelper) {
        signatures.push(call_signature(t, object)?);
        Ok(DynamicRef::Signature(signatures.len() - 1))
    } else if let Some(method) = method_of(object) {
        Ok(DynamicRef::Method(method))
    } else if let Some(field) = field_of(object) {
        Ok(DynamicRef::Field(field))
    } else if ty == universe().runtime_type() {
        require_type(t, Some(object)).map(DynamicRef::Type)
    } else if ty.is(LibraryType::MonoArrayMethod) {
        array_method(t, object).map(DynamicRef::Method)
    } else {
        not_supported(t, &format!("A dynamic method cannot name a {}.", ty.full_name()))
    }
}

fn references(t: CurrentThread, object: Obj, signatures: &mut Vec<MethodSig>) -> Managed<Vec<DynamicRef>> {
    static COUNT: ManagedField = ManagedField::new(LibraryType::DynamicMethod, "nrefs");
    static REFS: ManagedField = ManagedField::new(LibraryType::DynamicMethod, "refs");
    let Some(array) = REFS.array(object) else { return Ok(Vec::new()) };
    // Every second element is reserved for the runtime.
    let count = COUNT.get::<i32>(object).max(0) as usize;
    (0..count).step_by(2).map(|index| reference(t, array.get(index), signatures)).collect()
}

fn locals(t: CurrentThread, generator: Obj) -> Managed<Vec<LocalSig>> {
    static LOCALS: ManagedField = ManagedField::new(LibraryType::ILGenerator, "locals");
    static TYPE: ManagedField = ManagedField::new(LibraryType::LocalVariableInfo, "type");
    static PINNED: ManagedField = ManagedField::new(LibraryType::LocalVariableInfo, "is_pinned");
    let array = LOCALS.array(generator);
    let mut out = Vec::with_capacity(length(array));
    for local in elements(array) {
        let ty = require_type(t, TYPE.obj(local))?;
        out.push(LocalSig { ty, pinned: PINNED.get::<u8>(local) != 0 });
    }
    Ok(out)
}

/// `create_dynamic_method(DynamicMethod)`: managed code holds the object's lock. It has created the dynamic methods
/// that this one names, or is about to.
fn create_dynamic_method(t: CurrentThread, object: Option<Obj>) -> Managed<()> {
    static GENERATOR: ManagedField = ManagedField::new(LibraryType::DynamicMethod, "ilgen");
    static INIT_LOCALS: ManagedField = ManagedField::new(LibraryType::DynamicMethod, "init_locals");
    static REFS: ManagedField = ManagedField::new(LibraryType::DynamicMethod, "refs");
    static CODE: ManagedField = ManagedField::new(LibraryType::ILGenerator, "code");
    static CODE_LENGTH: ManagedField = ManagedField::new(LibraryType::ILGenerator, "code_len");
    static MAX_STACK: ManagedField = ManagedField::new(LibraryType::ILGenerator, "max_stack");
    let Some(object) = object else {
        return Err(exceptions::throw_argument_null(t, "m"));
    };
    let method = method_for(t, object)?;
    let generator = part(&GENERATOR, object);
    let mut signatures = Vec::new();
    let mut refs = references(t, object, &mut signatures)?;
    for (index, named) in refs.iter().enumerate() {
        if let DynamicRef::Text = named {
            let text = REFS.array(object).and_then(|refs| refs.get(2 * index)).and_then(Obj::as_str);
            if let Some(text) = text {
                strings::set_literal(method.image(), DynamicCode::token(index).0, text);
            }
        }
    }
    let eh_clauses = clauses(t, generator, &mut |caught| {
        let ty = if caught.is_none() { universe().object() } else { require_type(t, caught)? };
        refs.push(DynamicRef::Type(ty));
        Ok(DynamicCode::token(refs.len() - 1).0)
    })?;
    let locals = locals(t, generator)?;
    let mut code = bytes(CODE.array(generator));
    code.truncate(CODE_LENGTH.get::<i32>(generator).max(0) as usize);
    method.define(DynamicBody {
        max_stack: MAX_STACK.get::<i32>(generator).clamp(0, i32::from(u16::MAX)) as u16,
        code,
        init_locals: INIT_LOCALS.get::<u8>(object) != 0,
        locals,
        eh_clauses,
        refs,
        signatures,
    });
    Ok(())
}

/// The internal calls of `System.Reflection.Emit.DynamicMethod`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Reflection.Emit.DynamicMethod::create_dynamic_method", &create_dynamic_method)];
