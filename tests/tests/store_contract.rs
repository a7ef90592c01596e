//! Our stores keep the contract. The last line printed names the clause that failed.

use std::sync::Arc;
use steadfast::store::{MemoryStore, SledStore, contract};

#[test]
fn the_memory_store_keeps_the_contract() {
    contract::check(|| {
        let data = MemoryStore::new();
        Box::new(move || Arc::new(data.clone()))
    });
}

#[test]
fn the_sled_store_keeps_the_contract() {
    contract::check(|| {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Box::new(move || Arc::new(SledStore::open(folder.path()).unwrap()))
    });
}

#[test]
fn the_sled_store_keeps_the_contract_when_every_page_is_old_at_once() {
    contract::check(|| {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let options = SledStore::options().pages_max(2);
        Box::new(move || Arc::new(options.clone().open(folder.path()).unwrap()))
    });
}
