//! IR to Cranelift IR, one function at a time.
//!
//! Blocks are translated in reverse postorder, so that a value's definition is translated before its uses. Locals whose address
//! is not taken become Cranelift variables, the others stack slots. Values are kept as Cranelift values of the machine
//! type (`signatures::machine_type`); loads extend narrow memory types.
//!
//! Memory that the program can reach by a managed pointer is one alias region: Cranelift requires that an address
//! belongs to one region only, and fields, elements and statics can all be reached through byrefs.
//!
//! Invariant: no recursion over the IR; code that can throw goes through `call` or `check` here, which know the region.

mod alloc;
mod arith;
mod atomics;
mod calls;
mod casts;
mod control;
mod conv;
mod delegates;
mod exceptions;
mod facts;
mod handles;
mod homes;
mod locals;
mod memory;
mod monitors;
mod native;
mod state;
mod thread_statics;
mod values;
mod vectors;

use crate::cfg::ControlFlow;
use crate::error::CompileError;
use crate::loops::Loops;
use crate::options::CompilerOptions;
use crate::signatures;
use crate::symbols::{RelocTarget, SymbolTable};
use cranelift_codegen::entity::packed_option::PackedOption;
use cranelift_codegen::ir::{
    self as clif, AliasRegion, AliasRegionData, Block as ClifBlock, FuncRef, GlobalValue, InstBuilder, SigRef,
    SourceLoc, StackSlot, Value, types,
};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use rustc_hash::FxHashMap;
use saki_il::ir::{BlockId, Function, IrType, Op, RegionId, Symbol, ValueId};

use state::{BlockFacts, Homes, InFlight, Landings, PendingLanding, PendingThrow, Place, StructTemps};
pub(crate) use state::{INDIRECT_KEY, ParentFrame};

type Lowered<T = ()> = Result<T, CompileError>;

/// Kinds of memory that cannot overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemoryKind {
    /// All memory whose address the program can take, and the stack.
    Program,
    /// Length words of arrays and strings.
    Length,
    /// The first word of objects.
    VTableWord,
    /// Vtables, class flags, cells that are written once.
    ClassData,
    /// The thread struct.
    Thread,
    /// Valid-object and log bits of the collector.
    SideMetadata,
}

const MEMORY_KINDS: [(MemoryKind, &str); 6] = [
    (MemoryKind::Program, "program"),
    (MemoryKind::Length, "length"),
    (MemoryKind::VTableWord, "vtable word"),
    (MemoryKind::ClassData, "class data"),
    (MemoryKind::Thread, "thread"),
    (MemoryKind::SideMetadata, "side metadata"),
];

/// Translation state of one function.
pub(crate) struct Lowering<'a, 'b> {
    b: FunctionBuilder<'b>,
    func: &'a Function,
    flow: &'a ControlFlow,
    loops: Loops,
    options: &'a CompilerOptions,
    isa: &'a OwnedTargetIsa,
    symbols: &'a mut SymbolTable,
    parent: Option<&'a ParentFrame>,
    has_this: bool,
    alias: [AliasRegion; MEMORY_KINDS.len()],
    values: Vec<PackedOption<Value>>,
    blocks: Vec<PackedOption<ClifBlock>>,
    incoming_edges: Vec<u32>,
    places: Vec<Place>,
    entry_params: Vec<Value>,
    struct_result: Option<Value>,
    temps: StructTemps,
    functions: FxHashMap<(u32, SigRef), FuncRef>,
    globals: FxHashMap<u32, GlobalValue>,
    sig_refs: FxHashMap<clif::Signature, SigRef>,
    facts: Vec<BlockFacts>,
    current: BlockId,
    /// Instructions of the current block after the current one.
    rest: &'a [ValueId],
    region: Option<RegionId>,
    il_offset: u32,
    landings: Vec<Landings>,
    pending_landings: Vec<PendingLanding>,
    homes: Homes,
    throw_blocks: FxHashMap<PendingThrow, ClifBlock>,
    pending_throws: Vec<(PendingThrow, ClifBlock)>,
    in_flight: Vec<Option<InFlight>>,
    /// Non-zero at run time when a `localloc` has taken memory outside the frame, which returns must free.
    localloc_flag: Option<StackSlot>,
}

