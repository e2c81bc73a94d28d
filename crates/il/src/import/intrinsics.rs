//! The code of the methods that `intrinsic_table` knows.
//!
//! Where an operand has an unexpected form, the method is called as usual.

use super::builder::plain;
use super::call_sites::PlannedCall;
use super::emitter::Emitter;
use super::intrinsic_table::{Intrinsic, UnsafeStep, find, is_instruction};
use super::kinds::{has_references, ir_type, mem_type};
use super::operand_kinds::require_reference;
use super::stack::{Effect, Note, StackEntry, Val};
use super::vectors::{self, VectorEmitter};
use crate::ir::{
    AliasClass, BinOp, CallTarget, CmpOp, ConvTarget, IrType, MemFlags, MemType, NullCheck, Op, Symbol, UnOp, ValueId,
};
use saki_abi::NativeAbi;
use saki_abi::method_table::METHOD_TABLE_RANK_OFFSET;
use saki_abi::object::{
    ARRAY_DATA_OFFSET, OBJECT_HEADER_BYTES, OBJECT_VTABLE_OFFSET, STRING_CHARS_OFFSET, STRING_LENGTH_OFFSET,
};
use saki_abi::vtable::VTABLE_METHOD_TABLE_OFFSET;
use saki_types::{LibraryType, LoadError, LoadErrorKind, LoadResult, Method, Ty, universe};

