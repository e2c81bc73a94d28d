//! Classes: creating the type of a TypeDef row, its parent, members, constructors.

use crate::attributes::attribute_class;
use crate::collectible;
use crate::domain::Image;
use crate::error::{LoadError, LoadResult};
use crate::field::{Field, field_flags};
use crate::lazy_word::LazyRef;
use crate::load_texts;
use crate::method::{ArrayMethod, Method, MethodGenerics, MethodKind, method_flags};
use crate::signature;
use crate::ty::GenericContext;
use crate::ty::{GenericParam, Ty, Type, TypeDef, TypeKind};
use rustc_hash::FxHashMap;
use saki_contract::LibraryType;
use saki_metadata::{ElementType, Rid, TableId, Token};
use std::iter::Copied;
use std::slice::Iter;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

pub use crate::attributes::{attribute_blob, has_attribute};
pub use crate::ty::ClassInfo;

/// Creates the type of TypeDef row `rid`; the caller holds the loader lock and caches the result.
pub(crate) fn create_type_def(image: &'static Image, rid: Rid) -> LoadResult<Ty> {
    let row = image.meta.type_def(rid)?;
    let (name, namespace) = (image.meta.string(row.name)?, image.meta.string(row.namespace)?);
    let enclosing = image.meta.enclosing_class(rid);
    check_enclosing(image, rid, name)?;
    let token = Token::new(TableId::TypeDef, rid);
    let args = generic_params(image, token)?;
    let is_system = image.is_corlib && namespace == "System" && enclosing.is_none();
    let element_type = match is_system.then(|| primitive_of_name(name)).flatten() {
        Some(primitive) => primitive,
        None if extends_value_type(image, row.extends)? && !(is_system && name == "Enum") => ElementType::ValueType,
        None => ElementType::Class,
    };
    let def = TypeDef { image, rid, flags: row.flags, name, namespace, extends: row.extends, enclosing };
    Ok(collectible::keep_beside(image, Type::new(TypeKind::Def(def), element_type, args, !args.is_empty())))
}

/// A type may not be nested in itself, directly or through others: names and access checks follow the chain to its end.
fn check_enclosing(image: &Image, rid: Rid, name: &str) -> LoadResult<()> {
    let mut at = rid;
    for _ in 0..image.meta.row_count(TableId::TypeDef) {
        match image.meta.enclosing_class(at) {
            Some(outer) => at = outer,
            None => return Ok(()),
        }
    }
    Err(LoadError::type_load(format!("Could not load type '{name}': it is nested in itself"), name))
}

fn primitive_of_name(name: &str) -> Option<ElementType> {
    use ElementType as E;
    Some(match name {
        "Void" => E::Void,
        "Boolean" => E::Boolean,
        "Char" => E::Char,
        "SByte" => E::I1,
        "Byte" => E::U1,
        "Int16" => E::I2,
        "UInt16" => E::U2,
        "Int32" => E::I4,
        "UInt32" => E::U4,
        "Int64" => E::I8,
        "UInt64" => E::U8,
        "Single" => E::R4,
        "Double" => E::R8,
        "String" => E::String,
        "Object" => E::Object,
        "IntPtr" => E::I,
        "UIntPtr" => E::U,
        "TypedReference" => E::TypedByRef,
        _ => return None,
    })
}

/// Whether the `extends` token names System.ValueType or System.Enum, by name as ECMA-335 §II.10.1.3 allows.
fn extends_value_type(image: &Image, extends: Token) -> LoadResult<bool> {
    let (name, namespace) = match extends.table() {
        TableId::TypeRef => {
            let row = image.meta.type_ref(extends.rid())?;
            (row.name, row.namespace)
        }
        TableId::TypeDef if !extends.is_nil() => {
            if !image.is_corlib {
                return Ok(false);
            }
            let row = image.meta.type_def(extends.rid())?;
            (row.name, row.namespace)
        }
        _ => return Ok(false),
    };
    let name = image.meta.string(name)?;
    Ok((name == "ValueType" || name == "Enum") && image.meta.string(namespace)? == "System")
}

/// The numbers of generic parameters have 16 bits. ECMA-335 §II.22.20.
const MAX_GENERIC_PARAMS: usize = 0xffff;

