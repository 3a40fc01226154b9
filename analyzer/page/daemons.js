// The view of the daemons: the connected aggregators with their releases, and the agents of all
// racks.

import { agents } from "./agents.js";
import { ask } from "./ask.js";
import { element, table } from "./element.js";
import { age, clock, count, several } from "./words.js";

const EACH_MS = 3000;
const SHOWN = 50;
const SILENT_MS = 3000; // a heartbeat is due every second
const NOT_REPORTED = "not reported";
const COLUMNS = [
  ["Region"],
  ["Aggregator"],
  ["ToRs"],
  ["Release"],
  ["Address"],
  ["Since"],
  ["Last message", "number"],
  ["Summaries", "number"],
  ["Incidents", "number"],
  ["Not stored yet", "number"],
];

const row = (each) => [
  each.region,
  each.name,
  each.tors.join(", "),
  each.version ?? NOT_REPORTED,
  each.address,
  clock(each.since),
  `${age(each.last_heard_ms)} ago${each.held ? ", not read: the history is full" : ""}`,
  count(each.summaries),
  count(each.incidents),
  count(each.unacked),
];

const isOdd = (each, common) => each.held || each.last_heard_ms > SILENT_MS || (each.version ?? NOT_REPORTED) !== common;

// The most common of the versions.
function commonOf(versions) {
  const counts = new Map();
  for (const each of versions) counts.set(each, (counts.get(each) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

const byName = (a, b) => `${a.region} ${a.name}`.localeCompare(`${b.region} ${b.name}`, "en", { numeric: true });

export function open() {
  const list = element("div", {}, element("p", { class: "quiet" }, "Asking…"));
  const mixed = element("p", { class: "quiet" });
  const all = agents();

  return {
    title: "Daemons",
    each_ms: EACH_MS,
    root: element(
      "div",
      {},
      element("h1", {}, "Aggregators"),
      mixed,
      list,
      all.root,
      element("p", { class: "quiet" }, "For the releases of controllers, and what was rolled out, run ", element("code", {}, "rackmeshctl versions"), "."),
    ),
    close: () => all.close(),
    async ask() {
      const { aggregators } = await ask("/v1/aggregators");
      const versions = aggregators.map((each) => each.version ?? NOT_REPORTED);
      const common = commonOf(versions);
      const different = new Set(versions).size;
      const rank = (each) => (isOdd(each, common) ? 0 : 1);
      aggregators.sort((a, b) => rank(a) - rank(b) || byName(a, b));
      const most = aggregators.length > SHOWN ? `; ${SHOWN} of them are listed, those that send nothing, are not read or have another release first` : "";
      mixed.textContent = `${several(aggregators.length, "aggregator")}, ${
        different !== 1 ? several(different, "release") : common === NOT_REPORTED ? "no aggregator reports its release" : `all of release ${common}`
      }${most}`;
      list.replaceChildren(
        aggregators.length === 0
          ? element("p", { class: "trouble" }, "No aggregator is connected.")
          : table("Connected now", COLUMNS, aggregators.slice(0, SHOWN).map(row)),
      );
    },
    update: (known) => all.update(known.health.racks),
  };
}
