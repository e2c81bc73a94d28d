//! System.Net.Sockets.Socket: options.
//!
//! Times are milliseconds in managed code and `timeval` in the system. The system doubles buffer sizes, so half is set.
//! SO_REUSEPORT goes with SO_REUSEADDR for streams and datagrams. Left out: peer credentials.

use super::socket_addresses::{ipv4_of, ipv6_of};
use super::socket_errors::{SocketError, SocketResult, check, report};
use super::socket_table::{self, Socket, lookup};
use saki_os::error::Errno;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Place, RefPlace};
use saki_types::{LibraryType, universe};
use std::sync::atomic::Ordering;

/// `SocketOptionName`s that need more than a number.
mod name {
    pub(super) const DONT_LINGER: i32 = -129;
    pub(super) const EXCLUSIVE_ADDRESS_USE: i32 = -5;
    pub(super) const LINGER: i32 = 0x80;
    pub(super) const MULTICAST_INTERFACE: i32 = 9;
    pub(super) const ADD_MEMBERSHIP: i32 = 12;
    pub(super) const DROP_MEMBERSHIP: i32 = 13;
    pub(super) const DONT_FRAGMENT: i32 = 14;
}

/// `SocketOptionLevel`.
const SOCKET: i32 = 0xffff;
const IP: i32 = 0;
const TCP: i32 = 6;
const IPV6: i32 = 41;

/// The system's level and name.
fn system_option(level: i32, name: i32) -> SocketResult<(i32, i32)> {
    let found = match level {
        SOCKET => match name {
            1 => libc::SO_DEBUG,
            2 => libc::SO_ACCEPTCONN,
            4 | name::EXCLUSIVE_ADDRESS_USE => libc::SO_REUSEADDR,
            8 => libc::SO_KEEPALIVE,
            0x10 => libc::SO_DONTROUTE,
            0x20 => libc::SO_BROADCAST,
            name::LINGER | name::DONT_LINGER => libc::SO_LINGER,
            0x100 => libc::SO_OOBINLINE,
            0x1001 => libc::SO_SNDBUF,
            0x1002 => libc::SO_RCVBUF,
            0x1003 => libc::SO_SNDLOWAT,
            0x1004 => libc::SO_RCVLOWAT,
            0x1005 => libc::SO_SNDTIMEO,
            0x1006 => libc::SO_RCVTIMEO,
            0x1007 => libc::SO_ERROR,
            0x1008 => libc::SO_TYPE,
            _ => return Err(SocketError::PROTOCOL_OPTION),
        },
        IP => match name {
            1 => libc::IP_OPTIONS,
            2 => libc::IP_HDRINCL,
            3 => libc::IP_TOS,
            4 => libc::IP_TTL,
            name::MULTICAST_INTERFACE => libc::IP_MULTICAST_IF,
            10 => libc::IP_MULTICAST_TTL,
            11 => libc::IP_MULTICAST_LOOP,
            name::ADD_MEMBERSHIP => libc::IP_ADD_MEMBERSHIP,
            name::DROP_MEMBERSHIP => libc::IP_DROP_MEMBERSHIP,
            name::DONT_FRAGMENT => libc::IP_MTU_DISCOVER,
            19 => libc::IP_PKTINFO,
            _ => return Err(SocketError::PROTOCOL_OPTION),
        },
        IPV6 => match name {
            4 | 21 => libc::IPV6_UNICAST_HOPS,
            name::MULTICAST_INTERFACE => libc::IPV6_MULTICAST_IF,
            10 => libc::IPV6_MULTICAST_HOPS,
            11 => libc::IPV6_MULTICAST_LOOP,
            name::ADD_MEMBERSHIP => libc::IPV6_ADD_MEMBERSHIP,
            name::DROP_MEMBERSHIP => libc::IPV6_DROP_MEMBERSHIP,
            19 => libc::IPV6_PKTINFO,
            27 => libc::IPV6_V6ONLY,
            _ => return Err(SocketError::PROTOCOL_OPTION),
        },
        TCP if name == 1 => libc::TCP_NODELAY,
        _ => return Err(SocketError::PROTOCOL_OPTION),
    };
    let level = match level {
        SOCKET => libc::SOL_SOCKET,
        level => level,
    };
    Ok((level, found))
}