impl Emitter<'_> {
    /// The intrinsic for the method, if its calls are replaced.
    pub(super) fn intrinsic_of(&self, method: &'static Method) -> Option<Intrinsic> {
        if self.options.vectors
            && let Some(call) = vectors::find(method).ok().flatten()
            && (!vectors::is_of_instructions(method) || self.may_use_instructions())
        {
            return Some(Intrinsic::Vector(call));
        }
        find(method).ok().flatten().or_else(|| self.is_called_loop(method).then_some(Intrinsic::LibraryLoop))
    }

    /// Whether rows of instructions of the processor hold in the body that is imported: in the core assembly's, except
    /// in the methods that stand for instructions, which throw.
    fn may_use_instructions(&self) -> bool {
        self.s.method.owner.is_of_core_assembly() && !vectors::is_of_instructions(self.s.method)
    }

    /// Imports a call in line; the arguments are on the stack. False: not handled, without effect, so the method must
    /// be called.
    ///
    /// # Errors
    /// Those of the method's signature; `PlatformNotSupported` where the method of an instruction calls itself.
    pub(super) fn try_intrinsic(&mut self, method: &'static Method) -> LoadResult<bool> {
        if std::ptr::eq(method, self.method) && is_instruction(method)? {
            let message = "Operation is not supported on this platform.";
            return Err(LoadError::new(LoadErrorKind::PlatformNotSupported, message, ""));
        }
        let Some(intrinsic) = self.intrinsic_of(method) else { return Ok(false) };
        let count = method.sig()?.params.len() + usize::from(!method.is_static());
        let Some(first) = self.s.stack.len().checked_sub(count) else { return Ok(false) };
        let args: Vec<StackEntry> = self.s.stack[first..].to_vec();
        Self::require_arguments(method.sig()?, !method.is_static(), &args)?;
        if !method.is_static() && !method.owner.is_value_type() {
            require_reference(&args[0])?;
        }
        self.s.stack.truncate(first);
        let done = self.intrinsic(intrinsic, method, &args)?;
        if !done {
            self.s.stack.extend(args);
        }
        Ok(done)
    }

    /// Imports `newobj` in line. False: not handled, without effect.
    pub(super) fn try_new_intrinsic(&mut self, constructor: &'static Method) -> LoadResult<bool> {
        match self.intrinsic_of(constructor) {
            Some(Intrinsic::ByReferenceCtor) => {}
            Some(Intrinsic::Vector(call)) => return VectorEmitter { emit: self }.new_vector(call, constructor),
            _ => return Ok(false),
        }
        let target = self.pop_native()?;
        let temp = self.b.temp(IrType::Struct(constructor.owner));
        let addr = self.b.addr_of(temp);
        self.b.store(addr, 0, target, MemType::ByRef, plain(AliasClass::Any));
        self.push(StackEntry::of_struct(Val::Temp(temp), constructor.owner));
        Ok(true)
    }

    fn intrinsic(&mut self, intrinsic: Intrinsic, method: &'static Method, args: &[StackEntry]) -> LoadResult<bool> {
        use Intrinsic as I;
        match intrinsic {
            I::Constant(number) => self.push_i32(number),
            I::Nothing => {}
            I::Fence => {
                self.spill(Effect::Memory)?;
                self.b.effect(Op::Fence);
            }
            I::ByReferenceCtor => {
                let (addr, offset, flags) = self.address_arg(&args[0])?;
                let target = self.value(&args[1])?;
                self.spill(Effect::Memory)?;
                self.b.store(addr, offset, target, MemType::ByRef, flags);
            }
            I::ByReferenceGet => {
                let addr = match args[0].ir {
                    IrType::Struct(_) => self.struct_addr(&args[0])?,
                    _ => self.value(&args[0])?,
                };
                let (addr, offset) = self.b.split_offset(addr);
                let value = self.b.load(addr, offset, MemType::ByRef, plain(AliasClass::Any));
                self.push_scalar(value, IrType::ByRef);
            }
            I::Steps(steps, ty) => self.steps(steps, ty, args)?,
            I::BitCast(from, to) => return self.bit_cast(&args[0], from, to),
            I::Reciprocal(is_of_root) => {
                let mut value = self.value(&args[0])?;
                let ir = self.b.ty(value);
                if is_of_root {
                    value = self.b.inst(Op::Un(UnOp::Sqrt, value), ir);
                }
                let one = if ir == IrType::F32 { Op::ConstF32(1.0) } else { Op::ConstF64(1.0) };
                let one = self.b.inst(one, ir);
                let result = self.b.inst(Op::Bin(BinOp::Div, one, value), ir);
                self.push_scalar(result, ir);
            }
            I::MultiplyAdd => {
                let (a, b, c) = (self.value(&args[0])?, self.value(&args[1])?, self.value(&args[2])?);
                let ir = self.b.ty(a);
                let product = self.b.inst(Op::Bin(BinOp::Mul, a, b), ir);
                let result = self.b.inst(Op::Bin(BinOp::Add, product, c), ir);
                self.push_scalar(result, ir);
            }
            I::ConvertNative(to) => {
                use saki_types::ElementType as E;
                let target = match to.underlying().element_type {
                    E::I1 => ConvTarget::I1,
                    E::U1 => ConvTarget::U1,
                    E::I2 => ConvTarget::I2,
                    E::U2 | E::Char => ConvTarget::U2,
                    E::I4 => ConvTarget::I4,
                    E::U4 => ConvTarget::U4,
                    E::I8 | E::I => ConvTarget::I8,
                    E::U8 | E::U => ConvTarget::U8,
                    _ => return Ok(false),
                };
                self.push(args[0]);
                self.convert(target, false, false)?;
            }
            I::ArrayData => {
                let mut array = args[0];
                self.null_check(&mut array)?;
                let array = self.value(&array)?;
                let offset = self.b.i64(i64::from(ARRAY_DATA_OFFSET));
                let data = self.b.inst(Op::Bin(BinOp::Add, array, offset), IrType::ByRef);
                self.push_scalar(data, IrType::ByRef);
            }
            I::SpanOfData(element) => return self.span_of_data(&args[0], element, method.sig()?.ret),
            I::MethodTableOf => {
                let mut object = args[0];
                self.null_check(&mut object)?;
                let object = self.value(&object)?;
                let vtable = self.b.load(object, OBJECT_VTABLE_OFFSET, MemType::I64, plain(AliasClass::Runtime));
                let table = self.b.load(vtable, VTABLE_METHOD_TABLE_OFFSET, MemType::I64, plain(AliasClass::Runtime));
                self.push_scalar(table, IrType::I64);
            }
            I::MethodTableRank(is_rank) => {
                let (table, offset, flags) = self.address_arg(&args[0])?;
                let rank = self.b.load(table, offset + METHOD_TABLE_RANK_OFFSET, MemType::I32, flags);
                let zero = self.b.i32(0);
                let result = if is_rank { rank } else { self.b.inst(Op::Cmp(CmpOp::Gt, rank, zero), IrType::I32) };
                self.push_scalar(result, IrType::I32);
            }
            I::Reinterpret(from, to) => return self.reinterpret(&args[0], from, to),
            I::InitializeArray => return self.initialize_array(&args[0], &args[1]),
            I::TypeFromHandle => {
                let Val::Handle(Symbol::TypeHandle(ty)) = args[0].val else { return Ok(false) };
                let entry = self.type_object(ty);
                self.push(entry);
            }
            I::TypeEquality(equal) => {
                let known = match (args[0].note, args[1].note) {
                    (Note::TypeObject(a), Note::TypeObject(b)) => a.is_same_in_all(b),
                    _ => None,
                };
                let value = match known {
                    Some(are_same) => self.b.i32(i32::from(are_same == equal)),
                    None => {
                        let (a, b) = (self.value(&args[0])?, self.value(&args[1])?);
                        let op = if equal { CmpOp::Eq } else { CmpOp::NeUn };
                        self.b.inst(Op::Cmp(op, a, b), IrType::I32)
                    }
                };
                self.push_scalar(value, IrType::I32);
            }
            I::TypeIs(fact) => {
                let Note::TypeObject(ty) = args[0].note else { return Ok(false) };
                self.push_i32(i32::from(fact.holds_for(ty)));
            }
            I::StringLength => {
                let string = self.value(&args[0])?;
                let value = self.string_length(string, &args[0]);
                self.push_scalar(value, IrType::I32);
            }
            I::NewString => {
                let length = self.value(&args[0])?;
                let value = self.b.inst(Op::NewString(length), IrType::Ref);
                self.has_calls = true;
                self.push(StackEntry::scalar(value, IrType::Ref).exact(universe().string()).non_null());
            }
            I::StringChar => self.string_char(&args[0], &args[1])?,
            I::ArrayLength => {
                let array = self.value(&args[0])?;
                let value = self.b.inst(Op::ArrayLen(array), IrType::I32);
                self.push_scalar(value, IrType::I32);
            }
            I::ArrayDimension(is_lower_bound) => return self.array_dimension(&args[0], &args[1], is_lower_bound),
            I::ArrayRank => {
                let Some(ty) = args[0].ty.filter(|t| t.is_array()) else { return Ok(false) };
                let array = self.value(&args[0])?;
                self.b.effect(Op::NullCheck(array));
                self.push_i32(ty.array_rank() as i32);
            }
            I::ArrayElementCopy(element, is_set) => {
                let (array, index) = (self.value(&args[0])?, self.value(&args[1])?);
                let (other, _, _) = self.address_arg(&args[2]).map(|(b, o, f)| (self.b.offset(b, o), o, f))?;
                self.spill(Effect::Memory)?;
                let element_size_bytes = element.value_size_bytes()?;
                self.b.effect(Op::NullCheck(array));
                let addr = self.b.inst(Op::ElementAddr { array, index, element_size_bytes }, IrType::ByRef);
                let (dst, src) = if is_set { (addr, other) } else { (other, addr) };
                self.copy_value(dst, src, element, true)?;
            }
            I::Math(op) => {
                let value = self.coerce(&args[0], method.sig()?.ret)?;
                let ir = self.b.ty(value);
                let result = self.b.inst(Op::Un(op, value), ir);
                self.push_scalar(result, ir);
            }
            I::InterlockedStep(..)
            | I::InterlockedAdd(_)
            | I::InterlockedAnd(_)
            | I::InterlockedOr(_)
            | I::InterlockedExchangeAdd(_)
            | I::InterlockedExchange(_) => {
                self.interlocked(intrinsic, method, args)?;
            }
            I::InterlockedCompareExchange(mem) | I::InterlockedCompareExchangeFlag(mem) => {
                self.compare_exchange(mem, method, args)?;
            }
            I::VolatileRead(ty) | I::FencedRead(ty) => {
                let (addr, offset, mut flags) = self.address_arg(&args[0])?;
                flags.volatile = true;
                let Some(mem) = mem_type(ty)? else { return Ok(false) };
                if matches!(intrinsic, I::FencedRead(_)) {
                    // As the exchange by which .NET reads. Later accesses wait for the load, since it is volatile.
                    self.spill(Effect::Memory)?;
                    self.b.effect(Op::Fence);
                }
                let value = self.b.load(addr, offset, mem, flags);
                let loaded = StackEntry::scalar(value, mem.loaded()).with_type(ty);
                self.push(loaded);
            }
            I::VolatileWrite(ty) => {
                if mem_type(ty)?.is_none() {
                    return Ok(false);
                }
                let (addr, offset, mut flags) = self.address_arg(&args[0])?;
                flags.volatile = true;
                self.spill(Effect::Memory)?;
                self.store_at(addr, offset, &args[1], ty, flags, None, true)?;
            }
            I::MonitorEnter | I::MonitorExit => {
                let object = self.value(&args[0])?;
                self.spill(Effect::Memory)?;
                let enters = intrinsic == I::MonitorEnter;
                self.b.effect(if enters { Op::MonitorEnter(object) } else { Op::MonitorExit(object) });
                self.has_calls = true;
            }
            I::MonitorEnterFlag => self.enter_with_flag(&args[0], None, &args[1])?,
            I::MonitorTryEnterFlag => self.enter_with_flag(&args[0], Some(&args[1]), &args[2])?,
            I::MonitorEnterTimeoutFlag => {
                let milliseconds = self.value(&args[1])?;
                let Some(timeout @ -1..) = self.b.const_i32(milliseconds) else { return Ok(false) };
                self.enter_with_flag(&args[0], (timeout >= 0).then_some(&args[1]), &args[2])?;
            }
            I::Vector(call) => return VectorEmitter { emit: self }.vector_call(call, method, args),
            I::DefaultComparer => self.push_default_comparer(method),
            I::DirectInternalCall => {
                if !self.facts.0.has_internal_call(method) {
                    return Ok(false);
                }
                let sig = self.closed_sig(method)?;
                let call = PlannedCall {
                    target: CallTarget::InternalCall(method),
                    this: None,
                    params: &sig.params,
                    ret: sig.ret,
                };
                let result = self.emit_call(&call, args)?;
                self.push_native_result(result, sig.ret)?;
            }
            I::LibraryLoop => self.call_library_loop(method, args)?,
            I::EnumHasFlag => return self.enum_has_flag(&args[0], &args[1]),
            I::ObjectGetType => {
                let known = args[0].ty.filter(|t| args[0].is_exact && args[0].ir == IrType::Ref && !t.is_array());
                let mut object = args[0];
                if let Some(ty) = known {
                    self.null_check(&mut object)?;
                    let entry = self.type_object(ty);
                    self.push(entry);
                    return Ok(true);
                }
                // The code generator expands the internal call.
                if object.ir != IrType::Ref || !self.options.inline || !self.facts.0.has_internal_call(method) {
                    return Ok(false);
                }
                self.null_check(&mut object)?;
                let sig = self.closed_sig(method)?;
                let target = CallTarget::InternalCall(method);
                let call = PlannedCall { target, this: Some(IrType::Ref), params: &sig.params, ret: sig.ret };
                let mut result = self.emit_call(&call, &[object])?;
                result.iter_mut().for_each(|result| result.is_non_null = true);
                self.push_result(result);
            }
        }
        Ok(true)
    }

    /// The instructions of a method of `Unsafe`, on its arguments.
    fn steps(&mut self, steps: &[UnsafeStep], ty: Ty, args: &[StackEntry]) -> LoadResult<()> {
        for step in steps {
            match step {
                UnsafeStep::Arg(index) => self.push(args[*index]),
                UnsafeStep::SizeOf => self.push_i32(ty.value_size_bytes()? as i32),
                UnsafeStep::Null => {
                    let null = self.b.i64(0);
                    self.push_scalar(null, IrType::I64);
                }
                UnsafeStep::ConvI => self.convert(ConvTarget::I, false, false)?,
                UnsafeStep::ConvU => self.convert(ConvTarget::U, false, false)?,
                UnsafeStep::Mul => self.binary(BinOp::Mul)?,
                UnsafeStep::Add => self.binary(BinOp::Add)?,
                UnsafeStep::Sub => self.binary(BinOp::Sub)?,
                UnsafeStep::Eq => self.compare_words(CmpOp::Eq)?,
                UnsafeStep::GreaterUn => self.compare_words(CmpOp::GtUn)?,
                UnsafeStep::LessUn => self.compare_words(CmpOp::LtUn)?,
                UnsafeStep::Load => self.load_object(ty)?,
                UnsafeStep::Store => self.store_object(ty)?,
                UnsafeStep::Unaligned => self.s.prefixes.unaligned = true,
                UnsafeStep::CopyBlock => self.copy_block()?,
                UnsafeStep::InitBlock => self.init_block()?,
                UnsafeStep::Unbox => self.unbox(ty)?,
                UnsafeStep::AsObject => {
                    let value = self.pop_value()?;
                    self.push(StackEntry::scalar(value, IrType::Ref).with_type(ty));
                }
                UnsafeStep::AsByRef => {
                    let value = self.pop_value()?;
                    self.push_scalar(value, IrType::ByRef);
                }
            }
        }
        self.s.prefixes.unaligned = false;
        Ok(())
    }

    fn compare_words(&mut self, op: CmpOp) -> LoadResult<()> {
        let value = self.comparison_value(op)?;
        self.push_scalar(value, IrType::I32);
        Ok(())
    }

    /// A ReadOnlySpan over the data of a static field in the file.
    fn span_of_data(&mut self, field: &StackEntry, element: Ty, span: Ty) -> LoadResult<bool> {
        let Val::Handle(Symbol::FieldHandle(field)) = field.val else { return Ok(false) };
        let element_size_bytes = element.value_size_bytes()?;
        if !field.has_rva() || has_references(element)? || !NativeAbi::HOST.is_little_endian {
            return Ok(false);
        }
        let count = field.ty()?.value_size_bytes()? / element_size_bytes.max(1);
        let part = |name: &str| -> LoadResult<i32> {
            let field = span.find_field(name)?;
            let missing = || saki_types::LoadError::invalid_program("a span without its fields");
            Ok(field.ok_or_else(missing)?.offset_bytes()? as i32)
        };
        let (reference, length) = (part("_reference")?, part("_length")?);
        let local = self.b.temp(IrType::Struct(span));
        let addr = self.b.addr_of(local);
        let data = self.b.symbol(Symbol::StaticField(field));
        let count = self.b.i32(count as i32);
        self.b.store(addr, reference, data, MemType::ByRef, plain(AliasClass::Any));
        self.b.store(addr, length, count, MemType::I32, plain(AliasClass::Any));
        self.push(StackEntry::of_struct(Val::Temp(local), span));
        Ok(true)
    }

    /// The bytes of a value as a value of another type of the same size; false if the sizes differ.
    fn bit_cast(&mut self, entry: &StackEntry, from: Ty, to: Ty) -> LoadResult<bool> {
        if from.value_size_bytes()? != to.value_size_bytes()? {
            return Ok(false);
        }
        let holder = match (mem_type(from)?, mem_type(to)?) {
            (None, _) => from,
            (_, None) => to,
            // Two numbers or references: any struct of one word has room for them.
            _ => universe().library_type(LibraryType::RuntimeFieldHandle)?,
        };
        let memory = self.b.temp(IrType::Struct(holder));
        let addr = self.b.addr_of(memory);
        let flags = plain(AliasClass::Any);
        self.store_at(addr, 0, entry, from, flags, None, false)?;
        let moved = self.entry_at(addr, 0, to, flags)?;
        self.push(moved);
        Ok(true)
    }

    /// The same value as another type: integers of any width, references, equal structs.
    fn reinterpret(&mut self, entry: &StackEntry, from: Ty, to: Ty) -> LoadResult<bool> {
        let (from_ir, to_ir) = (ir_type(from)?, ir_type(to)?);
        match (from_ir, to_ir) {
            (IrType::Struct(_), IrType::Struct(_)) => {
                if from.value_size_bytes()? != to.value_size_bytes()? {
                    return Ok(false);
                }
                let local = self.own_struct(entry)?;
                let addr = self.b.addr_of(local);
                let moved = Val::InMemory { addr, offset: 0, flags: plain(AliasClass::Any) };
                self.push(StackEntry::of_struct(moved, to));
            }
            (IrType::Struct(_), _) | (_, IrType::Struct(_)) => return Ok(false),
            (IrType::Ref | IrType::I64, IrType::Ref) => {
                let value = self.value(entry)?;
                let mut moved = StackEntry::scalar(value, IrType::Ref).with_type(to);
                moved.is_non_null = entry.is_non_null;
                self.push(moved);
            }
            (IrType::I32, IrType::I64) => {
                let value = self.coerce(entry, from)?;
                let is_unsigned = matches!(mem_type(from)?, Some(MemType::U8 | MemType::U16))
                    || from.underlying().element_type == saki_types::ElementType::U4;
                let target = if is_unsigned { ConvTarget::U8 } else { ConvTarget::I8 };
                let value = self.b.conv(value, target);
                self.push(StackEntry::scalar(value, IrType::I64).with_type(to));
            }
            _ => {
                let value = self.coerce(entry, to)?;
                let ir = self.b.ty(value);
                self.push(StackEntry::scalar(value, ir).with_type(to));
            }
        }
        Ok(true)
    }

    /// Copies a static data blob into a new array of known length.
    fn initialize_array(&mut self, array: &StackEntry, field: &StackEntry) -> LoadResult<bool> {
        let Val::Handle(Symbol::FieldHandle(field)) = field.val else { return Ok(false) };
        let Val::Scalar(value) = array.val else { return Ok(false) };
        let Op::NewArray(ty, length) = *self.b.op(value) else { return Ok(false) };
        let (Some(length), Some(element), true) = (self.b.const_i32(length), ty.element(), field.has_rva()) else {
            return Ok(false);
        };
        let Some(bytes) = u32::try_from(length).ok().and_then(|n| n.checked_mul(element.value_size_bytes().ok()?))
        else {
            return Ok(false);
        };
        let has_order_of_file = NativeAbi::HOST.is_little_endian;
        if has_references(element)? || bytes > field.ty()?.value_size_bytes()? || !has_order_of_file {
            return Ok(false);
        }
        self.spill(Effect::Memory)?;
        let src = self.b.symbol(Symbol::StaticField(field));
        let dst = self.b.offset(value, ARRAY_DATA_OFFSET);
        let bytes = self.b.i32(bytes as i32);
        self.b.effect(Op::CopyBlock { dst, src, bytes });
        Ok(true)
    }

    fn string_length(&mut self, string: ValueId, entry: &StackEntry) -> ValueId {
        let flags = MemFlags { null_check: Self::check_of(entry), ..plain(AliasClass::Length) };
        self.b.load(string, STRING_LENGTH_OFFSET, MemType::I32, flags)
    }

    fn string_char(&mut self, string_entry: &StackEntry, index: &StackEntry) -> LoadResult<()> {
        let string = self.value(string_entry)?;
        let index = self.value(index)?;
        let index = self.fit(index, IrType::I32);
        let length = self.string_length(string, string_entry);
        self.b.effect(Op::BoundsCheck { index, length });
        let wide = self.b.conv(index, ConvTarget::U8);
        let one = self.b.i32(1);
        let bytes = self.b.inst(Op::Bin(BinOp::Shl, wide, one), IrType::I64);
        let addr = self.b.inst(Op::Bin(BinOp::Add, string, bytes), IrType::ByRef);
        let value = self.b.load(addr, STRING_CHARS_OFFSET, MemType::U16, plain(AliasClass::Element));
        self.push(StackEntry::scalar(value, IrType::I32).with_type(universe().library_type(LibraryType::Char)?));
        Ok(())
    }

    /// The address for an atomic operation.
    fn atomic_address(&mut self, entry: &StackEntry) -> LoadResult<ValueId> {
        let (base, offset, flags) = self.address_arg(entry)?;
        if flags.null_check == NullCheck::Needed {
            self.b.effect(Op::NullCheck(base));
        }
        Ok(self.b.offset(base, offset))
    }

    fn interlocked(&mut self, intrinsic: Intrinsic, method: &'static Method, args: &[StackEntry]) -> LoadResult<()> {
        let Some((op, mem)) = intrinsic.atomic() else { return Ok(()) };
        let ir = mem.loaded();
        let ret = method.sig()?.ret;
        let addr = self.atomic_address(&args[0])?;
        let value = match intrinsic {
            Intrinsic::InterlockedStep(_, step) if ir == IrType::I32 => self.b.i32(step),
            Intrinsic::InterlockedStep(_, step) => self.b.i64(i64::from(step)),
            _ => {
                let value = self.value(&args[1])?;
                self.fit(value, ir)
            }
        };
        self.spill(Effect::Memory)?;
        let old = self.b.inst(Op::AtomicRmw { op, addr, value, mem }, ir);
        let result = match intrinsic {
            Intrinsic::InterlockedStep(..) | Intrinsic::InterlockedAdd(_) => {
                self.b.inst(Op::Bin(BinOp::Add, old, value), ir)
            }
            _ => old,
        };
        self.push(StackEntry::scalar(result, ir).with_type(ret));
        Ok(())
    }

    fn compare_exchange(&mut self, mem: MemType, method: &'static Method, args: &[StackEntry]) -> LoadResult<()> {
        let ir = mem.loaded();
        let addr = self.atomic_address(&args[0])?;
        let new = self.value(&args[1])?;
        let new = self.fit(new, ir);
        let expected = self.value(&args[2])?;
        let expected = self.fit(expected, ir);
        self.spill(Effect::Memory)?;
        let old = self.b.inst(Op::AtomicCas { addr, expected, new, mem }, ir);
        if let Some(flag) = args.get(3) {
            let done = self.b.inst(Op::Cmp(CmpOp::Eq, old, expected), IrType::I32);
            let (addr, offset, flags) = self.address_arg(flag)?;
            self.b.store(addr, offset, done, MemType::U8, flags);
        }
        self.push(StackEntry::scalar(old, ir).with_type(method.sig()?.ret));
        Ok(())
    }

    /// Enters the monitor and sets the flag with no safepoint in between; without a timeout the flag becomes true.
    fn enter_with_flag(
        &mut self,
        object: &StackEntry,
        milliseconds: Option<&StackEntry>,
        flag: &StackEntry,
    ) -> LoadResult<()> {
        let object = self.value(object)?;
        let milliseconds = milliseconds.map(|m| self.value(m)).transpose()?;
        let (addr, offset, flags) = self.address_arg(flag)?;
        self.spill(Effect::Memory)?;
        let taken = match milliseconds {
            Some(milliseconds) => self.b.inst(Op::MonitorTryEnter { object, milliseconds }, IrType::I32),
            None => {
                self.b.effect(Op::MonitorEnter(object));
                self.b.i32(1)
            }
        };
        self.b.store(addr, offset, taken, MemType::U8, flags);
        self.has_calls = true;
        Ok(())
    }

    /// `((Enum)a).HasFlag(b)` for boxes of one enum type.
    fn enum_has_flag(&mut self, a: &StackEntry, b: &StackEntry) -> LoadResult<bool> {
        let (Some(ty), true, true) = (a.ty, a.is_exact && a.is_non_null, b.is_exact && b.is_non_null) else {
            return Ok(false);
        };
        let Some(mem) = mem_type(ty)?.filter(|_| ty.is_enum() && b.ty == Some(ty)) else { return Ok(false) };
        let (a, b) = (self.value(a)?, self.value(b)?);
        let header = OBJECT_HEADER_BYTES as i32;
        let x = self.b.load(a, header, mem, plain(AliasClass::Field));
        let y = self.b.load(b, header, mem, plain(AliasClass::Field));
        let both = self.b.inst(Op::Bin(BinOp::And, x, y), mem.loaded());
        let value = self.b.inst(Op::Cmp(CmpOp::Eq, both, y), IrType::I32);
        self.push_scalar(value, IrType::I32);
        Ok(true)
    }
}
