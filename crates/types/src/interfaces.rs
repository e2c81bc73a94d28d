//! The interfaces that a type implements, declared and inherited, with exact generic arguments.

use crate::class::context_of_param;
use crate::collectible;
use crate::domain::Universe;
use crate::error::{LoadError, LoadResult};
use crate::load_texts;
use crate::ty::GenericContext;
use crate::ty::{Ty, Type, TypeKind};

pub use crate::ty::InterfaceList;

impl Type {
    /// # Errors
    /// `TypeLoad`, the binder's errors.
    pub fn interface_list(&'static self) -> LoadResult<&'static InterfaceList> {
        self.interfaces.get(&|| self.full_name(), || compute(self).map(|l| collectible::keep_beside(self, l)))
    }

    /// All implemented interfaces, exact.
    ///
    /// # Errors
    /// `TypeLoad`, the binder's errors.
    pub fn interfaces(&'static self) -> LoadResult<&'static [Ty]> {
        Ok(&self.interface_list()?.all)
    }
}

fn add(out: &mut Vec<Ty>, ty: Ty) {
    if !out.contains(&ty) {
        out.push(ty);
    }
}

/// Number of the declared interfaces together with those that they inherit.
fn own_count(declared: &[Ty]) -> LoadResult<usize> {
    let mut own = Vec::new();
    for &interface in declared {
        add(&mut own, interface);
        for &inherited in interface.interfaces()? {
            add(&mut own, inherited);
        }
    }
    Ok(own.len())
}

fn compute(ty: Ty) -> LoadResult<InterfaceList> {
    let universe = ty.universe();
    let mut all = Vec::new();
    let mut declared = Vec::new();
    if let Some(parent) = ty.parent()? {
        for &interface in parent.interfaces()? {
            add(&mut all, interface);
        }
    }
    match &ty.kind {
        TypeKind::SzArray(element) if !element.is_pointer() && !element.is_byref() => {
            for generic in array_interfaces(universe) {
                let interface = universe.instantiate(generic, &[element])?;
                add(&mut all, interface);
                declared.push(interface);
                for &inherited in interface.interfaces()? {
                    add(&mut all, inherited);
                }
            }
        }
        TypeKind::Def(_) | TypeKind::Inst { .. } => {
            let def = ty.def().expect("matched above");
            let context = GenericContext { class_args: ty.args, method_args: &[] };
            for token in def.image.meta.interface_impls(def.rid) {
                let interface = def.image.resolve_type(token?, &context)?;
                if !interface.is_interface() {
                    let because = "it attempts to implement a class as an interface";
                    return Err(load_texts::type_refused(ty, because, || {
                        let (name, class) = (ty.full_name(), interface.full_name());
                        format!("Could not load type '{name}': '{class}' is not an interface")
                    }));
                }
                declared.push(interface);
                add(&mut all, interface);
                for &inherited in interface.interfaces()? {
                    add(&mut all, inherited);
                }
            }
            if let TypeKind::Inst { definition } = &ty.kind
                && own_count(&declared)? < own_count(&definition.interface_list()?.declared)?
            {
                let name = ty.full_name();
                let message = format!("Could not load type '{name}': two of its interfaces are one");
                return Err(LoadError::type_load(message, name));
            }
        }
        TypeKind::Var(param) | TypeKind::MVar(param) => {
            // For reflection, a type parameter has the interfaces of its constraints.
            let context = context_of_param(param)?;
            for token in param.image.meta.generic_param_constraints(param.rid) {
                let constraint = param.image.resolve_type(token?, &context)?;
                if constraint.is_interface() {
                    add(&mut all, constraint);
                }
                for &inherited in constraint.interfaces()? {
                    add(&mut all, inherited);
                }
            }
        }
        _ => {}
    }
    Ok(InterfaceList { all: all.into(), declared: declared.into() })
}

/// The generic interfaces every SZ array implements.
pub fn array_interfaces(u: &Universe) -> [Ty; 5] {
    [u.ilist(), u.icollection(), u.ienumerable(), u.ireadonly_list(), u.ireadonly_collection()]
}
