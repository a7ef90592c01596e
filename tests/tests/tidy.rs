//! The house rules that a program can check: layers, lengths, headers, what is never written, what is frozen.
//!
//! Each test prints every place that breaks its rule. Absent on purpose: what rustc, clippy and rustfmt check already.

use proc_macro2::{Delimiter, LineColumn, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItemFn, Item, ItemEnum, ItemFn, ItemMod, TraitItemFn};

/// What lies at the top of the repository, and nothing else.
const TOP_LEVEL: &[&str] = &[
    ".ci",
    ".gitattributes",
    ".gitignore",
    ".rustfmt.toml",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "clippy.toml",
    "deny.toml",
    "examples",
    "macros",
    "runtime",
    "rust-toolchain.toml",
    "tests",
    "ui-tests",
];

/// The layers of `runtime/src`, lowest first. A module imports from its own layer and from lower ones.
const LAYERS: &[&[&str]] = &[
    &["ids", "time", "payload", "failure", "graph", "shape"],
    &["machine"],
    &["store"],
    &["driver"],
    &["api"],
    &["testing", "guide"],
    // Reads source, not journals: it stands beside the engine.
    &["check"],
];

/// Imports from a higher layer that are meant: plain values, not behaviour.
const UPWARD: &[(&str, &str)] = &[
    ("machine", "store::StoredSignal"),
    // Exported macros stand at the top of the crate, whatever module they are for.
    ("testing", "__shape_lock"),
    ("check", "__assert_deterministic"),
];

/// Names that the code below a path never has, except below the path that is the place for them.
const NEVER_NAMED: &[(&str, &[&str], &str)] = &[
    ("runtime/src/machine", MACHINE_NEVER, ""),
    ("runtime/src/store", &["tokio"], ""),
    ("runtime/src/driver", &["api", "SledStore"], ""),
    // The builder opens a store on disk for the user, through the name that the store's module exports.
    ("runtime/src", &["sled"], "runtime/src/store/sled"),
    ("runtime/src/check", &["api", "driver", "machine", "store", "tokio"], ""),
    ("macros/src", &["steadfast_macros"], ""),
    ("macros/analysis/src", &["steadfast_macros", "proc_macro"], ""),
];

/// Whatever would let the pure core ask for something: time, chance, threads, files, an order that hashing decides.
const MACHINE_NEVER: &[&str] = &[
    "tokio",
    "sled",
    "thread",
    "SystemTime",
    "Instant",
    "HashMap",
    "HashSet",
    "rand",
    "getrandom",
    "fs",
    "net",
    "env",
];

const FILE_LINES_MAX: usize = 500;
/// A file of tests is a table of cases; splitting it over two hides which case is missing.
const TEST_FILE_LINES_MAX: usize = 700;
const FUNCTION_LINES_MAX: usize = 60;

/// Code of the library that is a test: the contract suite, which other stores run, and which fails by panicking.
const CONTRACT: &str = "runtime/src/store/contract";

struct Source {
    /// From the top of the repository.
    path: String,
    text: String,
    syntax: syn::File,
    /// Whether the whole file is there for tests only.
    is_test: bool,
}

#[test]
fn a_module_imports_from_lower_layers_only() {
    let mut broken = Vec::new();
    for source in sources(&["runtime/src"]) {
        let modules = source.modules("runtime/src");
        let Some((own, top)) = modules.first().and_then(|top| Some((layer(top)?, top))) else {
            continue;
        };
        for import in imports(&source.production(), modules.len()) {
            let meant = UPWARD.iter().any(|(from, what)| from == top && import == *what);
            let allowed = layer(&import).is_some_and(|layer| layer <= own);
            if !allowed && !meant {
                broken.push(format!("{}: `{import}` is not in a lower layer", source.path));
            }
        }
    }
    report("a module imports from its own and lower layers", &broken);
}

#[test]
fn what_belongs_elsewhere_is_not_named() {
    let mut broken = Vec::new();
    for source in sources(&["runtime/src", "macros/src", "macros/analysis/src"]) {
        let names = names(&source.production());
        for (below, never, except) in NEVER_NAMED {
            if !source.is_below(below) || source.is_below(except) {
                continue;
            }
            for (name, at) in names.iter().filter(|(name, _)| never.contains(&name.as_str())) {
                if name == "sled" && declares_sled(&source, at.line) {
                    continue;
                }
                broken.push(format!("{}:{}: `{name}`", source.path, at.line));
            }
        }
    }
    report("these names belong to other layers", &broken);
}

