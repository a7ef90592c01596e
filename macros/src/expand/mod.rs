//! From a checked function to the items it stands for. Nothing here can fail; what it is given is sound, or has been
//! reported and only has to look sound from outside.
//!
//! * `workflow`: the unit struct, its `Workflow` implementation and the function with the user's code
//! * `durable`: a function that returns a durable future

pub(crate) mod durable;
pub(crate) mod workflow;
