//! Arguments of native calls and callbacks that the code generator cannot place by itself: structs by value whose
//! native layout is not the managed one.
//!
//! The whole argument list is rewritten as plain words, in an order in which each gets the place that the rule of
//! eightbytes prescribes (`abi::native`): integer words first (padded to all registers when a word goes onto the
//! stack), then floats, then the words of the stack. Calls load the words from native copies; callbacks assemble
//! structs from them. Invariant: a word for the stack is an integer word behind one for each integer register, so it
//! cannot be passed in a register. Left out: processors without that rule, for which the plan refuses such structs.

use super::builder::{FunctionBuilder, flags};
use super::marshal::{MarshalAction, MethodPlan, NativeType, ParamPlan, struct_class};
use crate::ir::{AliasClass, CallSig, ConvTarget, IrType, LocalId, MemType, Op, UnOp, ValueId};
use saki_abi::native::{Eightbyte, NativeAbi, StructClass};
use saki_types::{LibraryType, LoadResult, Ty, universe};

const INTEGER_REGISTERS: usize = NativeAbi::HOST.integer_registers;
const FLOAT_REGISTERS: usize = NativeAbi::HOST.float_registers;

/// The place of a word (integer register, float register or stack), with its index among the words of that kind.
#[derive(Clone, Copy)]
enum WordLocation {
    Integer(usize),
    Float(usize),
    Stack(usize),
}

