//! The page: a skeleton, the data, and the style and scripts that draw it, all in one file.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use super::choice::first_size;
use super::scene::Scene;
use super::source::source;
use crate::exhibits::{Exhibit, Listing};

/// An exhibit with its runs, as it goes into a page.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The exhibit.
    pub exhibit: &'static Exhibit,
    /// Its runs; of each block size the one to begin with comes first.
    pub scenes: Vec<Scene>,
}

/// What a page holds, and what it shows first.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The exhibits in the page.
    pub shown: Vec<Shown>,
    /// All that there are, if each has a page of its own beside this one.
    pub pages: Vec<&'static Exhibit>,
    /// The exhibit to begin with.
    pub first: &'static Exhibit,
    /// The block size to begin with, if not its own.
    pub block: Option<u32>,
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

const LESSON: &str = "What the block barrier guarantees";

/// What stands under every picture.
const NOTE: &str = "Recorded on an emulator, on a CPU; no GPU took part. The verdict holds for every schedule of \
                    these accesses. The values and the order are those of this one run: a GPU may show others.";

#[derive(Serialize)]
struct Data<'a> {
    first: &'a str,
    block: Option<u32>,
    exhibits: Vec<ExhibitData<'a>>,
}

#[derive(Serialize)]
struct ExhibitData<'a> {
    name: &'a str,
    title: String,
    question: &'a str,
    proves: &'a str,
    block: u32,
    scenes: &'a [Scene],
}

/// The page as text.
#[must_use]
pub fn page(contents: &Contents) -> String {
    let Contents { shown, pages, first, block } = contents;
    let exhibits = shown.iter().map(|Shown { exhibit, scenes }| ExhibitData {
        name: exhibit.name,
        title: title(exhibit),
        question: exhibit.question,
        proves: exhibit.proves,
        block: first_size(exhibit),
        scenes,
    });
    let data = Data { first: first.name, block: *block, exhibits: exhibits.collect() };
    let body = html! {
        a.skip href="#stage" { "Skip to the picture" }
        header.top {
            div {
                p.eyebrow {
                    @if pages.is_empty() { (LESSON) } @else { a href="index.html" { (LESSON) } }
                }
                h1 id="title" { (title(first)) }
                p.question id="question" { (prose(first.question)) }
                p.proves id="proves" { (prose(first.proves)) }
            }
            (theme_button())
        }
        (controls(shown, pages, first))
        noscript { p.card { "The picture is drawn by the script in this page; without it there is the source." } }
        main {
            div.column { (stage()) (memory()) (steps()) }
            div.column { (verdict()) (sources(shown, first)) }
        }
        footer { p { (NOTE) } }
        script type="application/json" id="data" { (PreEscaped(embedded(&data))) }
        (script(SCRIPTS))
    };
    document(&title(first), &body)
}

/// A sentence; what stands between backticks is code.
fn prose(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// An exhibit's name as a heading.
fn title(exhibit: &Exhibit) -> String {
    let words = exhibit.name.replace('-', " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The page that links the others.
#[must_use]
pub fn index(exhibits: &[&Exhibit]) -> String {
    let body = html! {
        header.top {
            div {
                h1 { (LESSON) }
                p.proves { "Each picture is one run of one kernel, step by step. Start with the first." }
            }
            (theme_button())
        }
        main.index {
            ol {
                @for exhibit in exhibits {
                    li { a href=(format!("{}.html", exhibit.name)) {
                        strong { (title(exhibit)) }
                        span { (prose(exhibit.question)) }
                    } }
                }
            }
        }
        footer { p { (NOTE) } }
        (script(&[include_str!("page/theme.js")]))
    };
    document(LESSON, &body)
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
    html! {
        button.theme id="theme" type="button" aria-label="Switch between light and dark" {
            svg viewBox="0 0 20 20" width="16" height="16" aria-hidden="true" {
                circle cx="10" cy="10" r="7.5" fill="none" {}
                path d="M10 3a7 7 0 0 1 0 14z" {}
            }
        }
    }
}

fn controls(shown: &[Shown], pages: &[&Exhibit], first: &Exhibit) -> Markup {
    let option = |exhibit: &Exhibit, elsewhere: bool| {
        html! {
            option value=(exhibit.name) selected[exhibit.name == first.name] data-page[elsewhere] { (title(exhibit)) }
        }
    };
    html! {
        form.controls id="controls" aria-label="What to show" {
            label { span { "Exhibit" } select id="exhibit" {
                @if pages.is_empty() {
                    @for Shown { exhibit, .. } in shown { (option(exhibit, false)) }
                } @else {
                    @for exhibit in pages { (option(exhibit, exhibit.name != first.name)) }
                }
            } }
            fieldset { legend { "Threads a block" } div.segments id="blocks" {} }
            label { span { "Schedule" } select id="schedule" {} }
        }
    }
}

fn stage() -> Markup {
    let key = |class: &str, text: &str| html! { li data-key=(class) { i class=(format!("key {class}")) {} (text) } };
    html! {
        section.card.stage id="stage" aria-labelledby="stage-title" {
            div.head {
                h2 id="stage-title" { "The threads of one block" }
                // Where the panel is out of sight; it says the same.
                p.chip id="chip" aria-hidden="true" {}
                ul.legend id="legend" aria-label="Legend" {
                    (key("store", "store"))
                    (key("load", "load"))
                    (key("early", "load of a cell not written yet"))
                    (key("out", "global memory"))
                    (key("wait", "waits"))
                    (key("barrier", "barrier"))
                    (key("broken", "divergent barrier"))
                    (key("unjudged", "not judged"))
                    (key("race", "race"))
                }
            }
            div.chart {
                div id="warps" {}
                div.scroll id="scroll" tabindex="0" role="group" aria-label="Timeline; left and right arrow keys step" {
                    div id="timeline" {}
                }
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
            p.narration id="now" aria-live="polite" {}
        }
    }
}

fn memory() -> Markup {
    html! {
        section.card.memory aria-labelledby="memory-title" {
            div.head {
                h2 id="memory-title" { "Shared memory" }
                p.hint { "Point at a cell, or use the arrow keys." }
            }
            div id="cells" {}
            div.history id="history" {}
        }
    }
}

fn verdict() -> Markup {
    html! {
        section.card.verdict id="verdict" aria-labelledby="headline" {
            h2 id="headline" {}
            div.sides {
                div.side id="answer" { h3 { "Answer, in this run" } p.big {} p {} }
                div.side id="judged" { h3 { "Verdict, for every run" } p.big {} dl {} }
            }
            ul.found id="found" {}
        }
    }
}

fn sources(shown: &[Shown], first: &Exhibit) -> Markup {
    html! {
        section.card.source aria-labelledby="source-title" {
            div.head { h2 id="source-title" { "The kernel" } }
            @for Shown { exhibit, .. } in shown {
                (figure(exhibit, exhibit.name != first.name))
            }
        }
    }
}

fn figure(exhibit: &'static Exhibit, hidden: bool) -> Markup {
    let source = source(exhibit.page.text);
    let marked = Listing::new(exhibit).marked();
    let class = |number: u32| marked.contains(&(number as usize)).then_some("marked");
    html! {
        figure data-exhibit=(exhibit.name) hidden[hidden] {
            figcaption { (exhibit.page.path) }
            div.code tabindex="0" role="group" aria-label="Source" {
                ol start=(source.first) {
                    @for (number, line) in (source.first..).zip(&source.lines) {
                        li data-line=(number) { code class=[class(number)] { (PreEscaped(line)) } }
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
