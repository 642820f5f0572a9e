//! Runs on disk beside bare transactions of `SQLite`.

use std::cell::RefCell;
use std::time::Duration;

use plangate_approval::Storage as _;
use plangate_benches::durable::{Bare, Disk, Fallible, Parking};
use plangate_benches::{Job, chain, ended, fan, rounds, start, time, verified};

use crate::table::{Demand, Table, each, ratio, words};

const STEPS: usize = 100;
const WIDE: usize = 1_000;
/// Rounds of what takes a few commits.
const TURNS: usize = 99;
/// Enough that what a run takes on disk is not lost in whole pages.
const PARKED: usize = 200;
/// Rows that wait, and calls that are made one after the other.
const MANY: usize = 1_000;

#[expect(clippy::unwrap_used, reason = "what failed must not be measured")]
pub(crate) fn measure(table: &mut Table) -> Fallible<()> {
    let disk = Disk::new()?;
    let executor = disk.executor();
    let (line, wide) = (verified(&chain(STEPS)), verified(&fan(WIDE)));
    let mut one = Bare::new()?;
    let jobs: Vec<Job<'_>> = vec![
        Box::new(|| time(|| (0..STEPS).for_each(|_| one.commit(1).unwrap()))),
        Box::new(|| time(|| ended(&executor.run(&line, start()).unwrap()))),
        Box::new(|| time(|| ended(&executor.run(&wide, start()).unwrap()))),
    ];
    let took = rounds(9, jobs);
    let [commits, line, wide] = took.as_slice() else { return Ok(()) };
    let commit = each(*commits, STEPS);
    let step = each(*line, STEPS);
    let of = format!("{} over a bare commit of {}", words(step), words(commit));
    table.add("a durable step, of a chain", of, ratio(step, commit), Demand::AtMost(1.5));
    let grouped = each(*wide, WIDE);
    let of = format!("{} over a bare commit of {}", words(grouped), words(commit));
    table.add("a durable step, of a fan of 1,000", of, ratio(grouped, commit), Demand::AtMost(0.15));

    parking(table)?;
    executing(table)?;
    listing(table)?;

    let parked = Parking::new()?;
    parked.park(PARKED)?;
    let before = parked.bytes_on_disk()?;
    parked.park(PARKED)?;
    let more =
        f64::from(u32::try_from(parked.bytes_on_disk()? - before)?) / f64::from(u32::try_from(PARKED)?);
    table.add(
        "a parked run on disk, KB",
        format!("{more:.0} bytes each"),
        more / 1_000.0,
        Demand::AtMost(2.0),
    );
    Ok(())
}

/// Parks a run, approves and resumes it, each part beside so many bare transactions as it needs.
#[expect(clippy::unwrap_used, reason = "what failed must not be measured")]
fn parking(table: &mut Table) -> Fallible<()> {
    let mut bare = [Bare::new()?, Bare::new()?, Bare::new()?];
    let [for_park, for_approve, for_resume] = &mut bare;
    let commits = |bare: &mut Bare, count: usize| time(|| (0..count).for_each(|_| bare.commit(1).unwrap()));
    let parking = Parking::new()?;
    let parked = RefCell::new(None);
    let jobs: Vec<Job<'_>> = vec![
        Box::new(|| commits(for_park, Parking::TO_PARK)),
        Box::new(|| time(|| *parked.borrow_mut() = parking.parked(1).unwrap().pop())),
        Box::new(|| commits(for_approve, Parking::TO_APPROVE)),
        Box::new(|| time(|| parking.approve(&parked.borrow().as_ref().unwrap().1).unwrap())),
        Box::new(|| commits(for_resume, Parking::TO_RESUME)),
        Box::new(|| time(|| parking.resume(&parked.borrow().as_ref().unwrap().0).unwrap())),
    ];
    let took = rounds(TURNS, jobs);
    let mut add = |what: &str, took: Duration, bare: Duration, count: usize| {
        let of = format!("{} over {} of {count} bare transactions", words(took), words(bare));
        table.add(what, of, ratio(took, bare), Demand::AtMost(2.0));
    };
    let [bare_park, park, bare_approve, approve, bare_resume, resume] = *took.as_slice() else {
        return Ok(());
    };
    add("park", park, bare_park, Parking::TO_PARK);
    add("approve", approve, bare_approve, Parking::TO_APPROVE);
    add("resume", resume, bare_resume, Parking::TO_RESUME);
    let all = Parking::TO_PARK + Parking::TO_APPROVE + Parking::TO_RESUME;
    add("park, approve, resume", park + approve + resume, bare_park + bare_approve + bare_resume, all);
    Ok(())
}

/// Approves and executes so many, one after the other.
fn executing(table: &mut Table) -> Fallible<()> {
    let parking = Parking::new()?;
    let most = parking.commits_to_execute(20)?.into_iter().max().unwrap_or_default();
    let parked = parking.parked(MANY)?;
    let mut failed = None;
    let took = time(|| failed = parked.iter().find_map(|(run, row)| parking.execute(run, row).err()));
    if let Some(error) = failed {
        return Err(error);
    }
    let of = format!("{} each, of 1,000 one after the other", words(each(took, MANY)));
    table.add("approve and execute, commits each", of, f64::from(u32::try_from(most)?), Demand::AtMost(5.0));
    Ok(())
}

/// Lists so many waiting rows, beside the bare query.
#[expect(clippy::unwrap_used, reason = "what failed must not be measured")]
fn listing(table: &mut Table) -> Fallible<()> {
    let parking = Parking::new()?;
    parking.park(MANY)?;
    let queue = parking.bare_queue()?;
    if (queue.read()?, parking.store().waiting()?.len()) != (MANY, MANY) {
        return Err("the two queries do not read the same rows".into());
    }
    let jobs: Vec<Job<'_>> = vec![
        Box::new(|| time(|| queue.read().unwrap())),
        Box::new(|| time(|| parking.store().waiting().unwrap())),
    ];
    let took = rounds(15, jobs);
    let [bare, listed] = took.as_slice() else { return Ok(()) };
    let of = format!("{} over {} of the bare query", words(*listed), words(*bare));
    table.add("listing 1,000 waiting rows", of, ratio(*listed, *bare), Demand::AtMost(3.0));
    Ok(())
}
