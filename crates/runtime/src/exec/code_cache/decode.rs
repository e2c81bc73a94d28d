//! The reverse of `encode`: finds the modules, types and members that a cached body names, and rebuilds its tables.
//!
//! Invariant: for any words the result is either a body all of whose names resolved or an error, after which the method is
//! compiled. The checksum, not this module, ensures that the words are those that `encode` wrote.

use super::Conditions;
use super::encode::{
    CODE_KINDS, CORLIB, LOADED, UNKNOWN_SPILL_AREA, clause_tag, kind_use_and_tag, method_tag, target_tag, type_tag,
};
use super::module::{Module, loaded, module_of};
use saki_abi::{
    EnclosingHandler, FrameMap, HelperId, IlMapEntry, InlineSite, ProtectedCall, Reloc, SpillArea, StubId, TrapSite,
};
use saki_code::CodeKind;
use saki_il::ir::{ClauseKind, Symbol};
use saki_jit::{CompiledBy, CompiledCode, CompiledTables, LibCall, RelocTarget};
use saki_types::signature::MAX_ARRAY_RANK;
use saki_types::stand_ins::require_loadable;
use saki_types::{Field, Image, Method, RemotingStub, Ty, universe};

struct Words<'a> {
    bytes: &'a [u8],
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<u32> {
        let (word, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(u32::from_le_bytes(*word))
    }

    fn take<const N: usize>(&mut self) -> Option<[u32; N]> {
        let mut words = [0; N];
        for word in &mut words {
            *word = self.next()?;
        }
        Some(words)
    }

    fn count(&mut self) -> Option<usize> {
        let count = self.next()? as usize;
        // Each counted item takes at least a byte, so a larger count is wrong; it must not cause a large allocation.
        (count <= self.bytes.len()).then_some(count)
    }

    fn table<T, const N: usize>(&mut self, count: usize, make: impl Fn([u32; N]) -> Option<T>) -> Option<Vec<T>> {
        let mut table = Vec::with_capacity(count);
        for _ in 0..count {
            table.push(make(self.take()?)?);
        }
        Some(table)
    }

    fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let padded = self.bytes.get(..len.next_multiple_of(4))?;
        self.bytes = &self.bytes[padded.len()..];
        Some(&padded[..len])
    }
}

struct Names {
    /// The method whose arguments are in place of stand-ins.
    method: Option<&'static Method>,
    images: Vec<&'static Image>,
    types: Vec<Ty>,
    methods: Vec<&'static Method>,
    fields: Vec<&'static Field>,
}

/// Why a body is not usable now.
pub(super) enum Refused {
    /// An entity that the body names is missing, or is not the one that the body was compiled for.
    Stale,
    /// One of these conditions of the body does not hold.
    Conditions(Conditions),
}

/// The body in `bytes`, from the file of `home`. `method`: for which of the methods that share the body.
pub(super) fn decode(
    home: &Module,
    bytes: &[u8],
    method: Option<&'static Method>,
) -> Result<(CompiledCode, CodeKind), Refused> {
    let mut words = Words { bytes };
    let header = words.take::<8>().ok_or(Refused::Stale)?;
    let [kind, modules, bindings, types, methods, fields, initialised, constants] = header.map(|word| word as usize);
    let names = names(home, method, &mut words, [modules, bindings, types, methods, fields]).ok_or(Refused::Stale)?;
    let conditions = conditions(&names, &mut words, initialised, constants).ok_or(Refused::Stale)?;
    if !conditions.hold() {
        return Err(Refused::Conditions(conditions));
    }
    let code = body_with_filters(&names, &mut words).ok_or(Refused::Stale)?;
    Ok((code, *CODE_KINDS.get(kind).ok_or(Refused::Stale)?))
}

fn conditions(names: &Names, words: &mut Words, initialised: usize, constants: usize) -> Option<Conditions> {
    let mut conditions = Conditions::default();
    for _ in 0..initialised {
        conditions.initialised.push(*names.types.get(words.next()? as usize)?);
    }
    for _ in 0..constants {
        let [field, low, high] = words.take()?;
        let field = *names.fields.get(field as usize)?;
        conditions.constants.push((field, u64::from(low) | u64::from(high) << 32));
    }
    Some(conditions)
}

