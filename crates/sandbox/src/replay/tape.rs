//! Which recorded answer belongs to a request.

use super::{Answered, Asked, Exchange, Transcript};

/// A recording that is being played: what was written so far decides what is read.
#[derive(Debug)]
pub(super) struct Tape {
    exchanges: Vec<Exchange>,
    played: Vec<bool>,
    /// Behind the last write that was played.
    from: usize,
}

impl Tape {
    /// A recording from its start.
    pub(super) fn new(transcript: Transcript) -> Self {
        let mut tape = Self {
            played: vec![false; transcript.0.len()],
            exchanges: transcript.0,
            from: 0,
        };
        tape.played = (0..tape.exchanges.len())
            .map(|at| tape.repeats(at))
            .collect();
        tape
    }

    /// Whether a reading only says again what the one before it said: how often somebody looked in between is no part of what happened, and whoever replays may look less often.
    fn repeats(&self, at: usize) -> bool {
        let Some(exchange) = self.exchanges.get(at) else {
            return false;
        };
        let since_write = self.exchanges.iter().take(at).rev();
        let mut before = since_write.take_while(|it| it.request.method == "GET");
        let said = (exchange.response.status, &exchange.response.body);
        exchange.request.method == "GET"
            && before
                .find(|it| it.request == exchange.request)
                .is_some_and(|it| (it.response.status, &it.response.body) == said)
    }

    /// The answer to a request; none when it was never recorded, or not yet at this point.
    pub(super) fn answer(&mut self, asked: &Asked) -> Option<Answered> {
        let at = if asked.method == "GET" {
            self.read(asked)
        } else {
            self.write(asked)
        }?;
        if let Some(played) = self.played.get_mut(at) {
            *played = true;
        }
        self.exchanges.get(at).map(|it| it.response.clone())
    }

    /// The next recorded write like this one; everything up to it has happened then.
    fn write(&mut self, asked: &Asked) -> Option<usize> {
        let at = self.find(self.from..self.exchanges.len(), asked, false)?;
        self.from = at + 1;
        Some(at)
    }

    /// The next reading since the last write; when all of them were played, the last one stands.
    fn read(&self, asked: &Asked) -> Option<usize> {
        let rest = self.exchanges.iter().skip(self.from);
        let end = self.from + rest.take_while(|it| it.request.method == "GET").count();
        let fresh = self.find(self.from..end, asked, false);
        fresh.or_else(|| {
            let seen = 0..end;
            seen.rev().find(|at| self.fits(*at, asked))
        })
    }

    fn find(&self, range: std::ops::Range<usize>, asked: &Asked, played: bool) -> Option<usize> {
        let mut range = range;
        range.find(|at| self.fits(*at, asked) && self.played.get(*at) == Some(&played))
    }

    /// Whether a recorded request is this one. The masked body is for people; its digest counts.
    fn fits(&self, at: usize, asked: &Asked) -> bool {
        let Some(Exchange { request, .. }) = self.exchanges.get(at) else {
            return false;
        };
        request.method == asked.method
            && request.path == asked.path
            && request.query == asked.query
            && request.body_digest == asked.body_digest
            && request.wrong_key == asked.wrong_key
    }
}
