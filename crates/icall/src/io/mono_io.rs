//! System.IO.MonoIO: operations on open files. A handle is a file descriptor that is in the table of `file_handles`.
//!
//! Invariant: system calls that may block run in a safe region; a managed buffer stays where it is meanwhile, because
//! its reference is in this frame. Left out: paths (`mono_io_paths`; most path operations of the class library are
//! P/Invokes).

use super::errors::{IoResult, Win32Error, errno, report, report_success};
use super::file_handles::{self, Access, FileHandle, FileType};
use super::file_sharing::{self, FileIdentity, Use};
use super::path::{path_error, system_path};
use super::streams;
use crate::arguments::{argument_error, non_null};
use crate::system_call::system_call;
use saki_os::error::Errno;
use saki_runtime::exec::waits::Attempt;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Place, vm};
use std::ffi::CStr;
use std::hint::black_box;

/// `FileMode`.
mod mode {
    /// A new file; an existing one is an error.
    pub const CREATE_NEW: i32 = 1;
    /// A new file, or an existing one, emptied.
    pub const CREATE: i32 = 2;
    /// An existing file.
    pub const OPEN: i32 = 3;
    /// An existing file, or a new one.
    pub const OPEN_OR_CREATE: i32 = 4;
    /// An existing file, emptied.
    pub const TRUNCATE: i32 = 5;
    /// An existing or new file, written to at its end.
    pub const APPEND: i32 = 6;
}

/// `FileOptions`.
mod option {
    /// The file will be short-lived.
    pub const TEMPORARY: i32 = 1;
    /// The file is to be encrypted.
    pub const ENCRYPTED: i32 = 0x4000;
    /// The file is removed when it is closed.
    pub const DELETE_ON_CLOSE: i32 = 0x0400_0000;
    /// It will be read from its beginning to its end.
    pub const SEQUENTIAL_SCAN: i32 = 0x0800_0000;
    /// It will be read here and there.
    pub const RANDOM_ACCESS: i32 = 0x1000_0000;
}

const INVALID_HANDLE_VALUE: isize = -1;

/// `system_call` with the error codes of managed code.
fn call(t: CurrentThread, attempt: impl FnMut() -> Attempt<usize>) -> IoResult<usize> {
    system_call(t, attempt).map_err(Win32Error::from_errno)
}

/// Flags that do not truncate: only after the file is open is it known whether share modes allow that.
fn open_flags(mode: i32, access: Access) -> i32 {
    let access = match access {
        Access::WRITE => libc::O_WRONLY,
        Access::READ_WRITE => libc::O_RDWR,
        _ => libc::O_RDONLY,
    };
    let mode = match mode {
        mode::CREATE_NEW => libc::O_CREAT | libc::O_EXCL,
        mode::CREATE | mode::OPEN_OR_CREATE | mode::APPEND => libc::O_CREAT,
        mode::OPEN | mode::TRUNCATE => 0,
        _ => 0,
    };
    access | mode | libc::O_CLOEXEC
}

fn raw_open(t: CurrentThread, path: &CStr, flags: i32, permissions: u32) -> Result<i32, Errno> {
    // SAFETY: a NUL-terminated path; O_CREAT is given its third argument.
    system_call(t, || Attempt::of(unsafe { libc::open(path.as_ptr(), flags, permissions) })).map(|fd| fd as i32)
}

/// A descriptor that managed code does not have yet; closed when dropped.
struct Unopened(i32);

impl Drop for Unopened {
    fn drop(&mut self) {
        // SAFETY: the descriptor is this value's own.
        unsafe { libc::close(self.0) };
    }
}

