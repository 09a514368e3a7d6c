//! Order of components, the script that is made of them, and what is refused.

mod merging;

use proptest::prelude::*;

use super::{Catalogue, Component, component, install_script, selected};

fn part(name: &str, needs: &[&str]) -> Component {
    let needs = needs
        .iter()
        .map(|need| format!("{need:?}"))
        .collect::<Vec<_>>();
    let meta = format!("dependencies = [{}]\n", needs.join(", "));
    component(name, &meta, "true\n").unwrap()
}

fn names(catalogue: &Catalogue, tools: &[&str]) -> Result<String, String> {
    let tools: Vec<_> = tools.iter().map(|&tool| tool.to_owned()).collect();
    let ordered = catalogue.order(&tools).map_err(|error| error.to_string())?;
    Ok(ordered
        .iter()
        .map(|c| c.name.as_str())
        .collect::<Vec<_>>()
        .join(" "))
}

#[test]
fn dependencies_come_first_and_ties_by_name() {
    let all = Catalogue::embedded().unwrap();
    let all_names: Vec<_> = all.all().map(|c| c.name.as_str()).collect();
    assert_eq!(all_names, ["gh", "just", "swift", "uv"]);
    assert_eq!(names(&all, &["just"]).unwrap(), "uv just");
    assert_eq!(
        names(&all, &["uv", "swift", "just", "gh", "gh"]).unwrap(),
        "gh swift uv just"
    );
}

#[test]
fn a_ring_names_its_path() {
    let all = Catalogue::from_components([
        part("a", &["b"]),
        part("b", &["c"]),
        part("c", &["b"]),
        part("d", &["d"]),
    ]);
    assert_eq!(
        names(&all, &["a"]).unwrap_err(),
        "these tools wait for each other: b -> c -> b"
    );
    assert_eq!(
        names(&all, &["d"]).unwrap_err(),
        "these tools wait for each other: d -> d"
    );
}

#[test]
fn unknown_and_no_tools_list_those_there_are() {
    let all = Catalogue::embedded().unwrap();
    assert_eq!(
        names(&all, &["jst"]).unwrap_err(),
        "there is no tool `jst` (did you mean `just`?); there are: gh, just, swift, uv"
    );
    assert_eq!(
        names(&all, &[]).unwrap_err(),
        "no tools are selected; list some in tools.yml, such as: gh, just, swift, uv"
    );
}

#[test]
fn a_list_of_tools_is_read() {
    assert_eq!(
        selected("t", b"tools:\n  - gh\n  - uv\n").unwrap(),
        ["gh", "uv"]
    );
    assert!(selected("t", b"tools:\n").unwrap().is_empty());
    assert!(selected("t", b"").unwrap().is_empty());
    assert!(
        selected("t", b"tools: []\ntols: []\n")
            .unwrap_err()
            .to_string()
            .starts_with("t:2: ")
    );
}

#[test]
fn the_script_is_strict_and_in_order() {
    let all = Catalogue::embedded().unwrap();
    let ordered = all.order(&["just".to_owned()]).unwrap();
    let script = install_script(&ordered);
    assert!(script.starts_with("#!/usr/bin/env bash\n"));
    assert!(script.contains("\nset -euo pipefail\n"));
    assert!(script.find("\n# uv\n").unwrap() < script.find("\n# just\n").unwrap());
    assert_eq!(script.matches("#!").count(), 1);
}

#[test]
fn folders_that_leave_the_catalogue_are_refused() {
    for name in ["../x", "a/b", "", ".."] {
        assert!(component(name, "", "").is_err());
    }
}

proptest! {
    #[test]
    fn the_order_is_topological(edges in prop::collection::vec((0..12_usize, 0..12_usize), 0..40)) {
        let name = |n: usize| format!("t{n:02}");
        let parts = (0..12).map(|n| {
            let mut one = part(&name(n), &[]);
            one.dependencies = edges.iter().filter(|e| e.0 == n && e.1 < n).map(|e| name(11 - e.1)).collect();
            one.name = name(11 - n);
            one
        });
        let all = Catalogue::from_components(parts);
        let every: Vec<String> = (0..12).map(name).collect();
        let ordered = all.order(&every).unwrap();
        prop_assert_eq!(ordered.len(), 12);
        for (at, one) in ordered.iter().enumerate() {
            for need in &one.dependencies {
                prop_assert!(ordered[..at].iter().any(|before| &before.name == need));
            }
        }
    }
}
