//! System.RuntimeType: searching the members of a type. Each search gives a GPtrArray of native handles.

use crate::handles::address;
use crate::members::{EventDefinition, Property, events_of, properties_of};
use crate::native_memory::{NativeText, pointer_array};
use crate::runtime_type::this_type;
use crate::thread_cache::ThreadCache;
use crate::type_handle::base_type;
use crate::type_lookup::same_ignoring_case;
use rustc_hash::FxHashSet;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj};
use saki_types::field::field_flags;
use saki_types::method::method_flags;
use saki_types::{LoadResult, Method, Ty};
use std::borrow::Cow;
use std::ffi::CStr;

/// System.Reflection.BindingFlags.
mod binding {
    /// Names are compared without their case.
    pub const IGNORE_CASE: i32 = 1;
    /// Members that the type inherits do not count.
    pub const DECLARED_ONLY: i32 = 2;
    /// Members of objects count.
    pub const INSTANCE: i32 = 4;
    /// Static members count.
    pub const STATIC: i32 = 8;
    /// Public members count.
    pub const PUBLIC: i32 = 0x10;
    /// Others count.
    pub const NON_PUBLIC: i32 = 0x20;
    /// Static members of the base classes count as well.
    pub const FLATTEN_HIERARCHY: i32 = 0x40;
}

/// What the name and list type of a search select.
struct NameFilter<'a> {
    /// None = all names.
    name: Option<Cow<'a, str>>,
    ignore_case: bool,
}

/// RuntimeType.MemberListType.
const LIST_ALL: i32 = 0;
const LIST_CASE_INSENSITIVE: i32 = 2;

impl<'a> NameFilter<'a> {
    fn new(name: NativeText<'a>, list_type: i32, flags: i32) -> NameFilter<'a> {
        NameFilter {
            name: name.get().filter(|_| list_type != LIST_ALL).map(CStr::to_string_lossy),
            ignore_case: list_type == LIST_CASE_INSENSITIVE || flags & binding::IGNORE_CASE != 0,
        }
    }

    /// The one name accepted, if there is one.
    fn exact_name(&self) -> Option<&str> {
        self.name.as_deref().filter(|_| !self.ignore_case)
    }

    fn accepts(&self, name: &str) -> bool {
        match &self.name {
            None => true,
            Some(wanted) if self.ignore_case => same_ignoring_case(wanted, name),
            Some(wanted) => wanted == name,
        }
    }
}

/// Whether a member with this access is found by `flags`. A private member of a base type never is.
fn access_matches(access: u16, is_own: bool, flags: i32) -> bool {
    match access {
        method_flags::PUBLIC => flags & binding::PUBLIC != 0,
        method_flags::PRIVATE => is_own && flags & binding::NON_PUBLIC != 0,
        _ => flags & binding::NON_PUBLIC != 0,
    }
}

fn kind_matches(is_static: bool, is_own: bool, flags: i32) -> bool {
    match is_static {
        true => flags & binding::STATIC != 0 && (is_own || flags & binding::FLATTEN_HIERARCHY != 0),
        false => flags & binding::INSTANCE != 0,
    }
}

/// The type and, unless only declared members are wanted, its base types.
fn search_order(ty: Ty, declared_only: bool) -> LoadResult<Vec<Ty>> {
    let mut out = Vec::new();
    if ty.is_byref() {
        return Ok(out);
    }
    let mut at = Some(ty);
    while let Some(class) = at {
        out.push(class);
        at = if declared_only { None } else { base_type(class)? };
    }
    Ok(out)
}

/// Methods other than constructors; overridden ones are left out.
struct MethodSearch {
    ty: Ty,
    flags: i32,
    overridden: FxHashSet<u32>,
    found: Vec<usize>,
}

impl MethodSearch {
    /// Looks at a method of `ty` or a base type whose name is right. (An override has the name of the method that it
    /// overrides.)
    fn visit(&mut self, method: &'static Method) -> LoadResult<()> {
        if let Some(slot) = method.vtable_slot()? {
            if self.overridden.contains(&slot) {
                return Ok(());
            }
            if !method.is_new_slot() {
                self.overridden.insert(slot);
            }
        }
        let is_own = method.owner == self.ty;
        if !matches!(method.name, ".ctor" | ".cctor")
            && access_matches(method.flags & method_flags::ACCESS_MASK, is_own, self.flags)
            && kind_matches(method.is_static(), is_own, self.flags)
        {
            self.found.push(address(method));
        }
        Ok(())
    }
}

fn find_methods(ty: Ty, filter: &NameFilter, flags: i32) -> LoadResult<Vec<usize>> {
    let mut search = MethodSearch { ty, flags, overridden: FxHashSet::default(), found: Vec::new() };
    let mut at = Some(ty).filter(|ty| !ty.is_byref());
    while let Some(class) = at {
        match filter.exact_name() {
            Some(name) => class.indexed_methods(name)?.try_for_each(|method| search.visit(method?))?,
            None => class.methods()?.filter(|m| filter.accepts(m.name)).try_for_each(|method| search.visit(method))?,
        }
        at = if flags & binding::DECLARED_ONLY != 0 { None } else { base_type(class)? };
    }
    // `Delegate.CreateDelegate` asks for public methods, and a delegate's Invoke may be private.
    if search.found.is_empty()
        && flags == binding::PUBLIC | binding::STATIC | binding::INSTANCE
        && filter.exact_name() == Some("Invoke")
        && ty.is_delegate()
    {
        search.found.extend(ty.methods()?.find(|method| method.name == "Invoke").map(address));
    }
    Ok(search.found)
}

/// A search for methods of one name, as a key of the cache.
#[derive(Clone, Copy, PartialEq, Eq)]
struct MethodQuery {
    ty: Ty,
    flags: i32,
    list_type: i32,
    /// Padded with zeros.
    name: [u64; NAME_WORDS],
}

const NAME_WORDS: usize = 2;

/// Handles of the methods that a search found, followed by 0. Nearly all searches find so few.
type FewMethods = [usize; 4];

thread_local! {
    static RECENT: ThreadCache<MethodQuery, FewMethods, 32> = const { ThreadCache::new() };
}

const _: () = assert!(size_of::<Option<(MethodQuery, FewMethods)>>() == 64);

impl MethodQuery {
    /// None for queries that are not remembered: for all names, for long names, and about generic parameters.
    fn new(ty: Ty, name: Option<&CStr>, flags: i32, list_type: i32) -> Option<MethodQuery> {
        let name = name.filter(|_| !ty.is_generic_param())?;
        let mut words = [0; NAME_WORDS];
        for (index, &byte) in name.to_bytes().iter().enumerate() {
            *words.get_mut(index / 8)? |= u64::from(byte) << (index % 8 * 8);
        }
        Some(MethodQuery { ty, flags, list_type, name: words })
    }

