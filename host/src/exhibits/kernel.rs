//! The kernels of the exhibits, and what each is given.

/// `(input, out)`.
type Tile = unsafe fn(&[f32], *mut f32);
/// `(input, out, keep)`.
type Prefix = unsafe fn(&[f32], *mut f32, u32);
/// `(input, cells, out)`.
type Grid = unsafe fn(&[f32], *mut f32, *mut f32);
/// `(a, b, out, n)`.
type Product = unsafe fn(&[f32], &[f32], *mut f32, u32);

/// A kernel.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<F> {
    /// Its name in the source, and so its symbol in PTX.
    pub name: &'static str,
    /// The kernel, for the emulator.
    pub function: F,
}

/// What is launched, and with which arguments.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// Tiles of the input to tiles of the output.
    Tile(Kernel<Tile>),
    /// The same, where [`Problem::keep`](super::Problem::keep) threads of a block go on to the barrier.
    Prefix(Kernel<Prefix>),
    /// From the input to cells in global memory to the output: one launch after the other.
    Grid(&'static [Kernel<Grid>]),
    /// The product of two square matrices, in square blocks.
    Product(Kernel<Product>),
}

impl Call {
    /// The kernels by name, in the order of their launches.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        match self {
            Self::Tile(kernel) => vec![kernel.name],
            Self::Prefix(kernel) => vec![kernel.name],
            Self::Product(kernel) => vec![kernel.name],
            Self::Grid(kernels) => kernels.iter().map(|kernel| kernel.name).collect(),
        }
    }

    /// What a kernel is given, in words.
    #[must_use]
    pub fn arguments(self) -> &'static str {
        match self {
            Self::Tile(_) => "input, out",
            Self::Prefix(_) => "input, out, keep",
            Self::Grid(_) => "input, cells, out",
            Self::Product(_) => "a, b, out, n",
        }
    }
}
