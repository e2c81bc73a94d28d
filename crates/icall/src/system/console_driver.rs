//! System.ConsoleDriver: the terminal behind standard input.
//!
//! Signals: SIGWINCH updates the size that managed code reads; SIGCONT sets the terminal up again; SIGINT wakes a
//! thread that raises Console.CancelKeyPress. The terminal is restored when the process exits.

use crate::system_call::system_call;
use saki_os::ExitStage;
use saki_os::signal::{Disposition, install};
use saki_runtime::exec::invoke;
use saki_runtime::exec::waits::Attempt;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::vm::unhandled;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Place, RefPlace, Str};
use saki_thread::ThreadKind;
use saki_types::{LibraryType, universe};
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Terminal attributes before and after `TtySetup`, and what to write to the terminal.
struct Terminal {
    initial: libc::termios,
    ours: libc::termios,
    /// Sent again after SIGCONT.
    keypad_transmit: CString,
    /// Sent at exit.
    teardown: CString,
}

static TERMINAL: OnceLock<Terminal> = OnceLock::new();

/// (columns << 16) | rows; −1 = not known. Managed code keeps its address.
static SIZE: AtomicI32 = AtomicI32::new(-1);

/// Write end of the pipe that wakes the cancel thread; −1 before the pipe exists. Relaxed: a number by itself; the
/// handler that reads it is installed later.
static CANCEL_PIPE: AtomicI32 = AtomicI32::new(-1);

/// The members of `System.ControlCharacters`, in order: the index of each in the terminal's characters.
const CONTROL_CHARACTERS: [usize; 17] = [
    libc::VINTR,
    libc::VQUIT,
    libc::VERASE,
    libc::VKILL,
    libc::VEOF,
    libc::VTIME,
    libc::VMIN,
    libc::VSWTC,
    libc::VSTART,
    libc::VSTOP,
    libc::VSUSP,
    libc::VEOL,
    libc::VREPRINT,
    libc::VDISCARD,
    libc::VWERASE,
    libc::VLNEXT,
    libc::VEOL2,
];

fn is_terminal(_t: CurrentThread, fd: usize) -> bool {
    // SAFETY: no preconditions.
    unsafe { libc::isatty(fd as i32) != 0 }
}

fn attributes() -> Option<libc::termios> {
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: a place for the attributes, which success fills in.
    unsafe { (libc::tcgetattr(libc::STDIN_FILENO, attributes.as_mut_ptr()) == 0).then(|| attributes.assume_init()) }
}

fn set_attributes(attributes: &libc::termios) -> bool {
    saki_thread::blocking(|| {
        loop {
            // SAFETY: initialised attributes.
            if unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, attributes) } == 0 {
                return true;
            }
            if saki_os::error::last_error().kind() != std::io::ErrorKind::Interrupted {
                return false;
            }
        }
    })
}

fn set_echo(_t: CurrentThread, wanted: bool) -> bool {
    let Some(mut attributes) = attributes() else { return false };
    match wanted {
        true => attributes.c_lflag |= libc::ECHO,
        false => attributes.c_lflag &= !libc::ECHO,
    }
    set_attributes(&attributes)
}

/// `SetBreak(bool)`: whether Ctrl-C and its like are input (`Console.TreatControlCAsInput`), or signals.
fn set_break(_t: CurrentThread, is_input: bool) -> bool {
    let Some(mut attributes) = attributes() else { return false };
    match is_input {
        true => attributes.c_lflag &= !libc::ISIG,
        false => attributes.c_lflag |= libc::ISIG,
    }
    set_attributes(&attributes)
}

/// The number of bytes that can be read, after waiting for at most `milliseconds` (negative: for ever).
fn key_available(t: CurrentThread, milliseconds: i32) -> i32 {
    let mut input = libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLIN, revents: 0 };
    // SAFETY: one pollfd.
    let ready = system_call(t, || Attempt::of(unsafe { libc::poll(&mut input, 1, milliseconds.max(-1)) }));
    if !matches!(ready, Ok(1..)) {
        return 0;
    }
    let mut bytes = 0i32;
    // SAFETY: FIONREAD writes an int.
    let outcome = unsafe { libc::ioctl(libc::STDIN_FILENO, libc::FIONREAD, &mut bytes) };
    if outcome < 0 { 0 } else { bytes }
}

/// The terminal's size as `SIZE` has it. Async-signal-safe.
fn read_size() -> Option<i32> {
    let mut size = MaybeUninit::<libc::winsize>::uninit();
    // SAFETY: TIOCGWINSZ fills a winsize in when it succeeds.
    unsafe {
        if libc::ioctl(libc::STDIN_FILENO, libc::TIOCGWINSZ, size.as_mut_ptr()) != 0 {
            return None;
        }
        let size = size.assume_init();
        Some((i32::from(size.ws_col) << 16) | i32::from(size.ws_row))
    }
}

/// The size from COLUMNS and LINES.
fn size_from_environment() -> Option<i32> {
    let number = |name| std::env::var(name).ok()?.parse::<i32>().ok().filter(|&n| n > 0);
    Some((number("COLUMNS")? << 16) | number("LINES")?)
}

/// Writes to the terminal; errors are ignored. Async-signal-safe.
fn send(text: &CString) {
    // SAFETY: a string of this length.
    let _ = unsafe { libc::write(libc::STDOUT_FILENO, text.as_ptr().cast(), text.as_bytes().len()) };
}

