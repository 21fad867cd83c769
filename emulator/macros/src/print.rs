//! `print!` and `println!` for the GPU: the text is taken apart here, and put together for `vprintf` where the
//! types of the arguments are known (`cuda_std::io`).

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, Ident, LitStr, Token};

/// The most arguments of one call.
const MOST: usize = 8;

/// What stands between the parentheses.
pub(crate) struct Input {
    text: LitStr,
    arguments: Vec<Expr>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Ok(Self { text: LitStr::new("", Span::call_site()), arguments: Vec::new() });
        }
        let text = input.parse()?;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
        Ok(Self { text, arguments: arguments.into_iter().collect() })
    }
}

/// The call; with `end` behind the text.
pub(crate) fn print(input: &Input, end: &str) -> TokenStream {
    expand(input, end).unwrap_or_else(Error::into_compile_error)
}

fn expand(input: &Input, end: &str) -> syn::Result<TokenStream> {
    let text = input.text.value() + end;
    let refuse = |what: String| Error::new(input.text.span(), what);
    let mut given = input.arguments.iter();
    let (mut pieces, mut arguments) = (Vec::new(), Vec::new());
    let mut plain = String::new();
    let mut rest = &*text;
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let (brace, behind) = (&rest[at..=at], &rest[at + 1..]);
        if let Some(behind) = behind.strip_prefix(brace) {
            plain.push_str(brace);
            rest = behind;
            continue;
        }
        let (inside, behind) = behind
            .split_once('}')
            .filter(|_| brace == "{")
            .ok_or_else(|| refuse(format!("`{brace}` has no partner")))?;
        rest = behind;
        let (name, spec) = inside.split_once(':').unwrap_or((inside, ""));
        pieces.push(quote!(Text(#plain)));
        plain.clear();
        pieces.push(spec_piece(spec).ok_or_else(|| {
            refuse(format!("`{{{inside}}}`: on a GPU there is `{{}}`, `{{:?}}`, `{{:8}}`, `{{:08.3}}`, `{{:x}}` and their like"))
        })?);
        arguments.push(match name.trim() {
            "" => {
                let next = given.next().ok_or_else(|| refuse("more `{}` than arguments".to_owned()))?;
                quote!(#next)
            }
            name => {
                let name: Ident = syn::parse_str(name).map_err(|_| {
                    refuse(format!("`{{{inside}}}`: on a GPU only names of variables stand in braces"))
                })?;
                let name = Ident::new(&name.to_string(), input.text.span());
                quote!(#name)
            }
        });
    }
    plain.push_str(rest);
    pieces.push(quote!(Text(#plain)));
    if let Some(left) = given.next() {
        return Err(Error::new_spanned(left, "more arguments than `{}`"));
    }
    if arguments.len() > MOST {
        return Err(refuse(format!("a GPU prints at most {MOST} values at once")));
    }
    Ok(quote! {{
        struct Text;
        impl ::cuda_std::io::Text for Text {
            const PIECES: &'static [::cuda_std::io::Piece] = &[#(::cuda_std::io::Piece::#pieces),*];
        }
        ::cuda_std::io::print(Text, (#(#arguments,)*));
    }})
}

/// What stands behind the colon, as C has it: `08.3`, `x`, `?`.
fn spec_piece(spec: &str) -> Option<TokenStream> {
    let spec = spec.trim_end_matches('?');
    let (spec, hex) = spec.strip_suffix('x').map_or((spec, false), |spec| (spec, true));
    let known = spec.chars().all(|c| c.is_ascii_digit() || "+#.".contains(c));
    let fixed = spec.contains('.');
    known.then(|| quote!(Argument { flags: #spec, hex: #hex, fixed: #fixed }))
}
