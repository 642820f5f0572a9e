//! The host's callback as the executor's tools and writer.

use std::ffi::{CStr, CString};
use std::sync::Weak;
use std::time::Instant;

use plangate_approval::{Outcome, Permit, Reconciled};
use plangate_executor::{Cancel, ReadError, Sentence, Tools, Uncertain, Writer};
use plangate_graph::value::Object;
use plangate_graph::{Catalog, Digest, ReadCall, Value};

use crate::answer::{Answer, no_answer};
use crate::calls::{PLANGATE_LATER, Ticket};
use crate::host::{Callback, Reconcile};
use crate::lookups::look_up;
use crate::store::Store;

/// The tools of a host, as they are now.
pub(crate) struct HostTools {
    pub(crate) callback: Callback,
    pub(crate) reconcile: Option<Reconcile>,
    pub(crate) catalog: Catalog,
    pub(crate) store: Weak<Store>,
}

/// The callback as a writer.
pub(crate) struct HostWriter(pub(crate) Callback);

impl Tools for HostTools {
    fn definition(&self, server: &str, tool: &str) -> Option<Digest> {
        self.catalog.digest(server, tool)
    }

    fn read(&self, call: ReadCall<'_>, cancel: &Cancel) -> Result<Value, ReadError> {
        let name = name(call.server(), call.tool()).map_err(ReadError::Failed)?;
        read(self.callback, &name, call.args(), cancel)
    }

    fn effect(&self, permit: Permit, cancel: &Cancel) -> Outcome {
        let claim = permit.claim().clone();
        let call = match permit.spend() {
            Ok(call) => call,
            Err(lapsed) => return Outcome::NotSent(lapsed.to_string()),
        };
        let strings = name(call.server(), call.tool())
            .and_then(|name| Ok((name, c_string(call.args())?, c_string(call.key().as_bytes())?)));
        let (name, args, key) = match strings {
            Ok(strings) => strings,
            Err(why) => return Outcome::NotSent(why),
        };
        let ticket = Ticket::new(cancel);
        let returned = self.callback.call(ticket.number, &name, &args, &key);
        let answer =
            if returned == PLANGATE_LATER { ticket.of_effect(&self.store, claim) } else { ticket.taken() };
        match answer {
            Some(answer) => answer.outcome(),
            None if returned == PLANGATE_LATER => {
                Outcome::Unknown("no answer before the deadline".to_owned())
            }
            None => Outcome::Unknown(no_answer(returned)),
        }
    }

    fn reconcile(&self, call: &Uncertain<'_>, cancel: &Cancel) -> Option<Reconciled> {
        let reconcile = self.reconcile?;
        let strings = name(call.server, call.tool)
            .and_then(|name| Ok((c_string(call.key.as_bytes())?, name, c_string(call.args)?)));
        Some(match strings {
            Ok((key, name, args)) => look_up(reconcile, call.key, (&key, &name, &args), cancel),
            Err(why) => Reconciled::Unknown(why),
        })
    }
}

impl Writer for HostWriter {
    fn write(&self, sentence: &Sentence<'_>, cancel: &Cancel) -> Result<Value, ReadError> {
        let inputs = sentence.inputs.iter().map(|input| {
            let (word, value) = match &input.value {
                Ok(value) => ("value", value.clone()),
                Err(why) => ("missing", Value::from(why.as_str())),
            };
            object([("name", Value::from(input.name.as_str())), (word, value)])
        });
        let args = object([
            ("instruction", Value::from(sentence.instruction)),
            ("inputs", Value::List(inputs.collect())),
        ]);
        read(self.0, c"write", &args.canonical(), cancel)
    }
}

fn read(callback: Callback, name: &CStr, args: &[u8], cancel: &Cancel) -> Result<Value, ReadError> {
    let args = c_string(args).map_err(ReadError::Failed)?;
    let made = Instant::now();
    let ticket = Ticket::new(cancel);
    let returned = callback.call(ticket.number, name, &args, c"");
    let answer: Option<Answer> = if returned == PLANGATE_LATER { ticket.of_read() } else { ticket.taken() };
    match answer {
        Some(answer) => answer.result(),
        None if returned == PLANGATE_LATER => Err(over(cancel, made)),
        None => Err(ReadError::Failed(no_answer(returned))),
    }
}

/// Why nobody waits for a read any more.
fn over(cancel: &Cancel, made: Instant) -> ReadError {
    match cancel.deadline().filter(|at| *at <= Instant::now()) {
        Some(at) => {
            let waited = at.saturating_duration_since(made).as_millis();
            ReadError::TimedOut(u64::try_from(waited).unwrap_or(u64::MAX))
        }
        None => ReadError::Cancelled,
    }
}

fn name(server: &str, tool: &str) -> Result<CString, String> {
    c_string(format!("{server}.{tool}").as_bytes())
}

/// Canonical JSON holds no NUL; a tool's name may.
fn c_string(bytes: &[u8]) -> Result<CString, String> {
    CString::new(bytes)
        .map_err(|e| format!("not sent: byte {} is a NUL, which no C string holds", e.nul_position()))
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Value::Object(Object::new(members).unwrap_or_default())
}
