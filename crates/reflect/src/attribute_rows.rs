//! The custom attributes in metadata: whose they are, which constructor and value each has. ECMA-335 §II.22.10.
//!
//! Left out: values (`attribute_values`), attributes of builders (`emit::attributes`).

use saki_metadata::{TableId, Token};
use saki_types::{GenericContext, Image, LoadResult, Method};

/// The metadata item whose attributes are asked for.
#[derive(Clone, Copy)]
pub struct Provider {
    pub image: &'static Image,
    pub parent: Token,
    /// What generic parameters in the attributes' constructors mean.
    pub context: GenericContext,
}

/// One attribute of a provider.
#[derive(Clone, Copy)]
pub struct Attribute {
    pub image: &'static Image,
    pub constructor: &'static Method,
    pub blob: &'static [u8],
}

/// The attributes of a provider, in metadata order.
///
/// # Errors
/// What loading the attribute types gives.
pub fn attributes_of(provider: &Provider) -> LoadResult<Vec<Attribute>> {
    let image = provider.image;
    let mut out = Vec::new();
    for row in image.meta.custom_attributes(provider.parent) {
        let row = row?;
        let constructor = image.resolve_method(row.constructor, &provider.context)?;
        out.push(Attribute { image, constructor, blob: image.meta.blob(row.value)? });
    }
    Ok(out)
}

/// The value (ECMA-335 §II.23.3) of the first attribute of this name, without loading its type.
///
/// # Errors
/// `BadImageFormat`.
pub fn attribute_blob(
    image: &'static Image,
    parent: Token,
    namespace: &str,
    name: &str,
) -> LoadResult<Option<&'static [u8]>> {
    for row in image.meta.custom_attributes(parent) {
        let row = row?;
        let class = match row.constructor.table() {
            TableId::MemberRef => image.meta.member_ref(row.constructor.rid())?.class,
            TableId::MethodDef => Token::new(TableId::TypeDef, image.meta.type_of_method(row.constructor.rid())?),
            _ => continue,
        };
        if matches!(class.table(), TableId::TypeRef | TableId::TypeDef)
            && image.meta.type_name_of_token(class)? == (namespace, name)
        {
            return Ok(Some(image.meta.blob(row.value)?));
        }
    }
    Ok(None)
}
