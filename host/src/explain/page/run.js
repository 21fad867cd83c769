// A run: the embedded groups unfolded into what happened to each lane and each cell.

const WARP = 32;

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
        touches[group.a][cell].push({ group, thread, frame: group.f, kind: group.k, value: group.v[i], site: group.s });
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
  const arcs = scene.arcs.filter((arc) => arc.named);
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
