//! `gaffer mail` and `jules-mail`: mail between personas, in a file of the repository.

mod backups;
mod place;
mod show;
mod store;

use std::env;

use anyhow::{Context, Result};
use domain::ids::{MAIL_BODY_BYTES_MAX, PersonaName};
use domain::mail::{Letter, MailAction, Message, Order};

use crate::args::mail::{MailCommand, MessageArgs, PersonaArgs, SendArgs, TagCommand, TaggedArgs};
use crate::error::Error;
use crate::render::{self, Answer};
use crate::stdin;
use store::{Make, Mending, Step, Store};

/// Largest import, in bytes: a hundred thousand messages of usual length have about so many.
const IMPORT_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// What a command is about.
struct Office {
    store: Store,
    /// Whose mailbox it is, as the environment says.
    persona: Option<String>,
}

/// Runs one of the commands.
pub(crate) fn run(command: MailCommand, persona: Option<String>, as_json: bool) -> Result<()> {
    let here = env::current_dir().context("finding the present folder")?;
    let store = Store::of(&here);
    let office = Office { store, persona };
    let answer = match command {
        MailCommand::Send(args) => office.send(args)?,
        MailCommand::Inbox { whose, unread } => {
            let persona = office.persona(whose)?;
            let mail = office.store.mail()?;
            show::inbox(&persona, &mail.inbox(&persona, unread))
        }
        MailCommand::Sent(whose) => {
            let persona = office.persona(whose)?;
            let mail = office.store.mail()?;
            show::sent(&persona, &mail.sent(&persona))
        }
        MailCommand::Read {
            which,
            no_mark_read,
        } => office.read(which, no_mark_read)?,
        MailCommand::Tag(command) => office.tag(command)?,
        MailCommand::Trash(which) => office.order(which, Order::Trash)?,
        MailCommand::Untrash(which) => office.order(which, Order::Untrash)?,
        MailCommand::Log => return office.log(),
        MailCommand::Stats => show::stats(&office.store.mail()?.counts()),
        MailCommand::Verify => return office.verify(as_json),
        MailCommand::Rebuild => show::mended(&office.store.mend(Mending::Rebuild)?, &office.store),
        MailCommand::Restore => show::mended(&office.store.mend(Mending::Restore)?, &office.store),
        MailCommand::Seal => show::sealed(office.store.seal()?),
        MailCommand::Export => return office.export(),
        MailCommand::Import { file } => {
            let other = match file.as_os_str() == "-" {
                true => stdin::bytes_of_stdin(IMPORT_BYTES_MAX)?,
                false => stdin::bytes_of_file(&file, IMPORT_BYTES_MAX)?,
            };
            show::imported(office.store.import(&other)?)
        }
    };
    render::answer(&answer, as_json).context("writing the answer")
}

impl Office {
    fn send(&self, args: SendArgs) -> Result<Answer> {
        let from = self.speaker(args.from, "--from")?;
        let body = match args.body.as_str() {
            "-" => piped_body()?,
            _ => args.body,
        };
        let body = body.parse().map_err(wrong)?;
        let actor = from.to_string();
        let letter = Letter::new((from, args.to), args.subject, body, args.attach);
        let letter = letter.map_err(wrong)?;
        let to = letter.to.clone();
        let sent = self.store.append(Make::IfMissing, |log, _| {
            let message = log.next();
            let what = MailAction::Send(letter);
            let step = Step {
                message,
                actor,
                what,
            };
            Ok((vec![step], message))
        })?;
        Ok(show::was_sent(sent, &to))
    }

    /// Shows a message, and marks it unless that is not wanted.
    fn read(&self, which: MessageArgs, no_mark_read: bool) -> Result<Answer> {
        let persona = self.persona(which.whose)?;
        if no_mark_read {
            let mail = self.store.mail()?;
            return Ok(show::message(
                mail.message(which.id, &persona).map_err(no_such)?,
            ));
        }
        let message = self.change((which.id, persona), Order::Read)?;
        Ok(show::message(&message))
    }

