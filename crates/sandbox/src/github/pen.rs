//! Writes state down as the JSON that GitHub answers and sends; real field names, true shapes.

mod checks;
mod deployments;
mod pulls;
mod repos;
mod talk;

use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) use checks::{is_shown, log_of, workflow_id, workflow_path};

use super::access::{APP_ID, APP_SLUG, Permissions};
use super::admin::InstallationSetup;
use super::checks::App;
use super::records::User;
use super::world::{GitHubWorld, node_id};

/// Where people's addresses point.
pub(crate) const WEB: &str = "https://github.com";

/// A pen over the state: knows the time and the base of API addresses.
#[derive(Clone, Copy)]
pub(crate) struct Pen<'a> {
    pub(crate) world: &'a GitHubWorld,
    pub(crate) now: Timestamp,
    /// Base of API addresses, without a slash at the end.
    pub(crate) api: &'a str,
}

/// A time in GitHub's format: UTC, whole seconds.
pub(crate) fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The same for a time that may be missing.
pub(crate) fn time_or_null(at: Option<Timestamp>) -> Value {
    at.map_or(Value::Null, |at| Value::String(time(at)))
}

/// Sets one field of an object.
pub(crate) fn put(object: &mut Value, field: &str, value: Value) {
    if let Value::Object(fields) = object {
        fields.insert(field.to_owned(), value);
    }
}

impl Pen<'_> {
    pub(crate) fn user(&self, user: &User) -> Value {
        let (login, api) = (&user.login, self.api);
        let url = format!("{api}/users/{login}");
        json!({
            "login": login,
            "id": user.id,
            "node_id": node_id("U", user.id),
            "avatar_url": format!("https://avatars.githubusercontent.com/u/{}?v=4", user.id),
            "gravatar_id": "",
            "url": url,
            "html_url": format!("{WEB}/{login}"),
            "followers_url": format!("{url}/followers"),
            "following_url": format!("{url}/following{{/other_user}}"),
            "gists_url": format!("{url}/gists{{/gist_id}}"),
            "starred_url": format!("{url}/starred{{/owner}}{{/repo}}"),
            "subscriptions_url": format!("{url}/subscriptions"),
            "organizations_url": format!("{url}/orgs"),
            "repos_url": format!("{url}/repos"),
            "events_url": format!("{url}/events{{/privacy}}"),
            "received_events_url": format!("{url}/received_events"),
            "type": if user.is_bot() { "Bot" } else { "User" },
            "user_view_type": "public",
            "site_admin": false,
        })
    }

    /// The app of a check, as GitHub describes it.
    pub(crate) fn app(&self, app: &App) -> Value {
        json!({
            "id": app.id,
            "slug": app.slug,
            "node_id": node_id("A", app.id),
            "client_id": format!("Iv1.{:016x}", app.id),
            "owner": self.user(&User::named("github")),
            "name": app.slug,
            "description": "",
            "external_url": format!("{WEB}/apps/{}", app.slug),
            "html_url": format!("{WEB}/apps/{}", app.slug),
            "created_at": "2024-01-01T00:00:00Z",
            "updated_at": "2024-01-01T00:00:00Z",
            "permissions": { "checks": "write", "metadata": "read" },
            "events": ["check_run"],
        })
    }

    /// The sandbox's own App, as `GET /app` answers it.
    pub(crate) fn own_app(&self) -> Value {
        let mut app = self.app(&App::own());
        put(&mut app, "permissions", Permissions::all().to_json());
        put(&mut app, "events", json!(self.world.outbox.hook.events));
        put(&mut app, "installations_count", json!(1));
        app
    }

    /// The App's only installation, on the account of `owner`.
    pub(crate) fn installation(&self, setup: &InstallationSetup, owner: &str) -> Value {
        let id = setup.id;
        let suspended = setup.suspended || self.world.app.suspended;
        json!({
            "id": id,
            "account": self.user(&User::named(owner)),
            "access_tokens_url": format!("{}/app/installations/{id}/access_tokens", self.api),
            "repositories_url": format!("{}/installation/repositories", self.api),
            "html_url": format!("{WEB}/settings/installations/{id}"),
            "app_id": APP_ID,
            "app_slug": APP_SLUG,
            "target_id": User::named(owner).id,
            "target_type": "User",
            "permissions": self.world.app.permissions.to_json(),
            "events": self.world.outbox.hook.events,
            "repository_selection": "all",
            "created_at": "2024-01-01T00:00:00Z",
            "updated_at": "2024-01-01T00:00:00Z",
            "single_file_name": null,
            "has_multiple_single_files": false,
            "single_file_paths": [],
            "suspended_by": null,
            "suspended_at": suspended.then(|| time(self.now)),
        })
    }
}
