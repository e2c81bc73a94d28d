//! Assemblies that were patched in place or exchanged: code compiled from what they held before must not run.
//!
//! Every patch keeps the file's length, its MVID and its time of modification. Each test first makes sure that the
//! second run takes its code from the cache, so that no test passes because no code could go stale.

use super::{FEW, Setup};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;

/// Replaces every `old` in the file by `new`, of the same length, in place; the file's times of access and modification
/// stay.
fn patch(path: &Path, old: &[u8], new: &[u8]) {
    assert_eq!(old.len(), new.len());
    let bytes = std::fs::read(path).expect("an assembly");
    let status = std::fs::metadata(path).expect("an assembly");
    let mut file = std::fs::File::options().write(true).open(path).expect("an assembly");
    let places: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(old)).collect();
    assert!(!places.is_empty(), "{}: nothing to patch", path.display());
    for at in places {
        file.seek(SeekFrom::Start(at as u64)).expect("a place in the file");
        file.write_all(new).expect("a patched assembly");
    }
    let times = std::fs::FileTimes::new();
    let times = times.set_accessed(status.accessed().expect("a time")).set_modified(status.modified().expect("a time"));
    file.set_times(times).expect("the old times");
    let after = std::fs::metadata(path).expect("an assembly");
    assert_eq!((after.len(), after.modified().ok()), (status.len(), status.modified().ok()));
}

/// Runs until the code comes from the cache, then makes the change, and runs again.
fn check(setup: &Setup, before: &str, change: impl Fn(), after: &str) {
    assert_eq!(setup.run(&[]).output, before);
    let second = setup.run(&[]);
    assert_eq!(second.output, before);
    assert!(second.found > 50 && second.compiled <= FEW, "{} found, {} compiled", second.found, second.compiled);
    change();
    assert_eq!(setup.run(&[]).output, after);
    assert_eq!(setup.run(&[]).output, after);
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn a_constant_patched_in_il() {
    const MAIN: &str = "class Program { static int Number() { return 1122334455; }
        static void Main() { System.Console.WriteLine(Number()); } }";
    let Some(setup) = Setup::of("patched-il", MAIN) else { return };
    let change = || patch(&setup.program, &1_122_334_455u32.to_le_bytes(), &1_122_334_456u32.to_le_bytes());
    check(&setup, "1122334455\n", change, "1122334456\n");
}

#[test]
fn a_patched_string_literal() {
    const MAIN: &str = "class Program { static void Main() {
        System.Console.WriteLine(\"the old text\" + \"the old text\".Length); } }";
    let Some(setup) = Setup::of("patched-string", MAIN) else { return };
    let change = || patch(&setup.program, &utf16("the old text"), &utf16("the new text"));
    check(&setup, "the old text12\n", change, "the new text12\n");
}

#[test]
fn patched_array_data() {
    const MAIN: &str = "class Program { static void Main() {
        int[] all = { 101, 102, 103, 104, 105, 106 }; int sum = 0; foreach (int n in all) sum += n; System.Console.WriteLine(sum); } }";
    let Some(setup) = Setup::of("patched-data", MAIN) else { return };
    let data = |last: u32| [104, 105, last].iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    check(&setup, "621\n", || patch(&setup.program, &data(106), &data(116)), "631\n");
}

