//! Takes one parsed file apart: into its outline, and the functions whose code may be looked into later.
//! Code for tests (`#[cfg(test)]`) is left out. Absent on purpose: other files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{
    Attribute, Expr, FnArg, ImplItem, Item, ItemFn, ItemImpl, ItemMod, ItemTrait, Lit, Meta, ReturnType, Stmt, Token,
    TraitItem, UseTree, Visibility,
};

use super::outline::{
    Block, Child, Definition, Function, Id, Kind, Module, Outline, Owner, Shape, Written, shape, written,
};

/// Attributes that say nothing about what a function is.
const BUILT_IN: &[&str] = &[
    "allow",
    "cfg",
    "cold",
    "deprecated",
    "doc",
    "expect",
    "inline",
    "must_use",
    "track_caller",
    "warn",
];

/// Where the files of a file's modules are.
pub(super) struct Place {
    /// The folder that the file is in.
    folder: PathBuf,
    /// The folder of its modules.
    modules: PathBuf,
}

impl Place {
    /// `owns_folder`: the file is a crate's first one, a `mod.rs`, or was named by `#[path]`.
    pub(super) fn of(file: &Path, owns_folder: bool) -> Self {
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let modules = match file.file_stem() {
            Some(stem) if !owns_folder && stem != "mod" => folder.join(stem),
            _ => folder.clone(),
        };
        Self { folder, modules }
    }
}

/// The outline of a file, and its functions in the outline's order.
pub(super) fn gather(file: u32, syntax: syn::File, place: &Place) -> (Outline, Vec<ItemFn>) {
    let mut gathered = Gather {
        file,
        outline: Outline::default(),
        functions: Vec::new(),
    };
    let module = gathered.module(None, false);
    gathered.items(syntax.items, module, place);
    (gathered.outline, gathered.functions)
}

struct Gather {
    file: u32,
    outline: Outline,
    functions: Vec<ItemFn>,
}

impl Gather {
    fn id(&self, at: usize) -> Id {
        let at = u32::try_from(at).expect("a file has fewer than four billion items");
        Id { file: self.file, at }
    }

    fn module(&mut self, parent: Option<Id>, is_inside_function: bool) -> Id {
        let id = self.id(self.outline.modules.len());
        self.outline.modules.push(Module {
            parent,
            is_inside_function,
            names: BTreeMap::new(),
            imports: BTreeMap::new(),
            globs: Vec::new(),
        });
        id
    }

    fn in_module(&mut self, module: Id) -> &mut Module {
        let at = usize::try_from(module.at).expect("an index fits");
        self.outline.modules.get_mut(at).expect("its id was given out")
    }

    fn name(&mut self, module: Id, name: &syn::Ident, definition: Definition) {
        let names = &mut self.in_module(module).names;
        names.entry(name.unraw().to_string()).or_default().push(definition);
    }

    fn items(&mut self, items: Vec<Item>, module: Id, place: &Place) {
        for item in items {
            self.item(item, module, place);
        }
    }

    fn item(&mut self, item: Item, module: Id, place: &Place) {
        match item {
            Item::Fn(function) => {
                let name = function.sig.ident.clone();
                if let Some(id) = self.function(function, module, Owner::Nobody) {
                    self.name(module, &name, Definition::Function(id));
                }
            }
            Item::Mod(inner) if !is_for_tests(&inner.attrs) => self.inner_module(inner, module, place),
            Item::Use(item) if !is_for_tests(&item.attrs) => {
                let leading = item.leading_colon.map(|_| String::new());
                self.import(module, &item.tree, leading.into_iter().collect());
            }
            Item::ExternCrate(item) => {
                let name = item.rename.as_ref().map_or(&item.ident, |(_, name)| name);
                let path = if item.ident == "self" {
                    vec!["crate".to_owned()]
                } else {
                    vec![String::new(), item.ident.unraw().to_string()]
                };
                let imports = &mut self.in_module(module).imports;
                imports.entry(name.unraw().to_string()).or_default().push(path);
            }
            Item::Impl(block) if !is_for_tests(&block.attrs) => self.block(block, module),
            Item::Trait(item) if !is_for_tests(&item.attrs) => self.declared_trait(item, module),
            Item::Struct(item) => {
                let fields = item.fields.iter().enumerate().map(|(index, field)| {
                    let name = field
                        .ident
                        .as_ref()
                        .map_or_else(|| index.to_string(), |name| name.unraw().to_string());
                    (name, shape(&field.ty))
                });
                let fields = fields.collect();
                self.kind(module, &item.ident, fields);
            }
            Item::Enum(item) => {
                self.kind(module, &item.ident, BTreeMap::new());
            }
            Item::Union(item) => {
                self.kind(module, &item.ident, BTreeMap::new());
            }
            Item::Type(item) => {
                let definition = match shape(&item.ty) {
                    Shape::Path(target, _) => Definition::Alias(module, target),
                    Shape::Trait(_) | Shape::Unknown => Definition::Other,
                };
                self.name(module, &item.ident, definition);
            }
            Item::Const(item) => self.name(module, &item.ident, Definition::Other),
            Item::Static(item) => self.name(module, &item.ident, Definition::Other),
            _ => {}
        }
    }

