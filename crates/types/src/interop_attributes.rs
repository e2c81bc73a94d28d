//! Attributes of modern .NET that change how a method meets native code or another type's members. They are recognised
//! by full name, so that programs on class libraries without them can define them.
//!
//! Most images name none of them: an image's own names are looked through once, and only then are attribute rows read.
//! Left out: what the attributes do (`il::synth`, `il::import`, `runtime`, `interop`).

use crate::attributes::has_attribute;
use crate::domain::{Image, NamedAttributes};
use crate::error::LoadResult;
use crate::method::{Method, MethodKind};
use saki_metadata::{
    CaEnumType, CaTypeHint, CaValue, CallConv, ElementType, MethodSigRaw, StandAloneSigRaw, TableId, Token, TypeSig,
};

const COMPILER_SERVICES: &str = "System.Runtime.CompilerServices";
const INTEROP_SERVICES: &str = "System.Runtime.InteropServices";

const UNMANAGED_CALLERS_ONLY: &str = "UnmanagedCallersOnlyAttribute";
const SUPPRESS_GC_TRANSITION: &str = "SuppressGCTransitionAttribute";
const DISABLE_RUNTIME_MARSHALLING: &str = "DisableRuntimeMarshallingAttribute";
const UNSAFE_ACCESSOR: &str = "UnsafeAccessorAttribute";
const UNSAFE_ACCESSOR_TYPE: &str = "UnsafeAccessorTypeAttribute";
/// The modifier of an unmanaged `calli` that stands for `SuppressGCTransitionAttribute`.
const CALL_CONV_SUPPRESS_GC_TRANSITION: &str = "CallConvSuppressGCTransition";

/// The member that an accessor gives access to. The numbers are those of `UnsafeAccessorKind`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessorKind {
    Constructor = 0,
    Method = 1,
    StaticMethod = 2,
    Field = 3,
    StaticField = 4,
}

/// An `UnsafeAccessorAttribute`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accessor {
    /// None: the attribute's number names no kind.
    pub kind: Option<AccessorKind>,
    /// The member's name, if the attribute gives one.
    pub name: Option<String>,
}

impl Image {
    /// What `UnsafeAccessorTypeAttribute` names at a parameter.
    pub(crate) fn accessor_type_name(&'static self, parameter: saki_metadata::Rid) -> LoadResult<Option<String>> {
        for row in self.meta.custom_attributes(Token::new(TableId::Param, parameter)) {
            let row = row?;
            let class = crate::attributes::attribute_class(self.meta, row.constructor)?;
            if class == Some((COMPILER_SERVICES, UNSAFE_ACCESSOR_TYPE)) {
                let no_enumeration = |_: &CaEnumType| None;
                let args = self.meta.parse_custom_attribute(
                    row.value,
                    &[CaTypeHint::Prim(ElementType::String)],
                    &no_enumeration,
                )?;
                if let Some(CaValue::String(Some(name))) = args.fixed.into_iter().next() {
                    return Ok(Some(name));
                }
            }
        }
        Ok(None)
    }

    fn named_attributes(&'static self) -> LoadResult<NamedAttributes> {
        if let Some(&known) = self.named_attributes.get() {
            return Ok(known);
        }
        let found = self.find_named_attributes()?;
        Ok(*self.named_attributes.get_or_init(|| found))
    }

    fn find_named_attributes(&'static self) -> LoadResult<NamedAttributes> {
        let mut named = NamedAttributes::default();
        if self.is_of_dynamic_method() || self.emitted.is_some() {
            return Ok(named);
        }
        for table in [TableId::TypeRef, TableId::TypeDef] {
            for rid in 1..=self.meta.row_count(table) {
                let (namespace, name) = match table {
                    TableId::TypeRef => self.meta.type_ref(rid).map(|row| (row.namespace, row.name))?,
                    _ => self.meta.type_def(rid).map(|row| (row.namespace, row.name))?,
                };
                let (is_named, expected) = match self.meta.string(name)? {
                    UNMANAGED_CALLERS_ONLY => (&mut named.unmanaged_callers_only, INTEROP_SERVICES),
                    SUPPRESS_GC_TRANSITION => (&mut named.suppress_gc_transition, INTEROP_SERVICES),
                    UNSAFE_ACCESSOR => (&mut named.unsafe_accessor, COMPILER_SERVICES),
                    DISABLE_RUNTIME_MARSHALLING => (&mut named.disable_runtime_marshalling, COMPILER_SERVICES),
                    _ => continue,
                };
                *is_named |= self.meta.string(namespace)? == expected;
            }
        }
        if named.disable_runtime_marshalling {
            let assembly = Token::new(TableId::Assembly, 1);
            named.disable_runtime_marshalling =
                has_attribute(self, assembly, COMPILER_SERVICES, DISABLE_RUNTIME_MARSHALLING)?;
        }
        Ok(named)
    }

