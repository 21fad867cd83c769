//! One kernel for every sentence of the lesson that the three kernels of [`crate::lesson`] do not show.
