// The view of a rack, or of a whole region, at some time in the past: loss, round-trip times, and
// the incidents that were open.

import { NoAnswer } from "./ask.js";
import { chart } from "./chart.js";
import { element, setText } from "./element.js";
import { POINTS, askRows, cut, incidentsIn, incidentsOf, marksOf, namesTor, ofSwitch, pathOf, slotsOf, summary } from "./past.js";
import { lookAtRegion } from "./past_region.js";
import { age, clock, duration, percent } from "./words.js";

const SPANS = { "15 min": 900, "1 h": 3600, "6 h": 21600, "1 day": 86400, "7 days": 604800 };
const LEAST_S = 20; // shortest time of a point: a rack reports every 10 s
const AHEAD_MS = 60000; // clocks may differ by so much
const MOST_S = 400 * 86400; // longest time of a request
const PAIR = "sent,send_failed,sent_late,no_reply,rtt_p50_ns,rtt_p99_ns";
const DIRECTIONS = {
  "inside the rack": (row, tor) => row.src_tor === tor && row.dst_tor === tor,
  "to other racks": (row, tor) => row.src_tor === tor && row.dst_tor !== tor,
  "from other racks": (row, tor) => row.src_tor !== tor && row.dst_tor === tor,
};

// Sums the rows of each point of time. For percentiles it takes the maximum, because a mean of
// percentiles is no percentile.
function buckets(rows, from, to, step_s) {
  const { filled, slotAt } = slotsOf(from, to, step_s);
  for (const row of rows) {
    const bucket = slotAt(row.time);
    if (bucket === undefined) continue;
    bucket.left += row.sent - row.send_failed - row.sent_late;
    bucket.lost += row.no_reply;
    if (row.rtt_p50_ns !== null) bucket.p50 = Math.max(bucket.p50, row.rtt_p50_ns);
    if (row.rtt_p99_ns !== null) bucket.p99 = Math.max(bucket.p99, row.rtt_p99_ns);
  }
  return filled;
}

// The pairs of racks with this one, merged by the analyzer for each point: a rack may have hundreds of
// pairs, with a row each every 10 s.
async function pairsOf(region, tor, from, to, step_s) {
  const words = { from, to, region, step_s, columns: PAIR };
  const [outgoing, incoming] = await Promise.all([
    askRows("rm_tor_pair", { ...words, src_tor: tor, by: "dst_tor" }),
    askRows("rm_tor_pair", { ...words, dst_tor: tor, by: "src_tor" }),
  ]);
  return {
    rows: [
      ...outgoing.rows.map((row) => ({ ...row, src_tor: tor })),
      ...incoming.rows.filter((row) => row.src_tor !== tor).map((row) => ({ ...row, dst_tor: tor })),
    ],
    truncated: outgoing.truncated || incoming.truncated,
  };
}

async function lookAtRack(region, tor, from, to, known) {
  const concerns = (row) => namesTor(row, tor) || ofSwitch(row);
  const step_s = Math.max(LEAST_S, Math.ceil((to - from) / 1000 / POINTS));
  const [pairs, open] = await Promise.all([pairsOf(region, tor, from, to, step_s), incidentsIn(region, from, to, concerns, known)]);
  const lines = Object.entries(DIRECTIONS).map(([name, holds]) => ({ name, filled: buckets(pairs.rows.filter((row) => holds(row, tor)), from, to, step_s) }));
  const series = (value) => lines.map(({ name, filled }) => ({ name, points: filled.map((each) => [each.time, value(each)]) }));
  const frame = { from: +from, to: +to, marks: marksOf(open, from, to) };
  return [
    element("p", {}, summary(lines, { ...open, whole: open.whole && !pairs.truncated }, from, to)),
    ...cut(pairs.truncated || open.late, open.early),
    chart("Lost", { ...frame, series: series((each) => (each.left > 0 ? each.lost / each.left : null)), words: percent }),
    chart("RTT, 99th percentile", { ...frame, series: series((each) => each.p99), words: duration }),
    chart("RTT, median", { ...frame, series: series((each) => each.p50), words: duration }),
    ...incidentsOf(open),
  ];
}

