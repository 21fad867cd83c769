//! What a page embeds.

use std::collections::HashMap;

use cuda_std::emulator::{Event, What};
use host::exhibits::{EXHIBITS, find};
use host::explain::frames::frames;
use host::explain::page::{Contents, Shown, page};
use host::explain::source::source;
use host::explain::{Extent, choices, index, scene};
use serde_json::Value;

use crate::one_page;
use crate::replay::traced;

const MEGABYTE: usize = 1_000_000;

/// The data of a page, as a browser reads it.
fn embedded(page: &str) -> Value {
    let start = r#"<script type="application/json" id="data">"#;
    let (_, rest) = page.split_once(start).expect("a page has data");
    let (json, _) = rest.split_once("</script>").expect("the data ends");
    serde_json::from_str(json).expect("the data is JSON")
}

/// A group's value number `i`, as the script in the page unfolds it.
fn value(group: &Value, i: usize) -> Option<String> {
    let values = group["v"].as_array().expect("an access has values");
    let one = if values.len() as u64 == group["n"].as_u64().unwrap_or(1) { &values[i] } else { &values[0] };
    match one {
        Value::Null => None,
        Value::Number(number) if values.len() == 1 => {
            Some((number.as_i64().unwrap() + i as i64 * group["e"].as_i64().unwrap_or(0)).to_string())
        }
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        other => panic!("{other} is no value"),
    }
}

#[test]
fn frames_keep_the_order_of_each_thread_and_of_each_cell() {
    for run in traced(EXHIBITS.iter(), Extent::Whole) {
        let mut threads = HashMap::new();
        let mut cells = HashMap::new();
        let mut waiting = 0;
        for (event, &frame) in run.trace.events.iter().zip(&run.frame_of) {
            if !matches!(event.what, What::Release { .. } | What::ReleaseWarp { .. }) {
                let before = threads.insert(event.thread, frame);
                assert!(before.is_none_or(|before| before < frame), "{}: {event:?}", run.what());
            }
            match &event.what {
                What::Access { place, .. } => {
                    let before = cells.insert(place, frame);
                    assert!(before.is_none_or(|before| before <= frame), "{}: {event:?}", run.what());
                }
                What::Arrive => waiting = waiting.max(frame),
                What::Release { .. } => assert!(frame > waiting, "{}: {event:?}", run.what()),
                _ => {}
            }
        }
        assert_eq!(run.scene.frames, frames(&run.trace).1);
    }
}

#[test]
fn the_marks_up_to_each_step_are_the_state_of_the_trace() {
    for exhibit in EXHIBITS {
        let runs = traced([exhibit].into_iter(), Extent::Whole);
        let scenes = runs.iter().map(|run| run.scene.clone()).collect();
        let shown = vec![Shown { exhibit, scenes }];
        let text = page(&Contents { shown, pages: Vec::new(), first: exhibit, block: None });
        let data = embedded(&text);
        for (run, scene) in runs.iter().zip(data["exhibits"][0]["scenes"].as_array().unwrap()) {
            let mut cells: HashMap<(u64, i64), String> = HashMap::new();
            let mut accesses = 0;
            let mut groups = scene["groups"].as_array().unwrap().iter().peekable();
            for step in 0..=run.scene.frames {
                while let Some(group) = groups.next_if(|group| group["f"].as_u64() < Some(step.into())) {
                    let Some(array) = group["a"].as_u64() else { continue };
                    for i in 0..group["n"].as_u64().unwrap() as usize {
                        let cell = group["c"].as_i64().unwrap() + i as i64 * group["d"].as_i64().unwrap_or(0);
                        accesses += 1;
                        if group["k"] == "store" {
                            cells.insert((array, cell), value(group, i).expect("a store has a value"));
                        }
                    }
                }
                let expected = run.cells(step);
                assert_eq!(accesses, run.accesses(step), "{} at step {step}", run.what());
                assert_eq!(cells.len(), expected.len(), "{} at step {step}", run.what());
                for (&(array, cell), value) in &cells {
                    let expected = run.shows(&expected, array as usize, cell as u64);
                    assert_eq!(*value, expected, "{} at step {step}", run.what());
                }
            }
        }
    }
}

