// Reading and writing CSV, as far as the page shows and gives it. What is predicted of a file is
// read by the service itself.
const DELIMITERS = [",", ";", "\t", "|"];

function guessDelimiter(text) {
  // Quoted names may hold delimiters: they say nothing about the file.
  const head = text.replace(/"[^"]*"/g, "").split(/\r?\n/, 1)[0];
  const counts = DELIMITERS.map((each) => head.split(each).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))];
}

function parseCsv(content, delimiter = guessDelimiter(content)) {
  const text = content.replace(/^\ufeff/, "");
  const records = [];
  let record = [];
  let place = 0;
  while (place < text.length) {
    let cell = "";
    if (text[place] === '"') {
      // To the closing quote; two of them are one that belongs to the cell.
      for (place += 1; place < text.length; place += 1) {
        if (text[place] !== '"') cell += text[place];
        else if (text[place + 1] === '"') cell += text[(place += 1)];
        else break;
      }
      place += 1;
    }
    const start = place;
    while (place < text.length && text[place] !== delimiter && !"\r\n".includes(text[place])) {
      place += 1;
    }
    record.push(cell + text.slice(start, place));
    if (text[place] === delimiter && place + 1 < text.length) {
      place += 1;
      continue;
    }
    if (text[place] === delimiter) record.push("");
    place += text.startsWith("\r\n", place) ? 2 : 1;
    if (record.length > 1 || record[0] !== "") records.push(record);
    record = [];
  }
  return records;
}

// What a spreadsheet would compute: as in the CSV answers of the service (splmll.tagging.formulas).
const NUMBER = "[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?";
const FORMULA = new RegExp(
  `(^|[;\\t\\r\\n])(?= *[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\\t\\r])(?! *${NUMBER} *(?:$|[;\\t\\r\\n]))`,
  "g",
);

const csvCell = (value) => {
  const text = String(value).replace(FORMULA, "$1'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const writeCsv = (records) =>
  records.map((record) => `${record.map(csvCell).join(",")}\n`).join("");

function saveFile(content, name) {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([content], { type: "text/csv" }));
  link.download = name;
  link.click();
  // The browser has the content when the download has begun, which may be a moment later.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
