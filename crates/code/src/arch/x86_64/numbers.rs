//! x86-64: operations on numbers that programs seldom use.

use super::masm::{Assembler, Condition, Hardware, emit, emit_wide, gpr, xmm};
use super::registers::{R11, RAX, RDX};
use crate::masm::{IntegerOp, Label, MachineType, MacroAssembler, NumericAssembler, Reg, RegImm, Relation, Rounding};
use cranelift_assembler_x64::inst;

impl<T: Copy> NumericAssembler for Assembler<T> {
    fn multiply_unsigned(&mut self, ty: MachineType, right: Reg, overflow: Label) {
        let (low, high, right) = (gpr(RAX), gpr(RDX), gpr(right));
        emit_wide!(self, ty, mull_m | mulq_m(low, high, right));
        self.jump_on(Condition::Overflow, overflow);
    }

    fn float_to_integer(&mut self, ty: MachineType, to: Reg, from_type: MachineType, from: Reg) {
        let (to, from) = (gpr(to), xmm(from));
        match from_type {
            MachineType::F32 => emit_wide!(self, ty, cvttss2si_a | cvttss2si_aq(to, from)),
            _ => emit_wide!(self, ty, cvttsd2si_a | cvttsd2si_aq(to, from)),
        }
    }

    fn square_root(&mut self, ty: MachineType, register: Reg) {
        let register = xmm(register);
        emit_wide!(self, ty, sqrtss_a | sqrtsd_a(register, register));
    }

    /// SSE4.1, which Cranelift's code asks for as well.
    fn round(&mut self, rounding: Rounding, ty: MachineType, register: Reg) {
        // The instruction's immediate operand: Intel SDM vol. 2, "ROUNDSD".
        let mode = match rounding {
            Rounding::Nearest => 0u8,
            Rounding::Floor => 1,
            Rounding::Ceiling => 2,
            Rounding::Zero => 3,
        };
        let register = xmm(register);
        emit_wide!(self, ty, roundss_rmi | roundsd_rmi(register, register, mode));
    }

    fn float_bits(&mut self, op: IntegerOp, left: Reg, right: Reg) {
        let (left, right) = (xmm(left), xmm(right));
        match op {
            IntegerOp::And => emit!(self, andps_a(left, right)),
            IntegerOp::Or => emit!(self, orps_a(left, right)),
            IntegerOp::ExclusiveOr => emit!(self, xorps_a(left, right)),
            IntegerOp::Add | IntegerOp::Subtract => saki_base::bug!("{op:?} of bits"),
        }
    }

    fn move_bits(&mut self, ty: MachineType, to: Reg, from: Reg) {
        if to.is_float() {
            emit_wide!(self, ty, movd_a | movq_a(xmm(to), gpr(from)));
        } else {
            emit_wide!(self, ty, movd_b | movq_b(gpr(to), xmm(from)));
        }
    }

    fn count_zeros(&mut self, is_leading: bool, ty: MachineType, to: Reg, from: Reg) {
        let width = if ty == MachineType::I64 { 64 } else { 32 };
        let (done, none) = (self.label(), self.label());
        self.jump_if(Relation::Equal, ty, from, RegImm::Imm(0), none, None);
        if is_leading {
            emit_wide!(self, ty, bsrl_rm | bsrq_rm(gpr(to), gpr(from)));
            self.integer(IntegerOp::ExclusiveOr, MachineType::I32, to, RegImm::Imm(width - 1), None);
        } else {
            emit_wide!(self, ty, bsfl_rm | bsfq_rm(gpr(to), gpr(from)));
        }
        self.jump(done);
        self.bind(none);
        self.constant(to, i64::from(width));
        self.bind(done);
    }

    fn swap_bytes(&mut self, ty: MachineType, register: Reg) {
        emit_wide!(self, ty, bswapl_o | bswapq_o(gpr(register)));
    }

    /// SSE4.1 where the upper half is not zero: functions with such constants have vector operations, which ask for it.
    fn vector_constant(&mut self, register: Reg, bytes: u128) {
        self.float_constant(register, bytes as u64);
        let high = (bytes >> 64) as u64;
        if high != 0 {
            self.constant(R11, high as i64);
            emit!(self, pinsrq_a(xmm(register), gpr(R11), 1u8));
        }
    }
}
