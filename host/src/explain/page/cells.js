// The strip of cells: what each holds now, and, for one of them, what happened to it.

const node = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

// Shared arrays, and buffers that threads race for; where there are none, buffers that are read.
const stripsOf = (run) => {
  const { arrays, groups } = run.scene;
  const all = arrays.map((array, number) => ({ ...array, number }));
  const strips = all.filter(({ shared, number }) => shared || run.arcs.some((arc) => arc.a === number));
  const read = ({ number }) => groups.some(({ k, a }) => k === "load" && a === number);
  return strips.length > 0 ? strips : all.filter(read);
};

const drawCells = (box, run, act) => {
  box.replaceChildren();
  const cells = [];
  for (const { name, number, cells: count, shared } of stripsOf(run)) {
    const used = run.touches[number].filter((touches) => touches.length > 0).length;
    const grid = node("div", { className: "strip", role: "group" });
    grid.setAttribute("aria-label", `${shared ? "Shared" : "Global"} array ${name}; arrow keys move`);
    const wide = Math.min(count, WARP);
    grid.style.setProperty("--wide", wide);
    grid.dataset.digits = Math.max(...run.touches[number].flat().map(({ value }) => String(value ?? "").length));
    for (let cell = 0; cell < count; cell++) {
      if (cell % WARP === 0) grid.append(node("span", { className: "from", ariaHidden: "true", textContent: cell }));
      const button = node("button", { type: "button", className: "cell", tabIndex: cell === 0 ? 0 : -1 });
      Object.assign(button.dataset, { array: number, cell });
      button.setAttribute("aria-describedby", "history");
      button.append(node("span"));
      button.addEventListener("mouseenter", () => act.look(number, cell));
      button.addEventListener("focus", () => act.look(number, cell));
      button.addEventListener("click", () => act.look(number, cell));
      grid.append(button);
      cells.push(button);
    }
    grid.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -WARP, ArrowDown: WARP }[event.key];
      const from = Number(event.target.dataset.cell);
      const next = grid.querySelector(`[data-cell="${from + by}"]`);
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      if (!next) return;
      event.target.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
    box.append(node("h3", { textContent: `${name} ` }, node("small", { textContent: `${shared ? "" : "global memory, "}${used} cell${used === 1 ? "" : "s"} used` })), grid);
  }
  if (cells.length === 0) box.append(node("p", { className: "hint", textContent: "This block reads none of what it could share." }));
  const raced = new Map();
  for (const arc of run.arcs) {
    const key = `${arc.a} ${arc.c}`;
    raced.set(key, [...(raced.get(key) ?? []), arc]);
  }
  return { run, cells, raced };
};

const stepCells = ({ run, cells, raced }, step) => {
  for (const button of cells) {
    const [array, cell] = [Number(button.dataset.array), Number(button.dataset.cell)];
    const held = cellAt(run, array, cell, step);
    const now = run.touches[array][cell].filter((touch) => touch.frame === step - 1);
    const races = (raced.get(`${array} ${cell}`) ?? []).some((arc) => happened(arc, step));
    button.className = ["cell", run.touches[array][cell].length === 0 && "unused", held && "written", now.some((t) => t.kind === "store") && "stored",
      now.some((t) => t.kind === "load") && "loaded", races && "raced"].filter(Boolean).join(" ");
    button.dataset.value = held?.value ?? "";
    button.firstChild.textContent = held?.value ?? "";
    const name = `${run.scene.arrays[array].name}[${cell}]`;
    button.setAttribute("aria-label", `${name}: ${held ? `${held.value}, written by thread ${held.thread}` : "not written"}${races ? ", raced for" : ""}`);
  }
};

// A warp barrier matters to a cell only if one of its threads came to it.
const touchesWarp = (group, touches) =>
  touches.some(({ thread }) => group.p.some(([first, last]) => first <= thread && thread <= last));

const showHistory = (box, { run, raced }, looked, step, act) => {
  box.replaceChildren();
  if (!looked) return;
  const { array, cell } = looked;
  const name = `${run.scene.arrays[array].name}[${cell}]`;
  const list = node("ol");
  const touches = run.touches[array][cell];
  const [from, to] = [touches[0]?.frame ?? 0, touches.at(-1)?.frame ?? 0];
  const between = run.barriers.filter((group) => group.f > from && group.f < to && touchesWarp(group, touches))
    .map((group) => ({ frame: group.f, kind: group.void ? "void" : "barrier", words: groupInWords(run, group), site: group.s }));
  const together = neighbours(touches).map((touches) => ({ ...touches[0], words: touchesInWords(touches) }));
  const events = [...together, ...between];
  for (const event of events.sort((a, b) => a.frame - b.frame)) {
    const jump = node("button", { type: "button", textContent: `step ${event.frame + 1}` });
    jump.addEventListener("click", () => act.step(event.frame + 1));
    list.append(node("li", { className: `${event.kind}${event.frame < step ? "" : " future"}` }, jump,
      node("span", { textContent: event.words }),
      node("small", { textContent: `line ${lineOf(run, event.site)}` })));
  }
  box.append(node("h3", { textContent: name }), list);
  const arcs = (raced.get(`${array} ${cell}`) ?? []).filter((arc) => happened(arc, step));
  if (arcs.length > 0) {
    const arc = arcs[0];
    box.append(node("p", { className: "why", textContent:
      `${arc.kind} hazard, ${arc.level}: nothing orders thread ${arc.ends[0].t} and thread ${arc.ends[1].t}.` }));
  }
};
