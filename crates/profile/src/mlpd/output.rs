//! Where a log goes: a file, a program's standard input, a file descriptor; gzip'd if asked.
//!
//! Invariant: a file is created anew, readable by its owner only, and never through a link
//! (`crate::files`).

use super::log::Sink;
use crate::files;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

/// A place to write a log to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    File(PathBuf),
    /// The shell runs it; the log is its standard input, and it is waited for at the end.
    Command(String),
    /// `mprof-report`, which prints the contents of the log.
    Report,
}

impl Output {
    /// # Errors
    /// The system's, with the name of the file or program that could not be opened.
    pub fn open(&self, is_zipped: bool) -> io::Result<Box<dyn Sink>> {
        let command = match self {
            Output::File(path) => return Ok(zipped(FileSink(files::open_new(path)?), is_zipped)),
            Output::Command(text) => {
                let mut shell = Command::new("/bin/sh");
                shell.arg("-c").arg(text);
                shell
            }
            Output::Report => {
                let mut report = Command::new("mprof-report");
                report.arg("-");
                report
            }
        };
        Ok(zipped(CommandSink::start(command)?, is_zipped))
    }
}

fn zipped<S: Sink + 'static>(sink: S, is_zipped: bool) -> Box<dyn Sink> {
    if is_zipped { Box::new(GzEncoder::new(sink, Compression::default())) } else { Box::new(sink) }
}

impl<S: Sink> Sink for GzEncoder<S> {
    fn end(self: Box<Self>) -> io::Result<()> {
        Box::new(self.finish()?).end()
    }
}

struct FileSink(File);

impl Write for FileSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Sink for FileSink {
    fn end(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

struct CommandSink {
    child: Child,
    input: ChildStdin,
}

impl CommandSink {
    fn start(mut command: Command) -> io::Result<CommandSink> {
        let mut child = command.stdin(Stdio::piped()).spawn().map_err(|error| {
            let program = command.get_program().to_string_lossy();
            io::Error::new(error.kind(), format!("{program}: {error}"))
        })?;
        match child.stdin.take() {
            Some(input) => Ok(CommandSink { child, input }),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Write for CommandSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.input.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.input.flush()
    }
}

impl Sink for CommandSink {
    fn end(self: Box<Self>) -> io::Result<()> {
        let CommandSink { mut child, input } = *self;
        drop(input);
        let status = child.wait()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("the program at the other end: {status}"))) }
    }
}
