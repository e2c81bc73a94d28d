//! `Monitor.Enter` and `Exit` in line where no thread has to wait or to be woken; the runtime does the rest.
//!
//! The sync word is laid out as `abi::sync_word` says; the transitions here are those of the table of
//! `sync::thin_lock`: free to thin, thin to free, and one entry more or fewer of the owner. For a word in any other
//! state, a null object or a lost race the runtime is called, which throws where needed. The compare-and-swaps work on
//! the lower half and guess the expected value, without loading it first: for an uncontended lock the guess is right,
//! and a load would have to wait for the previous locked instruction (15.4 ns for enter and exit with loads, 12.6 ns
//! without). The hash is in the upper half, so it does not matter.
//!
//! Inflated locks are `sync::monitor`'s, laid out as `abi::monitor` says; the transitions in cold code here are the
//! first two rows of that table: free to owned, and owned to free when no entrant waits to be woken. They are in line
//! because contention keeps a lock inflated and the call of the runtime costs a third more. No safepoint lies between
//! loading the sync word and the compare-and-swap (see `sync::object_lock`), nor between freeing a monitor and waking a
//! thread that waits for it. The loads of a monitor's fields depend on the address computed from the index, which
//! orders them. A thread that exits a monitor which another thread exited before demotes the monitor's cache line,
//! where the processor can do that: a tenth more throughput where threads take a lock in turns. Left out: recursion of
//! inflated locks, retiring monitors.

use super::clif_builder::MemoryKind;
use super::context::Lowering;
use crate::error::Lowered;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, MemFlagsData, Value, types};
use saki_abi::object::OBJECT_SYNC_OFFSET;
use saki_abi::sync_word::{INFLATED_BIT, INFLATED_HINT_BIT, MAX_OWNER, MAX_RECURSION, OWNER_SHIFT, RECURSION_MASK};
use saki_abi::thread::{THREAD_MANAGED_ID_OFFSET, THREAD_MONITOR_ENTRIES_OFFSET};
use saki_abi::{HelperId, monitor};
use saki_il::ir::ValueId;

// Both bits are tested by the sign of their half, and a byte store changes only the recursion.
const _: () = assert!(INFLATED_BIT as u32 as i32 == i32::MIN && INFLATED_HINT_BIT as i64 == i64::MIN);
const _: () = assert!(RECURSION_MASK == 0xff && MAX_RECURSION == 0xff && OWNER_SHIFT == 8);

/// The lock in an object's header, with the values needed to take it.
struct Lock {
    /// Address of the sync word.
    address: Value,
    /// The caller's managed id, I32.
    id: Value,
    /// The lower half of the word of a lock that the caller has entered once.
    owned: Value,
}

pub(super) fn monitor_enter(cx: &mut Lowering<'_, '_>, object: ValueId) -> Lowered {
    let object = cx.value_as(object, types::I64)?;
    let done = cx.new_block(false);
    let slow = cx.new_block(true);
    enter_thin(cx, object, done, slow);
    cx.continue_in(slow);
    cx.call_helper(HelperId::MonitorEnter, &[object]);
    cx.jump_clif(done, &[]);
    cx.continue_in(done);
    cx.facts.note_not_null(object);
    Ok(())
}

pub(super) fn monitor_try_enter(cx: &mut Lowering<'_, '_>, object: ValueId, milliseconds: ValueId) -> Lowered<Value> {
    let object = cx.value_as(object, types::I64)?;
    let milliseconds = cx.value_as(milliseconds, types::I32)?;
    let done = cx.new_block(false);
    let result = cx.b.append_block_param(done, types::I32);
    let entered = cx.new_block(false);
    let slow = cx.new_block(true);
    enter_thin(cx, object, entered, slow);
    cx.continue_in(slow);
    let taken =
        cx.call_helper(HelperId::MonitorTryEnter, &[object, milliseconds]).expect("MonitorTryEnter has a result");
    cx.jump_clif(done, &[taken]);
    cx.continue_in(entered);
    let one = cx.i32_const(1);
    cx.jump_clif(done, &[one]);
    cx.continue_in(done);
    cx.facts.note_not_null(object);
    Ok(result)
}

pub(super) fn monitor_exit(cx: &mut Lowering<'_, '_>, object: ValueId) -> Lowered {
    let object = cx.value_as(object, types::I64)?;
    let done = cx.new_block(false);
    let slow = cx.new_block(true);
    let (thin, inflated, not_last) = (cx.new_block(false), cx.new_block(true), cx.new_block(true));
    let lock = lock_of(cx, object, slow);
    branch_if_inflated(cx, &lock, inflated, thin);
    cx.continue_in(thin);
    let free = cx.i32_const(0);
    let seen = exchange_lock(cx, &lock, lock.owned, free);
    let is_free = cx.b.ins().icmp(IntCC::Equal, seen, lock.owned);
    cx.branch(is_free, done, not_last);

    cx.continue_in(not_last);
    // 1..=MAX_RECURSION if the lock is the caller's.
    let more = cx.b.ins().bxor(seen, lock.owned);
    let before = cx.b.ins().iadd_imm_s(more, -1);
    let is_recursive = cx.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, before, i64::from(MAX_RECURSION));
    change_recursion(cx, &lock, is_recursive, before, done, slow);

    cx.continue_in(inflated);
    exit_inflated(cx, &lock, done, slow);

    cx.continue_in(slow);
    cx.call_helper(HelperId::MonitorExit, &[object]);
    cx.jump_clif(done, &[]);
    cx.continue_in(done);
    cx.facts.note_not_null(object);
    Ok(())
}

