//! The installed class library.

use saki_types::binder::{Binder, SearchPaths};
use saki_types::{Ty, universe};
use std::path::Path;
use std::sync::Once;

const CORLIB: &str = "/usr/lib/mono/4.5/mscorlib.dll";

/// Whether the class library is installed; tests pass without it.
pub fn corlib() -> bool {
    static INIT: Once = Once::new();
    if !Path::new(CORLIB).exists() {
        return false;
    }
    INIT.call_once(|| {
        let paths = SearchPaths {
            mono_path: Vec::new(),
            application_base: "/".into(),
            framework_root: "/usr/lib/mono".into(),
            trusted: None,
            resource_roots: vec![],
        };
        saki_types::universe::init(Binder::new(paths), Path::new(CORLIB)).unwrap();
    });
    true
}

pub fn corlib_type(namespace: &str, name: &str) -> Ty {
    universe().corlib_type(namespace, name).unwrap()
}