/// Translates `func` into `target`, whose signature is set here too.
///
/// # Errors
/// `InvalidIr`, `Load`, `NotSupported`.
pub(crate) fn lower(
    func: &Function,
    target: &mut clif::Function,
    builder_context: &mut FunctionBuilderContext,
    symbols: &mut SymbolTable,
    isa: &OwnedTargetIsa,
    options: &CompilerOptions,
    parent: Option<&ParentFrame>,
) -> Lowered {
    let flow = ControlFlow::compute(func)?;
    let has_this = func.sig.has_this || func.method.is_some_and(|m| !m.is_static() && !func.is_filter);
    target.signature = signatures::managed(&func.sig, has_this, CallConv::Tail);
    let alias = MEMORY_KINDS.map(|(kind, name)| {
        target.dfg.alias_regions.insert(AliasRegionData { user_id: kind as u32, description: name.into() })
    });
    let mut lowering = Lowering {
        b: FunctionBuilder::new(target, builder_context),
        func,
        flow: &flow,
        loops: Loops::compute(func, &flow),
        options,
        isa,
        symbols,
        parent,
        has_this,
        alias,
        values: vec![PackedOption::default(); func.insts.len()],
        blocks: vec![PackedOption::default(); func.blocks.len()],
        incoming_edges: vec![0; func.blocks.len()],
        places: Vec::with_capacity(func.locals.len()),
        entry_params: Vec::new(),
        struct_result: None,
        temps: StructTemps::default(),
        functions: FxHashMap::default(),
        globals: FxHashMap::default(),
        sig_refs: FxHashMap::default(),
        facts: Vec::new(),
        current: BlockId(0),
        rest: &[],
        region: None,
        il_offset: 0,
        landings: vec![Landings::default(); func.clauses.len()],
        pending_landings: Vec::new(),
        homes: Homes::default(),
        throw_blocks: FxHashMap::default(),
        pending_throws: Vec::new(),
        in_flight: Vec::new(),
        localloc_flag: None,
    };
    lowering.facts.resize_with(func.blocks.len(), BlockFacts::default);
    lowering.run()?;
    let config = isa.frontend_config();
    lowering.b.finalize(config);
    Ok(())
}

impl Lowering<'_, '_> {
    fn run(&mut self) -> Lowered {
        let flow = self.flow;
        for &block in &flow.order {
            let clif_block = self.b.create_block();
            self.blocks[block.0 as usize] = clif_block.into();
            if self.func.blocks[block.0 as usize].cold {
                self.b.set_cold_block(clif_block);
            }
        }
        self.prologue()?;
        for &block in &flow.order {
            self.block(block)?;
        }
        self.emit_pending_throws()?;
        self.emit_pending_landings()?;
        self.b.seal_all_blocks();
        Ok(())
    }

    fn prologue(&mut self) -> Lowered {
        let entry = self.b.create_block();
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        self.b.seal_block(entry);
        self.entry_params = self.b.block_params(entry).to_vec();
        if signatures::returns_struct(&self.func.sig, CallConv::Tail) {
            let index = signatures::struct_result_index(&self.func.sig, self.has_this);
            self.struct_result = Some(self.entry_params.remove(index));
        }
        self.receive_tail_args()?;
        self.declare_locals()?;
        self.declare_in_flight()?;
        self.declare_localloc();
        self.jump_to(BlockId(0))
    }

    fn block(&mut self, id: BlockId) -> Lowered {
        let index = id.0 as usize;
        let block = &self.func.blocks[index];
        let clif_block = self.clif_block(id)?;
        self.b.switch_to_block(clif_block);
        if self.incoming_edges[index] == self.flow.predecessor_count[index] {
            self.b.seal_block(clif_block);
        }
        self.current = id;
        self.region = block.region;
        self.begin_facts(id);
        for (position, &inst) in block.insts.iter().enumerate() {
            self.rest = &block.insts[position + 1..];
            self.inst(inst, self.rest)?;
        }
        self.rest = &[];
        self.set_il_offset(block.terminator_il_offset);
        self.terminator(&block.terminator)
    }

