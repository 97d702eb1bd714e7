// The page of annotators: a row, a question, an answer, and what follows from it.
const NAME_KEY = "splmll annotator";
const SURE = 0.9; // from here on the model is said to be nearly sure
const LEANING = 0.5;

let about = null; // the answer of GET annotate/about
let task = null; // the row and its question
let queue = "questions"; // or "suspects"

const main = byId("main");
const nameField = byId("annotator");
const answers = sender((error) => {
  const kept = "Your last answer will be sent again until it arrives.";
  tell(byId("trouble"), error ? `${error.message} ${kept}` : "");
});
const search = labelSearch({
  labels: () => about.labels,
  stateOf: (name) => task?.answered?.find(({ label }) => label === name)?.holds,
  onSet: (name, answer) => act("annotate/answer", { row: task.row, label: name, answer }),
});
const retraining = retrainingControl(async () => {
  about = await service.get("annotate/about");
  showFacts();
  await next();
});

// What is shown ----------------------------------------------------------------------------------

function showFacts() {
  byId("facts").textContent =
    `${about.table}: ${counted(about.rows, "row")}, ${counted(about.labels.length, "label")}. ` +
    `The model learned from ${counted(about.learned_from, "row")}.`;
}

function showCells(cells) {
  const parts = Object.entries(cells).map(([name, value], number) => {
    const part = make("div", number ? "cell" : "cell text");
    part.append(make("h3", "note", name), make("p", "", value || "(empty)"));
    return part;
  });
  byId("cells").replaceChildren(...parts);
}

function guess(probability) {
  const number = digits(probability, 2);
  if (probability >= SURE) return `The model is nearly sure it applies (${number}).`;
  if (probability <= 1 - SURE) return `The model is nearly sure it does not apply (${number}).`;
  const word = probability >= LEANING ? "applies" : "does not apply";
  return `The model thinks it probably ${word} (${number}).`;
}

function reason({ before, because }) {
  if (!because.length) return "from its content";
  const said = because.map(
    ([label, holds, change]) => `${label}: ${holds ? "yes" : "no"} (${signed(change, 2)})`,
  );
  return `${digits(before, 2)} from its content, then ${said.join(", ")}`;
}

function answeredLine({ label, holds, disputed }) {
  const line = make("li");
  line.append(make("strong", "", label), ` ${holds ? "yes" : "no"}`);
  if (disputed) line.append(make("small", "", " annotators disagree"));
  const change = make("button", "plain", "Change");
  change.type = "button";
  change.setAttribute("aria-label", `${label}: change to ${holds ? "no" : "yes"}`);
  change.addEventListener("click", () =>
    act("annotate/answer", { row: task.row, label, answer: holds ? "no" : "yes" }),
  );
  line.append(" ", change);
  return line;
}

function impliedLine(entry) {
  const line = make("li");
  line.append(
    make("strong", "", entry.label),
    ` ${entry.holds ? "yes" : "no"} ${digits(entry.probability, 2)} `,
    make("small", "", reason(entry)),
  );
  return line;
}

function orNone(lines, words) {
  return lines.length ? lines : [make("li", "note", words)];
}

function setButtons(words) {
  for (const [button, [answer, word, key]] of words) {
    button.dataset.answer = answer;
    button.firstElementChild.textContent = word;
    button.lastElementChild.textContent = key;
  }
}

function showSuspect() {
  const { suspect, judged, total } = task;
  byId("row-title").textContent = `Row ${suspect.row + 1}`;
  byId("question").textContent = suspect.given
    ? `“${suspect.label}” is given. Is this right?`
    : `“${suspect.label}” is not given. Is this right?`;
  byId("likely").textContent = `${guess(suspect.probability)} ${suspect.reason}`;
  byId("progress").value = total ? judged / total : 1;
  byId("counts").textContent = `${judged} of ${counted(total, "suspicious label")} checked.`;
  byId("answered").replaceChildren(
    ...orNone(
      task.labels.map((label) => make("li", "", label)),
      "No labels.",
    ),
  );
}

function showQuestion() {
  byId("row-title").textContent = `Row ${task.row + 1}`;
  byId("question").textContent = task.question
    ? `Does “${task.question}” apply?`
    : "Enough is known about this row.";
  byId("likely").textContent = task.question
    ? `${guess(task.probability)} Without more questions, ${digits(task.expected_errors, 1)} wrong ` +
      "labels are expected in this row."
    : "Set other labels below, or go to the next row.";
  byId("answered").replaceChildren(...orNone(task.answered.map(answeredLine), "Nothing yet."));
  const more = task.implied_in_all - task.implied.length;
  byId("implied").replaceChildren(
    ...orNone(task.implied.map(impliedLine), "No label."),
    ...(more ? [make("li", "note", `and ${counted(more, "more label")}`)] : []),
  );
  showCounts(task);
}

