//! System.Net.SocketAddress and the system's `sockaddr`.
//!
//! A SocketAddress holds bytes: the managed family (2, little endian), then for IPv4 port (2) and address (4), for IPv6
//! port (2), flow (4), address (16) and scope (4, little endian), for Unix the path.

use super::socket_errors::SocketError;
use crate::arguments::{argument_error, non_null};
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{Array, CurrentThread, Managed, ManagedField, Obj};
use saki_types::{LibraryType, universe};

static BUFFER: ManagedField = ManagedField::new(LibraryType::SocketAddress, "m_Buffer");
static SIZE: ManagedField = ManagedField::new(LibraryType::SocketAddress, "m_Size");

/// `AddressFamily`.
const FAMILIES: [(i32, i32); 6] = [
    (0, libc::AF_UNSPEC),
    (1, libc::AF_UNIX),
    (2, libc::AF_INET),
    (6, libc::AF_IPX),
    (16, libc::AF_APPLETALK),
    (23, libc::AF_INET6),
];

/// The system's number of a managed address family.
pub(crate) fn system_family(family: i32) -> Option<i32> {
    FAMILIES.iter().find(|(managed, _)| *managed == family).map(|(_, system)| *system)
}

fn managed_family(family: i32) -> Option<i32> {
    FAMILIES.iter().find(|(_, system)| *system == family).map(|(managed, _)| *managed)
}

const IPV4_BYTES: usize = 8;
const IPV6_BYTES: usize = 28;
const UNIX_PATH_BYTES: usize = 108;

/// A `sockaddr` of any family.
#[derive(Clone, Copy)]
pub(crate) struct Address {
    storage: libc::sockaddr_storage,
    pub(crate) length: libc::socklen_t,
}

impl Address {
    /// Room for any address.
    pub(crate) fn empty() -> Address {
        // SAFETY: all-zero is a valid sockaddr_storage.
        let storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
        Address { storage, length: size_of::<libc::sockaddr_storage>() as libc::socklen_t }
    }

    pub(crate) fn of<T: Copy>(address: T, length: usize) -> Address {
        let mut result = Address::empty();
        const { assert!(size_of::<T>() <= size_of::<libc::sockaddr_storage>()) };
        // SAFETY: the storage is large enough, by the assertion, and aligned for every kind of address.
        unsafe { (&raw mut result.storage).cast::<T>().write(address) };
        result.length = length as libc::socklen_t;
        result
    }

    pub(crate) fn pointer(&self) -> *const libc::sockaddr {
        (&raw const self.storage).cast()
    }

    pub(crate) fn pointer_mut(&mut self) -> *mut libc::sockaddr {
        (&raw mut self.storage).cast()
    }

    /// All bytes, from the family on.
    fn bytes(&self) -> &[u8] {
        // SAFETY: the storage was zeroed, so every byte is initialized.
        unsafe { std::slice::from_raw_parts((&raw const self.storage).cast(), size_of::<libc::sockaddr_storage>()) }
    }
}

/// An address, or the error for it: a socket error for an unknown family, otherwise an exception.
pub(crate) type AddressResult<T> = Managed<Result<T, SocketError>>;

/// # Errors
/// SystemException for an address that is too short, ArgumentOutOfRangeException for a path that is too long.
pub(crate) fn from_managed(t: CurrentThread, address: Option<Obj>) -> AddressResult<Address> {
    let address = non_null(t, address, "sockaddr")?;
    let buffer = non_null(t, BUFFER.array(address), "sockaddr")?;
    let size = usize::try_from(SIZE.get::<i32>(address)).unwrap_or(0).min(buffer.length());
    let bytes = buffer.numbers_in::<u8>(0, size);
    let too_short = || exceptions::throw(t, ExceptionType::System, "");
    let &[low, high, ref rest @ ..] = &bytes[..] else { return Err(too_short()) };
    let family = system_family(i32::from(u16::from_le_bytes([low, high])));
    Ok(Ok(match family {
        Some(libc::AF_INET) => {
            let Some(&[p0, p1, a, b, c, d]) = rest.first_chunk() else { return Err(too_short()) };
            let address = libc::sockaddr_in {
                sin_family: libc::AF_INET as u16,
                sin_port: u16::from_ne_bytes([p0, p1]),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes([a, b, c, d]) },
                sin_zero: [0; 8],
            };
            Address::of(address, size_of::<libc::sockaddr_in>())
        }
        Some(libc::AF_INET6) => {
            if size < IPV6_BYTES {
                return Err(too_short());
            }
            let mut host = [0; 16];
            host.copy_from_slice(&bytes[8..24]);
            let address = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as u16,
                sin6_port: u16::from_ne_bytes([bytes[2], bytes[3]]),
                sin6_flowinfo: 0,
                sin6_addr: libc::in6_addr { s6_addr: host },
                sin6_scope_id: u32::from_le_bytes([bytes[24], bytes[25], bytes[26], bytes[27]]),
            };
            Address::of(address, size_of::<libc::sockaddr_in6>())
        }
        Some(libc::AF_UNIX) => {
            if rest.len() >= UNIX_PATH_BYTES {
                let message = "The path of the socket is too long.";
                return Err(exceptions::throw(t, ExceptionType::ArgumentOutOfRange, message));
            }
            let mut path = [0; UNIX_PATH_BYTES];
            for (to, &from) in path.iter_mut().zip(rest) {
                *to = from as libc::c_char;
            }
            Address::of(libc::sockaddr_un { sun_family: libc::AF_UNIX as u16, sun_path: path }, size)
        }
        _ => return Ok(Err(SocketError::ADDRESS_FAMILY_NOT_SUPPORTED)),
    }))
}