    fn set_il_offset(&mut self, il_offset: u32) {
        self.il_offset = il_offset;
        // 0 means "no position" (and u32::MAX is Cranelift's default), hence + 1.
        self.b.set_srcloc(SourceLoc::new(il_offset.wrapping_add(1)));
    }

    /// `rest`: the instructions that follow in the block.
    fn inst(&mut self, id: ValueId, rest: &[ValueId]) -> Lowered {
        let Some(inst) = self.func.insts.get(id.0 as usize) else {
            return Err(CompileError::invalid_ir(format!("instruction {} does not exist", id.0)));
        };
        self.set_il_offset(inst.il_offset);
        let result = self.op(&inst.op, inst.ty, rest)?;
        if let Some(value) = result {
            let value = match signatures::machine_type(inst.ty) {
                Some(ty) => self.coerce(value, ty)?,
                None => value,
            };
            self.values[id.0 as usize] = value.into();
        }
        Ok(())
    }

    fn op(&mut self, op: &Op, ty: IrType, rest: &[ValueId]) -> Lowered<Option<Value>> {
        Ok(Some(match *op {
            Op::ConstI32(n) => self.b.ins().iconst(types::I32, i64::from(n)),
            Op::ConstI64(n) => self.b.ins().iconst(types::I64, n),
            Op::ConstF32(n) => self.b.ins().f32const(clif::immediates::Ieee32::with_bits(n.to_bits())),
            Op::ConstF64(n) => self.b.ins().f64const(clif::immediates::Ieee64::with_bits(n.to_bits())),
            Op::ConstV128(bits) => self.vector_const(bits),
            Op::Null => self.b.ins().iconst(types::I64, 0),
            Op::SymbolAddr(symbol) => self.symbol_address(symbol),
            Op::LocalGet(local) => self.local_get(local)?,
            Op::LocalSet(local, value) => {
                let value = self.value(value)?;
                self.local_set(local, value)?;
                return Ok(None);
            }
            Op::LocalAddr(local) => self.local_address(local)?,
            Op::Bin(op, a, b) => self.binary(op, a, b, ty)?,
            Op::Un(op, a) => self.unary(op, a)?,
            Op::Cmp(op, a, b) => self.compare(op, a, b)?,
            Op::Conv { value, target, checked, source_unsigned } => {
                let value = self.value(value)?;
                self.convert(value, target, checked, source_unsigned)?
            }
            Op::Select(condition, a, b) => self.select(condition, a, b)?,
            Op::Vector { op, lanes, a, b, c } => self.vector(op, lanes, a, b, c)?,
            Op::Load { addr, offset, mem, flags } => self.load(addr, offset, mem, flags)?,
            Op::ArrayLen(array) => self.array_length(array)?,
            Op::ElementAddr { array, index, element_size_bytes } => {
                self.element_address(array, index, element_size_bytes)?
            }
            Op::Call { ref target, ref sig, ref args, struct_result } => {
                return self.call_op(target, sig, args, struct_result);
            }
            Op::NewObject(ty) => self.new_object(ty)?,
            Op::NewArray(ty, length) => self.new_array(ty, length)?,
            Op::ThreadStaticAddr(field) => self.thread_static_address(field)?,
            Op::NewString(length) => self.new_string(length)?,
            Op::CastClass(object, ty) => self.cast_class(object, ty)?,
            Op::IsInst(object, ty) => self.is_instance(object, ty)?,
            Op::Unbox(object, ty) => self.unbox(object, ty)?,
            Op::LocAlloc { bytes, zero } => self.localloc(bytes, zero)?,
            Op::AtomicRmw { op, addr, value, mem } => self.atomic_rmw(op, addr, value, mem)?,
            Op::AtomicCas { addr, expected, new, mem } => self.atomic_cas(addr, expected, new, mem)?,
            Op::MonitorTryEnter { object, milliseconds } => self.monitor_try_enter(object, milliseconds)?,
            Op::CurrentThread => self.thread(),
            Op::FramePointer => self.b.ins().get_frame_pointer(types::I64),
            _ => {
                self.effect(op, rest)?;
                return Ok(None);
            }
        }))
    }

