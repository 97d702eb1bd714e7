// What can be done with a report: sort its tables, choose a measure and methods, ask a label what
// it recovers. All numbers and names are read from the page itself and written as text only.
"use strict";
(() => {
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const digits = (number) => number.toFixed(3);
  document.documentElement.classList.add("js");

  // Sorting ------------------------------------------------------------------------------------
  // The first click on a column puts its best values first, the next one turns it round. What is
  // not a number (failed, not run) stays at the end either way.
  function sortBy(header) {
    const table = header.closest("table");
    const before = header.getAttribute("aria-sort");
    const start = header.dataset.better === "high" ? "descending" : "ascending";
    const opposite = { ascending: "descending", descending: "ascending" };
    const direction = before ? opposite[before] : start;
    const sign = direction === "ascending" ? 1 : -1;
    const column = header.cellIndex;
    const compare = (a, b) => {
      const [x, y] = [a.cells[column], b.cells[column]];
      if (!("better" in header.dataset)) {
        return sign * x.textContent.localeCompare(y.textContent, undefined, { numeric: true });
      }
      const missing = !("value" in x.dataset) - !("value" in y.dataset);
      return missing || sign * (Number(x.dataset.value) - Number(y.dataset.value)) || 0;
    };
    for (const other of header.parentElement.cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", direction);
    const body = table.tBodies[0];
    body.append(...Array.from(body.rows).sort(compare));
  }
  for (const button of all("button.sort")) {
    button.addEventListener("click", () => sortBy(button.closest("th")));
  }

  // Choices ------------------------------------------------------------------------------------
  const measure = document.getElementById("measure");
  const find = document.getElementById("find");
  const boxes = all("input[data-choose-method]");
  const groups = all("input[data-choose-group]");

  const wanted = (box) => {
    const words = find.value.trim().toLowerCase();
    return box.checked && box.dataset.words.toLowerCase().includes(words);
  };

  function show() {
    const shown = new Set(boxes.filter(wanted).map((box) => box.dataset.chooseMethod));
    for (const row of all("tr[data-method]")) {
      const otherMeasure = row.dataset.forMeasure && row.dataset.forMeasure !== measure.value;
      row.hidden = !shown.has(row.dataset.method) || Boolean(otherMeasure);
    }
    for (const part of all("div[data-for-measure]")) {
      part.hidden = part.dataset.forMeasure !== measure.value;
    }
    for (const group of groups) {
      const own = boxes.filter((box) => box.dataset.group === group.dataset.chooseGroup);
      const checked = own.filter((box) => box.checked).length;
      group.checked = checked === own.length;
      group.indeterminate = checked > 0 && checked < own.length;
    }
    document.getElementById("shown").textContent = `${shown.size} of ${boxes.length} methods`;
    for (const place of all(".bars")) drawBars(place, shown);
  }

  // The choice is kept in the address, so that it can be sent to a colleague.
  function remember() {
    const choice = new URLSearchParams();
    if (measure.selectedIndex > 0) choice.set("measure", measure.value);
    if (find.value) choice.set("find", find.value);
    for (const box of boxes) if (!box.checked) choice.append("without", box.dataset.chooseMethod);
    const text = choice.toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  }

  function recall() {
    const choice = new URLSearchParams(location.hash.slice(1));
    const known = Array.from(measure.options).some((item) => item.value === choice.get("measure"));
    if (known) measure.value = choice.get("measure");
    else measure.selectedIndex = 0;
    find.value = choice.get("find") || "";
    const without = new Set(choice.getAll("without"));
    for (const box of boxes) box.checked = !without.has(box.dataset.chooseMethod);
    show();
  }

  function choose() {
    show();
    remember();
  }

  measure.addEventListener("change", choose);
  find.addEventListener("input", choose);
  for (const box of boxes) box.addEventListener("change", choose);
  for (const group of groups) {
    group.addEventListener("change", () => {
      for (const box of boxes) {
        if (box.dataset.group === group.dataset.chooseGroup) box.checked = group.checked;
      }
      choose();
    });
  }
  document.getElementById("reset").addEventListener("click", () => {
    find.value = "";
    for (const box of boxes) box.checked = true;
    choose();
  });
  window.addEventListener("hashchange", () => {
    if (location.hash === "" || location.hash.includes("=")) recall();
  });
  recall();

  // A link inside the page must not replace the choice in the address.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    const target = link && document.getElementById(link.getAttribute("href").slice(1));
    if (!target) return;
    event.preventDefault();
    const folded = target.closest("details");
    if (folded) folded.open = true;
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
    target.scrollIntoView();
  });

  // Bars ---------------------------------------------------------------------------------------
  // They are drawn from the cells of the tables in the same section, all from zero.
  function drawBars(place, shown) {
    place.replaceChildren();
    for (const table of all("table[data-name]", place.closest("section"))) {
      const header = table.querySelector(`th[data-measure="${CSS.escape(measure.value)}"]`);
      if (header) place.append(barsOf(table, header, shown));
    }
  }

  function barsOf(table, header, shown) {
    const entries = Array.from(table.tBodies[0].rows)
      .filter((row) => shown.has(row.dataset.method))
      .map((row) => {
        const cell = row.cells[header.cellIndex];
        const number = (name) => (name in cell.dataset ? Number(cell.dataset[name]) : null);
        const [value, spread, printed] = ["value", "std", "printed"].map(number);
        return { row, cell, value, spread, printed };
      });
    const sign = header.dataset.better === "high" ? -1 : 1;
    const missing = (entry) => (entry.value === null ? 1 : 0);
    entries.sort((a, b) => missing(a) - missing(b) || sign * (a.value - b.value));
    const farthest = ({ value, spread, printed }) => Math.max(value + spread, printed); // null is 0
    const end = Math.max(...entries.map(farthest)) || 1;
    const share = (value) => `${(100 * value) / end}%`;

    const card = make("div");
    const title = make("h4");
    const link = make("a", "", table.dataset.name);
    link.href = `#${table.id}`;
    const better = header.dataset.better === "high" ? "longer" : "shorter";
    title.append(link, make("small", "", `${better} is better`));
    card.append(title);
    for (const { row, cell, value, spread, printed } of entries) {
      const bar = make("div", row.classList.contains("ours") ? "bar ours" : "bar");
      bar.dataset.method = row.dataset.method;
      const name = make("span", "name", row.dataset.method);
      name.title = row.dataset.method;
      const track = make("span", "track");
      track.setAttribute("aria-hidden", "true");
      const piece = (className, left, width) => {
        const mark = make("i", className);
        mark.style.left = share(left);
        if (width !== undefined) mark.style.width = share(width);
        track.append(mark);
      };
      if (value !== null) piece("fill", 0, value);
      const below = Math.min(value, spread); // no line goes below zero
      if (value !== null && spread) piece("spread", value - below, below + spread);
      if (printed !== null) piece("print", printed);
      const text = value === null ? cell.firstElementChild.textContent : digits(value);
      const label = make("span", value === null ? "value failed" : "value", text);
      if (spread) label.append(make("span", "hidden-text", ` ± ${digits(spread)}`));
      if (printed !== null) label.append(make("span", "hidden-text", `, printed ${digits(printed)}`));
      bar.title = `${name.textContent}: ${label.textContent}`;
      bar.append(name, track, label);
      card.append(bar);
    }
    return card;
  }

  // Landmarks ----------------------------------------------------------------------------------
  const MOST_TOLD = 6;

  for (const place of all(".landmarks")) {
    const heat = place.querySelector(".heat");
    const graph = place.querySelector(".graph");
    const telling = place.querySelector(".telling");
    const hint = telling.textContent;
    const labels = all("thead th[data-label]", heat);
    const rows = all("tbody tr[data-label]", heat);
    const nodes = all(".node", graph);
    let kept = null; // what was clicked or tapped stays until something else is

    const nameOf = (element) => element.querySelector("span").textContent;
    const list = (pairs) =>
      pairs
        .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]))
        .slice(0, MOST_TOLD)
        .map(([name, weight]) => `${name} ${weight < 0 ? "−" : "+"}${Math.abs(weight).toFixed(2)}`)
        .join(", ");
    const weightOf = (cell) => Number(cell.textContent.replace("−", "-"));

    function tell(label) {
      telling.replaceChildren();
      if (label === null) {
        telling.append(make("p", "", hint));
        return;
      }
      const column = labels.find((header) => header.dataset.label === label);
      const row = rows.find((line) => line.dataset.label === label);
      const title = make("p");
      title.append(make("strong", "", nameOf(column || row.cells[0])));
      title.append(row ? `: a landmark; it adds ${row.dataset.strength} of all variance.` : ": no landmark.");
      telling.append(title);
      if (row) {
        const pairs = labels.map((header) => [nameOf(header), weightOf(row.cells[header.cellIndex])]);
        telling.append(make("p", "recovers", `Recovers ${list(pairs)}.`));
      }
      if (column) {
        const place = column.cellIndex;
        const pairs = rows.map((line) => [nameOf(line.cells[0]), weightOf(line.cells[place])]);
        telling.append(make("p", "recovered", `Is recovered from ${list(pairs)}.`));
      }
    }

    function light(label) {
      place.classList.toggle("asked", label !== null);
      graph.classList.toggle("chosen", label !== null);
      const near = new Set();
      for (const edge of all("path", graph)) {
        const touches = edge.dataset.from === label || edge.dataset.to === label;
        edge.classList.toggle("lit", touches);
        if (touches) near.add(`left ${edge.dataset.from}`).add(`right ${edge.dataset.to}`);
      }
      for (const node of nodes) {
        node.classList.toggle("lit", near.has(`${node.dataset.side} ${node.dataset.label}`));
        node.classList.toggle("centre", node.dataset.label === label);
      }
      for (const header of labels) header.classList.toggle("lit", header.dataset.label === label);
      for (const row of rows) row.cells[0].classList.toggle("lit", row.dataset.label === label);
      tell(label);
    }

    const labelled = [...nodes, ...labels, ...rows.map((row) => row.cells[0])];
    for (const element of labelled) {
      const label = element.dataset.label || element.closest("[data-label]").dataset.label;
      element.addEventListener("pointerenter", () => light(label));
      element.addEventListener("pointerleave", () => light(kept));
      element.addEventListener("click", (event) => {
        event.stopPropagation();
        kept = label;
        light(kept);
      });
    }
    // Cells of the heat map say what they are.
    heat.addEventListener("pointerover", (event) => {
      const cell = event.target.closest("td");
      if (!cell) return;
      const header = heat.tHead.rows[0].cells[cell.cellIndex];
      const line = make("p", "", `${nameOf(cell.parentElement.cells[0])} → ${nameOf(header)}: `);
      line.append(make("strong", "", cell.textContent));
      telling.replaceChildren(line);
    });
    heat.addEventListener("pointerleave", () => light(kept));

    const nearest = (candidates, node) => {
      const distance = (other) => Math.abs(other.dataset.height - node.dataset.height);
      return candidates.reduce((a, b) => (distance(b) < distance(a) ? b : a));
    };

    // The graph is one stop of the Tab key; arrows move inside it.
    for (const node of nodes) {
      node.addEventListener("focus", () => {
        for (const other of nodes) other.setAttribute("tabindex", other === node ? "0" : "-1");
        light(node.dataset.label);
      });
      node.addEventListener("blur", () => light(kept));
      node.addEventListener("keydown", (event) => {
        const same = nodes.filter((other) => other.dataset.side === node.dataset.side);
        const opposite = nodes.filter((other) => other.dataset.side !== node.dataset.side);
        const place = same.indexOf(node);
        const targets = {
          ArrowDown: same[place + 1],
          ArrowUp: same[place - 1],
          Home: same[0],
          End: same[same.length - 1],
          ArrowLeft: node.dataset.side === "right" ? nearest(opposite, node) : undefined,
          ArrowRight: node.dataset.side === "left" ? nearest(opposite, node) : undefined,
        };
        if (!(event.key in targets)) return;
        event.preventDefault();
        if (targets[event.key]) targets[event.key].focus();
      });
    }
    const clear = () => {
      kept = null;
      light(null);
    };
    document.addEventListener("click", clear);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") clear();
    });
  }

  // Nothing stays folded on paper.
  window.addEventListener("beforeprint", () => {
    for (const box of all("details.more")) box.open = true;
  });
})();
