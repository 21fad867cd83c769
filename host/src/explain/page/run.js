// A run: the embedded groups unfolded into what happened to each lane and each cell.

const WARP = 32;

// A value of a group that may have kept only the first one.
const valueOf = (group, i) =>
  group.v.length === group.n ? group.v[i] : group.v[0] === null ? null : group.v[0] + i * (group.e ?? 0);

// Racing pairs, a cell each; the first of its line is the one that the words name.
const unfoldArcs = (scene) => {
  const named = new Set();
  return scene.arcs.flatMap(({ l, n, c, d, ends }) => Array.from({ length: n }, (_, i) => {
    const { kind, level, a, sites, writes, steps } = scene.lines[l];
    const first = !named.has(l);
    named.add(l);
    return { kind, level, a, c: c + i * d, named: first, steps: first ? steps : null,
      ends: ends.map((end, side) => ({ f: end.f, t: end.t + i * end.d, s: sites[side], writes: writes[side] })) };
  }));
};

const unfold = (scene) => {
  const warps = Math.ceil(scene.block / WARP);
  const exit = new Array(scene.block).fill(Infinity);
  const frames = Array.from({ length: scene.frames }, () => []);
  const touches = scene.arrays.map((array) => Array.from({ length: array.cells }, () => []));
  const waits = [];
  const waiting = new Map();
  const barriers = [];
  for (const group of scene.groups) {
    frames[group.f].push(group);
    for (let i = 0; i < group.n; i++) {
      const thread = group.t + i;
      if (group.k === "store" || group.k === "load") {
        const cell = group.c + i * (group.d ?? 0);
        touches[group.a][cell].push({ group, thread, frame: group.f, kind: group.k, value: valueOf(group, i), site: group.s });
      } else if (group.k === "exit") {
        exit[thread] = group.f;
      } else if (group.k.startsWith("arrive")) {
        waiting.set(thread, group.f);
      }
    }
    if (group.k.startsWith("release")) {
      for (const [first, last] of group.p) {
        for (let thread = first; thread <= last; thread++) {
          waits.push({ thread, from: waiting.get(thread), to: group.f });
          waiting.delete(thread);
        }
      }
      barriers.push(group);
    }
  }
  for (const [thread, from] of waiting) waits.push({ thread, from, to: scene.frames });
  const arcs = unfoldArcs(scene);
  return { scene, warps, exit, frames, touches, waits, barriers, arcs };
};

// What a cell holds after `step` frames: its last store, if any.
const cellAt = (run, array, cell, step) => {
  let last = null;
  for (const touch of run.touches[array][cell]) {
    if (touch.frame >= step) break;
    if (touch.kind === "store") last = touch;
  }
  return last;
};

const happened = (arc, step) => arc.ends.every((end) => end.f < step);
const warpOf = (thread) => Math.floor(thread / WARP);

// Touches of one cell, put together where neighbouring threads of a warp did the same in one frame.
const neighbours = (touches) => {
  const found = [];
  for (const touch of touches) {
    const last = found.at(-1)?.at(-1);
    const goesOn = last && last.frame === touch.frame && last.kind === touch.kind && last.site === touch.site
      && last.thread + 1 === touch.thread && warpOf(last.thread) === warpOf(touch.thread);
    if (goesOn) found.at(-1).push(touch);
    else found.push([touch]);
  }
  return found;
};
