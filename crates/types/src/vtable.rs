//! Virtual slots and interface maps. ECMA-335 §II.10.3, §II.12.2.
//!
//! The layout of a generic type is computed once, on its definition, where two methods cannot coincide by
//! instantiation; an instantiation maps the result method by method. An interface method maps to a vtable slot, so that
//! an override in a subclass changes what the interface reaches.

use crate::collectible;
use crate::error::{LoadError, LoadResult};
use crate::interfaces::array_interfaces;
use crate::load_texts;
use crate::method::{Method, MethodKind, method_flags};
use crate::modifiers::ModifierComparison;
use crate::resolve::signatures_match;
use crate::signature::inflate;
use crate::ty::GenericContext;
use crate::ty::{Ty, Type, TypeKind};
use saki_abi::vtable::IMT_SLOTS;
use saki_contract::LibraryType;
use saki_metadata::{Rid, Token};
use std::sync::atomic::Ordering;

pub use crate::ty::{Implementation, InterfaceSlots, VTableLayout};

/// No method of the type implements the interface method.
pub const NO_SLOT: u32 = u32::MAX;

/// The slots of a layout that is being computed: see `VTableLayout`.
struct Slots {
    methods: Vec<&'static Method>,
    declared: Vec<&'static Method>,
}

impl Slots {
    fn push(&mut self, method: &'static Method) {
        self.methods.push(method);
        self.declared.push(method);
    }

    /// Overrides a slot by name. Where the overridden method also fills other slots as the body of MethodImpls, it is
    /// replaced there, too.
    fn override_by_name(&mut self, slot: usize, method: &'static Method) {
        let before = self.methods[slot];
        if self.declared[slot] == before {
            self.methods.iter_mut().filter(|other| **other == before).for_each(|other| *other = method);
        }
        self.methods[slot] = method;
        self.declared[slot] = method;
    }

    /// Overrides a slot by a MethodImpl. Where the overridden method also fills the slots of other methods, as one does
    /// that narrows their return type, it is replaced there, too.
    fn override_by_method_impl(&mut self, slot: usize, body: &'static Method) {
        let before = self.methods[slot];
        if self.declared[slot] == before {
            self.methods.iter_mut().filter(|other| **other == before).for_each(|other| *other = body);
        }
        self.methods[slot] = body;
    }

    /// The slot of a method; a new slot if it has none.
    fn slot_of(&mut self, method: &'static Method) -> u32 {
        if let Some(slot) = self.declared.iter().rposition(|&m| m == method) {
            return slot as u32;
        }
        self.push(method);
        self.declared.len() as u32 - 1
    }
}

impl Type {
    /// # Errors
    /// `TypeLoad` when an interface method or abstract method of a concrete class is not implemented.
    pub fn vtable_layout(&'static self) -> LoadResult<&'static VTableLayout> {
        self.vtable_layout.get(&|| self.full_name(), || {
            let layout = match &self.kind {
                TypeKind::Inst { definition } => instantiate(self, definition)?,
                TypeKind::Def(_) => compute(self)?,
                TypeKind::SzArray(_) | TypeKind::Array { .. } => {
                    let array = self.universe().array().vtable_layout()?;
                    VTableLayout {
                        slots: array.slots.clone(),
                        declared: array.declared.clone(),
                        interfaces: array.interfaces.clone(),
                        implementations: array.implementations.clone(),
                    }
                }
                _ => VTableLayout::empty(),
            };
            Ok(collectible::keep_beside(self, layout))
        })
    }

    /// The method that a virtual call of `method` on an object of this exact type runs.
    ///
    /// # Errors
    /// `TypeLoad`; `MissingMethod` when the type does not implement the interface method.
    pub fn resolve_virtual(&'static self, method: &'static Method) -> LoadResult<&'static Method> {
        let open = method.definition().unwrap_or(method);
        let found = if method.owner.is_interface() {
            self.find_interface_method(open)?
        } else if method.is_virtual() {
            match open.vtable_slot()? {
                Some(slot) => self.method_in_slot(slot, open)?,
                None => open,
            }
        } else {
            open
        };
        if method.generic_args().is_empty() {
            return Ok(found);
        }
        self.universe().instantiate_method(found, method.generic_args())
    }

