//! Stacks of pull requests: each offers its branch to the one below, and merging one merges everything below it.

use jiff::Timestamp;

use super::GitHub;
use super::records::{Pull, Stack};
use super::world::{GitHubRefusal, GitHubWorld};

impl GitHub {
    /// Makes a stack of pull requests, named from the bottom up; unknown numbers are left out.
    pub fn stack(&self, repo: &str, numbers: &[u64]) {
        self.world().stack(repo, numbers);
    }
}

impl GitHubWorld {
    fn stack(&mut self, repo: &str, numbers: &[u64]) {
        let (id, number) = (self.next_id(), numbers.first().copied().unwrap_or_default());
        let Ok(bottom) = self.pull(repo, number) else {
            return;
        };
        let base_ref = bottom.base_ref.clone();
        for (position, member) in (1..).zip(numbers) {
            let stack = Stack {
                id,
                number,
                size: numbers.len() as u64,
                position,
                base_ref: base_ref.clone(),
            };
            if let Ok(pull) = self.pull_mut(repo, *member) {
                pull.stack = Some(stack);
            }
        }
    }

    /// The open pull requests below one in its stack, from the bottom up.
    pub(crate) fn below(&self, repo: &str, number: u64) -> Vec<u64> {
        let Ok(found) = self.repo(repo) else {
            return Vec::new();
        };
        let Some(top) = found.pulls.get(&number).and_then(|it| it.stack.as_ref()) else {
            return Vec::new();
        };
        let is_below = |pull: &&Pull| {
            let stack = pull.stack.as_ref();
            pull.merged.is_none()
                && stack.is_some_and(|it| it.id == top.id && it.position < top.position)
        };
        let mut below: Vec<&Pull> = found.pulls.values().filter(is_below).collect();
        below.sort_by_key(|pull| pull.stack.as_ref().map(|it| it.position));
        below.iter().map(|pull| pull.number).collect()
    }

    /// One of a stack was merged: the one above goes to its base now, and all above are a position lower.
    pub(crate) fn unstack(
        &mut self,
        now: Timestamp,
        repo: &str,
        merged: &Pull,
    ) -> Result<(), GitHubRefusal> {
        let Some(gone) = &merged.stack else {
            return Ok(());
        };
        let mut above = None;
        for pull in self.repo_mut(repo)?.pulls.values_mut() {
            let of_stack = pull.stack.as_mut().filter(|it| it.id == gone.id);
            let Some(stack) = of_stack.filter(|it| it.position > gone.position) else {
                continue;
            };
            if stack.position == gone.position + 1 {
                above = Some(pull.number);
            }
            stack.position -= 1;
            stack.size -= 1;
        }
        match above {
            Some(above) => self.retarget(now, repo, above, &merged.base_ref),
            None => Ok(()),
        }
    }
}