// A time in an address. Without a zone it is UTC, and not the zone of the browser.
const timeOf = (text) => new Date(/T[^Z+-]*$/.test(text) ? `${text}Z` : text);

const local = (time) => time.toISOString().slice(0, 19);

// #/history/REGION/TOR/2026-01-31T04:10:00Z/3600: the hour (3,600 s) that ends at that time. With an
// empty ToR: the whole region.
export function open([region, tor, until, span], known) {
  const choice = element("select", { "aria-label": "Region or rack" });
  const end = element("input", { type: "datetime-local", step: "1", "aria-label": "Until (UTC)" });
  const spans = element(
    "select",
    { "aria-label": "How long" },
    Object.entries(SPANS).map(([name, seconds]) => element("option", { value: seconds }, name)),
  );
  const to = until ? timeOf(until) : new Date();
  const valid = !Number.isNaN(+to);
  const hint = valid ? "Choose a region or a rack, and a time." : `The time ${until} in the address cannot be read: give it as 2026-01-31T04:10:00Z, in UTC.`;
  const found = element("div", {}, element("p", { class: "quiet" }, hint));
  let filled = 0; // how many regions and racks `choice` offers
  let asked = false;

  // An address may have another length than those offered, in whole seconds.
  const asked_s = /^\d{1,8}$/.test(span ?? "") ? Math.max(LEAST_S, Math.min(Number(span), MOST_S)) : 3600;
  if (!Object.values(SPANS).includes(asked_s)) spans.prepend(element("option", { value: asked_s }, age(asked_s * 1000)));
  spans.value = String(asked_s);
  end.value = local(valid ? to : new Date());

  function fillChoice({ regions, racks }) {
    if (filled === regions.length + racks.length) return;
    filled = regions.length + racks.length;
    const chosen = choice.value || (region ? JSON.stringify([region, tor ?? ""]) : "");
    const names = regions.flatMap((each) => [[each.region, ""], ...racks.filter((rack) => rack.region === each.region).map((rack) => [rack.region, rack.tor])]);
    if (region && !names.some(([r, t]) => r === region && t === (tor ?? ""))) names.unshift([region, tor ?? ""]);
    choice.replaceChildren(...names.map(([r, t]) => element("option", { value: JSON.stringify([r, t]) }, t ? `${r} / ${t}` : `${r}: all racks`)));
    if (chosen) choice.value = chosen;
  }

  async function fetchAll() {
    if (!region || !valid) return;
    const from = new Date(to - Number(spans.value) * 1000);
    found.replaceChildren(element("p", { class: "quiet" }, "Reading the history…"));
    try {
      const inFuture = to > Date.now() + AHEAD_MS ? [element("p", { class: "trouble" }, `${clock(to, true)} UTC is in the future.`)] : [];
      found.replaceChildren(...inFuture, ...(await (tor ? lookAtRack(region, tor, from, to, known) : lookAtRegion(region, from, to, known))));
    } catch (error) {
      if (!(error instanceof NoAnswer)) console.error(error);
      found.replaceChildren(element("p", { class: "trouble" }, `The history cannot be read: ${error.message}.`));
    }
  }

  const head = element("h1", {});
  const name = tor || region;
  setText(head, tor ? `${tor} in the past` : region ? `Region ${region} in the past` : "History");
  return {
    title: name ? `${name}, history` : "History",
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
            location.hash = pathOf(r, t, `${end.value}Z`, spans.value);
          },
        },
        choice,
        element("label", {}, "until (UTC) ", end),
        spans,
        element("button", {}, "Show"),
      ),
      found,
    ),
    // The first request waits for update(): it needs the racks and the open incidents in `known`.
    update(now) {
      fillChoice(now.health);
      if (!asked) fetchAll();
      asked = true;
    },
  };
}
