// Any label can be set, also one that is not asked about: type a part of its name, then yes or no.
const MOST_FOUND = 12;

function labelSearch({ labels, stateOf, onSet }) {
  const field = byId("search");
  const said = byId("search-said");
  const place = byId("found");

  // Names that begin with the words come first, then those that hold them anywhere.
  function matching(words) {
    const wanted = words.toLowerCase();
    const found = labels().filter((name) => name.toLowerCase().includes(wanted));
    const first = (name) => Number(!name.toLowerCase().startsWith(wanted));
    return found.sort((a, b) => first(a) - first(b));
  }

  function choice(name, word, holds, answer) {
    const button = make("button", "plain", word);
    button.type = "button";
    button.setAttribute("aria-pressed", String(holds));
    button.setAttribute("aria-label", `${name}: ${answer}`);
    button.addEventListener("click", () => onSet(name, answer));
    return button;
  }

  function show() {
    const words = field.value.trim();
    const found = words ? matching(words) : [];
    const lines = found.slice(0, MOST_FOUND).map((name) => {
      const line = make("li");
      const state = stateOf(name);
      line.append(
        make("span", "name", name),
        choice(name, "Yes", state === true, "yes"),
        choice(name, "No", state === false, "no"),
      );
      return line;
    });
    place.replaceChildren(...lines);
    if (!words) said.textContent = "";
    else if (!found.length) said.textContent = "No label name contains this.";
    else if (found.length > MOST_FOUND) {
      said.textContent = `${counted(found.length, "label")}; the first ${MOST_FOUND}:`;
    } else said.textContent = counted(found.length, "label");
  }

  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    field.value = "";
    show();
  });
  return { show };
}
