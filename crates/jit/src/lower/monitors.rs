//! `Monitor.Enter` and `Exit` in line where no thread has to wait or to be woken; the runtime does the rest.
//!
//! The sync word is laid out as `abi::sync_word` says; the transitions here are those of the table of `sync::thin_lock`: free to thin, thin
//! to free, and one entry more or fewer of the owner. For a word in any other state, a null object or a lost race the runtime is
//! called, which throws where needed. The compare-and-swaps work on the lower half and guess the expected value, without loading it first: for an
//! uncontended lock the guess is right, and a load would have to wait for the previous locked instruction (15.4 ns for enter and exit with
//! loads, 12.6 ns without). The hash is in the upper half, so it does not matter.
//!
//! Inflated locks are `sync::monitor`'s, laid out as `abi::monitor` says; the transitions in cold code here are the first
//! two rows of that table: free to owned, and owned to free when no entrant waits to be woken. They are in line because contention
//! keeps a lock inflated and the call of the runtime costs a third more. No safepoint lies between loading the sync
//! word and the compare-and-swap (see `sync::object_lock`), nor between freeing a monitor and waking a thread that waits for it. The
//! loads of a monitor's fields depend on the address computed from the index, which orders them. A thread that exits a monitor which
//! another thread exited before demotes the monitor's cache line, where the processor can do that: a tenth more throughput where threads
//! take a lock in turns. Left out: recursion of inflated locks, retiring monitors.

use super::{Lowered, Lowering, MemoryKind};
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

impl Lowering<'_, '_> {
    pub(super) fn monitor_enter(&mut self, object: ValueId) -> Lowered {
        let object = self.value_as(object, types::I64)?;
        let done = self.new_block(false);
        let slow = self.new_block(true);
        self.enter_thin(object, done, slow);
        self.continue_in(slow);
        self.call_helper(HelperId::MonitorEnter, &[object]);
        self.jump_clif(done, &[]);
        self.continue_in(done);
        self.note_not_null(object);
        Ok(())
    }

    pub(super) fn monitor_try_enter(&mut self, object: ValueId, milliseconds: ValueId) -> Lowered<Value> {
        let object = self.value_as(object, types::I64)?;
        let milliseconds = self.value_as(milliseconds, types::I32)?;
        let done = self.new_block(false);
        let result = self.b.append_block_param(done, types::I32);
        let entered = self.new_block(false);
        let slow = self.new_block(true);
        self.enter_thin(object, entered, slow);
        self.continue_in(slow);
        let taken =
            self.call_helper(HelperId::MonitorTryEnter, &[object, milliseconds]).expect("MonitorTryEnter has a result");
        self.jump_clif(done, &[taken]);
        self.continue_in(entered);
        let one = self.i32_const(1);
        self.jump_clif(done, &[one]);
        self.continue_in(done);
        self.note_not_null(object);
        Ok(result)
    }

    pub(super) fn monitor_exit(&mut self, object: ValueId) -> Lowered {
        let object = self.value_as(object, types::I64)?;
        let done = self.new_block(false);
        let slow = self.new_block(true);
        let (thin, inflated, not_last) = (self.new_block(false), self.new_block(true), self.new_block(true));
        let lock = self.lock_of(object, slow);
        self.branch_if_inflated(&lock, inflated, thin);
        self.continue_in(thin);
        let free = self.i32_const(0);
        let seen = self.exchange_lock(&lock, lock.owned, free);
        let is_free = self.b.ins().icmp(IntCC::Equal, seen, lock.owned);
        self.branch(is_free, done, not_last);

        self.continue_in(not_last);
        // 1..=MAX_RECURSION if the lock is the caller's.
        let more = self.b.ins().bxor(seen, lock.owned);
        let before = self.b.ins().iadd_imm_s(more, -1);
        let is_recursive = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, before, i64::from(MAX_RECURSION));
        self.change_recursion(&lock, is_recursive, before, done, slow);

        self.continue_in(inflated);
        self.exit_inflated(&lock, done, slow);