    fn tag(&self, command: TagCommand) -> Result<Answer> {
        let (TaggedArgs { id, tag, whose }, order) = match command {
            TagCommand::Ls(which) => {
                let persona = self.persona(which.whose)?;
                let mail = self.store.mail()?;
                return Ok(show::tags(
                    mail.message(which.id, &persona).map_err(no_such)?,
                ));
            }
            TagCommand::Add(args) => (args, Order::TagAdd as fn(_) -> _),
            TagCommand::Rm(args) => (args, Order::TagRm as fn(_) -> _),
        };
        let message = self.change((id, self.persona(whose)?), order(tag))?;
        Ok(show::tags(&message))
    }

    fn order(&self, which: MessageArgs, order: Order) -> Result<Answer> {
        let persona = self.persona(which.whose)?;
        let message = self.change((which.id, persona), order)?;
        Ok(show::moved(&message))
    }

    /// Carries an order out, and returns the message as it is then.
    fn change(
        &self,
        (id, persona): (domain::ids::MessageId, PersonaName),
        order: Order,
    ) -> Result<Message> {
        self.store.append(Make::Never, |log, now| {
            let mail = log.mail();
            let ordered = mail.ordered((id, &persona), order, now);
            let what = ordered.map_err(no_such)?;
            let message = mail.message(id, &persona).map_err(no_such)?;
            let mut message = message.clone();
            let mut steps = Vec::new();
            if let Some(what) = what {
                message.apply(&what);
                steps.push(Step {
                    message: id,
                    actor: persona.to_string(),
                    what,
                });
            }
            Ok((steps, message))
        })
    }

    /// A log that is broken is printed as it is, and then told to be.
    fn log(&self) -> Result<()> {
        let (bytes, whole) = self.store.raw()?;
        render::raw(&bytes).context("writing the log")?;
        whole
    }

    fn export(&self) -> Result<()> {
        let (bytes, whole) = self.store.raw()?;
        whole?;
        let end: &[u8] = match bytes.last() {
            Some(last) if *last != b'\n' => b"\n",
            Some(_) | None => b"",
        };
        render::raw(&[&bytes, end].concat()).context("writing the events")
    }

    fn verify(&self, as_json: bool) -> Result<()> {
        let verified = self.store.verify()?;
        render::answer(&show::verified(&verified), as_json).context("writing the answer")?;
        if verified.faults.is_empty() {
            return Ok(());
        }
        let what = format!("the mail is broken; faults: {}", verified.faults.len());
        let next =
            "mend it with `jules-mail restore` if it has backups, else with `jules-mail rebuild`";
        Err(Error::refused("broken_mail", what, next).into())
    }

    fn persona(&self, whose: PersonaArgs) -> Result<PersonaName> {
        self.speaker(whose.persona, "--persona")
    }

    /// Who it is: as named, else as the environment says.
    fn speaker(&self, named: Option<PersonaName>, option: &str) -> Result<PersonaName> {
        if let Some(named) = named {
            return Ok(named);
        }
        let Some(set) = &self.persona else {
            let what = "it is not known whose mail this is about";
            let next = format!("give `{option} PERSONA`, or set JULES_PERSONA");
            return Err(Error::refused("no_persona", what, next).into());
        };
        set.parse().map_err(|error| {
            let what = format!("JULES_PERSONA cannot be used: {error}");
            let next = format!("set it anew, or give `{option} PERSONA`");
            Error::usage(what, next).into()
        })
    }
}

/// A line break at the end is that of the command before the pipe.
fn piped_body() -> Result<String> {
    let limit = MAIL_BODY_BYTES_MAX as u64;
    let text = stdin::of_stdin(limit).context("reading the body from standard input")?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn wrong(error: domain::ids::InvalidId) -> Error {
    Error::usage(error.to_string(), "give another one: nothing was sent")
}

fn no_such(error: domain::mail::NoSuchMessage) -> Error {
    let next = format!(
        "`jules-mail inbox --persona {}` lists those there are",
        error.persona
    );
    Error::refused("no_such", error.to_string(), next)
}

/// A page of the backups cannot be relied on.
fn broken_backups(broken: &str) -> Error {
    let next = "move this page and those after it away, then `jules-mail seal` makes them anew";
    Error::refused("broken_backups", broken.to_owned(), next)
}

/// There is nothing to restore from.
fn nothing_sealed(broken: Option<&str>) -> Error {
    let what = broken.map_or_else(
        || "the mail has no backups".to_owned(),
        |broken| format!("the mail has no backups that can be used: {broken}"),
    );
    let next = "keep what is valid with `jules-mail rebuild`";
    Error::refused("no_backup", what, next)
}
