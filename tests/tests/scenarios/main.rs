//! The promises of the engine, each as a test whose name is the claim. Runtimes open over one world, where time moves only
//! when a test says so; dropping a runtime and opening the next is a restart.

mod batches;
mod cancelling;
mod changing;
mod clock;
mod commits;
mod deploys;
mod divergence;
mod dropped;
mod edges;
mod failures;
mod fan_out;
mod lifecycle;
mod opening;
mod retries;
mod scale;
mod shapes;
mod signals;
mod starting;
mod table_e;