    /// The default implementation of an interface method that this interface, which inherits from its owner, gives.
    /// None: there is none, or there are several of which none is the most specific.
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn default_implementation_of(&'static self, wanted: &'static Method) -> LoadResult<Option<&'static Method>> {
        let interfaces = self.interfaces()?.iter().copied().chain([self]);
        Ok(match default_implementation(interfaces, wanted)? {
            DefaultImplementation::One(found) => Some(found),
            DefaultImplementation::None | DefaultImplementation::Ambiguous => None,
        })
    }

    /// The method in slot `slot`, that of `wanted`. CIL is not verified: the type may be unrelated to the declaring
    /// type of `wanted`.
    fn method_in_slot(&'static self, slot: u32, wanted: &'static Method) -> LoadResult<&'static Method> {
        self.vtable_layout()?.slots.get(slot as usize).copied().ok_or_else(|| {
            let subject = wanted.full_name();
            let message = format!("Type '{}' has no virtual method {subject}", self.full_name());
            LoadError::new(crate::LoadErrorKind::MissingMethod, message, subject)
        })
    }

    fn find_interface_method(&'static self, method: &'static Method) -> LoadResult<&'static Method> {
        let interface = method.owner;
        if let TypeKind::SzArray(element) = &self.kind
            && let Some(definition) = interface.generic_definition()
            && array_interfaces(self.universe()).contains(&definition)
        {
            return array_interface_method(definition, method, interface.args.first().copied().unwrap_or(element));
        }
        let layout = self.vtable_layout()?;
        let index = interface_method_index(method)?;
        let pick = |entry: &InterfaceSlots| entry.slots.get(index).copied().filter(|&s| s != NO_SLOT);
        let is_variant = interface.has_variant_parameters();
        if is_variant && let Some(slot) = self.find_variant_implementation(interface, index)? {
            return Ok(layout.slots[slot as usize]);
        }
        if let Some(slot) = layout.interfaces.iter().find(|e| e.interface == interface).and_then(pick) {
            return Ok(layout.slots[slot as usize]);
        }
        if is_variant {
            // The interface methods that are left have default implementations.
            for entry in &layout.interfaces {
                if crate::cast::is_variant_of(entry.interface, interface)?
                    && let Some(slot) = pick(entry)
                {
                    return Ok(layout.slots[slot as usize]);
                }
            }
        }
        let defaults = default_implementation(self.interfaces()?.iter().copied(), method)?;
        if let DefaultImplementation::Ambiguous = defaults {
            return Err(static_virtual::ambiguous(self, method));
        }
        if !load_texts::are_mono() {
            let message = "Entry point was not found.";
            return Err(LoadError::new(crate::LoadErrorKind::EntryPointNotFound, message, ""));
        }
        let subject = format!("{}.{}", interface.full_name(), method.name);
        let message = format!("Type '{}' does not implement interface method {subject}", self.full_name());
        Err(LoadError::new(crate::LoadErrorKind::MissingMethod, message, subject))
    }

    /// The slot of the implementation of method `index` of a variant interface: that of the most derived class that
    /// implements the interface for a compatible instantiation; within one class the exact instantiation is preferred.
    fn find_variant_implementation(&'static self, interface: Ty, index: usize) -> LoadResult<Option<u32>> {
        let mut class = Some(self);
        while let Some(ty) = class {
            let implementations = &ty.vtable_layout()?.implementations;
            let own = || implementations.iter().filter(|i| i.method_index as usize == index);
            if let Some(exact) = own().find(|i| i.interface == interface) {
                return Ok(Some(exact.slot));
            }
            for implementation in own() {
                if crate::cast::is_variant_of(implementation.interface, interface)? {
                    return Ok(Some(implementation.slot));
                }
            }
            class = ty.parent()?;
        }
        Ok(None)
    }

    /// The override of Object's `Finalize`. A class whose finalizer is empty (Mono's Thread, CriticalFinalizerObject)
    /// counts as having none, so that its objects need not outlive a collection. So does .NET's DynamicResolver: its
    /// finalizer frees the dynamic method whose code it gives, which the machine does by itself
    /// (`runtime::vm::dynamic_methods`).
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn finalizer(&'static self) -> LoadResult<Option<&'static Method>> {
        if self.is_interface() || self.def().is_none() || self.is_value_type() {
            return Ok(None);
        }
        // Most have none, and then an instantiation needs no layout of its own for the answer.
        if let TypeKind::Inst { definition } = &self.kind
            && definition.finalizer()?.is_none()
        {
            return Ok(None);
        }
        let object = self.universe().object();
        let Some(base) = object.find_method("Finalize", 0)? else { return Ok(None) };
        let Some(slot) = base.vtable_slot()? else { return Ok(None) };
        let found = self.method_in_slot(slot, base)?;
        let is_empty =
            found.owner == object || found.owner.is(LibraryType::DynamicResolver) || found.only_calls_empty_finalizer();
        Ok((!is_empty).then_some(found))
    }
}

