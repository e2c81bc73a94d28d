//! Compares the signature of each internal call of each class library with that of the Rust function that implements it, and checks that the exceptions that Rust
//! functions throw exist.
//!
//! One test: a process has one machine.

use saki_metadata::TableId;
use saki_runtime::{ExceptionType, Vm, internal_calls};
use std::path::{Path, PathBuf};

#[test]
fn internal_calls_agree_with_their_functions() {
    // The thread that starts the machine becomes its main thread; the machine asks for a larger stack than a test's thread has by default.
    let host = std::thread::Builder::new().stack_size(8 << 20).spawn(compare_all).expect("a thread");
    let (compared, differences) = host.join().expect("no panic");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(compared > 500, "{compared} internal calls were compared");
}

/// How many internal calls have functions, and the differences.
fn compare_all() -> (usize, Vec<String>) {
    let machine = Vm::builder(saki_icall::upper_layers()).start().expect("a machine");
    for exception in ExceptionType::ALL {
        let (namespace, name) = exception.full_name();
        assert!(saki_types::universe().corlib_type(namespace, name).is_ok(), "{namespace}.{name}");
    }
    let mut compared = 0;
    let mut differences = Vec::new();
    for path in libraries(Path::new("/usr/lib/mono/4.5")) {
        let Ok(assembly) = machine.load_program(&path) else { continue };
        for rid in 1..=assembly.image.meta.row_count(TableId::TypeDef) {
            let Ok(ty) = assembly.image.type_def(rid) else { continue };
            let Ok(methods) = ty.methods() else { continue };
            for method in methods.filter(|method| method.is_internal_call()) {
                let Some(row) = internal_calls::find_unchecked(method) else { continue };
                compared += 1;
                match row.signature.difference(method) {
                    Ok(None) => {}
                    Ok(Some(difference)) => differences.push(format!("{}: {}: {difference}", path.display(), row.name)),
                    Err(error) => differences.push(format!("{}: {}: {error}", path.display(), row.name)),
                }
            }
        }
    }
    differences.sort();
    differences.dedup();
    (compared, differences)
}

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
