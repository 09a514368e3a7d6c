//! Mail out of the machines of sessions: files of an outbox in a pull request, which are sent once and never woven.

use domain::failure::{Failure, FailureClass, Hindrance};
use domain::ids::{Attachment, CommitSha, MailBody, MessageId, PersonaName, Subject};
use domain::mail::{Outgoing, Recipient};
use domain::redact::presentable;
use domain::sprint::{self, Outbox, Sights, Sprint, SprintInput, SprintMember};
use scaffold::tree::{Content, Entry, Tree, TreePath};
use serde::Deserialize;
use weave::patch::{self, Action, FileDiff};
use weave::place::place;

use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::ports::{Artifacts, CommitRange};
use crate::store::Versioned;
use crate::weaving::MAIL;

/// Where a session writes its mail.
const OUTBOX: &str = ".jules/mail/outbox";

/// How many files of one outbox are read.
const FILES_MAX: usize = 20;

/// Longest reason why a file was not sent, in characters.
const FAULT_CHARS_MAX: usize = 300;

/// A file of an outbox. Who wrote it is known already, whatever it says. One with a wish needs no letter around it.
#[derive(Debug, Deserialize)]
struct Written {
    to: Option<Recipient>,
    subject: Option<Subject>,
    body: Option<MailBody>,
    #[serde(default)]
    attachments: Vec<Attachment>,
    /// The message that it answers.
    re: Option<MessageId>,
    /// Whether the change is taken back.
    #[serde(default)]
    withdraw: bool,
    /// Where the change wants to be woven.
    order: Option<WantedPlace>,
}

/// Where a change wants to be woven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WantedPlace {
    /// Before those that are in, if none of them falls out by it.
    First,
}

/// A file that can be sent, or why it cannot.
struct OutboxFile {
    path: String,
    /// The same text under the same path is sent once.
    once: String,
    written: Result<Written, String>,
}

impl Dispatcher {
    /// Collects the mail of outboxes that were not collected. A member whose mail cannot be read now is held back, and no other is.
    /// Returns whether the sprint changed.
    pub(super) async fn collect(
        &self,
        found: &Versioned<Sprint>,
        sights: &mut Sights,
    ) -> Result<bool, Error> {
        let sprint = &found.value;
        let mut collected = Vec::new();
        for (member, outbox) in sprint::uncollected(sprint, sights, self.backend.now()) {
            match self.collect_from(sprint, member, outbox).await? {
                Ok(inputs) => collected.extend(inputs),
                Err(hindrance) => sights.hold_back(&member.job, hindrance),
            }
        }
        match collected.is_empty() {
            true => Ok(false),
            false => self.decide(found, &collected).await,
        }
    }

    /// Sends the mail of an outbox. Returns what follows from it, or what kept it from being read.
    async fn collect_from(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
        outbox: Outbox,
    ) -> Result<Result<Vec<SprintInput>, Hindrance>, Error> {
        let persona = member.persona.clone();
        let (read, once) = match &outbox {
            Outbox::Head { head } => {
                let read = self.outbox_of(sprint, member, head).await;
                (read.map(|files| (files, false)), head.to_string())
            }
            Outbox::Patch => (self.outbox_in_patch(member).await?, "patch".to_owned()),
        };
        let is_read = read.is_ok();
        let (files, is_unopened) = match read {
            Ok(read) => read,
            Err(failure) => {
                let before = member.odd_since.map(|since| Hindrance {
                    why: String::new(),
                    odd_since: Some(since),
                });
                let now = self.backend.now();
                if let Some(hindrance) = Hindrance::of(&failure, before.as_ref(), now) {
                    tracing::warn!(job = %member.job, why = failure.message, "mail of a member is not read yet");
                    return Ok(Err(hindrance));
                }
                // What can never be read to its end is not sent in parts, and blocks nothing.
                let file = OutboxFile::unreadable(&once, &failure.message);
                (vec![file], outbox == Outbox::Patch)
            }
        };
        let mut inputs = vec![SprintInput::Collected {
            persona: persona.clone(),
            outbox,
            is_read,
            is_unopened,
        }];
        for file in files {
            let withdraws = file.written.as_ref().is_ok_and(|written| written.withdraw);
            let wants = file.written.as_ref().ok().and_then(|written| written.order);
            self.send_file(sprint, member, file).await?;
            if wants == Some(WantedPlace::First) {
                let persona = persona.clone();
                inputs.push(SprintInput::WantsFirst { persona });
            }
            if withdraws {
                let persona = persona.clone();
                inputs.push(SprintInput::Withdrawn { persona });
            }
        }
        Ok(Ok(inputs))
    }

