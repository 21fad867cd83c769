//! The states of a trace, straight from its events: what pages are held against.

use std::collections::HashMap;

use cuda_std::emulator::{BlockTrace, Place, Policy, Space, What};
use host::exhibits::{EXHIBITS, Exhibit};
use host::explain::frames::frames;
use host::explain::{Choice, Extent, Scene, choices, scene};

/// A scene with the trace it was made from.
pub(crate) struct Traced {
    pub(crate) exhibit: &'static Exhibit,
    pub(crate) scene: Scene,
    pub(crate) trace: BlockTrace,
    pub(crate) frame_of: Vec<u32>,
}

/// Every run that a page in full offers of these exhibits.
pub(crate) fn traced(exhibits: impl Iterator<Item = &'static Exhibit>, extent: Extent) -> Vec<Traced> {
    let of = |exhibit: &'static Exhibit| {
        choices(exhibit, None, 0, extent).into_iter().map(move |choice| again(exhibit, choice))
    };
    exhibits.flat_map(of).collect()
}

/// Runs it once for the scene and once more for the trace: the same seed gives the same run.
pub(crate) fn again(exhibit: &'static Exhibit, choice: Choice) -> Traced {
    let scene = scene::scene(exhibit, choice).expect("the emulator runs every exhibit");
    let outcome = scene::run(exhibit, choice, scene.traced.0).expect("the emulator runs every exhibit");
    let trace = outcome.report.trace.expect("a trace was asked for");
    let (frame_of, _) = frames(&trace);
    Traced { exhibit, scene, trace, frame_of }
}

/// The run with this schedule, as a page names it.
pub(crate) fn named(exhibit: &str, block: u32, schedule: &str) -> Traced {
    let exhibit = EXHIBITS.iter().find(|known| known.name == exhibit).expect("an exhibit of this name");
    let policies = [Policy::Lockstep, Policy::Independent, Policy::Random];
    let all = policies.into_iter().flat_map(|policy| (0..3).map(move |seed| Choice { block, policy, seed }));
    let choice =
        all.into_iter().find(|choice| choice.schedule() == schedule).expect("a schedule of this name");
    again(exhibit, choice)
}

impl Traced {
    pub(crate) fn what(&self) -> String {
        format!("{}, {} threads, {}", self.exhibit.name, self.scene.block, self.scene.schedule)
    }

    /// What every cell holds after so many frames, by the events alone.
    pub(crate) fn cells(&self, frames: u32) -> HashMap<&Place, &str> {
        let mut cells = HashMap::new();
        for (event, &frame) in self.trace.events.iter().zip(&self.frame_of) {
            if let What::Access { place, writes: true, value: Some(value), .. } = &event.what
                && frame < frames
            {
                cells.insert(place, &**value);
            }
        }
        cells
    }

    /// How many accesses there are up to then.
    pub(crate) fn accesses(&self, frames: u32) -> usize {
        let counts = |(event, frame): (&cuda_std::emulator::Event, &u32)| {
            matches!(event.what, What::Access { .. }) && *frame < frames
        };
        self.trace.events.iter().zip(&self.frame_of).filter(|&pair| counts(pair)).count()
    }

    /// The place of an access.
    pub(crate) fn place(&self, step: usize) -> &Place {
        match &self.trace.events[step].what {
            What::Access { place, .. } => place,
            other => panic!("{}: step {step} is {other:?}, not an access", self.what()),
        }
    }

    /// A cell's value as a page shows it.
    pub(crate) fn shows(&self, cells: &HashMap<&Place, &str>, array: usize, index: u64) -> String {
        let array = &self.scene.arrays[array];
        let space = if array.shared { Space::Shared } else { Space::Global };
        let held = cells
            .iter()
            .find(|(place, _)| (place.space, place.name, place.index) == (space, array.name, index));
        held.map(|(_, value)| (*value).to_owned()).unwrap_or_default()
    }
}
