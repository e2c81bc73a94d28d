//! Samples of the sampler, in the log. The reader's thread writes them into its own buffer; each sample names the
//! thread that was sampled.

use super::names::{Part, code_of};
use super::settings::SampleClock;
use super::{LOG, Log, OWN_THREAD};
use crate::profile_frames;
use crate::stack_trace;
use rustc_hash::FxHashMap;
use saki_os::TimerClock;
use saki_profile::mlpd::event;
use saki_sampler::{Consumer, Event, Session, StackFrame, StackSample, Symbols};
use std::io;
use std::sync::atomic::Ordering;

/// The most times that a sample is written: the format has no weights, so a sample that counts for several is written
/// several times.
const MAX_REPEATED: u64 = 10_000;

pub(super) fn start(clock: SampleClock, hz: u32) -> io::Result<()> {
    let consumer: Option<Box<dyn Consumer>> = Some(Box::new(ToLog::default()));
    let session = match clock {
        SampleClock::Processor => Session { timers: Some((TimerClock::ThreadCpu, hz)), consumer, ..Session::default() },
        SampleClock::Wall => Session { wall_hz: Some(hz), consumer, ..Session::default() },
    };
    saki_sampler::start(session, profile_frames::resolve)
}

#[derive(Default)]
struct ToLog {
    symbols: Symbols,
    /// The function's address in the log, by the address of the instruction.
    natives: FxHashMap<usize, u64>,
}

impl Consumer for ToLog {
    fn event(&mut self, _event: &Event) {}

    fn sample(&mut self, sample: &StackSample<'_>) {
        if let Some(log) = LOG.get() {
            log.add_sample(sample, &mut |pc| {
                let symbols = &mut self.symbols;
                *self.natives.entry(pc).or_insert_with(|| log.names.native(&log.writer, &symbols.name(pc).name))
            });
        }
    }
}

impl Log {
    /// `native` finds the address of a native instruction's function.
    fn add_sample(&self, sample: &StackSample<'_>, native: &mut dyn FnMut(usize) -> u64) {
        // The innermost first.
        let (mut address, mut methods) = (None, Vec::new());
        let max_frames = self.max_frames.load(Ordering::Relaxed);
        for frame in sample.stack.frames() {
            match frame {
                StackFrame::Native(pc) => address = address.or_else(|| Some(native(pc))),
                StackFrame::Note(note) => address = address.or_else(|| Some(self.names.native(&self.writer, note))),
                StackFrame::Managed { code, native_offset } => {
                    stack_trace::for_each_method_at(code, native_offset, |frame| {
                        let id = self.names.method(&self.writer, frame.method, Part::Body);
                        address = address.or(Some(code_of(id)));
                        if methods.len() < max_frames {
                            methods.push(id);
                        }
                    });
                }
            }
        }
        let thread = if sample.thread == 0 { OWN_THREAD } else { sample.thread.into() };
        self.writer.write(OWN_THREAD + 1, |log| {
            for _ in 0..sample.weight.min(MAX_REPEATED) {
                let buffer = log.buffer.event(event::SAMPLE, sample.time_ns).pointer(thread);
                buffer.number(1).pointer(address.unwrap_or(0)).stack(methods.iter().copied());
            }
        });
    }
}
