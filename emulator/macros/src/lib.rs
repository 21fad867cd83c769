//! `#[kernel]` and `#[address_space(shared)]`, with the paths and the shapes of the real `cuda_std`.
//!
//! Each attribute expands twice: `emulated` for a host target and `nvptx` for the GPU target, each
//! half behind its own `#[cfg]`, and so are the errors.

mod emulated;
mod nvptx;
mod print;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Marks a function as a kernel: `unsafe`, no return value, parameters that are `Copy`.
#[proc_macro_attribute]
pub fn kernel(_attr: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::ItemFn);
    let emulated = emulated::kernel(&item);
    let nvptx = nvptx::kernel(&item);
    quote::quote! { #emulated #nvptx }.into()
}

/// Puts a `static mut` array of `MaybeUninit` into the shared memory of each block.
#[proc_macro_attribute]
pub fn address_space(space: TokenStream, item: TokenStream) -> TokenStream {
    let space = parse_macro_input!(space as syn::Ident);
    let item = parse_macro_input!(item as syn::ItemStatic);
    if space != "shared" {
        let message = "only `#[address_space(shared)]` is supported here";
        return syn::Error::new(space.span(), message).into_compile_error().into();
    }
    let emulated = emulated::shared(&item);
    let nvptx = nvptx::shared(&item);
    quote::quote! { #emulated #nvptx }.into()
}

/// Prints from a kernel on a GPU: numbers, `bool`, pointers and C strings, as `std`'s `print!` does, except
/// that a float without a precision has six digits at most.
#[proc_macro]
pub fn print(input: TokenStream) -> TokenStream {
    print::print(&parse_macro_input!(input as print::Input), "").into()
}

/// [`print!`], and an end of line.
#[proc_macro]
pub fn println(input: TokenStream) -> TokenStream {
    print::print(&parse_macro_input!(input as print::Input), "\n").into()
}
