//! What the agent makes of a prompt that says enough, and of one that does not.

use super::*;

const OBSERVER: &str = "# Your layer\nlayer: observers\n---\n# Your perspective\nobserver: \"<your role>\"\nupdated_at: \"<YYYY-MM-DD>\"\ngoals:\n  - \"<what you want>\"\n---\n# Pending events\n````text .jules/pending\n# Output\n```\nnothing\n````\n---\n# Output\n\nYou work on the branch `jules` of acme/shop, as the role `qa`.\n\nTouch these files only:\n\n- `.jules/pending/<id>-<a-few-words>.yml`, a new file\n- `.jules/qa.yml`, in the form shown above\n\nCopy this schema for an event:\n\n```yaml\nid: \"<six characters>\"\nconfidence: low|medium|high\ntitle: \"<one line>\"\nevidence:\n  - path: \"<a file>\"\n    loc:\n      - \"<lines>\"\n```\n\nIds for your events, each used once: `aa0001`, `aa0002`.\n\nName your branch `jules-observer-aa0000`.\n";

fn files() -> BTreeMap<String, String> {
    let files = [("README.md", "Shop\n"), ("src/cart.rs", "fn a() {}\n")];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    files.into()
}

#[test]
fn paths_ids_schema_and_branch_come_from_the_prompt() {
    let writing = layer_agent(OBSERVER, &files(), "2026-02-18").unwrap();
    assert_eq!(writing.branch.as_deref(), Some("jules-observer-aa0000"));
    let event = &writing.files[".jules/pending/aa0001-a-name-says-less.yml"];
    assert_eq!(
        event,
        "id: \"aa0001\"\nconfidence: medium\ntitle: \"A name says less than it could\"\nevidence:\n  - path: \"src/cart.rs\"\n    loc:\n      - \"1\"\n"
    );
    let perspective = &writing.files[".jules/qa.yml"];
    assert!(perspective.starts_with("observer: \"qa\"\nupdated_at: \"2026-02-18\"\n"));
    assert_eq!(writing.files.len(), 2);
}

#[test]
fn what_was_reported_is_not_reported_again() {
    let again = OBSERVER.replace("nothing", FINDING);
    assert_eq!(layer_agent(&again, &files(), "2026-02-18"), None);
}

#[test]
fn a_perspective_that_is_there_stays() {
    let mut files = files();
    files.insert(".jules/qa.yml".to_owned(), "mine".to_owned());
    let writing = layer_agent(OBSERVER, &files, "2026-02-18").unwrap();
    assert_eq!(writing.files.len(), 1);
}

#[test]
fn what_is_there_already_is_no_change() {
    let written = layer_agent(OBSERVER, &files(), "2026-02-18").unwrap();
    let mut files = files();
    files.extend(written.files);
    // The event is told of anew, since the prompt does not have it; all of it is in its place.
    assert_eq!(layer_agent(OBSERVER, &files, "2026-02-18"), None);
}

/// What a decider is asked, about these events.
fn decider(events: &[&str]) -> String {
    let fenced = |name: &&str| format!("```text .jules/pending/{name}.yml\nid: {name}\n```\n");
    let fenced: String = events.iter().map(fenced).collect();
    format!(
        "# Your layer\nlayer: decider\n---\n# Labels\n{{ \"issue_labels\": {{ \"bugs\": {{}} }} }}\n---\n# Pending events\n{fenced}---\n# Output\n\nYou work on the branch `jules` of acme/shop.\n\n- the events above: each is deleted, or moved to `.jules/decided` under the same name\n- `.jules/requirements/<id>-<a-few-words>.yml`, a new file for each new requirement\n\n```yaml\nid: \"<six characters>\"\nsource_events:\n  - \"<the id of an event>\"\nlabel: \"<one of the labels>\"\nrequires_deep_analysis: true|false\n```\n\nIds for your requirements, each used once: `aa0011`, `aa0012`.\n\nName your branch `jules-decider-aa0010`.\n"
    )
}

fn event(id: &str, confidence: &str) -> (String, String) {
    (
        format!(".jules/pending/{id}.yml"),
        format!("id: \"{id}\"\nrequirement_id: \"\"\nconfidence: {confidence}\n"),
    )
}

#[test]
fn events_that_are_sure_make_one_requirement_and_the_others_one_to_think_through() {
    let events = [
        event("aa0001", "low"),
        event("aa0002", "high"),
        event("aa0003", "medium"),
    ];
    let mut files = files();
    files.extend(events);
    let prompt = decider(&["aa0001", "aa0002", "aa0003"]);
    let writing = layer_agent(&prompt, &files, "2026-02-18").unwrap();
    assert_eq!(writing.branch.as_deref(), Some("jules-decider-aa0010"));
    assert_eq!((writing.moves.len(), writing.files.len()), (3, 5));
    let requirement = |id: &str| &writing.files[&format!(".jules/requirements/{id}-say-more.yml")];
    assert_eq!(
        requirement("aa0011"),
        "id: \"aa0011\"\nsource_events:\n  - \"aa0002\"\nlabel: \"bugs\"\nrequires_deep_analysis: false\n"
    );
    assert_eq!(
        requirement("aa0012"),
        "id: \"aa0012\"\nsource_events:\n  - \"aa0001\"\n  - \"aa0003\"\nlabel: \"bugs\"\nrequires_deep_analysis: true\n"
    );
    for (event, requirement) in [("aa0001", "aa0012"), ("aa0002", "aa0011")] {
        let moved = &writing.files[&format!(".jules/decided/{event}.yml")];
        assert!(moved.contains(&format!("requirement_id: {requirement}\n")));
    }
}

#[test]
fn a_decider_without_events_that_are_there_writes_nothing() {
    assert_eq!(layer_agent(&decider(&[]), &files(), "2026-02-18"), None);
    let gone = decider(&["aa0001"]);
    assert_eq!(layer_agent(&gone, &files(), "2026-02-18"), None);
}

#[test]
fn a_prompt_that_says_too_little_leads_to_nothing() {
    for part in [
        "Name your branch ",
        "layer: observers",
        "Ids for your ",
        "```yaml",
        ", as the role `qa`",
        "- `.jules/pending",
    ] {
        let short = OBSERVER.replace(part, "");
        assert_eq!(layer_agent(&short, &files(), "2026-02-18"), None, "{part}");
    }
    assert_eq!(layer_agent("", &files(), ""), None);
    assert_eq!(layer_agent("# Output", &files(), ""), None);
}

#[test]
fn a_key_is_read_and_set_at_the_margin() {
    let text = "id: \"aa\"\nlist:\n  - id: bb\nrequirement_id: \"\"\n";
    assert_eq!(form::value(text, "id"), Some("aa"));
    assert_eq!(
        set(text, "requirement_id", "cc"),
        "id: \"aa\"\nlist:\n  - id: bb\nrequirement_id: cc\n"
    );
}
