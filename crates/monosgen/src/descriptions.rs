//! `mono/metadata/debug-helpers.h`: names of methods and fields, and descriptions that methods match.

use crate::call::{call, load};
use crate::text::{given, text};
use crate::{classes, type_names};
use saki_metadata::TableId;
use saki_types::{Field, Image, LoadResult, Method, Ty};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// "Namespace.Class:Method", with " (int,string)" if that is asked for; for `mono_free`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_full_name(method: &'static Method, with_signature: c_int) -> *mut c_char {
    let name = || type_names::method_name(method, with_signature != 0);
    call("mono_method_full_name", |_| given(name().as_bytes()))
}

/// "Namespace.Class.Method(int,string)", for `mono_free`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_get_reflection_name(method: &'static Method) -> *mut c_char {
    call("mono_method_get_reflection_name", |_| given(type_names::reflection_name(method).as_bytes()))
}

/// "Namespace.Class:field", for `mono_free`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_field_full_name(field: &'static Field) -> *mut c_char {
    let (namespace, class) = (classes::namespace_of(field.owner), classes::name_of(field.owner));
    let dot = if namespace.is_empty() { "" } else { "." };
    given(format!("{namespace}{dot}{class}:{}", field.name).as_bytes())
}

/// What `MonoMethodDesc` stands for: "Namespace.Class:Method(int,string)", of which namespace and types may be missing.
pub struct MonoMethodDesc {
    namespace: Option<String>,
    /// With `/` before nested classes; "*" for any.
    class: String,
    method: String,
    parameters: Option<String>,
    with_namespaces: bool,
}

impl MonoMethodDesc {
    fn parse(text: &str, with_namespaces: bool) -> Option<MonoMethodDesc> {
        let (name, parameters) = match text.split_once('(') {
            Some((name, rest)) => (name.strip_suffix(' ').unwrap_or(name), Some(rest.split_once(')')?.0.to_owned())),
            None => (text, None),
        };
        let (class, method) = name.rsplit_once(':')?;
        let class = class.strip_suffix(':').unwrap_or(class);
        let (namespace, class) = match class.rsplit_once('.') {
            Some((namespace, class)) => (Some(namespace.to_owned()), class),
            None => (None, class),
        };
        let (class, method) = (class.to_owned(), method.to_owned());
        Some(MonoMethodDesc { namespace, class, method, parameters, with_namespaces })
    }

    /// Whether the method has this name and these parameters; its class does not matter.
    fn matches(&self, method: &'static Method) -> LoadResult<bool> {
        if method.name != self.method {
            return Ok(false);
        }
        match &self.parameters {
            Some(wanted) => Ok(type_names::parameters(method.sig()?, self.with_namespaces) == *wanted),
            None => Ok(true),
        }
    }

    fn matches_class(&self, class: Ty) -> LoadResult<bool> {
        if self.class == "*" {
            return Ok(true);
        }
        let mut looked_at = class;
        for (level, name) in self.class.rsplit('/').enumerate() {
            if level > 0 {
                let Some(outer) = looked_at.enclosing_type()? else { return Ok(false) };
                looked_at = outer;
            }
            if classes::name_of(looked_at) != name {
                return Ok(false);
            }
        }
        Ok(self.namespace.as_deref().is_none_or(|wanted| wanted == classes::namespace_of(looked_at)))
    }

    fn search_in_class(&self, class: Ty) -> LoadResult<Option<&'static Method>> {
        for method in class.methods_named(&self.method)? {
            if self.matches(method)? {
                return Ok(Some(method));
            }
        }
        Ok(None)
    }

    fn search_in_image(&self, image: &'static Image) -> LoadResult<Option<&'static Method>> {
        if self.namespace.is_none()
            && *image == *image.universe.corlib()
            && let Some(class) = named_by_language(image, &self.class)
        {
            return self.search_in_class(class);
        }
        if let Some(namespace) = &self.namespace {
            let class = classes::find(image, namespace, &self.class)?;
            return class.map_or(Ok(None), |class| self.search_in_class(class));
        }
        for rid in 1..=image.meta.row_count(TableId::MethodDef) {
            if image.meta.string(image.meta.method_def(rid)?.name)? != self.method {
                continue;
            }
            let class = image.type_def(image.meta.type_of_method(rid)?)?;
            let method = class.method_by_rid(rid)?;
            if self.matches_class(class)? && self.matches(method)? {
                return Ok(Some(method));
            }
        }
        Ok(None)
    }
}

