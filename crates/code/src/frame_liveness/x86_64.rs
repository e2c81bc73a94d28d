//! Frame liveness on x86-64: the instructions that a body can reach, their effects on the frame, and the dataflow over
//! them.

use super::FrameLiveness;
use crate::CodeInfo;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
    UsedMemory, UsedRegister,
};
use saki_abi::{CALLEE_SAVED, SpillArea};
use std::collections::{BTreeMap, BTreeSet};

/// Larger bodies are not analysed, which would lengthen a collection by milliseconds; all their words count as live.
const MAX_BODY_BYTES: u32 = 256 << 10;
const WORD_BYTES: i64 = 8;

/// The effect of an instruction on a word or a register of the map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    /// Reads it, or may read it.
    Use(u32),
    /// Overwrites all of it.
    Define(u32),
    /// Overwrites a part of it.
    Change(u32),
}

/// One decoded instruction.
struct Step {
    /// Bytes from the start of the body to the next instruction.
    end: u32,
    effects: Vec<Effect>,
    next: Next,
}

/// Where control continues after an instruction.
enum Next {
    Through,
    /// At the next instruction, or at this offset in the body.
    Branch(u32),
    Jump(u32),
    /// At a target of the jump table at this offset in the body.
    Table(u32),
    Call,
    Nowhere,
}

/// `None`: the code is not understood; see the module documentation.
pub(super) fn analyse(info: &CodeInfo) -> Option<FrameLiveness> {
    let area = info.spill_area?;
    if info.len_bytes > MAX_BODY_BYTES || area.low_bytes < area.high_bytes {
        return None;
    }
    // SAFETY: placed code is readable and stays while its description does; call sites are patched in whole words,
    // which changes displacements only.
    let code = unsafe { std::slice::from_raw_parts(info.start as *const u8, info.len_bytes as usize) };
    Body::read(code, info, area)?.solve()
}

struct Body<'a> {
    code: &'a [u8],
    info: &'a CodeInfo,
    area: SpillArea,
    frame_size_bytes: i64,
    word_count: u32,
    steps: BTreeMap<u32, Step>,
    /// Targets of each jump table.
    tables: BTreeMap<u32, Vec<u32>>,
}

