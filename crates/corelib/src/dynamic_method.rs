//! System.Reflection.Emit.DynamicMethod: methods made at run time, whose code and references a `Resolver` gives.
//!
//! A method gets its code when managed code compiles or calls it, because it may name itself. The resolver's signatures
//! name types by their handles. A method lives as long as its resolver (`runtime::vm::dynamic_methods`), which holds
//! the DynamicMethod object and is held by the object behind the method's handle. So the class library's own way to
//! free methods, finalizers of the resolver that end in `RuntimeMethodHandle.Destroy`, is not used: the type counts as
//! having no finalizer.

use crate::arguments::{MethodArgument, ModuleArgument, ObjectPlace};
use crate::class_fields::method_stub;
use saki_metadata::opcodes::{Operand, OperandKind, decode};
use saki_metadata::{BadImage, EhClause, EhKind, ElementType, Token, parse_eh_sections};
use saki_reflect::module::image_of_module;
use saki_runtime::exec::compile;
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::object::{exceptions, method_tables, strings, type_objects};
use saki_runtime::vm::dynamic_methods;
use saki_runtime::{Array, CurrentThread, ExceptionType, InternalCall, Managed, ManagedField, Obj, Str, ToManaged};
use saki_types::dynamic::{DynamicBody, DynamicCode, DynamicMethodSpec, DynamicRef, create_method};
use saki_types::{Field, Image, LibraryType, LoadError, LocalSig, Method, MethodSig, Ty, universe};
use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

static TYPE_OWNER: ManagedField = ManagedField::new(LibraryType::DynamicMethod, "_typeOwner");
static RESOLVED: ManagedField = ManagedField::new(LibraryType::DynamicResolver, "m_method");
static STUB_KEEPS: ManagedField = ManagedField::new(LibraryType::RuntimeMethodInfoStub, "m_keepalive");

/// How deep types may lie in each other: a signature that a program gives as bytes could nest them until the stack
/// overflows.
const MAX_NESTING: u32 = 100;

/// Reads a signature in which types are handles.
struct Reader<'a> {
    rest: &'a [u8],
    /// The number of types around the current place.
    nesting: u32,
}

impl Reader<'_> {
    fn of(bytes: &[u8]) -> Reader<'_> {
        Reader { rest: bytes, nesting: 0 }
    }
}

fn cut_short() -> BadImage {
    BadImage::in_blob(0, "a signature of a dynamic method is cut short")
}

