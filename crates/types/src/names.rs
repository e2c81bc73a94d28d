//! Names of types, methods and fields, as reflection and stack traces print them.

use crate::domain::Image;
use crate::field::Field;
use crate::method::{Method, MethodKind};
use crate::ty::{Ty, Type, TypeKind};
use saki_metadata::{Rid, TableId, Token};

/// How to write generic arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NameStyle {
    /// `Type.FullName`: arguments assembly-qualified in double brackets.
    Reflection,
    /// `Type.ToString`: arguments by full name in single brackets.
    ToString,
    /// `Type.AssemblyQualifiedName`'s type part.
    AssemblyQualified,
}

impl Type {
    /// `ToString` style: "System.Collections.Generic.List`1[System.Int32]", "Outer+Inner", "System.Int32[]".
    pub fn full_name(&self) -> String {
        self.name_in(NameStyle::ToString)
    }

    /// As .NET's messages name a type: like `full_name`, but a nested type without the types around it.
    pub fn message_name(&self) -> String {
        match &self.kind {
            TypeKind::SzArray(element) => element.message_name() + "[]",
            TypeKind::Array { element, rank } => {
                format!("{}[{}]", element.message_name(), ",".repeat(*rank as usize - 1))
            }
            TypeKind::Def(_) | TypeKind::Inst { .. } => {
                let Some(def) = self.def() else { return self.full_name() };
                let mut out = crate::identity::qualified(def.namespace, def.name);
                if !self.args.is_empty() {
                    self.write_args(&mut out, NameStyle::ToString);
                }
                out
            }
            _ => self.full_name(),
        }
    }

    pub fn name_in(&self, style: NameStyle) -> String {
        let mut out = String::new();
        self.write_name(&mut out, style);
        if style == NameStyle::AssemblyQualified {
            out.push_str(", ");
            out.push_str(&self.image().assembly().display_name());
        }
        out
    }

    /// Full name of the definition: namespace, enclosing types, name; escaped as reflection does.
    fn write_definition_name(&self, out: &mut String) {
        let Some(def) = self.def() else { return };
        if let Some(outer) = self.unfinished_enclosing() {
            outer.write_name(out, '+', &push_escaped);
            out.push('+');
            push_escaped(out, def.name);
            return;
        }
        write_names(out, def.image, def.rid, '+', &push_escaped);
    }

    fn write_name(&self, out: &mut String, style: NameStyle) {
        match &self.kind {
            TypeKind::Def(_) => {
                self.write_definition_name(out);
                if style == NameStyle::ToString && !self.args.is_empty() {
                    self.write_args(out, style);
                }
            }
            TypeKind::Inst { .. } => {
                self.write_definition_name(out);
                self.write_args(out, style);
            }
            TypeKind::SzArray(element) => {
                element.write_name(out, style);
                out.push_str("[]");
            }
            TypeKind::Array { element, rank } => {
                element.write_name(out, style);
                out.push('[');
                match rank {
                    1 => out.push('*'),
                    _ => (1..*rank).for_each(|_| out.push(',')),
                }
                out.push(']');
            }
            TypeKind::Ptr(element) => {
                element.write_name(out, style);
                out.push('*');
            }
            TypeKind::ByRef(element) => {
                element.write_name(out, style);
                out.push('&');
            }
            TypeKind::FnPtr(_) => out.push_str("(fnptr)"),
            TypeKind::Var(p) | TypeKind::MVar(p) => out.push_str(p.name),
        }
    }