    /// The files that a member wrote itself: those that were there when it began are of others.
    async fn outbox_of(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
        head: &CommitSha,
    ) -> Result<Vec<OutboxFile>, Failure> {
        let (git, repo) = (&self.readers.git, &sprint.repo);
        let tree = git.tree(repo, head, &[OUTBOX]).await?;
        if tree.below(OUTBOX).next().is_none() {
            return Ok(Vec::new());
        }
        let woven = sprint.woven.as_ref().filter(|_| member.begins_on_woven());
        let began_on = match woven {
            Some(woven) => Some(woven.commit.clone()),
            None => git.tip(repo, &sprint.target).await?,
        };
        let before = match began_on {
            Some(tip) => {
                let range = CommitRange { base: &tip, head };
                let parted = git.merge_base(repo, range).await?;
                git.tree(repo, &parted, &[OUTBOX]).await?
            }
            None => Tree::default(),
        };
        Ok(found_in(&tree, &before))
    }

    /// The mail that a member wrote whose session ended without a pull request, and whether it changed other files.
    async fn outbox_in_patch(
        &self,
        member: &SprintMember,
    ) -> Result<Result<(Vec<OutboxFile>, bool), Failure>, Error> {
        let found = self.backend.store.job(&member.job).await?;
        let job = found.map(|found| found.value);
        let Some((job, session)) = job.as_ref().and_then(|job| Some((job, job.session()?))) else {
            return Ok(Ok((Vec::new(), false)));
        };
        let read = self.readers.sessions.artifacts(&job.account, session).await;
        Ok(match read {
            Ok(artifacts) => Ok((found_in_artifacts(&artifacts), changes_files(&artifacts))),
            // It is gone with its patch.
            Err(failure) if failure.class == FailureClass::NotFound => Ok((Vec::new(), false)),
            Err(failure) => Err(failure),
        })
    }

    async fn send_file(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
        file: OutboxFile,
    ) -> Result<(), Error> {
        let purpose = format!("outbox:{}:{}", member.job, file.once);
        let outgoing = file.written.and_then(|it| it.outgoing(&member.persona));
        let actor = member.job.to_string();
        let sent = match outgoing {
            Ok(outgoing) => {
                self.sent_or_refused(sprint, &outgoing, purpose.as_str(), actor.as_str())
                    .await?
            }
            Err(fault) => Err(fault),
        };
        let fault = sent.err();
        let fault = fault.and_then(|fault| fault_of(&member.persona, &file.path, &fault));
        if let Some(fault) = fault {
            let purpose = format!("{purpose}:fault");
            self.send_once(sprint, &fault, &purpose).await?;
        }
        Ok(())
    }
}

impl OutboxFile {
    /// What stands for an outbox that cannot be read.
    fn unreadable(once: &str, why: &str) -> Self {
        Self {
            path: OUTBOX.to_owned(),
            once: once.to_owned(),
            written: Err(format!("the folder cannot be read: {why}")),
        }
    }
}

