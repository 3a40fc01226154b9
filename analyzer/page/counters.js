// The meaning of a rack's counters: whether ECN, CNPs and PFC work, the findings of the rules, and
// settings that are not as expected. A value that is not known (null) is never shown as zero.

import { element, notReported, setText, show, table } from "./element.js";
import { hostsIn, hostsOf } from "./hosts.js";
import { portsOf } from "./ports.js";
import { servicesOf } from "./services.js";
import { clock, count, several } from "./words.js";

const RNICS = 8;
const FINDINGS = 20;

const QUESTIONS = { ecn: "ECN", cnp: "CNP", pfc: "PFC" };
const STATES = {
  working: ["✓", "working", "ok"],
  "not-needed": ["✓", "not needed", "ok"],
  failing: ["✕", "failing", "bad"],
  "not-known": ["?", "not known", "unknown"],
};
const STAGES = {
  probe_ce: "path of the probes",
  switch_ce: "switch",
  host_ce: "receiver",
  cnp_per_ce: "receiver",
  cnp_balance: "sender",
  cnp_ignored: "sender",
};

const reported = (make) => (part) => (part === undefined ? notReported() : make(part));
const unknown = () => element("span", { class: "quiet" }, "not known");
const known = (value, words) => (value === null || value === undefined ? unknown() : words(value));
const share = (pct) => (pct === 0 ? "0 %" : pct < 0.01 ? "< 0.01 %" : `${Number(pct.toPrecision(3))} %`);
const nameOf = (rnic) => `${rnic.host}/${rnic.device}`;

function answerOf({ question, state, sentence }) {
  const [mark, word, colour] = STATES[state] ?? ["?", state, "unknown"];
  return element(
    "li",
    {},
    element("b", {}, QUESTIONS[question] ?? question),
    element("span", { class: `state ${colour}` }, `${mark} ${word}`),
    element("span", {}, sentence),
  );
}

function ratioOf(ratio) {
  return [
    STAGES[ratio.name],
    ratio.what,
    ratio.pct !== null ? share(ratio.pct) : ratio.known ? element("span", { class: "quiet" }, "too few packets") : unknown(),
    ratio.known ? `${count(ratio.of)} of ${count(ratio.per)}` : null,
    ratio.error,
  ];
}

const who = (pct, name) => known(pct, (value) => (value > 0 && name ? `${share(value)}, ${name}` : share(value)));

// One priority: first the pauses from the RNICs to the switch, then those in the other direction. Each
// is counted by the sender and by the receiver.
function priorityOf({ priority, host, switch: port }) {
  return [
    String(priority),
    known(host.frames_sent, count),
    known(port.frames_received, count),
    who(host.pausing_pct, host.pausing),
    who(port.paused_pct, port.paused),
    known(port.frames_sent, count),
    known(host.frames_received, count),
    who(port.pausing_pct, port.pausing),
    who(host.paused_pct, host.paused),
  ];
}

const used = ({ host, switch: port }) =>
  [host, port].some((side) => side.frames_received > 0 || side.frames_sent > 0 || side.paused_pct > 0 || side.pausing_pct > 0);

const pressure = (rnic) => 100 * ((rnic.paused_pct ?? 0) + (rnic.pausing_pct ?? 0) + (rnic.ce_pct ?? 0)) + (rnic.receive_use_pct ?? 0);

function proofOf(proof) {
  const priorities = proof.priorities.filter(used);
  const pressed = proof.rnics.filter((rnic) => pressure(rnic) > 0).sort((a, b) => pressure(b) - pressure(a));
  return [
    element("ul", { class: "answers" }, proof.answers.map(answerOf)),
    table(
      `ECN marks, and the CNPs that answer them, in ${several(proof.seconds, "second")}`,
      [["where"], ["what"], ["share", "number"], ["counted", "number"], ["remark"]],
      proof.ratios.map(ratioOf),
    ),
    priorities.length === 0
      ? element("p", { class: "quiet" }, proof.switch_read ? "No priority was paused." : "No RNIC reports a pause of any priority. The counters of the switch are not read.")
      : table(
          "Pauses, as RNICs and the switch count them, side by side",
          [
            ["priority"],
            ["frames RNICs sent", "number"],
            ["switch received", "number"],
            ["RNIC pauses switch, by the RNIC"],
            ["RNIC pauses switch, by the switch"],
            ["frames switch sent", "number"],
            ["RNICs received", "number"],
            ["switch pauses RNIC, by the switch"],
            ["switch pauses RNIC, by the RNIC"],
          ],
          priorities.map(priorityOf),
        ),
    pressed.length === 0
      ? null
      : table(
          pressed.length > RNICS ? `The ${RNICS} RNICs with most pauses, ECN marks or receive load` : "RNICs with pauses, ECN marks or receive load",
          [["RNIC"], ["receive load", "number"], ["ECN-marked", "number"], ["CNPs per mark", "number"], ["paused", "number"], ["pauses the switch", "number"]],
          pressed
            .slice(0, RNICS)
            .map((rnic) => [
              nameOf(rnic),
              ...["receive_use_pct", "ce_pct", "cnp_per_ce_pct", "paused_pct", "pausing_pct"].map((key) => known(rnic[key], share)),
            ]),
        ),
  ];
}

function findingsOf(diagnosis) {
  if (diagnosis.rnics_reported === 0) return element("p", { class: "quiet" }, "No agent has reported counters.");
  if (diagnosis.finding_count === 0)
    return element("p", { class: "quiet" }, `No problem found at ${several(diagnosis.rnics_reported, "RNIC")}.`);
  return table(
    several(diagnosis.finding_count, "finding"),
    [["RNIC"], ["diagnosis"], ["evidence", "wide"], ["since"]],
    diagnosis.findings
      .slice(0, FINDINGS)
      .map((each) => [nameOf(each), element("span", { title: each.what }, each.diagnosis), each.evidence, clock(each.since)]),
  );
}

