//! A table of `plangate.toml` whose keys are taken one by one; what is left over is an error that says what was meant.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::exit::Exit;
use crate::fault::Fault;

/// A table being read.
pub(super) struct Table<'a> {
    /// Its name with a dot at its end, or nothing for the whole file.
    name: String,
    /// Where its header stands.
    start: usize,
    members: BTreeMap<String, (usize, Spanned<DeValue<'a>>)>,
    known: Vec<&'static str>,
    source: Source<'a>,
}

#[derive(Clone, Copy)]
struct Source<'a> {
    text: &'a str,
    file: &'a Path,
}

impl Source<'_> {
    fn place(self, offset: usize) -> String {
        let before = self.text.get(..offset).unwrap_or(self.text);
        format!("{}:{}", self.file.display(), before.matches('\n').count() + 1)
    }
}

impl<'a> Table<'a> {
    /// The whole file.
    pub(super) fn parse(text: &'a str, file: &'a Path) -> Result<Table<'a>, Fault> {
        let source = Source { text, file };
        let table = DeTable::parse(text).map_err(|e| {
            let place = source.place(e.span().map_or(0, |span| span.start));
            Fault::new(Exit::Config, "config", format!("the configuration is no TOML: {}", e.message()))
                .at(place)
        })?;
        Ok(Table::of(String::new(), 0, table.into_inner(), source))
    }

    fn of(name: String, start: usize, table: DeTable<'a>, source: Source<'a>) -> Table<'a> {
        let members =
            table.into_iter().map(|(k, v)| (k.get_ref().to_string(), (k.span().start, v))).collect();
        Table { name, start, members, known: Vec::new(), source }
    }

    /// A table in this one.
    pub(super) fn table(&mut self, key: &'static str) -> Result<Option<Table<'a>>, Fault> {
        let Some((at, value)) = self.take(key) else { return Ok(None) };
        match value.into_inner() {
            DeValue::Table(table) => {
                Ok(Some(Table::of(format!("{}{key}.", self.name), at, table, self.source)))
            }
            _ => Err(self.fault(key, at, "a table")),
        }
    }

    /// A list of tables, each written `[[key]]`.
    pub(super) fn tables(&mut self, key: &'static str) -> Result<Vec<Table<'a>>, Fault> {
        let Some((at, value)) = self.take(key) else { return Ok(Vec::new()) };
        let DeValue::Array(items) = value.into_inner() else {
            return Err(self.fault(key, at, &format!("a list of tables, each written [[{key}]]")));
        };
        items
            .into_iter()
            .map(|item| {
                let start = item.span().start;
                match item.into_inner() {
                    DeValue::Table(table) => {
                        Ok(Table::of(format!("{}{key}.", self.name), start, table, self.source))
                    }
                    _ => Err(self.fault(key, start, &format!("a list of tables, each written [[{key}]]"))),
                }
            })
            .collect()
    }

    /// A text.
    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<String>, Fault> {
        let Some((at, value)) = self.take(key) else { return Ok(None) };
        match value.into_inner() {
            DeValue::String(text) if !text.is_empty() => Ok(Some(text.into_owned())),
            _ => Err(self.fault(key, at, "text")),
        }
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, key: &'static str) -> Result<Option<Vec<String>>, Fault> {
        let Some((at, value)) = self.take(key) else { return Ok(None) };
        let DeValue::Array(items) = value.into_inner() else {
            return Err(self.fault(key, at, "a list of texts"));
        };
        items
            .into_iter()
            .map(|item| match item.into_inner() {
                DeValue::String(text) => Ok(text.into_owned()),
                _ => Err(self.fault(key, at, "a list of texts")),
            })
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// A whole number, 1 or more.
    pub(super) fn count(&mut self, key: &'static str) -> Result<Option<usize>, Fault> {
        let Some((at, value)) = self.take(key) else { return Ok(None) };
        count(value.get_ref()).map(Some).ok_or_else(|| self.fault(key, at, COUNT))
    }

    /// Every member of this table: whole numbers by name.
    pub(super) fn all_counts(&mut self) -> Result<BTreeMap<String, usize>, Fault> {
        std::mem::take(&mut self.members)
            .into_iter()
            .map(|(key, (at, value))| match count(value.get_ref()) {
                Some(n) => Ok((key, n)),
                None => Err(self.fault(&key, at, COUNT)),
            })
            .collect()
    }

    /// A duration as recipes write it: `"20s"`, `"500ms"`, `"2m"`.
    pub(super) fn duration(&mut self, key: &'static str) -> Result<Option<Duration>, Fault> {
        let Some((at, value)) = self.take(key) else { return Ok(None) };
        let parsed = match value.get_ref() {
            DeValue::String(text) => duration(text),
            _ => None,
        };
        parsed
            .map(Some)
            .ok_or_else(|| self.fault(key, at, "a duration, for instance \"20s\", \"500ms\" or \"2m\""))
    }

    /// A fault about a key of this table, or about the table itself where the key is empty.
    pub(super) fn wrong(&self, key: &str, wanted: &str) -> Fault {
        self.fault(key, self.start, wanted)
    }

    /// Nothing may be left over.
    pub(super) fn finish(&self) -> Result<(), Fault> {
        let Some((key, (at, _))) = self.members.iter().next() else { return Ok(()) };
        let mut known = self.known.clone();
        known.sort_unstable();
        let meant = crate::nearest::nearest(key, known.iter().copied());
        let meant = meant.map(|m| format!("did you mean `{m}`? ")).unwrap_or_default();
        Err(Fault::new(Exit::Config, "config", format!("`{}{key}` is no setting", self.name))
            .at(self.source.place(*at))
            .help(format!("{meant}There are: {}", known.join(", "))))
    }

    /// These keys belong to somebody else.
    pub(super) fn leave(&mut self, keys: &'static [&'static str]) {
        for key in keys {
            drop(self.take(key));
        }
    }

    fn take(&mut self, key: &'static str) -> Option<(usize, Spanned<DeValue<'a>>)> {
        self.known.push(key);
        self.members.remove(key)
    }

    fn fault(&self, key: &str, at: usize, wanted: &str) -> Fault {
        let name = format!("{}{key}", self.name);
        let message = format!("`{}` is wrong: expected {wanted}", name.trim_end_matches('.'));
        Fault::new(Exit::Config, "config", message).at(self.source.place(at))
    }
}

const COUNT: &str = "a whole number, 1 or more";

fn count(value: &DeValue<'_>) -> Option<usize> {
    match value {
        DeValue::Integer(n) => {
            let n = usize::from_str_radix(n.as_str(), n.radix()).ok()?;
            (n > 0).then_some(n)
        }
        _ => None,
    }
}

/// A duration as recipes write it.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let at = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(at);
    let number: u64 = number.parse().ok().filter(|n| *n > 0)?;
    let ms = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.checked_mul(ms).map(Duration::from_millis)
}
