//! The GPU half of the attributes: what rustc's own `nvptx64-nvidia-cuda` target needs.

use std::sync::atomic::{AtomicUsize, Ordering};

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::Error;

/// The function as it was written, and beside it the entry point that a launch sees.
///
/// The entry takes what Rust-CUDA's takes: a slice as two parameters, pointer and length in elements; everything
/// else as it is, one parameter each: numbers by their size, pointers and references as `.u64`, and a struct by
/// value as its bytes (`.align A .b8 param[SIZE]`).
pub(crate) fn kernel(item: &syn::ItemFn) -> TokenStream {
    expand(item).unwrap_or_else(|error| {
        let error = error.into_compile_error();
        quote! {
            #[cfg(target_arch = "nvptx64")]
            #error
        }
    })
}

fn expand(item: &syn::ItemFn) -> syn::Result<TokenStream> {
    let sig = &item.sig;
    if sig.unsafety.is_none() {
        return Err(Error::new_spanned(sig.fn_token, "a kernel must be `unsafe`: write `pub unsafe fn`"));
    }
    if let syn::ReturnType::Type(_, ty) = &sig.output {
        return Err(Error::new_spanned(ty, "a kernel returns nothing: write results through a pointer"));
    }
    if !sig.generics.params.is_empty() {
        return Err(Error::new_spanned(&sig.generics, "a kernel cannot be generic: its name is its symbol"));
    }
    let name = &item.sig.ident;
    let symbol = name.to_string();
    let (mut params, mut args) = (Vec::new(), Vec::new());
    for (index, input) in item.sig.inputs.iter().enumerate() {
        let syn::FnArg::Typed(syn::PatType { ty, .. }) = input else {
            return Err(Error::new_spanned(input, "a kernel has no `self`"));
        };
        let param = format_ident!("param_{index}");
        match slice(ty) {
            Some((element, mutable)) => {
                let len = format_ident!("param_{index}_len");
                let (pointer, slice) = if mutable {
                    (quote!(*mut), quote!(::core::slice::from_raw_parts_mut))
                } else {
                    (quote!(*const), quote!(::core::slice::from_raw_parts))
                };
                params.push(quote!(#param: #pointer #element, #len: usize));
                args.push(quote!(#slice(#param, #len)));
            }
            None => {
                params.push(quote!(#param: #ty));
                args.push(quote!(#param));
            }
        }
    }
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #[inline(always)]
        #item

        #[cfg(target_arch = "nvptx64")]
        const _: () = {
            #[unsafe(export_name = #symbol)]
            unsafe extern "ptx-kernel" fn entry(#(#params),*) {
                // SAFETY: the launch promises what the kernel's own safety section asks for.
                unsafe { #name(#(#args),*) }
            }
        };
    })
}

/// The element type of `&[T]` or `&mut [T]`, and whether it is the second.
fn slice(ty: &syn::Type) -> Option<(&syn::Type, bool)> {
    let syn::Type::Reference(reference) = ty else { return None };
    let syn::Type::Slice(slice) = &*reference.elem else { return None };
    Some((&slice.elem, reference.mutability.is_some()))
}

/// A `.shared` variable, and a static of the same name that stands for it.
///
/// rustc has no address spaces, so the variable is declared by `global_asm!`. That macro is allowed in a
/// module only, and a module does not see the constants of the function it stands in: hence the array's
/// type reaches it through a trait, implemented outside the module.
pub(crate) fn shared(item: &syn::ItemStatic) -> TokenStream {
    let syn::ItemStatic { attrs, vis, ident, ty, .. } = item;
    let symbol = symbol(ident);
    let declare = format!(".shared .align {{}} .b8 {symbol}[{{}}];");
    let locate = format!("cvta.shared.u64 {{}}, {symbol};");
    quote! {
        #[cfg(target_arch = "nvptx64")]
        #[allow(non_snake_case)]
        mod #ident {
            /// Stands for the variable.
            pub struct Variable;

            ::core::arch::global_asm!(
                #declare,
                const ::core::mem::align_of::<<Variable as ::cuda_std::nvptx::SharedVariable>::Array>(),
                const ::core::mem::size_of::<<Variable as ::cuda_std::nvptx::SharedVariable>::Array>(),
            );

            /// Where the variable lies, as a generic address.
            #[inline(always)]
            pub fn address() -> *mut u8 {
                let address;
                // SAFETY: it takes the address of the variable declared above, and touches no memory.
                unsafe {
                    ::core::arch::asm!(#locate, out(reg64) address, options(pure, nomem, nostack));
                }
                address
            }
        }

        #[cfg(target_arch = "nvptx64")]
        // SAFETY: the variable is declared with the size and the alignment of this array.
        unsafe impl ::cuda_std::nvptx::SharedVariable for #ident::Variable {
            type Array = #ty;

            #[inline(always)]
            fn address() -> *mut u8 {
                #ident::address()
            }
        }

        #[cfg(target_arch = "nvptx64")]
        #(#attrs)*
        #vis static mut #ident: ::cuda_std::nvptx::SharedArray<#ident::Variable> =
            ::cuda_std::nvptx::SharedArray::stand_in();
    }
}

/// A name that no other static of the crate has: its own up to the first `$`, then a number, for a file may have
/// many, and its file below `src`.
fn symbol(ident: &syn::Ident) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let file = Span::call_site().unwrap().file().replace('\\', "/");
    let file = file.rsplit_once("/src/").map_or(&*file, |(_, below)| below).trim_end_matches(".rs");
    let file: String = file.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("{ident}${count}${file}")
}