    fn write_args(&self, out: &mut String, style: NameStyle) {
        out.push('[');
        for (index, arg) in self.args.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            if style == NameStyle::ToString || arg.is_generic_param() {
                arg.write_name(out, style);
            } else {
                out.push('[');
                arg.write_name(out, style);
                out.push_str(", ");
                out.push_str(&arg.image().assembly().display_name());
                out.push(']');
            }
        }
        out.push(']');
    }

    /// As Mono's error messages and native frames write a type of a signature: "int", "string[]", "Ns.List`1<int>".
    pub fn signature_name(&self) -> String {
        self.write_signature_name(true)
    }

    /// As the names of Mono's wrappers write a type of a signature, without namespaces: "int", "string[]",
    /// "List`1<int>".
    pub fn short_signature_name(&self) -> String {
        self.write_signature_name(false)
    }

    fn write_signature_name(&self, with_namespace: bool) -> String {
        use saki_metadata::ElementType as E;
        let primitive = match self.element_type {
            E::Void => "void",
            E::Boolean => "bool",
            E::Char => "char",
            E::I1 => "sbyte",
            E::U1 => "byte",
            E::I2 => "int16",
            E::U2 => "uint16",
            E::I4 => "int",
            E::U4 => "uint",
            E::I8 => "long",
            E::U8 => "ulong",
            E::I => "intptr",
            E::U => "uintptr",
            E::R4 => "single",
            E::R8 => "double",
            E::String => "string",
            E::Object => "object",
            E::TypedByRef => "typedbyref",
            _ => return self.constructed_signature_name(with_namespace),
        };
        primitive.to_string()
    }

    fn constructed_signature_name(&self, with_namespace: bool) -> String {
        let name = |ty: &Type| ty.write_signature_name(with_namespace);
        match &self.kind {
            TypeKind::ByRef(element) => name(element) + "&",
            TypeKind::Ptr(element) => name(element) + "*",
            TypeKind::SzArray(element) => name(element) + "[]",
            TypeKind::Array { element, rank } => {
                format!("{}[{}]", name(element), ",".repeat(*rank as usize - 1))
            }
            TypeKind::FnPtr(_) => "*()".to_string(),
            TypeKind::Var(p) | TypeKind::MVar(p) => p.name.to_string(),
            TypeKind::Inst { definition } => {
                let args: Vec<String> = self.args.iter().map(|arg| name(arg)).collect();
                format!("{}<{}>", definition.constructed_signature_name(with_namespace), args.join(", "))
            }
            TypeKind::Def(def) => {
                if let Some(outer) = self.unfinished_enclosing() {
                    let mut name = String::new();
                    outer.write_name(&mut name, '/', &|out, part| out.push_str(part));
                    return format!("{name}/{}", def.name);
                }
                let mut name = String::new();
                write_names(&mut name, def.image, def.rid, '/', &|out, part| out.push_str(part));
                if !with_namespace && !outermost_namespace(def.image, def.rid).is_empty() {
                    name.drain(..=outermost_namespace(def.image, def.rid).len());
                }
                name
            }
        }
    }

    /// As Mono's stack traces write a parameter or declaring type: short primitive names, `Ns.List`1[T]`.
    pub fn trace_name(&self) -> String {
        match &self.kind {
            TypeKind::SzArray(element) => format!("{}[]", element.trace_name()),
            TypeKind::Array { element, rank } => {
                format!("{}[{}]", element.trace_name(), ",".repeat(*rank as usize - 1))
            }
            TypeKind::Ptr(element) => format!("{}*", element.trace_name()),
            TypeKind::ByRef(element) => format!("{}&", element.trace_name()),
            _ => self.full_name(),
        }
    }
}

/// Writes the namespace, the names of the enclosing types and the own name of TypeDef row `rid`, each by `write_part`.
/// Only rows are read, no class is loaded. A name that cannot be read is left out.
fn write_names(
    out: &mut String,
    image: &'static Image,
    rid: Rid,
    separator: char,
    write_part: &dyn Fn(&mut String, &str),
) {
    if let Some(outer) = image.emitted_stub(rid) {
        return outer.write_name(out, separator, write_part);
    }
    let (namespace, name) = image.meta.type_name_of_token(Token::new(TableId::TypeDef, rid)).unwrap_or_default();
    match image.meta.enclosing_class(rid) {
        Some(enclosing) => {
            write_names(out, image, enclosing, separator, write_part);
            out.push(separator);
        }
        None => {
            if !namespace.is_empty() {
                write_part(out, namespace);
                out.push('.');
            }
        }
    }
    write_part(out, name);
}

