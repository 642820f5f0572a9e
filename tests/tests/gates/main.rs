//! Every effect has its gate, and no plan gets past the check: the promise of the product, tried from every side.
//!
//! Whatever loads here is run without any front end and with nobody to say yes. The tools write down each call, and a
//! table of this test, not the classifier, says which of them only read.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::assigning_clones,
    reason = "a test may fail"
)]

mod edited;
mod file;
mod generated;
mod mutations;
mod places;
mod policy;
mod resumed;
mod situations;
mod stage;
mod tampering;
