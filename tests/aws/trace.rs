//! Traces go with the messages of the work that they are of.

use aws::{SqsQueue, TRACE_HEADER};
use aws_sdk_sqs::types::{Message, MessageSystemAttributeName};
use engine::ports::Queue;
use jiff::SignedDuration;
use tests::cloud;

const TRACE: &str = "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1";

#[tokio::test]
async fn a_message_carries_the_trace_of_the_work_that_sent_it() {
    let config = cloud::config().await;
    let (url, dead) = cloud::queue_of(&config).await;
    let queue = SqsQueue::new(&config, &url, dead);
    let sending = queue.send("traced", SignedDuration::ZERO);
    aws::within(Some(TRACE.to_owned()), sending)
        .await
        .expect("sent");
    let sending = queue.send("plain", SignedDuration::ZERO);
    aws::within(None, sending).await.expect("sent");

    let client = aws_sdk_sqs::Client::new(&config);
    let mut found = Vec::new();
    while found.len() < 2 {
        let received = client
            .receive_message()
            .queue_url(&url)
            .wait_time_seconds(20)
            .message_system_attribute_names(MessageSystemAttributeName::AwsTraceHeader)
            .send()
            .await
            .expect("received");
        found.extend(received.messages.unwrap_or_default().iter().map(trace_of));
    }
    found.sort();
    let expected = [("plain", None), ("traced", Some(TRACE))];
    let expected = expected.map(|(body, trace)| (body.to_owned(), trace.map(str::to_owned)));
    assert_eq!(found, expected);
}

fn trace_of(message: &Message) -> (String, Option<String>) {
    let name = MessageSystemAttributeName::AwsTraceHeader;
    assert_eq!(name.as_str(), TRACE_HEADER);
    let attributes = message.attributes.as_ref();
    let trace = attributes.and_then(|all| all.get(&name).cloned());
    (message.body.clone().unwrap_or_default(), trace)
}
