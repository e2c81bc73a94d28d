//! Imports and compiles every non-generic method of a class library.
//!
//! The full run takes a while: `SAKI_CORPUS=mscorlib,System cargo test -p saki-jit --test corpus` names the assemblies
//! (default: every 16th method of mscorlib). `SAKI_DUMP=text` prints the code of methods whose name contains the text,
//! `SAKI_CORPUS_NO_VERIFY` leaves out Cranelift's verifier, for measurements.

#[path = "common/heap.rs"]
mod heap;

use heap::HEAP;
use saki_il::import::{ImportOptions, NothingInitialised, import};
use saki_jit::{CompileContext, Compiler, CompilerOptions};
use saki_types::binder::{Binder, SearchPaths};
use saki_types::{Method, universe};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Totals {
    methods: usize,
    bytes: usize,
    import: Duration,
    codegen: Duration,
    failures: Vec<String>,
    slowest: Vec<(Duration, String)>,
}

fn compile(compiler: &Compiler, context: &mut CompileContext, method: &'static Method, totals: &mut Totals) {
    let start = Instant::now();
    let function = match import(method, &ImportOptions::default(), &NothingInitialised) {
        Ok(function) => function,
        Err(error) => {
            totals.failures.push(format!("import {}: {error}", method.full_name()));
            return;
        }
    };
    totals.import += start.elapsed();
    if std::env::var("SAKI_DUMP").is_ok_and(|text| method.full_name().contains(&text)) {
        println!("{function}");
        match compiler.dump(&function) {
            Ok(dump) => println!("{dump}"),
            Err(error) => println!("{error}"),
        }
    }
    let start = Instant::now();
    match catch_unwind(AssertUnwindSafe(|| compiler.compile_with(context, saki_jit::Tier::Second, &function))) {
        Ok(Ok(code)) => {
            totals.methods += 1;
            totals.bytes += code.bytes.len();
        }
        Ok(Err(error)) => {
            totals.failures.push(format!("{}: {error}", method.full_name()));
            *context = CompileContext::new();
        }
        Err(_) => {
            totals.failures.push(format!("{}: panic", method.full_name()));
            *context = CompileContext::new();
        }
    }
    totals.codegen += start.elapsed();
    totals.slowest.push((start.elapsed(), method.full_name()));
}

#[test]
fn class_library_methods_compile() {
    let root = Path::new("/usr/lib/mono");
    if !root.join("4.5/mscorlib.dll").exists() {
        return;
    }
    let selection = std::env::var("SAKI_CORPUS").ok();
    let verify = std::env::var("SAKI_CORPUS_NO_VERIFY").is_err();
    let stride = if selection.is_some() { 1 } else { 16 };
    let paths = SearchPaths {
        mono_path: vec![],
        application_base: root.join("4.5"),
        framework_root: root.to_path_buf(),
        trusted: None,
        resource_roots: vec![],
    };
    saki_types::universe::init(Binder::new(paths), &root.join("4.5/mscorlib.dll")).expect("corlib loads");
    let compiler = Compiler::new(CompilerOptions { verify, ..CompilerOptions::new(HEAP) }).expect("code generator");
    let mut context = CompileContext::new();
    let mut totals = Totals::default();
    let mut number = 0;
    for name in selection.as_deref().unwrap_or("mscorlib").split(',') {
        let assembly = universe().binder().load_file(&root.join(format!("4.5/{name}.dll"))).expect("assembly loads");
        for rid in 1..=assembly.image.meta.row_count(saki_metadata::TableId::TypeDef) {
            let ty = assembly.image.type_def(rid).expect("type loads");
            let Ok(methods) = ty.methods() else { continue };
            for method in methods {
                number += 1;
                if number % stride == 0 && !method.is_open() && matches!(method.body(), Ok(Some(_))) {
                    compile(&compiler, &mut context, method, &mut totals);
                }
            }
        }
    }
    totals.slowest.sort();
    for (time, name) in totals.slowest.iter().rev().take(5) {
        eprintln!("{time:?} {name}");
    }
    let Totals { methods, bytes, import, codegen, failures, .. } = totals;
    eprintln!("{methods} methods, {bytes} bytes, import {import:?}, code generation {codegen:?}");
    for failure in &failures {
        eprintln!("{failure}");
    }
    assert!(failures.is_empty(), "{} failures", failures.len());
    assert!(methods > 0);
}
