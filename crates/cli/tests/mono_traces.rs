//! `--trace` and `--profile=coverage`, which Mono has: as `saki` and by the name `mono`, in all thread modes. Needs
//! `mcs`.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use support::{Outcome, compile_with, folder, run};

const MODES: [&str; 3] = ["native", "green", "mn:2"];
const OUTPUT: &str = "4\nn7\n2\n4\n5\nno good\n";

/// The program with symbols; None without a compiler.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        let program = folder("mono-traces").join("program.exe");
        compile_with(&["-debug", "-optimize-", "-r:System.Numerics.dll"], "mono_traces/program.cs", &program)
            .then_some(program)
    };
    PROGRAM.get_or_init(compile).as_deref()
}

fn saki(mode: &str, option: &str, program: &Path) -> Outcome {
    // The class library throws and catches an exception for a locale without culture.
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    run(command.env("LC_ALL", "en_US.UTF-8").args([&format!("--threads={mode}"), option]).arg(program))
}

/// Lines of a trace without thread and time, and what the program printed.
fn split(stdout: &str) -> (Vec<String>, String) {
    let (mut lines, mut output) = (Vec::new(), String::new());
    for line in stdout.lines() {
        match line.strip_prefix("[0x").and_then(|rest| rest.split_once("] ")) {
            Some((head, text)) if !head.ends_with(':') && !text.starts_with("EXCEPTION") => {
                let depth = head.rsplit(' ').next().expect("a depth");
                lines.push(format!("{depth} {text}"));
            }
            _ => output += &format!("{line}\n"),
        }
    }
    (lines, output)
}

/// Whether the line begins and ends so.
fn is_like(line: &str, begin: &str, end: &str) -> bool {
    line.starts_with(begin) && line.ends_with(end)
}

#[test]
fn traces_have_monos_lines_with_arguments_and_results() {
    let Some(program) = program() else { return };
    for mode in MODES {
        let done = saki(mode, "--trace=program", program);
        assert_eq!(done.exit_code, Some(0), "{mode}: {}", done.stderr);
        let (lines, output) = split(&done.stdout);
        // The number in front of the exception is the thread's.
        let thrown = "[0x1:] EXCEPTION handling: System.ArgumentException: no good\n";
        let caught = "EXCEPTION: catch found at clause 0 of Traced.Program:Main (string[])\n";
        assert!(output.contains(&format!("{thrown}{caught}")), "{mode}: {output}");
        assert_eq!(output.replace(thrown, "").replace(caught, ""), OUTPUT, "{mode}");
        let expected = [
            ("0 ENTER: Traced.Program:Main (string[])([System.String[]:[0]0x", "])"),
            ("1 ENTER: Traced.Shape:.ctor (int)(this:0x", "[Traced.Shape program.exe], 3)"),
            ("1 LEAVE: Traced.Shape:.ctor (int)", ""),
            ("1 ENTER: Traced.Shape:Area (double)(this:0x", "[Traced.Shape program.exe], 1.500000)"),
            ("1 LEAVE: Traced.Shape:Area (double)", "lresult=0x               4"),
            ("1 ENTER: Traced.Shape:Name (string,object,int&)([STRING:0x", "])"),
            ("1 LEAVE: Traced.Shape:Name (string,object,int&)[STRING:0x", ":n7]"),
            ("1 ENTER: Traced.Shape:Swap (Traced.Pair)", "([01,00,00,00,02,00,00,00,])"),
            ("1 LEAVE: Traced.Shape:Swap (Traced.Pair)", "[02,00,00,00,01,00,00,00,]"),
            ("1 ENTER: Traced.Shape:Scale (System.Numerics.Vector4,single)([00,00,80,3f,00,00,00,40,", ", 2.000000)"),
            ("1 LEAVE: Traced.Shape:Scale (System.Numerics.Vector4,single)[00,00,00,40,00,00,80,40,", "]"),
            ("1 ENTER: (wrapper managed-to-native) Traced.Native:abs (int)(-5)", ""),
            ("1 LEAVE: (wrapper managed-to-native) Traced.Native:abs (int)result=5", ""),
            ("1 ENTER: Traced.Shape:Fail (bool)(1)", ""),
            ("1 ENTER: Traced.Shape:Never (int)(2)", ""),
            ("1 LEAVE: Traced.Shape:Never (int)result=4", ""),
            ("0 LEAVE: Traced.Program:Main (string[])result=0", ""),
        ];
        assert_eq!(lines.len(), expected.len(), "{mode}: {lines:#?}");
        for (line, (begin, end)) in lines.iter().zip(expected) {
            assert!(is_like(line, begin, end), "{mode}: {line}\n{begin} ... {end}");
        }
    }
}

