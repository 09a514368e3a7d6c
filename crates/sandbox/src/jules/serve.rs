//! What each method of the API does to the state and answers.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::Jules;
use super::activity::Activity;
use super::call::Call;
use super::draft;
use super::query::{
    self, DEFAULT_ACTIVITY_PAGE, DEFAULT_PAGE, Query, SessionChoice, activity_filter, coerced,
    session_filter, source_filter,
};
use super::refusal::JulesRefusal;
use super::session::{Session, Shadow};
use super::switches::{Order, Switches};
use super::world::JulesWorld;
use crate::clock::plus;
use crate::faults::Lags;
use crate::scenario::AccountSetup;

/// Who asks, what for, and when.
pub(crate) struct Visit {
    pub(crate) account: AccountSetup,
    pub(crate) query: Query,
    pub(crate) now: Timestamp,
    pub(crate) lags: Lags,
}

/// What a method answers with status 200.
pub(crate) enum Answer {
    Json(Value),
    Nothing,
}

impl Jules {
    /// Counts a request by its method, whatever its outcome.
    pub(crate) fn count(&self, call: &Call<'_>) {
        self.counters.count(|it| match call {
            Call::CreateSession => it.create_calls += 1,
            Call::ApprovePlan { .. } => it.approve_calls += 1,
            Call::SendMessage { .. } => it.message_calls += 1,
            Call::ListSources
            | Call::GetSource { .. }
            | Call::ListSessions
            | Call::GetSession { .. }
            | Call::DeleteSession { .. }
            | Call::Archive { .. }
            | Call::Unarchive { .. }
            | Call::ListActivities { .. }
            | Call::GetActivity { .. } => {}
        });
    }

    pub(crate) fn serve(
        &self,
        world: &mut JulesWorld,
        call: &Call<'_>,
        visit: &Visit,
        body: &[u8],
    ) -> Result<Answer, JulesRefusal> {
        match *call {
            Call::ListSources => self.list_sources(world, visit),
            Call::GetSource { repo } => self.get_source(world, repo),
            Call::CreateSession => self.create(world, visit, body),
            Call::ListSessions => list_sessions(world, visit),
            Call::GetSession { id } => {
                let index = visit.find(world, id)?;
                Ok(session_answer(world, index, visit))
            }
            Call::DeleteSession { id } => {
                let index = visit.find(world, id)?;
                self.counters.count(|it| it.deletes += 1);
                world.delete(index);
                Ok(Answer::Nothing)
            }
            Call::ApprovePlan { id } => self.approve_plan(world, visit, id, body),
            Call::SendMessage { id } => self.send_message(world, visit, id, body),
            Call::Archive { id } => self.set_archived(world, visit, (id, true), body),
            Call::Unarchive { id } => self.set_archived(world, visit, (id, false), body),
            Call::ListActivities { id } => list_activities(world, visit, id),
            Call::GetActivity { id, activity } => get_activity(world, visit, id, activity),
        }
    }

    fn create(
        &self,
        world: &mut JulesWorld,
        visit: &Visit,
        body: &[u8],
    ) -> Result<Answer, JulesRefusal> {
        let id = world.create(&visit.account, body, visit.now)?;
        self.counters.count(|it| it.creates += 1);
        let session = world
            .sessions
            .iter()
            .find(|it| it.id == id)
            .ok_or_else(JulesRefusal::not_found)?;
        let mut shown = session.to_json(visit.now, &world.settings);
        if let (false, Some(members)) = (
            world.settings.switches.state_on_create,
            shown.as_object_mut(),
        ) {
            members.remove("state");
        }
        Ok(Answer::Json(shown))
    }

    fn approve_plan(
        &self,
        world: &mut JulesWorld,
        visit: &Visit,
        id: &str,
        body: &[u8],
    ) -> Result<Answer, JulesRefusal> {
        no_members(body, &world.settings.switches)?;
        let index = visit.find(world, id)?;
        let Some((session, stage)) = world.on_stage(index, visit.now, &self.github) else {
            return Err(JulesRefusal::not_found());
        };
        if session.pending_plan().is_none() {
            let accepted = stage.settings.switches.approve_without_plan_accepted;
            return if accepted {
                Ok(Answer::Nothing)
            } else {
                Err(JulesRefusal::precondition())
            };
        }
        let (state, since) = (session.state.clone(), session.state_since);
        session.approve(&stage);
        session.shadow = Some(Shadow {
            state,
            since,
            until: plus(visit.now, visit.lags.approve),
        });
        self.counters.count(|it| it.approvals += 1);
        Ok(Answer::Nothing)
    }

