//! Types and extensions of events, and the numbers that occur in events.

/// An object was allocated.
pub const ALLOCATION: u8 = 0x00;
/// An object was allocated, with the stack that asked for it.
pub const ALLOCATION_WITH_STACK: u8 = 0x10;
/// A step of a collection (`collection`).
pub const COLLECTION: u8 = 0x11;
/// The heap has a new size.
pub const HEAP_RESIZE: u8 = 0x21;
/// Objects have new addresses: pairs of the old one and the new one.
pub const MOVES: u8 = 0x31;
/// A GC handle was made.
pub const HANDLE_CREATED: u8 = 0x41;
/// A GC handle was made, with the stack that made it.
pub const HANDLE_CREATED_WITH_STACK: u8 = 0x61;
/// A GC handle was freed.
pub const HANDLE_DESTROYED: u8 = 0x51;
/// A GC handle was freed, with the stack that freed it.
pub const HANDLE_DESTROYED_WITH_STACK: u8 = 0x71;
/// The finalizer thread begins with the objects that wait.
pub const FINALIZERS_START: u8 = 0x81;
/// The finalizer thread has called all that waited.
pub const FINALIZERS_END: u8 = 0x91;
/// An object's finalizer begins.
pub const FINALIZER_START: u8 = 0xA1;
/// An object's finalizer has returned.
pub const FINALIZER_END: u8 = 0xB1;
/// The name of something (`metadata`).
pub const METADATA_NAME: u8 = 0x02;
/// Something was loaded (`metadata`).
pub const METADATA_LOAD: u8 = 0x22;
/// Something was unloaded (`metadata`).
pub const METADATA_UNLOAD: u8 = 0x42;
/// A method returns.
pub const LEAVE: u8 = 0x13;
/// A method begins.
pub const ENTER: u8 = 0x23;
/// A method ends because an exception passes it.
pub const LEAVE_BY_EXCEPTION: u8 = 0x33;
/// A method was compiled: where its code lies, and its name.
pub const JIT: u8 = 0x43;
/// An exception is thrown.
pub const THROW: u8 = 0x04;
/// An exception is thrown, with the stack.
pub const THROW_WITH_STACK: u8 = 0x84;
/// A clause of a method handles an exception.
pub const CLAUSE: u8 = 0x14;
/// A lock is waited for, or was got (`monitor`).
pub const MONITOR: u8 = 0x05;
/// A lock is waited for, or was got (`monitor`), with the stack.
pub const MONITOR_WITH_STACK: u8 = 0x85;
/// A snapshot of the heap begins.
pub const HEAPSHOT_START: u8 = 0x06;
/// A snapshot of the heap has ended.
pub const HEAPSHOT_END: u8 = 0x16;
/// An object of a snapshot, with what it refers to.
pub const HEAP_OBJECT: u8 = 0x26;
/// Roots of a snapshot (`root_source`).
pub const HEAP_ROOTS: u8 = 0x36;
/// An area with roots is known from here on.
pub const ROOT_REGISTER: u8 = 0x46;
/// An area with roots is gone.
pub const ROOT_UNREGISTER: u8 = 0x56;
/// A sample of a thread's stack.
pub const SAMPLE: u8 = 0x07;
/// The name of native code.
pub const UNMANAGED_SYMBOL: u8 = 0x17;
/// The counters whose values follow.
pub const COUNTER_DESCRIPTIONS: u8 = 0x37;
/// Values of counters at one time.
pub const COUNTER_VALUES: u8 = 0x47;
/// Events of all threads before it come before those behind it (`sync_point`).
pub const SYNC_POINT: u8 = 0x0A;

/// Where roots are.
pub mod root_source {
    /// Native code's.
    pub const EXTERNAL: u8 = 0;
    /// A thread's stack.
    pub const STACK: u8 = 1;
    /// Objects that wait for their finalizers.
    pub const FINALIZER_QUEUE: u8 = 2;
    /// A static field.
    pub const STATIC: u8 = 3;
    /// A static field of a thread.
    pub const THREAD_STATIC: u8 = 4;
    /// A GC handle.
    pub const GC_HANDLE: u8 = 6;
    /// What the machine keeps for threads.
    pub const THREADING: u8 = 8;
}

/// Kinds of metadata.
pub mod metadata {
    /// A class, with its image.
    pub const CLASS: u8 = 1;
    /// An image: a module's file.
    pub const IMAGE: u8 = 2;
    /// An assembly, with its image.
    pub const ASSEMBLY: u8 = 3;
    /// An application domain.
    pub const DOMAIN: u8 = 4;
    /// A thread.
    pub const THREAD: u8 = 5;
    /// A vtable, with its domain and class.
    pub const VTABLE: u8 = 7;
}

/// Steps of a collection, in their order.
pub mod collection {
    /// Threads are about to be stopped.
    pub const PRE_STOP_WORLD: u8 = 6;
    /// They are, and the collector has its lock.
    pub const PRE_STOP_WORLD_LOCKED: u8 = 10;
    /// All threads are stopped.
    pub const POST_STOP_WORLD: u8 = 7;
    /// The collection begins.
    pub const START: u8 = 0;
    /// The collection has ended.
    pub const END: u8 = 5;
    /// Threads are about to run again.
    pub const PRE_START_WORLD: u8 = 8;
    /// Threads run again.
    pub const POST_START_WORLD: u8 = 9;
    /// They do, and the collector has given its lock back.
    pub const POST_START_WORLD_UNLOCKED: u8 = 11;
}

/// Events of locks.
pub mod monitor {
    /// A thread waits, since another one has the lock.
    pub const CONTENTION: u8 = 1;
    /// The thread that waited has got it.
    pub const ACQUIRED: u8 = 2;
    /// The thread that waited has given up.
    pub const FAILED: u8 = 3;
}

pub mod sync_point {
    /// So that readers can sort what lies before.
    pub const PERIODIC: u8 = 0;
    /// Threads were stopped.
    pub const WORLD_STOP: u8 = 1;
    /// Threads run again.
    pub const WORLD_START: u8 = 2;
}
