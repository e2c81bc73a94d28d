//! Names and signatures as text, from metadata alone: types as reflection writes them ("System.Byte*", "Outer+Inner"),
//! generic parameters by number ("!0" of a type, "!!0" of a method).

use saki_metadata::{BadImage, ElementType, Image, MethodSigRaw, TableId, Token, TypeSig};

/// TypeAttributes.Import: interfaces of COM objects, whose methods count as internal calls.
const IMPORT: u32 = 0x1000;
/// MethodImplAttributes.InternalCall.
const INTERNAL_CALL: u16 = 0x1000;
/// MethodAttributes.Static and FieldAttributes.Static.
const STATIC: u16 = 0x10;

/// Types nested deeper, and signatures that contain themselves, count as damaged metadata.
const MAX_DEPTH: usize = 16;

fn type_name(image: &Image, token: Token, depth: usize, out: &mut String) -> Result<(), BadImage> {
    let (outer, namespace, name) = match token.table() {
        TableId::TypeDef => {
            let row = image.type_def(token.rid())?;
            let outer = image.enclosing_class(token.rid()).map(|rid| Token::new(TableId::TypeDef, rid));
            (outer, row.namespace, row.name)
        }
        TableId::TypeRef => {
            let row = image.type_ref(token.rid())?;
            let outer = Some(row.resolution_scope).filter(|scope| scope.table() == TableId::TypeRef);
            (outer, row.namespace, row.name)
        }
        TableId::TypeSpec => {
            let row = image.type_spec(token.rid())?;
            return type_text(image, &image.parse_type_spec(row.signature)?, depth + 1, out);
        }
        _ => {
            out.push('?');
            return Ok(());
        }
    };
    if let Some(outer) = outer.filter(|_| depth < MAX_DEPTH) {
        type_name(image, outer, depth + 1, out)?;
        out.push('+');
    } else if !image.string(namespace)?.is_empty() {
        out.push_str(image.string(namespace)?);
        out.push('.');
    }
    out.push_str(image.string(name)?);
    Ok(())
}

fn primitive(element: ElementType) -> &'static str {
    use ElementType as E;
    match element {
        E::Void => "System.Void",
        E::Boolean => "System.Boolean",
        E::Char => "System.Char",
        E::I1 => "System.SByte",
        E::U1 => "System.Byte",
        E::I2 => "System.Int16",
        E::U2 => "System.UInt16",
        E::I4 => "System.Int32",
        E::U4 => "System.UInt32",
        E::I8 => "System.Int64",
        E::U8 => "System.UInt64",
        E::R4 => "System.Single",
        E::R8 => "System.Double",
        E::I => "System.IntPtr",
        E::U => "System.UIntPtr",
        E::String => "System.String",
        E::Object => "System.Object",
        E::TypedByRef => "System.TypedReference",
        _ => "?",
    }
}

fn type_text(image: &Image, sig: &TypeSig, depth: usize, out: &mut String) -> Result<(), BadImage> {
    if depth > MAX_DEPTH {
        out.push('?');
        return Ok(());
    }
    let inner = |inner: &TypeSig, out: &mut String| type_text(image, inner, depth + 1, out);
    match sig {
        TypeSig::Prim(element) => out.push_str(primitive(*element)),
        TypeSig::Class(token) | TypeSig::ValueType(token) => type_name(image, *token, depth, out)?,
        TypeSig::Var(number) => out.push_str(&format!("!{number}")),
        TypeSig::MVar(number) => out.push_str(&format!("!!{number}")),
        TypeSig::Ptr(target) => {
            inner(target, out)?;
            out.push('*');
        }
        TypeSig::ByRef(target) => {
            inner(target, out)?;
            out.push('&');
        }
        TypeSig::SzArray(element) => {
            inner(element, out)?;
            out.push_str("[]");
        }
        TypeSig::Array { elem, rank, .. } => {
            inner(elem, out)?;
            out.push_str(&format!("[{}]", ",".repeat(rank.saturating_sub(1) as usize)));
        }
        TypeSig::GenericInst { token, args, .. } => {
            type_name(image, *token, depth, out)?;
            for (index, argument) in args.iter().enumerate() {
                out.push(if index == 0 { '[' } else { ',' });
                inner(argument, out)?;
            }
            out.push(']');
        }
        TypeSig::FnPtr(function) => out.push_str(&format!("fn{}", parameters(image, function, depth + 1)?)),
        TypeSig::Pinned(target) | TypeSig::Modified { inner: target, .. } => inner(target, out)?,
    }
    Ok(())
}

/// "(PARAMETERS) RESULT"
fn parameters(image: &Image, sig: &MethodSigRaw, depth: usize) -> Result<String, BadImage> {
    let mut out = String::from("(");
    for (index, parameter) in sig.params.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        type_text(image, parameter, depth, &mut out)?;
    }
    out.push_str(") ");
    type_text(image, &sig.ret, depth, &mut out)?;
    Ok(out)
}