impl Written {
    /// The first field that is left out although nothing stands for it.
    fn missing(&self) -> Option<&'static str> {
        if self.withdraw || self.order.is_some() {
            return None;
        }
        let fields = [
            ("to", self.to.is_some()),
            ("subject", self.subject.is_some()),
            ("body", self.body.is_some()),
        ];
        let missing = fields.into_iter().find(|(_, is_there)| !is_there);
        missing.map(|(field, _)| field)
    }

    fn outgoing(self, from: &PersonaName) -> Result<Outgoing, String> {
        let wish = match self.withdraw {
            true => "Withdraw",
            false => "First",
        };
        let subject = match self.subject {
            Some(subject) => Ok(subject),
            None => wish.parse::<Subject>(),
        };
        let body = self.body.as_ref().map_or("", MailBody::as_str);
        // A body that has no room for the number of what it answers is sent without that.
        let answer = answering(self.re, body).parse::<MailBody>();
        let body = answer.or_else(|_| body.parse::<MailBody>());
        let weaver = || Recipient::Persona(PersonaName::weaver());
        let outgoing = Outgoing {
            from: from.clone(),
            to: self.to.unwrap_or_else(weaver),
            subject: subject.map_err(|why| why.to_string())?,
            body: body.map_err(|why| why.to_string())?,
            attachments: self.attachments,
        };
        outgoing.checked().map_err(|why| why.to_string())
    }
}

/// A body that begins with the number of the message that it answers.
fn answering(re: Option<MessageId>, body: &str) -> String {
    match (re, body) {
        (None, body) => body.to_owned(),
        (Some(re), "") => format!("In answer to {re}"),
        (Some(re), body) => format!("In answer to {re}\n\n{body}"),
    }
}

/// What its persona is told of a file that cannot be sent.
fn fault_of(persona: &PersonaName, path: &str, fault: &str) -> Option<Outgoing> {
    let body = format!(
        "The file `{}` of your outbox was not sent: {}",
        presentable(path, FAULT_CHARS_MAX),
        presentable(fault, FAULT_CHARS_MAX)
    );
    Some(Outgoing {
        from: PersonaName::weaver(),
        to: Recipient::Persona(persona.clone()),
        subject: "A file of your outbox was not sent".parse().ok()?,
        body: body.parse().ok()?,
        attachments: Vec::new(),
    })
}

/// The files of an outbox that were not there before, in order of path. Of very many the last are only named.
fn found_in(tree: &Tree, before: &Tree) -> Vec<OutboxFile> {
    let is_new = |(path, entry): &(&TreePath, &Entry)| {
        let was = before.get(path).map(|it| &it.content);
        path.as_str().ends_with(".json") && was != Some(&entry.content)
    };
    let files: Vec<_> = tree.below(OUTBOX).filter(is_new).collect();
    let found = files.iter().enumerate().map(|(at, (path, entry))| {
        let text = match (&entry.content, entry.mode.is_regular()) {
            (Content::Text(text), true) => Ok(text.as_str()),
            (Content::Text(_), false) => Err("it is no regular file"),
            (Content::NotText, _) => Err("it is not UTF-8"),
            (Content::TooLarge, _) => Err("it is too large"),
        };
        found_file(at, path.as_str(), text)
    });
    found.collect()
}

/// The same of the patch among what a session made. If it is cut off, its last file is not read.
fn found_in_artifacts(artifacts: &Artifacts) -> Vec<OutboxFile> {
    let patch = artifacts.patch.as_deref().unwrap_or_default();
    if !artifacts.patch_cut || !patch.contains(OUTBOX) {
        return found_in_patch(patch);
    }
    let whole = patch
        .rsplit_once("\ndiff --git ")
        .map_or("", |(whole, _)| whole);
    let mut found = found_in_patch(&format!("{whole}\n"));
    found.push(OutboxFile::unreadable(
        "cut",
        "the patch of the session is cut off, so its last files are not read",
    ));
    found
}

