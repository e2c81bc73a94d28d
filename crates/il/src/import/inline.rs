//! Inlining while importing: a small callee is imported into the caller, its arguments bound to the caller's operands.
//!
//! Not inlined: bodies with handlers, loops or `throw` (their frames show in stack traces); methods that ask for their
//! caller; methods marked NoInlining; and calls shortly before a `throw`, since the code that makes exceptions is a
//! large part of many methods and hardly ever runs. Stack traces show inlined bodies as frames (`ir::position`).

use super::class_init::needs_check_at_entry;
use super::emitter::Emitter;
use super::importer::Importer;
use super::kinds::{has_references, ir_type, is_exact_class};
use super::scope::{Return, Scope};
use super::stack::{Effect, StackEntry, Val};
use super::state::{Binding, Var};
use crate::ir::{InlineSite, IrType, LocalKind, Op, position};
use crate::vector_types::{family_name, vector_type};
use saki_metadata::opcodes::{Opcode, decode_at};
use saki_metadata::{TableId, Token};
use saki_types::method::impl_flags;
use saki_types::{Image, LibraryMethod, LoadResult, Method};

/// CIL bytes inlined into one method at most.
pub(super) const BUDGET_BYTES: u32 = 1500;
/// Largest body inlined without a request (AggressiveInlining).
const SMALL_BODY_BYTES: usize = 32;
/// Largest body inlined where the call hardly ever runs: one that is hardly longer than the call. The methods of local
/// values are inlined as elsewhere, since the address that a call takes keeps the value out of registers everywhere.
const COLD_BODY_BYTES: usize = 12;
/// Largest body inlined without a request where the call is known to run often.
const HOT_BODY_BYTES: usize = 48;
/// Largest body inlined without a request where the call is in a loop, and where it is known to run often, too.
const LOOP_BODY_BYTES: usize = 64;
const HOT_LOOP_BODY_BYTES: usize = 80;
/// Largest body inlined without a request where a guarded call is in a loop.
const GUESSED_BODY_BYTES: usize = 112;
/// Largest body inlined without a request if the method has a value type as argument, or its `this` is the address of a
/// local of the caller: once it is inlined, the value's fields can become variables.
const LOCAL_VALUE_BODY_BYTES: usize = 80;
/// Largest constructor of a class inlined without a request: if the object goes nowhere else, its fields can become
/// variables (`opt`, `objects`).
const NEW_OBJECT_BODY_BYTES: usize = 80;
/// Largest body inlined when the method says AggressiveInlining.
const AGGRESSIVE_BODY_BYTES: usize = 120;
/// Largest body inlined when a method of a vector type, or one that takes or gives vectors, says AggressiveInlining:
/// such bodies have up to four versions, by the width of vectors and without vector hardware, of which one is imported.
const VECTOR_BODY_BYTES: usize = 4 * AGGRESSIVE_BODY_BYTES;
/// Of bodies that make a vector of two others one part in this many counts: an operation of `Vector256` is six bodies
/// of 250 bytes, most of which ask whether the type of elements is supported; a few instructions are left of them.
const PARTS_OF_VECTOR_BODIES: u32 = 8;
/// The namespace of .NET's vectors.
const INTRINSICS: &str = "System.Runtime.Intrinsics";
const MAX_DEPTH: usize = 7;
/// How often a method is inlined into itself: halves the calls of small recursive functions.
const MAX_RECURSION: usize = 2;
/// A call counts as a part of making an exception if its block ends in a `throw` within this many instructions.
const MAX_LOOK_AHEAD: usize = 16;

/// Methods that find their caller by walking the stack.
const CALLER_SENSITIVE: [&str; 3] = ["GetCallingAssembly", "GetExecutingAssembly", "GetCurrentMethod"];
/// Types whose constructors walk the stack to their caller.
const STACK_WALKERS: [&str; 2] = ["StackFrame", "StackTrace"];

