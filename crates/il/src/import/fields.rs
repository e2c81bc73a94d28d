//! Instance and static fields. ECMA-335 §III.4.10–4.14, §III.4.28–4.30.

use super::builder::plain;
use super::emitter::Emitter;
use super::kinds::{ir_type, mem_type};
use super::operand_kinds::{require_kind, require_reference};
use super::stack::{Effect, StackEntry, Val};
use crate::ir::{AliasClass, IrType, MemFlags, MemType, NullCheck, Op, Symbol, ValueId};
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_abi::{HelperId, NativeAbi};
use saki_metadata::opcodes::Instruction;
use saki_types::member_texts::{field_in_messages, method_in_messages};
use saki_types::{Field, LibraryType, LoadError, LoadErrorKind, LoadResult, RemotingStub, Ty, load_texts};

/// The object or value that an instance field belongs to.
enum Base {
    /// An address, and the flags of accesses through it. `object`: the heap object, if the base is one.
    Address { addr: ValueId, flags: MemFlags, object: Option<ValueId> },
    /// A struct on the stack.
    Value(StackEntry),
    /// A scalar value type on the stack: its only field is the value itself.
    Itself(StackEntry),
}

/// A numeric type whose constants code can hold: none of native size, which hold addresses.
struct Number(MemType);

impl Number {
    fn of(ty: Ty) -> LoadResult<Option<Number>> {
        let is_number = ty.underlying().element_type.primitive_size_bytes().is_some();
        Ok(if is_number { mem_type(ty)?.map(Number) } else { None })
    }

    /// The instruction that gives the number with these bits, as a load would extend it.
    fn constant(&self, bits: u64) -> (Op, IrType) {
        let op = match self.0 {
            MemType::I8 => Op::ConstI32(i32::from(bits as i8)),
            MemType::U8 => Op::ConstI32(i32::from(bits as u8)),
            MemType::I16 => Op::ConstI32(i32::from(bits as i16)),
            MemType::U16 => Op::ConstI32(i32::from(bits as u16)),
            MemType::I32 => Op::ConstI32(bits as i32),
            MemType::F32 => Op::ConstF32(f32::from_bits(bits as u32)),
            MemType::F64 => Op::ConstF64(f64::from_bits(bits)),
            _ => Op::ConstI64(bits as i64),
        };
        (op, self.0.loaded())
    }
}

/// Whether the field may lie at an address that is no multiple of its size.
fn may_be_misaligned(field: &'static Field) -> LoadResult<bool> {
    let ty = field.ty()?;
    if mem_type(ty)?.is_none() {
        return Ok(false);
    }
    let (size_bytes, owner) = (ty.value_size_bytes()?, field.owner);
    let is_placed_less = owner.is_value_type() && owner.value_align_bytes()? < size_bytes;
    Ok(is_placed_less || !field.offset_bytes()?.is_multiple_of(size_bytes))
}