function showCounts({ counts, silent, given, saved }) {
  const [done, rows] = [counts.finished + silent, counts.rows - given];
  const unasked = silent ? ` (${silent.toLocaleString("en")} without any question)` : "";
  byId("progress").value = rows ? done / rows : 1;
  byId("counts").textContent =
    `${done.toLocaleString("en")} of ${counted(rows, "row")} done${unasked}, ` +
    `${counted(counts.answers, "answer")}, ${counted(saved, "question")} saved.`;
}

function show(found) {
  task = found;
  const asking = queue === "questions";
  byId("task").hidden = !task;
  byId("nothing").hidden = Boolean(task);
  byId("setting").hidden = byId("finish").hidden = !asking;
  byId("known").querySelector("h3").textContent = asking ? "Answered" : "Labels of the row";
  byId("known").querySelectorAll("h3")[1].hidden = byId("implied").hidden = !asking;
  const [yes, no] = document.querySelectorAll("#answers .yes, #answers .no");
  setButtons(
    asking
      ? [[yes, ["yes", "Yes", "y"]], [no, ["no", "No", "n"]]]
      : [[yes, ["keep", "Keep", "k"]], [no, ["change", "Change", "c"]]],
  );
  for (const button of document.querySelectorAll("#answers [data-answer]")) {
    button.disabled = asking && task !== null && task.question === null;
  }
  if (!task) {
    byId("nothing").textContent = asking
      ? "There are no rows to ask about: they are done, with other annotators, or the model expects " +
        "too few errors in them (--enough 0 asks about every label)."
      : "There are no suspicious labels left.";
    byId("said").textContent = byId("nothing").textContent;
    return;
  }
  showCells(task.cells);
  if (asking) showQuestion();
  else showSuspect();
  byId("said").textContent = `${byId("row-title").textContent}. ${byId("question").textContent}`;
  search.show();
}

// What annotators do -----------------------------------------------------------------------------

const named = (content) => ({ annotator: nameField.value.trim(), queue, ...content });

async function act(path, content) {
  if (answers.busy) return; // the answer would be about a question that nobody has seen
  main.setAttribute("aria-busy", "true");
  try {
    show(await answers.send(path, named({ token: newToken(), ...content })));
    tell(byId("trouble"));
  } catch (error) {
    tell(byId("trouble"), error.message);
  } finally {
    main.removeAttribute("aria-busy");
  }
}

function answer(given) {
  if (!task) return;
  if (queue === "suspects") {
    act("annotate/answer", { row: task.suspect.row, label: task.suspect.label, answer: given });
  } else if (task.question !== null) {
    act("annotate/answer", { row: task.row, label: task.question, answer: given });
  }
}

const undo = () => act("annotate/undo", {});
const finish = () => {
  if (task && queue === "questions") act("annotate/finish", { row: task.row });
};
const next = () => act("annotate/next", {});

async function sendWhatWasLeft() {
  const left = answers.left();
  if (left) await answers.send(left.path, left.content);
}

async function begin() {
  tell(byId("trouble"));
  byId("again").hidden = true;
  try {
    about = await service.get("annotate/about");
    showFacts();
    byId("queues").hidden = about.suspects === null;
    const name = nameField.value || localStorage.getItem(NAME_KEY) || about.annotator;
    nameField.value = byId("name").value = name;
    byId("start").hidden = Boolean(name);
    byId("work").hidden = !name;
    if (!name) return byId("name").focus();
    await sendWhatWasLeft();
    await next();
    await retraining.look();
  } catch (error) {
    tell(byId("trouble"), error.message);
    byId("again").hidden = false;
  } finally {
    main.removeAttribute("aria-busy");
  }
}

byId("start").addEventListener("submit", (event) => {
  event.preventDefault();
  nameField.value = byId("name").value.trim();
  nameField.dispatchEvent(new Event("change"));
});
nameField.addEventListener("change", () => {
  const name = nameField.value.trim();
  if (!name) return;
  localStorage.setItem(NAME_KEY, name);
  begin();
});
byId("queues").addEventListener("change", (event) => {
  queue = event.target.value;
  next();
});
byId("answers").addEventListener("click", (event) => {
  const button = event.target.closest("[data-answer]");
  if (button) answer(button.dataset.answer);
});
byId("undo").addEventListener("click", undo);
byId("finish").addEventListener("click", finish);
byId("again").addEventListener("click", begin);
byId("download").addEventListener("click", async () => {
  try {
    saveFile(await service.file("annotate/answers.csv"), "answers.csv");
  } catch (error) {
    tell(byId("trouble"), error.message);
  }
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select");
  if (!byId("keys").checked || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.repeat || !task) return;
  const key = event.key.toLowerCase();
  const button = Array.from(document.querySelectorAll("#answers [data-answer]")).find(
    (each) => each.lastElementChild.textContent === key,
  );
  if (button) answer(button.dataset.answer);
  else if (key === "u") undo();
  else if (key === "e") finish();
});
begin();
