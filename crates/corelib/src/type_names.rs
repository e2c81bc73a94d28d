//! Names of types as `RuntimeTypeHandle.ConstructName` writes them, by `TypeNameFormatFlags`.

use crate::arguments::{StringPlace, TypeArgument};
use saki_runtime::{CurrentThread, InternalCall, Managed, Str};
use saki_types::{Ty, TypeKind};

/// `TypeNameFormatFlags`.
mod format {
    pub(super) const NAMESPACE: i32 = 1;
    pub(super) const FULL_INSTANTIATION: i32 = 2;
    pub(super) const ASSEMBLY: i32 = 4;
    pub(super) const NO_VERSION: i32 = 0x10;
    /// Type parameters with "!" or "!!".
    pub(super) const GENERIC_PARAMETER: i32 = 0x100;
}

/// Writes the arguments of an instantiation: with their assemblies, each in brackets, for full names.
pub fn write_arguments(out: &mut String, arguments: &[Ty], flags: i32) {
    out.push('[');
    for (index, argument) in arguments.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        if flags & format::FULL_INSTANTIATION != 0 && !argument.is_generic_param() {
            out.push('[');
            write(out, argument, flags | format::NAMESPACE | format::ASSEMBLY);
            out.push(']');
        } else {
            write(out, argument, flags & (format::NAMESPACE | format::GENERIC_PARAMETER));
        }
    }
    out.push(']');
}

/// Escapes the characters that have a meaning in type names.
fn push_escaped(out: &mut String, name: &str) {
    for c in name.chars() {
        if matches!(c, '\\' | '[' | ']' | ',' | '+' | '&' | '*') {
            out.push('\\');
        }
        out.push(c);
    }
}

fn write_definition(out: &mut String, ty: Ty, flags: i32) {
    let Some(def) = ty.def() else { return };
    if flags & format::NAMESPACE != 0 {
        if let Some(outer) = ty.unfinished_enclosing() {
            out.push_str(&outer.full_name());
            out.push('+');
        } else if let Ok(Some(outer)) = ty.enclosing_type() {
            write_definition(out, outer, flags);
            out.push('+');
        } else if !def.namespace.is_empty() {
            push_escaped(out, def.namespace);
            out.push('.');
        }
    }
    push_escaped(out, def.name);
}

/// Writes the name of a type.
pub fn write(out: &mut String, ty: Ty, flags: i32) {
    let inner = flags & !format::ASSEMBLY;
    match &ty.kind {
        TypeKind::Def(_) | TypeKind::Inst { .. } => {
            write_definition(out, ty, flags);
            let is_wanted = flags & (format::NAMESPACE | format::ASSEMBLY) != 0;
            let is_definition_in_full = ty.is_generic_definition() && flags & format::FULL_INSTANTIATION != 0;
            if is_wanted && !ty.args.is_empty() && !is_definition_in_full {
                write_arguments(out, ty.args, inner);
            }
        }
        TypeKind::SzArray(element) => {
            write(out, element, inner);
            out.push_str("[]");
        }
        TypeKind::Array { element, rank: 1 } => {
            write(out, element, inner);
            out.push_str("[*]");
        }
        TypeKind::Array { element, rank } => {
            write(out, element, inner);
            out.push('[');
            out.extend((1..*rank).map(|_| ','));
            out.push(']');
        }
        TypeKind::Ptr(element) => {
            write(out, element, inner);
            out.push('*');
        }
        TypeKind::ByRef(element) => {
            write(out, element, inner);
            out.push('&');
        }
        TypeKind::FnPtr(sig) => {
            if flags & format::NAMESPACE != 0 {
                write(out, sig.ret, inner);
                out.push('(');
                for (index, parameter) in sig.params.iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    write(out, parameter, inner);
                }
                out.push(')');
            }
        }
        TypeKind::Var(parameter) | TypeKind::MVar(parameter) => {
            if flags & format::GENERIC_PARAMETER != 0 {
                out.push_str(if matches!(ty.kind, TypeKind::MVar(_)) { "!!" } else { "!" });
            }
            out.push_str(parameter.name);
        }
    }
    if flags & format::ASSEMBLY != 0 {
        let assembly = ty.image().assembly();
        out.push_str(", ");
        match flags & format::NO_VERSION {
            0 => out.push_str(&assembly.display_name()),
            _ => out.push_str(assembly.name),
        }
    }
}

fn construct_name(t: CurrentThread, ty: TypeArgument, flags: i32, name: StringPlace) -> Managed<()> {
    let mut text = String::new();
    write(&mut text, ty.ty(), flags);
    name.set(t, Some(Str::new(t, &text)?));
    Ok(())
}

/// The internal call that writes type names.
pub const TABLE: &[InternalCall] = &[InternalCall::new("@net QCall::RuntimeTypeHandle_ConstructName", &construct_name)];
