// The timeline: warps as rows, each with a line for every lane; time to the right.

const SVG = "http://www.w3.org/2000/svg";
const draw = (parent, name, attributes = {}) => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
};

const LABELS = 58;
const LEFT = 2;
const TOP = 26;
const GAP = 10;
const FADE = 1.6;

// Where things are: a lane's y, a frame's x.
const measure = (run, width) => {
  const lane = Math.max(1.25, Math.min(7, Math.floor((300 / run.scene.block) * 4) / 4));
  const room = (width - LEFT - 12) / (run.scene.frames + FADE);
  const column = Math.max(11, Math.min(92, room));
  const row = lane * WARP + GAP;
  return {
    lane, column,
    y: (thread) => TOP + warpOf(thread) * row + (thread % WARP) * lane,
    x: (frame) => LEFT + frame * column,
    width: LEFT + (run.scene.frames + FADE) * column + 8,
    height: TOP + run.warps * row - GAP + 6,
  };
};

// Neighbouring threads of one warp that agree about something.
const stretches = (count, of) => {
  const found = [];
  for (let thread = 0; thread < count; thread++) {
    const last = found.at(-1);
    if (last && thread % WARP !== 0 && last.is === of(thread)) last.n++;
    else found.push({ t: thread, n: 1, is: of(thread) });
  }
  return found;
};

