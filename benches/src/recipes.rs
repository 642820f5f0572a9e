//! Recipes of any size, against the [catalog](crate::catalog) of the benches.

use std::fmt::Write as _;

/// So many reads that do not need each other.
pub fn fan(steps: usize) -> String {
    let mut text = String::from("together:\n");
    for i in 0..steps {
        line(&mut text, format_args!("  r{i}: bench.get {{}}"));
    }
    text
}

/// So many reads, each of the one before.
pub fn chain(steps: usize) -> String {
    let mut text = String::from("then:\n  r0: bench.get {}\n");
    for i in 1..steps {
        line(&mut text, format_args!("  r{i}: bench.get {{\"from\":\"{{r{}}}\"}}", i - 1));
    }
    text
}

/// Layers of reads, each of which reads the whole layer above it.
pub fn layers(layers: usize, width: usize) -> String {
    let mut text = String::new();
    for layer in 0..layers {
        text.push_str("together:\n");
        for i in 0..width {
            let reads: Vec<String> = match layer.checked_sub(1) {
                Some(above) => (0..width).map(|j| format!("\"{{l{above}s{j}}}\"")).collect(),
                None => Vec::new(),
            };
            line(&mut text, format_args!("  l{layer}s{i}: bench.get {{\"from\":[{}]}}", reads.join(",")));
        }
    }
    text
}

/// So many calls that change something, one after the other, each behind its gate.
pub fn effects(steps: usize) -> String {
    let mut text = String::from("then:\n");
    for i in 0..steps {
        line(&mut text, format_args!("  w{i}: bench.write {{\"n\":{i}}}"));
    }
    text
}

/// About so many steps of every sort that people write: fans, sentences, a `need`, questions with posts under them.
pub fn mixed(steps: usize) -> String {
    let mut text = String::from("inputs:\n  channel: text = \"#daily\"\n");
    for i in 0..steps.div_ceil(5) {
        line(
            &mut text,
            format_args!(
                "together sources-{i}:\n  \
                 calendar{i}: bench.get {{\"calendarId\":\"primary\",\"page\":{i}}}\n    \
                 timeout: 20s\n  \
                 mail{i}: bench.get {{\n      \"labelIds\": [\"UNREAD\"],\n      \"maxResults\": 20\n    }}\n  \
                 slack{i}: bench.get {{\"query\":\"mentions:me\"}}\n\
                 then:\n  need: 2 of 3\n  \
                 briefing{i}: write a morning briefing from {{calendar{i}, mail{i}, slack{i}}}\n    \
                 in at most eight lines, the first meeting first\n\
                 ask me:\n  - post to {{channel}}?\n    \
                 post{i}: bench.post {{\"channel\":\"{{channel}}\",\"text\":\"{{briefing{i}}}\"}}"
            ),
        );
    }
    text
}

/// A [`mixed`] recipe of at least so many bytes, by whole groups of five steps.
pub fn of_size(bytes: usize) -> String {
    let group = mixed(10).len() - mixed(5).len();
    let mut steps = 5 * (bytes / (group + group / 50)).max(1);
    loop {
        let text = mixed(steps);
        if text.len() >= bytes {
            return text;
        }
        steps += 5;
    }
}

fn line(text: &mut String, args: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(args);
    text.push('\n');
}
