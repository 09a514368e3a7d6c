//! The commands of the plan for parallel personas, as they are typed there.

use serde_json::json;

use super::*;
use crate::world::{Fields, Told};

/// Its section on the command line, where a persona's machine says who it is.
const SECTION: [(&str, &str); 5] = [
    (
        r#"jules-mail send --to curator --subject "Conflict in PR #123" --body "...""#,
        "✅ Sent message #1\n",
    ),
    (
        "jules-mail inbox --persona curator",
        "* #1 | weaver | Conflict in PR #123\n",
    ),
    (
        "jules-mail read 1 --persona curator >/dev/null; jules-mail inbox --persona curator",
        "  #1 | weaver | Conflict in PR #123\n",
    ),
    (
        "jules-mail tag add 1 needs-action --persona curator",
        "needs-action\n",
    ),
    (
        r#"jules-mail send \
    --to refactor \
    --subject "Conflict in PR #102" \
    --body "Your PR has merge conflicts. Please rebase on latest main and resubmit.\n\nPatch URL: <url>\n\nConflict details:\n<git apply output>""#,
        "✅ Sent message #2\n",
    ),
];

/// Its appendix on sending.
const SENDING: [(&str, &str); 3] = [
    (
        r#"jules-mail send --to curator --subject "Question" --body "Can you review X?""#,
        "✅ Sent message #3\n",
    ),
    (
        r#"jules-mail send \
    --to refactor \
    --subject "Conflict in PR #123" \
    --body "See attached patch for conflicts" \
    --attach https://github.com/owner/repo/pull/123.patch"#,
        "✅ Sent message #4\n",
    ),
    (
        r#"export JULES_PERSONA=weaver
jules-mail send --to curator --subject "..." --body "...""#,
        "✅ Sent message #5\n",
    ),
];

/// Its appendix on tags.
const TAGGING: [(&str, &str); 4] = [
    (
        "jules-mail tag add 42 needs-action --persona curator",
        "needs-action\n",
    ),
    ("jules-mail tag ls 42 --persona curator", "needs-action\n"),
    (
        "jules-mail tag rm 42 needs-action --persona curator",
        "Message #42 has no tags.\n",
    ),
    (
        "jules-mail tag ls 42 --persona curator",
        "Message #42 has no tags.\n",
    ),
];

fn typed_by_weaver(office: &Office, lines: &[(&str, &str)]) {
    for (line, printed) in lines {
        let mut shell = office.shell(line);
        shell.env("JULES_PERSONA", "weaver");
        assert_eq!(ran(shell, "").ok().stdout, *printed, "{line}");
    }
}

#[test]
fn every_command_of_the_plan_works_as_it_is_typed_there() {
    let office = Office::new();
    typed_by_weaver(&office, &SECTION);
    typed_by_weaver(&office, &SENDING[..2]);
    // The third says itself who it is.
    assert_eq!(office.prints(SENDING[2].0), SENDING[2].1);
    let send = "jules-mail send --from weaver --to curator --subject Hi --body x";
    office.prints(&format!("for i in $(seq 6 42); do {send}; done"));
    reading(&office);
    typed_by_weaver(&office, &TAGGING);
    inspecting(&office);
}

fn reading(office: &Office) {
    let all = office.prints("jules-mail inbox --persona curator");
    let lines: Vec<&str> = all.lines().collect();
    assert_eq!(lines.len(), 40, "{all}");
    assert_eq!(lines[1], "* #3 | weaver | Question");
    let unread = office.prints("jules-mail inbox --persona curator --unread");
    assert_eq!(unread.lines().count(), 39, "listing marks nothing");
    let shown = office.prints("jules-mail read 42 --persona curator");
    shown.tells(&["Hi"]);
    assert!(shown.ends_with("\n\nx\n"), "{shown}");
    let unread = office.prints("jules-mail inbox --persona curator --unread");
    assert_eq!(unread.lines().count(), 38);
    let inbox = office
        .types("jules-mail inbox --persona curator --json")
        .ok();
    let inbox = inbox.json();
    let last = &inbox["messages"][39];
    last.holds(&json!({ "message_id": 42, "from_persona": "weaver", "tags": [] }));
    assert!(last["read_at"].is_string() && inbox["messages"][38]["read_at"].is_null());
    let conflict = office.json("jules-mail read 4 --persona refactor");
    let link = "https://github.com/owner/repo/pull/123.patch";
    assert_eq!(conflict["message"]["attachments"][0], link);
}

