//! The kernels of a PTX file, and what they take.

/// The sizes of a kernel's parameters in bytes; `None` if the text has no kernel of this name.
#[must_use]
pub fn parameters(text: &str, kernel: &str) -> Option<Vec<u32>> {
    let list = text.split(".entry").skip(1).find_map(|entry| {
        let rest = entry.trim_start().strip_prefix(kernel)?.trim_start();
        rest.strip_prefix('(')?.split(')').next()
    })?;
    Some(list.split(',').filter_map(size).collect())
}

/// The size of one parameter, such as `.param .u64 .ptr .align 1 k_param_0` or `.param .align 8 .b8 k_param_0[16]`.
fn size(parameter: &str) -> Option<u32> {
    let bits = parameter
        .split_whitespace()
        .filter_map(|word| word.strip_prefix('.')?.strip_prefix(['u', 's', 'b', 'f'])?.parse::<u32>().ok());
    let elements = parameter
        .split_once('[')
        .and_then(|(_, rest)| rest.split(']').next()?.trim().parse::<u32>().ok())
        .unwrap_or(1);
    bits.map(|bits| bits / 8 * elements).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
.visible .entry scale_all()
{
}
\t// .globl scale
.visible .entry scale(
\t.param .u64 .ptr .align 1 scale_param_0,
\t.param .u64 scale_param_1,
\t.param .f32 scale_param_2,
\t.param .align 8 .b8 scale_param_3[16]
)
.maxntid 1024
{
}
";

    #[test]
    fn each_parameter_has_its_size() {
        assert_eq!(parameters(TEXT, "scale"), Some(vec![8, 8, 4, 16]));
        assert_eq!(parameters(TEXT, "scale_all"), Some(vec![]));
    }

    #[test]
    fn a_part_of_a_name_is_no_kernel() {
        assert_eq!(parameters(TEXT, "scal"), None);
        assert_eq!(parameters(TEXT, "scale("), None);
        assert_eq!(parameters("", "scale"), None);
    }
}
