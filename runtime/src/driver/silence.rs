//! Keeps what workflow code logs on replay from being logged a second time. Absent on purpose: telling replay from live, which
//! the machine does.

use std::sync::LazyLock;
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// Not `Dispatch::none()`. That one is not registered with `tracing`, so a line of code that is reached for the first time
/// under it, on the replay after a restart, would be taken for one that nobody listens to and stay silent for good.
static SILENT: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Silent));

/// Runs `replay` with nobody listening to this thread.
pub(super) fn silenced<R>(replay: impl FnOnce() -> R) -> R {
    if LevelFilter::current() == LevelFilter::OFF {
        // Nobody listens as it is, and no line of code is told so.
        return replay();
    }
    tracing::dispatcher::with_default(&SILENT, replay)
}

struct Silent;

impl Subscriber for Silent {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        false
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        // The program's own subscriber decides alone which levels are looked at.
        Some(LevelFilter::OFF)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
