//! All tables, signatures and bodies of real assemblies are read without an error. Assemblies that are absent are
//! skipped.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use saki_metadata::walk::walk;
use saki_metadata::{CaEnumType, ElementType, EnumResolver, Image, OpenError, Rid, TableId, Token, TypeSig, dump};

const LIBRARY: &str = "/usr/lib/mono/4.5";

/// Finds enums in the library folder and beside the image.
struct Loader {
    home: Arc<Image>,
    folders: Vec<PathBuf>,
    images: Mutex<HashMap<String, Option<Arc<Image>>>>,
}

impl Loader {
    fn new(home: Arc<Image>) -> Self {
        let library = Path::new(LIBRARY);
        let mut folders = vec![library.to_path_buf(), library.join("Facades")];
        folders.extend(home.path().parent().map(Path::to_path_buf));
        Self { home, folders, images: Mutex::default() }
    }

    fn load(&self, assembly: &str) -> Option<Arc<Image>> {
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        images
            .entry(assembly.to_owned())
            .or_insert_with(|| {
                let paths = self
                    .folders
                    .iter()
                    .flat_map(|folder| ["dll", "exe"].map(|extension| folder.join(format!("{assembly}.{extension}"))));
                paths.filter_map(|path| Image::open(&path).ok()).map(Arc::new).next()
            })
            .clone()
    }

    /// `path` is the chain of names from the outermost type.
    fn underlying(&self, image: &Arc<Image>, namespace: &str, path: &[&str], hops: u32) -> Option<ElementType> {
        let (first, inner) = path.split_first()?;
        let Some(mut rid) = image.find_type_def(namespace, first, None) else {
            let exported = image.exported_type(image.find_exported_type(namespace, first, None)?).ok()?;
            let target = image.assembly_ref(exported.implementation.rid()).ok()?;
            let target = self.load(image.string(target.name).ok()?)?;
            return if hops == 0 { None } else { self.underlying(&target, namespace, path, hops - 1) };
        };
        for name in inner {
            rid = image.find_type_def("", name, Some(rid))?;
        }
        Self::underlying_of_row(image, rid)
    }

    fn underlying_of_row(image: &Image, rid: Rid) -> Option<ElementType> {
        let is_static = |flags: u16| flags & 0x10 != 0;
        for field in image.type_def_fields(rid).ok()? {
            let row = image.field(field).ok()?;
            if !is_static(row.flags) {
                return match image.parse_field_sig(row.signature).ok()? {
                    TypeSig::Prim(element) => Some(element),
                    _ => None,
                };
            }
        }
        None
    }
}

impl EnumResolver for Loader {
    fn enum_underlying_type(&self, enum_type: &CaEnumType) -> Option<ElementType> {
        match enum_type {
            CaEnumType::Name(name) => {
                let (full_name, assembly) = match name.split_once(',') {
                    Some((full_name, rest)) => (full_name, Some(rest.split(',').next()?.trim())),
                    None => (name.as_str(), None),
                };
                let path: Vec<&str> = full_name.split('+').collect();
                let (namespace, first) = path[0].rsplit_once('.').unwrap_or(("", path[0]));
                let path: Vec<&str> = std::iter::once(first).chain(path[1..].iter().copied()).collect();
                match assembly {
                    Some(assembly) => self.underlying(&self.load(assembly)?, namespace, &path, 4),
                    None => self
                        .underlying(&self.home, namespace, &path, 4)
                        .or_else(|| self.underlying(&self.load("mscorlib")?, namespace, &path, 4)),
                }
            }
            CaEnumType::Token(token) if token.table() == TableId::TypeDef => {
                Self::underlying_of_row(&self.home, token.rid())
            }
            CaEnumType::Token(token) => {
                let mut token: Token = *token;
                let mut path = Vec::new();
                loop {
                    let row = self.home.type_ref(token.rid()).ok()?;
                    path.insert(0, self.home.string(row.name).ok()?);
                    let scope = row.resolution_scope;
                    match scope.table() {
                        TableId::TypeRef => token = scope,
                        TableId::AssemblyRef => {
                            let name = self.home.assembly_ref(scope.rid()).ok()?.name;
                            let image = self.load(self.home.string(name).ok()?)?;
                            return self.underlying(&image, self.home.string(row.namespace).ok()?, &path, 4);
                        }
                        _ => {
                            let namespace = self.home.string(row.namespace).ok()?;
                            return self.underlying(&self.home, namespace, &path, 4);
                        }
                    }
                }
            }
        }
    }
}

