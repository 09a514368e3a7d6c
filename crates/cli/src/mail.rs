//! `gaffer mail` and `jules-mail`: mail between personas, in a file of the repository or in a running Gaffer.

mod backups;
mod place;
mod remote;
mod show;
mod store;

use std::collections::BTreeSet;
use std::env;
use std::path::Path;

use anyhow::{Context, Result};
use domain::ids::{MAIL_BODY_BYTES_MAX, MailBody, PersonaName};
use domain::mail::{
    MailAction, MessageOrder, NotSent, Outgoing, ReceivedMessage, Recipient, RefusedOrder,
};

use crate::args::mail::{
    MailArgs, MailCommand, MessageArgs, PersonaArgs, SendArgs, TagCommand, TaggedArgs,
};
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::{self, Answer};
use crate::site;
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

pub(crate) async fn run(
    args: MailArgs,
    persona: Option<String>,
    here: impl FnOnce() -> Result<CommandContext, Error>,
    as_json: bool,
) -> Result<()> {
    let MailArgs { repo, url, command } = args;
    let Some(repo) = repo else {
        return on_file(command, persona, as_json);
    };
    let client = site::api_client(url, &here()?).await?;
    let remote = remote::Remote {
        client,
        repo,
        persona,
    };
    Box::pin(remote.run(command, as_json)).await
}

/// Runs one of the commands on the file of this repository.
fn on_file(command: MailCommand, persona: Option<String>, as_json: bool) -> Result<()> {
    let here = env::current_dir().context("finding the present folder")?;
    let store = Store::of(&here);
    let office = Office { store, persona };
    let answer = match command {
        MailCommand::Send(args) => office.send(args)?,
        MailCommand::Inbox { whose, unread } => {
            let persona = office.persona(whose)?;
            let mail = office.store.mail()?;
            show::inbox(
                &persona,
                &mail.inbox(&persona, unread),
                &office.store.name(),
            )
        }
        MailCommand::Sent(whose) => {
            let persona = office.persona(whose)?;
            let mail = office.store.mail()?;
            show::sent(&persona, &mail.sent(&persona), &office.store.name())
        }
        MailCommand::Read {
            which,
            no_mark_read,
        } => office.read(which, no_mark_read)?,
        MailCommand::Tag(command) => office.tag(command)?,
        MailCommand::Trash(which) => office.order(which, MessageOrder::Trash)?,
        MailCommand::Untrash(which) => office.order(which, MessageOrder::Untrash)?,
        MailCommand::Log => return office.log(),
        MailCommand::Stats => show::stats(&office.store.mail()?.counts()),
        MailCommand::Verify => return office.verify(as_json),
        MailCommand::Rebuild => show::mended(&office.store.mend(Mending::Rebuild)?, &office.store),
        MailCommand::Restore => show::mended(&office.store.mend(Mending::Restore)?, &office.store),
        MailCommand::Seal => show::sealed(office.store.seal()? as u64),
        MailCommand::Export => return office.export(),
        MailCommand::Import { file } => {
            let imported = office.store.import(&import_of(&file)?)?;
            show::imported(imported.added as u64, imported.there as u64)
        }
    };
    render::answer(&answer, as_json).context("writing the answer")
}