    fn send_message(
        &self,
        world: &mut JulesWorld,
        visit: &Visit,
        id: &str,
        body: &[u8],
    ) -> Result<Answer, JulesRefusal> {
        let mut prompt = String::new();
        for (name, value) in &draft::object(body)? {
            match name.as_str() {
                "prompt" => prompt = draft::text("prompt", value)?,
                unknown => return Err(JulesRefusal::unknown_member("", unknown)),
            }
        }
        let switches = &world.settings.switches;
        if switches
            .message_limit
            .is_some_and(|limit| prompt.len() > limit)
        {
            return Err(JulesRefusal::invalid_field("prompt", "Prompt is too long."));
        }
        let counts = switches.messages_count_as_tasks;
        let index = visit.find(world, id)?;
        let Some((session, stage)) = world.on_stage(index, visit.now, &self.github) else {
            return Err(JulesRefusal::not_found());
        };
        session.hear(&prompt, &stage)?;
        self.counters.count(|it| it.messages += 1);
        if counts {
            world.count_task(&visit.account.name, visit.now);
        }
        Ok(Answer::Nothing)
    }

    fn set_archived(
        &self,
        world: &mut JulesWorld,
        visit: &Visit,
        (id, archived): (&str, bool),
        body: &[u8],
    ) -> Result<Answer, JulesRefusal> {
        no_members(body, &world.settings.switches)?;
        let index = visit.find(world, id)?;
        if let Some(session) = world.sessions.get_mut(index) {
            session.archived = archived;
        }
        if archived {
            self.counters.count(|it| it.archives += 1);
        }
        if world.settings.switches.archive_answers_session {
            return Ok(session_answer(world, index, visit));
        }
        Ok(Answer::Nothing)
    }

    fn list_sources(&self, world: &JulesWorld, visit: &Visit) -> Result<Answer, JulesRefusal> {
        let wanted = source_filter(&visit.query.filter)?;
        let mut sources: Vec<_> = world
            .sources
            .iter()
            .filter(|it| {
                wanted
                    .as_ref()
                    .is_none_or(|names| names.contains(&it.name()))
            })
            .map(|it| ((0, it.name()), it))
            .collect();
        sources.sort_by(|(left, _), (right, _)| left.cmp(right));
        let scope = format!("sources {}", visit.query.filter);
        let (page, next) = query::page(
            sources,
            Order::OldestFirst,
            visit.page_size(DEFAULT_PAGE),
            &visit.query.page_token,
            &scope,
        )?;
        let shown = page
            .into_iter()
            .map(|it| it.to_json(&self.branches(&it.repo)))
            .collect();
        Ok(list_answer("sources", shown, next))
    }

    fn get_source(&self, world: &JulesWorld, repo: &str) -> Result<Answer, JulesRefusal> {
        let source = world
            .sources
            .iter()
            .find(|it| it.repo == repo)
            .ok_or_else(JulesRefusal::not_found)?;
        Ok(Answer::Json(source.to_json(&self.branches(repo))))
    }

    fn branches(&self, repo: &str) -> Vec<String> {
        self.github.branches(repo).unwrap_or_default()
    }
}

impl Visit {
    fn find(&self, world: &JulesWorld, id: &str) -> Result<usize, JulesRefusal> {
        world.seen(&self.account, id, self.now, self.lags)
    }

    fn session<'a>(&self, world: &'a JulesWorld, id: &str) -> Result<&'a Session, JulesRefusal> {
        let session = world.sessions.get(self.find(world, id)?);
        session.ok_or_else(JulesRefusal::not_found)
    }

    fn page_size(&self, default: usize) -> usize {
        coerced(self.query.page_size, default)
    }
}

fn session_answer(world: &JulesWorld, index: usize, visit: &Visit) -> Answer {
    let session = world.sessions.get(index);
    Answer::Json(session.map_or(Value::Null, |it| it.to_json(visit.now, &world.settings)))
}

