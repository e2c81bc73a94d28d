//! `Monitor.Enter` and `Exit` in line where nobody has to wait or be woken; the runtime does the rest.
//!
//! The layout of the sync word is `sync::thin_lock`'s; the transitions here are four rows of its table: free to thin, thin
//! to free, and one entry more or fewer of the owner. A word in any other state, a null object or a lost race goes to the
//! runtime, which throws where that is due. The compare-and-swaps keep the bits that other threads may set meanwhile (the
//! hash) by failing.
//!
//! Inflated locks are `sync::monitor`'s, found through `sync::monitor_table`; the transitions in cold code here are the first
//! two rows of that table: free to owned, and owned to free when no entrant waits to be woken. Threads that contend
//! keep a lock inflated, and the runtime's way costs a third more. No safepoint lies between loading the sync
//! word and the compare-and-swap (see `sync::object_lock`). What the index leads to is reached through the address that it
//! gives, which orders the loads. Left out: recursion of inflated locks, retiring monitors.

use super::{Lowered, Lowering, MemoryKind};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, MemFlagsData, Value, types};
use saki_abi::HelperId;
use saki_abi::object::OBJECT_SYNC_OFFSET;
use saki_abi::thread::{THREAD_MANAGED_ID_OFFSET, THREAD_MONITOR_ENTRIES_OFFSET};
use saki_il::ir::ValueId;
use saki_sync::monitor::layout as monitor;
use saki_sync::monitor_table::layout as table;
use saki_sync::thin_lock::{HASHED_BIT, INFLATED_BIT, MAX_RECURSION, NOT_FREE_MASK, OWNER_SHIFT, RECURSION_UNIT};

/// Entries beyond the first that an owner may have for the word to be changed here, as the word shows them once the bits
/// of owner and hash are gone and the word is rotated so that `INFLATED_BIT` counts most.
const RECURSION_LIMIT: i64 = (MAX_RECURSION as i64 * RECURSION_UNIT as i64) >> 1;
const _: () = assert!(INFLATED_BIT == 1 && RECURSION_UNIT > HASHED_BIT);

/// A lock word as loaded, with what tells its state.
struct LockWord {
    address: Value,
    word: Value,
    /// The caller's managed id, I64.
    id: Value,
    /// The caller's id where the owner stands.
    owner: Value,
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
        let not_last = self.new_block(true);
        let lock = self.lock_word(object, slow);
        let without_owner = self.b.ins().bxor(lock.word, lock.owner);
        let state = self.lock_state(without_owner);
        let last = self.new_block(false);
        self.branch(state, not_last, last);
        self.continue_in(last);
        self.exchange_word(&lock, without_owner, done, slow);

        self.continue_in(not_last);
        let thin = self.new_block(true);
        let inflated = self.inflated_or(state, thin);
        self.continue_in(inflated);
        self.exit_inflated(&lock, done, slow);

