// The threshold: a slider for keys and touch, and the line through all bars, which can be dragged.
// As long as nobody moves it, the rule of the model decides.
const OWN_THRESHOLD = 0.5; // where models with a single threshold put it

// Where a line would stand that gives the tags of the model's rule; null if no line does.
function lineOf(tagScores, otherScores) {
  const [lowest, highest] = [Math.min(1, ...tagScores), Math.max(0, ...otherScores)];
  if (lowest < highest || (lowest === highest && tagScores.length && otherScores.length)) return null;
  if (lowest >= OWN_THRESHOLD && highest < OWN_THRESHOLD) return OWN_THRESHOLD;
  return (lowest + highest) / 2;
}

function thresholdControl(onChange) {
  const slider = byId("threshold");
  const output = byId("threshold-value");
  const line = byId("line");
  const own = byId("own-threshold");
  const note = byId("threshold-note");
  let chosen = null; // null: the rule of the model
  let ownLine = OWN_THRESHOLD;

  function show() {
    const place = chosen ?? ownLine;
    line.hidden = place === null;
    if (place !== null) {
      slider.value = place;
      line.style.left = percent(place);
    }
    output.textContent = place === null ? "per label" : digits(place, 2);
    slider.setAttribute("aria-valuetext", place === null ? "a rule for each label" : digits(place, 2));
    own.hidden = chosen === null;
    note.textContent =
      chosen === null && ownLine === null
        ? "The model has its own rule for each label. Move the threshold to use one for all."
        : "Drag the line to change the threshold: labels with at least this score are tags.";
  }

  function choose(value) {
    chosen = value;
    show();
    onChange();
  }

  slider.addEventListener("input", () => choose(Number(slider.value)));
  own.addEventListener("click", () => {
    choose(null);
    slider.focus();
  });

  const track = line.parentElement;
  const follow = (event) => {
    const { left, width } = track.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - left) / width, 0), 1);
    choose(Math.round(share * 100) / 100);
  };
  line.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    line.setPointerCapture(event.pointerId);
    line.addEventListener("pointermove", follow);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    line.addEventListener(end, () => line.removeEventListener("pointermove", follow));
  }

  return {
    get chosen() {
      return chosen;
    },
    get text() {
      return output.textContent;
    },
    standAt(place) {
      ownLine = place;
      show();
    },
    reset() {
      chosen = null;
      show();
    },
  };
}
