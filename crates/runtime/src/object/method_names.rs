//! The names by which tables of the runtime list methods.

use saki_types::{Method, Ty};

fn type_name(ty: Ty, out: &mut String) {
    let Some(def) = ty.def() else { return };
    match ty.enclosing_type() {
        Ok(Some(enclosing)) => {
            type_name(enclosing, out);
            out.push('/');
            out.push_str(def.name);
        }
        _ => {
            if !def.namespace.is_empty() {
                out.push_str(def.namespace);
                out.push('.');
            }
            out.push_str(def.name);
        }
    }
}

/// "Namespace.Type::Method" of a method; "QCall::ENTRY" of a P/Invoke that calls the machine.
pub fn name_of(method: &'static Method) -> String {
    if let Some(entry) = method.qcall_entry() {
        return format!("QCall::{entry}");
    }
    let mut name = String::new();
    type_name(method.owner, &mut name);
    name.push_str("::");
    name.push_str(method.name);
    name
}

/// A method with its whole signature: "static Namespace.Type::Method(Parameters) Result". None if its signature cannot
/// be read.
pub fn signature_of(method: &'static Method) -> Option<String> {
    let sig = method.sig().ok()?;
    let kind = if method.is_static() { "static " } else { "" };
    Some(format!("{kind}{} {}", with_parameters(method)?, sig.ret.full_name()))
}

/// "Namespace.Type::Method(Parameters)" of a method. None if its signature cannot be read.
pub fn with_parameters(method: &'static Method) -> Option<String> {
    let params: Vec<String> = method.sig().ok()?.params.iter().map(|p| p.full_name()).collect();
    Some(format!("{}({})", name_of(method), params.join(",")))
}