/// The module that is the sled store has a name, and the store's module exports what is in it.
fn declares_sled(source: &Source, line: usize) -> bool {
    let text = source.text.lines().nth(line - 1).unwrap_or_default().trim();
    source.path == "runtime/src/store/mod.rs" && (text == "mod sled;" || text.starts_with("pub use self::sled::{"))
}

#[test]
fn functions_and_files_are_short() {
    let mut broken = Vec::new();
    for source in sources(&["runtime/src", "macros/src", "macros/analysis/src"]) {
        let lines = source.text.lines().count();
        let most = if source.is_test {
            TEST_FILE_LINES_MAX
        } else {
            FILE_LINES_MAX
        };
        if lines >= most {
            broken.push(format!("{}: {lines} lines, and {most} are too many", source.path));
        }
        let mut functions = Functions::default();
        functions.visit_file(&source.syntax);
        for (name, line, lines) in functions.0 {
            if lines >= FUNCTION_LINES_MAX {
                broken.push(format!("{}:{line}: `{name}` has {lines} lines", source.path));
            }
        }
    }
    report("functions stay under 60 lines, files under 500", &broken);
}

#[test]
fn every_file_begins_with_its_charter() {
    let is_ours = |source: &Source| !source.path.starts_with("ui-tests/");
    let broken: Vec<String> = sources(&[
        "runtime",
        "macros",
        "examples",
        "tests",
        "ui-tests/src",
        "ui-tests/tests",
    ])
    .iter()
    .filter(|source| is_ours(source) && !source.text.starts_with("//! "))
    .map(|source| source.path.clone())
    .collect();
    report("a file begins with `//!` and says what it decides", &broken);
}

#[test]
fn the_top_level_is_fixed() {
    let entries: BTreeSet<String> = tracked()
        .iter()
        .filter_map(|path| path.split('/').next().map(str::to_owned))
        .collect();
    let broken: Vec<String> = entries
        .into_iter()
        .filter(|entry| !TOP_LEVEL.contains(&entry.as_str()))
        .collect();
    report("only what the design names lies at the top", &broken);
}

#[test]
fn production_code_does_not_give_up() {
    let mut broken = Vec::new();
    for source in sources(&["runtime/src", "macros/src", "macros/analysis/src"]) {
        if source.is_below(CONTRACT) {
            continue;
        }
        for (name, line) in gives_up(&source.production()) {
            broken.push(format!("{}:{line}: `{name}`", source.path));
        }
    }
    report(
        "no `unwrap`, `panic!`, `todo!`, `unimplemented!` or `dbg!` outside tests",
        &broken,
    );
}

#[test]
fn every_variant_that_is_stored_is_frozen() {
    let sources = sources(&["runtime/src"]);
    let frozen: BTreeSet<(String, String)> = sources.iter().flat_map(frozen).collect();
    let mut broken = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test) {
        for stored in source.stored_enums() {
            for variant in &stored.variants {
                let pair = (stored.ident.to_string(), variant.ident.to_string());
                if !frozen.contains(&pair) {
                    broken.push(format!("{}: `{}::{}`", source.path, pair.0, pair.1));
                }
            }
        }
    }
    report(
        "a test whose name says `frozen` pins the bytes of every variant",
        &broken,
    );
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    // Put together here, so that this file does not name them.
    let roots = ["home", "root", "work", "Users", "tmp"].map(|root| format!("/{root}/"));
    let mut broken = Vec::new();
    for path in tracked() {
        // Pictures and other bytes have no paths in them.
        let Ok(text) = std::fs::read_to_string(top().join(&path)) else {
            continue;
        };
        for (number, line) in (1..).zip(text.lines()) {
            if roots.iter().any(|root| names_path(line, root)) {
                broken.push(format!("{path}:{number}: {}", line.trim()));
            }
        }
    }
    report("committed files hold no absolute paths of one machine", &broken);
}

/// Whether a path in this line begins with `root`, rather than having it in the middle.
fn names_path(line: &str, root: &str) -> bool {
    line.match_indices(root).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(|character| character.is_alphanumeric() || "/._-}$".contains(character))
    })
}

fn report(rule: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{rule}:\n  {}", broken.join("\n  "));
}

fn top() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .expect("this crate is a member of the workspace")
        .to_owned()
}

/// The files under version control that are there.
fn tracked() -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(top())
        .output()
        .expect("git lists the files");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout).expect("names of files are text");
    let names = names
        .split('\0')
        .filter(|name| !name.is_empty() && top().join(name).exists());
    names.map(str::to_owned).collect()
}

