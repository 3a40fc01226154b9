// The view of one incident: which part is at fault, the evidence, and which services it affects.

import { NoAnswer, ask } from "./ask.js";
import { element, facts, setText, show, table } from "./element.js";
import { isOpen, list, sentenceParts } from "./incidents.js";
import { advice } from "./kind.js";
import { endedOf, listOf, pathOf } from "./past.js";
import { isBetweenRacks, rackPairs } from "./rack_pairs.js";
import { age, clock, count, holds, partsOf, percent, several } from "./words.js";

const EACH_MS = 2000;
const PAST_S = 31 * 86400; // how far back the history is searched
const MOST_ROWS = 1000;
const PAST_PATIENCE_MS = 25000; // the analyzer gives up after 20 s
const BEFORE_SHOWN = 5; // most other incidents of the same part
const AROUND_S = 900; // length of the linked history, half of it before the opening

const LEGS = [
  ["to_part", "to it, or over it"],
  ["from_part", "from it"],
  ["outside", "its own probes out of the rack"],
  ["others", "that did not touch it"],
  ["service_probes", "probes of services over it, both ways"],
];
const IMPACTS = {
  P0: "P0: probes that follow a service’s flows over it are lost",
  P1: "P1: a service uses it",
  P2: "P2: no service uses it",
};
// Types of parts that have an impact. Services do not use daemons, and the impact of a blind rack
// cannot be known.
const TRACED = ["rnic", "host", "tor", "link", "switch", "path"];
const NOT_KNOWN = "not known: services are not traced on all hosts that could use it, or not all of their paths";
const impactOf = ({ part_type, evidence }) => IMPACTS[evidence.impact] ?? (TRACED.includes(part_type) ? NOT_KNOWN : null);
const services = ({ evidence }) => (evidence.services ? `: ${evidence.services}` : "");

// The impact, above everything else: it is what an operator needs first.
function impactLine(incident) {
  const words = impactOf(incident);
  if (words === null) return null;
  const known = incident.evidence.impact in IMPACTS;
  return element(
    "p",
    { class: known ? `impact ${incident.evidence.impact}` : "impact quiet" },
    element("b", {}, "Impact"),
    ` ${words}${services(incident)}`,
  );
}

const DIRECTIONS = { receive: "what is sent to it", send: "what it sends", both: "both ways" };

function legs(evidence) {
  const rows = LEGS.filter(([key]) => (evidence[key]?.sent ?? 0) > 0).map(([key, name]) => {
    const { sent, arrived } = evidence[key];
    return [name, count(sent), count(arrived), count(sent - arrived), percent((sent - arrived) / sent)];
  });
  const seconds = (evidence.window_ms ?? 0) / 1000;
  return rows.length === 0
    ? null
    : table(
        `Packets counted in ${seconds} s from ${clock(evidence.window_start, true)}`,
        [["Packets"], ["Sent", "number"], ["Arrived", "number"], ["Lost", "number"], ["Share", "number"]],
        rows,
      );
}

// The fields of samples differ by kind: each field that any sample fills becomes a column. 0 does not
// count as filled, except for the DSCP.
function samples(evidence) {
  const list = evidence.samples ?? [];
  const keys = [...new Set(list.flatMap((sample) => Object.keys(sample)))].filter((key) =>
    key !== "path" && list.some((sample) => key === "dscp" || ![null, undefined, "", 0].includes(sample[key])),
  );
  if (list.length === 0 || keys.length === 0) return null;
  return table(
    "Probes that show the fault",
    keys.map((key) => [key.replaceAll("_", " "), typeof list[0][key] === "number" ? "number" : null]),
    list.map((sample) => keys.map((key) => (sample[key] === null || sample[key] === undefined ? null : String(sample[key])))),
  );
}

// The links at fault. The links of a switch may follow its name: "spine1 or spine1--tor1".
const linksOf = ({ part, part_type, evidence }) => [...(["link", "switch"].includes(part_type) ? part.split(" or ") : []), ...(evidence.links ?? [])];

// A path as a list of hops ("spine1@10.0.0.1"). Hops whose name is in the part's name or in one of
// its links are marked, and so are the steps over these links.
function path(text, incident) {
  const parts = partsOf(incident);
  const links = linksOf(incident);
  const hops = text.split(/[ >,]+/).filter(Boolean).map((hop) => hop.split("@"));
  // "spine3->tor1" fails only in that direction.
  const isCut = (from, to) => [`${from}->${to}`, `${from}--${to}`, `${to}--${from}`].some((link) => links.includes(link));
  const isStep = (i) => i > 0 && isCut(hops[i - 1][0], hops[i][0]);
  return element(
    "ol",
    { class: "hops" },
    hops.map(([name, address], i) =>
      element(
        "li",
        { class: [parts.some((part) => holds(part, name)) ? "suspect" : "", isStep(i) ? "cut" : ""].join(" ").trim() || null, title: address ?? null },
        name === "?" ? "silent" : name,
      ),
    ),
  );
}

