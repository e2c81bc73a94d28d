//! Arguments of native calls and callbacks that the code generator cannot place by itself: structs by value whose
//! native layout is not the managed one.
//!
//! The whole argument list is rewritten as plain words, in an order in which each gets the place that the system's rule
//! prescribes (`abi::native`): integer words first (padded to all registers when a word goes onto the stack), then
//! floats, then the words of the stack. Calls load the words from native copies; callbacks assemble structs from them.
//! Results are structs of a type that the system returns in the same way (`stand_in`). Invariant: a word for the stack
//! is an integer word behind one for each integer register, so it cannot be passed in a register.

use super::builder::{FunctionBuilder, flags};
use super::marshal::{MarshalAction, MethodPlan, NativeType, ParamPlan, struct_class};
use crate::ir::{AliasClass, CallSig, ConvTarget, IrType, LocalId, MemType, Op, UnOp, ValueId};
use saki_abi::native::{ArgumentRegisters, NativeAbi, RegisterPart, StructClass};
use saki_types::{LibraryType, LoadResult, Ty, universe};

const INTEGER_REGISTERS: usize = NativeAbi::HOST.integer_registers;

/// The place of a word (integer register, float register or stack), with its index among the words of that kind.
#[derive(Clone, Copy)]
enum WordLocation {
    Integer(usize),
    Float(usize),
    Stack(usize),
}

/// The places of an argument.
enum ParamLocation {
    Scalar(WordLocation),
    /// A struct's words.
    Words(Vec<WordLocation>),
    /// A struct whose address is this word.
    Address(WordLocation),
}

/// The places of all arguments of a call.
struct ArgumentLocations {
    params: Vec<ParamLocation>,
    registers: ArgumentRegisters,
    integers: usize,
    /// Integer registers that are not taken by the code generator's own hidden argument.
    integer_limit: usize,
    /// The types that the float registers hold.
    floats: Vec<IrType>,
    stack: usize,
}

impl ArgumentLocations {
    /// `types`: types of the parameters before rearranging. `has_result_address`: the first integer word is the address
    /// for a struct result.
    ///
    /// # Errors
    /// The errors of the layouts.
    fn assign(plan: &MethodPlan, types: &[IrType], has_result_address: bool) -> LoadResult<ArgumentLocations> {
        let mut places = ArgumentLocations {
            params: Vec::with_capacity(types.len()),
            registers: NativeAbi::HOST.argument_registers(),
            integers: usize::from(has_result_address),
            integer_limit: INTEGER_REGISTERS,
            floats: Vec::new(),
            stack: 0,
        };
        places.registers.integer -= places.integers;
        if NativeAbi::HOST.passes_result_address_as_argument()
            && plan.ret.action == MarshalAction::Same
            && !plan.ret.by_ref
            && plan.ret.native != NativeType::Void
            && is_struct(plan.ret.ty)?
            && struct_class(&plan.ret.native, plan.ret.ty)?.registers().is_none()
        {
            places.integer_limit -= 1;
            places.registers.integer -= 1;
        }
        for (param, ty) in plan.params.iter().zip(types) {
            let place = match ty {
                IrType::Struct(_) => places.structure(param)?,
                _ if param.action == MarshalAction::StructValue => places.structure(param)?,
                IrType::F32 | IrType::F64 => ParamLocation::Scalar(places.scalar(RegisterPart::Float64, *ty)),
                _ => ParamLocation::Scalar(places.integer()),
            };
            places.params.push(place);
        }
        if places.stack > 0 {
            places.integers = places.integers.max(places.integer_limit);
        }
        Ok(places)
    }

    fn integer(&mut self) -> WordLocation {
        self.scalar(RegisterPart::Integer, IrType::I64)
    }

    fn scalar(&mut self, part: RegisterPart, ty: IrType) -> WordLocation {
        if self.registers.take(&[part]) { self.in_register(part, ty) } else { self.on_stack() }
    }

    /// The next register, which was taken.
    fn in_register(&mut self, part: RegisterPart, ty: IrType) -> WordLocation {
        if part.is_float() {
            self.floats.push(ty);
            return WordLocation::Float(self.floats.len() - 1);
        }
        self.integers += 1;
        WordLocation::Integer(self.integers - 1)
    }

    fn on_stack(&mut self) -> WordLocation {
        self.stack += 1;
        WordLocation::Stack(self.stack - 1)
    }

