//! What a server is, in words that hold no secret: shown to whoever approves a call, stored with the row.

/// Words in a flag or header name that make its value a secret.
const SECRET: [&str; 8] = ["key", "token", "secret", "password", "passwd", "auth", "credential", "bearer"];

const MASK: &str = "***";

/// A command line as it stands in the configuration: variables by their name, never by their value.
pub(crate) fn command_line<'a>(command: &str, args: impl IntoIterator<Item = &'a str>) -> String {
    let mut line = quoted(&masked_url(command));
    let mut secret_follows = false;
    for arg in args {
        line.push(' ');
        let shown = match arg.split_once('=') {
            _ if secret_follows && !arg.starts_with('-') && !is_variable(arg) => MASK.to_owned(),
            Some((name, value)) if is_secret(name) && !is_variable(value) && !name.contains("://") => {
                format!("{name}={MASK}")
            }
            _ => masked_url(arg),
        };
        line.push_str(&quoted(&shown));
        secret_follows = arg.starts_with('-') && !arg.contains('=') && is_secret(arg);
    }
    line
}

/// A URL without its user information, query and fragment.
pub(crate) fn masked_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let authority = match authority.rsplit_once('@') {
        Some((_, host)) => format!("{MASK}@{host}"),
        None => authority.to_owned(),
    };
    let path = match path.find(['?', '#']) {
        Some(at) => format!("{}?{MASK}", path.split_at(at).0),
        None => path.to_owned(),
    };
    format!("{scheme}://{authority}{path}")
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET.iter().any(|word| name.contains(word))
}

/// The value is nothing but a variable, so its text says where the secret comes from and not what it is.
fn is_variable(value: &str) -> bool {
    value.starts_with("${") && value.ends_with('}') && !value.contains(":-")
}

fn quoted(arg: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '"' | '\'' | '\\');
    if !arg.is_empty() && arg.chars().all(plain) { arg.to_owned() } else { format!("{arg:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_hold_no_secret() {
        let cases: [(&str, &[&str], &str); 9] = [
            ("npx", &["-y", "@scope/server", "/data"], "npx -y @scope/server /data"),
            ("srv", &["--token", "s3cret", "x"], "srv --token *** x"),
            ("srv", &["--token", "${TOKEN}"], "srv --token ${TOKEN}"),
            ("srv", &["--api-key=s3cret", "x"], "srv --api-key=*** x"),
            ("srv", &["--api-key=${KEY}"], "srv --api-key=${KEY}"),
            ("srv", &["--api-key=${KEY:-s3cret}"], "srv --api-key=***"),
            ("srv", &["API_TOKEN=s3cret"], "srv API_TOKEN=***"),
            ("db", &["postgres://ann:s3cret@db/x?sslkey=s3cret"], "db postgres://***@db/x?***"),
            ("sh", &["-c", "echo \"hi\"\n"], r#"sh -c "echo \"hi\"\n""#),
        ];
        for (command, args, wanted) in cases {
            let line = command_line(command, args.iter().copied());
            assert_eq!(line, wanted);
            assert!(!line.contains("s3cret"));
        }
    }

    #[test]
    fn urls_hold_no_secret() {
        let cases = [
            ("https://h/mcp", "https://h/mcp"),
            ("https://a:b@h:1/mcp?k=v#f", "https://***@h:1/mcp?***"),
            ("https://h?k=v", "https://h?***"),
            ("https://h/@x", "https://h/@x"),
            ("plain", "plain"),
        ];
        for (url, wanted) in cases {
            assert_eq!(masked_url(url), wanted);
        }
    }
}
