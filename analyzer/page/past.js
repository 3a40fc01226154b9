// Shared by the views of the past: rows of the history, and the incidents that were open then.

import { NoAnswer, ask } from "./ask.js";
import { element } from "./element.js";
import { sentenceParts } from "./incidents.js";
import { age, clock, count, holds, percent, several } from "./words.js";

export const POINTS = 120; // most points of a line
const ROWS = 10000; // most rows of one answer; the analyzer's limit
const ANSWERS = 8; // most answers for one table of one view
const PATIENCE_MS = 25000; // the analyzer gives up after 20 s
const TURNS = 8; // attempts while the analyzer answers that it has too many requests
const TURN_MS = 400;
// Incidents that were open in a time are found by their rows up to BEFORE_S before it, and older
// ones by their end, up to AFTER_S after it.
const BEFORE_S = 86400;
const AFTER_S = 31 * 86400;
const INCIDENT = "region,tor,part_type,part,place,state,id,kind,severity,impact,services,links,opened_ns,sentence";
const GAP_MS = 180000; // shorter times without rows are not mentioned; a row is due each minute
const LATE_MS = 150000; // rows of the last LATE_MS may not be written yet
const SHOWN = 500; // most incidents in the list
const AT_FIRST = 20; // incidents that are visible at first; the others are in a closed <details>

// The analyzer answers only four requests for history at a time, of all users together, and 503 to
// others. Tries again for some seconds: other users, or the view that this one has replaced, may
// have requests that are not answered yet.
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

// more: other parameters of GET /v1/history/. truncated: there are more rows than were fetched.
// lacking: the columns that the database does not store.
export async function askRows(measurement, { from, to, ...more }) {
  const words = new URLSearchParams({ from: from.toISOString(), to: to.toISOString(), limit: ROWS, ...more });
  let all = [];
  let lacking = [];
  for (let i = 0; i < ANSWERS; i++) {
    const { columns, rows, truncated, not_kept } = await askInTurn(`/v1/history/${measurement}?${words}`);
    all = all.concat(rows.map((row) => Object.fromEntries(columns.map((column, c) => [column, row[c]]))));
    lacking = not_kept;
    if (!truncated) return { rows: all, truncated: false, lacking };
    // The answer may end within rows of one time: the next answer begins with all rows of that time.
    const next = all.at(-1)?.time;
    if (next === undefined || next === words.get("from")) break;
    all = all.filter((row) => row.time !== next);
    words.set("from", next);
  }
  return { rows: all, truncated: true, lacking };
}

// The points of a line, each with the sums of one step. slotAt(time) is the point of a row: steps
// begin at multiples of step_s since the epoch, so the first one may begin before `from`.
export function slotsOf(from, to, step_s) {
  const first = Math.floor(from / 1000 / step_s);
  const last = Math.floor((to - 1) / 1000 / step_s);
  const filled = Array.from({ length: last - first + 1 }, (_, i) => ({
    time: Math.min(Math.max((first + i + 0.5) * step_s * 1000, +from), +to),
    left: 0,
    lost: 0,
    p50: null,
    p99: null,
  }));
  return { filled, slotAt: (time) => filled[Math.floor(new Date(time) / 1000 / step_s) - first] };
}

const idOf = (row) => row.id ?? `${row.part} ${row.opened_ns}`; // VictoriaMetrics keeps no ids

// The last row of each incident that was open at some time from `from` on and for which
// concerns(row) is true at some time, the newest first. Its links may change while it is open.
function openThen(rows, from, concerns) {
  const meant = new Set(rows.filter(concerns).map(idOf));
  const last = new Map();
  for (const row of rows) if (meant.has(idOf(row))) last.set(idOf(row), row);
  return [...last.values()].filter((row) => row.state !== "resolved" || new Date(row.time) >= from).reverse();
}

// The last row of each resolved incident of a part, the newest first.
export async function endedOf({ region, part_type, part }, from, to) {
  const { rows } = await askRows("rm_incident", { region, part_type, part, state: "resolved", columns: INCIDENT, from, to });
  return [...new Map(rows.map((row) => [row.id ?? row.opened_ns, row])).values()].reverse(); // VictoriaMetrics keeps no ids
}

// The impact, if it is known. Rows of the history have it as columns, not in the evidence.
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
          element("b", {}, sentenceParts(row)[0] || row.part),
          element("span", { class: "seen" }, sentenceParts(row)[1]),
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

// For how long nothing was written, in ms. Slots of the last LATE_MS do not count: their rows may
// still come.
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
  // If nothing is stored of that time, an incident may have been open without being stored.
  const none = !whole ? "" : blank ? "Whether an incident was open is not known." : "No incident was open.";
  return (
    `From ${clock(from, true)} to ${clock(to, true)} UTC: ${loss.join(", ")}. ` +
    (blank ? "No probes were sent, or their results are not stored. " : worst === null ? "No probe was lost. " : `The loss was highest around ${clock(worst.time)} (${percent(worst.lost / worst.left)}). `) +
    (unknown > 0 ? `No results are stored for ${age(unknown)} of that time: the loss then is not known. ` : "") +
    (incidents.length === 0 ? none : `${several(incidents.length, "incident")} ${incidents.length === 1 ? "was" : "were"} open.`)
  );
}

