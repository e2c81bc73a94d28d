//! The console on a terminal: a pseudo-terminal whose other end plays keyboard and screen.
//!
//! The test demands that keys, line editing, cursor, colours, size and Ctrl-C work as on Mono, and that the terminal's
//! attributes are restored when the program has ended, also by an exception. Needs `mcs` and the description of
//! `xterm`; without them the test says so and passes.

use std::fs::File;
use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A program that has not ended by then hangs.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// What a terminal answers when it is asked where its cursor is: row 3, column 7.
const CURSOR_REQUEST: &[u8] = b"\x1b[6n";
const CURSOR_REPORT: &[u8] = b"\x1b[3;7R";

fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        if !["/lib/terminfo/x/xterm", "/usr/share/terminfo/x/xterm"].iter().any(|path| Path::new(path).exists()) {
            eprintln!("skipped: no description of xterm");
            return None;
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/terminal/console.cs");
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("console.exe");
        let compiled = Command::new("mcs").arg("-nologo").arg(format!("-out:{}", path.display())).arg(source).output();
        match compiled {
            Ok(done) if done.status.success() => Some(path),
            Ok(done) => panic!("mcs: {}", String::from_utf8_lossy(&done.stdout)),
            Err(error) => {
                eprintln!("skipped: mcs: {error}");
                None
            }
        }
    };
    PROGRAM.get_or_init(compile).as_deref()
}

/// Both ends of a pseudo-terminal of 80 columns and 24 rows.
fn open_terminal() -> (File, OwnedFd) {
    let (mut ours, mut theirs) = (0, 0);
    let size = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: places for two descriptors, and a size; no name or attributes are asked for.
    let made = unsafe { libc::openpty(&mut ours, &mut theirs, std::ptr::null_mut(), std::ptr::null(), &size) };
    assert_eq!(made, 0, "openpty");
    // SAFETY: the descriptors were just made and belong to nobody else.
    unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) }
}

/// The terminal's attributes, as bytes to compare.
fn attributes(terminal: &OwnedFd) -> String {
    let mut attributes = MaybeUninit::<libc::termios>::uninit();
    // SAFETY: a place for the attributes, which success fills in.
    let attributes = unsafe {
        assert_eq!(libc::tcgetattr(terminal.as_raw_fd(), attributes.as_mut_ptr()), 0);
        attributes.assume_init()
    };
    let libc::termios { c_iflag, c_oflag, c_cflag, c_lflag, c_cc, .. } = attributes;
    format!("{c_iflag:x} {c_oflag:x} {c_cflag:x} {c_lflag:x} {c_cc:?}")
}

