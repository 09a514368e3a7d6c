//! The board: deliveries by phase, and who is awaited.

use askama::Template;
use client::wire::DeliveryCard;
use domain::delivery::{Fault, Phase};
use jiff::Timestamp;

use crate::shell::{Frame, Page, Place, Shell, paged};
use crate::trouble::Trouble;
use crate::{Error, text};

/// Longest summary on a card, in characters: a board of 100 cards has to fit into 60 KB.
const SUMMARY_CHARS: usize = 80;

/// Longest sentence on a card, in characters.
const SENTENCE_CHARS: usize = 100;

/// What a board shows.
#[derive(Debug, Clone, Copy)]
pub struct Board<'a> {
    /// The deliveries.
    pub cards: &'a [DeliveryCard],
    /// What keeps them from being known.
    pub troubles: &'a [Trouble],
    /// Whether a sprint goes on only once a person ends its pause.
    pub is_held: bool,
    /// Where the older ones are, if there are any.
    pub older: Option<&'a str>,
}

/// The board.
///
/// # Errors
/// When the template fails.
pub fn board(frame: &Frame, board: Board<'_>) -> Result<Page, Error> {
    let count = |is: fn(&DeliveryCard) -> bool| board.cards.iter().filter(|card| is(card)).count();
    paged(frame, Place::Board, |shell| BoardPage {
        shell,
        troubles: board.troubles,
        older: board.older,
        of_person: count(awaits_person),
        is_held: board.is_held,
        failed: count(|card| has_failed(card) && !card.is_over()),
        shown: board.cards.len(),
        parts: parts(board.cards),
    })
}

#[derive(Template)]
#[template(path = "board.html")]
struct BoardPage<'a> {
    shell: Shell,
    troubles: &'a [Trouble],
    older: Option<&'a str>,
    of_person: usize,
    is_held: bool,
    failed: usize,
    shown: usize,
    parts: Vec<Part<'a>>,
}

/// Integration or delivery, as this trade calls them.
struct Part<'a> {
    id: &'static str,
    name: &'static str,
    lanes: Vec<Lane<'a>>,
}

/// The deliveries of one phase.
struct Lane<'a> {
    id: &'static str,
    name: String,
    cards: Vec<Card<'a>>,
}

struct Card<'a> {
    id: &'a str,
    class: Option<&'static str>,
    mark: &'static str,
    summary: String,
    waits: Option<String>,
    why: Option<String>,
    place: String,
    at: &'a Timestamp,
}

pub(crate) fn has_failed(card: &DeliveryCard) -> bool {
    card.run_status == "failed" && !is_cancelled(card)
}

/// Whether it shows a job that was cancelled. A delivery that was cancelled waits for a person, as one that failed does.
fn is_cancelled(card: &DeliveryCard) -> bool {
    card.is_over() && card.why.code == Fault::Canceled.word()
}

pub(crate) fn awaits_person(card: &DeliveryCard) -> bool {
    card.waits_for.who == "person" && !has_failed(card)
}

fn parts(cards: &[DeliveryCard]) -> Vec<Part<'_>> {
    let lanes = |phases: &[Phase]| -> Vec<Lane<'_>> {
        let lanes = phases.iter().map(|phase| lane(cards, *phase));
        // An intake is over at once, so its lane is shown only while it holds something.
        let is_shown = |lane: &Lane<'_>| lane.id != Phase::Intake.word() || !lane.cards.is_empty();
        lanes.filter(is_shown).collect()
    };
    let mut found = vec![
        Part {
            id: "ci",
            name: "Integration (CI)",
            lanes: lanes(&Phase::CI),
        },
        Part {
            id: "cd",
            name: "Delivery (CD)",
            lanes: lanes(&Phase::CD),
        },
    ];
    let is_odd = |card: &&DeliveryCard| Phase::from_word(&card.phase).is_none();
    let odd = in_order(cards.iter().filter(is_odd).collect());
    if !odd.is_empty() {
        let (id, name) = ("other", "Other phases".to_owned());
        let lanes = vec![Lane {
            id,
            name,
            cards: odd,
        }];
        let (id, name) = ("odd", "Of a later version");
        found.push(Part { id, name, lanes });
    }
    found
}

fn lane(cards: &[DeliveryCard], phase: Phase) -> Lane<'_> {
    let of_phase = cards.iter().filter(|card| card.phase == phase.word());
    Lane {
        id: phase.word(),
        name: text::capital(phase.word()),
        cards: in_order(of_phase.collect()),
    }
}

/// What a person has to look at goes first, then what matters more, then what changed last.
fn in_order(mut cards: Vec<&DeliveryCard>) -> Vec<Card<'_>> {
    cards.sort_by_key(|card| {
        let stands_out = has_failed(card) || awaits_person(card);
        let level = card.priority.level();
        (!stands_out, u8::MAX - level, -card.updated_at.as_second())
    });
    cards.into_iter().map(shown).collect()
}

fn shown(card: &DeliveryCard) -> Card<'_> {
    let waits = &card.waits_for.sentence;
    let why = &card.why.sentence;
    let said =
        |sentence: &str| (!sentence.is_empty()).then(|| text::clip(sentence, SENTENCE_CHARS));
    let issue = card
        .issue
        .as_ref()
        .map(|issue| format!(" #{}", issue.number));
    Card {
        id: card.id.as_str(),
        class: class(card),
        mark: mark(card),
        summary: text::clip(&card.summary, SUMMARY_CHARS),
        waits: said(waits),
        why: said(why).filter(|_| why != waits),
        place: format!("{}{}", card.repo, issue.unwrap_or_default()),
        at: &card.updated_at,
    }
}

fn class(card: &DeliveryCard) -> Option<&'static str> {
    if has_failed(card) {
        Some("f")
    } else {
        awaits_person(card).then_some("p")
    }
}

/// How a delivery goes, told by more than a colour.
pub(crate) fn mark(card: &DeliveryCard) -> &'static str {
    if has_failed(card) {
        return "✕ failed";
    }
    if awaits_person(card) {
        return "● your turn";
    }
    if is_cancelled(card) {
        return "cancelled";
    }
    match (card.run_status.as_str(), card.verdict.as_deref()) {
        ("pending", _) => "pending",
        ("running", _) => "running",
        ("blocked", _) => "blocked",
        ("succeeded", Some("pass")) => "succeeded, pass",
        ("succeeded", Some("not_pass")) => "succeeded, not_pass",
        ("succeeded", _) => "succeeded",
        _ => "?",
    }
}