    fn hash(&self) -> usize {
        let name = self.name.iter().fold(0u64, |hash, &word| hash.rotate_left(21) ^ word);
        address(self.ty) ^ (name as usize).rotate_left(32) ^ self.flags as usize ^ (self.list_type as usize) << 8
    }

    #[inline(never)]
    fn find_recent(&self) -> Option<FewMethods> {
        RECENT.with(|recent| recent.get(self.hash(), self))
    }

    #[inline(never)]
    fn remember(self, found: &[usize]) {
        let mut methods = FewMethods::default();
        if let Some(handles) = methods.get_mut(..found.len()) {
            handles.copy_from_slice(found);
            RECENT.with(|recent| recent.put(self.hash(), self, methods));
        }
    }
}

fn get_methods(t: CurrentThread, this: Option<Obj>, name: NativeText, flags: i32, list_type: i32) -> Managed<usize> {
    let ty = this_type(t, this)?;
    let query = MethodQuery::new(ty, name.get(), flags, list_type);
    if let Some(known) = query.and_then(|query| query.find_recent()) {
        let count = known.iter().take_while(|&&handle| handle != 0).count();
        return Ok(pointer_array(&known[..count]) as usize);
    }
    let filter = NameFilter::new(name, list_type, flags);
    let found = find_methods(ty, &filter, flags).to_managed(t)?;
    if let Some(query) = query {
        query.remember(&found);
    }
    Ok(pointer_array(&found) as usize)
}

fn find_constructors(ty: Ty, flags: i32) -> LoadResult<Vec<usize>> {
    if ty.is_byref() {
        return Ok(Vec::new());
    }
    let mut out = Vec::new();
    for method in ty.methods()? {
        if matches!(method.name, ".ctor" | ".cctor")
            && access_matches(method.flags & method_flags::ACCESS_MASK, true, flags)
            && kind_matches(method.is_static(), true, flags)
        {
            out.push(address(method));
        }
    }
    Ok(out)
}

fn get_constructors(t: CurrentThread, this: Option<Obj>, flags: i32) -> Managed<usize> {
    let ty = this_type(t, this)?;
    Ok(pointer_array(&find_constructors(ty, flags).to_managed(t)?) as usize)
}

fn find_fields(ty: Ty, filter: &NameFilter, flags: i32) -> LoadResult<Vec<usize>> {
    let mut out = Vec::new();
    for class in search_order(ty, flags & binding::DECLARED_ONLY != 0)? {
        let is_own = class == ty;
        for field in class.fields()? {
            if field.name == "_Deleted"
                || !access_matches(field.flags & field_flags::ACCESS_MASK, is_own, flags)
                || !kind_matches(field.is_static(), is_own, flags)
                || !filter.accepts(field.name)
            {
                continue;
            }
            out.push(address(*field));
        }
    }
    Ok(out)
}

fn get_fields(t: CurrentThread, this: Option<Obj>, name: NativeText, flags: i32, list_type: i32) -> Managed<usize> {
    let ty = this_type(t, this)?;
    let filter = NameFilter::new(name, list_type, flags);
    Ok(pointer_array(&find_fields(ty, &filter, flags).to_managed(t)?) as usize)
}

/// Whether `a` hides `b`: same slot, or same signature (of the definitions, within one generic type).
fn accessor_hides(a: &'static Method, b: &'static Method) -> LoadResult<bool> {
    if let (Some(x), Some(y)) = (a.vtable_slot()?, b.vtable_slot()?)
        && x == y
    {
        return Ok(true);
    }
    let (mut a, mut b) = (a, b);
    if let (Some(x), Some(y)) = (a.owner.generic_definition(), b.owner.generic_definition())
        && x == y
        && let (Some(first), Some(second)) = (a.rid(), b.rid())
    {
        (a, b) = (x.method_by_rid(first)?, y.method_by_rid(second)?);
    }
    let (x, y) = (a.sig()?, b.sig()?);
    Ok(x.has_this == y.has_this && x.ret == y.ret && x.params == y.params)
}

fn property_hides(a: &Property, b: &Property) -> LoadResult<bool> {
    if a.name != b.name {
        return Ok(false);
    }
    if let (Some(x), Some(y)) = (a.getter, b.getter)
        && !accessor_hides(x, y)?
    {
        return Ok(false);
    }
    if let (Some(x), Some(y)) = (a.setter, b.setter)
        && !accessor_hides(x, y)?
    {
        return Ok(false);
    }
    Ok(true)
}

fn property_access_matches(property: &Property, is_own: bool, flags: i32) -> bool {
    let access = |m: Option<&'static Method>| m.map(|m| m.flags & method_flags::ACCESS_MASK);
    let (getter, setter) = (access(property.getter), access(property.setter));
    if getter == Some(method_flags::PUBLIC) || setter == Some(method_flags::PUBLIC) {
        return flags & binding::PUBLIC != 0;
    }
    let is_visible = |access: Option<u16>| access.is_some_and(|a| is_own || a != method_flags::PRIVATE);
    flags & binding::NON_PUBLIC != 0 && (is_visible(getter) || is_visible(setter))
}

fn find_properties(ty: Ty, filter: &NameFilter, flags: i32) -> LoadResult<Vec<&'static Property>> {
    let mut out: Vec<&'static Property> = Vec::new();
    for class in search_order(ty, flags & binding::DECLARED_ONLY != 0)? {
        let is_own = class == ty;
        'properties: for &property in properties_of(class)? {
            let accessor = property.getter.or(property.setter);
            if !property_access_matches(property, is_own, flags)
                || !kind_matches(accessor.is_some_and(|m| m.is_static()), is_own, flags)
                || !filter.accepts(property.name)
            {
                continue;
            }
            for earlier in &out {
                if property_hides(earlier, property)? {
                    continue 'properties;
                }
            }
            out.push(property);
        }
    }
    Ok(out)
}

