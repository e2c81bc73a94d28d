//! The instructions that .NET's core assembly uses: of each class of which it is told that it is supported, each method
//! that it calls is one of the compiler's operations. Takes `target/net/9` and `target/net/10` (`tools/net/setup`);
//! versions that are not there are left out.

use saki_metadata::opcodes::{Operand, decode_at};
use saki_metadata::{TableId, Token};
use saki_types::binder::{Binder, SearchPaths};
use saki_types::{Image, LibraryProfile, Method};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Set in the processes that test one version.
const VERSION_OF_CHILD: &str = "SAKI_TEST_CHILD";
const INSTRUCTIONS: &str = "System.Runtime.Intrinsics.X86";

fn core_assembly(version: &str) -> Option<PathBuf> {
    let frameworks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/net").join(version);
    let folders = std::fs::read_dir(frameworks.join("shared/Microsoft.NETCore.App")).ok()?;
    folders.flatten().map(|folder| folder.path().join("System.Private.CoreLib.dll")).find(|file| file.is_file())
}

fn namespace(method: &Method) -> &'static str {
    method.owner.def().map_or("", |def| def.namespace)
}

/// All methods of the core assembly.
fn methods(image: &'static Image) -> Vec<&'static Method> {
    let types = 1..=image.meta.row_count(TableId::TypeDef);
    types.flat_map(|rid| image.type_def(rid).expect("a type").methods().expect("methods")).collect()
}

/// The instructions that are called outside their own classes and are no operations of the compiler.
fn missing(version: &str) -> Option<BTreeSet<String>> {
    let file = core_assembly(version)?;
    let paths = SearchPaths {
        mono_path: Vec::new(),
        application_base: PathBuf::from("."),
        framework_root: PathBuf::new(),
        trusted: Some(Arc::default()),
        resource_roots: vec![],
    };
    let universe = saki_types::universe::init_with(Binder::new(paths), &file, &LibraryProfile::NET).expect("loads");
    let image = universe.binder().load_file(&file).expect("an assembly").image;
    let all = methods(image);
    let is_instruction = |method: &&&'static Method| namespace(method) == INSTRUCTIONS;
    let instructions: HashMap<Token, &'static Method> = all
        .iter()
        .filter(is_instruction)
        .map(|method| (Token::new(TableId::MethodDef, method.rid().expect("a row")), *method))
        .collect();
    let is_operation = |method: &'static Method| saki_il::import::is_vector_operation(method).expect("a signature");
    let supported: BTreeSet<&str> = instructions
        .values()
        .filter(|method| method.name == "get_IsSupported" && is_operation(method))
        .map(|method| method.owner.def().expect("a class").name)
        .collect();
    assert!(supported.len() >= 4, "{supported:?}");
    let (mut found, mut missing) = (0, BTreeSet::new());
    for method in all.iter().filter(|method| namespace(method) != INSTRUCTIONS) {
        let Some(body) = method.body().ok().flatten() else { continue };
        for instruction in decode_at(body.code, 0).map_while(Result::ok) {
            let Operand::Token(token) = instruction.operand else { continue };
            let Some(called) = instructions.get(&token) else { continue };
            if !supported.contains(called.owner.def().expect("a class").name) {
                continue;
            }
            found += 1;
            if !is_operation(called) {
                missing.insert(format!("{} calls {}", method.full_name(), called.full_name()));
            }
        }
    }
    assert!(found > 100, "only {found} calls");
    Some(missing)
}

/// A process for each version, since the tables of a process have one core assembly.
#[test]
fn each_instruction_of_the_core_assembly_is_an_operation() {
    if let Ok(version) = std::env::var(VERSION_OF_CHILD) {
        match missing(&version) {
            Some(missing) => assert!(missing.is_empty(), "{missing:#?}"),
            None => eprintln!("skipped: no .NET {version} in target/net"),
        }
        return;
    }
    for version in ["9", "10"] {
        let test = "each_instruction_of_the_core_assembly_is_an_operation";
        let mut child = Command::new(std::env::current_exe().expect("a path"));
        let status = child.args(["--exact", test, "--nocapture"]).env(VERSION_OF_CHILD, version).status();
        assert!(status.expect("starts").success(), ".NET {version}");
    }
}
