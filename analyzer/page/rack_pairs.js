// The pairs of racks that lose most now, shown for an incident of a part between racks: they show
// which racks it affects.

import { NoAnswer, ask } from "./ask.js";
import { element, table } from "./element.js";
import { count, duration, percent, several } from "./words.js";

const SHOWN = 8;
const BETWEEN = ["link", "switch", "path", "tor"]; // types of parts that several racks use

// Indexes of the columns "Lost out" and "Lost back". They are left out if no pair has them: the
// direction in which a probe between racks was lost is not always known.
const LOST = [4, 5];
const COLUMNS = [["From"], ["To"], ["Loss", "number"], ["Sent", "number"], ["Lost out", "number"], ["Lost back", "number"], ["RTT p99", "number"]];

export const isBetweenRacks = (part_type) => BETWEEN.includes(part_type);

const linkTo = ({ region, tor }) => element("a", { href: `#/rack/${encodeURIComponent(region)}/${encodeURIComponent(tor)}` }, tor);

const row = (pair, tors) => [
  linkTo(tors[pair.from]),
  linkTo(tors[pair.to]),
  percent(pair.no_reply / pair.sent),
  count(pair.sent),
  pair.lost_forward === null ? null : count(pair.lost_forward),
  pair.lost_reverse === null ? null : count(pair.lost_reverse),
  duration(pair.rtt_p99_ns),
];

export function rackPairs(region) {
  const body = element("div", {});
  const root = element("section", { class: "rack-pairs", hidden: true }, element("h2", {}, "Pairs of racks with the highest loss in the last minute"), body);
  let asking = false;

  function draw({ columns, pairs, tors, pairs_probed, pairs_losing }) {
    const named = pairs.map((each) => Object.fromEntries(columns.map((column, i) => [column, each[i]])));
    const losing = named.filter((pair) => pair.sent > 0 && pair.no_reply > 0);
    const rows = losing.map((pair) => row(pair, tors));
    const shown = COLUMNS.map((_, i) => !LOST.includes(i) || rows.some((cells) => cells[i] !== null));
    const kept = (cells) => cells.filter((_, i) => shown[i]);
    body.replaceChildren(
      element("p", { class: "quiet" }, `${count(pairs_losing)} of ${several(pairs_probed, "probed pair")} of racks ${pairs_losing === 1 ? "loses" : "lose"} probes${losing.length === 0 ? "." : " (also those that another fault causes):"}`),
      losing.length === 0 ? "" : table("Pairs of racks", kept(COLUMNS), rows.map(kept)),
    );
  }

  return {
    root,
    // Nothing else waits for the answer. open: true if the incident is open; otherwise nothing is
    // requested or shown.
    async ask(open) {
      root.hidden ||= !open;
      if (asking || !open) return;
      asking = true;
      try {
        draw(await ask(`/v1/mesh?period=minute&worst=${SHOWN}&by=loss&region=${encodeURIComponent(region)}`));
        root.hidden = false;
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        root.hidden = true; // old figures must not look live
      } finally {
        asking = false;
      }
    },
  };
}