    /// Operations without a result.
    fn effect(&mut self, op: &Op, rest: &[ValueId]) -> Lowered {
        match *op {
            Op::Store { addr, offset, value, mem, flags } => self.store(addr, offset, value, mem, flags),
            Op::StoreRef { object, addr, offset, value, flags } => self.store_ref(object, addr, offset, value, flags),
            Op::CopyStruct { dst, src, ty, barrier, flags } => self.copy_struct(dst, src, ty, barrier, flags),
            Op::InitStruct { addr, ty } => self.init_struct(addr, ty),
            Op::CopyBlock { dst, src, bytes } => self.copy_block(dst, src, bytes),
            Op::InitBlock { addr, value, bytes } => self.init_block(addr, value, bytes),
            Op::NullCheck(value) => self.null_check(value, rest),
            Op::BoundsCheck { index, length } => self.bounds_check(index, length),
            Op::ClassInit(ty) => self.class_init(ty),
            Op::Poll => self.poll(),
            Op::MonitorEnter(object) => self.monitor_enter(object),
            Op::MonitorExit(object) => self.monitor_exit(object),
            Op::Fence => {
                self.b.ins().fence();
                Ok(())
            }
            _ => Err(CompileError::invalid_ir(format!("{op:?} has no lowering"))),
        }
    }

    /// The Cranelift value of an IR value.
    fn value(&self, id: ValueId) -> Lowered<Value> {
        self.values
            .get(id.0 as usize)
            .and_then(|value| value.expand())
            .ok_or_else(|| CompileError::invalid_ir(format!("value {} is used before its definition", id.0)))
    }

    fn clif_block(&self, id: BlockId) -> Lowered<ClifBlock> {
        self.blocks[id.0 as usize]
            .expand()
            .ok_or_else(|| CompileError::invalid_ir(format!("block {} is unreachable but named", id.0)))
    }

    /// Address of a symbol.
    fn symbol_address(&mut self, symbol: Symbol) -> Value {
        self.target_address(RelocTarget::Symbol(symbol))
    }

    fn target_address(&mut self, target: RelocTarget) -> Value {
        let number = self.symbols.intern(target);
        let global = match self.globals.get(&number) {
            Some(&global) => global,
            None => {
                let name = self.external_name(number);
                let global = self.b.create_global_value(clif::GlobalValueData::Symbol {
                    name,
                    offset: 0.into(),
                    colocated: target.is_near(),
                    tls: false,
                });
                self.globals.insert(number, global);
                global
            }
        };
        self.b.ins().symbol_value(types::I64, global)
    }

    fn external_name(&mut self, number: u32) -> clif::ExternalName {
        let name = clif::UserExternalName::new(0, number);
        clif::ExternalName::user(self.b.func.declare_imported_user_function(name))
    }

    /// A callable reference to `target` with this signature.
    fn function(&mut self, target: RelocTarget, signature: clif::Signature) -> FuncRef {
        let signature = self.sig_ref(signature);
        let number = self.symbols.intern(target);
        if let Some(&function) = self.functions.get(&(number, signature)) {
            return function;
        }
        let name = self.external_name(number);
        let function = self.b.import_function(clif::ExtFuncData {
            name,
            signature,
            colocated: target.is_near(),
            patchable: false,
        });
        self.functions.insert((number, signature), function);
        function
    }

    fn sig_ref(&mut self, signature: clif::Signature) -> SigRef {
        if let Some(&known) = self.sig_refs.get(&signature) {
            return known;
        }
        let reference = self.b.import_signature(signature.clone());
        self.sig_refs.insert(signature, reference);
        reference
    }

    /// `*ThreadAbi`.
    fn thread(&mut self) -> Value {
        self.b.ins().get_pinned_reg(types::I64)
    }
}
