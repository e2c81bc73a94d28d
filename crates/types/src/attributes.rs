//! Which custom attributes a metadata row has, by the names of the attribute classes: only rows are read, no class is
//! loaded.

use crate::domain::Image;
use crate::error::LoadResult;
use saki_metadata::{Image as MetadataImage, TableId, Token};

/// Whether a member has an attribute of this name.
///
/// # Errors
/// `BadImage`.
pub fn has_attribute(image: &'static Image, parent: Token, namespace: &str, name: &str) -> LoadResult<bool> {
    Ok(attribute_blob(image, parent, namespace, name)?.is_some())
}

/// The value (ECMA-335 §II.23.3) of the first attribute of this name that a member has.
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
        if attribute_class(image.meta, row.constructor)? == Some((namespace, name)) {
            return Ok(Some(image.meta.blob(row.value)?));
        }
    }
    Ok(None)
}

/// Namespace and name of the class to which an attribute's constructor token belongs.
pub(crate) fn attribute_class(
    meta: &'static MetadataImage,
    constructor: Token,
) -> LoadResult<Option<(&'static str, &'static str)>> {
    let class = match constructor.table() {
        TableId::MemberRef => meta.member_ref(constructor.rid())?.class,
        TableId::MethodDef => Token::new(TableId::TypeDef, meta.type_of_method(constructor.rid())?),
        _ => return Ok(None),
    };
    match class.table() {
        TableId::TypeRef | TableId::TypeDef => Ok(Some(meta.type_name_of_token(class)?)),
        _ => Ok(None),
    }
}