fn is_time(level: i32, name: i32) -> bool {
    level == libc::SOL_SOCKET && matches!(name, libc::SO_RCVTIMEO | libc::SO_SNDTIMEO)
}

/// Reads an option of the type `T`, which is plain bytes.
fn get<T: Copy>(socket: &Socket, level: i32, name: i32) -> SocketResult<T> {
    // SAFETY: `T` is a number or a structure of numbers; all-zero is valid.
    let mut value: T = unsafe { std::mem::zeroed() };
    let mut size = size_of::<T>() as libc::socklen_t;
    // SAFETY: room for `size` bytes.
    check(unsafe { libc::getsockopt(socket.fd, level, name, (&raw mut value).cast(), &mut size) })?;
    Ok(value)
}

fn set<T: Copy>(socket: &Socket, level: i32, name: i32, value: T) -> SocketResult<()> {
    let size = size_of::<T>() as libc::socklen_t;
    // SAFETY: an option value of `size` bytes.
    check(unsafe { libc::setsockopt(socket.fd, level, name, (&raw const value).cast(), size) }).map(|_| ())
}

/// Reads an option that is a number.
fn get_number(socket: &Socket, level: i32, name: i32) -> SocketResult<i32> {
    if is_time(level, name) {
        let time: libc::timeval = get(socket, level, name)?;
        return Ok((time.tv_sec * 1000 + time.tv_usec / 1000) as i32);
    }
    let value = get(socket, level, name)?;
    if (level, name) != (libc::SOL_SOCKET, libc::SO_ERROR) {
        return Ok(value);
    }
    // Relaxed: the number publishes no other memory.
    if value == 0 {
        return Ok(socket.saved_error.load(Ordering::Relaxed));
    }
    let code = SocketError::from_errno(Errno(value)).0;
    socket.saved_error.store(code, Ordering::Relaxed);
    Ok(code)
}

fn set_number(socket: &Socket, level: i32, name: i32, value: i32) -> SocketResult<()> {
    if is_time(level, name) {
        let time = libc::timeval { tv_sec: i64::from(value / 1000), tv_usec: i64::from(value % 1000) * 1000 };
        set(socket, level, name, time)?;
        socket_table::note_timeout_changed(socket);
        return Ok(());
    }
    if level != libc::SOL_SOCKET {
        return set(socket, level, name, value);
    }
    let halved = matches!(name, libc::SO_SNDBUF | libc::SO_RCVBUF);
    set(socket, level, name, if halved { value / 2 } else { value })?;
    if name == libc::SO_REUSEADDR && matches!(socket.kind, libc::SOCK_STREAM | libc::SOCK_DGRAM) {
        // Not every address family has this option.
        let _ = socket_table::set_int_option(socket.fd, level, libc::SO_REUSEPORT, value);
    }
    Ok(())
}

static LINGER_ENABLED: ManagedField = ManagedField::new(LibraryType::LingerOption, "enabled");
static LINGER_TIME: ManagedField = ManagedField::new(LibraryType::LingerOption, "lingerTime");

/// The managed type of an option's value.
enum Value {
    Number(i32),
    Linger(libc::linger),
}

fn get_value(socket: usize, level: i32, name: i32) -> SocketResult<Value> {
    let (system_level, system_name) = system_option(level, name)?;
    let socket = lookup(socket)?;
    Ok(match (level, name) {
        (SOCKET, name::LINGER) => Value::Linger(get(&socket, system_level, system_name)?),
        (SOCKET, name::DONT_LINGER) => {
            let linger: libc::linger = get(&socket, system_level, system_name)?;
            Value::Number(i32::from(linger.l_onoff == 0))
        }
        (SOCKET, name::EXCLUSIVE_ADDRESS_USE) => {
            Value::Number(i32::from(get_number(&socket, system_level, system_name)? == 0))
        }
        _ => Value::Number(get_number(&socket, system_level, system_name)?),
    })
}