/// The generic parameters that `owner` (TypeDef or MethodDef) declares, as types.
pub(crate) fn generic_params(image: &'static Image, owner: Token) -> LoadResult<&'static [Ty]> {
    let range = image.meta.generic_params(owner)?;
    if range.is_empty() {
        return Ok(&[]);
    }
    if range.len() > MAX_GENERIC_PARAMS {
        let message = format!("Could not load {owner:?} of {image:?}: it has {} type parameters", range.len());
        return Err(LoadError::type_load(message, ""));
    }
    let mut out: Vec<Ty> = Vec::new();
    for rid in range {
        let row = image.meta.generic_param(rid)?;
        let param = GenericParam {
            image,
            rid,
            name: image.meta.string(row.name)?,
            index: u32::from(row.number),
            flags: u32::from(row.flags),
            owner,
        };
        let (kind, element) = if owner.table() == TableId::MethodDef {
            (TypeKind::MVar(param), ElementType::MVar)
        } else {
            (TypeKind::Var(param), ElementType::Var)
        };
        out.push(collectible::keep_beside(image, Type::new(kind, element, &[], true)));
    }
    out.sort_by_key(|t| t.generic_param().map(|p| p.index));
    Ok(collectible::keep_slice_with(collectible::owner_of(image), out))
}

fn no_base(ty: Ty) -> LoadError {
    LoadError::type_load(
        format!("Could not load type '{}': it is a class without a base class", ty.full_name()),
        ty.full_name(),
    )
}

fn find_parent(ty: Ty) -> LoadResult<Option<Ty>> {
    let universe = ty.universe();
    match &ty.kind {
        TypeKind::SzArray(_) | TypeKind::Array { .. } => return Ok(Some(universe.array())),
        TypeKind::Def(_) | TypeKind::Inst { .. } => {}
        TypeKind::Var(_) | TypeKind::MVar(_) => return Ok(Some(universe.object())),
        _ => return Ok(None),
    }
    ty.parent.get(&|| ty.full_name(), || {
        let def = ty.def().expect("matched above");
        if def.extends.is_nil() {
            // Row 1 is the class of the module's own functions and fields, `<Module>`.
            let has_no_base = ty.is_interface() || def.rid == 1 || ty.element_type == ElementType::Object;
            return if has_no_base { Ok(None) } else { Err(no_base(ty)) };
        }
        let context = GenericContext { class_args: ty.args, method_args: &[] };
        let parent = def.image.resolve_type(def.extends, &context)?;
        if parent.is_interface() || (parent.is_sealed() && ty.element_type == ElementType::Class) {
            let because =
                if parent.is_interface() { "the parent type is an interface" } else { "the parent type is sealed" };
            return Err(load_texts::type_refused(ty, because, || {
                format!(
                    "Could not load type '{}': parent type '{}' is not a class that may be inherited",
                    ty.full_name(),
                    parent.full_name()
                )
            }));
        }
        let mut at = Some(parent);
        while let Some(ancestor) = at {
            if ancestor.generic_definition().unwrap_or(ancestor) == ty.generic_definition().unwrap_or(ty)
                && ancestor == ty
            {
                return Err(LoadError::type_load(
                    format!("Type '{}' inherits from itself", ty.full_name()),
                    ty.full_name(),
                ));
            }
            at = ancestor.parent()?;
        }
        Ok(Some(parent))
    })
}

fn build_class(ty: Ty) -> LoadResult<&'static ClassInfo> {
    if ty.is_array() {
        return Ok(collectible::keep_beside(ty, array_class(ty)));
    }
    let Some(def) = ty.def() else {
        let none = ClassInfo {
            all_methods: OnceLock::new(),
            by_name: OnceLock::new(),
            first_method: 1,
            methods: Box::new([]),
            fields: Box::new([]),
            first_field: 1,
        };
        return Ok(collectible::keep_beside(ty, none));
    };
    let methods = def.image.meta.type_def_methods(def.rid)?;
    let field_range = def.image.meta.type_def_fields(def.rid)?;
    let mut fields: Vec<&'static Field> = Vec::with_capacity(field_range.len());
    for rid in field_range.clone() {
        let row = def.image.meta.field(rid)?;
        let is_plain_static = row.flags & (field_flags::STATIC | field_flags::LITERAL) == field_flags::STATIC;
        let (mut is_thread_static, mut is_context_static) = (false, false);
        if is_plain_static {
            for row in def.image.meta.custom_attributes(Token::new(TableId::Field, rid)) {
                match attribute_class(def.image.meta, row?.constructor)? {
                    Some(("System", "ThreadStaticAttribute")) => is_thread_static = true,
                    // Without contexts such a field is a static field as any other.
                    Some(("System", "ContextStaticAttribute")) => {
                        is_context_static = ty.universe().profile().type_name(LibraryType::Context).is_some();
                    }
                    _ => {}
                }
            }
        }
        let field = Field {
            owner: ty,
            rid,
            name: def.image.meta.string(row.name)?,
            flags: row.flags,
            is_thread_static: is_thread_static || is_context_static,
            is_context_static,
            reflection_handle: AtomicU32::new(0),
            ty: LazyRef::default(),
            offset_bytes: AtomicU32::new(u32::MAX),
        };
        fields.push(collectible::keep_beside(ty, field));
    }
    let class = ClassInfo {
        all_methods: OnceLock::new(),
        by_name: OnceLock::new(),
        first_method: methods.start,
        methods: methods.map(|_| LazyRef::default()).collect(),
        fields: fields.into_boxed_slice(),
        first_field: field_range.start,
    };
    Ok(collectible::keep_beside(ty, class))
}

