//! Types for unit tests, from CIL text in the test: assembled by `ilasm` and loaded with the installed class library.

use crate::binder::{Binder, SearchPaths};
use crate::domain::Image;
use crate::field::Field;
use crate::method::Method;
use crate::ty::Ty;
use crate::universe;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The folder of the class libraries, after making a universe over them that all tests share. None, after printing a
/// line, where they are not installed.
pub fn class_libraries() -> Option<&'static Path> {
    static ROOT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let root = ROOT.get_or_init(|| {
        let root = Path::new("/usr/lib/mono");
        let corlib = root.join("4.5/mscorlib.dll");
        if !corlib.is_file() {
            return None;
        }
        let paths = SearchPaths {
            mono_path: vec![],
            application_base: root.join("4.5"),
            framework_root: root.into(),
            trusted: None,
            resource_roots: vec![],
        };
        universe::init(Binder::new(paths), &corlib).expect("corlib loads");
        Some(root.into())
    });
    if root.is_none() {
        eprintln!("skipped: no class libraries");
    }
    root.as_deref()
}

/// An assembly of a test.
pub struct Fixture(pub &'static Image);

/// Assembles classes; the rest of the assembly is added. None, after printing a line, without class libraries or
/// `ilasm`.
pub fn assemble(classes: &str) -> Option<Fixture> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    class_libraries()?;
    let name = format!("fixture{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(format!("saki-types-{}-{name}", std::process::id()));
    let (source, library) = (folder.join("a.il"), folder.join("a.dll"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let text = format!(".assembly extern mscorlib {{ }}\n.assembly {name} {{ }}\n.module {name}.dll\n{classes}");
    std::fs::write(&source, text).expect("the source");
    let output = match Command::new("ilasm")
        .args(["/dll", "/quiet"])
        .arg(format!("/output:{}", library.display()))
        .arg(&source)
        .output()
    {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: ilasm: {error}");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let bytes = std::fs::read(&library).expect("what ilasm wrote");
    let _ = std::fs::remove_dir_all(folder);
    Some(Fixture(universe().binder().load_bytes(bytes).expect("an assembly").image))
}

impl Fixture {
    /// The class of this name, without a namespace.
    pub fn ty(&self, name: &str) -> Ty {
        self.0.find_type("", name).expect("a type loads").unwrap_or_else(|| panic!("there is no {name}"))
    }

    pub fn field(&self, ty: &str, name: &str) -> &'static Field {
        self.ty(ty).find_field(name).expect("fields load").unwrap_or_else(|| panic!("there is no {ty}.{name}"))
    }

    /// The only method of this name.
    pub fn method(&self, ty: &str, name: &str) -> &'static Method {
        let found = self.ty(ty).methods_named(name).expect("methods load");
        assert_eq!(found.len(), 1, "methods {ty}.{name}");
        found[0]
    }
}
