//! The compiler: options, target, a pool of reused contexts, and the steps from a lowered function to code and tables.

use crate::baseline::{self, Covers};
use crate::cfg;
use crate::dump::{Dump, name_calls};
use crate::error::CompileError;
use crate::isa;
use crate::lower::{self, INDIRECT_KEY, ParentFrame};
use crate::options::{CompilerOptions, OptLevel, Tier};
use crate::output::{CompiledBy, CompiledCode};
use crate::size::is_huge;
use crate::symbols::{LibCall, RelocTarget, SymbolTable};
use cranelift_codegen::binemit;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::isa::unwind::UnwindInst;
use cranelift_codegen::{Context, FinalizedMachExceptionHandler, FinalizedRelocTarget, RegClass};
use cranelift_frontend::FunctionBuilderContext;
use saki_abi::{
    AddressUse, CALLEE_SAVED, EnclosingHandler, IlMapEntry, ProtectedCall, Reloc, RelocKind, SpillArea, TrapSite,
};
use saki_il::ir::Function;
use saki_sync::SlotPool;
use saki_types::MethodKind;
use std::sync::OnceLock;

/// Buffers that are reused from one compilation to the next; used by one thread at a time.
pub struct CompileContext {
    pub(crate) codegen: Context,
    pub(crate) builder: FunctionBuilderContext,
    pub(crate) symbols: SymbolTable,
    control: ControlPlane,
    baseline: baseline::Buffers,
}

