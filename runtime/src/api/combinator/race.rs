//! Waits for the first branch of a tuple. Absent on purpose: fairness between branches. The journal decides who was
//! first; only branches that are ready at the same poll are told apart here, by their place.

use super::branch::Branch;
use crate::api::durable::{DurableFuture, IntoDurable};
use crate::driver::turn::Scope;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Runs two to eight branches at once and gives the output of the first one that ends.
///
/// This is what `race!(a, b)` calls. Which branch is first is decided by the journal, so a replay has the same winner.
/// The branches are polled from left to right, so of several that are ready at once the leftmost wins.
///
/// The losers are dropped before the winner's output is returned, and dropping is cancelling: their bodies stop at
/// their next await, their waits are withdrawn, and a signal that one of them would have received stays in the mailbox.
/// A step whose body already had its effect may thus have lost its result; put what must not be lost outside of the
/// race.
///
/// A race in which nothing ever ends waits for ever.
///
/// ```text
/// match race!(signal!("approval"), sleep!("too late", hours(48))).await {
///     Race2::First(approval) => decide(approval).await,
///     Race2::Second(()) => reject().await,
/// }
/// ```
pub fn race<B: RaceBranches<Race = R>, R>(branches: B) -> R {
    branches.race()
}

/// A tuple of branches that can race.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot race",
    label = "not a tuple of two to eight durable futures"
)]
pub trait RaceBranches {
    /// What to await.
    type Race: DurableFuture;
    /// Opens a scope for each branch.
    fn race(self) -> Self::Race;
}

macro_rules! tuple {
    (
        $Race:ident $Racing:ident $count:literal $T:ident:
        $($Branch:ident $branch:ident $index:tt $Place:ident $Same:ident),+
    ) => {
        #[doc = concat!("The output of the branch, of ", $count, ", that ended first.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $Race<$($Branch),+> {
            $(
                #[doc = concat!("The ", stringify!($branch), " branch ended first.")]
                $Place($Branch),
            )+
        }

        impl<$T> $Race<$($Same),+> {
            /// The output, whichever branch it came from.
            pub fn into_inner(self) -> $T {
                match self {
                    $($Race::$Place(output))|+ => output,
                }
            }
        }

        pin_project! {
            /// A race under way.
            #[must_use = "durable futures do nothing unless awaited"]
            pub struct $Racing<$($Branch),+> {
                $(#[pin] $branch: Branch<$Branch>,)+
                scope: Scope,
            }
        }

        impl<$($Branch: IntoDurable),+> RaceBranches for ($($Branch,)+) {
            type Race = $Racing<$($Branch::Durable),+>;
            fn race(self) -> Self::Race {
                let scope = Scope::open("race");
                $Racing { $($branch: Branch::open(&scope, $index, self.$index),)+ scope }
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($Branch: DurableFuture),+> DurableFuture for $Racing<$($Branch),+> {
            type Output = $Race<$($Branch::Output),+>;
            fn poll_durable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                let mut this = self.project();
                let winner = 'won: {
                    $(if let Poll::Ready(output) = this.$branch.as_mut().poll(cx) {
                        break 'won $Race::$Place(output);
                    })+
                    return Poll::Pending;
                };
                $(this.$branch.as_mut().close();)+
                Poll::Ready(winner)
            }
        }
    };
}

tuple!(Race2 Racing2 "two" T: A first 0 First T, B second 1 Second T);
tuple!(Race3 Racing3 "three" T: A first 0 First T, B second 1 Second T, C third 2 Third T);
tuple!(Race4 Racing4 "four" T: A first 0 First T, B second 1 Second T, C third 2 Third T, D fourth 3 Fourth T);
tuple!(Race5 Racing5 "five" T: A first 0 First T, B second 1 Second T, C third 2 Third T, D fourth 3 Fourth T,
    E fifth 4 Fifth T);
tuple!(Race6 Racing6 "six" T: A first 0 First T, B second 1 Second T, C third 2 Third T, D fourth 3 Fourth T,
    E fifth 4 Fifth T, F sixth 5 Sixth T);
tuple!(Race7 Racing7 "seven" T: A first 0 First T, B second 1 Second T, C third 2 Third T, D fourth 3 Fourth T,
    E fifth 4 Fifth T, F sixth 5 Sixth T, G seventh 6 Seventh T);
tuple!(Race8 Racing8 "eight" T: A first 0 First T, B second 1 Second T, C third 2 Third T, D fourth 3 Fourth T,
    E fifth 4 Fifth T, F sixth 5 Sixth T, G seventh 6 Seventh T, H eighth 7 Eighth T);

#[cfg(test)]
mod tests {
    use super::super::fixture::{Gate, Parent, at_once};
    use super::*;

    #[test]
    fn the_branch_that_ends_first_wins_and_the_losers_are_gone_by_then() {
        let (gates, [a, b, c]) = Gate::<&str>::many();
        let mut parent = Parent::of(race((a, b, c)));
        assert!(parent.poll().is_pending());
        gates[1].open("second");
        assert_eq!(parent.poll(), Poll::Ready(Race3::Second("second")));
        // The race itself is still there: it dropped them, not its owner.
        assert!(gates.iter().all(Gate::dropped));
        assert!(
            !parent
                .future
                .as_mut()
                .poll_durable(&mut Context::from_waker(std::task::Waker::noop()))
                .is_ready()
        );
    }

    #[test]
    fn of_several_ready_branches_the_leftmost_wins_and_the_rest_is_not_polled() {
        let (gates, [a, b]) = Gate::<&str>::many();
        let mut parent = Parent::of(race((a, b)));
        assert!(parent.poll().is_pending());
        gates[1].open("right");
        gates[0].open("left");
        assert_eq!(parent.poll(), Poll::Ready(Race2::First("left")));
        assert_eq!(gates[1].polls(), 1);
    }

    #[test]
    fn a_race_of_nothing_ready_stays_pending_and_a_spurious_wake_changes_nothing() {
        let (gates, [a, b]) = Gate::<()>::many();
        let mut parent = Parent::of(race((a, b)));
        for _ in 0..10 {
            assert!(parent.poll().is_pending());
            gates[0].wake();
        }
        assert!(!gates.iter().any(Gate::dropped));
    }

    #[test]
    fn races_nest_and_the_winner_of_the_winner_is_named() {
        let (gates, [a, b, c]) = Gate::<u32>::many();
        let mut parent = Parent::of(race((race((a, b)), c)));
        assert!(parent.poll().is_pending());
        gates[1].open(5);
        assert_eq!(parent.poll(), Poll::Ready(Race2::First(Race2::Second(5))));
        assert!(gates.iter().all(Gate::dropped));
    }

    #[test]
    fn branches_of_one_type_need_no_match() {
        let (_gates, [a, b, c, d, e, f, g]) = Gate::<u32>::many();
        let mut parent = Parent::of(race((a, b, c, d, e, f, g, at_once(8))));
        let Poll::Ready(winner) = parent.poll() else {
            panic!("one branch was ready");
        };
        assert_eq!(winner, Race8::Eighth(8));
        assert_eq!(winner.into_inner(), 8);
    }

    #[test]
    fn dropping_half_way_drops_every_branch() {
        let (gates, [a, b]) = Gate::<()>::many();
        let mut parent = Parent::of(race((a, b)));
        assert!(parent.poll().is_pending());
        drop(parent);
        assert!(gates.iter().all(Gate::dropped));
    }
}
