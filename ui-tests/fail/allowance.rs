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
    #[allow_nondeterminism(clock, reason = "")]
    let f = std::time::Instant::now();
    #[allow_nondeterminism(clock, reason = "one rule of two")]
    let g = &std::time::Instant::now() as *const _ as usize;
    #[allow_nondeterminism(clock, reason = "once")]
    #[allow_nondeterminism(clock, reason = "once too often")]
    let h = std::time::Instant::now();
    match 1 {
        #[allow_nondeterminism(clock, reason = "on an arm")]
        _ => {}
    }
    drop((a, b, c, d, e, f, g, h));
    Ok(())
}

#[workflow]
#[allow_nondeterminism(clock, reason = "on a whole function")]
async fn whole() -> Result<(), BoxError> {
    Ok(())
}

fn main() {}
