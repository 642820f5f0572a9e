//! What a host says of a call.

use plangate_approval::Outcome;
use plangate_executor::ReadError;
use plangate_graph::Value;

/// The answer to one call, as it came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    outcome: i32,
    text: Vec<u8>,
}

impl Answer {
    pub(crate) fn new(outcome: i32, text: &[u8]) -> Answer {
        Answer { outcome, text: text.to_vec() }
    }

    /// What is wrong with it, if it does not say what it was meant to.
    pub(crate) fn fault(&self) -> Option<String> {
        match self.outcome {
            1 => Value::parse_bytes(&self.text).err().map(|e| format!("the answer is not JSON: {e}")),
            -3..=-1 => None,
            other => Some(format!("{other} is no outcome: 1, -1, -2 and -3 are")),
        }
    }

    /// Of a call that changes something. Only an explicit -1 says that it failed.
    pub(crate) fn outcome(&self) -> Outcome {
        match self.outcome {
            1 => match Value::parse_bytes(&self.text) {
                Ok(value) => Outcome::Ok(value),
                Err(e) => Outcome::Unknown(format!("the tool answered, but not with JSON: {e}")),
            },
            -1 => Outcome::Failed(self.reason("the tool says that it failed")),
            -2 => Outcome::Unknown(self.reason("the tool does not know whether it happened")),
            -3 => Outcome::NotSent(self.reason("the host did not send it")),
            other => Outcome::Unknown(format!("the host answered with {other}, which is no outcome")),
        }
    }

    /// Of a read or a sentence. What is not known and what was not sent may be tried again.
    pub(crate) fn result(&self) -> Result<Value, ReadError> {
        match self.outcome() {
            Outcome::Ok(value) => Ok(value),
            Outcome::Unknown(why) if self.outcome == -2 => Err(ReadError::Transport(why)),
            Outcome::NotSent(why) => Err(ReadError::Transport(why)),
            Outcome::Unknown(why) | Outcome::Failed(why) => Err(ReadError::Failed(why)),
        }
    }

    /// The reason that came with it: a JSON text, or whatever stands there.
    fn reason(&self, otherwise: &str) -> String {
        let text = match Value::parse_bytes(&self.text) {
            Ok(Value::Text(text)) => text,
            _ => String::from_utf8_lossy(&self.text).into_owned(),
        };
        if text.trim().is_empty() { otherwise.to_owned() } else { text }
    }
}

/// Of a call whose callback returned without an answer.
pub(crate) fn no_answer(returned: i32) -> String {
    format!("the host's callback returned {returned} without an answer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_explicit_no_is_a_failure() {
        let of = |outcome, text: &str| Answer::new(outcome, text.as_bytes()).outcome();
        assert_eq!(of(1, "1.10"), Outcome::Ok(Value::parse("1.10").unwrap()));
        assert_eq!(of(-1, "\"no money\""), Outcome::Failed("no money".into()));
        assert_eq!(of(-1, "{\"code\":4}"), Outcome::Failed("{\"code\":4}".into()));
        assert_eq!(of(-3, ""), Outcome::NotSent("the host did not send it".into()));
        for (outcome, text) in [(1, "not json"), (1, ""), (-2, ""), (0, "{}"), (99, "{}"), (i32::MIN, "{}")] {
            assert!(matches!(of(outcome, text), Outcome::Unknown(_)), "{outcome} {text}");
        }
    }

    #[test]
    fn a_read_without_a_usable_answer_fails() {
        let of = |outcome, text: &str| Answer::new(outcome, text.as_bytes()).result();
        assert!(matches!(of(-2, ""), Err(ReadError::Transport(_))));
        assert!(matches!(of(-3, ""), Err(ReadError::Transport(_))));
        for (outcome, text) in [(1, "not json"), (-1, ""), (0, "{}"), (99, "{}")] {
            assert!(matches!(of(outcome, text), Err(ReadError::Failed(_))), "{outcome} {text}");
        }
    }
}
