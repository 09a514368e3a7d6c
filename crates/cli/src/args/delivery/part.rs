//! A part of a delivery, on the command line.

use client::wire::PartRequest;
use domain::delivery::{Part, typed_parts};

/// One part: what it is about, and below that its criteria.
pub(crate) fn part(text: &str) -> Result<PartRequest, String> {
    let parts = typed_parts(text).unwrap_or_default();
    let odd = |_| "a part is one line, with its criteria below it as `- [ ] TEXT` lines";
    let [part] = <[Part; 1]>::try_from(parts).map_err(odd)?;
    Ok(part.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_one_line_with_its_criteria_below() {
        let read = part("The box\n- [ ] it is there\n- [ ] it is round").unwrap();
        assert_eq!(read.summary, "The box");
        let criteria = read.acceptance_criteria.unwrap();
        assert_eq!(criteria, ["it is there", "it is round"]);
        let alone = part("The box").unwrap().acceptance_criteria;
        assert_eq!(alone.unwrap().len(), 0);
        for odd in ["", " \n", "The box\nThe index", "- [ ] it is there"] {
            let refused = part(odd).unwrap_err();
            assert!(refused.contains("one line"), "{odd}: {refused}");
        }
    }
}
