//! The class library by namespace: `tests/realworld/namespaces/NAME.cs` under Saki and under Mono, compared check by
//! check.
//!
//! A program prints `[NAME OF CHECK]` before each check (`sweep.cs`, which is compiled into all of them). Lines
//! `// references: ASSEMBLY...` at its top name assemblies beside System and System.Core, `// waits: CHECK: REASON` a
//! check that is known to differ.
//! Invariant: a check counts as the same only if it was reached under both and all it printed is equal; one that is
//! marked as waiting and is the same makes the run fail, so that marks go when their reason does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::running::{ENVIRONMENT, last_words};
use crate::process::{self, Job, ProgramEnd};

const TIMEOUT: Duration = Duration::from_secs(300);

/// What the programs find on their standard input.
const STDIN: &[u8] = b"first\nsecond\n";

/// Names of differing checks in a remark; more are counted.
const MAX_NAMES: usize = 4;

/// The checks of one program, by their outcome.
pub struct Namespace {
    pub name: String,
    pub checks: usize,
    /// Checks that differ without being expected to.
    pub differs: Vec<String>,
    /// Checks that differ, with the reason.
    pub waits: Vec<(String, String)>,
    /// Why there is no result at all.
    pub skipped: Option<String>,
}

impl Namespace {
    fn skipped(name: String, reason: String) -> Namespace {
        Namespace { name, checks: 0, differs: Vec::new(), waits: Vec::new(), skipped: Some(reason) }
    }

    /// How many checks agree with Mono.
    pub fn same(&self) -> usize {
        self.checks - self.differs.len() - self.waits.len()
    }

    /// The namespace's state in a word, for the page.
    pub fn word(&self) -> &'static str {
        match (&self.skipped, self.same()) {
            (Some(_), _) => "not run",
            (None, same) if same == self.checks => "works",
            (None, 0) => "not",
            (None, _) => "partly",
        }
    }

    /// What differs, with the reasons.
    pub fn remark(&self) -> String {
        if let Some(reason) = &self.skipped {
            return reason.clone();
        }
        let mut parts: Vec<String> = self.waits.iter().map(|(check, reason)| format!("{check}: {reason}")).collect();
        if !self.differs.is_empty() {
            let shown = self.differs.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = self.differs.len().saturating_sub(MAX_NAMES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            parts.push(format!("differs: {shown}{more}"));
        }
        parts.join("; ")
    }

    /// The line that is printed.
    pub fn line(&self) -> String {
        let (word, remark) = (self.word(), self.remark());
        let remark = if remark.is_empty() { remark } else { format!(": {remark}") };
        format!(
            "{} {}: {word}, {} of {} checks{remark}",
            if self.differs.is_empty() { "ok  " } else { "FAIL" },
            self.name,
            self.same(),
            self.checks
        )
    }
}

/// The names of the programs in `folder`, sorted.
pub fn names(folder: &Path) -> Result<Vec<String>, String> {
    let error = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut names = Vec::new();
    for item in fs::read_dir(folder).map_err(error)? {
        let file = item.map_err(error)?.file_name().to_string_lossy().into_owned();
        if let Some(name) = file.strip_suffix(".cs").filter(|&name| name != "sweep") {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Compiles and runs one program under both. `output` is emptied.
pub fn check(folder: &Path, output: &Path, saki: &str, name: &str) -> Namespace {
    match try_check(folder, output, saki, name) {
        Ok(namespace) => namespace,
        Err(reason) => Namespace::skipped(name.to_owned(), reason),
    }
}

fn try_check(folder: &Path, output: &Path, saki: &str, name: &str) -> Result<Namespace, String> {
    let source = folder.join(format!("{name}.cs"));
    let text = fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()))?;
    // Absent at the first run.
    let _ = fs::remove_dir_all(output);
    fs::create_dir_all(output).map_err(|e| format!("{}: {e}", output.display()))?;
    // Not called as the namespace: the assembly would stand in for the class library's own.
    let program = output.join(format!("sweep-{name}.exe"));
    compile(&text, &source, folder, &program)?;
    let mono = run("mono", &program, output)?;
    let saki = run(saki, &program, output)?;
    Ok(compare(name, &text, &mono, &saki))
}

/// Lines `// KEY: VALUE` at the top of a program.
fn header<'a>(text: &'a str, key: &str) -> impl Iterator<Item = &'a str> {
    let prefix = format!("// {key}: ");
    text.lines().take_while(|line| line.starts_with("//")).filter_map(move |line| line.strip_prefix(&prefix))
}

