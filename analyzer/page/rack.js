// The view of one rack: its state, its incidents, its mesh and its counters.

import { NoAnswer, ask } from "./ask.js";
import { counters } from "./counters.js";
import { element, facts, setText, show } from "./element.js";
import { isOpen, list } from "./incidents.js";
import { mesh } from "./mesh.js";
import { ofSwitchNow } from "./past.js";
import { MARKS, age, count, duration, holds, partsOf, ppm } from "./words.js";

const EACH_MS = { minute: 2000, hour: 15000 }; // the mesh of a large rack has megabytes
// Up to SMALL_PAIRS pairs, the mesh is requested at each beat of the page, so that an operator who
// pulls a cable sees it at once.
const SMALL_EACH_MS = 900;
const SMALL_PAIRS = 1200;
const BETWEEN = ["tor", "link", "switch", "path"];
const MESH_PATIENCE_MS = 12000; // the analyzer gives up on an aggregator after 10 s
const COUNTERS_MS = 5000; // the aggregator evaluates counters every 5 s
const RECENT = 10;

const traffic = (figures) =>
  figures.sent === 0
    ? "no probes"
    : `${ppm(figures.loss_ppm)} of ${count(figures.sent)} probes lost${
        figures.rtt_p50_ns ? `, RTT p50 ${duration(figures.rtt_p50_ns)}, p99 ${duration(figures.rtt_p99_ns)}` : ""
      }`;

function rnicsOf({ rnics, rnics_good, rnics_bad }) {
  if (rnics === 1 && rnics_good + rnics_bad === 0) return "1, neither good nor bad: the rack has no other RNIC to compare it with";
  return `${rnics_good} of ${rnics} good${rnics_bad > 0 ? `, ${rnics_bad} bad` : ""}`;
}

function factsOf(rack) {
  return facts([
    ["RNICs", rnicsOf(rack)],
    ["Hosts", `${rack.hosts_ok} of ${rack.hosts} ok`],
    ["Paused by hand", rack.hosts_paused > 0 ? String(rack.hosts_paused) : null],
    ["Slowed (CPU, memory or old plan)", rack.hosts_slowed > 0 ? String(rack.hosts_slowed) : null],
    ["Inside the rack", traffic(rack.inside)],
    ["To other racks", traffic(rack.outgoing)],
    ["Brake", rack.brake_permille !== null && rack.brake_permille < 1000 ? `${rack.brake_permille / 10} % of the probes are sent` : null],
    ["Plan", `version ${rack.plan_version}`],
    ["Reported by", rack.aggregator],
    ["Aggregators", rack.aggregators.length > 1 ? rack.aggregators.join(", ") : null],
    ["Last report", `${age(rack.last_heard_ms)} ago`],
  ]);
}

// An incident of the rack, or of a link or path, or of several links, one of which ends at its ToR.
const concerns = (incident, region, tor) =>
  incident.region === region && (incident.tor === tor || partsOf(incident).some((part) => holds(part, tor)));

export function open([region, tor]) {
  const state = element("span", { class: "state" });
  const about = element("div", {}, element("p", { class: "quiet" }, "No aggregator has reported this rack yet."));
  const openList = list();
  const recent = list();
  const openHead = element("h2", {});
  const overSwitches = list();
  const overHead = element("h2", {}, "Open incidents of switches between racks, which may concern this rack");
  const recentHead = element("h2", {}, "Recently resolved");
  let period = "minute";
  const grid = mesh((chosen) => {
    period = chosen;
    askMesh();
  });

  let isSmall = false;
  let asking = null; // the period of the running request; null: none runs

  // Nothing else waits for the mesh: the rack's aggregator answers it, and may not answer.
  async function askMesh() {
    const wanted = period;
    if (asking === wanted) return;
    asking = wanted;
    try {
      const answer = await ask(`/v1/mesh/${encodeURIComponent(tor)}?period=${wanted}&region=${encodeURIComponent(region)}`, MESH_PATIENCE_MS);
      isSmall = answer.pairs.length <= SMALL_PAIRS;
      if (wanted === period) grid.update(answer);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      if (wanted === period) grid.fail(error.message);
    } finally {
      if (asking === wanted) asking = null;
    }
  }

  let hurting = [];
  const counted = counters(() => hurting);
  let countedAt = -Infinity;
  let counting = false;

  // One request at a time. Nothing else waits for it: a slow answer does not delay the mesh.
  async function askCounters() {
    if (counting || performance.now() - countedAt < COUNTERS_MS) return;
    countedAt = performance.now();
    counting = true;
    try {
      counted.update(await ask(`/v1/counters/${encodeURIComponent(tor)}?region=${encodeURIComponent(region)}`));
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      counted.fail(error.message);
    } finally {
      counting = false;
    }
  }

  return {
    title: tor,
    get each_ms() {
      return period === "minute" && isSmall ? SMALL_EACH_MS : EACH_MS[period];
    },
    root: element(
      "div",
      {},
      element("p", { class: "path" }, element("a", { href: "#/" }, `Region ${region}`), " /"),
      element("h1", {}, `${tor} `, state),
      element("p", {}, element("a", { href: `#/history/${encodeURIComponent(region)}/${encodeURIComponent(tor)}` }, "History of this rack")),
      about,
      openHead,
      openList.root,
      overHead,
      overSwitches.root,
      grid.root,
      counted.root,
      recentHead,
      recent.root,
    ),
    ask() {
      askCounters();
      askMesh();
    },
    fail: (reason) => counted.fail(reason),
    update(known) {
      const rack = known.health.racks.find((each) => each.region === region && each.tor === tor);
      if (rack !== undefined) {
        state.className = `state ${rack.state}`;
        setText(state, `${MARKS[rack.state] ?? "?"} ${rack.state}`);
        about.replaceChildren(factsOf(rack));
      } else {
        state.className = "state unknown";
        setText(state, `${MARKS.unknown} unknown`);
        about.replaceChildren(element("p", { class: "quiet" }, "No aggregator reports this rack."));
      }
      const its = [...known.incidents.values()].filter((each) => concerns(each, region, tor));
      // A part between racks may affect services of racks that are not in its name.
      hurting = [...known.incidents.values()]
        .filter((each) => isOpen(each) && each.evidence?.services)
        .filter((each) => its.includes(each) || (each.region === region && BETWEEN.includes(each.part_type)))
        .map(({ part, evidence }) => ({ part, impact: evidence.impact, services: evidence.services }));
      setText(openHead, its.some(isOpen) ? "Open incidents" : "No open incident");
      openList.update(its.filter(isOpen), RECENT);
      const over = [...known.incidents.values()].filter((each) => each.region === region && isOpen(each) && !its.includes(each) && ofSwitchNow(each));
      show(overHead, over.length > 0);
      overSwitches.update(over, RECENT);
      const past = its.filter((each) => !isOpen(each));
      show(recentHead, past.length > 0);
      recent.update(past, RECENT);
    },
  };
}
