//! `cargo xtask filetests`: CIL in, IR and machine code out.
//!
//! `tests/filetests/NAME.il` is assembled with `ilasm`; what `saki --compile-only` prints of the methods named in its
//! header must equal the files beside it. The header is the run of `// key: value` lines at the top:
//!
//! - `method: Namespace.Type:Method`, once for each method;
//! - `check: ir | clif | disasm`, once for each form; the text is in `NAME.ir`, `NAME.clif`, `NAME.disasm`.
//!
//! All but `ir` depend on the processor: these files are for x86-64, and those for another have its name before the
//! form (`NAME.aarch64.disasm`). `--architecture` says what the given `saki` is made for, where that is not what the
//! tests run on. Left out: running the code, which is what `programs` does.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::Regex;

use crate::process::{self, Job, ProgramEnd};
use crate::programs::diff::diff;
use crate::tool::Outcome;

/// The processor whose name no expected file has.
const FIRST_ARCHITECTURE: &str = "x86_64";
const FORMS: [&str; 3] = ["ir", "clif", "disasm"];
const TIMEOUT: Duration = Duration::from_secs(60);
const MAX_DIFF_LINES: usize = 60;

#[derive(clap::Args)]
pub struct Options {
    /// Saki's command (default: target/release/saki).
    #[arg(long)]
    saki: Option<String>,
    /// Run only the tests whose name matches this regular expression.
    #[arg(long, value_name = "RE")]
    filter: Option<Regex>,
    /// IL assembler command.
    #[arg(long, default_value = "ilasm")]
    ilasm: String,
    /// What `saki` compiles for.
    #[arg(long, value_name = "NAME", default_value = std::env::consts::ARCH)]
    architecture: String,
    /// Write the expected files from this run's output. Read the difference before you keep it.
    #[arg(long)]
    bless: bool,
}

/// One `.il` file.
struct FileTest {
    name: String,
    source: PathBuf,
    methods: Vec<String>,
    forms: Vec<&'static str>,
}

/// Runs the chosen tests and prints the report. Errors: an unreadable folder or a bad header.
pub fn run(root: &Path, options: &Options) -> Outcome {
    let mut tests = discover(&root.join("tests/filetests"))?;
    if let Some(filter) = &options.filter {
        tests.retain(|test| filter.is_match(&test.name));
    }
    let saki = crate::tool::runtime_command(root, options.saki.as_deref())?;
    let output = root.join("target/filetests");
    fs::create_dir_all(&output).map_err(|e| format!("{}: {e}", output.display()))?;
    let mut failed = Vec::new();
    for test in &tests {
        if let Err(report) = check(test, &saki, &output, options) {
            println!("FAIL {}: {}", test.name, report.trim_end());
            failed.push(test.name.as_str());
        }
    }
    if !failed.is_empty() {
        println!("failed: {}", failed.join(" "));
    }
    println!("filetests: {} passed, {} failed", tests.len() - failed.len(), failed.len());
    Ok(failed.is_empty() && !tests.is_empty())
}

/// The tests in `folder`, sorted by name.
fn discover(folder: &Path) -> Result<Vec<FileTest>, String> {
    let mut tests = Vec::new();
    for entry in fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let source = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
        if source.extension().is_none_or(|e| e != "il") {
            continue;
        }
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()))?;
        let (methods, forms) = parse_header(&text).map_err(|e| format!("{}: {e}", source.display()))?;
        tests.push(FileTest { name, source, methods, forms });
    }
    tests.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(tests)
}

