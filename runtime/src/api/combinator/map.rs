//! Runs a bounded number of branches at once, one for each item of a list. Absent on purpose: a limit that several maps
//! or several instances share.

use super::pool::Pool;
use crate::api::durable::{DurableFuture, IntoDurable};
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Does the same for every item, at most `limit` at once, and gives all values in the order of the items, or the first
/// error.
///
/// `f` makes a durable future that ends in a `Result` from an item; an `async move` block will do. As long as items
/// remain, exactly `limit` branches run: when one ends, the next item is taken from the iterator within the same turn,
/// never earlier. So the iterator may be long, or make its items as it goes. A branch that ends is dropped at once, and
/// only branches that were woken are polled. No items: ready immediately, with an empty list.
///
/// The first `Err` ends the map, first in the order in which the journal delivered the branches' last events. The other
/// branches are dropped, and so cancelled, before it is returned, and no new item is started. To collect all outcomes
/// instead, use [`map_concurrent_all`]. Dropping the map drops every branch that runs.
///
/// Each item has a scope of its own, named by its place in the list. The items must therefore come in the same order on
/// every run; steps in different items may have the same name and the same key.
///
/// # Panics
///
/// When `limit` is 0, as the map would never end. A panic in workflow code quarantines the instance.
///
/// ```text
/// let parcels = map_concurrent(&order.lines, 3, |line| async move {
///     step!("pack", shop.pack(line)).await
/// })
/// .await?;
/// ```
#[track_caller]
pub fn map_concurrent<I, F, B, D, T, E>(items: I, limit: usize, f: F) -> MapConcurrent<I::IntoIter, F, D, T>
where
    I: IntoIterator,
    F: FnMut(I::Item) -> B,
    B: IntoDurable<Durable = D, Output = Result<T, E>>,
    D: DurableFuture,
{
    MapConcurrent {
        lanes: Lanes::open(items.into_iter(), limit, f),
    }
}

/// Does the same for every item, at most `limit` at once, and gives the outcomes of all in the order of the items.
///
/// As [`map_concurrent`], but no outcome ends the map early, and `f` may end in anything.
///
/// # Panics
///
/// When `limit` is 0, as the map would never end. A panic in workflow code quarantines the instance.
///
/// ```text
/// let outcomes = map_concurrent_all(recipients, 10, |recipient| async move {
///     step!("notify", mail.send(&recipient)).await
/// })
/// .await;
/// let refused = outcomes.iter().filter(|outcome| outcome.is_err()).count();
/// ```
#[track_caller]
pub fn map_concurrent_all<I, F, B, D, T>(items: I, limit: usize, f: F) -> MapConcurrentAll<I::IntoIter, F, D, T>
where
    I: IntoIterator,
    F: FnMut(I::Item) -> B,
    B: IntoDurable<Durable = D, Output = T>,
    D: DurableFuture,
{
    MapConcurrentAll {
        lanes: Lanes::open(items.into_iter(), limit, f),
    }
}

/// The part that both maps share.
struct Lanes<I, F, D, T> {
    /// `None` once the iterator has ended.
    items: Option<I>,
    limit: usize,
    f: F,
    pool: Pool<D, T>,
}

impl<I: Iterator, F, D: DurableFuture, T> Lanes<I, F, D, T> {
    #[track_caller]
    fn open(items: I, limit: usize, f: F) -> Self {
        assert!(
            limit > 0,
            "`map_concurrent` needs a limit of at least 1: with 0 no item would ever start"
        );
        Lanes {
            items: Some(items),
            limit,
            f,
            pool: Pool::open("map"),
        }
    }

