//! Keeps value types and address-exposed scalars in variables.
//!
//! A local whose address is used only to load, store, zero and copy its fields needs no memory: each field becomes a
//! local of its own. Inlined methods of value types (`Span<T>`, `DateTime`, `IntPtr`, enumerators) leave such locals
//! behind. A vector that is an operand or result of a vector operation becomes one variable, whose lanes are its
//! fields; a vector that is only accessed field by field becomes one variable per field. Calls then take and return
//! vectors as values, and a vector parameter is a variable from the start. Left out: locals whose address is passed on,
//! and locals that a filter uses.

use super::leaves::{Leaf, access_bytes, leaves};
use super::vectors;
use crate::ir::{
    AliasClass, BinOp, CallSig, CallTarget, ConvTarget, Function, Inst, IrType, Lanes, Local, LocalId, LocalKind,
    MemFlags, MemType, NullCheck, Op, Terminator, UnOp, ValueId, VectorOp, verify,
};
use rustc_hash::FxHashMap;
use saki_types::Ty;

/// Value types of more scalars stay in memory.
const MAX_LEAVES: usize = 6;

/// Whether a local of this value type may become variables.
pub(crate) fn may_be_variables(ty: Ty) -> bool {
    [true, false].into_iter().any(|whole_vectors| leaves(ty, MAX_LEAVES, whole_vectors).is_some())
}

/// A local being considered.
#[derive(Clone)]
struct PromotionCandidate {
    leaves: Vec<Leaf>,
    /// Locals of the leaves, once decided. For scalars: the local itself.
    locals: Vec<LocalId>,
    size_bytes: i32,
    /// Scalars: bytes of the accesses seen; all must agree, because a narrow one leaves the other bytes alone.
    width_bytes: Option<i32>,
}

struct Promotion<'f> {
    function: &'f mut Function,
    candidates: Vec<Option<PromotionCandidate>>,
    /// Values that are the address of a byte in a candidate.
    addresses: Vec<Option<(LocalId, i32)>>,
}

/// Runs the pass. `in_calls`: vectors that are only passed to and returned from calls become variables, too.
/// `objects`: by local that is a block of bytes, the scalars that it consists of, if it is to become variables.
pub(super) fn run(function: &mut Function, in_calls: bool, objects: &FxHashMap<LocalId, Vec<Leaf>>) {
    if !function.locals.iter().any(|local| local.address_exposed || matches!(local.ty, IrType::Struct(_))) {
        return;
    }
    let vectors = vectors::used_whole(function, in_calls);
    let mut promotion = Promotion { addresses: vec![None; function.insts.len()], candidates: Vec::new(), function };
    if !promotion.find_candidates(&vectors, objects) {
        return;
    }
    promotion.reject_escaping();
    promotion.reject_mismatched_copies();
    if promotion.candidates.iter().any(Option::is_some) {
        promotion.make_locals();
        promotion.rewrite();
    }
}

/// Whether a memory access of `a` can be done on a variable of `b`.
fn fits(a: MemType, b: MemType) -> bool {
    access_bytes(a) == access_bytes(b)
}

