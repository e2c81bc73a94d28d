//! Completions as the shells give them: bash and zsh on a pseudo-terminal, where a key inserts all that is offered, and
//! fish by `complete -C`.
//!
//! What a line holds after that key is what a function called `saki` gets when Enter is pressed. A shell that is not
//! installed is skipped, with a line.

mod support;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A shell that shows no prompt by then hangs.
const TIME_LIMIT: Duration = Duration::from_secs(60);

const PROMPT: &[u8] = b"READY> ";

/// Inserts all completions, by the shells' settings below.
const KEY: char = '\u{14}';

/// Lines before the key, and the words of the line afterwards, several matches in alphabetical order.
const LINES: &[(&str, &[&str])] = &[
    ("doc", &["doctor"]),
    ("profile c", &["profile", "code", "cpu"]),
    ("profile cpu,he", &["profile", "cpu,heap"]),
    ("profile v", &["profile", "view"]),
    ("cache s", &["cache", "seed", "stat"]),
    ("cache -V", &["cache", "-V"]),
    ("--threads gr", &["--threads", "green"]),
    ("--threads=na", &["--threads=native"]),
    ("--io ur", &["--io", "uring"]),
    ("--perf map,g", &["--perf", "map,gdb"]),
    ("profile --format html,sp", &["profile", "--format", "html,speedscope"]),
    ("profile heap --format=he", &["profile", "heap", "--format=heap"]),
    ("--max-", &["--max-heap"]),
    ("ap", &["app.exe"]),
    ("mai", &["main.cs"]),
    ("--stats ap", &["--stats", "app.exe"]),
    ("run li", &["run", "lib.dll"]),
    ("info li", &["info", "lib.dll"]),
    // A text is not a program, and `run` takes no commands.
    ("not", &["not"]),
    ("run hel", &["run", "hel"]),
    // Behind the program nothing is Saki's.
    ("app.exe not", &["app.exe", "notes.txt"]),
    ("app.exe --sta", &["app.exe", "--sta"]),
    ("run main.cs do", &["run", "main.cs", "do"]),
    ("profile cpu app.exe --form", &["profile", "cpu", "app.exe", "--form"]),
    ("run -r:li", &["run", "-r:lib.dll"]),
    ("run -r:lib.dll,ap", &["run", "-r:lib.dll,app.exe"]),
    ("--framework sub", &["--framework", "subfolder/"]),
    ("--framework=sub", &["--framework=subfolder/"]),
    ("profile cpu -o not", &["profile", "cpu", "-o", "notes.txt"]),
    ("my", &["my app.exe"]),
    ("~/subfolder/in", &["HOME/subfolder/inner.exe"]),
];

/// A folder with files to complete, and the generated scripts.
struct Place {
    files: PathBuf,
    prefix: PathBuf,
}

impl Place {
    fn new(shell: &str) -> Place {
        let files = support::folder(&format!("completions/{shell}/files"));
        let prefix = support::folder(&format!("completions/{shell}/prefix"));
        std::fs::create_dir(files.join("subfolder")).unwrap();
        for name in ["app.exe", "lib.dll", "main.cs", "notes.txt", "my app.exe", "subfolder/inner.exe"] {
            std::fs::write(files.join(name), "").unwrap();
        }
        let done = Command::new(env!("CARGO_BIN_EXE_saki")).arg("generate").arg(&prefix).status();
        assert!(done.expect("saki starts").success());
        Place { files, prefix }
    }

    fn expected(&self, words: &[&str]) -> Vec<String> {
        let home = self.files.display().to_string();
        words.iter().map(|word| word.replace("HOME", &home)).collect()
    }
}

fn is_installed(shell: &str) -> bool {
    let found = Command::new(shell).arg("--version").output();
    if let Err(error) = &found {
        eprintln!("skipped: {shell}: {error}");
    }
    found.is_ok()
}

/// A shell on a terminal.
struct Shell {
    screen: File,
    child: Child,
    shown: Vec<u8>,
    seen: usize,
}

