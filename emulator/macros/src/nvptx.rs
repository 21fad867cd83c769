//! The GPU half of the attributes: what rustc's own `nvptx64-nvidia-cuda` target needs.

use proc_macro2::TokenStream;

pub(crate) fn kernel(_item: &syn::ItemFn) -> TokenStream {
    TokenStream::new()
}

pub(crate) fn shared(_item: &syn::ItemStatic) -> TokenStream {
    TokenStream::new()
}
