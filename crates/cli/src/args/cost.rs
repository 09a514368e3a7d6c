//! `gaffer cost`.

use clap::Args;

/// The limit of costs.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer cost --stack gaffer\n  gaffer cost --json\n  gaffer cost --stack gaffer --a-day 0.50\n  gaffer cost --stack gaffer --a-day none"
)]
pub(crate) struct CostArgs {
    /// What running may cost in a day in UTC, or `none`; once it is spent, Jules is asked every 15 minutes until the day is over.
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) a_day: Option<ADay>,
}

/// Dollars, or as much as it takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ADay(pub(crate) Option<f64>);

/// Most that can be said, in dollars: more is a slip of the pen.
const DOLLARS_MAX: f64 = 10_000.0;

impl std::str::FromStr for ADay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        let dollars = text.parse::<f64>().ok();
        let fits = dollars.filter(|dollars| *dollars > 0.0 && *dollars <= DOLLARS_MAX);
        fits.map(|dollars| Self(Some(dollars))).ok_or_else(|| {
            "it has to be a number of dollars such as 0.50, at most 10000, or `none`".to_owned()
        })
    }
}