impl<'a> Body<'a> {
    /// Decodes the instructions that are reachable from the entry.
    fn read(code: &'a [u8], info: &'a CodeInfo, area: SpillArea) -> Option<Body<'a>> {
        let mut body = Body {
            code,
            info,
            area,
            frame_size_bytes: i64::from(info.frame_size_bytes),
            word_count: (area.low_bytes - area.high_bytes) / 8,
            steps: BTreeMap::new(),
            tables: BTreeMap::new(),
        };
        let mut reader = Reader {
            decoder: Decoder::new(64, code, DecoderOptions::NONE),
            factory: InstructionInfoFactory::new(),
            before: [Instruction::default(); LOOK_BACK],
        };
        let mut ways = vec![0];
        // Jump tables are read last: known code tells where a table ends.
        let mut waiting_tables = Vec::new();
        loop {
            while let Some(start) = ways.pop() {
                body.follow(start, &mut reader, &mut ways, &mut waiting_tables)?;
            }
            let Some(table) = waiting_tables.pop() else { return Some(body) };
            if !body.tables.contains_key(&table) {
                let targets = body.read_table(table);
                ways.extend(&targets);
                body.tables.insert(table, targets);
            }
        }
    }

    /// Decodes from `at` until control does not fall through or the next instruction has been decoded already.
    fn follow(&mut self, at: u32, reader: &mut Reader, ways: &mut Vec<u32>, tables: &mut Vec<u32>) -> Option<()> {
        let mut at = at;
        reader.before = [Instruction::default(); LOOK_BACK];
        while !self.steps.contains_key(&at) {
            let instruction = reader.decode(at)?;
            let step = self.step(&instruction, reader)?;
            reader.remember(&instruction);
            let end = step.end;
            let goes_on = match step.next {
                Next::Through => true,
                Next::Call => {
                    ways.extend(self.landings(end));
                    true
                }
                Next::Branch(target) => {
                    ways.push(target);
                    true
                }
                Next::Jump(target) => {
                    ways.push(target);
                    false
                }
                Next::Table(table) => {
                    tables.push(table);
                    false
                }
                Next::Nowhere => false,
            };
            self.steps.insert(at, step);
            if !goes_on {
                break;
            }
            at = end;
        }
        Some(())
    }

    /// Landing pads of the call that returns to `offset`.
    fn landings(&self, offset: u32) -> Vec<u32> {
        let call = self.info.protected_call(self.info.start + offset as usize);
        call.map_or(Vec::new(), |call| self.info.handlers_of(call).iter().map(|h| h.landing_offset).collect())
    }

    /// The targets in the table at `table`: distances from the table, 32 bits each, up to the first that is no target,
    /// or to known code. Reading too far into code only adds edges, which can make words live but never dead.
    fn read_table(&self, table: u32) -> Vec<u32> {
        let mut targets = Vec::new();
        let mut at = table as usize;
        while let Some(entry) = self.code.get(at..at + 4) {
            if self.steps.contains_key(&(at as u32)) || targets.contains(&(at as u32)) {
                break;
            }
            let distance = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
            match u32::try_from(i64::from(table) + i64::from(distance)) {
                Ok(target) if (target as usize) < self.code.len() => targets.push(target),
                _ => break,
            }
            at += 4;
        }
        targets
    }

    fn step(&self, instruction: &Instruction, reader: &mut Reader) -> Option<Step> {
        let info = reader.factory.info(instruction);
        let mut effects = Vec::new();
        // Definitions are applied before uses (backward), so that a word which an instruction both reads and writes is
        // live before it.
        for used in info.used_registers() {
            effects.extend(self.register_effect(used));
        }
        // Pushes, pops, calls and returns move rsp; they access no slot of the map.
        if instruction.mnemonic() == Mnemonic::Lea {
            self.check_address(instruction)?;
        } else if !instruction.is_stack_instruction() {
            for memory in info.used_memory() {
                self.memory_effects(memory, &mut effects)?;
            }
        }
        effects.sort_by_key(|effect| matches!(effect, Effect::Use(_)));
        let end = instruction.next_ip() as u32;
        let inside = |target: u64| u32::try_from(target).ok().filter(|&t| (t as usize) < self.code.len());
        let next = match instruction.flow_control() {
            FlowControl::Next => Next::Through,
            FlowControl::ConditionalBranch => Next::Branch(inside(instruction.near_branch_target())?),
            // A jump out of the body is a tail call.
            FlowControl::UnconditionalBranch => {
                inside(instruction.near_branch_target()).map_or(Next::Nowhere, Next::Jump)
            }
            FlowControl::Call | FlowControl::IndirectCall => Next::Call,
            FlowControl::IndirectBranch => match reader.table_of_jump(instruction) {
                Some(table) => Next::Table(table),
                None if reader.is_after_epilogue() => Next::Nowhere,
                None => return None,
            },
            FlowControl::Return | FlowControl::Exception => Next::Nowhere,
            FlowControl::Interrupt if instruction.mnemonic() == Mnemonic::Int3 => Next::Nowhere,
            FlowControl::Interrupt | FlowControl::XbeginXabortXend => return None,
        };
        Some(Step { end, effects, next })
    }

    fn register_effect(&self, used: &UsedRegister) -> Option<Effect> {
        let register = used.register();
        if !register.is_gpr() {
            return None;
        }
        let number = register.full_register().number() as u8;
        let index = CALLEE_SAVED.iter().position(|&saved| saved == number)?;
        let bit = self.word_count + index as u32;
        match used.access() {
            // Writing 32 bits clears the others; writing fewer keeps them.
            OpAccess::Write if register.size() >= 4 => Some(Effect::Define(bit)),
            OpAccess::Write | OpAccess::CondWrite | OpAccess::NoMemAccess | OpAccess::None => None,
            _ => Some(Effect::Use(bit)),
        }
    }

    /// Distance of a memory operand from FP in bytes, if its base register shows that it is in the frame.
    fn frame_offset(&self, base: Register, displacement: u64) -> Option<i64> {
        match base {
            Register::RSP => Some((displacement as i64).wrapping_sub(self.frame_size_bytes)),
            Register::RBP => Some(displacement as i64),
            _ => None,
        }
    }

    /// Words of the map between two distances from FP.
    fn words(&self, start: i64, end: i64) -> std::ops::Range<u32> {
        let (low, high) = (-i64::from(self.area.low_bytes), -i64::from(self.area.high_bytes));
        let first = (start.max(low) - low).div_euclid(WORD_BYTES);
        let last = (end.min(high) - low + WORD_BYTES - 1).div_euclid(WORD_BYTES);
        first as u32..last.max(first) as u32
    }

    /// Whether only the body's own instructions touch the word of the map.
    fn is_own(&self, word: u32) -> bool {
        let own = &self.info.own_words;
        // The number of the word from FP down.
        let number = self.area.low_bytes / 8 - word - 1;
        own.is_empty() || own.get(number as usize / 64).is_some_and(|bits| bits >> (number % 64) & 1 != 0)
    }

    fn memory_effects(&self, memory: &UsedMemory, effects: &mut Vec<Effect>) -> Option<()> {
        let Some(start) = self.frame_offset(memory.base(), memory.displacement()) else { return Some(()) };
        let size = memory.memory_size().size() as i64;
        let words = self.words(start, start + size.max(1));
        if !words.clone().any(|word| self.is_own(word)) {
            return Some(());
        }
        if memory.index() != Register::None || size == 0 {
            return None;
        }
        let low = -i64::from(self.area.low_bytes);
        for word in words.filter(|&word| self.is_own(word)) {
            let word_start = low + i64::from(word) * WORD_BYTES;
            let covers = start <= word_start && start + size >= word_start + WORD_BYTES;
            match memory.access() {
                OpAccess::Write if covers => effects.push(Effect::Define(word)),
                OpAccess::Write | OpAccess::CondWrite => effects.push(Effect::Change(word)),
                OpAccess::NoMemAccess | OpAccess::None => {}
                _ => effects.push(Effect::Use(word)),
            }
        }
        Some(())
    }

    /// `None` if the instruction takes the address of a spill slot, which normal code never does.
    fn check_address(&self, lea: &Instruction) -> Option<()> {
        match self.frame_offset(lea.memory_base(), lea.memory_displacement64()) {
            Some(start) if self.words(start, start + 1).any(|word| self.is_own(word)) => None,
            _ => Some(()),
        }
    }

    /// Backward dataflow to the fixed point, over instructions from the last to the first.
    fn solve(self) -> Option<FrameLiveness> {
        let bits = self.word_count as usize + CALLEE_SAVED.len();
        let len = bits.div_ceil(64);
        let starts: Vec<u32> = self.steps.keys().copied().collect();
        let steps: Vec<&Step> = self.steps.values().collect();
        let index_of = |offset: u32| starts.binary_search(&offset).ok();
        let leaders = self.leaders();
        let mut live_in = vec![0u64; starts.len() * len];
        let mut calls: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        let mut changed = true;
        while changed {
            changed = false;
            let mut live = vec![0u64; len];
            for (index, step) in steps.iter().enumerate().rev() {
                self.live_after(step, len, &live_in, &index_of, &mut live)?;
                if matches!(step.next, Next::Call) {
                    calls.insert(step.end, live.clone());
                }
                for effect in &step.effects {
                    match *effect {
                        Effect::Define(bit) => live[bit as usize / 64] &= !(1 << (bit % 64)),
                        Effect::Use(bit) => live[bit as usize / 64] |= 1 << (bit % 64),
                        Effect::Change(_) => {}
                    }
                }
                let known = &mut live_in[index * len..][..len];
                if known != live {
                    known.copy_from_slice(&live);
                    changed |= leaders.contains(&starts[index]);
                }
            }
        }
        let (mut used, mut written) = (vec![0u64; len], vec![0u64; len]);
        for effect in steps.iter().flat_map(|step| &step.effects) {
            let (bits, bit) = match *effect {
                Effect::Use(bit) => (&mut used, bit),
                Effect::Define(bit) | Effect::Change(bit) => (&mut written, bit),
            };
            bits[bit as usize / 64] |= 1 << (bit % 64);
        }
        // Words that are written and never read are arguments for callees.
        let mut own: Box<[u64]> = used.iter().zip(&written).map(|(used, written)| used | !written).collect();
        if !self.info.own_words.is_empty() {
            own.fill(0);
            for word in (0..self.word_count).filter(|&word| self.is_own(word)) {
                own[word as usize / 64] |= 1 << (word % 64);
            }
        }
        let (mut offsets, mut words) = (Vec::with_capacity(calls.len()), Vec::with_capacity(calls.len() * len));
        for (return_offset, live) in calls {
            offsets.push((return_offset, words.len() as u32));
            words.extend(live);
        }
        Some(FrameLiveness {
            low_bytes: self.area.low_bytes,
            word_count: self.word_count,
            calls: offsets.into(),
            bits: words.into(),
            own,
        })
    }

    /// Offsets at which control may arrive from elsewhere than the preceding instruction.
    fn leaders(&self) -> BTreeSet<u32> {
        let mut leaders: BTreeSet<u32> = self.tables.values().flatten().copied().collect();
        for step in self.steps.values() {
            match step.next {
                Next::Branch(target) | Next::Jump(target) => {
                    leaders.insert(target);
                }
                Next::Call => leaders.extend(self.landings(step.end)),
                Next::Through | Next::Table(_) | Next::Nowhere => {}
            }
        }
        leaders
    }

    /// Computes the words live after `step` into `live`. `None`: control goes to the middle of an instruction.
    fn live_after(
        &self,
        step: &Step,
        len: usize,
        live_in: &[u64],
        index_of: &impl Fn(u32) -> Option<usize>,
        live: &mut [u64],
    ) -> Option<()> {
        live.fill(0);
        let mut add = |offset: u32, keeps_registers: bool| {
            let index = index_of(offset)?;
            for (number, (mine, theirs)) in live.iter_mut().zip(&live_in[index * len..][..len]).enumerate() {
                let mask = if keeps_registers { u64::MAX } else { self.word_mask(number) };
                *mine |= theirs & mask;
            }
            Some(())
        };
        match step.next {
            Next::Through => add(step.end, true),
            Next::Branch(target) => add(target, true).and(add(step.end, true)),
            Next::Jump(target) => add(target, true),
            Next::Table(table) => self.tables.get(&table)?.iter().try_for_each(|&target| add(target, true)),
            Next::Call => {
                self.landings(step.end).into_iter().try_for_each(|landing| add(landing, false))?;
                add(step.end, true)
            }
            Next::Nowhere => Some(()),
        }
    }

    /// The bits of word number `number` of a set that stand for words of the frame.
    fn word_mask(&self, number: usize) -> u64 {
        match (self.word_count as usize).saturating_sub(number * 64) {
            0 => 0,
            64.. => u64::MAX,
            bits => (1 << bits) - 1,
        }
    }
}

