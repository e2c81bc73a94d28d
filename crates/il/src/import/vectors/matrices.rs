//! Matrices by their rows, quaternions and planes.
//!
//! Products are added in the order of the class library's code, so that results round alike; multiplications and
//! additions are never fused.

use super::lanes::by_fours;
use super::rows::MatrixCall;
use super::values::VectorEmitter;
use crate::import::builder::plain;
use crate::import::stack::{StackEntry, Val};
use crate::ir::{AliasClass, BinOp, IrType, Lanes, MemFlags, MemType, NullCheck, Op, UnOp, ValueId, VectorOp};
use crate::vector_types::VectorType;
use crate::vector_types::{matrix_rows, vector_type};
use saki_types::{LoadResult, Method, Ty};

const F: Lanes = Lanes::F32;
const FOUR: VectorType = VectorType { lanes: F, count: 4, mem: MemType::V128 };

/// A matrix's rows; a Matrix3x2 has three, of two lanes.
struct MatrixRows {
    values: Vec<ValueId>,
    mem: MemType,
}

impl VectorEmitter<'_, '_> {
    fn matrix(&mut self, entry: &StackEntry, ty: Ty) -> LoadResult<Option<MatrixRows>> {
        let Some((count, mem)) = matrix_rows(ty) else { return Ok(None) };
        let (addr, offset, mut flags) = self.vector_place(entry)?;
        let mut values = Vec::new();
        for row in 0..count {
            values.push(self.emit.b.load(addr, offset + (row * mem.bytes()) as i32, mem, flags));
            flags = checked(flags);
        }
        Ok(Some(MatrixRows { values, mem }))
    }

    fn push_matrix(&mut self, rows: &MatrixRows, ty: Ty) {
        let temp = self.emit.b.temp(IrType::Struct(ty));
        let addr = self.emit.b.addr_of(temp);
        for (row, value) in rows.values.iter().enumerate() {
            self.emit.b.store(addr, row as i32 * rows.mem.bytes() as i32, *value, rows.mem, plain(AliasClass::Any));
        }
        self.emit.push(StackEntry::of_struct(Val::Temp(temp), ty));
    }

    /// Copies one lane to all lanes.
    fn broadcast(&mut self, value: ValueId, lane: u8) -> ValueId {
        self.permuted(value, value, by_fours([lane; 4]))
    }

    /// The sum of the first `count` lanes of `weights`, each times its row, added from the first one on.
    fn weighted(&mut self, weights: ValueId, count: u32, rows: &MatrixRows) -> ValueId {
        let mut sum = None;
        for (lane, row) in (0..count as u8).zip(&rows.values) {
            let weight = self.broadcast(weights, lane);
            let product = self.vector_binary(VectorOp::Mul, F, weight, *row);
            sum = Some(match sum {
                None => product,
                Some(sum) => self.vector_binary(VectorOp::Add, F, sum, product),
            });
        }
        sum.expect("vectors have lanes")
    }

