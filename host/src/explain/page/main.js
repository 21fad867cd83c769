// What is chosen, and what follows from it.

const data = JSON.parse(document.getElementById("data").textContent);
const el = (id) => document.getElementById(id);
const runs = new Map();
const state = { exhibit: null, block: 0, schedule: "", step: 0, looked: null, run: null, timeline: null, cells: null, playing: 0 };

const scenesOf = (block) => state.exhibit.scenes.filter((scene) => scene.block === block);

const act = {
  step(step) {
    state.step = Math.max(0, Math.min(state.run.scene.frames, step));
    show(true);
  },
  look(array, cell) {
    state.looked = { array, cell };
    show(false);
  },
};

// The arcs in the picture: of the cell that is looked at, else the one that the report names first.
const arcsShown = () => {
  const { run, looked, step } = state;
  const of = run.arcs.filter((arc) => looked && arc.a === looked.array && arc.c === looked.cell);
  const shown = of.length > 0 ? of.slice(0, 1) : run.arcs.slice(0, 1);
  return shown.filter((arc) => happened(arc, step));
};

const show = (moved) => {
  const { run, step, looked, timeline, cells } = state;
  const arcs = arcsShown();
  const touches = looked ? run.touches[looked.array][looked.cell] : [];
  if (moved) {
    stepTimeline(timeline, step);
    // At the end there is nothing to follow: show the race, if there is one.
    const end = step === run.scene.frames && arcs.length > 0;
    scrollTimeline(timeline, end ? (arcs[0].ends[0].f + arcs[0].ends[1].f) / 2 : step);
    stepCells(cells, step);
    el("step").value = step;
    el("count").textContent = `${step} of ${run.scene.frames}`;
    el("now").textContent = step === 0 ? "Nothing has happened yet. Play, or go forward step by step." : frameInWords(run, step - 1);
    for (const item of el("steps").children) item.toggleAttribute("aria-current", Number(item.dataset.step) === step);
  }
  overlayTimeline(timeline, arcs, run.scene.across.filter(({ f }) => f < step), touches, step);
  for (const button of cells.cells) {
    const { array, cell } = button.dataset;
    button.classList.toggle("looked", looked !== null && Number(array) === looked.array && Number(cell) === looked.cell);
  }
  showHistory(el("history"), cells, looked, step, act);
  stepSource(document.querySelector(`figure[data-exhibit="${state.exhibit.name}"]`), run, step, arcs);
};

const layout = () => {
  state.timeline = drawTimeline(el("timeline"), el("warps"), state.run, act);
  show(true);
};

// Where nothing races: the cell that the first thread reads.
const firstRead = (run) => {
  const group = run.scene.groups.find(({ k, t, a }) => k === "load" && t === 0 && stripsOf(run).some(({ number }) => number === a));
  return group ? { array: group.a, cell: group.c } : null;
};

const chooseRun = () => {
  const offered = scenesOf(state.block);
  const scene = offered.find((scene) => scene.schedule === state.schedule) ?? offered[0];
  state.schedule = scene.schedule;
  if (!runs.has(scene)) runs.set(scene, unfold(scene));
  state.run = runs.get(scene);
  const first = state.run.arcs[0] ?? scene.across[0];
  state.looked = first ? { array: first.a, cell: first.c } : firstRead(state.run);
  state.step = 0;
  el("step").max = scene.frames;
  el("schedule").replaceChildren(...offered.map(({ schedule }) =>
    node("option", { value: schedule, textContent: schedule, selected: schedule === state.schedule })));
  el("blocks").querySelectorAll("input").forEach((input) => { input.checked = Number(input.value) === state.block; });
  const [block, grid] = scene.traced;
  el("stage-title").textContent = grid > 1 ? `The threads of block ${block} of ${grid}` : "The threads of one block";
  state.cells = drawCells(el("cells"), state.run, act);
  el("memory-title").textContent = scene.arrays.some(({ shared }) => shared) ? "Shared memory" : "Global memory";
  showVerdict(state.run);
  showLegend(el("legend"), state.run);
  el("steps").replaceChildren(...state.run.frames.map((_, frame) => {
    const go = node("button", { type: "button", textContent: frameInWords(state.run, frame) });
    go.addEventListener("click", () => act.step(frame + 1));
    const item = node("li", {}, go);
    item.dataset.step = frame + 1;
    return item;
  }));
  stop();
  layout();
};

// What is not asked for is what the exhibit begins with.
const chooseExhibit = (name, block, schedule) => {
  const exhibit = data.exhibits.find((exhibit) => exhibit.name === name) ?? data.exhibits[0];
  state.exhibit = exhibit;
  document.title = exhibit.title;
  for (const part of ["title", "question", "proves"]) el(part).replaceChildren(...prose(exhibit[part]));
  el("exhibit").value = exhibit.name;
  for (const figure of document.querySelectorAll("figure[data-exhibit]")) figure.hidden = figure.dataset.exhibit !== exhibit.name;
  const blocks = [...new Set(exhibit.scenes.map((scene) => scene.block))];
  state.block = [block, exhibit.block, blocks[0]].find((block) => blocks.includes(block));
  state.schedule = schedule;
  el("blocks").replaceChildren(...blocks.map((block) => {
    const input = node("input", { type: "radio", name: "block", value: block });
    input.addEventListener("change", () => { state.block = block; chooseRun(); });
    return node("label", {}, input, node("span", { textContent: block }));
  }));
  chooseRun();
};

const stop = () => {
  clearInterval(state.playing);
  state.playing = 0;
  el("play").textContent = "Play";
  el("now").setAttribute("aria-live", "polite");
};

const play = () => {
  if (state.playing) return stop();
  const { frames } = state.run.scene;
  if (state.step >= frames) act.step(0);
  el("play").textContent = "Pause";
  // Nobody can listen as fast as it plays.
  el("now").setAttribute("aria-live", "off");
  state.playing = setInterval(() => {
    act.step(state.step + 1);
    if (state.step >= frames) stop();
  }, Math.max(60, Math.min(800, 14000 / frames)));
};

// The part of the address behind # may choose too: exhibit, block, schedule, step, theme.
const fromAddress = () => {
  const wanted = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  setTheme(wanted.get("theme"));
  chooseExhibit(wanted.get("exhibit") ?? data.first, Number(wanted.get("block") ?? data.block), wanted.get("schedule"));
  if (wanted.has("step")) act.step(Number(wanted.get("step")) || 0);
};

el("controls").addEventListener("submit", (event) => event.preventDefault());
el("exhibit").addEventListener("change", (event) => {
  const { value, selectedOptions } = event.target;
  if (selectedOptions[0].hasAttribute("data-page")) location.href = `${value}.html`;
  else chooseExhibit(value);
});
el("schedule").addEventListener("change", (event) => { state.schedule = event.target.value; chooseRun(); });
el("step").addEventListener("input", (event) => { stop(); act.step(Number(event.target.value)); });
for (const [id, to] of [["start", () => 0], ["back", () => state.step - 1], ["forward", () => state.step + 1], ["end", () => Infinity]]) {
  el(id).addEventListener("click", () => { stop(); act.step(to()); });
}
el("play").addEventListener("click", play);
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, .code")) return;
  const stage = event.target.closest("#stage");
  if (!stage && event.target !== document.body) return;
  const to = { ArrowLeft: state.step - 1, ArrowRight: state.step + 1, ...(stage && { Home: 0, End: Infinity }) }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  stop();
  act.step(to);
});
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; layout(); } });
addEventListener("hashchange", () => { if (location.hash.includes("=")) fromAddress(); });

fromAddress();
