//! The table of internal calls: from a method to the Rust function that implements it.
//!
//! Names are "Namespace.Type::Method" (nested types "Outer/Inner"), with the parameter types in parentheses where a name is
//! overloaded: "System.String::.ctor(System.Char[])". The function gets the `Thread` and then the managed arguments.

use parking_lot::RwLock;
use rustc_hash::FxHashMap;
use saki_types::{Method, Ty};

/// One row of the table.
pub type InternalCall = (&'static str, *const ());

static TABLE: RwLock<Option<FxHashMap<String, usize>>> = RwLock::new(None);

/// Adds rows; later rows win (libmono-native registers one at run time).
pub fn register(rows: &[InternalCall]) {
    let mut table = TABLE.write();
    let table = table.get_or_insert_default();
    for (name, function) in rows {
        table.insert((*name).to_string(), *function as usize);
    }
}

/// Adds one row with a name made at run time.
pub fn register_dynamic(name: String, function: usize) {
    TABLE.write().get_or_insert_default().insert(name, function);
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

/// The Rust function of an internal call.
pub fn find(method: &'static Method) -> Option<usize> {
    let name = name_of(method);
    let table = TABLE.read();
    let table = table.as_ref()?;
    let signature = method.sig().ok().map(|sig| {
        let params: Vec<String> = sig.params.iter().map(|p| p.full_name()).collect();
        format!("{name}({})", params.join(","))
    });
    signature.and_then(|s| table.get(&s)).or_else(|| table.get(&name)).copied()
}

/// Number of rows, and all names sorted, for diagnostics.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = TABLE.read().iter().flat_map(|t| t.keys().cloned()).collect();
    names.sort();
    names
}
