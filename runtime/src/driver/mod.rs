//! Layer 3: turns and their surroundings. A turn polls and never decides; the machine decides and never polls.

pub(crate) mod code;
pub(crate) mod turn;