fn open_file(
    t: CurrentThread,
    path: *const u16,
    mode: i32,
    access: Access,
    share: i32,
    options: i32,
) -> IoResult<isize> {
    if options & option::ENCRYPTED != 0 {
        return Err(Win32Error::ENCRYPTION_FAILED);
    }
    // SAFETY: managed code pins a string, which ends with a NUL unit.
    let path = unsafe { system_path(path) }?;
    let flags = open_flags(mode, access);
    let permissions = if options & option::TEMPORARY != 0 { 0o600 } else { 0o666 };
    let opened = match raw_open(t, &path, flags, permissions) {
        // A directory can only be opened for reading; no use of its handle needs more.
        Err(Errno(libc::EISDIR)) => raw_open(t, &path, flags & !libc::O_ACCMODE, permissions),
        other => other,
    };
    let opened = Unopened(opened.map_err(|errno| path_error(&path, errno))?);
    let fd = opened.0;
    // SAFETY: zeroed, then filled by fstat.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: room for the status.
    if unsafe { libc::fstat(fd, &mut status) } != 0 {
        return Err(Win32Error::last());
    }
    let file_type = match status.st_mode & libc::S_IFMT {
        libc::S_IFIFO => FileType::Pipe,
        libc::S_IFCHR => FileType::Char,
        _ => FileType::Disk,
    };
    let identity = FileIdentity { device: status.st_dev, inode: status.st_ino };
    let counted = Use { file: identity, access, share };
    // Devices, pipes and directories may be open as often as one likes.
    let is_regular = status.st_mode & libc::S_IFMT == libc::S_IFREG;
    if is_regular && !file_sharing::open(counted) {
        return Err(Win32Error::SHARING_VIOLATION);
    }
    if is_regular && !file_sharing::lock_among_processes(fd, share) {
        file_sharing::close(counted);
        return Err(Win32Error::SHARING_VIOLATION);
    }
    if matches!(mode, mode::CREATE | mode::TRUNCATE) && is_regular && status.st_size > 0 {
        // SAFETY: an open descriptor.
        if unsafe { libc::ftruncate(fd, 0) } != 0 {
            let error = Win32Error::last();
            file_sharing::close(counted);
            return Err(error);
        }
    }
    for (option, advice) in
        [(option::SEQUENTIAL_SCAN, libc::POSIX_FADV_SEQUENTIAL), (option::RANDOM_ACCESS, libc::POSIX_FADV_RANDOM)]
    {
        if options & option != 0 {
            // SAFETY: an open descriptor; a refused hint changes nothing.
            unsafe { libc::posix_fadvise(fd, 0, 0, advice) };
        }
    }
    let deleted = options & option::DELETE_ON_CLOSE != 0 && file_type == FileType::Disk;
    std::mem::forget(opened);
    file_handles::insert(FileHandle {
        fd,
        file_type,
        access,
        counted: is_regular.then_some(counted),
        delete_on_close: deleted.then_some(path),
    });
    Ok(fd as isize)
}

fn open(
    t: CurrentThread,
    path: *const u16,
    mode: i32,
    access: i32,
    share: i32,
    options: i32,
    error: Place<i32>,
) -> isize {
    report(open_file(t, path, mode, Access(access), share, options), error, INVALID_HANDLE_VALUE)
}

fn close(_t: CurrentThread, handle: usize, error: Place<i32>) -> bool {
    report_success(file_handles::close(handle), error)
}

fn cancel(_t: CurrentThread, _handle: usize, error: Place<i32>) -> bool {
    report_success(Err(Win32Error::NOT_SUPPORTED), error)
}

/// Address of `count` elements of a byte[] from `offset`.
fn buffer(t: CurrentThread, array: Option<Array>, offset: i32, count: i32) -> Managed<(*mut u8, usize)> {
    let array = non_null(t, array, "array")?;
    match (usize::try_from(offset), usize::try_from(count)) {
        (Ok(offset), Ok(count)) if offset.checked_add(count).is_some_and(|end| end <= array.length()) => {
            Ok((array.element_address(offset), count))
        }
        _ => Err(argument_error(t, "array too small. numBytes/offset wrong.")),
    }
}

fn read(
    t: CurrentThread,
    handle: usize,
    array: Option<Array>,
    offset: i32,
    count: i32,
    error: Place<i32>,
) -> Managed<i32> {
    let (address, length) = buffer(t, array, offset, count)?;
    let result = file_handles::lookup(handle).and_then(|file| {
        file.access.require(Access::READ)?;
        // SAFETY: `length` bytes of an array that `array` in this frame keeps in place.
        unsafe { streams::read(t, file.stream(), address, length) }.map_err(Win32Error::from_errno)
    });
    black_box(array);
    Ok(report(result.map(|read| read as i32), error, -1))
}

fn write(
    t: CurrentThread,
    handle: usize,
    array: Option<Array>,
    offset: i32,
    count: i32,
    error: Place<i32>,
) -> Managed<i32> {
    let (address, length) = buffer(t, array, offset, count)?;
    let result = file_handles::lookup(handle).and_then(|file| {
        file.access.require(Access::WRITE)?;
        if let Some(stream) = vm::options().host.output_taken(file.fd) {
            let mut bytes = vec![0u8; length];
            // SAFETY: `length` bytes of an array that `array` in this frame keeps in place. A copy, since managed code
            // may change them while the host looks.
            unsafe { std::ptr::copy_nonoverlapping(address, bytes.as_mut_ptr(), length) };
            vm::options().host.give_output(t, stream, &bytes);
            return Ok(length);
        }
        // SAFETY: `length` bytes of an array that `array` in this frame keeps in place.
        unsafe { streams::write(t, file.stream(), address, length) }.map_err(Win32Error::from_errno)
    });
    black_box(array);
    Ok(report(result.map(|written| written as i32), error, -1))
}

