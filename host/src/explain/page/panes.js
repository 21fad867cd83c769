// The source pane and the verdict panel.

const stepSource = (figure, run, step, arcs) => {
  for (const line of figure.querySelectorAll("li")) {
    line.className = "";
    line.querySelectorAll(".note, .under").forEach((note) => note.remove());
  }
  const at = (site) => figure.querySelector(`[data-line="${run.scene.sites[site]?.[0]}"]`);
  if (step > 0 && step < run.scene.frames) {
    for (const group of run.frames[step - 1]) {
      if (group.s !== undefined) at(group.s)?.classList.add("now", group.k);
    }
  }
  for (const arc of arcs) {
    for (const end of arc.ends) {
      const line = at(end.s);
      if (!line) continue;
      line.classList.add("race");
      const what = `thread ${end.t} ${end.writes ? "writes" : "reads"} ${run.scene.arrays[arc.a].name}[${arc.c}]`;
      // The name of the method called, from its column on.
      const column = run.scene.sites[end.s][1] - 1;
      const length = /^\w+/.exec(line.querySelector("code").textContent.slice(column))?.[0].length ?? 1;
      const under = node("span", { className: "under", ariaHidden: "true" });
      under.style.setProperty("--column", column);
      under.style.setProperty("--length", length);
      line.append(under, node("span", { className: "note", textContent: what }));
    }
  }
};

const showVerdict = (run) => {
  const { said } = run.scene;
  const panel = document.getElementById("verdict");
  panel.className = `card verdict ${said.defined ? "defined" : "undefined"}`;
  document.getElementById("headline").textContent = said.headline;
  const chip = document.getElementById("chip");
  chip.textContent = said.headline;
  chip.className = `chip ${said.defined ? "ok" : "bad"}`;
  const [, big, text] = document.getElementById("answer").children;
  big.textContent = said.right === null ? "Not compared" : said.right ? "Right" : "Wrong";
  text.textContent = said.answer;
  const [, judged, list] = document.getElementById("judged").children;
  judged.textContent = said.defined ? "Defined" : "Undefined";
  judged.className = `big ${said.defined ? "ok" : "bad"}`;
  list.replaceChildren(...said.verdicts.flatMap(({ check, ok, words }) =>
    [node("dt", { textContent: check }), node("dd", { textContent: words, className: ok ? "ok" : "bad" })]));
  document.getElementById("found").replaceChildren(...said.found.map((sentence) => node("li", { textContent: sentence })));
};
