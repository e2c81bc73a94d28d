//! The key by which a cached body is found: a 128-bit hash that names the method in the same way in every process.
//!
//! A type is named by its module's identity (hash of the file's contents), its TypeDef row and its arguments; a method by its
//! type, row and arguments. If two methods had the same key by chance (2⁻¹²⁸ a pair), wrong code would run; that is accepted.
//! Types and methods made at run time, function pointer types and modules loaded from memory have no such name, hence no key.

use super::checksum::{WordHasher, hash};
use super::file::Key;
use super::module::{Module, machine, module_of};
use saki_abi::HelperId;
use saki_types::{Image, Method, MethodKind, RemotingStub, Ty, TypeKind};

/// The identity of a body: the method or wrapper whose code it is.
#[derive(Clone, Copy)]
pub enum Identity<'a> {
    Method(&'static Method),
    /// The method's body in the first tier, which counts.
    FirstTier(&'static Method),
    /// The body in the first tier that all methods with this one's shared form use (`types::stand_ins`).
    Shared(&'static Method),
    /// Code around the `Invoke` of a delegate: for native callers, and (below) for a delegate over a native function.
    Callback(&'static Method),
    NativeInvoke(&'static Method),
    Helper(HelperId),
    /// Rust calling managed code of a signature, given as its machine classes.
    InvokeThunk(&'a [u8]),
    /// C calling managed code of a signature, given likewise.
    CallbackEntry(&'a [u8]),
}

struct KeyHasher(WordHasher);

impl KeyHasher {
    fn new(tag: u64) -> KeyHasher {
        KeyHasher(WordHasher::new(tag))
    }

    fn word(&mut self, word: u64) {
        self.0.word(word);
    }

    fn image(&mut self, image: &'static Image) -> Option<()> {
        let [low, high] = module_of(image)?.id;
        self.word(low);
        self.word(high);
        Some(())
    }

    fn ty(&mut self, ty: Ty) -> Option<()> {
        match &ty.kind {
            TypeKind::Def(def) => {
                self.word(1 | u64::from(def.rid) << 8);
                self.image(def.image)?;
            }
            TypeKind::Inst { definition } => {
                self.word(2 | (ty.args.len() as u64) << 8);
                self.ty(definition)?;
                ty.args.iter().try_for_each(|arg| self.ty(arg))?;
            }
            TypeKind::SzArray(element) => {
                self.word(3);
                self.ty(element)?;
            }
            TypeKind::Array { element, rank } => {
                self.word(4 | u64::from(*rank) << 8);
                self.ty(element)?;
            }
            TypeKind::Ptr(element) => {
                self.word(5);
                self.ty(element)?;
            }
            TypeKind::ByRef(element) => {
                self.word(6);
                self.ty(element)?;
            }
            TypeKind::FnPtr(_) | TypeKind::Var(_) | TypeKind::MVar(_) => return None,
        }
        Some(())
    }

    /// The method's shared form.
    fn shared_form(&mut self, method: &'static Method) -> Option<()> {
        let MethodKind::Def { rid, .. } = method.kind else { return None };
        self.word(1 | u64::from(rid) << 8);
        self.ty(method.owner.generic_definition().unwrap_or(method.owner))?;
        for arg in method.owner.args.iter().chain(method.generic_args()) {
            match arg.is_reference_type() {
                true => self.word(7),
                false => self.ty(arg)?,
            }
        }
        Some(())
    }

    fn method(&mut self, method: &'static Method) -> Option<()> {
        match method.kind {
            MethodKind::Def { rid, .. } => self.word(1 | u64::from(rid) << 8),
            // Distinct among the methods of one array type.
            MethodKind::Array(_) => {
                self.word(2);
                self.word(hash(0, method.name.as_bytes()));
                self.word(method.sig().ok()?.params.len() as u64);
            }
            MethodKind::Remoting(stub) => {
                let (tag, rid) = match stub {
                    RemotingStub::Invoke(target) | RemotingStub::Call(target) => {
                        self.method(target)?;
                        (3 + u64::from(stub == RemotingStub::Call(target)), 0)
                    }
                    RemotingStub::GetField(field) => (5, field.rid),
                    RemotingStub::SetField(field) => (6, field.rid),
                    RemotingStub::FieldAddress(field) => (7, field.rid),
                };
                self.word(tag | u64::from(rid) << 8);
            }
            MethodKind::Dynamic(_) | MethodKind::NativeCall(_) => return None,
        }
        self.ty(method.owner)?;
        self.word(method.generic_args().len() as u64);
        method.generic_args().iter().try_for_each(|arg| self.ty(arg))
    }

    fn finish(self) -> Key {
        let [low, high] = self.0.finish();
        // A low half of zero marks a free slot of a file.
        Key { low: low.max(1), high }
    }
}

impl Identity<'_> {
    /// The method that the code belongs to, if any.
    pub(super) fn method(self) -> Option<&'static Method> {
        match self {
            Identity::Method(method)
            | Identity::FirstTier(method)
            | Identity::Shared(method)
            | Identity::Callback(method)
            | Identity::NativeInvoke(method) => Some(method),
            Identity::Helper(_) | Identity::InvokeThunk(_) | Identity::CallbackEntry(_) => None,
        }
    }

    /// The key, and the module in whose file the body belongs; None if it cannot be named.
    pub(super) fn key(self) -> Option<(Key, &'static Module)> {
        let (tag, method) = match self {
            Identity::Method(method) => (1, method),
            Identity::FirstTier(method) => (7, method),
            Identity::Callback(method) => (2, method),
            Identity::NativeInvoke(method) => (3, method),
            Identity::Shared(method) => {
                let mut hasher = KeyHasher::new(8);
                hasher.shared_form(method)?;
                return Some((hasher.finish(), module_of(home_of_shared(method))?));
            }
            Identity::Helper(helper) => return machine_key(4, helper.name().as_bytes()),
            Identity::InvokeThunk(classes) => return machine_key(5, classes),
            Identity::CallbackEntry(classes) => return machine_key(6, classes),
        };
        let mut hasher = KeyHasher::new(tag);
        hasher.method(method)?;
        Some((hasher.finish(), module_of(home(method))?))
    }
}

fn machine_key(tag: u64, what: &[u8]) -> Option<(Key, &'static Module)> {
    let mut hasher = KeyHasher::new(tag);
    hasher.word(hash(0, what));
    hasher.word(what.len() as u64);
    Some((hasher.finish(), machine()?))
}

/// The image in whose file a method's body belongs: where its type is defined, unless a generic argument is defined in
/// a third module, neither there nor in corlib. So the files of libraries hold no code of one program's types.
fn home(method: &'static Method) -> &'static Image {
    let own = method.image();
    std::iter::once(&method.owner).chain(method.generic_args()).find_map(|ty| foreign_image(ty, own)).unwrap_or(own)
}

/// The home of the method's shared form, which the arguments that are reference types are no part of.
fn home_of_shared(method: &'static Method) -> &'static Image {
    let own = method.image();
    let arguments = method.owner.args.iter().chain(method.generic_args());
    arguments.filter(|arg| !arg.is_reference_type()).find_map(|arg| foreign_image(arg, own)).unwrap_or(own)
}

/// The images of the method's type and of all generic arguments.
pub(super) fn images_of_name(method: &'static Method) -> Vec<&'static Image> {
    let mut images: Vec<&'static Image> = Vec::new();
    let mut open: Vec<Ty> = method.generic_args().to_vec();
    open.push(method.owner);
    while let Some(ty) = open.pop() {
        if !images.contains(&ty.image()) {
            images.push(ty.image());
        }
        open.extend(ty.args);
        open.extend(ty.element());
    }
    images
}

fn foreign_image(ty: Ty, own: &'static Image) -> Option<&'static Image> {
    let image = ty.image();
    if image != own && !image.is_corlib {
        return Some(image);
    }
    ty.args.iter().find_map(|arg| foreign_image(arg, own)).or_else(|| foreign_image(ty.element()?, own))
}