/// What the keyboard does when the screen shows something.
enum Act {
    Type(&'static str),
    Resize(u16, u16),
}

/// Runs a mode of the program; each act waits for its text to appear behind what earlier ones waited for.
fn run(mode: &str, acts: &[(&str, Act)]) -> Option<(String, ExitStatus)> {
    let program = program()?;
    let (mut screen, terminal) = open_terminal();
    let before = attributes(&terminal);
    let stream = || Stdio::from(terminal.try_clone().expect("a descriptor"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    command.arg(program).arg(mode).env("TERM", "xterm").stdin(stream()).stdout(stream()).stderr(stream());
    // SAFETY: the closure makes system calls only: a session of its own, whose terminal this is.
    unsafe {
        command.pre_exec(|| {
            libc::setsid();
            libc::ioctl(libc::STDIN_FILENO, libc::TIOCSCTTY, 0);
            Ok(())
        });
    }
    let mut child = command.spawn().expect("saki starts");
    drop(command);
    let (mut shown, mut seen, mut answered, mut acts) = (Vec::new(), 0, 0, acts.iter());
    let mut next = acts.next();
    let deadline = Instant::now() + TIME_LIMIT;
    let status = loop {
        let ended = child.try_wait().expect("a child");
        let mut poll = libc::pollfd { fd: screen.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one pollfd.
        let is_ready = unsafe { libc::poll(&mut poll, 1, 20) } > 0;
        if is_ready {
            let mut bytes = [0; 4096];
            let count = screen.read(&mut bytes).expect("the terminal");
            shown.extend_from_slice(&bytes[..count]);
        } else if let Some(status) = ended {
            break status;
        }
        if shown[answered..].windows(CURSOR_REQUEST.len()).any(|w| w == CURSOR_REQUEST) {
            answered = shown.len();
            screen.write_all(CURSOR_REPORT).expect("the terminal");
        }
        if let Some((text, act)) = next
            && let Some(at) = shown[seen..].windows(text.len()).position(|w| w == text.as_bytes())
        {
            seen += at + text.len();
            match act {
                Act::Type(keys) => screen.write_all(keys.as_bytes()).expect("the terminal"),
                Act::Resize(columns, rows) => {
                    let size = libc::winsize { ws_row: *rows, ws_col: *columns, ws_xpixel: 0, ws_ypixel: 0 };
                    // SAFETY: TIOCSWINSZ reads a size.
                    assert_eq!(unsafe { libc::ioctl(screen.as_raw_fd(), libc::TIOCSWINSZ, &size) }, 0);
                    // The signal is on its way; a key shows when it was handled.
                    screen.write_all(b"x").expect("the terminal");
                }
            }
            next = acts.next();
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("{mode} hangs after {:?}", String::from_utf8_lossy(&shown));
        }
    };
    assert_eq!(attributes(&terminal), before, "{mode}: the terminal is left changed");
    Some((String::from_utf8_lossy(&shown).replace("\r\n", "\n"), status))
}

/// The keypad is set up, the cursor's place is asked for, and at the end the keypad and the colours are set back.
const START: &str = "\x1b[?1h\x1b=\x1b[6n";
const END: &str = "\x1b[?1l\x1b>\x1b[39;49m";

fn check(mode: &str, acts: &[(&str, Act)], expected: &str) {
    if let Some((shown, status)) = run(mode, acts) {
        assert_eq!(shown, format!("{START}ready\n{expected}{END}"), "{mode}");
        assert_eq!(status.code(), Some(0), "{mode}: {:?}", status.signal());
    }
}

#[test]
fn keys_and_escape_sequences_are_read() {
    let keys = "aZ\r\x7f\x1bOA\x1bOP\x1b[5~\x01";
    let expected = "[A 97 0]\n[Z 90 Shift]\n[Enter 10 0]\n[Backspace 0 0]\n[UpArrow 0 0]\n[F1 0 0]\n[PageUp 0 0]\n\
                    [A 1 Control]\n";
    check("keys", &[("ready", Act::Type(keys))], expected);
}

#[test]
fn control_c_is_a_key_where_the_program_asks_for_that() {
    check("treat", &[("ready", Act::Type("\x03x"))], "[C 3 Control]\n[X 120 0]\n");
}

#[test]
fn control_c_raises_the_event_until_a_handler_lets_it_end_the_program() {
    let acts = [("ready", Act::Type("\x03")), ("cancel ControlC 1", Act::Type("\x03"))];
    let Some((shown, status)) = run("cancel", &acts) else { return };
    assert!(shown.contains("cancel ControlC 1\n") && shown.contains("cancel ControlC 2\n"), "{shown:?}");
    assert_eq!(status.code(), Some(58));
}

#[test]
fn a_line_is_edited() {
    let Some((shown, _)) = run("line", &[("ready", Act::Type("hellx\x7fo\r"))]) else { return };
    assert!(shown.contains("<hello>\n"), "{shown:?}");
}

#[test]
fn cursor_and_colours_are_set() {
    let expected = "abc(0,3)\x1b[3;6H(5,2)\x1b[31m\x1b[44mRed DarkBlue\x1b[39;49m";
    check("cursor", &[], expected);
}

#[test]
fn the_size_follows_the_window() {
    check("size", &[("80x24", Act::Resize(100, 30))], "80x24\n[X 120 0]\n100x30\n");
}

#[test]
fn a_crash_leaves_the_terminal_as_it_was() {
    let Some((shown, status)) = run("crash", &[("ready", Act::Type("k"))]) else { return };
    assert!(shown.contains("boom") && shown.ends_with(END), "{shown:?}");
    assert_eq!(status.code(), Some(1));
}
