//! Which steps wait for which, and why: the worked cases, at the level of the graph.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::format_collect,
    reason = "a test may fail"
)]

mod outline;

use outline::{same, sketch, waits};

#[test]
fn data_and_nothing_else() {
    let plan = sketch()
        .together()
        .call("a", "gmail.list", &[])
        .call("b", "cal.list", &[])
        .then()
        .call("c", "slack.search", &["a"])
        .plan();
    same(&waits(&plan), "c <- a (data:done)");
}

#[test]
fn reads_that_earn_nothing_move() {
    let (plan, problems) =
        sketch().together().call("a", "gmail.list", &[]).then().call("c", "slack.search", &[]).lower();
    let plan = plan.unwrap();
    same(&waits(&plan), "");
    assert_eq!(plan.moved_items(), [1]);
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].code, "R0507");
    assert!(problems[0].help.as_ref().unwrap().contains("after: a"), "{problems:?}");
}

#[test]
fn what_the_author_said() {
    let plan = sketch()
        .together()
        .call("a", "gmail.list", &[])
        .then()
        .call("c", "slack.search", &[])
        .after("a")
        .plan();
    same(&waits(&plan), "c <- a (said:done)");
    assert!(plan.moved_items().is_empty());
}

#[test]
fn l1_a_join_fires_without_a_parked_branch_and_effects_keep_their_order() {
    let plan = sketch()
        .together()
        .call("a", "gmail.list", &[])
        .call("b", "cal.list", &[])
        .call("c", "slack.create_channel", &[])
        .need(2, 3)
        .say("note", &["a", "b", "c"])
        .call("post", "slack.post", &["note"]);
    // An argument must not read what the join may miss; it reads the sentence, which is of the same block.
    let plan = plan.plan();
    same(
        &waits(&plan),
        "c <- c/gate (gate:yes)
         then-1/join <- a (counted:ended), b (counted:ended), c (counted:ended)
         note <- then-1/join (data:done)
         post/gate <- c (effect:ended), then-1/join (effect:doneorskipped), note (data:done effect:doneorskipped)
         post <- post/gate (gate:yes)",
    );
}

#[test]
fn l2_what_does_not_read_the_join_waits_as_if_there_were_none() {
    let plan = sketch()
        .together()
        .call("tests", "ci.run_tests", &[])
        .call("lint", "fs.read_file", &[])
        .call("docs", "git.status", &[])
        .need(2, 3)
        .say("summary", &["tests", "lint", "docs"])
        .then()
        .call("deploy", "prod.deploy", &[])
        .plan();
    same(
        &waits(&plan),
        "tests <- tests/gate (gate:yes)
         then-1/join <- tests (counted:ended), lint (counted:ended), docs (counted:ended)
         summary <- then-1/join (data:done)
         deploy/gate <- tests (effect:doneorskipped), lint (effect:doneorskipped), docs (effect:doneorskipped), summary (effect:doneorskipped)
         deploy <- deploy/gate (gate:yes)",
    );
}

#[test]
fn l3_effects_keep_their_order() {
    let plan = sketch().then().call("backup", "s3.put", &[]).call("drop", "db.drop", &[]).plan();
    same(
        &waits(&plan),
        "backup <- backup/gate (gate:yes)
         drop/gate <- backup (effect:doneorskipped)
         drop <- drop/gate (gate:yes)",
    );
}

#[test]
fn l4_a_check_guards_and_what_follows_waits_for_its_effect() {
    let plan = sketch()
        .together()
        .call("mail", "gmail.list", &[])
        .check_block()
        .check("mail")
        .under("send", "gmail.send", &["mail"])
        .then()
        .call("log", "jira.create", &[])
        .plan();
    same(
        &waits(&plan),
        "check-1/check <- mail (data:done)
         send/gate <- mail (data:done effect:doneorskipped), check-1/check (gate:yes)
         send <- send/gate (gate:yes)
         log/gate <- send (effect:doneorskipped)
         log <- log/gate (gate:yes)",
    );
}