/// Methods of `GCHandle` that wrap operations of a few nanoseconds: inlined although a check in them throws.
fn is_handle_operation(method: &'static Method) -> bool {
    use LibraryMethod as M;
    matches!(
        method.library_role(),
        Ok(Some(M::GCHandleTarget | M::GCHandleFree | M::GCHandleAlloc | M::GCHandleNew | M::GCHandleIsAllocated))
    )
}

/// Whether the method belongs to a vector type, or takes or gives vectors.
fn is_of_vectors(method: &'static Method, args: &[StackEntry]) -> bool {
    let is_vector = |entry: &StackEntry| matches!(entry.ir, IrType::Struct(ty) if vector_type(ty).is_some());
    family_name(method.owner).is_some()
        || args.iter().any(is_vector)
        || method.sig().is_ok_and(|sig| vector_type(sig.ret).is_some())
}

/// Whether this is a method by which .NET's class library makes vectors of others (`Vector256` of two of 128 bits).
fn makes_vectors_of_others(method: &'static Method) -> bool {
    let owner = method.owner;
    let is_vector = owner.def().is_some_and(|def| def.namespace == INTRINSICS && def.name.starts_with("Vector"));
    is_vector && owner.is_of_class_libraries()
}

/// What a body takes of the budget. Of a longer one that is inlined all but one version is left out.
fn charged_bytes(method: &'static Method, bytes: usize) -> u32 {
    let charged = bytes.min(AGGRESSIVE_BODY_BYTES) as u32;
    if makes_vectors_of_others(method) { charged.div_ceil(PARTS_OF_VECTOR_BODIES) } else { charged }
}

