// What views of the past share: rows of the history, and incidents that were open then.

import { NoAnswer, ask } from "./ask.js";
import { element } from "./element.js";
import { told } from "./incidents.js";
import { age, clock, count, percent, several } from "./words.js";

export const POINTS = 120; // of a line, at most
const ROWS = 10000; // the most that one answer has
const ANSWERS = 8; // for one look
const PATIENCE_MS = 25000; // a database, or files, may take their time
const TURNS = 8; // attempts to be among those who are answered at once
const TURN_MS = 400;
const BEFORE_S = 86400; // openings are looked for so long before,
const AFTER_S = 31 * 86400; // and ends of older ones so long afterwards
const INCIDENT = "region,tor,part_type,part,place,state,id,severity,impact,services,opened_ns,sentence";
const GAP_MS = 180000; // rows come at least once a minute
const LATE_MS = 150000;
const SHOWN = 500; // incidents
const AT_FIRST = 20; // of them; the others are there for who opens them

// The analyzer answers four questions at once, of everybody: who has just left another look, or
// is not alone, waits for a place.
async function askInTurn(path) {
  for (let i = 1; ; i++) {
    try {
      return await ask(path, PATIENCE_MS);
    } catch (error) {
      if (!(error instanceof NoAnswer) || error.status !== 503 || i === TURNS) throw error;
      await new Promise((done) => setTimeout(done, i * TURN_MS));
    }
  }
}

// words: of GET /v1/history/, with from and to as dates.
export async function askRows(measurement, { from, to, ...more }) {
  const words = new URLSearchParams({ from: from.toISOString(), to: to.toISOString(), limit: ROWS, ...more });
  let all = [];
  let lacking = [];
  for (let i = 0; i < ANSWERS; i++) {
    const { columns, rows, truncated, not_kept } = await askInTurn(`/v1/history/${measurement}?${words}`);
    all = all.concat(rows.map((row) => Object.fromEntries(columns.map((column, c) => [column, row[c]]))));
    lacking = not_kept;
    if (!truncated) return { rows: all, truncated: false, lacking };
    // The last moment comes again, whole.
    const next = all.at(-1).time;
    if (next === words.get("from")) break;
    all = all.filter((row) => row.time !== next);
    words.set("from", next);
  }
  return { rows: all, truncated: true, lacking };
}

// The last word of each incident that was open at some time between from and to.
function openThen(rows, from) {
  const last = new Map();
  for (const row of rows) last.set(row.id ?? `${row.part} ${row.opened_ns}`, row); // VictoriaMetrics keeps no ids
  return [...last.values()].filter((row) => row.state !== "resolved" || new Date(row.time) >= from).reverse();
}

// What was written of a part's incidents that have ended, the newest first.
export async function endedOf({ region, part_type, part }, from, to) {
  const { rows } = await askRows("rm_incident", { region, part_type, part, state: "resolved", columns: INCIDENT, from, to });
  return [...new Map(rows.map((row) => [row.id ?? row.opened_ns, row])).values()].reverse(); // VictoriaMetrics keeps no ids
}

// Whom it hurt, where that is known. Rows of the history have it as columns.
function hurtBy({ impact, services }) {
  if (!impact || impact === "unknown") return "";
  return ` · ${impact}${services ? `: ${services}` : ""}`;
}

export function listOf(rows) {
  return element(
    "ol",
    { class: "incidents" },
    rows.map((row) =>
      element(
        "li",
        { class: `incident ${row.state === "resolved" ? "resolved" : "open"} ${row.severity ?? ""}` },
        element(
          "a",
          { href: row.id === null ? null : `#/incident/${encodeURIComponent(row.id)}` },
          element("span", { class: "severity" }, row.severity ?? ""),
          element("b", {}, told(row)[0] || row.part),
          element("span", { class: "seen" }, told(row)[1]),
          element(
            "span",
            { class: "when" },
            `${row.region} · opened ${clock(row.opened_ns / 1e6, true)}${row.state === "resolved" ? ` · resolved ${clock(row.time, true)}` : " · still open at the end"}${hurtBy(row)}`,
          ),
        ),
      ),
    ),
  );
}

// How much of the time nothing was written, in ms. The last minutes may come yet.
function unknownOf(lines, from, to) {
  const slots = lines[0]?.filled ?? [];
  const written = (i) => lines.some(({ filled }) => filled[i]?.left > 0) || slots[i].time > Date.now() - LATE_MS;
  const unknown = slots.filter((_, i) => !written(i)).length * ((to - from) / slots.length);
  return unknown >= GAP_MS ? unknown : 0;
}