impl Promotion<'_> {
    /// `vectors`: by local, whether vectors in it are variables.
    fn find_candidates(&mut self, vectors: &[bool], objects: &FxHashMap<LocalId, Vec<Leaf>>) -> bool {
        let mut shared = vec![false; self.function.locals.len()];
        for filter in &self.function.filters {
            for local in &filter.locals {
                if let LocalKind::ParentSlot(parent) = local.kind {
                    shared[parent.0 as usize] = true;
                }
            }
        }
        for (index, local) in self.function.locals.iter().enumerate() {
            let is_eligible = !shared[index] && !local.pinned && !local.kind.is_elsewhere();
            let candidate = match local.ty {
                _ if !is_eligible => None,
                IrType::Struct(ty) => leaves(ty, MAX_LEAVES, vectors[index]).and_then(|leaves| {
                    let size_bytes = ty.value_size_bytes().ok()? as i32;
                    Some(PromotionCandidate { leaves, locals: Vec::new(), size_bytes, width_bytes: None })
                }),
                IrType::Block(bytes) => objects.get(&LocalId(index as u32)).map(|leaves| PromotionCandidate {
                    leaves: leaves.clone(),
                    locals: Vec::new(),
                    size_bytes: bytes as i32,
                    width_bytes: None,
                }),
                IrType::Void => None,
                scalar if local.address_exposed => {
                    let mem = match scalar {
                        IrType::I32 => MemType::I32,
                        IrType::F32 => MemType::F32,
                        IrType::F64 => MemType::F64,
                        _ => MemType::I64,
                    };
                    let leaves = vec![Leaf { offset_bytes: 0, mem }];
                    let locals = vec![LocalId(index as u32)];
                    Some(PromotionCandidate { leaves, locals, size_bytes: access_bytes(mem), width_bytes: None })
                }
                _ => None,
            };
            self.candidates.push(candidate);
        }
        self.candidates.iter().any(Option::is_some)
    }

    /// Whether the local consists of leaves, as opposed to being a scalar.
    fn is_struct(&self, local: LocalId) -> bool {
        matches!(self.function.locals[local.0 as usize].ty, IrType::Struct(_) | IrType::Block(_))
    }

    /// The leaf that an access covers exactly, or of which it covers a lane. Narrow accesses to exposed scalars cover
    /// their low bytes.
    fn leaf_of(&self, local: LocalId, offset: i32, mem: MemType) -> Option<usize> {
        let candidate = self.candidates[local.0 as usize].as_ref()?;
        if !self.is_struct(local) {
            let whole = candidate.leaves[0].mem;
            if mem.loaded() == IrType::V128 {
                return None;
            }
            let is_low_part = whole == MemType::I32 && access_bytes(mem) < 4;
            return (offset == 0 && (fits(mem, whole) || is_low_part)).then_some(0);
        }
        candidate.leaves.iter().position(|leaf| {
            let is_exact = leaf.offset_bytes == offset && fits(mem, leaf.mem);
            // A whole vector has no lanes that could hold references or pointers.
            if leaf.ir_type() == IrType::V128 {
                return (is_exact && mem == leaf.mem) || lane_at(*leaf, offset, mem).is_some();
            }
            is_exact && mem.loaded() != IrType::V128
        })
    }

    /// Indices of the leaves in a byte range; None if the range splits a leaf.
    fn leaves_in(&self, local: LocalId, start: i32, bytes: i32) -> Option<Vec<usize>> {
        let candidate = self.candidates[local.0 as usize].as_ref()?;
        let mut inside = Vec::new();
        for (index, leaf) in candidate.leaves.iter().enumerate() {
            let (first, last) = (leaf.offset_bytes, leaf.offset_bytes + access_bytes(leaf.mem));
            if first >= start && last <= start + bytes {
                inside.push(index);
            } else if first < start + bytes && last > start {
                return None;
            }
        }
        (start >= 0 && start + bytes <= candidate.size_bytes).then_some(inside)
    }

    fn address(&self, value: ValueId) -> Option<(LocalId, i32)> {
        self.addresses[value.0 as usize].filter(|(local, _)| self.candidates[local.0 as usize].is_some())
    }

    fn reject(&mut self, local: LocalId) {
        self.candidates[local.0 as usize] = None;
    }

    /// Notes a scalar access of this width.
    fn access_width(&mut self, local: LocalId, width_bytes: i32) {
        if self.is_struct(local) {
            return;
        }
        if let Some(candidate) = &mut self.candidates[local.0 as usize]
            && *candidate.width_bytes.get_or_insert(width_bytes) != width_bytes
        {
            self.reject(local);
        }
    }

    fn is_zero(&self, value: ValueId) -> bool {
        matches!(self.function.insts[value.0 as usize].op, Op::ConstI32(0) | Op::ConstI64(0) | Op::Null)
    }

    /// Rejects candidates with uses that this pass cannot rewrite.
    fn reject_escaping(&mut self) {
        for block in 0..self.function.blocks.len() {
            for index in 0..self.function.blocks[block].insts.len() {
                let value = self.function.blocks[block].insts[index];
                let op = self.function.insts[value.0 as usize].op.clone();
                self.consider(value, &op);
            }
            let terminator = self.function.blocks[block].terminator.clone();
            match &terminator {
                Terminator::Ret(Some(value)) => self.consider_operand(*value, self.function.sig.ret),
                Terminator::TailCall { target, sig, args } => self.consider_arguments(target, sig, args),
                _ => verify::terminator_operands(&terminator, &mut |used| self.reject_address(used)),
            }
        }
    }

    fn reject_address(&mut self, value: ValueId) {
        if let Some((local, _)) = self.address(value) {
            self.reject(local);
        }
    }

    /// Examines an operand of a call or a return. A vector may be passed by value instead of by address.
    fn consider_operand(&mut self, operand: ValueId, ty: Option<IrType>) {
        let Some((local, start)) = self.address(operand) else { return };
        let mem = ty.and_then(IrType::vector);
        if mem.is_none_or(|mem| self.leaf_of(local, start, mem).is_none()) {
            self.reject(local);
        }
    }

    fn consider_arguments(&mut self, target: &CallTarget, sig: &CallSig, args: &[ValueId]) {
        if let CallTarget::Indirect(code) | CallTarget::Native { code, .. } = target {
            self.reject_address(*code);
        }
        for (arg, param) in args.iter().zip(&sig.params) {
            self.consider_operand(*arg, target.is_managed().then_some(*param));
        }
    }

    fn consider(&mut self, value: ValueId, op: &Op) {
        match *op {
            Op::Call { ref target, ref sig, ref args, struct_result } => {
                self.consider_arguments(target, sig, args);
                if let Some(place) = struct_result {
                    self.consider_operand(place, sig.ret.filter(|_| target.is_managed()));
                }
            }
            Op::LocalAddr(local) => self.addresses[value.0 as usize] = Some((local, 0)),
            Op::Bin(BinOp::Add, base, amount) if self.addresses[base.0 as usize].is_some() => {
                let (local, start) = self.addresses[base.0 as usize].expect("checked");
                match self.function.insts[amount.0 as usize].op {
                    Op::ConstI64(bytes) if bytes.unsigned_abs() < 1 << 20 => {
                        self.addresses[value.0 as usize] = Some((local, start + bytes as i32));
                    }
                    _ => self.reject(local),
                }
            }
            Op::NullCheck(_) => {}
            Op::LocalGet(local) | Op::LocalSet(local, _) => {
                if let Op::LocalSet(_, stored) = *op {
                    self.reject_address(stored);
                    if self.is_zero(stored) {
                        return;
                    }
                }
                if let Some(candidate) = &self.candidates[local.0 as usize] {
                    self.access_width(local, candidate.size_bytes);
                }
            }
            Op::Load { addr, offset, mem, flags } => self.consider_access(addr, offset, mem, flags),
            Op::Store { addr, offset, value: stored, mem, flags } => {
                self.reject_address(stored);
                self.consider_access(addr, offset, mem, flags);
            }
            Op::InitStruct { addr, ty } => {
                if let Some((local, start)) = self.address(addr) {
                    let bytes = ty.value_size_bytes().unwrap_or(u32::MAX) as i32;
                    if !self.is_struct(local) || self.leaves_in(local, start, bytes).is_none() {
                        self.reject(local);
                    }
                }
            }
            Op::CopyStruct { dst, src, ty, flags, .. } => {
                for addr in [dst, src] {
                    if let Some((local, start)) = self.address(addr) {
                        let bytes = ty.value_size_bytes().unwrap_or(u32::MAX) as i32;
                        if flags.volatile || !self.is_struct(local) || self.leaves_in(local, start, bytes).is_none() {
                            self.reject(local);
                        }
                    }
                }
            }
            _ => verify::operands(op, &mut |used| self.reject_address(used)),
        }
    }

    fn consider_access(&mut self, addr: ValueId, offset: i32, mem: MemType, flags: MemFlags) {
        let Some((local, start)) = self.address(addr) else { return };
        if flags.volatile || self.leaf_of(local, start + offset, mem).is_none() {
            self.reject(local);
        } else {
            self.access_width(local, access_bytes(mem));
        }
    }

    /// Rejects the candidates of a copy whose two sides have different leaves.
    fn reject_mismatched_copies(&mut self) {
        loop {
            let mut bad = Vec::new();
            for block in &self.function.blocks {
                for value in &block.insts {
                    let Op::CopyStruct { dst, src, ty, .. } = self.function.insts[value.0 as usize].op else {
                        continue;
                    };
                    let (Some((to, to_start)), Some((from, from_start))) = (self.address(dst), self.address(src))
                    else {
                        continue;
                    };
                    let bytes = ty.value_size_bytes().unwrap_or(u32::MAX) as i32;
                    let shape = |local: LocalId, start: i32| -> Option<Vec<(i32, i32)>> {
                        let leaves = &self.candidates[local.0 as usize].as_ref()?.leaves;
                        let inside = self.leaves_in(local, start, bytes)?;
                        let part = |i: usize| (leaves[i].offset_bytes - start, access_bytes(leaves[i].mem));
                        Some(inside.into_iter().map(part).collect())
                    };
                    let (a, b) = (shape(to, to_start), shape(from, from_start));
                    if a.is_none() || a != b {
                        bad.push((to, from));
                    }
                }
            }
            if bad.is_empty() {
                return;
            }
            for (to, from) in bad {
                self.reject(to);
                self.reject(from);
            }
        }
    }

    fn make_locals(&mut self) {
        for index in 0..self.candidates.len() {
            let is_struct = self.is_struct(LocalId(index as u32));
            let Some(candidate) = &mut self.candidates[index] else { continue };
            if !is_struct {
                self.function.locals[index].address_exposed = false;
                continue;
            }
            let Local { zero_init, kind, ty, .. } = self.function.locals[index];
            for leaf in &candidate.leaves {
                candidate.locals.push(LocalId(self.function.locals.len() as u32));
                self.function.locals.push(Local {
                    ty: leaf.ir_type(),
                    kind: match kind {
                        LocalKind::Param(_) if ty.vector() == Some(leaf.mem) => kind,
                        _ => LocalKind::Normal,
                    },
                    address_exposed: false,
                    zero_init,
                    pinned: false,
                });
            }
        }
    }

    fn rewrite(&mut self) {
        let params = self.load_params();
        for block in 0..self.function.blocks.len() {
            let old = std::mem::take(&mut self.function.blocks[block].insts);
            let mut new = if block == 0 { params.clone() } else { Vec::with_capacity(old.len()) };
            for value in old {
                self.rewrite_inst(value, &mut new);
            }
            self.rewrite_terminator(block, &mut new);
            self.function.blocks[block].insts = new;
        }
        self.drop_promoted();
    }

    /// Drops the storage of locals that were replaced by variables.
    fn drop_promoted(&mut self) {
        for index in 0..self.candidates.len() {
            let is_register = self.is_vector_in_register(index);
            let local = &mut self.function.locals[index];
            let is_in_memory = matches!(local.kind, LocalKind::Param(_)) && !is_register;
            if self.candidates[index].is_some()
                && matches!(local.ty, IrType::Struct(_) | IrType::Block(_))
                && !is_in_memory
            {
                *local = Local {
                    ty: IrType::Void,
                    kind: LocalKind::Normal,
                    address_exposed: false,
                    zero_init: false,
                    pinned: false,
                };
            }
        }
    }

    /// Whether the candidate is a vector as a whole.
    fn is_vector_in_register(&self, index: usize) -> bool {
        let mem = self.function.locals[index].ty.vector();
        let leaves = self.candidates[index].as_ref().map(|candidate| &candidate.leaves[..]);
        matches!(leaves, Some([leaf]) if Some(leaf.mem) == mem)
    }

    /// Reads promoted struct parameters into their variables.
    fn load_params(&mut self) -> Vec<ValueId> {
        let mut insts = Vec::new();
        for index in 0..self.candidates.len() {
            let is_param = matches!(self.function.locals[index].kind, LocalKind::Param(_));
            if !is_param || !self.is_struct(LocalId(index as u32)) || self.is_vector_in_register(index) {
                continue;
            }
            let Some(candidate) = self.candidates[index].clone() else { continue };
            let addr = self.emit(Op::LocalAddr(LocalId(index as u32)), IrType::ByRef, 0, &mut insts);
            for (leaf, local) in candidate.leaves.iter().zip(candidate.locals) {
                let load = Op::Load { addr, offset: leaf.offset_bytes, mem: leaf.mem, flags: plain() };
                let value = self.emit(load, leaf.ir_type(), 0, &mut insts);
                self.emit(Op::LocalSet(local, value), IrType::Void, 0, &mut insts);
            }
        }
        insts
    }

    fn emit(&mut self, op: Op, ty: IrType, il_offset: u32, out: &mut Vec<ValueId>) -> ValueId {
        let id = ValueId(self.function.insts.len() as u32);
        self.function.insts.push(Inst { op, ty, il_offset });
        self.addresses.push(None);
        out.push(id);
        id
    }

    /// The operand for a call or a return: for a vector that is a variable, its value.
    fn operand(&mut self, operand: ValueId, il_offset: u32, out: &mut Vec<ValueId>) -> ValueId {
        match self.vector_variable(operand) {
            Some(variable) => self.emit(Op::LocalGet(variable), IrType::V128, il_offset, out),
            None => operand,
        }
    }

    /// The variable of the vector at an address.
    fn vector_variable(&self, address: ValueId) -> Option<LocalId> {
        let (local, start) = self.address(address)?;
        let candidate = self.candidates[local.0 as usize].as_ref()?;
        let at = candidate.leaves.iter().position(|leaf| leaf.offset_bytes == start)?;
        Some(candidate.locals[at])
    }

    fn rewrite_call(&mut self, value: ValueId, il_offset: u32, out: &mut Vec<ValueId>) {
        let mut op = self.function.insts[value.0 as usize].op.clone();
        let mut result = None;
        if let Op::Call { args, struct_result, .. } = &mut op {
            for arg in args {
                *arg = self.operand(*arg, il_offset, out);
            }
            result = struct_result.and_then(|place| self.vector_variable(place));
            if result.is_some() {
                *struct_result = None;
            }
        }
        let inst = &mut self.function.insts[value.0 as usize];
        inst.op = op;
        out.push(value);
        if let Some(variable) = result {
            inst.ty = IrType::V128;
            self.emit(Op::LocalSet(variable, value), IrType::Void, il_offset, out);
        }
    }

    fn rewrite_terminator(&mut self, block: usize, out: &mut Vec<ValueId>) {
        let il_offset = self.function.blocks[block].terminator_il_offset;
        let mut terminator = std::mem::replace(&mut self.function.blocks[block].terminator, Terminator::Unreachable);
        match &mut terminator {
            Terminator::Ret(Some(value)) => *value = self.operand(*value, il_offset, out),
            Terminator::TailCall { args, .. } => {
                for arg in args {
                    *arg = self.operand(*arg, il_offset, out);
                }
            }
            _ => {}
        }
        self.function.blocks[block].terminator = terminator;
    }

    fn rewrite_inst(&mut self, value: ValueId, out: &mut Vec<ValueId>) {
        let Inst { op, il_offset, .. } = self.function.insts[value.0 as usize].clone();
        match op {
            Op::LocalAddr(_) | Op::Bin(BinOp::Add, ..) if self.address(value).is_some() => {}
            Op::NullCheck(addr) if self.address(addr).is_some() => {}
            Op::Load { addr, offset, mem, .. } if self.address(addr).is_some() => {
                let (local, start) = self.address(addr).expect("checked");
                let at = self.leaf_of(local, start + offset, mem).expect("checked by `consider`");
                let (leaf, variable) = self.leaf(local, at);
                let ty = self.function.locals[variable.0 as usize].ty;
                if ty == IrType::V128 && mem != leaf.mem {
                    let (lanes, lane) = lane_at(leaf, start + offset, mem).expect("checked by `leaf_of`");
                    let whole = self.emit(Op::LocalGet(variable), ty, il_offset, out);
                    self.function.insts[value.0 as usize].op =
                        Op::Vector { op: VectorOp::Extract(lane), lanes, a: whole, b: None, c: None };
                    out.push(value);
                    return;
                }
                let is_narrow = access_bytes(mem) < 4;
                let as_is = ty == mem.loaded() && (!is_narrow || leaf.mem == mem);
                if as_is || (!is_narrow && is_word(ty) && is_word(mem.loaded())) {
                    self.function.insts[value.0 as usize].op = Op::LocalGet(variable);
                    self.function.insts[value.0 as usize].ty = ty;
                    out.push(value);
                    return;
                }
                let read = self.emit(Op::LocalGet(variable), ty, il_offset, out);
                self.function.insts[value.0 as usize].op = reinterpreted(read, ty, mem);
                out.push(value);
            }
            Op::Store { addr, offset, value: stored, mem, .. } if self.address(addr).is_some() => {
                let (local, start) = self.address(addr).expect("checked");
                let at = self.leaf_of(local, start + offset, mem).expect("checked by `consider`");
                let (leaf, variable) = self.leaf(local, at);
                let ty = self.function.locals[variable.0 as usize].ty;
                let from = self.function.insts[stored.0 as usize].ty;
                let mut stored = stored;
                if ty == IrType::V128 {
                    if mem != leaf.mem {
                        let (lanes, lane) = lane_at(leaf, start + offset, mem).expect("checked by `leaf_of`");
                        let whole = self.emit(Op::LocalGet(variable), ty, il_offset, out);
                        let insert =
                            Op::Vector { op: VectorOp::Insert(lane), lanes, a: whole, b: Some(stored), c: None };
                        stored = self.emit(insert, ty, il_offset, out);
                    }
                } else if access_bytes(mem) < 4 {
                    // The variable holds the value as a load would extend it.
                    let target = if self.is_struct(local) { leaf.mem } else { mem };
                    let op = reinterpreted(stored, IrType::I32, target);
                    stored = self.emit(op, IrType::I32, il_offset, out);
                } else if from != ty && !(is_word(from) && is_word(ty)) {
                    let target = match ty {
                        IrType::I32 => MemType::I32,
                        IrType::F32 => MemType::F32,
                        IrType::F64 => MemType::F64,
                        _ => MemType::I64,
                    };
                    stored = self.emit(reinterpreted(stored, from, target), ty, il_offset, out);
                }
                self.function.insts[value.0 as usize].op = Op::LocalSet(variable, stored);
                out.push(value);
            }
            Op::InitStruct { addr, ty } if self.address(addr).is_some() => {
                let (local, start) = self.address(addr).expect("checked");
                let bytes = ty.value_size_bytes().unwrap_or(0) as i32;
                for at in self.leaves_in(local, start, bytes).expect("checked by `consider`") {
                    let (leaf, variable) = self.leaf(local, at);
                    let zero = self.emit(leaf.zero(), leaf.ir_type(), il_offset, out);
                    self.emit(Op::LocalSet(variable, zero), IrType::Void, il_offset, out);
                }
            }
            Op::CopyStruct { dst, src, ty, barrier, flags } => {
                let bytes = ty.value_size_bytes().unwrap_or(0) as i32;
                self.rewrite_copy(value, (dst, src), bytes, barrier, flags, il_offset, out);
            }
            Op::Call { .. } => self.rewrite_call(value, il_offset, out),
            _ => out.push(value),
        }
    }

    fn leaf(&self, local: LocalId, at: usize) -> (Leaf, LocalId) {
        let candidate = self.candidates[local.0 as usize].as_ref().expect("a candidate");
        (candidate.leaves[at], candidate.locals[at])
    }

    fn rewrite_copy(
        &mut self,
        value: ValueId,
        (dst, src): (ValueId, ValueId),
        bytes: i32,
        barrier: bool,
        flags: MemFlags,
        il_offset: u32,
        out: &mut Vec<ValueId>,
    ) {
        let (to, from) = (self.address(dst), self.address(src));
        let Some((local, start)) = to.or(from) else {
            out.push(value);
            return;
        };
        // All are read before any is written: source and destination may be parts of one local.
        let mut moved = Vec::new();
        for at in self.leaves_in(local, start, bytes).expect("checked by `consider`") {
            let (leaf, _) = self.leaf(local, at);
            let relative = leaf.offset_bytes - start;
            let read = match from {
                Some((from, from_start)) => {
                    let at = self
                        .leaf_of(from, from_start + relative, leaf.mem)
                        .expect("checked by `reject_mismatched_copies`");
                    let (_, variable) = self.leaf(from, at);
                    let ty = self.function.locals[variable.0 as usize].ty;
                    self.emit(Op::LocalGet(variable), ty, il_offset, out)
                }
                None => {
                    let load = Op::Load { addr: src, offset: relative, mem: leaf.mem, flags };
                    self.emit(load, leaf.ir_type(), il_offset, out)
                }
            };
            moved.push((relative, leaf, read));
        }
        for (relative, leaf, read) in moved {
            let Some((to, to_start)) = to else {
                let op = if barrier && leaf.mem == MemType::Ref {
                    Op::StoreRef { object: None, addr: dst, offset: relative, value: read, flags }
                } else {
                    Op::Store { addr: dst, offset: relative, value: read, mem: leaf.mem, flags }
                };
                self.emit(op, IrType::Void, il_offset, out);
                continue;
            };
            let at = self.leaf_of(to, to_start + relative, leaf.mem).expect("checked by `reject_mismatched_copies`");
            let (_, variable) = self.leaf(to, at);
            let ty = self.function.locals[variable.0 as usize].ty;
            let from_ty = self.function.insts[read.0 as usize].ty;
            let read = if from_ty == ty || (is_word(from_ty) && is_word(ty)) {
                read
            } else {
                let (to_leaf, _) = self.leaf(to, at);
                self.emit(reinterpreted(read, from_ty, to_leaf.mem), ty, il_offset, out)
            };
            self.emit(Op::LocalSet(variable, read), IrType::Void, il_offset, out);
        }
    }
}

