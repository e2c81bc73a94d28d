//! The calling convention of native code, as data: P/Invokes, callbacks and internal calls follow it.
//!
//! x86-64: System V ABI §3.2.3. A struct of at most 16 bytes is passed in one or two registers, one per eightbyte:
//! INTEGER if any field of the eightbyte is an integer or pointer, else SSE. Larger structs, structs with unaligned
//! fields, and structs for which too few registers are left are passed on the stack.
//!
//! aarch64: AAPCS64 §5.9.5, §6.8.2 and §6.9. A struct of one to four equal floats or doubles (a homogeneous
//! floating-point aggregate) is passed with each of them in a register of its own. Other structs of at most 16 bytes
//! are passed in one or two integer registers. Either goes to the stack if too few registers are left, and no later
//! argument gets those. For larger structs the caller passes the address of a copy. Results in memory are written to
//! the address in x8, which is no argument. Variadic arguments are passed like others.
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
    /// Bytes that a direct call, or jump, reaches in both directions.
    pub call_reach_bytes: usize,
    /// Numbers of the general purpose registers that both native and managed functions keep, ascending, but for those
    /// with a role in managed code.
    pub kept_registers: &'static [u8],
    /// Whether these registers also keep their values where an exception lands. Not on aarch64: what Cranelift offers
    /// for calls with landing pads either destroys all registers or takes arguments in others than managed functions.
    pub landings_keep_registers: bool,
}

/// The way in which structs are passed by value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StructRule {
    /// System V AMD64: by the classes of their eightbytes.
    Eightbytes,
    /// AAPCS64: homogeneous floating-point aggregates, small structs, large structs.
    Aapcs64,
}

/// The kind of the registers that hold vectors of 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VectorRegisters {
    Sse,
    Neon,
}

/// What one register holds of a struct. The parts of a struct lie behind each other: all have one size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegisterPart {
    /// Eight bytes, in an integer register.
    Integer,
    /// Eight bytes, in a floating-point register; x86-64: also two floats.
    Float64,
    /// Four bytes, in a floating-point register.
    Float32,
}

impl RegisterPart {
    /// Bytes of the struct that it holds.
    pub fn size_bytes(self) -> u32 {
        match self {
            RegisterPart::Integer | RegisterPart::Float64 => 8,
            RegisterPart::Float32 => 4,
        }
    }

    /// Whether it is in a floating-point register.
    pub fn is_float(self) -> bool {
        self != RegisterPart::Integer
    }
}

/// The way in which one struct is passed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StructClass {
    /// In registers, at most `MAX_REGISTER_PARTS`, if there are enough.
    Registers(Vec<RegisterPart>),
    /// An argument: on the stack. A result: through a result pointer.
    Memory,
    /// An argument: by the address of a copy that belongs to the callee. A result: through a result pointer.
    Reference,
}

/// A scalar inside a struct, at any depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scalar {
    /// Bytes from the start of the struct.
    pub offset_bytes: u32,
    pub size_bytes: u32,
    pub is_float: bool,
}

/// Size of the largest struct that may be passed in registers, by any rule: four doubles.
pub const MAX_REGISTER_STRUCT_BYTES: u32 = 32;
/// Most registers that hold one struct.
pub const MAX_REGISTER_PARTS: usize = 4;
/// Size of a managed struct without fields. In C it has no bytes, and no processor's compilers pass any.
const EMPTY_STRUCT_BYTES: u32 = 1;
/// Size of the largest struct that is passed in registers without being a homogeneous floating-point aggregate.
const MAX_EIGHTBYTES_STRUCT_BYTES: u32 = 16;

impl NativeAbi {
    /// System V AMD64 psABI, as Linux uses it.
    pub const X86_64: NativeAbi = NativeAbi {
        integer_registers: 6,
        float_registers: 8,
        structs: StructRule::Eightbytes,
        red_zone_bytes: 128,
        vectors: VectorRegisters::Sse,
        is_little_endian: true,
        call_reach_bytes: 2 << 30,
        // rbx, r12 to r14; r15 is the thread, rbp the frame.
        kept_registers: &[3, 12, 13, 14],
        landings_keep_registers: true,
    };
    /// AAPCS64, as Linux uses it.
    pub const AARCH64: NativeAbi = NativeAbi {
        integer_registers: 8,
        float_registers: 8,
        structs: StructRule::Aapcs64,
        red_zone_bytes: 0,
        vectors: VectorRegisters::Neon,
        is_little_endian: true,
        call_reach_bytes: 128 << 20,
        // x19 to x28, but for x21, which is the thread.
        kept_registers: &[19, 20, 22, 23, 24, 25, 26, 27, 28],
        landings_keep_registers: false,
    };
    /// The description of the machine for which this is compiled.
    #[cfg(target_arch = "x86_64")]
    pub const HOST: NativeAbi = NativeAbi::X86_64;
    /// The rules of the processor that the machine runs on.
    #[cfg(target_arch = "aarch64")]
    pub const HOST: NativeAbi = NativeAbi::AARCH64;