    fn structure(&mut self, param: &ParamPlan) -> LoadResult<ParamLocation> {
        let words = match struct_class(&param.native, param.ty)? {
            StructClass::Reference => return Ok(ParamLocation::Address(self.integer())),
            StructClass::Registers(parts) if self.registers.take(&parts) => {
                parts.iter().map(|part| self.in_register(*part, part_type(*part))).collect()
            }
            _ => (0..param.native.size_bytes()?.div_ceil(8)).map(|_| self.on_stack()).collect(),
        };
        Ok(ParamLocation::Words(words))
    }

    /// What a struct's word holds of it.
    fn part(&self, place: WordLocation) -> RegisterPart {
        match place {
            WordLocation::Float(index) if self.floats[index] == IrType::F32 => RegisterPart::Float32,
            WordLocation::Float(_) => RegisterPart::Float64,
            WordLocation::Integer(_) | WordLocation::Stack(_) => RegisterPart::Integer,
        }
    }

    /// Types of all words in their order.
    fn types(&self) -> Vec<IrType> {
        let mut types = vec![IrType::I64; self.integers];
        types.extend(&self.floats);
        types.resize(types.len() + self.stack, IrType::I64);
        types
    }

    /// Position among all words.
    fn position(&self, place: WordLocation) -> usize {
        match place {
            WordLocation::Integer(index) => index,
            WordLocation::Float(index) => self.integers + index,
            WordLocation::Stack(index) => self.integers + self.floats.len() + index,
        }
    }
}

fn is_struct(ty: Ty) -> LoadResult<bool> {
    Ok(matches!(super::builder::ir_type(ty)?, IrType::Struct(_)))
}

/// Whether the arguments of the call must be rearranged.
pub(super) fn is_needed(plan: &MethodPlan) -> bool {
    plan.params.iter().chain([&plan.ret]).any(|param| param.action == MarshalAction::StructValue)
}

/// The type in which a part of a struct is passed.
fn part_type(part: RegisterPart) -> IrType {
    match part {
        RegisterPart::Integer => IrType::I64,
        RegisterPart::Float64 => IrType::F64,
        RegisterPart::Float32 => IrType::F32,
    }
}

/// The memory type of a part of a struct.
pub(super) fn part_memory(part: RegisterPart) -> MemType {
    match part {
        RegisterPart::Integer => MemType::I64,
        RegisterPart::Float64 => MemType::F64,
        RegisterPart::Float32 => MemType::F32,
    }
}

/// How a native struct result whose layout differs from the managed one is returned.
pub(super) enum StructResult {
    /// The callee writes it to this address, which is an argument.
    Memory(ValueId),
    /// One register holds it.
    Register(RegisterPart),
    /// In another way: for the code generator, a struct of this type.
    Struct(Ty),
}

/// A struct type without references that is returned as the native struct is; the code generator does not know that
/// one. It is larger only where registers hold more.
///
/// # Errors
/// The errors of the layouts.
fn stand_in(ret: &ParamPlan) -> LoadResult<Ty> {
    let member = |ty| universe().library_type(ty);
    let members = match struct_class(&ret.native, ret.ty)? {
        StructClass::Registers(parts) => parts
            .iter()
            .map(|part| match part {
                RegisterPart::Integer => member(LibraryType::Int64),
                RegisterPart::Float64 => member(LibraryType::Double),
                RegisterPart::Float32 => member(LibraryType::Single),
            })
            .collect::<LoadResult<Vec<Ty>>>()?,
        StructClass::Memory | StructClass::Reference => {
            let size_bytes = ret.native.size_bytes()?;
            let (ty, bytes) = match size_bytes.trailing_zeros() {
                0 => (LibraryType::Byte, 1),
                1 => (LibraryType::Int16, 2),
                2 => (LibraryType::Int32, 4),
                _ => (LibraryType::Int64, 8),
            };
            vec![member(ty)?; (size_bytes / bytes) as usize]
        }
    };
    struct_of(&members)
}

/// A struct that consists of these types, which have one size.
fn struct_of(members: &[Ty]) -> LoadResult<Ty> {
    if let [member] = members {
        return Ok(*member);
    }
    let (first, second) = members.split_at(members.len() / 2);
    let definition = universe().library_type(LibraryType::KeyValuePair)?;
    universe().instantiate(definition, &[struct_of(first)?, struct_of(second)?])
}

