//! Compiled code in a form that holds in other processes: 32-bit words, then the bytes of names and code.
//!
//! ```text
//! counts: kind, modules, bindings, types, methods, fields, conditions
//! modules: parent module (or CORLIB, LOADED), its AssemblyRef row, identity (4 words)     module 0 is the file's own
//! bindings: further references between those: module, its AssemblyRef row, the module that it leads to
//! types: tag, then the parts of the type; arguments are numbers of earlier types
//! methods: owner type, kind and row, number of type arguments, their types
//! fields: owner type, row
//! conditions: types whose class constructor must have finished
//! body, then as many bodies of filters as it says: counts and tables, then name and code, padded to words
//! ```
//! The list of modules has every module on which the body depends, also those that no entry names. The bindings list every reference among them that had
//! been followed when the body was compiled, because two modules that were bound to one library may be bound to two libraries later. Left out: methods for
//! which `key` has no name, and bodies that hold load errors.

use super::Conditions;
use super::module::{Module, module_of};
use rustc_hash::FxHashMap;
use saki_abi::{AddressUse, Reloc, RelocKind, SpillArea};
use saki_code::CodeKind;
use saki_il::ir::{ClauseKind, Symbol};
use saki_jit::{CompiledCode, LibCall, RelocTarget};
use saki_types::{Assumption, Field, Image, Method, MethodKind, RemotingStub, Ty, TypeKind};

/// Parent of corlib among the modules.
pub(super) const CORLIB: u32 = u32::MAX;
/// Parent of modules to which no reference leads from the file's own module: they are identified by their contents alone, and
/// must have been loaded.
pub(super) const LOADED: u32 = u32::MAX - 1;

/// Type tags.
pub(super) mod type_tag {
    pub const DEF: u32 = 1;
    pub const INST: u32 = 2;
    pub const SZ_ARRAY: u32 = 3;
    pub const ARRAY: u32 = 4;
    pub const PTR: u32 = 5;
    pub const BY_REF: u32 = 6;
    /// What the method that the body is decoded for has in place of a stand-in: the number of an argument of its type,
    /// or of its own.
    pub const CLASS_ARGUMENT: u32 = 7;
    pub const METHOD_ARGUMENT: u32 = 8;
}

/// Method kinds, in the low byte of the word.
pub(super) mod method_tag {
    /// The row is in the high bits.
    pub const DEF: u32 = 1;
    /// The index among the array type's methods is in the high bits.
    pub const ARRAY: u32 = 2;
    /// Stubs for methods: the method's number is in the high bits.
    pub const REMOTING_INVOKE: u32 = 3;
    pub const REMOTING_CALL: u32 = 4;
    /// Stubs for fields: the row is in the high bits.
    pub const REMOTING_GET: u32 = 5;
    pub const REMOTING_SET: u32 = 6;
    pub const REMOTING_ADDRESS: u32 = 7;
}

/// Targets of relocations.
pub(super) mod target_tag {
    pub const TYPE_HANDLE: u32 = 0;
    pub const METHOD_HANDLE: u32 = 1;
    pub const FIELD_HANDLE: u32 = 2;
    pub const VTABLE: u32 = 3;
    pub const METHOD_ENTRY: u32 = 4;
    pub const UNBOX_ENTRY: u32 = 5;
    pub const STATIC_FIELD: u32 = 6;
    pub const CLASS_INIT_FLAG: u32 = 7;
    pub const STRING_LITERAL: u32 = 8;
    pub const TYPE_OBJECT: u32 = 9;
    pub const HELPER: u32 = 10;
    pub const INTERNAL_CALL: u32 = 11;
    pub const NATIVE_CELL: u32 = 12;
    pub const MARSHAL_INFO: u32 = 13;
    pub const VAR_ARG_COOKIE: u32 = 14;
    pub const STUB: u32 = 15;
    pub const HELPER_FUNCTION: u32 = 16;
    pub const MEMCPY: u32 = 17;
    pub const CALLBACK_DISPATCHER: u32 = 18;
    pub const CALLBACK_COOKIE: u32 = 19;
    pub const THREAD_STATIC_PLACE: u32 = 20;
    /// The C function of a method with UnmanagedCallersOnlyAttribute.
    pub const NATIVE_ENTRY: u32 = 21;
    /// The cell of an instruction, by its IL offset.
    pub const NOTED: u32 = 22;
    /// The byte that tells whether a method is overridden.
    pub const OVERRIDES: u32 = 23;
    /// The counters of a method's blocks, and how many there are.
    pub const BLOCK_COUNTS: u32 = 24;
}