fn get_object(
    t: CurrentThread,
    socket: usize,
    level: i32,
    name: i32,
    value: RefPlace,
    error: Place<i32>,
) -> Managed<()> {
    let found = match get_value(socket, level, name) {
        Ok(found) => report(Ok(found), error, Value::Number(0)),
        Err(code) => {
            report(Err(code), error, ());
            return Ok(());
        }
    };
    let boxed = match found {
        Value::Number(number) => {
            let int = universe().library_type(LibraryType::Int32).to_managed(t)?;
            Obj::boxed_number(t, int, number)?
        }
        Value::Linger(linger) => {
            let ty = universe().library_type(LibraryType::LingerOption).to_managed(t)?;
            let option = Obj::new(t, ty)?;
            LINGER_ENABLED.set(option, u8::from(linger.l_onoff != 0));
            LINGER_TIME.set(option, linger.l_linger);
            option
        }
    };
    value.set(t, boxed);
    Ok(())
}

/// Fills the byte array that the reference holds.
fn get_bytes(_t: CurrentThread, socket: usize, level: i32, name: i32, array: RefPlace, error: Place<i32>) {
    let result = system_option(level, name).and_then(|(system_level, system_name)| {
        let socket = lookup(socket)?;
        let array = array.get().and_then(Obj::as_array).ok_or(SocketError::FAULT)?;
        if is_time(system_level, system_name) {
            let bytes = get_number(&socket, system_level, system_name)?.to_ne_bytes();
            if array.length() < bytes.len() {
                return Err(SocketError::FAULT);
            }
            array.set_numbers(0, &bytes);
            return Ok(());
        }
        let mut bytes = array.numbers::<u8>();
        let mut size = bytes.len() as libc::socklen_t;
        let place = bytes.as_mut_ptr().cast();
        // SAFETY: room for `size` bytes.
        check(unsafe { libc::getsockopt(socket.fd, system_level, system_name, place, &mut size) })?;
        array.set_numbers(0, &bytes);
        Ok(())
    });
    report(result, error, ());
}

/// Sets an option that is an object: linger options and multicast groups.
fn set_object(
    t: CurrentThread,
    socket: &Socket,
    level: i32,
    name: i32,
    system_name: i32,
    value: Obj,
) -> Managed<SocketResult<()>> {
    static GROUP: ManagedField = ManagedField::new(LibraryType::MulticastOption, "group");
    static LOCAL: ManagedField = ManagedField::new(LibraryType::MulticastOption, "localAddress");
    static INDEX: ManagedField = ManagedField::new(LibraryType::MulticastOption, "ifIndex");
    static GROUP6: ManagedField = ManagedField::new(LibraryType::IPv6MulticastOption, "m_Group");
    static INDEX6: ManagedField = ManagedField::new(LibraryType::IPv6MulticastOption, "m_Interface");
    let is_a = |class: LibraryType| -> Managed<bool> {
        let ty = universe().library_type(class).to_managed(t)?;
        value.is_instance(t, ty)
    };
    Ok(match (level, name) {
        (SOCKET, name::LINGER) if is_a(LibraryType::LingerOption)? => {
            let on = i32::from(LINGER_ENABLED.get::<u8>(value));
            let linger = libc::linger { l_onoff: on, l_linger: LINGER_TIME.get::<i32>(value) };
            set(socket, libc::SOL_SOCKET, system_name, linger)
        }
        (IP, name::ADD_MEMBERSHIP | name::DROP_MEMBERSHIP) if is_a(LibraryType::MulticastOption)? => {
            let request = libc::ip_mreqn {
                imr_multiaddr: ipv4_of(GROUP.obj(value)),
                imr_address: ipv4_of(LOCAL.obj(value)),
                imr_ifindex: INDEX.get::<i32>(value),
            };
            set(socket, level, system_name, request)
        }
        (IPV6, name::ADD_MEMBERSHIP | name::DROP_MEMBERSHIP) if is_a(LibraryType::IPv6MulticastOption)? => {
            let request = libc::ipv6_mreq {
                ipv6mr_multiaddr: ipv6_of(t, GROUP6.obj(value))?,
                ipv6mr_interface: INDEX6.get::<i64>(value) as u32,
            };
            set(socket, level, system_name, request)
        }
        _ => Err(SocketError::INVALID_ARGUMENT),
    })
}