/// The class that C# has a word for.
fn named_by_language(corlib: &'static Image, word: &str) -> Option<Ty> {
    let u = corlib.universe;
    let all = [
        u.void(),
        u.char_(),
        u.boolean(),
        u.byte(),
        u.sbyte(),
        u.uint16(),
        u.int16(),
        u.uint32(),
        u.int32(),
        u.uint64(),
        u.int64(),
        u.uintptr(),
        u.intptr(),
        u.single(),
        u.double(),
        u.string(),
        u.object(),
    ];
    all.into_iter().find(|ty| ty.signature_name() == word)
}

/// Reads a description: "Namespace.Class:Method(int,string)"; null for a text that is none. `with_namespaces`: whether
/// the types of the parameters are written with their namespaces.
///
/// # Safety
/// `name` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_method_desc_new(name: *const c_char, with_namespaces: c_int) -> *mut MonoMethodDesc {
    // SAFETY: the host's text, which ends in NUL.
    let description = MonoMethodDesc::parse(&unsafe { text(name) }, with_namespaces != 0);
    description.map_or(ptr::null_mut(), |description| Box::into_raw(Box::new(description)))
}

/// The description of all methods of a method's class and name.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_desc_from_method(method: &'static Method) -> *mut MonoMethodDesc {
    call("mono_method_desc_from_method", |_| {
        Box::into_raw(Box::new(MonoMethodDesc {
            namespace: Some(classes::namespace_of(method.owner).to_owned()),
            class: classes::name_of(method.owner),
            method: method.name.to_owned(),
            parameters: None,
            with_namespaces: true,
        }))
    })
}

/// Frees a description.
///
/// # Safety
/// `description` is null or one that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_method_desc_free(description: *mut MonoMethodDesc) {
    if !description.is_null() {
        // SAFETY: `mono_method_desc_new` made it by a box, and it was not freed.
        drop(unsafe { Box::from_raw(description) });
    }
}

/// Whether the method has the name and the parameters of the description, whatever its class is.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_desc_match(description: &MonoMethodDesc, method: &'static Method) -> c_int {
    load("mono_method_desc_match", || description.matches(method).map(c_int::from))
}

/// Whether the description names a class.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_desc_is_full(description: &MonoMethodDesc) -> c_int {
    c_int::from(!description.class.is_empty())
}

/// Whether the method has the class, the name and the parameters of the description.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_desc_full_match(description: Option<&MonoMethodDesc>, method: &'static Method) -> c_int {
    let Some(description) = description else { return 0 };
    load("mono_method_desc_full_match", || {
        Ok(c_int::from(description.matches_class(method.owner)? && description.matches(method)?))
    })
}

/// The first of the class's own methods that match; null if none does.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_desc_search_in_class(description: &MonoMethodDesc, class: Ty) -> Option<&'static Method> {
    load("mono_method_desc_search_in_class", || description.search_in_class(class))
}

/// The first of the image's methods that match; null if none does.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_desc_search_in_image(
    description: &MonoMethodDesc,
    image: &'static Image,
) -> Option<&'static Method> {
    load("mono_method_desc_search_in_image", || description.search_in_image(image))
}

/// Breakpoints of Mono's own debugger are not set: 0.
#[unsafe(no_mangle)]
pub extern "C" fn mono_debugger_method_has_breakpoint(_method: *const c_void) -> c_int {
    0
}
