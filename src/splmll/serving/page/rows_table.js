// The rows of a file with their tags: pick one to see it in detail, download them all.
const ROWS_AT_ONCE = 25;
const COLUMNS_SHOWN = 2; // of the columns of the model, texts first
const LONGEST_CELL = 90; // characters
const CELL_DIGITS = 5;
const MOST_TAGS_SHOWN = 12;

function rowsTable({ tagsOf, onPick }) {
  const body = byId("rows-body");
  const said = byId("rows-said");
  const [back, forth] = [byId("rows-before"), byId("rows-after")];
  let content = null; // {header, records, results, columns}
  let first = 0;
  let picked = null;

  const cellOf = (row, name) => content.records[row]?.[content.header.indexOf(name)] ?? "";

  function tagCell(row) {
    const cell = make("td", "text tags");
    const tags = tagsOf(content.results[row]);
    for (const name of tags.slice(0, MOST_TAGS_SHOWN)) cell.append(make("span", "chip", name));
    const others = tags.length - MOST_TAGS_SHOWN;
    if (others > 0) cell.append(make("span", "note", ` and ${others} more`));
    if (!tags.length) cell.append(make("span", "note", "no tag"));
    return cell;
  }

  function line(row) {
    const element = make("tr");
    element.dataset.row = row;
    if (row === picked) element.setAttribute("aria-current", "true");
    const head = make("th");
    head.scope = "row";
    const button = make("button", "plain", String(row + 1));
    button.type = "button";
    button.setAttribute("aria-label", `Show row ${row + 1}`);
    head.append(button);
    const cells = content.columns.map(({ name, kind }) => {
      const text = cellOf(row, name);
      const rounded = kind === "numeric" ? Number(Number(text).toPrecision(CELL_DIGITS)) : NaN;
      const shown = text.trim() && Number.isFinite(rounded) ? String(rounded) : text;
      const cell = make("td", "text", shortened(shown, LONGEST_CELL));
      if (cell.textContent !== text) cell.title = text;
      return cell;
    });
    element.append(head, ...cells, tagCell(row));
    return element;
  }

  function draw() {
    const end = Math.min(first + ROWS_AT_ONCE, content.results.length);
    body.replaceChildren(...Array.from({ length: end - first }, (_, k) => line(first + k)));
    back.hidden = forth.hidden = content.results.length <= ROWS_AT_ONCE;
    back.disabled = first === 0;
    forth.disabled = end === content.results.length;
    const range = `Rows ${(first + 1).toLocaleString("en")} to ${end.toLocaleString("en")} of `;
    said.textContent = `${range}${content.results.length.toLocaleString("en")}. Pick a row to see it in detail.`;
  }

  function turn(step) {
    first += step * ROWS_AT_ONCE;
    draw();
  }
  back.addEventListener("click", () => turn(-1));
  forth.addEventListener("click", () => turn(1));
  body.addEventListener("click", (event) => {
    const element = event.target.closest("tr");
    if (!element) return;
    body.querySelector("[aria-current]")?.removeAttribute("aria-current");
    element.setAttribute("aria-current", "true");
    picked = Number(element.dataset.row);
    const cells = new Map(content.header.map((name) => [name, cellOf(picked, name)]));
    onPick(content.records.length ? cells : null, content.results[picked]);
  });

  return {
    show(records, results, columns) {
      const [header = [], ...others] = records;
      const texts = columns.filter((column) => column.kind === "text");
      const rest = columns.filter((column) => column.kind !== "text");
      const shown = [...texts, ...rest].slice(0, COLUMNS_SHOWN);
      // Where page and service do not agree on what a row is, tags alone are shown.
      const agree = others.length === results.length;
      content = agree
        ? { header, records: others, results, columns: shown }
        : { header, records: [], results, columns: [] };
      first = 0;
      picked = null;
      const titles = ["Row", ...content.columns.map(({ name }) => name), "Tags"].map((title) => {
        const cell = make("th", "text", title);
        cell.scope = "col";
        return cell;
      });
      const head = make("tr");
      head.append(...titles);
      byId("rows-head").replaceChildren(head);
      draw();
    },
    // The threshold has moved.
    retag() {
      if (!content) return;
      for (const element of body.children) {
        element.lastElementChild.replaceWith(tagCell(Number(element.dataset.row)));
      }
    },
    forget() {
      content = null;
    },
  };
}
