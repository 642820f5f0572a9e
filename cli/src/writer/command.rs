//! A program as writer: instruction and inputs as JSON on its standard input, text or JSON on its standard output.

use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use plangate_executor::tools::Sentence;
use plangate_executor::{Cancel, ReadError, Writer};
use plangate_graph::Value;
use plangate_graph::value::Object;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Most bytes that are taken from a program.
const LIMIT: u64 = 16 * 1024 * 1024;
/// How much of the end of its standard error is kept.
const TAIL: usize = 4 * 1024;

/// A program that is started once for each sentence, in a process group of its own, which ends with it.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    name: String,
    args: Vec<String>,
    folder: PathBuf,
}

/// What a program did.
enum Event {
    /// It ended; it is not reaped yet, so its id is still its own.
    Ended,
    /// Nobody waits for it any more.
    Cancelled,
}

impl Program {
    /// A program with its arguments, to be started in a folder. The command is not empty.
    pub(crate) fn new(command: &[String], folder: PathBuf) -> Program {
        let (name, args) =
            command.split_first().map_or((String::new(), Vec::new()), |(p, a)| (p.clone(), a.to_vec()));
        // The current folder is shown as nothing, which no program can be started in.
        let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
        Program { name, args, folder }
    }

    fn spawn(&self) -> io::Result<Child> {
        Command::new(&self.name)
            .args(&self.args)
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
    }

    fn failed(&self, what: impl std::fmt::Display) -> ReadError {
        ReadError::Failed(format!("the writer {} {what}", self.name))
    }
}

impl Writer for Program {
    fn write(&self, sentence: &Sentence<'_>, cancel: &Cancel) -> Result<Value, ReadError> {
        let asked = request(sentence).map_err(|e| self.failed(format!("was not asked: {e}")))?;
        let began = Instant::now();
        let mut child = self.spawn().map_err(|e| self.failed(format!("could not be started: {e}")))?;
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(self.failed("has no standard streams"));
        };
        let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
            return Err(self.failed("has no process id"));
        };
        let (event, events) = mpsc::channel();
        let on_cancel = event.clone();
        // Nobody may listen any more when it is cancelled late; then there is nothing to end.
        cancel.on_cancel(move || drop(on_cancel.send(Event::Cancelled)));
        // A program need not read what it is told.
        let told = thread::spawn(move || stdin.write_all(&asked).or_else(unless_closed));
        let out = thread::spawn(move || {
            let mut bytes = Vec::new();
            stdout.take(LIMIT + 1).read_to_end(&mut bytes).map(|_| bytes)
        });
        let err = thread::spawn(move || tail(stderr));
        let watch = thread::spawn(move || {
            let waited = waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            drop(event.send(Event::Ended));
            waited.map(|_| ())
        });
        let ending = match cancel.deadline() {
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(deadline) => events.recv_timeout(deadline.saturating_duration_since(Instant::now())),
        };
        // The group as a whole, so that nothing it started lives on and holds its output open.
        let ended = kill_process_group(group, Signal::KILL);
        // Before it is reaped, or there would be nothing left to watch.
        let watched = joined(watch).and_then(|waited| waited.map_err(Into::into));
        let status = child.wait();
        let (told, out, err) = (joined(told), joined(out), joined(err));
        watched.map_err(|e| self.failed(e))?;
        match ending {
            Ok(Event::Ended) => {}
            Ok(Event::Cancelled) => return Err(ReadError::Cancelled),
            Err(_) => {
                let waited = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                return Err(ReadError::TimedOut(waited));
            }
        }
        if let Err(e) = ended
            && e != rustix::io::Errno::SRCH
        {
            return Err(self.failed(format!("could not be ended: {e}")));
        }
        told.and_then(|t| t).map_err(|e| self.failed(format!("cannot be written to: {e}")))?;
        let out = out.and_then(|o| o).map_err(|e| self.failed(format!("cannot be read: {e}")))?;
        let status = status.map_err(|e| self.failed(e))?;
        let err = err.unwrap_or_default();
        self.answer(status, out, &err)
    }
}

impl Program {
    fn answer(&self, status: ExitStatus, out: Vec<u8>, err: &str) -> Result<Value, ReadError> {
        if !status.success() {
            let said = if err.is_empty() { "it said nothing".to_owned() } else { format!("it said: {err}") };
            return Err(self.failed(format!("ended with {status}; {said}")));
        }
        if out.len() as u64 > LIMIT {
            return Err(self.failed(format!("wrote more than {LIMIT} bytes")));
        }
        let text = String::from_utf8(out).map_err(|_| self.failed("wrote what is not UTF-8"))?;
        let text = text.strip_suffix('\n').map_or(text.as_str(), |t| t.strip_suffix('\r').unwrap_or(t));
        if text.trim().is_empty() {
            return Err(self.failed("wrote nothing"));
        }
        // Only an object or a list is taken as JSON: a model's text may well be a number or stand in quotes.
        if text.trim_start().starts_with(['{', '['])
            && let Ok(value) = Value::parse(text)
        {
            return Ok(value);
        }
        Ok(Value::from(text))
    }
}

