//! A folder of page images goes in, one ZIP of rendered pages comes out; a kill at any instant costs only the pages
//! that were under way.
//!
//! | file | holds |
//! |---|---|
//! | `workflow` | the whole export as one `async fn`: start reading here |
//! | `studio` | the bodies of its steps: what is done, once, on which thread |
//! | `pages`, `snapshot`, `render`, `archive` | the work itself, ordinary code that knows nothing of workflows |
//! | `job`, `error` | what the steps pass on, and what can go wrong |
//! | `files` | writing a file so that it is either whole or not there |
//! | `arguments`, `choice`, `program`, `progress`, `samples` | what a person types and sees |

mod archive;
mod arguments;
mod choice;
mod error;
mod files;
mod job;
mod pages;
mod program;
mod progress;
mod render;
mod samples;
mod snapshot;
mod studio;
mod workflow;

pub use arguments::Arguments;
pub use error::{ExportError, ExportFailed, sentence};
pub use job::{ExportJob, Exported, Format, Page, Prepared, Rendered};
pub use program::{Stop, run};
pub use studio::Studio;
pub use workflow::image_export;