    /// Whether the address of a result in memory is passed like a first argument; else it has a register of its own.
    pub fn passes_result_address_as_argument(&self) -> bool {
        self.structs == StructRule::Eightbytes
    }

    /// The registers for arguments, all of them free.
    pub fn argument_registers(&self) -> ArgumentRegisters {
        ArgumentRegisters { integer: self.integer_registers, float: self.float_registers, rule: self.structs }
    }

    /// The class of a struct of `size_bytes` that consists of these scalars. They need not be given for a struct larger
    /// than `MAX_REGISTER_STRUCT_BYTES`.
    pub fn classify(&self, size_bytes: u32, scalars: &[Scalar]) -> StructClass {
        if scalars.is_empty() && size_bytes == EMPTY_STRUCT_BYTES {
            return StructClass::Registers(Vec::new());
        }
        match self.structs {
            StructRule::Eightbytes => by_eightbytes(size_bytes, scalars),
            StructRule::Aapcs64 => by_aapcs64(size_bytes, scalars),
        }
    }
}

const _: () = assert!(NativeAbi::HOST.is_little_endian == cfg!(target_endian = "little"));

/// The rule of eightbytes. An eightbyte of padding alone (an explicit size) has class NO_CLASS: by the letter of the
/// ABI it is passed as SSE; in practice it is not passed.
fn by_eightbytes(size_bytes: u32, scalars: &[Scalar]) -> StructClass {
    let is_aligned = |scalar: &Scalar| scalar.offset_bytes.is_multiple_of(scalar.size_bytes.max(1));
    if size_bytes == 0 || size_bytes > MAX_EIGHTBYTES_STRUCT_BYTES || !scalars.iter().all(is_aligned) {
        return StructClass::Memory;
    }
    let class = |index: u32| {
        let mut inside = scalars.iter().filter(|scalar| scalar.offset_bytes / 8 == index);
        if inside.all(|scalar| scalar.is_float) { RegisterPart::Float64 } else { RegisterPart::Integer }
    };
    StructClass::Registers((0..size_bytes.div_ceil(8)).map(class).collect())
}

/// AAPCS64 §6.8.2, stages B and C, for types without vectors and with an alignment of at most eight bytes.
fn by_aapcs64(size_bytes: u32, scalars: &[Scalar]) -> StructClass {
    if let Some(parts) = homogeneous_floats(size_bytes, scalars) {
        return StructClass::Registers(parts);
    }
    if size_bytes == 0 || size_bytes > MAX_EIGHTBYTES_STRUCT_BYTES {
        return StructClass::Reference;
    }
    StructClass::Registers(vec![RegisterPart::Integer; size_bytes.div_ceil(8) as usize])
}

/// The members of a homogeneous floating-point aggregate (AAPCS64 §5.9.5.1), in which unions may name a member twice.
fn homogeneous_floats(size_bytes: u32, scalars: &[Scalar]) -> Option<Vec<RegisterPart>> {
    let member_bytes = scalars.first()?.size_bytes;
    let part = if member_bytes == 8 { RegisterPart::Float64 } else { RegisterPart::Float32 };
    let is_member = |scalar: &Scalar| {
        scalar.is_float && scalar.size_bytes == member_bytes && scalar.offset_bytes.is_multiple_of(member_bytes)
    };
    let count = (size_bytes / member_bytes) as usize;
    let has_member = |index: usize| scalars.iter().any(|scalar| scalar.offset_bytes == index as u32 * member_bytes);
    let is_homogeneous = scalars.iter().all(is_member)
        && size_bytes.is_multiple_of(member_bytes)
        && count <= MAX_REGISTER_PARTS
        && (0..count).all(has_member);
    is_homogeneous.then(|| vec![part; count])
}

impl StructClass {
    /// The parts of a struct that is passed in registers.
    pub fn registers(&self) -> Option<&[RegisterPart]> {
        match self {
            StructClass::Registers(parts) => Some(parts),
            StructClass::Memory | StructClass::Reference => None,
        }
    }
}

/// Argument registers that are still free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArgumentRegisters {
    pub integer: usize,
    pub float: usize,
    rule: StructRule,
}