fn get_properties(t: CurrentThread, this: Option<Obj>, name: NativeText, flags: i32, list_type: i32) -> Managed<usize> {
    let ty = this_type(t, this)?;
    let filter = NameFilter::new(name, list_type, 0);
    let found = find_properties(ty, &filter, flags).to_managed(t)?;
    Ok(pointer_array(&found.into_iter().map(address).collect::<Vec<_>>()) as usize)
}

/// Events hide by name; managed code filters by access.
fn find_events(ty: Ty, filter: &NameFilter) -> LoadResult<Vec<&'static EventDefinition>> {
    let mut out: Vec<&'static EventDefinition> = Vec::new();
    for class in search_order(ty, false)? {
        for &event in events_of(class)? {
            if class != ty {
                let accessor = event.add.or(event.remove).or(event.raise);
                if accessor.is_none_or(|m| m.flags & method_flags::ACCESS_MASK == method_flags::PRIVATE) {
                    continue;
                }
            }
            if filter.accepts(event.name) && out.iter().all(|earlier| earlier.name != event.name) {
                out.push(event);
            }
        }
    }
    Ok(out)
}

fn get_events(t: CurrentThread, this: Option<Obj>, name: NativeText, list_type: i32) -> Managed<usize> {
    let ty = this_type(t, this)?;
    let filter = NameFilter::new(name, list_type, 0);
    let found = find_events(ty, &filter).to_managed(t)?;
    Ok(pointer_array(&found.into_iter().map(address).collect::<Vec<_>>()) as usize)
}

