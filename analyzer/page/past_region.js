// A whole region at some time in the past: its loss, the incidents that were open, and the state of
// its racks at the end of that time.

import { NoAnswer } from "./ask.js";
import { chart } from "./chart.js";
import { element, walkable } from "./element.js";
import { POINTS, askRows, cut, incidentsIn, incidentsOf, marksOf, namesTor, pathOf, slotsOf, summary } from "./past.js";
import { MANY, STATES } from "./racks.js";
import { MARKS, clock, count, duration, percent, several } from "./words.js";

const MINUTE_S = 60; // rm_sla has one row per class, scope and minute
const LAST_WORD_S = 60; // an older row of a rack is not its state; one is due every 10 s
const SCOPES = { "inside racks": "rack", "between racks": "fabric" };
const SLA = "sent,lost,rtt_p50_ns,rtt_p99_ns";
const LEAST_LOST_S = 900; // shortest step of the loss per rack: a minute is written when it has ended
const RACK = "tor,rnics,rnics_good,rnics_bad,hosts,hosts_ok,hosts_slowed,brake_permille";

// The points of one scope.
async function lineOf([name, scope], region, from, to) {
  const step_s = MINUTE_S * Math.ceil(Math.max(1, (to - from) / 1000 / MINUTE_S / POINTS));
  const { rows } = await askRows("rm_sla", { from, to, region, scope, step_s, columns: SLA });
  const { filled, slotAt } = slotsOf(from, to, step_s);
  for (const row of rows) {
    const point = slotAt(row.time);
    if (point !== undefined) Object.assign(point, { left: row.sent, lost: row.lost, p50: row.rtt_p50_ns, p99: row.rtt_p99_ns });
  }
  return { name, filled };
}

// The state of a rack in the words of /v1/health. Without a row of the last minute: "unknown".
function stateOf(row, hurt) {
  if (hurt.some((each) => each.part_type === "rack")) return "blind";
  if (hurt.length > 0 || row?.rnics_bad > 0) return "bad";
  if (row === undefined) return "unknown";
  if (row.brake_permille === 0) return "paused";
  if (row.hosts_slowed > 0) return "slowed";
  return row.rnics_good > 0 ? "ok" : "unknown";
}

// The lost probes of each rack: { racks: by ToR, or null; reason: why it is null }. Its failure
// (for example too many rows for one answer) leaves the rest of the view as it is.
async function lostBy(region, from, to) {
  const step_s = Math.max(LEAST_LOST_S, Math.ceil((to - from) / 1000));
  const racks = new Map();
  try {
    const { rows, truncated } = await askRows("rm_sla_rack", { from, to, region, step_s, by: "tor", columns: "sent,lost" });
    for (const { tor, sent, lost } of rows) {
      const sum = racks.get(tor) ?? { sent: 0, lost: 0 };
      racks.set(tor, { sent: sum.sent + sent, lost: sum.lost + lost });
    }
    return truncated ? { racks: null, reason: "there are too many rows" } : { racks };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { racks: null, reason: error.message };
  }
}

const shareOf = (sum) => (sum === undefined || sum.sent === 0 ? null : sum.lost / sum.sent);

function racksThen(rows, incidents, names, lost) {
  const last = new Map([...names, ...(lost?.keys() ?? [])].map((tor) => [tor, undefined]));
  const racks = [];
  for (const row of rows) last.set(row.tor, row);
  for (const [tor, row] of last) {
    const hurt = incidents.filter((each) => namesTor(each, tor));
    racks.push({ tor, row, hurt: hurt.length, state: stateOf(row, hurt), lost: shareOf(lost?.get(tor)) });
  }
  const place = ({ state }) => STATES.indexOf(state);
  return racks.sort((a, b) => place(a) - place(b) || b.hurt - a.hurt || (b.lost ?? 0) - (a.lost ?? 0) || a.tor.localeCompare(b.tor, "en", { numeric: true }));
}

function tile({ tor, row, hurt, state, lost }, href) {
  const figures = [
    row ? `${row.rnics_good}/${row.rnics} RNICs` : "no reports",
    lost === null ? null : `${percent(lost)} lost`,
    hurt > 0 ? several(hurt, "incident") : null,
  ]
    .filter(Boolean)
    .join(" · ");
  const title = `${tor}: ${state}; ${figures}`;
  return element(
    "li",
    { class: `rack ${state}` },
    element(
      "a",
      { href, title, "aria-label": title },
      element("span", { class: "mark", "aria-hidden": "true" }, MARKS[state]),
      element("span", { class: "name" }, tor),
      element("span", { class: "figures" }, figures),
    ),
  );
}

// The racks with the greatest loss in that time, also if they were well at its end.
const LOSERS = 8;
function losersOf(racks) {
  const losers = racks.filter(({ lost }) => lost > 0).sort((a, b) => b.lost - a.lost);
  if (losers.length === 0) return "";
  const names = losers.slice(0, LOSERS).map(({ tor, lost }) => `${tor} ${percent(lost)}`);
  return element("p", {}, `Racks with the highest loss: ${names.join(", ")}${losers.length > LOSERS ? `; ${count(losers.length)} racks lost probes` : ""}.`);
}

function gridOf(racks, region, from, to) {
  const counts = STATES.map((state) => [state, racks.filter((rack) => rack.state === state).length]).filter(([, number]) => number > 0);
  const path = (tor) => pathOf(region, tor, to.toISOString(), (to - from) / 1000);
  return element(
    "section",
    { class: racks.length > MANY ? "region many" : "region" },
    element(
      "h2",
      {},
      `Racks at ${clock(to, true)} `,
      element("span", { class: "counts" }, counts.map(([state, number]) => element("span", { class: state }, `${MARKS[state]} ${count(number)} ${state}`))),
    ),
    walkable(element("ul", { class: "racks" }, racks.map((rack) => tile(rack, path(rack.tor))))),
  );
}

export async function lookAtRegion(region, from, to, known) {
  // Not all in one Promise.all: the analyzer answers four requests for history at a time.
  const lines = await Promise.all(Object.entries(SCOPES).map((scope) => lineOf(scope, region, from, to)));
  const [open, rackRows] = await Promise.all([
    incidentsIn(region, from, to, () => true, known),
    askRows("rm_rack", { from: new Date(to - LAST_WORD_S * 1000), to, region, columns: RACK }),
  ]);
  const lost = await lostBy(region, from, to);
  const names = (known.health?.racks ?? []).filter((rack) => rack.region === region).map((rack) => rack.tor);
  const still = open.incidents.filter((each) => each.state !== "resolved");
  const racks = racksThen(rackRows.rows, still, names, lost.racks);
  const series = (value) => lines.map(({ name, filled }) => ({ name, points: filled.map((each) => [each.time, value(each)]) }));
  const frame = { from: +from, to: +to, marks: marksOf(open, from, to) };
  return [
    element("p", {}, `${summary(lines, open, from, to)} ${still.length > 0 ? `At the end of that time ${several(still.length, "incident")} ${still.length === 1 ? "was" : "were"} open.` : ""}`),
    ...cut(open.late || rackRows.truncated, open.early),
    chart("Lost", { ...frame, series: series((each) => (each.left > 0 ? each.lost / each.left : null)), words: percent }),
    chart("RTT, 99th percentile", { ...frame, series: series((each) => each.p99), words: duration }),
    ...incidentsOf(open),
    racks.length === 0 ? "" : gridOf(racks, region, from, to),
    lost.racks === null ? element("p", { class: "quiet" }, `The loss of each rack is not known: ${lost.reason}.`) : losersOf(racks),
  ];
}