impl Method {
    /// Whether this finalizer does nothing but call an empty one: `~C() { }` as C# compilers write it. What cannot be
    /// read is not empty.
    fn only_calls_empty_finalizer(&'static self) -> bool {
        let MethodKind::Def { image, .. } = self.kind else { return false };
        let Ok(Some(body)) = self.body() else { return false };
        // leave or leave.s to the end; ldarg.0; call; endfinally; ret.
        let ([0xDD, 7, 0, 0, 0, rest @ ..] | [0xDE, 7, rest @ ..]) = body.code else { return false };
        let &[0x02, 0x28, a, b, c, d, 0xDC, 0x2A] = rest else { return false };
        let token = Token(u32::from_le_bytes([a, b, c, d]));
        let Ok(called) = image.resolve_method(token, &self.context()) else { return false };
        let owner = called.owner;
        called.name == "Finalize" && (owner == owner.universe().object() || called.only_calls_empty_finalizer())
    }
}

/// `System.Array.InternalArray__…` for a method of an array's generic interface; in .NET's class libraries the method
/// of this name of `SZArrayHelper`, which runs with the array as `this`.
fn array_interface_method(definition: Ty, method: &'static Method, element: Ty) -> LoadResult<&'static Method> {
    let universe = element.universe();
    if let Some(helper) = universe.find_library_type(LibraryType::SZArrayHelper)? {
        let found = helper.methods_named(method.name)?;
        let Some(generic) = found.first() else {
            let message = format!("System.SZArrayHelper has no {}", method.name);
            return Err(LoadError::new(crate::LoadErrorKind::MissingMethod, message, method.full_name()));
        };
        return universe.instantiate_method(generic, &[element]);
    }
    let interface_name = definition.def().map_or("", |d| d.name);
    let name = match (interface_name, method.name) {
        ("IEnumerable`1", name) => format!("InternalArray__IEnumerable_{name}"),
        ("ICollection`1", name) => format!("InternalArray__ICollection_{name}"),
        ("IReadOnlyList`1", name) => format!("InternalArray__IReadOnlyList_{name}"),
        ("IReadOnlyCollection`1", name) => format!("InternalArray__IReadOnlyCollection_{name}"),
        (_, name) => format!("InternalArray__{name}"),
    };
    let found = universe.array().methods_named(&name)?;
    let Some(generic) = found.first() else {
        return Err(LoadError::new(crate::LoadErrorKind::MissingMethod, format!("System.Array has no {name}"), name));
    };
    if generic.generic_args().is_empty() {
        return Ok(generic);
    }
    universe.instantiate_method(generic, &[element])
}

/// Position of an interface's method among its methods.
fn interface_method_index(method: &'static Method) -> LoadResult<usize> {
    let (Some(rid), Some(def)) = (method.rid(), method.owner.def()) else { return Ok(usize::MAX) };
    Ok((rid - def.image.meta.type_def_methods(def.rid)?.start) as usize)
}

impl Method {
    /// The vtable slot of a virtual method of a class; None for others.
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn vtable_slot(&'static self) -> LoadResult<Option<u32>> {
        if !self.is_virtual() || self.owner.is_interface() {
            return Ok(None);
        }
        let method = self.definition().unwrap_or(self);
        // Relaxed: a number alone; the layouts that it is an index into are published by their cells.
        let known = method.slot.load(Ordering::Relaxed);
        if known != NO_SLOT {
            return Ok(Some(known));
        }
        let slot = match (&method.owner.kind, method.rid()) {
            // The slots of an instantiation are those of its definition, whose layout is shared.
            (TypeKind::Inst { definition }, Some(rid)) => definition.method_by_rid(rid)?.vtable_slot()?,
            _ => {
                let layout = method.owner.vtable_layout()?;
                layout.declared().iter().rposition(|&m| m == method).map(|i| i as u32)
            }
        };
        if let Some(slot) = slot {
            // Relaxed: as above; every thread finds the same slot.
            method.slot.store(slot, Ordering::Relaxed);
        }
        Ok(slot)
    }
}

/// IMT slot of an interface method: equal for all instantiations of one generic interface, so that a call through a
/// variant instantiation uses the slot of the implemented one.
pub fn imt_slot_index(method: &Method) -> usize {
    imt_slot_of(method.owner, method.rid().unwrap_or(0), method.name)
}

fn imt_slot_of(owner: &Type, rid: Rid, name: &str) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut mix = |text: &str| {
        for byte in text.bytes() {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    };
    if let Some(def) = owner.def() {
        mix(def.namespace);
        mix(def.name);
    }
    mix(name);
    hash = (hash ^ rid).wrapping_mul(0x0100_0193);
    (hash >> 8) as usize % IMT_SLOTS
}

impl Type {
    /// The IMT slots of an interface's methods, in their order, and whether each is a generic definition. Makes no
    /// records of the methods: most methods of the interfaces that a class implements are never called.
    ///
    /// # Errors
    /// `BadImageFormat`, also as items.
    pub fn imt_slots(&'static self) -> LoadResult<impl Iterator<Item = LoadResult<(usize, bool)>> + use<>> {
        let outlines = self.method_outlines()?;
        Ok(outlines.map(|outline| outline.map(|(rid, name, is_generic)| (imt_slot_of(self, rid, name), is_generic))))
    }
}

fn instantiate(ty: Ty, definition: Ty) -> LoadResult<VTableLayout> {
    let open = definition.vtable_layout()?;
    let in_ty = |methods: &[&'static Method]| methods.iter().map(|m| method_in(m, ty.args)).collect::<LoadResult<_>>();
    let slots = in_ty(&open.slots)?;
    let declared = open.declared.as_ref().map(|methods| in_ty(methods)).transpose()?;
    let mut implementations = Vec::with_capacity(open.implementations.len());
    for implementation in &open.implementations {
        let interface = inflate(implementation.interface, ty.args, &[])?;
        implementations.push(Implementation { interface, ..*implementation });
    }
    let mut interfaces: Vec<InterfaceSlots> = Vec::with_capacity(open.interfaces.len());
    for entry in &open.interfaces {
        let interface = inflate(entry.interface, ty.args, &[])?;
        if !interfaces.iter().any(|known| known.interface == interface) {
            interfaces.push(InterfaceSlots { interface, slots: entry.slots.clone() });
        }
    }
    if interfaces.len() < open.interfaces.len() {
        merge_coinciding(ty, &implementations, &mut interfaces)?;
    }
    Ok(VTableLayout { slots, declared, interfaces: interfaces.into(), implementations: implementations.into() })
}

/// Merges interfaces that are equal under the type's arguments: a method's implementation in the most derived class
/// wins, and within one class that of the first such interface, as in .NET.
fn merge_coinciding(ty: Ty, own: &[Implementation], interfaces: &mut [InterfaceSlots]) -> LoadResult<()> {
    let inherited = ty.parent()?.map(Type::vtable_layout).transpose()?;
    for merged in interfaces {
        if let Some(entry) =
            inherited.and_then(|layout| layout.interfaces.iter().find(|e| e.interface == merged.interface))
        {
            merged.slots.clone_from(&entry.slots);
        }
        for implementation in own.iter().rev().filter(|i| i.interface == merged.interface) {
            if let Some(slot) = merged.slots.get_mut(implementation.method_index as usize) {
                *slot = implementation.slot;
            }
        }
    }
    Ok(())
}

/// The counterpart of a method of an open type under the type arguments.
fn method_in(method: &'static Method, class_args: &[Ty]) -> LoadResult<&'static Method> {
    let owner = inflate(method.owner, class_args, &[])?;
    match method.rid() {
        Some(rid) if owner != method.owner => owner.method_by_rid(rid),
        _ => Ok(method),
    }
}

fn compute(ty: Ty) -> LoadResult<VTableLayout> {
    let def = ty.def().expect("only definitions are computed");
    ty.require_valid_variance()?;
    static_virtual::check(ty)?;
    if ty.is_interface() {
        return Ok(VTableLayout::empty());
    }
    let mut slots = Slots { methods: Vec::new(), declared: Vec::new() };
    let mut interfaces: Vec<InterfaceSlots> = Vec::new();
    if let Some(parent) = ty.parent()? {
        let layout = parent.vtable_layout()?;
        slots.methods.extend(&layout.slots);
        slots.declared.extend(layout.declared());
        interfaces.extend(layout.interfaces.iter().cloned());
    }
    let inherited_slots = slots.methods.len();
    ty.require_enum_base()?;
    let methods = ty.virtual_methods()?;
    let modifiers = ModifierComparison::seen_from(ty);
    for &method in methods.iter().filter(|m| !m.is_static()) {
        let overridden = match method.is_new_slot() {
            true => None,
            false => find_overridden(method, &slots.declared[..inherited_slots], &modifiers)?,
        };
        match overridden {
            // A method can take several slots when an ancestor re-introduced the name with newslot: the latest counts.
            Some(slot) => slots.override_by_name(slot, method),
            None => slots.push(method),
        }
    }
    let overrides = method_impls(ty, OverrideKind::Instance, None).map_err(|error| {
        let message = format!("Could not load list of method overrides due to {}", error.message);
        LoadError::type_load(message, ty.full_name())
    })?;
    let mut overridden_slots = Vec::new();
    for &(body, declaration) in &overrides {
        check_override(ty, body, declaration)?;
        if declaration.owner.is_interface() {
            continue;
        }
        if overrides.iter().any(|&(other, _)| other == declaration) {
            let name = ty.full_name();
            let message =
                format!("Method {} of type {name} overrides another method and is overridden", declaration.name);
            return Err(LoadError::type_load(message, name));
        }
        if let Some(slot) = declaration_slot(declaration, &slots.declared)? {
            if overridden_slots.contains(&slot) {
                let name = ty.full_name();
                let message = format!("Type {name} overrides method {} twice", declaration.name);
                return Err(LoadError::type_load(message, name));
            }
            overridden_slots.push(slot);
            slots.override_by_method_impl(slot, body);
        }
    }
    let implementations = map_interfaces(&modifiers, (ty, &methods), &overrides, &mut slots, &mut interfaces)?;
    let Slots { methods: slots, declared } = slots;
    check_complete(ty, def.flags, &slots)?;
    let declared = (declared != slots).then_some(declared);
    Ok(VTableLayout {
        slots: slots.into(),
        declared: declared.map(Into::into),
        interfaces: interfaces.into(),
        implementations: implementations.into(),
    })
}

/// Slot of the inherited method that `method` overrides by name and signature, custom modifiers included: the latest.
fn find_overridden(
    method: &'static Method,
    inherited: &[&'static Method],
    modifiers: &ModifierComparison,
) -> LoadResult<Option<usize>> {
    for (slot, &candidate) in inherited.iter().enumerate().rev() {
        if candidate.name == method.name
            && candidate.flags & method_flags::ACCESS_MASK != method_flags::PRIVATE
            && candidate.generic_args().len() == method.generic_args().len()
            && signatures_match(candidate, method)?
            && modifiers.is_same(candidate, method)?
        {
            return Ok(Some(slot));
        }
    }
    Ok(None)
}

/// Slot that a class MethodImpl's declaration occupies, even when an override already sits there.
fn declaration_slot(declaration: &'static Method, declared: &[&'static Method]) -> LoadResult<Option<usize>> {
    if let Some(slot) = declared.iter().position(|&m| m == declaration) {
        return Ok(Some(slot));
    }
    Ok(declaration.vtable_slot()?.map(|s| s as usize))
}

/// Checks that a MethodImpl row is valid. ECMA-335 §II.22.27.
fn check_override(ty: Ty, body: &'static Method, declaration: &'static Method) -> LoadResult<()> {
    let what = if body.is_static() {
        "Method must not be static to override a base type"
    } else if !body.is_virtual() {
        "Method must be virtual to override a base type"
    } else if declaration.is_static() {
        "Cannot override a static method in a base type"
    } else if !declaration.is_virtual() {
        "Cannot override a non virtual method in a base type"
    } else if !ty.is_open && !ty.is_assignable_to(declaration.owner)? {
        "Method overrides a class or interface that is not extended or implemented by this type"
    } else {
        return Ok(());
    };
    Err(LoadError::type_load(what, ty.full_name()))
}

/// The two kinds of MethodImpl rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OverrideKind {
    Instance,
    /// The body is a static method of the type itself, as the row says by naming it by a MethodDef token.
    Static,
}

/// (body, declaration) pairs of the type's MethodImpl rows of one kind; with a name, only of those whose declaration
/// has that name. Rows that are left out are not resolved: number types have hundreds of them.
fn method_impls(
    ty: Ty,
    kind: OverrideKind,
    declaration_name: Option<&str>,
) -> LoadResult<Vec<(&'static Method, &'static Method)>> {
    let def = ty.def().expect("only definitions and their instantiations have rows");
    let context = GenericContext { class_args: ty.args, method_args: &[] };
    let mut out = Vec::new();
    for row in def.image.meta.method_impls(def.rid) {
        let row = row?;
        let is_static = def.image.is_static_method_def(row.body)?;
        if is_static != (kind == OverrideKind::Static) {
            continue;
        }
        if let Some(name) = declaration_name
            && def.image.method_token_name(row.declaration)? != Some(name)
        {
            continue;
        }
        let body = def.image.resolve_method(row.body, &context)?;
        out.push((body, def.image.resolve_method(row.declaration, &context)?));
    }
    Ok(out)
}

fn map_interfaces(
    modifiers: &ModifierComparison,
    (ty, methods): (Ty, &[&'static Method]),
    overrides: &[(&'static Method, &'static Method)],
    slots: &mut Slots,
    interfaces: &mut Vec<InterfaceSlots>,
) -> LoadResult<Vec<Implementation>> {
    let mut implementations = Vec::new();
    // An interface that is only inherited by a declared one is not implemented anew if an ancestor has it already.
    let declared = &ty.interface_list()?.declared;
    for &interface in ty.interfaces()? {
        let inherited = interfaces.iter().position(|e| e.interface == interface);
        let is_redeclared = declared.contains(&interface);
        if let Some(definition) = interface.generic_definition().filter(|d| d.has_variant_parameters()) {
            definition.vtable_layout()?;
        }
        let interface_methods = interface.method_slice()?;
        let mut entry = match inherited {
            Some(at) => interfaces[at].clone(),
            None => InterfaceSlots { interface, slots: vec![NO_SLOT; interface_methods.len()] },
        };
        for (index, &wanted) in interface_methods.iter().enumerate() {
            if wanted.is_static() {
                continue;
            }
            let explicit = overrides.iter().find(|(_, declaration)| *declaration == wanted);
            let is_missing = entry.slots[index] == NO_SLOT;
            // Own public virtual methods come first, then those of the ancestors; an explicit implementation takes
            // precedence.
            let slot = if let Some(&(body, _)) = explicit {
                Some(slots.slot_of(body))
            } else if inherited.is_some() && !is_redeclared && !is_missing {
                None
            } else if let Some(own) = find_implementation(methods, wanted, modifiers)? {
                Some(slots.slot_of(own))
            } else if is_missing {
                find_in_ancestors(ty, wanted, modifiers)?
            } else {
                None
            };
            if let Some(slot) = slot {
                entry.slots[index] = slot;
                implementations.push(Implementation { interface, method_index: index as u32, slot });
            }
            // A default implementation that the parent uses may be overridden in an interface that this type adds.
            let is_default = |slot: u32| slots.methods[slot as usize].owner.is_interface();
            if entry.slots[index] != NO_SLOT && !is_default(entry.slots[index]) {
                continue;
            }
            match default_implementation(ty.interfaces()?.iter().copied(), wanted)? {
                DefaultImplementation::One(default) => entry.slots[index] = slots.slot_of(default),
                // Calls of the method fail.
                DefaultImplementation::Ambiguous => {}
                // An interface's method that makes another interface's method abstract again needs no implementation
                // under its own name.
                DefaultImplementation::None if ty.is_abstract() || wanted.is_final() || !wanted.is_abstract() => {}
                DefaultImplementation::None => {
                    return Err(not_implemented(ty, wanted));
                }
            }
        }
        match inherited {
            Some(at) => interfaces[at] = entry,
            None => interfaces.push(entry),
        }
    }
    Ok(implementations)
}

/// The implementation that a class which does not implement an interface method inherits from its interfaces.
enum DefaultImplementation {
    None,
    One(&'static Method),
    /// Several candidates, none of them in an interface that inherits from all the others.
    Ambiguous,
}

/// The default implementation that applies to a type with these interfaces: the interface method's own body, or the
/// most specific override of it in another interface of the type.
fn default_implementation(
    interfaces: impl Iterator<Item = Ty>,
    wanted: &'static Method,
) -> LoadResult<DefaultImplementation> {
    let mut candidates: Vec<&'static Method> = Vec::new();
    if !wanted.is_abstract() {
        candidates.push(wanted);
    }
    for interface in interfaces {
        if interface == wanted.owner || !interface.interfaces()?.contains(&wanted.owner) {
            continue;
        }
        let kind = if wanted.is_static() { OverrideKind::Static } else { OverrideKind::Instance };
        candidates.extend(
            method_impls(interface, kind, Some(wanted.name))?
                .into_iter()
                .filter(|(_, declaration)| *declaration == wanted)
                .map(|(body, _)| body),
        );
    }
    for &candidate in &candidates {
        let inherited = candidate.owner.interfaces()?;
        if candidates.iter().all(|other| other.owner == candidate.owner || inherited.contains(&other.owner)) {
            return Ok(DefaultImplementation::One(candidate));
        }
    }
    Ok(if candidates.is_empty() { DefaultImplementation::None } else { DefaultImplementation::Ambiguous })
}

fn implements_by_name(
    method: &'static Method,
    wanted: &'static Method,
    modifiers: &ModifierComparison,
) -> LoadResult<bool> {
    Ok(method.name == wanted.name
        && method.is_virtual()
        && method.flags & method_flags::ACCESS_MASK == method_flags::PUBLIC
        && signatures_match(method, wanted)?
        && modifiers.is_same(method, wanted)?)
}

fn find_implementation(
    methods: &[&'static Method],
    wanted: &'static Method,
    modifiers: &ModifierComparison,
) -> LoadResult<Option<&'static Method>> {
    for &method in methods {
        if implements_by_name(method, wanted, modifiers)? {
            return Ok(Some(method));
        }
    }
    Ok(None)
}

/// Slot of an ancestor's method that implements `wanted`; the slot may hold an override of that method. If two methods
/// of a generic ancestor become equal under its arguments, the last one counts.
fn find_in_ancestors(ty: Ty, wanted: &'static Method, modifiers: &ModifierComparison) -> LoadResult<Option<u32>> {
    let mut at = ty.parent()?;
    while let Some(ancestor) = at {
        for found in ancestor.methods_named(wanted.name)?.into_iter().rev() {
            if implements_by_name(found, wanted, modifiers)? {
                return found.vtable_slot();
            }
        }
        at = ancestor.parent()?;
    }
    Ok(None)
}

fn check_complete(ty: Ty, flags: u32, slots: &[&'static Method]) -> LoadResult<()> {
    if flags & crate::ty::type_flags::ABSTRACT != 0 {
        return Ok(());
    }
    let is_hole =
        |m: &&'static Method| m.is_abstract() && !m.owner.is_interface() && matches!(m.kind, MethodKind::Def { .. });
    slots.iter().find(|method| is_hole(method)).map_or(Ok(()), |hole| Err(not_implemented(ty, hole)))
}

/// The error for a class that implements a method of its base class or interface neither itself nor by inheritance.
fn not_implemented(ty: Ty, method: &'static Method) -> LoadError {
    let name = ty.full_name();
    let message = if ty.universe().profile().names_unimplemented_methods {
        let assembly = ty.image().assembly().display_name();
        format!("Method '{}' in type '{name}' from assembly '{assembly}' does not have an implementation.", method.name)
    } else {
        format!("VTable setup of type {name} failed")
    };
    LoadError::type_load(message, name)
}

mod static_virtual;
#[cfg(test)]
mod tests;