fn seek_in(file: &FileHandle, offset: i64, whence: i32) -> IoResult<i64> {
    file.require_disk()?;
    file.access.require(Access::READ_WRITE)?;
    // SAFETY: an open descriptor.
    match unsafe { libc::lseek(file.fd, offset, whence) } {
        -1 => Err(Win32Error::last()),
        position => Ok(position),
    }
}

fn seek(_t: CurrentThread, handle: usize, offset: i64, origin: i32, error: Place<i32>) -> i64 {
    let result = file_handles::lookup(handle).and_then(|file| match origin {
        // SeekOrigin has the values of SEEK_SET, SEEK_CUR and SEEK_END.
        libc::SEEK_SET | libc::SEEK_CUR | libc::SEEK_END => seek_in(&file, offset, origin),
        _ => Err(Win32Error::INVALID_PARAMETER),
    });
    report(result, error, -1)
}

fn flush(t: CurrentThread, handle: usize, error: Place<i32>) -> bool {
    let result = file_handles::lookup(handle).and_then(|file| {
        file.require_disk()?;
        file.access.require(Access::WRITE)?;
        // SAFETY: an open descriptor.
        call(t, || Attempt::of(unsafe { libc::fsync(file.fd) })).map(|_| ())
    });
    report_success(result, error)
}

fn get_length(_t: CurrentThread, handle: usize, error: Place<i32>) -> i64 {
    let result = file_handles::lookup(handle).and_then(|file| {
        file.require_disk()?;
        file.access.require(Access::READ_WRITE)?;
        // SAFETY: zeroed, then filled by fstat.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: room for the status.
        if unsafe { libc::fstat(file.fd, &mut status) } != 0 {
            return Err(Win32Error::last());
        }
        if status.st_mode & libc::S_IFMT != libc::S_IFBLK {
            return Ok(status.st_size);
        }
        // Block devices have no size in their status.
        let here = seek_in(&file, 0, libc::SEEK_CUR)?;
        let end = seek_in(&file, 0, libc::SEEK_END)?;
        seek_in(&file, here, libc::SEEK_SET).map(|_| end)
    });
    report(result, error, 0xffff_ffff)
}

fn set_length(t: CurrentThread, handle: usize, length: i64, error: Place<i32>) -> bool {
    let result = file_handles::lookup(handle).and_then(|file| {
        file.require_disk()?;
        file.access.require(Access::WRITE)?;
        // SAFETY: an open descriptor.
        call(t, || Attempt::of(unsafe { libc::ftruncate(file.fd, length) })).map(|_| ())
    });
    report_success(result, error)
}

/// Sets or clears an advisory lock of this process on a region.
fn lock_region(handle: usize, lock_type: i32, position: i64, length: i64) -> IoResult<()> {
    let file = file_handles::lookup(handle)?;
    file.require_disk()?;
    file.access.require(Access::READ_WRITE)?;
    if position < 0 || length < 0 {
        return Err(Win32Error::INVALID_PARAMETER);
    }
    // SAFETY: all-zero is a valid `flock`; the fields that matter are set below.
    let mut region: libc::flock = unsafe { std::mem::zeroed() };
    region.l_type = lock_type as i16;
    region.l_whence = libc::SEEK_SET as i16;
    region.l_start = position;
    region.l_len = length;
    loop {
        // SAFETY: F_SETLK takes the address of a `flock`.
        if unsafe { libc::fcntl(file.fd, libc::F_SETLK, &region) } != -1 {
            return Ok(());
        }
        match errno() {
            libc::EINTR => {}
            // The file system has no locks: programs go on without them.
            libc::ENOLCK | libc::EOPNOTSUPP => return Ok(()),
            _ => return Err(Win32Error::LOCK_VIOLATION),
        }
    }
}

fn lock(_t: CurrentThread, handle: usize, position: i64, length: i64, error: Place<i32>) {
    report(lock_region(handle, libc::F_WRLCK, position, length), error, ());
}

fn unlock(_t: CurrentThread, handle: usize, position: i64, length: i64, error: Place<i32>) {
    report(lock_region(handle, libc::F_UNLCK, position, length), error, ());
}

fn get_file_type(_t: CurrentThread, handle: usize, error: Place<i32>) -> i32 {
    report(file_handles::lookup(handle).map(|file| file.file_type as i32), error, 0)
}

/// 100-ns ticks since 1601 → system time; negative = leave as it is.
fn file_time(ticks: i64) -> libc::timespec {
    const UNIX_EPOCH_TICKS: i64 = 116_444_736_000_000_000;
    const TICKS_PER_SECOND: i64 = 10_000_000;
    if ticks < 0 {
        return libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_OMIT };
    }
    let unix = ticks - UNIX_EPOCH_TICKS;
    libc::timespec { tv_sec: unix.div_euclid(TICKS_PER_SECOND), tv_nsec: unix.rem_euclid(TICKS_PER_SECOND) * 100 }
}