function paths(incident) {
  const found = new Set();
  const add = (text) => typeof text === "string" && text.includes("@") && found.add(text);
  add(incident.evidence.path);
  for (const sample of incident.evidence.samples ?? []) add(sample.path);
  if (incident.part_type === "path") add(incident.part);
  if (found.size === 0) return null;
  return element("section", {}, element("h2", {}, (incident.kind ?? "").endsWith("-late") ? "Paths of late probes" : "Paths of lost probes"), [...found].slice(0, 4).map((each) => path(each, incident)));
}

function ruledOut(evidence) {
  const list = evidence.ruled_out ?? [];
  if (list.length === 0) return null;
  return element("section", {}, element("h2", {}, "Other causes that were ruled out"), element("ul", {}, list.map((each) => element("li", {}, each))));
}

function timeline(incident) {
  const steps = [
    ["began", incident.began, "the first window that showed it"],
    ["opened", incident.opened, "the verdict on the part was reported"],
    ["changed", incident.changed === incident.opened ? null : incident.changed, "the last change of the verdict"],
    ["resolved", incident.resolved, "the part had worked for long enough"],
  ].filter(([, time]) => time);
  const begun = new Date(incident.began ?? incident.opened);
  return element(
    "ol",
    { class: "timeline" },
    steps.map(([name, time, meaning]) =>
      element(
        "li",
        { title: meaning },
        element("b", {}, name),
        ` ${clock(time, true)}`,
        name === "began" ? "" : element("span", { class: "quiet" }, ` +${age(new Date(time) - begun)}`),
      ),
    ),
  );
}

function pastOf(incident, tor) {
  const end = new Date(+new Date(incident.opened) + (AROUND_S * 1000) / 2).toISOString();
  return pathOf(incident.region, tor, end, AROUND_S);
}

// The incident's rack, or the racks in the name of a link or path between racks.
function racksOf(incident, known) {
  if (incident.tor) return [incident.tor];
  const parts = partsOf(incident);
  const racks = known.health?.racks ?? [];
  return racks.filter((rack) => rack.region === incident.region && parts.some((part) => holds(part, rack.tor))).map((rack) => rack.tor);
}

// The last state in the history of an incident that the analyzer no longer knows, in the form of
// GET /v1/incidents/ID; null: the history does not have it. A row names only one source, and no
// related incidents.
async function written(id) {
  const words = new URLSearchParams({ id, from: new Date(Date.now() - PAST_S * 1000).toISOString(), limit: MOST_ROWS });
  const { columns, rows } = await ask(`/v1/history/rm_incident?${words}`, PAST_PATIENCE_MS);
  if (rows.length === 0) return null;
  const row = Object.fromEntries(columns.map((column, i) => [column, rows.at(-1)[i]]));
  const at = (ns) => (ns ? new Date(ns / 1e6).toISOString() : null);
  const resolved = row.state === "resolved" ? row.time : null;
  let evidence = {};
  try {
    evidence = JSON.parse(row.evidence ?? "{}") ?? {};
  } catch {
    // The stored text is no JSON, perhaps cut: the sentence is still shown.
  }
  return {
    ...row,
    state: resolved ? "resolved" : "open",
    tor: row.tor ?? "",
    began: at(row.began_ns),
    opened: at(row.opened_ns),
    changed: row.time,
    resolved,
    evidence: evidence.evidence ?? evidence,
    sources: [row.aggregator],
    related: [],
  };
}

// Other incidents of the same part that have ended: a fault that comes back needs another remedy.
// Returns the element at once, hidden; it is filled and shown when the history has answered, and
// stays hidden without a history.
function sameBefore(incident) {
  const body = element("div", {});
  const root = element("section", { class: "before", hidden: true }, element("h2", {}, "The same part at other times"), body);
  async function fill() {
    const now = Date.now();
    try {
      const ended = (await endedOf(incident, new Date(now - PAST_S * 1000), new Date(now))).filter((row) => row.id !== incident.id);
      body.replaceChildren(
        element("p", { class: "quiet" }, ended.length === 0 ? "No other incident of this part has ended in the last 31 days." : `${several(ended.length, "incident")} of this part ${ended.length === 1 ? "has" : "have"} ended in the last 31 days${ended.length > BEFORE_SHOWN ? ", the newest" : ""}:`),
        listOf(ended.slice(0, BEFORE_SHOWN)),
      );
      root.hidden = false;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
    }
  }
  fill();
  return root;
}

// A link per ToR, as one element; null: there is no ToR. whole: the text for the ToR "", which means
// the whole region.
function links(tors, href, words = "", whole = "") {
  const made = tors.map((tor, i) => [i > 0 ? ", " : null, element("a", { href: href(tor) }, `${tor || whole}${words}`)]);
  return tors.length === 0 ? null : element("span", {}, made.flat());
}

