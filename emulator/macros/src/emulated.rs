//! The host half of the attributes.

use proc_macro2::TokenStream;
use quote::quote;

pub(crate) fn kernel(item: &syn::ItemFn) -> TokenStream {
    quote! { #[cfg(not(target_arch = "nvptx64"))] #item }
}

pub(crate) fn shared(item: &syn::ItemStatic) -> TokenStream {
    quote! { #[cfg(not(target_arch = "nvptx64"))] #item }
}
