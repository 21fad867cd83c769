//! A page in headless Chromium. Skipped where there is none, unless `CHROMIUM` says that there is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use cuda_std::emulator::What;
use host::exhibits::{EXHIBITS, find};
use host::explain::page::{Contents, Shown, page};
use host::explain::scene::Kind;
use host::explain::{Extent, choices, index, scene};
use serde_json::Value;

use crate::one_page;
use crate::replay::{Traced, named};

/// Chromium, or a browser made of it.
fn browser() -> Option<PathBuf> {
    if let Some(named) = env::var_os("CHROMIUM") {
        let named = PathBuf::from(named);
        assert!(named.is_file(), "CHROMIUM names {}, which is not there", named.display());
        return Some(named);
    }
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders = ["/usr/bin", "/usr/local/bin"];
    folders
        .iter()
        .flat_map(|folder| names.map(|name| Path::new(folder).join(name)))
        .find(|path| path.is_file())
}

/// Opens a page and returns its document as it is after its scripts, and what was said on the console.
fn open(browser: &Path, page: &str, size: (u32, u32), name: &str) -> (String, Vec<String>) {
    let folder = env::temp_dir().join(format!("explain-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the page");
    let file = folder.join("page.html");
    fs::write(&file, page).expect("the page is written");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--window-size={},{}", size.0, size.1))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("Chromium starts");
    // Left behind if Chromium still holds a file of its profile; it is a temporary folder.
    let _ = fs::remove_dir_all(&folder);
    let said = String::from_utf8_lossy(&output.stderr);
    let console = said.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    (String::from_utf8(output.stdout).expect("a document is text"), console)
}

/// Opens a page, runs a script in it, and returns what that left in an element called `walked`. Nothing
/// may go wrong in the page meanwhile, and it must not be wider than the window.
fn walk(browser: &Path, page: &str, script: &str, size: (u32, u32), name: &str) -> Value {
    let watch = "<script>window.errors = [];
        addEventListener('error', (event) => errors.push(event.message));
        addEventListener('securitypolicyviolation', (event) => errors.push(event.blockedURI));</script>";
    let script = format!("<script>{script}</script></body>");
    let page = page.replacen("<body>", &format!("<body>{watch}"), 1).replacen("</body>", &script, 1);
    let (document, console) = open(browser, &page, size, name);
    assert_eq!(console, [""; 0], "{name}: nothing is said on the console");
    let (_, rest) = document.split_once("<pre id=\"walked\">").expect("the walk came to its end");
    let (json, _) = rest.split_once("</pre>").expect("the walk came to its end");
    let json = json.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let walked: Value = serde_json::from_str(&json).expect("the walk is JSON");
    assert_eq!(walked["errors"], Value::Array(Vec::new()), "{name}");
    assert!(walked["overflow"].as_i64().is_some_and(|wider| wider <= 0), "{name} is wider than the window");
    walked
}

const DESKTOP: (u32, u32) = (1280, 900);
const PHONE: (u32, u32) = (390, 844);

/// Looks at a page as it opens.
const LOOK: &str = "document.body.append(Object.assign(document.createElement('pre'), { id: 'walked',
    textContent: JSON.stringify({ errors, overflow: document.documentElement.scrollWidth - innerWidth,
        marks: document.querySelectorAll('.mark').length, overprinted: [...document.querySelectorAll('.barrier text')]
            .map((label) => label.getBoundingClientRect())
            .filter((box, i, boxes) => i > 0 && box.left < boxes[i - 1].right).length }) }));";

#[test]
fn pages_of_a_site_open_at_every_width() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium here; install one, or name one in CHROMIUM");
        return;
    };
    let all: Vec<_> = EXHIBITS.iter().collect();
    for size in [DESKTOP, PHONE] {
        walk(&browser, &index(&all), LOOK, size, "index");
        for name in [
            "block-32-hides-it",
            "ragged-loop",
            "barrier-in-both-arms",
            "thread-dependent-if",
            "tiled-multiply",
            "two-blocks",
        ] {
            let first = find(name).expect("an exhibit of this name");
            let scenes = scene::scenes(first, &choices(first, None, 0, Extent::Whole), None);
            let shown = vec![Shown { exhibit: first, scenes: scenes.expect("the emulator runs it") }];
            let text = page(&Contents { shown, pages: all.clone(), first, block: None });
            let looked = walk(&browser, &text, LOOK, size, name);
            assert!(looked["marks"].as_u64() > Some(0), "{name} shows nothing");
            assert_eq!(looked["overprinted"], 0, "{name}: labels are printed over each other");
        }
    }
}

/// The same hash as in the walk (FNV-1a).
fn hash(text: &str) -> u64 {
    text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)).into()
}

