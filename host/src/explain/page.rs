//! The page: a skeleton, the data, and the style and scripts that draw it, all in one file.

use cuda_std::emulator::Policy;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use super::preset::Preset;
use super::scene::{Choice, Scene};
use super::source::source;

/// A preset with its runs, as it goes into a page.
#[derive(Clone, Debug)]
pub struct Exhibit {
    /// The preset.
    pub preset: &'static Preset,
    /// Its runs: every block size under every schedule that is offered for it.
    pub scenes: Vec<Scene>,
}

/// What a page holds, and what it shows first.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The presets in the page.
    pub exhibits: Vec<Exhibit>,
    /// Presets that have pages of their own beside this one.
    pub elsewhere: Vec<&'static Preset>,
    /// The preset shown first.
    pub first: &'static Preset,
    /// The run shown first.
    pub choice: Choice,
}

const STYLE: &str = include_str!("page/style.css");
const SCRIPTS: &[&str] = &[
    include_str!("page/theme.js"),
    include_str!("page/run.js"),
    include_str!("page/words.js"),
    include_str!("page/timeline.js"),
    include_str!("page/cells.js"),
    include_str!("page/panes.js"),
    include_str!("page/main.js"),
];

/// Nothing may be loaded from anywhere: the page is whole.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// What stands under every picture.
const NOTE: &str = "Recorded on an emulator, on a CPU; no GPU took part. The verdict holds for every schedule of \
                    these accesses. The values and the order are those of this one run: a GPU may show others.";

#[derive(Serialize)]
struct Data<'a> {
    first: First<'a>,
    presets: Vec<PresetData<'a>>,
}

#[derive(Serialize)]
struct First<'a> {
    preset: &'a str,
    block: u32,
    schedule: String,
}

#[derive(Serialize)]
struct PresetData<'a> {
    name: &'a str,
    title: &'a str,
    sentence: &'a str,
    line: u32,
    scenes: &'a [Scene],
}

/// The page as text.
#[must_use]
pub fn page(contents: &Contents) -> String {
    let Contents { exhibits, elsewhere, first, choice } = contents;
    let data = Data {
        first: First { preset: first.name, block: choice.block, schedule: choice.schedule() },
        presets: exhibits
            .iter()
            .map(|Exhibit { preset, scenes }| PresetData {
                name: preset.name,
                title: preset.title,
                sentence: preset.sentence,
                line: source(preset.source).first,
                scenes,
            })
            .collect(),
    };
    let body = html! {
        a.skip href="#stage" { "Skip to the picture" }
        header.top {
            div {
                p.eyebrow {
                    @if elsewhere.is_empty() { "What the block barrier guarantees" }
                    @else { a href="index.html" { "What the block barrier guarantees" } }
                }
                h1 id="title" { (first.title) }
                p.lede id="sentence" { (first.sentence) }
            }
            (theme_button())
        }
        (controls(exhibits, elsewhere, first))
        main {
            div.column { (stage()) (memory()) (steps()) }
            div.column { (verdict()) (sources(exhibits)) }
        }
        footer { p { (NOTE) } }
        script type="application/json" id="data" { (PreEscaped(embedded(&data))) }
        (script(SCRIPTS))
    };
    document(first.title, &body)
}

/// The page that links the others.
#[must_use]
pub fn index(presets: &[&Preset]) -> String {
    let body = html! {
        header.top {
            div {
                h1 { "What the block barrier guarantees" }
                p.lede { "Each picture is one run of one kernel, step by step. Start with the first." }
            }
            (theme_button())
        }
        main.index {
            ol {
                @for preset in presets {
                    li { a href=(format!("{}.html", preset.name)) {
                        strong { (preset.title) }
                        code { (preset.name) }
                        span { (preset.sentence) }
                    } }
                }
            }
        }
        footer { p { (NOTE) } }
        (script(&[include_str!("page/theme.js")]))
    };
    document("What the block barrier guarantees", &body)
}

fn document(title: &str, body: &Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    }
    .into_string()
}

fn script(parts: &[&str]) -> Markup {
    let text = parts.concat();
    html! { script { (PreEscaped("\"use strict\";\n(() => {\n")) (PreEscaped(text)) (PreEscaped("})();\n")) } }
}

/// JSON that cannot end the element it stands in.
fn embedded(data: &Data<'_>) -> String {
    // Maps with keys of text and numbers that are finite: nothing here can fail.
    serde_json::to_string(data).unwrap_or_default().replace('<', "\\u003c")
}

fn icon(path: &str) -> Markup {
    html! { svg viewBox="0 0 20 20" width="16" height="16" aria-hidden="true" { path d=(path) {} } }
}

fn theme_button() -> Markup {
    html! { button.theme id="theme" type="button" aria-label="Switch between light and dark" { (icon("M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14")) } }
}