impl Office {
    fn send(&self, args: SendArgs) -> Result<Answer> {
        let from = self.speaker(args.from, "--from")?;
        let actor = from.to_string();
        let outgoing = Outgoing {
            from,
            to: args.to,
            subject: args.subject,
            body: body_of(args.body)?,
            attachments: args.attach,
        };
        let outgoing = outgoing.checked().map_err(wrong)?;
        let beside = match &outgoing.to {
            Recipient::Persona(_) => BTreeSet::new(),
            Recipient::Team => self.store.personas()?,
        };
        // Where there is no mail and no persona there is no team, and nothing is made.
        let make = match outgoing.letters(beside.iter()) {
            Ok(_) => Make::IfMissing,
            Err(_) => Make::Never,
        };
        let sent = self.store.append(make, |log, _| {
            let with_mail = log.mail().counts().into_keys();
            let known: BTreeSet<PersonaName> = with_mail.chain(beside).collect();
            let letters = outgoing.letters(known.iter()).map_err(not_sent)?;
            let (mut steps, mut sent, mut message) = (Vec::new(), Vec::new(), log.next());
            for letter in letters {
                sent.push((message, letter.to.clone()));
                steps.push(Step {
                    message,
                    actor: actor.clone(),
                    what: MailAction::Send(letter),
                });
                message = message.next();
            }
            Ok((steps, sent))
        })?;
        Ok(show::was_sent(&sent))
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
        let message = self.change(which.id, persona, MessageOrder::Read)?;
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
            TagCommand::Add(args) => (args, MessageOrder::TagAdd as fn(_) -> _),
            TagCommand::Rm(args) => (args, MessageOrder::TagRm as fn(_) -> _),
        };
        let message = self.change(id, self.persona(whose)?, order(tag))?;
        Ok(show::tags(&message))
    }

    fn order(&self, which: MessageArgs, order: MessageOrder) -> Result<Answer> {
        let persona = self.persona(which.whose)?;
        let message = self.change(which.id, persona, order)?;
        Ok(show::moved(&message))
    }

    /// Carries an order out, and returns the message as it is then.
    fn change(
        &self,
        id: domain::ids::MessageId,
        persona: PersonaName,
        order: MessageOrder,
    ) -> Result<ReceivedMessage> {
        self.store.append(Make::Never, |log, now| {
            let mail = log.mail();
            let ordered = mail.ordered(id, &persona, order, now);
            let what = ordered.map_err(refused)?;
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
        let (events, pages) = (verified.events as u64, verified.pages as u64);
        render::answer(&show::verified(&verified.faults, events, pages), as_json)
            .context("writing the answer")?;
        if verified.faults.is_empty() {
            return Ok(());
        }
        if let Some(broken) = &verified.broken_page {
            return Err(broken_backups(broken).into());
        }
        let what = format!("the mail is broken; faults: {}", verified.faults.len());
        let next =
            "mend it with `jules-mail restore` if it has backups, else with `jules-mail rebuild`";
        Err(Error::refused("broken_mail", what, next).into())
    }

    fn persona(&self, whose: PersonaArgs) -> Result<PersonaName> {
        self.speaker(whose.persona, "--persona")
    }

    fn speaker(&self, named: Option<PersonaName>, option: &str) -> Result<PersonaName> {
        speaker(named, self.persona.as_ref(), option)
    }
}

/// Who it is: as named, else as the environment says.
fn speaker(named: Option<PersonaName>, set: Option<&String>, option: &str) -> Result<PersonaName> {
    if let Some(named) = named {
        return Ok(named);
    }
    let Some(set) = set else {
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

fn import_of(file: &Path) -> Result<Vec<u8>> {
    match file.as_os_str() == "-" {
        true => stdin::bytes_of_stdin(IMPORT_BYTES_MAX),
        false => stdin::bytes_of_file(file, IMPORT_BYTES_MAX),
    }
}

/// What a message says, as given or from the pipe.
fn body_of(given: String) -> Result<MailBody> {
    let body = match given.as_str() {
        "-" => piped_body()?,
        _ => given,
    };
    Ok(body.parse().map_err(wrong)?)
}

/// A line break at the end is that of the command before the pipe.
fn piped_body() -> Result<String> {
    let limit = MAIL_BODY_BYTES_MAX as u64;
    let bytes = stdin::bytes_of_stdin(limit).context("reading the body from standard input")?;
    let text = String::from_utf8(bytes).map_err(|_| {
        let what = "the body on standard input is not UTF-8";
        Error::usage(what, "give text in UTF-8: nothing was sent")
    })?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn wrong(error: domain::ids::InvalidId) -> Error {
    Error::usage(error.to_string(), "give another one: nothing was sent")
}

fn not_sent(error: NotSent) -> Error {
    let code = error.code();
    match error {
        NotSent::Letter(error) => wrong(error),
        NotSent::NoTeam | NotSent::TeamTooLarge(_) => {
            let next = "give another `--to`: nothing was sent";
            Error::as_by_api(code, error.to_string(), next)
        }
    }
}

fn no_such(error: domain::mail::NoSuchMessage) -> Error {
    no_such_of(&error, "")
}

/// There is no such message; the mail is that which these further arguments choose.
fn no_such_of(error: &domain::mail::NoSuchMessage, of: &str) -> Error {
    let next = format!(
        "`jules-mail inbox --persona {}{of}` lists those there are",
        error.persona
    );
    Error::refused("no_such", error.to_string(), next)
}

fn refused(refused: RefusedOrder) -> Error {
    match refused {
        RefusedOrder::NoSuch(missing) => no_such(missing),
        RefusedOrder::Tags(_) => {
            let next = "take one off with `jules-mail tag rm`";
            Error::as_by_api("too_many_tags", refused.to_string(), next)
        }
    }
}

/// What to do about a page of the backups that cannot be relied on.
const BROKEN_PAGE_NEXT: &str = "move this page and those after it away; then mend a log that is broken too with `jules-mail restore`, or without pages with `jules-mail rebuild`, and `jules-mail seal` makes the pages anew";

/// A page of the backups cannot be relied on.
fn broken_backups(broken: &str) -> Error {
    Error::refused("broken_backups", broken.to_owned(), BROKEN_PAGE_NEXT)
}

/// There is nothing to restore from.
fn nothing_sealed(broken: Option<&str>) -> Error {
    let (what, next) = match broken {
        None => (
            "the mail has no backups".to_owned(),
            "keep what is valid with `jules-mail rebuild`",
        ),
        Some(broken) => (
            format!("the mail has no backups that can be used: {broken}"),
            BROKEN_PAGE_NEXT,
        ),
    };
    Error::refused("no_backup", what, next)
}