/// Whether a session changed files besides mail. What cannot be read counts as a change.
fn changes_files(artifacts: &Artifacts) -> bool {
    let patch = artifacts.patch.as_deref().unwrap_or_default();
    if patch.trim().is_empty() {
        return false;
    }
    match patch::parse(patch.as_bytes()) {
        Ok(parsed) => {
            let mut paths = parsed.changed().into_iter();
            artifacts.patch_cut || paths.any(|path| !path.starts_with(MAIL))
        }
        Err(_) => true,
    }
}

/// The same of a patch, in its order.
fn found_in_patch(patch: &str) -> Vec<OutboxFile> {
    if !patch.contains(OUTBOX) {
        return Vec::new();
    }
    let parsed = match patch::parse(patch.as_bytes()) {
        Ok(parsed) => parsed,
        Err(fault) => return vec![OutboxFile::unreadable("patch", &fault.to_string())],
    };
    let written = parsed.files.iter().filter_map(|file| {
        let path = file.action.target()?;
        let is_mail = path
            .parse::<TreePath>()
            .is_ok_and(|it| it.below(OUTBOX).is_some());
        (is_mail && path.ends_with(".json")).then_some((path, file))
    });
    let found = written.enumerate().map(|(at, (path, file))| {
        let text = created(file);
        found_file(at, path, text.as_deref().map_err(|why| *why))
    });
    found.collect()
}

/// The text of a file that a patch creates.
fn created(file: &FileDiff) -> Result<String, &'static str> {
    match file.action {
        Action::Create(_) => {}
        Action::Delete(_) | Action::Modify(_) | Action::Rename { .. } | Action::Copy { .. } => {
            return Err("it was there before, so write a file with another name");
        }
    }
    let bytes = place(&[], file.body.hunks()).map_err(|_| "its patch cannot be read")?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8")
}

fn found_file(at: usize, path: &str, text: Result<&str, &str>) -> OutboxFile {
    OutboxFile {
        path: path.to_owned(),
        once: format!("{path}:{}", text.unwrap_or_default()),
        written: match at < FILES_MAX {
            true => text.map_err(str::to_owned).and_then(parsed),
            false => Err(format!("an outbox has at most {FILES_MAX} files")),
        },
    }
}

