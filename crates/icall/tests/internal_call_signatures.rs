//! Compares the signature of each internal call of each class library, and of each method that has a library loop, with
//! that of the Rust function that implements it, and checks that the exceptions that Rust functions throw exist.
//!
//! One test: a process has one machine.

use saki_metadata::{ElementType, TableId};
use saki_runtime::exec::internal_calls;
use saki_runtime::exec::library_loops::{self, LoopRow};
use saki_runtime::object::class_library;
use saki_runtime::{ExceptionType, Vm};
use saki_types::{LibraryType, LoadResult, Method, Ty, universe};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

#[test]
fn rust_functions_agree_with_their_methods() {
    // The thread that starts the machine becomes its main thread; the machine asks for a larger stack than a test's
    // thread has by default.
    let host = std::thread::Builder::new().stack_size(8 << 20).spawn(compare_all).expect("a thread");
    let (compared, differences) = host.join().expect("no panic");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(compared > 500, "{compared} internal calls were compared");
}

/// The number of internal calls that have functions, and the differences of internal calls and library loops.
fn compare_all() -> (usize, Vec<String>) {
    let layers = saki_icall::upper_layers();
    let rows: Vec<&LoopRow> = layers.library_loops.iter().copied().flatten().collect();
    let loops = Loops::of(&rows);
    let machine = Vm::builder(layers).start().expect("a machine");
    for role in LibraryType::ALL {
        assert!(universe().find_library_type(*role).is_ok_and(|ty| ty.is_some() || role.is_optional()), "{role:?}");
    }
    for exception in ExceptionType::ALL {
        assert!(!exception.role().is_optional() || universe().library_type(exception.role()).is_ok(), "{exception:?}");
    }
    let mut compared = 0;
    let mut compared_rows = HashSet::new();
    let mut differences = Vec::new();
    for path in libraries(Path::new("/usr/lib/mono/4.5")) {
        let Ok(assembly) = machine.load_program(&path) else { continue };
        let mut compare = |name: &str, difference: LoadResult<Option<String>>| match difference {
            Ok(None) => {}
            Ok(Some(difference)) => differences.push(format!("{}: {name}: {difference}", path.display())),
            Err(error) => differences.push(format!("{}: {name}: {error}", path.display())),
        };
        for rid in 1..=assembly.image.meta.row_count(TableId::TypeDef) {
            let Ok(ty) = assembly.image.type_def(rid) else { continue };
            let Ok(methods) = ty.methods() else { continue };
            for method in methods.filter(|method| method.is_internal_call()) {
                let Some(row) = internal_calls::find_unchecked(method) else { continue };
                compared += 1;
                compare(row.name, row.signature.difference(method));
            }
            for method in loops.methods(ty) {
                let Some(row) = library_loops::find_unchecked(method) else { continue };
                compared_rows.insert(row.signature);
                compare(row.signature, row.difference(method));
            }
        }
    }
    // Other versions lack some of the methods.
    if class_library::version() == Some(saki_contract::Version::Mono6_8) {
        let left_out = rows.iter().filter(|row| !compared_rows.contains(row.signature));
        differences.extend(left_out.map(|row| format!("{}: no class library has this method", row.signature)));
    }
    differences.sort();
    differences.dedup();
    (compared, differences)
}

/// The names of the methods that rows of library loops name, by the type's name.
struct Loops(HashMap<&'static str, HashSet<&'static str>>);

impl Loops {
    fn of(rows: &[&LoopRow]) -> Loops {
        let mut names: HashMap<&str, HashSet<&str>> = HashMap::new();
        for row in rows {
            let (owner, method) = row.signature.split_once("::").expect("a type and a method");
            let (name, _) = method.split_once('(').expect("parameters");
            names.entry(owner.trim_start_matches("static ")).or_default().insert(name);
        }
        Loops(names)
    }

    /// The methods of `ty` that rows may name. Instead of generic methods, their instantiations over numbers.
    fn methods(&self, ty: Ty) -> Vec<&'static Method> {
        let Some(def) = ty.def().filter(|def| def.enclosing.is_none()) else { return Vec::new() };
        let Some(names) = self.0.get(format!("{}.{}", def.namespace, def.name).as_str()) else { return Vec::new() };
        let numbers = NUMBERS.map(|element| universe().primitive(element));
        let types: Vec<Ty> = if ty.is_generic_definition() {
            numbers.iter().filter_map(|number| universe().instantiate(ty, &[number]).ok()).collect()
        } else {
            vec![ty]
        };
        let named = |ty: Ty| names.iter().flat_map(move |name| ty.methods_named(name).expect("methods"));
        let closed = |method: &'static Method| {
            if method.is_generic_definition() {
                numbers.iter().filter_map(|number| universe().instantiate_method(method, &[number]).ok()).collect()
            } else {
                vec![method]
            }
        };
        types.into_iter().flat_map(named).flat_map(closed).collect()
    }
}

/// The types of which arrays and spans have rows.
const NUMBERS: [ElementType; 12] = [
    ElementType::Boolean,
    ElementType::Char,
    ElementType::I1,
    ElementType::U1,
    ElementType::I2,
    ElementType::U2,
    ElementType::I4,
    ElementType::U4,
    ElementType::I8,
    ElementType::U8,
    ElementType::R4,
    ElementType::R8,
];

fn libraries(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the class libraries").filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(libraries(&path));
        } else if path.extension().is_some_and(|extension| extension == "dll") {
            found.push(path);
        }
    }
    found.sort();
    found
}
