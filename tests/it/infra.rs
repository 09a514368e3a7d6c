//! The templates of the deployment: a role's rights are spelt out, and a wildcard among resources is in a list with
//! its reason.

use std::path::Path;

/// Resources that hold a `*` although something finer is wanted everywhere else, each with its reason.
const WILDCARDS: [(&str, &str); 2] = [
    (
        "parameter/gaffer/${AWS::StackName}/jules/*",
        "one parameter for each account, and people name the accounts",
    ),
    (
        "parameter/gaffer/${AWS::StackName}/agents/*",
        "one parameter for each agent, and people name the agents",
    ),
];

/// The principal in a template; `*` there means anyone.
const PRINCIPAL: &str = "Principal:";

#[test]
fn nothing_may_do_more_than_is_spelt_out() {
    for name in ["foundation.yaml", "triggers.yaml"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../infra")
            .join(name);
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(wild(&text), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn each_wildcard_in_the_list_is_there() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../infra/foundation.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    for (resource, reason) in WILDCARDS {
        assert!(text.contains(resource), "{resource} is gone: {reason}");
    }
}

/// Lines with a wildcard that nothing excuses.
fn wild(text: &str) -> Vec<String> {
    let bare = |line: &str| {
        let line = line.split(" #").next().unwrap_or_default().trim();
        let mut line = if line.starts_with('#') { "" } else { line }.to_owned();
        for (resource, _) in WILDCARDS {
            line = line.replace(resource, "");
        }
        line
    };
    let is_wild = |line: &String| {
        let is_everybody = line.trim_start_matches("- ").starts_with(PRINCIPAL);
        line.contains('*') && !is_everybody
    };
    text.lines().map(bare).filter(is_wild).collect()
}

#[test]
fn a_wildcard_is_found_wherever_it_stands() {
    for planted in [
        "Action: [dynamodb:*]",
        "Action: \"*\"",
        "- sqs:Send*",
        "Resource: \"*\"",
        "Resource: !Sub \"${Table.Arn}/index/*\"",
        "Resource: !Sub \"arn:parameter/gaffer/${AWS::StackName}/*\"",
    ] {
        assert_eq!(wild(planted), [planted]);
    }
    for fine in [
        "# * is for nobody",
        "Principal: \"*\"",
        "Action: [dynamodb:GetItem] # not *",
        "Resource: [!Sub \"arn:parameter/gaffer/${AWS::StackName}/jules/*\"]",
    ] {
        assert_eq!(wild(fine), Vec::<String>::new(), "{fine}");
    }
}
