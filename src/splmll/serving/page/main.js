// What the page is about at the moment, and which part has to know when that changes.
const MOST_CHIPS = 40;
const SAID_MILLISECONDS = 300; // a reader is not told every step of a drag
const RETAG_MILLISECONDS = 80; // nor are all rows of a file tagged again at every step

let model = null; // the entry of GET /models
let labels = new Map(); // label -> the entry of GET /labels
let result = null; // {labels: set of the model's own tags, scores: label -> score}
let explained = null; // label -> its explanation in the row of the result
let kept = null; // the label that was clicked
let file = null; // the file whose rows are in the table

const main = byId("main");
const form = rowForm(byId("fields"));
const threshold = thresholdControl(drawTags);
const isLandmark = (name) => Boolean(labels.get(name)?.landmark);
const bars = barList({ list: byId("bars"), more: byId("more-bars"), onPoint: point, onPick: pick });
const table = rowsTable({ tagsOf: (row) => tagsIn(row), onPick: showRowOfFile });
const switches = landmarkSwitches({
  ask: async (row, signal) =>
    (await service.post("recover", { rows: [row] }, { model: model.name, signal })).rows[0],
  tagsIn: (row) => tagsIn(row),
  isLandmark,
  onPoint: point,
  onPick: pick,
});
const graph = labelGraph({ isLandmark, storyOf, onPoint: point, onPick: pick });

// Tags ---------------------------------------------------------------------------------------

// Tags of one answer of the service, highest score first.
function tagsIn(row) {
  const own = new Set(row.labels);
  const names = Object.entries(row.scores)
    .filter(([name, score]) => (threshold.chosen === null ? own.has(name) : score >= threshold.chosen))
    .sort((a, b) => b[1] - a[1]);
  return names.map(([name]) => name);
}

const sayTags = later((tags) => {
  const names = tags.slice(0, MOST_CHIPS).join(", ");
  byId("said").textContent = tags.length ? `${counted(tags.length, "tag")}: ${names}.` : "No tags.";
}, SAID_MILLISECONDS);

const retagRows = later(() => table.retag(), RETAG_MILLISECONDS);

function drawTags() {
  retagRows();
  switches.retag();
  if (!result) return;
  const tags = tagsIn(result);
  result.tags = new Set(tags);
  bars.mark((name) => result.tags.has(name));
  const chips = tags.slice(0, MOST_CHIPS).map((name) => {
    const chip = make("button", isLandmark(name) ? "chip landmark" : "chip", name);
    chip.type = "button";
    chip.dataset.label = name;
    return chip;
  });
  if (tags.length > MOST_CHIPS) chips.push(make("span", "note", ` and ${tags.length - MOST_CHIPS} more`));
  if (!tags.length) chips.push(make("span", "note", "No label reaches the threshold."));
  byId("chips").replaceChildren(...chips);
  sayTags(tags);
  point(null);
}

function showResult(row) {
  result = row;
  explained = null;
  kept = null;
  byId("nothing-yet").hidden = true;
  byId("result").hidden = false;
  const own = new Set(row.labels);
  const scores = Object.entries(row.scores);
  threshold.standAt(
    lineOf(
      scores.filter(([name]) => own.has(name)).map(([, score]) => score),
      scores.filter(([name]) => !own.has(name)).map(([, score]) => score),
    ),
  );
  bars.choose(null);
  bars.draw(
    scores
      .sort((a, b) => b[1] - a[1])
      .map(([name, score]) => ({ name, score, tag: false, landmark: isLandmark(name) })),
  );
  drawTags();
  if (model.landmarks) switches.startFrom((name) => result.tags.has(name));
}

function clearResult() {
  result = explained = kept = null;
  byId("nothing-yet").hidden = false;
  byId("result").hidden = true;
  byId("said").textContent = "";
  bars.forget();
  if (model.landmarks) {
    switches.startFrom(null);
    graph.keep(null);
    graph.light(null);
  }
}

// One label ----------------------------------------------------------------------------------

