//! Which slot a method gets, and which method a call reaches: classes written in CIL, compared with the rules of
//! ECMA-335 §II.10.3 and §II.12.2.

use super::*;
use crate::error::LoadErrorKind;
use crate::fixture::{Fixture, assemble};
use crate::universe::universe;

const CLASSES: &str = "
.class Base extends [mscorlib]System.Object {
  .method public virtual newslot instance void M() { ret }
  .method public virtual newslot instance void N() { ret }
  .method public virtual newslot instance void M(int32) { ret }
  .method public instance void Plain() { ret }
}
.class Overriding extends Base { .method public virtual instance void M() { ret } }
.class Hiding extends Overriding { .method public virtual newslot instance void M() { ret } }
.class Below extends Hiding { .method public virtual instance void M() { ret } }
.class Unrelated extends Base { .method public virtual instance void Other() { ret } }
.class Explicit extends Base {
  .method private virtual newslot final instance void Body() { .override Base::M  ret }
}
.class BelowExplicit extends Explicit { .method public virtual instance void M() { ret } }
.class Open extends Base { .method public virtual newslot instance void Body() { .override Base::M  ret } }
.class BelowBody extends Open { .method public virtual instance void Body() { ret } }
.class Private extends Base { .method private instance void N() { ret } }

.class interface abstract IOne { .method public virtual abstract newslot instance void One() { } }
.class interface abstract ITwo implements IOne { .method public virtual abstract newslot instance void Two() { } }
.class ByName extends [mscorlib]System.Object implements ITwo {
  .method public virtual newslot instance void One() { ret }
  .method public virtual newslot instance void Two() { ret }
}
.class Inheriting extends ByName { .method public virtual instance void Two() { ret } }
.class Again extends ByName implements IOne { .method public virtual newslot instance void One() { ret } }
.class ByMethodImpl extends [mscorlib]System.Object implements IOne {
  .method public virtual newslot instance void One() { ret }
  .method private virtual newslot final instance void Hidden() { .override IOne::One  ret }
}
.class Missing extends [mscorlib]System.Object implements IOne { }
.class abstract AbstractMissing extends [mscorlib]System.Object implements IOne { }
.class NotPublic extends [mscorlib]System.Object implements IOne { .method private virtual newslot instance void One() { ret } }
.class abstract Hole extends [mscorlib]System.Object { .method public virtual abstract newslot instance void M() { } }
.class Unfilled extends Hole { }

