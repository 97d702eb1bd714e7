// Small helpers of all other files. Names of labels, columns and files are written as text only,
// never as HTML.
const byId = (id) => document.getElementById(id);

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function makeSvg(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// A sentence with something to do about it; nothing hides the place.
function tell(element, message) {
  element.textContent = message || "";
  element.hidden = !message;
}

const digits = (number, places = 3) => number.toFixed(places).replace("-", "−");

function signed(number, places = 3) {
  const text = digits(number, places);
  return Number(number.toFixed(places)) === 0 ? digits(0, places) : number > 0 ? `+${text}` : text;
}

const shortened = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);

const counted = (number, one, many = `${one}s`) =>
  `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

function later(action, milliseconds) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}

// Of many elements one is a stop of the Tab key. `ways` says to which other one a key leads.
function roving(container, selector, ways) {
  const stop = (element) => {
    for (const other of container.querySelectorAll(`${selector}[tabindex="0"]`)) {
      other.setAttribute("tabindex", "-1");
    }
    element.setAttribute("tabindex", "0");
  };
  container.addEventListener("focusin", (event) => {
    const element = event.target.closest(selector);
    if (element) stop(element);
  });
  container.addEventListener("keydown", (event) => {
    const element = event.target.closest(selector);
    const targets = element ? ways(element) : {};
    if (!(event.key in targets)) return;
    event.preventDefault();
    targets[event.key]?.focus();
  });
}

// Pointing at, focusing and choosing an element that stands for a label.
function answering(container, onPoint, onPick) {
  const nameOf = (target) => {
    const element = target instanceof Element && target.closest("[data-label]");
    return element ? element.dataset.label : null;
  };
  container.addEventListener("pointerover", (event) => onPoint(nameOf(event.target)));
  container.addEventListener("pointerleave", () => onPoint(null));
  container.addEventListener("focusin", (event) => onPoint(nameOf(event.target)));
  container.addEventListener("focusout", () => onPoint(null));
  container.addEventListener("click", (event) => {
    const name = nameOf(event.target);
    if (name !== null) onPick(name);
  });
  container.addEventListener("keydown", (event) => {
    // Buttons and switches know these keys themselves.
    if (!["Enter", " "].includes(event.key) || event.target.matches("button, input")) return;
    const name = nameOf(event.target);
    if (name === null) return;
    event.preventDefault();
    onPick(name);
  });
}