impl Reader<'_> {
    fn u8(&mut self) -> Result<u8, BadImage> {
        let (&first, rest) = self.rest.split_first().ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(first)
    }

    fn number(&mut self) -> Result<u32, BadImage> {
        let first = u32::from(self.u8()?);
        Ok(match first {
            _ if first & 0x80 == 0 => first,
            _ if first & 0x40 == 0 => (first & 0x3f) << 8 | u32::from(self.u8()?),
            _ => {
                let mut number = first & 0x1f;
                for _ in 0..3 {
                    number = number << 8 | u32::from(self.u8()?);
                }
                number
            }
        })
    }

    fn handle(&mut self) -> Result<Ty, BadImage> {
        let (bytes, rest) = self.rest.split_first_chunk::<8>().ok_or_else(cut_short)?;
        self.rest = rest;
        // SAFETY: managed code writes handles of types that it has objects of.
        Ok(unsafe { method_tables::type_of_handle(usize::from_le_bytes(*bytes)) })
    }

    /// A type, and whether it is pinned.
    fn ty(&mut self) -> Result<(Ty, bool), BadImage> {
        if self.nesting == MAX_NESTING {
            return Err(BadImage::in_blob(0, "a signature of a dynamic method nests too many types"));
        }
        self.nesting += 1;
        let found = self.nested_ty();
        self.nesting -= 1;
        found
    }

    fn nested_ty(&mut self) -> Result<(Ty, bool), BadImage> {
        const INTERNAL: u8 = 0x21;
        const INTERNAL_MODIFIER: u8 = 0x22;
        const PINNED: u8 = 0x45;
        let u = universe();
        let first = self.u8()?;
        let ty = match first {
            INTERNAL => self.handle()?,
            INTERNAL_MODIFIER => {
                self.u8()?;
                self.handle()?;
                return self.ty();
            }
            PINNED => return Ok((self.ty()?.0, true)),
            _ => match ElementType::from_u8(first) {
                Some(ElementType::SzArray) => u.sz_array_of(self.ty()?.0),
                Some(ElementType::Ptr) => u.pointer_to(self.ty()?.0),
                Some(ElementType::ByRef) => u.byref_to(self.ty()?.0),
                Some(ElementType::Array) => {
                    let element = self.ty()?.0;
                    let rank = self.number()?;
                    for _ in 0..2 {
                        for _ in 0..self.number()? {
                            self.number()?;
                        }
                    }
                    u.array_of(element, rank)
                }
                Some(ElementType::GenericInst) => {
                    let definition = self.ty()?.0;
                    let count = self.number()?;
                    let arguments = (0..count).map(|_| Ok(self.ty()?.0)).collect::<Result<Vec<Ty>, BadImage>>()?;
                    let made = u.instantiate(definition, &arguments);
                    made.map_err(|_| BadImage::in_blob(0, "arguments of a generic type do not fit"))?
                }
                Some(element) if element.is_simple() => u.primitive(element),
                _ => return Err(BadImage::in_blob(0, format!("element type {first:#x} in a dynamic method"))),
            },
        };
        Ok((ty, false))
    }

    /// A method's signature.
    fn method(&mut self) -> Result<MethodSig, BadImage> {
        const GENERIC: u8 = 0x10;
        const HAS_THIS: u8 = 0x20;
        const EXPLICIT_THIS: u8 = 0x40;
        const VARARG: u8 = 5;
        const UNMANAGED: u8 = 9;
        let first = self.u8()?;
        let generic_param_count = if first & GENERIC != 0 { self.number()? } else { 0 };
        let count = self.number()?;
        let ret = self.ty()?.0;
        Ok(MethodSig {
            has_this: first & HAS_THIS != 0,
            explicit_this: first & EXPLICIT_THIS != 0,
            is_vararg: first & 0xf == VARARG,
            unmanaged_convention: match first & 0xf {
                VARARG => 0,
                UNMANAGED => 1,
                other => other,
            },
            generic_param_count,
            ret,
            params: (0..count).map(|_| Ok(self.ty()?.0)).collect::<Result<_, BadImage>>()?,
            sentinel: None,
        })
    }

    fn locals(&mut self) -> Result<Vec<LocalSig>, BadImage> {
        if self.rest.is_empty() {
            return Ok(Vec::new());
        }
        self.u8()?;
        let count = self.number()?;
        let local = |_| self.ty().map(|(ty, pinned)| LocalSig { ty, pinned });
        (0..count).map(local).collect()
    }
}

/// A new method and the object behind its handle.
fn create<'t>(
    t: CurrentThread<'t>,
    module: &'static Image,
    name: String,
    signature: &[u8],
    resolver: Obj<'t>,
) -> Managed<Obj<'t>> {
    let Some(object) = RESOLVED.obj(resolver) else { return Err(exceptions::throw_argument_null(t, "method")) };
    let sig = Reader::of(signature).method().map_err(LoadError::from).to_managed(t)?;
    let method = create_method(DynamicMethodSpec {
        name,
        module,
        owner: TYPE_OWNER.obj(object).and_then(type_objects::type_of_object),
        sig,
        // .NET checks no access of a dynamic method, whatever its constructor was told.
        skips_visibility: true,
    });
    dynamic_methods::register(method, resolver);
    let stub = method_stub(t, method)?;
    STUB_KEEPS.set_ref(t, stub, resolver);
    Ok(stub)
}

