//! The word that was probably meant by one that nothing knows.

/// How alike a known word has to be to be offered; below it, a list of what there is says more.
const LIKENESS_MIN: f64 = 0.7;

/// From this length on a word is meant by one of which a single letter differs: what is shorter has too many such.
const MISTYPED_CHARS_MIN: usize = 3;

/// The known word that is most like this one, if any is alike enough.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|name| (likeness(word, name), name));
    scored
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, name)| name)
}

fn likeness(word: &str, name: &str) -> f64 {
    let alike = strsim::jaro_winkler(word, name);
    let chars = word.chars().count().max(name.chars().count());
    let is_mistyped = chars >= MISTYPED_CHARS_MIN && strsim::osa_distance(word, name) == 1;
    match is_mistyped {
        true => alike.max(LIKENESS_MIN),
        false => alike,
    }
}

/// What a sentence that refuses a word goes on with: the nearest known one, or nothing.
pub fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(word, known);
    near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_offered_where_one_is_alike() {
        let known = ["plan", "implement", "review", "qa"];
        for (word, told) in [
            ("paln", " (did you mean `plan`?)"),
            ("implment", " (did you mean `implement`?)"),
            ("qqa", " (did you mean `qa`?)"),
            ("qaq", " (did you mean `qa`?)"),
            ("xyz", ""),
            ("REVIEW", ""),
            ("", ""),
        ] {
            assert_eq!(meant(word, known), told, "{word}");
        }
    }
}