#[test]
fn l5_a_read_waits_for_a_write_of_its_world() {
    let plan = sketch()
        .then()
        .call("w", "fs.write_file", &[])
        .then()
        .call("st", "git.status", &[])
        .say("msg", &["st"])
        .call("ci", "git.commit", &["msg"])
        .plan();
    same(
        &waits(&plan),
        "w <- w/gate (gate:yes)
         st <- w (effect:doneorskipped)
         msg <- st (data:done)
         ci/gate <- st (effect:doneorskipped), msg (data:done effect:doneorskipped)
         ci <- ci/gate (gate:yes)",
    );
}

#[test]
fn l6_a_step_may_be_counted_twice() {
    let plan = sketch()
        .together()
        .call("a", "gmail.list", &[])
        .call("b", "cal.list", &[])
        .call("c", "slack.search", &[])
        .need(2, 3)
        .say("brief", &["a", "b", "c"])
        .need(1, 2)
        .say("end", &["brief", "c"])
        .plan();
    same(
        &waits(&plan),
        "then-1/join <- a (counted:ended), b (counted:ended), c (counted:ended)
         brief <- then-1/join (data:done)
         then-2/join <- c (counted:ended), brief (counted:ended)
         end <- then-2/join (data:done)",
    );
}

#[test]
fn l7_what_stands_in_the_block_is_not_counted() {
    let plan = sketch()
        .together()
        .call("a", "gmail.list", &[])
        .call("b", "cal.list", &[])
        .need(1, 2)
        .call("x", "slack.search", &[])
        .say("s", &["a", "b", "x"])
        .plan();
    same(
        &waits(&plan),
        "then-1/join <- a (counted:ended), b (counted:ended)
         s <- then-1/join (data:done), x (data:done)",
    );
    assert_eq!(plan.moved_items(), [2]);
}

#[test]
fn l8_a_need_over_nothing_is_refused() {
    let (plan, problems) =
        sketch().together().call("a", "gmail.list", &[]).need(2, 3).call("post", "slack.post", &[]).lower();
    assert!(plan.is_none());
    assert_eq!(problems[0].code, "V0211");
}

#[test]
fn l9_a_bare_question_guards_all_below_and_nobody_is_asked_twice() {
    let plan = sketch()
        .ask_me()
        .question("ready?")
        .question("post and file?")
        .under("post", "slack.post", &[])
        .under("file", "jira.create", &[])
        .plan();
    same(
        &waits(&plan),
        "post/gate <- question-1/ask (gate:yes), question-2/ask (gate:yes)
         post <- post/gate (gate:yes)
         file/gate <- question-1/ask (gate:yes), question-2/ask (gate:yes), post (effect:doneorskipped)
         file <- file/gate (gate:yes)",
    );
}

#[test]
fn l10_a_question_that_guards_nothing_comes_last_and_says_so() {
    let (plan, problems) = sketch()
        .together()
        .call("a", "gmail.list", &[])
        .call("b", "cal.list", &[])
        .need(1, 2)
        .say("brief", &["a", "b"])
        .ask_me()
        .question("post?")
        .lower();
    same(
        &waits(&plan.unwrap()),
        "then-1/join <- a (counted:ended), b (counted:ended)
         brief <- then-1/join (data:done)
         question-1/ask <- a (effect:doneorskipped), b (effect:doneorskipped), brief (effect:doneorskipped)",
    );
    assert_eq!(problems.iter().map(|p| p.code).collect::<Vec<_>>(), ["R0509"]);
}

#[test]
fn words_over_one_asked_call_stand_on_its_gate() {
    let plan = sketch()
        .together()
        .call("mail", "gmail.list", &[])
        .ask_me()
        .question("send it?")
        .under("send", "gmail.send", &["mail"])
        .plan();
    same(
        &waits(&plan),
        "send/gate <- mail (data:done effect:doneorskipped)
         send <- send/gate (gate:yes)",
    );
    let bare = sketch().ask_me().question("go?").then().call("send", "gmail.send", &[]).plan();
    same(&waits(&bare), "send <- send/gate (gate:yes)");
}

#[test]
fn a_question_over_a_read_is_a_node_and_guards_it() {
    let plan = sketch().ask_me().question("look?").under("mail", "gmail.list", &[]).plan();
    same(&waits(&plan), "mail <- question-1/ask (gate:yes)");
}

