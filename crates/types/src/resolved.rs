//! The types that a computation resolved, and the images that its results depend on: the dependencies of compiled code.
//!
//! Invariant: between the start and the end of `record`, every type that `Image::resolve_*` returns on this thread is noted, and
//! so are the types in the signatures of members that it returns. The facts of a type (layout, vtable slots, assignability) also depend
//! on its base classes, its interfaces and the types of its instance fields, which `images_behind` follows, and on the modules whose type
//! forwarders were followed to find them, which `add_forwarders` adds. Left out: facts that are asked for without a token; they are
//! about types of corlib and of the compiled method itself.

use crate::domain::Image;
use crate::field::Field;
use crate::method::Method;
use crate::ty::{Ty, TypeKind};
use rustc_hash::FxHashSet;
use std::cell::RefCell;

/// A type or member to which a token was resolved.
#[derive(Clone, Copy)]
pub enum Resolved {
    Type(Ty),
    Method(&'static Method),
    Field(&'static Field),
}

thread_local! {
    /// Notes of the innermost `record` on this thread.
    static NOTES: RefCell<Option<Vec<Resolved>>> = const { RefCell::new(None) };
}

/// Runs `work` and returns, beside its result, everything that it resolved, possibly with duplicates.
pub fn record<T>(work: impl FnOnce() -> T) -> (T, Vec<Resolved>) {
    let outer = NOTES.replace(Some(Vec::new()));
    let result = work();
    let notes = NOTES.replace(outer).unwrap_or_default();
    (result, notes)
}

fn note(touched: Resolved) {
    NOTES.with_borrow_mut(|notes| {
        if let Some(notes) = notes {
            notes.push(touched);
        }
    });
}

pub(crate) fn note_type(ty: Ty) {
    note(Resolved::Type(ty));
}

pub(crate) fn note_method(method: &'static Method) {
    note(Resolved::Method(method));
}

pub(crate) fn note_field(field: &'static Field) {
    note(Resolved::Field(field));
}

fn push_method(open: &mut Vec<Ty>, method: &'static Method) {
    open.push(method.owner);
    open.extend(method.generic_args);
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

/// The images on which the facts of these types depend, as far as the facts have been computed.
pub fn images_behind(touched: &[Resolved]) -> Vec<&'static Image> {
    let mut seen = FxHashSet::default();
    let mut images: Vec<&'static Image> = Vec::new();
    let mut open = Vec::new();
    for &touched in touched {
        match touched {
            Resolved::Type(ty) => open.push(ty),
            Resolved::Method(method) => push_method(&mut open, method),
            Resolved::Field(field) => push_field(&mut open, field),
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
