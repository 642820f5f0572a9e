//! Runs on disk beside bare transactions of `SQLite`.

use plangate_approval::Storage as _;
use plangate_benches::durable::{Bare, Disk, Fallible, Parking};
use plangate_benches::{Job, chain, ended, fan, rounds, start, time, verified};

use crate::table::{Demand, Table, each, ratio, words};

const STEPS: usize = 100;
const WIDE: usize = 1_000;
/// Enough that what a run takes on disk is not lost in whole pages.
const PARKED: usize = 200;
/// Rows that wait, and calls that are made one after the other.
const MANY: usize = 1_000;

#[expect(clippy::unwrap_used, reason = "what failed must not be measured")]
pub(crate) fn measure(table: &mut Table) -> Fallible<()> {
    let disk = Disk::new()?;
    let executor = disk.executor();
    let (line, wide) = (verified(&chain(STEPS)), verified(&fan(WIDE)));
    let (mut one, mut many) = (Bare::new()?, Bare::new()?);
    let parking = Parking::new()?;
    let jobs: Vec<Job<'_>> = vec![
        Box::new(|| time(|| (0..STEPS).for_each(|_| one.commit(1).unwrap()))),
        Box::new(|| time(|| ended(&executor.run(&line, start()).unwrap()))),
        Box::new(|| time(|| ended(&executor.run(&wide, start()).unwrap()))),
        Box::new(|| time(|| (0..Parking::TRANSACTIONS).for_each(|_| many.commit(1).unwrap()))),
        Box::new(|| time(|| parking.there_and_back().unwrap())),
    ];
    let took = rounds(9, jobs);
    let [commits, line, wide, bare, there_and_back] = took.as_slice() else { return Ok(()) };
    let commit = each(*commits, STEPS);
    let step = each(*line, STEPS);
    let of = format!("{} over a bare commit of {}", words(step), words(commit));
    table.add("a durable step, of a chain", of, ratio(step, commit), Demand::AtMost(1.5));
    let grouped = each(*wide, WIDE);
    let of = format!("{} over a bare commit of {}", words(grouped), words(commit));
    table.add("a durable step, of a fan of 1,000", of, ratio(grouped, commit), Demand::AtMost(0.15));
    let of = format!(
        "{} over {} of {} bare transactions",
        words(*there_and_back),
        words(*bare),
        Parking::TRANSACTIONS
    );
    table.add("park, approve, resume", of, ratio(*there_and_back, *bare), Demand::AtMost(2.0));

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