#[test]
fn a_patched_constant_of_metadata() {
    const MAIN: &str = "enum Kind { Only = 1122334455 }
        class Program { public const int Number = 1020304050; static void Default(int n = 1213141516) {}
        static void Main() { System.Console.WriteLine(typeof(Program).GetField(\"Number\").GetRawConstantValue() + \" \"
            + (int)System.Enum.Parse(typeof(Kind), \"Only\") + \" \" + System.Delegate.CreateDelegate(typeof(System.Action<int>),
            typeof(Program), \"Default\").Method.GetParameters()[0].DefaultValue); } }";
    let Some(setup) = Setup::of("patched-constant", MAIN) else { return };
    let change = || {
        for number in [1_122_334_455u32, 1_020_304_050, 1_213_141_516] {
            patch(&setup.program, &number.to_le_bytes(), &(number + 1).to_le_bytes());
        }
    };
    check(&setup, "1020304050 1122334455 1213141516\n", change, "1020304051 1122334456 1213141517\n");
}

#[test]
fn a_patched_body_that_another_module_inlined() {
    let Some(setup) = Setup::of("patched-library", "class Program { static void Main() {} }") else { return };
    setup.compile_part(
        "library",
        "public class Library { public static int Number { get { return 1122334455; } } }",
        &[],
    );
    const USER: &str = "class Program { static void Main() { System.Console.WriteLine(Library.Number); } }";
    setup.compile_part("user", USER, &["-target:exe", "-out:program.exe", "-r:library.dll"]);
    let library = setup.folder.join("library.dll");
    let change = || patch(&library, &1_122_334_455u32.to_le_bytes(), &1_122_334_456u32.to_le_bytes());
    check(&setup, "1122334455\n", change, "1122334456\n");
}

/// The program writes into its own file before a method of it is compiled, as an updater may. The file gets its old
/// contents back: what was compiled in between belongs to contents that no file has.
#[test]
fn a_program_patched_while_it_runs() {
    const MAIN: &str = "using System; using System.IO;
        class Program { static int Number() { return 1122334455; }
        static void Main(string[] args) {
            var file = typeof(Program).Assembly.Location; Console.Write(\"\");
            if (File.Exists(\"patch-yourself\")) {
                var bytes = File.ReadAllBytes(file); var old = new byte[] { 0xf7, 0x76, 0xe5, 0x42 };
                Console.Write(BitConverter.ToInt32(old, 0) + \" \");
                for (int i = 0; i < bytes.Length - 4; i++)
                    if (bytes[i] == old[0] && bytes[i + 1] == old[1] && bytes[i + 2] == old[2] && bytes[i + 3] == old[3] && bytes[i - 1] == 0x20)
                        using (var stream = new FileStream(file, FileMode.Open, FileAccess.Write, FileShare.ReadWrite)) {
                            stream.Position = i; stream.WriteByte(0xf8); }
            }
            Console.WriteLine(Late()); }
        static int Late() { try { return Number(); } finally { Console.Write(\"\"); } } }";
    let Some(setup) = Setup::of("patched-running", MAIN) else { return };
    let original = std::fs::read(&setup.program).expect("the program");
    let flag = setup.folder.join("patch-yourself");
    std::fs::write(&flag, "").expect("a file");
    assert_eq!(setup.run(&[]).output, "1122334455 1122334456\n");
    std::fs::write(&setup.program, &original).expect("the program");
    std::fs::remove_file(&flag).expect("a file");
    assert_eq!(setup.run(&[]).output, "1122334455\n");
}

/// The cast's outcome is known to the compiler, by way of an interface that no token of the method names. (The C#
/// compiler writes down all interfaces that it sees: the program is older than the library.)
#[test]
fn an_interface_behind_an_interface_is_a_dependency() {
    let Some(setup) = Setup::of("interfaces", "class Program { static void Main() {} }") else { return };
    setup.compile_part("base", "public interface IBase {}", &[]);
    setup.compile_part("near", "public interface INear {}", &[]);
    // When `Is` is compiled the interfaces are known already, from another method.
    const USER: &str = "struct Thing : INear {} class Program {
        static bool Early<T>(T thing) { try { return thing is System.IFormattable; } finally { System.Console.Write(\"\"); } }
        static bool Is<T>(T thing) { try { return thing is IBase; } finally { System.Console.Write(\"\"); } }
        static void Main() { Early(new Thing()); System.Console.WriteLine(Is(new Thing())); } }";
    setup.compile_part("user", USER, &["-target:exe", "-out:program.exe", "-r:base.dll", "-r:near.dll"]);
    let near = |text: &str| setup.compile_part("near", text, &["-r:base.dll"]);
    near("public interface INear : IBase {}");
    check(&setup, "True\n", || near("public interface INear {}"), "False\n");
}

/// The program refers to both libraries itself; which of them a name leads to is the facade's to say.
#[test]
fn a_type_forwarder_is_a_dependency() {
    let Some(setup) = Setup::of("forwarder", "class Program { static void Main() {} }") else { return };
    let moved =
        |number: i32| format!("public class Moved {{ public static int Number {{ get {{ return {number}; }} }} }}");
    setup.compile_part("first", &format!("{} public class First {{ public int X; }}", moved(1)), &[]);
    setup.compile_part("second", &format!("{} public class Second {{ public int X; }}", moved(2)), &[]);
    setup.compile_part("facade", &moved(0), &[]);
    const USER: &str = "class Program { static void Main() { System.Console.WriteLine(Moved.Number + new First().X + new Second().X); } }";
    let references = ["-r:facade.dll", "-r:a=first.dll", "-r:b=second.dll"];
    let user = format!("extern alias a; extern alias b; using First = a::First; using Second = b::Second; {USER}");
    setup.compile_part("user", &user, &[["-target:exe", "-out:program.exe"].as_slice(), &references].concat());
    const FACADE: &str = "[assembly: System.Runtime.CompilerServices.TypeForwardedTo(typeof(Moved))]";
    let facade = |to: &str| setup.compile_part("facade", FACADE, &[&format!("-r:{to}.dll")]);
    facade("first");
    check(&setup, "1\n", || facade("second"), "2\n");
}

/// A large assembly that nobody has changed for a minute is hashed once. One that was touched is hashed anew, whatever
/// its times say.
#[test]
fn large_files_are_hashed_once() {
    let Some(setup) = Setup::of("hashed", "class Program { static void Main() {} }") else { return };
    let first = setup.run(&[]);
    assert!(first.hashed >= 2 && first.remembered == 0, "{} hashed, {} remembered", first.hashed, first.remembered);
    let second = setup.run(&[]);
    // mscorlib was installed long ago; the program is small.
    assert_eq!((second.hashed, second.remembered), (first.hashed - 1, 1));
    let framework = setup.folder.join("framework");
    std::fs::create_dir_all(framework.join("4.5")).expect("a folder");
    // With its times, but for that of change.
    let mut copy = Command::new("cp");
    copy.args(["-aL", "/usr/lib/mono/4.5/mscorlib.dll"]).arg(framework.join("4.5"));
    assert!(copy.status().expect("cp runs").success());
    for _ in 0..2 {
        let run = setup.run(&["--framework", framework.to_str().expect("a text")]);
        assert_eq!(
            (run.hashed, run.remembered),
            (first.hashed, 0),
            "a file changed a moment ago was taken for settled"
        );
    }
}

/// The program stays as it is, and so do both libraries; its configuration says which of them it is bound to.
#[test]
fn a_configuration_that_leads_to_another_library() {
    let Some(setup) = Setup::of("configuration", "class Program { static void Main() {} }") else { return };
    let library = |number: u32| {
        let text = format!("public class Library {{ public static int Number {{ get {{ return {number}; }} }} }}");
        setup.compile_part("library", &text, &[]);
        let folder = setup.folder.join(format!("version{number}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::copy(setup.folder.join("library.dll"), folder.join("library.dll")).expect("a library");
    };
    library(1);
    library(2);
    const USER: &str = "class Program { static void Main() { System.Console.WriteLine(Library.Number); } }";
    setup.compile_part("user", USER, &["-target:exe", "-out:program.exe", "-r:library.dll"]);
    std::fs::remove_file(setup.folder.join("library.dll")).expect("a library");
    let configure = |folder: &str| {
        let text = format!(
            "<configuration><runtime><assemblyBinding xmlns='urn:schemas-microsoft-com:asm.v1'>
            <probing privatePath='{folder}' /></assemblyBinding></runtime></configuration>"
        );
        std::fs::write(setup.folder.join("program.exe.config"), text).expect("a configuration");
    };
    configure("version1");
    check(&setup, "1\n", || configure("version2"), "2\n");
}