/// How the result of the plan is returned, if it is such a struct.
///
/// # Errors
/// The errors of the layouts.
pub(super) fn struct_result(b: &mut FunctionBuilder, ret: &ParamPlan) -> LoadResult<Option<StructResult>> {
    if ret.action != MarshalAction::StructValue {
        return Ok(None);
    }
    Ok(Some(match struct_class(&ret.native, ret.ty)? {
        StructClass::Registers(parts) if parts.len() == 1 => StructResult::Register(parts[0]),
        StructClass::Memory if NativeAbi::HOST.passes_result_address_as_argument() => {
            let place = b.local(IrType::Block(ret.native.size_bytes()?.next_multiple_of(8)));
            StructResult::Memory(b.address_of(place))
        }
        _ => StructResult::Struct(stand_in(ret)?),
    }))
}

/// Rearranges arguments and signature; see the module header.
///
/// # Errors
/// The errors of the layouts.
pub(super) fn arrange(
    b: &mut FunctionBuilder,
    plan: &MethodPlan,
    sig: &CallSig,
    arguments: &[ValueId],
    result: Option<&StructResult>,
) -> LoadResult<(CallSig, Vec<ValueId>)> {
    let result_address = match result {
        Some(StructResult::Memory(place)) => Some(*place),
        _ => None,
    };
    let places = ArgumentLocations::assign(plan, &sig.params, result_address.is_some())?;
    let mut params = places.types();
    let mut values: Vec<Option<ValueId>> = vec![None; params.len()];
    if let Some(address) = result_address {
        values[0] = Some(address);
    }
    for (index, param) in plan.params.iter().enumerate() {
        let (ty, value) = (sig.params[index], arguments[index]);
        let address = match ty {
            _ if param.action == MarshalAction::StructValue => Some(value),
            IrType::Struct(ty) => {
                let copy = b.local(block_for(param)?);
                let dst = b.address_of(copy);
                let flags = flags(AliasClass::Any);
                b.emit(Op::CopyStruct { dst, src: value, ty, barrier: false, flags }, IrType::Void);
                Some(dst)
            }
            _ => None,
        };
        match (&places.params[index], address) {
            (ParamLocation::Words(words), Some(address)) => {
                let mut offset = 0;
                for &place in words {
                    let part = places.part(place);
                    let word = b.load(address, offset, part_memory(part), flags(AliasClass::Any));
                    values[places.position(place)] = Some(word);
                    offset += part.size_bytes() as i32;
                }
            }
            (&ParamLocation::Scalar(place @ WordLocation::Stack(_)), _) => {
                values[places.position(place)] = Some(word_of_scalar(b, ty, value));
            }
            (&ParamLocation::Scalar(place), _) => {
                let position = places.position(place);
                // A narrow integer keeps its type in a register.
                params[position] = word_type(ty);
                values[position] = Some(value);
            }
            (&ParamLocation::Address(place), address) => {
                values[places.position(place)] = Some(address.unwrap_or(value));
            }
            (ParamLocation::Words(_), None) => {}
        }
    }
    let ret = match result {
        None => sig.ret,
        Some(StructResult::Memory(_)) => Some(IrType::I64),
        Some(StructResult::Register(part)) => Some(part_type(*part)),
        Some(StructResult::Struct(ty)) => Some(IrType::Struct(ty)),
    };
    let values = values.into_iter().map(|value| value.unwrap_or_else(|| b.const_i64(0))).collect();
    Ok((CallSig { params, ret, ..CallSig::default() }, values))
}

/// Room for a struct in whole words.
fn block_for(param: &ParamPlan) -> LoadResult<IrType> {
    Ok(IrType::Block(param.native.size_bytes()?.next_multiple_of(8)))
}

/// Addresses are plain words to native code.
fn word_type(ty: IrType) -> IrType {
    if matches!(ty, IrType::ByRef | IrType::Ref) { IrType::I64 } else { ty }
}

/// A scalar as it lies on the stack.
fn word_of_scalar(b: &mut FunctionBuilder, ty: IrType, value: ValueId) -> ValueId {
    match ty {
        IrType::F32 => {
            let bits = b.emit(Op::Un(UnOp::BitcastF32I32, value), IrType::I32);
            b.conv(bits, ConvTarget::U8)
        }
        IrType::F64 => b.emit(Op::Un(UnOp::BitcastF64I64, value), IrType::I64),
        IrType::I32 => b.conv(value, ConvTarget::I8),
        _ => value,
    }
}

