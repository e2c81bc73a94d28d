//! Compiles every body that the runtime supplies for the class libraries.
//!
//! Runs only where Mono's class libraries are installed.

use saki_il::ir::CallSig;
use saki_il::synth::{callback, pinvoke, synthesise};
use saki_jit::{Compiler, CompilerOptions};
use saki_types::binder::{Binder, SearchPaths};
use saki_types::universe;
use std::path::Path;

#[test]
fn synthesised_bodies_compile() {
    let root = Path::new("/usr/lib/mono");
    if !root.join("4.5/mscorlib.dll").exists() {
        return;
    }
    let paths = SearchPaths {
        mono_path: vec![],
        application_base: root.join("4.5"),
        framework_root: root.to_path_buf(),
        trusted: None,
        resource_roots: vec![],
    };
    saki_types::universe::init(Binder::new(paths), &root.join("4.5/mscorlib.dll")).expect("corlib loads");
    let compiler = Compiler::new(CompilerOptions { verify: true, ..CompilerOptions::new(saki_gc::heap_layout()) })
        .expect("code generator");
    let mut compiled = 0;
    for name in ["mscorlib", "System", "Mono.Posix"] {
        let Ok(assembly) = universe().binder().load_file(&root.join(format!("4.5/{name}.dll"))) else { continue };
        for rid in 1..=assembly.image.meta.row_count(saki_metadata::TableId::TypeDef) {
            let ty = assembly.image.type_def(rid).expect("type loads");
            if ty.is_open {
                continue;
            }
            for method in ty.methods().expect("methods") {
                if method.is_open() {
                    continue;
                }
                let mut functions = vec![];
                functions.extend(synthesise(method).expect("body"));
                if method.name == "Invoke" && ty.is_delegate() {
                    let function = callback::callback(method).expect("callback");
                    let native =
                        CallSig { has_this: false, params: function.sig.params[1..].to_vec(), ret: function.sig.ret };
                    compiler.compile_native_to_managed_thunk(&native).expect("C entry");
                    functions.push(function);
                    functions.push(pinvoke::native_delegate_invoke(method).expect("native delegate"));
                }
                for function in functions {
                    if let Err(error) = compiler.compile(&function) {
                        panic!("{}: {error}\n{function:#?}", function.name);
                    }
                    compiled += 1;
                }
            }
        }
    }
    for element in
        [universe().int32(), universe().string(), universe().corlib_type("System", "Decimal").expect("Decimal")]
    {
        for rank in 1..4 {
            for method in universe().array_of(element, rank).methods().expect("methods") {
                let function = synthesise(method).expect("body").expect("has one");
                compiler.compile(&function).unwrap_or_else(|error| panic!("{}: {error}", function.name));
                compiled += 1;
            }
        }
    }
    assert!(compiled > 500);
    eprintln!("{compiled} bodies compiled");
}