/// The namespace of the outermost type around TypeDef row `rid`.
fn outermost_namespace(image: &'static Image, rid: Rid) -> &'static str {
    let mut at = rid;
    loop {
        if let Some(outer) = image.emitted_stub(at) {
            return outer.outermost_namespace();
        }
        match image.meta.enclosing_class(at) {
            Some(outer) => at = outer,
            None => break,
        }
    }
    image.meta.type_name_of_token(Token::new(TableId::TypeDef, at)).unwrap_or_default().0
}

fn push_escaped(out: &mut String, name: &str) {
    let is_special = |c: char| matches!(c, '+' | ',' | '[' | ']' | '*' | '&' | '\\');
    if !name.contains(is_special) {
        out.push_str(name);
        return;
    }
    for c in name.chars() {
        if is_special(c) {
            out.push('\\');
        }
        out.push(c);
    }
}

impl Method {
    /// As Mono's tools write a method: "Ns.Type:Method (int,string[])". Loads nothing: if the signature has not been
    /// decoded yet, the parameter types are read from the metadata.
    pub fn tool_name(&self) -> String {
        let mut name = self.full_name();
        name.truncate(name.find(" (").unwrap_or(name.len()));
        let sig = self.dynamic_code().map(|code| code.sig()).or_else(|| self.sig.get_if_ready());
        let params = match sig {
            Some(sig) => Some(sig.params.iter().map(|param| param.signature_name()).collect::<Vec<_>>().join(",")),
            None => match self.kind {
                MethodKind::Def { image, rid } => self.undecoded_parameters(image, rid),
                _ => None,
            },
        };
        format!("{name} ({})", params.unwrap_or_default())
    }

    /// The name that Saki itself gives a method, in dumps, reports, profiles and for tools: "Ns.Type:Method", with the
    /// parameters as `tool_name` writes them if the type has several methods of the name; a dynamic method's bare name,
    /// since the type that owns it means nothing to the user. It is made of metadata alone: whether a signature is
    /// loaded differs from run to run, but a function must have one name.
    pub fn frame_name(&self) -> String {
        if self.is_dynamic() {
            return self.name.to_owned();
        }
        let mut name = self.full_name();
        name.truncate(name.find(" (").unwrap_or(name.len()));
        if let MethodKind::Def { image, rid } = self.kind
            && let Some(parameters) = image.meta.overload(rid)
        {
            name = format!("{name} ({parameters})");
        }
        name
    }

    fn undecoded_parameters(&self, image: &Image, rid: Rid) -> Option<String> {
        image.meta.parameters(rid, &|is_of_method, index| {
            let arguments = if is_of_method { self.generic_args() } else { self.owner.args };
            arguments.get(index).map(|argument| argument.signature_name())
        })
    }

    /// "Ns.Type:Method (System.Int32,System.String)", generic arguments in angle brackets. Loads nothing: if the
    /// signature has not been decoded yet, the parameter list is left out.
    pub fn full_name(&self) -> String {
        let mut out = String::with_capacity(64);
        self.owner.write_name(&mut out, NameStyle::ToString);
        out.push(':');
        out.push_str(self.name);
        push_list(&mut out, self.generic_args(), '<', '>', self.generic_args().is_empty());
        if let Some(sig) = self.dynamic_code().map(|code| code.sig()).or_else(|| self.sig.get_if_ready()) {
            out.push(' ');
            push_list(&mut out, &sig.params, '(', ')', false);
        }
        out
    }
}

fn push_list(out: &mut String, types: &[Ty], open: char, close: char, skip: bool) {
    if skip {
        return;
    }
    out.push(open);
    for (index, ty) in types.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        ty.write_name(out, NameStyle::ToString);
    }
    out.push(close);
}

impl std::fmt::Debug for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.full_name())
    }
}

impl std::fmt::Debug for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.full_name())
    }
}

impl std::fmt::Debug for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}::{}", self.owner.full_name(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::assemble;
    use crate::universe::universe;
    use saki_metadata::TableId;

    /// The enclosing class was loaded for its name, and left out when that failed.
    #[test]
    fn a_nested_type_names_an_enclosing_class_that_cannot_be_loaded() {
        let classes = ".class public N.Outer extends [mscorlib]System.Object {\n  \
                       .class nested public Inner extends [mscorlib]System.Object { }\n}";
        let Some(fixture) = assemble(classes) else { return };
        let outer = fixture.0.find_type("N", "Outer").expect("it loads").expect("it is there");
        let [inner] = outer.nested_types().expect("they load")[..] else { panic!("Outer has one nested type") };
        let (outer, inner) = (outer.def().expect("a class").rid, inner.def().expect("a class").rid);
        // Its base class becomes a reference that is not there.
        const EXTENDS: usize = 3;
        let place = fixture.0.meta.cell_place(TableId::TypeDef, outer, EXTENDS).expect("a cell");
        let mut bytes = fixture.0.meta.bytes().to_vec();
        bytes[place.offset_bytes..][..2].copy_from_slice(&0xfffd_u16.to_le_bytes());
        let image = universe().binder().load_bytes(bytes).expect("an assembly").image;
        assert!(image.type_def(outer).is_err(), "the enclosing class cannot be loaded");
        assert_eq!(image.type_def(inner).expect("it loads").full_name(), "N.Outer+Inner");
    }
}
