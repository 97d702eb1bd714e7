// Tables that sort: a click on the title of a column, or Enter on it, brings the best to the top;
// another turns it round. Without scripts the tables are as they are.
"use strict";
document.documentElement.classList.add("js");

function valueOf(row, column) {
  const text = row.cells[column].textContent.trim().replace("\u2212", "-");
  const number = parseFloat(text);
  return Number.isNaN(number) ? text : number;
}

function sort(table, header) {
  const column = header.cellIndex;
  const best = header.textContent.includes("\u2191") ? "descending" : "ascending";
  const other = best === "ascending" ? "descending" : "ascending";
  const direction = header.getAttribute("aria-sort") === best ? other : best;
  const sign = direction === "ascending" ? 1 : -1;
  const rows = Array.from(table.tBodies[0].rows);
  rows.sort((a, b) => {
    const [x, y] = [valueOf(a, column), valueOf(b, column)];
    if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1; // words stay at the end
    return sign * (typeof x === "number" ? x - y : x.localeCompare(y));
  });
  table.tBodies[0].append(...rows);
  table.querySelectorAll("thead th").forEach((each) => each.removeAttribute("aria-sort"));
  header.setAttribute("aria-sort", direction);
}

document.querySelectorAll("table.numbers").forEach((table) => {
  table.querySelectorAll("thead th").forEach((header) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sort(table, header));
    header.append(button);
  });
});

// On paper nothing is folded.
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details.more").forEach((each) => (each.open = true));
});