    /// Whether P/Invokes, delegates and `calli` of this module marshal what they pass to native code:
    /// `DisableRuntimeMarshallingAttribute` of the assembly says that they do not.
    ///
    /// # Errors
    /// `BadImage`.
    pub fn has_runtime_marshalling(&'static self) -> LoadResult<bool> {
        // The attribute is in the module with the manifest.
        let manifest = if self.is_of_dynamic_method() { self } else { self.assembly().image };
        Ok(!manifest.named_attributes()?.disable_runtime_marshalling)
    }

    /// Whether the signature of a `calli` says, by a modifier of its result, that the native function is called without
    /// leaving managed code.
    ///
    /// # Errors
    /// `BadImage`; what the modifiers give.
    pub fn call_suppresses_gc_transition(&'static self, signature: Token) -> LoadResult<bool> {
        if self.is_of_dynamic_method() {
            return Ok(false);
        }
        let row = self.meta.stand_alone_sig(signature.rid())?;
        let StandAloneSigRaw::Method(raw) = saki_metadata::parse_stand_alone_sig(self.meta.blob(row.signature)?)?
        else {
            return Ok(false);
        };
        self.has_suppressing_modifier(&raw)
    }

    fn has_suppressing_modifier(&'static self, raw: &MethodSigRaw) -> LoadResult<bool> {
        if raw.call_conv != CallConv::Unmanaged {
            return Ok(false);
        }
        let mut at = &raw.ret;
        while let TypeSig::Modified { token, inner, .. } = at {
            if matches!(token.table(), TableId::TypeRef | TableId::TypeDef)
                && self.meta.type_name_of_token(*token)? == (COMPILER_SERVICES, CALL_CONV_SUPPRESS_GC_TRANSITION)
            {
                return Ok(true);
            }
            at = inner;
        }
        Ok(false)
    }
}

impl Method {
    /// Whether the method has the attribute, which its image must name at all.
    fn has_named(
        &'static self,
        is_named: impl Fn(NamedAttributes) -> bool,
        namespace: &str,
        name: &str,
    ) -> LoadResult<bool> {
        let MethodKind::Def { image, rid } = self.kind else { return Ok(false) };
        Ok(is_named(image.named_attributes()?)
            && has_attribute(image, Token::new(TableId::MethodDef, rid), namespace, name)?)
    }

    /// Whether only native code may call the method (`UnmanagedCallersOnlyAttribute`).
    ///
    /// # Errors
    /// `BadImage`.
    pub fn is_unmanaged_callers_only(&'static self) -> LoadResult<bool> {
        self.has_named(|named| named.unmanaged_callers_only, INTEROP_SERVICES, UNMANAGED_CALLERS_ONLY)
    }

    /// Whether the P/Invoke method calls native code without leaving managed code (`SuppressGCTransitionAttribute`).
    ///
    /// # Errors
    /// `BadImage`.
    pub fn suppresses_gc_transition(&'static self) -> LoadResult<bool> {
        self.has_named(|named| named.suppress_gc_transition, INTEROP_SERVICES, SUPPRESS_GC_TRANSITION)
    }

    /// The method's `UnsafeAccessorAttribute`.
    ///
    /// # Errors
    /// `BadImage`.
    pub fn unsafe_accessor(&'static self) -> LoadResult<Option<Accessor>> {
        let MethodKind::Def { image, rid } = self.kind else { return Ok(None) };
        if !image.named_attributes()?.unsafe_accessor {
            return Ok(None);
        }
        for row in image.meta.custom_attributes(Token::new(TableId::MethodDef, rid)) {
            let row = row?;
            if crate::attributes::attribute_class(image.meta, row.constructor)?
                != Some((COMPILER_SERVICES, UNSAFE_ACCESSOR))
            {
                continue;
            }
            let int32 = |_: &CaEnumType| Some(ElementType::I4);
            let hints = [CaTypeHint::Prim(ElementType::I4)];
            let args = image.meta.parse_custom_attribute(row.value, &hints, &int32)?;
            let kind = match args.fixed.first() {
                Some(CaValue::I4(0)) => Some(AccessorKind::Constructor),
                Some(CaValue::I4(1)) => Some(AccessorKind::Method),
                Some(CaValue::I4(2)) => Some(AccessorKind::StaticMethod),
                Some(CaValue::I4(3)) => Some(AccessorKind::Field),
                Some(CaValue::I4(4)) => Some(AccessorKind::StaticField),
                _ => None,
            };
            let name = args.named.into_iter().find_map(|arg| match arg.value {
                // For .NET null is an empty name.
                CaValue::String(text) if arg.name == "Name" => Some(text.unwrap_or_default()),
                _ => None,
            });
            return Ok(Some(Accessor { kind, name }));
        }
        Ok(None)
    }
}