/// The places of all arguments of a call.
struct ArgumentLocations {
    /// By parameter: the place of its word, or those of the words of a struct.
    params: Vec<Vec<WordLocation>>,
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
            integers: usize::from(has_result_address),
            integer_limit: INTEGER_REGISTERS,
            floats: Vec::new(),
            stack: 0,
        };
        if plan.ret.action == MarshalAction::Same
            && !plan.ret.by_ref
            && plan.ret.native != NativeType::Void
            && is_struct(plan.ret.ty)?
            && struct_class(&plan.ret.native, plan.ret.ty)?.registers().is_none()
        {
            places.integer_limit -= 1;
        }
        for (param, ty) in plan.params.iter().zip(types) {
            let words = match ty {
                IrType::Struct(_) => places.structure(param)?,
                _ if param.action == MarshalAction::StructValue => places.structure(param)?,
                IrType::F32 | IrType::F64 => vec![places.float(*ty)],
                _ => vec![places.integer()],
            };
            places.params.push(words);
        }
        if places.stack > 0 {
            places.integers = places.integers.max(places.integer_limit);
        }
        Ok(places)
    }

    fn integer(&mut self) -> WordLocation {
        if self.integers == self.integer_limit {
            return self.on_stack();
        }
        self.integers += 1;
        WordLocation::Integer(self.integers - 1)
    }

    fn float(&mut self, ty: IrType) -> WordLocation {
        if self.floats.len() == FLOAT_REGISTERS {
            return self.on_stack();
        }
        self.floats.push(ty);
        WordLocation::Float(self.floats.len() - 1)
    }

    fn on_stack(&mut self) -> WordLocation {
        self.stack += 1;
        WordLocation::Stack(self.stack - 1)
    }

    fn structure(&mut self, param: &ParamPlan) -> LoadResult<Vec<WordLocation>> {
        if let StructClass::Registers(classes) = struct_class(&param.native, param.ty)? {
            let integers = classes.iter().filter(|class| **class == Eightbyte::Integer).count();
            let floats = classes.len() - integers;
            if self.integers + integers <= self.integer_limit && self.floats.len() + floats <= FLOAT_REGISTERS {
                return Ok(classes
                    .iter()
                    .map(|class| match class {
                        Eightbyte::Integer => self.integer(),
                        Eightbyte::Sse => self.float(IrType::F64),
                    })
                    .collect());
            }
        }
        Ok((0..param.native.size_bytes()?.div_ceil(8)).map(|_| self.on_stack()).collect())
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

/// How a native struct result whose layout differs from the managed one is returned.
pub(super) enum StructResult {
    /// The callee writes it to this address.
    Memory(ValueId),
    /// One register holds it.
    Register(Eightbyte),
    /// Two registers hold it: for the code generator, a struct of this type.
    Pair(Ty),
}

/// A struct type without references that is passed in registers of these classes; a stand-in for native structs, which
/// the code generator does not know.
fn pair(first: Eightbyte, second: Eightbyte) -> LoadResult<Ty> {
    let member = |class| match class {
        Eightbyte::Integer => universe().library_type(LibraryType::Int64),
        Eightbyte::Sse => universe().library_type(LibraryType::Double),
    };
    let definition = universe().library_type(LibraryType::KeyValuePair)?;
    saki_types::universe().instantiate(definition, &[member(first)?, member(second)?])
}

/// How the result of the plan is returned, if it is such a struct.
///
/// # Errors
/// The errors of the layouts.
pub(super) fn struct_result(b: &mut FunctionBuilder, ret: &ParamPlan) -> LoadResult<Option<StructResult>> {
    if ret.action != MarshalAction::StructValue {
        return Ok(None);
    }
    Ok(Some(match struct_class(&ret.native, ret.ty)?.registers() {
        Some([class]) => StructResult::Register(*class),
        Some([first, second]) => StructResult::Pair(pair(*first, *second)?),
        _ => {
            let place = b.local(IrType::Block(ret.native.size_bytes()?.next_multiple_of(8)));
            StructResult::Memory(b.address_of(place))
        }
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
        for (word, place) in places.params[index].iter().enumerate() {
            let position = places.position(*place);
            values[position] = Some(match address {
                Some(address) => {
                    let mem = if matches!(place, WordLocation::Float(_)) { MemType::F64 } else { MemType::I64 };
                    b.load(address, word as i32 * 8, mem, flags(AliasClass::Any))
                }
                None if matches!(place, WordLocation::Stack(_)) => word_of_scalar(b, ty, value),
                None => {
                    // A narrow integer keeps its type in a register.
                    params[position] = word_type(ty);
                    value
                }
            });
        }
    }
    let ret = match result {
        None => sig.ret,
        Some(StructResult::Memory(_) | StructResult::Register(Eightbyte::Integer)) => Some(IrType::I64),
        Some(StructResult::Register(Eightbyte::Sse)) => Some(IrType::F64),
        Some(StructResult::Pair(ty)) => Some(IrType::Struct(ty)),
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
    Register(Eightbyte),
    /// In two registers.
    Pair,
}

/// Return type of a callback whose result is a struct with a different native layout.
///
/// # Errors
/// The errors of the layouts.
pub(super) fn incoming_result_type(ret: &ParamPlan) -> LoadResult<IrType> {
    Ok(match struct_class(&ret.native, ret.ty)?.registers() {
        Some([Eightbyte::Sse]) => IrType::F64,
        Some([first, second]) => IrType::Struct(pair(*first, *second)?),
        _ => IrType::I64,
    })
}

impl Incoming {
    /// # Errors
    /// The errors of the layouts.
    pub(super) fn new(plan: &MethodPlan, types: Vec<IrType>, first_local: u32) -> LoadResult<Incoming> {
        let result = match plan.ret.action {
            MarshalAction::StructValue => Some(match struct_class(&plan.ret.native, plan.ret.ty)?.registers() {
                Some([class]) => IncomingResult::Register(*class),
                Some([_, _]) => IncomingResult::Pair,
                _ => IncomingResult::Memory(LocalId(first_local)),
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
        let words: Vec<LocalId> = self.places.params[position]
            .iter()
            .map(|place| LocalId(self.first_local + self.places.position(*place) as u32))
            .collect();
        let is_other_struct = param.action == MarshalAction::StructValue;
        if !is_other_struct && !matches!(ty, IrType::Struct(_)) {
            return Ok(self.gather_scalar(b, ty, words[0]));
        }
        let block = b.local(block_for(param)?);
        let address = b.address_of(block);
        for (index, word) in words.into_iter().enumerate() {
            let mem = if b.local_type(word) == IrType::F64 { MemType::F64 } else { MemType::I64 };
            let value = b.get(word);
            b.store(address, index as i32 * 8, value, mem, flags(AliasClass::Any));
        }
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