fn plain() -> MemFlags {
    MemFlags { null_check: NullCheck::None, alias: AliasClass::Any, volatile: false, unaligned: false }
}

/// The lane of a vector that a scalar access hits.
fn lane_at(leaf: Leaf, offset: i32, mem: MemType) -> Option<(Lanes, u8)> {
    let lanes = match mem {
        MemType::I8 => Lanes::I8,
        MemType::U8 => Lanes::U8,
        MemType::I16 => Lanes::I16,
        MemType::U16 => Lanes::U16,
        MemType::I32 => Lanes::I32,
        MemType::I64 => Lanes::I64,
        MemType::F32 => Lanes::F32,
        MemType::F64 => Lanes::F64,
        MemType::Ref | MemType::ByRef | MemType::V64 | MemType::V96 | MemType::V128 => return None,
    };
    let inside = offset
        .checked_sub(leaf.offset_bytes)
        .filter(|&at| at >= 0 && at + access_bytes(mem) <= access_bytes(leaf.mem))?;
    (inside % access_bytes(mem) == 0).then(|| (lanes, (inside / access_bytes(mem)) as u8))
}

fn is_word(ty: IrType) -> bool {
    matches!(ty, IrType::I64 | IrType::Ref | IrType::ByRef)
}

/// Reads a variable's bits as an access of `mem` would.
fn reinterpreted(value: ValueId, from: IrType, mem: MemType) -> Op {
    let narrow = |target| Op::Conv { value, target, checked: false, source_unsigned: false };
    match (from, mem) {
        (IrType::I32, MemType::I8) => narrow(ConvTarget::I1),
        (IrType::I32, MemType::U8) => narrow(ConvTarget::U1),
        (IrType::I32, MemType::I16) => narrow(ConvTarget::I2),
        (IrType::I32, MemType::U16) => narrow(ConvTarget::U2),
        (IrType::I32, MemType::F32) => Op::Un(UnOp::BitcastI32F32, value),
        (IrType::F32, MemType::I32) => Op::Un(UnOp::BitcastF32I32, value),
        (IrType::F64, _) => Op::Un(UnOp::BitcastF64I64, value),
        (_, MemType::F64) => Op::Un(UnOp::BitcastI64F64, value),
        _ => narrow(ConvTarget::I4),
    }
}
