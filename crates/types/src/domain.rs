//! The records of an application domain besides types and their members: its universe, its assemblies, their images.
//!
//! At the bottom of this crate, like `ty`: plain data and cells, filled by the modules above. `universe` interns
//! constructed types and tells which domain a thread is in, `binder` finds assemblies, `assembly` opens them and fills
//! the cells of an image, `resolve` maps tokens to records; `dynamic` and `emitted` make the records of code and types
//! made at run time.

use crate::app_config::AppConfig;
use crate::collectible::Owner;
use crate::error::{LoadError, LoadErrorKind};
use crate::field::Field;
use crate::identity::{AssemblyName, LoadContext};
use crate::lazy::Lazy;
use crate::lazy_word::{LazyRef, Word};
use crate::library::Library;
use crate::method::{LocalSig, Method, MethodSig, RemotingStub};
use crate::ty::Ty;
use crate::well_known::WellKnown;
use rustc_hash::FxHashMap;
use saki_base::locks::{RwLock, ShardedLock, rank};
use saki_metadata::{EhClause, Image as MetadataImage, Rid, Token};
use std::any::Any;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Key of a constructed type.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum ConstructedKey {
    Inst(Ty, Box<[Ty]>),
    SzArray(Ty),
    Array(Ty, u32),
    Ptr(Ty),
    ByRef(Ty),
    FnPtr(Box<MethodSig>),
    /// See `stand_ins`.
    StandIn(Ty),
}

/// The tables of one domain: see `universe`, whose `init` sets up the first. This struct itself is leaked, even after
/// the domain's records have ended.
pub struct Universe {
    pub(crate) binder: Binder,
    /// Owner of the domain's records; null: they live for ever, or have ended. Set before there are records (Release,
    /// pairs with the Acquire in `owner`), cleared by `end`.
    pub(crate) owner: AtomicPtr<Owner>,
    /// The runtime's part of the domain.
    pub(crate) runtime: OnceLock<&'static (dyn Any + Send + Sync)>,
    pub(crate) corlib: OnceLock<&'static Image>,
    pub(crate) library: Library<Ty>,
    pub(crate) well_known: OnceLock<WellKnown<Ty>>,
    pub(crate) constructed: ShardedLock<rank::ConstructedTypes, FxHashMap<ConstructedKey, Ty>>,
    pub(crate) method_instances:
        ShardedLock<rank::MethodInstances, FxHashMap<(&'static Method, Vec<Ty>), &'static Method>>,
    pub(crate) remoting_stubs: RwLock<rank::RemotingStubs, FxHashMap<RemotingStub, &'static Method>>,
    /// Methods of `native_call`, by signature including the parameter for the function's address.
    pub(crate) native_calls: RwLock<rank::NativeCalls, FxHashMap<MethodSig, &'static Method>>,
}

impl PartialEq for Universe {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl std::ops::Deref for Universe {
    type Target = WellKnown<Ty>;
    fn deref(&self) -> &WellKnown<Ty> {
        self.well_known.get().expect("corlib was loaded by init")
    }
}

impl Universe {
    /// Owner of the domain's records. None: they live for ever.
    pub fn owner(&self) -> Option<&'static Owner> {
        // SAFETY: null, or an owner that has not ended: `end` clears the word before.
        unsafe { self.owner.load(Ordering::Acquire).as_ref() }
    }

    pub fn binder(&self) -> &Binder {
        &self.binder
    }

    /// Stores the runtime's part of the domain; the first call counts.
    pub fn set_runtime(&self, part: &'static (dyn Any + Send + Sync)) {
        let _ = self.runtime.set(part);
    }

    /// The part stored by `set_runtime`.
    pub fn runtime<T: 'static>(&self) -> Option<&'static T> {
        self.runtime.get()?.downcast_ref::<T>()
    }

    pub fn corlib(&self) -> &'static Image {
        self.corlib.get().expect("corlib was loaded by init")
    }
}

