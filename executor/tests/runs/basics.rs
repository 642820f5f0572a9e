//! Reads overlap, values pass on, gates stop, records tell.

use std::sync::{Arc, Barrier};

use plangate_approval::RunState;
use plangate_approval::StepState::*;

use crate::stage::*;

const MORNING: &str = r##"
inputs:
  channel: text = "#daily"
together sources:
  calendar: cal.list {"calendarId":"primary"}
  mail: gmail.list {"labelIds":["UNREAD"]}
  chat: slack.search {"query":"mentions:me"}
then:
  need: 2 of 3
  briefing: write a morning briefing from {calendar, mail, chat}
ask me:
  - post to {channel}?
    post: slack.post {"channel":"{channel}","text":"{briefing}"}
"##;

#[test]
fn the_morning_recipe_parks_at_its_post_and_posts_what_was_approved() {
    let barrier = Arc::new(Barrier::new(3));
    let meet = |value: &'static str| {
        let barrier = Arc::clone(&barrier);
        move |_: &_, _: &_| {
            barrier.wait();
            Answer::Ok(json(value))
        }
    };
    let stage = Stage::new()
        .on("cal.list", meet("[1.10]"))
        .on("gmail.list", meet("[]"))
        .on("slack.search", meet("\"x\""));
    let ended = stage.run(MORNING);
    let row = only(&ended);
    assert_eq!(row.question.as_deref(), Some("post to #daily?"));
    assert_eq!(
        String::from_utf8(row.call.as_ref().unwrap().args.clone()).unwrap(),
        r##"{"channel":"#daily","text":"calendar=[1.10]\nmail=[]\nchat=\"x\""}"##
    );
    assert_eq!(stage.host.calls("slack.post"), 0);
    assert_eq!(ended.record().state, RunState::Parked);
    assert_eq!(state(&ended, "post/gate"), Pending);
    assert_eq!(state(&ended, "post"), Waiting);

    stage.approve(&row);
    let ended = stage.resume(&ended);
    let record = done(&ended);
    assert_eq!(record.state, RunState::Done);
    let sent = stage.host.sent_to("slack.post");
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].args.as_bytes(), row.call.as_ref().unwrap().args.as_slice());
    assert_eq!(sent[0].key.as_deref(), Some(row.key.as_str()));
    assert_eq!(state(&ended, "post"), Done);
    assert!(step(&ended, "post/gate").decisions[0].by.as_deref().unwrap().contains("bob"));
    assert_eq!(stage.host.calls("cal.list"), 1, "ended steps keep their results");

    // Once more: it stays as it is.
    assert_eq!(stage.resume(&ended), ended);
    assert_eq!(stage.host.calls("slack.post"), 1);
}

#[test]
fn nothing_is_a_value_like_any_other() {
    let stage = Stage::new().answers("gmail.list", "null").answers("slack.create_channel", "null");
    let recipe = "together:\n  mail: gmail.list {}\n  made: slack.create_channel {}\nthen:\n  b: fs.read_file \
                  {\"m\":\"{mail}\",\"c\":\"{made}\"}\n";
    let parked = stage.run(recipe);
    stage.approve(&only(&parked));
    let ended = stage.resume(&parked);
    assert_eq!(step(&ended, "b").arguments, Some(json(r#"{"c":null,"m":null}"#)));
    assert_eq!(step(&ended, "mail").result, Some(json("null")));
    let text = ended.record().to_json().unwrap();
    assert_eq!(&serde_json::from_str::<plangate_executor::Record>(&text).unwrap(), ended.record());
}

#[test]
fn thirty_two_reads_wait_on_one_barrier() {
    let barrier = Arc::new(Barrier::new(32));
    let stage = Stage::new().on("fs.read_file", move |_, _| {
        barrier.wait();
        Answer::Ok(json("1"))
    });
    let mut recipe = "together:\n".to_owned();
    for i in 0..32 {
        recipe.push_str(&format!("  r{i}: fs.read_file {{\"n\":{i}}}\n"));
    }
    let ended = stage.run(&recipe);
    assert_eq!(done(&ended).state, RunState::Done);
    assert_eq!(stage.host.calls("fs.read_file"), 32);
}

/// On real threads, too, a step starts when what it waits for has ended, and not when all that began with it has.
#[test]
fn nobody_waits_for_an_unrelated_slow_step() {
    let (reached, wait) = crossbeam::channel::bounded(1);
    let stage = Stage::new()
        .on("cal.list", move |_, _| {
            wait.recv().unwrap();
            Answer::Ok(json("\"slow\""))
        })
        .on("fs.read_file", move |_, _| {
            reached.send(()).unwrap();
            Answer::Ok(json("1"))
        });
    let recipe = "together:\n  a: gmail.list {}\ntogether:\n  b: slack.search {\"a\":\"{a}\"}\n  c: cal.list {\"a\":\"{a}\"}\nthen:\n  d: fs.read_file {\"b\":\"{b}\"}\n";
    assert_eq!(states(&stage.run(recipe)), "a done, b done, c done, d done");
}