impl CompileContext {
    pub fn new() -> CompileContext {
        CompileContext {
            codegen: Context::new(),
            builder: FunctionBuilderContext::new(),
            symbols: SymbolTable::default(),
            control: ControlPlane::default(),
            baseline: baseline::Buffers::default(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.codegen.clear();
        self.symbols.clear();
    }

    /// Whether the context's buffers are of the size that most functions need. Buffers never shrink by themselves.
    fn is_worth_keeping(&self) -> bool {
        self.codegen.func.dfg.num_insts() <= MAX_KEPT_INSTRUCTIONS && self.baseline.plan_capacity() <= MAX_KEPT_PLAN
    }
}

/// Contexts that have seen a larger function are dropped. Cranelift takes 1 to 2 KB for an instruction of its IR, and
/// there may be as many contexts as threads ever compiled at a time: eight threads that compiled a method of 8,000
/// instructions each kept 92 MB. A new context costs next to nothing beside the compilation of so many instructions
/// (some 10 ms).
const MAX_KEPT_INSTRUCTIONS: usize = 2048;
/// The same for the baseline compiler, in values; it takes some 60 bytes for each.
const MAX_KEPT_PLAN: usize = 16_384;

impl Default for CompileContext {
    fn default() -> Self {
        CompileContext::new()
    }
}

/// Compiles functions for the machine it runs on; may be shared by threads.
///
/// Small bodies of dynamic methods (lambdas compiled at run time) have next to nothing to optimise, but there may be
/// very many. The baseline compiler compiles those without loops; any that it refuses go through Cranelift without
/// mid-end and with one-pass register allocation. In the first tier the baseline compiler compiles every function.
pub struct Compiler {
    options: CompilerOptions,
    isa: OwnedTargetIsa,
    quick_isa: OwnedTargetIsa,
    /// For huge functions that the baseline compiler does not cover; made for the first one.
    plain_isa: OnceLock<OwnedTargetIsa>,
    idle: SlotPool<CompileContext>,
}

impl Compiler {
    /// # Errors
    /// `Codegen` when this machine is not supported.
    pub fn new(options: CompilerOptions) -> Result<Compiler, CompileError> {
        let isa = isa::build(&options)?;
        let quick_isa = isa::build(&CompilerOptions { opt_level: OptLevel::None, ..options.clone() })?;
        Ok(Compiler { options, isa, quick_isa, plain_isa: OnceLock::new(), idle: SlotPool::new() })
    }

    pub fn options(&self) -> &CompilerOptions {
        &self.options
    }

    pub(crate) fn isa(&self) -> &OwnedTargetIsa {
        &self.isa
    }

    /// Runs `work` with an idle context. The context is dropped if the work fails, since a half-built function may have
    /// left traces, and if its function was large.
    pub(crate) fn with_context<T>(
        &self,
        work: impl FnOnce(&mut CompileContext) -> Result<T, CompileError>,
    ) -> Result<T, CompileError> {
        let mut context = self.idle.take_any().unwrap_or_default();
        let result = work(&mut context)?;
        if context.is_worth_keeping() {
            self.idle.give(context);
        }
        Ok(result)
    }

    /// Compiles a function and its filters.
    ///
    /// # Errors
    /// `Load` when a type that the code needs does not load; the other errors are bugs of Saki.
    pub fn compile(&self, func: &Function) -> Result<CompiledCode, CompileError> {
        self.compile_in(self.options.tiers.of_uncounted_code(), func)
    }

    /// Compiles a function and its filters in this tier.
    ///
    /// # Errors
    /// Those of `compile`.
    pub fn compile_in(&self, tier: Tier, func: &Function) -> Result<CompiledCode, CompileError> {
        self.with_context(|context| self.compile_with(context, tier, func))
    }

    /// The baseline compiler's code for the function, which need not be a dynamic method's; None if that compiler does
    /// not cover it.
    pub fn compile_baseline(&self, func: &Function) -> Option<CompiledCode> {
        let options = &self.options;
        self.with_context(|context| Ok(baseline::compile(&mut context.baseline, func, Covers::All, options)))
            .unwrap_or_default()
    }

    /// Compiles a function and its filters with a context of the caller's, which must be dropped after an error.
    ///
    /// # Errors
    /// `Load` when a type that the code needs does not load; the other errors are bugs of Saki.
    pub fn compile_with(
        &self,
        context: &mut CompileContext,
        tier: Tier,
        func: &Function,
    ) -> Result<CompiledCode, CompileError> {
        let covers = match tier {
            Tier::First => Some(Covers::All),
            Tier::Second if is_huge(func) && !func.is_continuation => Some(Covers::All),
            Tier::Second => is_dynamic(func).then_some(Covers::Small),
        };
        if let Some(covers) = covers
            && let Some(code) = baseline::compile(&mut context.baseline, func, covers, &self.options)
        {
            return Ok(code);
        }
        let (mut code, frame) = self.compile_one(context, func, None)?;
        for filter in &func.filters {
            if !filter.filters.is_empty() {
                return Err(CompileError::invalid_ir("a filter with filters of its own"));
            }
            code.filters.push(self.compile_one(context, filter, Some(&frame))?.0);
        }
        Ok(code)
    }

    fn compile_one(
        &self,
        context: &mut CompileContext,
        func: &Function,
        parent: Option<&ParentFrame>,
    ) -> Result<(CompiledCode, ParentFrame), CompileError> {
        self.lower(context, func, parent)?;
        let is_quick = is_quick(func);
        let mut code = finish(self.isa_for(func)?, context, &func.title())?;
        code.is_continuation = func.is_continuation;
        code.compiled_by = if is_quick { CompiledBy::Quick } else { CompiledBy::Optimising };
        code.tables.clauses = func.clauses.iter().map(|clause| clause.kind).collect();
        code.tables.inline_sites = func.inline_sites.as_slice().into();
        let frame = if func.filters.is_empty() { ParentFrame::default() } else { parent_frame(context) };
        Ok((code, frame))
    }

    /// The settings with which Cranelift compiles a function.
    fn isa_for(&self, func: &Function) -> Result<&OwnedTargetIsa, CompileError> {
        if is_quick(func) {
            return Ok(&self.quick_isa);
        }
        if !is_huge(func) {
            return Ok(&self.isa);
        }
        if let Some(isa) = self.plain_isa.get() {
            return Ok(isa);
        }
        let isa = isa::build(&CompilerOptions { opt_level: OptLevel::Plain, ..self.options.clone() })?;
        Ok(self.plain_isa.get_or_init(|| isa))
    }

    fn lower(
        &self,
        context: &mut CompileContext,
        func: &Function,
        parent: Option<&ParentFrame>,
    ) -> Result<(), CompileError> {
        context.clear();
        let CompileContext { codegen, builder, symbols, .. } = context;
        lower::lower(func, &mut codegen.func, builder, symbols, &self.isa, &self.options, parent)
    }

    /// Generates code for the function in `context` and collects the tables.
    pub(crate) fn finish(&self, context: &mut CompileContext, name: &str) -> Result<CompiledCode, CompileError> {
        finish(&self.isa, context, name)
    }

    /// The Cranelift IR and the machine code of a function (and of its filters) as text.
    ///
    /// # Errors
    /// `Load` when a type that the code needs does not load; the other errors are bugs of Saki.
    pub fn dump(&self, func: &Function) -> Result<Dump, CompileError> {
        self.with_context(|context| {
            let (mut dump, frame) = self.dump_one(context, func, None)?;
            for filter in &func.filters {
                dump.filters.push(self.dump_one(context, filter, Some(&frame))?.0);
            }
            Ok(dump)
        })
    }

    fn dump_one(
        &self,
        context: &mut CompileContext,
        func: &Function,
        parent: Option<&ParentFrame>,
    ) -> Result<(Dump, ParentFrame), CompileError> {
        self.lower(context, func, parent)?;
        context.codegen.set_disasm(true);
        let clif = context.codegen.func.display().to_string();
        let code = finish(self.isa_for(func)?, context, &func.title())?;
        let machine_code = context.codegen.compiled_code().and_then(|c| c.vcode.clone()).unwrap_or_default();
        let symbols = context.symbols.describe();
        let symbol_names = context.symbols.names();
        let user_names = context.codegen.func.params.user_named_funcs().values();
        let external_names =
            user_names.map(|name| symbol_names.get(name.index as usize).cloned().unwrap_or_default()).collect();
        let machine_code = name_calls(&machine_code, &near_calls(context));
        let dump = Dump {
            name: func.title().into_owned(),
            clif,
            symbols,
            symbol_names,
            external_names,
            machine_code,
            size_bytes: code.bytes.len(),
            filters: Vec::new(),
        };
        Ok((dump, parent_frame(context)))
    }
}

/// The targets of the `bl` instructions in their order, as Cranelift names them: its text of these names none.
fn near_calls(context: &CompileContext) -> Vec<String> {
    const BL: u8 = 0x94;
    let Some(compiled) = context.codegen.compiled_code() else { return Vec::new() };
    let bytes = compiled.code_buffer();
    let mut calls: Vec<_> = compiled
        .buffer
        .relocs()
        .iter()
        .filter(|reloc| reloc.kind == binemit::Reloc::Arm64Call && bytes[reloc.offset as usize + 3] == BL)
        .collect();
    calls.sort_by_key(|reloc| reloc.offset);
    let name = |target: &FinalizedRelocTarget| match target {
        FinalizedRelocTarget::ExternalName(name) => name.display(None).to_string(),
        FinalizedRelocTarget::Func(_) => String::new(),
    };
    calls.into_iter().map(|reloc| name(&reloc.target)).collect()
}

/// Instructions of the largest body that is compiled without mid-end and with one-pass register allocation.
const MAX_QUICK_INSTRUCTIONS: usize = 64;

fn is_dynamic(func: &Function) -> bool {
    func.method.is_some_and(|method| matches!(method.kind, MethodKind::Dynamic(_)))
}

fn is_quick(func: &Function) -> bool {
    is_dynamic(func)
        && func.insts.len() <= MAX_QUICK_INSTRUCTIONS
        && func.clauses.is_empty()
        && func
            .blocks
            .iter()
            .enumerate()
            .all(|(index, block)| cfg::targets(&block.terminator).iter().all(|target| target.0 as usize > index))
}

fn finish(isa: &OwnedTargetIsa, context: &mut CompileContext, name: &str) -> Result<CompiledCode, CompileError> {
    if let Err(error) = context.codegen.compile(&**isa, &mut context.control) {
        let error = cranelift_codegen::print_errors::pretty_error(error.func, error.inner);
        return Err(CompileError::Codegen(format!("{name}: {error}")));
    }
    collect(context, name, isa::native_abi(&**isa).landings_keep_registers)
}

fn collect(context: &CompileContext, name: &str, landings_keep_registers: bool) -> Result<CompiledCode, CompileError> {
    let Some(compiled) = context.codegen.compiled_code() else {
        return Err(CompileError::Codegen(format!("{name}: no code")));
    };
    let buffer = &compiled.buffer;
    let mut code = CompiledCode {
        name: name.to_owned().into(),
        bytes: buffer.data().to_vec(),
        alignment_bytes: buffer.alignment,
        ..CompiledCode::default()
    };
    for reloc in buffer.relocs() {
        let before_field = code.bytes.get(..reloc.offset as usize).unwrap_or_default();
        let (kind, usage) = reloc_kind(reloc.kind, before_field)?;
        code.relocs.push(Reloc {
            offset: reloc.offset,
            kind,
            usage,
            target: reloc_target(context, &reloc.target)?,
            addend: reloc.addend,
        });
    }
    code.tables.frame_size_bytes = buffer.frame_layout().map_or(0, |layout| layout.frame_to_fp_offset);
    code.tables.spill_area = match spill_area(context) {
        Err(reason) if landings_keep_registers => return Err(CompileError::Codegen(format!("{name}: {reason}"))),
        area => area.ok().flatten(),
    };
    let (mut calls, mut handlers) = (Vec::new(), Vec::new());
    for site in buffer.call_sites() {
        if site.exception_handlers.is_empty() {
            continue;
        }
        let first_handler = handlers.len() as u32;
        for handler in site.exception_handlers {
            let FinalizedMachExceptionHandler::Tag(tag, landing_offset) = *handler else {
                return Err(CompileError::Codegen(format!("{name}: an exception handler without tag")));
            };
            handlers.push(EnclosingHandler { clause_index: tag.as_u32(), landing_offset });
        }
        calls.push(ProtectedCall {
            return_offset: site.ret_addr,
            frame_offset_bytes: site.frame_offset.unwrap_or(code.tables.frame_size_bytes),
            first_handler,
            handler_count: handlers.len() as u32 - first_handler,
        });
    }
    calls.sort_by_key(|call: &ProtectedCall| call.return_offset);
    code.tables.protected_calls = calls.into();
    code.tables.handlers = handlers.into();
    code.tables.traps =
        buffer.traps().iter().map(|t| TrapSite { offset: t.offset, code: t.code.as_raw().get() }).collect();
    code.tables.traps.sort_by_key(|trap| trap.offset);
    let mut il_map: Vec<IlMapEntry> = Vec::new();
    for range in buffer.get_srclocs_sorted() {
        // Positions are stored + 1; 0 = none.
        let Some(il_offset) = range.loc.bits().checked_sub(1).filter(|_| !range.loc.is_default()) else { continue };
        if il_map.last().is_none_or(|last| last.il_offset != il_offset) {
            il_map.push(IlMapEntry { native_offset: range.start, il_offset });
        }
    }
    code.tables.il_map = il_map.into();
    crate::loop_placement::pad(&mut code);
    Ok(code)
}

/// Where the spill slots of the compiled function lie: between its stack slots and the saved registers. Errors: a saved
/// register does not lie where walks look for it.
fn spill_area(context: &CompileContext) -> Result<Option<SpillArea>, &'static str> {
    let Some(compiled) = context.codegen.compiled_code() else { return Ok(None) };
    let Some(layout) = compiled.buffer.frame_layout() else { return Ok(None) };
    let slots = &context.codegen.func.sized_stack_slots;
    let slots_end = slots.iter().map(|(slot, data)| layout.stackslots[slot].offset + data.size).max().unwrap_or(0);
    let mut clobber_bytes = 0;
    let mut saved_registers = 0;
    let mut places = Vec::new();
    for (_, inst) in &compiled.buffer.unwind_info {
        match inst {
            UnwindInst::DefineNewFrame { offset_downward_to_clobbers, .. } => {
                clobber_bytes = *offset_downward_to_clobbers;
            }
            UnwindInst::SaveReg { clobber_offset, reg } if reg.class() == RegClass::Int => {
                let index = CALLEE_SAVED.iter().position(|&number| number == reg.hw_enc());
                let index = index.ok_or("a register is saved that calls do not keep")?;
                saved_registers |= 1 << index;
                places.push((index, *clobber_offset));
            }
            // Floating-point registers hold no references, and no value where an exception lands.
            _ => {}
        }
    }
    let low_bytes = layout.frame_to_fp_offset.checked_sub(slots_end.next_multiple_of(8));
    let low_bytes = low_bytes.ok_or("the stack slots are larger than the frame")?;
    let area = SpillArea { low_bytes, high_bytes: clobber_bytes, saved_registers };
    let is_found =
        |&(index, offset): &(usize, u32)| area.saved_register_bytes(index) == clobber_bytes.checked_sub(offset);
    if clobber_bytes > low_bytes || !places.iter().all(is_found) {
        return Err("a register is not saved where walks look for it");
    }
    Ok(Some(area))
}

/// `bytes` is the code up to the field. Cranelift uses its call relocation also for `lea` of a near address. The last
/// byte before the field tells them apart: in a `lea` it is the ModRM byte, which is neither of the opcodes of call and
/// jump.
fn reloc_kind(kind: binemit::Reloc, bytes: &[u8]) -> Result<(RelocKind, AddressUse), CompileError> {
    const CALL: u8 = 0xe8;
    const JUMP: u8 = 0xe9;
    Ok(match kind {
        binemit::Reloc::Abs8 => (RelocKind::Absolute8, AddressUse::AddressTaken),
        binemit::Reloc::X86CallPCRel4 if matches!(bytes.last(), Some(&CALL | &JUMP)) => {
            (RelocKind::X86PcRelative4, AddressUse::Called)
        }
        binemit::Reloc::X86CallPCRel4 | binemit::Reloc::X86PCRel4 => {
            (RelocKind::X86PcRelative4, AddressUse::AddressTaken)
        }
        binemit::Reloc::Arm64Call => (RelocKind::Arm64Branch26, AddressUse::Called),
        binemit::Reloc::Aarch64AdrPrelPgHi21 => (RelocKind::Arm64AdrPage21, AddressUse::AddressTaken),
        binemit::Reloc::Aarch64AddAbsLo12Nc => (RelocKind::Arm64AddLow12, AddressUse::AddressTaken),
        other => return Err(CompileError::Codegen(format!("unknown relocation {other:?}"))),
    })
}

fn reloc_target(context: &CompileContext, target: &FinalizedRelocTarget) -> Result<RelocTarget, CompileError> {
    let unknown = || CompileError::Codegen(format!("unknown relocation target {target:?}"));
    match target {
        FinalizedRelocTarget::ExternalName(ir::ExternalName::User(name)) => {
            let names = context.codegen.func.params.user_named_funcs();
            context.symbols.target(names[*name].index).ok_or_else(unknown)
        }
        FinalizedRelocTarget::ExternalName(ir::ExternalName::LibCall(ir::LibCall::Memcpy)) => {
            Ok(RelocTarget::LibCall(LibCall::Memcpy))
        }
        _ => Err(unknown()),
    }
}

/// The slots of locals, for the compilation of filters.
fn parent_frame(context: &CompileContext) -> ParentFrame {
    let mut frame = ParentFrame::default();
    let layout = context.codegen.compiled_code().and_then(|compiled| compiled.buffer.frame_layout());
    if let Some(layout) = layout {
        for slot in layout.stackslots.values() {
            if let Some(key) = slot.key {
                let indirect = key.bits() & INDIRECT_KEY != 0;
                let fp_offset = slot.offset as i32 - layout.frame_to_fp_offset as i32;
                frame.slots.insert(key.bits() as u32, (fp_offset, indirect));
            }
        }
    }
    frame
}