fn compile(text: &str, source: &Path, folder: &Path, program: &Path) -> Result<(), String> {
    let mut argv: Vec<String> =
        ["mcs", "-nologo", "-unsafe", "-nowarn:0169,0219,0168,0414,0618,0649", "-r:System", "-r:System.Core"]
            .map(str::to_owned)
            .to_vec();
    argv.extend(header(text, "references").flat_map(str::split_whitespace).map(|assembly| format!("-r:{assembly}")));
    argv.push(format!("-out:{}", program.display()));
    argv.extend([source.to_path_buf(), folder.join("sweep.cs")].iter().map(|p: &PathBuf| p.display().to_string()));
    let job = Job { argv: &argv, directory: folder, environment: &[], stdin: &[], timeout: TIMEOUT };
    let finished = process::run(&job)?;
    if finished.end == ProgramEnd::Exit(0) { Ok(()) } else { Err(format!("mcs: {}", last_words(&finished))) }
}

/// What a program printed, by check. The end of the program is a check of its own.
fn run(vm: &str, program: &Path, output: &Path) -> Result<BTreeMap<String, String>, String> {
    let directory = output.join("run");
    // Absent at the first run.
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut argv: Vec<String> = vm.split(' ').map(str::to_owned).collect();
    argv.push(program.display().to_string());
    let environment = ENVIRONMENT.map(|(k, v)| (k.to_owned(), v.to_owned()));
    let job = Job { argv: &argv, directory: &directory, environment: &environment, stdin: STDIN, timeout: TIMEOUT };
    let finished = process::run(&job)?;
    let mut checks = split(&String::from_utf8_lossy(&finished.stdout));
    checks.insert("ProgramEnd of the program".to_owned(), finished.end.to_string());
    Ok(checks)
}

fn split(stdout: &str) -> BTreeMap<String, String> {
    let mut checks: BTreeMap<String, String> = BTreeMap::new();
    let mut current = String::from("Start of the program");
    for line in stdout.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut current);
            checks.entry(current.clone()).or_default();
        } else {
            let printed = checks.entry(current.clone()).or_default();
            printed.push_str(line);
            printed.push('\n');
        }
    }
    checks
}

fn compare(name: &str, text: &str, mono: &BTreeMap<String, String>, saki: &BTreeMap<String, String>) -> Namespace {
    let reasons: BTreeMap<&str, &str> = header(text, "waits").filter_map(|line| line.split_once(": ")).collect();
    let mut namespace =
        Namespace { name: name.to_owned(), checks: mono.len(), differs: Vec::new(), waits: Vec::new(), skipped: None };
    for (check, printed) in mono {
        let same = saki.get(check) == Some(printed);
        match (same, reasons.get(check.as_str())) {
            (true, None) => {}
            (true, Some(_)) => namespace.differs.push(format!("{check} (is the same now; remove its `waits`)")),
            (false, Some(reason)) => namespace.waits.push((check.clone(), (*reason).to_owned())),
            (false, None) => namespace.differs.push(check.clone()),
        }
    }
    namespace
}

#[cfg(test)]
mod tests {
    use super::{compare, header, split};

    const PROGRAM: &str =
        "// About.\n// references: A B\n// waits: two: not there yet\nusing System;\n// references: C\n";

    #[test]
    fn a_header_ends_with_the_comment() {
        assert_eq!(header(PROGRAM, "references").collect::<Vec<_>>(), ["A B"]);
    }

    #[test]
    fn checks_are_compared_one_by_one() {
        let mono = split("[one]\n1\n[two]\n2\n[three]\n");
        let saki = split("[one]\n1\n[two]\n!\n");
        let result = compare("N", PROGRAM, &mono, &saki);
        assert_eq!((result.checks, result.same(), result.word()), (3, 1, "partly"));
        assert_eq!(result.differs, ["three"]);
        assert_eq!(result.waits, [("two".to_owned(), "not there yet".to_owned())]);
    }

    #[test]
    fn a_mark_without_its_difference_is_an_error() {
        let checks = split("[two]\n2\n");
        assert_eq!(compare("N", PROGRAM, &checks, &checks).differs.len(), 1);
    }
}
