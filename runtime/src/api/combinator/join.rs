//! Waits for all branches of a tuple. Absent on purpose: waiting for a list, which is `list`.

use super::branch::Branch;
use crate::api::durable::{DurableFuture, IntoDurable};
use crate::driver::turn::Scope;
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Runs up to twelve branches at once and gives all of their outputs, in the order written.
///
/// This is what `join!(a, b)` calls. A branch is anything that can be awaited in a workflow: a step, a sleep, an
/// `async` block, another join. Nothing runs until the join is awaited; the first poll polls the branches from left to
/// right. A branch that ends is dropped at once; its output waits for the others. `join(())` is ready immediately.
///
/// A branch that ends in an `Err` does not disturb the others: use [`try_join`] to stop at the first error. Dropping
/// the join (losing a race, cancelling the instance) drops, and so cancels, every branch that still runs.
///
/// ```text
/// let (payment, parcels) = join!(step!("charge", shop.charge(&order)), pack(&order)).await;
/// ```
pub fn join<B: JoinBranches<Join = J>, J>(branches: B) -> J {
    branches.join()
}

/// Runs up to twelve branches at once and gives all of their values, or the first error.
///
/// This is what `try_join!(a, b)` calls. Every branch ends in a `Result`, all with the same error type. If all end in
/// `Ok`, the values are given in the order written. The first `Err` ends the join: in the order in which the journal
/// delivered the branches' last events, and from left to right if several were ready at the first poll. The other
/// branches are dropped, and so cancelled, before the error is returned; an error that one of them would have ended in
/// is never seen.
///
/// ```text
/// let (payment, parcels) = try_join!(step!("charge", shop.charge(&order)), pack(&order)).await?;
/// ```
pub fn try_join<B: TryJoinBranches<TryJoin = J>, J>(branches: B) -> J {
    branches.try_join()
}

/// A tuple of branches that can be joined.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be joined",
    label = "not a tuple of at most twelve durable futures",
    note = "more branches, or a number known only at run time: `join_all` or `map_concurrent`"
)]
pub trait JoinBranches {
    /// What to await.
    type Join: DurableFuture;
    /// Opens a scope for each branch.
    fn join(self) -> Self::Join;
}

/// A tuple of branches that can be joined and end in `Result`s with one error type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be joined until the first error",
    label = "not a tuple of at most twelve durable futures that end in `Result`s with the same error type",
    note = "more branches, or a number known only at run time: `try_join_all` or `map_concurrent`"
)]
pub trait TryJoinBranches {
    /// What to await.
    type TryJoin: DurableFuture;
    /// Opens a scope for each branch.
    fn try_join(self) -> Self::TryJoin;
}

/// A durable future that ends in a `Result`, with the two sides named.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not end in a `Result`",
    label = "every branch of `try_join!` must end in a `Result`",
    note = "`join!` takes branches that end in anything"
)]
pub trait TryDurable: DurableFuture<Output = Result<Self::Value, Self::Error>> {
    /// The `Ok` side.
    type Value;
    /// The `Err` side.
    type Error;
}

impl<F, T, E> TryDurable for F
where
    F: DurableFuture<Output = Result<T, E>>,
{
    type Value = T;
    type Error = E;
}

/// The join of no branches.
#[must_use = "durable futures do nothing unless awaited"]
pub struct Nothing<T>(T);

