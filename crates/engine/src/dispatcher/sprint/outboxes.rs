//! Mail out of the machines of sessions: files of an outbox in a pull request, which are sent once and never woven.

use domain::failure::{Failure, FailureClass};
use domain::ids::{Attachment, CommitSha, MailBody, PersonaName, Subject};
use domain::mail::{Outgoing, Recipient};
use domain::redact::presentable;
use domain::sprint::{Input, Sprint, SprintMember};
use scaffold::tree::{Content, Entry, Tree, TreePath};
use serde::Deserialize;

use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::store::Versioned;

/// Where a session writes its mail.
const OUTBOX: &str = ".jules/mail/outbox";

/// How many files of one outbox are read.
const FILES_MAX: usize = 20;

/// Longest reason why a file was not sent, in characters.
const FAULT_CHARS_MAX: usize = 300;

/// A file of an outbox. Who wrote it is known already, whatever it says.
#[derive(Debug, Deserialize)]
struct Written {
    to: Recipient,
    subject: Subject,
    body: MailBody,
    #[serde(default)]
    attachments: Vec<Attachment>,
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
struct Found {
    path: String,
    /// The same text under the same path is sent once.
    once: String,
    written: Result<Written, String>,
}

impl Dispatcher {
    /// Collects the mail of heads whose mail was not collected. Returns whether the sprint changed.
    pub(super) async fn collect(&self, found: &Versioned<Sprint>) -> Result<bool, Error> {
        let sprint = &found.value;
        let mut collected = Vec::new();
        for member in &sprint.members {
            let head = member.offer.as_ref().map(|offer| &offer.head);
            if let Some(head) = head.filter(|head| member.collected.as_ref() != Some(*head)) {
                collected.extend(self.collect_from(sprint, member, head).await?);
            }
        }
        match collected.is_empty() {
            true => Ok(false),
            false => self.decide(found, &collected).await,
        }
    }

    async fn collect_from(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
        head: &CommitSha,
    ) -> Result<Vec<Input>, Error> {
        let persona = member.persona.clone();
        let mut inputs = vec![Input::Collected {
            persona: persona.clone(),
            head: head.clone(),
        }];
        let files = match self.outbox_of(sprint, member, head).await {
            Ok(files) => files,
            // What cannot be read to its end is not sent in parts, and blocks nothing.
            Err(failure) if failure.class == FailureClass::Garbled => {
                vec![Found::unreadable(head, &failure.message)]
            }
            Err(failure) => return Err(failure.into()),
        };
        for file in files {
            let withdraws = file.written.as_ref().is_ok_and(|written| written.withdraw);
            let wants = file.written.as_ref().ok().and_then(|written| written.order);
            self.send_file(sprint, member, file).await?;
            if wants == Some(WantedPlace::First) {
                let persona = persona.clone();
                inputs.push(Input::WantsFirst { persona });
            }
            if withdraws {
                let persona = persona.clone();
                inputs.push(Input::Withdrawn { persona });
            }
        }
        Ok(inputs)
    }

    /// The files that a member wrote itself: those that were there when it began are of others.
    async fn outbox_of(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
        head: &CommitSha,
    ) -> Result<Vec<Found>, Failure> {
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
                let parted = git.merge_base(repo, (&tip, head)).await?;
                git.tree(repo, &parted, &[OUTBOX]).await?
            }
            None => Tree::default(),
        };
        Ok(found_in(&tree, &before))
    }

    async fn send_file(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
        file: Found,
    ) -> Result<(), Error> {
        let purpose = format!("outbox:{}:{}", member.job, file.once);
        let outgoing = file.written.and_then(|it| it.outgoing(&member.persona));
        let sent = match outgoing {
            Ok(outgoing) => self.sent_or_refused(sprint, &outgoing, &purpose).await?,
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

impl Found {
    /// What stands for an outbox that cannot be read.
    fn unreadable(head: &CommitSha, why: &str) -> Self {
        Self {
            path: OUTBOX.to_owned(),
            once: head.to_string(),
            written: Err(format!("the folder cannot be read: {why}")),
        }
    }
}

impl Written {
    fn outgoing(self, from: &PersonaName) -> Result<Outgoing, String> {
        let outgoing = Outgoing {
            from: from.clone(),
            to: self.to,
            subject: self.subject,
            body: self.body,
            attachments: self.attachments,
        };
        outgoing.checked().map_err(|why| why.to_string())
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
fn found_in(tree: &Tree, before: &Tree) -> Vec<Found> {
    let is_new = |(path, entry): &(&TreePath, &Entry)| {
        let was = before.get(path).map(|it| &it.content);
        path.as_str().ends_with(".json") && was != Some(&entry.content)
    };
    let files: Vec<_> = tree.below(OUTBOX).filter(is_new).collect();
    let found = files.iter().enumerate().map(|(at, (path, entry))| {
        let too_many = format!("an outbox has at most {FILES_MAX} files");
        let text = match (&entry.content, entry.mode.is_regular()) {
            (Content::Text(text), true) => Ok(text.as_str()),
            (Content::Text(_), false) => Err("it is no regular file"),
            (Content::NotText, _) => Err("it is not UTF-8"),
            (Content::TooLarge, _) => Err("it is too large"),
        };
        Found {
            path: path.as_str().to_owned(),
            once: format!("{path}:{}", text.unwrap_or_default()),
            written: match at < FILES_MAX {
                true => text.map_err(str::to_owned).and_then(parsed),
                false => Err(too_many),
            },
        }
    });
    found.collect()
}

fn parsed(text: &str) -> Result<Written, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
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
        assert_eq!(sent.unwrap().from.as_str(), "refactor");
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