export function summary(lines, { incidents, whole }, from, to) {
  const worst = lines.flatMap(({ filled }) => filled).reduce((a, b) => (b.left > 0 && b.lost / b.left > (a === null ? 0 : a.lost / a.left) ? b : a), null);
  const loss = lines
    .map(({ name, filled }) => [name, filled.reduce((sum, each) => sum + each.lost, 0), filled.reduce((sum, each) => sum + each.left, 0)])
    .map(([name, lost, left]) => `${name} ${left === 0 ? "no probes" : `${percent(lost / left)} of ${count(left)} probes lost`}`);
  const blank = lines.every(({ filled }) => filled.every((each) => each.left === 0));
  const unknown = blank ? 0 : unknownOf(lines, from, to);
  // Of a time of which nothing is kept nobody knows what was open.
  const none = !whole ? "" : blank ? "No incident is known of." : "No incident was open.";
  return (
    `From ${clock(from, true)} to ${clock(to, true)} UTC: ${loss.join(", ")}. ` +
    (blank ? "Nothing was probed, or nothing is kept of it. " : worst === null ? "Nothing was lost. " : `Most was lost around ${clock(worst.time)} (${percent(worst.lost / worst.left)}). `) +
    (unknown > 0 ? `For ${age(unknown)} of it nothing was written: what was lost then is not known. ` : "") +
    (incidents.length === 0 ? none : `${several(incidents.length, "incident")} ${incidents.length === 1 ? "was" : "were"} open.`)
  );
}

const impactOf = ({ evidence }) => ({ impact: evidence?.impact, services: evidence?.services });

// What the analyzer has open now, as the history would have it.
const openNow = (known, region) =>
  [...known.incidents.values()]
    .filter((each) => each.state === "open" && each.region === region)
    .map((each) => ({ ...each, ...impactOf(each), state: "opened", time: each.changed, opened_ns: +new Date(each.opened) * 1e6 }));

// What was opened long before is known by its end, or is open still.
async function olderThan(region, from, to, known) {
  const end = new Date(Math.min(Date.now(), +to + AFTER_S * 1000));
  const { rows, truncated } =
    end > to ? await askRows("rm_incident", { region, state: "resolved", columns: INCIDENT, from: to, to: end }) : { rows: [], truncated: false };
  const older = [...rows.map((row) => ({ ...row, state: "updated" })), ...openNow(known, region)];
  return { rows: older.filter((row) => row.opened_ns / 1e6 < from - BEFORE_S * 1000), truncated };
}

// Those of a region that were open at some time between from and to and that concerns() holds
// of, the newest first. whole: none of them can be missing.
export async function incidentsIn(region, from, to, concerns, known) {
  const words = { region, columns: INCIDENT };
  // Apart: a noisy day before must not push out what is asked for.
  const [before, meant] = await Promise.all([
    askRows("rm_incident", { ...words, from: new Date(from - BEFORE_S * 1000), to: from }),
    askRows("rm_incident", { ...words, from, to }),
  ]);
  const older = await olderThan(region, from, to, known);
  return {
    incidents: openThen([...older.rows, ...before.rows, ...meant.rows].filter(concerns), from),
    whole: !before.truncated && !meant.truncated && !older.truncated,
    early: before.truncated || older.truncated,
    late: meant.truncated,
    lacking: meant.lacking,
  };
}

// What to say of rows that are missing.
export const cut = (truncated, early) => [
  truncated ? element("p", { class: "trouble" }, `There are more than ${count(ANSWERS * ROWS)} rows: the end is not shown. Choose a shorter time.`) : "",
  early ? element("p", { class: "trouble" }, "The time around had too many incidents: one that was open may not be shown.") : "",
];

export const incidentsOf = ({ incidents, lacking }) => [
  incidents.length === 0 ? "" : element("h2", {}, "Open in that time"),
  incidents.length > 0 && lacking.length > 0 ? element("p", { class: "quiet" }, "The analyzer's database keeps no text (VictoriaMetrics): of each incident the part alone is known, not what it was.") : "",
  incidents.length > SHOWN ? element("p", { class: "quiet" }, `The newest ${count(SHOWN)} of ${count(incidents.length)}:`) : "",
  listOf(incidents.slice(0, AT_FIRST)),
  incidents.length > AT_FIRST
    ? element("details", {}, element("summary", {}, `${count(Math.min(SHOWN, incidents.length) - AT_FIRST)} more`), listOf(incidents.slice(AT_FIRST, SHOWN)))
    : "",
];

// Times in ms at which incidents opened, for charts.
export const marksOf = ({ incidents }, from, to) => incidents.map((row) => row.opened_ns / 1e6).filter((time) => time >= from && time <= to);

export const pathOf = (region, tor, until, span) => `#/history/${[region, tor, until, span].map(encodeURIComponent).join("/")}`;