function storyOf(name) {
  if (!result || !(name in result.scores)) return "";
  return `score ${digits(result.scores[name])}, ${result.tags.has(name) ? "a tag" : "no tag"}`;
}

// The label under the pointer or with the focus; without one, the one that was clicked.
function point(name) {
  const asked = name ?? kept;
  if (model.landmarks) graph.light(asked);
  main.classList.toggle("asked", asked !== null);
  if (!result) return;
  const told = asked ?? bars.first();
  bars.point(told);
  if (told === undefined || !(told in result.scores)) return;
  byId("reasons").replaceChildren(
    ...reasonsOf({
      ...labels.get(told),
      name: told,
      score: result.scores[told],
      tag: result.tags.has(told),
      explained: explained?.get(told),
    }),
  );
}

function pick(name) {
  kept = name === kept ? null : name;
  bars.choose(kept);
  if (model.landmarks) {
    switches.choose(kept);
    graph.keep(kept);
  }
  point(null);
}

// Rows ---------------------------------------------------------------------------------------

const predict = latest((signal, row) =>
  service.post("predict", { rows: [row] }, { model: model.name, signal }),
);
const explain = latest((signal, row) =>
  service.post("explain", { rows: [row] }, { model: model.name, signal }),
);

async function addReasons(row, shown) {
  if (!model.landmarks) return;
  try {
    const answer = await explain(row);
    if (!answer || result !== shown) return;
    explained = new Map(answer.rows[0].labels.map((label) => [label.name, label]));
    point(null);
  } catch (error) {
    byId("reasons").append(make("p", "message", error.message));
  }
}

async function tagRow() {
  const message = byId("row-message");
  const button = byId("form").querySelector("[type=submit]");
  tell(message);
  try {
    if (form.isEmpty()) throw new Error("The row is empty. Fill in at least one field.");
    const row = form.values();
    button.setAttribute("aria-busy", "true");
    const answer = await predict(row);
    if (!answer) return;
    showResult(answer.rows[0]);
    await addReasons(row, result);
  } catch (error) {
    tell(message, error.message);
  } finally {
    button.removeAttribute("aria-busy");
  }
}

const predictFile = latest((signal, chosen) =>
  service.postFile("predict", chosen, { model: model.name, signal }),
);

async function openFile(chosen) {
  const said = byId("rows-said");
  byId("rows").hidden = false;
  byId("rows-title").textContent = `Rows of ${chosen.name}`;
  byId("rows-result").hidden = true;
  tell(byId("rows-message"));
  said.textContent = "Tagging the rows …";
  byId("rows").scrollIntoView({ block: "nearest" });
  try {
    const [answer, text] = await Promise.all([predictFile(chosen), chosen.text()]);
    if (!answer) return;
    file = chosen;
    table.show(parseCsv(text), answer.rows, model.columns);
    byId("rows-result").hidden = false;
  } catch (error) {
    said.textContent = "";
    tell(byId("rows-message"), error.message);
  }
}

function showRowOfFile(cells, row) {
  tell(byId("row-message"));
  showResult(row);
  // The row stands below its tags: bring them back where they are out of sight.
  if (byId("tags").getBoundingClientRect().top < 0) byId("tags").scrollIntoView();
  if (!cells) return;
  form.fill(cells);
  try {
    addReasons(form.values(), result);
  } catch (error) {
    tell(byId("row-message"), error.message);
  }
}

async function downloadRows() {
  const query = threshold.chosen === null ? {} : { threshold: threshold.chosen };
  try {
    const content = await service.fileAsCsv("predict", file, { model: model.name, query });
    saveFile(content, `${file.name.replace(/\.[^.]*$/, "")}-tags.csv`);
  } catch (error) {
    tell(byId("rows-message"), error.message);
  }
}

