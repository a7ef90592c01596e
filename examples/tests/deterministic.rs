//! The examples keep the rules in the plain functions too that their workflows call.

#[test]
fn workflows_are_deterministic() {
    steadfast::check::assert_deterministic!();
}
