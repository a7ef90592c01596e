//! What one file declares, in a form that can be handed to another thread: syntax trees cannot, since their places in the
//! source are known only to the thread that parsed them. Absent on purpose: what any name means, which takes all files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use syn::Type;
use syn::ext::IdentExt;

/// A module, function or type: its file, and which one of that file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id {
    pub(super) file: u32,
    pub(super) at: u32,
}

/// A path as it is written. One that begins with `::` begins with an empty name.
pub(super) type Written = Vec<String>;

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Definition {
    Module(Id),
    Function(Id),
    Type(Id),
    /// `type Name = target;`, to be read in this module.
    Alias(Id, Written),
    /// A constant, a static, a variant: nothing that leads on.
    Other,
    /// Something of another crate.
    Foreign(Written),
}

/// A module, or the inside of a function that declares items of its own.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) parent: Option<Id>,
    pub(super) is_inside_function: bool,
    pub(super) names: BTreeMap<String, Vec<Definition>>,
    pub(super) imports: BTreeMap<String, Vec<Written>>,
    pub(super) globs: Vec<Written>,
}

/// A type as far as it helps to find out which method is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A path and its type arguments.
    Path(Written, Vec<Shape>),
    /// `dyn Trait` or `impl Trait`: its first bound.
    Trait(Written),
    Unknown,
}

/// A struct, enum, union or trait.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) name: String,
    pub(super) module: Id,
    pub(super) fields: BTreeMap<String, Shape>,
}

/// What surrounds a function that is not free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Nobody,
    /// The block of this number in the file's `blocks`.
    Block(u32),
    Trait(Id),
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) module: Id,
    pub(super) owner: Owner,
    /// Where its name stands, from 1.
    pub(super) line: usize,
    /// The attributes that the compiler does not know by itself.
    pub(super) attributes: Vec<Written>,
    pub(super) is_async: bool,
    /// The number of arguments beside `self`, if it is a method.
    pub(super) method_of: Option<usize>,
    pub(super) output: Shape,
}

/// An `impl` block.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) module: Id,
    pub(super) of: Shape,
    pub(super) implemented: Option<Written>,
    pub(super) functions: Vec<Id>,
}

/// A `mod name;`, and where its file may be.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) name: String,
    pub(super) parent: Id,
    pub(super) candidates: Vec<PathBuf>,
    /// What is compiled only sometimes may have no file.
    pub(super) is_conditional: bool,
    pub(super) line: usize,
    pub(super) column: usize,
}

/// All that one file declares.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) modules: Vec<Module>,
    pub(super) functions: Vec<Function>,
    pub(super) kinds: Vec<Kind>,
    pub(super) blocks: Vec<Block>,
    pub(super) children: Vec<Child>,
    pub(super) lines: usize,
}

pub(super) fn written(path: &syn::Path) -> Written {
    let leading = path.leading_colon.map(|_| String::new());
    let names = path.segments.iter().map(|segment| segment.ident.unraw().to_string());
    leading.into_iter().chain(names).collect()
}

/// The shape of a type, without references and the pointers that methods see through.
pub(super) fn shape(kind: &Type) -> Shape {
    match kind {
        Type::Group(group) => shape(&group.elem),
        Type::Paren(paren) => shape(&paren.elem),
        Type::Reference(reference) => shape(&reference.elem),
        Type::Path(path) if path.qself.is_none() => path_shape(&path.path),
        Type::TraitObject(object) => bound(object.bounds.iter()),
        Type::ImplTrait(one) => bound(one.bounds.iter()),
        _ => Shape::Unknown,
    }
}

pub(super) fn bound<'b>(mut bounds: impl Iterator<Item = &'b syn::TypeParamBound>) -> Shape {
    let named = bounds.find_map(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => Some(written(&bound.path)),
        _ => None,
    });
    named.map_or(Shape::Unknown, Shape::Trait)
}

fn path_shape(path: &syn::Path) -> Shape {
    let arguments = path
        .segments
        .last()
        .map_or_else(Vec::new, |last| match &last.arguments {
            syn::PathArguments::AngleBracketed(list) => list
                .args
                .iter()
                .filter_map(|argument| match argument {
                    syn::GenericArgument::Type(kind) => Some(shape(kind)),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        });
    let is_pointer = path
        .segments
        .last()
        .is_some_and(|last| last.ident == "Box" || last.ident == "Rc" || last.ident == "Arc");
    match arguments.into_iter().collect::<Vec<_>>() {
        mut only if is_pointer && only.len() == 1 => only.remove(0),
        arguments => Shape::Path(written(path), arguments),
    }
}
