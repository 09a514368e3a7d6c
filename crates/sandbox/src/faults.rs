//! One switchboard for the faults of both servers and of the agents' receiver, and the read-after-write lags.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which server a request reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    /// The Jules API.
    Jules,
    /// The GitHub API.
    #[serde(rename = "github")]
    GitHub,
    /// An agent's receiver.
    Agent,
}

/// How often a fault strikes before it is used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Times {
    /// Until it is cleared.
    #[default]
    Always,
    /// For the next so many matching requests.
    Next(u32),
}

/// One fault that is switched on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The server it strikes.
    pub service: Service,
    /// Strikes requests whose path and query contain this; empty strikes all.
    #[serde(default)]
    pub path_contains: String,
    /// Strikes only this method (upper case); none strikes all.
    #[serde(default)]
    pub method: Option<String>,
    /// Strikes only requests whose body contains this; empty strikes all.
    #[serde(default)]
    pub body_contains: String,
    /// The kind of fault.
    pub kind: FaultKind,
    /// How often.
    #[serde(default)]
    pub times: Times,
}

/// A kind of fault in a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FaultKind {
    /// Answers this status and nothing happens: 5xx, 429, a 403 of the secondary limit, a missing permission.
    Status {
        /// The HTTP status.
        code: u16,
        /// A `Retry-After` header in seconds.
        #[serde(default)]
        retry_after_secs: Option<u64>,
        /// The JSON body; `None` means the service's usual error shape.
        #[serde(default)]
        body: Option<Value>,
    },
    /// The effect happens, then the status is answered as if it had not.
    StatusAfterEffect {
        /// The HTTP status.
        code: u16,
    },
    /// The effect happens, then the connection is dropped without an answer.
    CutAfterEffect,
    /// The connection is dropped before anything happens.
    CutBefore,
    /// The effect happens, then the body stops in the middle of its JSON.
    TruncatedPage,
    /// The effect happens, then a proxy's HTML page is answered with status 200.
    HtmlInstead,
    /// The effect happens, then the answer waits this long in real time.
    SlowerThan {
        /// Milliseconds of real time.
        millis: u64,
    },
    /// GitHub: `mergeable` is null in the answer.
    MergeableNull,
    /// GitHub: `merge_commit_sha` is null in the answer.
    NullSha,
}

impl FaultKind {
    /// Answers this status in the service's usual error shape, and nothing happens.
    #[must_use]
    pub const fn status(code: u16) -> Self {
        Self::Status {
            code,
            retry_after_secs: None,
            body: None,
        }
    }
}

/// How long after a write the reads still show the old picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lags {
    /// A new Jules session answers 404 to get, activities, messages and approvals for this long.
    pub create: SignedDuration,
    /// A new Jules session is missing in the list for this long.
    pub list: SignedDuration,
    /// A new activity is missing in reads for this long.
    pub activities: SignedDuration,
    /// An approved session still shows `AWAITING_PLAN_APPROVAL` for this long.
    pub approve: SignedDuration,
    /// GitHub check runs appear this much late.
    pub checks: SignedDuration,
    /// GitHub's `mergeable` is null for this long after a change.
    pub mergeable: SignedDuration,
}

/// The switchboard; clones switch the same faults.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    board: Arc<Mutex<Board>>,
}

#[derive(Debug, Default)]
struct Board {
    faults: Vec<Fault>,
    lags: Lags,
}

impl Faults {
    /// Switches a fault on; earlier ones strike first.
    pub fn add(&self, fault: Fault) {
        self.board().faults.push(fault);
    }

    /// Switches all faults off; the lags stay.
    pub fn clear(&self) {
        self.board().faults.clear();
    }

    /// The faults that are on.
    #[must_use]
    pub fn list(&self) -> Vec<Fault> {
        self.board().faults.clone()
    }

    /// Switches one fault off: the first that is equal to this one. What is not on stays off.
    pub fn remove(&self, fault: &Fault) {
        let mut board = self.board();
        if let Some(at) = board.faults.iter().position(|it| it == fault) {
            board.faults.remove(at);
        }
    }

    /// Whether any fault depends on the bodies of requests.
    pub(crate) fn read_bodies(&self) -> bool {
        let board = self.board();
        board.faults.iter().any(|it| !it.body_contains.is_empty())
    }

    /// The fault that strikes this request, and uses up one of its times.
    #[must_use]
    pub fn take(
        &self,
        service: Service,
        method: &str,
        path: &str,
        body: &str,
    ) -> Option<FaultKind> {
        let mut board = self.board();
        let at = board.faults.iter().position(|fault| {
            fault.strikes(service, method, path) && body.contains(&fault.body_contains)
        })?;
        let kind = board.faults.get(at)?.kind.clone();
        if board.faults.get_mut(at).is_some_and(Fault::use_one) {
            board.faults.remove(at);
        }
        Some(kind)
    }

