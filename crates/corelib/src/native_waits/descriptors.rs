//! What is known of descriptors, by number: whether the program wants calls to wait, and what they are.
//!
//! | wish | meaning | the next |
//! |---|---|---|
//! | `UNKNOWN` | nobody has asked the system | `WAITS` or `NON_BLOCKING`, by asking it |
//! | `WAITS` | calls wait | `KEPT` at an accept and while connecting; `NON_BLOCKING` by the program |
//! | `KEPT` | calls wait, but it does not block | `WAITS` when connected; the program's |
//! | `NON_BLOCKING` | calls return EAGAIN | `WAITS` by the program |
//!
//! Close, and the call that makes a descriptor, set both. The kind is learned from the call that makes it, or from the
//! system. Invariant: a descriptor that the reactor watches for good is forgotten before its number is free, if managed
//! code closes it.
//!
//! All accesses are Relaxed: managed code that passes a descriptor's number to another thread orders them, as it does
//! the system calls on it.

use super::{errors, original};
use saki_os::error::{errno, set_errno};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

const UNKNOWN: u8 = 0;
const WAITS: u8 = 1;
const KEPT: u8 = 2;
const NON_BLOCKING: u8 = 3;
const WISH: u8 = 3;

/// What a descriptor is, as far as waiting for it differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Kind {
    Unknown = 0,
    /// A stream of the Internet families: a short transfer means that there is nothing more for now.
    Tcp = 1,
    Socket = 2,
    Pipe = 3,
    Disk = 4,
    /// Terminals, inotify(7) and the rest, which are asked by poll(2).
    Other = 5,
}

const KINDS: [Kind; 6] = [Kind::Unknown, Kind::Tcp, Kind::Socket, Kind::Pipe, Kind::Disk, Kind::Other];

impl Kind {
    pub(super) fn is_socket(self) -> bool {
        matches!(self, Kind::Tcp | Kind::Socket)
    }
}

/// As many as the reactor has records.
const COUNT: usize = 1 << 20;

/// The wish, and above it the kind.
static STATES: [AtomicU8; COUNT] = [const { AtomicU8::new(0) }; COUNT];

fn state(fd: i32) -> Option<&'static AtomicU8> {
    STATES.get(usize::try_from(fd).ok()?)
}

fn encode(wish: u8, kind: Kind) -> u8 {
    wish | (kind as u8) << 2
}

fn kind_in(state: u8) -> Kind {
    KINDS.get(usize::from(state >> 2)).copied().unwrap_or(Kind::Unknown)
}

fn set_wish(state: &AtomicU8, wish: u8) {
    let _ = state.fetch_update(Relaxed, Relaxed, |old| Some(old & !WISH | wish));
}

/// Moves from one wish to another, unless another thread has moved on.
fn change_wish(state: &AtomicU8, from: u8, to: u8) {
    let _ = state.fetch_update(Relaxed, Relaxed, |old| (old & WISH == from).then_some(old & !WISH | to));
}

/// A new descriptor; native code may have closed an earlier one of the number, which the reactor still watches.
fn begin(fd: i32, wish: u8, kind: Kind) {
    saki_reactor::forget(fd);
    if let Some(state) = state(fd) {
        state.store(encode(wish, kind), Relaxed);
    }
}

fn flags_of(fd: i32) -> i32 {
    // SAFETY: a system call without pointers.
    unsafe { libc::fcntl(fd, libc::F_GETFL) }
}

fn set_system_flag(fd: i32, is_non_blocking: bool) -> bool {
    let flags = flags_of(fd);
    let wanted = if is_non_blocking { flags | libc::O_NONBLOCK } else { flags & !libc::O_NONBLOCK };
    // SAFETY: a system call without pointers.
    flags >= 0 && unsafe { libc::fcntl(fd, libc::F_SETFL, wanted) } == 0
}

