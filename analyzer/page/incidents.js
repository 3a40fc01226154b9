// Lists of incidents, open and resolved.

import { element, setText, show } from "./element.js";
import { age, clock, several } from "./words.js";

export const href = (incident) => `#/incident/${encodeURIComponent(incident.id)}`;
export const isOpen = (incident) => incident.state === "open";
export const impact = (incident) => incident.evidence?.impact ?? "unknown";

const RANK = { critical: 0, major: 1, warning: 2 };
const rank = (incident) => RANK[incident.severity] ?? 3;

// Splits "RNIC h1/r0 at t1 neither sends nor receives: in 1.0 s ... Ruled out: ..." into the verdict
// and the observation. The part after "Ruled out:" is left out: the evidence has it, too.
export function sentenceParts(incident) {
  const [seen] = (incident.sentence ?? "").split(" Ruled out: ");
  const end = seen.indexOf(": ");
  return end < 0 ? [seen, ""] : [seen.slice(0, end), seen.slice(end + 2)];
}

// Open incidents first, by severity; then the newest.
function byWeight(a, b) {
  return (
    isOpen(b) - isOpen(a) ||
    (isOpen(a) ? rank(a) - rank(b) : 0) ||
    String(b.opened).localeCompare(String(a.opened))
  );
}

class Line {
  constructor(incident) {
    this.severity = element("span", { class: "severity" });
    this.what = element("b");
    this.seen = element("span", { class: "seen" });
    this.when = element("span", { class: "when" });
    this.link = element("a", { href: href(incident) }, this.severity, this.what, this.seen, this.when);
    this.item = element("li", {}, this.link);
  }

  update(incident) {
    const [what, seen] = sentenceParts(incident);
    const whom = incident.evidence?.services ? `: ${incident.evidence.services}` : "";
    const hurt = impact(incident) === "unknown" ? "" : ` · ${impact(incident)}${whom}`;
    this.item.className = `incident ${incident.state} ${incident.severity}`;
    setText(this.severity, incident.severity);
    setText(this.what, what);
    setText(this.seen, seen);
    const end = isOpen(incident) ? `, for ${age(Math.max(0, Date.now() - new Date(incident.opened)))}` : ` to ${clock(incident.resolved)}`;
    const silent = incident.source_silent ? ", no daemon that reported it is connected" : "";
    setText(this.when, `${incident.region}${incident.tor ? ` · ${incident.tor}` : ""} · ${clock(incident.opened)}${end}${hurt}${silent}`);
  }
}

// A list whose lines stay the same elements while their texts change.
export function list() {
  const lines = new Map();
  const root = element("ol", { class: "incidents" });
  let order = "";

  function update(incidents, most) {
    const chosen = [...incidents].sort(byWeight).slice(0, most);
    for (const incident of chosen) {
      if (!lines.has(incident.id)) lines.set(incident.id, new Line(incident));
      lines.get(incident.id).update(incident);
    }
    const now = chosen.map((incident) => incident.id).join(" ");
    if (now === order) return;
    order = now;
    root.replaceChildren(...chosen.map((incident) => lines.get(incident.id).item));
    for (const id of lines.keys()) if (!chosen.some((incident) => incident.id === id)) lines.delete(id);
  }

  return { root, update };
}

const MOST = 500;

export function open() {
  const all = list();
  const head = element("h1", {}, "Incidents");
  const counted = element("p", { class: "quiet" });
  const nothing = element("p", { class: "quiet" }, "There has been no incident since the analyzer started.");
  const filter = element("input", {
    id: "filter",
    type: "search",
    placeholder: "part, rack, service, words ( / )",
    "aria-label": "Show incidents that contain this text",
    autocomplete: "off",
    oninput: () => render(),
  });
  const onlyOpen = element("input", { type: "checkbox", id: "only-open", onchange: () => render() });
  let incidents = [];

  function render() {
    const text = filter.value.trim().toLowerCase();
    const fits = incidents.filter(
      (each) =>
        (!onlyOpen.checked || isOpen(each)) &&
        `${each.part} ${each.tor} ${each.region} ${each.kind} ${each.sentence} ${impact(each)} ${each.evidence?.services ?? ""}`.toLowerCase().includes(text),
    );
    all.update(fits, MOST);
    setText(counted, `${several(fits.length, "incident")}${fits.length > MOST ? `, ${MOST} of them are shown` : ""}`);
    show(nothing, incidents.length === 0);
  }

  return {
    title: "Incidents",
    root: element(
      "div",
      {},
      head,
      element(
        "form",
        { class: "bar", onsubmit: (event) => event.preventDefault() },
        filter,
        element("label", {}, onlyOpen, " only open incidents"),
        counted,
      ),
      nothing,
      all.root,
    ),
    update(known) {
      incidents = [...known.incidents.values()];
      render();
    },
  };
}