#[test]
fn traces_take_monos_expressions() {
    let Some(program) = program() else { return };
    let lines = |expression: &str| {
        let done = saki("native", expression, program);
        assert_eq!(done.exit_code, Some(0), "{expression}: {}", done.stderr);
        (split(&done.stdout).0, done.stdout)
    };
    let (found, _) = lines("--trace=M:Traced.Shape:Area");
    assert_eq!(found.len(), 2, "{found:?}");
    let (found, _) = lines("--trace=T:Traced.Shape,-M:Traced.Shape:Area,-M:*:Fail");
    assert_eq!(found.len(), 10, "{found:?}");
    let (found, _) = lines("--trace=N:Traced,-program");
    assert_eq!(found.len(), 0, "{found:?}");
    let (found, _) = lines("--trace=wrapper,-mscorlib");
    assert!(
        found.iter().any(|line| line.ends_with("ENTER: (wrapper managed-to-native) Traced.Native:abs (int)(-5)")),
        "{found:?}"
    );
    assert!(
        found.iter().any(|line| line.ends_with("LEAVE: (wrapper managed-to-native) Traced.Native:abs (int)result=5")),
        "{found:?}"
    );
    let (found, out) = lines("--trace=E:ArgumentException,M:*:Main");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(out.contains(":] EXCEPTION handling: System.ArgumentException: no good\n   at Traced.Shape:Fail"), "{out}");
    assert!(out.contains("EXCEPTION: catch found at clause 0 of Traced.Program:Main (string[])\n"), "{out}");
    let (found, out) = lines("--trace=disabled");
    assert!(found.is_empty() && out == OUTPUT, "{out}");
    let (found, _) = lines("--trace");
    assert!(
        found.iter().any(|line| line.contains("ENTER: System.Console:WriteLine (string)")),
        "{} lines",
        found.len()
    );
    let refused = saki("native", "--trace=Q:x", program);
    assert!(
        refused.exit_code == Some(2) && refused.stderr.contains("Syntax error at or around 'Q:x'"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_tail_call_ends_its_caller_without_a_result() {
    let program = folder("mono-traces-tail").join("tail.exe");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mono_traces/tail.il");
    let output = format!("/output:{}", program.display());
    match Command::new("ilasm").args(["/quiet", &output]).arg(source).output() {
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout)),
        Err(error) => return eprintln!("skipped: ilasm: {error}"),
    }
    for mode in MODES {
        let done = saki(mode, "--trace=program", &program);
        assert_eq!(done.exit_code, Some(0), "{mode}: {}", done.stderr);
        let (lines, output) = split(&done.stdout);
        assert_eq!(output, "end\n", "{mode}");
        let expected = [
            ("0 ENTER: Tail:Main ()()", ""),
            ("1 ENTER: Tail:Outer (string)([STRING:0x", ":end])"),
            ("1 LEAVE: Tail:Outer (string)", "Tail:Outer (string)"),
            ("1 ENTER: Tail:Inner (string)([STRING:0x", ":end])"),
            ("1 LEAVE: Tail:Inner (string)[STRING:0x", ":end]"),
            ("0 LEAVE: Tail:Main ()", "Tail:Main ()"),
        ];
        assert_eq!(lines.len(), expected.len(), "{mode}: {lines:#?}");
        for (line, (begin, end)) in lines.iter().zip(expected) {
            assert!(is_like(line, begin, end), "{mode}: {line}\n{begin} ... {end}");
        }
    }
}

#[test]
fn mono_traces_by_its_own_name() {
    let Some(program) = program() else { return };
    let link = folder("mono-traces-name").join("mono");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_saki"), &link).unwrap();
    let done = run(Command::new(&link).arg("--trace=M:Traced.Shape:Area").arg(program));
    assert_eq!((done.exit_code, split(&done.stdout).0.len()), (Some(0), 2), "{}", done.stderr);
    let done = run(Command::new(&link).arg("--help-trace"));
    assert!(done.exit_code == Some(0) && done.stdout.contains("M:Type:Method"), "{}", done.stdout);
}

/// The attribute of the first element that contains all these texts.
fn attribute(document: &str, element: &[&str], name: &str) -> String {
    let line = document.lines().find(|line| element.iter().all(|part| line.contains(part)));
    let line = line.unwrap_or_else(|| panic!("no {element:?} in\n{document}"));
    let value = line.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
    value.unwrap_or_else(|| panic!("no {name} in {line}")).0.to_owned()
}

/// Counters of the method's statements by their lines.
fn statements(document: &str, method: &str) -> Vec<(u32, u32)> {
    let (_, rest) =
        document.split_once(&format!("name=\"{method}\"")).unwrap_or_else(|| panic!("no {method} in\n{document}"));
    let lines = rest.lines().skip(1).take_while(|line| line.starts_with("\t\t<statement "));
    let number = |line: &str, name: &str| attribute(line, &["<statement"], name).parse().expect("a number");
    lines.map(|line| (number(line, "line"), number(line, "counter"))).collect()
}

#[test]
fn coverage_says_which_statements_were_reached() {
    let Some(program) = program() else { return };
    let folder = folder("coverage");
    for mode in MODES {
        let file = folder.join(format!("{}.xml", mode.replace(':', "-")));
        let done = saki(mode, &format!("--profile=coverage:output={}", file.display()), program);
        assert_eq!((done.exit_code, &*done.stdout), (Some(0), OUTPUT), "{mode}: {}", done.stderr);
        let document = std::fs::read_to_string(&file).expect("a document");
        assert!(
            document.starts_with("<?xml version=\"1.0\"?>\n<coverage version=\"0.3\">\n\t<assembly name=\"program\""),
            "{document}"
        );
        assert!(document.ends_with("\t</method>\n</coverage>\n"), "{document}");
        assert!(!document.contains("mscorlib"), "{document}");
        let reached = statements(&document, "Never (int)");
        assert_eq!(
            reached.iter().filter(|(line, _)| *line == 21).map(|(_, counter)| *counter).collect::<Vec<_>>(),
            [1],
            "{reached:?}"
        );
        assert_eq!(
            reached.iter().filter(|(line, _)| *line == 22).map(|(_, counter)| *counter).collect::<Vec<_>>(),
            [1],
            "{reached:?}"
        );
        assert_eq!(
            reached.iter().filter(|(line, _)| *line == 23).map(|(_, counter)| *counter).collect::<Vec<_>>(),
            [0],
            "{reached:?}"
        );
        let main = statements(&document, "Main (string[])");
        assert!(main.iter().all(|(line, counter)| *counter == 1 || *line >= 46) && main.len() > 20, "{main:?}");
        let class = ["<class ", "name=\"Traced.Shape\""];
        assert_eq!(attribute(&document, &class, "method-count"), "7");
        assert_eq!(
            (attribute(&document, &class, "full"), attribute(&document, &class, "partial")),
            ("5".into(), "2".into())
        );
        assert!(attribute(&document, &["<method ", "Never (int)"], "filename").ends_with("program.cs"));
    }
}

#[test]
fn coverage_has_filters_and_covers_the_class_library_only_if_one_names_it() {
    let Some(program) = program() else { return };
    let folder = folder("coverage-filters");
    let document = |filters: &str| {
        let (list, file) = (folder.join("filters"), folder.join("out.xml"));
        std::fs::write(&list, filters).unwrap();
        let option = format!("--profile=coverage:covfilter-file={},output={}", list.display(), file.display());
        let done = saki("native", &option, program);
        assert_eq!((done.exit_code, &*done.stdout), (Some(0), OUTPUT), "{}", done.stderr);
        std::fs::read_to_string(&file).expect("a document")
    };
    let of_shape = document("+[program]Traced.Shape\n");
    assert!(of_shape.contains("<class name=\"Traced.Shape\"") && !of_shape.contains("Traced.Program"), "{of_shape}");
    let without = document("-Traced.Shape\n");
    assert!(!without.contains("Traced.Shape") && without.contains("<class name=\"Traced.Program\""), "{without}");
    let of_library = document("+[mscorlib]System.Console\n");
    assert!(of_library.contains("<assembly name=\"mscorlib\""), "{of_library}");
}
