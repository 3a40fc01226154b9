// The view of the service levels: loss, round-trip times and availability of the last hour and day.

import { ask } from "./ask.js";
import { element, setText, table } from "./element.js";
import { age, count, duration, percent, several } from "./words.js";

const EACH_MS = 10000;
const DAY_MS = 86400000;
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
const OF_SERVICES = [["Region"], ["Service"], ...COLUMNS.slice(2)];
const SCOPES = { rack: "inside racks", fabric: "between racks" };

const availability = (part) => (part === null || part === undefined ? "–" : `${(Math.floor(part * 1e5) / 1e3).toFixed(3)} %`);

function row(scope, period) {
  const f = scope[period];
  return [
    scope.region,
    scope.service ?? SCOPES[scope.scope] ?? scope.scope,
    String(scope.dscp),
    count(f.sent),
    percent(f.sent > 0 ? f.loss : null),
    availability(f.availability),
    availability(f.known),
    ...["p50", "p95", "p99", "max"].map((each) => duration(f.rtt_ns?.[each])),
  ];
}

// What the figures do not contain. first: when the first minute of the day began; missing: minutes since then.
function gaps(first, missing) {
  const known_ms = Math.max(0, Date.now() - new Date(first));
  return [
    known_ms < DAY_MS ? `The figures begin ${age(known_ms)} ago: they do not contain the time before that.` : "",
    missing.day > 0
      ? `They do not contain ${several(missing.day, "minute")} of the last day in which the analyzer did not run or was started.`
      : "",
  ].join(" ");
}

export function open() {
  const tables = element("div", {}, element("p", { class: "quiet" }, "Asking…"));
  const since = element("p", { class: "quiet" });

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
        "a minute without results is not available. Known: minutes with results. ",
        "A service is judged by the probes that follow its flows, in the minutes in which there were any.",
      ),
      since,
      tables,
    ),
    async ask() {
      const { since: first, missing, scopes, services } = await ask("/v1/sla");
      const name = (scope) => `${scope.region} ${scope.service ?? scope.scope} ${scope.dscp}`;
      for (const list of [scopes, services]) list.sort((a, b) => name(a).localeCompare(name(b)));
      setText(since, gaps(first, missing));
      tables.replaceChildren(
        ...(scopes.length === 0
          ? [element("p", { class: "quiet" }, "No minute has ended yet.")]
          : ["hour", "day"].flatMap((period) => [
              table(`The last ${period}`, COLUMNS, scopes.map((scope) => row(scope, period))),
              services.length === 0 ? "" : table(`Services, the last ${period}`, OF_SERVICES, services.map((service) => row(service, period))),
            ])),
      );
    },
    update() {},
  };
}
