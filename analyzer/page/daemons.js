// The aggregators that are connected, with their releases, and the agents of all racks.

import { agents } from "./agents.js";
import { ask } from "./ask.js";
import { element, table } from "./element.js";
import { age, clock, count, several } from "./words.js";

const EACH_MS = 3000;
const COLUMNS = [
  ["Region"],
  ["Aggregator"],
  ["ToRs"],
  ["Version"],
  ["Address"],
  ["Since"],
  ["Heard", "number"],
  ["Summaries", "number"],
  ["Incidents", "number"],
  ["Not written yet", "number"],
];

const row = (each) => [
  each.region,
  each.name,
  each.tors.join(", "),
  each.version ?? "not told",
  each.address,
  clock(each.since),
  `${age(each.last_heard_ms)} ago${each.held ? ", held" : ""}`,
  count(each.summaries),
  count(each.incidents),
  count(each.unacked),
];

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
      element("p", { class: "quiet" }, "What controllers run, and what was rolled out: ", element("code", {}, "rackmeshctl versions"), "."),
    ),
    close: () => all.close(),
    async ask() {
      const { aggregators } = await ask("/v1/aggregators");
      const name = (each) => `${each.region} ${each.name}`;
      aggregators.sort((a, b) => name(a).localeCompare(name(b), "en", { numeric: true }));
      const versions = [...new Set(aggregators.map((each) => each.version ?? "not told"))];
      mixed.textContent = `${several(aggregators.length, "aggregator")}, ${
        versions.length === 1 ? `all of release ${versions[0]}` : several(versions.length, "release")
      }`;
      list.replaceChildren(
        aggregators.length === 0
          ? element("p", { class: "trouble" }, "No aggregator is connected.")
          : table("Connected now", COLUMNS, aggregators.map(row)),
      );
    },
    update: (known) => all.update(known.health.racks),
  };
}