fn controls(exhibits: &[Exhibit], elsewhere: &[&Preset], first: &Preset) -> Markup {
    let here = |name: &str| exhibits.iter().any(|exhibit| exhibit.preset.name == name);
    let option = |preset: &Preset| {
        html! {
            option value=(preset.name) selected[preset.name == first.name] data-page[!here(preset.name)] {
                (preset.title)
            }
        }
    };
    html! {
        form.controls id="controls" aria-label="What to show" {
            label { span { "Exhibit" } select id="preset" {
                @if elsewhere.is_empty() {
                    @for exhibit in exhibits { (option(exhibit.preset)) }
                } @else {
                    @for preset in elsewhere { (option(preset)) }
                }
            } }
            fieldset { legend { "Threads a block" } div.segments id="blocks" {} }
            label { span { "Schedule" } select id="schedule" {} }
        }
    }
}

fn stage() -> Markup {
    let key = |class: &str, text: &str| html! { li { i class=(format!("key {class}")) {} (text) } };
    html! {
        section.card.stage id="stage" aria-labelledby="stage-title" {
            div.head {
                h2 id="stage-title" { "The threads of one block" }
                ul.legend aria-label="Legend" {
                    (key("store", "store"))
                    (key("load", "load"))
                    (key("early", "load of a cell not written yet"))
                    (key("out", "global memory"))
                    (key("wait", "waits"))
                    (key("barrier", "barrier"))
                    (key("race", "race"))
                }
            }
            div.scroll id="scroll" tabindex="0" role="group" aria-label="Timeline; left and right arrow keys step" {
                div id="timeline" {}
            }
            div.transport {
                button type="button" id="start" aria-label="To the start" { (icon("M5 4v12M15 4l-7 6 7 6z")) }
                button type="button" id="back" aria-label="One step back" { (icon("M13 4l-7 6 7 6z")) }
                button.play type="button" id="play" { "Play" }
                button type="button" id="forward" aria-label="One step forward" { (icon("M7 4l7 6-7 6z")) }
                button type="button" id="end" aria-label="To the end" { (icon("M15 4v12M5 4l7 6-7 6z")) }
                input type="range" id="step" min="0" value="0" aria-label="Step";
                output id="count" for="step" {}
            }
            p.now id="now" aria-live="polite" {}
        }
    }
}

fn memory() -> Markup {
    html! {
        section.card.memory aria-labelledby="memory-title" {
            div.head {
                h2 id="memory-title" { "Shared memory" }
                p.hint { "Point at a cell, or move with the arrow keys, for its history." }
            }
            div id="cells" {}
            div.history id="history" aria-live="polite" {}
        }
    }
}

fn verdict() -> Markup {
    html! {
        section.card.verdict id="verdict" aria-labelledby="headline" {
            h2 id="headline" {}
            div.sides {
                div.side id="answer" { h3 { "The answer, in this run" } p.big {} p {} }
                div.side id="judged" { h3 { "The verdict, for every run" } p.big {} dl {} }
            }
            ul.long id="long" {}
        }
    }
}

fn sources(exhibits: &[Exhibit]) -> Markup {
    html! {
        section.card.source aria-labelledby="source-title" {
            div.head { h2 id="source-title" { "The kernel" } }
            @for Exhibit { preset, .. } in exhibits {
                @let source = source(preset.source);
                figure data-preset=(preset.name) hidden {
                    figcaption { (preset.file) }
                    div.code tabindex="0" role="group" aria-label="Source" {
                        ol start=(source.first) {
                            @for (number, line) in (source.first..).zip(&source.lines) {
                                li data-line=(number) { code { (PreEscaped(line)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn steps() -> Markup {
    html! {
        details.card.steps {
            summary { "All steps in words" }
            ol id="steps" {}
        }
    }
}

/// Block sizes offered in every picture.
pub const BLOCKS: [u32; 4] = [32, 64, 128, 256];

/// The runs that a page offers: lockstep from three seeds at every size; where lanes run apart, sizes
/// that can still be read step by step.
#[must_use]
pub fn choices(block: u32, seed: u64) -> Vec<Choice> {
    const READABLE: u32 = 64;
    let mut blocks = BLOCKS.to_vec();
    blocks.push(block);
    blocks.sort_unstable();
    blocks.dedup();
    let mut choices = Vec::new();
    for block in blocks {
        for further in 0..3 {
            choices.push(Choice { block, policy: Policy::Lockstep, seed: seed.wrapping_add(further) });
        }
        if block <= READABLE {
            choices.extend([Policy::Independent, Policy::Random].map(|policy| Choice {
                block,
                policy,
                seed,
            }));
        }
    }
    choices
}
