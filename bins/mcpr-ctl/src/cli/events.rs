//! What can be typed about events.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use mcpr_admin::{EventKind, UnknownWord};

/// Which events are wanted.
#[derive(Debug, Args)]
pub(crate) struct Events {
    /// Only events of this kind; may be given several times
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',', value_parser = kind())]
    pub(crate) kinds: Vec<EventKind>,
}

fn kind() -> impl TypedValueParser<Value = EventKind> {
    let words = EventKind::ALL.iter().map(|kind| kind.as_str());
    PossibleValuesParser::new(words)
        .try_map(|word| word.parse::<EventKind>().map_err(|error: UnknownWord| error))
}
