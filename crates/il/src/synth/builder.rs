//! A small builder for `Function`s: blocks, values, locals, and the memory accesses that every synthesised body needs.
//!
//! Invariant: every block but the current one has its final terminator; `finish` fails loudly on a block left open.
//! Left out: stack simulation and type checks, which are the CIL importer's.

use crate::ir::{
    AliasClass, BinOp, Block, BlockId, CallSig, CallTarget, Clause, ClauseKind, CmpOp, ConvTarget, Function, Inst,
    IrType, Local, LocalId, LocalKind, MemFlags, MemType, NullCheck, Op, Region, RegionId, Symbol, Terminator, ValueId,
};
pub use crate::type_map::{ir_type, mem_type};
use saki_abi::HelperId;
use saki_types::{LibraryType, LoadError, LoadErrorKind, LoadResult, Method, MethodKind, Ty, universe};

/// Managed signature of a method: `this` (an object, or a managed pointer for value types) first. EXPLICITTHIS in a
/// method's own signature is ignored, as in Mono; in the signature of a function pointer, an explicit `this` is among
/// the parameters.
///
/// # Errors
/// The errors of the method's signature.
pub fn call_sig(method: &'static Method) -> LoadResult<CallSig> {
    let sig = method.sig()?;
    let mut params = Vec::with_capacity(sig.params.len() + 1);
    let is_definition = matches!(method.kind, MethodKind::Def { .. });
    let has_this = sig.has_this && (is_definition || !sig.explicit_this);
    if has_this {
        params.push(if method.owner.is_value_type() { IrType::ByRef } else { IrType::Ref });
    }
    for param in &sig.params {
        params.push(ir_type(param)?);
    }
    Ok(CallSig { params, ret: return_type(sig.ret)?, has_this })
}

/// `None` for void.
///
/// # Errors
/// The errors of `ir_type`.
pub fn return_type(ty: Ty) -> LoadResult<Option<IrType>> {
    Ok(match ir_type(ty)? {
        IrType::Void => None,
        other => Some(other),
    })
}

/// Plain access of this alias class.
pub const fn flags(alias: AliasClass) -> MemFlags {
    MemFlags { null_check: NullCheck::None, alias, volatile: false, unaligned: false }
}

/// Plain access of this alias class to a base that may be null, which is checked.
pub const fn checked_flags(alias: AliasClass) -> MemFlags {
    MemFlags { null_check: NullCheck::Needed, alias, volatile: false, unaligned: false }
}

/// Builds one function; see the module header.
pub struct FunctionBuilder {
    function: Function,
    current: BlockId,
    /// Blocks whose terminator has been set.
    closed: Vec<bool>,
    region: Option<RegionId>,
    /// CIL offset of the instructions emitted next.
    pub il_offset: u32,
}

impl FunctionBuilder {
    /// A function with an empty entry block as current block; `LocalId(i)` is parameter `i` of `sig`.
    pub fn new(method: Option<&'static Method>, name: String, sig: CallSig) -> FunctionBuilder {
        let locals = sig
            .params
            .iter()
            .enumerate()
            .map(|(index, ty)| Local {
                ty: *ty,
                kind: LocalKind::Param(index as u32),
                address_exposed: false,
                zero_init: false,
                pinned: false,
            })
            .collect();
        let mut builder = FunctionBuilder {
            function: Function { method, name: name.into(), sig, locals, ..Function::default() },
            current: BlockId(0),
            closed: Vec::new(),
            region: None,
            il_offset: 0,
        };
        builder.current = builder.new_block();
        builder
    }

    /// Marks the function as a thunk that stack traces do not show.
    pub fn set_stub(&mut self) {
        self.function.is_stub = true;
    }

    /// The finished function.
    ///
    /// # Panics
    /// When a block has no terminator, which is a bug of the caller.
    pub fn finish(self) -> Function {
        for (index, closed) in self.closed.iter().enumerate() {
            assert!(closed, "{}: block {index} has no terminator", self.function.name);
        }
        self.function
    }

    // ---- blocks and regions

    /// A new block in the current region, not yet reached.
    pub fn new_block(&mut self) -> BlockId {
        let id = BlockId(self.function.blocks.len() as u32);
        self.function.blocks.push(Block {
            insts: Vec::new(),
            terminator: Terminator::Unreachable,
            terminator_il_offset: self.il_offset,
            region: self.region,
            cold: false,
            then_is_likely: false,
            few_rounds: false,
        });
        self.closed.push(false);
        id
    }