    fn poll<B, E>(&mut self, cx: &mut Context<'_>, keep: impl Fn(D::Output) -> Result<T, E>) -> Poll<Result<Vec<T>, E>>
    where
        F: FnMut(I::Item) -> B,
        B: IntoDurable<Durable = D>,
    {
        let Lanes { items, limit, f, pool } = self;
        let refill = |pool: &mut Pool<D, T>| {
            while pool.running() < *limit
                && let Some(rest) = items
            {
                // The item is taken inside of its scope too, as the iterator may be what constructs its checkpoints.
                if !pool.start(|| rest.next().map(|item| f(item).into_durable())) {
                    *items = None;
                }
            }
            items.is_some()
        };
        pool.poll(cx, refill, keep)
    }
}

pin_project! {
    /// What [`map_concurrent`] gives.
    #[must_use = "durable futures do nothing unless awaited"]
    pub struct MapConcurrent<I, F, D, T> {
        lanes: Lanes<I, F, D, T>,
    }
}

#[diagnostic::do_not_recommend]
impl<I, F, B, T, E> DurableFuture for MapConcurrent<I, F, B::Durable, T>
where
    I: Iterator,
    F: FnMut(I::Item) -> B,
    B: IntoDurable<Output = Result<T, E>>,
{
    type Output = Result<Vec<T>, E>;
    fn poll_durable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().lanes.poll(cx, |output| output)
    }
}

pin_project! {
    /// What [`map_concurrent_all`] gives.
    #[must_use = "durable futures do nothing unless awaited"]
    pub struct MapConcurrentAll<I, F, D, T> {
        lanes: Lanes<I, F, D, T>,
    }
}

