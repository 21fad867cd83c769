//! Extents of blocks and grids on a command line: `256`, `32x8`, `8x8x4`.

use std::fmt;
use std::str::FromStr;

use crate::limits::Dim3;

/// An extent, as a command line and a report write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent(pub Dim3);

impl FromStr for Extent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let not_one = || format!("{text} is no extent; write it as 256, 32x8 or 8x8x4");
        let mut sides = [1; 3];
        let parts: Vec<&str> = text.split('x').collect();
        if parts.len() > sides.len() {
            return Err(not_one());
        }
        for (side, part) in sides.iter_mut().zip(parts) {
            *side = part.parse().map_err(|_| not_one())?;
            if *side == 0 {
                return Err(format!("{text} has a side of 0; each has at least 1"));
            }
        }
        let [x, y, z] = sides;
        Ok(Self(Dim3 { x, y, z }))
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Dim3 { x, y, z } = self.0;
        match (y, z) {
            (1, 1) => write!(f, "{x}"),
            (y, 1) => write!(f, "{x}x{y}"),
            (y, z) => write!(f, "{x}x{y}x{z}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Extent;

    #[test]
    fn extents_are_read_and_written() {
        for text in ["256", "32x8", "8x8x4", "1x1x2"] {
            assert_eq!(text.parse::<Extent>().expect("an extent").to_string(), text);
        }
        assert_eq!("32x1".parse::<Extent>().expect("an extent").to_string(), "32");
        for text in ["", "x", "0", "32x", "32x0", "1x2x3x4", "-1", "a"] {
            assert!(text.parse::<Extent>().is_err(), "{text}");
        }
    }
}