/// The image at `path`, or `None` with a message.
fn open_if_present(path: &Path) -> Option<Arc<Image>> {
    match Image::open(path) {
        Ok(image) => Some(Arc::new(image)),
        Err(OpenError::NotFound { path }) => {
            eprintln!("skipped: {} is not installed", path.display());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Walks over the assembly and expects no problem.
fn check_walk(path: &Path) {
    let Some(image) = open_if_present(path) else { return };
    let report = walk(&image, &Loader::new(image.clone()));
    assert_eq!(report.problem_count, 0, "{}: {:#?}", path.display(), report.problems);
    assert!(report.row_count > 0);
    eprintln!("{}: {report:?}", path.display());
}

#[test]
fn mscorlib() {
    check_walk(&Path::new(LIBRARY).join("mscorlib.dll"));
}

#[test]
fn system() {
    check_walk(&Path::new(LIBRARY).join("System.dll"));
}

#[test]
fn system_core() {
    check_walk(&Path::new(LIBRARY).join("System.Core.dll"));
}

#[test]
fn mcs() {
    check_walk(&Path::new(LIBRARY).join("mcs.exe"));
}

#[test]
fn fsharp_core() {
    let candidates = ["/usr/lib/mono/fsharp/FSharp.Core.dll", "/usr/lib/mono/4.5/FSharp.Core.dll"];
    let extra = std::env::var_os("FSHARP_CORE").map(PathBuf::from);
    for path in extra.into_iter().chain(candidates.map(PathBuf::from)) {
        check_walk(&path);
    }
}

#[test]
#[ignore = "walks every assembly below SAKI_WALK_ROOT (default /usr/lib/mono)"]
fn every_assembly() {
    let root = std::env::var_os("SAKI_WALK_ROOT").map_or_else(|| PathBuf::from("/usr/lib/mono"), PathBuf::from);
    let mut folders = vec![root];
    let mut failures = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "dll" || extension == "exe") {
                match Image::open(&path) {
                    Ok(image) => {
                        let image = Arc::new(image);
                        let report = walk(&image, &Loader::new(image.clone()));
                        if report.problem_count > 0 {
                            failures.push(format!("{}: {} problems", path.display(), report.problem_count));
                            failures.extend(report.problems.iter().take(4).map(|problem| format!("  {problem}")));
                        }
                    }
                    Err(error) => failures.push(error.to_string()),
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn facts_of_mscorlib() {
    let Some(image) = open_if_present(&Path::new(LIBRARY).join("mscorlib.dll")) else { return };
    let object = image.find_type_def("System", "Object", None).expect("System.Object exists");
    assert!(image.type_def(object).expect("row").extends.is_nil());
    for method in image.type_def_methods(object).expect("list") {
        assert_eq!(image.type_of_method(method), Ok(object));
    }
    let list = image.find_type_def("System.Collections.Generic", "List`1", None).expect("List`1 exists");
    assert_eq!(image.generic_params(Token::new(TableId::TypeDef, list)).expect("range").len(), 1);
    assert!(image.find_type_def("", "Enumerator", Some(list)).is_some());
    assert_eq!(image.find_type_def("System", "NoSuchType", None), None);
    assert_eq!(image.metadata_version(), "v4.0.30319");
    assert!(image.entry_point_token().is_nil());
    let text = dump(&image);
    let identity = "mscorlib, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089";
    assert!(text.contains(identity), "{text}");
}

#[test]
fn overloads_are_told_apart_by_their_parameters() {
    let Some(image) = open_if_present(&Path::new(LIBRARY).join("mscorlib.dll")) else { return };
    let of = |namespace: &str, name: &str, method: &str| -> Vec<Option<String>> {
        let ty = image.find_type_def(namespace, name, None).expect("the type exists");
        let methods = image.type_def_methods(ty).unwrap();
        let is_meant = |rid: &Rid| image.string(image.method_def(*rid).unwrap().name).unwrap() == method;
        methods.filter(is_meant).map(|rid| image.overload(rid)).collect()
    };
    let concat = of("System", "String", "Concat");
    for expect in ["string,string", "object[]", "IEnumerable<string>", "IEnumerable<T>"] {
        assert!(concat.contains(&Some(expect.into())), "{concat:?}");
    }
    assert_eq!(of("System", "String", "GetTypeCode"), [None]);
    let sort = of("System", "Array", "Sort");
    assert!(sort.contains(&Some("TKey[],TValue[]".into())), "{sort:?}");
    let all: std::collections::HashSet<_> = sort.iter().collect();
    assert!(all.len() >= sort.len() - 2, "by generic parameters too: {sort:?}");
    let as_mono = |namespace: &str, name: &str, method: &str, arguments: &[&str]| -> Vec<String> {
        let ty = image.find_type_def(namespace, name, None).expect("the type exists");
        let methods = image.type_def_methods(ty).unwrap();
        let is_meant = |rid: &Rid| image.string(image.method_def(*rid).unwrap().name).unwrap() == method;
        let argument = |is_of_method: bool, index: usize| {
            (!is_of_method).then(|| arguments.get(index).map(|&argument| argument.to_owned())).flatten()
        };
        methods.filter(is_meant).map(|rid| image.parameters(rid, &argument).expect("parameters")).collect()
    };
    assert_eq!(as_mono("System", "String", "GetTypeCode", &[]), [""]);
    assert!(as_mono("System", "Convert", "ToByte", &[]).contains(&"single".to_owned()));
    let concat = as_mono("System", "String", "Concat", &[]);
    assert!(concat.contains(&"System.Collections.Generic.IEnumerable`1<string>".to_owned()), "{concat:?}");
    assert_eq!(as_mono("System.Collections.Generic", "List`1", "Add", &["int"]), ["int"]);
    let moves = as_mono("System.Collections.Generic", "Dictionary`2", "CopyTo", &["int", "string"]);
    assert_eq!(moves, ["System.Collections.Generic.KeyValuePair`2<int, string>[],int"]);
}

#[test]
fn open_errors() {
    let missing = Image::open(Path::new("/nonexistent/a.dll"));
    assert!(matches!(missing, Err(OpenError::NotFound { .. })));
    assert!(matches!(Image::open(Path::new("/usr")), Err(OpenError::Io { .. })));
    let from = |bytes: &[u8]| Image::from_bytes("test".to_owned(), bytes.to_vec());
    assert!(matches!(from(b""), Err(OpenError::NotPe { .. })));
    assert!(matches!(from(b"\x7fELF"), Err(OpenError::NotPe { .. })));
    let seed = include_bytes!("../../../fuzz/seeds/seed.exe");
    assert!(from(seed).is_ok());
    assert!(matches!(from(&seed[..100]), Err(OpenError::Truncated { .. })));
    assert!(matches!(from(&seed[..0x400]), Err(OpenError::Truncated { .. })));
    let mut native = seed.to_vec();
    native[0x80 + 24 + 96 + 14 * 8..][..8].fill(0);
    assert!(matches!(from(&native), Err(OpenError::NativePe { .. })));
}
