//! Figures of one invocation, in CloudWatch's embedded metric format: a line in the log that CloudWatch counts, without a request.
//!
//! Source: AWS, "Specification: Embedded metric format".

use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// The namespace of the figures in CloudWatch.
pub const NAMESPACE: &str = "Gaffer";

/// The unit of a figure, in CloudWatch's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Things.
    Count,
    /// Milliseconds.
    Milliseconds,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Count => "Count",
            Self::Milliseconds => "Milliseconds",
        }
    }
}

/// One figure of an invocation.
pub type Metric = (&'static str, Unit, u64);

/// Writes the figures of one invocation of a function of a stack.
#[expect(clippy::print_stdout, reason = "stdout is what CloudWatch reads")]
pub fn emit(stack: &str, function: &str, at: Timestamp, figures: &[Metric]) {
    let line = line(stack, function, at, figures);
    println!("{line}");
}

fn line(stack: &str, function: &str, at: Timestamp, figures: &[Metric]) -> Value {
    let named = |(name, unit, _): &Metric| json!({ "Name": name, "Unit": unit.name() });
    let metrics: Vec<Value> = figures.iter().map(named).collect();
    let about = json!({
        "Timestamp": at.as_millisecond(),
        "CloudWatchMetrics": [{
            "Namespace": NAMESPACE,
            "Dimensions": [["Stack", "Function"]],
            "Metrics": metrics,
        }],
    });
    let mut line = Map::new();
    line.insert("_aws".to_owned(), about);
    line.insert("Stack".to_owned(), stack.into());
    line.insert("Function".to_owned(), function.into());
    for (name, _, value) in figures {
        line.insert((*name).to_owned(), (*value).into());
    }
    Value::Object(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_as_cloudwatch_reads_it() {
        let at = Timestamp::from_millisecond(1_700_000_000_123).unwrap();
        let figures = [
            ("Handled", Unit::Count, 3),
            ("Took", Unit::Milliseconds, 21),
        ];
        let expected = json!({
            "_aws": {
                "Timestamp": 1_700_000_000_123_i64,
                "CloudWatchMetrics": [{
                    "Namespace": "Gaffer",
                    "Dimensions": [["Stack", "Function"]],
                    "Metrics": [
                        { "Name": "Handled", "Unit": "Count" },
                        { "Name": "Took", "Unit": "Milliseconds" },
                    ],
                }],
            },
            "Stack": "gaffer",
            "Function": "dispatcher",
            "Handled": 3,
            "Took": 21,
        });
        assert_eq!(line("gaffer", "dispatcher", at, &figures), expected);
    }
}
