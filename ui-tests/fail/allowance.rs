//! Allowances that say too little, too much or nothing.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    #[allow_nondeterminism(clock)]
    let a = std::time::Instant::now();
    #[allow_nondeterminism(clocks, reason = "a typo")]
    let b = 1;
    #[allow_nondeterminism(clock, reason = "not needed")]
    let c = 1;
    #[allow_nondeterminism]
    let d = 1;
    #[allow_nondeterminism(randomness, reason = "the wrong one")]
    let e = std::time::Instant::now();
    drop((a, b, c, d, e));
    Ok(())
}

fn main() {}