const KINDS = {
  "pause-source": "an RNIC is the source",
  "pause-congestion": "a switch is the source: its queues are full",
  "pause-loop": "a loop: a deadlock",
  "pause-source-not-known": "the source is not known",
};

function rateOf({ paused_pct, frames_per_s }) {
  if (typeof paused_pct === "number") return share(paused_pct);
  return typeof frames_per_s === "number" ? `${count(Math.round(frames_per_s))} frames/s` : unknown();
}

const andMore = (named, all) => (all > named.length ? [...named, `${count(all - named.length)} more`] : named).join(", ");

// How pauses spread from their source: each step with the pausing part, the paused part, and how
// much.
function spreadOf({ source, priority, steps, step_count }) {
  if (!steps?.length) return null;
  return table(
    `How ${priority === null ? "global pauses" : `pauses of priority ${priority}`} spread from ${source ?? "a source that is not known"}${step_count > steps.length ? `: ${steps.length} of ${count(step_count)}` : ""}`,
    [["pauses"], ["is paused"], ["how much", "number"]],
    steps.map((step) => [step.from, step.to, rateOf(step)]),
  );
}

function pausesOf([pauses, read]) {
  if (pauses === undefined) return notReported();
  if (pauses.length === 0)
    return element("p", { class: "quiet" }, read > 0 ? `No pauses spread over the ${several(read, "switch", "switches")} that ${read === 1 ? "is" : "are"} read.` : "Not known: no switch is read.");
  return [
    table(
      `Sources of pauses that spread over the ${several(read, "switch", "switches")} that ${read === 1 ? "is" : "are"} read`,
      [["source"], ["at"], ["priority", "number"], ["how much", "number"], ["diagnosis"], ["paused by it", "wide"], ["since"]],
      pauses.map((each) => [
        each.source ?? unknown(),
        each.port ? `${each.switch} ${each.port}` : null,
        each.priority === null ? "all" : String(each.priority),
        rateOf(each),
        element("span", { title: each.evidence }, KINDS[each.diagnosis] ?? each.diagnosis),
        andMore(each.victims, each.victim_count),
        clock(each.since),
      ]),
    ),
    ...pauses.map(spreadOf),
  ];
}

function driftOf(drift) {
  if (drift.groups === 0) return element("p", { class: "quiet" }, "The aggregator's config has no expected settings.");
  const sums = `${count(drift.same)} as expected, ${count(drift.different)} different, ${count(drift.unknown)} not known`;
  if (drift.setting_count === 0) return element("p", { class: "quiet" }, `Settings: ${sums}.`);
  return table(
    `Settings: ${sums}`,
    [["RNIC or port"], ["setting"], ["expected"], ["actual"], ["since"]],
    drift.settings
      .slice(0, FINDINGS)
      .map((each) => [nameOf(each), each.setting, each.expected, each.state === "unknown" ? unknown() : each.actual, clock(each.since)]),
  );
}

// hurting(): the open incidents of the rack that affect services, in the form that servicesOf takes.
export function counters(hurting) {
  const trouble = element("p", { class: "quiet" });
  const proof = element("div", {});
  const findings = element("div", {});
  const pauses = element("div", {});
  const drift = element("div", {});
  const ports = element("div", {});
  const hosts = element("div", { class: "hosts" });
  const services = element("div", { class: "services" });
  const notes = [];
  const note = () => {
    notes.push(element("p", { class: "trouble", hidden: true }));
    return notes.at(-1);
  };
  let at = null; // time in ms of the answer that is shown; null: none yet
  const parts = [
    [proof, (answer) => answer.proof, reported(proofOf)],
    [findings, (answer) => answer.diagnosis, reported(findingsOf)],
    [pauses, (answer) => [answer.pauses, answer.switches_read], pausesOf],
    [drift, (answer) => answer.drift, reported(driftOf)],
    [ports, (answer) => [answer.switch, answer.switches, answer.hypervisors], portsOf],
    [hosts, hostsIn, hostsOf],
    [services, (answer) => [answer.services, hurting()], servicesOf],
  ].map(([place, pick, make]) => ({ place, pick, make, shown: "" }));

  return {
    root: element(
      "section",
      { class: "counters" },
      element("h2", {}, "What the counters mean"),
      trouble,
      note(),
      findings,
      element("h2", {}, "Are ECN, CNPs and PFC working?"),
      note(),
      proof,
      element("h2", {}, "Where do pauses begin?"),
      note(),
      pauses,
      element("h2", {}, "Settings that differ from the expected ones"),
      note(),
      drift,
      element("h2", {}, "Ports"),
      note(),
      ports,
      element("h2", {}, "Hosts and their agents"),
      note(),
      hosts,
      element("h2", {}, "Services"),
      note(),
      services,
    ),
    update(answer) {
      at = Date.now();
      for (const each of [trouble, ...notes]) show(each, false);
      for (const part of parts) {
        const picked = part.pick(answer);
        const text = JSON.stringify(picked);
        if (text === part.shown) continue;
        part.shown = text;
        part.place.replaceChildren(...[part.make(picked)].flat().filter(Boolean));
      }
    },
    // The last answer stays visible, with its time.
    fail(reason) {
      setText(trouble, at === null ? `There are no counters to show: ${reason}.` : `Counters cannot be refreshed: ${reason}.`);
      show(trouble, true);
      for (const each of notes) {
        setText(each, `As of ${clock(at)} UTC, not refreshed since.`);
        show(each, at !== null);
      }
    },
  };
}
