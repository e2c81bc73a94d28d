//! Class-library types that the runtime itself needs, by assembly and name; and the names by which tables of the runtime list methods.

use saki_types::binder::AssemblyName;
use saki_types::{LoadError, LoadResult, Method, Ty, universe};

/// The type, or None when the assembly or type is missing. Nested types as "Outer/Inner".
pub fn find_type(assembly: &str, namespace: &str, name: &str) -> Option<Ty> {
    load_type(assembly, namespace, name).ok()
}

/// # Errors
/// `FileNotFound`, `TypeLoad`.
pub fn load_type(assembly: &str, namespace: &str, name: &str) -> LoadResult<Ty> {
    let image = if assembly == "mscorlib" {
        universe().corlib()
    } else {
        let wanted = AssemblyName { name: assembly.to_string(), ..AssemblyName::default() };
        universe().binder().resolve(&wanted, None)?.image
    };
    let mut parts = name.split('/');
    let outer = parts.next().unwrap_or_default();
    let missing =
        || LoadError::type_load(format!("{assembly} has no type {namespace}.{name}"), format!("{namespace}.{name}"));
    let mut ty = image.find_type(namespace, outer)?.ok_or_else(missing)?;
    for inner in parts {
        ty = ty.find_nested("", inner)?.ok_or_else(missing)?;
    }
    Ok(ty)
}

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

/// "Namespace.Type::Method" of a method.
pub fn name_of(method: &'static Method) -> String {
    let mut name = String::new();
    type_name(method.owner, &mut name);
    name.push_str("::");
    name.push_str(method.name);
    name
}