function about(incident, known) {
  const { evidence } = incident;
  const tors = racksOf(incident, known);
  return facts([
    ["Part", `${incident.part_type} ${incident.part}${incident.place ? ` at ${incident.place}` : ""}`],
    ["At fault", evidence.narrowed || evidence.widened],
    ["Links", evidence.links?.join(", ")],
    ["Kind", incident.kind],
    ["Severity", incident.severity],
    ["Confidence", percent(incident.confidence)],
    ["Direction", DIRECTIONS[evidence.direction]],
    ["Class", evidence.class === null || evidence.class === undefined ? null : `DSCP ${evidence.class} alone`],
    ["Observed", (incident.sentence ?? "").includes(evidence.observed) ? null : evidence.observed],
    ["Counters", evidence.counters],
    ["Counters as of", evidence.counters_at ? clock(evidence.counters_at) : null],
    ["Observed by", evidence.peers > 0 ? several(evidence.peers, "peer") : null],
    [tors.length > 1 ? "Racks" : "Rack", links(tors, (tor) => `#/rack/${encodeURIComponent(incident.region)}/${encodeURIComponent(tor)}`)],
    ["Region", incident.region],
    ["History", links([...tors, ""], (tor) => pastOf(incident, tor), " around its opening", `region ${incident.region}`)],
    ["Reported by", incident.sources.join(", ")],
    ["No contact", incident.source_silent ? "the daemons that reported this incident are not connected; the incident may have ended" : null],
    ["Id", element("code", {}, incident.id)],
  ]);
}

export function open([id], known) {
  const head = element("h1", {}, "Incident");
  const sight = element("p", {});
  const state = element("span", { class: "state" });
  const body = element("div", {}, element("p", { class: "quiet" }, "Asking…"));
  const related = list();
  const relatedHead = element("h2", { hidden: true }, "Related open incidents");
  let last = "";
  let advised = null; // the section for the incident's kind, which may change
  let before = null; // the section of sameBefore()
  let pairs = null; // pairs of racks, for a part between racks
  let past = null; // the state in the history, if the analyzer does not know the incident
  let pastResult = ""; // the result of askPast(), as a sentence; "": not asked yet

  function beforeOf(incident) {
    before ??= sameBefore(incident);
    return before;
  }

  function adviceOn(kind) {
    if (advised?.kind !== kind) advised = { kind, root: advice(kind) };
    return advised.root;
  }

  function render(incident, note = "") {
    const text = JSON.stringify(incident);
    if (text === last) return;
    last = text;
    const [what, seen] = sentenceParts(incident);
    setText(head, what);
    setText(sight, seen);
    state.className = `state ${isOpen(incident) ? "bad" : "ok"}`;
    setText(state, !isOpen(incident) ? "resolved" : note === "" ? "open" : "open when it was last reported");
    body.replaceChildren(
      ...[
        note,
        impactLine(incident),
        timeline(incident),
        about(incident, known),
        incident.kind ? adviceOn(incident.kind) : null,
        legs(incident.evidence),
        paths(incident),
        pairs?.root,
        ruledOut(incident.evidence),
        samples(incident.evidence),
        beforeOf(incident),
      ].filter(Boolean),
    );
    show(relatedHead, incident.related.length > 0);
    related.update(incident.related, incident.related.length);
  }

  function showUnknown() {
    if (past !== null) {
      render(past, element("p", { class: "quiet" }, "The analyzer no longer knows this incident. This is the last state in the history."));
      return;
    }
    if (pastResult === "") askPast();
    last = "";
    setText(state, "");
    show(relatedHead, false);
    related.update([], 0);
    body.replaceChildren(
      element("p", { class: "trouble" }, `The analyzer does not know incident ${id}, or no longer knows it.`),
      known.health?.limited ? element("p", {}, "The incident may be of a region that you may not see.") : "",
      element("p", {}, "It knows open incidents, and the last 4\u202f096 that ended since it was started. ", pastResult),
    );
  }

  // Called once. The answer may take 20 s, so no other request waits for it.
  async function askPast() {
    pastResult = "Searching the history…";
    try {
      past = await written(id);
      pastResult = "The history of the last 31 days does not have it.";
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      pastResult = `The history cannot be read: ${error.message}.`;
    }
    showUnknown();
  }

  return {
    title: "Incident",
    each_ms: EACH_MS,
    root: element(
      "article",
      { class: "one" },
      element("p", { class: "path" }, element("a", { href: "#/incidents" }, "Incidents"), " / ", state),
      head,
      sight,
      body,
      relatedHead,
      related.root,
    ),
    async ask() {
      try {
        const incident = await ask(`/v1/incidents/${encodeURIComponent(id)}`);
        incident.evidence ??= {}; // null: its text is no JSON, perhaps cut
        if (isBetweenRacks(incident.part_type)) pairs ??= rackPairs(incident.region);
        render(incident);
        pairs?.ask(isOpen(incident));
      } catch (error) {
        if (error.status !== 404) throw error;
        showUnknown();
      }
    },
    update() {},
  };
}