    fn kind(&mut self, module: Id, name: &syn::Ident, fields: BTreeMap<String, Shape>) -> Id {
        let id = self.id(self.outline.kinds.len());
        self.outline.kinds.push(Kind {
            name: name.unraw().to_string(),
            module,
            fields,
        });
        self.name(module, name, Definition::Type(id));
        id
    }

    fn function(&mut self, function: ItemFn, module: Id, owner: Owner) -> Option<Id> {
        if is_for_tests(&function.attrs) {
            return None;
        }
        let module = self.inside(&function, module);
        let signature = &function.sig;
        let own_attributes = function.attrs.iter().filter(|attribute| {
            let built_in = BUILT_IN.iter().any(|name| attribute.path().is_ident(name));
            !built_in
        });
        let is_method = matches!(signature.inputs.first(), Some(FnArg::Receiver(_)));
        let described = Function {
            name: signature.ident.unraw().to_string(),
            module,
            owner,
            line: signature.ident.span().start().line,
            attributes: own_attributes.map(|attribute| written(attribute.path())).collect(),
            is_async: signature.asyncness.is_some(),
            method_of: is_method.then(|| signature.inputs.len() - 1),
            output: match &signature.output {
                ReturnType::Default => Shape::Unknown,
                ReturnType::Type(_, kind) => shape(kind),
            },
        };
        let id = self.id(self.outline.functions.len());
        self.outline.functions.push(described);
        self.functions.push(function);
        Some(id)
    }

    /// The scope of a function's code: a module of its own if items are declared in it.
    fn inside(&mut self, function: &ItemFn, module: Id) -> Id {
        let mut nested = Nested::default();
        nested.visit_block(&function.block);
        if nested.0.is_empty() {
            return module;
        }
        let inner = self.module(Some(module), true);
        // A `mod name;` in a function is as rare as its rules are odd: its file is not looked for.
        self.items(nested.0, inner, &Place::of(Path::new(""), true));
        inner
    }

    fn inner_module(&mut self, inner: ItemMod, module: Id, place: &Place) {
        let name = inner.ident.unraw().to_string();
        let paths = paths(&inner.attrs);
        let Some((_, items)) = inner.content else {
            let is_inside_function = self.in_module(module).is_inside_function;
            let start = inner.ident.span().start();
            let is_at_top = module.at == 0;
            let beside = if is_at_top { &place.folder } else { &place.modules };
            let named = paths.iter().map(|path| beside.join(path));
            let usual = [
                place.modules.join(format!("{name}.rs")),
                place.modules.join(&name).join("mod.rs"),
            ];
            let is_named = paths
                .iter()
                .any(|_| inner.attrs.iter().any(|attribute| attribute.path().is_ident("path")));
            let candidates = named.chain(usual.into_iter().filter(|_| !is_named)).collect();
            if !is_inside_function {
                self.outline.children.push(Child {
                    name,
                    parent: module,
                    candidates,
                    is_conditional: inner.attrs.iter().any(is_conditional),
                    line: start.line,
                    column: start.column + 1,
                });
            }
            return;
        };
        let id = self.module(Some(module), false);
        self.name(module, &inner.ident, Definition::Module(id));
        let folder = paths
            .first()
            .map_or_else(|| place.modules.join(&name), |path| place.folder.join(path));
        let place = Place {
            folder: place.folder.clone(),
            modules: folder,
        };
        self.items(items, id, &place);
    }

