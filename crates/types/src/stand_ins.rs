//! Stand-ins for reference types: by them one body of a generic method serves all instantiations that differ in
//! reference types alone.
//!
//! The stand-in of a generic parameter is a type of its own of which no more is known than that its values are object
//! references and that it meets the parameter's constraints. The *shared form* of a method has the stand-ins of its
//! parameters in place of those arguments that are reference types. What is true of it is true of each method that
//! has this form, with one exception: two types of which one mentions a stand-in may be equal, or convert, although
//! they do not here. So a negative answer about them says nothing. `Instantiation` leads back to an exact method.
//!
//! So that it stays a matter of compiling, no object, vtable or placed code has a type that mentions a stand-in. Left
//! out: reference types inside the arguments (`List<KeyValuePair<string, object>>` has no shared form), so that the
//! arguments of an exact method say what each stand-in is for.

use crate::collectible;
use crate::domain::{ConstructedKey, Universe};
use crate::error::{LoadError, LoadResult};
use crate::field::Field;
use crate::method::{Method, MethodKind, RemotingStub};
use crate::ty::{GenericParam, Ty, Type, TypeKind};
use saki_metadata::ElementType;

impl Type {
    /// Whether this is a stand-in, or made of one.
    pub fn mentions_stand_in(&'static self) -> bool {
        match &self.kind {
            TypeKind::Var(_) | TypeKind::MVar(_) => !self.is_open,
            TypeKind::Inst { .. } => self.args.iter().any(|arg| arg.mentions_stand_in()),
            TypeKind::FnPtr(sig) => sig.ret.mentions_stand_in() || sig.params.iter().any(|ty| ty.mentions_stand_in()),
            TypeKind::SzArray(of) | TypeKind::Array { element: of, .. } | TypeKind::Ptr(of) | TypeKind::ByRef(of) => {
                of.mentions_stand_in()
            }
            TypeKind::Def(_) => false,
        }
    }

    /// Whether the two are one type in every method of the shared form; None if that depends on the method.
    pub fn is_same_in_all(&'static self, other: Ty) -> Option<bool> {
        if self == other {
            return Some(true);
        }
        let may_be_equal = self.mentions_stand_in() || other.mentions_stand_in();
        (!may_be_equal || self.is_value_type() != other.is_value_type()).then_some(false)
    }
}

impl Universe {
    /// The stand-in of a generic parameter.
    fn stand_in_of(&self, parameter: Ty) -> LoadResult<Ty> {
        let Some(param) = parameter.generic_param() else { return Err(refused(parameter)) };
        let copy = GenericParam { image: param.image, name: param.name, ..*param };
        let kind = match &parameter.kind {
            TypeKind::Var(_) => TypeKind::Var(copy),
            _ => TypeKind::MVar(copy),
        };
        Ok(Self::intern(self, ConstructedKey::StandIn(parameter), collectible::owner_of(parameter), || {
            Type::new(kind, ElementType::Class, &[], false)
        }))
    }

    /// The arguments, with stand-ins in place of reference types.
    fn shared_arguments(&self, args: &[Ty], parameters: &[Ty]) -> LoadResult<Vec<Ty>> {
        let pairs = args.iter().zip(parameters);
        pairs
            .map(|(&arg, parameter)| if arg.is_reference_type() { self.stand_in_of(parameter) } else { Ok(arg) })
            .collect()
    }
}

fn refused(ty: Ty) -> LoadError {
    LoadError::type_load("a shared form cannot be made", ty.full_name())
}

impl Method {
    /// Whether an argument of the method or its type is a reference type.
    pub fn has_reference_argument(&self) -> bool {
        self.owner.args.iter().chain(self.generic_args()).any(|arg| arg.is_reference_type())
    }