pub(super) const CODE_KINDS: [CodeKind; 6] = [
    CodeKind::Method,
    CodeKind::Filter,
    CodeKind::HelperThunk,
    CodeKind::NativeThunk,
    CodeKind::EntryThunk,
    CodeKind::Stub,
];

/// A relocation's first word: kind, use and tag of the target, a byte each.
pub(super) fn reloc_word(reloc: &Reloc<RelocTarget>, tag: u32) -> Option<u32> {
    let kind = RelocKind::ALL.iter().position(|&kind| kind == reloc.kind)? as u32;
    let usage = AddressUse::ALL.iter().position(|&usage| usage == reloc.usage)? as u32;
    Some(kind | usage << 8 | tag << 16)
}

/// The reverse of [`reloc_word`].
pub(super) fn kind_use_and_tag(word: u32) -> Option<(RelocKind, AddressUse, u32)> {
    let kind = *RelocKind::ALL.get((word & 0xff) as usize)?;
    Some((kind, *AddressUse::ALL.get((word >> 8 & 0xff) as usize)?, word >> 16))
}

/// Stands for `BodyTables::spill_area` being unknown.
pub(super) const UNKNOWN_SPILL_AREA: SpillArea = SpillArea { low_bytes: 0, high_bytes: 0, saved_registers: u16::MAX };

/// Clause kinds; the second word is the type or the filter.
pub(super) mod clause_tag {
    pub const CATCH: u32 = 0;
    pub const FILTER: u32 = 1;
    pub const FINALLY: u32 = 2;
    pub const FAULT: u32 = 3;
}

/// A growing table of entries that refer to each other by number.
struct Table {
    numbers: FxHashMap<usize, u32>,
    words: Vec<u32>,
}

impl Table {
    fn new() -> Table {
        Table { numbers: FxHashMap::default(), words: Vec::new() }
    }

    fn add(&mut self, address: usize, words: &[u32]) -> u32 {
        let number = self.numbers.len() as u32;
        self.numbers.insert(address, number);
        self.words.extend(words);
        number
    }
}

struct Encoder {
    /// Images that may be named, by number.
    images: FxHashMap<usize, u32>,
    types: Table,
    methods: Table,
    fields: Table,
    body: Vec<u32>,
    /// Whether the code has a name of its own (`CodeInfo::name`).
    has_names: bool,
}