    /// Imports an operation on matrices, quaternions or planes. False: not handled, without effect.
    pub(super) fn matrix_call(
        &mut self,
        call: MatrixCall,
        method: &'static Method,
        args: &[StackEntry],
    ) -> LoadResult<bool> {
        use MatrixCall as M;
        match call {
            M::Transform | M::TransformNormal => return self.transformed(call, method, args),
            M::Rotate | M::RotatePlane => return self.rotated(call, method, args),
            M::QuaternionProduct | M::Concatenate | M::Quotient | M::Conjugate | M::Inverse | M::Normalize => {
                return self.quaternion_call(call, method, args);
            }
            M::PlaneDot | M::PlanesEqual(_) => return self.plane_call(call, method, args),
            _ => {}
        }
        let owner = method.owner;
        let Some(a) = self.matrix(&args[0], owner)? else { return Ok(false) };
        let is_binary = matches!(call, M::Rows(_) | M::Lerp | M::Product | M::Equal(_));
        let b = if is_binary { self.matrix(&args[1], owner)? } else { None };
        let rows_of_b = b.as_ref().map_or(&[][..], |b| &b.values);
        let pairs = a.values.iter().copied().zip(rows_of_b.iter().copied());
        let values = match call {
            M::Rows(op) => pairs.map(|(x, y)| self.vector_binary(op, F, x, y)).collect(),
            M::EachRow(op) => a.values.iter().map(|x| self.vector_unary(op, F, *x)).collect(),
            M::RowsByScalar(op) => {
                let scalar = self.splat(&args[1], FOUR)?;
                a.values.iter().map(|x| self.vector_binary(op, F, *x, scalar)).collect()
            }
            M::Lerp => {
                let amount = self.splat(&args[2], FOUR)?;
                let between = |(x, y)| {
                    let way = self.vector_binary(VectorOp::Sub, F, y, x);
                    let way = self.vector_binary(VectorOp::Mul, F, way, amount);
                    self.vector_binary(VectorOp::Add, F, x, way)
                };
                pairs.map(between).collect()
            }
            M::Transpose => self.transposed(&a.values),
            M::RotateRows => {
                let rotation = self.vector_value(&args[1], MemType::V128)?;
                let columns = self.rotation(rotation);
                let mut rotated = Vec::new();
                for row in &a.values {
                    let sum = self.weighted(*row, 3, &columns);
                    rotated.push(self.permuted(sum, *row, by_fours([0, 1, 2, 7])));
                }
                rotated
            }
            M::Product => {
                let Some(b) = &b else { return Ok(false) };
                self.matrix_product(&a, b)
            }
            M::Equal(wanted) => {
                let mut all = None;
                for (x, y) in pairs {
                    let same = self.vector_binary(VectorOp::Eq, F, x, y);
                    all = Some(match all {
                        None => same,
                        Some(all) => self.vector_binary(VectorOp::And, F, all, same),
                    });
                }
                let mut all = all.expect("matrices have rows");
                if a.mem == MemType::V64 {
                    // The upper lanes are undefined.
                    all = self.permuted(all, all, by_fours([0, 1, 0, 1]));
                }
                self.push_all_true(all, F, wanted);
                return Ok(true);
            }
            _ => return Ok(false),
        };
        self.push_matrix(&MatrixRows { values, mem: a.mem }, owner);
        Ok(true)
    }

    fn matrix_product(&mut self, a: &MatrixRows, b: &MatrixRows) -> Vec<ValueId> {
        let is_affine = a.mem == MemType::V64;
        let lanes = if is_affine { 2 } else { 4 };
        let mut rows = Vec::new();
        for (index, row) in a.values.iter().enumerate() {
            let mut sum = self.weighted(*row, lanes, b);
            if is_affine && index == 2 {
                sum = self.vector_binary(VectorOp::Add, F, sum, b.values[2]);
            }
            rows.push(sum);
        }
        rows
    }

    fn transposed(&mut self, rows: &[ValueId]) -> Vec<ValueId> {
        let (low, high) = (by_fours([0, 4, 1, 5]), by_fours([2, 6, 3, 7]));
        let mut columns = Vec::new();
        for turns in [low, high] {
            let (upper, lower) = (self.permuted(rows[0], rows[1], turns), self.permuted(rows[2], rows[3], turns));
            columns.push(self.permuted(upper, lower, by_fours([0, 1, 4, 5])));
            columns.push(self.permuted(upper, lower, by_fours([2, 3, 6, 7])));
        }
        columns
    }

    fn transformed(&mut self, call: MatrixCall, method: &'static Method, args: &[StackEntry]) -> LoadResult<bool> {
        let sig = method.sig()?;
        let (Some(vector), Some(result)) = (vector_type(sig.params[0]), vector_type(sig.ret)) else {
            return Ok(false);
        };
        let value = self.vector_value(&args[0], vector.mem)?;
        let Some(rows) = self.matrix(&args[1], sig.params[1])? else { return Ok(false) };
        let mut sum = self.weighted(value, vector.count, &rows);
        if call == MatrixCall::Transform && (vector.count as usize) < rows.values.len() {
            sum = self.vector_binary(VectorOp::Add, F, sum, rows.values[rows.values.len() - 1]);
        }
        let sum = self.first_lanes(sum, result.count);
        self.push_vector(sum, sig.ret, result.mem);
        Ok(true)
    }

