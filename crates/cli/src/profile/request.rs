//! What is asked for of profiles: kinds, rates, formats, files. Its text form goes into SAKI_PROFILE and to processes
//! that run already.

use crate::profile;
use crate::profile::heap_request::{HeapFormat, HeapRequest};
use crate::profile::kind::{HEAP, KindWord, ProfileKind, parse_kinds};
use crate::quantities::{parse_hz, parse_seconds, parse_size};
use clap::ValueEnum;
use saki_os::TimerClock;
use saki_profile::{Format, Profile};
use saki_sampler::{EventKind, Kinds, Recording, What};
use std::path::PathBuf;
use std::time::Duration;

/// Samples a second, unless asked otherwise: a thousandth of a processor, at some microseconds each.
const DEFAULT_HZ: u32 = 1000;
/// Lower, because wall-clock sampling looks at all threads, which costs more.
const DEFAULT_WALL_HZ: u32 = 100;
/// Bytes between two samples of allocations, on average: 2,000 samples for each gigabyte.
pub const DEFAULT_ALLOC_BYTES: usize = 512 << 10;
/// In place of a number of bytes: each allocation is recorded.
pub const EACH_ALLOCATION: usize = 1;
/// The profile that is requested of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct ProfileRequest {
    /// Each once; a profile each. None if only a heap snapshot is wanted.
    pub kinds: Vec<ProfileKind>,
    /// A snapshot when the profiles end.
    pub heap: Option<HeapRequest>,
    /// None: as suits the kind.
    pub hz: Option<u32>,
    /// Bytes between two samples of allocations, or `EACH_ALLOCATION`.
    pub alloc_bytes: usize,
    /// After this time profiling ends and the program goes on.
    pub duration: Option<Duration>,
    pub formats: Vec<Format>,
    /// With several formats each file gets its format's extension.
    pub output: Option<PathBuf>,
    /// The folder of the jitdump that is written, too; not for processes that run already.
    pub jitdump: Option<PathBuf>,
    /// Test aid: signals by wall time, to threads that wait as well, and as often as asked.
    pub storm: bool,
}

impl ProfileRequest {
    /// A request for these kinds, each once, and else for nothing.
    pub fn new(kinds: &[ProfileKind]) -> ProfileRequest {
        let mut once = Vec::new();
        kinds.iter().for_each(|kind| {
            if !once.contains(kind) {
                once.push(*kind);
            }
        });
        ProfileRequest {
            kinds: once,
            heap: None,
            hz: None,
            alloc_bytes: DEFAULT_ALLOC_BYTES,
            duration: None,
            formats: vec![Format::Html],
            output: None,
            jitdump: None,
            storm: false,
        }
    }

    /// Makes a request from kinds as they were named, the heap among them.
    pub fn of_words(words: &[KindWord]) -> ProfileRequest {
        let kinds = words.iter().filter_map(|word| match word {
            KindWord::Profile(kind) => Some(*kind),
            KindWord::Heap => None,
        });
        let heap = words.contains(&KindWord::Heap).then(HeapRequest::default);
        ProfileRequest { heap, ..ProfileRequest::new(&kinds.collect::<Vec<_>>()) }
    }

    /// "cpu,alloc", and the heap last.
    pub fn kind_names(&self) -> String {
        let names = self.kinds.iter().map(|kind| kind.name()).chain(self.heap.is_some().then_some(HEAP));
        names.collect::<Vec<_>>().join(",")
    }

    /// Puts the snapshot beside the profiles: its file always, its page where theirs is written.
    pub fn place_heap(&mut self) {
        let Some(heap) = self.heap.as_mut() else { return };
        heap.place_beside(&self.formats, self.output.as_deref());
    }

    /// Whether several files are to go to standard output, which takes one.
    pub fn crowds_output(&self) -> bool {
        let goes_to_output = self.output.as_deref().is_some_and(profile::file::is_standard_output);
        goes_to_output && self.formats.len() + self.heap.as_ref().map_or(0, |heap| heap.formats.len()) > 1
    }

    /// The word for the kinds in names of files.
    pub fn file_word(&self) -> &'static str {
        if let [kind] = self.kinds[..] { kind.name() } else { "profile" }
    }

    fn hz_of(&self, kind: ProfileKind) -> u32 {
        self.hz.unwrap_or(if kind == ProfileKind::Wall { DEFAULT_WALL_HZ } else { DEFAULT_HZ })
    }

    /// Events of all kinds.
    pub fn events(&self) -> Kinds {
        self.kinds.iter().fold(Kinds::NONE, |events, kind| match kind.what() {
            What::Events(kinds) => events.with(kinds),
            What::CodeBytes => events.with(Kinds::of(&[EventKind::Compilation])),
            What::Cpu | What::Wall => events,
        })
    }

    /// A session of the sampler.
    pub fn session(&self, title: &str) -> saki_sampler::Session {
        let start_unix_ns = saki_os::clock::realtime_ns();
        let recordings = self.kinds.iter().map(|&kind| {
            let period = match kind.what() {
                What::Cpu | What::Wall => saki_sampler::interval(self.hz_of(kind)).as_nanos() as u64,
                What::Events(_) if kind == ProfileKind::Alloc => self.alloc_bytes as u64,
                What::Events(_) | What::CodeBytes => 1,
            };
            let (name, unit, title) = (kind.name().into(), kind.unit(), title.to_owned());
            let profile = Profile { kind: name, unit, period, title, start_unix_ns, ..Profile::default() };
            Recording { what: kind.what(), profile }
        });
        let has = |kind| self.kinds.contains(&kind);
        let clock = if self.storm { TimerClock::Monotonic } else { TimerClock::ThreadCpu };
        saki_sampler::Session {
            timers: has(ProfileKind::Cpu).then(|| (clock, self.hz_of(ProfileKind::Cpu))),
            wall_hz: has(ProfileKind::Wall).then(|| self.hz_of(ProfileKind::Wall)),
            events: self.events(),
            recordings: recordings.collect(),
            consumer: None,
        }
    }
}

