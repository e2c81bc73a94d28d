//! The calling convention of native code, as data: P/Invokes, callbacks and internal calls follow it.
//!
//! x86-64: System V ABI §3.2.3. A struct of at most 16 bytes is passed in one or two registers, one per eightbyte:
//! INTEGER if any field of the eightbyte is an integer or pointer, else SSE. Larger structs, structs with unaligned
//! fields, and structs for which too few registers are left are passed on the stack. aarch64: AAPCS64 §6.4 up to
//! structs, which Saki does not pass there yet.
//!
//! Invariant: `il` and `jit` take the target's convention from this description only. `il` never asks for the target's
//! name; `jit` asks Cranelift for it once (`isa::native_abi`), to choose the description. Left out: x87 types and
//! structs of vectors, which no CLI type maps to; the registers' names (`jit` and Cranelift know them).

/// The target's properties that wrappers of native code depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NativeAbi {
    /// Registers for integer and pointer arguments.
    pub integer_registers: usize,
    /// Registers for floating-point arguments.
    pub float_registers: usize,
    pub structs: StructRule,
    /// Bytes below the stack pointer that a leaf function may use and that signal handlers do not overwrite.
    pub red_zone_bytes: usize,
    pub vectors: VectorRegisters,
    pub is_little_endian: bool,
}

/// The way in which structs are passed by value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StructRule {
    /// Structs are passed by the classes of their eightbytes.
    Eightbytes,
    /// Saki does not know the target's rule yet: such signatures are refused.
    Unknown,
}

/// The kind of the registers that hold vectors of 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VectorRegisters {
    Sse,
    Neon,
}

/// Class of an eightbyte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Eightbyte {
    Integer,
    Sse,
}

/// The way in which one struct is passed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StructClass {
    /// In registers, one or two, if there are enough.
    Registers(Vec<Eightbyte>),
    /// On the stack, or through a result pointer.
    Memory,
}

/// A scalar inside a struct, at any depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scalar {
    /// Bytes from the start of the struct.
    pub offset_bytes: u32,
    pub size_bytes: u32,
    pub is_float: bool,
}

/// Size of the largest struct that may be passed in registers.
pub const MAX_REGISTER_STRUCT_BYTES: u32 = 16;

impl NativeAbi {
    /// System V AMD64 psABI, as Linux uses it.
    pub const X86_64: NativeAbi = NativeAbi {
        integer_registers: 6,
        float_registers: 8,
        structs: StructRule::Eightbytes,
        red_zone_bytes: 128,
        vectors: VectorRegisters::Sse,
        is_little_endian: true,
    };
    /// AAPCS64, as Linux uses it.
    pub const AARCH64: NativeAbi = NativeAbi {
        integer_registers: 8,
        float_registers: 8,
        structs: StructRule::Unknown,
        red_zone_bytes: 0,
        vectors: VectorRegisters::Neon,
        is_little_endian: true,
    };
    /// The description of the machine for which this is compiled.
    #[cfg(target_arch = "x86_64")]
    pub const HOST: NativeAbi = NativeAbi::X86_64;
    /// The rules of the processor that the machine runs on.
    #[cfg(target_arch = "aarch64")]
    pub const HOST: NativeAbi = NativeAbi::AARCH64;

    pub fn passes_structs(&self) -> bool {
        self.structs == StructRule::Eightbytes
    }

    /// The registers for arguments, all of them free.
    pub fn argument_registers(&self) -> ArgumentRegisters {
        ArgumentRegisters { integer: self.integer_registers, float: self.float_registers }
    }
}

const _: () = assert!(NativeAbi::HOST.is_little_endian == cfg!(target_endian = "little"));

impl StructClass {
    /// The class of a struct of `size_bytes` that consists of these scalars, by the rule of eightbytes. An eightbyte of
    /// padding alone (an explicit size) has class NO_CLASS: by the letter of the ABI it is passed as SSE; in practice
    /// it is not passed.
    pub fn of(size_bytes: u32, scalars: &[Scalar]) -> StructClass {
        let is_aligned = |scalar: &Scalar| scalar.offset_bytes.is_multiple_of(scalar.size_bytes.max(1));
        if size_bytes == 0 || size_bytes > MAX_REGISTER_STRUCT_BYTES || !scalars.iter().all(is_aligned) {
            return StructClass::Memory;
        }
        let class = |index: u32| {
            let mut inside = scalars.iter().filter(|scalar| scalar.offset_bytes / 8 == index);
            if inside.all(|scalar| scalar.is_float) { Eightbyte::Sse } else { Eightbyte::Integer }
        };
        StructClass::Registers((0..size_bytes.div_ceil(8)).map(class).collect())
    }

    /// The classes of a struct that is passed in registers.
    pub fn registers(&self) -> Option<&[Eightbyte]> {
        match self {
            StructClass::Registers(classes) => Some(classes),
            StructClass::Memory => None,
        }
    }
}

/// Argument registers that are still free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArgumentRegisters {
    pub integer: usize,
    pub float: usize,
}

impl ArgumentRegisters {
    /// Takes registers for a struct, all or none.
    pub fn take(&mut self, classes: &[Eightbyte]) -> bool {
        let integer = classes.iter().filter(|&&class| class == Eightbyte::Integer).count();
        let float = classes.len() - integer;
        if integer > self.integer || float > self.float {
            return false;
        }
        self.integer -= integer;
        self.float -= float;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Eightbyte::{Integer, Sse};
    use super::*;

    #[test]
    fn a_struct_gets_all_its_registers_or_none() {
        let mut registers = ArgumentRegisters { integer: 1, float: 1 };
        assert!(!registers.take(&[Integer, Integer]));
        assert!(registers.take(&[Integer, Sse]));
        assert!(!registers.take(&[Sse]));
        assert!(registers.take(&[]));
    }

    #[test]
    fn eightbytes_are_integer_if_any_scalar_in_them_is() {
        let check = |size_bytes, scalars: &[(u32, u32, bool)], expect: Option<&[Eightbyte]>| {
            let scalar = |&(offset_bytes, size_bytes, is_float)| Scalar { offset_bytes, size_bytes, is_float };
            let scalars: Vec<Scalar> = scalars.iter().map(scalar).collect();
            assert_eq!(StructClass::of(size_bytes, &scalars).registers(), expect, "{scalars:?}");
        };
        check(8, &[(0, 4, true), (4, 4, false)], Some(&[Integer]));
        check(8, &[(0, 4, true), (4, 4, true)], Some(&[Sse]));
        check(12, &[(0, 8, true), (8, 4, false)], Some(&[Sse, Integer]));
        check(16, &[(0, 8, false)], Some(&[Integer, Sse]));
        check(16, &[(0, 1, false), (1, 8, true)], None);
        check(17, &[(0, 1, false)], None);
        check(0, &[], None);
    }
}
