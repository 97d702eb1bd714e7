// The label graph: landmarks on the left, what they carry on the right, the strongest curves only.
const FIRST_EDGES = 40; // curves that are drawn until more are asked for
const LONGEST_NAME = 26; // characters of a name in the drawing
const MOST_NEIGHBOURS = 6; // named in words
// In pixels: between the two sides, between two lines, above the first one, from a node to its name.
const [BETWEEN, STEP, TOP, GAP] = [230, 24, 40, 12];
const LETTER = 7.2; // width of a letter
const [THINNEST, THICKEST] = [0.8, 6];

function labelGraph({ isLandmark, storyOf, onPoint, onPick }) {
  const drawing = byId("drawing");
  const telling = byId("neighbours");
  const choice = byId("edges-shown");
  let edges = []; // all of them, strongest first
  let strengths = new Map(); // landmark -> the share of the variance of all labels that it adds
  let extra = null; // a label whose curves are drawn besides the strongest ones
  let lit = null;

  const touches = (edge, name) => edge.landmark === name || edge.label === name;

  function offerCounts() {
    const counts = [FIRST_EDGES / 2, FIRST_EDGES, 2 * FIRST_EDGES].filter((n) => n < edges.length);
    choice.replaceChildren(
      ...counts.map((count) => new Option(`the ${count} strongest`, count)),
      new Option(`all ${edges.length}`, edges.length),
    );
    choice.value = counts.includes(FIRST_EDGES) ? FIRST_EDGES : edges.length;
  }

  // Labels stand near the landmarks that carry them: fewer curves cross.
  function inOrder(shown, landmarks) {
    const place = new Map(landmarks.map((name, position) => [name, position]));
    const sums = new Map();
    for (const { landmark, label, weight } of shown) {
      const sum = sums.get(label) || { weighted: 0, total: 0 };
      sum.weighted += place.get(landmark) * Math.abs(weight);
      sum.total += Math.abs(weight);
      sums.set(label, sum);
    }
    const middle = (name) => sums.get(name).weighted / sums.get(name).total;
    return Array.from(sums.keys()).sort((a, b) => middle(a) - middle(b));
  }

  function node(name, side, x, y, width) {
    const left = side === "left";
    const group = makeSvg("g", {
      class: isLandmark(name) ? "node landmark" : "node",
      tabindex: "-1",
      role: "button",
      "aria-label": `${name}, ${left || isLandmark(name) ? "landmark" : "label"}`,
    });
    group.dataset.label = name;
    group.dataset.side = side;
    group.dataset.height = y;
    group.append(
      makeSvg("title", {}, name),
      // Makes the whole line answer to the pointer, not the letters alone.
      makeSvg("rect", {
        x: left ? 0 : x - GAP, y: y - STEP / 2, width, height: STEP, fill: "transparent",
      }),
      makeSvg("circle", { cx: x, cy: y, r: 5 }),
      makeSvg(
        "text",
        { x: left ? x - GAP : x + GAP, y: y + 4.5, "text-anchor": left ? "end" : "start" },
        shortened(name, LONGEST_NAME),
      ),
    );
    return group;
  }

  function draw() {
    const count = Number(choice.value);
    const shown = edges.filter((edge, rank) => rank < count || touches(edge, extra));
    const carrying = new Set(shown.map((edge) => edge.landmark));
    const landmarks = Array.from(strengths.keys()).filter((name) => carrying.has(name));
    const labels = inOrder(shown, landmarks);
    const tallest = Math.max(landmarks.length, labels.length, 1);
    const room = (names) =>
      Math.round(LETTER * Math.max(8, ...names.map((name) => shortened(name, LONGEST_NAME).length)));
    const leftX = room(landmarks) + 2 * GAP;
    const rightX = leftX + BETWEEN;
    const width = rightX + room(labels) + 2 * GAP;
    const height = TOP + STEP * tallest + 10;
    const spread = (names) =>
      new Map(
        names.map((name, k) => [name, Math.round(TOP + (STEP * tallest * (k + 0.5)) / names.length)]),
      );
    const [left, right] = [spread(landmarks), spread(labels)];
    const half = (leftX + rightX) / 2;
    const largest = Math.max(...edges.map((edge) => Math.abs(edge.weight)));
    const curves = shown.map(({ landmark, label, weight }) => {
      const [start, end] = [left.get(landmark), right.get(label)];
      const curve = makeSvg("path", {
        d: `M${leftX} ${start}C${half} ${start} ${half} ${end} ${rightX} ${end}`,
        "stroke-width": (THINNEST + ((THICKEST - THINNEST) * Math.abs(weight)) / largest).toFixed(1),
      });
      if (weight < 0) curve.setAttribute("class", "minus");
      curve.dataset.from = landmark;
      curve.dataset.to = label;
      return curve;
    });
    const nodes = [
      ...landmarks.map((name) => node(name, "left", leftX, left.get(name), leftX + GAP)),
      ...labels.map((name) => node(name, "right", rightX, right.get(name), width - rightX + GAP)),
    ];
    if (nodes.length) nodes[0].setAttribute("tabindex", "0");
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawing.style.setProperty("--width", `${width}px`);
    drawing.replaceChildren(
      makeSvg("text", { class: "side", x: leftX, y: 18, "text-anchor": "end" }, "landmark"),
      makeSvg("text", { class: "side", x: rightX, y: 18 }, "label"),
      ...curves,
      ...nodes,
    );
  }

  function listOf(pairs) {
    return pairs
      .slice(0, MOST_NEIGHBOURS)
      .map(([name, weight]) => `${name} ${signed(weight, 2)}`)
      .join(", ");
  }

  function tellOf(name) {
    if (name === null) {
      telling.replaceChildren(
        make("p", "note", "Point at a label, or press Tab to reach the graph and move with the arrow keys."),
      );
      return;
    }
    const parts = [make("h3", "", name)];
    const strength = strengths.get(name);
    parts.push(
      make("p", "", strength === undefined ? "Not a landmark." : `A landmark of strength ${digits(strength, 3)}.`),
    );
    const story = storyOf(name);
    if (story) parts.push(make("p", "", `In the row: ${story}.`));
    const carries = edges.filter((edge) => edge.landmark === name).map((e) => [e.label, e.weight]);
    const carriedBy = edges.filter((edge) => edge.label === name).map((e) => [e.landmark, e.weight]);
    if (carries.length) parts.push(make("p", "", `Carries ${listOf(carries)}.`));
    if (carriedBy.length) parts.push(make("p", "", `Carried by ${listOf(carriedBy)}.`));
    if (!carries.length && !carriedBy.length) {
      parts.push(make("p", "", "No landmark has a weight large enough to draw here."));
    }
    telling.replaceChildren(...parts);
  }

  function light(name) {
    tellOf(name);
    if (name === lit) return;
    lit = name;
    const near = new Set();
    for (const curve of drawing.querySelectorAll("path")) {
      const touched = name !== null && (curve.dataset.from === name || curve.dataset.to === name);
      curve.classList.toggle("lit", touched);
      if (touched) near.add(`left ${curve.dataset.from}`).add(`right ${curve.dataset.to}`);
    }
    drawing.classList.toggle("chosen", near.size > 0);
    for (const each of drawing.querySelectorAll(".node")) {
      each.classList.toggle("lit", near.has(`${each.dataset.side} ${each.dataset.label}`));
      each.classList.toggle("centre", each.dataset.label === name);
    }
  }

  // What is drawn anew is not lit yet.
  function redraw() {
    const before = lit;
    lit = null;
    drawing.classList.remove("chosen");
    draw();
    light(before);
  }
  choice.addEventListener("change", redraw);
  answering(drawing, onPoint, onPick);
  roving(drawing, ".node", (element) => {
    const nodes = Array.from(drawing.querySelectorAll(".node"));
    const same = nodes.filter((other) => other.dataset.side === element.dataset.side);
    const opposite = nodes.filter((other) => other.dataset.side !== element.dataset.side);
    const distance = (other) => Math.abs(other.dataset.height - element.dataset.height);
    const nearest = opposite.reduce((a, b) => (distance(b) < distance(a) ? b : a));
    const place = same.indexOf(element);
    const across = element.dataset.side === "left" ? "ArrowRight" : "ArrowLeft";
    return {
      ArrowDown: same[place + 1],
      ArrowUp: same[place - 1],
      Home: same[0],
      End: same.at(-1),
      [across]: nearest,
    };
  });

  return {
    build(landmarks, newEdges) {
      strengths = new Map(landmarks.map(({ name, strength }) => [name, strength]));
      edges = newEdges
        .filter((edge) => edge.landmark !== edge.label)
        .sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
      extra = lit = null;
      offerCounts();
      redraw();
    },
    light,
    // A kept label has all its curves, also weak ones.
    keep(name) {
      const focused = drawing.contains(document.activeElement) && document.activeElement.dataset;
      extra = name;
      redraw();
      if (!focused) return;
      const again = Array.from(drawing.querySelectorAll(".node")).find(
        (each) => each.dataset.label === focused.label && each.dataset.side === focused.side,
      );
      if (again) again.focus({ preventScroll: true });
    },
  };
}
