//! What the exercise says at each turn.

/// The file as a learner first finds it.
pub(super) const START: &str = include_str!("tile.rs");

pub(super) const HINTS: [&str; 2] = [include_str!("hint-1.md"), include_str!("hint-2.md")];

pub(super) const SOLUTION: &str = include_str!("solution.md");

pub(super) const TO_STEP_1: &str = "\
Step 1: delete the line with the barrier, save, and run this again. Which
block sizes come out wrong?";

pub(super) const TO_STEP_2: &str = "\
Step 2: put the barrier back, but below the read of the tile, as the last line
of the function. Save, and run this again.";

pub(super) const TO_STEP_3: &str = "\
Step 3: put the barrier where it belongs, save, and run this again. Then the
checker speaks.";

pub(super) const STEP_1_STILL_MISSING: &str = "\
That is the version of step 2, and it is noted. Step 1 is still to do: delete
the barrier, save, and run this again.";

pub(super) const NONE_OF_THE_THREE: &str = "\
This is none of the three versions; undo your other change, or start over with
--reset.";

pub(super) const ABOVE_THE_WRITE: &str = "\
The barrier stands above the write of the tile. Here too the write and the
read lie on the same side of it. Step 2 asks for the other such place: below
the read.";

pub(super) const JUDGED: &str = "\
Now the checker, on the version of step 2, run anew from exercise/step-2/, and
on this one. It does not look at the answer; it asks whether anything orders
the write before the read.";

pub(super) const DONE: &str = "\
All three steps are done and all three questions answered. `--reset` starts
over and keeps your text.";

pub(super) const FAILED_SIZES: &str = "\
Question 1. Which block sizes came out wrong in step 1, on the card if there
is one? (numbers, or: none)";

pub(super) const STEP_2_CHANGED: &str = "\
Question 2. Did step 2 change which block sizes come out wrong? (yes or no)";

pub(super) const WHY: &str = "\
Question 3. The answer was right with 32 threads a block. Why does the checker
object there all the same? (one sentence)";

pub(super) const NO_ANSWER: &str = "\
No answer. Run `cargo xtask exercise` again when you have one.";
