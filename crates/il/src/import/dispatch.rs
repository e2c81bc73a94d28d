//! Imports one CIL instruction: a match from the opcode to the function that imports it.

use super::arithmetic::Comparison;
use super::emitter::Emitter;
use super::next_step::NextStep;
use super::stack::{Note, StackEntry, Val};
use super::vars::VarRef;
use crate::ir::{AliasClass, BinOp, CmpOp, ConvTarget as C, IrType, MemType as M, Op, Symbol, UnOp};
use saki_metadata::opcodes::{Instruction, Opcode, Operand};
use saki_types::{LoadError, LoadResult, universe};

impl Emitter<'_> {
    /// Emits the code of one instruction and says what is left to do.
    ///
    /// # Errors
    /// `InvalidProgram` for a body without meaning; load errors, for which the caller emits code that throws them.
    pub(super) fn emit_instruction(&mut self, instruction: &Instruction<'static>) -> LoadResult<NextStep> {
        if self.import_prefix(instruction)? {
            return Ok(NextStep::Prefixed);
        }
        match instruction.opcode {
            Opcode::Call => self.call(instruction),
            Opcode::Callvirt => self.call_virtual(instruction),
            Opcode::Newobj => self.new_object(instruction),
            _ => self.import_plain(instruction).map(|()| NextStep::Done),
        }
    }

    fn import_prefix(&mut self, instruction: &Instruction<'static>) -> LoadResult<bool> {
        match instruction.opcode {
            Opcode::Volatile => self.s.prefixes.volatile = true,
            Opcode::Unaligned => self.s.prefixes.unaligned = true,
            Opcode::Tail => self.s.prefixes.tail = true,
            Opcode::Readonly => self.s.prefixes.readonly = true,
            Opcode::Constrained => self.s.prefixes.constrained = Some(self.operand_type(instruction)?),
            Opcode::No => {
                if let Operand::U8(bits) = instruction.operand {
                    self.s.prefixes.no = bits;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn target(instruction: &Instruction<'static>) -> LoadResult<u32> {
        match instruction.operand {
            Operand::Branch(target) => Ok(target),
            _ => Err(LoadError::invalid_program(format!("{} without a target", instruction.opcode.name()))),
        }
    }

    fn import_plain(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        use Opcode as O;
        let opcode = instruction.opcode;
        let number = match instruction.operand {
            Operand::Var(n) => usize::from(n),
            _ => 0,
        };
        let short = |first: Opcode| usize::from(opcode.code() - first.code());
        match opcode {
            O::Nop | O::Break => Ok(()),
            O::Ldarg0 | O::Ldarg1 | O::Ldarg2 | O::Ldarg3 => self.load_var(VarRef::Arg(short(O::Ldarg0))),
            O::Ldloc0 | O::Ldloc1 | O::Ldloc2 | O::Ldloc3 => self.load_var(VarRef::Local(short(O::Ldloc0))),
            O::Stloc0 | O::Stloc1 | O::Stloc2 | O::Stloc3 => self.store_var(VarRef::Local(short(O::Stloc0))),
            O::LdargS | O::Ldarg => self.load_var(VarRef::Arg(number)),
            O::LdargaS | O::Ldarga => self.load_var_address(VarRef::Arg(number)),
            O::StargS | O::Starg => self.store_var(VarRef::Arg(number)),
            O::LdlocS | O::Ldloc => self.load_var(VarRef::Local(number)),
            O::LdlocaS | O::Ldloca => self.load_var_address(VarRef::Local(number)),
            O::StlocS | O::Stloc => self.store_var(VarRef::Local(number)),
            O::Ldnull => {
                let value = self.b.inst(Op::Null, IrType::Ref);
                self.push_scalar(value, IrType::Ref);
                Ok(())
            }
            O::LdcI4M1
            | O::LdcI4_0
            | O::LdcI4_1
            | O::LdcI4_2
            | O::LdcI4_3
            | O::LdcI4_4
            | O::LdcI4_5
            | O::LdcI4_6
            | O::LdcI4_7
            | O::LdcI4_8 => {
                self.push_i32(i32::from(opcode.code()) - i32::from(O::LdcI4_0.code()));
                Ok(())
            }
            O::LdcI4S | O::LdcI4 | O::LdcI8 | O::LdcR4 | O::LdcR8 => {
                let (op, ir) = match instruction.operand {
                    Operand::I32(n) => (Op::ConstI32(n), IrType::I32),
                    Operand::I64(n) => (Op::ConstI64(n), IrType::I64),
                    Operand::R32(n) => (Op::ConstF32(n), IrType::F32),
                    Operand::R64(n) => (Op::ConstF64(n), IrType::F64),
                    _ => return Err(LoadError::invalid_program("ldc without a number")),
                };
                let value = self.b.inst(op, ir);
                self.push_scalar(value, ir);
                Ok(())
            }
            O::Dup => self.dup(),
            O::Pop => self.discard(),
            O::Ldstr => self.load_string(instruction),

            O::Br | O::BrS => self.jump(Self::target(instruction)?),
            O::Brfalse | O::BrfalseS => self.branch_on_value(Self::target(instruction)?, true),
            O::Brtrue | O::BrtrueS => self.branch_on_value(Self::target(instruction)?, false),
            O::Beq | O::BeqS => self.branch_on_comparison(CmpOp::Eq, Self::target(instruction)?),
            O::BneUn | O::BneUnS => self.branch_on_comparison(CmpOp::NeUn, Self::target(instruction)?),
            O::Bge | O::BgeS => self.branch_on_comparison(CmpOp::Ge, Self::target(instruction)?),
            O::BgeUn | O::BgeUnS => self.branch_on_comparison(CmpOp::GeUn, Self::target(instruction)?),
            O::Bgt | O::BgtS => self.branch_on_comparison(CmpOp::Gt, Self::target(instruction)?),
            O::BgtUn | O::BgtUnS => self.branch_on_comparison(CmpOp::GtUn, Self::target(instruction)?),
            O::Ble | O::BleS => self.branch_on_comparison(CmpOp::Le, Self::target(instruction)?),
            O::BleUn | O::BleUnS => self.branch_on_comparison(CmpOp::LeUn, Self::target(instruction)?),
            O::Blt | O::BltS => self.branch_on_comparison(CmpOp::Lt, Self::target(instruction)?),
            O::BltUn | O::BltUnS => self.branch_on_comparison(CmpOp::LtUn, Self::target(instruction)?),
            O::Switch => match instruction.operand {
                Operand::Switch(targets) => self.switch(targets.iter().collect()),
                _ => Err(LoadError::invalid_program("switch without targets")),
            },
            O::Ret => self.ret(),
            O::Jmp => self.jmp(instruction),
            O::Throw => self.throw(),
            O::Rethrow => self.rethrow(),
            O::Leave | O::LeaveS => self.leave(Self::target(instruction)?),
            O::Endfinally => self.end_finally(),
            O::Endfilter => self.end_filter(),

            O::Ceq => self.compare(Comparison::EQUAL),
            O::Cgt => self.compare(Comparison(CmpOp::Gt)),
            O::CgtUn => self.compare(Comparison(CmpOp::GtUn)),
            O::Clt => self.compare(Comparison(CmpOp::Lt)),
            O::CltUn => self.compare(Comparison(CmpOp::LtUn)),
            O::Add => self.binary(BinOp::Add),
            O::Sub => self.binary(BinOp::Sub),
            O::Mul => self.binary(BinOp::Mul),
            O::Div => self.binary(BinOp::Div),
            O::DivUn => self.binary(BinOp::DivUn),
            O::Rem => self.binary(BinOp::Rem),
            O::RemUn => self.binary(BinOp::RemUn),
            O::And => self.binary(BinOp::And),
            O::Or => self.binary(BinOp::Or),
            O::Xor => self.binary(BinOp::Xor),
            O::AddOvf => self.binary(BinOp::AddOvf),
            O::AddOvfUn => self.binary(BinOp::AddOvfUn),
            O::SubOvf => self.binary(BinOp::SubOvf),
            O::SubOvfUn => self.binary(BinOp::SubOvfUn),
            O::MulOvf => self.binary(BinOp::MulOvf),
            O::MulOvfUn => self.binary(BinOp::MulOvfUn),
            O::Shl => self.shift(BinOp::Shl),
            O::Shr => self.shift(BinOp::Shr),
            O::ShrUn => self.shift(BinOp::ShrUn),
            O::Neg => self.unary(UnOp::Neg),
            O::Not => self.unary(UnOp::Not),
            O::Ckfinite => self.unary(UnOp::CheckFinite),
            _ => match conversion(opcode) {
                Some((target, checked, source_unsigned)) => self.convert(target, checked, source_unsigned),
                None => self.import_memory(instruction),
            },
        }
    }

    fn import_memory(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        use Opcode as O;
        match instruction.opcode {
            O::LdindI1 => self.load_indirect(M::I8),
            O::LdindU1 => self.load_indirect(M::U8),
            O::LdindI2 => self.load_indirect(M::I16),
            O::LdindU2 => self.load_indirect(M::U16),
            O::LdindI4 | O::LdindU4 => self.load_indirect(M::I32),
            O::LdindI8 | O::LdindI => self.load_indirect(M::I64),
            O::LdindR4 => self.load_indirect(M::F32),
            O::LdindR8 => self.load_indirect(M::F64),
            O::LdindRef => self.load_indirect(M::Ref),
            O::StindI1 => self.store_indirect(M::I8),
            O::StindI2 => self.store_indirect(M::I16),
            O::StindI4 => self.store_indirect(M::I32),
            O::StindI8 | O::StindI => self.store_indirect(M::I64),
            O::StindR4 => self.store_indirect(M::F32),
            O::StindR8 => self.store_indirect(M::F64),
            O::StindRef => self.store_indirect(M::Ref),
            O::Ldobj => self.load_object(self.operand_type(instruction)?),
            O::Stobj => self.store_object(self.operand_type(instruction)?),
            O::Cpobj => self.copy_object(self.operand_type(instruction)?),
            O::Initobj => self.init_object(self.operand_type(instruction)?),
            O::Cpblk => self.copy_block(),
            O::Initblk => self.init_block(),
            O::Sizeof => {
                let ty = self.operand_type(instruction)?;
                self.push_i32(ty.value_size_bytes()? as i32);
                Ok(())
            }
            O::Localloc => self.local_alloc(),

            O::Ldfld => self.load_field(instruction),
            O::Ldflda => self.load_field_address(instruction),
            O::Stfld => self.store_field(instruction),
            O::Ldsfld => self.load_static(instruction),
            O::Ldsflda => self.load_static_address(instruction),
            O::Stsfld => self.store_static(instruction),

            O::Newarr => self.new_array(self.operand_type(instruction)?),
            O::Ldlen => self.load_length(),
            O::Ldelema => self.load_element_address(self.operand_type(instruction)?),
            O::Ldelem => self.load_element(self.operand_type(instruction)?),
            O::LdelemI1 => self.load_primitive_element(M::I8),
            O::LdelemU1 => self.load_primitive_element(M::U8),
            O::LdelemI2 => self.load_primitive_element(M::I16),
            O::LdelemU2 => self.load_primitive_element(M::U16),
            O::LdelemI4 | O::LdelemU4 => self.load_primitive_element(M::I32),
            O::LdelemI8 | O::LdelemI => self.load_primitive_element(M::I64),
            O::LdelemR4 => self.load_primitive_element(M::F32),
            O::LdelemR8 => self.load_primitive_element(M::F64),
            O::LdelemRef => self.load_reference_element(),
            O::Stelem => self.store_element(self.operand_type(instruction)?),
            O::StelemI1 => self.store_primitive_element(M::I8),
            O::StelemI2 => self.store_primitive_element(M::I16),
            O::StelemI4 => self.store_primitive_element(M::I32),
            O::StelemI8 | O::StelemI => self.store_primitive_element(M::I64),
            O::StelemR4 => self.store_primitive_element(M::F32),
            O::StelemR8 => self.store_primitive_element(M::F64),
            O::StelemRef => self.store_reference_element(),

            O::Box => self.box_value(self.operand_type(instruction)?),
            O::Unbox => self.unbox(self.operand_type(instruction)?),
            O::UnboxAny => self.unbox_any(self.operand_type(instruction)?),
            O::Castclass => self.cast_class(self.operand_type(instruction)?),
            O::Isinst => self.is_instance(self.operand_type(instruction)?),
            O::Ldtoken => self.load_token(instruction),
            O::Calli => self.call_indirect(instruction),
            O::Ldftn => self.load_function(instruction),
            O::Ldvirtftn => self.load_virtual_function(instruction),
            O::Arglist => self.arg_list(),
            O::Mkrefany => self.make_typed_reference(self.operand_type(instruction)?),
            O::Refanyval => self.typed_reference_value(self.operand_type(instruction)?),
            O::Refanytype => self.typed_reference_type(),
            other => Err(LoadError::invalid_program(format!("{} is not expected here", other.name()))),
        }
    }

    fn dup(&mut self) -> LoadResult<()> {
        let mut entry = self.pop()?;
        if let Val::Temp(local) = entry.val {
            // Neither copy may be written in place.
            entry.val = Val::InLocal(local, 0);
        }
        self.push(entry);
        self.push(entry);
        Ok(())
    }

    fn load_string(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        let token = self.operand_token(instruction)?;
        let cell = self.b.symbol(Symbol::StringLiteral(self.s.image, token.0));
        let value = self.b.load(cell, 0, M::Ref, super::builder::plain(AliasClass::Runtime));
        self.push(StackEntry::scalar(value, IrType::Ref).exact(universe().string()).non_null());
        Ok(())
    }

    fn branch_on_value(&mut self, target: u32, on_zero: bool) -> LoadResult<()> {
        let entry = self.pop()?;
        let known_non_null =
            entry.ir == IrType::Ref && (self.is_certainly_set(&entry) || matches!(entry.note, Note::TypeObject(_)));
        if matches!(entry.ir, IrType::F32 | IrType::F64) {
            return Err(LoadError::invalid_program("a float decides a branch"));
        }
        let value = if known_non_null { self.b.i32(1) } else { self.value(&entry)? };
        self.branch(value, target, on_zero)
    }

    fn branch_on_comparison(&mut self, op: CmpOp, target: u32) -> LoadResult<()> {
        let value = self.comparison_value(op)?;
        self.branch(value, target, false)
    }
}

/// (target, overflow-checked, source unsigned) of the conv family.
fn conversion(opcode: Opcode) -> Option<(C, bool, bool)> {
    use Opcode as O;
    Some(match opcode {
        O::ConvI1 => (C::I1, false, false),
        O::ConvI2 => (C::I2, false, false),
        O::ConvI4 => (C::I4, false, false),
        O::ConvI8 => (C::I8, false, false),
        O::ConvU1 => (C::U1, false, false),
        O::ConvU2 => (C::U2, false, false),
        O::ConvU4 => (C::U4, false, false),
        O::ConvU8 => (C::U8, false, false),
        O::ConvI => (C::I, false, false),
        O::ConvU => (C::U, false, false),
        O::ConvR4 => (C::R4, false, false),
        O::ConvR8 => (C::R8, false, false),
        O::ConvRUn => (C::RUn, false, true),
        O::ConvOvfI1 => (C::I1, true, false),
        O::ConvOvfI2 => (C::I2, true, false),
        O::ConvOvfI4 => (C::I4, true, false),
        O::ConvOvfI8 => (C::I8, true, false),
        O::ConvOvfU1 => (C::U1, true, false),
        O::ConvOvfU2 => (C::U2, true, false),
        O::ConvOvfU4 => (C::U4, true, false),
        O::ConvOvfU8 => (C::U8, true, false),
        O::ConvOvfI => (C::I, true, false),
        O::ConvOvfU => (C::U, true, false),
        O::ConvOvfI1Un => (C::I1, true, true),
        O::ConvOvfI2Un => (C::I2, true, true),
        O::ConvOvfI4Un => (C::I4, true, true),
        O::ConvOvfI8Un => (C::I8, true, true),
        O::ConvOvfU1Un => (C::U1, true, true),
        O::ConvOvfU2Un => (C::U2, true, true),
        O::ConvOvfU4Un => (C::U4, true, true),
        O::ConvOvfU8Un => (C::U8, true, true),
        O::ConvOvfIUn => (C::I, true, true),
        O::ConvOvfUUn => (C::U, true, true),
        _ => return None,
    })
}