fn parsed(text: &str) -> Result<Written, String> {
    let written: Written = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match written.missing() {
        Some(field) => Err(format!("it has no `{field}`")),
        None => Ok(written),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Result<Written, String> {
        parsed(text)
    }

    #[test]
    fn whoever_a_file_names_it_is_from_its_member() {
        let text =
            r#"{"from": "weaver", "to": "curator", "subject": "Hi", "body": "there", "re": 42}"#;
        let sent = written(text)
            .unwrap()
            .outgoing(&"refactor".parse().unwrap());
        let sent = sent.unwrap();
        assert_eq!(sent.from.as_str(), "refactor");
        assert_eq!(sent.body.as_str(), "In answer to #42\n\nthere");
    }

    #[test]
    fn a_wish_needs_no_letter_around_it() {
        let from = "refactor".parse().unwrap();
        for (text, expected) in [
            (
                r#"{"re": 42, "order": "first"}"#,
                ["weaver", "First", "In answer to #42"],
            ),
            (r#"{"withdraw": true}"#, ["weaver", "Withdraw", ""]),
            (
                r#"{"to": "human", "withdraw": true, "body": "why"}"#,
                ["human", "Withdraw", "why"],
            ),
        ] {
            let sent = written(text).unwrap().outgoing(&from).unwrap();
            let to = sent.to.to_string();
            let sent = [to.as_str(), sent.subject.as_str(), sent.body.as_str()];
            assert_eq!(sent, expected, "{text}");
        }
    }

    #[test]
    fn a_body_without_room_for_what_it_answers_is_sent_as_it_is() {
        let long = "x".repeat(15_990);
        let text = format!(r#"{{"to": "curator", "subject": "Hi", "body": "{long}", "re": 42}}"#);
        let from = "refactor".parse().unwrap();
        let sent = written(&text).unwrap().outgoing(&from).unwrap();
        assert_eq!(sent.body.as_str(), long);
    }

    #[test]
    fn only_new_files_of_a_patch_are_mail() {
        let patch = "diff --git a/.jules/mail/outbox/one.json b/.jules/mail/outbox/one.json\n\
                     new file mode 100644\n--- /dev/null\n+++ b/.jules/mail/outbox/one.json\n\
                     @@ -0,0 +1 @@\n+{\"to\": \"curator\", \"subject\": \"x\", \"body\": \"y\"}\n\
                     diff --git a/.jules/mail/outbox/two.json b/.jules/mail/outbox/two.json\n\
                     --- a/.jules/mail/outbox/two.json\n+++ b/.jules/mail/outbox/two.json\n\
                     @@ -1 +1 @@\n-{\n+{}\n\
                     diff --git a/src/lib.rs b/src/lib.rs\n--- a/src/lib.rs\n+++ b/src/lib.rs\n\
                     @@ -1 +1 @@\n-a\n+b\n";
        let found = found_in_patch(patch);
        assert_eq!(found.len(), 2);
        let first = found[0].written.as_ref().unwrap();
        assert_eq!(first.subject.as_ref().map(Subject::as_str), Some("x"));
        let fault = found[1].written.as_ref().unwrap_err();
        assert!(fault.contains("another name"), "{fault}");
        let cut = &patch[..patch.len() - 4];
        assert!(found_in_patch(cut)[0].written.is_err());
        assert!(found_in_patch("no patch at all").is_empty());
        let artifacts = Artifacts {
            patch: Some(cut.to_owned()),
            patch_cut: true,
            ..Artifacts::default()
        };
        let whole: Vec<_> = found_in_artifacts(&artifacts)
            .iter()
            .map(|it| it.written.is_ok())
            .collect();
        // The last file is not read, which is told beside those that are.
        assert_eq!(whole, [true, false, false]);
    }

    #[test]
    fn a_patch_of_mail_alone_changes_no_files_and_one_that_cannot_be_read_does() {
        let created = |path: &str| {
            format!(
                "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
            )
        };
        let mail = created(".jules/mail/outbox/one.json");
        let source = created("src/lib.rs");
        let both = format!("{mail}{source}");
        let cut = &both[..both.len() - 4];
        let changes = |patch: &str, patch_cut| {
            changes_files(&Artifacts {
                patch: Some(patch.to_owned()),
                patch_cut,
                ..Artifacts::default()
            })
        };
        assert!(!changes_files(&Artifacts::default()));
        assert!(!changes("\n", false) && !changes(&mail, false));
        for changed in [source.as_str(), &both, cut, "no patch at all"] {
            assert!(changes(changed, false), "{changed}");
        }
        assert!(changes(&mail, true), "the rest is not known");
    }

    #[test]
    fn odd_files_are_named_with_what_is_wrong() {
        let many = format!(
            r#"{{"to": "curator", "subject": "x", "body": "y", "attachments": [{}]}}"#,
            [r#""https://github.com/a/b/pull/1""#; 11].join(",")
        );
        for (text, part) in [
            ("", "EOF"),
            (r#"{"to": "curator", "subject": "x"}"#, "body"),
            (r#"{"re": 42, "withdraw": false}"#, "`to`"),
            (r#"{"re": 0, "order": "first"}"#, "message id"),
            (
                r#"{"to": "Curator!", "subject": "x", "body": "y"}"#,
                "persona",
            ),
            (
                r#"{"to": "curator", "subject": "", "body": "y"}"#,
                "subject",
            ),
        ] {
            let fault = written(text).unwrap_err();
            assert!(fault.contains(part), "{fault}");
        }
        let from = "refactor".parse().unwrap();
        let fault = written(&many).unwrap().outgoing(&from).unwrap_err();
        assert!(fault.contains("attachments"), "{fault}");
    }
}