/// Ends the block with branches: to `done` with the lock taken, else to `slow`.
fn enter_thin(cx: &mut Lowering<'_, '_>, object: Value, done: ClifBlock, slow: ClifBlock) {
    let lock = lock_of(cx, object, slow);
    let (thin, inflated, held) = (cx.new_block(false), cx.new_block(true), cx.new_block(true));
    branch_if_inflated(cx, &lock, inflated, thin);
    cx.continue_in(thin);
    let free = cx.i32_const(0);
    let seen = exchange_lock(cx, &lock, free, lock.owned);
    cx.branch(seen, held, done);

    cx.continue_in(held);
    let entries = cx.b.ins().bxor(seen, lock.owned);
    let has_room = cx.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, entries, i64::from(MAX_RECURSION));
    let more = cx.b.ins().iadd_imm_s(entries, 1);
    change_recursion(cx, &lock, has_room, more, done, slow);

    cx.continue_in(inflated);
    enter_inflated(cx, &lock, done, slow);
}

/// Loads the values of the object's lock; branches to `slow` when the object is null.
fn lock_of(cx: &mut Lowering<'_, '_>, object: Value, slow: ClifBlock) -> Lock {
    if !cx.facts.is_not_null(object) {
        let some = cx.new_block(false);
        cx.branch(object, some, slow);
        cx.continue_in(some);
    }
    let address = cx.displaced(object, i64::from(OBJECT_SYNC_OFFSET) as i32);
    let thread = cx.thread();
    let flags = cx.constant_word(MemoryKind::Thread);
    let id = cx.b.ins().load(types::I32, flags, thread, THREAD_MANAGED_ID_OFFSET);
    let owned = cx.b.ins().ishl_imm_u(id, i64::from(OWNER_SHIFT));
    Lock { address, id, owned }
}

/// Ends the block with a branch on whether the lock is inflated; loads the word.
fn branch_if_inflated(cx: &mut Lowering<'_, '_>, lock: &Lock, inflated: ClifBlock, thin: ClifBlock) {
    // The word has no alias region: other threads and the runtime write it.
    let upper = cx.b.ins().load(types::I32, MemFlagsData::trusted(), lock.address, 4);
    let is_inflated = cx.b.ins().icmp_imm_s(IntCC::SignedLessThan, upper, 0);
    cx.branch(is_inflated, inflated, thin);
}

/// Compare-and-swap of the lower half; returns its previous value.
fn exchange_lock(cx: &mut Lowering<'_, '_>, lock: &Lock, expected: Value, new: Value) -> Value {
    let seen = cx.b.ins().atomic_cas(MemFlagsData::trusted(), lock.address, expected, new);
    cx.fence_after_atomic();
    seen
}

/// Ends the block with branches: to `done` with the caller's number of extra entries changed to `entries`, to `slow`
/// unless `allowed`.
fn change_recursion(
    cx: &mut Lowering<'_, '_>,
    lock: &Lock,
    allowed: Value,
    entries: Value,
    done: ClifBlock,
    slow: ClifBlock,
) {
    let change = cx.new_block(true);
    cx.branch(allowed, change, slow);
    cx.continue_in(change);
    cx.b.ins().istore8(MemFlagsData::trusted(), entries, lock.address, 0);
    cx.jump_clif(done, &[]);
}

/// Address of the monitor that the inflated word names, and the extra entries that the word counts; branches to `slow`
/// if the lock is no longer inflated.
fn monitor_of(cx: &mut Lowering<'_, '_>, lock: &Lock, slow: ClifBlock) -> (Value, Value) {
    let word = cx.b.ins().load(types::I32, MemFlagsData::trusted(), lock.address, 0);
    let is_inflated = cx.b.ins().icmp_imm_s(IntCC::SignedLessThan, word, 0);
    let found = cx.new_block(true);
    cx.branch(is_inflated, found, slow);
    cx.continue_in(found);
    let thread = cx.thread();
    let flags = cx.constant_word(MemoryKind::Thread);
    let entries = cx.b.ins().load(types::I64, flags, thread, THREAD_MONITOR_ENTRIES_OFFSET);
    let index = cx.b.ins().ushr_imm_u(word, i64::from(OWNER_SHIFT));
    let index = cx.b.ins().band_imm_s(index, i64::from(MAX_OWNER));
    let index = cx.b.ins().uextend(types::I64, index);
    let offset = cx.b.ins().ishl_imm_u(index, i64::from(monitor::ENTRY_BYTES.trailing_zeros()));
    let entry = cx.b.ins().iadd(entries, offset);
    let monitor = cx.b.ins().iadd_imm_s(entry, i64::from(monitor::MONITOR_OFFSET));
    let recursion = cx.b.ins().band_imm_s(word, RECURSION_MASK as i64);
    (monitor, recursion)
}