/// The descriptor, if a call on it is to wait and can be waited for.
pub(super) fn waited(fd: isize) -> Option<i32> {
    if !saki_reactor::waits_park() {
        return None;
    }
    let fd = i32::try_from(fd).ok()?;
    let state = state(fd)?;
    let wish = match state.load(Relaxed) & WISH {
        UNKNOWN => {
            let flags = flags_of(fd);
            if flags < 0 {
                return None;
            }
            let wish = if flags & libc::O_NONBLOCK == 0 { WAITS } else { NON_BLOCKING };
            change_wish(state, UNKNOWN, wish);
            wish
        }
        wish => wish,
    };
    (wish != NON_BLOCKING).then_some(fd)
}

/// Makes a descriptor on which calls wait non-blocking for the system. False: it cannot be done.
pub(super) fn keep_non_blocking(fd: i32) -> bool {
    let Some(state) = state(fd) else { return false };
    if state.load(Relaxed) & WISH == WAITS {
        if !set_system_flag(fd, true) {
            return false;
        }
        change_wish(state, WAITS, KEPT);
    }
    true
}

/// Ends what `keep_non_blocking` began, unless the program wants a descriptor that does not block by now.
pub(super) fn keep_no_longer(fd: i32) {
    let Some(state) = state(fd) else { return };
    if state.load(Relaxed) & WISH == KEPT && set_system_flag(fd, false) {
        change_wish(state, KEPT, WAITS);
    }
}

/// The kind; asks the system the first time.
pub(super) fn kind_of(fd: i32) -> Kind {
    let known = state(fd).map_or(Kind::Unknown, |state| kind_in(state.load(Relaxed)));
    if known != Kind::Unknown {
        return known;
    }
    let kind = ask_kind(fd);
    if let Some(state) = state(fd) {
        let _ = state.fetch_update(Relaxed, Relaxed, |old| Some(encode(old & WISH, kind)));
    }
    kind
}

fn ask_kind(fd: i32) -> Kind {
    let mut status = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: room for the status.
    if unsafe { libc::fstat(fd, status.as_mut_ptr()) } != 0 {
        return Kind::Unknown;
    }
    // SAFETY: all-zero, or filled in.
    match unsafe { status.assume_init() }.st_mode & libc::S_IFMT {
        libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK => Kind::Disk,
        libc::S_IFIFO => Kind::Pipe,
        libc::S_IFSOCK => {
            let is_internet = matches!(socket_option(fd, libc::SO_DOMAIN), Some(libc::AF_INET | libc::AF_INET6));
            match is_internet && socket_option(fd, libc::SO_TYPE) == Some(libc::SOCK_STREAM) {
                true => Kind::Tcp,
                false => Kind::Socket,
            }
        }
        _ => Kind::Other,
    }
}

/// An option of `SOL_SOCKET` that is a number.
pub(super) fn socket_option(fd: i32, option: i32) -> Option<i32> {
    let (mut value, mut len) = (0, size_of::<i32>() as libc::socklen_t);
    // SAFETY: room for a number, and its size.
    let result = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, option, (&raw mut value).cast(), &mut len) };
    (result == 0).then_some(value)
}

/// `AddressFamily` and `SocketType` of the class library.
const INTERNET: i32 = 2;
const INTERNET_V6: i32 = 23;
const STREAM: i32 = 1;

/// # Safety
/// Compiled code calls it as the library's function.
pub(super) unsafe extern "C" fn socket(family: i32, kind: i32, protocol: i32, created: *mut isize) -> i32 {
    // SAFETY: compiled code's arguments for the library's function.
    let code = unsafe { original::socket(family, kind, protocol, created) };
    if code == errors::SUCCESS && saki_reactor::waits_park() {
        let is_tcp = matches!(family, INTERNET | INTERNET_V6) && kind == STREAM;
        // SAFETY: the library's function has stored the descriptor there.
        begin(unsafe { *created } as i32, WAITS, if is_tcp { Kind::Tcp } else { Kind::Socket });
    }
    code
}

/// A connection that the listening socket has accepted.
pub(super) fn accepted(fd: i32, listener: i32) {
    begin(fd, WAITS, kind_of(listener));
}