.class interface abstract IOut`1<+T> { .method public virtual abstract newslot instance !T Get() { } }
.class interface abstract IIn`1<-T> { .method public virtual abstract newslot instance void Put(!T) { } }
.class Variant extends [mscorlib]System.Object implements class IOut`1<string>, class IIn`1<object> {
  .method public virtual newslot instance string Get() { ldnull ret }
  .method public virtual newslot instance void Put(object) { ret }
}
.class interface abstract IWrong`1<+T> { .method public virtual abstract newslot instance void Put(!T) { } }
.class interface abstract IDefault { .method public virtual newslot instance void D() { ret } }
.class interface abstract IBetter implements IDefault {
  .method public virtual final instance void X() { .override IDefault::D  ret }
}
.class WithDefault extends [mscorlib]System.Object implements IDefault { }
.class WithBetter extends [mscorlib]System.Object implements IBetter { }

.class Generic`1<T> extends [mscorlib]System.Object {
  .method public virtual newslot instance void Take(!T) { ret }
  .method public virtual newslot instance void Take(int32) { ret }
  .method public virtual newslot instance void Make<U>(!!U) { ret }
}
.class OfInt extends class Generic`1<int32> { .method public virtual instance void Make<V>(!!V) { ret } }";

fn slot(method: &'static Method) -> u32 {
    method.vtable_slot().expect("a layout").unwrap_or_else(|| panic!("{} has no slot", method.full_name()))
}

/// Which method `object.declared()` runs, both as "Type.Method" where names are unique.
fn check_call(f: &Fixture, object: &str, declared: (&str, &str), expected: (&str, &str)) {
    let wanted = first(f, declared);
    let found = f.ty(object).resolve_virtual(wanted).unwrap_or_else(|error| panic!("{object}: {error}"));
    assert!(found == first(f, expected), "{declared:?} on {object} reaches {found:?}");
}

fn first(f: &Fixture, (ty, name): (&str, &str)) -> &'static Method {
    f.ty(ty).methods_named(name).expect("methods load")[0]
}

#[test]
fn a_new_slot_hides_and_others_override() {
    let Some(f) = assemble(CLASSES) else { return };
    let base = slot(first(&f, ("Base", "M")));
    assert_eq!(slot(f.method("Overriding", "M")), base);
    assert_ne!(slot(f.method("Hiding", "M")), base);
    assert_eq!(slot(f.method("Below", "M")), slot(f.method("Hiding", "M")));
    let overloads = f.ty("Base").methods_named("M").expect("methods");
    assert_ne!(slot(overloads[0]), slot(overloads[1]), "overloads have slots of their own");
    assert_eq!(f.method("Base", "Plain").vtable_slot().expect("a layout"), None);
    check_call(&f, "Overriding", ("Base", "M"), ("Overriding", "M"));
    check_call(&f, "Below", ("Base", "M"), ("Overriding", "M"));
    check_call(&f, "Below", ("Hiding", "M"), ("Below", "M"));
    check_call(&f, "Below", ("Base", "N"), ("Base", "N"));
    check_call(&f, "Below", ("Base", "Plain"), ("Base", "Plain"));
    // Nothing to override: a slot of its own, after all inherited ones.
    let slots = f.ty("Base").vtable_layout().expect("a layout").slots.len() as u32;
    assert_eq!(slot(f.method("Unrelated", "Other")), slots);
    // A method that is not virtual overrides nothing.
    check_call(&f, "Private", ("Base", "N"), ("Base", "N"));
}

#[test]
fn a_method_impl_takes_the_slot_and_not_the_name() {
    let Some(f) = assemble(CLASSES) else { return };
    check_call(&f, "Explicit", ("Base", "M"), ("Explicit", "Body"));
    assert_ne!(slot(f.method("Explicit", "Body")), slot(first(&f, ("Base", "M"))), "the body keeps a slot of its own");
    check_call(&f, "BelowExplicit", ("Base", "M"), ("BelowExplicit", "M"));
    check_call(&f, "BelowExplicit", ("Explicit", "Body"), ("Explicit", "Body"));
    // A method that overrides the body by name overrides it in all slots that the body has taken.
    check_call(&f, "BelowBody", ("Open", "Body"), ("BelowBody", "Body"));
    check_call(&f, "BelowBody", ("Base", "M"), ("BelowBody", "Body"));
}

#[test]
fn interface_methods_are_found_by_name_unless_said_otherwise() {
    let Some(f) = assemble(CLASSES) else { return };
    check_call(&f, "ByName", ("IOne", "One"), ("ByName", "One"));
    check_call(&f, "ByName", ("ITwo", "Two"), ("ByName", "Two"));
    // An override reaches through the slot.
    check_call(&f, "Inheriting", ("ITwo", "Two"), ("Inheriting", "Two"));
    check_call(&f, "Inheriting", ("IOne", "One"), ("ByName", "One"));
    // The interface is declared again: the own method counts, though it hides the inherited one.
    check_call(&f, "Again", ("IOne", "One"), ("Again", "One"));
    check_call(&f, "ByMethodImpl", ("IOne", "One"), ("ByMethodImpl", "Hidden"));
    check_call(&f, "ByMethodImpl", ("ByMethodImpl", "One"), ("ByMethodImpl", "One"));
    assert!(f.ty("AbstractMissing").vtable_layout().is_ok());
    for name in ["Missing", "NotPublic", "Unfilled"] {
        let error = f.ty(name).vtable_layout().err().unwrap_or_else(|| panic!("{name} has a vtable"));
        assert_eq!(error.kind, LoadErrorKind::TypeLoad, "{name}: {error}");
    }
    let error = f.ty("Base").resolve_virtual(first(&f, ("IOne", "One"))).expect_err("Base implements nothing");
    assert_eq!(error.kind, LoadErrorKind::MissingMethod);
}

#[test]
fn default_implementations_fill_what_is_left() {
    let Some(f) = assemble(CLASSES) else { return };
    check_call(&f, "WithDefault", ("IDefault", "D"), ("IDefault", "D"));
    check_call(&f, "WithBetter", ("IDefault", "D"), ("IBetter", "X"));
}

#[test]
fn variant_interfaces_are_reached_by_compatible_instantiations() {
    let Some(f) = assemble(CLASSES) else { return };
    let u = universe();
    let of = |definition: &str, argument| u.instantiate(f.ty(definition), &[argument]).expect("an instantiation");
    let method = |ty: Ty, name| ty.methods_named(name).expect("methods")[0];
    let variant = f.ty("Variant");
    for argument in [u.string(), u.object()] {
        let found = variant.resolve_virtual(method(of("IOut`1", argument), "Get")).expect("covariant");
        assert!(found == f.method("Variant", "Get"));
        let found = variant.resolve_virtual(method(of("IIn`1", argument), "Put")).expect("contravariant");
        assert!(found == f.method("Variant", "Put"));
    }
    let wrong = variant.resolve_virtual(method(of("IOut`1", u.int32()), "Get"));
    assert_eq!(wrong.expect_err("no values for references").kind, LoadErrorKind::MissingMethod);
    assert!(variant.is_assignable_to(of("IOut`1", u.object())).expect("an answer"));
    assert!(!variant.is_assignable_to(of("IOut`1", variant)).expect("an answer"));
    assert!(variant.is_assignable_to(of("IIn`1", variant)).expect("an answer"));
    let error = f.ty("IWrong`1").vtable_layout().err().expect("`out` stands where values go in");
    assert!(error.message.contains("variant type parameter is used invalidly"), "{error}");
    // All instantiations use the same IMT slot.
    let slots = [u.string(), u.object()].map(|argument| imt_slot_index(method(of("IOut`1", argument), "Get")));
    assert_eq!(slots[0], slots[1]);
}

#[test]
fn methods_that_coincide_by_instantiation_keep_their_slots() {
    let Some(f) = assemble(CLASSES) else { return };
    let u = universe();
    let of_int = u.instantiate(f.ty("Generic`1"), &[u.int32()]).expect("an instantiation");
    let takes = of_int.methods_named("Take").expect("methods");
    assert_eq!(takes[0].sig().expect("a signature").params, takes[1].sig().expect("a signature").params);
    assert_ne!(slot(takes[0]), slot(takes[1]));
    let open = f.ty("Generic`1").methods_named("Take").expect("methods");
    assert_eq!([slot(takes[0]), slot(takes[1])], [slot(open[0]), slot(open[1])], "one layout for all instantiations");
    // A generic method is overridden with its parameters matched by position, and called with arguments.
    let make = of_int.methods_named("Make").expect("methods")[0];
    let made = u.instantiate_method(make, &[u.string()]).expect("an instantiation");
    let found = f.ty("OfInt").resolve_virtual(made).expect("an override");
    assert!(found.definition() == Some(f.method("OfInt", "Make")) && found.generic_args() == [u.string()]);
}