fn set_file_time(_t: CurrentThread, handle: usize, _creation: i64, access: i64, write: i64, error: Place<i32>) -> bool {
    let result = file_handles::lookup(handle).and_then(|file| {
        file.require_disk()?;
        file.access.require(Access::WRITE)?;
        let times = [file_time(access), file_time(write)];
        // SAFETY: an open descriptor and two times.
        match unsafe { libc::futimens(file.fd, times.as_ptr()) } {
            0 => Ok(()),
            _ => Err(Win32Error::last()),
        }
    });
    report_success(result, error)
}

fn console_input(_t: CurrentThread) -> isize {
    file_handles::console(libc::STDIN_FILENO)
}

fn console_output(_t: CurrentThread) -> isize {
    file_handles::console(libc::STDOUT_FILENO)
}

fn console_error(_t: CurrentThread) -> isize {
    file_handles::console(libc::STDERR_FILENO)
}

fn create_pipe(_t: CurrentThread, read: Place<isize>, write: Place<isize>, error: Place<i32>) -> bool {
    let mut ends = [-1; 2];
    // SAFETY: room for two descriptors.
    let result = match unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } {
        0 => Ok(()),
        _ => Err(Win32Error::last()),
    };
    if result.is_ok() {
        file_handles::insert(FileHandle::pipe(ends[0], Access::READ));
        file_handles::insert(FileHandle::pipe(ends[1], Access::WRITE));
        read.set(ends[0] as isize);
        write.set(ends[1] as isize);
    }
    report_success(result, error)
}

/// A second handle for the same file, or for the same waitable object.
fn duplicate(handle: usize) -> IoResult<isize> {
    if saki_runtime::exec::waitables::add_reference(handle) {
        return Ok(handle as isize);
    }
    let file = file_handles::lookup(handle)?;
    // SAFETY: an open descriptor.
    let fd = unsafe { libc::fcntl(file.fd, libc::F_DUPFD_CLOEXEC, 3) };
    if fd == -1 {
        return Err(Win32Error::last());
    }
    if let Some(counted) = file.counted {
        file_sharing::add_handle(counted);
    }
    file_handles::insert(FileHandle {
        fd,
        file_type: file.file_type,
        access: file.access,
        counted: file.counted,
        delete_on_close: None,
    });
    Ok(fd as isize)
}

fn duplicate_handle(
    _t: CurrentThread,
    _source_process: usize,
    source: usize,
    _target_process: usize,
    target: Place<isize>,
    _access: i32,
    _inherit: i32,
    _options: i32,
    error: Place<i32>,
) -> bool {
    report_success(duplicate(source).map(|handle| target.set(handle)), error)
}

macro_rules! path_characters {
    ($($name:ident = $character:literal),*) => {
        $(fn $name(_t: CurrentThread) -> i32 {
            $character as i32
        })*
    };
}
path_characters!(volume_separator = '/', directory_separator = '/', alternate_separator = '/', path_separator = ':');

/// The internal calls of `System.IO.MonoIO`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.IO.MonoIO::Cancel_internal", &cancel),
    InternalCall::new("System.IO.MonoIO::Close", &close),
    InternalCall::new("System.IO.MonoIO::CreatePipe", &create_pipe),
    InternalCall::new("System.IO.MonoIO::DuplicateHandle", &duplicate_handle),
    InternalCall::new("System.IO.MonoIO::Flush", &flush),
    InternalCall::new("System.IO.MonoIO::GetFileType", &get_file_type),
    InternalCall::new("System.IO.MonoIO::GetLength", &get_length),
    InternalCall::new("System.IO.MonoIO::Lock", &lock),
    InternalCall::new("System.IO.MonoIO::Open", &open),
    InternalCall::new("System.IO.MonoIO::Read", &read),
    InternalCall::new("System.IO.MonoIO::Seek", &seek),
    InternalCall::new("System.IO.MonoIO::SetFileTime", &set_file_time),
    InternalCall::new("System.IO.MonoIO::SetLength", &set_length),
    InternalCall::new("System.IO.MonoIO::Unlock", &unlock),
    InternalCall::new("System.IO.MonoIO::Write", &write),
    InternalCall::new("System.IO.MonoIO::get_AltDirectorySeparatorChar", &alternate_separator),
    InternalCall::new("System.IO.MonoIO::get_ConsoleError", &console_error),
    InternalCall::new("System.IO.MonoIO::get_ConsoleInput", &console_input),
    InternalCall::new("System.IO.MonoIO::get_ConsoleOutput", &console_output),
    InternalCall::new("System.IO.MonoIO::get_DirectorySeparatorChar", &directory_separator),
    InternalCall::new("System.IO.MonoIO::get_PathSeparator", &path_separator),
    InternalCall::new("System.IO.MonoIO::get_VolumeSeparatorChar", &volume_separator),
];
