//! Loops over memory and text: the fastest ones that we have, by vectors where the processor has them.
//!
//! Functions know no managed object and no thread. Where they go through much memory, they call a function of the
//! caller's between parts that take some ten microseconds, so that the caller can stop there. Invariant: the result is
//! the same as that of the plain loop over the same elements. Left out: which methods of the class library use them
//! (`icall::loops`).

pub mod ascii_case;
pub mod base64;
pub mod big_numbers;
pub mod compare;
pub mod copy;
pub mod decimal;
pub mod elements;
pub mod hex;
pub mod search;
pub mod slices;
pub mod transcode;
pub mod utf8;
pub mod words;
