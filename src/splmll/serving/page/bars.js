// Labels with their scores as bars. The list is one stop of the Tab key; arrows move inside it.
const FEW_BARS = 24; // drawn until all are asked for
const MOVE_MILLISECONDS = 250;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

const percent = (share) => `${100 * Math.min(Math.max(share, 0), 1)}%`;

// `entries` are {name, score, landmark, tag} and, where something has changed, the score before.
function barList({ list, more, onPoint, onPick }) {
  let entries = [];
  let everything = false;
  let chosen = null; // the label that was clicked
  const drawn = new Map(); // name -> the parts of its bar

  function makeBar(name) {
    const bar = make("li", "bar");
    bar.setAttribute("role", "option");
    bar.tabIndex = -1;
    bar.dataset.label = name;
    bar.title = name;
    const tick = make("span", "tick");
    const title = make("span", "name");
    const landmark = make("span", "hidden-text");
    title.append(tick, name, landmark);
    const track = make("span", "track");
    const [fill, change] = [make("i", "fill"), make("i", "change")];
    track.append(fill, change);
    const value = make("span", "value");
    bar.append(title, track, value);
    return { bar, tick, landmark, fill, change, value, width: null };
  }

  function mark(parts, tag) {
    if (parts.bar.classList.contains("tag") === tag) return;
    parts.bar.classList.toggle("tag", tag);
    parts.tick.textContent = tag ? "✓ " : "";
  }

  function update(parts, { name, score, landmark, tag, before }) {
    parts.bar.classList.toggle("landmark", landmark);
    parts.landmark.textContent = landmark ? ", landmark" : "";
    parts.bar.setAttribute("aria-selected", String(name === chosen));
    mark(parts, tag);
    const width = percent(score);
    if (parts.width !== null && parts.width !== width && before !== undefined && !calm.matches) {
      parts.fill.animate([{ width: parts.width }, { width }], MOVE_MILLISECONDS);
    }
    parts.width = width;
    parts.fill.style.width = width;
    parts.value.textContent = digits(score);
    const moved = before !== undefined && signed(score - before) !== signed(0);
    parts.change.hidden = !moved;
    if (!moved) return;
    parts.change.classList.toggle("minus", score < before);
    parts.change.style.left = percent(Math.min(score, before));
    parts.change.style.width = percent(Math.abs(score - before));
    parts.value.append(make("small", score < before ? "minus" : "plus", signed(score - before)));
  }

  function draw() {
    const shown = everything ? entries : entries.slice(0, FEW_BARS);
    const focused = list.contains(document.activeElement) && document.activeElement.dataset.label;
    const bars = shown.map((entry) => {
      if (!drawn.has(entry.name)) drawn.set(entry.name, makeBar(entry.name));
      const parts = drawn.get(entry.name);
      update(parts, entry);
      return parts.bar;
    });
    list.replaceChildren(...bars);
    if (!list.querySelector('[tabindex="0"]') && bars.length) bars[0].tabIndex = 0;
    if (focused && drawn.has(focused)) drawn.get(focused).bar.focus({ preventScroll: true });
    more.hidden = entries.length <= FEW_BARS;
    more.textContent = everything
      ? `Show the first ${FEW_BARS}`
      : `Show all ${counted(entries.length, "label")}`;
    more.setAttribute("aria-expanded", String(everything));
  }

  more.addEventListener("click", () => {
    everything = !everything;
    draw();
  });
  answering(list, onPoint, onPick);
  roving(list, ".bar", (bar) => ({
    ArrowDown: bar.nextElementSibling,
    ArrowUp: bar.previousElementSibling,
    Home: list.firstElementChild,
    End: list.lastElementChild,
  }));

  return {
    draw(newEntries) {
      entries = newEntries;
      draw();
    },
    // Only tags have changed: no bar moves.
    mark(isTag) {
      for (const entry of entries) {
        entry.tag = isTag(entry.name);
        if (drawn.has(entry.name)) mark(drawn.get(entry.name), entry.tag);
      }
    },
    choose(name, { reveal = true } = {}) {
      chosen = name;
      const position = entries.findIndex((entry) => entry.name === name);
      if (reveal && position >= FEW_BARS) everything = true;
      draw();
    },
    first: () => entries[0]?.name,
    // The label that is spoken of.
    point(name) {
      list.querySelector(".told")?.classList.remove("told");
      if (drawn.has(name)) drawn.get(name).bar.classList.add("told");
    },
    forget() {
      entries = [];
      drawn.clear();
      list.replaceChildren();
      more.hidden = true;
    },
  };
}
