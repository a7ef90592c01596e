//! Nothing that generated code needs can be shadowed by the user's names.
#![deny(warnings)]
#![allow(non_camel_case_types, dead_code)]

mod shadows {
    pub struct Result;
    pub struct Option;
    pub struct Vec;
    pub struct Box;
    pub struct String;
    pub struct Send;
    pub struct Future;
    pub struct Workflow;
    pub struct Clone;
    pub struct Copy;
    pub struct Debug;
    pub struct Default;
    pub struct Into;
    pub struct DurableFuture;
    pub mod std {}
    pub mod core {}
    pub mod alloc {}
}

#[allow(unused_imports)]
use shadows::*;
use steadfast::{durable, join, sleep, step, workflow};

type Outcome<T> = ::std::result::Result<T, ::steadfast::BoxError>;

#[allow(non_snake_case)]
fn Ok() {}
#[allow(non_snake_case)]
fn Err() {}
#[allow(non_snake_case)]
fn Some() {}
fn step() {}
fn guard() {}
fn block() {}
fn run() {}
fn helper() {}
macro_rules! vec {
    () => {};
}
macro_rules! todo {
    () => {};
}

#[workflow]
async fn shadowed(input: u32, states: &u64, argument0: u8) -> Outcome<u32> {
    fn steadfast() {}
    fn ok<T>(value: T) -> Outcome<T> {
        ::std::result::Result::Ok(value)
    }
    Ok();
    Err();
    Some();
    step();
    guard();
    block();
    run();
    helper();
    steadfast();
    vec!();
    todo!();
    let attempt = *states;
    let declared = argument0;
    let recorded = step!("one", async { ok(input) }).await?;
    let (sum, ()) = join!(async { recorded + 1 }, sleep!("two", ::steadfast::secs(attempt))).await;
    let same = shadowed_helper(&sum, declared).await;
    ok(same)
}

#[durable]
async fn shadowed_helper(argument0: &u32, declared: u8) -> u32 {
    *argument0 + u32::from(declared)
}

/// A workflow may name itself, and a function of its module that is named like something generated.
#[workflow]
async fn selfish(_: ()) -> ::std::result::Result<::std::string::String, ::steadfast::BoxError> {
    let me = selfish;
    let _ = run();
    ::std::result::Result::Ok(::std::format!("{me:?}"))
}

fn main() {}