    /// The shared form of an exact method that has reference types among its arguments.
    ///
    /// # Errors
    /// `BadImageFormat`; `TypeLoad`, also for methods without a row.
    pub fn shared_form(&'static self) -> LoadResult<&'static Method> {
        let universe = self.owner.universe();
        let (Some(rid), MethodKind::Def { .. }) = (self.rid(), &self.kind) else { return Err(refused(self.owner)) };
        let owner = match self.owner.generic_definition() {
            Some(definition) => {
                universe.instantiate(definition, &universe.shared_arguments(self.owner.args, definition.args)?)?
            }
            None => self.owner,
        };
        let method = owner.method_by_rid(rid)?;
        if self.generic_args().is_empty() {
            return Ok(method);
        }
        universe.instantiate_method(method, &universe.shared_arguments(self.generic_args(), method.generic_args())?)
    }
}

/// Loads what code that names this type relies on, if it may fail: what the importer asks of types that mention no
/// stand-in.
///
/// # Errors
/// `TypeLoad`; the binder's errors.
pub fn require_loadable(mut ty: Ty) -> LoadResult<()> {
    while let Some(element) = ty.element() {
        ty = element;
    }
    if !ty.is_open && ty.def().is_some() && !ty.is_of_class_libraries() {
        ty.vtable_layout()?;
        if !ty.is_interface() {
            ty.instance_layout()?;
        }
    }
    Ok(())
}

/// The way from a shared form to one of its methods.
#[derive(Clone, Copy)]
pub struct Instantiation {
    class_args: &'static [Ty],
    method_args: &'static [Ty],
}

impl Instantiation {
    /// The way to this exact method.
    pub fn of(method: &'static Method) -> Instantiation {
        Instantiation { class_args: method.owner.args, method_args: method.generic_args() }
    }

    /// The type that `ty`, which code of the shared form names, is in the method.
    ///
    /// # Errors
    /// `TypeLoad` from instantiation.
    pub fn ty(&self, ty: Ty) -> LoadResult<Ty> {
        if !ty.mentions_stand_in() {
            return Ok(ty);
        }
        let universe = ty.universe();
        let argument = |args: &[Ty], index: u32| args.get(index as usize).copied().ok_or_else(|| refused(ty));
        Ok(match &ty.kind {
            TypeKind::Var(param) => argument(self.class_args, param.index)?,
            TypeKind::MVar(param) => argument(self.method_args, param.index)?,
            TypeKind::SzArray(of) => universe.sz_array_of(self.ty(of)?),
            TypeKind::Array { element, rank } => universe.array_of(self.ty(element)?, *rank),
            TypeKind::Ptr(of) => universe.pointer_to(self.ty(of)?),
            TypeKind::ByRef(of) => universe.byref_to(self.ty(of)?),
            TypeKind::Inst { definition } => universe.instantiate(definition, &self.types(ty.args)?)?,
            TypeKind::FnPtr(_) | TypeKind::Def(_) => return Err(refused(ty)),
        })
    }

    fn types(&self, types: &[Ty]) -> LoadResult<Vec<Ty>> {
        types.iter().map(|ty| self.ty(ty)).collect()
    }

