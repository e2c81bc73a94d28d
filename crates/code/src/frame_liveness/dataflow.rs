//! The dataflow of frame liveness, over the instructions that a body can reach. Left out: what they are
//! (`arch`).

use super::{FrameLiveness, arch};
use crate::CodeInfo;
use saki_abi::{CALLEE_SAVED, SpillArea};
use std::collections::{BTreeMap, BTreeSet};

/// Larger bodies are not analysed, which would lengthen a collection by milliseconds; all their words count as live.
const MAX_BODY_BYTES: u32 = 256 << 10;
const WORD_BYTES: i64 = 8;

/// The effect of an instruction on a word or a register of the map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WordEffect {
    /// Reads it, or may read it.
    Use(u32),
    /// Overwrites all of it.
    Define(u32),
    /// Overwrites a part of it.
    Change(u32),
}

/// One decoded instruction.
pub(super) struct DecodedStep {
    /// Bytes from the start of the body to the next instruction.
    pub end: u32,
    pub effects: Vec<WordEffect>,
    pub next: Next,
}

/// Where control continues after an instruction.
pub(super) enum Next {
    Through,
    /// At the next instruction, or at this offset in the body.
    Branch(u32),
    Jump(u32),
    /// At a target of the jump table at this offset in the body.
    Table(u32),
    Call,
    Nowhere,
}

/// How an instruction accesses memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    Write,
    /// A write that may not happen.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "no instruction is like that"))]
    MayWrite,
    /// Not only a write.
    Read,
}

/// Reads the instructions of one body, each after the one before it until `restart`.
pub(super) trait Read {
    /// The next instruction is not the one behind the last.
    fn restart(&mut self);
    /// The instruction at `at` bytes. None: it is not understood.
    fn step(&mut self, at: u32, frame: &FrameWords) -> Option<DecodedStep>;
}

/// `None`: the code is not understood; see the module documentation.
pub(super) fn analyse(info: &CodeInfo) -> Option<FrameLiveness> {
    let area = info.spill_area()?;
    if info.len_bytes > MAX_BODY_BYTES || area.low_bytes < area.high_bytes {
        return None;
    }
    // SAFETY: placed code is readable and stays while its description does; call sites are patched in whole words,
    // which changes displacements only.
    let code = unsafe { std::slice::from_raw_parts(info.start as *const u8, info.len_bytes as usize) };
    let frame = FrameWords::new(info, area, code.len());
    Body::read(code, info, frame, &mut arch::Reader::new(code))?.solve()
}

/// The words of a frame that are watched, and the body's bounds.
pub(super) struct FrameWords<'a> {
    info: &'a CodeInfo,
    area: SpillArea,
    word_count: u32,
    code_bytes: usize,
}

