//! What MMTk calls a thread: a pointer, to a carrier or, with a tag, to nothing but a collector thread's number.

use mmtk::util::{Address, OpaquePointer, VMMutatorThread, VMThread};
use saki_thread::Carrier;

/// Tag in the thread pointer of collector threads; carriers are aligned.
const WORKER_TAG: usize = 1;

/// Whether the pointer is a carrier's.
pub(super) fn is_mutator(tls: VMThread) -> bool {
    let address = tls.0.to_address().as_usize();
    address != 0 && address & WORKER_TAG == 0
}

/// Thread pointer for the collector thread with this number.
pub(super) fn worker_thread_pointer(ordinal: usize) -> VMThread {
    // SAFETY: the number is never dereferenced, see WORKER_TAG.
    VMThread(OpaquePointer::from_address(unsafe { Address::from_usize(ordinal << 4 | WORKER_TAG) }))
}

pub(super) fn mutator_pointer(carrier: &Carrier) -> VMMutatorThread {
    VMMutatorThread(VMThread(OpaquePointer::from_address(Address::from_ref(carrier))))
}

pub(super) fn carrier_of(tls: VMMutatorThread) -> &'static Carrier {
    // SAFETY: mutator pointers are made by `mutator_pointer` of bound carriers, whose records are never freed.
    unsafe { &*tls.0.0.to_address().to_ptr::<Carrier>() }
}
