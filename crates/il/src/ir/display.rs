//! Text form of a `Function`, for `--dump-ir` and tests.

use super::{
    Block, CallSig, CallTarget, Clause, ClauseKind, Function, IrType, LocalId, LocalKind, MemFlags, NullCheck, Op,
    Terminator, Transition, ValueId,
};
use std::fmt::{Display, Formatter, Result, Write};

impl Display for ValueId {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "v{}", self.0)
    }
}

impl Display for LocalId {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "%{}", self.0)
    }
}

impl Display for IrType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            IrType::Struct(ty) => write!(f, "struct {}", ty.full_name()),
            IrType::Block(bytes) => write!(f, "block {bytes}"),
            other => f.write_str(&format!("{other:?}").to_lowercase()),
        }
    }
}

fn list(values: &[ValueId]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn flags(flags: &MemFlags) -> String {
    let mut text = format!("{:?}", flags.alias).to_lowercase();
    if flags.null_check == NullCheck::Needed {
        text.push_str(" checked");
    }
    if flags.volatile {
        text.push_str(" volatile");
    }
    if flags.unaligned {
        text.push_str(" unaligned");
    }
    text
}

fn target(target: &CallTarget) -> String {
    match target {
        CallTarget::Direct(m) => m.full_name(),
        CallTarget::Virtual { method, slot } => format!("virtual[{slot}] {}", method.full_name()),
        CallTarget::Interface { method } => format!("interface {}", method.full_name()),
        CallTarget::Indirect(value) => format!("indirect {value}"),
        CallTarget::Helper(helper) => format!("helper {}", helper.name()),
        CallTarget::InternalCall(method) => format!("icall {}", method.full_name()),
        CallTarget::Native { code, transition } => match transition {
            Transition::None => format!("native {code}"),
            Transition::Leave => format!("leaving native {code}"),
            Transition::LeaveSavingError => format!("leaving saving error native {code}"),
        },
    }
}

fn signature(sig: &CallSig) -> String {
    let params = sig.params.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match sig.ret {
        Some(ret) => format!("({params}) -> {ret}"),
        None => format!("({params})"),
    }
}

fn op(op: &Op) -> String {
    match op {
        Op::ConstI32(n) => format!("{n}"),
        Op::ConstI64(n) => format!("{n}L"),
        Op::ConstF32(n) => format!("{n:?}f"),
        Op::ConstF64(n) => format!("{n:?}"),
        Op::ConstV128(bits) => format!("{bits:#034x}"),
        Op::Null => "null".to_owned(),
        Op::SymbolAddr(symbol) => format!("symbol {symbol:?}"),
        Op::LocalGet(local) => format!("get {local}"),
        Op::LocalSet(local, value) => format!("set {local}, {value}"),
        Op::LocalAddr(local) => format!("addr {local}"),
        Op::Bin(op, a, b) => format!("{} {a}, {b}", format!("{op:?}").to_lowercase()),
        Op::Un(op, a) => format!("{} {a}", format!("{op:?}").to_lowercase()),
        Op::Cmp(op, a, b) => format!("cmp.{} {a}, {b}", format!("{op:?}").to_lowercase()),
        Op::Conv { value, target, checked, source_unsigned } => {
            let checked = if *checked { ".ovf" } else { "" };
            let unsigned = if *source_unsigned { ".un" } else { "" };
            format!("conv{checked}.{}{unsigned} {value}", format!("{target:?}").to_lowercase())
        }
        Op::Select(c, a, b) => format!("select {c}, {a}, {b}"),
        Op::Vector { op, lanes, a, b, c } => {
            let operands: Vec<ValueId> = [Some(*a), *b, *c].into_iter().flatten().collect();
            format!("{}.{} {}", format!("{op:?}").to_lowercase(), format!("{lanes:?}").to_lowercase(), list(&operands))
        }
        Op::Load { addr, offset, mem, flags: f } => format!("load.{mem:?} [{addr} + {offset}] {}", flags(f)),
        Op::Store { addr, offset, value, mem, flags: f } => {
            format!("store.{mem:?} [{addr} + {offset}], {value} {}", flags(f))
        }
        Op::StoreRef { object, addr, offset, value, flags: f } => {
            let object = object.map_or("?".to_owned(), |o| o.to_string());
            format!("store_ref [{addr} + {offset}] in {object}, {value} {}", flags(f))
        }
        Op::CopyStruct { dst, src, ty, barrier, .. } => {
            format!("copy {dst}, {src}, {}{}", ty.full_name(), if *barrier { " barrier" } else { "" })
        }
        Op::InitStruct { addr, ty } => format!("zero {addr}, {}", ty.full_name()),
        Op::CopyBlock { dst, src, bytes } => format!("copy_block {dst}, {src}, {bytes}"),
        Op::InitBlock { addr, value, bytes } => format!("init_block {addr}, {value}, {bytes}"),
        Op::LocAlloc { bytes, zero } => format!("localloc {bytes}{}", if *zero { " zero" } else { "" }),
        Op::NullCheck(a) => format!("null_check {a}"),
        Op::BoundsCheck { index, length } => format!("bounds_check {index}, {length}"),
        Op::ArrayLen(a) => format!("length {a}"),
        Op::ElementAddr { array, index, element_size_bytes } => {
            format!("element {array}[{index} * {element_size_bytes}]")
        }
        Op::Call { target: t, sig, args, struct_result } => {
            let result = struct_result.map_or(String::new(), |r| format!(" into {r}"));
            format!("call {} ({}) : {}{result}", target(t), list(args), signature(sig))
        }
        Op::NewObject(ty) => format!("new {}", ty.full_name()),
        Op::ThreadStaticAddr(field) => format!("thread_static {}:{}", field.owner.full_name(), field.name),
        Op::NewString(length) => format!("new string [{length}]"),
        Op::NewArray(ty, length) => format!("new {} [{length}]", ty.full_name()),
        Op::CastClass(a, ty) => format!("cast {a}, {}", ty.full_name()),
        Op::IsInst(a, ty) => format!("is_inst {a}, {}", ty.full_name()),
        Op::Unbox(a, ty) => format!("unbox {a}, {}", ty.full_name()),
        Op::ClassInit(ty) => format!("class_init {}", ty.full_name()),
        Op::ClassInitSeen(ty) => format!("class_init_seen {}", ty.full_name()),
        Op::Poll => "poll".to_owned(),
        Op::CountCall => "count_call".to_owned(),
        Op::CountLoop(il_offset) => format!("count_loop IL_{il_offset:04x}"),
        Op::CountBlock { number, .. } => format!("count_block {number}"),
        Op::Note { cell, word } => format!("note {cell}, {word}"),
        Op::NoteClass { cell, object } => format!("note_class {cell}, {object}"),
        Op::AtomicRmw { op, addr, value, mem } => format!("atomic.{op:?}.{mem:?} [{addr}], {value}"),
        Op::AtomicCas { addr, expected, new, mem } => format!("cas.{mem:?} [{addr}], {expected}, {new}"),
        Op::Fence => "fence".to_owned(),
        Op::MonitorEnter(a) => format!("monitor.enter {a}"),
        Op::MonitorTryEnter { object, milliseconds } => format!("monitor.try_enter {object}, {milliseconds}"),
        Op::MonitorExit(a) => format!("monitor.exit {a}"),
        Op::CurrentThread => "thread".to_owned(),
        Op::FramePointer => "frame_pointer".to_owned(),
    }
}

fn terminator(t: &Terminator) -> String {
    match t {
        Terminator::Jump(b) => format!("jump b{}", b.0),
        Terminator::Brif { cond, then, otherwise } => format!("brif {cond}, b{}, b{}", then.0, otherwise.0),
        Terminator::Switch { value, targets, default } => {
            let targets = targets.iter().map(|b| format!("b{}", b.0)).collect::<Vec<_>>().join(", ");
            format!("switch {value}, [{targets}], b{}", default.0)
        }
        Terminator::Ret(None) => "ret".to_owned(),
        Terminator::Ret(Some(value)) => format!("ret {value}"),
        Terminator::TailCall { target: t, sig, args } => {
            format!("tail_call {} ({}) : {}", target(t), list(args), signature(sig))
        }
        Terminator::Throw(value) => format!("throw {value}"),
        Terminator::Rethrow(value) => format!("rethrow {value}"),
        Terminator::ResumeUnwind { clause } => format!("resume_unwind {clause}"),
        Terminator::EndFilter(value) => format!("end_filter {value}"),
        Terminator::Unreachable => "unreachable".to_owned(),
    }
}

impl Function {
    fn write_locals(&self, f: &mut Formatter<'_>) -> Result {
        for (index, local) in self.locals.iter().enumerate() {
            write!(f, "  %{index}: {}", local.ty)?;
            match local.kind {
                LocalKind::Param(number) => write!(f, " param {number}")?,
                LocalKind::ParentSlot(parent) => write!(f, " parent {parent}")?,
                LocalKind::FrameSlot { offset_bytes, is_indirect: false } => write!(f, " at fp {offset_bytes}")?,
                LocalKind::FrameSlot { offset_bytes, is_indirect: true } => write!(f, " at [fp {offset_bytes}]")?,
                LocalKind::Argument => f.write_str(" argument")?,
                LocalKind::Normal => {}
            }
            for (is_set, text) in
                [(local.address_exposed, " exposed"), (local.zero_init, " zero"), (local.pinned, " pinned")]
            {
                if is_set {
                    f.write_str(text)?;
                }
            }
            f.write_char('\n')?;
        }
        Ok(())
    }

    fn write_block(&self, f: &mut Formatter<'_>, index: usize, block: &Block) -> Result {
        write!(f, "b{index}:")?;
        if let Some(region) = block.region {
            write!(f, " region {}", region.0)?;
        }
        f.write_str(if block.cold { " cold" } else { "" })?;
        f.write_str(if block.few_rounds { " few" } else { "" })?;
        writeln!(f, "{}", if block.then_is_likely { " then" } else { "" })?;
        for value in &block.insts {
            let inst = &self.insts[value.0 as usize];
            match inst.ty {
                IrType::Void => writeln!(f, "    {}", op(&inst.op))?,
                ty => writeln!(f, "    {value}: {ty} = {}", op(&inst.op))?,
            }
        }
        writeln!(f, "    {}", terminator(&block.terminator))
    }

    fn write_clause(f: &mut Formatter<'_>, index: usize, clause: &Clause) -> Result {
        let kind = match &clause.kind {
            ClauseKind::Catch(ty) => format!("catch {}", ty.full_name()),
            ClauseKind::Filter(filter) => format!("filter {filter}"),
            ClauseKind::Finally => "finally".to_owned(),
            ClauseKind::Fault => "fault".to_owned(),
        };
        writeln!(f, "  clause {index}: {kind} -> b{} exception {}", clause.handler.0, clause.exception_local)
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "function {} {} {{", self.title(), signature(&self.sig))?;
        self.write_locals(f)?;
        for (index, region) in self.regions.iter().enumerate() {
            let parent = region.parent.map_or(String::new(), |p| format!(" in {}", p.0));
            writeln!(f, "  region {index}{parent}: clauses {:?}", region.clauses)?;
        }
        for (index, clause) in self.clauses.iter().enumerate() {
            Self::write_clause(f, index, clause)?;
        }
        for (index, error) in self.deferred_errors.iter().enumerate() {
            writeln!(f, "  deferred {index}: {error}")?;
        }
        for (index, block) in self.blocks.iter().enumerate() {
            self.write_block(f, index, block)?;
        }
        writeln!(f, "}}")?;
        for filter in &self.filters {
            write!(f, "{filter}")?;
        }
        Ok(())
    }
}
