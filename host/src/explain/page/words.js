// What happens, in words: for the line under the picture, the list of steps, and screen readers.

const threadsInWords = (first, count) =>
  count === 1 ? `thread ${first}` : `threads ${first}–${first + count - 1}`;

const cellsInWords = (run, group) => {
  const name = run.scene.arrays[group.a].name;
  const last = group.c + (group.n - 1) * (group.d ?? 0);
  return last === group.c ? `${name}[${group.c}]` : `${name}[${group.c}…${last}]`;
};

const tripInWords = (group) => (group.r ? `, trip ${group.r.join(".")}` : "");

const lineOf = (run, site) => run.scene.sites[site]?.[0];

const countEarly = (group) =>
  Array.from({ length: group.n }, (_, i) => valueOf(group, i)).filter((value) => value === null).length;

const groupInWords = (run, group) => {
  const who = `Warp ${warpOf(group.t)}: ${threadsInWords(group.t, group.n)}`;
  const s = group.n === 1 ? "s" : "";
  switch (group.k) {
    case "store": return `${who} write${s} ${cellsInWords(run, group)}${tripInWords(group)}`;
    case "load": {
      const early = countEarly(group);
      const all = early === group.n;
      const tail = early === 0 ? "" : all ? ", not written yet" : `, ${early} of them not written yet`;
      return `${who} read${s} ${cellsInWords(run, group)}${tripInWords(group)}${tail}`;
    }
    case "arrive": return `${who} wait${s} at the barrier`;
    case "arrive-warp": return `${who} wait${s} at the warp barrier`;
    case "exit": return `${who} exit${s}`;
    case "release": {
      const count = group.p.reduce((sum, [first, last]) => sum + last - first + 1, 0);
      const tail = group.void ? "; it is divergent, so nothing is ordered" : "";
      return `The barrier lets ${count} thread${count === 1 ? "" : "s"} go on${tail}`;
    }
    case "release-warp": return `Warp ${warpOf(group.p[0][0])}: the warp barrier lets its lanes go on`;
    default: return "";
  }
};

// One sentence for a frame; a frame of many pieces is summed up by warp and kind.
const frameInWords = (run, frame) => {
  const groups = run.frames[frame];
  if (groups.length <= 2) return groups.map((group) => groupInWords(run, group)).join(". ") + ".";
  const sums = new Map();
  for (const group of groups) {
    const key = `${warpOf(group.t)} ${group.k}`;
    sums.set(key, (sums.get(key) ?? 0) + group.n);
  }
  const verb = { store: "write", load: "read", arrive: "wait at the barrier", exit: "exit", "arrive-warp": "wait at the warp barrier" };
  return [...sums].map(([key, count]) => {
    const [warp, kind] = [key.slice(0, key.indexOf(" ")), key.slice(key.indexOf(" ") + 1)];
    return kind.startsWith("release") ? "The barrier lets them go on" : `Warp ${warp}: ${count} lane${count === 1 ? "" : "s"} ${verb[kind]}${count === 1 && kind !== "exit" ? "s" : ""}`;
  }).join(". ") + ".";
};

const touchesInWords = (touches) => {
  const [first, last] = [touches[0], touches.at(-1)];
  const one = touches.length === 1;
  const does = first.kind === "store" ? (one ? "writes" : "write") : one ? "reads" : "read";
  const same = touches.every(({ value }) => value === first.value);
  const what = !same ? `${first.value} … ${last.value}` : first.value === null ? "it before anything was written" : first.value;
  return `${threadsInWords(first.thread, touches.length)} (warp ${warpOf(first.thread)}) ${does} ${what}`;
};

// A sentence; what stands between backticks is code.
const prose = (text) => text.split("`").map((part, i) => (i % 2 ? Object.assign(document.createElement("code"), { textContent: part }) : part));