fn set_array(socket: &Socket, level: i32, name: i32, managed_name: i32, array: Array) -> SocketResult<()> {
    let bytes = array.numbers::<u8>();
    if managed_name == name::DONT_LINGER {
        let &[value] = &bytes[..] else { return Err(SocketError::INVALID_ARGUMENT) };
        return set(socket, level, name, libc::linger { l_onoff: i32::from(value == 0), l_linger: 0 });
    }
    if let Some(&number) = bytes.first_chunk()
        && (is_time(level, name) || matches!((level, name), (libc::SOL_SOCKET, libc::SO_SNDBUF | libc::SO_RCVBUF)))
    {
        return set_number(socket, level, name, i32::from_ne_bytes(number));
    }
    let length = bytes.len() as libc::socklen_t;
    // SAFETY: `length` bytes.
    check(unsafe { libc::setsockopt(socket.fd, level, name, bytes.as_ptr().cast(), length) }).map(|_| ())
}

fn set_value(socket: &Socket, level: i32, name: i32, managed_name: i32, value: i32) -> SocketResult<()> {
    match (level, managed_name) {
        (libc::SOL_SOCKET, name::DONT_LINGER) => {
            set(socket, level, name, libc::linger { l_onoff: i32::from(value == 0), l_linger: 0 })
        }
        (libc::SOL_SOCKET, name::EXCLUSIVE_ADDRESS_USE) => set_number(socket, level, name, i32::from(value == 0)),
        (libc::IPPROTO_IP, name::MULTICAST_INTERFACE) => {
            let index = i32::from_be(value);
            if index as u32 & 0xff00_0000 != 0 {
                return set(socket, level, name, value);
            }
            // A small number is an interface index in network order.
            let any = libc::in_addr { s_addr: 0 };
            set(socket, level, name, libc::ip_mreqn { imr_multiaddr: any, imr_address: any, imr_ifindex: index })
        }
        (libc::IPPROTO_IP, name::DONT_FRAGMENT) if value == 1 => set_number(socket, level, name, libc::IP_PMTUDISC_DO),
        _ => set_number(socket, level, name, value),
    }
}

/// One of the three values is used: the object if there is one, else the array, else the number.
fn set_option(
    t: CurrentThread,
    socket: usize,
    level: i32,
    name: i32,
    object: Option<Obj>,
    array: Option<Array>,
    number: i32,
    error: Place<i32>,
) -> Managed<()> {
    let found = system_option(level, name).and_then(|system| Ok((system, lookup(socket)?)));
    let result = match found {
        Err(code) => Err(code),
        Ok(((system_level, system_name), socket)) => match (object, array) {
            (Some(object), _) => set_object(t, &socket, level, name, system_name, object)?,
            (None, Some(array)) => set_array(&socket, system_level, system_name, name, array),
            (None, None) => set_value(&socket, system_level, system_name, name, number),
        },
    };
    report(result, error, ());
    Ok(())
}

/// The internal calls of `System.Net.Sockets.Socket`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@6.8 System.Net.Sockets.Socket::GetSocketOption_arr_internal", &get_bytes),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::GetSocketOption_arr_icall", &get_bytes),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::GetSocketOption_obj_internal", &get_object),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::GetSocketOption_obj_icall", &get_object),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::SetSocketOption_internal", &set_option),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::SetSocketOption_icall", &set_option),
];