fn body_with_filters(names: &Names, words: &mut Words) -> Option<CompiledCode> {
    let (mut code, filter_count) = body(names, words)?;
    for _ in 0..filter_count {
        code.filters.push(body(names, words)?.0);
    }
    Some(code)
}

fn names(home: &Module, method: Option<&'static Method>, words: &mut Words, counts: [usize; 5]) -> Option<Names> {
    if counts.iter().any(|&count| count > words.bytes.len()) {
        return None;
    }
    let [modules, bindings, types, methods, fields] = counts;
    let mut names = Names {
        method,
        images: Vec::with_capacity(modules + 1),
        types: Vec::with_capacity(types),
        methods: Vec::with_capacity(methods),
        fields: Vec::with_capacity(fields),
    };
    names.images.extend(home.image);
    for _ in 0..modules {
        let [parent, row, a, b, c, d] = words.take()?;
        let id = [u64::from(a) | u64::from(b) << 32, u64::from(c) | u64::from(d) << 32];
        let image = match parent {
            CORLIB => universe().corlib(),
            LOADED => loaded(id)?,
            parent => names.images.get(parent as usize)?.assembly_ref(row).ok()?.image,
        };
        if module_of(image)?.id != id {
            return None;
        }
        names.images.push(image);
    }
    for _ in 0..bindings {
        let [from, row, to] = words.take()?;
        let bound = names.images.get(from as usize)?.assembly_ref(row).ok()?.image;
        if bound != *names.images.get(to as usize)? {
            return None;
        }
    }
    for _ in 0..types {
        let ty = names.ty(words)?;
        if method.is_some() {
            require_loadable(ty).ok()?;
        }
        names.types.push(ty);
    }
    for _ in 0..methods {
        let method = names.method(words)?;
        names.methods.push(method);
    }
    for _ in 0..fields {
        let [owner, row] = words.take()?;
        let field = names.types.get(owner as usize)?.field_by_rid(row).ok()?;
        names.fields.push(field);
    }
    Some(names)
}

impl Names {
    fn ty(&self, words: &mut Words) -> Option<Ty> {
        let known = |number: u32| self.types.get(number as usize).copied();
        // Nothing is made of byrefs (ECMA-335 §II.14.4.2).
        let element = |number: u32| known(number).filter(|ty| !ty.is_byref());
        Some(match words.next()? {
            type_tag::DEF => {
                let [image, row] = words.take()?;
                self.images.get(image as usize)?.type_def(row).ok()?
            }
            type_tag::INST => {
                let definition = known(words.next()?)?;
                let args = self.types_of(words)?;
                universe().instantiate(definition, &args).ok()?
            }
            type_tag::SZ_ARRAY => universe().sz_array_of(element(words.next()?)?),
            type_tag::ARRAY => {
                let [number, rank] = words.take()?;
                universe().array_of(element(number)?, Some(rank).filter(|rank| (1..=MAX_ARRAY_RANK).contains(rank))?)
            }
            type_tag::PTR => universe().pointer_to(element(words.next()?)?),
            type_tag::BY_REF => universe().byref_to(element(words.next()?)?),
            type_tag::CLASS_ARGUMENT => self.argument(|method| method.owner.args, words.next()?)?,
            type_tag::METHOD_ARGUMENT => self.argument(|method| method.generic_args(), words.next()?)?,
            _ => return None,
        })
    }

