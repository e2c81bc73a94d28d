//! System.Net.Dns: names and addresses, by the system's resolver.

use super::look_ups;
use crate::arguments::{non_null, string_array};
use saki_runtime::{CurrentThread, InternalCall, Managed, RefPlace, Str};
use std::ffi::{CStr, CString};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The hints of `Dns`: which families are wanted.
const HINT_IPV4: i32 = 1;
const HINT_IPV6: i32 = 2;

/// The name and addresses of a host.
struct Host {
    name: Option<String>,
    addresses: Vec<IpAddr>,
}

/// The address in a `sockaddr`; None for other families and null.
fn address_of(address: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: null or an address whose family says what it is.
    unsafe {
        match i32::from(address.as_ref()?.sa_family) {
            libc::AF_INET => {
                let bits = (*address.cast::<libc::sockaddr_in>()).sin_addr.s_addr;
                Some(Ipv4Addr::from(u32::from_be(bits)).into())
            }
            libc::AF_INET6 => Some(Ipv6Addr::from((*address.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr).into()),
            _ => None,
        }
    }
}

/// Asks the resolver; None when it finds nothing.
fn resolve(name: &CStr, hint: i32, only_configured: bool) -> Option<Host> {
    // SAFETY: all-zero is a valid set of hints.
    let mut hints: libc::addrinfo = unsafe { std::mem::zeroed() };
    hints.ai_family = match hint & (HINT_IPV4 | HINT_IPV6) {
        HINT_IPV4 => libc::AF_INET,
        HINT_IPV6 => libc::AF_INET6,
        _ => libc::AF_UNSPEC,
    };
    hints.ai_socktype = libc::SOCK_STREAM;
    hints.ai_flags = libc::AI_CANONNAME | if only_configured { libc::AI_ADDRCONFIG } else { 0 };
    let mut list = std::ptr::null_mut();
    // SAFETY: a NUL-terminated name; the list is freed below.
    if unsafe { libc::getaddrinfo(name.as_ptr(), std::ptr::null(), &hints, &mut list) } != 0 {
        return None;
    }
    let mut host = Host { name: None, addresses: Vec::new() };
    let mut next = list;
    // SAFETY: the entries of the resolver's list.
    while let Some(entry) = unsafe { next.as_ref() } {
        host.addresses.extend(address_of(entry.ai_addr));
        if host.name.is_none() && !entry.ai_canonname.is_null() {
            // SAFETY: a NUL-terminated name of the list.
            host.name = Some(unsafe { CStr::from_ptr(entry.ai_canonname) }.to_string_lossy().into_owned());
        }
        next = entry.ai_next;
    }
    // SAFETY: from getaddrinfo.
    unsafe { libc::freeaddrinfo(list) };
    Some(host)
}

/// The IPv4 addresses of this machine's interfaces that are up, without loopback ones unless there are no others.
fn local_addresses() -> Vec<IpAddr> {
    let mut list = std::ptr::null_mut();
    // SAFETY: the list is freed below.
    if unsafe { libc::getifaddrs(&mut list) } != 0 {
        return Vec::new();
    }
    let (mut addresses, mut loopback) = (Vec::new(), Vec::new());
    let mut next = list;
    // SAFETY: the entries of the system's list.
    while let Some(entry) = unsafe { next.as_ref() } {
        let address = address_of(entry.ifa_addr).filter(IpAddr::is_ipv4);
        if entry.ifa_flags & libc::IFF_UP as u32 != 0 {
            let is_loopback = entry.ifa_flags & libc::IFF_LOOPBACK as u32 != 0;
            if is_loopback { &mut loopback } else { &mut addresses }.extend(address);
        }
        next = entry.ifa_next;
    }
    // SAFETY: from getifaddrs.
    unsafe { libc::freeifaddrs(list) };
    if addresses.is_empty() { loopback } else { addresses }
}

fn host_name() -> Option<String> {
    let mut name = [0u8; 1025];
    // SAFETY: room for the name and a NUL.
    if unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) } != 0 {
        return None;
    }
    CStr::from_bytes_until_nul(&name).ok().map(|name| name.to_string_lossy().into_owned())
}

