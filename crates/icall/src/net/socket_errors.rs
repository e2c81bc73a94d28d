//! Winsock error codes, the values of `SocketError`, and their relation to errno.

use saki_os::error::Errno;
use saki_runtime::Place;

/// A Winsock error code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SocketError(pub i32);

pub(crate) type SocketResult<T> = Result<T, SocketError>;

impl SocketError {
    pub(crate) const INTERRUPTED: SocketError = SocketError(10004);
    pub(crate) const ACCESS_DENIED: SocketError = SocketError(10013);
    pub(crate) const FAULT: SocketError = SocketError(10014);
    pub(crate) const INVALID_ARGUMENT: SocketError = SocketError(10022);
    pub(crate) const TOO_MANY_OPEN_SOCKETS: SocketError = SocketError(10024);
    pub(crate) const WOULD_BLOCK: SocketError = SocketError(10035);
    pub(crate) const IN_PROGRESS: SocketError = SocketError(10036);
    pub(crate) const NOT_SOCKET: SocketError = SocketError(10038);
    pub(crate) const PROTOCOL_OPTION: SocketError = SocketError(10042);
    pub(crate) const PROTOCOL_NOT_SUPPORTED: SocketError = SocketError(10043);
    pub(crate) const SOCKET_TYPE_NOT_SUPPORTED: SocketError = SocketError(10044);
    pub(crate) const OPERATION_NOT_SUPPORTED: SocketError = SocketError(10045);
    pub(crate) const ADDRESS_FAMILY_NOT_SUPPORTED: SocketError = SocketError(10047);
    pub(crate) const CONNECTION_ABORTED: SocketError = SocketError(10053);
    pub(crate) const TIMED_OUT: SocketError = SocketError(10060);
    pub(crate) const CONNECTION_REFUSED: SocketError = SocketError(10061);

    /// The code that class libraries expect for an errno value.
    pub(crate) fn from_errno(Errno(errno): Errno) -> SocketError {
        SocketError(match errno {
            libc::EACCES | libc::EPERM => return SocketError::ACCESS_DENIED,
            libc::EADDRINUSE => 10048,
            libc::EAFNOSUPPORT => return SocketError::ADDRESS_FAMILY_NOT_SUPPORTED,
            libc::EAGAIN => return SocketError::WOULD_BLOCK,
            libc::EALREADY => 10037,
            libc::EBADF | libc::ENOTSOCK | libc::ENOTTY => return SocketError::NOT_SOCKET,
            libc::ECONNABORTED | libc::ENETDOWN | libc::ENODEV | libc::ENOSR => 10050,
            libc::ECONNREFUSED | libc::ENOENT => return SocketError::CONNECTION_REFUSED,
            libc::ECONNRESET => 10054,
            libc::EDESTADDRREQ => 10039,
            libc::EFAULT => return SocketError::FAULT,
            libc::EHOSTDOWN => 10064,
            libc::EHOSTUNREACH => 10065,
            libc::EINPROGRESS => return SocketError::IN_PROGRESS,
            libc::EINTR => return SocketError::INTERRUPTED,
            libc::EIO => 6,
            libc::EISCONN => 10056,
            libc::ELOOP => 10062,
            libc::ENFILE | libc::EMFILE => return SocketError::TOO_MANY_OPEN_SOCKETS,
            libc::EMSGSIZE => 10040,
            libc::ENAMETOOLONG => 10063,
            libc::ENETUNREACH | libc::ENONET => 10051,
            libc::ENOBUFS | libc::ENOMEM => 10055,
            libc::ENOPROTOOPT => return SocketError::PROTOCOL_OPTION,
            libc::ENOTCONN => 10057,
            libc::ENOTDIR => 87,
            libc::EOPNOTSUPP => return SocketError::OPERATION_NOT_SUPPORTED,
            libc::EPIPE => 10058,
            libc::EPROTONOSUPPORT => return SocketError::PROTOCOL_NOT_SUPPORTED,
            libc::EPROTOTYPE => 10041,
            libc::ESOCKTNOSUPPORT => return SocketError::SOCKET_TYPE_NOT_SUPPORTED,
            libc::ETIMEDOUT => return SocketError::TIMED_OUT,
            libc::EADDRNOTAVAIL => 10049,
            _ => return SocketError::INVALID_ARGUMENT,
        })
    }

    /// The code for the last failed system call of this thread.
    pub(crate) fn last() -> SocketError {
        SocketError::from_errno(Errno::last())
    }
}

/// The value of a system call, or its error.
pub(crate) fn check(result: i32) -> SocketResult<i32> {
    if result == -1 { Err(SocketError::last()) } else { Ok(result) }
}

/// Stores the outcome through an `out int error` and returns the value, or `failed`. An error also becomes the thread's
/// last error.
pub(crate) fn report<T>(result: SocketResult<T>, error: Place<i32>, failed: T) -> T {
    let (value, code) = match result {
        Ok(value) => (value, 0),
        Err(code) => {
            saki_interop::host::set_last_error(code.0);
            (failed, code.0)
        }
    };
    error.set(code);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errno_values_map_as_the_class_library_expects() {
        for (errno, code) in [
            (libc::ECONNREFUSED, 10061),
            (libc::EAGAIN, 10035),
            (libc::EPIPE, 10058),
            (libc::ENOENT, 10061),
            (libc::EBADF, 10038),
            (9999, 10022),
        ] {
            assert_eq!(SocketError::from_errno(Errno(errno)), SocketError(code), "errno {errno}");
        }
    }
}