    /// The present lags.
    #[must_use]
    pub fn lags(&self) -> Lags {
        self.board().lags
    }

    /// Sets all lags.
    pub fn set_lags(&self, lags: Lags) {
        self.board().lags = lags;
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FaultKind {
    /// A word for it, as the log has it.
    #[must_use]
    pub fn word(&self) -> String {
        let word = match self {
            Self::Status { code, .. } => return code.to_string(),
            Self::StatusAfterEffect { code } => return format!("{code} after effect"),
            Self::CutAfterEffect => "cut after effect",
            Self::CutBefore => "cut before",
            Self::TruncatedPage => "truncated page",
            Self::HtmlInstead => "html instead",
            Self::SlowerThan { millis } => return format!("{millis} ms slow"),
            Self::MergeableNull => "mergeable null",
            Self::NullSha => "sha null",
        };
        word.to_owned()
    }
}

impl Fault {
    /// A fault of `kind` on every request of `service` whose path contains `path_contains`, until cleared.
    #[must_use]
    pub fn new(service: Service, path_contains: &str, kind: FaultKind) -> Self {
        let path_contains = path_contains.to_owned();
        Self {
            service,
            path_contains,
            method: None,
            body_contains: String::new(),
            kind,
            times: Times::Always,
        }
    }

    /// The same, only on `method`.
    #[must_use]
    pub fn on(mut self, method: &str) -> Self {
        self.method = Some(method.to_owned());
        self
    }

    /// The same, only on requests whose body contains `text`.
    #[must_use]
    pub fn saying(mut self, text: &str) -> Self {
        self.body_contains = text.to_owned();
        self
    }

    /// The same, only on the next `count` matching requests.
    #[must_use]
    pub fn next(mut self, count: u32) -> Self {
        self.times = Times::Next(count);
        self
    }

    fn strikes(&self, service: Service, method: &str, path: &str) -> bool {
        self.service == service
            && self.times != Times::Next(0)
            && self
                .method
                .as_deref()
                .is_none_or(|it| it.eq_ignore_ascii_case(method))
            && path.contains(&self.path_contains)
    }

    /// Counts one strike; true when the fault is used up.
    fn use_one(&mut self) -> bool {
        match &mut self.times {
            Times::Always => false,
            Times::Next(left) => {
                *left = left.saturating_sub(1);
                *left == 0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_strikes_its_service_method_and_path_so_many_times() {
        let faults = Faults::default();
        faults.add(
            Fault::new(Service::Jules, "/sessions", FaultKind::CutBefore)
                .on("POST")
                .next(2),
        );

        assert_eq!(faults.take(Service::GitHub, "POST", "/sessions", ""), None);
        assert_eq!(faults.take(Service::Jules, "GET", "/sessions", ""), None);
        assert_eq!(faults.take(Service::Jules, "POST", "/sources", ""), None);
        assert_eq!(
            faults.take(Service::Jules, "POST", "/sessions", ""),
            Some(FaultKind::CutBefore)
        );
        assert_eq!(
            faults.take(Service::Jules, "POST", "/sessions/1:sendMessage", ""),
            Some(FaultKind::CutBefore)
        );
        assert_eq!(faults.take(Service::Jules, "POST", "/sessions", ""), None);
    }

    #[test]
    fn earlier_faults_strike_first_and_clear_removes_them() {
        let faults = Faults::default();
        faults.add(Fault::new(Service::GitHub, "", FaultKind::HtmlInstead).next(1));
        faults.add(Fault::new(Service::GitHub, "", FaultKind::TruncatedPage));

        assert_eq!(
            faults.take(Service::GitHub, "GET", "/user", ""),
            Some(FaultKind::HtmlInstead)
        );
        assert_eq!(
            faults.take(Service::GitHub, "GET", "/user", ""),
            Some(FaultKind::TruncatedPage)
        );
        assert_eq!(faults.list().len(), 1, "the first is used up and gone");
        faults.clear();
        assert_eq!(faults.take(Service::GitHub, "GET", "/user", ""), None);
    }

    #[test]
    fn a_fault_may_wait_for_what_a_request_says_and_be_taken_back() {
        let faults = Faults::default();
        let fault = Fault::new(Service::Jules, "", FaultKind::CutBefore).saying("cart");
        faults.add(fault.clone());
        assert!(faults.read_bodies());
        let post = |body: &str| faults.take(Service::Jules, "POST", "/sessions", body);
        assert_eq!(post("the shop"), None);
        assert_eq!(post("the cart"), Some(FaultKind::CutBefore));

        faults.remove(&fault);
        assert_eq!(post("the cart"), None);
        assert!(!faults.read_bodies());
    }
}