    fn block(&mut self, block: ItemImpl, module: Id) {
        let number = u32::try_from(self.outline.blocks.len()).expect("a file has fewer than four billion blocks");
        let generics: Vec<String> = block
            .generics
            .type_params()
            .map(|parameter| parameter.ident.to_string())
            .collect();
        // `impl<T> Trait for T` is for anything.
        let of = match shape(&block.self_ty) {
            Shape::Path(path, _) if path.len() == 1 && generics.iter().any(|name| path.first() == Some(name)) => {
                Shape::Unknown
            }
            other => other,
        };
        self.outline.blocks.push(Block {
            module,
            of,
            implemented: block.trait_.as_ref().map(|(_, path, _)| written(path)),
            functions: Vec::new(),
        });
        for item in block.items {
            if let ImplItem::Fn(function) = item {
                let function = ItemFn {
                    attrs: function.attrs,
                    vis: function.vis,
                    sig: function.sig,
                    block: Box::new(function.block),
                };
                let id = self.function(function, module, Owner::Block(number));
                let at = usize::try_from(number).expect("an index fits");
                let block = self.outline.blocks.get_mut(at).expect("it was pushed above");
                block.functions.extend(id);
            }
        }
    }

    fn declared_trait(&mut self, item: ItemTrait, module: Id) {
        let id = self.kind(module, &item.ident, BTreeMap::new());
        for item in item.items {
            if let TraitItem::Fn(function) = item
                && let Some(block) = function.default
            {
                let function = ItemFn {
                    attrs: function.attrs,
                    vis: Visibility::Inherited,
                    sig: function.sig,
                    block: Box::new(block),
                };
                self.function(function, module, Owner::Trait(id));
            }
        }
    }

    fn import(&mut self, module: Id, tree: &UseTree, mut path: Written) {
        let mut add = |name: String, path: Written| {
            let imports = &mut self.in_module(module).imports;
            imports.entry(name).or_default().push(path);
        };
        match tree {
            UseTree::Path(step) => {
                path.push(step.ident.unraw().to_string());
                self.import(module, &step.tree, path);
            }
            UseTree::Name(name) if name.ident == "self" => {
                if let Some(last) = path.last().cloned() {
                    add(last, path);
                }
            }
            UseTree::Name(name) => {
                let name = name.ident.unraw().to_string();
                path.push(name.clone());
                add(name, path);
            }
            UseTree::Rename(rename) => {
                if rename.ident != "self" {
                    path.push(rename.ident.unraw().to_string());
                }
                add(rename.rename.unraw().to_string(), path);
            }
            UseTree::Group(group) => group
                .items
                .iter()
                .for_each(|tree| self.import(module, tree, path.clone())),
            UseTree::Glob(_) => self.in_module(module).globs.push(path),
        }
    }
}

/// The items that a function declares inside, at any depth of its blocks.
#[derive(Default)]
struct Nested(Vec<Item>);

impl<'ast> Visit<'ast> for Nested {
    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        match statement {
            Stmt::Item(item) => self.0.push(item.clone()),
            other => syn::visit::visit_stmt(self, other),
        }
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}

/// What `#[path = "…"]` says, also behind a condition.
fn paths(attributes: &[Attribute]) -> Vec<String> {
    let mut found = Vec::new();
    for attribute in attributes {
        if attribute.path().is_ident("path") {
            found.extend(path_value(&attribute.meta));
        } else if attribute.path().is_ident("cfg_attr") {
            found.extend(nested(&attribute.meta).iter().filter_map(path_value));
        }
    }
    found
}

fn path_value(meta: &Meta) -> Option<String> {
    let Meta::NameValue(pair) = meta else { return None };
    match &pair.value {
        Expr::Lit(literal) if pair.path.is_ident("path") => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

fn nested(meta: &Meta) -> Vec<Meta> {
    let Meta::List(list) = meta else { return Vec::new() };
    let parsed = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    parsed.map_or_else(|_| Vec::new(), |list| list.into_iter().collect())
}

fn is_conditional(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    conditions
        .flat_map(|attribute| nested(&attribute.meta))
        .any(|condition| needs_test(&condition))
}

/// Whether the condition never holds outside of tests.
fn needs_test(condition: &Meta) -> bool {
    let path = condition.path();
    if path.is_ident("all") {
        nested(condition).iter().any(needs_test)
    } else if path.is_ident("any") {
        let any = nested(condition);
        !any.is_empty() && any.iter().all(needs_test)
    } else {
        path.is_ident("test")
    }
}