/// Directories to search, in order.
#[derive(Clone, Debug)]
pub struct SearchPaths {
    /// MONO_PATH entries.
    pub mono_path: Vec<PathBuf>,
    /// Directory of the program.
    pub application_base: PathBuf,
    /// `/usr/lib/mono`.
    pub framework_root: PathBuf,
    /// .NET's rules: the assemblies of the framework and of the program, by their names in lower case; nothing else is
    /// searched. None: Mono's rules.
    pub trusted: Option<Arc<TrustedAssemblies>>,
    /// With .NET's rules: the folders that hold a folder for each culture, with satellite assemblies.
    pub resource_roots: Vec<PathBuf>,
}

/// The files of assemblies, by the assemblies' names in lower case (TRUSTED_PLATFORM_ASSEMBLIES).
pub type TrustedAssemblies = FxHashMap<String, PathBuf>;

/// Managed events of loading, by which the program is notified or asked. A binder gets them when it is made
/// (`Binder::with_events`).
///
/// Invariant: but for `assembly_loaded` and `type_made`, called with the loader lock held by the calling thread, so an
/// implementation may run managed code of that thread but waits for no other thread that loads types.
pub trait LoaderEvents: Sync {
    /// `AppDomain.AssemblyResolve`: the search found no assembly of the name; `requesting` is the image that refers to
    /// it.
    fn resolve_assembly(&self, wanted: &AssemblyName, requesting: Option<&'static Image>) -> Option<&'static Assembly>;

    /// What an embedding host has for a name, asked before files are searched; `is_for_reflection`: for inspection
    /// only.
    fn find_before_search(&self, _wanted: &AssemblyName, _is_for_reflection: bool) -> Option<&'static Assembly> {
        None
    }

    /// `AssemblyLoadContext.Load` of a context other than the default one, which is asked before any other search.
    fn load_in_context(&self, _context: u32, _wanted: &AssemblyName) -> Option<&'static Assembly> {
        None
    }

    /// What `resolve_assembly` does, for a reference from a context other than the default one.
    fn resolve_in_context(
        &self,
        _context: u32,
        wanted: &AssemblyName,
        requesting: Option<&'static Image>,
    ) -> Option<&'static Assembly> {
        self.resolve_assembly(wanted, requesting)
    }

    /// `AppDomain.AssemblyLoad`: an assembly was loaded. Called when the thread does not hold the loader lock any more,
    /// since a handler may use what the assembly was loaded for.
    fn assembly_loaded(&self, assembly: &'static Assembly);

    /// Whether `type_made` is awaited.
    fn are_types_awaited(&self) -> bool {
        false
    }

    /// A type's record was made; it may be in the middle of a compilation. Called as `assembly_loaded` is.
    fn type_made(&self, _ty: Ty) {}

    /// `AppDomain.TypeResolve`: a type that is still being emitted is needed. The program may finish it.
    fn finish_type(&self, emitted: &'static EmittedType);
}

/// Loaded assemblies and where to look for more.
pub struct Binder {
    pub(crate) paths: RwLock<rank::SearchPaths, SearchPaths>,
    pub(crate) config: RwLock<rank::AppConfig, AppConfig>,
    pub(crate) loaded: RwLock<rank::LoadedAssemblies, Vec<&'static Assembly>>,
    /// Assemblies of the reflection-only context.
    pub(crate) reflection_only: RwLock<rank::ReflectionOnlyAssemblies, Vec<&'static Assembly>>,
    pub(crate) events: &'static dyn LoaderEvents,
    /// Searched before the framework's.
    pub(crate) assembly_caches: Box<[PathBuf]>,
}

/// One metadata module of one domain; `meta` gives the raw tables.
pub struct Image {
    /// The raw metadata; a module made at run time and its dynamic methods share theirs.
    pub meta: &'static MetadataImage,
    /// mscorlib: its System primitives are *the* primitives.
    pub is_corlib: bool,
    /// The domain that it is loaded in.
    pub universe: &'static Universe,
    pub(crate) assembly: OnceLock<&'static Assembly>,
    pub(crate) type_defs: Box<[LazyRef<Ty>]>,
    pub(crate) type_refs: Box<[LazyRef<Ty>]>,
    pub(crate) assembly_refs: Box<[LazyRef<&'static Assembly>]>,
    /// Modules whose type forwarders were followed for TypeRefs of this image, each with the module to which it led.
    pub(crate) forwarders_passed: RwLock<rank::ForwardersPassed, Vec<(&'static Image, &'static Image)>>,
    /// The TypeRef row of `System.WeakAttribute`, 0 = none; searched when a class with reference fields is laid out.
    pub(crate) weak_attribute: OnceLock<Rid>,
    /// Which attributes the image names; searched by `interop_attributes` when the first of them is asked for.
    pub(crate) named_attributes: OnceLock<NamedAttributes>,
    /// Found members of non-generic parents, by MemberRef rid; kept by `resolve`.
    pub(crate) member_refs: Box<[LazyRef<Member>]>,
    /// For the image of a dynamic method: the references that its tokens name, in place of metadata.
    pub(crate) dynamic: Option<DynamicCode>,
    /// For the image of a type made at run time: the meaning of its rows.
    pub(crate) emitted: Option<EmittedImage>,
}

/// The attributes that an image names, and to which `interop_attributes` pays heed.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct NamedAttributes {
    pub unmanaged_callers_only: bool,
    pub suppress_gc_transition: bool,
    pub unsafe_accessor: bool,
    /// Not only named: the assembly has it.
    pub disable_runtime_marshalling: bool,
}

impl PartialEq for Image {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}
impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.meta.path().display())
    }
}

