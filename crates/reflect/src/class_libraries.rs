//! A universe over the installed class libraries, for unit tests.

use saki_types::binder::{Binder, SearchPaths};
use saki_types::{Ty, universe};
use std::path::Path;
use std::sync::OnceLock;

/// Whether class libraries are installed. If so, the universe is initialised with them; otherwise a line says that the
/// test was skipped.
pub fn load() -> bool {
    static IS_THERE: OnceLock<bool> = OnceLock::new();
    let is_there = *IS_THERE.get_or_init(|| {
        let root = Path::new("/usr/lib/mono");
        let corlib = root.join("4.5/mscorlib.dll");
        let paths = SearchPaths {
            mono_path: vec![],
            application_base: root.join("4.5"),
            framework_root: root.into(),
            trusted: None,
            resource_roots: vec![],
        };
        let is_there = corlib.is_file();
        if is_there {
            saki_types::universe::init(Binder::new(paths), &corlib).expect("corlib loads");
        }
        is_there
    });
    if !is_there {
        eprintln!("skipped: no class libraries");
    }
    is_there
}

pub fn class(namespace: &str, name: &str) -> Ty {
    universe().corlib_type(namespace, name).expect("a class")
}
