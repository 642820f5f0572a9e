//! An MCP tool as writer. It must only read: by the same classification as any call, and through the same door.

use std::sync::Arc;

use plangate_executor::tools::Sentence;
use plangate_executor::{Cancel, ReadError, Tools, Writer};
use plangate_graph::value::Object;
use plangate_graph::{Author, Catalog, NodeIx, Policy, Value, VerifiedPlan};

use crate::exit::Exit;
use crate::fault::Fault;

/// A tool that is called with `{"instruction": text, "inputs": [...]}` for each sentence.
pub(crate) struct Tool {
    name: String,
    /// A plan of one step, the tool's call: only a verified plan makes a read, and only of what reads.
    plan: VerifiedPlan,
    call: NodeIx,
    tools: Arc<dyn Tools>,
}

impl Tool {
    /// The tool of a server, held against the catalog and policy of now. One that changes something, or is to be asked, or
    /// does not take what a writer is given, is refused before anything starts.
    pub(crate) fn new(
        server: &str,
        tool: &str,
        catalog: &Catalog,
        policy: &Policy,
        tools: Arc<dyn Tools>,
    ) -> Result<Tool, Fault> {
        let name = format!("{server}.{tool}");
        let (plan, call) = only_step(&name, catalog, policy)?;
        let writer = Tool { name, plan, call, tools };
        if writer.plan.read_call(call, &Value::Object(Object::default())).is_none() {
            let effect = writer.plan.effect(call).map(|e| e.to_string()).unwrap_or_default();
            let message =
                format!("the writer {} does not only read: it is `{effect}`, or is to be asked", writer.name);
            return Err(Fault::new(Exit::Config, "writer", message).at("[writer] in plangate.toml").help(
                format!(
                    "`plangate tools --why {}` says why; a writer has no tools and changes nothing",
                    writer.name
                ),
            ));
        }
        Ok(writer)
    }
}

/// Compiles the one step that a writer's tool is.
fn only_step(name: &str, catalog: &Catalog, policy: &Policy) -> Result<(VerifiedPlan, NodeIx), Fault> {
    let recipe = format!(
        "inputs:\n  instruction: text\n  inputs: list\nthen:\n  write: {name} {{\"instruction\":\"{{instruction}}\",\"inputs\":\"{{inputs}}\"}}\n"
    );
    let refused = |lines: Vec<String>| {
        let message = format!("the tool {name} cannot be the writer");
        let fault = Fault::new(Exit::Config, "writer", message).at("[writer] in plangate.toml");
        lines.iter().fold(fault, Fault::detail).help(
            "a writer's tool takes `instruction` (text) and `inputs` (a list of {\"name\", \"value\"} or {\"name\", \"missing\"})",
        )
    };
    let options = plangate_compiler::Options::new(catalog, policy).author(Author::Person);
    let compiled = plangate_compiler::compile(&recipe, &options);
    let said = compiled.diagnostics.iter().map(|d| d.message.clone()).collect();
    let plan = compiled.plan.ok_or_else(|| refused(said))?;
    let plan = plan
        .verify(catalog, policy, Author::Person)
        .map_err(|problems| refused(problems.into_iter().map(|p| p.message).collect()))?;
    let call = plan.plan().find("write").ok_or_else(|| refused(Vec::new()))?;
    Ok((plan, call))
}

impl Writer for Tool {
    fn write(&self, sentence: &Sentence<'_>, cancel: &Cancel) -> Result<Value, ReadError> {
        let failed = |what: String| ReadError::Failed(format!("the writer {}: {what}", self.name));
        let args = super::inputs_json(sentence.inputs)
            .and_then(|inputs| {
                let instruction = Value::from(sentence.instruction);
                Object::new(vec![("instruction".to_owned(), instruction), ("inputs".to_owned(), inputs)])
            })
            .map(Value::Object)
            .map_err(|e| failed(e.to_string()))?;
        self.plan.validate(self.call, &args).map_err(failed)?;
        let call =
            self.plan.read_call(self.call, &args).ok_or_else(|| failed("is no read any more".to_owned()))?;
        self.tools.read(call, cancel)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;
    use plangate_approval::{Outcome, Permit};
    use plangate_executor::tools::SentenceInput;
    use plangate_graph::{Digest, ReadCall};

    /// Answers with the arguments that it got.
    struct Echo;

    impl Tools for Echo {
        fn definition(&self, _: &str, _: &str) -> Option<Digest> {
            None
        }
        fn read(&self, call: ReadCall<'_>, _: &Cancel) -> Result<Value, ReadError> {
            Ok(Value::parse_bytes(call.args()).unwrap())
        }
        fn effect(&self, _: Permit, _: &Cancel) -> Outcome {
            Outcome::NotSent("no effects here".to_owned())
        }
    }

    fn catalog(tool: &str) -> Catalog {
        Catalog::from_json(&format!(
            r#"{{"servers":{{"llm":{{"tools":[{{"name":"{tool}","inputSchema":{{"type":"object","properties":{{"instruction":{{"type":"string"}},"inputs":{{"type":"array"}}}}}}}}]}}}}}}"#
        ))
        .unwrap()
    }

    #[test]
    fn a_tool_that_reads_is_given_instruction_and_inputs() {
        let writer =
            Tool::new("llm", "read_aloud", &catalog("read_aloud"), &Policy::default(), Arc::new(Echo))
                .unwrap();
        let inputs = [SentenceInput { name: "mail".into(), value: Ok(Value::parse("1.10").unwrap()) }];
        let sentence = Sentence { instruction: "sum up {mail}", inputs: &inputs };
        let written = writer.write(&sentence, &Cancel::new(None)).unwrap();
        assert_eq!(
            written.to_string(),
            r#"{"inputs":[{"name":"mail","value":1.10}],"instruction":"sum up {mail}"}"#
        );
    }

    #[test]
    fn a_tool_that_changes_something_is_no_writer() {
        let fault = Tool::new("llm", "send_mail", &catalog("send_mail"), &Policy::default(), Arc::new(Echo))
            .err()
            .unwrap();
        assert_eq!(fault.exit, Exit::Config);
        assert!(fault.message.contains("does not only read"), "{}", fault.message);
    }

    #[test]
    fn a_tool_that_is_not_there_is_no_writer() {
        let fault =
            Tool::new("llm", "read_alout", &catalog("read_aloud"), &Policy::default(), Arc::new(Echo))
                .err()
                .unwrap();
        assert!(fault.details.iter().any(|d| d.contains("read_alout")), "{fault:?}");
    }
}
