//! Whether one of a call's attempts may have been carried out without a known answer.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::FinalizerInterceptorContextRef;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;

/// Statuses that mean that the service did nothing. After a higher one the outcome is unknown, and a success whose
/// answer cannot be read may have done something.
const REFUSALS: Range<u16> = 400..500;

/// Records whether any attempt ended without a clear answer: the last one's refusal says nothing about earlier ones.
#[derive(Debug, Clone, Default)]
pub(super) struct AmbiguousOutcome(Arc<AtomicBool>);

impl AmbiguousOutcome {
    pub(super) fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Intercept for AmbiguousOutcome {
    fn name(&self) -> &'static str {
        "Doubt"
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let failed = matches!(context.output_or_error(), Some(Err(_)));
        let refused = context
            .response()
            .is_some_and(|answer| REFUSALS.contains(&answer.status().as_u16()));
        if failed && !refused {
            self.0.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}
