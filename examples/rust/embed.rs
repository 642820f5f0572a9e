//! plangate as a Rust dependency, with tools of one's own: compiled, shown, parked, approved, resumed.
//!
//! `cargo run -p plangate-ffi --example embed`

use std::error::Error;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use plangate_approval::{Decision, Outcome, Permit, Person, SqliteStore, Storage};
use plangate_compiler::{Colour, Options, compile, render};
use plangate_executor::{Cancel, Ended, Executor, ReadError, Record, Start, Tools};
use plangate_graph::card::Card;
use plangate_graph::{Author, Catalog, Digest, Policy, ReadCall, Value, VerifiedPlan};

const RECIPE: &str = r#"together:
  balance: bank.get_balance {"account":"ours"}
  payee: bank.list_payees {"name":"Ann"}
ask me:
  - pay Ann?
    pay: bank.send_payment {"to":"{payee[0].iban}","amount":12.50}
"#;

/// Usually saved from the servers; here written by hand.
const CATALOG: &str = r#"{"servers": {"bank": {"tools": [
  {"name": "get_balance", "description": "Gets the balance of an account.", "inputSchema": {"type": "object"}},
  {"name": "list_payees", "description": "Lists known payees.", "inputSchema": {"type": "object"}},
  {"name": "send_payment", "description": "Sends a payment.", "inputSchema": {"type": "object",
    "properties": {"to": {"type": "string"}, "amount": {"type": "number"}}, "required": ["to", "amount"]}}
]}}}"#;

/// A bank, in this process. What it was asked to pay, and under which key.
struct Bank {
    catalog: Catalog,
    paid: Mutex<Vec<String>>,
}

impl Tools for Bank {
    fn definition(&self, server: &str, tool: &str) -> Option<Digest> {
        self.catalog.digest(server, tool)
    }

    fn read(&self, call: ReadCall<'_>, _: &Cancel) -> Result<Value, ReadError> {
        let answer = match call.tool() {
            "get_balance" => r#"{"amount":250.00}"#,
            "list_payees" => r#"[{"name":"Ann","iban":"DE02120300000000202051"}]"#,
            other => return Err(ReadError::Failed(format!("there is no tool {other}"))),
        };
        Value::parse(answer).map_err(|e| ReadError::Failed(e.to_string()))
    }

    fn effect(&self, permit: Permit, _: &Cancel) -> Outcome {
        // Last thing before the first byte: from here on it may have happened.
        let call = match permit.spend() {
            Ok(call) => call,
            Err(lapsed) => return Outcome::NotSent(lapsed.to_string()),
        };
        // The bytes are those that were approved; the key is for the bank, that it can tell a call that it has seen.
        let line = format!("{} {}", call.key(), String::from_utf8_lossy(call.args()));
        self.paid.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        Outcome::Ok(Value::from(true))
    }
}

/// The recipe, compiled and verified, or its diagnostics as a terminal shows them.
fn plan(catalog: &Catalog, policy: &Policy) -> Result<VerifiedPlan, Box<dyn Error>> {
    let compiled = compile(RECIPE, &Options::new(catalog, policy).author(Author::Person));
    let said = render(&compiled.diagnostics, RECIPE, "pay.recipe", Colour::Plain);
    let plan = compiled.plan.ok_or(said)?;
    plan.verify(catalog, policy, Author::Person).map_err(|refusals| format!("{refusals:?}").into())
}

fn person(subject: &str) -> Person {
    Person { issuer: "example".to_owned(), subject: subject.to_owned(), roles: Vec::new(), verified: false }
}

/// All of it, over a store in this file. Gives the card, the record, and what the bank was asked to pay.
pub(crate) fn embedded(store: &Path) -> Result<(String, Record, Vec<String>), Box<dyn Error>> {
    let catalog = Catalog::from_json(CATALOG)?;
    let policy = Policy::default();
    let plan = plan(&catalog, &policy)?;
    let card = Card::of(&plan, None).to_text();

    let store = Arc::new(SqliteStore::open(store)?);
    let bank = Arc::new(Bank { catalog, paid: Mutex::default() });
    let tools: Arc<dyn Tools> = Arc::clone(&bank) as Arc<dyn Tools>;
    let executor = Executor::new(Arc::clone(&store), tools, None, plangate_executor::Options::default());
    let start = Start { inputs: Value::Null, requester: person("ann"), title: "pay Ann".to_owned() };
    let mut ended = executor.run(&plan, start)?;

    // A program would end here: the run lies in the store, and a person decides in another one.
    while let Ended::Parked { run, waiting, .. } = ended {
        for row in waiting {
            store.decide(&Decision {
                row: row.id,
                seen: row.digest,
                by: person("bob"),
                yes: true,
                reason: None,
            })?;
        }
        ended = executor.resume(&run, None)?;
    }
    let paid = bank.paid.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok((card, ended.record().clone(), paid))
}

#[allow(
    dead_code,
    clippy::print_stdout,
    reason = "the example prints; the test that includes it does not call this"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (card, record, paid) = embedded(&folder.path().join("pay.db"))?;
    println!("{card}\n{}\npaid: {}", record.to_json()?, paid.join("\n"));
    Ok(())
}