    fn quaternion_call(&mut self, call: MatrixCall, method: &'static Method, args: &[StackEntry]) -> LoadResult<bool> {
        let owner = method.owner;
        let a = self.vector_value(&args[0], MemType::V128)?;
        let value = match call {
            MatrixCall::QuaternionProduct | MatrixCall::Concatenate | MatrixCall::Quotient => {
                let b = self.vector_value(&args[1], MemType::V128)?;
                match call {
                    MatrixCall::QuaternionProduct => self.quaternion_product(a, b),
                    MatrixCall::Concatenate => self.quaternion_product(b, a),
                    _ => {
                        let inverse = self.inverse(b);
                        self.quaternion_product(a, inverse)
                    }
                }
            }
            MatrixCall::Conjugate => self.conjugate(a),
            MatrixCall::Inverse => self.inverse(a),
            _ => {
                let sum = self.vector_dot(F, 4, a, a);
                let root = self.emit.b.inst(Op::Un(UnOp::Sqrt, sum), IrType::F32);
                let inverse = self.reciprocal(root);
                self.vector_binary(VectorOp::Mul, F, a, inverse)
            }
        };
        self.push_vector(value, owner, MemType::V128);
        Ok(true)
    }

    /// 1 / x in every lane.
    fn reciprocal(&mut self, value: ValueId) -> ValueId {
        let one = self.emit.b.inst(Op::ConstF32(1.0), IrType::F32);
        let inverse = self.emit.b.inst(Op::Bin(BinOp::Div, one, value), IrType::F32);
        self.splat_value(inverse, FOUR)
    }

    fn conjugate(&mut self, value: ValueId) -> ValueId {
        let signs = self.bits(std::array::from_fn(|byte| if byte < 12 && byte % 4 == 3 { 0x80 } else { 0 }));
        self.vector_binary(VectorOp::Xor, F, value, signs)
    }

    fn inverse(&mut self, value: ValueId) -> ValueId {
        let sum = self.vector_dot(F, 4, value, value);
        let inverse = self.reciprocal(sum);
        let conjugate = self.conjugate(value);
        self.vector_binary(VectorOp::Mul, F, conjugate, inverse)
    }

    /// The rows of a rotation's matrix, three lanes each; the fourth lane is undefined.
    fn rotation(&mut self, q: ValueId) -> MatrixRows {
        use VectorOp as V;
        let twice = self.vector_binary(V::Add, F, q, q);
        let w = self.broadcast(q, 3);
        // xx yy zz, xy yz xz, wz wx wy, each with one factor doubled.
        let squares = self.vector_binary(V::Mul, F, q, twice);
        let (left, right) =
            (self.permuted(q, q, by_fours([0, 1, 0, 3])), self.permuted(twice, twice, by_fours([1, 2, 2, 3])));
        let products = self.vector_binary(V::Mul, F, left, right);
        let by_w = self.vector_binary(V::Mul, F, w, twice);
        let by_w = self.permuted(by_w, by_w, by_fours([2, 0, 1, 3]));
        // 1 - yy - zz, 1 - xx - zz, 1 - xx - yy.
        let one = self.emit.b.inst(Op::ConstF32(1.0), IrType::F32);
        let one = self.splat_value(one, FOUR);
        let first = self.permuted(squares, squares, by_fours([1, 0, 0, 3]));
        let second = self.permuted(squares, squares, by_fours([2, 2, 1, 3]));
        let diagonal = self.vector_binary(V::Sub, F, one, first);
        let diagonal = self.vector_binary(V::Sub, F, diagonal, second);
        // xy + wz, yz + wx, xz + wy, and the differences.
        let sums = self.vector_binary(V::Add, F, products, by_w);
        let differences = self.vector_binary(V::Sub, F, products, by_w);
        let rows = [
            (self.permuted(sums, differences, by_fours([0, 0, 6, 6])), [4, 1, 2, 3]),
            (self.permuted(differences, sums, by_fours([0, 0, 5, 5])), [0, 5, 2, 3]),
            (self.permuted(sums, differences, by_fours([2, 5, 2, 5])), [0, 1, 6, 3]),
        ];
        let values = rows.map(|(row, lanes)| self.permuted(row, diagonal, by_fours(lanes))).to_vec();
        MatrixRows { values, mem: MemType::V128 }
    }