/// 9: `GetDynamicMethod(DynamicMethod, RuntimeModule, string name, byte[] signature, Resolver)`
fn get_dynamic_method<'t>(
    t: CurrentThread<'t>,
    _object: Option<Obj>,
    module: Option<Obj>,
    name: Option<Str>,
    signature: Option<Array>,
    resolver: Option<Obj<'t>>,
) -> Managed<Obj<'t>> {
    let (Some(module), Some(signature), Some(resolver)) = (module.and_then(image_of_module), signature, resolver)
    else {
        return Err(exceptions::throw_argument_null(t, "method"));
    };
    let name = name.map_or_else(String::new, Str::to_rust);
    create(t, module, name, &signature.numbers::<u8>(), resolver)
}

/// 10: the same with texts and signature by address.
fn get_dynamic_method_by_addresses(
    t: CurrentThread,
    module: ModuleArgument,
    name: *const c_char,
    signature: *const u8,
    signature_bytes: i32,
    resolver: ObjectPlace,
    result: ObjectPlace,
) -> Managed<()> {
    let Some(resolver) = resolver.get() else { return Err(exceptions::throw_argument_null(t, "method")) };
    let name = match name.is_null() {
        true => String::new(),
        // SAFETY: managed code passes the address of a text that a NUL ends, which lives as long as the call.
        false => unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned(),
    };
    // SAFETY: managed code pins an array with so many bytes for the call.
    let signature = unsafe { std::slice::from_raw_parts(signature, usize::try_from(signature_bytes).unwrap_or(0)) };
    let signature = signature.to_vec();
    result.set(t, create(t, module.image(), name, &signature, resolver)?);
    Ok(())
}

/// The Resolver of a dynamic method; None for other methods.
pub fn resolver_of<'t>(t: CurrentThread<'t>, method: &'static Method) -> Option<Obj<'t>> {
    if method.is_dynamic() { dynamic_methods::object_of(t, method) } else { None }
}

/// A method of the class of resolvers.
struct Question {
    name: &'static str,
    params: usize,
    found: OnceLock<&'static Method>,
}

impl Question {
    const fn new(name: &'static str, params: usize) -> Question {
        Question { name, params, found: OnceLock::new() }
    }

    /// Calls the method of a resolver.
    fn ask(&self, t: CurrentThread, resolver: Obj, arguments: &[Slot]) -> Managed<Slot> {
        let method = match self.found.get() {
            Some(known) => known,
            None => match resolver.ty().find_method(self.name, self.params).to_managed(t)? {
                Some(found) => self.found.get_or_init(|| found),
                None => return Err(exceptions::throw_default(t, ExceptionType::MissingMethod)),
            },
        };
        let mut words = [Slot::from_ref(resolver); 1 + MAX_PARAMS];
        words[1..=arguments.len()].copy_from_slice(arguments);
        invoke::invoke(t, method, &words[..=arguments.len()])
    }
}

const MAX_PARAMS: usize = 4;

static GET_CODE_INFO: Question = Question::new("GetCodeInfo", 3);
static GET_LOCALS_SIGNATURE: Question = Question::new("GetLocalsSignature", 0);
static GET_RAW_CLAUSES: Question = Question::new("GetRawEHInfo", 0);
static GET_CLAUSE: Question = Question::new("GetEHInfo", 2);
static GET_STRING: Question = Question::new("GetStringLiteral", 1);
static RESOLVE_TOKEN: Question = Question::new("ResolveToken", 4);
static RESOLVE_SIGNATURE: Question = Question::new("ResolveSignature", 2);

/// The bytes of an answer that is a byte[]; none for null.
fn bytes_of(answer: Slot) -> Vec<u8> {
    // SAFETY: the answer of a method that returns an array.
    let array = unsafe { answer.as_obj() }.and_then(Obj::as_array);
    array.map_or_else(Vec::new, |array| array.numbers::<u8>())
}

/// What the tokens of a method's code name.
#[derive(Default)]
struct References {
    refs: Vec<DynamicRef>,
    signatures: Vec<MethodSig>,
    /// Dynamic methods among the references that may lack their code.
    called: Vec<&'static Method>,
}

