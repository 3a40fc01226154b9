// Loss, round trips and availability of the last hour and day.

import { ask } from "./ask.js";
import { element, table } from "./element.js";
import { count, duration, percent } from "./words.js";

const EACH_MS = 10000;
const COLUMNS = [
  ["Region"],
  ["Scope"],
  ["DSCP", "number"],
  ["Probes", "number"],
  ["Lost", "number"],
  ["Availability", "number"],
  ["Known", "number"],
  ["RTT p50", "number"],
  ["p95", "number"],
  ["p99", "number"],
  ["max", "number"],
];
const SCOPES = { rack: "inside racks", fabric: "between racks" };

const availability = (part) => (part === null || part === undefined ? "–" : `${(Math.floor(part * 1e5) / 1e3).toFixed(3)} %`);

function row(scope, period) {
  const f = scope[period];
  return [
    scope.region,
    SCOPES[scope.scope] ?? scope.scope,
    String(scope.dscp),
    count(f.sent),
    percent(f.sent > 0 ? f.loss : null),
    availability(f.availability),
    availability(f.known),
    ...["p50", "p95", "p99", "max"].map((each) => duration(f.rtt_ns?.[each])),
  ];
}

export function open() {
  const tables = element("div", {}, element("p", { class: "quiet" }, "Asking…"));

  return {
    title: "SLA",
    each_ms: EACH_MS,
    root: element(
      "div",
      {},
      element("h1", {}, "Service levels"),
      element(
        "p",
        { class: "quiet" },
        "A rack was available in a minute in which it lost less than the threshold of the analyzer’s config; ",
        "a minute without results is not available. Known: minutes with results.",
      ),
      tables,
    ),
    async ask() {
      const { scopes } = await ask("/v1/sla");
      const name = (scope) => `${scope.region} ${scope.scope} ${scope.dscp}`;
      scopes.sort((a, b) => name(a).localeCompare(name(b)));
      tables.replaceChildren(
        ...(scopes.length === 0
          ? [element("p", { class: "quiet" }, "No minute is over yet.")]
          : ["hour", "day"].map((period) => table(`The last ${period}`, COLUMNS, scopes.map((scope) => row(scope, period))))),
      );
    },
    update() {},
  };
}
