//! All combinators together, in blocks and in a turn.

use super::fixture::{Gate, Leaf, Parent};
use super::*;
use crate::api::durable::{DurableFuture, block, guard};
use crate::driver::turn::{self, Turn};
use crate::machine::{Event, EventKind, Machine};
use crate::{Timestamp, payload::Payload};
use std::task::Poll;

struct Order {
    lines: Vec<String>,
}

struct Shop {
    surcharge: usize,
}

/// What the macros make of a workflow that borrows its input and its state in every kind of branch.
async fn price(order: Order, shop: &Shop) -> Result<Vec<usize>, String> {
    let mapped = guard(map_concurrent(&order.lines, 2, |line| {
        block(async move {
            let length = guard(block(async { Ok::<_, String>(line.len()) })).await?;
            Ok::<_, String>(length + shop.surcharge)
        })
    }))
    .await?;
    let (count, borrowed) = guard(try_join((
        block(async { Ok::<_, String>(mapped.len()) }),
        block(async { Ok(&order) }),
    )))
    .await?;
    let raced = guard(race((block(async { count }), block(async { borrowed.lines.len() }))))
        .await
        .into_inner();
    let lines = || order.lines.iter();
    let joined = guard(join_all(
        lines().map(|line| block(async move { line.len() + shop.surcharge })),
    ))
    .await;
    let tried = guard(try_join_all(
        lines().map(|line| block(async move { Ok::<_, String>(line.len()) })),
    ))
    .await?;
    let moved = guard(map_concurrent_all(order.lines, 1, |line| {
        block(async move { line.len() })
    }))
    .await;
    let (both,) = guard(join((block(async { mapped.len() + moved.len() }),))).await;
    Ok([mapped, vec![raced, both], joined, tried, moved].concat())
}

#[test]
fn branches_may_borrow_and_the_workflow_can_still_be_sent() {
    let shop = Shop { surcharge: 10 };
    let order = Order {
        lines: vec!["a".into(), "bb".into()],
    };
    let mut parent = Parent::of(block(price(order, &shop)));
    assert_eq!(parent.poll(), Poll::Ready(Ok(vec![11, 12, 2, 4, 11, 12, 1, 2, 1, 2])));
}

fn in_a_turn<R>(poll: impl FnOnce() -> R) -> R {
    let started = EventKind::Started {
        input: Payload::default(),
        seed: [0; 16],
    };
    let journal = vec![Event {
        at: Timestamp::EPOCH,
        kind: started,
    }];
    let machine = Machine::new(journal, vec![], 0).unwrap();
    Turn::new(machine, Box::new(|_, _, _| {})).enter(poll).1
}

fn claimed(name: &'static str) -> String {
    turn::inside(|turn| turn.claim(name)).to_string()
}

/// Waits for its gate and then claims a checkpoint.
fn late(leaf: Leaf<()>) -> impl DurableFuture<Output = String> {
    block(async move {
        guard(leaf).await;
        claimed("pack")
    })
}

#[test]
fn paths_follow_the_place_of_a_branch_and_not_the_order_of_events() {
    let expected: Vec<String> = (0..5).map(|item| format!("map[{item}]/{{0}}/pack")).collect();
    for order in [[0, 1, 2, 3, 4], [1, 0, 3, 4, 2]] {
        let paths = in_a_turn(|| {
            let (gates, leaves): (Vec<_>, Vec<_>) = (0..5).map(|_| Gate::new()).unzip();
            let mut parent = Parent::of(map_concurrent_all(leaves, 3, late));
            for index in order {
                assert!(parent.poll().is_pending());
                gates[index].open(());
            }
            parent.poll()
        });
        assert_eq!(paths, Poll::Ready(expected.clone()));
    }
}

#[test]
fn every_branch_has_a_scope_and_the_outer_one_is_restored() {
    in_a_turn(|| {
        let now = || {
            let leaf = super::fixture::at_once(());
            late(leaf)
        };
        let listed = std::iter::repeat_with(now).take(2);
        let mut parent = Parent::of(join_all(listed));
        assert_eq!(
            parent.poll(),
            Poll::Ready(vec!["join[0]/{0}/pack".into(), "join[1]/{0}/pack".into()])
        );
        assert_eq!(claimed("pack"), "pack");
        // The blocks were made outside of the race, so they are numbered there.
        let mut parent = Parent::of(race((now(), now())));
        assert_eq!(parent.poll(), Poll::Ready(Race2::First("{0}/pack".into())));
        assert_eq!(claimed("pack"), "pack#1");
    });
}