impl References {
    /// Adds a reference, and gives the token by which the machine finds it.
    fn add(&mut self, named: DynamicRef) -> Token {
        self.refs.push(named);
        DynamicCode::token(self.refs.len() - 1)
    }

    /// Adds the type, method or field that a token names.
    fn add_member(&mut self, t: CurrentThread, resolver: Obj, token: Token) -> Managed<Token> {
        let mut handles = [0usize; 3];
        let [ty, method, field] = &mut handles;
        let places = [&raw mut *ty, &raw mut *method, &raw mut *field].map(|place| Slot::from_ptr(place));
        RESOLVE_TOKEN.ask(t, resolver, &[Slot::from_i32(token.0 as i32), places[0], places[1], places[2]])?;
        let [ty, method, field] = handles;
        // SAFETY: the resolver gives handles of the machine.
        let named = unsafe {
            if let Some(method) = (method as *const Method).as_ref() {
                if method.lacks_code() {
                    self.called.push(method);
                }
                DynamicRef::Method(method)
            } else if let Some(field) = (field as *const Field).as_ref() {
                DynamicRef::Field(field)
            } else if ty != 0 {
                DynamicRef::Type(method_tables::type_of_handle(ty))
            } else {
                return Err(exceptions::throw_default(t, ExceptionType::InvalidProgram));
            }
        };
        Ok(self.add(named))
    }
}

/// Replaces the tokens in code by those of the references that they name.
fn replace_tokens(
    t: CurrentThread,
    method: &'static Method,
    resolver: Obj,
    code: &mut [u8],
    references: &mut References,
) -> Managed<()> {
    let original = code.to_vec();
    for instruction in decode(&original) {
        let instruction = instruction.map_err(LoadError::from).to_managed(t)?;
        let Operand::Token(token) = instruction.operand else { continue };
        let replaced = match instruction.opcode.operand_kind() {
            OperandKind::String => {
                let answer = GET_STRING.ask(t, resolver, &[Slot::from_i32(token.0 as i32)])?;
                // SAFETY: the answer of a method that returns a string.
                let Some(text) = unsafe { answer.as_obj() }.and_then(Obj::as_str) else {
                    return Err(exceptions::throw_null_reference(t));
                };
                let replaced = references.add(DynamicRef::Text);
                strings::set_literal(method.image(), replaced.0, text);
                replaced
            }
            OperandKind::Sig => {
                let words = [Slot::from_i32(token.0 as i32), Slot::from_i32(0)];
                let bytes = bytes_of(RESOLVE_SIGNATURE.ask(t, resolver, &words)?);
                let sig = Reader::of(&bytes).method().map_err(LoadError::from).to_managed(t)?;
                references.signatures.push(sig);
                references.add(DynamicRef::Signature(references.signatures.len() - 1))
            }
            _ => references.add_member(t, resolver, token)?,
        };
        let end = instruction.next_offset as usize;
        code[end - 4..end].copy_from_slice(&replaced.0.to_le_bytes());
    }
    Ok(())
}

/// The exception clauses: those that a program gave as bytes, or as the resolver gives them one by one.
fn clauses(t: CurrentThread, resolver: Obj, count: i32, references: &mut References) -> Managed<Vec<EhClause>> {
    let raw = bytes_of(GET_RAW_CLAUSES.ask(t, resolver, &[])?);
    let mut found = if raw.is_empty() {
        (0..count).map(|index| clause(t, resolver, index)).collect::<Managed<Vec<EhClause>>>()?
    } else {
        parse_eh_sections(&raw).map_err(LoadError::from).to_managed(t)?
    };
    for clause in found.iter_mut().filter(|clause| clause.kind == EhKind::Catch) {
        let class = Token(clause.class_token_or_filter_offset);
        clause.class_token_or_filter_offset = references.add_member(t, resolver, class)?.0;
    }
    Ok(found)
}