    /// A block that hardly ever runs.
    pub fn new_cold_block(&mut self) -> BlockId {
        let id = self.new_block();
        self.function.blocks[id.0 as usize].cold = true;
        id
    }

    /// Makes a block current.
    pub fn switch_to(&mut self, block: BlockId) {
        self.current = block;
    }

    /// A region inside the current one with one fault or finally handler; blocks made after it are protected by it
    /// until `leave_region`. Returns the handler's block (outside the region) and the clause's number for
    /// `ResumeUnwind`.
    pub fn enter_region(&mut self, kind: ClauseKind) -> (BlockId, u32) {
        let exception = self.local(IrType::Ref);
        let handler = self.new_cold_block();
        let clause = self.function.clauses.len() as u32;
        self.function.clauses.push(Clause { kind, handler, exception_local: exception });
        let region = RegionId(self.function.regions.len() as u32);
        self.function.regions.push(Region { parent: self.region, clauses: vec![clause] });
        self.region = Some(region);
        (handler, clause)
    }

    /// Ends what `enter_region` began.
    pub fn leave_region(&mut self) {
        let region = self.region.expect("leave_region outside a region");
        self.region = self.function.regions[region.0 as usize].parent;
    }

    /// Ends the current block, which must be open.
    pub fn terminate(&mut self, terminator: Terminator) {
        let index = self.current.0 as usize;
        assert!(!self.closed[index], "{}: block {index} has two terminators", self.function.name);
        self.closed[index] = true;
        self.function.blocks[index].terminator = terminator;
        self.function.blocks[index].terminator_il_offset = self.il_offset;
    }

    /// Ends the current block by a jump.
    pub fn jump(&mut self, block: BlockId) {
        self.terminate(Terminator::Jump(block));
    }

    /// Ends the current block by a branch: to `then` if `cond` is not zero.
    pub fn branch_if(&mut self, cond: ValueId, then: BlockId, otherwise: BlockId) {
        self.terminate(Terminator::Brif { cond, then, otherwise });
    }

    /// Ends the current block by a return.
    pub fn ret(&mut self, value: Option<ValueId>) {
        self.terminate(Terminator::Ret(value));
    }

    // ---- locals

    fn push_local(&mut self, ty: IrType, address_exposed: bool, zero_init: bool, pinned: bool) -> LocalId {
        let id = LocalId(self.function.locals.len() as u32);
        self.function.locals.push(Local { ty, kind: LocalKind::Normal, address_exposed, zero_init, pinned });
        id
    }

    /// A local that is written before it is read and whose address is not taken (structs: may be taken).
    pub fn local(&mut self, ty: IrType) -> LocalId {
        self.push_local(ty, false, false, false)
    }

    /// A scalar local that reads as zero until it is written.
    pub fn zeroed_local(&mut self, ty: IrType) -> LocalId {
        self.push_local(ty, false, true, false)
    }

    /// A zeroed local in memory.
    pub fn memory_local(&mut self, ty: IrType) -> LocalId {
        self.push_local(ty, true, true, false)
    }

    /// A zeroed local in memory that keeps the object into which it points in place.
    pub fn pinned_local(&mut self, ty: IrType) -> LocalId {
        self.push_local(ty, true, true, true)
    }

    /// Makes a parameter's storage addressable.
    pub fn expose(&mut self, local: LocalId) {
        self.function.locals[local.0 as usize].address_exposed = true;
    }

    /// The type that the local was made with.
    pub fn local_type(&self, local: LocalId) -> IrType {
        self.function.locals[local.0 as usize].ty
    }

    /// The current value of a scalar local.
    pub fn get(&mut self, local: LocalId) -> ValueId {
        let ty = self.local_type(local);
        self.emit(Op::LocalGet(local), ty)
    }

    /// Writes a scalar local.
    pub fn set(&mut self, local: LocalId, value: ValueId) {
        self.emit(Op::LocalSet(local, value), IrType::Void);
    }

    /// The address of a local.
    pub fn address_of(&mut self, local: LocalId) -> ValueId {
        self.emit(Op::LocalAddr(local), IrType::ByRef)
    }

    /// The operand for a local: the value of a scalar, the address of a struct.
    pub fn operand(&mut self, local: LocalId) -> ValueId {
        match self.local_type(local) {
            IrType::Struct(_) => self.address_of(local),
            _ => self.get(local),
        }
    }

    // ---- values

    /// Appends an instruction to the current block.
    pub fn emit(&mut self, op: Op, ty: IrType) -> ValueId {
        let id = ValueId(self.function.insts.len() as u32);
        self.function.insts.push(Inst { op, ty, il_offset: self.il_offset });
        self.function.blocks[self.current.0 as usize].insts.push(id);
        id
    }