/// "static Namespace.Type::Method<1>(PARAMETERS) RESULT"
fn method_text(image: &Image, type_rid: u32, rid: u32) -> Result<String, BadImage> {
    let row = image.method_def(rid)?;
    let sig = image.parse_method_sig(row.signature)?;
    let mut out = String::from(if row.flags & STATIC != 0 { "static " } else { "" });
    type_name(image, Token::new(TableId::TypeDef, type_rid), 0, &mut out)?;
    out.push_str("::");
    out.push_str(image.string(row.name)?);
    if sig.generic_param_count > 0 {
        out.push_str(&format!("<{}>", sig.generic_param_count));
    }
    out.push_str(&parameters(image, &sig, 0)?);
    Ok(out)
}

/// "static Namespace.Type::field TYPE"
fn field_text(image: &Image, type_rid: u32, rid: u32) -> Result<String, BadImage> {
    let row = image.field(rid)?;
    let mut out = String::from(if row.flags & STATIC != 0 { "static " } else { "" });
    type_name(image, Token::new(TableId::TypeDef, type_rid), 0, &mut out)?;
    out.push_str("::");
    out.push_str(image.string(row.name)?);
    out.push(' ');
    type_text(image, &image.parse_field_sig(row.signature)?, 0, &mut out)?;
    Ok(out)
}

/// "Namespace.Type(TYPE field,TYPE field)", of the instance fields in order. Errors: damaged metadata.
pub fn layout_text(image: &Image, type_rid: u32) -> Result<String, BadImage> {
    let mut out = String::new();
    type_name(image, Token::new(TableId::TypeDef, type_rid), 0, &mut out)?;
    let mut separator = '(';
    for rid in image.type_def_fields(type_rid)? {
        let row = image.field(rid)?;
        if row.flags & STATIC == 0 {
            out.push(separator);
            type_text(image, &image.parse_field_sig(row.signature)?, 0, &mut out)?;
            out.push(' ');
            out.push_str(image.string(row.name)?);
            separator = ',';
        }
    }
    out.push(')');
    Ok(out)
}

/// MethodAttributes.PInvokeImpl.
const PINVOKE: u16 = 0x2000;

/// The module of P/Invokes that call the machine, in .NET's core assembly. In the contract it stands for their type,
/// and the entry point for the method, since generated P/Invokes have names that change.
const QCALL: &str = "QCall";

/// "static QCall::ENTRY(PARAMETERS) RESULT" of a P/Invoke that calls the machine; None for other methods.
fn qcall_text(image: &Image, rid: u32) -> Result<Option<String>, BadImage> {
    let row = image.method_def(rid)?;
    if row.flags & PINVOKE == 0 {
        return Ok(None);
    }
    let Some(import) = image.impl_map(Token::new(TableId::MethodDef, rid))? else { return Ok(None) };
    if image.string(image.module_ref(import.import_scope)?.name)? != QCALL {
        return Ok(None);
    }
    let sig = image.parse_method_sig(row.signature)?;
    let entry = image.string(import.import_name)?;
    Ok(Some(format!("static {QCALL}::{entry}{}", parameters(image, &sig, 0)?)))
}

/// The internal calls that an assembly declares, sorted. Errors: damaged metadata.
pub fn declared_calls(image: &Image) -> Result<Vec<String>, BadImage> {
    let mut calls = Vec::new();
    for type_rid in 1..=image.row_count(TableId::TypeDef) {
        if image.type_def(type_rid)?.flags & IMPORT != 0 {
            continue;
        }
        for rid in image.type_def_methods(type_rid)? {
            if image.method_def(rid)?.impl_flags & INTERNAL_CALL != 0 {
                calls.push(method_text(image, type_rid, rid)?);
            } else if let Some(text) = qcall_text(image, rid)? {
                calls.push(text);
            }
        }
    }
    calls.sort_unstable();
    // Several P/Invokes may have one entry point.
    calls.dedup();
    Ok(calls)
}

/// The TypeDef of "Namespace.Outer+Inner".
pub fn find_type(image: &Image, full_name: &str) -> Option<u32> {
    let mut parts = full_name.split('+');
    let outer = parts.next()?;
    let (namespace, name) = outer.rsplit_once('.').unwrap_or(("", outer));
    let rid = image.find_type_def(namespace, name, None)?;
    parts.try_fold(rid, |outer, name| image.find_type_def("", name, Some(outer)))
}

/// The fields or the methods of this name of a type. Errors: damaged metadata.
pub fn members_named(image: &Image, type_rid: u32, name: &str, are_fields: bool) -> Result<Vec<String>, BadImage> {
    let mut found = Vec::new();
    if are_fields {
        for rid in image.type_def_fields(type_rid)? {
            if image.string(image.field(rid)?.name)? == name {
                found.push(field_text(image, type_rid, rid)?);
            }
        }
    } else {
        for rid in image.type_def_methods(type_rid)? {
            if image.string(image.method_def(rid)?.name)? == name {
                found.push(method_text(image, type_rid, rid)?);
            }
        }
    }
    Ok(found)
}

/// The internal call, as a line has it, of a method. Errors: damaged metadata.
pub fn name_of_call(image: &Image, method_rid: u32) -> Result<String, BadImage> {
    method_text(image, image.type_of_method(method_rid)?, method_rid)
}
