//! The places in code that depend on an address, and how the address is used.
//!
//! `jit` and the code cache name targets by symbols, `code` by addresses; the rest of a relocation is the same for all
//! three.
//!
//! Invariant: a relocation says whether its target is called or its address is taken. Only a called target may be
//! replaced by an equivalent one (a method's code in place of its entry stub, a veneer in place of a far function). The
//! address of a method, once taken, is always that of its entry stub, so that all function pointers to the method are
//! equal.

/// A place in the code that must be patched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reloc<Target> {
    /// Bytes from the start of the code.
    pub offset: u32,
    pub kind: RelocKind,
    pub usage: AddressUse,
    pub target: Target,
    /// Added to the target's address.
    pub addend: i64,
}

/// The instruction's use of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressUse {
    /// A direct call or jump. Later the code may be changed to reach an equivalent target.
    Called,
    /// The address is loaded, and may be stored and compared.
    AddressTaken,
}

/// The encoding of the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocKind {
    /// 8 bytes: target + addend.
    Absolute8,
    /// 4 bytes: target + addend − address of the field (the addend is −4 if the instruction ends with the field).
    /// Reaches ±2 GiB.
    X86PcRelative4,
    /// `bl`/`b`: 26-bit word offset. Reaches ±128 MiB.
    Arm64Branch26,
    /// `adrp`: 21-bit page offset.
    Arm64AdrPage21,
    /// `add`: low 12 bits of the address.
    Arm64AddLow12,
}

impl AddressUse {
    /// Both uses; files of the code cache name one by its place here.
    pub const ALL: [AddressUse; 2] = [AddressUse::Called, AddressUse::AddressTaken];
}

impl RelocKind {
    /// All kinds; files of the code cache name one by its place here.
    pub const ALL: [RelocKind; 5] = [
        RelocKind::Absolute8,
        RelocKind::X86PcRelative4,
        RelocKind::Arm64Branch26,
        RelocKind::Arm64AdrPage21,
        RelocKind::Arm64AddLow12,
    ];
}