    fn rotated(&mut self, call: MatrixCall, method: &'static Method, args: &[StackEntry]) -> LoadResult<bool> {
        let sig = method.sig()?;
        let rotation = self.vector_value(&args[1], MemType::V128)?;
        if call == MatrixCall::RotatePlane {
            let plane = self.plane(&args[0])?;
            let columns = self.rotation(rotation);
            let normal = self.weighted(plane, 3, &columns);
            let temp = self.emit.b.temp(IrType::Struct(sig.ret));
            let addr = self.emit.b.addr_of(temp);
            self.emit.b.store(addr, 0, normal, MemType::V96, plain(AliasClass::Any));
            let distance = self.vector_unary(VectorOp::Extract(3), F, plane);
            self.emit.b.store(addr, 12, distance, MemType::F32, plain(AliasClass::Any));
            self.emit.push(StackEntry::of_struct(Val::Temp(temp), sig.ret));
            return Ok(true);
        }
        let (Some(vector), Some(result)) = (vector_type(sig.params[0]), vector_type(sig.ret)) else {
            return Ok(false);
        };
        let value = self.vector_value(&args[0], vector.mem)?;
        let columns = self.rotation(rotation);
        let sum = self.weighted(value, vector.count.min(3), &columns);
        let sum = match (result.count, vector.count) {
            (4, 4) => self.permuted(sum, value, by_fours([0, 1, 2, 7])),
            (4, _) => {
                let one = self.emit.b.inst(Op::ConstF32(1.0), IrType::F32);
                let one = self.splat_value(one, FOUR);
                self.permuted(sum, one, by_fours([0, 1, 2, 7]))
            }
            (count, _) => self.first_lanes(sum, count),
        };
        self.push_vector(sum, sig.ret, result.mem);
        Ok(true)
    }

    /// `a.xyz * b.w + b.xyz * a.w + a × b`, and `a.w * b.w - a.xyz · b.xyz`.
    fn quaternion_product(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let (a_w, b_w) = (self.broadcast(a, 3), self.broadcast(b, 3));
        let left = self.vector_binary(VectorOp::Mul, F, a, b_w);
        let right = self.vector_binary(VectorOp::Mul, F, b, a_w);
        let sum = self.vector_binary(VectorOp::Add, F, left, right);
        let cross = self.cross(a, b);
        let sum = self.vector_binary(VectorOp::Add, F, sum, cross);
        let dot = self.vector_dot(F, 3, a, b);
        let product = self.vector_unary(VectorOp::Extract(3), F, left);
        let last = self.emit.b.inst(Op::Bin(BinOp::Sub, product, dot), IrType::F32);
        self.vector_binary(VectorOp::Insert(3), F, sum, last)
    }

    /// A plane as four lanes. In memory its normal is a separate vector.
    fn plane(&mut self, entry: &StackEntry) -> LoadResult<ValueId> {
        let (addr, offset, flags) = self.vector_place(entry)?;
        let normal = self.emit.b.load(addr, offset, MemType::V96, flags);
        let distance = self.emit.b.load(addr, offset + 12, MemType::F32, checked(flags));
        Ok(self.vector_binary(VectorOp::Insert(3), F, normal, distance))
    }

    fn plane_call(&mut self, call: MatrixCall, method: &'static Method, args: &[StackEntry]) -> LoadResult<bool> {
        if method.owner.value_size_bytes()? != 16 {
            return Ok(false);
        }
        let plane = self.plane(&args[0])?;
        match call {
            MatrixCall::PlanesEqual(wanted) => {
                let other = self.plane(&args[1])?;
                let same = self.vector_binary(VectorOp::Eq, F, plane, other);
                self.push_all_true(same, F, wanted);
            }
            _ => {
                let other = self.vector_value(&args[1], MemType::V128)?;
                let sum = self.vector_dot(F, 4, plane, other);
                self.emit.push(StackEntry::scalar(sum, IrType::F32).with_type(method.sig()?.ret));
            }
        }
        Ok(true)
    }
}

/// The flags of a further access to an address that has already been accessed.
fn checked(flags: MemFlags) -> MemFlags {
    MemFlags { null_check: NullCheck::None, ..flags }
}
