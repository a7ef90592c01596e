//! What stands in the parentheses of `#[workflow(…)]` and `#[durable(…)]`.
//! Absent on purpose: whether a name is a good one, which `check` decides for all names alike.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Ident, LitInt, LitStr, Path, Token};

use crate::diagnostics::Diagnostics;
use crate::message;

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
    pub(crate) version: Option<LitInt>,
    pub(crate) krate: Option<Path>,
}

struct Argument {
    key: Ident,
    value: Value,
}

enum Value {
    Name(LitStr),
    Version(LitInt),
    Crate(Path),
    Unknown,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any)?;
        let value = match key.to_string().as_str() {
            "name" => input
                .parse::<Token![=]>()
                .and_then(|_| input.parse())
                .map(Value::Name)?,
            "version" => input
                .parse::<Token![=]>()
                .and_then(|_| input.parse())
                .map(Value::Version)?,
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
            Value::Name(name) if workflow => self.name.replace(name).is_some(),
            Value::Version(version) if workflow => self.take_version(version, diagnostics),
            Value::Crate(path) => self.krate.replace(path).is_some(),
            Value::Name(_) | Value::Version(_) | Value::Unknown => {
                let values = [attribute.name(), &key.to_string(), attribute.known_arguments()];
                diagnostics.at(&key, &message::UNKNOWN_ARGUMENT, &values);
                false
            }
        };
        if repeated {
            diagnostics.at(&key, &message::REPEATED_ARGUMENT, &[&key.to_string()]);
        }
    }

    /// Keeps a version that is a positive `u32`; tells whether there was one before.
    fn take_version(&mut self, version: LitInt, diagnostics: &mut Diagnostics) -> bool {
        match version.base10_parse::<u32>() {
            Ok(0) => diagnostics.at(&version, &message::VERSION_ZERO, &[]),
            Ok(_) => return self.version.replace(version).is_some(),
            Err(error) => diagnostics.adopt(error),
        }
        false
    }

    /// The stored name: as given, else the function's own without `r#`.
    pub(crate) fn name_or(&self, function: &Ident) -> String {
        self.name
            .as_ref()
            .map_or_else(|| function.unraw().to_string(), LitStr::value)
    }

    pub(crate) fn version_tokens(&self) -> TokenStream {
        // Without a suffix the number takes the constant's type.
        self.version.as_ref().map_or_else(
            || quote::quote!(1),
            |version| {
                version.base10_digits().parse::<u32>().map_or_else(
                    |_| version.to_token_stream(),
                    |number| proc_macro2::Literal::u32_unsuffixed(number).into_token_stream(),
                )
            },
        )
    }
}
