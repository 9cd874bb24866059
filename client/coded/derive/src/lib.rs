//! The derive macro of `zx1-coded`, which documents and exports it.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Data, DeriveInput, Fields, Ident, LitInt, LitStr, Path, Token, Variant};

/// Implements `zx1_coded::Coded` for an enum from the `#[code(...)]` of its variants.
#[proc_macro_derive(Coded, attributes(code))]
pub fn coded(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// What stands in `#[code(...)]`.
enum Code {
    /// `inner`: the error in the variant's only field has the number.
    Inner,
    /// A number of the variant's own.
    Own { number: LitInt, transient: Transient },
}

enum Transient {
    Never,
    Always,
    Asks(Path),
}

impl Parse for Code {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Ident) {
            let word: Ident = input.parse()?;
            return if word == "inner" { Ok(Self::Inner) } else { Err(usage(word.span())) };
        }
        let number = input.parse()?;
        if input.is_empty() {
            return Ok(Self::Own { number, transient: Transient::Never });
        }
        input.parse::<Token![,]>()?;
        let word: Ident = input.parse()?;
        if word != "transient" {
            return Err(usage(word.span()));
        }
        if input.is_empty() {
            return Ok(Self::Own { number, transient: Transient::Always });
        }
        input.parse::<Token![=]>()?;
        Ok(Self::Own { number, transient: Transient::Asks(input.parse()?) })
    }
}

fn usage(at: Span) -> syn::Error {
    syn::Error::new(
        at,
        "expected `#[code(NUMBER)]`, `#[code(NUMBER, transient)]`, `#[code(NUMBER, transient = FUNCTION)]` or \
         `#[code(inner)]`",
    )
}

fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(syn::Error::new_spanned(&input.ident, "`Coded` is derived for enums only"));
    };
    let (mut rows, mut codes, mut names, mut transients) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for variant in &data.variants {
        let ident = &variant.ident;
        let cfg: Vec<_> = variant.attrs.iter().filter(|a| a.path().is_ident("cfg")).collect();
        match code(variant)? {
            Code::Inner => {
                let pattern = inner(variant)?;
                let arm = |method: Ident| {
                    quote! { #(#cfg)* Self::#ident #pattern => ::zx1_coded::Coded::#method(inner), }
                };
                codes.push(arm(Ident::new("code", ident.span())));
                names.push(arm(Ident::new("name", ident.span())));
                transients.push(arm(Ident::new("transient", ident.span())));
            }
            Code::Own { number, transient } => {
                let name = ident.to_string();
                let message = message(variant)?;
                let (listed, answer) = match transient {
                    Transient::Never => (quote!(Some(false)), quote!(false)),
                    Transient::Always => (quote!(Some(true)), quote!(true)),
                    Transient::Asks(function) => (quote!(None), quote!(#function(self))),
                };
                rows.push(quote! {
                    #(#cfg)* ::zx1_coded::Row { code: #number, name: #name, message: #message, transient: #listed },
                });
                codes.push(quote! { #(#cfg)* Self::#ident { .. } => #number, });
                names.push(quote! { #(#cfg)* Self::#ident { .. } => #name, });
                transients.push(quote! { #(#cfg)* Self::#ident { .. } => #answer, });
            }
        }
    }
    let ident = &input.ident;
    let (parameters, arguments, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        impl #parameters #ident #arguments #bounds {
            /// The numbers of this type, in the order of its variants. Those that it passes on from other
            /// types are in their lists.
            pub const ROWS: &'static [::zx1_coded::Row] = &[#(#rows)*];

            /// The stable number of this error, as `docs/errors.md` lists it.
            pub fn code(&self) -> u32 {
                match self { #(#codes)* }
            }
        }

        impl #parameters ::zx1_coded::Coded for #ident #arguments #bounds {
            fn code(&self) -> u32 {
                Self::code(self)
            }

            fn name(&self) -> &'static str {
                match self { #(#names)* }
            }

            fn transient(&self) -> bool {
                match self { #(#transients)* }
            }
        }
    })
}

fn code(variant: &Variant) -> syn::Result<Code> {
    let missing = || usage(variant.ident.span());
    attribute(variant, "code").ok_or_else(missing)?.parse_args()
}

fn attribute<'a>(variant: &'a Variant, name: &str) -> Option<&'a Attribute> {
    variant.attrs.iter().find(|attribute| attribute.path().is_ident(name))
}

/// The pattern that binds the only field, or the one named `source`, as `inner`.
fn inner(variant: &Variant) -> syn::Result<TokenStream> {
    match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Ok(quote!((inner))),
        Fields::Named(fields) if fields.named.iter().any(is_source) => Ok(quote!({ source: inner, .. })),
        _ => Err(syn::Error::new_spanned(variant, "`inner` needs one unnamed field, or one named `source`")),
    }
}

fn is_source(field: &syn::Field) -> bool {
    field.ident.as_ref().is_some_and(|name| name == "source")
}

/// The message as `#[error("...")]` writes it.
fn message(variant: &Variant) -> syn::Result<LitStr> {
    let missing =
        || syn::Error::new_spanned(variant, "an error with a number of its own needs `#[error(\"...\")]`");
    attribute(variant, "error").ok_or_else(missing)?.parse_args_with(|input: ParseStream<'_>| {
        let message = input.parse()?;
        // What follows are the arguments of the format string.
        input.parse::<TokenStream>()?;
        Ok(message)
    })
}