/// Preceding instructions that are kept: a tail call has at most four between the end of the epilogue and its jump.
const LOOK_BACK: usize = 5;

struct Reader<'a> {
    decoder: Decoder<'a>,
    factory: InstructionInfoFactory,
    /// The instructions before the current one, the last one first.
    before: [Instruction; LOOK_BACK],
}

impl Reader<'_> {
    fn decode(&mut self, at: u32) -> Option<Instruction> {
        self.decoder.set_position(at as usize).ok()?;
        self.decoder.set_ip(u64::from(at));
        Some(self.decoder.decode()).filter(|instruction| !instruction.is_invalid())
    }

    fn remember(&mut self, instruction: &Instruction) {
        self.before.rotate_right(1);
        self.before[0] = *instruction;
    }

    /// Offset of the jump table if `jump` ends the code generator's sequence for one:
    /// `lea base, [rip + table]; movsxd distance, [base + index * 4]; add base, distance; jmp base`.
    fn table_of_jump(&self, jump: &Instruction) -> Option<u32> {
        let [add, load, lea, ..] = &self.before;
        let is_sequence = jump.op0_kind() == OpKind::Register
            && add.mnemonic() == Mnemonic::Add
            && add.op0_register() == jump.op0_register()
            && load.mnemonic() == Mnemonic::Movsxd
            && load.memory_base() == lea.op0_register()
            && lea.mnemonic() == Mnemonic::Lea
            && lea.is_ip_rel_memory_operand();
        is_sequence.then(|| u32::try_from(lea.ip_rel_memory_address()).ok()).flatten()
    }

    /// Whether the epilogue has just been executed.
    fn is_after_epilogue(&self) -> bool {
        self.before.iter().any(|i| i.mnemonic() == Mnemonic::Pop && i.op0_register() == Register::RBP)
    }
}
