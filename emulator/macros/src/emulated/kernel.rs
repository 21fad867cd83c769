//! `#[kernel]` on a host: parameters become checked handles, and the body is marked.
//!
//! The function keeps Rust's own ABI: `extern "C"`, which the real attribute gives it, would abort
//! the process where the emulator unwinds a thread.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, FnArg, ItemFn, Pat, ReturnType, Type};

use super::body;
use super::flat::is_flat;

pub(crate) fn kernel(item: &ItemFn) -> TokenStream {
    match expand(item) {
        Ok(tokens) => tokens,
        Err(error) => {
            let error = error.into_compile_error();
            quote! {
                #[cfg(not(target_arch = "nvptx64"))]
                #error
                #[cfg(not(target_arch = "nvptx64"))]
                #item
            }
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
    let mut sig = sig.clone();
    let bound = sig.inputs.iter_mut().map(parameter).collect::<Result<Vec<_>, _>>()?;
    let (handles, fresh): (Vec<_>, Vec<_>) = bound.into_iter().unzip();
    let flat = is_flat(block);
    let mut body = (**block).clone();
    body::mark(&mut body, flat);
    let run = if flat {
        quote! {
            ::cuda_std::emulator::futures::run(|| {
                #(#fresh)*
                async move {
                    #[allow(unused_imports)]
                    use ::cuda_std::emulator::futures::Own as _;
                    #body
                    ::cuda_std::emulator::marks::end();
                }
            });
        }
    } else {
        quote! {
            if !::cuda_std::emulator::marks::start() {
                return;
            }
            loop {
                // A closure, which no `break` or `continue` leads out of, and a `return` only to here.
                (|| {
                    #(#fresh)*
                    #body
                    ::cuda_std::emulator::marks::end();
                })();
                if !::cuda_std::emulator::marks::next_block() {
                    break;
                }
            }
        }
    };
    Ok(quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        #(#attrs)*
        // Following a raw pointer needs `unsafe`; following a handle does not.
        #[allow(unreachable_code, unused_unsafe, unused_parens, clippy::assign_op_pattern, clippy::let_unit_value, clippy::ptr_arg, clippy::redundant_closure_call)]
        #vis #sig {
            #(#handles)*
            #run
        }
    })
}

/// What a parameter is bound to, once and again for each block: every block starts from the launch's
/// arguments, so that a `mut` goes there.
fn parameter(input: &mut FnArg) -> Result<(TokenStream, TokenStream), Error> {
    let FnArg::Typed(input) = input else {
        return Err(Error::new_spanned(input, "a kernel is a function, not a method"));
    };
    let Pat::Ident(pattern) = &mut *input.pat else {
        return Err(Error::new_spanned(&input.pat, "a kernel's parameter is a plain name"));
    };
    let (name, mutable) = (&pattern.ident, pattern.mutability.take());
    let fresh = quote! { let #mutable #name = #name; };
    Ok(match &*input.ty {
        Type::Ptr(pointer) if pointer.mutability.is_some() => (
            quote! { let #name = ::cuda_std::emulator::GlobalPtr::bind(#name); },
            // `*out = x` is a write through a pointer, which need not be `mut` itself.
            quote! { #[allow(unused_mut)] let mut #name = #name; },
        ),
        Type::Ptr(_) => {
            (quote! { let #name = ::cuda_std::emulator::GlobalPtr::bind(#name.cast_mut()); }, fresh)
        }
        Type::Reference(reference) if matches!(*reference.elem, Type::Slice(_)) => {
            if reference.mutability.is_some() {
                let message = "every thread would hold the whole slice mutably: take `*mut T` and a length";
                return Err(Error::new_spanned(reference, message));
            }
            (quote! { let #name = &::cuda_std::emulator::GlobalSlice::bind(#name); }, fresh)
        }
        _ => {
            let copy = quote! {
                {
                    fn a_kernel_parameter_is_copy<T: ::core::marker::Copy>(_: &T) {}
                    a_kernel_parameter_is_copy(&#name);
                }
            };
            (copy, fresh)
        }
    })
}