/// Ends the block with branches: to `done` with the monitor taken, if it was free, else to `slow`.
///
/// The state is not loaded before the exchange: if another processor has the cache line, the load would fetch it for
/// reading, and the exchange would fetch it again for writing.
fn enter_inflated(cx: &mut Lowering<'_, '_>, lock: &Lock, done: ClifBlock, slow: ClifBlock) {
    let (monitor, _) = monitor_of(cx, lock, slow);
    let address = cx.displaced(monitor, monitor::OWNER_OFFSET);
    let nobody = cx.i32_const(0);
    let seen = cx.b.ins().atomic_cas(MemFlagsData::trusted(), address, nobody, lock.id);
    cx.fence_after_atomic();
    cx.branch(seen, slow, done);
}

/// Ends the block with branches: to `done` with the caller's monitor freed, if only its word has to change, else to
/// `slow`.
fn exit_inflated(cx: &mut Lowering<'_, '_>, lock: &Lock, done: ClifBlock, slow: ClifBlock) {
    let (monitor, entries) = monitor_of(cx, lock, slow);
    let flags = MemFlagsData::trusted();
    let load = |cx: &mut Lowering<'_, '_>, offset: i32| cx.b.ins().load(types::I32, flags, monitor, offset);
    let owner = load(cx, monitor::OWNER_OFFSET);
    let recursion = load(cx, monitor::RECURSION_OFFSET);
    let foreign = cx.b.ins().bxor(owner, lock.id);
    let recursion = cx.b.ins().bor(recursion, entries);
    let not_last = cx.b.ins().bor(foreign, recursion);
    let last = cx.new_block(true);
    cx.branch(not_last, slow, last);

    cx.continue_in(last);
    let must_wake = has_lone_waiters(cx, monitor);
    let quiet = load(cx, monitor::QUIET_OFFSET);
    let quiet = cx.b.ins().iadd_imm_s(quiet, 1);
    let may_retire = cx.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, quiet, i64::from(monitor::QUIET_EXITS));
    let more = cx.b.ins().bor(must_wake, may_retire);
    let free = cx.new_block(true);
    cx.branch(more, slow, free);

    cx.continue_in(free);
    cx.b.ins().store(flags, quiet, monitor, monitor::QUIET_OFFSET);
    let last = load(cx, monitor::LAST_OFFSET);
    let is_others = cx.b.ins().icmp(IntCC::NotEqual, last, lock.id);
    let (travels, stays, wake) = (cx.new_block(true), cx.new_block(true), cx.new_block(true));
    cx.branch(is_others, travels, stays);

    // Threads take the lock in turns: the next one gets the line faster from the shared cache than from this
    // processor's own.
    cx.continue_in(travels);
    cx.b.ins().store(flags, lock.id, monitor, monitor::LAST_OFFSET);
    release_monitor(cx, monitor);
    let must_wake = has_lone_waiters(cx, monitor);
    if !cx.is_aarch64() {
        let address = cx.displaced(monitor, monitor::OWNER_OFFSET);
        cx.call_demote_line(address);
    }
    cx.branch(must_wake, wake, done);

    cx.continue_in(stays);
    release_monitor(cx, monitor);
    let must_wake = has_lone_waiters(cx, monitor);
    cx.branch(must_wake, wake, done);

    cx.continue_in(wake);
    cx.call_helper(HelperId::MonitorWake, &[monitor]);
    cx.jump_clif(done, &[]);
}

/// Whether an exit must wake a waiting thread.
fn has_lone_waiters(cx: &mut Lowering<'_, '_>, monitor: Value) -> Value {
    let seen = cx.b.ins().load(types::I32, MemFlagsData::trusted(), monitor, monitor::FLAGS_OFFSET);
    let entrants = cx.b.ins().band_imm_s(seen, i64::from(monitor::WAITERS | monitor::WAKING));
    cx.b.ins().icmp_imm_s(IntCC::Equal, entrants, i64::from(monitor::WAITERS))
}

/// Stores, with release and the light side of an asymmetric barrier, that the monitor is free.
fn release_monitor(cx: &mut Lowering<'_, '_>, monitor: Value) {
    let flags = MemFlagsData::trusted();
    let nobody = cx.i32_const(0);
    if cx.is_aarch64() {
        let address = cx.displaced(monitor, monitor::OWNER_OFFSET);
        cx.b.ins().atomic_store(flags, nobody, address);
    } else {
        cx.b.ins().store(flags, nobody, monitor, monitor::OWNER_OFFSET);
    }
    if cx.options.symmetric_barriers {
        cx.b.ins().fence();
    }
}
