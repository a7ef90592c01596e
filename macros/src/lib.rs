//! The macros of Steadfast.
