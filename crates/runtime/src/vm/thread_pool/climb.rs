//! Hill climbing: the number of workers of the thread pool that may be active follows from its effect on throughput.
//!
//! A step up is kept if throughput grew, a step down if it did not sink; otherwise the step is taken back, and no other
//! is tried for a while. The direction is up while there are fewer runnable workers than processors (the other workers
//! wait), and down while there are more. Invariant: the result lies between the limits. Left out: the case that all
//! workers wait (the monitor adds one at once), and the cost of single work items: those of one sample are assumed to
//! be like those of the next.

/// The smallest relative change of throughput that counts; less is noise.
const MIN_CHANGE: f64 = 0.05;
/// The number of samples without a step after one was taken back; the load may have changed by then.
const HOLD_SAMPLES: u32 = 20;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    None,
    Up,
    /// Down by this number of workers.
    Down(usize),
}

/// The state of the climb.
pub struct Climb {
    last: Step,
    /// Work items per sample before the last step.
    rate_before: f64,
    hold: u32,
}

/// The measurements of one interval.
#[derive(Clone, Copy)]
pub struct Sample {
    /// Work items that ended.
    pub completed: u64,
    /// Active workers that do not wait.
    pub runnable: usize,
    pub processors: usize,
}

impl Climb {
    pub const fn new() -> Climb {
        Climb { last: Step::None, rate_before: 0.0, hold: 0 }
    }

    /// Forgets the last step, because the number was changed for another reason or no request waited.
    pub fn reset(&mut self) {
        *self = Climb::new();
    }

    /// The next number of active workers, instead of `goal`.
    pub fn next(&mut self, goal: usize, limits: std::ops::RangeInclusive<usize>, sample: Sample) -> usize {
        let rate = sample.completed as f64;
        let gain = (rate - self.rate_before) / self.rate_before.max(1.0);
        let (min, max) = (*limits.start(), *limits.end());
        let taken_back = match self.last {
            Step::Up if gain < MIN_CHANGE => Some(goal.saturating_sub(1)),
            Step::Down(by) if gain < -MIN_CHANGE => Some(goal + by),
            _ => None,
        };
        self.rate_before = rate;
        if let Some(goal) = taken_back {
            self.last = Step::None;
            self.hold = HOLD_SAMPLES;
            return goal.clamp(min, max);
        }
        if self.hold > 0 {
            self.hold -= 1;
            return goal.clamp(min, max);
        }
        self.last = if sample.runnable < sample.processors && goal < max {
            Step::Up
        } else if sample.runnable > sample.processors && goal > min {
            // With far too many workers, as after a time of blocking, steps are larger.
            Step::Down(((goal - min) / 4).max(1))
        } else {
            Step::None
        };
        let next = match self.last {
            Step::None => goal,
            Step::Up => goal + 1,
            Step::Down(by) => goal - by,
        };
        next.clamp(min, max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the climb is after so many samples of a load: (goal) → (items, runnable workers).
    fn climb(start: usize, samples: usize, load: impl Fn(usize) -> (u64, usize)) -> usize {
        let mut climb = Climb::new();
        (0..samples).fold(start, |goal, _| {
            let (completed, runnable) = load(goal);
            climb.next(goal, 2..=200, Sample { completed, runnable, processors: 2 })
        })
    }

    #[test]
    fn work_that_only_computes_gets_as_many_workers_as_processors() {
        assert_eq!(climb(60, 60, |goal| (1000, goal)), 2);
        assert_eq!(climb(2, 60, |_| (1000, 2)), 2);
    }

    #[test]
    fn work_that_waits_half_of_the_time_gets_twice_as_many() {
        let goal = climb(2, 60, |goal| (goal.min(4) as u64 * 500, goal.div_ceil(2).min(2)));
        assert!((3..=5).contains(&goal), "{goal}");
    }

    #[test]
    fn workers_that_wait_for_each_other_do_not_multiply() {
        assert!(climb(2, 100, |_| (1000, 1)) <= 3);
    }
}
