//! Profiles and heap snapshots: the words with which they are asked for, the requests, and the commands that make and
//! show them.
//!
//! `kind` and `file` know none of the others; `profile::heap_request` and `request` say what is asked for; `command`,
//! `control` and `profile::heap_command` do it; `option` is what `--profile` says, `words` and `profile::heap_words`
//! what `saki profile` says. `leaked_threads` is what `--leaked` asks for.

pub mod command;
pub mod control;
pub mod file;
pub mod heap_command;
pub mod heap_request;
pub mod heap_words;
pub mod kind;
pub mod leaked_threads;
pub mod option;
pub mod request;
pub mod words;
