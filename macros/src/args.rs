//! What stands in the parentheses of `#[workflow(…)]` and `#[durable(…)]`.
//! Absent on purpose: whether a name is a good one, which `check` decides for all names alike.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Path, Token};

use steadfast_analysis::diagnostics::Diagnostics;
use steadfast_analysis::message;

/// Which of the two attributes is at work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attribute {
    Workflow,
    Durable,
}

impl Attribute {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Workflow => "workflow",
            Self::Durable => "durable",
        }
    }

    fn known_arguments(self) -> &'static str {
        match self {
            Self::Workflow => "`name = \"…\"`, `version = 1` and `crate = path`",
            Self::Durable => "`crate = path`",
        }
    }
}

/// The arguments that were understood; what was not is in the diagnostics.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) name: Option<LitStr>,
    pub(crate) version: Option<u32>,
    pub(crate) krate: Option<Path>,
}

struct Argument {
    key: Ident,
    value: Value,
}

enum Value {
    Literal(Expr),
    Crate(Path),
    Unknown,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any)?;
        let value = match key.to_string().as_str() {
            "name" | "version" => input
                .parse::<Token![=]>()
                .and_then(|_| input.parse())
                .map(Value::Literal)?,
            "crate" => input
                .parse::<Token![=]>()
                .and_then(|_| Path::parse_mod_style(input))
                .map(Value::Crate)?,
            _ => {
                while !input.is_empty() && !input.peek(Token![,]) {
                    input.parse::<proc_macro2::TokenTree>()?;
                }
                Value::Unknown
            }
        };
        Ok(Self { key, value })
    }
}

impl Args {
    pub(crate) fn parse(tokens: TokenStream, attribute: Attribute, diagnostics: &mut Diagnostics) -> Self {
        let mut args = Self::default();
        match Punctuated::<Argument, Token![,]>::parse_terminated.parse2(tokens) {
            Ok(arguments) => arguments
                .into_iter()
                .for_each(|argument| args.take(argument, attribute, diagnostics)),
            Err(error) => diagnostics.adopt(error),
        }
        args
    }

    fn take(&mut self, Argument { key, value }: Argument, attribute: Attribute, diagnostics: &mut Diagnostics) {
        let workflow = attribute == Attribute::Workflow;
        let repeated = match value {
            Value::Literal(value) if workflow && key == "name" => self.take_name(&value, diagnostics),
            Value::Literal(value) if workflow => self.take_version(&value, diagnostics),
            Value::Crate(path) => self.krate.replace(path).is_some(),
            Value::Literal(_) | Value::Unknown => {
                let values = [attribute.name(), &key.to_string(), attribute.known_arguments()];
                diagnostics.at(&key, &message::UNKNOWN_ARGUMENT, &values);
                false
            }
        };
        if repeated {
            diagnostics.at(&key, &message::REPEATED_ARGUMENT, &[&key.to_string()]);
        }
    }

    /// Keeps a name that is a literal; tells whether there was one before.
    fn take_name(&mut self, value: &Expr, diagnostics: &mut Diagnostics) -> bool {
        match value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(name), ..
            }) => self.name.replace(name.clone()).is_some(),
            _ => {
                diagnostics.at(value, &message::ARGUMENT_VALUE, &["name", "name = \"…\""]);
                false
            }
        }
    }

    /// Keeps a version that is a positive `u32`; tells whether there was one before.
    fn take_version(&mut self, value: &Expr, diagnostics: &mut Diagnostics) -> bool {
        let version = match value {
            Expr::Lit(ExprLit {
                lit: Lit::Int(version), ..
            }) => version.base10_parse::<u32>().ok(),
            _ => None,
        };
        match version {
            Some(0) => diagnostics.at(value, &message::VERSION_ZERO, &[]),
            Some(version) => return self.version.replace(version).is_some(),
            None => diagnostics.at(value, &message::ARGUMENT_VALUE, &["version", "version = 2"]),
        }
        false
    }

    /// The stored name: as given, else the function's own without `r#`.
    pub(crate) fn name_or(&self, function: &Ident) -> String {
        self.name
            .as_ref()
            .map_or_else(|| function.unraw().to_string(), LitStr::value)
    }

    pub(crate) fn version(&self) -> u32 {
        self.version.unwrap_or(1)
    }
}