fn list_sessions(world: &JulesWorld, visit: &Visit) -> Result<Answer, JulesRefusal> {
    let switches = &world.settings.switches;
    let choice = session_filter(&visit.query.filter, switches.session_filter)?;
    let mut sessions: Vec<_> = world
        .sessions
        .iter()
        .filter(|it| it.account == visit.account.name && !it.deleted)
        .filter(|it| plus(it.created_at, visit.lags.list) <= visit.now)
        .filter(|it| world.settings.lists(&it.ask.prompt))
        .filter(|it| is_chosen(it, &choice, visit.now))
        .map(|it| ((it.created_at.as_nanosecond(), it.id.clone()), it))
        .collect();
    sessions.sort_by(|(left, _), (right, _)| left.cmp(right));
    if switches.session_order == Order::NewestFirst {
        sessions.reverse();
    }
    let scope = format!("sessions {}", visit.query.filter);
    let (page, next) = query::page(
        sessions,
        switches.session_order,
        visit.page_size(DEFAULT_PAGE),
        &visit.query.page_token,
        &scope,
    )?;
    let shown = page
        .into_iter()
        .map(|it| it.to_json(visit.now, &world.settings))
        .collect();
    Ok(list_answer("sessions", shown, next))
}

fn is_chosen(session: &Session, choice: &SessionChoice, now: Timestamp) -> bool {
    match choice {
        SessionChoice::Live => !session.archived,
        SessionChoice::Archived(archived) => session.archived == *archived,
        SessionChoice::State(state) => !session.archived && session.shown_state(now).0 == state,
        SessionChoice::Source(name) => {
            let repo = name.strip_prefix("sources/github/");
            !session.archived && repo.is_some() && session.repo() == repo
        }
    }
}

fn list_activities(world: &JulesWorld, visit: &Visit, id: &str) -> Result<Answer, JulesRefusal> {
    let switches = &world.settings.switches;
    let session = visit.session(world, id)?;
    let since = activity_filter(&visit.query.filter, switches.activity_filter)?;
    let mut activities: Vec<_> = session
        .activities
        .iter()
        .enumerate()
        .filter(|(_, it)| is_visible(it, visit))
        .filter(|(_, it)| match since {
            None => true,
            Some((instant, included)) => it.at > instant || (included && it.at == instant),
        })
        // Activities of one instant stay in the order in which they were written.
        .map(|(serial, it)| ((it.at.as_nanosecond(), format!("{serial:08}")), it))
        .collect();
    if switches.activity_order == Order::NewestFirst {
        activities.reverse();
    }
    let scope = format!("activities {id} {}", visit.query.filter);
    let (page, next) = query::page(
        activities,
        switches.activity_order,
        visit.page_size(DEFAULT_ACTIVITY_PAGE),
        &visit.query.page_token,
        &scope,
    )?;
    let shown = page
        .into_iter()
        .map(|it| it.to_json(id, session.repo(), &world.settings))
        .collect();
    Ok(list_answer("activities", shown, next))
}

fn get_activity(
    world: &JulesWorld,
    visit: &Visit,
    id: &str,
    activity: &str,
) -> Result<Answer, JulesRefusal> {
    let session = visit.session(world, id)?;
    let found = session
        .activities
        .iter()
        .find(|it| it.id == activity && is_visible(it, visit));
    let found = found.ok_or_else(JulesRefusal::not_found)?;
    Ok(Answer::Json(found.to_json(
        id,
        session.repo(),
        &world.settings,
    )))
}

fn is_visible(activity: &Activity, visit: &Visit) -> bool {
    plus(activity.at, visit.lags.activities) <= visit.now
}

/// A page; an empty one is `{}`.
fn list_answer(name: &str, items: Vec<Value>, next: String) -> Answer {
    let mut page = Map::new();
    if !items.is_empty() {
        page.insert(name.to_owned(), items.into());
    }
    if !next.is_empty() {
        page.insert("nextPageToken".to_owned(), next.into());
    }
    Answer::Json(Value::Object(page))
}

/// A body that may hold nothing; `null` instead of `{}` is refused unless switched otherwise.
fn no_members(body: &[u8], switches: &Switches) -> Result<(), JulesRefusal> {
    if body.trim_ascii() == b"null" && !switches.null_body_refused {
        return Ok(());
    }
    match draft::object(body)?.keys().next() {
        None => Ok(()),
        Some(unknown) => Err(JulesRefusal::unknown_member("", unknown)),
    }
}
