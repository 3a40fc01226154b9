// The agents of all racks: which release each runs, and how it is. Every rack's aggregator is
// asked for its hosts, a few at a time; nothing else waits for them.

import { NoAnswer, ask } from "./ask.js";
import { element, say, show, table } from "./element.js";
import { COLUMNS, agentOf, hostsIn, releasesOf, row, sorted } from "./hosts.js";
import { count, several } from "./words.js";

const AT_ONCE = 3; // the analyzer passes on 32 questions at once, of everybody
const PATIENCE_MS = 12000; // the analyzer says after 10 s that an aggregator does not answer
const LEAST_PAUSE_MS = 5000; // between two rounds; a long round is followed by a longer pause
const SHOWN = 200;
const DRAWN_MS = 1000; // between two drawings of a round: thousands of hosts are sorted for each

const key = (rack) => `${rack.region}/${rack.tor}`;
const BY_NAME = new Intl.Collator("en", { numeric: true });

const inRack = ({ region, tor }) => element("a", { href: `#/rack/${encodeURIComponent(region)}/${encodeURIComponent(tor)}` }, `${region} / ${tor}`);

const holds = (host, text) => `${host.host} ${host.region} ${host.tor} ${host.state} ${agentOf(host)} ${host.slowed ?? ""}`.toLowerCase().includes(text);

function releases(hosts) {
  const racksOf = (release) => new Set(hosts.filter((each) => each.version !== undefined && agentOf(each) === release).map(key)).size;
  return table(
    "Releases of agents",
    [["Release"], ["Agents", "number"], ["In racks", "number"]],
    releasesOf(hosts).map(([release, number]) => [release, count(number), count(racksOf(release))]),
  );
}

export function agents() {
  const told = new Map(); // by rack: its hosts, or why they are not known
  const summary = element("p", { class: "quiet" }, "Asking…");
  const silent = element("p", { class: "trouble", hidden: true });
  const most = element("p", { class: "quiet" });
  const counted = element("div", {});
  const list = element("div", {});
  const filter = element("input", {
    id: "filter",
    type: "search",
    placeholder: "host, rack, release, state ( / )",
    "aria-label": "Show agents that hold this",
    autocomplete: "off",
    oninput: () => render(),
  });
  let racks = [];
  let drawn = "";
  let drawnAt = -Infinity;
  let drawingMs = 0; // what the last drawing took
  let timer = null;
  let asking = false;
  let closed = false;

  function render() {
    const began = performance.now();
    draw();
    drawnAt = performance.now();
    drawingMs = drawnAt - began;
  }

  function draw() {
    const here = racks.filter((rack) => told.has(key(rack)));
    const hosts = here.flatMap((rack) => (told.get(key(rack)).hosts ?? []).map((host) => ({ ...host, region: rack.region, tor: rack.tor })));
    const failed = here.filter((rack) => told.get(key(rack)).why);
    const text = filter.value.trim().toLowerCase();
    const state = JSON.stringify([text, racks.length, here.length, failed.length, hosts]);
    if (state === drawn) return; // what somebody reads, or has marked, stays
    drawn = state;
    const found = sorted(hosts, releasesOf(hosts)[0]?.[0]).filter((host) => holds(host, text));
    const waiting = racks.length - here.length;
    const well = hosts.filter((host) => host.state === "ok").length;
    say(summary, `${several(hosts.length, "host")}, ${count(well)} ok${waiting > 0 ? `; ${count(waiting)} of ${several(racks.length, "rack")} not asked yet` : ""}.`);
    say(silent, failed.length === 0 ? "" : `Not known of ${several(failed.length, "rack")}: ${failed.slice(0, 3).map((rack) => `${rack.tor} (${told.get(key(rack)).why})`).join(", ")}${failed.length > 3 ? ", …" : ""}`);
    show(silent, failed.length > 0);
    counted.replaceChildren(hosts.length === 0 ? "" : releases(hosts));
    say(most, `${several(found.length, "agent")}${found.length > SHOWN ? `, ${SHOWN} of them shown, those in trouble or of another release first` : ""}`);
    list.replaceChildren(
      found.length === 0 ? "" : table("Hosts and their agents", [COLUMNS[0], ["Rack"], ...COLUMNS.slice(1)], found.slice(0, SHOWN).map((host) => [row(host)[0], inRack(host), ...row(host).slice(1)])),
    );
  }

  async function askRack(rack) {
    try {
      const answer = await ask(`/v1/hosts/${encodeURIComponent(rack.tor)}?region=${encodeURIComponent(rack.region)}`, PATIENCE_MS);
      const hosts = hostsIn(answer);
      told.set(key(rack), hosts === undefined ? { why: "its aggregator is of a release that does not tell" } : { hosts });
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      told.set(key(rack), { why: error.message });
    }
  }

  async function askAll() {
    timer = null;
    asking = true;
    const began = performance.now();
    const waiting = [...racks];
    const askSome = async () => {
      while (waiting.length > 0 && !closed) {
        await askRack(waiting.shift());
        if (!closed && performance.now() - drawnAt > Math.max(DRAWN_MS, 10 * drawingMs)) render();
      }
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, askSome));
    } finally {
      asking = false;
    }
    if (closed) return;
    render();
    timer = setTimeout(again, Math.max(LEAST_PAUSE_MS, 10 * (performance.now() - began)));
  }

  // A tab that nobody looks at asks nothing.
  function again() {
    if (document.hidden) timer = setTimeout(again, LEAST_PAUSE_MS);
    else askAll();
  }

  return {
    root: element(
      "section",
      {},
      element("h1", {}, "Agents"),
      summary,
      silent,
      counted,
      element("form", { class: "bar", onsubmit: (event) => event.preventDefault() }, filter, most),
      list,
    ),
    update(known) {
      racks = [...known].sort((a, b) => BY_NAME.compare(key(a), key(b)));
      const here = new Set(racks.map(key));
      for (const name of told.keys()) if (!here.has(name)) told.delete(name);
      if (racks.length > 0 && !asking && timer === null) askAll();
      else if (racks.length === 0) say(summary, "No rack is told of.");
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
