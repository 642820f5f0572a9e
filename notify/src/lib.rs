//! Tells others what happened in a store: signed webhooks, delivered at least once and in order.
//!
//! The store's event log is the outbox: what is told is what a verb wrote in its own transaction, so nothing is told that
//! did not happen, and nothing is lost because a process ended. For each [`Webhook`] a file beside the store keeps how far
//! it was told ([`Progress`]); whoever holds its lock tells it, one event at a time, and notes it as told once the receiver
//! took it. A process that dies between the two tells it again, under the same id.
//!
//! [`Courier`] does that on a thread of its own, so that no run waits for a receiver; [`Line`] is one turn of it, without
//! thread or clock.
//!
//! What it deliberately does not do: send arguments, results or what people wrote. A message holds ids, kinds, names and
//! digests ([`message`]); whoever wants more asks the store.

pub mod backoff;
pub mod courier;
pub mod line;
pub mod message;
mod post;
pub mod progress;
pub mod sign;
pub mod webhook;

pub use courier::Courier;
pub use line::{Line, NotifyError, Turn};
pub use progress::Progress;
pub use sign::{Secret, verify};
pub use webhook::{Address, AddressError, Webhook};
