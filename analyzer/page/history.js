// A rack at some time in the past: what was lost, how long it took, and what was open.

import { NoAnswer, ask } from "./ask.js";
import { chart } from "./chart.js";
import { element, say } from "./element.js";
import { told } from "./incidents.js";
import { clock, count, duration, namesIn, percent, several } from "./words.js";

const SPANS = { "15 min": 900, "1 h": 3600, "6 h": 21600, "1 day": 86400, "7 days": 604800 };
const POINTS = 120; // of a line, at most
const LEAST_S = 20; // of a point: a rack tells every ten seconds
const ROWS = 10000; // the most that one answer has
const ANSWERS = 8; // for one look
const PATIENCE_MS = 25000; // a database, or files, may take their time
const COLUMNS = {
  rm_tor_pair: "src_tor,dst_tor,sent,send_failed,sent_late,no_reply,late_reply,rtt_p50_ns,rtt_p99_ns",
  rm_incident: "region,tor,part_type,part,place,state,id,severity,opened_ns,sentence",
};
const BEFORE_S = 86400; // what was opened so long before may still have been open
const DIRECTIONS = {
  "inside the rack": (row, tor) => row.src_tor === tor && row.dst_tor === tor,
  "to other racks": (row, tor) => row.src_tor === tor && row.dst_tor !== tor,
  "from other racks": (row, tor) => row.src_tor !== tor && row.dst_tor === tor,
};

async function rowsOf(measurement, from, to, region, tor) {
  const words = new URLSearchParams({ from: from.toISOString(), to: to.toISOString(), region, columns: COLUMNS[measurement], limit: ROWS });
  if (tor) words.set("tor", tor);
  let all = [];
  let lacking = [];
  for (let i = 0; i < ANSWERS; i++) {
    const { columns, rows, truncated, not_kept } = await ask(`/v1/history/${measurement}?${words}`, PATIENCE_MS);
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

// Counts are added, of percentiles the worst is taken: their mean would be none.
function buckets(rows, from, to) {
  const points = Math.max(1, Math.min(POINTS, Math.floor((to - from) / 1000 / LEAST_S)));
  const step = (to - from) / points;
  const filled = Array.from({ length: points }, (_, i) => ({ time: +from + (i + 0.5) * step, left: 0, lost: 0, p50: null, p99: null }));
  for (const row of rows) {
    const bucket = filled[Math.floor((new Date(row.time) - from) / step)];
    if (bucket === undefined) continue;
    bucket.left += row.sent - row.send_failed - row.sent_late;
    bucket.lost += row.no_reply + row.late_reply;
    if (row.rtt_p50_ns !== null) bucket.p50 = Math.max(bucket.p50, row.rtt_p50_ns);
    if (row.rtt_p99_ns !== null) bucket.p99 = Math.max(bucket.p99, row.rtt_p99_ns);
  }
  return filled;
}

// The last word of each incident that was open at some time between from and to.
function openThen(rows, from) {
  const last = new Map();
  for (const row of rows) last.set(row.id ?? `${row.part} ${row.opened_ns}`, row); // VictoriaMetrics keeps no ids
  return [...last.values()].filter((row) => row.state !== "resolved" || new Date(row.time) >= from).reverse();
}

function incidentsOf(rows) {
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
            `${row.region} · opened ${clock(row.opened_ns / 1e6, true)}${row.state === "resolved" ? ` · resolved ${clock(row.time, true)}` : " · still open at the end"}`,
          ),
        ),
      ),
    ),
  );
}

function summary(lines, incidents, from, to, whole) {
  const worst = lines.flatMap(({ filled }) => filled).reduce((a, b) => (b.left > 0 && b.lost / b.left > (a === null ? 0 : a.lost / a.left) ? b : a), null);
  const loss = lines
    .map(({ name, filled }) => [name, filled.reduce((sum, each) => sum + each.lost, 0), filled.reduce((sum, each) => sum + each.left, 0)])
    .map(([name, lost, left]) => `${name} ${left === 0 ? "no probes" : `${percent(lost / left)} of ${count(left)} probes lost`}`);
  const blank = lines.every(({ filled }) => filled.every((each) => each.left === 0));
  // Of a time of which nothing is kept nobody knows what was open.
  const none = !whole ? "" : blank ? "No incident is known of." : "No incident was open.";
  return (
    `From ${clock(from, true)} to ${clock(to, true)} UTC: ${loss.join(", ")}. ` +
    (blank ? "Nothing was probed, or nothing is kept of it. " : worst === null ? "Nothing was lost. " : `Most was lost around ${clock(worst.time)} (${percent(worst.lost / worst.left)}). `) +
    (incidents.length === 0 ? none : `${several(incidents.length, "incident")} ${incidents.length === 1 ? "was" : "were"} open.`)
  );
}