    /// The type of a value.
    pub fn value_type(&self, value: ValueId) -> IrType {
        self.function.insts[value.0 as usize].ty
    }

    /// A constant of type I32.
    pub fn const_i32(&mut self, value: i32) -> ValueId {
        self.emit(Op::ConstI32(value), IrType::I32)
    }

    /// A constant of type I64.
    pub fn const_i64(&mut self, value: i64) -> ValueId {
        self.emit(Op::ConstI64(value), IrType::I64)
    }

    /// The null reference.
    pub fn null(&mut self) -> ValueId {
        self.emit(Op::Null, IrType::Ref)
    }

    /// The address that the symbol stands for, as I64.
    pub fn symbol(&mut self, symbol: Symbol) -> ValueId {
        self.emit(Op::SymbolAddr(symbol), IrType::I64)
    }

    /// The result has the type of `left`.
    pub fn bin(&mut self, op: BinOp, left: ValueId, right: ValueId) -> ValueId {
        let ty = self.value_type(left);
        self.emit(Op::Bin(op, left, right), ty)
    }

    /// I32: 1 if the comparison holds, else 0.
    pub fn cmp(&mut self, op: CmpOp, left: ValueId, right: ValueId) -> ValueId {
        self.emit(Op::Cmp(op, left, right), IrType::I32)
    }

    /// Unchecked conversion.
    pub fn conv(&mut self, value: ValueId, target: ConvTarget) -> ValueId {
        let ty = match target {
            ConvTarget::I1 | ConvTarget::U1 | ConvTarget::I2 | ConvTarget::U2 | ConvTarget::I4 | ConvTarget::U4 => {
                IrType::I32
            }
            ConvTarget::I8 | ConvTarget::U8 | ConvTarget::I | ConvTarget::U => IrType::I64,
            ConvTarget::R4 => IrType::F32,
            ConvTarget::R8 | ConvTarget::RUn => IrType::F64,
        };
        self.emit(Op::Conv { value, target, checked: false, source_unsigned: false }, ty)
    }

    /// `base + bytes` as managed pointer.
    pub fn offset(&mut self, base: ValueId, bytes: i32) -> ValueId {
        let bytes = self.const_i64(i64::from(bytes));
        self.emit(Op::Bin(BinOp::Add, base, bytes), IrType::ByRef)
    }

    // ---- memory

    /// Loads a scalar; narrow integers are extended to I32.
    pub fn load(&mut self, addr: ValueId, offset: i32, mem: MemType, flags: MemFlags) -> ValueId {
        self.emit(Op::Load { addr, offset, mem, flags }, mem.loaded())
    }

    /// Stores that need no write barrier: not references that may go into the heap.
    pub fn store(&mut self, addr: ValueId, offset: i32, value: ValueId, mem: MemType, flags: MemFlags) {
        self.emit(Op::Store { addr, offset, value, mem, flags }, IrType::Void);
    }

    /// Reads a value of `ty` at `addr`; a struct's operand is the address itself.
    ///
    /// # Errors
    /// The errors of `mem_type`.
    pub fn load_value(&mut self, addr: ValueId, ty: Ty, flags: MemFlags) -> LoadResult<ValueId> {
        Ok(match mem_type(ty)? {
            Some(mem) => self.load(addr, 0, mem, flags),
            None => addr,
        })
    }

    /// Stores an operand of type `ty` at `addr`, which may be in the heap (`object`: the object stored into, if known).
    ///
    /// # Errors
    /// The errors of `mem_type` and of `ty`'s layout.
    pub fn store_value(
        &mut self,
        addr: ValueId,
        value: ValueId,
        ty: Ty,
        object: Option<ValueId>,
        flags: MemFlags,
    ) -> LoadResult<()> {
        match mem_type(ty)? {
            Some(MemType::Ref) => {
                self.emit(Op::StoreRef { object, addr, offset: 0, value, flags }, IrType::Void);
            }
            Some(mem) => self.store(addr, 0, value, mem, flags),
            None => {
                let barrier = ty.contains_references()?;
                self.emit(Op::CopyStruct { dst: addr, src: value, ty, barrier, flags }, IrType::Void);
            }
        }
        Ok(())
    }

    /// Copies the struct at `address` to a new local and returns the copy's address.
    pub fn struct_copy(&mut self, address: ValueId, ty: Ty) -> ValueId {
        let copy = self.local(IrType::Struct(ty));
        let dst = self.address_of(copy);
        let flags = flags(AliasClass::Any);
        self.emit(Op::CopyStruct { dst, src: address, ty, barrier: false, flags }, IrType::Void);
        dst
    }

