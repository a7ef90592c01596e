//! The examples. `image_export` is a whole application; the short ones live in `src/bin/`, one file each.

pub mod image_export;
