//! The machine signatures of C functions: which machine parameters each argument of a native signature becomes.
//!
//! Cranelift places scalars by the system's convention. Structs are taken apart here, by their class
//! (`struct_classes`). Where a struct has to go to the stack, x86-64 has parameters of that kind (`StructArgument`).
//! AArch64 has none, so there all parameters are reordered: integer words first, filled up to the last integer
//! register, then floats, then what is on the stack, as integer words. Words of the three kinds do not mix: each gets
//! the register or the stack slot that it has by AAPCS64.
//!
//! Invariant: a word of the stack is an integer word behind one for each integer register. Left out: the values, which
//! callers (`lower::native`) and callees (`thunks`) move; the baseline compiler, which places arguments itself.

use crate::error::CompileError;
use crate::signatures::machine_type;
use crate::struct_classes::{classify, part_type};
use crate::type_facts::value_layout;
use cranelift_codegen::ir::{AbiParam, ArgumentPurpose, Signature, Type, types};
use cranelift_codegen::isa::CallConv;
use saki_abi::native::{ArgumentRegisters, NativeAbi, RegisterPart, StructClass, StructRule};
use saki_il::ir::{CallSig, IrType};
use saki_types::Ty;

/// A part of a struct in a machine parameter or a machine result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NativePart {
    /// Of the machine parameter, or of the machine result.
    pub position: usize,
    pub ty: Type,
    /// Bytes from the start of the struct.
    pub offset: i32,
}

/// How an argument is passed.
#[derive(Clone, Debug)]
pub(crate) enum NativeParam {
    /// As one machine parameter. It has type `ty`, or is a word of 8 bytes whose low ones hold it.
    Scalar { position: usize, ty: Type },
    /// A struct, in whole parts: the last may reach beyond its end, up to the next multiple of 8.
    Parts(Vec<NativePart>),
    /// A struct whose address is the machine parameter; the bytes belong to the callee.
    Address { position: usize },
}

/// How the result is passed.
#[derive(Clone, Debug)]
pub(crate) enum NativeResult {
    /// As one machine result, or there is none.
    Scalar,
    /// A struct, as for `NativeParam::Parts`.
    Parts(Vec<NativePart>),
    /// A struct, written to the address in this machine parameter.
    Memory { position: usize },
}

/// A native signature and its machine signature.
#[derive(Debug)]
pub(crate) struct NativeSignature {
    pub machine: Signature,
    /// By parameter of the native signature. Machine parameters that none of them names are padding.
    pub params: Vec<NativeParam>,
    pub result: NativeResult,
}

/// Where a word is placed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Outside the order of arguments.
    ResultAddress,
    Integer,
    Float,
    Stack,
}

struct Builder {
    abi: &'static NativeAbi,
    registers: ArgumentRegisters,
    /// The machine parameters in the order of the arguments; their positions are the numbers in `params`.
    words: Vec<(Place, AbiParam)>,
    /// Some words are those of a struct on the stack.
    is_reordered: bool,
}

impl NativeSignature {
    /// # Errors
    /// The load errors of the types of structs' fields; `InvalidIr`: a parameter without a type.
    pub fn new(abi: &'static NativeAbi, sig: &CallSig) -> Result<NativeSignature, CompileError> {
        let mut builder = Builder { abi, registers: abi.argument_registers(), words: Vec::new(), is_reordered: false };
        let mut returns = Vec::new();
        let result = match sig.ret {
            Some(IrType::Struct(ty)) => builder.struct_result(ty, &mut returns)?,
            ret => {
                returns.extend(ret.and_then(machine_type).map(AbiParam::new));
                NativeResult::Scalar
            }
        };
        let mut params = Vec::with_capacity(sig.params.len());
        for &param in &sig.params {
            params.push(match param {
                IrType::Struct(ty) => builder.structure(ty)?,
                param => {
                    let ty = machine_type(param).ok_or_else(|| CompileError::invalid_ir("a void parameter"))?;
                    builder.scalar(ty)
                }
            });
        }
        let mut machine = Signature::new(CallConv::SystemV);
        machine.returns = returns;
        let mut native = NativeSignature { machine, params, result };
        if builder.is_reordered {
            native.reorder(builder);
        } else {
            native.machine.params = builder.words.into_iter().map(|(_, param)| param).collect();
        }
        Ok(native)
    }

    /// See the header.
    fn reorder(&mut self, builder: Builder) {
        let Builder { abi, mut words, .. } = builder;
        let integers = words.iter().filter(|(place, _)| *place == Place::Integer).count();
        let padding = abi.integer_registers - integers;
        words.extend(std::iter::repeat_n((Place::Integer, AbiParam::new(types::I64)), padding));
        let mut order: Vec<usize> = (0..words.len()).collect();
        order.sort_by_key(|&word| words[word].0);
        let mut positions = vec![0; words.len()];
        for (position, &word) in order.iter().enumerate() {
            positions[word] = position;
            let (place, param) = words[word];
            self.machine.params.push(if place == Place::Stack { AbiParam::new(types::I64) } else { param });
        }
        if let NativeResult::Memory { position } = &mut self.result {
            *position = positions[*position];
        }
        for param in &mut self.params {
            match param {
                NativeParam::Scalar { position, .. } | NativeParam::Address { position } => {
                    *position = positions[*position];
                }
                NativeParam::Parts(parts) => {
                    parts.iter_mut().for_each(|part| part.position = positions[part.position]);
                }
            }
        }
    }
}