    fn argument(&self, of: impl Fn(&'static Method) -> &'static [Ty], index: u32) -> Option<Ty> {
        of(self.method?).get(index as usize).copied().filter(|arg| arg.is_reference_type())
    }

    /// A counted list of type numbers.
    fn types_of(&self, words: &mut Words) -> Option<Vec<Ty>> {
        let count = words.count()?;
        (0..count).map(|_| self.types.get(words.next()? as usize).copied()).collect()
    }

    fn method(&self, words: &mut Words) -> Option<&'static Method> {
        let [owner, kind] = words.take()?;
        let owner = *self.types.get(owner as usize)?;
        let args = self.types_of(words)?;
        let method = match kind & 0xff {
            method_tag::DEF => owner.method_by_rid(kind >> 8).ok()?,
            method_tag::ARRAY => owner.methods().ok()?.nth((kind >> 8) as usize)?,
            other => return self.remoting(owner, other, kind >> 8),
        };
        if args.is_empty() { Some(method) } else { universe().instantiate_method(method, &args).ok() }
    }

    fn remoting(&self, owner: Ty, tag: u32, operand: u32) -> Option<&'static Method> {
        let method = || self.methods.get(operand as usize).copied();
        let field = || owner.field_by_rid(operand).ok();
        let stub = match tag {
            method_tag::REMOTING_INVOKE => RemotingStub::Invoke(method()?),
            method_tag::REMOTING_CALL => RemotingStub::Call(method()?),
            method_tag::REMOTING_GET => RemotingStub::GetField(field()?),
            method_tag::REMOTING_SET => RemotingStub::SetField(field()?),
            method_tag::REMOTING_ADDRESS => RemotingStub::FieldAddress(field()?),
            _ => return None,
        };
        Some(stub.method())
    }

    fn target(&self, tag: u32, first: u32, second: u32) -> Option<RelocTarget> {
        use target_tag as tag_of;
        let ty = || self.types.get(first as usize).copied();
        let method = || self.methods.get(first as usize).copied();
        let field = || self.fields.get(first as usize).copied();
        let image = || self.images.get(first as usize).copied();
        let helper = || HelperId::ALL.get(first as usize).copied();
        Some(RelocTarget::Symbol(match tag {
            tag_of::TYPE_HANDLE => Symbol::TypeHandle(ty()?),
            tag_of::METHOD_HANDLE => Symbol::MethodHandle(method()?),
            tag_of::FIELD_HANDLE => Symbol::FieldHandle(field()?),
            tag_of::VTABLE => Symbol::VTable(ty()?),
            tag_of::METHOD_ENTRY => Symbol::MethodEntry(method()?),
            tag_of::UNBOX_ENTRY => Symbol::UnboxEntry(method()?),
            tag_of::STATIC_FIELD => Symbol::StaticField(field()?),
            tag_of::THREAD_STATIC_PLACE => Symbol::ThreadStaticPlace(field()?),
            tag_of::CLASS_INIT_FLAG => Symbol::ClassInitFlag(ty()?),
            tag_of::STRING_LITERAL => Symbol::StringLiteral(image()?, second),
            tag_of::TYPE_OBJECT => Symbol::TypeObject(ty()?),
            tag_of::HELPER => Symbol::Helper(helper()?),
            tag_of::INTERNAL_CALL => Symbol::InternalCall(method()?),
            tag_of::NATIVE_CELL => Symbol::NativeCell(method()?),
            tag_of::NATIVE_ENTRY => Symbol::NativeEntry(method()?),
            tag_of::MARSHAL_INFO => Symbol::MarshalInfo(method()?, second),
            tag_of::VAR_ARG_COOKIE => Symbol::VarArgCookie(image()?, second),
            tag_of::NOTED => Symbol::Noted(method()?, second),
            tag_of::OVERRIDES => Symbol::Overrides(method()?),
            tag_of::BLOCK_COUNTS => Symbol::BlockCounts(method()?, second),
            tag_of::STUB => return StubId::ALL.get(first as usize).map(|stub| RelocTarget::Stub(*stub)),
            tag_of::HELPER_FUNCTION => return Some(RelocTarget::HelperFunction(helper()?)),
            tag_of::CALLBACK_DISPATCHER => return Some(RelocTarget::CallbackDispatcher),
            tag_of::CALLBACK_COOKIE => return Some(RelocTarget::CallbackCookie),
            tag_of::MEMCPY => return Some(RelocTarget::LibCall(LibCall::Memcpy)),
            _ => return None,
        }))
    }
}

