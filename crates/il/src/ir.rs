//! The typed intermediate representation between CIL and machine code.
//!
//! A `Function` is a list of basic blocks over one arena of instructions. An instruction defines at most one value, and
//! a value is used only in the block that defines it or in blocks which that block dominates. A block's index is not
//! lower than that of the blocks whose values it uses, so that visiting blocks in index order meets definitions first.
//! Values that must survive control-flow joins are kept in `Local`s (the code generator turns those that are not
//! address-exposed into SSA variables). `LocalGet`/`LocalSet` of an address-exposed scalar read and write its memory.
//!
//! Types of operands are exact except that I64, ByRef and Ref stand for each other (all are 64-bit words).
//!
//! Struct values: an operand of type `IrType::Struct` is the *address* of readable storage of that type, whose contents
//! stay unchanged until the consumer has run. Struct results are stored at an address passed to the producer. Where the
//! struct is a vector (`IrType::vector`), managed calls and returns also take a value of type `V128`, and a managed
//! call without an address for the result defines such a value.
//!
//! Invariant: nothing here holds an address of the running process; the code names addresses by `Symbol`s.
//! Left out: machine details (registers, stack slots, exception tables), which `jit` owns.

mod display;
pub mod dominators;
mod vector;
pub mod verify;

use crate::vector_types::vector_type;
use saki_abi::HelperId;
pub use saki_abi::{ConvTarget, position};
use saki_metadata::Token;
use saki_types::{Field, Image, LoadError, Method, Ty};
use std::borrow::Cow;
pub use vector::{Lanes, VectorOp};

/// Index into `Function::insts`: the value that the instruction defines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ValueId(pub u32);
/// Index into `Function::blocks`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BlockId(pub u32);
/// Index into `Function::locals`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LocalId(pub u32);
/// Index into `Function::regions`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct RegionId(pub u32);

/// Type of a value. CIL `native int`, pointers and handles are `I64`; managed pointers are `ByRef`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IrType {
    Void,
    I32,
    I64,
    F32,
    F64,
    /// Object reference (nullable).
    Ref,
    /// Managed pointer: 64 bits, may point anywhere.
    ByRef,
    /// A vector of 16 bytes, divided into lanes by each operation. Only for values and locals: signatures name the
    /// struct type.
    V128,
    /// Value type in memory: see the module header.
    Struct(Ty),
    /// Raw storage of this many bytes, 8-aligned. Only as the type of a local (argument blocks of vararg calls and of
    /// multi-dimensional array constructors), used through `LocalAddr` alone.
    Block(u32),
}

impl IrType {
    /// The memory type of a vector type; None for others. Managed functions take and return such values in vector
    /// registers. This function alone decides that, for callers, callees and all stubs between them, with and without
    /// `ImportOptions::vectors`.
    pub fn vector(self) -> Option<MemType> {
        match self {
            IrType::Struct(ty) => vector_type(ty).map(|vector| vector.mem),
            _ => None,
        }
    }
}

/// The type of a memory access. Narrow integers are extended to I32 on load and truncated on store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemType {
    I8,
    U8,
    I16,
    U16,
    I32,
    I64,
    F32,
    F64,
    Ref,
    ByRef,
    V128,
    /// 8 or 12 bytes: the other lanes are zero when loaded, and are not stored.
    V64,
    V96,
}

impl MemType {
    /// The size in memory.
    pub fn bytes(self) -> u32 {
        match self {
            MemType::I8 | MemType::U8 => 1,
            MemType::I16 | MemType::U16 => 2,
            MemType::I32 | MemType::F32 => 4,
            MemType::I64 | MemType::F64 | MemType::Ref | MemType::ByRef | MemType::V64 => 8,
            MemType::V96 => 12,
            MemType::V128 => 16,
        }
    }

    /// Type of the value that a load defines.
    pub fn loaded(self) -> IrType {
        match self {
            MemType::I8 | MemType::U8 | MemType::I16 | MemType::U16 | MemType::I32 => IrType::I32,
            MemType::I64 => IrType::I64,
            MemType::F32 => IrType::F32,
            MemType::F64 => IrType::F64,
            MemType::Ref => IrType::Ref,
            MemType::ByRef => IrType::ByRef,
            MemType::V128 | MemType::V64 | MemType::V96 => IrType::V128,
        }
    }
}

