//! Waits for all branches of a list. Absent on purpose: starting some of them later, which is `map`.

use super::pool::Pool;
use crate::api::durable::{DurableFuture, IntoDurable};
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Runs any number of branches at once and gives all of their outputs, in the order of the list.
///
/// The iterator is used up when `join_all` is called; the first poll polls the branches in order. Later only the
/// branches that were woken are polled, so ten thousand of them cost no more than ten thousand single ones. A branch
/// that ends is dropped at once; its output waits for the others. An empty list is ready immediately.
///
/// All branches run at the same time: to bound that, use [`map_concurrent`](super::map_concurrent). A branch that ends
/// in an `Err` does not disturb the others: use [`try_join_all`] to stop at the first error. Dropping the join drops,
/// and so cancels, every branch that still runs.
///
/// ```text
/// let quotes = join_all(suppliers.iter().map(|supplier| quote(supplier, &order))).await;
/// ```
pub fn join_all<I, D, T>(branches: I) -> JoinAll<D, T>
where
    I: IntoIterator<Item: IntoDurable<Durable = D, Output = T>>,
    D: DurableFuture,
{
    JoinAll {
        pool: started(branches),
    }
}

/// Runs any number of branches at once and gives all of their values in the order of the list, or the first error.
///
/// Every branch ends in a `Result`. The first `Err` ends the join: in the order in which the journal delivered the
/// branches' last events, and in the order of the list if several were ready at the first poll. The other branches are
/// dropped, and so cancelled, before the error is returned. Everything else is as with [`join_all`].
///
/// ```text
/// let parcels = try_join_all(order.lines.iter().map(|line| pack(line))).await?;
/// ```
pub fn try_join_all<I, D, T, E>(branches: I) -> TryJoinAll<D, T>
where
    I: IntoIterator<Item: IntoDurable<Durable = D, Output = Result<T, E>>>,
    D: DurableFuture,
{
    TryJoinAll {
        pool: started(branches),
    }
}

/// Takes one branch at a time from the iterator, each in its own scope, as the iterator may be what constructs it.
fn started<I, D, T>(branches: I) -> Pool<D, T>
where
    I: IntoIterator<Item: IntoDurable<Durable = D>>,
    D: DurableFuture,
{
    let mut branches = branches.into_iter();
    let mut pool = Pool::open("join");
    while pool.start(|| branches.next().map(IntoDurable::into_durable)) {}
    pool
}

pin_project! {
    /// What [`join_all`] gives.
    #[must_use = "durable futures do nothing unless awaited"]
    pub struct JoinAll<F, T> {
        pool: Pool<F, T>,
    }
}

#[diagnostic::do_not_recommend]
impl<F: DurableFuture> DurableFuture for JoinAll<F, F::Output> {
    type Output = Vec<F::Output>;
    fn poll_durable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let outputs = self.project().pool.poll(cx, |_| false, Ok::<_, Infallible>);
        outputs.map(|Ok(outputs)| outputs)
    }
}

pin_project! {
    /// What [`try_join_all`] gives.
    #[must_use = "durable futures do nothing unless awaited"]
    pub struct TryJoinAll<F, T> {
        pool: Pool<F, T>,
    }
}

