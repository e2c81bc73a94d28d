//! Loading and compiling mutants without running them: `saki --check-mutants`, which forks a child for each.

use super::fault::Fault;
use super::mutator::Original;
use super::settings::Settings;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What `check` found in the mutants of one program.
#[derive(Default)]
pub struct Checked {
    pub mutant_count: u64,
    pub faults: Vec<Fault>,
}

/// Checks mutants `indices` of a program, whose file is `executable`. Errors: the checker does not start.
pub fn check(
    settings: &Settings,
    original: &Original,
    executable: &Path,
    indices: std::ops::Range<u64>,
) -> Result<Checked, String> {
    let scratch = settings.scratch.join(original.name.replace('/', "+"));
    fs::create_dir_all(&scratch).map_err(|e| format!("{}: {e}", scratch.display()))?;
    let mut checked = Checked::default();
    let mut server = Server::start(settings, executable, &scratch)?;
    let mutant_path = scratch.join(executable.file_name().unwrap_or_default());
    for index in indices {
        let mutant = settings.mutant(original, index);
        // A new file each time: one that is mapped must not change.
        let _ = fs::remove_file(&mutant_path);
        fs::write(&mutant_path, &mutant.bytes).map_err(|e| format!("{}: {e}", mutant_path.display()))?;
        let end = server.ask(&mutant_path);
        checked.mutant_count += 1;
        if end.as_deref() == Some("exit 0") {
            continue;
        }
        let messages = server.new_messages();
        let what = match end.as_deref() {
            Some("signal 27" | "signal 14") => "hang".to_owned(),
            Some(end) => end.to_owned(),
            None => "the checker itself ended".to_owned(),
        };
        checked.faults.push(Fault::new(original, index, "check", &what, &messages, mutant));
        if end.is_none() {
            server = Server::start(settings, executable, &scratch)?;
        }
    }
    server.stop();
    let _ = fs::remove_dir_all(&scratch);
    Ok(checked)
}

/// A running `saki --check-mutants`.
struct Server {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
    messages: fs::File,
}

impl Server {
    fn start(settings: &Settings, executable: &Path, scratch: &Path) -> Result<Server, String> {
        let messages_path = scratch.join("messages");
        let messages = fs::File::create(&messages_path).map_err(|e| format!("{}: {e}", messages_path.display()))?;
        let reader = fs::File::open(&messages_path).map_err(|e| e.to_string())?;
        let (program, leading) = settings.saki.split_first().ok_or("empty command")?;
        let mut child = Command::new(program)
            .args(leading)
            .arg("--check-mutants")
            .arg(executable)
            .current_dir(scratch)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(messages)
            .spawn()
            .map_err(|e| format!("cannot start {program}: {e}"))?;
        let answers = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        Ok(Server { child, answers, messages: reader })
    }

    /// How the child for this file ended; None when the server ended.
    fn ask(&mut self, path: &Path) -> Option<String> {
        let stdin = self.child.stdin.as_mut()?;
        writeln!(stdin, "{}", path.display()).ok()?;
        stdin.flush().ok()?;
        let mut line = String::new();
        (self.answers.read_line(&mut line).ok()? > 0).then(|| line.trim().to_owned())
    }

    /// What was written to standard error since the last call.
    fn new_messages(&mut self) -> String {
        let mut bytes = Vec::new();
        let _ = std::io::Read::read_to_end(&mut self.messages, &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn stop(mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