/// Memory classes that cannot alias each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum AliasClass {
    /// May be anything (raw pointers, byrefs).
    Any,
    /// Length word of arrays and strings: constant once visible.
    Length,
    /// The vtable word of objects.
    VTable,
    /// Instance fields of heap objects.
    Field,
    /// Array elements of this memory type.
    Element,
    /// Statics.
    Static,
    /// Runtime-internal words (thread struct, cells, class state).
    Runtime,
}

/// How an access treats a null base.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NullCheck {
    /// The base cannot be null; a fault would be a bug of Saki.
    None,
    /// The base may be null: NullReferenceException. The code generator picks a fault or an explicit test.
    Needed,
}

/// How an access to memory may fail, and what it may be reordered with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemFlags {
    pub null_check: NullCheck,
    pub alias: AliasClass,
    /// `volatile.`: acquire load / release store, never removed or reordered.
    pub volatile: bool,
    /// `unaligned.`
    pub unaligned: bool,
}

/// Operations on two values of one type. `Un`: unsigned; `Ovf`: OverflowException if the result does not fit. ECMA-335
/// §III.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    DivUn,
    Rem,
    RemUn,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    ShrUn,
    AddOvf,
    AddOvfUn,
    SubOvf,
    SubOvfUn,
    MulOvf,
    MulOvfUn,
    /// Floats: the magnitude of the first operand with the sign of the second one.
    FCopySign,
}

/// Operations on one value. `Neg` and `Not` are those of ECMA-335 §III.3; the others come from intrinsics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnOp {
    Neg,
    Not,
    /// Math intrinsics on F64 or F32.
    Sqrt,
    Abs,
    Floor,
    Ceil,
    Trunc,
    RoundEven,
    /// Bit operations on I32/I64.
    Clz,
    Ctz,
    Popcnt,
    Bswap,
    /// ckfinite: OverflowException, an ArithmeticException, for NaN and infinities, as in .NET and Mono.
    CheckFinite,
    /// Bit casts between integer and float of one size.
    BitcastI32F32,
    BitcastF32I32,
    BitcastI64F64,
    BitcastF64I64,
}

/// Comparisons give I32 0 or 1. On floats the plain forms are false for unordered operands, the `Un` forms true
/// (`Eq`: false, `NeUn`: true). On integers `Un` means unsigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CmpOp {
    Eq,
    NeUn,
    Lt,
    LtUn,
    Gt,
    GtUn,
    Le,
    LeUn,
    Ge,
    GeUn,
}

/// Atomic operations that give the old value, sequentially consistent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomicRmw {
    Add,
    And,
    Or,
    Xor,
    Exchange,
}