/// One body, and the number of filters' bodies that follow.
fn body(names: &Names, words: &mut Words) -> Option<(CompiledCode, usize)> {
    let [alignment_bytes, frame_size_bytes] = words.take()?;
    let mut counts = [0; 10];
    for count in &mut counts {
        *count = words.count()?;
    }
    let own_words = words.count()?;
    let [is_counted, makes_pointers] = words.take()?;
    let (slots, continued) = (words.count()?, words.count()?);
    let [low_bytes, high_bytes, saved_registers] = words.take()?;
    let spill_area = SpillArea { low_bytes, high_bytes, saved_registers: u16::try_from(saved_registers).ok()? };
    let [relocs, protected_calls, handlers, clauses, traps, il_map, inline_sites, filters, name_len, code_len] = counts;
    let relocs = words.table(relocs, |[offset, word, first, second, addend]| {
        let (kind, usage, tag) = kind_use_and_tag(word)?;
        Some(Reloc { offset, kind, usage, target: names.target(tag, first, second)?, addend: i64::from(addend as i32) })
    })?;
    let protected_call = |[return_offset, frame_offset_bytes, first_handler, handler_count]: [u32; 4]| {
        Some(ProtectedCall { return_offset, frame_offset_bytes, first_handler, handler_count })
    };
    let protected_calls = words.table(protected_calls, protected_call)?.into();
    let handler = |[clause_index, landing_offset]: [u32; 2]| Some(EnclosingHandler { clause_index, landing_offset });
    let handlers = words.table(handlers, handler)?.into();
    let clauses = words.table(clauses, |[tag, operand]| {
        Some(match tag {
            clause_tag::CATCH => ClauseKind::Catch(*names.types.get(operand as usize)?),
            clause_tag::FILTER if (operand as usize) < filters => ClauseKind::Filter(operand),
            clause_tag::FINALLY => ClauseKind::Finally,
            clause_tag::FAULT => ClauseKind::Fault,
            _ => return None,
        })
    })?;
    let traps = words.table(traps, |[offset, code]| Some(TrapSite { offset, code: code as u8 }))?;
    let il_map = words.table(il_map, |[native_offset, il_offset]| Some(IlMapEntry { native_offset, il_offset }))?;
    let inline_sites = words.table(inline_sites, |[method, call_position]| {
        Some(InlineSite { method: *names.methods.get(method as usize)?, call_position })
    })?;
    let own_words = words.table(own_words, |[low, high]| Some(u64::from(low) | u64::from(high) << 32))?;
    let slots = words.table(slots, |[slot]| Some(slot.cast_signed()))?;
    let continued = words.table(continued, |[offset]| Some(offset))?;
    let frame_map = (!continued.is_empty()).then(|| FrameMap {
        slots: slots.into(),
        makes_pointers: makes_pointers != 0,
        continued: continued.into(),
    });
    let name = std::str::from_utf8(words.bytes(name_len)?).ok()?.to_owned();
    let bytes = words.bytes(code_len)?.to_vec();
    if bytes.is_empty() || !alignment_bytes.is_power_of_two() {
        return None;
    }
    let tables = CompiledTables {
        frame_size_bytes,
        spill_area: Some(spill_area).filter(|area| *area != UNKNOWN_SPILL_AREA),
        own_words: own_words.into(),
        protected_calls,
        handlers,
        clauses: clauses.into(),
        il_map: il_map.into(),
        inline_sites: inline_sites.into(),
        traps: traps.into(),
        frame_map: frame_map.map(Box::new),
    };
    let code = CompiledCode {
        name: name.into(),
        bytes,
        alignment_bytes,
        relocs,
        tables,
        filters: Vec::new(),
        compiled_by: CompiledBy::EarlierRun,
        is_counted: is_counted != 0,
        is_continuation: false,
    };
    Some((code, filters))
}

#[cfg(test)]
mod tests;