impl ArgumentRegisters {
    /// Takes registers for a struct or a scalar, all or none. None: it goes to the stack, and by AAPCS64 no later
    /// argument gets the registers that were too few.
    pub fn take(&mut self, parts: &[RegisterPart]) -> bool {
        let float = parts.iter().filter(|part| part.is_float()).count();
        let integer = parts.len() - float;
        if integer <= self.integer && float <= self.float {
            self.integer -= integer;
            self.float -= float;
            return true;
        }
        if self.rule == StructRule::Aapcs64 {
            // A struct is in registers of one kind.
            *(if float == 0 { &mut self.integer } else { &mut self.float }) = 0;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::RegisterPart::{Float32, Float64, Integer};
    use super::*;

    #[test]
    fn a_struct_without_fields_is_not_passed() {
        for abi in [NativeAbi::X86_64, NativeAbi::AARCH64] {
            assert_eq!(abi.classify(1, &[]), StructClass::Registers(Vec::new()));
            assert_ne!(abi.classify(4, &[]), StructClass::Registers(Vec::new()), "four bytes of padding");
        }
    }

    #[test]
    fn a_struct_gets_all_its_registers_or_none() {
        let mut registers = ArgumentRegisters { integer: 1, float: 1, rule: StructRule::Eightbytes };
        assert!(!registers.take(&[Integer, Integer]));
        assert!(registers.take(&[Integer, Float64]));
        assert!(!registers.take(&[Float64]));
        assert!(registers.take(&[]));
    }

    #[test]
    fn on_aarch64_no_later_argument_gets_registers_that_were_too_few() {
        let mut registers = NativeAbi::AARCH64.argument_registers();
        assert!(registers.take(&[Float32; 4]));
        assert!(registers.take(&[Float64; 3]));
        assert!(!registers.take(&[Float32; 2]));
        assert_eq!((registers.integer, registers.float), (8, 0));
        (0..7).for_each(|_| assert!(registers.take(&[Integer])));
        assert!(!registers.take(&[Integer; 2]));
        assert!(!registers.take(&[Integer]));
    }

    fn check(abi: &NativeAbi, size_bytes: u32, scalars: &[(u32, u32, bool)], expect: Option<&[RegisterPart]>) {
        let scalar = |&(offset_bytes, size_bytes, is_float)| Scalar { offset_bytes, size_bytes, is_float };
        let scalars: Vec<Scalar> = scalars.iter().map(scalar).collect();
        assert_eq!(abi.classify(size_bytes, &scalars).registers(), expect, "{scalars:?}");
    }

    #[test]
    fn eightbytes_are_integer_if_any_scalar_in_them_is() {
        let check = |size, scalars: &[_], expect| check(&NativeAbi::X86_64, size, scalars, expect);
        check(8, &[(0, 4, true), (4, 4, false)], Some(&[Integer]));
        check(8, &[(0, 4, true), (4, 4, true)], Some(&[Float64]));
        check(12, &[(0, 8, true), (8, 4, false)], Some(&[Float64, Integer]));
        check(16, &[(0, 8, false)], Some(&[Integer, Float64]));
        check(16, &[(0, 1, false), (1, 8, true)], None);
        check(17, &[(0, 1, false)], None);
        check(0, &[], None);
    }

    #[test]
    fn on_aarch64_up_to_four_equal_floats_are_in_a_register_each() {
        let check = |size, scalars: &[_], expect| check(&NativeAbi::AARCH64, size, scalars, expect);
        check(4, &[(0, 4, true)], Some(&[Float32]));
        check(8, &[(0, 4, true), (4, 4, true)], Some(&[Float32; 2]));
        check(32, &[(0, 8, true), (8, 8, true), (16, 8, true), (24, 8, true)], Some(&[Float64; 4]));
        check(20, &[(0, 4, true), (4, 4, true), (8, 4, true), (12, 4, true), (16, 4, true)], None);
        // A union of one float and two; padding at the end; a float and a double; a float and an integer.
        check(8, &[(0, 4, true), (0, 4, true), (4, 4, true)], Some(&[Float32; 2]));
        check(16, &[(0, 4, true), (4, 4, true)], Some(&[Integer; 2]));
        check(16, &[(0, 4, true), (8, 8, true)], Some(&[Integer; 2]));
        check(8, &[(0, 4, true), (4, 4, false)], Some(&[Integer]));
        // Without regard to alignment; by reference beyond 16 bytes.
        check(9, &[(0, 1, false), (1, 8, true)], Some(&[Integer; 2]));
        assert_eq!(NativeAbi::AARCH64.classify(17, &[]), StructClass::Reference);
        check(0, &[], None);
    }
}
