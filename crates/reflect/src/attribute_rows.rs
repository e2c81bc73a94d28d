//! The custom attributes in metadata: whose they are, which constructor and value each has. ECMA-335 §II.22.10.
//!
//! Left out: values (`attribute_values`), attributes of builders (`emit::attributes`).

use saki_metadata::Token;
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