fn tear_down() {
    if let Some(terminal) = TERMINAL.get() {
        send(&terminal.teardown);
        let mut attributes = terminal.initial;
        attributes.c_lflag |= libc::ECHO;
        // SAFETY: initialised attributes.
        unsafe {
            libc::tcflush(libc::STDIN_FILENO, libc::TCIFLUSH);
            libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &attributes);
        }
    }
}

fn install_signal_handlers() -> std::io::Result<()> {
    install(libc::SIGWINCH, |_| {
        if let Some(size) = read_size() {
            // Relaxed: the number publishes no other memory.
            SIZE.store(size, Ordering::Relaxed);
        }
        Disposition::Handled
    })?;
    install(libc::SIGCONT, |_| {
        if let Some(terminal) = TERMINAL.get() {
            // SAFETY: initialised attributes.
            unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &terminal.ours) };
            send(&terminal.keypad_transmit);
        }
        Disposition::Handled
    })?;
    start_cancel_thread()?;
    install(libc::SIGINT, |_| {
        // SAFETY: one byte; a full pipe means that the thread will wake anyway.
        let _ = unsafe { libc::write(CANCEL_PIPE.load(Ordering::Relaxed), c"c".as_ptr().cast(), 1) };
        Disposition::Handled
    })
}

/// In a forked child: what its SIGINT writes must not wake its parent's thread.
pub fn begin_child() {
    if CANCEL_PIPE.load(Ordering::Relaxed) != -1 {
        CANCEL_PIPE.store(-1, Ordering::Relaxed);
        NEEDS_CANCEL_THREAD.store(true, Ordering::Relaxed);
    }
}

/// In a forked child that comes back to the machine. Without the thread SIGINT does nothing.
pub fn restart_child() {
    if NEEDS_CANCEL_THREAD.swap(false, Ordering::Relaxed) {
        let _ = start_cancel_thread();
    }
}

/// Relaxed: a forked child's only thread sets it.
static NEEDS_CANCEL_THREAD: AtomicBool = AtomicBool::new(false);

/// The thread that SIGINT wakes, because a signal handler cannot run managed code.
fn start_cancel_thread() -> std::io::Result<()> {
    let mut ends = [0; 2];
    // SAFETY: a place for two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(saki_os::error::last_error());
    }
    // Relaxed: stored before the handler is installed.
    CANCEL_PIPE.store(ends[1], Ordering::Relaxed);
    let read_end = ends[0];
    saki_thread::spawn(ThreadKind::Internal, Some("Console cancel"), 0, move |thread| {
        // SAFETY: the thread just attached itself.
        let t = unsafe { CurrentThread::from_abi(thread.abi()) };
        loop {
            let mut byte = 0u8;
            // SAFETY: a place for one byte.
            let count = saki_thread::blocking(|| unsafe { libc::read(read_end, (&raw mut byte).cast(), 1) });
            if count == 1 && raise_cancel(t).is_err() {
                unhandled::report_and_exit(t);
            }
        }
    })?;
    Ok(())
}

fn raise_cancel(t: CurrentThread) -> Managed<()> {
    let console = universe().library_type(LibraryType::Console).to_managed(t)?;
    if let Some(method) = console.find_method("DoConsoleCancelEventInBackground", 0).to_managed(t)? {
        invoke::invoke(t, method, &[])?;
    }
    Ok(())
}

/// False when standard input is no terminal.
fn tty_setup(
    t: CurrentThread,
    keypad_transmit: Option<Str>,
    teardown: Option<Str>,
    control_characters: RefPlace,
    size: Place<*const i32>,
) -> Managed<bool> {
    // Relaxed: the number publishes no other memory.
    SIZE.store(read_size().or_else(size_from_environment).unwrap_or(-1), Ordering::Relaxed);
    size.set(SIZE.as_ptr().cast_const());
    let array = Array::new(t, universe().byte(), CONTROL_CHARACTERS.len())?;
    control_characters.set(t, array);
    let Some(initial) = attributes() else { return Ok(false) };
    let mut ours = initial;
    ours.c_lflag &= !libc::ICANON;
    ours.c_iflag &= !(libc::IXON | libc::IXOFF);
    ours.c_cc[libc::VMIN] = 1;
    ours.c_cc[libc::VTIME] = 0;
    if !set_attributes(&ours) {
        return Ok(false);
    }
    array.set_numbers(0, &CONTROL_CHARACTERS.map(|which| ours.c_cc[which]));
    let text = |string: Option<Str>| CString::new(string.map_or_else(String::new, Str::to_rust)).unwrap_or_default();
    let terminal = Terminal { initial, ours, keypad_transmit: text(keypad_transmit), teardown: text(teardown) };
    if TERMINAL.set(terminal).is_ok() {
        // Without handlers the terminal still works, but does not follow changes of size.
        let _ = install_signal_handlers();
        saki_os::at_exit(ExitStage::Terminal, tear_down);
    }
    Ok(true)
}

/// The internal calls of `System.ConsoleDriver`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.ConsoleDriver::Isatty", &is_terminal),
    InternalCall::new("System.ConsoleDriver::SetEcho", &set_echo),
    InternalCall::new("System.ConsoleDriver::SetBreak", &set_break),
    InternalCall::new("System.ConsoleDriver::InternalKeyAvailable", &key_available),
    InternalCall::new("System.ConsoleDriver::TtySetup", &tty_setup),
];