fn array_class(ty: Ty) -> ClassInfo {
    let mut kinds = vec![(".ctor", ArrayMethod::Ctor)];
    if ty.is_sz_array() {
        kinds.extend((2..=signature::nesting(ty)).map(|levels| (".ctor", ArrayMethod::CtorNested(levels))));
    } else {
        kinds.push((".ctor", ArrayMethod::CtorBounds));
    }
    kinds.extend([("Get", ArrayMethod::Get), ("Address", ArrayMethod::Address), ("Set", ArrayMethod::Set)]);
    let methods = kinds
        .into_iter()
        .map(|(name, kind)| {
            let special = if name == ".ctor" { method_flags::SPECIAL_NAME | method_flags::RT_SPECIAL_NAME } else { 0 };
            let method =
                Method { flags: method_flags::PUBLIC | special, ..Method::new(ty, MethodKind::Array(kind), name) };
            LazyRef::from(collectible::keep_beside(ty, method))
        })
        .collect();
    ClassInfo {
        first_method: 1,
        methods,
        all_methods: OnceLock::new(),
        by_name: OnceLock::new(),
        fields: Box::new([]),
        first_field: 1,
    }
}

fn create_method(owner: Ty, image: &'static Image, rid: Rid) -> LoadResult<&'static Method> {
    let row = image.meta.method_def(rid)?;
    let name = image.meta.string(row.name)?;
    let method = Method {
        flags: row.flags,
        impl_flags: row.impl_flags
            | if is_qcall(image, row.flags, rid)? { crate::method::impl_flags::INTERNAL_CALL } else { 0 },
        generics: generics_of_definition(owner, method_params_of(owner, image, rid)?),
        ..Method::new(owner, MethodKind::Def { image, rid }, name)
    };
    Ok(collectible::keep_beside(owner, method))
}

/// What a method of these type arguments has that is no instantiation, kept as long as its type.
pub(crate) fn generics_of_definition(owner: Ty, args: &'static [Ty]) -> Option<&'static MethodGenerics> {
    (!args.is_empty()).then(|| collectible::keep_beside(owner, MethodGenerics { args, definition: None }))
}

/// Whether a P/Invoke calls the machine: in .NET's core assembly those into "QCall" do. They are internal calls here.
fn is_qcall(image: &'static Image, flags: u16, rid: Rid) -> LoadResult<bool> {
    if flags & method_flags::PINVOKE == 0 || !image.is_corlib {
        return Ok(false);
    }
    let Some(row) = image.meta.impl_map(Token::new(TableId::MethodDef, rid))? else { return Ok(false) };
    Ok(image.meta.string(image.meta.module_ref(row.import_scope)?.name)? == QCALL_MODULE)
}

/// The module of P/Invokes that call the machine.
const QCALL_MODULE: &str = "QCall";

impl Method {
    /// The entry point of a P/Invoke that calls the machine (`QCALL_MODULE`); None for other methods.
    pub fn qcall_entry(&self) -> Option<&'static str> {
        if self.flags & method_flags::PINVOKE == 0 || !self.is_internal_call() {
            return None;
        }
        let MethodKind::Def { image, rid } = self.kind else { return None };
        let row = image.meta.impl_map(Token::new(TableId::MethodDef, rid)).ok()??;
        image.meta.string(row.import_name).ok()
    }
}

/// The parameters of a generic method definition; shared by all instantiations of the owner.
fn method_params_of(owner: Ty, image: &'static Image, rid: Rid) -> LoadResult<&'static [Ty]> {
    match &owner.kind {
        TypeKind::Inst { definition } => Ok(definition.method_by_rid(rid)?.generic_args()),
        _ => generic_params(image, Token::new(TableId::MethodDef, rid)),
    }
}

impl Image {
    /// The type `<Module>`, which has the global methods and fields, if it has methods. None for the class library and
    /// for dynamic methods.
    pub fn module_type(&'static self) -> Option<Ty> {
        // Most images have no global methods, so that their module type need not be made.
        if self.is_corlib
            || self.is_of_dynamic_method()
            || self.meta.type_def_methods(1).is_ok_and(|methods| methods.is_empty())
        {
            return None;
        }
        self.type_def(1).ok()
    }
}

impl Type {
    /// Base type; None for Object, interfaces, pointers, byrefs.
    ///
    /// # Errors
    /// `TypeLoad` and the binder's errors.
    pub fn parent(&'static self) -> LoadResult<Option<Ty>> {
        find_parent(self)
    }

    fn class_info(&'static self) -> LoadResult<&'static ClassInfo> {
        self.class.get(&|| self.full_name(), || build_class(self))
    }

    /// Own fields in metadata order.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn fields(&'static self) -> LoadResult<&'static [&'static Field]> {
        Ok(&self.class_info()?.fields)
    }

    /// The own field of Field row `rid`.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn field_by_rid(&'static self, rid: Rid) -> LoadResult<&'static Field> {
        let info = self.class_info()?;
        let index = rid.wrapping_sub(info.first_field) as usize;
        info.fields.get(index).copied().ok_or_else(|| self.image().bad_token(Token::new(TableId::Field, rid)))
    }

    /// The own method of MethodDef row `rid`.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn method_by_rid(&'static self, rid: Rid) -> LoadResult<&'static Method> {
        let info = self.class_info()?;
        let index = rid.wrapping_sub(info.first_method) as usize;
        let Some(cell) = info.methods.get(index) else {
            return Err(self.image().bad_token(Token::new(TableId::MethodDef, rid)));
        };
        // If two threads make the record at the same time, the first stays, and nothing refers to the other.
        cell.find(|| {
            let def = self.def().expect("array methods are created at once");
            create_method(self, def.image, rid)
        })
    }

    /// Own methods in metadata order.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn methods(&'static self) -> LoadResult<Copied<Iter<'static, &'static Method>>> {
        Ok(self.method_slice()?.iter().copied())
    }

    pub(crate) fn method_slice(&'static self) -> LoadResult<&'static [&'static Method]> {
        let info = self.class_info()?;
        if let Some(all) = info.all_methods.get() {
            return Ok(all);
        }
        let all = (0..info.methods.len() as u32).map(|i| self.method_by_index(i)).collect::<LoadResult<_>>()?;
        Ok(info.all_methods.get_or_init(|| all))
    }

    /// Own virtual methods in metadata order, without creating the others.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub(crate) fn virtual_methods(&'static self) -> LoadResult<Vec<&'static Method>> {
        self.methods_with(method_flags::VIRTUAL)
    }

    /// Own virtual methods that are static, in metadata order, without creating the others.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub(crate) fn static_virtual_methods(&'static self) -> LoadResult<Vec<&'static Method>> {
        self.methods_with(method_flags::VIRTUAL | method_flags::STATIC)
    }

    /// Own methods that have all of these flags.
    fn methods_with(&'static self, flags: u16) -> LoadResult<Vec<&'static Method>> {
        let info = self.class_info()?;
        let mut out = Vec::new();
        for index in 0..info.methods.len() as u32 {
            let own_flags = match (info.methods[index as usize].get_if_ready(), self.def()) {
                (Some(method), _) => method.flags,
                (None, Some(def)) => def.image.meta.method_def(info.first_method + index)?.flags,
                (None, None) => 0,
            };
            if own_flags & flags == flags {
                out.push(self.method_by_index(index)?);
            }
        }
        Ok(out)
    }

    /// The number, name and kind of each own method in metadata order, without creating methods: its row, and whether
    /// it is a generic definition.
    ///
    /// # Errors
    /// `BadImageFormat`, also as items.
    pub(crate) fn method_outlines(
        &'static self,
    ) -> LoadResult<impl Iterator<Item = LoadResult<(Rid, &'static str, bool)>> + use<>> {
        let info = self.class_info()?;
        Ok((0..info.methods.len() as u32).map(move |index| {
            let rid = info.first_method + index;
            let (Some(def), None) = (self.def(), info.methods[index as usize].get_if_ready()) else {
                let method = self.method_by_index(index)?;
                return Ok((method.rid().unwrap_or(0), method.name, method.is_generic_definition()));
            };
            let meta = &def.image.meta;
            let is_generic = !meta.generic_params(Token::new(TableId::MethodDef, rid))?.is_empty();
            Ok((rid, meta.string(meta.method_def(rid)?.name)?, is_generic))
        }))
    }

    fn method_by_index(&'static self, index: u32) -> LoadResult<&'static Method> {
        let info = self.class_info()?;
        match info.methods[index as usize].get_if_ready() {
            Some(method) => Ok(method),
            None => self.method_by_rid(info.first_method + index),
        }
    }

    /// Own methods of this name, without creating the others.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn methods_named(&'static self, name: &str) -> LoadResult<Vec<&'static Method>> {
        let info = self.class_info()?;
        let mut out = Vec::new();
        for index in 0..info.methods.len() as u32 {
            if self.is_method_named(info, index, name) {
                out.push(self.method_by_index(index)?);
            }
        }
        Ok(out)
    }

    /// Whether an own method, which need not have been created, has this name.
    fn is_method_named(&'static self, info: &'static ClassInfo, index: u32, name: &str) -> bool {
        match (info.methods[index as usize].get_if_ready(), self.def()) {
            (Some(method), _) => method.name == name,
            (None, Some(def)) => def.image.meta.is_method_named(info.first_method + index, name),
            (None, None) => false,
        }
    }

    /// Own methods of this name, from an index by name that the first call builds; for reflection, which asks often.
    ///
    /// # Errors
    /// `BadImageFormat`, also as items.
    pub fn indexed_methods(
        &'static self,
        name: &str,
    ) -> LoadResult<impl Iterator<Item = LoadResult<&'static Method>> + use<>> {
        let info = self.class_info()?;
        let by_name = match info.by_name.get() {
            Some(made) => made,
            None => {
                let mut made: FxHashMap<&'static str, Vec<u32>> = FxHashMap::default();
                for index in 0..info.methods.len() as u32 {
                    if let Some(name) = self.method_name(info, index)? {
                        made.entry(name).or_default().push(index);
                    }
                }
                info.by_name.get_or_init(|| Box::new(made))
            }
        };
        let named: &'static [u32] = by_name.get(name).map_or(&[], Vec::as_slice);
        Ok(named.iter().map(|&index| self.method_by_index(index)))
    }

    /// The name of an own method, which need not have been created.
    fn method_name(&'static self, info: &'static ClassInfo, index: u32) -> LoadResult<Option<&'static str>> {
        match (info.methods[index as usize].get_if_ready(), self.def()) {
            (Some(method), _) => Ok(Some(method.name)),
            (None, Some(def)) => {
                let row = def.image.meta.method_def(info.first_method + index)?;
                Ok(Some(def.image.meta.string(row.name)?))
            }
            (None, None) => Ok(None),
        }
    }

    /// The own method with this name and number of parameters.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn find_method(&'static self, name: &str, param_count: usize) -> LoadResult<Option<&'static Method>> {
        for method in self.methods_named(name)? {
            if method.parameter_count()? == param_count {
                return Ok(Some(method));
            }
        }
        Ok(None)
    }

    /// The own method with this name and these parameter types.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn find_method_sig(&'static self, name: &str, params: &[Ty]) -> LoadResult<Option<&'static Method>> {
        for method in self.methods_named(name)? {
            if method.parameter_count()? == params.len() && method.sig()?.params == params {
                return Ok(Some(method));
            }
        }
        Ok(None)
    }

    /// The own field of this name.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn find_field(&'static self, name: &str) -> LoadResult<Option<&'static Field>> {
        Ok(self.fields()?.iter().copied().find(|f| f.name == name))
    }

    /// `.cctor`, if the type has one.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn class_constructor(&'static self) -> LoadResult<Option<&'static Method>> {
        if self.def().is_none() {
            return Ok(None);
        }
        let info = self.class_info()?;
        for index in 0..info.methods.len() as u32 {
            if self.is_method_named(info, index, ".cctor") {
                let method = self.method_by_index(index)?;
                if method.is_class_constructor() {
                    return Ok(Some(method));
                }
            }
        }
        Ok(None)
    }

    /// Whether a constructor must run before the type's static fields are used: the type's own, or its module's
    /// (a global `.cctor`, ECMA-335 §II.22.37).
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn has_initializer(&'static self) -> LoadResult<bool> {
        if self.class_constructor()?.is_some() {
            return Ok(true);
        }
        match self.def().and_then(|def| def.image.module_type()) {
            Some(module) => Ok(module.class_constructor()?.is_some()),
            None => Ok(false),
        }
    }

    /// `System.Enum` is the direct parent.
    pub fn is_enum(&'static self) -> bool {
        self.element_type == ElementType::ValueType
            && matches!(self.parent(), Ok(Some(p)) if p == p.universe().enum_type())
    }

    /// An instantiation of `Nullable<T>` (or its definition).
    pub fn is_nullable(&'static self) -> bool {
        self.generic_definition().is_some_and(|d| d == d.universe().nullable())
    }

    /// Derives from MulticastDelegate.
    pub fn is_delegate(&'static self) -> bool {
        self.def().is_some() && matches!(self.parent(), Ok(Some(p)) if p == p.universe().multicast_delegate())
    }

    /// An enum's integer type; any other type itself.
    pub fn underlying(&'static self) -> Ty {
        if !self.is_enum() {
            return self;
        }
        let value = self.fields().ok().and_then(|fields| fields.iter().copied().find(|f| !f.is_static()));
        value.and_then(|f| f.ty().ok()).unwrap_or(self)
    }

    /// An enum must have a field of its integer type. ECMA-335 §II.14.3.
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn require_enum_base(&'static self) -> LoadResult<()> {
        if self.is_enum() && self.underlying() == self {
            return Err(LoadError::type_load("Could not find base type", self.full_name()));
        }
        Ok(())
    }

    /// Enclosing type definition of a nested type.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn enclosing_type(&'static self) -> LoadResult<Option<Ty>> {
        match self.def() {
            Some(def) => def.enclosing.map(|rid| def.image.type_def(rid)).transpose(),
            None => Ok(None),
        }
    }
}

