//! "Did you mean" for names of rules.

/// The end of a message: the nearest of the names, or what there is to choose from.
pub(crate) fn did_you_mean<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if let Some(near) = nearest(wrong, names.iter().copied()) {
        return format!("; did you mean {near:?}?");
    }
    match names.as_slice() {
        [] => String::new(),
        few if few.len() <= 12 => format!("; there is {}", few.join(", ")),
        many => format!("; there are {} others", many.len()),
    }
}

/// The name most like the wrong one, if one is near enough to be meant.
fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = wrong.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= 1 + name.chars().count().max(lower.chars().count()) / 4)
        .min()
        .map(|(_, name)| name)
}
