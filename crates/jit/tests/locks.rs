//! The transitions of locks that Cranelift's code makes in line; the baseline compiler leaves most of them to the
//! runtime.

mod common;

use common::*;
use saki_il::ir::*;

const REF: IrType = IrType::Ref;

/// Runs the operation on an object with this sync word; returns the word afterwards and the number of calls of the
/// runtime.
fn on_sync_word(m: &mut Machine, op: fn(ValueId) -> Op, word: u64) -> (u64, u64) {
    let mut ir = Ir::new("lock", &[REF], None);
    let object = ir.get(0);
    ir.push(op(object), IrType::Void);
    ir.end(Terminator::Ret(None));
    let mut object = Box::new([0, word]);
    m.thread.managed_id = 5;
    m.thread.stub_result = 0;
    assert_eq!(m.eval(&ir, &[object.as_mut_ptr() as u64]), Ok(0));
    (std::hint::black_box(&object)[1], m.thread.stub_result)
}

#[test]
fn thin_locks_are_taken_and_left_in_line() {
    const HASH: u64 = 0x5ead_beef_0000_0000;
    const MINE: u64 = 5 << 8;
    const OTHERS: u64 = 6 << 8;
    let mut m = Machine::new();
    for hash in [0, HASH] {
        let mut enter = |word| on_sync_word(&mut m, Op::MonitorEnter, word | hash);
        assert_eq!(enter(0), (MINE | hash, 0));
        assert_eq!(enter(MINE), (MINE | 1 | hash, 0));
        assert_eq!(enter(MINE | 254), (MINE | 255 | hash, 0));
        for not_ours in [MINE | 255, OTHERS, OTHERS | 1] {
            assert_eq!(enter(not_ours), (not_ours | hash, 1), "{not_ours:x}");
        }
        let mut exit = |word| on_sync_word(&mut m, Op::MonitorExit, word | hash);
        assert_eq!(exit(MINE), (hash, 0));
        assert_eq!(exit(MINE | 1), (MINE | hash, 0));
        assert_eq!(exit(MINE | 255), (MINE | 254 | hash, 0));
        for not_ours in [0, OTHERS, OTHERS | 1] {
            assert_eq!(exit(not_ours), (not_ours | hash, 1), "{not_ours:x}");
        }
    }
    let mut ir = Ir::new("null", &[REF], None);
    let object = ir.get(0);
    ir.push(Op::MonitorEnter(object), IrType::Void);
    ir.end(Terminator::Ret(None));
    m.thread.stub_result = 0;
    assert_eq!(m.eval(&ir, &[0]), Ok(0));
    assert_eq!(m.thread.stub_result, 1, "null is the runtime's");
}

#[test]
fn inflated_locks_are_taken_and_left_in_line_while_nobody_waits() {
    use saki_abi::monitor::{
        FLAGS_OFFSET, LAST_OFFSET, MONITOR_OFFSET, OWNER_OFFSET, QUIET_EXITS, QUIET_OFFSET, RECURSION_OFFSET, RETIRED,
        WAITERS, WAKING,
    };
    use saki_abi::sync_word::{INFLATED_BIT, INFLATED_HINT_BIT};
    const ENTRY_BYTES: usize = saki_abi::monitor::ENTRY_BYTES as usize;
    const MONITOR: usize = 3;
    const SYNC: u64 = (MONITOR as u64) << 8 | (INFLATED_BIT | INFLATED_HINT_BIT) as u64;
    let mut m = Machine::new();
    // Owner, flags, recursion, quiet exits and last owner of the monitor before; the same after, and the calls out of
    // line.
    let mut run = |op, sync, before: [u32; 5]| {
        let places = [OWNER_OFFSET, FLAGS_OFFSET, RECURSION_OFFSET, QUIET_OFFSET, LAST_OFFSET]
            .map(|offset| (MONITOR * ENTRY_BYTES + (MONITOR_OFFSET + offset) as usize) / 4);
        let mut entries = vec![0u32; (MONITOR + 1) * ENTRY_BYTES / 4];
        places.iter().zip(before).for_each(|(&place, value)| entries[place] = value);
        m.thread.monitor_entries = std::hint::black_box(&mut entries).as_mut_ptr() as usize;
        let (after, calls) = on_sync_word(&mut m, op, sync);
        assert_eq!(after, sync);
        let entries = std::hint::black_box(&entries);
        (places.map(|place| entries[place]), calls)
    };
    for flags in [0, WAITERS, WAITERS | WAKING] {
        assert_eq!(run(Op::MonitorEnter, SYNC, [0, flags, 0, 9, 6]), ([5, flags, 0, 9, 6], 0));
    }
    for taken in [6, 5, RETIRED] {
        assert_eq!(run(Op::MonitorEnter, SYNC, [taken, 0, 0, 0, 6]), ([taken, 0, 0, 0, 6], 1), "{taken:x}");
    }
    for flags in [0, WAKING, WAITERS | WAKING] {
        assert_eq!(run(Op::MonitorExit, SYNC, [5, flags, 0, 9, 5]), ([0, flags, 0, 10, 5], 0));
    }
    // The one call is `StubId::DemoteLine`, for an instruction that x86-64 has.
    let demotions = u64::from(cfg!(target_arch = "x86_64"));
    assert_eq!(run(Op::MonitorExit, SYNC, [5, 0, 0, 9, 6]), ([0, 0, 0, 10, 5], demotions));
    for kept in
        [[0, 0, 0, 0, 5], [6, 0, 0, 0, 5], [5, 0, 1, 0, 5], [5, WAITERS, 0, 0, 5], [5, 0, 0, QUIET_EXITS - 1, 5]]
    {
        assert_eq!(run(Op::MonitorExit, SYNC, kept), (kept, 1), "{kept:x?}");
    }
    let kept = [5, 0, 0, 0, 5];
    assert_eq!(run(Op::MonitorExit, SYNC | 1, kept), (kept, 1), "entries that the word counts");
    let gone = SYNC & !(INFLATED_BIT as u64);
    for op in [Op::MonitorEnter, Op::MonitorExit] {
        assert_eq!(run(op, gone, kept), (kept, 1), "inflated no more");
    }
}
