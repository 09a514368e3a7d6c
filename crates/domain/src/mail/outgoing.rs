//! A message that is to be sent, and to whom it goes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Letter, PERSONAS_MAX};
use crate::ids::{Attachment, InvalidId, MailBody, PersonaName, Subject};
use crate::sprint::MEMBERS_MAX;

/// The persona that stands for the people of an installation.
pub const HUMAN: &str = "human";

/// The personas that Gaffer itself works as.
const OWN: [&str; 5] = ["weaver", "scheduler", "decider", "facilitator", "oracle"];

/// What may stand behind the name of a persona.
const TEAM: &str = "@team";

/// Most messages that one order to the team becomes: no more personas have mail in one repository.
pub const TEAM_MAX: usize = PERSONAS_MAX;

const _: () = assert!(MEMBERS_MAX <= TEAM_MAX, "a whole sprint is reached");

impl PersonaName {
    /// Whether Gaffer itself works as this persona.
    pub fn is_own(&self) -> bool {
        OWN.contains(&self.as_str())
    }

    /// Whether it stands for people.
    pub fn is_human(&self) -> bool {
        self.as_str() == HUMAN
    }
}

/// To whom a message goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Recipient {
    /// One persona: `curator`, or `curator@team`.
    Persona(PersonaName),
    /// Every persona that has mail, or is known by the newest sprint or its file: `all@team`.
    Team,
}

impl FromStr for Recipient {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        match text.strip_suffix(TEAM) {
            Some("all") => Ok(Self::Team),
            name => name.unwrap_or(text).parse().map(Self::Persona),
        }
    }
}

crate::by_text::by_text!(Recipient);

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Persona(name) => write!(f, "{name}"),
            Self::Team => write!(f, "all{TEAM}"),
        }
    }
}

/// What is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Who writes it.
    pub from: PersonaName,
    /// To whom.
    pub to: Recipient,
    /// What it is about.
    pub subject: Subject,
    /// What it says.
    pub body: MailBody,
    /// What it points to.
    pub attachments: Vec<Attachment>,
}

/// Why nothing is sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSent {
    /// It has too many attachments.
    #[error(transparent)]
    Letter(#[from] InvalidId),
    /// The team has no member yet.
    #[error(
        "no other persona is known here yet, by mail, by a sprint or by its file: name one in place of `all@team`"
    )]
    NoTeam,
    /// Too many are.
    #[error("`all@team` is {0} personas here, and one order reaches {max}: name them one by one", max = TEAM_MAX)]
    TeamTooLarge(usize),
}

impl NotSent {
    /// For programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Letter(_) => "too_many_attachments",
            Self::NoTeam => "no_team",
            Self::TeamTooLarge(_) => "team_too_large",
        }
    }
}

impl Outgoing {
    /// Its letters, one for each recipient. The team is every persona that is known, but the sender, Gaffer's own and people.
    pub fn letters<'a>(
        &self,
        known: impl Iterator<Item = &'a PersonaName>,
    ) -> Result<Vec<Letter>, NotSent> {
        let to: Vec<PersonaName> = match &self.to {
            Recipient::Persona(name) => vec![name.clone()],
            Recipient::Team => known.filter(|it| self.is_in_team(it)).cloned().collect(),
        };
        match to.len() {
            0 => Err(NotSent::NoTeam),
            1..=TEAM_MAX => to
                .into_iter()
                .map(|to| self.letter(to).map_err(NotSent::from))
                .collect(),
            more => Err(NotSent::TeamTooLarge(more)),
        }
    }

    fn is_in_team(&self, persona: &PersonaName) -> bool {
        !persona.is_own() && !persona.is_human() && *persona != self.from
    }

    /// The same, if it has no more attachments than a message may have.
    pub fn checked(self) -> Result<Self, InvalidId> {
        self.letter(self.from.clone())?;
        Ok(self)
    }

    fn letter(&self, to: PersonaName) -> Result<Letter, InvalidId> {
        Letter::new(
            self.from.clone(),
            to,
            self.subject.clone(),
            self.body.clone(),
            self.attachments.clone(),
        )
    }
}
