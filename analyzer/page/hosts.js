// Tables of the hosts of a rack and their agents: state and release.

import { element, notReported, table } from "./element.js";
import { age, count, percent, several } from "./words.js";

const SHOWN = 50;
const SILENT_MS = 3000; // a shorter silence is not shown: agents report every second

const NOT_REPORTED = "not reported";
const BY_NAME = new Intl.Collator("en", { numeric: true });

// The columns of row().
export const COLUMNS = [["Host"], ["State"], ["Agent’s release"], ["Address"], ["RNICs", "number"], ["Probing"], ["Silent", "number"], ["Dropped results", "number"]];

export function agentOf({ version }) {
  if (version === undefined) return "has not connected yet";
  return version ?? NOT_REPORTED;
}

function probingOf({ paused, slowed, slowed_permille, version }) {
  if (version === undefined) return null;
  if (paused) return "paused by hand";
  return slowed === "none" ? "as planned" : `${percent(slowed_permille / 1000)} of the plan: ${slowed}`;
}

// The cells of a host; the first one is its name.
export const row = (host) => [
  host.host,
  element("span", { class: host.state === "ok" ? "ok" : "bad" }, `${host.state === "ok" ? "✓" : "✕"} ${host.state}`),
  agentOf(host),
  host.connected ? host.address : element("span", { class: "bad" }, "not connected"),
  host.rnics === undefined ? null : count(host.rnics),
  probingOf(host),
  host.silent_ms > 0 ? age(host.silent_ms) : null,
  host.dropped_results > 0 ? count(host.dropped_results) : null,
];

// [release, number of agents], the most common release first.
export function releasesOf(hosts) {
  const counts = new Map();
  for (const host of hosts.filter((each) => each.version !== undefined)) counts.set(agentOf(host), (counts.get(agentOf(host)) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}

// How urgently a host needs attention, from 3 (it is not ok) to 0. common: the most common release.
export const oddness = (host, common) => (host.state !== "ok" ? 3 : !host.connected ? 2 : agentOf(host) !== common ? 1 : 0);

export const sorted = (hosts, common) => [...hosts].sort((a, b) => oddness(b, common) - oddness(a, common) || BY_NAME.compare(a.host, b.host));

// The hosts in an answer; undefined: the aggregator's release does not report them. A short silence,
// which changes with each answer, becomes 0, so that the table is not drawn again for it.
export const hostsIn = ({ hosts }) => hosts?.map((each) => ({ ...each, silent_ms: each.silent_ms > SILENT_MS ? each.silent_ms : 0 }));

export function hostsOf(hosts) {
  if (hosts === undefined) return notReported("hosts");
  if (hosts.length === 0) return element("p", { class: "quiet" }, "The plan has no host in this rack.");
  const releases = releasesOf(hosts);
  const ran =
    releases.length === 0
      ? "no agent has connected yet"
      : releases.length === 1
        ? `all agents that have connected are of release ${releases[0][0]}`
        : `the agents are of ${several(releases.length, "release")}: ${releases.map(([name, number]) => `${name} (${count(number)})`).join(", ")}`;
  const order = sorted(hosts, releases[0]?.[0]);
  const most = order.length > SHOWN ? `, ${SHOWN} of them are listed, those with problems first` : "";
  return [
    element("p", { class: releases.length > 1 ? null : "quiet" }, `${several(hosts.length, "host")}${most}; ${ran}.`),
    table("Hosts of the rack", COLUMNS, order.slice(0, SHOWN).map(row)),
  ];
}
