//! A connection to a server over its standard input and output.
//!
//! The protocol library (`rmcp`) does the handshake, numbers the requests and answers what the server asks. It would
//! parse and write again what passes through it, so two things go around it: the approved argument bytes go into the
//! frame as they are ([`frame`]), and the answers to our own requests reach who waits for them as the server wrote them
//! ([`calls`]). A request carries its [`Call`](calls::Call) in the library's in-process extensions, never on the wire.

pub(crate) mod calls;
pub(crate) mod frame;
mod lines;
pub(crate) mod link;
mod process;
mod pump;
mod reader;
pub(crate) mod stdio;
mod supervisor;
mod tail;
mod writer;