/// Methods and forms. Errors: an unknown key or form, or none of either.
fn parse_header(text: &str) -> Result<(Vec<String>, Vec<&'static str>), String> {
    let (mut methods, mut forms) = (Vec::new(), Vec::new());
    // The header ends at a line that is no `// key: value`.
    for line in text.lines().map_while(|line| line.strip_prefix("// ")) {
        match line.split_once(": ") {
            Some(("method", name)) => methods.push(name.trim().to_owned()),
            Some(("check", form)) => {
                let known = FORMS.into_iter().find(|known| *known == form.trim());
                forms.push(known.ok_or_else(|| format!("unknown form {form}; there are {}", FORMS.join(", ")))?);
            }
            _ => return Err(format!("header line without method or check: {line}")),
        }
    }
    if methods.is_empty() || forms.is_empty() {
        return Err("the header names no method or no form".to_owned());
    }
    Ok((methods, forms))
}

fn check(test: &FileTest, saki: &[String], output: &Path, options: &Options) -> Result<(), String> {
    let library = output.join(format!("{}.dll", test.name));
    assemble(test, &library, options)?;
    let mut report = String::new();
    for form in &test.forms {
        let mut argv = saki.to_vec();
        argv.extend(test.methods.iter().flat_map(|method| ["--compile-only".to_owned(), method.clone()]));
        argv.extend(["--emit".to_owned(), (*form).to_owned(), library.display().to_string()]);
        // String literals are named by the image that holds them.
        let actual = execute(&argv, output)?.replace(&library.display().to_string(), &test.name);
        let path = test.source.with_extension(extension(form, &options.architecture));
        if options.bless {
            fs::write(&path, &actual).map_err(|e| format!("{}: {e}", path.display()))?;
            continue;
        }
        match fs::read_to_string(&path) {
            Ok(expected) if expected == actual => {}
            Ok(expected) => {
                let changes = diff(&expected, &actual, MAX_DIFF_LINES);
                report.push_str(&format!("{form} differs (- expected, + actual)\n{changes}"));
            }
            Err(error) => report.push_str(&format!("{}: {error}; --bless writes it\n", path.display())),
        }
    }
    if report.is_empty() { Ok(()) } else { Err(report) }
}

/// Of the expected file.
fn extension(form: &str, architecture: &str) -> String {
    if form == "ir" || architecture == FIRST_ARCHITECTURE { form.to_owned() } else { format!("{architecture}.{form}") }
}

fn assemble(test: &FileTest, library: &Path, options: &Options) -> Result<(), String> {
    let mut argv: Vec<String> = options.ilasm.split_whitespace().map(str::to_owned).collect();
    argv.extend(["/quiet".to_owned(), "/dll".to_owned(), format!("/output:{}", library.display())]);
    argv.push(test.source.display().to_string());
    execute(&argv, Path::new("/")).map(drop)
}

/// Standard output of a command that must succeed. Errors: how it ended and what it said.
fn execute(argv: &[String], directory: &Path) -> Result<String, String> {
    let done = process::run(&Job { argv, directory, environment: &[], stdin: &[], timeout: TIMEOUT })?;
    let stdout = String::from_utf8_lossy(&done.stdout).into_owned();
    if done.end == ProgramEnd::Exit(0) {
        return Ok(stdout);
    }
    let stderr = String::from_utf8_lossy(&done.stderr);
    Err(format!("{}: {}\n{stdout}{stderr}", argv.first().map_or("", String::as_str), done.end))
}

#[cfg(test)]
mod tests {
    use super::{extension, parse_header};

    #[test]
    fn processors_have_their_own_files() {
        assert_eq!(extension("disasm", "x86_64"), "disasm");
        assert_eq!(extension("ir", "aarch64"), "ir");
        assert_eq!(extension("disasm", "aarch64"), "aarch64.disasm");
    }

    #[test]
    fn headers() {
        let header = "// method: Test:A\n// method: Test:B\n// check: ir\n// check: disasm\n//\n// Why: because.\n";
        let expected = (vec!["Test:A".to_owned(), "Test:B".to_owned()], vec!["ir", "disasm"]);
        assert_eq!(parse_header(header), Ok(expected));
        for bad in ["", "// method: Test:A\n", "// check: ir\n", "// method: A\n// check: asm\n", "// note: x\n"] {
            assert!(parse_header(bad).is_err(), "{bad:?}");
        }
    }
}
