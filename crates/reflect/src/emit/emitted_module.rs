//! The native side of a ModuleBuilder: which tokens it has given out, and what each of them names.
//!
//! Invariant: the same thing of the runtime has the same token each time. Left out: what a token becomes in an image
//! (`tokens`).

use super::builders as b;
use crate::handles::{Handle, address};
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use saki_metadata::{TableId, Token};
use saki_runtime::object::exceptions;
use saki_runtime::{CurrentThread, Managed, Obj, RootCell};
use saki_types::collectible;
use saki_types::{Field, Image, Method, Ty, universe};
use std::sync::{Arc, OnceLock};

/// What a token of a module under construction names.
#[derive(Clone, Copy)]
pub enum Named {
    /// A builder, or another object that only lives in managed code.
    Object(RootCell),
    /// `open`: a generic definition over its own parameters.
    Type {
        ty: Ty,
        open: bool,
    },
    Method(&'static Method),
    Field(&'static Field),
    /// A method with the types of variable arguments.
    Vararg {
        method: RootCell,
        extra: RootCell,
    },
}

/// The native side of a ModuleBuilder; lives as long as its image.
pub struct EmittedModule {
    image: &'static Image,
    /// The name of the file that the module is saved to.
    file_name: String,
    state: Mutex<rank::EmittedModule, State>,
}

#[derive(Default)]
struct State {
    named: FxHashMap<u32, Named>,
    /// Tokens of runtime types and members, by (address, open).
    known: FxHashMap<(usize, bool), Token>,
    strings: Vec<Vec<u16>>,
    /// Rows given out, by table.
    rows: FxHashMap<u8, u32>,
    /// The file as it was built last.
    saved: Option<Arc<Vec<u8>>>,
}

/// The native sides of all ModuleBuilders, by the address of the image.
static MODULES: Mutex<rank::EmittedModules, Option<FxHashMap<usize, &'static EmittedModule>>> = Mutex::new(None);

/// Drops the modules of dead assemblies.
pub(crate) fn forget_dead_modules() {
    if let Some(modules) = MODULES.lock().as_mut() {
        modules.retain(|image, _| !collectible::is_dead(*image));
    }
}

impl EmittedModule {
    /// The native side of a new ModuleBuilder, which lives as long as the image.
    pub fn new(image: &'static Image, file_name: String) -> &'static EmittedModule {
        let made = collectible::keep_beside(image, EmittedModule { image, file_name, state: Mutex::default() });
        MODULES.lock().get_or_insert_default().insert(address(image), made);
        made
    }

    /// Stands for the module of signatures that belong to none.
    pub fn detached() -> &'static EmittedModule {
        static DETACHED: OnceLock<EmittedModule> = OnceLock::new();
        DETACHED.get_or_init(|| EmittedModule {
            image: universe().corlib(),
            file_name: String::new(),
            state: Mutex::default(),
        })
    }

    /// A root cell that lives as long as the module.
    pub(super) fn cell(&self, object: Obj) -> RootCell {
        RootCell::beside(address(self.image), object)
    }

    /// The image that the module's types are in.
    pub fn image(&self) -> &'static Image {
        self.image
    }

    /// The native side of the ModuleBuilder whose image this is.
    pub fn of_image(image: &'static Image) -> Option<&'static EmittedModule> {
        MODULES.lock().as_ref()?.get(&address(image)).copied()
    }

    /// The file name that the program gave it.
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// The contents of the file, if `set_saved` has set them.
    pub fn saved(&self) -> Option<Arc<Vec<u8>>> {
        self.state.lock().saved.clone()
    }

    /// Notes the contents of the file, for `ModuleBuilder.WriteToFile`.
    pub fn set_saved(&self, content: Vec<u8>) {
        self.state.lock().saved = Some(Arc::new(content));
    }

    /// The file name that other modules of the assembly know a module by.
    pub fn file_name_of(image: &'static Image) -> Option<String> {
        match Self::of_image(image) {
            Some(module) => Some(module.file_name.clone()),
            None => image.meta.path().file_name().map(|name| name.to_string_lossy().into_owned()),
        }
    }

    /// What the token names, if `name` has said so.
    pub fn named(&self, token: Token) -> Option<Named> {
        self.state.lock().named.get(&token.0).copied()
    }

    /// Says what a token names.
    pub fn name(&self, token: Token, named: Named) {
        self.state.lock().named.insert(token.0, named);
    }

    /// The text of a token of a string literal.
    pub fn literal(&self, token: Token) -> Option<Vec<u16>> {
        let index = (token.rid() as usize).checked_sub(1)?;
        self.state.lock().strings.get(index).cloned()
    }

    pub(super) fn add_literal(&self, text: &[u16]) -> Token {
        let mut state = self.state.lock();
        state.strings.push(text.to_vec());
        Token::new(TableId::UserString, state.strings.len() as u32)
    }

    /// A token that was not given out before. Builders themselves count rows of TypeDef, MethodDef, Property and Event.
    pub fn fresh(&self, table: TableId) -> Token {
        let mut state = self.state.lock();
        let row = state.rows.entry(table as u8).or_insert(0);
        *row += 1;
        Token::new(table, *row)
    }

    /// The token of a type or member of the runtime, the same each time.
    pub(super) fn token_of(&self, address: usize, open: bool, table: TableId, named: Named) -> Token {
        if let Some(&known) = self.state.lock().known.get(&(address, open)) {
            return known;
        }
        let token = self.fresh(table);
        let mut state = self.state.lock();
        let token = *state.known.entry((address, open)).or_insert(token);
        state.named.insert(token.0, named);
        token
    }

    /// The token of a type of the runtime.
    pub fn type_token(&self, ty: Ty, open: bool) -> Token {
        let is_definition = ty.def().is_some() && (ty.args.is_empty() || ty.is_generic_definition() && !open);
        let table = if is_definition { TableId::TypeRef } else { TableId::TypeSpec };
        self.token_of(address(ty), open, table, Named::Type { ty, open })
    }
}

/// The object in a cell of `Named`.
pub(super) fn held<'t>(t: CurrentThread<'t>, cell: RootCell) -> Obj<'t> {
    cell.obj(t).unwrap_or_else(|| saki_base::bug!("a token of a dead module was looked up"))
}

/// The native side of a ModuleBuilder object.
pub fn module_of(builder: Option<Obj>) -> Option<&'static EmittedModule> {
    b::MODULE_NATIVE.get::<Handle<EmittedModule>>(builder?).get()
}

/// The native side of a ModuleBuilder object, which there must be.
///
/// # Errors
/// ArgumentNullException.
pub fn require_module(t: CurrentThread, builder: Option<Obj>) -> Managed<&'static EmittedModule> {
    module_of(builder).ok_or_else(|| exceptions::throw_argument_null(t, "module"))
}