#[diagnostic::do_not_recommend]
impl<F, T, E> DurableFuture for TryJoinAll<F, T>
where
    F: DurableFuture<Output = Result<T, E>>,
{
    type Output = Result<Vec<T>, E>;
    fn poll_durable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().pool.poll(cx, |_| false, |output| output)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Gate, Leaf, Parent, Restless, at_once};
    use super::super::race;
    use super::*;

    fn gates<T>(count: usize) -> (Vec<Gate<T>>, Vec<Leaf<T>>) {
        (0..count).map(|_| Gate::new()).unzip()
    }

    #[test]
    fn outputs_come_in_the_order_of_the_list_whatever_ends_first() {
        let (gates, leaves) = gates(3);
        let mut parent = Parent::of(join_all(leaves));
        assert!(parent.poll().is_pending());
        for (index, output) in [(2, "c"), (0, "a"), (1, "b")] {
            assert!(parent.poll().is_pending());
            gates[index].open(output);
        }
        assert_eq!(parent.poll(), Poll::Ready(vec!["a", "b", "c"]));
    }

    #[test]
    fn an_empty_list_is_ready() {
        assert_eq!(Parent::of(join_all(Vec::<Leaf<u8>>::new())).poll(), Poll::Ready(vec![]));
        assert_eq!(
            Parent::of(try_join_all(Vec::<Leaf<Result<u8, ()>>>::new())).poll(),
            Poll::Ready(Ok(vec![]))
        );
    }

    #[test]
    fn ten_thousand_branches_are_polled_twice_each_and_wake_the_parent_once_for_each_end() {
        const WIDE: usize = 10_000;
        let (gates, leaves) = gates(WIDE);
        let mut parent = Parent::of(join_all(leaves));
        assert!(parent.poll().is_pending());
        for (index, gate) in gates.iter().enumerate().rev() {
            gate.open(index);
            assert_eq!(parent.poll().is_ready(), index == 0);
        }
        assert_eq!(gates.iter().map(Gate::polls).sum::<usize>(), 2 * WIDE);
        assert_eq!(parent.wakes(), WIDE);
    }

    #[test]
    fn many_wakes_before_a_poll_wake_the_parent_once() {
        let (gates, leaves) = gates(100);
        let mut parent = Parent::of(join_all(leaves));
        assert!(parent.poll().is_pending());
        gates.iter().for_each(|gate| gate.open(()));
        gates.iter().for_each(Gate::wake);
        assert_eq!(parent.wakes(), 1);
        assert_eq!(parent.poll(), Poll::Ready(vec![(); 100]));
        assert!(gates.iter().all(|gate| gate.polls() == 2));
    }

    #[test]
    fn woken_branches_are_polled_in_the_order_in_which_they_woke() {
        let (gates, leaves) = gates(3);
        let mut parent = Parent::of(try_join_all(leaves));
        assert!(parent.poll().is_pending());
        gates[2].open(Err::<(), _>("third"));
        gates[0].open(Err("first"));
        assert_eq!(parent.poll(), Poll::Ready(Err("third")));
        assert_eq!(gates[0].polls(), 1);
    }

    #[test]
    fn the_first_error_drops_the_other_branches_before_it_is_returned() {
        let (gates, leaves) = gates(5);
        let mut parent = Parent::of(try_join_all(leaves));
        assert!(parent.poll().is_pending());
        gates[0].open(Ok(0));
        gates[3].open(Err("no"));
        assert_eq!(parent.poll(), Poll::Ready(Err("no")));
        assert!(gates.iter().all(Gate::dropped));
    }

    #[test]
    fn a_branch_is_dropped_as_soon_as_it_ends_and_a_late_wake_of_it_is_ignored() {
        let (gates, leaves) = gates(2);
        let mut parent = Parent::of(join_all(leaves));
        assert!(parent.poll().is_pending());
        gates[0].open(());
        assert!(parent.poll().is_pending());
        assert!(gates[0].dropped());
        gates[0].wake();
        assert!(parent.poll().is_pending());
        assert_eq!((gates[0].polls(), gates[1].polls()), (2, 1));
    }

    #[test]
    fn a_poll_without_a_wake_polls_no_branch_and_any_number_of_spurious_wakes_polls_one_once() {
        let (gates, leaves) = gates::<()>(3);
        let mut parent = Parent::of(join_all(leaves));
        assert!(parent.poll().is_pending());
        assert!(parent.poll().is_pending());
        (0..3).for_each(|_| gates[1].wake());
        assert!(parent.poll().is_pending());
        assert_eq!(gates.iter().map(Gate::polls).collect::<Vec<_>>(), [1, 2, 1]);
    }

    #[test]
    fn a_branch_that_wakes_itself_gives_the_turn_back_and_asks_for_another() {
        let mut parent = Parent::of(join_all([Restless, Restless]));
        for polls in 1..=3 {
            assert!(parent.poll().is_pending());
            assert_eq!(parent.wakes(), polls);
        }
    }

    #[test]
    fn the_parent_of_the_last_poll_is_the_one_that_is_woken() {
        let (gates, leaves) = gates(2);
        let mut parent = Parent::of(join_all(leaves));
        assert!(parent.poll().is_pending());
        parent.move_to_another_task();
        assert!(parent.poll().is_pending());
        gates[1].open(());
        assert_eq!(parent.wakes(), 1);
    }

    #[test]
    fn dropping_half_way_drops_every_branch_and_lets_go_of_the_parent() {
        let (gates, leaves) = gates(3);
        let mut parent = Parent::of(join_all(leaves));
        assert!(parent.poll().is_pending());
        gates[1].open(());
        assert!(parent.poll().is_pending());
        let before = parent.wakes();
        parent.future = Box::pin(join_all(Vec::<Leaf<()>>::new()));
        assert!(gates.iter().all(Gate::dropped));
        gates[2].wake();
        assert_eq!(parent.wakes(), before);
    }

    #[test]
    fn wakes_from_other_threads_are_not_lost() {
        for _ in 0..50 {
            let (gates, leaves) = gates(64);
            let mut parent = Parent::of(join_all(leaves));
            assert!(parent.poll().is_pending());
            let halves = [gates[..32].to_vec(), gates[32..].to_vec()];
            let threads = halves.map(|half| {
                std::thread::spawn(move || {
                    for gate in half {
                        gate.wake();
                        gate.open(());
                    }
                })
            });
            assert_eq!(parent.run().len(), 64);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    }

    #[test]
    fn lists_nest_and_only_the_woken_path_is_polled() {
        let (gates, leaves) = gates(9);
        let mut leaves = leaves.into_iter();
        let rows = [(); 3].map(|()| join_all(leaves.by_ref().take(3)));
        let mut parent = Parent::of(join_all(rows));
        assert!(parent.poll().is_pending());
        gates.iter().for_each(|gate| gate.open(1));
        assert_eq!(parent.poll(), Poll::Ready(vec![vec![1; 3]; 3]));
        assert_eq!(gates.iter().map(Gate::polls).sum::<usize>(), 18);
    }

    #[test]
    fn a_list_that_loses_a_race_is_dropped() {
        let (gates, leaves) = gates::<()>(3);
        let mut parent = Parent::of(race((join_all(leaves), at_once("won"))));
        assert_eq!(parent.poll(), Poll::Ready(race::Race2::Second("won")));
        assert!(gates.iter().all(Gate::dropped));
    }
}
