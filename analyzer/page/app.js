// The page: chooses the view from the address, and asks the analyzer once a second for what all
// views share.

import { NoAnswer, ask } from "./ask.js";
import { setText } from "./element.js";
import { clock, count } from "./words.js";
import * as daemons from "./daemons.js";
import * as history from "./history.js";
import * as incident from "./incident.js";
import * as incidents from "./incidents.js";
import * as rack from "./rack.js";
import * as kind from "./kind.js";
import * as racks from "./racks.js";
import * as sla from "./sla.js";

// A view is an object with:
// - title, and root: the element to show;
// - update(known): called when `known` has changed;
// - ask(), optional: called every each_ms, requests the data that only this view needs;
// - fail(reason), optional: called when the analyzer does not answer;
// - close(), optional: called when another view replaces it.
const VIEWS = new Map(Object.entries({ "": racks, rack, incidents, incident, history, sla, daemons, kind }));

const BEAT_MS = 1000;
const HEALTH_EVERY = 2; // beats
const OPEN_EVERY = 15; // beats; source_silent may change without a change of the incident
const HIDDEN_MS = 15000;
const MAX_BACK_OFF_MS = 8000;
const MAX_KNOWN = 4000;
const MAX_ANSWERS = 50; // of up to 1,000 open incidents each

// Data for all views. incidents: by id; changes: the number of the last change of an incident that
// is known here; answeredAt: time in ms of the analyzer's last answer.
const known = { health: null, incidents: new Map(), changes: 0, answeredAt: null };
const main = document.getElementById("view");
const statusLine = document.getElementById("status");
let shown = null;
let beats = 0;
let failures = 0;
let timer = null;

// A part of the address, which a user may have typed: if its encoding is wrong, it is used as it is.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function route() {
  shown?.close?.();
  const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  // Without the name of a rack, the view of all racks is shown.
  const view = name === "rack" && rest.filter(Boolean).length < 2 ? racks : (VIEWS.get(name) ?? racks);
  shown = view.open(rest.map(decoded), known);
  shown.asked = 0;
  main.replaceChildren(shown.root);
  document.title = `${shown.title} · Rackmesh`;
  for (const link of document.querySelectorAll("nav a")) {
    const here = link.hash === (name === "rack" ? "#/" : ["incident", "kind"].includes(name) ? "#/incidents" : `#/${name}`);
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (known.health !== null) shown.update(known);
  beatNow();
}

async function askIncidents() {
  const all = known.changes === 0;
  const answer = await ask(all ? "/v1/incidents" : `/v1/incidents?since=${known.changes}`);
  if (all) known.incidents.clear(); // not before: without an answer, an open incident must stay visible
  for (const each of answer.incidents) known.incidents.set(each.id, each);
  if (all && answer.open > answer.incidents.filter(incidents.isOpen).length) await askEveryOpen();
  known.changes = answer.changes;
  forgetOldest();
  return answer.open;
}

// An answer has a limited number of incidents. With since=, the next one goes on after the last change of it.
// What changes meanwhile is asked for later, so the number of answers is limited, too.
async function askEveryOpen() {
  for (let since = 0, left = MAX_ANSWERS; left > 0; left--) {
    const answer = await ask(`/v1/incidents?open=1&since=${since}`);
    for (const each of answer.incidents) known.incidents.set(each.id, each);
    if (answer.incidents.length === 0 || answer.changes <= since) return;
    since = answer.changes;
  }
}

function forgetOldest() {
  if (known.incidents.size <= MAX_KNOWN) return;
  const over = [...known.incidents.values()]
    .filter((each) => each.state === "resolved")
    .sort((a, b) => a.number - b.number)
    .slice(0, known.incidents.size - MAX_KNOWN);
  for (const each of over) known.incidents.delete(each.id);
}

async function askOpen() {
  const answer = await ask("/v1/incidents?open=1");
  for (const each of answer.incidents) known.incidents.set(each.id, each);
}

async function askHealth() {
  const health = await ask("/v1/health");
  if (known.health !== null && health.started !== known.health.started) {
    // The analyzer has restarted, and its numbers of changes start at 1 again.
    known.changes = 0;
  }
  known.health = health;
}

async function askCommon() {
  if (beats++ % HEALTH_EVERY === 0 || known.health === null) await askHealth();
  const open = await askIncidents();
  if (beats % OPEN_EVERY === 0) await askOpen();
  setText(document.getElementById("open"), open > 0 ? count(open) : "");
  known.answeredAt = Date.now();
}

async function askView(view) {
  if (!view.ask || Date.now() - view.asked < view.each_ms) return;
  view.asked = Date.now();
  await view.ask();
}

// The view's own request runs beside the common ones, but not before the first common answer:
// update() needs known.health.
async function askAll() {
  const first = known.health === null;
  if (first) await askCommon();
  const view = shown;
  const answers = await Promise.allSettled([first ? null : askCommon(), askView(view)]);
  const failed = answers.find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
  if (view === shown) view.update(known);
}

// Shows in the head of the page when the analyzer last answered, or why it does not answer: old
// data must not look live.
function showStatus(error) {
  if (error !== null && !(error instanceof NoAnswer)) console.error(error);
  document.body.classList.toggle("stale", error !== null);
  const since = known.answeredAt === null ? "" : ` since ${clock(known.answeredAt)}`;
  const trouble = known.health?.trouble ? `; history: ${known.health.trouble}` : "";
  const regions = known.health?.regions.map((each) => each.region) ?? [];
  // A viewer who may see only some regions must not take the others for healthy.
  const only = known.health?.limited ? ` · you may see only ${regions.length === 1 ? "region" : "regions"} ${regions.join(", ")}` : "";
  const advice = error?.status === 401 ? "; to send another token or certificate, reload the page" : "";
  setText(statusLine, error === null ? `live ${clock(known.answeredAt)} UTC${only}${trouble}` : `no answer${since}: ${error.message}${advice}`);
}

async function beat() {
  timer = null;
  try {
    await askAll();
    failures = 0;
    showStatus(null);
  } catch (error) {
    failures++;
    showStatus(error);
    if (error instanceof NoAnswer) shown.fail?.(error.message);
  }
  if (timer === null) timer = setTimeout(beat, pause());
}

function pause() {
  if (document.hidden) return HIDDEN_MS;
  return failures === 0 ? BEAT_MS : Math.min(BEAT_MS * 2 ** failures, MAX_BACK_OFF_MS);
}

// Runs the next beat now. While a beat is running nothing is done: the next one is soon.
function beatNow() {
  if (timer === null) return;
  clearTimeout(timer);
  timer = setTimeout(beat, 0);
}

window.addEventListener("hashchange", () => {
  route();
  main.focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
document.addEventListener("visibilitychange", () => document.hidden || beatNow());
document.addEventListener("keydown", (event) => {
  const field = document.getElementById("filter");
  if (event.key === "/" && field !== null && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
});
route();
beat();
