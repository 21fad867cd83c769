//! `#[kernel]` on a host: parameters become checked handles, and the body is marked.
//!
//! The function keeps Rust's own ABI: `extern "C"`, which the real attribute gives it, would abort
//! the process where the emulator unwinds a thread.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, FnArg, ItemFn, Pat, ReturnType, Type};

use super::body;

pub(crate) fn kernel(item: &ItemFn) -> TokenStream {
    match expand(item) {
        Ok(tokens) => tokens,
        Err(error) => {
            let error = error.into_compile_error();
            quote! { #error #[cfg(not(target_arch = "nvptx64"))] #item }
        }
    }
}

fn expand(item: &ItemFn) -> Result<TokenStream, Error> {
    let ItemFn { attrs, vis, sig, block } = item;
    if sig.unsafety.is_none() {
        return Err(Error::new_spanned(sig.fn_token, "a kernel must be `unsafe`: write `pub unsafe fn`"));
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        return Err(Error::new_spanned(ty, "a kernel returns nothing: write results through a pointer"));
    }
    if !sig.generics.params.is_empty() {
        return Err(Error::new_spanned(&sig.generics, "a kernel cannot be generic: its name is its symbol"));
    }
    let handles = sig.inputs.iter().map(handle).collect::<Result<Vec<_>, _>>()?;
    let mut body = (**block).clone();
    body::mark(&mut body);
    Ok(quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        #(#attrs)*
        // Following a raw pointer needs `unsafe`; following a handle does not.
        #[allow(unreachable_code, unused_unsafe, unused_parens, clippy::assign_op_pattern, clippy::let_unit_value, clippy::ptr_arg)]
        #vis #sig {
            #(#handles)*
            #body
            ::cuda_std::emulator::marks::end();
        }
    })
}

/// What a parameter is bound to in the body.
fn handle(input: &FnArg) -> Result<TokenStream, Error> {
    let FnArg::Typed(input) = input else {
        return Err(Error::new_spanned(input, "a kernel is a function, not a method"));
    };
    let Pat::Ident(pattern) = &*input.pat else {
        return Err(Error::new_spanned(&input.pat, "a kernel's parameter is a plain name"));
    };
    let (name, mutable) = (&pattern.ident, &pattern.mutability);
    let copy = quote! {
        {
            fn a_kernel_parameter_is_copy<T: ::core::marker::Copy>(_: &T) {}
            a_kernel_parameter_is_copy(&#name);
        }
    };
    Ok(match &*input.ty {
        // `*out = x` is a write through a pointer, which need not be `mut` itself.
        Type::Ptr(pointer) if pointer.mutability.is_some() => quote! {
            #[allow(unused_mut)]
            let mut #name = ::cuda_std::emulator::GlobalPtr::bind(#name);
        },
        Type::Ptr(_) => quote! {
            let #mutable #name = ::cuda_std::emulator::GlobalPtr::bind(#name.cast_mut());
        },
        Type::Reference(reference) if matches!(*reference.elem, Type::Slice(_)) => {
            if reference.mutability.is_some() {
                let message = "every thread would hold the whole slice mutably: take `*mut T` and a length";
                return Err(Error::new_spanned(reference, message));
            }
            quote! { let #mutable #name = &::cuda_std::emulator::GlobalSlice::bind(#name); }
        }
        _ => copy,
    })
}
