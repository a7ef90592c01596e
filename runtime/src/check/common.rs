//! Names of methods that many types have. A call of one on a value of unknown type is not taken for the only method of
//! that name in the crate.

/// In the order of the alphabet.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "abs", "add", "all", "and", "and_then", "any", "append", "as_bytes", "as_deref", "as_mut", "as_path", "as_ref",
    "as_slice", "as_str", "await", "begin", "body", "borrow", "borrow_mut", "build", "bytes", "call", "cancel",
    "ceil", "chain", "chars", "check", "children", "chunks", "clear", "clone", "cloned", "close", "cmp", "collect",
    "commit", "concat", "contains", "contains_key", "context", "copied", "count", "cycle", "dedup", "default",
    "delete", "deref", "deref_mut", "description", "display", "div", "drain", "drop", "elapsed", "end", "ends_with",
    "entry", "enumerate", "eq", "err", "exec", "execute", "exists", "expect", "expect_err", "extend", "fetch",
    "fetch_all", "fetch_one", "fill", "filter", "filter_map", "finalize", "find", "find_map", "finish", "first",
    "flat_map", "flatten", "floor", "flush", "fmt", "fold", "for_each", "from", "ge", "get", "get_mut",
    "get_or_insert_with", "gt", "hash", "header", "headers", "id", "index", "init", "insert", "insert_str", "inspect",
    "into", "into_inner", "into_iter", "is_empty", "is_err", "is_none", "is_ok", "is_some", "iter", "iter_mut",
    "join", "json", "keys", "kind", "last", "le", "len", "lines", "load", "lock", "log", "lt", "map", "map_err",
    "max", "max_by", "max_by_key", "message", "min", "min_by", "min_by_key", "mul", "name", "ne", "neg", "next",
    "next_back", "not", "now", "nth", "ok", "ok_or", "ok_or_else", "open", "or", "or_default", "or_else", "or_insert",
    "or_insert_with", "parent", "parse", "partial_cmp", "partition", "path", "peek", "poll", "pop", "pop_back",
    "pop_front", "position", "pow", "prepare", "product", "push", "push_back", "push_front", "push_str", "query",
    "random", "read", "read_to_end", "read_to_string", "recv", "reduce", "rem", "remove", "render", "repeat",
    "replace", "request", "reserve", "resize", "retain", "rev", "rollback", "round", "run", "save", "seek", "send",
    "set", "skip", "skip_while", "sleep", "sort", "sort_by", "sort_by_key", "source", "spawn", "split", "split_at",
    "split_off", "splitn", "sqrt", "start", "starts_with", "state", "status", "step", "step_by", "stop", "store",
    "sub", "sum", "swap", "take", "take_while", "text", "then", "then_some", "timeout", "title", "to_bytes",
    "to_json", "to_lowercase", "to_owned", "to_path_buf", "to_string", "to_uppercase", "to_vec", "trim", "truncate",
    "try_from", "try_into", "try_recv", "try_send", "unwrap", "unwrap_or", "unwrap_or_default", "unwrap_or_else",
    "update", "url", "value", "values", "values_mut", "version", "wait", "windows", "with", "with_capacity", "write",
    "write_all", "write_str", "zip",
];

pub(super) fn is_common(name: &str) -> bool {
    COMMON.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_sorted_for_the_search() {
        assert!(COMMON.is_sorted());
        assert!(is_common("abs") && is_common("zip") && !is_common("total"));
    }
}