/// The context in which a parameter's constraints are decoded: the parameters of its owner and, for a method, of the
/// declaring type.
///
/// # Errors
/// `BadImageFormat`.
pub fn context_of_param(param: &GenericParam) -> LoadResult<GenericContext> {
    if param.owner.table() == TableId::MethodDef {
        let owner = param.image.type_def(param.image.meta.type_of_method(param.owner.rid())?)?;
        let method_args = owner.method_by_rid(param.owner.rid())?.generic_args();
        return Ok(GenericContext { class_args: owner.args, method_args });
    }
    let owner = param.image.type_def(param.owner.rid())?;
    Ok(GenericContext { class_args: owner.args, method_args: &[] })
}

impl Method {
    /// The CIL body; None for abstract, native and runtime-supplied methods.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn body(&'static self) -> LoadResult<Option<saki_metadata::MethodBody<'static>>> {
        if let MethodKind::Dynamic(Image { dynamic: Some(code), .. }) = self.kind {
            return code.method_body().map(Some);
        }
        let MethodKind::Def { image, rid } = self.kind else { return Ok(None) };
        let row = image.meta.method_def(rid)?;
        if row.rva == 0 || self.impl_flags & 0x1007 != 0 {
            return Ok(None);
        }
        Ok(Some(image.meta.method_body(row.rva)?))
    }
}