#[diagnostic::do_not_recommend]
impl<I, F, B> DurableFuture for MapConcurrentAll<I, F, B::Durable, B::Output>
where
    I: Iterator,
    F: FnMut(I::Item) -> B,
    B: IntoDurable,
{
    type Output = Vec<B::Output>;
    fn poll_durable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let outcomes = self.project().lanes.poll(cx, Ok::<_, Infallible>);
        outcomes.map(|Ok(outcomes)| outcomes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Gate, Leaf, Parent, at_once};
    use super::*;
    use proptest::prelude::*;
    use std::sync::{Arc, Mutex};

    type Gates<T> = Arc<Mutex<Vec<Gate<T>>>>;

    /// Hands out a leaf for each item and keeps its gate.
    fn recorded<T>() -> (Gates<T>, impl FnMut(usize) -> Leaf<T>) {
        let gates = Gates::default();
        let kept = gates.clone();
        let leaf = move |_item| {
            let (gate, leaf) = Gate::new();
            kept.lock().unwrap().push(gate);
            leaf
        };
        (gates, leaf)
    }

    fn running<T>(gates: &Gates<T>) -> Vec<usize> {
        let gates = gates.lock().unwrap();
        (0..gates.len()).filter(|&index| !gates[index].dropped()).collect()
    }

    fn open<T>(gates: &Gates<T>, index: usize, output: T) {
        let gate = gates.lock().unwrap()[index].clone();
        gate.open(output);
    }

    #[test]
    fn exactly_limit_items_run_and_values_come_in_the_order_of_the_items() {
        let (gates, f) = recorded::<Result<usize, ()>>();
        let mut parent = Parent::of(map_concurrent(0..5, 2, f));
        assert!(running(&gates).is_empty());
        assert!(parent.poll().is_pending());
        for (ends, then) in [(1, vec![0, 2]), (2, vec![0, 3]), (0, vec![3, 4]), (3, vec![4])] {
            open(&gates, ends, Ok(ends * 10));
            assert!(parent.poll().is_pending());
            assert_eq!(running(&gates), then);
        }
        open(&gates, 4, Ok(40));
        assert_eq!(parent.poll(), Poll::Ready(Ok(vec![0, 10, 20, 30, 40])));
    }

    #[test]
    fn the_first_error_drops_what_runs_and_starts_no_new_item() {
        let (gates, f) = recorded::<Result<(), &str>>();
        let mut parent = Parent::of(map_concurrent(0..100, 3, f));
        assert!(parent.poll().is_pending());
        open(&gates, 2, Err("first to end"));
        open(&gates, 0, Err("first in the list"));
        assert_eq!(parent.poll(), Poll::Ready(Err("first to end")));
        assert!(running(&gates).is_empty());
        assert_eq!(gates.lock().unwrap().len(), 3);
    }

    #[test]
    fn items_are_taken_only_when_there_is_room_and_none_after_the_last() {
        let taken = Arc::new(Mutex::new(0));
        let count = taken.clone();
        // An iterator that must not be asked again after its end.
        let mut rest = Some(0..4);
        let items = std::iter::from_fn(move || {
            *count.lock().unwrap() += 1;
            let next = rest.as_mut().expect("asked after the end").next();
            rest = rest.take().filter(|_| next.is_some());
            next
        });
        let (gates, f) = recorded::<()>();
        let mut parent = Parent::of(map_concurrent_all(items, 2, f));
        assert_eq!(*taken.lock().unwrap(), 0);
        for item in 0..4 {
            assert!(parent.poll().is_pending());
            assert_eq!(*taken.lock().unwrap(), (item + 2).min(5));
            open(&gates, item, ());
        }
        assert_eq!(parent.poll(), Poll::Ready(vec![(); 4]));
        assert_eq!(*taken.lock().unwrap(), 5);
    }

    #[test]
    fn all_outcomes_are_collected_errors_included() {
        let (gates, f) = recorded();
        let mut parent = Parent::of(map_concurrent_all(0..3, 3, f));
        assert!(parent.poll().is_pending());
        open(&gates, 1, Err("no"));
        open(&gates, 0, Ok(0));
        assert!(parent.poll().is_pending());
        open(&gates, 2, Ok(2));
        assert_eq!(parent.poll(), Poll::Ready(vec![Ok(0), Err("no"), Ok(2)]));
    }

    #[test]
    fn no_items_are_ready_and_a_limit_beyond_the_items_runs_them_all() {
        let f = |item: u32| at_once(Ok::<_, ()>(item));
        assert_eq!(Parent::of(map_concurrent([], 3, f)).poll(), Poll::Ready(Ok(vec![])));
        assert_eq!(
            Parent::of(map_concurrent([1, 2], usize::MAX, f)).poll(),
            Poll::Ready(Ok(vec![1, 2]))
        );
    }

    #[test]
    fn ten_thousand_items_that_are_ready_at_once_end_in_one_poll() {
        let items: Vec<usize> = (0..10_000).collect();
        let f = |item: &usize| at_once(Ok::<_, ()>(*item));
        assert_eq!(
            Parent::of(map_concurrent(&items, 3, f)).poll(),
            Poll::Ready(Ok(items.clone()))
        );
    }

    #[test]
    #[should_panic(expected = "`map_concurrent` needs a limit of at least 1")]
    fn a_limit_of_zero_is_refused_at_once() {
        let _ = map_concurrent([1], 0, |item| at_once(Ok::<i32, ()>(item)));
    }

    #[test]
    fn dropping_half_way_drops_what_runs() {
        let (gates, f) = recorded::<()>();
        let mut parent = Parent::of(map_concurrent_all(0..10, 4, f));
        assert!(parent.poll().is_pending());
        drop(parent);
        assert_eq!(gates.lock().unwrap().len(), 4);
        assert!(running(&gates).is_empty());
    }

    proptest! {
        #[test]
        fn the_limit_is_exact_after_every_poll_and_polls_are_linear(
            items in 0..60_usize,
            limit in 1..12_usize,
            picks in proptest::collection::vec((any::<usize>(), 1..5_usize), 60),
        ) {
            let (gates, f) = recorded::<Result<usize, ()>>();
            let mut parent = Parent::of(map_concurrent(0..items, limit, f));
            let mut ended = 0;
            for (pick, burst) in picks {
                if let Poll::Ready(values) = parent.poll() {
                    prop_assert_eq!(values, Ok((0..items).collect()));
                    break;
                }
                let running = running(&gates);
                prop_assert_eq!(running.len(), limit.min(items - ended));
                for &index in running.iter().cycle().skip(pick % running.len()).take(burst.min(running.len())) {
                    open(&gates, index, Ok(index));
                    ended += 1;
                }
            }
            prop_assert_eq!(ended, items);
            let polls: usize = gates.lock().unwrap().iter().map(Gate::polls).sum();
            prop_assert!(polls <= 2 * items);
        }
    }
}
