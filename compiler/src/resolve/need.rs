//! `need: k of n`: what it counts, and what it lets be missing.

use std::collections::BTreeSet;

use plangate_graph::outline;

use super::Resolver;
use crate::diagnostic::{Finding, code};
use crate::recipe::{Arg, Block, Body, NeedLine, TextPart};
use crate::source::Place;

impl Resolver<'_> {
    /// The `need` of each block, where it has one that holds.
    pub(super) fn needs(&mut self, sound: &[bool]) -> Vec<Option<outline::Need>> {
        // A block without items is empty, which was said.
        let blocks = self.recipe.blocks.iter().zip(&self.first_of);
        let mut broken: Vec<bool> =
            blocks.map(|(block, first)| block.broken || *first == usize::MAX).collect();
        for (item, sound) in self.recipe.items.iter().zip(sound) {
            if let Some(broken) = broken.get_mut(item.block) {
                *broken |= !sound;
            }
        }
        let mut needs = Vec::with_capacity(self.recipe.blocks.len());
        for (index, (block, broken)) in self.recipe.blocks.iter().zip(broken).enumerate() {
            let need = block.need.filter(|need| self.in_range(need));
            let Some(need) = need else {
                needs.push(None);
                continue;
            };
            let reads = self.reads.get_mut(index).map(std::mem::take).unwrap_or_default();
            let counted: BTreeSet<usize> = reads.into_iter().collect();
            let mut holds = !broken && self.counts(index, block, need, &counted);
            if need.k < need.n {
                holds &= self.arguments_are_there(index, need);
            }
            needs.push(holds.then_some(outline::Need { k: need.k, n: need.n }));
        }
        needs
    }

    fn in_range(&mut self, need: &NeedLine) -> bool {
        if need.k >= 1 && need.k <= need.n {
            return true;
        }
        let message = match need.k {
            0 => "a `need` of none is no need".to_owned(),
            k => format!("{k} of {} can never be had", need.n),
        };
        self.findings.push(
            Finding::error(code::NEED_RANGE, message)
                .at(need.place, "")
                .help("the first number is at least 1 and at most the second"),
        );
        false
    }

    /// Whether `n` is the number of counted steps.
    fn counts(&mut self, index: usize, block: &Block, need: NeedLine, counted: &BTreeSet<usize>) -> bool {
        if counted.is_empty() {
            let above = self.steps_above(index);
            let example = if above.is_empty() {
                "nothing is typed above this block".to_owned()
            } else {
                let list = above.join(", ");
                format!(
                    "write what needs them, for instance `note: say what is known from {{{list}}}`; for an order alone, write `after: {list}` below a step and no `need:`"
                )
            };
            self.findings.push(
                Finding::error(
                    code::NEED_NOTHING,
                    "this `need:` counts nothing: its block reads no step typed above it",
                )
                .at(need.place, "")
                .at(block.place, "the block")
                .help(example),
            );
            return false;
        }
        if u32::try_from(counted.len()) == Ok(need.n) {
            return true;
        }
        let names: Vec<&str> = counted
            .iter()
            .filter_map(|step| self.recipe.items.get(*step)?.name.as_ref())
            .map(|name| name.text.as_str())
            .take(12)
            .collect();
        let more = if counted.len() > names.len() { ", …" } else { "" };
        let k = usize::try_from(need.k).unwrap_or(usize::MAX).min(counted.len());
        self.findings.push(
            Finding::error(code::NEED_COUNT, format!("this block reads {}, not {}", steps(counted.len()), need.n))
                .at(need.place, format!("counted: {}{more}", names.join(", ")))
                .help(format!(
                    "write `need: {k} of {}`, or read what is missing; counted are the different steps typed above the block that its steps read",
                    counted.len()
                )),
        );
        false
    }

    /// Steps of the nearest block above that has any, for an example.
    fn steps_above(&self, block: usize) -> Vec<&str> {
        let first = self.first_of.get(block).copied().unwrap_or_default().min(self.recipe.items.len());
        let above = self.recipe.items.get(..first).unwrap_or_default();
        let Some(last) = above.last().map(|item| item.block) else { return Vec::new() };
        let mut names: Vec<&str> = above
            .iter()
            .rev()
            .take_while(|item| item.block == last)
            .filter_map(|item| item.name.as_ref())
            .map(|name| name.text.as_str())
            .take(5)
            .collect();
        names.reverse();
        names
    }

    /// Whether no argument of the block reads what its join may miss.
    fn arguments_are_there(&mut self, block: usize, need: NeedLine) -> bool {
        let mut all_there = true;
        let first = self.first_of.get(block).copied().unwrap_or(usize::MAX);
        let items = self.recipe.items.iter().skip(first).take_while(|item| item.block == block);
        for item in items {
            let Body::Call(call) = &item.body else { continue };
            let mut places = Vec::new();
            if let Some(args) = &call.args {
                read_places(args, &mut |name, place| {
                    if let Some((super::Named::Step(step), _)) = self.names.find(name)
                        && step < first
                    {
                        places.push((name.to_owned(), place));
                    }
                });
            }
            let Some(((name, place), rest)) = places.split_first() else { continue };
            all_there = false;
            let message =
                format!("`{name}` may be missing here: the block needs only {} of {}", need.k, need.n);
            let mut finding = Finding::error(code::MAY_BE_MISSING, message)
                .at(*place, "an argument is never made of what is not there")
                .at(need.place, "the need")
                .help("let a sentence in this block read it and say what is missing, and read that sentence here; or move this call to a `then:` of its own");
            for (_, place) in rest.iter().take(3) {
                finding = finding.at(*place, "here too");
            }
            self.findings.push(finding);
        }
        all_there
    }
}

fn steps(count: usize) -> String {
    if count == 1 { "1 step".into() } else { format!("{count} steps") }
}

/// Every reference of an argument. The depth was bounded when it was read.
fn read_places(arg: &Arg, found: &mut impl FnMut(&str, Place)) {
    match arg {
        Arg::Lit(_) => {}
        Arg::Text(parts) => {
            for part in parts {
                if let TextPart::Ref(reference) = part {
                    found(&reference.name, reference.place);
                }
            }
        }
        Arg::List(items) => items.iter().for_each(|item| read_places(item, found)),
        Arg::Object(members) => members.iter().for_each(|(_, arg)| read_places(arg, found)),
    }
}