impl Image {
    /// Whether this is the image of a dynamic method, which has no types.
    pub fn is_of_dynamic_method(&self) -> bool {
        self.dynamic.is_some()
    }

    pub fn assembly(&'static self) -> &'static Assembly {
        // The assembly of a dynamic method's image is not in the cell: filling a cell takes longer than looking at both
        // places.
        let assembly = self.assembly.get().copied().or_else(|| self.dynamic.as_ref().map(|code| code.assembly));
        assembly.expect("an image is published with its assembly")
    }

    pub(crate) fn bad_token(&self, token: Token) -> LoadError {
        let message = format!("Invalid token 0x{:08x} in {}", token.0, self.meta.path().display());
        LoadError::new(LoadErrorKind::BadImageFormat, message, self.meta.path().display().to_string())
    }
}

/// An assembly: its manifest image and identity.
pub struct Assembly {
    pub image: &'static Image,
    pub name: &'static str,
    /// major, minor, build, revision
    pub version: [u16; 4],
    pub culture: &'static str,
    /// Empty when not strongly named.
    pub public_key_token: Vec<u8>,
    pub path: PathBuf,
    pub load_context: LoadContext,
    /// Made at run time: it is not found by references or names.
    pub is_dynamic: bool,
    /// False for an assembly made at run time only to be saved.
    pub is_runnable: bool,
    /// For an assembly made at run time: `wraps_thrown_objects`, since it has no attribute row.
    pub wraps_thrown: AtomicBool,
    /// Loaded for inspection only.
    pub reflection_only: bool,
    /// GC handle of the reflection object; the runtime's.
    pub reflection_handle: std::sync::atomic::AtomicU32,
    pub module_reflection_handle: std::sync::atomic::AtomicU32,
    pub module_images: RwLock<rank::ModuleImages, Vec<&'static Image>>,
    pub(crate) emitted: RwLock<rank::EmittedTypes, EmittedParts>,
    /// Friend assemblies (`InternalsVisibleToAttribute`); read by `access`.
    pub(crate) friends: Lazy<&'static [AssemblyName]>,
    /// The assemblies whose internals it uses like its own (`IgnoresAccessChecksToAttribute`); read by `access`.
    pub(crate) unchecked: Lazy<&'static [AssemblyName]>,
}

/// What a program adds to an assembly that is made at run time.
#[derive(Default)]
pub(crate) struct EmittedParts {
    /// Types that are not nested, by full name.
    pub types: FxHashMap<String, Ty>,
    /// Become `Assembly::friends`.
    pub friends: Vec<AssemblyName>,
    /// Become `Assembly::unchecked`.
    pub unchecked: Vec<AssemblyName>,
}

impl Assembly {
    /// "Name, Version=…, Culture=…, PublicKeyToken=…".
    pub fn display_name(&self) -> String {
        crate::identity::display_name(self.name, self.version, self.culture, &self.public_key_token)
    }
}

impl PartialEq for Assembly {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// The member that a MemberRef resolved to.
#[derive(Clone, Copy)]
pub enum Member {
    Method(&'static Method),
    Field(&'static Field),
}

/// In the word of a member: it is a field.
const FIELD: usize = 4;
const _: () = assert!(align_of::<Method>() > FIELD && align_of::<Field>() > FIELD);

// SAFETY: a record's address is a multiple of 8 and not zero, and `FIELD` of 4.
unsafe impl Word for Member {
    fn into_word(self) -> usize {
        match self {
            Member::Method(method) => method.into_word(),
            Member::Field(field) => field.into_word() | FIELD,
        }
    }

    unsafe fn from_word(word: usize) -> Self {
        if word & FIELD == 0 {
            // SAFETY: without the mark, the word is that of a method.
            Member::Method(unsafe { Word::from_word(word) })
        } else {
            // SAFETY: the mark stands in the word of a field, and only there.
            Member::Field(unsafe { Word::from_word(word & !FIELD) })
        }
    }
}

/// The referent of a token in the code of a dynamic method.
#[derive(Clone, Copy)]
pub enum DynamicRef {
    /// A string literal; the string object is kept by the runtime.
    Text,
    Type(Ty),
    Method(&'static Method),
    Field(&'static Field),
    /// The signature of a `calli`, by its index in `DynamicBody::signatures`.
    Signature(usize),
}

/// The code of a dynamic method.
pub struct DynamicBody {
    pub max_stack: u16,
    pub code: Vec<u8>,
    pub init_locals: bool,
    pub locals: Vec<LocalSig>,
    pub eh_clauses: Vec<EhClause>,
    /// By token; see `DynamicCode::token`.
    pub refs: Vec<DynamicRef>,
    pub signatures: Vec<MethodSig>,
}

/// The data of a dynamic method's image that take the place of metadata.
pub struct DynamicCode {
    pub(crate) sig: MethodSig,
    /// The assembly of the module.
    pub(crate) assembly: &'static Assembly,
    /// The type from which access to fields is judged; None = all fields are accessible.
    pub(crate) scope: Option<Ty>,
    /// Set later than the method is made, so that methods can refer to each other.
    pub(crate) body: OnceLock<DynamicBody>,
}

/// A type made by a TypeBuilder, before and after it is finished; leaked.
pub struct EmittedType {
    /// The module the builder belongs to; the type's own image is another.
    pub module: &'static Image,
    pub namespace: String,
    pub name: String,
    pub enclosing: Option<&'static EmittedType>,
    /// Row in the TypeDef table that the builder shows.
    pub row: Rid,
    /// Address of the root cell that holds the builder; the runtime's.
    pub builder_cell: AtomicUsize,
    pub(crate) created: OnceLock<Ty>,
    pub(crate) nested: RwLock<rank::NestedTypes, Vec<Ty>>,
}

/// The referent of a TypeRef row of an emitted image.
#[derive(Clone, Copy)]
pub enum TypeReference {
    Loaded(Ty),
    Emitted(&'static EmittedType),
}

/// The tokens that builders show for the members of an emitted type, by their rows in its image.
#[derive(Default)]
pub struct ShownTokens {
    pub methods: Vec<Token>,
    pub fields: Vec<Token>,
    pub properties: Vec<Token>,
    pub events: Vec<Token>,
}

/// The data of an emitted type's image besides metadata.
pub struct EmittedImage {
    pub of: &'static EmittedType,
    /// By TypeRef row.
    pub references: Vec<TypeReference>,
    pub shown: ShownTokens,
}