/// Nested type definitions, also of an instantiation.
fn find_nested_types(ty: Ty, filter: &NameFilter, flags: i32) -> LoadResult<Vec<usize>> {
    const NESTED_PUBLIC: u32 = 2;
    let mut out = Vec::new();
    for nested in ty.nested_types()? {
        let is_public = nested.flags() & 7 == NESTED_PUBLIC;
        let wanted = if is_public { binding::PUBLIC } else { binding::NON_PUBLIC };
        // Types whose base class is missing are left out.
        if flags & wanted != 0 && nested.def().is_some_and(|d| filter.accepts(d.name)) && nested.parent().is_ok() {
            out.push(address(nested));
        }
    }
    Ok(out)
}

fn get_nested_types(
    t: CurrentThread,
    this: Option<Obj>,
    name: NativeText,
    flags: i32,
    list_type: i32,
) -> Managed<usize> {
    let ty = this_type(t, this)?;
    let filter = NameFilter::new(name, list_type, flags);
    Ok(pointer_array(&find_nested_types(ty, &filter, flags).to_managed(t)?) as usize)
}

/// The internal calls of `System.RuntimeType`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.RuntimeType::GetMethodsByName_native", &get_methods),
    InternalCall::new("System.RuntimeType::GetConstructors_native", &get_constructors),
    InternalCall::new("System.RuntimeType::GetFields_native", &get_fields),
    InternalCall::new("System.RuntimeType::GetPropertiesByName_native", &get_properties),
    InternalCall::new("System.RuntimeType::GetEvents_native", &get_events),
    InternalCall::new("System.RuntimeType::GetNestedTypes_native", &get_nested_types),
];

#[cfg(test)]
mod tests {
    use super::binding::{DECLARED_ONLY, FLATTEN_HIERARCHY, INSTANCE, NON_PUBLIC, PUBLIC, STATIC};
    use super::*;
    use crate::class_libraries::{class, load};
    use saki_types::universe;

