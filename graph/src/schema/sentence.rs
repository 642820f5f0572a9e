//! The validator's errors in our words.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::types::JsonType;

use super::Fault;
use super::sketch::{Place, Sketch};
use crate::policy::did_you_mean;
use crate::value::Value;

/// What an error says, one fault for each name that it is about.
pub(super) fn faults(error: &ValidationError<'_>, sketch: &Sketch, schema: &Value) -> Vec<Fault> {
    let at = error.instance_path().as_str();
    let path = written(at);
    let keyword = error.schema_path().as_str();
    let said = pointed(schema, keyword);
    let owner = keyword.rsplit_once('/').and_then(|(owner, _)| pointed(schema, owner));
    let fault = |path: &str, message: String| Fault {
        path: path.to_owned(),
        kind: error.kind().keyword().to_owned(),
        message,
        help: None,
        expected: Vec::new(),
    };
    match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let wanted = within(&path, name);
            vec![if takes_a_boolean(schema, owner, name) {
                Fault {
                    help: Some(format!("say {name:?}: true or {name:?}: false")),
                    ..fault(&wanted, format!("`{wanted}` is missing, and true and false are never assumed"))
                }
            } else {
                fault(&wanted, format!("`{wanted}` is missing"))
            }]
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let expected = names(owner);
            let one = |name: &String| {
                let wrong = within(&path, name);
                Fault {
                    help: hint(name, &expected),
                    expected: expected.clone(),
                    ..fault(&wrong, format!("there is no argument `{wrong}`"))
                }
            };
            unexpected.iter().map(one).collect()
        }
        Kind::Enum { options } => {
            let expected: Vec<String> = match said {
                Some(Value::List(options)) => options.iter().map(plain).collect(),
                _ => options.as_array().into_iter().flatten().map(plain_of_json).collect(),
            };
            let listed = shortened(&expected.join(", "));
            let given = error.instance().as_str().and_then(|given| hint(given, &expected));
            let message =
                format!("{} is {}, and must be one of {listed}", named(&path), shown(error, sketch));
            vec![Fault { help: given, expected, ..fault(&path, message) }]
        }
        kind => {
            let is = format!("{} is {}", named(&path), shown(error, sketch));
            vec![fault(&path, format!("{is}, and {}", must(kind, said)))]
        }
    }
}

/// What is broken in a schema itself.
pub(super) fn broken(error: &ValidationError<'_>) -> String {
    let at = written(error.instance_path().as_str());
    let place = if at.is_empty() { String::new() } else { format!("at `{at}`: ") };
    let what = match error.kind() {
        Kind::Referencing(_) => "a reference cannot be followed (none leaves the schema): ",
        _ => "",
    };
    format!("{place}{what}{}", shortened(&error.to_string()))
}

/// What the schema asks for; `said` is the keyword's value as it stands in the schema, where that is known.
fn must(kind: &Kind, said: Option<&Value>) -> String {
    // As the server wrote it, not as a double is written.
    let or = |limit: String| said.map_or(limit, Value::to_string);
    match kind {
        Kind::Type { kind } => {
            let types: Vec<&str> = match kind {
                TypeKind::Single(one) => vec![in_words(*one)],
                TypeKind::Multiple(many) => many.iter().map(in_words).collect(),
            };
            format!("must be {}", types.join(" or "))
        }
        Kind::Constant { expected_value } => {
            format!("must be {}", shortened(&or(expected_value.to_string())))
        }
        Kind::Maximum { limit } => format!("must be at most {}", or(limit.to_string())),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {}", or(limit.to_string())),
        Kind::Minimum { limit } => format!("must be at least {}", or(limit.to_string())),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {}", or(limit.to_string())),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {}", or(multiple_of.to_string())),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxItems { limit } => format!("must have at most {limit} elements"),
        Kind::MinItems { limit } => format!("must have at least {limit} elements"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} fields"),
        Kind::MinProperties { limit } => format!("must have at least {limit} fields"),
        Kind::UniqueItems => "must hold no element twice".into(),
        Kind::Pattern { pattern } => format!("must match the pattern {}", shortened(pattern)),
        Kind::Format { format } => format!("must be of the format {format}"),
        Kind::FalseSchema => "must not be there".into(),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
            "fits none of the alternatives of the schema".into()
        }
        Kind::OneOfMultipleValid { .. } => "fits more than one of the alternatives of the schema".into(),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "cannot be held against the pattern of the schema".into()
        }
        other => format!("does not fit the schema ({})", other.keyword()),
    }
}

fn in_words(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Null => "null",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "a whole number",
        JsonType::Number => "a number",
        JsonType::String => "text",
        JsonType::Array => "a list",
        JsonType::Object => "an object",
    }
}

/// What stands there, short enough for a message; of what is not known, only the kind.
fn shown(error: &ValidationError<'_>, sketch: &Sketch) -> String {
    let instance = error.instance();
    let kind = match instance.as_ref() {
        serde_json::Value::Null => "null",
        serde_json::Value::Bool(_) => "true or false",
        serde_json::Value::Number(_) => "a number",
        serde_json::Value::String(_) => "text",
        serde_json::Value::Array(_) => "a list",
        serde_json::Value::Object(_) => "an object",
    };
    match sketch.around(error.instance_path().as_str()) {
        Some(Place::Rounded(number)) => return shortened(number.as_str()),
        Some(_) => return kind.to_owned(),
        None => {}
    }
    if let Some(number) = sketch.number(error.instance_path().as_str()) {
        return shortened(number.as_str());
    }
    match instance.as_ref() {
        serde_json::Value::Array(_) | serde_json::Value::Object(_) => kind.to_owned(),
        scalar => shortened(&scalar.to_string()),
    }
}

/// A text short enough for a message.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

fn plain(value: &Value) -> String {
    value.text().map_or_else(|| value.to_string(), str::to_owned)
}

fn plain_of_json(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn hint(wrong: &str, expected: &[String]) -> Option<String> {
    let hint = did_you_mean(wrong, expected.iter().map(String::as_str));
    let hint = hint.trim_start_matches("; ");
    (!hint.is_empty()).then(|| hint.to_owned())
}

/// What a JSON pointer leads to.
fn pointed<'s>(schema: &'s Value, pointer: &str) -> Option<&'s Value> {
    pointer.split('/').skip(1).try_fold(schema, |at, part| match at {
        Value::List(items) => items.get(part.parse::<usize>().ok()?),
        _ => at.member(&part.replace("~1", "/").replace("~0", "~")),
    })
}

fn names(owner: Option<&Value>) -> Vec<String> {
    let Some(Value::Object(properties)) = owner.and_then(|owner| owner.member("properties")) else {
        return Vec::new();
    };
    let mut names: Vec<String> = properties.iter().map(|(name, _)| name.to_owned()).collect();
    names.sort();
    names
}

fn takes_a_boolean(schema: &Value, owner: Option<&Value>, name: &str) -> bool {
    let Some(property) = owner.and_then(|owner| owner.member("properties")?.member(name)) else {
        return false;
    };
    let referred = property.member("$ref").and_then(|r| pointed(schema, r.text()?.strip_prefix('#')?));
    referred.unwrap_or(property).member("type").and_then(Value::text) == Some("boolean")
}

fn named(path: &str) -> String {
    if path.is_empty() { "what is given".to_owned() } else { format!("`{path}`") }
}

fn within(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// A JSON pointer as a path of the recipe language: `/items/0/name` is `items[0].name`.
fn written(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if !path.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) {
            path = format!("{path}[{part}]");
        } else {
            path = within(&path, &part);
        }
    }
    path
}
