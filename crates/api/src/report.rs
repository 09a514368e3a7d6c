//! What is going on.

use axum::Json;
use axum::extract::State;
use client::wire::{
    AccountView, BudgetView, DeliveryLogView, GitHubView, Health, QueueView, SpendingView, Status,
    UnreadIssuesView, UsageView, Used, WebhookFeedView,
};
use engine::ports::Budget;
use engine::sources::UnreadIssues;
use engine::status::{AccountStatus, GitHubStatus, HookStatus, WebhookFeedStatus};

use crate::refusal::Refused;
use crate::sprints;
use crate::state::SharedState;
use crate::view::reasoned;

/// `GET /healthz`.
pub(crate) async fn health(State(api): SharedState) -> Json<Health> {
    Json(Health {
        ok: true,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        webhooks: api.webhooks.counts(),
    })
}

/// `GET /status`.
pub(crate) async fn status(State(api): SharedState) -> Result<Json<Status>, Refused> {
    let status = api.backend.shared_status().await?;
    let (waiting, dead) = status.queue;
    Ok(Json(Status {
        now: status.now,
        paused_since: status.paused_since,
        observe_only: status.observe_only,
        jobs: status.jobs,
        waits_for: status.waits_for,
        deliveries: status.deliveries,
        pipelines: status.pipelines,
        requirements: status.requirements,
        sprints: status.sprints.iter().map(sprints::glimpse).collect(),
        accounts: status.accounts.into_iter().map(account).collect(),
        paused_sources: status.paused_sources,
        unread_issues: status.unread_issues.into_iter().map(unread).collect(),
        overdue_since: status.overdue_since,
        last_tick: status.last_tick,
        feeds: status.feeds.into_iter().map(feed).collect(),
        queue: QueueView {
            waiting,
            dead,
            oldest: status.oldest,
        },
        hooks: status.hooks.into_iter().map(hook).collect(),
        github: github(status.github),
        spending: SpendingView {
            dollars_today: status.spending.dollars_today,
            dollars_a_day: status.spending.dollars_a_day,
        },
    }))
}

fn github(status: GitHubStatus) -> GitHubView {
    GitHubView {
        trouble: status.trouble.iter().map(reasoned).collect(),
        budgets: status.budgets.into_iter().map(budget).collect(),
        budgets_at: status.budgets_at,
        usage: UsageView {
            requests: status.usage.requests,
            not_modified: status.usage.not_modified,
        },
    }
}

fn unread(issues: UnreadIssues) -> UnreadIssuesView {
    UnreadIssuesView {
        repo: issues.repo,
        at: issues.at,
        sentence: issues.sentence,
    }
}

fn feed(feed: WebhookFeedStatus) -> WebhookFeedView {
    WebhookFeedView {
        repo: feed.repo,
        health: feed.health,
    }
}

fn hook(hook: HookStatus) -> DeliveryLogView {
    DeliveryLogView {
        log: hook.log,
        looked_at: hook.looked_at,
        trouble: hook.trouble,
        failed: hook.failed,
        asked: hook.asked,
        given_up: hook.given_up,
    }
}

fn budget(budget: Budget) -> BudgetView {
    BudgetView {
        owner: budget.owner,
        resource: budget.resource,
        limit: budget.limit,
        remaining: budget.remaining,
        reset: budget.reset,
        stay_away: budget.stay_away,
    }
}

fn account(account: AccountStatus) -> AccountView {
    let used = |(used, of)| Used { used, of };
    AccountView {
        name: account.name,
        health: account.health,
        next_poll: account.next_poll,
        held_until: account.held_until,
        slots: used(account.slots),
        today: used(account.today),
        requests: account.requests.map(used),
    }
}