    /// See `ty`.
    ///
    /// # Errors
    /// `TypeLoad` from instantiation.
    pub fn method(&self, method: &'static Method) -> LoadResult<&'static Method> {
        if let MethodKind::Remoting(stub) = method.kind {
            return Ok(match stub {
                RemotingStub::Invoke(target) => RemotingStub::Invoke(self.method(target)?),
                RemotingStub::Call(target) => RemotingStub::Call(self.method(target)?),
                RemotingStub::GetField(field) => RemotingStub::GetField(self.field(field)?),
                RemotingStub::SetField(field) => RemotingStub::SetField(self.field(field)?),
                RemotingStub::FieldAddress(field) => RemotingStub::FieldAddress(self.field(field)?),
            }
            .method());
        }
        let mentions =
            method.owner.mentions_stand_in() || method.generic_args().iter().any(|arg| arg.mentions_stand_in());
        if !mentions {
            return Ok(method);
        }
        let owner = self.ty(method.owner)?;
        let found = match method.kind {
            MethodKind::Def { rid, .. } => owner.method_by_rid(rid)?,
            MethodKind::Array(_) => {
                let position = method.owner.methods()?.position(|other| other == method);
                position.and_then(|position| owner.methods().ok()?.nth(position)).ok_or_else(|| refused(owner))?
            }
            _ => return Err(refused(owner)),
        };
        match method.definition() {
            Some(_) => owner.universe().instantiate_method(found, &self.types(method.generic_args())?),
            None => Ok(found),
        }
    }

    /// See `ty`.
    ///
    /// # Errors
    /// `TypeLoad` from instantiation.
    pub fn field(&self, field: &'static Field) -> LoadResult<&'static Field> {
        if !field.owner.mentions_stand_in() {
            return Ok(field);
        }
        self.ty(field.owner)?.field_by_rid(field.rid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::class_libraries;
    use crate::universe;

    /// `System.Collections.Generic.NAME` over these types.
    fn collection(name: &str, args: &[Ty]) -> Ty {
        let definition = universe().corlib().find_type("System.Collections.Generic", name);
        universe().instantiate(definition.expect("readable").expect("it is there"), args).expect("an instantiation")
    }

    fn method(ty: Ty, name: &str) -> &'static Method {
        ty.methods_named(name).expect("methods load")[0]
    }

    fn form(method: &'static Method) -> &'static Method {
        method.shared_form().expect("it has a shared form")
    }

    #[test]
    fn methods_that_differ_in_reference_types_have_one_form() {
        if class_libraries().is_none() {
            return;
        }
        let (string, object, int) = (universe().string(), universe().object(), universe().int32());
        let add = |arg| method(collection("List`1", &[arg]), "Add");
        assert!(!add(int).has_reference_argument());
        assert_eq!(form(add(string)), form(add(universe().sz_array_of(int))));
        let find = |key, value| method(collection("Dictionary`2", &[key, value]), "TryGetValue");
        assert_eq!(form(find(string, int)), form(find(object, int)));
        assert_ne!(form(find(string, int)), form(find(int, string)));
        assert_ne!(form(find(string, int)), form(find(string, object)));
        // Generic methods of generic types.
        let convert = |arg, to| {
            let definition = method(collection("List`1", &[arg]), "ConvertAll");
            universe().instantiate_method(definition, &[to]).expect("an instantiation")
        };
        assert_eq!(form(convert(string, object)), form(convert(object, string)));
        assert_ne!(form(convert(string, object)), form(convert(string, int)));
        assert_ne!(form(convert(int, string)), form(convert(int, int)));
    }

    #[test]
    fn a_form_leads_back_to_each_of_its_methods() {
        if class_libraries().is_none() {
            return;
        }
        let (string, object, int) = (universe().string(), universe().object(), universe().int32());
        for (key, value) in [(string, object), (object, string), (string, int), (object, object)] {
            let dictionary = collection("Dictionary`2", &[key, value]);
            let found = method(dictionary, "TryGetValue");
            let (shared, to) = (form(found), Instantiation::of(found));
            assert_eq!(to.method(shared).expect("it leads back"), found);
            assert_eq!(to.ty(shared.owner).expect("it leads back"), dictionary);
            for (stand_in, exact) in shared.sig().expect("a signature").params.iter().zip(&found.sig().unwrap().params)
            {
                assert_eq!(to.ty(stand_in).expect("it leads back"), *exact);
            }
            let field = shared.owner.fields().expect("fields")[0];
            let exact = to.field(field).expect("it leads back");
            assert!(exact.owner == dictionary && exact.rid == field.rid);
            // Layouts and slots are the same.
            let layout = |ty: Ty| ty.instance_layout().expect("a layout").ref_offsets.clone();
            assert_eq!(layout(shared.owner), layout(dictionary));
            assert_eq!(shared.vtable_slot().expect("a slot"), found.vtable_slot().expect("a slot"));
        }
    }

    #[test]
    fn what_may_be_equal_elsewhere_is_not_said_to_differ() {
        if class_libraries().is_none() {
            return;
        }
        let (string, int) = (universe().string(), universe().int32());
        let list = form(method(collection("List`1", &[string]), "Add")).owner;
        let stand_in = list.args[0];
        assert!(stand_in.mentions_stand_in() && universe().sz_array_of(list).mentions_stand_in());
        assert!(!list.generic_definition().expect("generic").mentions_stand_in());
        assert!(stand_in.is_reference_type() && !stand_in.is_open && !stand_in.is_sealed());
        assert_eq!(stand_in.is_same_in_all(stand_in), Some(true));
        assert_eq!(stand_in.is_same_in_all(string), None);
        assert_eq!(collection("List`1", &[string]).is_same_in_all(list), None);
        assert_eq!(stand_in.is_same_in_all(int), Some(false));
        assert_eq!(string.is_same_in_all(universe().object()), Some(false));
        assert!(stand_in.is_assignable_to(universe().object()).expect("it loads"));
    }
}
