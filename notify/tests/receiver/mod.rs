//! A receiver on this machine: it keeps what it is sent and answers as a test says.
#![allow(dead_code, reason = "each test uses a part")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use plangate_graph::Value;

/// One request.
#[derive(Clone, Debug)]
pub struct Seen {
    pub head: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Seen {
    pub fn header(&self, name: &str) -> &str {
        let found = self.head.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    pub fn json(&self) -> Value {
        Value::parse_bytes(&self.body).unwrap()
    }

    pub fn kind(&self) -> String {
        self.json().member("type").and_then(Value::text).unwrap().to_owned()
    }

    pub fn seq(&self) -> u64 {
        self.json().member("data").and_then(|d| d.member("seq")).unwrap().to_string().parse().unwrap()
    }
}

type Answers = dyn Fn(usize, &Seen) -> String + Send + Sync;

pub struct Receiver {
    pub at: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    /// Answers the n-th request, from 0, with this status line and these headers, for instance `200 OK`.
    pub fn new(answer: impl Fn(usize, &Seen) -> String + Send + Sync + 'static) -> Receiver {
        Receiver::on("127.0.0.1:0".parse().unwrap(), answer)
    }

    pub fn on(at: SocketAddr, answer: impl Fn(usize, &Seen) -> String + Send + Sync + 'static) -> Receiver {
        let listener = TcpListener::bind(at).unwrap();
        let at = listener.local_addr().unwrap();
        let (seen, over) = (Arc::<Mutex<Vec<Seen>>>::default(), Arc::<AtomicBool>::default());
        let (kept, stop) = (Arc::clone(&seen), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(SeqCst) {
                    return;
                }
                // Whoever hangs up in the middle was killed, or waited long enough.
                let _ = serve(&stream.unwrap(), &kept, &answer);
            }
        });
        Receiver { at, seen, over, thread: Some(thread) }
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook", self.at)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.over.store(true, SeqCst);
        drop(TcpStream::connect(self.at));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn serve(stream: &TcpStream, seen: &Mutex<Vec<Seen>>, answer: &Answers) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let head: Vec<(String, String)> = lines
        .iter()
        .skip(1)
        .filter_map(|line| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned())))
        .collect();
    let length = head.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    reader.read_exact(&mut body)?;
    let request = Seen { head, body };
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(request.clone());
        seen.len() - 1
    };
    let answer = answer(number, &request);
    write!(&mut &*stream, "HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}
