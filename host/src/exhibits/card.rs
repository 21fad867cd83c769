//! Launching an exhibit on a card.

use anyhow::Result;

use super::{Call, Exhibit, Problem};
use crate::answer::Answer;
use crate::device::{Argument, Cuda};
use crate::reference::POISON;

/// Launches an exhibit's kernel, or kernels, in blocks of `block` threads, on what the emulator gives them too.
///
/// # Errors
///
/// If the launch cannot be made or ends in a fault.
pub fn launch_on(cuda: &mut Cuda, exhibit: &Exhibit, block: u32) -> Result<Answer> {
    let problem = Problem::new(exhibit.shape, block);
    let mut out = vec![POISON; problem.len];
    let mut cells = vec![POISON; problem.len];
    let mut arguments = vec![Argument::Slice(&problem.input)];
    match exhibit.call {
        Call::Tile(_) => arguments.push(Argument::Buffer(&mut out)),
        Call::Prefix(_) => {
            arguments.extend([Argument::Buffer(&mut out), Argument::Number(problem.keep())]);
        }
        Call::Grid(_) => arguments.extend([Argument::Buffer(&mut cells), Argument::Buffer(&mut out)]),
        Call::Product(_) => {
            let n = u32::try_from(problem.n())?;
            let second = Argument::Slice(&problem.second);
            arguments.extend([second, Argument::Buffer(&mut out), Argument::Number(n)]);
        }
    }
    cuda.run(&exhibit.call.names(), problem.grid, problem.sides, &mut arguments)?;
    let wanted = exhibit.reference.map(|reference| reference(&problem));
    Ok(Answer::compare(&out, wanted.as_deref()))
}