        self.continue_in(thin);
        // Ours and thin, with entries to spare: 1..=MAX_RECURSION of them.
        let rotated = self.b.ins().rotr_imm_u(state, 1);
        let is_recursive = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, rotated, RECURSION_LIMIT);
        self.change_recursion(&lock, is_recursive, -(RECURSION_UNIT as i64), done, slow);

        self.continue_in(slow);
        self.call_helper(HelperId::MonitorExit, &[object]);
        self.jump_clif(done, &[]);
        self.continue_in(done);
        self.note_not_null(object);
        Ok(())
    }

    /// Ends the block: to `done` with the thin lock taken, else to `slow`.
    fn enter_thin(&mut self, object: Value, done: ClifBlock, slow: ClifBlock) {
        let lock = self.lock_word(object, slow);
        let state = self.lock_state(lock.word);
        let (free, held) = (self.new_block(false), self.new_block(true));
        self.branch(state, held, free);
        self.continue_in(free);
        let ours = self.b.ins().bor(lock.word, lock.owner);
        self.exchange_word(&lock, ours, done, slow);

        self.continue_in(held);
        let thin = self.new_block(true);
        let inflated = self.inflated_or(state, thin);
        self.continue_in(inflated);
        self.enter_inflated(&lock, done, slow);

        self.continue_in(thin);
        let without_owner = self.b.ins().bxor(lock.word, lock.owner);
        let state = self.lock_state(without_owner);
        let rotated = self.b.ins().rotr_imm_u(state, 1);
        let has_room = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, rotated, RECURSION_LIMIT);
        self.change_recursion(&lock, has_room, RECURSION_UNIT as i64, done, slow);
    }

    /// Loads the sync word; to `slow` when the object is null.
    fn lock_word(&mut self, object: Value, slow: ClifBlock) -> LockWord {
        if !self.is_not_null(object) {
            let some = self.new_block(false);
            self.branch(object, some, slow);
            self.continue_in(some);
        }
        let address = self.displaced(object, i64::from(OBJECT_SYNC_OFFSET) as i32);
        // Not of any alias region: other threads and the runtime write the word.
        let flags = MemFlagsData::trusted();
        let word = self.b.ins().load(types::I64, flags, object, OBJECT_SYNC_OFFSET);
        let thread = self.thread();
        let flags = self.constant_word(MemoryKind::Thread);
        let id = self.b.ins().uload32(flags, thread, THREAD_MANAGED_ID_OFFSET);
        let owner = self.b.ins().ishl_imm_u(id, i64::from(OWNER_SHIFT));
        LockWord { address, word, id, owner }
    }

    /// The bits that a free word does not have, as an I32.
    fn lock_state(&mut self, word: Value) -> Value {
        let low = self.b.ins().ireduce(types::I32, word);
        self.b.ins().band_imm_s(low, i64::from(NOT_FREE_MASK as u32 as i32))
    }

    /// Ends the block: to `thin`, or to the block returned if the lock is inflated.
    fn inflated_or(&mut self, state: Value, thin: ClifBlock) -> ClifBlock {
        let inflated = self.new_block(true);
        let bit = self.b.ins().band_imm_s(state, INFLATED_BIT as i64);
        self.branch(bit, inflated, thin);
        inflated
    }

    /// Address of the monitor that an inflated word names.
    fn monitor_address(&mut self, word: Value) -> Value {
        let thread = self.thread();
        let flags = self.constant_word(MemoryKind::Thread);
        let entries = self.b.ins().load(types::I64, flags, thread, THREAD_MONITOR_ENTRIES_OFFSET);
        let low = self.b.ins().ireduce(types::I32, word);
        let index = self.b.ins().ushr_imm_u(low, i64::from(OWNER_SHIFT));
        let index = self.b.ins().uextend(types::I64, index);
        let offset = self.b.ins().ishl_imm_u(index, i64::from(table::ENTRY_BYTES.trailing_zeros()));
        let entry = self.b.ins().iadd(entries, offset);
        self.b.ins().iadd_imm_s(entry, table::MONITOR_OFFSET as i64)
    }

    /// Ends the block: to `done` with the free monitor taken, else to `slow`.
    ///
    /// Without a look at the word first: where another processor had it, that would fetch its cache line for reading, and the
    /// exchange would fetch it again for writing. Flags of a free monitor are rarer, and cost a second exchange.
    fn enter_inflated(&mut self, lock: &LockWord, done: ClifBlock, slow: ClifBlock) {
        let monitor = self.monitor_address(lock.word);
        let address = self.displaced(monitor, monitor::WORD_OFFSET as i32);
        let id = self.b.ins().ireduce(types::I32, lock.id);
        let nobody = self.i32_const(0);
        let seen = self.b.ins().atomic_cas(MemFlagsData::trusted(), address, nobody, id);
        self.fence_after_atomic();
        let not_taken = self.new_block(true);
        self.branch(seen, not_taken, done);

        self.continue_in(not_taken);
        let taken = self.b.ins().band_imm_s(seen, i64::from(monitor::OWNER | monitor::RETIRED));
        let flagged = self.new_block(true);
        self.branch(taken, slow, flagged);
        self.continue_in(flagged);
        let ours = self.b.ins().bor(seen, id);
        self.exchange_monitor_word(monitor, seen, ours, done, slow);
    }

    /// Ends the block: to `done` with the caller's monitor free if that is a matter of the word alone, else to `slow`.
    fn exit_inflated(&mut self, lock: &LockWord, done: ClifBlock, slow: ClifBlock) {
        let monitor = self.monitor_address(lock.word);
        let flags = MemFlagsData::trusted();
        let seen = self.b.ins().load(types::I32, flags, monitor, monitor::WORD_OFFSET as i32);
        let recursion = self.b.ins().load(types::I32, flags, monitor, monitor::RECURSION_OFFSET as i32);
        let id = self.b.ins().ireduce(types::I32, lock.id);
        let owner = self.b.ins().band_imm_s(seen, i64::from(monitor::OWNER));
        let foreign = self.b.ins().bxor(owner, id);
        let not_last = self.b.ins().bor(foreign, recursion);
        let last = self.new_block(true);
        self.branch(not_last, slow, last);

        self.continue_in(last);
        let entrants = self.b.ins().band_imm_s(seen, i64::from((monitor::WAITERS | monitor::WAKING) as i32));
        let must_wake = self.b.ins().icmp_imm_s(IntCC::Equal, entrants, i64::from(monitor::WAITERS as i32));
        let quiet = self.b.ins().load(types::I32, flags, monitor, monitor::QUIET_OFFSET as i32);
        let quiet = self.b.ins().iadd_imm_s(quiet, 1);
        let may_retire =
            self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, quiet, i64::from(monitor::QUIET_EXITS));
        let more = self.b.ins().bor(must_wake, may_retire);
        let free = self.new_block(true);
        self.branch(more, slow, free);

        self.continue_in(free);
        self.b.ins().store(flags, quiet, monitor, monitor::QUIET_OFFSET as i32);
        let left = self.b.ins().band_imm_s(seen, i64::from(!monitor::OWNER as i32));
        self.exchange_monitor_word(monitor, seen, left, done, slow);
    }

    /// Ends the block, as `exchange_word`.
    fn exchange_monitor_word(&mut self, monitor: Value, seen: Value, new: Value, done: ClifBlock, slow: ClifBlock) {
        let address = self.displaced(monitor, monitor::WORD_OFFSET as i32);
        let old = self.b.ins().atomic_cas(MemFlagsData::trusted(), address, seen, new);
        self.fence_after_atomic();
        let exchanged = self.b.ins().icmp(IntCC::Equal, old, seen);
        self.branch(exchanged, done, slow);
    }

    fn change_recursion(&mut self, lock: &LockWord, allowed: Value, by: i64, done: ClifBlock, slow: ClifBlock) {
        let change = self.new_block(true);
        self.branch(allowed, change, slow);
        self.continue_in(change);
        let new = self.b.ins().iadd_imm_s(lock.word, by);
        self.exchange_word(lock, new, done, slow);
    }

    /// Ends the block: to `done` when the word was as loaded and is `new` now, else to `slow`.
    fn exchange_word(&mut self, lock: &LockWord, new: Value, done: ClifBlock, slow: ClifBlock) {
        let flags = MemFlagsData::trusted();
        let old = self.b.ins().atomic_cas(flags, lock.address, lock.word, new);
        self.fence_after_atomic();
        let exchanged = self.b.ins().icmp(IntCC::Equal, old, lock.word);
        self.branch(exchanged, done, slow);
    }
}
