// The first view: all racks of all regions, the worst first, and the open incidents.

import { element, setText, show, walkable } from "./element.js";
import { list } from "./incidents.js";
import { MARKS, age, count, duration, ppm, several } from "./words.js";

export const STATES = ["bad", "blind", "slowed", "unknown", "paused", "ok"];
export const MANY = 200; // with more racks, a tile shows only a mark and a name
const INCIDENTS_SHOWN = 12;

const key = (rack) => `${rack.region}/${rack.tor}`;
// "slowed" is a state of this page only: some hosts probe less, and the rack is ok otherwise.
const stateOf = (rack) => (rack.state === "ok" && rack.hosts_slowed > 0 ? "slowed" : rack.state);

function figures(rack) {
  const p99 = rack.inside?.rtt_p99_ns;
  return [
    `${rack.rnics_good}/${rack.rnics} RNICs`,
    rack.loss_ppm === null ? "no probes" : `${ppm(rack.loss_ppm)} lost`,
    p99 ? `p99 ${duration(p99)}` : null,
  ]
    .filter(Boolean)
    .join(" · ");
}

class Tile {
  constructor(rack) {
    this.mark = element("span", { class: "mark", "aria-hidden": "true" });
    this.name = element("span", { class: "name" });
    this.figures = element("span", { class: "figures" });
    this.link = element("a", {}, this.mark, this.name, this.figures);
    this.item = element("li", {}, this.link);
    this.link.href = `#/rack/${encodeURIComponent(rack.region)}/${encodeURIComponent(rack.tor)}`;
    setText(this.name, rack.tor);
  }

  update(rack) {
    const state = stateOf(rack);
    const words = figures(rack);
    this.rack = rack;
    if (this.state !== state) {
      this.item.className = `rack ${state}`;
      setText(this.mark, MARKS[state] ?? "?");
      this.state = state;
    }
    setText(this.figures, words);
    const title = `${rack.tor}: ${state}; ${words}; ${several(rack.incidents_open, "open incident")}; last report ${age(rack.last_heard_ms)} ago`;
    if (this.link.title !== title) {
      this.link.title = title;
      this.link.setAttribute("aria-label", title);
    }
  }
}

class Region {
  constructor(name) {
    this.name = name;
    this.tiles = new Map();
    this.order = "";
    this.counts = element("span", { class: "counts" });
    this.cnps = element("p", { class: "bad" });
    this.list = walkable(element("ul", { class: "racks" }));
    this.nothing = element("p", { class: "quiet" }, "No rack matches.");
    this.root = element(
      "section",
      { class: "region" },
      element("h2", {}, `Region ${name} `, this.counts, element("a", { class: "past", href: `#/history/${encodeURIComponent(name)}` }, "history")),
      this.cnps,
      this.list,
      this.nothing,
    );
  }

  update(region, racks, wanted) {
    const parts = STATES.map((state) => [state, racks.filter((rack) => stateOf(rack) === state).length])
      .filter(([, number]) => number > 0)
      .map(([state, number]) => element("span", { class: state }, `${MARKS[state]} ${count(number)} ${state}`));
    const summary = `${several(racks.length, "rack")}, ${count(region.rnics_good)} of ${several(region.rnics, "RNIC")} good`;
    if (this.summary !== summary + parts.map((part) => part.textContent)) {
      this.summary = summary + parts.map((part) => part.textContent);
      this.counts.replaceChildren(summary, ...parts);
    }
    const lost = region.cnps?.state === "failing" ? region.cnps.sentence : "";
    if (this.cnps.textContent !== lost) this.cnps.textContent = lost;
    show(this.cnps, lost !== "");
    for (const rack of racks) {
      if (!this.tiles.has(key(rack))) this.tiles.set(key(rack), new Tile(rack));
      this.tiles.get(key(rack)).update(rack);
    }
    const here = new Set(racks.map(key));
    for (const [name, tile] of this.tiles) {
      if (here.has(name)) continue;
      tile.item.remove();
      this.tiles.delete(name);
    }
    this.sort(racks);
    this.filter(wanted);
  }

  // The analyzer sends the worst racks first. Tiles move only if the order has changed, and keep the
  // focus.
  sort(racks) {
    const order = racks.map(key).join(" ");
    if (order === this.order) return;
    this.order = order;
    const held = document.activeElement;
    this.list.replaceChildren(...racks.map((rack) => this.tiles.get(key(rack)).item));
    if (this.list.contains(held)) held.focus({ preventScroll: true });
  }

  filter(wanted) {
    let visible = 0;
    for (const tile of this.tiles.values()) {
      const fits = wanted(tile.rack);
      show(tile.item, fits);
      visible += fits;
    }
    show(this.nothing, visible === 0);
  }
}

export function open() {
  const regions = new Map();
  const filter = element("input", {
    id: "filter",
    type: "search",
    placeholder: "rack ( / )",
    "aria-label": "Show racks whose name contains this text",
    autocomplete: "off",
    oninput: () => refilter(),
  });
  const state = element(
    "select",
    { "aria-label": "Show racks of this state", onchange: () => refilter() },
    element("option", { value: "" }, "all states"),
    element("option", { value: "not ok" }, "not ok"),
    STATES.map((each) => element("option", { value: each }, each)),
  );
  const left = element("div", { class: "regions" });
  const nothing = element("p", { class: "quiet" }, "No aggregator has reported a rack yet.");
  const openHead = element("h2", {});
  const openList = list();
  const more = element("p", {}, element("a", { href: "#/incidents" }, "All incidents"));
  const root = element(
    "div",
    { class: "overview" },
    element("div", { class: "wide" }, element("form", { class: "bar", onsubmit: (e) => e.preventDefault() }, filter, state), nothing, left),
    element("aside", { "aria-label": "Open incidents" }, openHead, openList.root, more),
  );

  const wanted = (rack) =>
    rack.tor.toLowerCase().includes(filter.value.trim().toLowerCase()) &&
    (state.value === "" || (state.value === "not ok" ? stateOf(rack) !== "ok" : stateOf(rack) === state.value));
  const refilter = () => regions.forEach((region) => region.filter(wanted));

  function update(known) {
    const { racks } = known.health;
    left.classList.toggle("many", racks.length > MANY);
    show(nothing, racks.length === 0);
    const reported = new Set(known.health.regions.map((each) => each.region));
    for (const [name, region] of regions) {
      if (reported.has(name)) continue;
      region.root.remove();
      regions.delete(name);
    }
    for (const each of known.health.regions) {
      if (!regions.has(each.region)) {
        regions.set(each.region, new Region(each.region));
        left.append(regions.get(each.region).root);
      }
      regions.get(each.region).update(
        each,
        racks.filter((rack) => rack.region === each.region),
        wanted,
      );
    }
    const openOnes = [...known.incidents.values()].filter((each) => each.state === "open");
    setText(openHead, openOnes.length === 0 ? "No open incident" : several(openOnes.length, "open incident"));
    openList.update(openOnes, INCIDENTS_SHOWN);
  }

  return { title: "Racks", root, update };
}