/// The words that a callback receives, for arguments of these types; see the module header.
pub(super) struct Incoming {
    places: ArgumentLocations,
    types: Vec<IrType>,
    /// Number of the first word's local in the wrapper.
    first_local: u32,
    /// How a struct result is returned, if its native layout differs from the managed one.
    pub result: Option<IncomingResult>,
}

pub(super) enum IncomingResult {
    /// To the address in this local, which is also returned.
    Memory(LocalId),
    /// In one register.
    Register(RegisterPart),
    /// As a struct of another type (`stand_in`), which may be longer; it has so many bytes.
    Struct(u32),
}

/// Return type of a callback whose result is a struct with a different native layout.
///
/// # Errors
/// The errors of the layouts.
pub(super) fn incoming_result_type(ret: &ParamPlan) -> LoadResult<IrType> {
    Ok(match struct_class(&ret.native, ret.ty)? {
        StructClass::Registers(parts) if parts.len() == 1 => part_type(parts[0]),
        StructClass::Memory if NativeAbi::HOST.passes_result_address_as_argument() => IrType::I64,
        _ => IrType::Struct(stand_in(ret)?),
    })
}

impl Incoming {
    /// # Errors
    /// The errors of the layouts.
    pub(super) fn new(plan: &MethodPlan, types: Vec<IrType>, first_local: u32) -> LoadResult<Incoming> {
        let result = match plan.ret.action {
            MarshalAction::StructValue => Some(match struct_class(&plan.ret.native, plan.ret.ty)? {
                StructClass::Registers(parts) if parts.len() == 1 => IncomingResult::Register(parts[0]),
                StructClass::Memory if NativeAbi::HOST.passes_result_address_as_argument() => {
                    IncomingResult::Memory(LocalId(first_local))
                }
                _ => IncomingResult::Struct(stand_in(&plan.ret)?.value_size_bytes()?.next_multiple_of(8)),
            }),
            _ => None,
        };
        let places = ArgumentLocations::assign(plan, &types, matches!(result, Some(IncomingResult::Memory(_))))?;
        Ok(Incoming { places, types, first_local, result })
    }

    /// Types of the wrapper's parameters from `first_local` on.
    pub(super) fn words(&self) -> Vec<IrType> {
        self.places.types()
    }

    /// A local with the argument as the wrapper would receive it without rearranging; for a struct with a different
    /// native layout, the address of the native struct.
    ///
    /// # Errors
    /// The errors of the layouts.
    pub(super) fn gather(&self, b: &mut FunctionBuilder, param: &ParamPlan) -> LoadResult<LocalId> {
        let position = param.index as usize - 1;
        let ty = self.types[position];
        let local = |place| LocalId(self.first_local + self.places.position(place) as u32);
        let is_other_struct = param.action == MarshalAction::StructValue;
        let address = match &self.places.params[position] {
            &ParamLocation::Scalar(place) => return Ok(self.gather_scalar(b, ty, local(place))),
            &ParamLocation::Address(place) => b.get(local(place)),
            ParamLocation::Words(words) => {
                let block = b.local(block_for(param)?);
                let address = b.address_of(block);
                let mut offset = 0;
                for &place in words {
                    let (part, value) = (self.places.part(place), b.get(local(place)));
                    b.store(address, offset, value, part_memory(part), flags(AliasClass::Any));
                    offset += part.size_bytes() as i32;
                }
                address
            }
        };
        let argument = b.local(if is_other_struct { IrType::I64 } else { ty });
        match ty {
            IrType::Struct(ty) if !is_other_struct => {
                let dst = b.address_of(argument);
                let flags = flags(AliasClass::Any);
                b.emit(Op::CopyStruct { dst, src: address, ty, barrier: false, flags }, IrType::Void);
            }
            _ => {
                let address = b.conv(address, ConvTarget::U);
                b.set(argument, address);
            }
        }
        Ok(argument)
    }

    fn gather_scalar(&self, b: &mut FunctionBuilder, ty: IrType, word: LocalId) -> LocalId {
        if b.local_type(word) == ty {
            return word;
        }
        let value = b.get(word);
        let value = match ty {
            IrType::I32 => b.conv(value, ConvTarget::I4),
            IrType::F32 => {
                let bits = b.conv(value, ConvTarget::I4);
                b.emit(Op::Un(UnOp::BitcastI32F32, bits), IrType::F32)
            }
            IrType::F64 => b.emit(Op::Un(UnOp::BitcastI64F64, value), IrType::F64),
            _ => value,
        };
        let argument = b.local(ty);
        b.set(argument, value);
        argument
    }
}
