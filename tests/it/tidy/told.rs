//! The list of stories that also run on AWS names only existing ones: an unknown name would run nothing, and pass.

use super::Finding;
use super::tree::File;

/// One story a line, as the test is named.
const LIST: &str = "tests/aws/stories.txt";

/// Every listed story is a test in the file that its path names.
pub(super) fn listed(files: &[File]) -> Vec<Finding> {
    let Some(list) = files.iter().find(|file| file.path == LIST) else {
        return vec![Finding::new(
            LIST,
            1,
            "it is missing; it lists the stories that are told on AWS",
        )];
    };
    let lines = list.text.lines().enumerate();
    let unknown = lines.filter(|(_, name)| !is_told(name, files));
    let advice =
        |(number, name)| Finding::new(LIST, number + 1, format!("no test is named `{name}`"));
    unknown.map(advice).collect()
}

fn is_told(name: &str, files: &[File]) -> bool {
    let Some((module, test)) = name.rsplit_once("::") else {
        return false;
    };
    let path = format!("tests/it/{}.rs", module.replace("::", "/"));
    let head = format!("async fn {test}() {{");
    files
        .iter()
        .any(|file| file.path == path && file.text.contains(&head))
}

#[test]
fn a_name_that_is_no_test_is_found() {
    let file = |path: &str, text: &str| File {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let files = [
        file(
            LIST,
            "stories::plans::told\nstories::plans::untold\nstories::told\n",
        ),
        file(
            "tests/it/stories/plans.rs",
            "async fn told() {}\nfn untold() {}\n",
        ),
    ];
    let lines: Vec<usize> = listed(&files).iter().map(|found| found.line).collect();
    assert_eq!(lines, [2, 3]);
    assert_eq!(listed(&files[1..]).len(), 1);
}
