// The agents of all racks: the release and the state of each. The aggregator of every rack is asked
// for its hosts, a few at a time; no other part of the page waits for the answers.

import { NoAnswer, ask } from "./ask.js";
import { element, setText, show, table } from "./element.js";
import { COLUMNS, agentOf, hostsIn, oddness, releasesOf, row, sorted } from "./hosts.js";
import { count, several } from "./words.js";

const AT_ONCE = 3; // the analyzer forwards 32 requests at a time, of all users together
const PATIENCE_MS = 12000; // the analyzer gives up on an aggregator after 10 s
const LEAST_PAUSE_MS = 5000; // between two rounds over all racks; longer after a long round
const SHOWN = 200;
const DRAWN_MS = 1000; // least time between two drawings within a round

const key = (rack) => `${rack.region}/${rack.tor}`;
const BY_NAME = new Intl.Collator("en", { numeric: true });

const inRack = ({ region, tor }) => element("a", { href: `#/rack/${encodeURIComponent(region)}/${encodeURIComponent(tor)}` }, `${region} / ${tor}`);

const searched = (host) => `${host.host} ${host.region} ${host.tor} ${host.state} ${agentOf(host)} ${host.slowed ?? ""}`.toLowerCase();

// Computes once per answer what every drawing needs: there may be 16,000 hosts, and each letter typed
// into the filter draws again.
function answered(rack, list) {
  const hosts = sorted(list).map((host) => ({ ...host, region: rack.region, tor: rack.tor }));
  for (const host of hosts) host.searched = searched(host);
  return { hosts, releases: releasesOf(hosts), well: hosts.filter((each) => each.state === "ok").length };
}

// [release, number of agents, number of racks] over all racks, the most common release first.
function releasesOfAll(answers) {
  const all = new Map();
  for (const { releases } of answers)
    for (const [release, number] of releases) {
      const [agents, racks] = all.get(release) ?? [0, 0];
      all.set(release, [agents + number, racks + 1]);
    }
  return [...all].map(([release, numbers]) => [release, ...numbers]).sort((a, b) => b[1] - a[1]);
}

// The hosts that match the filter: number: all; first: at most SHOWN of them, those in trouble first,
// then by rack and host. answers and their hosts are in order already, so nothing is sorted.
function chosen(answers, text, common) {
  const byOddness = [[], [], [], []];
  let number = 0;
  for (const { hosts } of answers)
    for (const host of hosts) {
      if (!host.searched.includes(text)) continue;
      number++;
      const bucket = byOddness[oddness(host, common)];
      if (bucket.length < SHOWN) bucket.push(host);
    }
  return { number, first: byOddness.reverse().flat().slice(0, SHOWN) };
}

export function agents() {
  const byRack = new Map(); // by key(rack): its hosts, or { reason } why they are not known
  const summary = element("p", { class: "quiet" }, "Asking…");
  const silent = element("p", { class: "trouble", hidden: true });
  const most = element("p", { class: "quiet" });
  const counted = element("div", {});
  const list = element("div", {});
  const filter = element("input", {
    id: "filter",
    type: "search",
    placeholder: "host, rack, release, state ( / )",
    "aria-label": "Show agents that contain this text",
    autocomplete: "off",
    oninput: () => render(),
  });
  let racks = [];
  let drawn = "";
  let changes = 0; // number of changes of `byRack`
  let drawnAt = -Infinity;
  let drawingMs = 0; // duration of the last drawing
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
    const text = filter.value.trim().toLowerCase();
    const state = `${changes} ${racks.length} ${text}`;
    if (state === drawn) return; // keeps the elements, and with them a user's selection
    drawn = state;
    const here = racks.filter((rack) => byRack.has(key(rack)));
    const failed = here.filter((rack) => byRack.get(key(rack)).reason);
    const answers = here.map((rack) => byRack.get(key(rack))).filter(({ hosts }) => hosts);
    const releases = releasesOfAll(answers);
    const found = chosen(answers, text, releases[0]?.[0]);
    const sum = (figure) => answers.reduce((so_far, answer) => so_far + figure(answer), 0);
    const waiting = racks.length - here.length;
    setText(summary, `${several(sum(({ hosts }) => hosts.length), "host")}, ${count(sum(({ well }) => well))} ok${waiting > 0 ? `; ${count(waiting)} of ${several(racks.length, "rack")} not asked yet` : ""}.`);
    setText(silent, failed.length === 0 ? "" : `The hosts of ${several(failed.length, "rack")} are not known: ${failed.slice(0, 3).map((rack) => `${rack.tor} (${byRack.get(key(rack)).reason})`).join(", ")}${failed.length > 3 ? ", …" : ""}`);
    show(silent, failed.length > 0);
    counted.replaceChildren(
      answers.length === 0
        ? ""
        : table("Releases of agents", [["Release"], ["Agents", "number"], ["In racks", "number"]], releases.map(([release, ...numbers]) => [release, ...numbers.map(count)])),
    );
    setText(most, `${several(found.number, "agent")}${found.number > SHOWN ? `; ${SHOWN} of them are shown, those in trouble or of another release first` : ""}`);
    list.replaceChildren(
      found.number === 0 ? "" : table("Hosts and their agents", [COLUMNS[0], ["Rack"], ...COLUMNS.slice(1)], found.first.map((host) => [row(host)[0], inRack(host), ...row(host).slice(1)])),
    );
  }

  async function askRack(rack) {
    try {
      const answer = await ask(`/v1/hosts/${encodeURIComponent(rack.tor)}?region=${encodeURIComponent(rack.region)}`, PATIENCE_MS);
      const hosts = hostsIn(answer);
      keep(rack, hosts ?? { reason: "its aggregator is of an older release, which does not report hosts" });
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      keep(rack, { reason: error.message });
    }
  }

  // answer: a list of hosts, or { reason } why they are not known
  function keep(rack, answer) {
    const text = JSON.stringify(answer);
    if (byRack.get(key(rack))?.text === text) return;
    byRack.set(key(rack), { ...(answer.reason ? answer : answered(rack, answer)), text });
    changes++;
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

  // A tab in the background sends no requests.
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
      for (const name of byRack.keys()) if (!here.has(name) && byRack.delete(name)) changes++;
      if (racks.length > 0 && !asking && timer === null) askAll();
      else if (racks.length === 0) setText(summary, "No rack has been reported yet.");
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