/// The empty name and this machine's own mean the local addresses, when there are any.
fn by_name(name: &str, hint: i32) -> Option<Host> {
    if name.is_empty() || host_name().as_deref() == Some(name) {
        let addresses = local_addresses();
        if !addresses.is_empty() {
            return Some(Host { name: Some(name.to_owned()), addresses });
        }
    }
    resolve(&CString::new(name).ok()?, hint, false)
}

fn by_address(address: &str, hint: i32) -> Option<Host> {
    use super::socket_addresses::Address;
    let address = match address.parse().ok()? {
        IpAddr::V4(ip) => {
            // SAFETY: all-zero is a valid address.
            let mut v4: libc::sockaddr_in = unsafe { std::mem::zeroed() };
            v4.sin_family = libc::AF_INET as u16;
            v4.sin_addr.s_addr = u32::from(ip).to_be();
            Address::of(v4, size_of::<libc::sockaddr_in>())
        }
        IpAddr::V6(ip) => {
            // SAFETY: all-zero is a valid address.
            let mut v6: libc::sockaddr_in6 = unsafe { std::mem::zeroed() };
            v6.sin6_family = libc::AF_INET6 as u16;
            v6.sin6_addr.s6_addr = ip.octets();
            Address::of(v6, size_of::<libc::sockaddr_in6>())
        }
    };
    let mut name = [0u8; 1025];
    // SAFETY: an address with its length, and room for the longest name.
    let failed = unsafe {
        let (buffer, length) = (name.as_mut_ptr().cast(), name.len() as libc::socklen_t);
        libc::getnameinfo(address.pointer(), address.length, buffer, length, std::ptr::null_mut(), 0, 0)
    };
    if failed != 0 {
        return None;
    }
    resolve(CStr::from_bytes_until_nul(&name).ok()?, hint, true)
}

/// Stores what was found; there never are aliases.
fn store(
    t: CurrentThread,
    host: Option<Host>,
    name: RefPlace,
    aliases: RefPlace,
    addresses: RefPlace,
) -> Managed<bool> {
    let Some(host) = host else { return Ok(false) };
    let texts: Vec<String> = host.addresses.iter().map(IpAddr::to_string).collect();
    aliases.set(t, string_array::<&str>(t, &[])?);
    addresses.set(t, string_array(t, &texts)?);
    if let Some(text) = host.name.as_ref().or(texts.first()) {
        name.set(t, Str::new(t, text)?);
    }
    Ok(true)
}

fn get_host_by_name(
    t: CurrentThread,
    host: Option<Str>,
    name: RefPlace,
    aliases: RefPlace,
    addresses: RefPlace,
    hint: i32,
) -> Managed<bool> {
    let host = non_null(t, host, "host")?;
    let text = host.to_rust();
    let found = look_ups::run(t, move || by_name(&text, hint))?;
    store(t, found, name, aliases, addresses)
}

fn get_host_by_address(
    t: CurrentThread,
    address: Option<Str>,
    name: RefPlace,
    aliases: RefPlace,
    addresses: RefPlace,
    hint: i32,
) -> Managed<bool> {
    let address = non_null(t, address, "addr")?;
    let text = address.to_rust();
    let found = look_ups::run(t, move || by_address(&text, hint))?;
    store(t, found, name, aliases, addresses)
}

fn get_host_name(t: CurrentThread, name: RefPlace) -> Managed<bool> {
    match host_name() {
        Some(text) => {
            name.set(t, Str::new(t, &text)?);
            Ok(true)
        }
        None => Ok(false),
    }
}

/// The internal calls of `System.Net.Dns`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@6.8 System.Net.Dns::GetHostByAddr_internal", &get_host_by_address),
    InternalCall::new("@6.12,6.14 System.Net.Dns::GetHostByAddr_icall", &get_host_by_address),
    InternalCall::new("@6.8 System.Net.Dns::GetHostByName_internal", &get_host_by_name),
    InternalCall::new("@6.12,6.14 System.Net.Dns::GetHostByName_icall", &get_host_by_name),
    InternalCall::new("@6.8 System.Net.Dns::GetHostName_internal", &get_host_name),
    InternalCall::new("@6.12,6.14 System.Net.Dns::GetHostName_icall", &get_host_name),
];