const drawTimeline = (box, labels, run, act) => {
  labels.replaceChildren();
  const names = draw(labels, "svg", { width: LABELS, height: 1, "aria-hidden": "true", class: "timeline" });
  const at = measure(run, box.parentElement.clientWidth);
  names.setAttribute("height", at.height);
  const { frames, block } = run.scene;
  box.replaceChildren();
  const svg = draw(box, "svg", { width: at.width, height: at.height, "aria-hidden": "true", class: "timeline" });

  const defs = draw(svg, "defs");
  const fade = draw(defs, "linearGradient", { id: "fade" });
  draw(fade, "stop", { offset: 0, class: "fade-from" });
  draw(fade, "stop", { offset: 1, class: "fade-to" });
  const hatch = draw(defs, "pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  draw(hatch, "line", { x1: 0, y1: 0, x2: 0, y2: 6, class: "hatch" });

  // Threads: alive, then fading out.
  for (let warp = 0; warp < run.warps; warp++) {
    const lanes = Math.min(WARP, block - warp * WARP);
    const label = draw(names, "text", { class: "warp", x: LABELS - 10, y: at.y(warp * WARP) + (lanes * at.lane) / 2, dy: "0.35em" });
    label.textContent = `warp ${warp}`;
  }
  for (const { t, n, is: exit } of stretches(block, (thread) => run.exit[thread])) {
    const end = at.x(Math.min(exit, frames));
    const [y, height] = [at.y(t), n * at.lane];
    draw(svg, "rect", { class: "alive", x: LEFT, y, width: end - LEFT, height });
    draw(svg, "rect", { class: "gone", x: end, y, width: at.column * FADE, height });
  }

  const head = draw(svg, "rect", { class: "head", y: TOP - 8, width: at.column, height: at.height - TOP + 10, rx: 4 });

  // Waiting, from arrival to release.
  const waits = draw(svg, "g");
  const byThread = new Map(run.waits.map((wait) => [`${wait.thread} ${wait.to}`, wait]));
  for (const barrier of [...new Set(run.waits.map((wait) => wait.to))]) {
    const from = (thread) => byThread.get(`${thread} ${barrier}`)?.from;
    for (const { t, n, is } of stretches(block, from)) {
      if (is === undefined) continue;
      draw(waits, "rect", { class: "wait", "data-frame": is, x: at.x(is), y: at.y(t), width: at.x(barrier) - at.x(is) + at.column / 2, height: n * at.lane });
    }
  }

  // Stores and loads.
  const marks = draw(svg, "g");
  const apart = at.lane >= 4;
  for (const group of run.scene.groups) {
    if (group.k !== "store" && group.k !== "load") continue;
    const shared = run.scene.arrays[group.a].shared;
    const inset = shared ? at.column * 0.14 : at.column * 0.32;
    const box = { x: at.x(group.f) + inset, width: at.column - 2 * inset };
    const early = (i) => group.k === "load" && valueOf(group, i) === null;
    for (let i = 0; i < group.n; ) {
      let n = 1;
      while (i + n < group.n && (!apart || early(i)) && early(i + n) === early(i)) n++;
      const kind = `${group.k}${shared ? "" : " out"}${early(i) ? " early" : ""}`;
      draw(marks, "rect", {
        class: `mark ${kind}`, "data-frame": group.f, "data-thread": group.t + i, "data-lanes": n, ...box,
        y: at.y(group.t + i) + (apart ? 0.5 : 0), height: n * at.lane - (apart ? 1 : 0), rx: apart ? 1 : 0,
      });
      i += n;
    }
  }

  // Barriers: as long as those who take part.
  const broken = run.barriers.find((group) => group.void);
  for (const group of run.barriers) {
    const x = at.x(group.f) + at.column / 2;
    const count = group.p.reduce((sum, [first, last]) => sum + last - first + 1, 0);
    const whole = group.k === "release";
    const mark = draw(svg, "g", { class: `barrier${group.void ? " void" : ""}${whole ? "" : " of-warp"}`, "data-frame": group.f });
    for (const [first, last] of group.p) {
      draw(mark, "line", { x1: x, x2: x, y1: at.y(first) - (whole ? 3 : 0), y2: at.y(last) + at.lane + (whole ? 3 : 0) });
    }
    if (group === broken) {
      // Long, and other labels stand close to its left: it runs to the right, where there are none.
      const text = draw(mark, "text", { x, y: TOP - 12 });
      text.textContent = `divergent: ${count} of ${block}`;
      text.setAttribute("x", Math.min(x - 8, at.width - 4 - text.getComputedTextLength()));
    } else if (whole && !group.void) {
      draw(mark, "text", { x, y: TOP - 12 }).textContent = run.barriers.length > 4 ? count : `${count} of ${block}`;
    }
  }
  if (broken) {
    const x = at.x(broken.f + 1);
    draw(svg, "rect", { class: "unjudged", "data-frame": broken.f, x, y: TOP - 4, width: Math.max(0, at.x(frames) - x), height: at.height - TOP });
  }

  const overlay = draw(svg, "g", { class: "overlay" });
  svg.addEventListener("click", (event) => {
    const x = event.clientX - svg.getBoundingClientRect().left;
    act.step(Math.max(1, Math.min(frames, Math.floor((x - LEFT) / at.column) + 1)));
  });
  return { run, at, svg, head, overlay, box };
};

// Marks up to this step have happened; those behind it are still to come.
const stepTimeline = (timeline, step) => {
  const { at, svg, head, run } = timeline;
  for (const mark of svg.querySelectorAll("[data-frame]")) {
    const frame = Number(mark.dataset.frame);
    mark.classList.toggle("done", frame < step);
    mark.classList.toggle("now", frame === step - 1);
  }
  head.setAttribute("x", at.x(step - 1));
  head.setAttribute("visibility", step > 0 && step < run.scene.frames ? "visible" : "hidden");
};

// Keeps a frame in sight where the timeline is wider than its box.
const scrollTimeline = ({ at, box }, frame) => {
  const scroll = box.parentElement;
  scroll.scrollLeft = at.x(frame) - scroll.clientWidth / 2;
};

const centre = ({ at }, end) => ({ x: at.x(end.f) + at.column / 2, y: at.y(end.t) + at.lane / 2 });

// The arcs, those that lead to another block, and rings around every access to the cell that is looked at.
const overlayTimeline = (timeline, arcs, across, touches, step) => {
  const { overlay, at } = timeline;
  overlay.replaceChildren();
  const joined = (touch) => arcs.some((arc) => arc.ends.some((end) => end.f === touch.frame && end.t === touch.thread));
  for (const group of neighbours(touches.filter((touch) => touch.frame < step && !joined(touch)))) {
    const [first, last] = [group[0], group.at(-1)];
    const height = Math.max(at.y(last.thread) + at.lane - at.y(first.thread), 5);
    const middle = (at.y(first.thread) + at.y(last.thread) + at.lane) / 2;
    draw(overlay, "rect", {
      class: "ring", x: at.x(first.frame) + 1, width: at.column - 2, y: middle - height / 2 - 1, height: height + 2, rx: 2,
    });
  }
  for (const arc of arcs) {
    const [from, to] = arc.ends.map((end) => centre(timeline, end));
    // Bulges away from the straight line, so that it can be told from rows and columns: up where it
    // runs along a row, else to the right.
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    const length = Math.hypot(dx, dy) || 1;
    const along = Math.abs(dx) > 2 * Math.abs(dy);
    const bulge = Math.min(46, length * 0.32) * ((along ? dx : dy) < 0 ? -1 : 1);
    const control = { x: (from.x + to.x) / 2 + (dy / length) * bulge, y: Math.max(4, (from.y + to.y) / 2 - (dx / length) * bulge) };
    draw(overlay, "path", {
      class: "arc", d: `M${from.x} ${from.y}Q${control.x} ${control.y} ${to.x} ${to.y}`,
      "data-cell": arc.c, "data-array": arc.a, "data-steps": arc.steps ?? "",
    });
    for (const end of [from, to]) draw(overlay, "circle", { class: "end", cx: end.x, cy: end.y, r: 4 });
  }
  // To another block, which has no rows here: out of the picture.
  for (const { f, t, other } of across) {
    const from = centre(timeline, { f, t });
    const edge = { x: at.width - 8, y: TOP - 6 };
    draw(overlay, "path", { class: "across", d: `M${from.x} ${from.y}L${edge.x} ${edge.y}`, "data-thread": t, "data-at": f });
    draw(overlay, "circle", { class: "end", cx: from.x, cy: from.y, r: 4 });
    draw(overlay, "text", { class: "across", x: edge.x, y: edge.y - 4 }).textContent = other;
  }
};

// Only what this run shows.
const showLegend = (legend, run) => {
  const { groups, arrays } = run.scene;
  const access = ({ k }) => k === "store" || k === "load";
  const shown = {
    store: groups.some(({ k, a }) => k === "store" && arrays[a].shared),
    load: groups.some(({ k, a }) => k === "load" && arrays[a].shared),
    early: groups.some((group) => group.k === "load" && countEarly(group) > 0),
    out: groups.some((group) => access(group) && !arrays[group.a].shared),
    wait: run.waits.length > 0,
    barrier: run.barriers.some((group) => !group.void),
    broken: run.barriers.some((group) => group.void),
    unjudged: run.barriers.some((group) => group.void),
    race: run.arcs.length > 0 || run.scene.across.length > 0,
  };
  for (const item of legend.children) item.hidden = !shown[item.dataset.key];
};