fn sources(below: &[&str]) -> Vec<Source> {
    let paths = tracked().into_iter().filter(|path| path.ends_with(".rs"));
    let paths = paths.filter(|path| below.iter().any(|below| path.starts_with(&format!("{below}/"))));
    let mut sources: Vec<Source> = paths.map(Source::read).collect();
    let test_modules: Vec<String> = sources.iter().flat_map(Source::test_modules).collect();
    for source in &mut sources {
        source.is_test |= test_modules.iter().any(|module| source.is_module(module));
    }
    sources
}

impl Source {
    fn read(path: String) -> Self {
        let text = std::fs::read_to_string(top().join(&path)).expect("the file is there");
        let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let is_test = path.split('/').any(|part| part == "tests") || path.starts_with(CONTRACT);
        Self {
            path,
            text,
            syntax,
            is_test,
        }
    }

    fn is_below(&self, folder: &str) -> bool {
        !folder.is_empty() && (self.path.starts_with(&format!("{folder}/")) || self.is_module(folder))
    }

    /// Whether this is the file, or in the folder, of the module at this path.
    fn is_module(&self, module: &str) -> bool {
        self.path == format!("{module}.rs") || self.path.starts_with(&format!("{module}/"))
    }

    /// The path of the module below `root`: `["driver", "engine"]`.
    fn modules(&self, root: &str) -> Vec<String> {
        let path = self
            .path
            .strip_prefix(root)
            .unwrap_or(&self.path)
            .trim_start_matches('/');
        let parts = path.trim_end_matches(".rs").split('/');
        parts
            .filter(|part| *part != "mod" && *part != "lib")
            .map(str::to_owned)
            .collect()
    }

    /// Paths of the modules that this file declares for tests only.
    fn test_modules(&self) -> Vec<String> {
        let stem = self.path.trim_end_matches(".rs");
        let folder = stem.trim_end_matches("/mod").trim_end_matches("/lib");
        let declared = self.syntax.items.iter().filter_map(|item| match item {
            Item::Mod(module) if module.content.is_none() && is_for_tests(&module.attrs) => Some(&module.ident),
            _ => None,
        });
        declared.map(|name| format!("{folder}/{name}")).collect()
    }

    /// The code of the file without what is for tests only.
    fn production(&self) -> TokenStream {
        if self.is_test && !self.is_below(CONTRACT) {
            return TokenStream::new();
        }
        let kept = self.syntax.items.iter().filter(|item| !is_for_tests(attributes(item)));
        kept.map(ToTokens::to_token_stream).collect()
    }

    /// Enums whose values are encoded: what of them is written stays as it is.
    fn stored_enums(&self) -> Vec<&ItemEnum> {
        let enums = self.syntax.items.iter().filter_map(|item| match item {
            Item::Enum(item) => Some(item),
            _ => None,
        });
        let derives = |item: &&ItemEnum| {
            item.attrs
                .iter()
                .any(|attribute| says(attribute, "derive", "Deserialize"))
        };
        enums.filter(derives).collect()
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| says(attribute, "cfg", "test"))
}