    // ---- calls

    /// A call; returns the result's operand (address of a new local for a struct), None for void.
    pub fn call(&mut self, target: CallTarget, sig: CallSig, args: Vec<ValueId>) -> Option<ValueId> {
        debug_assert_eq!(sig.params.len(), args.len(), "{}: argument count of a call", self.function.name);
        let (ty, struct_result) = match sig.ret {
            None => (IrType::Void, None),
            Some(IrType::Struct(ty)) => {
                let result = self.local(IrType::Struct(ty));
                (IrType::Void, Some(self.address_of(result)))
            }
            Some(ty) => (ty, None),
        };
        let returns_value = sig.ret.is_some();
        let call = self.emit(Op::Call { target, sig: Box::new(sig), args, struct_result }, ty);
        struct_result.or(returns_value.then_some(call))
    }

    /// Non-virtual call of a method.
    ///
    /// # Errors
    /// The errors of the method's signature.
    pub fn call_method(&mut self, method: &'static Method, args: Vec<ValueId>) -> LoadResult<Option<ValueId>> {
        let sig = call_sig(method)?;
        Ok(self.call(CallTarget::Direct(method), sig, args))
    }

    /// Calls a helper; None when it returns nothing.
    pub fn call_helper(&mut self, helper: HelperId, args: Vec<ValueId>) -> Option<ValueId> {
        let (params, ret) = helper.signature();
        let params = params.iter().map(|p| abi_type(*p)).collect();
        let ret = match abi_type(ret) {
            IrType::Void => None,
            ty => Some(ty),
        };
        self.call(CallTarget::Helper(helper), CallSig { params, ret, ..CallSig::default() }, args)
    }

    /// Boxes an operand of type `ty`; references are returned unchanged, pointers become IntPtr.
    ///
    /// # Errors
    /// The errors of `ty`'s layout.
    pub fn box_value(&mut self, value: ValueId, ty: Ty) -> LoadResult<ValueId> {
        if ty.is_reference_type() {
            return Ok(value);
        }
        if ty.is_nullable() {
            let handle = self.symbol(Symbol::TypeHandle(ty));
            return required(self.call_helper(HelperId::BoxNullable, vec![handle, value]));
        }
        let boxed_type = if ty.is_pointer() { universe().library_type(LibraryType::IntPtr)? } else { ty };
        let object = self.emit(Op::NewObject(boxed_type), IrType::Ref);
        let data = self.offset(object, saki_abi::object::OBJECT_HEADER_BYTES as i32);
        self.store_value(data, value, boxed_type, Some(object), flags(AliasClass::Any))?;
        Ok(object)
    }

    /// The operand of type `ty` inside a boxed object, like `unbox.any`.
    ///
    /// # Errors
    /// The errors of `ty`'s layout.
    pub fn unbox_value(&mut self, object: ValueId, ty: Ty) -> LoadResult<ValueId> {
        if ty.is_reference_type() {
            return Ok(self.emit(Op::CastClass(object, ty), IrType::Ref));
        }
        if ty.is_nullable() {
            let result = self.local(IrType::Struct(ty));
            let address = self.address_of(result);
            let handle = self.symbol(Symbol::TypeHandle(ty));
            self.call_helper(HelperId::UnboxNullable, vec![address, object, handle]);
            return Ok(address);
        }
        let boxed_type = if ty.is_pointer() { universe().library_type(LibraryType::IntPtr)? } else { ty };
        let address = self.emit(Op::Unbox(object, boxed_type), IrType::ByRef);
        self.load_value(address, boxed_type, flags(AliasClass::Any))
    }
}

fn abi_type(ty: saki_abi::AbiType) -> IrType {
    use saki_abi::AbiType as A;
    match ty {
        A::Void => IrType::Void,
        A::I32 => IrType::I32,
        // Addresses in helper signatures may be managed pointers or native ones; both are 64-bit words.
        A::I64 | A::Ptr => IrType::I64,
        A::F32 => IrType::F32,
        A::F64 => IrType::F64,
        A::Ref => IrType::Ref,
    }
}

/// The value of a call whose signature has a result.
pub(crate) fn required(value: Option<ValueId>) -> LoadResult<ValueId> {
    value.ok_or_else(|| LoadError::invalid_program("a call without result where a value is needed"))
}

/// `NotSupported` about a method.
pub(crate) fn not_supported(method: &'static Method, why: &str) -> LoadError {
    LoadError::new(LoadErrorKind::NotSupported, format!("{}: {why}", method.full_name()), method.full_name())
}