/// The lines of its section on debugging mail.
fn inspecting(office: &Office) {
    let events = office.text().lines().count();
    let seen = office.prints("cat .jules/mail/events.jsonl | jq .");
    assert_eq!(seen.matches("\"event_id\":").count(), events);
    let counted =
        office.prints("cat .jules/mail/events.jsonl | jq -r '.to_persona' | sort | uniq -c");
    let counted: Vec<_> = counted.lines().map(str::trim).collect();
    assert_eq!(counted, ["40 curator", "6 null", "2 refactor"]);
    let told = office.prints("cd .jules/mail; cat events.jsonl | jq empty");
    assert_eq!(told, "");
    let doubles = "jq -r .event_id .jules/mail/events.jsonl | sort | uniq -d";
    assert_eq!(office.prints(doubles), "");
    assert!(office.prints("which jules-mail").ends_with("/jules-mail\n"));
    assert_eq!(
        office.prints("jules-mail stats"),
        "curator: 38 unread of 40\nrefactor: 1 unread of 2\nweaver: 0 unread of 0\n"
    );
    assert_eq!(office.prints("jules-mail log"), office.text());
}

#[test]
fn each_line_of_the_log_has_the_twelve_fields() {
    let office = Office::new();
    office.sent(&["art"]);
    for command in [
        "read 1",
        "tag add 1 x",
        "tag rm 1 x",
        "trash 1",
        "untrash 1",
    ] {
        office.prints(&format!("jules-mail {command} --persona art"));
    }
    let fields = "event_id,ts,event_type,message_id,actor,from_persona,to_persona,subject,body,attachments,read_at,tag";
    let keys =
        office.prints("jq -r 'keys_unsorted | join(\",\")' .jules/mail/events.jsonl | sort -u");
    assert_eq!(keys.trim(), fields);
    let types = office.prints("jq -r '.event_type + \" \" + .actor' .jules/mail/events.jsonl");
    assert_eq!(
        types,
        "send weaver\nread art\ntag_add art\ntag_rm art\ntrash art\nuntrash art\n"
    );
    let dates = office.prints("jq -r .ts .jules/mail/events.jsonl");
    assert!(
        dates
            .lines()
            .all(|date| date.starts_with("20") && date.ends_with('Z'))
    );
}

#[test]
fn what_is_so_already_adds_no_line() {
    let office = Office::new();
    office.sent(&["art"]);
    let twice = |command: &str, printed: &str| {
        for _ in 0..2 {
            let told = office.prints(&format!("jules-mail {command} --persona art"));
            assert_eq!(told, printed);
        }
    };
    let lines = || office.text().lines().count();
    let read = office.prints("jules-mail read 1 --persona art --no-mark-read");
    assert_eq!(lines(), 1);
    twice("read 1", &read);
    twice("tag add 1 x", "x\n");
    twice("trash 1", "Message #1 is in the trash.\n");
    assert_eq!(lines(), 4);
    let none = office.prints("jules-mail inbox --persona art");
    assert!(none.starts_with("No messages for art in "), "{none}");
    twice("untrash 1", "Message #1 is in the inbox.\n");
    let told = office.prints("jules-mail sent --persona weaver");
    assert_eq!(told, "#1 | art | Hi\n");
}

#[test]
fn a_body_is_read_from_standard_input() {
    let office = Office::new();
    let send = "jules-mail send --from weaver --to art --subject Hi --body -";
    office.prints(&format!("printf 'one\\ntwo\\n' | {send}"));
    office.prints(&format!("{send} < /dev/null"));
    office.prints("jules-mail send --from weaver --to art --subject '- a' --body '- b'");
    let inbox = office.json("jules-mail inbox --persona art");
    let bodies = [0, 1, 2].map(|at| inbox["messages"][at]["body"].clone());
    assert_eq!(bodies, ["one\ntwo", "", "- b"]);
}

#[test]
fn mail_to_the_team_is_one_line_for_each_persona() {
    let office = Office::new();
    let all = "jules-mail send --from art --to all@team --subject Hi --body x";
    office.refused(all).is(2, "no_team");
    assert!(!office.file(".jules").exists(), "nothing was sent");
    office.sent(&["art", "bolt", "curator@team", "human"]);
    let inbox = office.prints("jules-mail inbox --persona curator");
    assert_eq!(inbox, "* #3 | weaver | Hi\n");
    let told = office.prints(all);
    assert_eq!(told, "✅ Sent message #5\n✅ Sent message #6\n");
    let bolt = office.prints("jules-mail inbox --persona bolt");
    assert_eq!(bolt, "* #2 | weaver | Hi\n* #5 | art | Hi\n");
}

#[test]
fn mail_to_the_team_reaches_the_personas_that_lie_beside_it() {
    let office = Office::new();
    let names = (1..=22).map(|number| format!("p{number:02}"));
    for name in names.chain(["art".to_owned(), "weaver".to_owned()]) {
        let folder = office.file(&format!(".jules/personas/{name}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("prompt.md"), "Look.\n").unwrap();
    }
    fs::create_dir_all(office.file(".jules/personas/unwritten")).unwrap();
    let all = "jules-mail send --from art --to all@team --subject Hi --body x";
    assert_eq!(office.prints(all).lines().count(), 22);
    let told = office.prints("jules-mail inbox --persona p22");
    assert_eq!(told, "* #22 | art | Hi\n");
    // Who has mail and no file is reached beside them.
    office.sent(&["bolt"]);
    assert_eq!(office.prints(all).lines().count(), 23);
}