impl Builder {
    /// Adds a word; its number.
    fn word(&mut self, place: Place, param: AbiParam) -> usize {
        self.words.push((place, param));
        self.words.len() - 1
    }

    fn scalar(&mut self, ty: Type) -> NativeParam {
        // Cranelift extends arguments on x86-64 only.
        let is_word = ty == types::I32 && self.abi.structs == StructRule::Aapcs64;
        NativeParam::Scalar { position: self.scalar_word(if is_word { types::I64 } else { ty }), ty }
    }

    fn scalar_word(&mut self, ty: Type) -> usize {
        let (part, place) = match ty.is_int() {
            true => (RegisterPart::Integer, Place::Integer),
            false => (RegisterPart::Float64, Place::Float),
        };
        let place = if self.registers.take(&[part]) { place } else { Place::Stack };
        self.word(place, AbiParam::new(ty))
    }

    fn structure(&mut self, ty: Ty) -> Result<NativeParam, CompileError> {
        let padded_bytes = value_layout(ty)?.size_bytes.next_multiple_of(8);
        let parts = match classify(self.abi, ty)? {
            StructClass::Reference => return Ok(NativeParam::Address { position: self.scalar_word(types::I64) }),
            StructClass::Registers(parts) if self.registers.take(&parts) => parts,
            _ if self.abi.structs == StructRule::Eightbytes => {
                let purpose = ArgumentPurpose::StructArgument(padded_bytes);
                let position = self.word(Place::Stack, AbiParam::special(types::I64, purpose));
                return Ok(NativeParam::Address { position });
            }
            _ => {
                self.is_reordered = true;
                let part = |index| NativePart {
                    position: self.word(Place::Stack, AbiParam::new(types::I64)),
                    ty: types::I64,
                    offset: index * 8,
                };
                return Ok(NativeParam::Parts((0..padded_bytes as i32 / 8).map(part).collect()));
            }
        };
        let passed = |(index, &part): (usize, &RegisterPart)| {
            let (place, ty) = (if part.is_float() { Place::Float } else { Place::Integer }, part_type(part));
            let position = self.word(place, AbiParam::new(ty));
            NativePart { position, ty, offset: index as i32 * part.size_bytes() as i32 }
        };
        Ok(NativeParam::Parts(parts.iter().enumerate().map(passed).collect()))
    }

    fn struct_result(&mut self, ty: Ty, returns: &mut Vec<AbiParam>) -> Result<NativeResult, CompileError> {
        if let StructClass::Registers(parts) = classify(self.abi, ty)? {
            let returned = |(index, &part): (usize, &RegisterPart)| {
                let ty = part_type(part);
                returns.push(AbiParam::new(ty));
                NativePart { position: index, ty, offset: index as i32 * part.size_bytes() as i32 }
            };
            return Ok(NativeResult::Parts(parts.iter().enumerate().map(returned).collect()));
        }
        let position = if self.abi.passes_result_address_as_argument() {
            self.scalar_word(types::I64)
        } else {
            let address = AbiParam::special(types::I64, ArgumentPurpose::StructReturn);
            self.word(Place::ResultAddress, address)
        };
        Ok(NativeResult::Memory { position })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Machine parameters of a builder's words, by their numbers, after reordering.
    fn reordered(builder: Builder, words: usize) -> (Vec<Type>, Vec<usize>) {
        let params = (0..words).map(|position| NativeParam::Scalar { position, ty: types::I64 }).collect();
        let machine = Signature::new(CallConv::SystemV);
        let mut native = NativeSignature { machine, params, result: NativeResult::Scalar };
        native.reorder(builder);
        let position = |param: &NativeParam| match param {
            NativeParam::Scalar { position, .. } => *position,
            other => panic!("{other:?}"),
        };
        let positions = native.params.iter().map(position).collect();
        (native.machine.params.iter().map(|param| param.value_type).collect(), positions)
    }

    #[test]
    fn words_of_the_stack_are_behind_all_integer_registers() {
        let abi = &NativeAbi::AARCH64;
        let mut builder = Builder { abi, registers: abi.argument_registers(), words: Vec::new(), is_reordered: true };
        builder.scalar(types::F32);
        builder.word(Place::Stack, AbiParam::new(types::I64));
        builder.scalar(types::I32);
        builder.word(Place::Stack, AbiParam::new(types::F64));
        let (types_of, positions) = reordered(builder, 4);
        let mut expected = vec![types::I64; 8];
        expected.extend([types::F32, types::I64, types::I64]);
        assert_eq!(types_of, expected);
        assert_eq!(positions, [8, 9, 0, 10]);
    }
}