impl Emitter<'_> {
    fn operand_field(&self, instruction: &Instruction<'static>) -> LoadResult<&'static Field> {
        let token = self.operand_token(instruction)?;
        let field = self.facts.resolve_field(self.s.image, token, &self.s.context)?;
        if field.is_literal() {
            let name = format!("{field:?}");
            let message = match load_texts::are_mono() {
                true => format!("{name} is a constant"),
                false => format!("Field not found: '{}'.", field_in_messages(field)),
            };
            return Err(LoadError::new(LoadErrorKind::MissingField, message, name));
        }
        if !saki_types::access::can_use_field(self.s.method, field)? {
            let name = format!("{}:{}", field.owner.full_name(), field.name);
            let from = self.s.method.full_name();
            let message = match load_texts::are_mono() {
                true => format!("Field `{name}' is inaccessible from method `{from}'\n"),
                false => {
                    let (from, to) = (method_in_messages(self.s.method), field_in_messages(field));
                    format!("Attempt by method '{from}' to access field '{to}' failed.")
                }
            };
            return Err(LoadError::new(LoadErrorKind::FieldAccess, message, name));
        }
        Ok(field)
    }

    fn access(&self, alias: AliasClass, null_check: NullCheck) -> MemFlags {
        MemFlags { null_check, alias, volatile: self.s.prefixes.volatile, unaligned: self.s.prefixes.unaligned }
    }

    /// The flags of an access to a field at its place in an object or a value.
    fn field_access(&self, field: &'static Field, alias: AliasClass, null_check: NullCheck) -> LoadResult<MemFlags> {
        let mut flags = self.access(alias, null_check);
        // Compilers do not mark accesses to fields of packed types.
        flags.unaligned |= flags.volatile && may_be_misaligned(field)?;
        Ok(flags)
    }

    fn pop_base(&mut self, field: &'static Field) -> LoadResult<Base> {
        let entry = self.pop()?;
        let owner = field.owner;
        match entry.ir {
            IrType::Struct(_) => {
                require_kind(&entry, ir_type(owner)?)?;
                Ok(Base::Value(entry))
            }
            IrType::Ref => {
                let addr = self.value(&entry)?;
                let check = if entry.is_non_null { NullCheck::None } else { NullCheck::Needed };
                if check == NullCheck::Needed {
                    self.note_non_null(addr);
                }
                let flags = self.field_access(field, AliasClass::Field, check)?;
                Ok(Base::Address { addr, flags, object: Some(addr) })
            }
            IrType::I32 | IrType::F32 | IrType::F64 => {
                if !owner.is_value_type() {
                    require_reference(&entry)?;
                }
                Ok(Base::Itself(entry))
            }
            _ if owner.is_value_type() && entry.ir == IrType::I64 && entry.ty.is_some_and(|t| t == owner) => {
                Ok(Base::Itself(entry))
            }
            _ => {
                let addr = self.value(&entry)?;
                self.check_far_access(&entry, addr, Self::field_offset(field, false)?);
                let check = self.null_check_of(&entry, addr);
                let flags = self.field_access(field, AliasClass::Any, check)?;
                Ok(Base::Address { addr, flags, object: None })
            }
        }
    }

    /// Pops the object, if it may be a transparent proxy.
    fn pop_if_proxy(&mut self, field: &'static Field) -> LoadResult<Option<StackEntry>> {
        let entry = self.pop()?;
        if Self::may_be_proxy(&entry, field.owner) {
            return Ok(Some(entry));
        }
        self.push(entry);
        Ok(None)
    }

    /// Offset of the field from the base address.
    fn field_offset(field: &'static Field, base_is_object: bool) -> LoadResult<i32> {
        let mut offset = field.offset_bytes()?;
        if base_is_object && field.owner.is_value_type() {
            // A boxed value is used as the address of its value.
            offset += OBJECT_HEADER_BYTES;
        }
        i32::try_from(offset)
            .map_err(|_| LoadError::type_load("the field lies too far into its type", field.owner.full_name()))
    }

    pub(super) fn load_field(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        let field = self.operand_field(instruction)?;
        if field.is_static() {
            self.pop()?;
            return self.load_static_field(field);
        }
        if let Some(base) = self.pop_if_proxy(field)? {
            return self.call_stub(RemotingStub::GetField(field), &[base]);
        }
        let ty = field.ty()?;
        let entry = match self.pop_base(field)? {
            Base::Itself(entry) => {
                let value = self.coerce(&entry, ty)?;
                let ir = self.b.ty(value);
                StackEntry::scalar(value, ir).with_type(ty)
            }
            Base::Address { addr, flags, object } => {
                let offset = Self::field_offset(field, object.is_some())?;
                if flags.null_check == NullCheck::Needed && mem_type(ty)?.is_none() {
                    self.b.effect(Op::NullCheck(addr));
                    let flags = MemFlags { null_check: NullCheck::None, ..flags };
                    self.entry_at(addr, offset, ty, flags)?
                } else {
                    self.entry_at(addr, offset, ty, flags)?
                }
            }
            Base::Value(base) => {
                let offset = Self::field_offset(field, false)?;
                self.part_of(&base, offset, ty)?
            }
        };
        self.push(entry);
        Ok(())
    }

    /// The value of type `ty` at an offset in a struct entry.
    pub(super) fn part_of(&mut self, base: &StackEntry, offset: i32, ty: Ty) -> LoadResult<StackEntry> {
        if let (Val::Handle(symbol), Some(_)) = (base.val, mem_type(ty)?) {
            let value = self.b.symbol(symbol);
            return Ok(StackEntry::scalar(value, IrType::I64).with_type(ty));
        }
        match base.val {
            Val::InMemory { addr, offset: start, flags } => self.entry_at(addr, start + offset, ty, flags),
            _ => {
                let addr = self.struct_addr(base)?;
                self.entry_at(addr, offset, ty, plain(AliasClass::Any))
            }
        }
    }

    pub(super) fn load_field_address(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        let field = self.operand_field(instruction)?;
        if field.is_static() {
            self.pop()?;
            return self.load_static_field_address(field);
        }
        if let Some(base) = self.pop_if_proxy(field)? {
            return self.call_stub(RemotingStub::FieldAddress(field), &[base]);
        }
        let addr = match self.pop_base(field)? {
            Base::Address { addr, flags, object } => {
                // Accesses through native pointers are not checked.
                if flags.null_check == NullCheck::Needed && self.b.ty(addr) != IrType::I64 {
                    self.b.effect(Op::NullCheck(addr));
                }
                let offset = Self::field_offset(field, object.is_some())?;
                match self.b.ty(addr) {
                    // The collector does not trace native pointers; a native pointer plus an offset is one as well.
                    IrType::I64 => {
                        let bytes = self.b.i64(i64::from(offset));
                        let ir = IrType::I64;
                        self.bin(crate::ir::BinOp::Add, addr, bytes, ir)
                    }
                    _ => self.b.offset(addr, offset),
                }
            }
            Base::Value(entry) => {
                let local = self.own_struct(&entry)?;
                let addr = self.b.addr_of(local);
                self.b.offset(addr, Self::field_offset(field, false)?)
            }
            Base::Itself(_) => return Err(LoadError::invalid_program("the address of a field of a number is taken")),
        };
        let entry = match self.b.ty(addr) {
            IrType::I64 => StackEntry::scalar(addr, IrType::I64),
            _ => StackEntry::scalar(addr, IrType::ByRef).non_null(),
        };
        self.push(entry);
        Ok(())
    }

    pub(super) fn store_field(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        let field = self.operand_field(instruction)?;
        let value = self.pop()?;
        if field.is_static() {
            self.pop()?;
            return self.store_static_field(field, &value);
        }
        if let Some(base) = self.pop_if_proxy(field)? {
            return self.call_stub(RemotingStub::SetField(field), &[base, value]);
        }
        let ty = field.ty()?;
        match self.pop_base(field)? {
            Base::Address { addr, flags, object } => {
                self.spill(Effect::Memory)?;
                let offset = Self::field_offset(field, object.is_some())?;
                let mut flags = flags;
                if flags.null_check == NullCheck::Needed && mem_type(ty)?.is_none() {
                    self.b.effect(Op::NullCheck(addr));
                    flags.null_check = NullCheck::None;
                }
                self.store_at(addr, offset, &value, ty, flags, object, true)
            }
            Base::Value(_) | Base::Itself(_) => {
                Err(LoadError::invalid_program("a field of a value on the stack is written"))
            }
        }
    }

    // ---- static fields

    fn static_address(&mut self, field: &'static Field) -> LoadResult<ValueId> {
        if !field.has_rva() {
            self.class_init_for_field(field.owner)?;
        }
        if field.is_thread_static {
            if !field.is_context_static {
                return Ok(self.b.inst(Op::ThreadStaticAddr(field), IrType::I64));
            }
            let handle = self.b.symbol(Symbol::FieldHandle(field));
            return Ok(self.b.helper(HelperId::ThreadStaticAddress, vec![handle]));
        }
        Ok(self.b.symbol(Symbol::StaticField(field)))
    }

    /// The value of a static field of corlib, if it is fixed.
    fn known_static(field: &'static Field) -> Option<i64> {
        let owner = field.owner;
        match field.name {
            "Zero" if owner.is(LibraryType::IntPtr) || owner.is(LibraryType::UIntPtr) => Some(0),
            "IsLittleEndian" if owner.is(LibraryType::BitConverter) => {
                Some(i64::from(NativeAbi::HOST.is_little_endian))
            }
            _ => None,
        }
    }

    fn load_static_field(&mut self, field: &'static Field) -> LoadResult<()> {
        let ty = field.ty()?;
        if let Some(known) = Self::known_static(field) {
            let entry = match mem_type(ty)? {
                Some(MemType::I64) => {
                    let value = self.b.i64(known);
                    StackEntry::scalar(value, IrType::I64).with_type(ty)
                }
                _ => {
                    let value = self.b.i32(known as i32);
                    StackEntry::scalar(value, IrType::I32).with_type(ty)
                }
            };
            self.push(entry);
            return Ok(());
        }
        if self.options.inline
            && let Some(number) = Number::of(ty)?
            && let Some(bits) = self.facts.constant(field)
        {
            let (op, ir) = number.constant(bits);
            let value = self.b.inst(op, ir);
            self.push(StackEntry::scalar(value, ir).with_type(ty));
            return Ok(());
        }
        self.spill_if_class_init(field)?;
        let addr = self.static_address(field)?;
        let flags = self.access(AliasClass::Static, NullCheck::None);
        let entry = self.entry_at(addr, 0, ty, flags)?;
        self.push(entry);
        Ok(())
    }

    /// Spills entries before a class constructor that may run: it may change the storage to which they refer.
    fn spill_if_class_init(&mut self, field: &'static Field) -> LoadResult<()> {
        if field.has_rva() || self.facts.is_initialised(field.owner) {
            return Ok(());
        }
        self.spill(Effect::Memory)
    }

    fn load_static_field_address(&mut self, field: &'static Field) -> LoadResult<()> {
        self.spill_if_class_init(field)?;
        let addr = self.static_address(field)?;
        self.push(StackEntry::scalar(addr, IrType::ByRef).non_null());
        Ok(())
    }

    fn store_static_field(&mut self, field: &'static Field, value: &StackEntry) -> LoadResult<()> {
        // A class constructor run below must not change the value read before.
        let mut value = *value;
        if matches!(value.val, Val::InMemory { .. } | Val::InLocal(..)) && !self.facts.is_initialised(field.owner) {
            value.val = Val::Temp(self.own_struct(&value)?);
        }
        self.spill(Effect::Memory)?;
        let addr = self.static_address(field)?;
        let flags = self.access(AliasClass::Static, NullCheck::None);
        self.store_at(addr, 0, &value, field.ty()?, flags, None, false)
    }

    pub(super) fn load_static(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        let field = self.static_operand(instruction)?;
        self.load_static_field(field)
    }

    pub(super) fn load_static_address(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        let field = self.static_operand(instruction)?;
        self.load_static_field_address(field)
    }

    pub(super) fn store_static(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        let field = self.static_operand(instruction)?;
        let value = self.pop()?;
        self.store_static_field(field, &value)
    }

    fn static_operand(&self, instruction: &Instruction<'static>) -> LoadResult<&'static Field> {
        let field = self.operand_field(instruction)?;
        if field.is_static() {
            return Ok(field);
        }
        let name = format!("{field:?}");
        let kind = if load_texts::are_mono() { LoadErrorKind::MissingField } else { LoadErrorKind::InvalidProgram };
        Err(LoadError::new(kind, format!("{name} is not static"), name))
    }
}
