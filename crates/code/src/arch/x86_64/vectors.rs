//! x86-64: operations on vectors, up to SSE4.2.

use super::masm::{Assembler, Hardware, xmm};
use crate::masm::{LaneOp, LaneType, Reg, VectorAssembler};
use cranelift_assembler_x64::inst;

/// The comparisons of `cmpps` and `cmppd` (Intel SDM vol. 2, "CMPPS").
const EQUAL: u8 = 0;
const LESS: u8 = 1;
const LESS_OR_EQUAL: u8 = 2;
const UNORDERED: u8 = 3;

impl<T: Copy> VectorAssembler for Assembler<T> {
    fn lanes(&mut self, op: LaneOp, ty: LaneType, left: Reg, right: Reg) -> bool {
        let (left, right) = (xmm(left), xmm(right));
        macro_rules! table {
            ($($ops:pat, $types:pat => $name:ident $(($comparison:expr))?;)*) => {
                match (op, ty) {
                    $(($ops, $types) => {
                        inst::$name::<Hardware>::new(left, right $(, $comparison)?).encode(&mut self.code);
                        true
                    })*
                    _ => false,
                }
            };
        }
        use LaneOp::{
            Add, AddSaturated, And, Average, Divide, Equal, ExclusiveOr, Greater, Less, LessOrEqual, Maximum, Minimum,
            Multiply, MultiplyAddPairs, MultiplyHigh, Or, ShuffleBytes, Subtract, SubtractSaturated, Unordered,
        };
        use LaneType::{Bits, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        table! {
            And, Bits => andps_a;
            Or, Bits => orps_a;
            ExclusiveOr, Bits => xorps_a;
            Add, I8 | U8 => paddb_a;
            Add, I16 | U16 => paddw_a;
            Add, I32 | U32 => paddd_a;
            Add, I64 | U64 => paddq_a;
            Add, F32 => addps_a;
            Add, F64 => addpd_a;
            Subtract, I8 | U8 => psubb_a;
            Subtract, I16 | U16 => psubw_a;
            Subtract, I32 | U32 => psubd_a;
            Subtract, I64 | U64 => psubq_a;
            Subtract, F32 => subps_a;
            Subtract, F64 => subpd_a;
            Multiply, I16 | U16 => pmullw_a;
            Multiply, I32 | U32 => pmulld_a;
            Multiply, F32 => mulps_a;
            Multiply, F64 => mulpd_a;
            Divide, F32 => divps_a;
            Divide, F64 => divpd_a;
            AddSaturated, I8 => paddsb_a;
            AddSaturated, U8 => paddusb_a;
            AddSaturated, I16 => paddsw_a;
            AddSaturated, U16 => paddusw_a;
            SubtractSaturated, I8 => psubsb_a;
            SubtractSaturated, U8 => psubusb_a;
            SubtractSaturated, I16 => psubsw_a;
            SubtractSaturated, U16 => psubusw_a;
            Average, U8 => pavgb_a;
            Average, U16 => pavgw_a;
            MultiplyHigh, I16 => pmulhw_a;
            MultiplyHigh, U16 => pmulhuw_a;
            MultiplyAddPairs, I16 => pmaddwd_a;
            MultiplyAddPairs, U8 => pmaddubsw_a;
            ShuffleBytes, I8 | U8 => pshufb_a;
            Minimum, I8 => pminsb_a;
            Minimum, U8 => pminub_a;
            Minimum, I16 => pminsw_a;
            Minimum, U16 => pminuw_a;
            Minimum, I32 => pminsd_a;
            Minimum, U32 => pminud_a;
            Minimum, F32 => minps_a;
            Minimum, F64 => minpd_a;
            Maximum, I8 => pmaxsb_a;
            Maximum, U8 => pmaxub_a;
            Maximum, I16 => pmaxsw_a;
            Maximum, U16 => pmaxuw_a;
            Maximum, I32 => pmaxsd_a;
            Maximum, U32 => pmaxud_a;
            Maximum, F32 => maxps_a;
            Maximum, F64 => maxpd_a;
            Equal, I8 | U8 => pcmpeqb_a;
            Equal, I16 | U16 => pcmpeqw_a;
            Equal, I32 | U32 => pcmpeqd_a;
            Equal, I64 | U64 => pcmpeqq_a;
            Equal, F32 => cmpps_a(EQUAL);
            Equal, F64 => cmppd_a(EQUAL);
            Less, F32 => cmpps_a(LESS);
            Less, F64 => cmppd_a(LESS);
            LessOrEqual, F32 => cmpps_a(LESS_OR_EQUAL);
            LessOrEqual, F64 => cmppd_a(LESS_OR_EQUAL);
            Unordered, F32 => cmpps_a(UNORDERED);
            Unordered, F64 => cmppd_a(UNORDERED);
            Greater, I8 => pcmpgtb_a;
            Greater, I16 => pcmpgtw_a;
            Greater, I32 => pcmpgtd_a;
            Greater, I64 => pcmpgtq_a;
        }
    }
}
