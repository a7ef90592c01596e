//! The picture of the export in `graphs/` is the one that its documentation has, and exports that were interrupted can be
//! gone on with by the next version of this program.
//!
//! After a change of the workflow: `STEADFAST_BLESS=1 cargo test -p steadfast-examples --test graph`, and look at it.

use std::path::Path;
use steadfast::Workflow;
use steadfast_examples::image_export::image_export;

#[test]
fn the_picture_of_the_export_is_up_to_date() {
    fn graph<W: Workflow>(_: W) -> steadfast::Graph {
        W::graph()
    }
    let picture = graph(image_export).svg().expect("the export is small");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("graphs/image-export.svg");
    if std::env::var_os("STEADFAST_BLESS").is_some() {
        std::fs::write(&path, picture).expect("the picture can be written");
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        known == picture,
        "run this test with STEADFAST_BLESS=1 and look at {}",
        path.display()
    );
}

#[test]
fn exports_under_way_can_go_on() {
    steadfast::testing::shape_lock!("steadfast.lock", [image_export]);
}
