// Why a label has its score: what each landmark added, as bars to the right and to the left.
const MOST_REASONS = 8;

function reasonBar(name, amount, largest) {
  const row = make("div", "reason");
  const track = make("span", "track");
  track.setAttribute("aria-hidden", "true");
  const fill = make("i", amount < 0 ? "fill minus" : "fill");
  const half = largest ? (50 * Math.abs(amount)) / largest : 0;
  fill.style.width = `${half}%`;
  fill.style.left = amount < 0 ? `${50 - half}%` : "50%";
  track.append(fill);
  const title = make("dt", "name", name);
  title.title = name;
  row.append(title, track, make("dd", "value", signed(amount)));
  return row;
}

// `explained` is {score, base, contributions} of the label, or nothing.
function reasonsOf({ name, score, tag, landmark, f1, rows, explained }) {
  const head = make("h3", "", name);
  const words = [tag ? "A tag" : "Not a tag", `score ${digits(score)}`];
  if (landmark) words.push("a landmark");
  const parts = [head, make("p", "", `${words.join(", ")}.`)];
  if (explained) {
    const added = Object.entries(explained.contributions)
      .filter(([, amount]) => signed(amount) !== signed(0))
      .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    const named = added.slice(0, MOST_REASONS);
    const rest = added.slice(MOST_REASONS);
    if (rest.length) {
      const sum = rest.reduce((total, [, amount]) => total + amount, 0);
      named.push([counted(rest.length, "other landmark"), sum]);
    }
    const largest = Math.max(...named.map(([, amount]) => Math.abs(amount)), Math.abs(explained.base));
    const list = make("dl", "reasons");
    list.append(...named.map(([landmarkName, amount]) => reasonBar(landmarkName, amount, largest)));
    const base = reasonBar("base", explained.base, largest);
    base.classList.add("base");
    list.append(base);
    parts.push(make("p", "note", "What each landmark added:"), list);
    parts.push(
      make("p", "note", `Total ${digits(explained.score)}; the score is this value on a scale from 0 to 1.`),
    );
  }
  if (f1 !== null && f1 !== undefined) {
    parts.push(
      make("p", "note", `F1 ${digits(f1)} on held-out rows, ${rows.toLocaleString("en")} of which have it.`),
    );
  }
  return parts;
}
