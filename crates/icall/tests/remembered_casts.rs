//! What a class's vtable remembers of casts after a program has run in the first tier.

use saki_abi::vtable::VTable;
use saki_runtime::Vm;
use saki_runtime::vm::VmOptions;
use saki_types::universe;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;

const PROGRAM: &str = r#"
interface IFirst {}
interface ISecond {}
class Both : IFirst, ISecond {}

static class Program
{
    static readonly object[] objects = new object[1];

    static void Store (object[] to, object value)
    {
        to[0] = value;
    }

    static int Main ()
    {
        Store (objects, new Both ());
        return (objects[0] is IFirst ? 1 : 0) + (objects[0] is ISecond ? 2 : 0);
    }
}
"#;

/// A store into `object[]` asked for a cast to `object`, which took the place of one of the interfaces: the other ones
/// were found anew each time.
#[test]
fn stores_into_arrays_of_objects_take_no_place_among_remembered_casts() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join("remembered-casts.cs"), folder.join("remembered-casts.exe"));
    std::fs::write(&source, PROGRAM).expect("written");
    match Command::new("mcs").arg("-nologo").arg(format!("-out:{}", program.display())).arg(&source).status() {
        Ok(status) => assert!(status.success()),
        Err(error) => return eprintln!("skipped: mcs: {error}"),
    }
    // The machine asks for a larger stack than a test's thread has by default.
    let (tell, told) = channel();
    let host = std::thread::Builder::new().stack_size(8 << 20).spawn(move || {
        let _ = tell.send(run(&program));
    });
    host.expect("a thread");
    let (exit_code, [object, first, second]) = told.recv().expect("no panic");
    assert_eq!(exit_code, 3);
    assert_eq!((object, first, second), (None, Some(true), Some(true)));
}

/// The exit code, and what `Both` remembers of casts to `object` and to its interfaces.
fn run(program: &Path) -> (i32, [Option<bool>; 3]) {
    let options = VmOptions { tiers: "1".parse().expect("a tier"), ..VmOptions::default() };
    let machine = Vm::builder(saki_icall::upper_layers()).options(options).start().expect("a machine");
    let assembly = machine.load_program(program).expect("a program");
    let exit_code = machine.run(assembly, &[]);
    let find = |name: &str| assembly.image.find_type("", name).expect("it loads").expect("it is there");
    // Relaxed: the program has ended.
    let vtable = find("Both").runtime.vtable.load(Ordering::Relaxed) as *const VTable;
    // SAFETY: the vtable of a type of which there are objects; it lives as long as the process.
    let vtable = unsafe { vtable.as_ref() }.expect("a vtable");
    let types = [universe().object(), find("IFirst"), find("ISecond")];
    (exit_code, types.map(|ty| vtable.casts.find(std::ptr::from_ref(ty).cast())))
}