// One line for each label: its score, whether it is a tag, what every landmark added.
function downloadResult() {
  const names = Object.keys(result.scores).sort((a, b) => result.scores[b] - result.scores[a]);
  const landmarks = explained ? Object.keys(explained.get(names[0]).contributions) : [];
  const header = ["label", "score", "predicted"];
  if (explained) header.push("base", ...landmarks.map((name) => `landmark:${name}`));
  const lines = names.map((name) => {
    const line = [name, result.scores[name], Number(result.tags.has(name))];
    if (!explained) return line;
    const { base, contributions } = explained.get(name);
    return [...line, base, ...landmarks.map((landmark) => contributions[landmark])];
  });
  saveFile(writeCsv([header, ...lines]), "tags.csv");
}

// Models -------------------------------------------------------------------------------------

function factsOf({ method, landmarks, n_labels: nLabels, n_rows: nRows, measures }) {
  const among = landmarks ? `${counted(landmarks, "landmark")} of ` : "";
  const f1 = measures?.micro_f1;
  const measured = typeof f1 === "number" ? ` Micro-F1 ${digits(f1)} on held-out rows.` : "";
  return `${method}, ${among}${counted(nLabels, "label")}, learned from ${counted(nRows, "row")}.${measured}`;
}

async function useModel(entry) {
  main.setAttribute("aria-busy", "true");
  const [listed, carried] = await Promise.all([
    service.get("labels", { model: entry.name }),
    entry.landmarks ? service.get("landmarks", { model: entry.name }) : null,
  ]);
  model = entry;
  labels = new Map(listed.labels.map((label) => [label.name, label]));
  byId("facts").textContent = factsOf(entry);
  form.build(entry.columns);
  for (const id of ["what-if", "graph"]) byId(id).hidden = !entry.landmarks;
  switches.build(carried ? carried.landmarks.map(({ name }) => name) : []);
  if (carried) {
    byId("what-if-lead").textContent =
      `The model predicts ${counted(entry.landmarks, "landmark")} and recovers all labels from ` +
      "them. Set them yourself and see how the other labels change.";
    graph.build(carried.landmarks, carried.edges);
  }
  byId("rows").hidden = true;
  file = null;
  table.forget();
  threshold.reset();
  clearResult();
  byId("work").hidden = false;
  main.removeAttribute("aria-busy");
}

async function start(action) {
  tell(byId("trouble"));
  byId("again").hidden = true;
  try {
    await action();
  } catch (error) {
    tell(byId("trouble"), error.message);
    byId("again").hidden = false;
    main.removeAttribute("aria-busy");
  }
}

async function load() {
  const { models } = await service.get("models");
  const choice = byId("model");
  choice.replaceChildren(...models.map(({ name }) => new Option(name)));
  const first = models.find((entry) => entry.default) ?? models[0];
  choice.value = first.name;
  byId("model-choice").hidden = models.length < 2;
  choice.onchange = () => start(() => useModel(models.find(({ name }) => name === choice.value)));
  await useModel(first);
}

// What people do -----------------------------------------------------------------------------

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  tagRow();
});
byId("form").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    tagRow();
  }
});
byId("form").addEventListener("reset", () => {
  tell(byId("row-message"));
  clearResult();
});
byId("file").addEventListener("change", (event) => {
  const [chosen] = event.target.files;
  if (chosen) openFile(chosen);
  event.target.value = ""; // the same file can be chosen again
});
const holdsFile = (event) => Array.from(event.dataTransfer?.types ?? []).includes("Files");
document.addEventListener("dragover", (event) => {
  if (!holdsFile(event)) return;
  event.preventDefault();
  byId("drop").classList.add("over");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) byId("drop").classList.remove("over");
});
document.addEventListener("drop", (event) => {
  if (!holdsFile(event)) return;
  event.preventDefault();
  byId("drop").classList.remove("over");
  if (model) openFile(event.dataTransfer.files[0]);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && kept !== null) pick(kept);
});
answering(byId("chips"), point, pick);
byId("download-rows").addEventListener("click", downloadRows);
byId("download-result").addEventListener("click", downloadResult);
byId("again").addEventListener("click", () => start(load));
start(load);