/// # Safety
/// Compiled code calls it as the library's function.
pub(super) unsafe extern "C" fn close(fd: isize) -> i32 {
    if saki_reactor::waits_park()
        && let Ok(number) = i32::try_from(fd)
    {
        begin(number, UNKNOWN, Kind::Unknown);
    }
    // SAFETY: compiled code's argument for the library's function.
    unsafe { original::close(fd) }
}

/// # Safety
/// Compiled code calls it as the library's function.
pub(super) unsafe extern "C" fn dup(fd: isize) -> isize {
    // SAFETY: compiled code's argument for the library's function.
    let copy = unsafe { original::dup(fd) };
    if copy >= 0 && saki_reactor::waits_park() {
        // Both are non-blocking, or neither.
        let known = i32::try_from(fd).ok().and_then(state).map_or(0, |state| state.load(Relaxed));
        begin(copy as i32, known & WISH, kind_in(known));
    }
    copy
}

/// # Safety
/// Compiled code calls it as the library's function.
pub(super) unsafe extern "C" fn get_is_non_blocking(fd: isize, is_non_blocking: *mut i32) -> i32 {
    // SAFETY: compiled code's arguments for the library's function.
    let result = unsafe { original::get_is_non_blocking(fd, is_non_blocking) };
    let known = i32::try_from(fd).ok().and_then(state).map_or(0, |state| state.load(Relaxed));
    if result == 0 && known & WISH == KEPT {
        // SAFETY: room for the answer, which the library's function has used.
        unsafe { *is_non_blocking = 0 };
    }
    result
}

/// # Safety
/// Compiled code calls it as the library's function.
pub(super) unsafe extern "C" fn set_is_non_blocking(fd: isize, is_non_blocking: i32) -> i32 {
    // SAFETY: compiled code's arguments for the library's function.
    let result = unsafe { original::set_is_non_blocking(fd, is_non_blocking) };
    let number = errno();
    if result == 0
        && let Some(state) = i32::try_from(fd).ok().and_then(state)
    {
        set_wish(state, if is_non_blocking == 0 { WAITS } else { NON_BLOCKING });
    }
    set_errno(number);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_descriptor_is_kept_non_blocking_without_the_program_seeing_it() {
        let (near, _far) = UnixStream::pair().unwrap();
        let fd = near.as_raw_fd();
        let state = state(fd).unwrap();
        state.store(encode(WAITS, Kind::Socket), Relaxed);
        assert!(keep_non_blocking(fd));
        assert_ne!(flags_of(fd) & libc::O_NONBLOCK, 0);
        assert_eq!((state.load(Relaxed) & WISH, kind_of(fd)), (KEPT, Kind::Socket));
        keep_no_longer(fd);
        assert_eq!(flags_of(fd) & libc::O_NONBLOCK, 0);
        assert_eq!(state.load(Relaxed) & WISH, WAITS);
        // What the program has made non-blocking meanwhile stays so.
        assert!(keep_non_blocking(fd));
        set_wish(state, NON_BLOCKING);
        keep_no_longer(fd);
        assert_ne!(flags_of(fd) & libc::O_NONBLOCK, 0);
        state.store(0, Relaxed);
    }

    #[test]
    fn kinds_are_the_systems() {
        let (near, _far) = UnixStream::pair().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let (reader, _writer) = std::io::pipe().unwrap();
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        let device = std::fs::File::open("/dev/null").unwrap();
        let of = |fd: i32| ask_kind(fd);
        assert_eq!(of(near.as_raw_fd()), Kind::Socket);
        assert_eq!(of(listener.as_raw_fd()), Kind::Tcp);
        assert_eq!(of(datagrams.as_raw_fd()), Kind::Socket);
        assert_eq!(of(reader.as_raw_fd()), Kind::Pipe);
        assert_eq!(of(file.as_raw_fd()), Kind::Disk);
        assert_eq!(of(device.as_raw_fd()), Kind::Other);
        assert_eq!(of(-1), Kind::Unknown);
    }
}