impl<'a> FrameWords<'a> {
    fn new(info: &'a CodeInfo, area: SpillArea, code_bytes: usize) -> FrameWords<'a> {
        FrameWords { info, area, word_count: (area.low_bytes - area.high_bytes) / 8, code_bytes }
    }

    /// The target, if it lies in the body.
    pub fn inside(&self, target: u64) -> Option<u32> {
        u32::try_from(target).ok().filter(|&target| (target as usize) < self.code_bytes)
    }

    /// Distance of an address from FP in bytes, if it is this far from SP.
    pub fn stack_distance(&self, displacement: i64) -> i64 {
        displacement.wrapping_sub(i64::from(self.info.frame_size_bytes))
    }

    /// The bit of callee-saved register number `index`.
    pub fn register_bit(&self, index: usize) -> u32 {
        self.word_count + index as u32
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

    /// Adds the effects of an access to `size_bytes` at this distance from FP, with an index register or without. None:
    /// it may be any word.
    pub fn access(
        &self,
        start: i64,
        size_bytes: i64,
        is_indexed: bool,
        access: Access,
        effects: &mut Vec<WordEffect>,
    ) -> Option<()> {
        let words = self.words(start, start + size_bytes.max(1));
        if !words.clone().any(|word| self.is_own(word)) {
            return Some(());
        }
        if is_indexed || size_bytes == 0 {
            return None;
        }
        let low = -i64::from(self.area.low_bytes);
        for word in words.filter(|&word| self.is_own(word)) {
            let word_start = low + i64::from(word) * WORD_BYTES;
            let covers = start <= word_start && start + size_bytes >= word_start + WORD_BYTES;
            effects.push(match access {
                Access::Write if covers => WordEffect::Define(word),
                Access::Write | Access::MayWrite => WordEffect::Change(word),
                Access::Read => WordEffect::Use(word),
            });
        }
        Some(())
    }

    /// `None` if the address at this distance from FP is that of a spill slot, which normal code never takes.
    pub fn take_address(&self, start: i64) -> Option<()> {
        let is_own = self.words(start, start + 1).any(|word| self.is_own(word));
        (!is_own).then_some(())
    }
}

struct Body<'a> {
    code: &'a [u8],
    info: &'a CodeInfo,
    frame: FrameWords<'a>,
    steps: BTreeMap<u32, DecodedStep>,
    /// Targets of each jump table.
    tables: BTreeMap<u32, Vec<u32>>,
}

impl<'a> Body<'a> {
    /// Decodes the instructions that are reachable from the entry.
    fn read(code: &'a [u8], info: &'a CodeInfo, frame: FrameWords<'a>, reader: &mut impl Read) -> Option<Body<'a>> {
        let mut body = Body { code, info, frame, steps: BTreeMap::new(), tables: BTreeMap::new() };
        let mut ways = vec![0];
        // Jump tables are read last: known code tells where a table ends.
        let mut waiting_tables = Vec::new();
        loop {
            while let Some(start) = ways.pop() {
                body.follow(start, reader, &mut ways, &mut waiting_tables)?;
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
    fn follow(&mut self, at: u32, reader: &mut impl Read, ways: &mut Vec<u32>, tables: &mut Vec<u32>) -> Option<()> {
        let mut at = at;
        reader.restart();
        while !self.steps.contains_key(&at) {
            let mut step = reader.step(at, &self.frame)?;
            // Definitions are applied before uses (backward), so that a word which an instruction both reads and
            // writes is live before it.
            step.effects.sort_by_key(|effect| matches!(effect, WordEffect::Use(_)));
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

    /// Backward dataflow to the fixed point, over instructions from the last to the first.
    fn solve(self) -> Option<FrameLiveness> {
        let bits = self.frame.word_count as usize + CALLEE_SAVED.len();
        let len = bits.div_ceil(64);
        let starts: Vec<u32> = self.steps.keys().copied().collect();
        let steps: Vec<&DecodedStep> = self.steps.values().collect();
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
                        WordEffect::Define(bit) => live[bit as usize / 64] &= !(1 << (bit % 64)),
                        WordEffect::Use(bit) => live[bit as usize / 64] |= 1 << (bit % 64),
                        WordEffect::Change(_) => {}
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
                WordEffect::Use(bit) => (&mut used, bit),
                WordEffect::Define(bit) | WordEffect::Change(bit) => (&mut written, bit),
            };
            bits[bit as usize / 64] |= 1 << (bit % 64);
        }
        // Words that are written and never read are arguments for callees.
        let mut own: Box<[u64]> = used.iter().zip(&written).map(|(used, written)| used | !written).collect();
        if !self.info.own_words.is_empty() {
            own.fill(0);
            for word in (0..self.frame.word_count).filter(|&word| self.frame.is_own(word)) {
                own[word as usize / 64] |= 1 << (word % 64);
            }
        }
        let (mut offsets, mut words) = (Vec::with_capacity(calls.len()), Vec::with_capacity(calls.len() * len));
        for (return_offset, live) in calls {
            offsets.push((return_offset, words.len() as u32));
            words.extend(live);
        }
        let pads: BTreeSet<u32> = self.info.handlers().iter().map(|handler| handler.landing_offset).collect();
        let mut landings = Vec::with_capacity(pads.len());
        for pad in pads {
            if let Some(index) = index_of(pad) {
                landings.push((pad, words.len() as u32));
                words.extend_from_slice(&live_in[index * len..][..len]);
            }
        }
        Some(FrameLiveness {
            low_bytes: self.frame.area.low_bytes,
            word_count: self.frame.word_count,
            calls: offsets.into(),
            landings: landings.into(),
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
        step: &DecodedStep,
        len: usize,
        live_in: &[u64],
        index_of: &impl Fn(u32) -> Option<usize>,
        live: &mut [u64],
    ) -> Option<()> {
        live.fill(0);
        let mut add = |offset: u32| {
            let index = index_of(offset)?;
            live.iter_mut().zip(&live_in[index * len..][..len]).for_each(|(mine, theirs)| *mine |= theirs);
            Some(())
        };
        match step.next {
            Next::Through => add(step.end),
            Next::Branch(target) => add(target).and(add(step.end)),
            Next::Jump(target) => add(target),
            Next::Table(table) => self.tables.get(&table)?.iter().try_for_each(|&target| add(target)),
            Next::Call => {
                self.landings(step.end).into_iter().try_for_each(&mut add)?;
                add(step.end)
            }
            Next::Nowhere => Some(()),
        }
    }
}
