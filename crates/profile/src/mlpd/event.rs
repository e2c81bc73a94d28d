//! Types and extensions of events, and the numbers that occur in events.

pub const ALLOCATION: u8 = 0x00;
pub const ALLOCATION_WITH_STACK: u8 = 0x10;
pub const COLLECTION: u8 = 0x11;
pub const HEAP_RESIZE: u8 = 0x21;
pub const MOVES: u8 = 0x31;
pub const HANDLE_CREATED: u8 = 0x41;
pub const HANDLE_CREATED_WITH_STACK: u8 = 0x61;
pub const HANDLE_DESTROYED: u8 = 0x51;
pub const HANDLE_DESTROYED_WITH_STACK: u8 = 0x71;
pub const FINALIZERS_START: u8 = 0x81;
pub const FINALIZERS_END: u8 = 0x91;
pub const FINALIZER_START: u8 = 0xA1;
pub const FINALIZER_END: u8 = 0xB1;
pub const METADATA_NAME: u8 = 0x02;
pub const METADATA_LOAD: u8 = 0x22;
pub const METADATA_UNLOAD: u8 = 0x42;
pub const LEAVE: u8 = 0x13;
pub const ENTER: u8 = 0x23;
pub const LEAVE_BY_EXCEPTION: u8 = 0x33;
pub const JIT: u8 = 0x43;
pub const THROW: u8 = 0x04;
pub const THROW_WITH_STACK: u8 = 0x84;
pub const CLAUSE: u8 = 0x14;
pub const MONITOR: u8 = 0x05;
pub const MONITOR_WITH_STACK: u8 = 0x85;
pub const HEAPSHOT_START: u8 = 0x06;
pub const HEAPSHOT_END: u8 = 0x16;
pub const HEAP_OBJECT: u8 = 0x26;
pub const HEAP_ROOTS: u8 = 0x36;
pub const ROOT_REGISTER: u8 = 0x46;
pub const ROOT_UNREGISTER: u8 = 0x56;
pub const SAMPLE: u8 = 0x07;
pub const UNMANAGED_SYMBOL: u8 = 0x17;
pub const COUNTER_DESCRIPTIONS: u8 = 0x37;
pub const COUNTER_VALUES: u8 = 0x47;
pub const SYNC_POINT: u8 = 0x0A;

/// Where roots are.
pub mod root_source {
    pub const EXTERNAL: u8 = 0;
    pub const STACK: u8 = 1;
    pub const FINALIZER_QUEUE: u8 = 2;
    pub const STATIC: u8 = 3;
    pub const THREAD_STATIC: u8 = 4;
    pub const GC_HANDLE: u8 = 6;
    pub const THREADING: u8 = 8;
}

/// Kinds of metadata.
pub mod metadata {
    pub const CLASS: u8 = 1;
    pub const IMAGE: u8 = 2;
    pub const ASSEMBLY: u8 = 3;
    pub const DOMAIN: u8 = 4;
    pub const THREAD: u8 = 5;
    pub const VTABLE: u8 = 7;
}

/// Steps of a collection, in their order.
pub mod collection {
    pub const PRE_STOP_WORLD: u8 = 6;
    pub const PRE_STOP_WORLD_LOCKED: u8 = 10;
    pub const POST_STOP_WORLD: u8 = 7;
    pub const START: u8 = 0;
    pub const END: u8 = 5;
    pub const PRE_START_WORLD: u8 = 8;
    pub const POST_START_WORLD: u8 = 9;
    pub const POST_START_WORLD_UNLOCKED: u8 = 11;
}

/// Events of locks.
pub mod monitor {
    pub const CONTENTION: u8 = 1;
    pub const ACQUIRED: u8 = 2;
    pub const FAILED: u8 = 3;
}

pub mod sync_point {
    pub const PERIODIC: u8 = 0;
    pub const WORLD_STOP: u8 = 1;
    pub const WORLD_START: u8 = 2;
}
