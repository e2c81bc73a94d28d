//! Tokens of a module that is made at run time, for reflection: each is a row of the image of a finished type.

use super::module::DynamicModule;
use saki_metadata::Token;
use saki_types::{Image, LoadResult, Ty};

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

/// Images with attributes of what a token names that were defined after it was finished, and its row there.
pub(crate) fn late_attributes(module: &'static Image, token: Token) -> Vec<(&'static Image, Token)> {
    DynamicModule::of(module).map_or_else(Vec::new, |dynamic| dynamic.late_attributes(token))
}
