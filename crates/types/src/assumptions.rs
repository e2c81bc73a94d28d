//! What compiled code takes for granted, and the images that its assumptions depend on.
//!
//! Whoever compiles asks for facts, and notes each answer that the code relies on as an `Assumption`. The facts of a
//! type (layout, vtable slots, assignability) also depend on its base classes, its interfaces and the types of its
//! instance fields, which `images_behind` follows, and on the modules whose type forwarders were followed to find them,
//! which `add_forwarders` adds. Left out: facts that are asked for without a token; they are about types of corlib and
//! of the compiled method itself.

use crate::domain::Image;
use crate::field::Field;
use crate::method::Method;
use crate::ty::{Ty, TypeKind};
use rustc_hash::FxHashSet;

/// One assumption.
///
/// | assumption | ends when |
/// |---|---|
/// | `Initialised` | never: a class constructor that has finished stays finished |
/// | `Constant` | never: code that was compiled before ignores what reflection writes to the field afterwards |
/// | `Type`, `Method`, `Field` | never within a run; in another run, when a module behind it has other contents |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assumption {
    /// The class constructor of the type has finished, so accesses need no check (ECMA-335 §II.10.5.3).
    Initialised(Ty),
    /// This `static readonly` number has this value, as `Facts::constant` gives it.
    Constant(&'static Field, u64),
    /// The facts of a type or member, as its modules define them.
    Type(Ty),
    Method(&'static Method),
    Field(&'static Field),
}

fn push_method(open: &mut Vec<Ty>, method: &'static Method) {
    open.push(method.owner);
    open.extend(method.generic_args());
    if let Some(sig) = method.sig.get_if_ready() {
        open.push(sig.ret);
        open.extend(&sig.params);
    }
}

fn push_field(open: &mut Vec<Ty>, field: &'static Field) {
    open.push(field.owner);
    if let Some(ty) = field.ty.get_if_ready() {
        open.push(ty);
    }
}

/// The images on which these facts depend, as far as the facts have been computed.
pub fn images_behind(assumptions: &[Assumption]) -> Vec<&'static Image> {
    let mut seen = FxHashSet::default();
    let mut images: Vec<&'static Image> = Vec::new();
    let mut open = Vec::new();
    for &assumption in assumptions {
        match assumption {
            Assumption::Type(ty) | Assumption::Initialised(ty) => open.push(ty),
            Assumption::Method(method) => push_method(&mut open, method),
            Assumption::Field(field) | Assumption::Constant(field, _) => push_field(&mut open, field),
        }
    }
    while let Some(ty) = open.pop() {
        if !seen.insert(ty) {
            continue;
        }
        let image = ty.image();
        if !images.contains(&image) {
            images.push(image);
        }
        open.extend(ty.args);
        open.extend(ty.element());
        if let TypeKind::FnPtr(sig) = &ty.kind {
            open.push(sig.ret);
            open.extend(&sig.params);
        }
        if let Some(Some(parent)) = ty.parent.get_if_ready() {
            open.push(parent);
        }
        if let Some(interfaces) = ty.interfaces.get_if_ready() {
            open.extend(&interfaces.all);
        }
        if ty.instance_layout.get_if_ready().is_some()
            && let Ok(fields) = ty.fields()
        {
            fields.iter().filter(|field| !field.is_static()).for_each(|field| push_field(&mut open, field));
        }
    }
    images
}

/// Adds the modules whose type forwarders led from one of these modules to another.
pub fn add_forwarders(images: &mut Vec<&'static Image>) {
    let mut next = 0;
    while let Some(image) = images.get(next) {
        for (forwarder, target) in image.forwarders_passed() {
            if images.contains(&target) && !images.contains(&forwarder) {
                images.push(forwarder);
            }
        }
        next += 1;
    }
}
