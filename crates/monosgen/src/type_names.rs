//! Names of types and methods in the forms of Mono's API that the machine itself has no use for.

use saki_types::{Method, MethodSig, Ty, TypeKind};

/// As IL writes a type: "System.Collections.Generic.List<System.Int32>", with a dot before nested classes.
pub(crate) fn il_name(ty: Ty) -> String {
    match &ty.kind {
        TypeKind::Def(_) | TypeKind::Inst { .. } => {
            let mut name = definition_name(ty);
            if !ty.args.is_empty() {
                let arguments: Vec<String> = ty.args.iter().map(|argument| il_name(argument)).collect();
                name += &format!("<{}>", arguments.join(","));
            }
            name
        }
        TypeKind::SzArray(element) => il_name(element) + "[]",
        TypeKind::Array { element, rank: 1 } => il_name(element) + "[*]",
        TypeKind::Array { element, rank } => format!("{}[{}]", il_name(element), ",".repeat(*rank as usize - 1)),
        TypeKind::Ptr(to) => il_name(to) + "*",
        TypeKind::ByRef(to) => il_name(to) + "&",
        TypeKind::FnPtr(_) => "System.MonoFNPtrFakeClass".to_owned(),
        TypeKind::Var(param) | TypeKind::MVar(param) => param.name.to_owned(),
    }
}

/// The class's name and those around it, without the numbers of generic parameters.
fn definition_name(ty: Ty) -> String {
    let Some(def) = ty.def() else { return ty.full_name() };
    let name = def.name.split('`').next().unwrap_or_default();
    match ty.enclosing_type() {
        Ok(Some(outer)) => format!("{}.{name}", definition_name(outer)),
        _ if def.namespace.is_empty() => name.to_owned(),
        _ => format!("{}.{name}", def.namespace),
    }
}

/// A type as signatures are described: "int", "string[]", "Some.Box`1<T>", also for a definition in its own terms.
pub(crate) fn described(ty: Ty, with_namespace: bool) -> String {
    let name = |ty: Ty| if with_namespace { ty.signature_name() } else { ty.short_signature_name() };
    let again = |ty: Ty| described(ty, with_namespace);
    match &ty.kind {
        TypeKind::Def(_) if ty.args.is_empty() => name(ty),
        TypeKind::Def(_) | TypeKind::Inst { .. } => {
            let arguments: Vec<String> = ty.args.iter().map(|argument| again(argument)).collect();
            format!("{}<{}>", name(ty.generic_definition().unwrap_or(ty)), arguments.join(", "))
        }
        TypeKind::SzArray(element) => again(element) + "[]",
        TypeKind::Array { element, rank } => format!("{}[{}]", again(element), ",".repeat(*rank as usize - 1)),
        TypeKind::Ptr(to) => again(to) + "*",
        TypeKind::ByRef(to) => again(to) + "&",
        TypeKind::FnPtr(_) | TypeKind::Var(_) | TypeKind::MVar(_) => name(ty),
    }
}

/// The types of the parameters: "int,string[]".
pub(crate) fn parameters(sig: &MethodSig, with_namespace: bool) -> String {
    sig.params.iter().map(|ty| described(ty, with_namespace)).collect::<Vec<_>>().join(",")
}

/// The generic arguments of a method: those of an instantiation, or the parameters of a definition.
fn arguments(method: &'static Method, open: char, close: char) -> String {
    if method.generic_args().is_empty() {
        return String::new();
    }
    let names: Vec<String> = method.generic_args().iter().map(|argument| argument.signature_name()).collect();
    format!("{open}{}{close}", names.join(", "))
}

/// "Namespace.Class:Method", and " (int,string)" if asked for.
pub(crate) fn method_name(method: &'static Method, with_signature: bool) -> String {
    let name = format!("{}:{}{}", method.owner.signature_name(), method.name, arguments(method, '<', '>'));
    if !with_signature {
        return name;
    }
    match method.sig() {
        Ok(sig) => format!("{name} ({})", parameters(sig, true)),
        Err(_) => format!("{name} (<unable to load signature>)"),
    }
}

/// "Namespace.Class.Method(int,string)".
pub(crate) fn reflection_name(method: &'static Method) -> String {
    let types = method.sig().map_or_else(|_| "<unable to load signature>".to_owned(), |sig| parameters(sig, true));
    format!("{}.{}{}({types})", method.owner.full_name(), method.name, arguments(method, '[', ']'))
}