/// Encodes a body for the file of `home`. `images`: the modules that it depends on, first those that are always loaded
/// when the body is looked up. None when a name in it cannot be encoded.
pub(super) fn encode(
    home: &Module,
    code: &CompiledCode,
    kind: CodeKind,
    images: &[&'static Image],
    conditions: &Conditions,
) -> Option<Vec<u8>> {
    let modules = list_modules(home, images)?;
    let mut encoder = Encoder {
        images: modules.iter().enumerate().map(|(n, m)| (std::ptr::from_ref(m.image).addr(), n as u32)).collect(),
        types: Table::new(),
        methods: Table::new(),
        fields: Table::new(),
        body: Vec::new(),
        has_names: !kind.is_shown_as_method(),
    };
    let mut condition_words: Vec<u32> = Vec::new();
    for ty in &conditions.initialised {
        condition_words.push(encoder.ty(ty)?);
    }
    for &(field, bits) in &conditions.constants {
        condition_words.extend([encoder.field(field)?, bits as u32, (bits >> 32) as u32]);
    }
    encoder.code(code)?;
    code.filters.iter().try_for_each(|filter| encoder.code(filter))?;
    let others = modules.get(1..).unwrap_or(&[]);
    let bindings = list_bindings(&modules);
    let count = |table: &Table| table.numbers.len() as u32;
    let kind = CODE_KINDS.iter().position(|&k| k == kind)? as u32;
    let mut words =
        vec![kind, others.len() as u32, bindings.len() as u32, count(&encoder.types), count(&encoder.methods)];
    words.extend([count(&encoder.fields), conditions.initialised.len() as u32, conditions.constants.len() as u32]);
    for module in others {
        words.extend([module.parent, module.row]);
        words.extend(module_of(module.image)?.id.iter().flat_map(|half| [*half as u32, (half >> 32) as u32]));
    }
    words.extend(bindings.as_flattened());
    for part in [&encoder.types.words, &encoder.methods.words, &encoder.fields.words, &condition_words, &encoder.body] {
        words.extend(part);
    }
    Some(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// A module that a body depends on, and the module and AssemblyRef row that lead to it.
#[derive(Clone, Copy)]
struct Listed {
    image: &'static Image,
    parent: u32,
    row: u32,
}

/// The modules that a body depends on, with those that lead to them; the file's own first.
fn list_modules(home: &Module, wanted: &[&'static Image]) -> Option<Vec<Listed>> {
    let Some(own) = home.image else { return wanted.is_empty().then(Vec::new) };
    // All modules that references lead to, nearest first.
    let mut reached = vec![Listed { image: own, parent: 0, row: 0 }];
    let corlib = saki_types::universe().corlib();
    if own != corlib {
        reached.push(Listed { image: corlib, parent: CORLIB, row: 0 });
    }
    let is_reached = |reached: &[Listed], image: &Image| reached.iter().any(|listed| listed.image == image);
    let mut next = 0;
    while let Some(&missing) = wanted.iter().find(|image| !is_reached(&reached, image)) {
        let Some(from) = reached.get(next).map(|listed| listed.image) else {
            // An instantiation over types of modules without references to each other, or of a module that was loaded by name.
            if !missing.is_manifest_of_file() {
                return None;
            }
            reached.push(Listed { image: missing, parent: LOADED, row: 0 });
            continue;
        };
        for (row, image) in from.references_followed() {
            if !is_reached(&reached, image) && image.is_manifest_of_file() {
                reached.push(Listed { image, parent: next as u32, row });
            }
        }
        next += 1;
    }
    // Keep the wanted ones and their parents.
    let mut is_kept = vec![false; reached.len()];
    is_kept[0] = true;
    for image in wanted {
        let mut at = reached.iter().position(|listed| listed.image == *image)?;
        while !std::mem::replace(&mut is_kept[at], true) && !matches!(reached[at].parent, CORLIB | LOADED) {
            at = reached[at].parent as usize;
        }
    }
    let mut numbers = vec![0; reached.len()];
    let mut kept: Vec<Listed> = Vec::new();
    for (at, listed) in reached.iter().enumerate().filter(|(at, _)| is_kept[*at]) {
        numbers[at] = kept.len() as u32;
        let parent = match listed.parent {
            root @ (CORLIB | LOADED) => root,
            parent => numbers[parent as usize],
        };
        kept.push(Listed { parent, ..*listed });
    }
    Some(kept)
}

/// The references among these modules that have been followed, except those by which the modules are found and those to corlib,
/// which exists once.
fn list_bindings(modules: &[Listed]) -> Vec<[u32; 3]> {
    let mut bindings = Vec::new();
    for (from, listed) in modules.iter().enumerate() {
        for (row, image) in listed.image.references_followed().filter(|(_, image)| !image.is_corlib) {
            let Some(to) = modules.iter().position(|listed| listed.image == image) else { continue };
            if (modules[to].parent, modules[to].row) != (from as u32, row) {
                bindings.push([from as u32, row, to as u32]);
            }
        }
    }
    bindings
}

impl Encoder {
    fn image(&self, image: &'static Image) -> Option<u32> {
        self.images.get(&std::ptr::from_ref(image).addr()).copied()
    }

    fn ty(&mut self, ty: Ty) -> Option<u32> {
        let address = std::ptr::from_ref(ty).addr();
        if let Some(&known) = self.types.numbers.get(&address) {
            return Some(known);
        }
        let words = match &ty.kind {
            TypeKind::Def(def) => vec![type_tag::DEF, self.image(def.image)?, def.rid],
            TypeKind::Inst { definition } => {
                let mut words = vec![type_tag::INST, self.ty(definition)?, ty.args.len() as u32];
                for arg in ty.args {
                    words.push(self.ty(arg)?);
                }
                words
            }
            TypeKind::SzArray(element) => vec![type_tag::SZ_ARRAY, self.ty(element)?],
            TypeKind::Array { element, rank } => vec![type_tag::ARRAY, self.ty(element)?, *rank],
            TypeKind::Ptr(element) => vec![type_tag::PTR, self.ty(element)?],
            TypeKind::ByRef(element) => vec![type_tag::BY_REF, self.ty(element)?],
            TypeKind::Var(param) if !ty.is_open => vec![type_tag::CLASS_ARGUMENT, param.index],
            TypeKind::MVar(param) if !ty.is_open => vec![type_tag::METHOD_ARGUMENT, param.index],
            TypeKind::FnPtr(_) | TypeKind::Var(_) | TypeKind::MVar(_) => return None,
        };
        Some(self.types.add(address, &words))
    }

    fn method(&mut self, method: &'static Method) -> Option<u32> {
        let address = std::ptr::from_ref(method).addr();
        if let Some(&known) = self.methods.numbers.get(&address) {
            return Some(known);
        }
        let kind = match method.kind {
            MethodKind::Def { rid, .. } => method_tag::DEF | rid << 8,
            MethodKind::Array(_) => {
                let index = method.owner.methods().ok()?.position(|m| std::ptr::eq(m, method))?;
                method_tag::ARRAY | (index as u32) << 8
            }
            MethodKind::Remoting(stub) => {
                let words = [self.ty(method.owner)?, self.remoting(stub)?, 0];
                return Some(self.methods.add(address, &words));
            }
            MethodKind::Dynamic(_) | MethodKind::NativeCall(_) => return None,
        };
        let mut words = vec![self.ty(method.owner)?, kind, method.generic_args().len() as u32];
        for arg in method.generic_args() {
            // The definition itself, over its own parameters, has no code that can run.
            words.push(self.ty(arg)?);
        }
        Some(self.methods.add(address, &words))
    }

    fn remoting(&mut self, stub: RemotingStub) -> Option<u32> {
        Some(match stub {
            RemotingStub::Invoke(target) => method_tag::REMOTING_INVOKE | self.method(target)? << 8,
            RemotingStub::Call(target) => method_tag::REMOTING_CALL | self.method(target)? << 8,
            RemotingStub::GetField(field) => method_tag::REMOTING_GET | field.rid << 8,
            RemotingStub::SetField(field) => method_tag::REMOTING_SET | field.rid << 8,
            RemotingStub::FieldAddress(field) => method_tag::REMOTING_ADDRESS | field.rid << 8,
        })
    }

    fn field(&mut self, field: &'static Field) -> Option<u32> {
        let address = std::ptr::from_ref(field).addr();
        if let Some(&known) = self.fields.numbers.get(&address) {
            return Some(known);
        }
        let words = [self.ty(field.owner)?, field.rid];
        Some(self.fields.add(address, &words))
    }

    /// Tag and two words.
    fn target(&mut self, target: RelocTarget) -> Option<[u32; 3]> {
        use target_tag as tag;
        Some(match target {
            RelocTarget::Symbol(symbol) => match symbol {
                Symbol::TypeHandle(ty) => [tag::TYPE_HANDLE, self.ty(ty)?, 0],
                Symbol::MethodHandle(method) => [tag::METHOD_HANDLE, self.method(method)?, 0],
                Symbol::FieldHandle(field) => [tag::FIELD_HANDLE, self.field(field)?, 0],
                Symbol::VTable(ty) => [tag::VTABLE, self.ty(ty)?, 0],
                Symbol::MethodEntry(method) => [tag::METHOD_ENTRY, self.method(method)?, 0],
                Symbol::UnboxEntry(method) => [tag::UNBOX_ENTRY, self.method(method)?, 0],
                Symbol::StaticField(field) => [tag::STATIC_FIELD, self.field(field)?, 0],
                Symbol::ThreadStaticPlace(field) => [tag::THREAD_STATIC_PLACE, self.field(field)?, 0],
                Symbol::ClassInitFlag(ty) => [tag::CLASS_INIT_FLAG, self.ty(ty)?, 0],
                Symbol::StringLiteral(image, token) => [tag::STRING_LITERAL, self.image(image)?, token],
                Symbol::TypeObject(ty) => [tag::TYPE_OBJECT, self.ty(ty)?, 0],
                Symbol::Helper(helper) => [tag::HELPER, helper as u32, 0],
                Symbol::InternalCall(method) => [tag::INTERNAL_CALL, self.method(method)?, 0],
                Symbol::NativeCell(method) => [tag::NATIVE_CELL, self.method(method)?, 0],
                Symbol::NativeEntry(method) => [tag::NATIVE_ENTRY, self.method(method)?, 0],
                Symbol::MarshalInfo(method, index) => [tag::MARSHAL_INFO, self.method(method)?, index],
                Symbol::VarArgCookie(image, token) => [tag::VAR_ARG_COOKIE, self.image(image)?, token],
                Symbol::Noted(method, il_offset) => [tag::NOTED, self.method(method)?, il_offset],
                Symbol::Overrides(method) => [tag::OVERRIDES, self.method(method)?, 0],
                Symbol::BlockCounts(method, count) => [tag::BLOCK_COUNTS, self.method(method)?, count],
            },
            RelocTarget::Stub(stub) => [tag::STUB, stub as u32, 0],
            RelocTarget::HelperFunction(helper) => [tag::HELPER_FUNCTION, helper as u32, 0],
            RelocTarget::LibCall(LibCall::Memcpy) => [tag::MEMCPY, 0, 0],
            RelocTarget::CallbackDispatcher => [tag::CALLBACK_DISPATCHER, 0, 0],
            RelocTarget::CallbackCookie => [tag::CALLBACK_COOKIE, 0, 0],
        })
    }

    fn code(&mut self, code: &CompiledCode) -> Option<()> {
        let tables = &code.tables;
        let name = if self.has_names { code.name.as_bytes() } else { &[] };
        let counts = [
            code.alignment_bytes as usize,
            tables.frame_size_bytes as usize,
            code.relocs.len(),
            tables.protected_calls.len(),
            tables.handlers.len(),
            tables.clauses.len(),
            tables.traps.len(),
            tables.il_map.len(),
            tables.inline_sites.len(),
            code.filters.len(),
            name.len(),
            code.bytes.len(),
            tables.own_words.len(),
            usize::from(code.is_counted),
            usize::from(tables.frame_map.as_ref().is_some_and(|map| map.makes_pointers)),
            tables.frame_map.as_ref().map_or(0, |map| map.slots.len()),
            tables.frame_map.as_ref().map_or(0, |map| map.continued.len()),
        ];
        for count in counts {
            self.body.push(u32::try_from(count).ok()?);
        }
        // An unknown area is encoded as an empty one with registers that no area saves.
        let area = tables.spill_area.unwrap_or(UNKNOWN_SPILL_AREA);
        self.body.extend([area.low_bytes, area.high_bytes, u32::from(area.saved_registers)]);
        for reloc in &code.relocs {
            let [tag, first, second] = self.target(reloc.target)?;
            let addend = i32::try_from(reloc.addend).ok()? as u32;
            self.body.extend([reloc.offset, reloc_word(reloc, tag)?, first, second, addend]);
        }
        for call in &tables.protected_calls {
            self.body.extend([call.return_offset, call.frame_offset_bytes, call.first_handler, call.handler_count]);
        }
        for handler in &tables.handlers {
            self.body.extend([handler.clause_index, handler.landing_offset]);
        }
        for clause in &tables.clauses {
            let words = match *clause {
                ClauseKind::Catch(ty) => [clause_tag::CATCH, self.ty(ty)?],
                ClauseKind::Filter(index) => [clause_tag::FILTER, index],
                ClauseKind::Finally => [clause_tag::FINALLY, 0],
                ClauseKind::Fault => [clause_tag::FAULT, 0],
            };
            self.body.extend(words);
        }
        for trap in &tables.traps {
            self.body.extend([trap.offset, u32::from(trap.code)]);
        }
        for entry in &tables.il_map {
            self.body.extend([entry.native_offset, entry.il_offset]);
        }
        for site in &tables.inline_sites {
            let method = self.method(site.method)?;
            self.body.extend([method, site.call_position]);
        }
        for words in &tables.own_words {
            self.body.extend([*words as u32, (words >> 32) as u32]);
        }
        for map in tables.frame_map.iter() {
            self.body.extend(map.slots.iter().map(|slot| slot.cast_unsigned()));
            self.body.extend(&map.continued);
        }
        for bytes in [name, &code.bytes] {
            for word in bytes.chunks(4) {
                let mut padded = [0; 4];
                padded[..word.len()].copy_from_slice(word);
                self.body.push(u32::from_le_bytes(padded));
            }
        }
        Some(())
    }
}

/// Adds the entities that a body names to the list of its dependencies.
pub(super) fn add_named(code: &CompiledCode, named: &mut Vec<Assumption>, images: &mut Vec<&'static Image>) {
    for reloc in &code.relocs {
        let RelocTarget::Symbol(symbol) = reloc.target else { continue };
        match symbol {
            Symbol::TypeHandle(ty) | Symbol::VTable(ty) | Symbol::ClassInitFlag(ty) | Symbol::TypeObject(ty) => {
                named.push(Assumption::Type(ty));
            }
            Symbol::MethodHandle(method)
            | Symbol::MethodEntry(method)
            | Symbol::UnboxEntry(method)
            | Symbol::InternalCall(method)
            | Symbol::NativeCell(method)
            | Symbol::NativeEntry(method)
            | Symbol::MarshalInfo(method, _)
            | Symbol::Overrides(method)
            | Symbol::Noted(method, _)
            | Symbol::BlockCounts(method, _) => named.push(Assumption::Method(method)),
            Symbol::FieldHandle(field) | Symbol::StaticField(field) | Symbol::ThreadStaticPlace(field) => {
                named.push(Assumption::Field(field));
            }
            Symbol::StringLiteral(image, _) | Symbol::VarArgCookie(image, _) => images.push(image),
            Symbol::Helper(_) => {}
        }
    }
    for site in &code.tables.inline_sites {
        named.push(Assumption::Method(site.method));
    }
    for clause in &code.tables.clauses {
        if let ClauseKind::Catch(ty) = *clause {
            named.push(Assumption::Type(ty));
        }
    }
    for filter in &code.filters {
        add_named(filter, named, images);
    }
}