/// Whether the attribute is called `name` and has the word `word` in it, as in `cfg(all(test, …))`.
fn says(attribute: &Attribute, name: &str, word: &str) -> bool {
    let syn::Meta::List(list) = &attribute.meta else {
        return false;
    };
    list.path.is_ident(name) && names(&list.tokens).iter().any(|(found, _)| found == word)
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn layer(import: &str) -> Option<usize> {
    let module = import.split("::").next()?;
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// All words of the code, those inside macros included. Texts and comments are not code.
fn names(tokens: &TokenStream) -> Vec<(String, LineColumn)> {
    let mut found = Vec::new();
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(name) => found.push((name.to_string(), name.span().start())),
            TokenTree::Group(group) => found.extend(names(&group.stream())),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    found
}

/// What the code takes from the crate's other modules: `store::StoredSignal`, from `use` and from paths alike. `depth` is
/// how many `super` lead out of the file's module to the crate's root.
fn imports(tokens: &TokenStream, depth: usize) -> Vec<String> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut found = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => found.extend(imports(&group.stream(), depth)),
            TokenTree::Ident(name) if name == "crate" => found.extend(segments(&tokens[place + 1..], 2)),
            TokenTree::Ident(name) if name == "super" && !follows_path(&tokens, place) => {
                let mut rest = &tokens[place + 1..];
                let mut supers = 1;
                while let Some(TokenTree::Ident(next)) = rest.get(2).filter(|_| is_path_separator(rest)) {
                    if next != "super" {
                        break;
                    }
                    supers += 1;
                    rest = &rest[3..];
                }
                if supers >= depth {
                    found.extend(segments(rest, 2));
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    found.retain(|import| !import.is_empty());
    found
}

/// The paths of at most `most` segments that the tokens after a `crate` begin with; several if there is a group.
fn segments(tokens: &[TokenTree], most: usize) -> Vec<String> {
    if most == 0 || !is_path_separator(tokens) {
        return vec![String::new()];
    }
    let paths = match tokens.get(2) {
        Some(TokenTree::Ident(_)) => named(&tokens[2..], most),
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
            let parts = tokens.split(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ','));
            parts
                .filter(|part| !part.is_empty())
                .flat_map(|part| named(part, most))
                .collect()
        }
        Some(_) | None => Vec::new(),
    };
    paths.into_iter().filter(|path| !path.is_empty()).collect()
}

/// The paths that begin with the first token, a name.
fn named(tokens: &[TokenTree], most: usize) -> Vec<String> {
    let Some(TokenTree::Ident(name)) = tokens.first() else {
        return Vec::new();
    };
    let rest = segments(&tokens[1..], most - 1).into_iter();
    rest.map(|rest| format!("{name}::{rest}").trim_end_matches("::").to_owned())
        .collect()
}

fn is_path_separator(tokens: &[TokenTree]) -> bool {
    let is_colon = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    is_colon(tokens.first()) && is_colon(tokens.get(1))
}

fn follows_path(tokens: &[TokenTree], place: usize) -> bool {
    place >= 2 && is_path_separator(&tokens[place - 2..])
}

/// Calls that end in a panic on purpose. What `quote!` and its kin are given is not our code.
fn gives_up(tokens: &TokenStream) -> Vec<(String, usize)> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is = |place: Option<usize>, wanted: char| {
        let token = place.and_then(|place| tokens.get(place));
        matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
    };
    let is_word = |place: Option<usize>, wanted: &str| {
        let token = place.and_then(|place| tokens.get(place));
        matches!(token, Some(TokenTree::Ident(name)) if name == wanted)
    };
    let is_quote = |place: Option<usize>| match place.and_then(|place| tokens.get(place)) {
        Some(TokenTree::Ident(name)) => name.to_string().contains("quote"),
        Some(_) | None => false,
    };
    let mut found = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(_) if is(place.checked_sub(1), '!') && is_quote(place.checked_sub(2)) => {}
            TokenTree::Group(group) => found.extend(gives_up(&group.stream())),
            TokenTree::Ident(name) => {
                let text = name.to_string();
                let is_call = match text.as_str() {
                    // `span().unwrap()` is how proc-macro2 calls the conversion to the compiler's own span.
                    "unwrap" => is(place.checked_sub(1), '.') && !is_word(place.checked_sub(3), "span"),
                    "panic" | "todo" | "unimplemented" | "dbg" => is(Some(place + 1), '!'),
                    _ => false,
                };
                if is_call {
                    found.push((text, name.span().start().line));
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    found
}

/// Name, first line and number of lines of every function.
#[derive(Default)]
struct Functions(Vec<(String, usize, usize)>);

impl Functions {
    fn note(&mut self, name: &syn::Ident, first: proc_macro2::Span, block: &syn::Block) {
        let (first, last) = (first.start().line, block.span().end().line);
        self.0.push((name.to_string(), first, last - first + 1));
    }
}

impl<'ast> Visit<'ast> for Functions {
    /// A test may be a table.
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.note(&item.sig.ident, item.sig.span(), &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.note(&item.sig.ident, item.sig.span(), &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(block) = &item.default {
            self.note(&item.sig.ident, item.sig.span(), block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// The `Enum::Variant`s that tests name in a file that has a test called `…frozen…`.
fn frozen(source: &Source) -> Vec<(String, String)> {
    let tests: TokenStream = match source.is_test {
        true => source.syntax.to_token_stream(),
        false => {
            let items = source.syntax.items.iter().filter(|item| is_for_tests(attributes(item)));
            items.map(ToTokens::to_token_stream).collect()
        }
    };
    if !names(&tests).iter().any(|(name, _)| name.contains("frozen")) {
        return Vec::new();
    }
    pairs(&tests)
}

fn pairs(tokens: &TokenStream) -> Vec<(String, String)> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut found = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        match (token, tokens.get(place + 3)) {
            (TokenTree::Group(group), _) => found.extend(pairs(&group.stream())),
            (TokenTree::Ident(first), Some(TokenTree::Ident(second))) if is_path_separator(&tokens[place + 1..]) => {
                found.push((first.to_string(), second.to_string()));
            }
            (TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_), _) => {}
        }
    }
    found
}