impl std::str::FromStr for ProfileRequest {
    type Err = String;

    /// As in `SAKI_PROFILE`:
    /// `KIND[,KIND]…[,hz=N][,exact][,bytes=SIZE][,duration=SECONDS][,format=NAME]…[,storm][,output=FILE]`. Of `heap`
    /// alone the formats are those of snapshots.
    fn from_str(text: &str) -> Result<ProfileRequest, String> {
        // The file comes last, and may have commas in its name.
        let (text, output) = text.split_once(",output=").map_or((text, None), |(text, path)| (text, Some(path)));
        let (kinds, words): (Vec<&str>, Vec<&str>) = text.split(',').partition(|word| word.parse::<KindWord>().is_ok());
        // Without a kind the first word is to blame.
        let kinds = parse_kinds(&if kinds.is_empty() { words[0].to_owned() } else { kinds.join(",") })?;
        let mut request = ProfileRequest { formats: Vec::new(), ..ProfileRequest::of_words(&kinds) };
        let is_heap_alone = request.kinds.is_empty();
        let mut heap_formats = Vec::new();
        for word in words {
            match word.split_once('=') {
                Some(("format", value)) if is_heap_alone => heap_formats.push(HeapFormat::from_str(value, false)?),
                Some(("hz", value)) => request.hz = Some(parse_hz(value)?),
                Some(("bytes", value)) => request.alloc_bytes = parse_size(value)?.max(1),
                Some(("duration", value)) => request.duration = Some(parse_seconds(value)?),
                Some(("format", value)) => request.formats.push(value.parse().map_err(|e| format!("{e}"))?),
                None if word == "exact" => request.alloc_bytes = EACH_ALLOCATION,
                None if word == "storm" => request.storm = true,
                _ => {
                    return Err(format!(
                        "'{word}' is not one of hz=N, exact, bytes=SIZE, duration=SECONDS, format=NAME, output=FILE"
                    ));
                }
            }
        }
        request.output = output.filter(|path| !path.is_empty()).map(PathBuf::from);
        if request.formats.is_empty() {
            request.formats.push(Format::Html);
        }
        match &mut request.heap {
            Some(heap) if is_heap_alone => {
                heap.output = request.output.take();
                if !heap_formats.is_empty() {
                    heap.formats = heap_formats;
                }
            }
            _ => request.place_heap(),
        }
        if request.crowds_output() {
            return Err(profile::file::ONE_FILE.to_owned());
        }
        Ok(request)
    }
}

impl std::fmt::Display for ProfileRequest {
    /// The text that `from_str` reads.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{},bytes={}", self.kind_names(), self.alloc_bytes)?;
        if let Some(hz) = self.hz {
            write!(f, ",hz={hz}")?;
        }
        if let Some(duration) = self.duration {
            write!(f, ",duration={}", duration.as_secs_f64())?;
        }
        for format in &self.formats {
            write!(f, ",format={}", format.name())?;
        }
        if self.storm {
            f.write_str(",storm")?;
        }
        match &self.output {
            Some(output) => write!(f, ",output={}", output.display()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_they_are_written() {
        let request = ProfileRequest {
            hz: Some(250),
            alloc_bytes: 4096,
            duration: Some(Duration::from_millis(1500)),
            formats: vec![Format::Pprof, Format::Folded],
            output: Some("a,b".into()),
            ..ProfileRequest::new(&[ProfileKind::Alloc, ProfileKind::Cpu])
        };
        assert_eq!(request.to_string().parse().as_ref(), Ok(&request));
        assert!("cpu,hz=0".parse::<ProfileRequest>().is_err() && "x".parse::<ProfileRequest>().is_err());
        assert_eq!("cpu".parse(), Ok(ProfileRequest::new(&[ProfileKind::Cpu])));
        assert_eq!("alloc,exact".parse::<ProfileRequest>().map(|request| request.alloc_bytes), Ok(EACH_ALLOCATION));
        assert_eq!(request.to_string().parse::<ProfileRequest>().unwrap().kind_names(), "alloc,cpu");
        assert!(ProfileRequest::new(&[ProfileKind::Gc, ProfileKind::Gc]).kinds == [ProfileKind::Gc]);
    }

    #[test]
    fn snapshots_lie_beside_profiles() {
        let check = |text: &str, kinds: &str, formats: &[HeapFormat], output: Option<&str>| {
            let request: ProfileRequest = text.parse().expect(text);
            let heap = request.heap.clone().expect("a snapshot");
            assert_eq!((&*request.kind_names(), &*heap.formats), (kinds, formats), "{text}");
            assert_eq!(heap.output, output.map(PathBuf::from), "{text}");
        };
        let both = [HeapFormat::Heap, HeapFormat::Html];
        check("heap", "heap", &both[..1], None);
        check("heap,format=html,output=x.html", "heap", &both[1..], Some("x.html"));
        check("heap,cpu", "cpu,heap", &both, None);
        check("cpu,heap,format=folded", "cpu,heap", &both[..1], None);
        check("cpu,heap,format=folded,output=/a/b.folded", "cpu,heap", &both[..1], Some("/a/b.heap"));
        check("cpu,heap,output=/a/b.html", "cpu,heap", &both, Some("/a/b"));
        check("cpu,heap,format=pprof,format=html,output=x.y", "cpu,heap", &both, Some("x.y"));
        assert!("heap,format=folded".parse::<ProfileRequest>().is_err());
    }
}