#[diagnostic::do_not_recommend]
impl<T: Copy> DurableFuture for Nothing<T> {
    type Output = T;
    fn poll_durable(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<T> {
        Poll::Ready(self.0)
    }
}

impl JoinBranches for () {
    type Join = Nothing<()>;
    fn join(self) -> Nothing<()> {
        Nothing(())
    }
}

impl TryJoinBranches for () {
    type TryJoin = Nothing<Result<(), Infallible>>;
    fn try_join(self) -> Self::TryJoin {
        Nothing(Ok(()))
    }
}

macro_rules! tuple {
    ($Join:ident $TryJoin:ident: $($Branch:ident $branch:ident $index:tt),+) => {
        pin_project! {
            /// A join under way.
            #[must_use = "durable futures do nothing unless awaited"]
            pub struct $Join<$($Branch,)+ Outputs> {
                $(#[pin] $branch: Branch<$Branch>,)+
                outputs: Outputs,
                scope: Scope,
            }
        }

        impl<$($Branch: IntoDurable),+> JoinBranches for ($($Branch,)+) {
            type Join = $Join<$($Branch::Durable,)+ ($(Option<$Branch::Output>,)+)>;
            fn join(self) -> Self::Join {
                let scope = Scope::open("join");
                $Join {
                    $($branch: Branch::open(&scope, $index, self.$index),)+
                    outputs: ($(None::<$Branch::Output>,)+),
                    scope,
                }
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($Branch: DurableFuture),+> DurableFuture for $Join<$($Branch,)+ ($(Option<$Branch::Output>,)+)> {
            type Output = ($($Branch::Output,)+);
            fn poll_durable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                let this = self.project();
                $(if let Poll::Ready(output) = this.$branch.poll(cx) {
                    this.outputs.$index = Some(output);
                })+
                if $(this.outputs.$index.is_some())&&+
                    && let ($(Some($branch),)+) = ($(this.outputs.$index.take(),)+)
                {
                    return Poll::Ready(($($branch,)+));
                }
                Poll::Pending
            }
        }

        pin_project! {
            /// A join under way that the first error ends.
            #[must_use = "durable futures do nothing unless awaited"]
            pub struct $TryJoin<$($Branch,)+ Values> {
                $(#[pin] $branch: Branch<$Branch>,)+
                values: Values,
                scope: Scope,
            }
        }

        impl<$($Branch,)+ Error> TryJoinBranches for ($($Branch,)+)
        where
            $($Branch: IntoDurable, $Branch::Durable: TryDurable<Error = Error>,)+
        {
            type TryJoin =
                $TryJoin<$($Branch::Durable,)+ ($(Option<<$Branch::Durable as TryDurable>::Value>,)+)>;
            fn try_join(self) -> Self::TryJoin {
                let scope = Scope::open("join");
                $TryJoin {
                    $($branch: Branch::open(&scope, $index, self.$index),)+
                    values: ($(None::<<$Branch::Durable as TryDurable>::Value>,)+),
                    scope,
                }
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($Branch,)+ Error> DurableFuture for $TryJoin<$($Branch,)+ ($(Option<$Branch::Value>,)+)>
        where
            $($Branch: TryDurable<Error = Error>,)+
        {
            type Output = Result<($($Branch::Value,)+), Error>;
            fn poll_durable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                let mut this = self.project();
                let error = 'failed: {
                    $(match this.$branch.as_mut().poll(cx) {
                        Poll::Ready(Ok(value)) => this.values.$index = Some(value),
                        Poll::Ready(Err(error)) => break 'failed error,
                        Poll::Pending => {}
                    })+
                    if $(this.values.$index.is_some())&&+
                        && let ($(Some($branch),)+) = ($(this.values.$index.take(),)+)
                    {
                        return Poll::Ready(Ok(($($branch,)+)));
                    }
                    return Poll::Pending;
                };
                $(this.$branch.as_mut().close();)+
                Poll::Ready(Err(error))
            }
        }
    };
}

tuple!(Join1 TryJoin1: A a 0);
tuple!(Join2 TryJoin2: A a 0, B b 1);
tuple!(Join3 TryJoin3: A a 0, B b 1, C c 2);
tuple!(Join4 TryJoin4: A a 0, B b 1, C c 2, D d 3);
tuple!(Join5 TryJoin5: A a 0, B b 1, C c 2, D d 3, E e 4);
tuple!(Join6 TryJoin6: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5);
tuple!(Join7 TryJoin7: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6);
tuple!(Join8 TryJoin8: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7);
tuple!(Join9 TryJoin9: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8);
tuple!(Join10 TryJoin10: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9);
tuple!(Join11 TryJoin11: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9, K k 10);
tuple!(Join12 TryJoin12: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9, K k 10, L l 11);

#[cfg(test)]
mod tests {
    use super::super::fixture::{Gate, Parent, at_once};
    use super::*;

    #[test]
    fn outputs_come_in_the_order_written_whatever_ends_first() {
        let ((first, a), (second, b)) = (Gate::new(), Gate::new());
        let mut parent = Parent::of(join((a, b)));
        assert!(parent.poll().is_pending());
        second.open("second");
        assert!(parent.poll().is_pending());
        first.open(1);
        assert_eq!(parent.poll(), Poll::Ready((1, "second")));
    }

    #[test]
    fn nothing_joined_is_ready_and_so_are_one_and_twelve_ready_branches() {
        assert_eq!(Parent::of(join(())).poll(), Poll::Ready(()));
        assert_eq!(Parent::of(try_join(())).poll(), Poll::Ready(Ok(())));
        assert_eq!(Parent::of(join((at_once(1),))).poll(), Poll::Ready((1,)));
        let twelve = [0; 12].map(at_once);
        let [a, b, c, d, e, f, g, h, i, j, k, l] = twelve;
        let mut parent = Parent::of(join((a, b, c, d, e, f, g, h, i, j, k, l)));
        assert!(parent.poll().is_ready());
    }

    #[test]
    fn a_branch_is_dropped_as_soon_as_it_ends_and_never_polled_again() {
        let ((first, a), (second, b)) = (Gate::new(), Gate::<()>::new());
        let mut parent = Parent::of(join((a, b)));
        assert!(parent.poll().is_pending());
        first.open(());
        assert!(parent.poll().is_pending());
        assert!(first.dropped() && !second.dropped());
        assert!(parent.poll().is_pending());
        assert_eq!((first.polls(), second.polls()), (2, 3));
    }

    #[test]
    fn an_error_does_not_disturb_a_plain_join() {
        let (other, b) = Gate::new();
        let mut parent = Parent::of(join((at_once(Err::<(), _>("no")), b)));
        assert!(parent.poll().is_pending());
        other.open(2);
        assert_eq!(parent.poll(), Poll::Ready((Err("no"), 2)));
    }

    #[test]
    fn the_first_error_drops_the_other_branches_before_it_is_returned() {
        let (gates, [a, b, c]) = Gate::<Result<u32, &str>>::many();
        let mut parent = Parent::of(try_join((a, b, c)));
        assert!(parent.poll().is_pending());
        gates[0].open(Ok(1));
        assert!(parent.poll().is_pending());
        gates[2].open(Err("late"));
        assert_eq!(parent.poll(), Poll::Ready(Err("late")));
        assert!(gates.iter().all(Gate::dropped));
        assert_eq!(gates.map(|gate| gate.polls()), [2, 3, 3]);
    }

    #[test]
    fn of_two_errors_at_one_poll_the_left_one_counts_and_the_right_branch_is_not_polled() {
        let (right, b) = Gate::<Result<(), &str>>::new();
        right.open(Err("right"));
        assert_eq!(
            Parent::of(try_join((at_once(Err::<(), _>("left")), b))).poll(),
            Poll::Ready(Err("left"))
        );
        assert!(right.dropped());
        assert_eq!(right.polls(), 0);
    }

    #[test]
    fn values_of_different_types_are_joined_when_all_are_ok() {
        let mut parent = Parent::of(try_join((at_once(Ok::<_, String>(1)), at_once(Ok("two")))));
        assert_eq!(parent.poll(), Poll::Ready(Ok((1, "two"))));
    }

    #[test]
    fn joins_nest() {
        let (gates, [a, b, c]) = Gate::<u32>::many();
        let mut parent = Parent::of(join((join((a, b)), c)));
        assert!(parent.poll().is_pending());
        gates[2].open(3);
        gates[0].open(1);
        assert!(parent.poll().is_pending());
        gates[1].open(2);
        assert_eq!(parent.poll(), Poll::Ready(((1, 2), 3)));
    }

    #[test]
    fn dropping_half_way_drops_every_branch() {
        let (gates, [a, b]) = Gate::<()>::many();
        let mut parent = Parent::of(join((a, b)));
        assert!(parent.poll().is_pending());
        gates[0].open(());
        drop(parent);
        assert!(gates.iter().all(Gate::dropped));
    }

    #[test]
    fn a_branch_need_not_be_unpin() {
        struct Pinned(std::marker::PhantomPinned);
        impl DurableFuture for Pinned {
            type Output = u32;
            fn poll_durable(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<u32> {
                Poll::Ready(7)
            }
        }
        let pinned = Pinned(std::marker::PhantomPinned);
        assert_eq!(Parent::of(join((pinned,))).poll(), Poll::Ready((7,)));
    }
}
