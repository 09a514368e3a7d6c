//! The schemas of the wire types, made from the types themselves.

use client::wire::{
    Acknowledge, Acknowledged, AdoptRequest, AnalysisRequest, ApproveDelivery, ApproveRequest,
    Artifacts, CancelDelivery, CancelPipeline, CancelRequest, CollectRequest, CreateDelivery,
    CreateJob, CreateSource, DashboardLink, Deliveries, DeliveryRun, DeliveryView, DeliveryWhy,
    EditDelivery, EditSource, EffectView, EventPage, Events, ExecuteDelivery, Extend, Extended,
    FixDelivery, GiveBack, GivenBack, Health, ImportMail, IntakeResult, IntegrateSprint, JobView,
    Jobs, MailImported, MailLog, MailMessage, MailRebuilt, MailSealed, MailSent, MailStats,
    MailVerified, Mailbox, MarkMail, MergeRequest, Merged, Message, Messages, OrderSprint, Pending,
    PipelineView, PipelineWhy, Pipelines, PlanRequest, Problem, Pulls, PushTaken, PushedSession,
    RegisterRequest, Registered, RejectDelivery, RequirementView, Requirements, RetryDelivery,
    RetryRequest, SendMail, SourceRemoved, SourceView, Sources, SplitRequest, SprintPlanView,
    SprintView, SprintWhy, Sprints, StartDelivery, StartPipeline, StartRequirement, StartSprint,
    TagMail, TakeRequest, Taken, Transcript, VerdictRequest, Why, Workers,
};
use domain::status::Status;
use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Where the document keeps schemas.
const PLACE: &str = "/components/schemas";

/// What makes schemas: as requests are read, and as answers are written.
pub(super) struct Schemas {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Schemas {
    /// Every type that is sent or answered.
    pub(super) fn all() -> Self {
        let mut schemas = Self {
            requests: generator(Contract::Deserialize),
            answers: generator(Contract::Serialize),
        };
        schemas.send::<Acknowledge>();
        schemas.send::<AdoptRequest>();
        schemas.send::<CancelRequest>();
        schemas.send::<CreateJob>();
        schemas.send::<Extend>();
        schemas.send::<GiveBack>();
        schemas.send::<MergeRequest>();
        schemas.send::<Message>();
        schemas.send::<ApproveRequest>();
        schemas.send::<PushedSession>();
        schemas.send::<RegisterRequest>();
        schemas.send::<RetryRequest>();
        schemas.send::<TakeRequest>();
        schemas.send::<ApproveDelivery>();
        schemas.send::<AnalysisRequest>();
        schemas.send::<CancelDelivery>();
        schemas.send::<CollectRequest>();
        schemas.send::<ExecuteDelivery>();
        schemas.send::<FixDelivery>();
        schemas.send::<CreateDelivery>();
        schemas.send::<CreateSource>();
        schemas.send::<EditSource>();
        schemas.send::<EditDelivery>();
        schemas.send::<PlanRequest>();
        schemas.send::<RejectDelivery>();
        schemas.send::<RetryDelivery>();
        schemas.send::<SplitRequest>();
        schemas.send::<StartDelivery>();
        schemas.send::<VerdictRequest>();
        schemas.answer::<Acknowledged>();
        schemas.answer::<Artifacts>();
        schemas.answer::<Deliveries>();
        schemas.answer::<DeliveryRun>();
        schemas.answer::<DeliveryView>();
        schemas.answer::<DeliveryWhy>();
        schemas.answer::<EffectView>();
        schemas.answer::<EventPage>();
        schemas.answer::<Events>();
        schemas.answer::<Extended>();
        schemas.answer::<GivenBack>();
        schemas.answer::<Health>();
        schemas.answer::<JobView>();
        schemas.answer::<Jobs>();
        schemas.answer::<Pending>();
        schemas.answer::<Merged>();
        schemas.answer::<Messages>();
        schemas.answer::<Problem>();
        schemas.answer::<Pulls>();
        schemas.answer::<PushTaken>();
        schemas.answer::<Registered>();
        schemas.answer::<Status>();
        schemas.answer::<DashboardLink>();
        schemas.answer::<Taken>();
        schemas.answer::<Transcript>();
        schemas.answer::<Sources>();
        schemas.answer::<SourceView>();
        schemas.answer::<SourceRemoved>();
        schemas.answer::<IntakeResult>();
        schemas.answer::<Why>();
        schemas.answer::<Workers>();
        schemas.add_pipelines();
        schemas.add_mail();
        schemas.add_sprints();
        schemas
    }