// A list of links that is not complete is left out, as in the history.
const linksOf = ({ links = [], links_down = 0, links_lossy = 0 }) => (links.length < links_down + links_lossy ? null : links.join(", "));
const columnsOf = ({ evidence }) => ({ impact: evidence?.impact, services: evidence?.services, links: linksOf(evidence ?? {}) });

// The incidents that are open now, in the form of rows of the history.
const openNow = (known, region) =>
  [...known.incidents.values()]
    .filter((each) => each.state === "open" && each.region === region)
    .map((each) => ({ ...each, ...columnsOf(each), state: "opened", time: each.changed, opened_ns: +new Date(each.opened) * 1e6 }));

// Incidents that opened more than BEFORE_S before `from`: they were resolved after `to`, or are
// still open.
async function olderThan(region, from, to, known) {
  const end = new Date(Math.min(Date.now(), +to + AFTER_S * 1000));
  const { rows, truncated } =
    end > to ? await askRows("rm_incident", { region, state: "resolved", columns: INCIDENT, from: to, to: end }) : { rows: [], truncated: false };
  const older = [...rows.map((row) => ({ ...row, state: "updated" })), ...openNow(known, region)];
  return { rows: older.filter((row) => row.opened_ns / 1e6 < from - BEFORE_S * 1000), truncated };
}

// The incidents of a region that were open at some time between from and to and for which
// concerns(row) is true, the newest first. whole: no incident can be missing. early, late: some may
// be missing, because there are too many rows outside of that time, or in it.
export async function incidentsIn(region, from, to, concerns, known) {
  const words = { region, columns: INCIDENT };
  // Two requests: the rows of a noisy day before must not use up the limit for the time asked for.
  const [before, meant] = await Promise.all([
    askRows("rm_incident", { ...words, from: new Date(from - BEFORE_S * 1000), to: from }),
    askRows("rm_incident", { ...words, from, to }),
  ]);
  const older = await olderThan(region, from, to, known);
  return {
    incidents: openThen([...older.rows, ...before.rows, ...meant.rows], from, concerns),
    whole: !before.truncated && !meant.truncated && !older.truncated,
    early: before.truncated || older.truncated,
    late: meant.truncated,
    lacking: meant.lacking,
  };
}

// True in two cases: a rack found the incident, and it is the rack of this ToR; or no rack found it,
// and its part or one of its links has the name of the ToR.
export const namesTor = (row, tor) => (row.tor ? row.tor === tor : [row.part, ...(row.links ?? "").split(", ")].some((part) => holds(part, tor)));

// Whether the row is of a switch between racks, or of links of it that are not listed. It may concern
// every rack, because the racks that send packets over a switch are not stored. An incident that began on one
// link keeps that part, so the kind decides; VictoriaMetrics stores no kinds.
export const ofSwitch = ({ part_type, kind, links }) => !links && (part_type === "switch" || (part_type === "link" && /^(switch|links)-/.test(kind ?? "")));

// The same for an incident of the live view.
export const ofSwitchNow = (incident) => ofSwitch({ ...incident, ...columnsOf(incident) });

// Sentences about missing rows, for the view.
export const cut = (truncated, early) => [
  truncated ? element("p", { class: "trouble" }, `There are more than ${count(ANSWERS * ROWS)} rows: the end of that time is not shown. Choose a shorter time.`) : "",
  early ? element("p", { class: "trouble" }, "There are too many rows of incidents before or after that time: an incident that was open may be missing here.") : "",
];

export const incidentsOf = ({ incidents, lacking }) => [
  incidents.length === 0 ? "" : element("h2", {}, "Incidents that were open in that time"),
  incidents.length > 0 && lacking.length > 0 ? element("p", { class: "quiet" }, "The analyzer’s database stores no texts (VictoriaMetrics): of each incident only the part is known, not the kind or the sentence.") : "",
  incidents.length > SHOWN ? element("p", { class: "quiet" }, `The newest ${count(SHOWN)} of ${count(incidents.length)}:`) : "",
  listOf(incidents.slice(0, AT_FIRST)),
  incidents.length > AT_FIRST
    ? element("details", {}, element("summary", {}, `${count(Math.min(SHOWN, incidents.length) - AT_FIRST)} more`), listOf(incidents.slice(AT_FIRST, SHOWN)))
    : "",
];

// The times in ms at which incidents opened, as marks of a chart.
export const marksOf = ({ incidents }, from, to) => incidents.map((row) => row.opened_ns / 1e6).filter((time) => time >= from && time <= to);

export const pathOf = (region, tor, until, span) => `#/history/${[region, tor, until, span].map(encodeURIComponent).join("/")}`;