impl Importer<'_> {
    /// Inlines a direct call if that is possible and worth it, pushing the result.
    pub(super) fn try_inline(&mut self, method: &'static Method, args: &[StackEntry]) -> LoadResult<bool> {
        if method.is_pinvoke() && self.may_inline().is_ok() && self.emit.call_native_in_line(method, args)? {
            self.emit.decide(|| format!("in line: the native call of {}", method.full_name()));
            return Ok(true);
        }
        let refused = match self.scope_to_inline(method, args) {
            Ok(scope) => {
                let bytes = scope.body.code.len();
                self.emit.decide(|| format!("inlined: {}, {bytes} bytes", method.full_name()));
                self.inline_budget_bytes -= charged_bytes(method, bytes);
                self.inline_into(method, scope, args)?;
                return Ok(true);
            }
            Err(reason) => reason,
        };
        self.emit.decide(|| format!("called: {}, {refused}", method.full_name()));
        Ok(false)
    }

    /// Whether calls here are worth it.
    fn may_inline(&self) -> Result<(), &'static str> {
        if !self.emit.options.inline || self.emit.parent.is_some() {
            return Err("nothing is inlined here");
        }
        if self.emit.method.is_class_constructor() {
            return Err("class constructors run once");
        }
        if self.is_about_to_throw() {
            return Err("shortly before a throw");
        }
        Ok(())
    }

    /// The callee's scope if it is to be inlined; else the reason why not.
    fn scope_to_inline(&mut self, method: &'static Method, args: &[StackEntry]) -> Result<Box<Scope>, &'static str> {
        let is_guessed = std::mem::take(&mut self.is_guessed);
        self.may_inline()?;
        let on_local = match args.first().map(|this| this.val) {
            Some(Val::Scalar(this)) if !method.is_static() => self.emit.b.local_at(this).is_some(),
            _ => false,
        };
        let is_new = match args.first().map(|this| this.val) {
            Some(Val::Scalar(this)) if method.is_constructor() => matches!(self.emit.b.op(this), Op::NewObject(_)),
            _ => false,
        };
        let is_asked_for = method.impl_flags & impl_flags::AGGRESSIVE_INLINING != 0 || is_handle_operation(method);
        let is_in_loop = self.emit.s.is_in_loop || self.emit.s.scan.is_in_loop(self.emit.s.offset);
        let has_value = on_local || args.iter().any(|arg| matches!(arg.ir, IrType::Struct(_)));
        let limit = if self.emit.b.is_cold && !has_value {
            COLD_BODY_BYTES
        } else if is_guessed && is_in_loop && !is_asked_for {
            GUESSED_BODY_BYTES
        } else if is_asked_for {
            if self.emit.options.vectors && is_of_vectors(method, args) {
                VECTOR_BODY_BYTES
            } else {
                AGGRESSIVE_BODY_BYTES
            }
        } else if has_value {
            LOCAL_VALUE_BODY_BYTES
        } else if is_new {
            NEW_OBJECT_BODY_BYTES
        } else if is_in_loop {
            if self.emit.is_hot() { HOT_LOOP_BODY_BYTES } else { LOOP_BODY_BYTES }
        } else if self.emit.is_hot() {
            HOT_BODY_BYTES
        } else {
            SMALL_BODY_BYTES
        };
        if let Some(reason) = self.not_inlinable.get(&(method, limit)) {
            return Err(reason);
        }
        let scope = self.inline_scope(method, limit).inspect_err(|reason| {
            self.not_inlinable.insert((method, limit), reason);
        })?;
        if charged_bytes(method, scope.body.code.len()) > self.inline_budget_bytes {
            return Err("as much as may be is inlined already");
        }
        if self.inlining.len() > MAX_DEPTH {
            return Err("inlined bodies are nested too deep");
        }
        if self.inlining.iter().filter(|&&inlining| std::ptr::eq(inlining, method)).count() > MAX_RECURSION {
            return Err("recursive");
        }
        // Inlined, the callee's tail calls would keep this frame.
        if self.emit.s.prefixes.tail && scope.scan.has_tail {
            return Err("a tail call with tail calls of its own");
        }
        Ok(scope)
    }

    /// Whether the current CIL block ends in a `throw` soon (`MAX_LOOK_AHEAD`).
    fn is_about_to_throw(&self) -> bool {
        decode_at(self.emit.s.body.code, self.emit.s.next_offset)
            .map_while(Result::ok)
            .take(MAX_LOOK_AHEAD)
            .take_while(|next| !self.emit.s.scan.is_leader(next.offset))
            .find(|next| next.opcode.ends_flow())
            .is_some_and(|last| last.opcode == Opcode::Throw)
    }

    /// The callee's scope, if its body may be inlined and has at most `limit` bytes; else the reason why not.
    fn inline_scope(&self, method: &'static Method, limit: usize) -> Result<Box<Scope>, &'static str> {
        const FORBIDDEN: u16 = impl_flags::NO_INLINING | impl_flags::SYNCHRONIZED | impl_flags::INTERNAL_CALL;
        const NOT_LOADABLE: &str = "its types cannot be loaded yet";
        let unless = |is_refused: bool, reason: &'static str| if is_refused { Err(reason) } else { Ok(()) };
        unless(method.impl_flags & FORBIDDEN != 0, "it is NoInlining, synchronized or an internal call")?;
        unless(method.is_abstract() || method.is_pinvoke() || method.is_open(), "it has no body in CIL")?;
        let body = method.body().ok().flatten().ok_or("it has no body in CIL")?;
        unless(body.code.len() > limit, "its body is long")?;
        unless(!body.eh_clauses.is_empty(), "it has exception handlers")?;
        unless(self.emit.library_loop(method).is_some(), "a function of the machine replaces it")?;
        let sig = method.sig().map_err(|_| NOT_LOADABLE)?;
        unless(sig.is_vararg, "it has variable arguments")?;
        let scope = Scope::new(method, sig, body, self.emit.facts).map_err(|_| NOT_LOADABLE)?;
        let scan = &scope.scan;
        unless(scan.is_peculiar, "its frame is special")?;
        unless(scan.has_back_edge, "it has loops")?;
        unless(scan.has_throw && limit < AGGRESSIVE_BODY_BYTES, "it throws")?;
        unless(scan.ret_count == 0, "it does not return")?;
        unless(
            scope.local_sigs.iter().any(|l| l.pinned || l.ty.def().is_some_and(|d| d.name == "StackCrawlMark")),
            "it pins a variable or marks the stack",
        )?;
        unless(
            scan.callees.iter().any(|token| is_caller_sensitive(scope.image, *token)),
            "it calls what looks for its caller",
        )?;
        // Types that cannot be loaded fail when the call is made, not here.
        let is_loadable = |ty: saki_types::Ty| ir_type(ty).is_ok() && ty.value_size_bytes().is_ok();
        let are_loadable = ir_type(sig.ret).is_ok()
            && sig.params.iter().all(|p| is_loadable(p))
            && scope.local_sigs.iter().all(|l| is_loadable(l.ty));
        unless(!are_loadable, NOT_LOADABLE)?;
        Ok(scope)
    }

    fn inline_into(&mut self, method: &'static Method, mut scope: Box<Scope>, args: &[StackEntry]) -> LoadResult<()> {
        if scope.scan.has_side_effects {
            self.emit.spill(Effect::Memory)?;
        }
        if needs_check_at_entry(method) {
            self.emit.class_init(method.owner)?;
        }
        scope.is_inlined = true;
        scope.block_counts = self.emit.facts.0.block_counts(method);
        scope.is_in_loop = self.emit.s.is_in_loop || self.emit.s.scan.is_in_loop(self.emit.s.offset);
        let call_position = self.emit.b.il_offset;
        if self.emit.b.f.inline_sites.len() < position::MAX_SITES {
            self.emit.b.f.inline_sites.push(InlineSite { method, call_position });
            scope.inline_site = self.emit.b.f.inline_sites.len() as u32;
        }
        scope.base_region = self.emit.b.region();
        scope.first_own_local = self.emit.b.f.locals.len() as u32;
        for (index, entry) in args.iter().enumerate() {
            let var = self.emit.bind_argument(&scope, index, entry)?;
            scope.args.push(var);
        }
        for index in 0..scope.local_sigs.len() {
            let var = self.emit.bind_local(&scope, index)?;
            scope.locals.push(var);
        }
        scope.ret = if scope.scan.ret_count == 1 {
            Return::InlineOnce { end: None }
        } else {
            Return::InlineJoin { result: None, continuation: None }
        };
        self.inlining.push(method);
        let caller = std::mem::replace(&mut self.emit.s, scope);
        let is_cold = self.emit.b.is_cold;
        let outcome = self.import_from(0);
        self.emit.b.is_cold = is_cold;
        let callee = std::mem::replace(&mut self.emit.s, caller);
        self.inlining.pop();
        self.emit.b.il_offset = call_position;
        outcome?;
        self.emit.known.forget_block();
        match callee.ret {
            Return::InlineOnce { end: Some((block, entry)) } => {
                self.emit.b.current = Some(block);
                self.emit.push_result(entry);
            }
            Return::InlineJoin { result, continuation: Some(block) } => {
                self.emit.b.current = Some(block);
                if let Some(local) = result {
                    self.emit.push_joined(local, callee.sig.ret);
                }
            }
            // Every path through the callee throws.
            _ => self.emit.b.current = None,
        }
        Ok(())
    }
}

impl Emitter<'_> {
    fn bind_argument(&mut self, scope: &Scope, index: usize, entry: &StackEntry) -> LoadResult<Var> {
        let ty = scope.arg_type(index)?;
        let usage = scope.scan.args[index];
        let ir = ir_type(ty)?;
        let is_this = index == 0 && !scope.method.is_static() && ir == IrType::Ref && entry.is_non_null;
        let var = |binding| Var { binding, ty, is_this, is_exact: entry.is_exact && entry.ty == Some(ty) };
        if !usage.is_written && !usage.address_taken {
            return Ok(var(Binding::Operand(self.operand_entry(entry, ty, ir, scope.scan.has_side_effects)?)));
        }
        if let (IrType::Struct(_), Val::Temp(local)) = (ir, entry.val) {
            if usage.address_taken {
                self.b.expose(local);
            }
            return Ok(var(Binding::Local(local)));
        }
        let local = self.variable(ty, LocalKind::Normal, usage.address_taken)?;
        match ir {
            IrType::Struct(struct_ty) => {
                let dst = self.b.addr_of(local);
                self.copy_entry_to(dst, 0, entry, struct_ty, false)?;
            }
            _ => {
                let value = self.coerce(entry, ty)?;
                self.b.set(local, value);
            }
        }
        let is_this = is_this && !usage.is_written;
        Ok(Var { binding: Binding::Local(local), ty, is_this, is_exact: false })
    }

    /// The entry to which a read-only argument of the callee is bound.
    fn operand_entry(
        &mut self,
        entry: &StackEntry,
        ty: saki_types::Ty,
        ir: IrType,
        has_side_effects: bool,
    ) -> LoadResult<StackEntry> {
        if let IrType::Struct(struct_ty) = ir {
            let is_stable = match entry.val {
                Val::Temp(_) | Val::Handle(_) => true,
                Val::InLocal(local, _) => !has_side_effects || !self.b.is_exposed(local),
                Val::InMemory { .. } => !has_side_effects,
                Val::Scalar(_) | Val::DefaultComparer(_) => false,
            };
            let val = match entry.val {
                Val::Temp(local) => Val::InLocal(local, 0),
                val if is_stable => val,
                _ => Val::InLocal(self.own_struct(entry)?, 0),
            };
            return Ok(StackEntry::of_struct(val, struct_ty));
        }
        let value = if let IrType::Struct(_) = entry.ir {
            // `this` is passed as a value instead of an address.
            let local = self.own_struct(entry)?;
            self.b.addr_of(local)
        } else {
            self.coerce(entry, ty)?
        };
        let keeps_type = entry.is_exact || entry.ty.is_some_and(|t| entry.ir == IrType::Ref && is_exact_class(t));
        let mut operand = StackEntry { val: Val::Scalar(value), ir, ..*entry };
        if !keeps_type {
            operand.ty = Some(ty);
            operand.is_exact = ir == IrType::Ref && is_exact_class(ty);
        }
        Ok(operand)
    }

    fn bind_local(&mut self, scope: &Scope, index: usize) -> LoadResult<Var> {
        let sig = scope.local_sigs[index];
        let usage = scope.scan.locals[index];
        let local = self.variable(sig.ty, LocalKind::Normal, usage.address_taken)?;
        let is_used = usage.is_read || usage.address_taken;
        if is_used && !usage.set_first && (scope.body.init_locals || has_references(sig.ty)?) {
            match self.b.local_type(local) {
                IrType::Struct(ty) => {
                    let addr = self.b.addr_of(local);
                    self.b.effect(Op::InitStruct { addr, ty });
                }
                ir => {
                    let zero = self.zero_of(ir);
                    self.b.set(local, zero);
                }
            }
        }
        Ok(Var { binding: Binding::Local(local), ty: sig.ty, is_this: false, is_exact: false })
    }
}