/// Everything that code names symbolically; the address is filled in when the code is placed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Symbol {
    /// Address of the `types::Type`: the RuntimeTypeHandle value.
    TypeHandle(Ty),
    MethodHandle(&'static Method),
    FieldHandle(&'static Field),
    /// Address of the type's `abi::VTable`.
    VTable(Ty),
    /// Callable code address of a method: its entry stub. (ldftn; delegate targets.)
    MethodEntry(&'static Method),
    /// Callable address that unboxes `this` first; for value-type instance methods called on boxed objects.
    UnboxEntry(&'static Method),
    /// Address of a static field (normal or RVA).
    StaticField(&'static Field),
    /// The place of a thread-static field: the number of its type's block in the low half of a word, the field's offset
    /// in bytes in the high half.
    ThreadStaticPlace(&'static Field),
    /// Address of the type's one-byte "initialised" flag (1 = class constructor has finished or none is needed).
    ClassInitFlag(Ty),
    /// Address of a cell that holds the interned string (`ldstr`): load from it.
    StringLiteral(&'static Image, u32),
    /// Address of a cell that holds the System.Type object: load from it.
    TypeObject(Ty),
    /// Address of the thunk of a helper.
    Helper(HelperId),
    /// Address of an internal call's Rust function (only in its wrapper).
    InternalCall(&'static Method),
    /// Address of a cell that holds a P/Invoke's native entry point, 0 until resolved: load from it.
    NativeCell(&'static Method),
    /// Address of the C function through which native code calls a method with UnmanagedCallersOnlyAttribute.
    NativeEntry(&'static Method),
    /// Address of a marshalling descriptor: method, parameter index (0 = return value).
    MarshalInfo(&'static Method, u32),
    /// Address of the varargs call-site signature cookie (`ArgIterator`), by module and signature token.
    VarArgCookie(&'static Image, u32),
    /// Address of the cell in which the first tier's code of a method notes what an instruction meets (`Op::Note`); the
    /// number is its IL offset.
    Noted(&'static Method, u32),
    /// Address of the byte that tells whether a virtual method is overridden (`MethodRuntime::overrides`).
    Overrides(&'static Method),
    /// Address of the counters of a method's blocks (`Op::CountBlock`), of which there are so many.
    BlockCounts(&'static Method, u32),
}

/// The text behind a `Symbol::StringLiteral`, for dumps: tokens of inlined methods change from one class library to the
/// next. None: the token does not name a string.
pub fn literal_text(image: &Image, token: u32) -> Option<String> {
    image.meta.user_string(Token(token)).ok().map(|units| String::from_utf16_lossy(&units))
}

/// Managed call signature as the code generator needs it: `this` first when there is one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CallSig {
    /// The first parameter is `this`: the struct-result pointer comes after it (before everything otherwise).
    pub has_this: bool,
    pub params: Vec<IrType>,
    pub ret: Option<IrType>,
}

/// What a call calls, and by which convention.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CallTarget {
    /// Non-virtual call of this method. `this`, if any, has been null-checked by the importer where CIL asks for it.
    Direct(&'static Method),
    /// Through the vtable slot of `args[0]` (NullReferenceException if null).
    Virtual { method: &'static Method, slot: u32 },
    /// Interface dispatch on `args[0]` through the IMT (slot = `types::imt_slot_index(method)`).
    Interface { method: &'static Method },
    /// Managed convention, code address in a value.
    Indirect(ValueId),
    /// A helper's thunk; arguments as its signature says.
    Helper(HelperId),
    /// The Rust function of an internal call: SystemV, the thread as hidden first argument, struct results through a
    /// pointer after `this`; exit frame recorded around it; pending exception thrown after it.
    InternalCall(&'static Method),
    /// Unmanaged C code at an address in a value. Params/ret are already native words (I32/I64/F32/F64/Struct by value
    /// as SystemV classifies it). The exit frame is recorded around it.
    Native { code: ValueId, transition: Transition },
}

/// What the thread does around a call of native code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transition {
    /// It stays in managed state: collections wait for the call.
    None,
    /// It leaves managed state for the call. Afterwards it waits while the world is stopped, and throws an exception
    /// that waits for its return.
    Leave,
    /// Like `Leave`, and errno becomes the thread's last error.
    LeaveSavingError,
}

impl CallTarget {
    /// Whether the callee has the managed convention.
    pub fn is_managed(&self) -> bool {
        match self {
            CallTarget::Direct(_)
            | CallTarget::Virtual { .. }
            | CallTarget::Interface { .. }
            | CallTarget::Indirect(_) => true,
            CallTarget::Helper(_) | CallTarget::InternalCall(_) | CallTarget::Native { .. } => false,
        }
    }
}

/// What an instruction computes or does. Operands are defined in the same block or in one that dominates it.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    ConstI32(i32),
    ConstI64(i64),
    ConstF32(f32),
    ConstF64(f64),
    /// A vector constant; the first byte is in the low bits.
    ConstV128(u128),
    /// The null reference (type Ref).
    Null,
    /// Runtime address (type I64).
    SymbolAddr(Symbol),

    /// Value of a scalar local.
    LocalGet(LocalId),
    LocalSet(LocalId, ValueId),
    /// Address of a local (ByRef). For struct locals always allowed; scalar locals need `address_exposed`.
    LocalAddr(LocalId),

    Bin(BinOp, ValueId, ValueId),
    Un(UnOp, ValueId),
    Cmp(CmpOp, ValueId, ValueId),
    /// value, target, overflow-checked, source is unsigned.
    Conv {
        value: ValueId,
        target: ConvTarget,
        checked: bool,
        source_unsigned: bool,
    },
    /// cond (I32 or I64 or Ref, non-zero = true) ? a : b
    Select(ValueId, ValueId, ValueId),
    /// A vector operation; `VectorOp` says which of `b` and `c` it uses.
    Vector {
        op: VectorOp,
        lanes: Lanes,
        a: ValueId,
        b: Option<ValueId>,
        c: Option<ValueId>,
    },

    Load {
        addr: ValueId,
        offset: i32,
        mem: MemType,
        flags: MemFlags,
    },
    /// Not for references stored to memory that may be in the heap: see `StoreRef`.
    Store {
        addr: ValueId,
        offset: i32,
        value: ValueId,
        mem: MemType,
        flags: MemFlags,
    },
    /// Reference store with write barrier. `object`: the heap object stored into if known, else the destination may be
    /// anywhere.
    StoreRef {
        object: Option<ValueId>,
        addr: ValueId,
        offset: i32,
        value: ValueId,
        flags: MemFlags,
    },
    /// Copies `ty`'s bytes. `barrier`: the destination may be in the heap and `ty` holds references.
    CopyStruct {
        dst: ValueId,
        src: ValueId,
        ty: Ty,
        barrier: bool,
        flags: MemFlags,
    },
    /// Zeroes `ty`'s bytes.
    InitStruct {
        addr: ValueId,
        ty: Ty,
    },
    /// cpblk: (destination, source, byte count I32 zero-extended) ; memmove semantics.
    CopyBlock {
        dst: ValueId,
        src: ValueId,
        bytes: ValueId,
    },
    /// initblk.
    InitBlock {
        addr: ValueId,
        value: ValueId,
        bytes: ValueId,
    },
    /// localloc: byte count (I64) → address, 16-aligned; zeroed when the method has init locals.
    LocAlloc {
        bytes: ValueId,
        zero: bool,
    },

    /// Throws NullReferenceException if the value is 0.
    NullCheck(ValueId),
    /// Throws IndexOutOfRangeException unless (unsigned) index < length. Both I32, or both I64.
    BoundsCheck {
        index: ValueId,
        length: ValueId,
    },
    /// Array length: I32. NullReferenceException if null.
    ArrayLen(ValueId),
    /// Address of element: array + ARRAY_DATA_OFFSET + index * element_size_bytes; no checks; an I32 index is
    /// zero-extended. ByRef.
    ElementAddr {
        array: ValueId,
        index: ValueId,
        element_size_bytes: u32,
    },

    /// `struct_result`: the address to which a struct result is written (its type is `sig.ret`); such a call defines no
    /// value. None for a vector result: the call defines a `V128`.
    Call {
        target: CallTarget,
        sig: Box<CallSig>,
        args: Vec<ValueId>,
        struct_result: Option<ValueId>,
    },

    /// Instance of a class (not string, not array), zeroed, constructor not run. Also boxes: the caller stores the
    /// value.
    NewObject(Ty),
    /// SZ array of this *array* type; length I32 or I64.
    NewArray(Ty, ValueId),
    /// A zeroed string of this many UTF-16 units (I32). OutOfMemoryException when negative or too long.
    NewString(ValueId),
    /// Address of a thread-static field for this thread, its class initialised.
    ThreadStaticAddr(&'static Field),
    CastClass(ValueId, Ty),
    IsInst(ValueId, Ty),
    /// Address of the value inside the boxed object: NullReference/InvalidCast.
    Unbox(ValueId, Ty),
    /// Runs the class constructor if it has not run.
    ClassInit(Ty),
    /// An instance of the class is there, so its constructor has run, or runs: accesses of its statics behind this see
    /// what was written before the instance was made known. (They do not depend on the instance's address.)
    ClassInitSeen(Ty),
    /// Safepoint.
    Poll,
    /// Counts a call of the method, towards its next tier.
    CountCall,
    /// Counts a round of the loop that begins at this IL offset; other code may go on here
    /// (`Function::is_continuation`). The first instruction of its block.
    CountLoop(u32),
    /// Counts a run of the block of this number among so many of the method (`import::profile`), for the code of the
    /// next tier.
    CountBlock {
        number: u32,
        count: u32,
    },
    /// Notes a word (I64) in a cell (`abi::Noted`), for the code of the next tier.
    Note {
        cell: ValueId,
        word: ValueId,
    },
    /// Notes the vtable of an object in a cell, unless the object is null.
    NoteClass {
        cell: ValueId,
        object: ValueId,
    },

    AtomicRmw {
        op: AtomicRmw,
        addr: ValueId,
        value: ValueId,
        mem: MemType,
    },
    /// Returns the old value.
    AtomicCas {
        addr: ValueId,
        expected: ValueId,
        new: ValueId,
        mem: MemType,
    },
    /// Full fence.
    Fence,
    /// `Monitor.Enter`: ArgumentNullException.
    MonitorEnter(ValueId),
    /// Tries to enter for this many milliseconds (I32; negative = for ever): I32 0 or 1. ArgumentNullException.
    MonitorTryEnter {
        object: ValueId,
        milliseconds: ValueId,
    },
    /// `Monitor.Exit`: ArgumentNullException, SynchronizationLockException.
    MonitorExit(ValueId),
    /// Current `*mut ThreadAbi` (I64).
    CurrentThread,
    /// Frame pointer of this method's frame (I64).
    FramePointer,
}

/// What was decided about an instruction of CIL, for people.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// The method in whose body it stands, perhaps inlined.
    pub method: Option<&'static Method>,
    pub il_offset: u32,
    pub text: String,
}

/// A body that was inlined.
pub type InlineSite = saki_abi::InlineSite<&'static Method>;

/// An instruction, which defines a value unless its type is `Void`.
#[derive(Clone, PartialEq, Debug)]
pub struct Inst {
    pub op: Op,
    /// Type of the value defined; `Void` when none.
    pub ty: IrType,
    /// IL position of the instruction, for stack traces: see [`position`].
    pub il_offset: u32,
}

/// The end of a block.
#[derive(Clone, PartialEq, Debug)]
pub enum Terminator {
    Jump(BlockId),
    /// I32/I64/Ref/ByRef condition: non-zero → `then`.
    Brif {
        cond: ValueId,
        then: BlockId,
        otherwise: BlockId,
    },
    Switch {
        value: ValueId,
        targets: Vec<BlockId>,
        default: BlockId,
    },
    /// Scalar result, or the address of a struct result (copied to the caller's buffer; a vector may also be a `V128`),
    /// or none.
    Ret(Option<ValueId>),
    /// Tail call: replaces the frame; only outside try regions.
    TailCall {
        target: CallTarget,
        sig: Box<CallSig>,
        args: Vec<ValueId>,
    },
    Throw(ValueId),
    /// Throws the exception in this value again, keeping its stack trace.
    Rethrow(ValueId),
    /// End of the finally/fault handler of `clauses[clause]` when an exception entered it: the second pass goes on,
    /// with the exception and unwind token that entered that clause.
    ResumeUnwind {
        clause: u32,
    },
    /// End of a filter function: I32, 1 = handle.
    EndFilter(ValueId),
    Unreachable,
}

/// Instructions that run one after the other.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    pub insts: Vec<ValueId>,
    pub terminator: Terminator,
    pub terminator_il_offset: u32,
    /// Innermost try region that protects this block's code.
    pub region: Option<RegionId>,
    /// Seldom run (throw paths, branches that were hardly ever taken): placed out of line.
    pub cold: bool,
    /// Of the successors of a `Brif`, `then` is the usual one: it is placed next.
    pub then_is_likely: bool,
    /// Part of each round of a loop that had few rounds for each entry.
    pub few_rounds: bool,
}

/// A protected range. Several clauses on one CIL try range are one region with several clauses, in CIL order.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    pub parent: Option<RegionId>,
    /// Indices into `Function::clauses`.
    pub clauses: Vec<u32>,
}

/// The kind of a clause; the code of a filter is a function of its own, named by its index in `Function::filters`.
pub type ClauseKind = saki_abi::ClauseKind<Ty, u32>;

/// A handler of a region.
#[derive(Clone, PartialEq, Debug)]
pub struct Clause {
    pub kind: ClauseKind,
    /// Entered by the unwinder, after the exception object has been put into `exception_local`.
    pub handler: BlockId,
    /// Scalar local of type Ref.
    pub exception_local: LocalId,
}

/// Where a local comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LocalKind {
    /// Parameter `index` of the signature. Struct parameters: the incoming pointer is the local's address (the caller
    /// made the copy; the callee may change it). Vectors come in registers: such a local is a struct in the frame, or a
    /// `V128`.
    Param(u32),
    Normal,
    /// A struct that is the argument of one call and is not read after it, so that it serves as the callee's copy.
    Argument,
    /// In a filter function: local of the parent, reached through the parent's frame pointer.
    ParentSlot(LocalId),
    /// In a continuation: a variable of the frame that it continues, `offset_bytes` from that frame's pointer; or a
    /// pointer to the variable is there.
    FrameSlot {
        offset_bytes: i32,
        is_indirect: bool,
    },
}

impl LocalKind {
    /// Whether the variable is in the frame of another function.
    pub fn is_elsewhere(self) -> bool {
        matches!(self, LocalKind::ParentSlot(_) | LocalKind::FrameSlot { .. })
    }
}

/// A variable of the function: a scalar, a struct, or a block of bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct Local {
    pub ty: IrType,
    pub kind: LocalKind,
    /// Its address is taken (or it is shared with a filter): it must live in memory.
    pub address_exposed: bool,
    /// Must read as zero before the first store. (Params: false.)
    pub zero_init: bool,
    pub pinned: bool,
}

/// One method (or filter) ready for code generation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Function {
    /// The method this is the code of; None in tests.
    pub method: Option<&'static Method>,
    /// For diagnostics. Empty if it is the method's full name, which `title` makes.
    pub name: Cow<'static, str>,
    pub sig: CallSig,
    pub locals: Vec<Local>,
    pub insts: Vec<Inst>,
    /// `blocks[0]` is the entry.
    pub blocks: Vec<Block>,
    pub regions: Vec<Region>,
    pub clauses: Vec<Clause>,
    /// Filter functions `fn(parent_fp: I64, exception: Ref) -> I32`. They have no filters of their own.
    pub filters: Vec<Function>,
    /// Whether this is the function of a filter.
    pub is_filter: bool,
    /// Compile without a frame-pointer-visible method identity: thunks.
    pub is_stub: bool,
    /// Whether this is `fn(frame_pointer: I64) -> R`: it goes on for a frame of the method at a loop, and its result is
    /// the method's.
    pub is_continuation: bool,
    /// Locals of the method's arguments, and behind those of its local variables; empty if no loop is counted.
    pub variables: Vec<LocalId>,
    /// Whether the method makes pointers of byrefs, if loops are counted.
    pub makes_pointers: bool,
    /// How many calls compare before they call a method that they nearly always run.
    pub guards: u32,
    /// What was decided about calls and loops, if somebody wants to know (`ImportOptions::explain`).
    pub decisions: Vec<Decision>,
    /// Load errors found while importing; `HelperId::ThrowDeferred` names them by index. Filters index their parent's
    /// list.
    pub deferred_errors: Vec<LoadError>,
    /// Bodies inlined into this one, for stack traces: see [`position`].
    pub inline_sites: Vec<InlineSite>,
}

impl Function {
    /// The name for people.
    pub fn title(&self) -> Cow<'static, str> {
        match self.method {
            Some(method) if self.name.is_empty() => method.full_name().into(),
            _ => self.name.clone(),
        }
    }

    /// The safepoint at the entry, before which nothing has been done. A function has it if it calls or loops.
    pub fn entry_poll(&self) -> Option<ValueId> {
        let first = self.blocks.first()?.insts.iter().find(|id| {
            !matches!(self.insts[id.0 as usize].op, Op::CountCall | Op::LocalGet(_) | Op::ConstI32(_) | Op::ConstI64(_))
        })?;
        let is_poll = matches!(self.insts[first.0 as usize].op, Op::Poll) && !self.is_continuation;
        is_poll.then_some(*first)
    }
}