    fn add_pipelines(&mut self) {
        self.send::<StartPipeline>();
        self.send::<CancelPipeline>();
        self.send::<StartRequirement>();
        self.answer::<Pipelines>();
        self.answer::<PipelineView>();
        self.answer::<PipelineWhy>();
        self.answer::<Requirements>();
        self.answer::<RequirementView>();
    }

    fn add_mail(&mut self) {
        self.send::<SendMail>();
        self.send::<MarkMail>();
        self.send::<TagMail>();
        self.send::<ImportMail>();
        self.answer::<MailVerified>();
        self.answer::<MailRebuilt>();
        self.answer::<MailSealed>();
        self.answer::<MailImported>();
        self.answer::<MailSent>();
        self.answer::<MailMessage>();
        self.answer::<Mailbox>();
        self.answer::<MailLog>();
        self.answer::<MailStats>();
    }

    fn add_sprints(&mut self) {
        self.send::<StartSprint>();
        self.send::<IntegrateSprint>();
        self.send::<OrderSprint>();
        self.answer::<SprintPlanView>();
        self.answer::<Sprints>();
        self.answer::<SprintView>();
        self.answer::<SprintWhy>();
    }

    fn send<T: JsonSchema>(&mut self) {
        self.requests.subschema_for::<T>();
    }

    fn answer<T: JsonSchema>(&mut self) {
        self.answers.subschema_for::<T>();
    }

    /// All of them by name. What is both sent and answered has one form.
    pub(super) fn by_name(mut self) -> Map<String, Value> {
        let mut all = self.requests.take_definitions(true);
        for (name, schema) in self.answers.take_definitions(true) {
            let before = all.insert(name.clone(), schema.clone());
            assert!(before.is_none_or(|before| before == schema), "{name}");
        }
        all.values_mut().for_each(plain);
        all
    }
}

fn generator(contract: Contract) -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.contract = contract;
            settings.definitions_path = PLACE.into();
            settings.meta_schema = None;
        })
        .into_generator()
}

/// The schema of a delivery as it is shown, for itself.
pub(super) fn delivery() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.contract = Contract::Serialize;
    });
    let schema = settings
        .into_generator()
        .into_root_schema_for::<DeliveryView>();
    let mut schema = schema.to_value();
    plain(&mut schema);
    schema
}

/// Descriptions come from our own documentation: links within the code lead nowhere outside, a paragraph is one line,
/// and number formats of Rust mean nothing there.
fn plain(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(text)) = object.get_mut("description") {
                let paragraphs = text
                    .split("\n\n")
                    .map(|paragraph| paragraph.replace('\n', " "));
                let joined = paragraphs.collect::<Vec<_>>().join("\n\n");
                *text = joined.replace("[`", "`").replace("`]", "`");
            }
            let format = object.get("format").and_then(Value::as_str);
            if format.is_some_and(|format| format.starts_with("uint")) {
                object.remove("format");
            }
            object.values_mut().for_each(plain);
        }
        Value::Array(list) => list.iter_mut().for_each(plain),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A reference to a schema of the document.
pub(super) fn named(name: &str) -> Value {
    json!({ "$ref": format!("#{PLACE}/{name}") })
}