/// An exception clause of the resolver's, by its number.
fn clause(t: CurrentThread, resolver: Obj, index: i32) -> Managed<EhClause> {
    let mut clause = [0u32; 6];
    GET_CLAUSE.ask(t, resolver, &[Slot::from_i32(index), Slot::from_ptr(&raw mut clause)])?;
    let [flags, try_offset, try_len, handler_offset, handler_len, class_token_or_filter_offset] = clause;
    let kind = match flags & 7 {
        1 => EhKind::Filter,
        2 => EhKind::Finally,
        4 => EhKind::Fault,
        _ => EhKind::Catch,
    };
    Ok(EhClause { kind, try_offset, try_len, handler_offset, handler_len, class_token_or_filter_offset })
}

/// Gives a dynamic method and those that it names their code, where they have none yet.
///
/// # Errors
/// What the resolver throws; InvalidProgramException.
pub fn define(t: CurrentThread, method: &'static Method) -> Managed<()> {
    let mut pending = vec![method];
    while let Some(method) = pending.pop() {
        if !method.lacks_code() {
            continue;
        }
        let Some(resolver) = resolver_of(t, method) else { continue };
        pending.append(&mut define_by(t, method, resolver)?);
    }
    Ok(())
}

/// Gives a dynamic method its code. Returns the dynamic methods that it names.
fn define_by(t: CurrentThread, method: &'static Method, resolver: Obj) -> Managed<Vec<&'static Method>> {
    let (mut max_stack, mut init_locals, mut clause_count) = (0i32, 0i32, 0i32);
    let places = [&raw mut max_stack, &raw mut init_locals, &raw mut clause_count].map(|place| Slot::from_ptr(place));
    let mut code = bytes_of(GET_CODE_INFO.ask(t, resolver, &places)?);
    let locals = bytes_of(GET_LOCALS_SIGNATURE.ask(t, resolver, &[])?);
    let locals = Reader::of(&locals).locals().map_err(LoadError::from).to_managed(t)?;
    let mut references = References::default();
    replace_tokens(t, method, resolver, &mut code, &mut references)?;
    let eh_clauses = clauses(t, resolver, clause_count, &mut references)?;
    method.define(DynamicBody {
        max_stack: u16::try_from(max_stack.max(8)).unwrap_or(u16::MAX),
        code,
        init_locals: init_locals != 0,
        locals,
        eh_clauses,
        refs: references.refs,
        signatures: references.signatures,
    });
    Ok(references.called)
}

fn compile(t: CurrentThread, method: MethodArgument) -> Managed<()> {
    let Some(method) = method.find() else { return Ok(()) };
    define(t, method)?;
    compile::compile_method(t, method).map(|_| ())
}

fn get_resolver<'t>(t: CurrentThread<'t>, method: MethodArgument) -> Option<Obj<'t>> {
    method.find().and_then(|method| resolver_of(t, method))
}

/// See the module header: never called.
fn destroy(_t: CurrentThread, _method: MethodArgument) {}

/// Where the next call returns to: reflection's own dynamic methods ask, so that a debugger steps over it, and drop the
/// answer.
fn next_return_address(_t: CurrentThread) -> isize {
    0
}

/// 10: its body throws.
pub const LOOPS: &[LoopRow] = &[LoopRow::new(
    "static System.StubHelpers.StubHelpers::NextCallReturnAddress() System.IntPtr",
    &next_return_address,
)
.correcting()];

/// The internal calls of dynamic methods.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net9 System.ModuleHandle::GetDynamicMethod", &get_dynamic_method),
    InternalCall::new("@net10 QCall::ModuleHandle_GetDynamicMethod", &get_dynamic_method_by_addresses),
    InternalCall::new("@net QCall::ReflectionInvocation_CompileMethod", &compile),
    InternalCall::new("@net System.RuntimeMethodHandle::GetResolver", &get_resolver),
    InternalCall::new("@net QCall::RuntimeMethodHandle_Destroy", &destroy),
    InternalCall::new("@net9 System.StubHelpers.StubHelpers::NextCallReturnAddress", &next_return_address),
];