        self.continue_in(slow);
        self.call_helper(HelperId::MonitorExit, &[object]);
        self.jump_clif(done, &[]);
        self.continue_in(done);
        self.note_not_null(object);
        Ok(())
    }

    /// Ends the block with branches: to `done` with the lock taken, else to `slow`.
    fn enter_thin(&mut self, object: Value, done: ClifBlock, slow: ClifBlock) {
        let lock = self.lock_of(object, slow);
        let (thin, inflated, held) = (self.new_block(false), self.new_block(true), self.new_block(true));
        self.branch_if_inflated(&lock, inflated, thin);
        self.continue_in(thin);
        let free = self.i32_const(0);
        let seen = self.exchange_lock(&lock, free, lock.owned);
        self.branch(seen, held, done);

        self.continue_in(held);
        let entries = self.b.ins().bxor(seen, lock.owned);
        let has_room = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, entries, i64::from(MAX_RECURSION));
        let more = self.b.ins().iadd_imm_s(entries, 1);
        self.change_recursion(&lock, has_room, more, done, slow);

        self.continue_in(inflated);
        self.enter_inflated(&lock, done, slow);
    }

    /// Loads the values of the object's lock; branches to `slow` when the object is null.
    fn lock_of(&mut self, object: Value, slow: ClifBlock) -> Lock {
        if !self.is_not_null(object) {
            let some = self.new_block(false);
            self.branch(object, some, slow);
            self.continue_in(some);
        }
        let address = self.displaced(object, i64::from(OBJECT_SYNC_OFFSET) as i32);
        let thread = self.thread();
        let flags = self.constant_word(MemoryKind::Thread);
        let id = self.b.ins().load(types::I32, flags, thread, THREAD_MANAGED_ID_OFFSET);
        let owned = self.b.ins().ishl_imm_u(id, i64::from(OWNER_SHIFT));
        Lock { address, id, owned }
    }

    /// Ends the block with a branch on whether the lock is inflated; loads the word.
    fn branch_if_inflated(&mut self, lock: &Lock, inflated: ClifBlock, thin: ClifBlock) {
        // The word has no alias region: other threads and the runtime write it.
        let upper = self.b.ins().load(types::I32, MemFlagsData::trusted(), lock.address, 4);
        let is_inflated = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, upper, 0);
        self.branch(is_inflated, inflated, thin);
    }

    /// Compare-and-swap of the lower half; returns its previous value.
    fn exchange_lock(&mut self, lock: &Lock, expected: Value, new: Value) -> Value {
        let seen = self.b.ins().atomic_cas(MemFlagsData::trusted(), lock.address, expected, new);
        self.fence_after_atomic();
        seen
    }

    /// Ends the block with branches: to `done` with the caller's number of extra entries changed to `entries`, to `slow` unless `allowed`.
    fn change_recursion(&mut self, lock: &Lock, allowed: Value, entries: Value, done: ClifBlock, slow: ClifBlock) {
        let change = self.new_block(true);
        self.branch(allowed, change, slow);
        self.continue_in(change);
        self.b.ins().istore8(MemFlagsData::trusted(), entries, lock.address, 0);
        self.jump_clif(done, &[]);
    }

    /// Address of the monitor that the inflated word names, and the extra entries that the word counts; branches to `slow` if the lock is no longer inflated.
    fn monitor_of(&mut self, lock: &Lock, slow: ClifBlock) -> (Value, Value) {
        let word = self.b.ins().load(types::I32, MemFlagsData::trusted(), lock.address, 0);
        let is_inflated = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, word, 0);
        let found = self.new_block(true);
        self.branch(is_inflated, found, slow);
        self.continue_in(found);
        let thread = self.thread();
        let flags = self.constant_word(MemoryKind::Thread);
        let entries = self.b.ins().load(types::I64, flags, thread, THREAD_MONITOR_ENTRIES_OFFSET);
        let index = self.b.ins().ushr_imm_u(word, i64::from(OWNER_SHIFT));
        let index = self.b.ins().band_imm_s(index, i64::from(MAX_OWNER));
        let index = self.b.ins().uextend(types::I64, index);
        let offset = self.b.ins().ishl_imm_u(index, i64::from(monitor::ENTRY_BYTES.trailing_zeros()));
        let entry = self.b.ins().iadd(entries, offset);
        let monitor = self.b.ins().iadd_imm_s(entry, i64::from(monitor::MONITOR_OFFSET));
        let recursion = self.b.ins().band_imm_s(word, RECURSION_MASK as i64);
        (monitor, recursion)
    }

    /// Ends the block with branches: to `done` with the monitor taken, if it was free, else to `slow`.
    ///
    /// The state is not loaded before the exchange: if another processor has the cache line, the load would fetch it for reading, and
    /// the exchange would fetch it again for writing.
    fn enter_inflated(&mut self, lock: &Lock, done: ClifBlock, slow: ClifBlock) {
        let (monitor, _) = self.monitor_of(lock, slow);
        let address = self.displaced(monitor, monitor::OWNER_OFFSET);
        let nobody = self.i32_const(0);
        let seen = self.b.ins().atomic_cas(MemFlagsData::trusted(), address, nobody, lock.id);
        self.fence_after_atomic();
        self.branch(seen, slow, done);
    }

    /// Ends the block with branches: to `done` with the caller's monitor freed, if only its word has to change, else to `slow`.
    fn exit_inflated(&mut self, lock: &Lock, done: ClifBlock, slow: ClifBlock) {
        let (monitor, entries) = self.monitor_of(lock, slow);
        let flags = MemFlagsData::trusted();
        let load = |lowering: &mut Self, offset: i32| lowering.b.ins().load(types::I32, flags, monitor, offset);
        let owner = load(self, monitor::OWNER_OFFSET);
        let recursion = load(self, monitor::RECURSION_OFFSET);
        let foreign = self.b.ins().bxor(owner, lock.id);
        let recursion = self.b.ins().bor(recursion, entries);
        let not_last = self.b.ins().bor(foreign, recursion);
        let last = self.new_block(true);
        self.branch(not_last, slow, last);

        self.continue_in(last);
        let must_wake = self.has_lone_waiters(monitor);
        let quiet = load(self, monitor::QUIET_OFFSET);
        let quiet = self.b.ins().iadd_imm_s(quiet, 1);
        let may_retire =
            self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, quiet, i64::from(monitor::QUIET_EXITS));
        let more = self.b.ins().bor(must_wake, may_retire);
        let free = self.new_block(true);
        self.branch(more, slow, free);

        self.continue_in(free);
        self.b.ins().store(flags, quiet, monitor, monitor::QUIET_OFFSET);
        let last = load(self, monitor::LAST_OFFSET);
        let is_others = self.b.ins().icmp(IntCC::NotEqual, last, lock.id);
        let (travels, stays, wake) = (self.new_block(true), self.new_block(true), self.new_block(true));
        self.branch(is_others, travels, stays);

        // Threads take the lock in turns: the next one gets the line faster from the shared cache than from this processor's own.
        self.continue_in(travels);
        self.b.ins().store(flags, lock.id, monitor, monitor::LAST_OFFSET);
        self.release_monitor(monitor);
        let must_wake = self.has_lone_waiters(monitor);
        if !self.is_aarch64() {
            let address = self.displaced(monitor, monitor::OWNER_OFFSET);
            self.call_demote_line(address);
        }
        self.branch(must_wake, wake, done);

        self.continue_in(stays);
        self.release_monitor(monitor);
        let must_wake = self.has_lone_waiters(monitor);
        self.branch(must_wake, wake, done);

        self.continue_in(wake);
        self.call_helper(HelperId::MonitorWake, &[monitor]);
        self.jump_clif(done, &[]);
    }

    /// Whether an exit must wake a waiting thread.
    fn has_lone_waiters(&mut self, monitor: Value) -> Value {
        let seen = self.b.ins().load(types::I32, MemFlagsData::trusted(), monitor, monitor::FLAGS_OFFSET);
        let entrants = self.b.ins().band_imm_s(seen, i64::from(monitor::WAITERS | monitor::WAKING));
        self.b.ins().icmp_imm_s(IntCC::Equal, entrants, i64::from(monitor::WAITERS))
    }

    /// Stores, with release and the light side of an asymmetric barrier, that the monitor is free.
    fn release_monitor(&mut self, monitor: Value) {
        let flags = MemFlagsData::trusted();
        let nobody = self.i32_const(0);
        if self.is_aarch64() {
            let address = self.displaced(monitor, monitor::OWNER_OFFSET);
            self.b.ins().atomic_store(flags, nobody, address);
        } else {
            self.b.ins().store(flags, nobody, monitor, monitor::OWNER_OFFSET);
        }
        if self.options.symmetric_barriers {
            self.b.ins().fence();
        }
    }
}