/// Whether a callee finds its caller by walking the stack.
fn is_caller_sensitive(image: &'static Image, token: Token) -> bool {
    let name = |token: Token| -> Option<&'static str> {
        let index = match token.table() {
            TableId::MethodDef => image.meta.method_def(token.rid()).ok()?.name,
            TableId::MemberRef => image.meta.member_ref(token.rid()).ok()?.name,
            _ => return None,
        };
        image.meta.string(index).ok()
    };
    let token = match token.table() {
        TableId::MethodSpec => match image.meta.method_spec(token.rid()) {
            Ok(row) => row.method,
            Err(_) => return true,
        },
        _ => token,
    };
    name(token).is_some_and(|n| CALLER_SENSITIVE.contains(&n)) || names_stack_walker(image, token)
}

/// Whether a MemberRef's parent is a type that walks the stack.
fn names_stack_walker(image: &'static Image, token: Token) -> bool {
    if token.table() != TableId::MemberRef {
        return false;
    }
    let name = || -> Option<&'static str> {
        let class = image.meta.member_ref(token.rid()).ok()?.class;
        let name = match class.table() {
            TableId::TypeRef => image.meta.type_ref(class.rid()).ok()?.name,
            _ => return None,
        };
        image.meta.string(name).ok()
    };
    name().is_some_and(|n| STACK_WALKERS.contains(&n))
}