#[test]
fn questions_of_one_block_are_independent() {
    let plan = sketch()
        .then()
        .call("w", "fs.write_file", &[])
        .ask_me()
        .question("one?")
        .under("a", "s3.put", &[])
        .under("b", "jira.create", &[])
        .question("two?")
        .under("c", "slack.post", &[])
        .then()
        .call("last", "db.drop", &[])
        .plan();
    same(
        &waits(&plan),
        "w <- w/gate (gate:yes)
         question-1/ask <- w (effect:doneorskipped)
         a/gate <- w (effect:doneorskipped), question-1/ask (gate:yes)
         a <- a/gate (gate:yes)
         b/gate <- question-1/ask (gate:yes), a (effect:doneorskipped)
         b <- b/gate (gate:yes)
         c/gate <- w (effect:doneorskipped)
         c <- c/gate (gate:yes)
         last/gate <- b (effect:doneorskipped), c (effect:doneorskipped)
         last <- last/gate (gate:yes)",
    );
}

#[test]
fn bare_guards_chain() {
    let plan = sketch()
        .together()
        .call("mail", "gmail.list", &[])
        .check_block()
        .check("mail")
        .check("mail")
        .ask_me()
        .question("go on?")
        .then()
        .call("x", "slack.search", &[])
        .call("y", "cal.list", &["x"])
        .plan();
    same(
        &waits(&plan),
        "check-1/check <- mail (data:done)
         check-2/check <- mail (data:done), check-1/check (gate:yes)
         question-1/ask <- mail (effect:doneorskipped), check-2/check (gate:yes)
         x <- question-1/ask (gate:yes)
         y <- question-1/ask (gate:yes), x (data:done)",
    );
}

#[test]
fn a_read_between_effects_stands_for_the_first() {
    let plan = sketch()
        .then()
        .call("w1", "fs.write_file", &[])
        .call("r", "git.status", &[])
        .call("w2", "git.commit", &[])
        .plan();
    same(
        &waits(&plan),
        "w1 <- w1/gate (gate:yes)
         r <- w1 (effect:doneorskipped)
         w2/gate <- r (effect:doneorskipped)
         w2 <- w2/gate (gate:yes)",
    );
}

#[test]
fn a_read_beside_an_effect_stands_for_nothing() {
    let plan = sketch()
        .together()
        .call("w1", "fs.write_file", &[])
        .call("r", "git.status", &[])
        .then()
        .call("w2", "git.commit", &[])
        .plan();
    same(
        &waits(&plan),
        "w1 <- w1/gate (gate:yes)
         w2/gate <- w1 (effect:doneorskipped), r (effect:doneorskipped)
         w2 <- w2/gate (gate:yes)",
    );
}

#[test]
fn what_one_loosened_step_passed_over_still_binds_the_next() {
    let plan = sketch()
        .together()
        .call("a", "gmail.list", &[])
        .call("c", "slack.create_channel", &[])
        .need(1, 2)
        .say("note", &["a", "c"])
        .call("post", "slack.post", &["note"])
        .then()
        .call("log", "jira.create", &[])
        .plan();
    same(
        &waits(&plan),
        "c <- c/gate (gate:yes)
         then-1/join <- a (counted:ended), c (counted:ended)
         note <- then-1/join (data:done)
         post/gate <- c (effect:ended), then-1/join (effect:doneorskipped), note (data:done effect:doneorskipped)
         post <- post/gate (gate:yes)
         log/gate <- a (effect:doneorskipped), c (effect:doneorskipped), post (effect:doneorskipped)
         log <- log/gate (gate:yes)",
    );
}

#[test]
fn many_are_waited_for_through_one_join() {
    let mut plan = sketch().together();
    for i in 0..10 {
        plan = plan.call(&format!("r{i}"), "gmail.list", &[]);
    }
    plan = plan.together();
    for i in 0..10 {
        plan = plan.call(&format!("w{i}"), "fs.write_file", &[]);
    }
    let plan = plan.plan();
    // Ten into the join, ten out of it to the gates, ten from the gates to their calls.
    assert_eq!(plan.edge_count(), 30);
    assert!(plan.find("above-1/join").is_some() && plan.find("above-2/join").is_none());
}