/// A new SocketAddress.
///
/// # Errors
/// OutOfMemoryException.
pub(crate) fn to_managed<'t>(t: CurrentThread<'t>, address: &Address) -> AddressResult<Obj<'t>> {
    let raw = address.bytes();
    let family = i32::from(u16::from_ne_bytes([raw[0], raw[1]]));
    let length = (address.length as usize).min(raw.len() - 2);
    let Some(managed) = managed_family(family) else { return Ok(Err(SocketError::ADDRESS_FAMILY_NOT_SUPPORTED)) };
    let size = match family {
        libc::AF_INET => IPV4_BYTES,
        libc::AF_INET6 => IPV6_BYTES,
        libc::AF_UNIX => length + 2,
        _ => return Ok(Err(SocketError::ADDRESS_FAMILY_NOT_SUPPORTED)),
    };
    let mut bytes = vec![0; size.max(length + 2)];
    match family {
        libc::AF_INET => bytes[2..8].copy_from_slice(&raw[2..8]),
        libc::AF_INET6 => {
            bytes[2..4].copy_from_slice(&raw[2..4]);
            const MAPPED_ANY: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0];
            // The mapped form of "any IPv4 address" is shown as "any".
            if raw[8..24] != MAPPED_ANY {
                bytes[8..24].copy_from_slice(&raw[8..24]);
            }
            let scope = u32::from_ne_bytes([raw[24], raw[25], raw[26], raw[27]]);
            bytes[24..28].copy_from_slice(&scope.to_le_bytes());
        }
        _ => bytes[2..length + 2].copy_from_slice(&raw[2..length + 2]),
    }
    bytes[..2].copy_from_slice(&(managed as u16).to_le_bytes());
    let ty = universe().library_type(LibraryType::SocketAddress).to_managed(t)?;
    let result = Obj::new(t, ty)?;
    let buffer = Array::of_bytes(t, &bytes)?;
    BUFFER.set_ref(t, result, buffer);
    SIZE.set(result, size as i32);
    Ok(Ok(result))
}

/// The IPv4 address of an IPAddress, in network order as in memory; 0 for null.
pub(crate) fn ipv4_of(address: Option<Obj>) -> libc::in_addr {
    static ADDRESS: ManagedField = ManagedField::new(LibraryType::IPAddress, "_addressOrScopeId");
    libc::in_addr { s_addr: address.map_or(0, |address| ADDRESS.get::<u32>(address)).to_le() }
}

/// The IPv6 address of an IPAddress; "any" for null.
///
/// # Errors
/// ArgumentException for an IPv4 address.
pub(crate) fn ipv6_of(t: CurrentThread, address: Option<Obj>) -> Managed<libc::in6_addr> {
    static NUMBERS: ManagedField = ManagedField::new(LibraryType::IPAddress, "_numbers");
    let mut bytes = [0; 16];
    if let Some(address) = address {
        let Some(numbers) = NUMBERS.array(address).filter(|numbers| numbers.length() >= 8) else {
            return Err(argument_error(t, "The address is no IPv6 address."));
        };
        for (pair, number) in bytes.chunks_exact_mut(2).zip(numbers.numbers::<u16>()) {
            pair.copy_from_slice(&number.to_be_bytes());
        }
    }
    Ok(libc::in6_addr { s6_addr: bytes })
}
