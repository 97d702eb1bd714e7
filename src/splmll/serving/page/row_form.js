// The form of one row, built from the columns of a model: a large field for a text, a small one
// for a number, and a single field for many numbers.
const MANY_NUMBERS = 24; // with more numeric columns, all of them are pasted into one field
const [HINT_DIGITS, LONGEST_HINT] = [3, 40]; // of an example in an empty field
const UNKNOWN_NUMBERS = ["", "na", "n/a", "nan", "null", "none", "?"];

function readNumber(cell, what) {
  const text = cell.trim();
  if (UNKNOWN_NUMBERS.includes(text.toLowerCase())) return null;
  const number = Number(text);
  if (!Number.isFinite(number)) throw new Error(`${what}: “${text}” is not a number.`);
  return number;
}

// Numbers in the order of the columns, or a line of names and a line of values.
function readNumbers(text, names) {
  const lines = text.trim().split(/\r?\n/);
  const separated = /[,;\t|]/.test(lines[0]);
  const records = separated
    ? parseCsv(text.trim())
    : [text.trim().split(/\s+/).filter((cell) => cell !== "")];
  const known = new Set(names);
  let cells = records.flat();
  if (records[0].some((cell) => known.has(cell))) {
    const place = new Map(records[0].map((name, position) => [name, position]));
    const missing = names.find((name) => !place.has(name));
    if (missing !== undefined) {
      throw new Error(`The column “${missing}” is missing; give all ${names.length} columns of the model.`);
    }
    if (records.length !== 2) {
      throw new Error("Give the values of one row below the column names.");
    }
    cells = names.map((name) => records[1][place.get(name)] ?? "");
  }
  if (cells.length !== names.length) {
    throw new Error(
      `${counted(cells.length, "number")} for ${counted(names.length, "column")}: give one for ` +
        `each, in the order ${names[0]}, ${names[1]}, …, ${names.at(-1)}.`,
    );
  }
  return cells.map((cell, position) => readNumber(cell, names[position]));
}

function hintOf(kind, [example]) {
  if (kind === "text") return "Paste a text";
  if (example === undefined) return "";
  const rounded = kind === "numeric" ? Number(example.toPrecision(HINT_DIGITS)) : example;
  return `such as ${shortened(String(rounded), LONGEST_HINT)}`;
}

function rowForm(place) {
  let columns = [];
  let fields = new Map(); // column -> its field
  let together = null; // the field of many numbers, and their columns

  function addField(label, field, hint) {
    const box = make("p", "field");
    const title = make("label", "", label);
    field.id = `field-${place.childElementCount}`;
    title.htmlFor = field.id;
    box.append(title, field);
    if (hint) {
      const note = make("span", "note", hint);
      note.id = `${field.id}-hint`;
      field.setAttribute("aria-describedby", note.id);
      box.append(note);
    }
    place.append(box);
    return field;
  }

  function suggest(field, values) {
    const list = make("datalist");
    list.id = `${field.id}-values`;
    list.append(...values.map((value) => new Option(value)));
    field.setAttribute("list", list.id);
    field.after(list);
  }

  function textarea(lines) {
    const field = make("textarea");
    field.rows = lines;
    field.spellcheck = false;
    return field;
  }

  function build(newColumns) {
    const before = new Map(Array.from(fields, ([name, field]) => [name, field.value]));
    columns = newColumns;
    fields = new Map();
    together = null;
    place.replaceChildren();
    const numeric = columns.filter((column) => column.kind === "numeric").map(({ name }) => name);
    const texts = columns.filter((column) => column.kind === "text").length;
    const order = { text: 0, categorical: 1, numeric: 2 };
    for (const column of [...columns].sort((a, b) => order[a.kind] - order[b.kind])) {
      const { name, kind, examples = [] } = column;
      if (kind === "numeric" && numeric.length > MANY_NUMBERS) continue;
      const field = kind === "text" ? textarea(texts > 1 ? 4 : 8) : make("input");
      if (kind === "numeric") field.inputMode = "decimal";
      field.placeholder = hintOf(kind, examples);
      field.value = before.get(name) ?? "";
      fields.set(name, addField(name, field));
      if (kind === "categorical" && examples.length) suggest(field, examples);
    }
    if (numeric.length > MANY_NUMBERS) {
      const hint =
        `One row of numbers, separated by commas or spaces, in the order ${numeric[0]}, ` +
        `${numeric[1]}, …, ${numeric.at(-1)}; or a line of column names and a line of numbers.`;
      together = { names: numeric, field: addField(`${numeric.length} numbers`, textarea(8), hint) };
    }
  }

  function values() {
    const row = new Map();
    for (const { name, kind } of columns) {
      const field = fields.get(name);
      if (field) row.set(name, kind === "numeric" ? readNumber(field.value, name) : field.value);
    }
    if (together) {
      const numbers = readNumbers(together.field.value, together.names);
      together.names.forEach((name, position) => row.set(name, numbers[position]));
    }
    return Object.fromEntries(row);
  }

  const isEmpty = () =>
    Array.from(place.querySelectorAll("input, textarea")).every((each) => !each.value.trim());

  function fill(cells) {
    for (const [name, field] of fields) field.value = cells.get(name) ?? "";
    if (together) {
      together.field.value = together.names.map((name) => cells.get(name) ?? "").join(", ");
    }
  }

  return { build, values, fill, isEmpty };
}
