//! The adapters that read and write outside. Only this place and `gaffer up` make writing ones.

use std::sync::Arc;

use engine::dispatcher::{Readers, Writers};
use engine::settings::Upstreams;
use lambda::FunctionEnvironment;
use lambda_runtime::Error;

/// Readers and writers at the places that the environment names, else those that the table knows.
pub(super) fn ports(
    environment: &FunctionEnvironment,
    upstreams: Upstreams,
) -> Result<(Readers, Writers), Error> {
    let settings = environment.settings();
    let jules_base = settings.jules_base.clone().or(upstreams.jules_base);
    let github_base = settings.github_base.clone().or(upstreams.github_base);
    let app_id = settings.github_app_id.or(upstreams.github_app_id);
    let (at, warnings) = jules::Settings::at(jules_base.as_deref().unwrap_or(jules::BASE))?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    let jules = jules::Client::new(at, environment.secrets(), environment.clock())?;
    let at = github::Settings::new(github_base.as_deref(), app_id)?;
    let github = github::Client::new(&at, environment.secrets(), environment.clock())?;
    let mut allow = Vec::with_capacity(settings.allow_hosts.len());
    for host in &settings.allow_hosts {
        allow.push(host.parse()?);
    }
    let sender = agents::Sender::new(agents::Settings { allow }, environment.secrets());
    let readers = Readers {
        sessions: Arc::new(jules::Reader::new(jules.clone())),
        pulls: Arc::new(github::Reader::new(github.clone())),
        issues: Arc::new(github::Reader::new(github.clone())),
        git: Arc::new(github::Reader::new(github.clone())),
        hooks: Arc::new(github::Reader::new(github.clone())),
    };
    let writers = Writers {
        sessions: Arc::new(jules::Writer::new(jules)),
        pulls: Arc::new(github::Writer::new(github.clone())),
        issues: Arc::new(github::Writer::new(github.clone())),
        git: Arc::new(github::Writer::new(github.clone())),
        hooks: Arc::new(github::Writer::new(github)),
        agents: Arc::new(sender),
    };
    Ok((readers, writers))
}
