//! Tokens of a module that is made at run time, for reflection: each is a row of the image of a finished type.

use super::module::DynamicModule;
use saki_metadata::{TableId, Token};
use saki_types::{Assembly, Image, LoadResult, Method, Ty};

/// The image and the row that a token of a module names; the same for modules of files.
///
/// # Errors
/// `UnfinishedType`: the token belongs to a type that is not finished; those of loading.
pub(crate) fn locate(module: &'static Image, token: Token) -> LoadResult<(&'static Image, Token)> {
    let found = match DynamicModule::of(module) {
        Some(dynamic) => dynamic.locate(token)?,
        None => None,
    };
    Ok(found.unwrap_or((module, token)))
}

/// The token that the module shows for a row of one of its images.
pub(crate) fn show(image: &'static Image, row: Token) -> Token {
    let module = image.emitted_type().map_or(image, |emitted| emitted.module);
    DynamicModule::of(module).map_or(row, |dynamic| dynamic.show(image, row))
}

/// The types of a module that is made at run time, or why they are not there; None for other modules.
pub(crate) fn types_of(module: &'static Image) -> Option<Vec<LoadResult<Ty>>> {
    DynamicModule::of(module).map(DynamicModule::types)
}

/// The CIL of a method of a type that was made at run time, with the tokens that its module resolves; None for others.
pub(crate) fn code_as_written(method: &'static Method) -> Option<Vec<u8>> {
    let emitted = method.image().emitted_type()?;
    let token = method.image().shown_token(TableId::MethodDef, method.rid()?);
    DynamicModule::of(emitted.module)?.code(token)
}

/// The assemblies that a module made at run time refers to; None for other modules.
pub(crate) fn references_of(module: &'static Image) -> Option<Vec<&'static Assembly>> {
    DynamicModule::of(module).map(DynamicModule::references)
}

/// The text of a literal of a module that is made at run time.
pub(crate) fn literal(module: &'static Image, token: Token) -> Option<&'static [u16]> {
    DynamicModule::of(module)?.literal(token)
}

/// Whether the records of a module that is made at run time have the token.
pub(crate) fn names_something(module: &'static Image, token: Token) -> bool {
    DynamicModule::of(module).is_some_and(|dynamic| dynamic.owner(token).is_some() || dynamic.literal(token).is_some())
}

/// Images with attributes of what a token names that were defined after it was finished, and its row there.
pub(crate) fn late_attributes(module: &'static Image, token: Token) -> Vec<(&'static Image, Token)> {
    DynamicModule::of(module).map_or_else(Vec::new, |dynamic| dynamic.late_attributes(token))
}
