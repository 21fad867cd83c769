// Walks through a page as a reader would, and writes down what it shows.
(() => {
  const element = (id) => document.getElementById(id);
  const choose = (control, value) => {
    control.value = value;
    control.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const hash = (text) => {
    let hash = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
    return hash;
  };
  const number = (mark, name) => Number(mark.dataset[name]);

  const shown = (step) => ({
    step,
    now: element("now").textContent.length > 0,
    accesses: [...document.querySelectorAll(".mark.done")].reduce((sum, mark) => sum + number(mark, "lanes"), 0),
    cells: hash([...document.querySelectorAll(".cell")].map(({ dataset }) => `${dataset.array}:${dataset.cell}=${dataset.value}`).join()),
  });

  // The mark under an end of the arc.
  const markAt = (x, y) => [...document.querySelectorAll(".mark")].filter((mark) => {
    const { x: left, y: top, width, height } = mark.getBBox();
    return left <= x && x <= left + width && top - 1 <= y && y <= top + height + 1;
  }).map((mark) => ({ frame: number(mark, "frame"), thread: number(mark, "thread"), lanes: number(mark, "lanes"), store: mark.classList.contains("store") }));

  const arc = () => {
    const path = document.querySelector(".arc");
    if (!path) return null;
    const end = (at) => { const { x, y } = path.getPointAtLength(at); return markAt(x, y); };
    return {
      array: number(path, "array"), cell: number(path, "cell"), steps: path.dataset.steps.split(",").map(Number),
      ends: [end(0), end(path.getTotalLength())],
      lines: [...document.querySelectorAll("figure:not([hidden]) li.race")].map((line) => number(line, "line")),
    };
  };

  // The lines to other blocks: the mark that each begins at.
  const across = () => [...document.querySelectorAll("path.across")].map((path) => {
    const { x, y } = path.getPointAtLength(0);
    return { at: number(path, "at"), thread: number(path, "thread"), marks: markAt(x, y) };
  });

  const range = element("step");
  const stepTo = (step) => {
    range.value = step;
    range.dispatchEvent(new Event("input", { bubbles: true }));
  };

  const runs = [];
  const exhibits = [...element("exhibit").options].map(({ value }) => value);
  for (const exhibit of exhibits) {
    choose(element("exhibit"), exhibit);
    for (const { value: block } of [...document.querySelectorAll("#blocks input")]) {
      const radio = document.querySelector(`#blocks input[value="${block}"]`);
      radio.checked = true;
      radio.dispatchEvent(new Event("change", { bubbles: true }));
      for (const schedule of [...element("schedule").options].map(({ value }) => value)) {
        choose(element("schedule"), schedule);
        const frames = Number(range.max);
        const opens = Number(range.value);
        const steps = [];
        const stride = Math.max(1, Math.floor(frames / 12));
        for (let step = 0; step <= frames; step += stride) { stepTo(step); steps.push(shown(step)); }
        // By the buttons too: to the end, one back, one forward.
        for (const id of ["end", "back", "forward"]) element(id).click();
        steps.push(shown(frames));
        const source = document.querySelector("figure:not([hidden])").dataset.exhibit;
        runs.push({ exhibit, source, block: Number(block), schedule, headline: element("headline").textContent, opens, steps, arc: arc(), across: across() });
      }
    }
  }
  document.body.replaceChildren(Object.assign(document.createElement("pre"), {
    id: "walked", textContent: JSON.stringify({ runs, errors: window.errors, overflow: document.documentElement.scrollWidth - innerWidth }),
  }));
})();