impl Shell {
    /// Takes the command because it has the terminal open, which ends for its reader when nobody has.
    fn start(mut command: Command) -> Shell {
        let (mut ours, mut theirs) = (0, 0);
        let size = libc::winsize { ws_row: 100, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: places for two descriptors, and a size; no name or attributes are asked for.
        let made = unsafe { libc::openpty(&mut ours, &mut theirs, std::ptr::null_mut(), std::ptr::null(), &size) };
        assert_eq!(made, 0, "openpty");
        // SAFETY: the descriptor was just made and belongs to nobody else.
        let screen = unsafe { File::from_raw_fd(ours) };
        // SAFETY: as above.
        let terminal = unsafe { OwnedFd::from_raw_fd(theirs) };
        let stream = || Stdio::from(terminal.try_clone().expect("a descriptor"));
        command.stdin(stream()).stdout(stream()).stderr(stream());
        // SAFETY: the closure makes system calls only: a session of its own, whose terminal this is.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::ioctl(libc::STDIN_FILENO, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let child = command.spawn().expect("the shell starts");
        Shell { screen, child, shown: Vec::new(), seen: 0 }
    }

    /// Types when the next prompt has come.
    fn type_line(&mut self, line: &str) {
        let deadline = Instant::now() + TIME_LIMIT;
        loop {
            let rest = &self.shown[self.seen..];
            if let Some(at) = rest.windows(PROMPT.len()).position(|window| window == PROMPT) {
                self.seen += at + PROMPT.len();
                break;
            }
            assert!(Instant::now() < deadline, "no prompt: {}", String::from_utf8_lossy(&self.shown));
            let mut poll = libc::pollfd { fd: self.screen.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one pollfd.
            if unsafe { libc::poll(&mut poll, 1, 100) } > 0 {
                let mut bytes = [0; 4096];
                let count = self.screen.read(&mut bytes).expect("the terminal");
                self.shown.extend_from_slice(&bytes[..count]);
            }
        }
        self.screen.write_all(line.as_bytes()).expect("the terminal");
    }

    /// Types each of the lines with the key, and ends the shell.
    fn complete_lines(mut self) -> String {
        for (line, _) in LINES {
            self.type_line(&format!("saki {line}{KEY}\r"));
        }
        self.type_line("exit\r");
        // Nobody reads the terminal any more.
        let mut rest = Vec::new();
        let _ = self.screen.read_to_end(&mut rest);
        self.child.wait().expect("it ends");
        self.shown.extend(rest);
        String::from_utf8_lossy(&self.shown).into_owned()
    }
}

/// In the shells' start files: the command of the line writes its words to `$OUT`.
const FUNCTION: &str = r#"
saki()
{
	if [[ $1 == __complete ]]; then "$SAKI" "$@"; else printf '<%s>' "$@" >>"$OUT"; echo >>"$OUT"; fi
}
"#;

fn check(place: &Place, out: &Path, shown: &str) {
    let lines = std::fs::read_to_string(out).unwrap_or_else(|error| panic!("{}: {error}: {shown}", out.display()));
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), LINES.len(), "{shown}");
    for ((line, words), found) in LINES.iter().zip(lines) {
        let expected: String = place.expected(words).iter().map(|word| format!("<{word}>")).collect();
        // bash adds the slash when a folder is the only match of its key for completion, not for inserting all.
        assert_eq!(found.replace("/>", ">"), expected.replace("/>", ">"), "saki {line}\n{shown}");
    }
}

fn command(shell: &str, place: &Place, out: &Path) -> Command {
    let mut command = Command::new(shell);
    command.current_dir(&place.files).env("HOME", &place.files).env("TERM", "dumb").env("LC_ALL", "C.UTF-8");
    command.env("SAKI", env!("CARGO_BIN_EXE_saki")).env("OUT", out).env_remove("BASH_ENV").env_remove("INPUTRC");
    command
}

#[test]
fn bash_offers_what_saki_takes() {
    if !is_installed("bash") {
        return;
    }
    let place = Place::new("bash");
    let (out, start) = (place.prefix.join("out"), place.prefix.join("start"));
    let script = place.prefix.join("share/bash-completion/completions/saki");
    let settings = format!(
        "PS1='READY> '\nbind 'set bell-style none'\nbind 'set enable-bracketed-paste off'\nbind '\"\\C-t\": insert-completions'\n. '{}'\n{FUNCTION}",
        script.display()
    );
    std::fs::write(&start, settings).unwrap();
    let mut bash = command("bash", &place, &out);
    bash.arg("--rcfile").arg(&start).arg("-i");
    let shown = Shell::start(bash).complete_lines();
    check(&place, &out, &shown);
}

#[test]
fn zsh_offers_what_saki_takes() {
    if !is_installed("zsh") {
        return;
    }
    let place = Place::new("zsh");
    let out = place.prefix.join("out");
    let settings = format!(
        "PS1='READY> '\nunset zle_bracketed_paste\nunsetopt beep prompt_sp\nfpath=('{}' $fpath)\nautoload -Uz compinit\ncompinit -u -D\n\
         zstyle ':completion:*' completer _all_matches _complete\nzstyle ':completion:*' insert yes\nbindkey -e\nbindkey '^T' complete-word\n{FUNCTION}",
        place.prefix.join("share/zsh/site-functions").display()
    );
    std::fs::write(place.prefix.join(".zshrc"), settings).unwrap();
    let mut zsh = command("zsh", &place, &out);
    zsh.env("ZDOTDIR", &place.prefix).args(["-d", "-i"]);
    let shown = Shell::start(zsh).complete_lines();
    check(&place, &out, &shown);
}

#[test]
fn fish_offers_what_saki_takes() {
    if !is_installed("fish") {
        return;
    }
    let place = Place::new("fish");
    let script = place.prefix.join("share/fish/vendor_completions.d/saki.fish");
    let bin = Path::new(env!("CARGO_BIN_EXE_saki")).parent().expect("a folder");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    for (line, words) in LINES {
        let mut fish = command("fish", &place, Path::new("/dev/null"));
        fish.env("PATH", &path).env("LINE", format!("saki {line}")).arg("--no-config");
        let done = fish.arg("-c").arg(format!("source '{}'; complete -C $LINE", script.display())).output();
        let done = done.expect("fish starts");
        let text = String::from_utf8_lossy(&done.stdout);
        let mut offered: Vec<&str> = text.lines().map(|line| line.split('\t').next().unwrap_or_default()).collect();
        offered.sort_unstable();
        // What is not replaced is what was not completed.
        let typed: Vec<&str> = line.split(' ').collect();
        let before = typed.len() - 1;
        let mut expected = words[before..].to_vec();
        expected.retain(|word| *word != typed[before]);
        expected.sort_unstable();
        let expected: Vec<String> = expected.iter().map(|word| word.replace("HOME", "~")).collect();
        assert_eq!(offered, expected, "saki {line}: {}", String::from_utf8_lossy(&done.stderr));
    }
}
