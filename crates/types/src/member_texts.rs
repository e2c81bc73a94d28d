//! How .NET's messages name methods and fields.
//!
//! Left out: what is missing (`resolve`), and types (`load_texts`).

use crate::error::LoadResult;
use crate::field::Field;
use crate::method::Method;
use crate::modifiers::written_type;
use crate::names::NameStyle;
use crate::signature::raw_method_sig;
use crate::ty::{GenericContext, Ty};

/// A method in .NET's messages: "Ns.Type.Method<System.Int32>(Int32, System.String)".
pub fn method_in_messages(method: &'static Method) -> String {
    let mut out = format!("{}.{}", owner_in_messages(method.owner), method.name);
    if !method.generic_args().is_empty() {
        out.push_str(&format!("<{}>", full_names(method.generic_args())));
    }
    let arguments = GenericContext { class_args: method.owner.args, method_args: method.generic_args() };
    format!("{out}({})", parameters(method, &arguments))
}

/// A method of a class whose type arguments are given as text, "Ns.IFace`1[T].Method(Int32)": a generic method's own
/// arguments take the place of the class's. Parameters of generic types have numbers.
pub(crate) fn method_over(arguments: &str, method: &'static Method) -> String {
    let definition = method.owner.generic_definition().unwrap_or(method.owner);
    let owner = definition.name_in(NameStyle::Reflection);
    let arguments = match method.generic_args() {
        [] => arguments.to_owned(),
        own => own.iter().map(|ty| ty.full_name()).collect::<Vec<_>>().join(","),
    };
    let arguments = if arguments.is_empty() { String::new() } else { format!("[{arguments}]") };
    format!("{owner}{arguments}.{}({})", method.name, parameters(method, &GenericContext::NONE))
}

/// "Int32, System.String"; empty for a signature that cannot be read.
fn parameters(method: &'static Method, arguments: &GenericContext) -> String {
    let written = || {
        let raw = raw_method_sig(method.image(), method.rid()?).ok()?;
        let write = |param| written_type(method.image(), param, arguments);
        raw.params.iter().map(write).collect::<LoadResult<Vec<_>>>().ok()
    };
    written().unwrap_or_default().join(", ")
}

/// A field in .NET's messages about access: "Ns.Type`1<System.Int32>.field".
pub fn field_in_messages(field: &Field) -> String {
    format!("{}.{}", owner_in_messages(field.owner), field.name)
}

fn owner_in_messages(owner: Ty) -> String {
    match owner.generic_definition() {
        Some(definition) => {
            let name = definition.name_in(NameStyle::Reflection);
            format!("{name}<{}>", full_names(owner.args))
        }
        None => owner.full_name(),
    }
}

fn full_names(types: &[Ty]) -> String {
    types.iter().map(|ty| ty.full_name()).collect::<Vec<_>>().join(", ")
}
