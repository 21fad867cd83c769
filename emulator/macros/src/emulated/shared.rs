//! `#[address_space(shared)]` on a host: the array becomes one that the emulator keeps, block by block.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Expr, GenericArgument, ItemStatic, PathArguments, StaticMutability, Type};

pub(crate) fn shared(item: &ItemStatic) -> TokenStream {
    expand(item).unwrap_or_else(|error| {
        let error = error.into_compile_error();
        quote! {
            #[cfg(not(target_arch = "nvptx64"))]
            #error
        }
    })
}

fn expand(item: &ItemStatic) -> Result<TokenStream, Error> {
    let ItemStatic { attrs, vis, ident, ty, mutability, .. } = item;
    if !matches!(mutability, StaticMutability::Mut(_)) {
        return Err(Error::new_spanned(item.static_token, "threads write a shared array: `static mut`"));
    }
    if !matches!(**ty, Type::Array(_)) {
        return Err(Error::new_spanned(ty, "shared memory is an array: `[MaybeUninit<f32>; 256]`"));
    }
    let cells = cells(ty)?;
    let name = ident.to_string();
    Ok(quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(unused_braces)]
        #(#attrs)*
        // The braces around a length are not the learner's.
        #[allow(unused_braces)]
        #vis static mut #ident: ::cuda_std::emulator::SharedStatic<#cells> = {
            // The type as written: it has to be right, and its imports are used.
            const _: usize = ::core::mem::size_of::<#ty>();
            ::cuda_std::emulator::SharedStatic::new(#name)
        };
    })
}

/// The emulator's counterpart of the array type.
fn cells(ty: &Type) -> Result<TokenStream, Error> {
    match ty {
        Type::Array(array) => {
            let (inner, len) = (cells(&array.elem)?, &array.len);
            // rustc warns of braces around a literal.
            let len = if matches!(len, Expr::Lit(_)) { quote!(#len) } else { quote!({ #len }) };
            Ok(quote_spanned! { array.span() => ::cuda_std::emulator::Array<#inner, #len> })
        }
        Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "MaybeUninit") => {
            let last = &path.path.segments.last().expect("just seen").arguments;
            let PathArguments::AngleBracketed(arguments) = last else {
                return Err(Error::new_spanned(ty, "which type? Write `MaybeUninit<f32>`"));
            };
            match arguments.args.first() {
                Some(GenericArgument::Type(value)) => {
                    Ok(quote_spanned! { value.span() => ::cuda_std::emulator::Slot<#value> })
                }
                _ => Err(Error::new_spanned(ty, "which type? Write `MaybeUninit<f32>`")),
            }
        }
        _ => Err(Error::new_spanned(
            ty,
            "shared memory starts with unspecified contents: its cells are `MaybeUninit<T>`, written out here",
        )),
    }
}
