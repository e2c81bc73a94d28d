//! The class libraries for unit tests.

use saki_types::binder::{Binder, SearchPaths};
use saki_types::universe::{self, Universe};
use std::path::Path;
use std::sync::OnceLock;

/// The universe over the installed class libraries, which all tests share, and their folder. None, after printing a
/// line, where there are none.
pub fn class_libraries() -> Option<(&'static Universe, &'static Path)> {
    static UNIVERSE: OnceLock<Option<&'static Universe>> = OnceLock::new();
    let root = Path::new("/usr/lib/mono");
    let universe = UNIVERSE.get_or_init(|| {
        let corlib = root.join("4.5/mscorlib.dll");
        let paths = SearchPaths {
            mono_path: vec![],
            application_base: root.join("4.5"),
            framework_root: root.into(),
            trusted: None,
            resource_roots: vec![],
        };
        corlib.is_file().then(|| universe::init(Binder::new(paths), &corlib).expect("corlib loads"))
    });
    if universe.is_none() {
        eprintln!("skipped: no class libraries");
    }
    universe.map(|universe| (universe, root))
}