#[test]
fn arcs_join_the_accesses_that_the_verdict_names() {
    for run in traced(EXHIBITS.iter(), Extent::Whole) {
        for (number, line) in run.scene.lines.iter().enumerate() {
            let arc = run.scene.arcs.iter().find(|arc| arc.l == number).expect("an arc for each line");
            for (end, step) in arc.ends.iter().zip(line.steps) {
                let (event, place) = (&run.trace.events[step], run.place(step));
                assert_eq!((end.t, end.f), (event.thread, run.frame_of[step]), "{}", run.what());
                assert_eq!(
                    (place.name, place.index),
                    (run.scene.arrays[line.a].name, arc.c),
                    "{}",
                    run.what()
                );
                // The words say the same, the cell and both threads.
                let cell = format!("{}[{}]", place.name, place.index);
                let thread = format!("thread {} (", event.thread);
                let named = |words: &&String| words.contains(&cell) && words.contains(&thread);
                assert!(run.scene.said.found.iter().any(|words| named(&words)), "{}: {cell}", run.what());
            }
        }
        let raced = run.scene.said.verdicts[0].words.contains("hazard");
        let across = run.exhibit.name == "two-blocks";
        assert_eq!(!run.scene.lines.is_empty(), raced && !across, "{}", run.what());
        assert_eq!(!run.scene.across.is_empty(), raced && across, "{}", run.what());
    }
}

#[test]
fn a_race_with_another_block_names_it_and_begins_at_this_ones_access() {
    let exhibit = find("two-blocks").expect("an exhibit of this name");
    for run in traced([exhibit].into_iter(), Extent::Whole) {
        let [across] = &run.scene.across[..] else { panic!("{}: one hazard", run.what()) };
        let touches = |(step, event): (usize, &Event)| {
            let What::Access { place, .. } = &event.what else { return false };
            (event.thread, run.frame_of[step], place.index) == (across.t, across.f, across.c)
        };
        assert!(run.trace.events.iter().enumerate().any(touches), "{}", run.what());
        let (block, thread) = across.other.split_once(", ").expect("two of them");
        assert_ne!(block, format!("block {}", run.trace.block));
        let found = run.scene.said.found.join(" ");
        assert!(found.contains(&format!("{thread} (")) && found.contains(&format!("{block})")), "{found}");
    }
}

#[test]
fn answer_and_verdict_are_kept_apart() {
    let runs = traced(EXHIBITS.iter().take(1), Extent::Whole);
    let said = |block: u32| &runs.iter().find(|run| run.scene.block == block).expect("a run").scene.said;
    assert_eq!(said(32).headline, "Right answer, undefined");
    assert_eq!(said(64).headline, "Wrong answer, undefined");
    assert_eq!(said(256).headline, "Wrong answer, undefined");
}

#[test]
fn a_page_is_whole_and_small() {
    for first in EXHIBITS {
        let scenes = scene::scenes(first, &choices(first, None, 0, Extent::Whole), None).expect("it runs");
        assert!(!scenes.is_empty(), "{} has nothing to show", first.name);
        let shown = vec![Shown { exhibit: first, scenes }];
        let text = page(&Contents { shown, pages: EXHIBITS.iter().collect(), first, block: None });
        check(first.name, &text);
    }
    let all: Vec<_> = EXHIBITS.iter().collect();
    check("index", &index(&all));
    // The largest is the one that has the longest exhibit in full.
    for first in ["block-32-hides-it", "partial-block", "in-place-scan", "tiled-multiply"] {
        let first = EXHIBITS.iter().find(|exhibit| exhibit.name == first).expect("an exhibit of this name");
        check(first.name, &one_page(first).1);
    }
}

#[track_caller]
fn check(name: &str, text: &str) {
    assert!(text.len() <= MEGABYTE, "{name}: {} bytes", text.len());
    let text = text.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "//cdn", " src=", "@import", "url(\"", "fetch("] {
        assert!(!text.contains(outside), "{name} has {outside}");
    }
}

#[test]
fn source_is_escaped() {
    let kernel =
        "//! </script>\n\n#[kernel]\nlet a = \"</ol><script>\"; // & <b>\n'\"' \u{201c}x\u{201d} 0x1f<2";
    let source = source(kernel);
    assert_eq!(source.first, 3);
    assert_eq!(source.lines.len(), 3);
    for line in &source.lines {
        let text = line.replace("<span class=\"", "").replace("</span>", "");
        assert!(!text.contains('<') && !text.contains("& "), "{line}");
    }
}
