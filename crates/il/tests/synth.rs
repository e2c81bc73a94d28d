//! Makes every body that the runtime must supply for the core library and verifies it.
//!
//! Runs only where Mono's class libraries are installed.

use saki_il::ir::{Function, IrType, Op, Terminator};
use saki_il::synth::marshal::{MarshalAction, method_plan, native_layout};
use saki_il::synth::{callback, pinvoke, synthesise};
use saki_types::binder::{Binder, SearchPaths};
use saki_types::{Image, universe};
use std::path::Path;
use std::process::Command;
use std::sync::Once;

static INIT: Once = Once::new();

fn with_class_libraries(test: impl FnOnce()) {
    let root = Path::new("/usr/lib/mono");
    if !root.join("4.5/mscorlib.dll").exists() {
        return;
    }
    INIT.call_once(|| {
        let paths = SearchPaths {
            mono_path: vec![],
            application_base: root.join("4.5"),
            framework_root: root.to_path_buf(),
            trusted: None,
            resource_roots: vec![],
        };
        saki_types::universe::init(Binder::new(paths), &root.join("4.5/mscorlib.dll")).expect("corlib loads");
    });
    test();
}

/// Checks that definitions precede uses by block index, calls match their signatures, and every block is closed.
fn check(f: &Function) {
    let mut defined = vec![false; f.insts.len()];
    for block in &f.blocks {
        for &value in &block.insts {
            for operand in operands(&f.insts[value.0 as usize].op) {
                assert!(defined[operand as usize], "{}: value {operand} used before its definition", f.name);
            }
            if let Op::Call { sig, args, struct_result, .. } = &f.insts[value.0 as usize].op {
                assert_eq!(sig.params.len(), args.len(), "{}", f.name);
                assert_eq!(struct_result.is_some(), matches!(sig.ret, Some(IrType::Struct(_))), "{}", f.name);
            }
            defined[value.0 as usize] = true;
        }
        match &block.terminator {
            Terminator::Ret(value) => assert_eq!(value.is_some(), f.sig.ret.is_some(), "{}", f.name),
            Terminator::TailCall { sig, args, .. } => {
                assert_eq!(sig.params.len(), args.len(), "{}", f.name);
                assert_eq!(sig.ret, f.sig.ret, "{}", f.name);
            }
            _ => {}
        }
    }
}

fn operands(op: &Op) -> Vec<u32> {
    let text = format!("{op:?}");
    // `ValueId(n)` is how every operand prints.
    text.match_indices("ValueId(")
        .map(|(at, head)| {
            let digits = &text[at + head.len()..];
            digits[..digits.find(')').expect("closed")].parse().expect("a number")
        })
        .collect()
}

fn check_image(image: &'static Image) -> (usize, usize) {
    let (mut made, mut refused) = (0, 0);
    for rid in 1..=image.meta.row_count(saki_metadata::TableId::TypeDef) {
        let ty = image.type_def(rid).expect("type loads");
        if ty.is_open {
            continue;
        }
        for method in ty.methods().expect("methods") {
            if method.is_open() {
                continue;
            }
            match synthesise(method) {
                Ok(None) => {}
                Ok(Some(function)) => {
                    check(&function);
                    made += 1;
                }
                Err(error) => panic!("{}: {error}", method.full_name()),
            }
            if method.is_pinvoke() && !method.is_internal_call() {
                let plan = method_plan(method).expect("plan");
                if let Some(why) = plan.refused() {
                    eprintln!("{}: {:?}", method.full_name(), why.native);
                    refused += 1;
                }
            }
            if method.name == "Invoke" && ty.is_delegate() {
                check(&callback::callback(method).expect("callback"));
                check(&pinvoke::native_delegate_invoke(method).expect("native delegate"));
            }
        }
    }
    (made, refused)
}

#[test]
fn core_libraries_have_all_bodies() {
    with_class_libraries(|| {
        let (made, refused) = check_image(universe().corlib());
        assert!(made > 500, "{made} bodies");
        eprintln!("mscorlib: {made} bodies, {refused} P/Invokes that cannot be marshalled");
        for name in ["System", "System.Core", "Mono.Posix", "Mono.Security"] {
            let path = Path::new("/usr/lib/mono/4.5").join(format!("{name}.dll"));
            let Ok(assembly) = universe().binder().load_file(&path) else { continue };
            let (made, refused) = check_image(assembly.image);
            eprintln!("{name}: {made} bodies, {refused} P/Invokes that cannot be marshalled");
        }
    });
}

const PINVOKES: &str = r#"
.assembly extern mscorlib {}
.assembly pinvokes {}
.class public sealed System.Runtime.InteropServices.SuppressGCTransitionAttribute extends [mscorlib]System.Attribute
{
    .method public specialname rtspecialname instance void .ctor() { ret }
}
.class public Native extends [mscorlib]System.Object
{
    .method public static pinvokeimpl("libc" as "abs") int32 Quick(int32) preservesig
    {
        .custom instance void System.Runtime.InteropServices.SuppressGCTransitionAttribute::.ctor() = (01 00 00 00)
    }
    .method public static pinvokeimpl("libc" as "abs") int32 Plain(int32) preservesig {}
}
"#;

#[test]
fn suppressed_transitions_leave_no_trace_in_the_body() {
    with_class_libraries(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (source, library) = (folder.join("pinvokes.il"), folder.join("pinvokes.dll"));
        std::fs::write(&source, PINVOKES).expect("a source");
        let output = format!("-output:{}", library.display());
        let Ok(made) = Command::new("ilasm").arg("-dll").arg(output).arg(&source).output() else { return };
        assert!(made.status.success(), "{made:?}");
        let assembly = universe().binder().load_file(&library).expect("the library loads");
        let native = assembly.image.find_type("", "Native").expect("types load").expect("Native");
        for (name, transitions) in [("Quick", 0), ("Plain", 1)] {
            let method = native.find_method(name, 1).expect("methods load").expect("the method");
            let function = synthesise(method).expect("body").expect("has a body");
            check(&function);
            let is_transition = |op: &&Op| format!("{op:?}").contains("transition: Leave");
            assert_eq!(function.insts.iter().map(|inst| &inst.op).filter(is_transition).count(), transitions, "{name}");
        }
    });
}

#[test]
fn multi_dimensional_arrays() {
    with_class_libraries(|| {
        for element in
            [universe().int32(), universe().string(), universe().corlib_type("System", "Guid").expect("Guid")]
        {
            for rank in 1..5 {
                for method in universe().array_of(element, rank).methods().expect("methods") {
                    let function = synthesise(method).expect("body").expect("has a body");
                    check(&function);
                }
            }
        }
    });
}

#[test]
fn layouts() {
    with_class_libraries(|| {
        let guid = universe().corlib_type("System", "Guid").expect("Guid");
        let layout = native_layout(guid).expect("layout");
        assert!(layout.blittable);
        assert_eq!((layout.size_bytes, layout.align_bytes), (16, 4));
        let interlocked = universe().corlib_type("System", "Buffer").expect("Buffer");
        for method in interlocked.methods_named("Memmove").expect("methods") {
            let plan = method_plan(method).expect("plan");
            assert!(plan.params.iter().all(|p| p.action != MarshalAction::Helper || p.by_ref));
        }
    });
}
