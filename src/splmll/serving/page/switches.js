// Landmarks that people answer: yes, no, or not said. What the answers say about all other labels
// is asked of the service at once.
const SETTLED_MILLISECONDS = 120; // without another change, before the service is asked
const ANSWERS = [
  ["yes", 1],
  ["no", 0],
  ["unknown", null],
];
const MOST_MOVED_SAID = 3;
const LEAST_MOVE = 0.0005; // smaller ones are not seen in the numbers

// `tagsIn` says which labels of an answer are tags: by the threshold line, as everywhere.
function landmarkSwitches({ ask, tagsIn, isLandmark, onPoint, onPick }) {
  const place = byId("switches");
  const said = byId("moved-said");
  const message = byId("what-if-message");
  const predictedButton = byId("as-predicted");
  const bars = barList({ list: byId("moved"), more: byId("more-moved"), onPoint, onPick });
  let answers = new Map(); // landmark -> 1, 0 or null
  let start = new Map(); // the same before anyone changed something
  let fromRow = false; // whether they started as predictions of a row
  let atStart = null; // what these said about the labels
  let latestAnswer = null; // what the answers say about them now

  const recovered = latest((signal, given) => ask(Object.fromEntries(given), signal));

  function build(names) {
    place.replaceChildren();
    names.forEach((name, number) => {
      const group = make("fieldset", "switch");
      group.dataset.label = name;
      const title = make("legend", "", name);
      title.title = name;
      const choices = make("span", "choice");
      for (const [word, value] of ANSWERS) {
        const label = make("label");
        const box = make("input");
        box.type = "radio";
        box.name = `landmark-${number}`;
        box.value = String(value);
        box.addEventListener("change", () => {
          answers.set(name, value);
          changed();
        });
        label.append(box, make("span", "", word));
        choices.append(label);
      }
      group.append(title, choices);
      place.append(group);
    });
  }

  function show() {
    for (const group of place.children) {
      const value = String(answers.get(group.dataset.label));
      for (const box of group.querySelectorAll("input")) box.checked = box.value === value;
    }
    predictedButton.hidden = !fromRow;
  }

  const isMoved = (entry) => Math.abs(entry.score - entry.before) >= LEAST_MOVE;

  function sayMoved(entries, anything) {
    const moved = entries.filter(isMoved);
    if (!anything) {
      said.textContent = fromRow
        ? "What the predicted landmarks say about the other labels."
        : "What is known about the labels before any landmark is answered.";
      return;
    }
    const named = moved
      .slice(0, MOST_MOVED_SAID)
      .map((entry) => `${entry.name} ${digits(entry.before, 2)} → ${digits(entry.score, 2)}`);
    said.textContent = moved.length
      ? `${counted(moved.length, "label changes", "labels change")}: ` +
        `${named.join(", ")}${moved.length > named.length ? ", …" : "."}`
      : "No other label changes.";
  }

  async function recover() {
    if (!answers.size) return; // a model without landmarks
    const own = start;
    try {
      const first = atStart ?? (await recovered(start));
      if (!first || start !== own) return; // called off: another change is on its way
      atStart = first;
      const unchanged = Array.from(start).every(([name, value]) => answers.get(name) === value);
      const now = unchanged ? atStart : await recovered(answers);
      if (!now || start !== own) return;
      tell(message);
      latestAnswer = now;
      const tags = new Set(tagsIn(now));
      const entries = Object.entries(now.scores)
        .filter(([name]) => (answers.get(name) ?? null) === null)
        .map(([name, score]) => ({
          name,
          score,
          before: atStart.scores[name],
          tag: tags.has(name),
          landmark: isLandmark(name),
        }));
      const change = (entry) => (isMoved(entry) ? Math.abs(entry.score - entry.before) : 0);
      entries.sort((a, b) => change(b) - change(a) || b.score - a.score);
      bars.draw(entries);
      sayMoved(entries, !unchanged);
    } catch (error) {
      tell(message, error.message);
    }
  }
  const changed = later(recover, SETTLED_MILLISECONDS);

  function setAll(valueOf) {
    answers = new Map(Array.from(answers.keys(), (name) => [name, valueOf(name)]));
    show();
    changed();
  }
  predictedButton.addEventListener("click", () => setAll((name) => start.get(name)));
  byId("say-nothing").addEventListener("click", () => setAll(() => null));
  answering(place, onPoint, () => {});

  return {
    build(names) {
      answers = new Map(names.map((name) => [name, null]));
      start = new Map(answers); // an answer about the model before is on its way to no one
      atStart = latestAnswer = null;
      bars.forget();
      build(names);
    },
    // `isTag` says what was predicted; without it nothing is known.
    startFrom(isTag) {
      fromRow = Boolean(isTag);
      start = new Map(
        Array.from(answers.keys(), (name) => [name, isTag ? Number(isTag(name)) : null]),
      );
      answers = new Map(start);
      atStart = null;
      show();
      changed();
    },
    choose: (name) => bars.choose(name, { reveal: false }),
    // The threshold has moved: no bar does.
    retag() {
      if (!latestAnswer) return;
      const tags = new Set(tagsIn(latestAnswer));
      bars.mark((name) => tags.has(name));
    },
  };
}
