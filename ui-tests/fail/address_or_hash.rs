//! Addresses and unspecified hashes as data.
use std::any::TypeId;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;
use steadfast::prelude::*;

#[workflow]
async fn workflow(order: String) -> Result<u64, BoxError> {
    let address = &order as *const String as usize;
    let bytes = order.as_ptr() as usize;
    let text = format!("{:p} {:?}", &order, order);
    let mut hasher = DefaultHasher::new();
    order.hash(&mut hasher);
    let shared = Arc::new(order);
    if Arc::ptr_eq(&shared, &shared) || TypeId::of::<u8>() == TypeId::of::<u16>() {
        return Ok(0);
    }
    let name = std::any::type_name::<u32>();
    let raw = std::ptr::addr_of!(shared).is_null();
    let same = std::ptr::eq(&name, &name);
    drop((address, bytes, text, raw, same));
    Ok(hasher.finish())
}

fn main() {}