    fn named(name: &str, ignore_case: bool) -> NameFilter<'_> {
        NameFilter { name: Some(Cow::Borrowed(name)), ignore_case }
    }

    /// The methods found, each as "Class(number of parameters)", in order.
    fn check(ty: Ty, filter: &NameFilter, flags: i32, expected: &[&str]) {
        let found = find_methods(ty, filter, flags).expect("methods load");
        let show = |&handle: &usize| {
            // SAFETY: `address` of methods, which live for ever.
            let method: &'static Method = unsafe { &*(handle as *const Method) };
            let class = method.owner.def().map_or("", |def| def.name);
            format!("{class}({})", method.sig().expect("a signature").params.len())
        };
        assert_eq!(found.iter().map(show).collect::<Vec<_>>(), expected, "{ty:?} {flags:#x}");
    }

    #[test]
    fn methods_that_are_overridden_are_found_once() {
        if !load() {
            return;
        }
        let derived = class("System", "ArgumentNullException");
        check(derived, &named("ToString", false), PUBLIC | INSTANCE, &["Exception(0)"]);
        check(derived, &named("ToString", false), PUBLIC | INSTANCE | DECLARED_ONLY, &[]);
        check(universe().exception(), &named("ToString", false), PUBLIC | INSTANCE | DECLARED_ONLY, &["Exception(0)"]);
        check(universe().object(), &named("ToString", false), PUBLIC | INSTANCE, &["Object(0)"]);
        check(derived, &named("tostring", false), PUBLIC | INSTANCE, &[]);
        check(derived, &named("tostring", true), PUBLIC | INSTANCE, &["Exception(0)"]);
    }

    #[test]
    fn access_and_kind_select() {
        if !load() {
            return;
        }
        let (text, filter) = (universe().string(), named("Equals", false));
        check(text, &filter, PUBLIC | INSTANCE, &["String(1)", "String(1)", "String(2)"]);
        check(text, &filter, PUBLIC | STATIC, &["String(2)", "String(3)"]);
        check(text, &filter, PUBLIC | STATIC | FLATTEN_HIERARCHY, &["String(2)", "String(3)", "Object(2)"]);
        check(text, &filter, PUBLIC, &[]);
        check(text, &filter, INSTANCE | STATIC, &[]);
        check(text, &filter, NON_PUBLIC | INSTANCE, &[]);
        // Family: of base classes too. Private: the class's own.
        check(text, &named("MemberwiseClone", false), NON_PUBLIC | INSTANCE, &["Object(0)"]);
        check(universe().exception(), &named("Init", false), NON_PUBLIC | INSTANCE, &["Exception(0)"]);
        check(class("System", "ArgumentException"), &named("Init", false), NON_PUBLIC | INSTANCE, &[]);
        // Constructors are not methods; types that have no members have none.
        check(text, &named(".ctor", false), PUBLIC | INSTANCE, &[]);
        check(universe().byref_to(text), &filter, PUBLIC | INSTANCE, &[]);
    }

    #[test]
    fn a_private_invoke_of_a_delegate_is_found_for_delegates() {
        let all = PUBLIC | INSTANCE | STATIC;
        if load() {
            check(class("System", "EventHandler"), &named("Invoke", false), all, &["EventHandler(2)"]);
        }
        assert!(
            access_matches(method_flags::PUBLIC, false, PUBLIC)
                && !access_matches(method_flags::PUBLIC, true, NON_PUBLIC)
        );
        assert!(
            access_matches(method_flags::PRIVATE, true, NON_PUBLIC)
                && !access_matches(method_flags::PRIVATE, false, all | NON_PUBLIC)
        );
        for access in [2, 3, 4, 5] {
            assert!(access_matches(access, false, NON_PUBLIC) && !access_matches(access, true, PUBLIC), "{access}");
        }
        assert!(kind_matches(true, true, STATIC) && !kind_matches(true, false, STATIC));
        assert!(kind_matches(true, false, STATIC | FLATTEN_HIERARCHY) && !kind_matches(true, true, INSTANCE));
        assert!(kind_matches(false, false, INSTANCE) && !kind_matches(false, true, STATIC));
    }

    #[test]
    fn queries_are_told_apart_and_long_names_are_not_remembered() {
        if !load() {
            return;
        }
        let text = universe().string();
        let query = |name: &CStr, flags, list| MethodQuery::new(text, Some(name), flags, list);
        assert!(query(c"Equals", PUBLIC, 0) == query(c"Equals", PUBLIC, 0));
        let others = [
            query(c"Equalt", PUBLIC, 0),
            query(c"Equals", STATIC, 0),
            query(c"Equals", PUBLIC, 2),
            query(c"equals", PUBLIC, 0),
        ];
        for other in others {
            assert!(other.is_some() && other != query(c"Equals", PUBLIC, 0));
        }
        assert!(query(c"sixteen letters_", PUBLIC, 0).is_some() && query(c"seventeen letters", PUBLIC, 0).is_none());
    }
}
