//! The interface-dispatch cache that `StubId::ImtResolve` probes in assembly: (vtable, interface method) → code
//! address.
//!
//! Buckets are singly linked lists of immutable nodes, pushed at the head and removed only while the world is stopped,
//! so a probe needs no synchronisation beyond the data dependency of its loads. A bucket is null or its newest node,
//! stored by a `compare_exchange` Release that pairs with the dependent loads of the stub (x86 and ARM order those) and
//! the Acquire loads here. The number of nodes is bounded by the distinct pairs that programs call. Targets are entry
//! stubs or the code that was current; when other code becomes current, `imt_cache_lead` leads them there while the
//! world is stopped.

use crate::hooks;
use saki_abi::{ObjRef, ThreadAbi, VTable};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// One cached pair; the assembly knows the field order.
#[repr(C)]
pub(crate) struct ImtNode {
    vtable: *const VTable,
    method: *const (),
    /// Changed only while the world is stopped.
    target: AtomicUsize,
    next: *mut ImtNode,
}

pub(crate) const NODE_METHOD_OFFSET: usize = std::mem::offset_of!(ImtNode, method);
pub(crate) const NODE_TARGET_OFFSET: usize = std::mem::offset_of!(ImtNode, target);
pub(crate) const NODE_NEXT_OFFSET: usize = std::mem::offset_of!(ImtNode, next);
const _: () = assert!(std::mem::offset_of!(ImtNode, vtable) == 0);

const BUCKET_BITS: u32 = 13;
/// The bucket is `(vtable + method) * MULTIPLIER >> BUCKET_SHIFT` (Fibonacci hashing).
pub(crate) const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
pub(crate) const BUCKET_SHIFT: u32 = 64 - BUCKET_BITS;

pub(crate) static BUCKETS: [AtomicPtr<ImtNode>; 1 << BUCKET_BITS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; 1 << BUCKET_BITS];
/// `MULTIPLIER` where the assembly can reach it.
pub(crate) static MULTIPLIER_WORD: u64 = MULTIPLIER;

fn bucket_of(vtable: *const VTable, method: *const ()) -> &'static AtomicPtr<ImtNode> {
    let sum = (vtable as u64).wrapping_add(method as u64);
    &BUCKETS[(sum.wrapping_mul(MULTIPLIER) >> BUCKET_SHIFT) as usize]
}

/// Caches `target` (an address that stays callable) for interface calls of `method` on objects with `vtable`.
/// The resolver stub does this itself with the hook's result.
pub fn imt_cache_insert(vtable: *const VTable, method: *const (), target: usize) {
    let bucket = bucket_of(vtable, method);
    // Acquire: the nodes' fields.
    let mut head = bucket.load(Ordering::Acquire);
    let mut node = Box::new(ImtNode { vtable, method, target: AtomicUsize::new(target), next: head });
    loop {
        if find(head, vtable, method).is_some() {
            return;
        }
        node.next = head;
        let raw = Box::into_raw(node);
        // Release: publishes the node. Acquire on failure: the new head's fields are read.
        match bucket.compare_exchange(head, raw, Ordering::Release, Ordering::Acquire) {
            Ok(_) => return,
            Err(newer) => {
                head = newer;
                // SAFETY: the exchange failed, so `raw` is still ours alone.
                node = unsafe { Box::from_raw(raw) };
            }
        }
    }
}

fn find(mut node: *mut ImtNode, vtable: *const VTable, method: *const ()) -> Option<usize> {
    while !node.is_null() {
        // SAFETY: nodes reached from a bucket are immutable, and freed with the world stopped only.
        let here = unsafe { &*node };
        if here.vtable == vtable && here.method == method {
            // Relaxed: the word changes only while no thread is here.
            return Some(here.target.load(Ordering::Relaxed));
        }
        node = here.next;
    }
    None
}

