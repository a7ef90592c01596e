//! What the attribute alone can judge: the function's signature. What is wrong in its body is found by the analysis.

pub(crate) mod signature;