/// `{"inputs": [...], "instruction": "..."}`
fn request(sentence: &Sentence<'_>) -> Result<Vec<u8>, plangate_graph::value::ValueError> {
    let members = vec![
        ("instruction".to_owned(), Value::from(sentence.instruction)),
        ("inputs".to_owned(), super::inputs_json(sentence.inputs)?),
    ];
    let mut bytes = Value::Object(Object::new(members)?).canonical();
    bytes.push(b'\n');
    Ok(bytes)
}

/// The last of what is written on standard error, as one line.
fn tail(mut stderr: impl Read) -> String {
    let mut kept: Vec<u8> = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(n) = stderr.read(&mut buffer) {
        let Some(read) = buffer.get(..n).filter(|read| !read.is_empty()) else { break };
        kept.extend_from_slice(read);
        let over = kept.len().saturating_sub(TAIL);
        kept.drain(..over);
    }
    String::from_utf8_lossy(&kept)
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect::<Vec<_>>()
        .join(" / ")
}

fn unless_closed(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

fn joined<T>(thread: thread::JoinHandle<T>) -> io::Result<T> {
    thread.join().map_err(|_| io::Error::other("a thread of the writer panicked"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;
    use plangate_executor::tools::SentenceInput;
    use std::time::Duration;

    fn write(script: &str, cancel: &Cancel) -> Result<Value, ReadError> {
        let program = Program::new(&["sh".into(), "-c".into(), script.into()], ".".into());
        let inputs = [
            SentenceInput { name: "mail".into(), value: Ok(Value::parse("[1.10]").unwrap()) },
            SentenceInput { name: "slack".into(), value: Err("timed out".into()) },
        ];
        program.write(&Sentence { instruction: "sum up {mail, slack}", inputs: &inputs }, cancel)
    }

    fn soon() -> Cancel {
        Cancel::new(Some(Instant::now() + Duration::from_secs(60)))
    }

    #[test]
    fn it_is_told_instruction_and_inputs_apart() {
        let said = write("cat", &soon()).unwrap();
        assert_eq!(
            said.to_string(),
            r#"{"inputs":[{"name":"mail","value":[1.10]},{"missing":"timed out","name":"slack"}],"instruction":"sum up {mail, slack}"}"#
        );
    }

    #[test]
    fn text_is_text_and_need_not_read() {
        assert_eq!(write("printf 'two\\nlines\\n'", &soon()).unwrap(), Value::from("two\nlines"));
        assert_eq!(write("echo 42", &soon()).unwrap(), Value::from("42"));
        assert_eq!(write("echo '[broken'", &soon()).unwrap(), Value::from("[broken"));
    }

    #[test]
    fn failures_name_the_program_and_its_words() {
        let error = write("echo no key >&2; exit 3", &soon()).unwrap_err().to_string();
        assert_eq!(error, "the writer sh ended with exit status: 3; it said: no key");
        assert_eq!(write("true", &soon()).unwrap_err().to_string(), "the writer sh wrote nothing");
        let missing = Program::new(&["/nowhere/writer".into()], ".".into());
        let sentence = Sentence { instruction: "x", inputs: &[] };
        let error = missing.write(&sentence, &soon()).unwrap_err().to_string();
        assert!(error.starts_with("the writer /nowhere/writer could not be started: "), "{error}");
    }

    #[test]
    fn at_the_deadline_its_whole_group_ends() {
        // The grandchild holds standard output open: reading ends only if it is ended, too.
        let cancel = Cancel::new(Some(Instant::now() + Duration::from_millis(50)));
        assert!(matches!(write("sleep 600 & wait", &cancel), Err(ReadError::TimedOut(_))));
    }

    #[test]
    fn a_grandchild_that_lives_on_is_ended_with_it() {
        assert_eq!(write("sleep 600 & echo done", &soon()).unwrap(), Value::from("done"));
    }

    #[test]
    fn who_cancels_ends_it() {
        let cancel = Cancel::new(None);
        let other = cancel.clone();
        let waiting = thread::spawn(move || write("echo >&2; sleep 600", &other));
        cancel.cancel();
        assert_eq!(waiting.join().unwrap(), Err(ReadError::Cancelled));
    }
}