/// Removes the pairs whose vtable or method `is_dead`.
///
/// # Safety
/// The world is stopped: no thread is in the resolver stub or in a function of this module.
pub unsafe fn imt_cache_forget(is_dead: impl Fn(usize) -> bool) {
    for bucket in &BUCKETS {
        // Relaxed, here and below: the world is stopped.
        let mut place: *mut *mut ImtNode = bucket.as_ptr();
        loop {
            // SAFETY: the bucket's word, or the `next` of a node that stays; the world is stopped, so nothing else uses
            // them.
            let node = unsafe { *place };
            // SAFETY: null or a node of the list.
            let Some(here) = (unsafe { node.as_mut() }) else { break };
            if !is_dead(here.vtable.addr()) && !is_dead(here.method.addr()) {
                place = &raw mut here.next;
                continue;
            }
            // SAFETY: as above.
            unsafe { *place = here.next };
            // SAFETY: made by `imt_cache_insert`, unlinked, and the world is stopped, so no other thread has it.
            drop(unsafe { Box::from_raw(node) });
        }
    }
}

/// Leads pairs to other code: `successor` gives the new target of an old one.
///
/// # Safety
/// The world is stopped, and no thread is between learning a target and inserting it.
pub unsafe fn imt_cache_lead(successor: impl Fn(usize) -> Option<usize>) {
    for bucket in &BUCKETS {
        // Relaxed, here and below: the world is stopped.
        let mut node: *const ImtNode = bucket.load(Ordering::Relaxed);
        // SAFETY: null or a node of the list, which is freed only by who stops the world.
        while let Some(here) = unsafe { node.as_ref() } {
            if let Some(target) = successor(here.target.load(Ordering::Relaxed)) {
                here.target.store(target, Ordering::Relaxed);
            }
            node = here.next;
        }
    }
}

/// The cached target.
pub fn imt_cached(vtable: *const VTable, method: *const ()) -> Option<usize> {
    // Acquire: the nodes' fields.
    find(bucket_of(vtable, method).load(Ordering::Acquire), vtable, method)
}

/// Looks for the method's code, and keeps it in the cache; 0 with an exception pending.
///
/// # Safety
/// Called by the stub of `StubId::ImtResolve` with the current thread and a non-null receiver.
pub(crate) unsafe extern "C" fn resolve_interface(
    thread: *mut ThreadAbi,
    receiver: ObjRef,
    method: *const (),
) -> usize {
    // SAFETY: managed code has called the stub.
    let hooks = unsafe { hooks::installed() };
    // SAFETY: the receiver is an object: the call sequence has loaded its vtable.
    let vtable = unsafe { (*receiver.0).vtable };
    // SAFETY: arguments as the caller of the interface method gave them.
    let code = unsafe { (hooks.resolve_interface)(thread, receiver, method) };
    // SAFETY: `thread` is current.
    let code = unsafe { hooks::code_or_pending(thread, code) };
    if code != 0 {
        imt_cache_insert(vtable, method, code);
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Held by each test: removing pairs requires that no other test uses the table.
    static TABLE: Mutex<()> = Mutex::new(());

    #[test]
    fn pairs_are_found_and_inserted_once() {
        let _table = TABLE.lock();
        let pair = |i: usize| ((0x1000 + i * 64) as *const VTable, (0x9000 + i * 8) as *const ());
        for round in 0..2 {
            for i in 0..20_000 {
                let (vtable, method) = pair(i);
                assert_eq!(imt_cached(vtable, method), (round == 1).then_some(i + 1));
                imt_cache_insert(vtable, method, i + 1);
            }
        }
    }

    #[test]
    fn pairs_of_dead_vtables_and_methods_are_forgotten() {
        let _table = TABLE.lock();
        let pair = |i: usize| ((0x100_0000 + i * 64) as *const VTable, (0x900_0000 + i * 8) as *const ());
        for i in 0..3_000 {
            let (vtable, method) = pair(i);
            imt_cache_insert(vtable, method, i + 1);
        }
        let dead = [pair(0).0.addr()..pair(1_000).0.addr(), pair(2_000).1.addr()..pair(3_000).1.addr()];
        // SAFETY: the table is locked against the other test.
        unsafe { imt_cache_forget(|address| dead.iter().any(|range| range.contains(&address))) };
        for i in 0..3_000 {
            let (vtable, method) = pair(i);
            assert_eq!(imt_cached(vtable, method), (1_000..2_000).contains(&i).then_some(i + 1));
        }
    }
}