async function look(region, tor, from, to) {
  // Apart: a noisy day before must not push out what is asked for.
  const [pairs, before, meant] = await Promise.all([
    rowsOf("rm_tor_pair", from, to, region, tor),
    rowsOf("rm_incident", new Date(from - BEFORE_S * 1000), from, region, null),
    rowsOf("rm_incident", from, to, region, null),
  ]);
  const lines = Object.entries(DIRECTIONS).map(([name, holds]) => ({ name, filled: buckets(pairs.rows.filter((row) => holds(row, tor)), from, to) }));
  const series = (value) => lines.map(({ name, filled }) => ({ name, points: filled.map((each) => [each.time, value(each)]) }));
  const concerns = (row) => row.tor === tor || namesIn(row.part).includes(tor);
  const incidents = openThen([...before.rows, ...meant.rows].filter(concerns), from);
  const marks = incidents.map((row) => row.opened_ns / 1e6).filter((time) => time >= from && time <= to);
  const frame = { from: +from, to: +to, marks };
  return [
    element("p", {}, summary(lines, incidents, from, to, !pairs.truncated && !meant.truncated && !before.truncated)),
    pairs.truncated || meant.truncated ? element("p", { class: "trouble" }, `There are more than ${count(ANSWERS * ROWS)} rows: the end is not shown. Choose a shorter time.`) : "",
    before.truncated ? element("p", { class: "trouble" }, "The day before had too many incidents: one of them may have been open still, and is not shown.") : "",
    chart("Lost", { ...frame, series: series((each) => (each.left > 0 ? each.lost / each.left : null)), words: percent }),
    chart("RTT, 99th percentile", { ...frame, series: series((each) => each.p99), words: duration }),
    chart("RTT, median", { ...frame, series: series((each) => each.p50), words: duration }),
    incidents.length === 0 ? "" : element("h2", {}, "Open in that time"),
    incidents.length > 0 && meant.lacking.length > 0 ? element("p", { class: "quiet" }, "The analyzer's database keeps no text (VictoriaMetrics): of each incident the part alone is known, not what it was.") : "",
    incidentsOf(incidents),
  ];
}

const local = (time) => time.toISOString().slice(0, 19);

// #/history/REGION/TOR/2026-01-31T04:10:00Z/3600: the hour that ends then.
export function open([region, tor, until, span], known) {
  const racks = known.health?.racks ?? [];
  const choice = element("select", { "aria-label": "Rack" });
  const end = element("input", { type: "datetime-local", step: "1", "aria-label": "Until (UTC)" });
  const spans = element(
    "select",
    { "aria-label": "How long" },
    Object.entries(SPANS).map(([name, seconds]) => element("option", { value: seconds }, name)),
  );
  const found = element("div", {}, element("p", { class: "quiet" }, "Choose a rack and a time."));
  const to = until ? new Date(until) : new Date();
  const valid = !Number.isNaN(+to);
  let filled = false;

  spans.value = Object.values(SPANS).map(String).includes(span) ? span : "3600";
  end.value = local(valid ? to : new Date());

  function fillChoice(all) {
    if (filled || all.length === 0) return;
    filled = true;
    const names = all.map((rack) => [rack.region, rack.tor]);
    if (tor && !names.some(([r, t]) => r === region && t === tor)) names.unshift([region, tor]);
    choice.replaceChildren(...names.map(([r, t]) => element("option", { value: JSON.stringify([r, t]) }, `${r} / ${t}`)));
    if (tor) choice.value = JSON.stringify([region, tor]);
  }

  async function fetchAll() {
    if (!tor || !valid) return;
    const from = new Date(to - Number(spans.value) * 1000);
    found.replaceChildren(element("p", { class: "quiet" }, "Asking the history…"));
    try {
      found.replaceChildren(...(await look(region, tor, from, to)));
    } catch (error) {
      if (!(error instanceof NoAnswer)) console.error(error);
      found.replaceChildren(element("p", { class: "trouble" }, `The history does not answer: ${error.message}.`));
    }
  }

  fillChoice(racks);
  fetchAll();
  const head = element("h1", {});
  say(head, tor ? `${tor} in the past` : "History");
  return {
    title: tor ? `${tor}, history` : "History",
    root: element(
      "div",
      {},
      head,
      element(
        "form",
        {
          class: "bar",
          onsubmit: (event) => {
            event.preventDefault();
            if (choice.value === "" || end.value === "") return;
            const [r, t] = JSON.parse(choice.value);
            location.hash = `#/history/${[r, t, `${end.value}Z`, spans.value].map(encodeURIComponent).join("/")}`;
          },
        },
        choice,
        element("label", {}, "until (UTC) ", end),
        spans,
        element("button", {}, "Look"),
      ),
      found,
    ),
    update(now) {
      fillChoice(now.health.racks);
    },
  };
}