/// Every cell in the strips, as the walk writes them down.
fn cells(run: &Traced, step: u32) -> String {
    let held = run.cells(step);
    let values: HashMap<(bool, &str, u64), &str> = held
        .iter()
        .map(|(place, value)| {
            ((place.space == cuda_std::emulator::Space::Shared, place.name, place.index), *value)
        })
        .collect();
    let raced = |array: usize| run.scene.lines.iter().any(|line| line.a == array);
    let read =
        |array: usize| run.scene.groups.iter().any(|group| group.k == Kind::Load && group.a == Some(array));
    let all = || run.scene.arrays.iter().enumerate();
    let mut strips: Vec<_> = all().filter(|&(number, array)| array.shared || raced(number)).collect();
    if strips.is_empty() {
        strips = all().filter(|&(number, _)| read(number)).collect();
    }
    let cells = strips.into_iter().flat_map(|(number, array)| {
        let values = &values;
        (0..array.cells).map(move |cell| {
            let value = values.get(&(array.shared, array.name, cell)).copied().unwrap_or_default();
            format!("{number}:{cell}={value}")
        })
    });
    cells.collect::<Vec<_>>().join(",")
}

#[test]
fn a_page_shows_what_the_trace_says() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium here; install one, or name one in CHROMIUM");
        return;
    };
    let first = find("block-32-hides-it").expect("the first exhibit");
    let (contents, page) = one_page(first);
    let walked = walk(&browser, &page, include_str!("walk.js"), DESKTOP, "walk");
    let runs = walked["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), contents.shown.iter().map(|shown| shown.scenes.len()).sum::<usize>());
    for exhibit in EXHIBITS {
        assert!(runs.iter().any(|run| run["exhibit"] == exhibit.name), "{} can be chosen", exhibit.name);
    }
    for run in runs {
        let text = |key: &str| run[key].as_str().expect("text").to_owned();
        let block = run["block"].as_u64().expect("a number") as u32;
        let traced = named(&text("exhibit"), block, &text("schedule"));
        assert_eq!(text("source"), text("exhibit"));
        assert_eq!(text("headline"), traced.scene.said.headline, "{}", traced.what());
        for shown in run["steps"].as_array().expect("steps") {
            let step = shown["step"].as_u64().expect("a number") as u32;
            let at = format!("{} at step {step}", traced.what());
            assert_eq!(shown["accesses"].as_u64(), Some(traced.accesses(step) as u64), "{at}");
            assert_eq!(
                shown["cells"].as_u64(),
                Some(hash(&cells(&traced, step))),
                "{at}: {}",
                cells(&traced, step)
            );
            assert_eq!(shown["now"], true, "{at}");
        }
        assert_eq!(run["opens"], 0, "{}: a run begins at its beginning", traced.what());
        arc_joins(&traced, &run["arc"]);
        lines_lead_out(&traced, &run["across"]);
    }
}

/// The arc in the page joins the two accesses that its data names, and both lines of the source are lit.
fn arc_joins(run: &Traced, arc: &Value) {
    let Some(line) = run.scene.lines.first() else {
        assert_eq!(*arc, Value::Null, "{}", run.what());
        return;
    };
    let number = |value: &Value| value.as_u64().expect("a number");
    assert_eq!(arc["steps"], serde_json::json!(line.steps), "{}", run.what());
    for (step, marks) in line.steps.into_iter().zip(arc["ends"].as_array().expect("two ends")) {
        let (event, place) = (&run.trace.events[step], run.place(step));
        assert_eq!(
            (place.index, line.a as u64),
            (number(&arc["cell"]), number(&arc["array"])),
            "{}",
            run.what()
        );
        let writes = matches!(event.what, What::Access { writes: true, .. });
        let met = marks.as_array().expect("marks").iter().any(|mark| {
            let threads = number(&mark["thread"])..number(&mark["thread"]) + number(&mark["lanes"]);
            number(&mark["frame"]) == u64::from(run.frame_of[step])
                && threads.contains(&u64::from(event.thread))
                && mark["store"] == writes
        });
        assert!(met, "{}: no mark of step {step} at the arc's end: {marks}", run.what());
        let source = event.site.map(|site| site.line());
        let lit =
            arc["lines"].as_array().expect("lines").iter().any(|line| line.as_u64() == source.map(u64::from));
        assert!(lit, "{}: line {source:?} is lit", run.what());
    }
}

/// Each access that races with another block's has its line, which begins at the access.
fn lines_lead_out(run: &Traced, lines: &Value) {
    let lines = lines.as_array().expect("lines");
    assert_eq!(lines.len(), run.scene.across.len(), "{}", run.what());
    for (line, across) in lines.iter().zip(&run.scene.across) {
        assert_eq!(
            (line["at"].as_u64(), line["thread"].as_u64()),
            (Some(across.f.into()), Some(across.t.into()))
        );
        let met = line["marks"].as_array().expect("marks").iter().any(|mark| {
            let first = mark["thread"].as_u64().expect("a number");
            let threads = first..first + mark["lanes"].as_u64().expect("a number");
            mark["frame"].as_u64() == Some(across.f.into()) && threads.contains(&across.t.into())
        });
        assert!(met, "{}: {line}", run.what());
    }
}
