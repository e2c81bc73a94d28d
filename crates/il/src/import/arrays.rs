//! Arrays: newarr, ldlen, ldelem, stelem, ldelema, and the Get, Set and Address of arrays with several dimensions.
//! ECMA-335 §III.4.7–4.9, §III.4.20, §III.4.26, §II.14.2.

use super::builder::plain;
use super::emitter::Emitter;
use super::kinds::is_exact_class;
use super::operand_kinds::{require_kind, require_reference};
use super::stack::{Effect, StackEntry};
use crate::ir::{AliasClass, BinOp, IrType, MemType, Op, Symbol, ValueId};
use saki_abi::HelperId;
use saki_abi::object::{ARRAY_BOUND_BYTES, ARRAY_BOUNDS_OFFSET, ARRAY_LOWER_BOUND_OFFSET};
use saki_types::{ArrayMethod, ElementType, LoadError, LoadResult, Method, Ty, universe};

impl Emitter<'_> {
    pub(super) fn new_array(&mut self, element: Ty) -> LoadResult<()> {
        let length = self.pop_int()?;
        if element.element_type == ElementType::Void {
            return Err(LoadError::invalid_program("an array of System.Void is made"));
        }
        Self::require_elements(element)?;
        let ty = universe().sz_array_of(element);
        let value = self.b.inst(Op::NewArray(ty, length), IrType::Ref);
        self.has_calls = true;
        self.push(StackEntry::scalar(value, IrType::Ref).exact(ty).non_null());
        Ok(())
    }

    pub(super) fn load_length(&mut self) -> LoadResult<()> {
        let (_, array) = self.pop_reference()?;
        let value = self.b.inst(Op::ArrayLen(array), IrType::I32);
        self.push_scalar(value, IrType::I32);
        Ok(())
    }

    /// Null and bounds checks, then the element's address.
    pub(super) fn checked_element(&mut self, array: ValueId, index: ValueId, element_size_bytes: u32) -> ValueId {
        let length = self.b.inst(Op::ArrayLen(array), IrType::I32);
        match self.b.ty(index) {
            IrType::I32 => self.b.effect(Op::BoundsCheck { index, length }),
            _ => {
                let length = self.b.conv(length, crate::ir::ConvTarget::U8);
                self.b.effect(Op::BoundsCheck { index, length });
            }
        }
        self.b.inst(Op::ElementAddr { array, index, element_size_bytes }, IrType::ByRef)
    }

    fn pop_array_and_index(&mut self) -> LoadResult<(StackEntry, ValueId, ValueId)> {
        let index = self.pop_int()?;
        let (array, value) = self.pop_reference()?;
        Ok((array, value, index))
    }

    /// The element type by the array's static type.
    fn static_element(array: &StackEntry) -> Option<Ty> {
        array.ty.filter(|t| t.is_array()).and_then(|t| t.element())
    }

    pub(super) fn load_element(&mut self, ty: Ty) -> LoadResult<()> {
        let (_, array, index) = self.pop_array_and_index()?;
        let addr = self.checked_element(array, index, ty.value_size_bytes()?);
        let entry = self.entry_at(addr, 0, ty, plain(AliasClass::Element))?;
        self.push(entry);
        Ok(())
    }

    pub(super) fn load_primitive_element(&mut self, mem: MemType) -> LoadResult<()> {
        let (entry, array, index) = self.pop_array_and_index()?;
        let addr = self.checked_element(array, index, mem.bytes());
        let value = self.b.load(addr, 0, mem, plain(AliasClass::Element));
        let mut loaded = StackEntry::scalar(value, mem.loaded());
        // ldelem.i is the only way to know that a native-sized element is an IntPtr.
        loaded.ty = Self::static_element(&entry).filter(|_| mem == MemType::I64);
        self.push(loaded);
        Ok(())
    }

    pub(super) fn load_reference_element(&mut self) -> LoadResult<()> {
        let (entry, array, index) = self.pop_array_and_index()?;
        let addr = self.checked_element(array, index, 8);
        let value = self.b.load(addr, 0, MemType::Ref, plain(AliasClass::Element));
        let mut loaded = StackEntry::scalar(value, IrType::Ref);
        loaded.ty = Self::static_element(&entry).filter(|t| t.is_reference_type());
        loaded.is_exact = loaded.ty.is_some_and(is_exact_class);
        self.push(loaded);
        Ok(())
    }

    pub(super) fn store_element(&mut self, ty: Ty) -> LoadResult<()> {
        if ty.is_reference_type() {
            return self.store_reference_element();
        }
        let entry = self.pop()?;
        let (_, array, index) = self.pop_array_and_index()?;
        self.spill(Effect::Memory)?;
        let addr = self.checked_element(array, index, ty.value_size_bytes()?);
        self.store_at(addr, 0, &entry, ty, plain(AliasClass::Element), Some(array), true)
    }

    pub(super) fn store_primitive_element(&mut self, mem: MemType) -> LoadResult<()> {
        let entry = self.pop()?;
        require_kind(&entry, mem.loaded())?;
        let value = self.value(&entry)?;
        let value = self.fit(value, mem.loaded());
        let (_, array, index) = self.pop_array_and_index()?;
        self.spill(Effect::Memory)?;
        let addr = self.checked_element(array, index, mem.bytes());
        self.b.store(addr, 0, value, mem, plain(AliasClass::Element));
        Ok(())
    }

    pub(super) fn store_reference_element(&mut self) -> LoadResult<()> {
        let entry = self.pop()?;
        let (array_entry, array, index) = self.pop_array_and_index()?;
        self.spill(Effect::Memory)?;
        require_reference(&entry)?;
        let value = self.value(&entry)?;
        let addr = self.checked_element(array, index, 8);
        self.store_checked_reference(&array_entry, array, addr, &entry, value)
    }

    /// Stores a reference into an array after the check that the array may hold it.
    fn store_checked_reference(
        &mut self,
        array_entry: &StackEntry,
        array: ValueId,
        addr: ValueId,
        entry: &StackEntry,
        value: ValueId,
    ) -> LoadResult<()> {
        if matches!(self.b.op(value), Op::Null) {
            self.b.store(addr, 0, value, MemType::Ref, plain(AliasClass::Element));
            return Ok(());
        }
        if !self.store_cannot_fail(array_entry, entry)? {
            self.b.helper(HelperId::CheckArrayStore, vec![array, value]);
        }
        let flags = plain(AliasClass::Element);
        self.b.effect(Op::StoreRef { object: Some(array), addr, offset: 0, value, flags });
        Ok(())
    }

    fn store_cannot_fail(&self, array: &StackEntry, value: &StackEntry) -> LoadResult<bool> {
        let Some(element) = Self::static_element(array).filter(|t| t.is_reference_type()) else { return Ok(false) };
        let Some(value_ty) = value.ty else { return Ok(array.is_exact && element == universe().object()) };
        // With a sealed element type the array is exactly what its static type says.
        let array_is_exact = array.is_exact || is_exact_class(element);
        Ok(array_is_exact && value_ty.is_assignable_to(element)?)
    }

    pub(super) fn load_element_address(&mut self, ty: Ty) -> LoadResult<()> {
        let (array_entry, array, index) = self.pop_array_and_index()?;
        let addr = self.checked_element(array, index, ty.value_size_bytes()?);
        self.check_element_type(&array_entry, array, ty);
        self.push(StackEntry::scalar(addr, IrType::ByRef).non_null());
        Ok(())
    }

    /// Checks that the array's element type is exactly `ty`, before an element's address is taken for writing.
    fn check_element_type(&mut self, array_entry: &StackEntry, array: ValueId, ty: Ty) {
        let is_exact = array_entry.is_exact && Self::static_element(array_entry) == Some(ty);
        if ty.is_reference_type() && !self.s.prefixes.readonly && !is_exact && !is_exact_class(ty) {
            let handle = self.b.symbol(Symbol::TypeHandle(ty));
            self.b.helper(HelperId::CheckElementAddress, vec![array, handle]);
        }
    }

    // ---- several dimensions

    /// Imports a call of Get, Set or Address in line. False, without effect: another method, or too many dimensions.
    pub(super) fn array_accessor(&mut self, method: &'static Method, kind: ArrayMethod) -> LoadResult<bool> {
        let owner = method.owner;
        let rank = owner.array_rank() as usize;
        let (Some(element), true) = (owner.element(), (1..=3).contains(&rank)) else { return Ok(false) };
        let is_accessor = matches!(kind, ArrayMethod::Get | ArrayMethod::Set | ArrayMethod::Address);
        if !is_accessor || self.s.stack.len() < rank + 1 {
            return Ok(false);
        }
        if rank == 1 && !owner.is_sz_array() {
            // It may be an SZ array, which has no bounds.
            return Ok(false);
        }
        let stored = if kind == ArrayMethod::Set { Some(self.pop()?) } else { None };
        let mut indices = Vec::with_capacity(rank);
        for _ in 0..rank {
            let index = self.pop_int()?;
            indices.push(self.fit(index, IrType::I32));
        }
        indices.reverse();
        let (array_entry, array) = self.pop_reference()?;
        if stored.is_some() {
            self.spill(Effect::Memory)?;
        }
        let addr = self.multi_dim_element(owner, array, &indices, element.value_size_bytes()?);
        match (kind, stored) {
            (ArrayMethod::Set, Some(entry)) if element.is_reference_type() => {
                let value = self.coerce(&entry, element)?;
                self.store_checked_reference(&array_entry, array, addr, &entry, value)?;
            }
            (ArrayMethod::Set, Some(entry)) => {
                self.store_at(addr, 0, &entry, element, plain(AliasClass::Element), Some(array), true)?;
            }
            (ArrayMethod::Address, _) => {
                self.check_element_type(&array_entry, array, element);
                self.push(StackEntry::scalar(addr, IrType::ByRef).non_null());
            }
            _ => {
                let entry = self.entry_at(addr, 0, element, plain(AliasClass::Element))?;
                self.push(entry);
            }
        }
        Ok(true)
    }

    fn multi_dim_element(
        &mut self,
        owner: Ty,
        array: ValueId,
        indices: &[ValueId],
        element_size_bytes: u32,
    ) -> ValueId {
        if owner.is_sz_array() {
            return self.checked_element(array, indices[0], element_size_bytes);
        }
        self.b.effect(Op::NullCheck(array));
        let bounds = self.b.load(array, ARRAY_BOUNDS_OFFSET, MemType::I64, plain(AliasClass::Length));
        let mut linear: Option<ValueId> = None;
        for (dimension, index) in indices.iter().enumerate() {
            let at = dimension as i32 * ARRAY_BOUND_BYTES;
            let low = self.b.load(bounds, at + ARRAY_LOWER_BOUND_OFFSET, MemType::I32, plain(AliasClass::Length));
            let length = self.b.load(bounds, at, MemType::I32, plain(AliasClass::Length));
            let relative = self.b.inst(Op::Bin(BinOp::Sub, *index, low), IrType::I32);
            self.b.effect(Op::BoundsCheck { index: relative, length });
            linear = Some(match linear {
                None => relative,
                Some(before) => {
                    let scaled = self.b.inst(Op::Bin(BinOp::Mul, before, length), IrType::I32);
                    self.b.inst(Op::Bin(BinOp::Add, scaled, relative), IrType::I32)
                }
            });
        }
        let index = linear.expect("a rank is at least 1");
        self.b.inst(Op::ElementAddr { array, index, element_size_bytes }, IrType::ByRef)
    }

    /// `array.GetLength(dimension)` or GetLowerBound for an array type and dimension known here.
    pub(super) fn array_dimension(
        &mut self,
        array: &StackEntry,
        dimension: &StackEntry,
        is_lower_bound: bool,
    ) -> LoadResult<bool> {
        let number = self.value(dimension)?;
        let (Some(ty), Some(number)) = (array.ty.filter(|t| t.is_array()), self.b.const_i32(number)) else {
            return Ok(false);
        };
        if number < 0 || number as u32 >= ty.array_rank() || (ty.array_rank() == 1 && !ty.is_sz_array()) {
            return Ok(false);
        }
        let array = self.value(array)?;
        let value = if ty.is_sz_array() {
            let length = self.b.inst(Op::ArrayLen(array), IrType::I32);
            if is_lower_bound { self.b.i32(0) } else { length }
        } else {
            self.b.effect(Op::NullCheck(array));
            let bounds = self.b.load(array, ARRAY_BOUNDS_OFFSET, MemType::I64, plain(AliasClass::Length));
            let offset = number * ARRAY_BOUND_BYTES + if is_lower_bound { ARRAY_LOWER_BOUND_OFFSET } else { 0 };
            self.b.load(bounds, offset, MemType::I32, plain(AliasClass::Length))
        };
        self.push_scalar(value, IrType::I32);
        Ok(true)
    }

    /// `newobj` of an array type; the lengths (and lower bounds) are on the stack.
    pub(super) fn new_multi_dim_array(&mut self, method: &'static Method) -> LoadResult<()> {
        let ty = method.owner;
        let count = method.sig()?.params.len();
        if ty.is_sz_array() && count == 1 {
            let length = self.pop_int()?;
            let value = self.b.inst(Op::NewArray(ty, length), IrType::Ref);
            self.has_calls = true;
            self.push(StackEntry::scalar(value, IrType::Ref).exact(ty).non_null());
            return Ok(());
        }
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            let number = self.pop_int()?;
            numbers.push(self.fit(number, IrType::I32));
        }
        numbers.reverse();
        let block = self.b.temp(IrType::Block((count as u32 * 4).next_multiple_of(8)));
        self.b.expose(block);
        let addr = self.b.addr_of(block);
        for (index, number) in numbers.into_iter().enumerate() {
            self.b.store(addr, index as i32 * 4, number, MemType::I32, plain(AliasClass::Any));
        }
        self.has_calls = true;
        let vtable = self.b.symbol(Symbol::VTable(ty));
        let count = self.b.i32(count as i32);
        let value = self.b.helper(HelperId::NewMultiDimArray, vec![vtable, addr, count]);
        self.push(StackEntry::scalar(value, IrType::Ref).exact(ty).non_null());
        Ok(())
    }
}
