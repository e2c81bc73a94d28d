//! Structures of libSystem.Native.

/// The library's form of `msghdr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct MessageHeader {
    pub(super) address: *mut u8,
    pub(super) vectors: *mut libc::iovec,
    pub(super) control: *mut u8,
    pub(super) address_len: i32,
    pub(super) vector_count: i32,
    pub(super) control_len: i32,
    pub(super) flags: i32,
}

/// The library's form of `pollfd`.
#[repr(C)]
pub(super) struct PollEvent {
    pub(super) fd: i32,
    pub(super) events: i16,
    pub(super) triggered: i16,
}

/// The library's form of `epoll_event`.
#[repr(C)]
pub(super) struct SocketEvent {
    pub(super) data: usize,
    pub(super) events: i32,
    pub(super) padding: u32,
}

/// The library's description of a host: four words, among them addresses of lists that it frees later.
pub(super) type HostEntry = [usize; 4];
