// The services that use the RNICs of a rack, and which of them an open incident affects.

import { element, notReported, table } from "./element.js";
import { count, several } from "./words.js";

const tracedOf = ({ hosts, hosts_tracing, missing }) =>
  hosts_tracing === hosts
    ? "services are traced on all hosts"
    : `services are traced on ${count(hosts_tracing)} of ${several(hosts, "host")}${missing ? ` (on the others: ${missing})` : ""}`;

const row = (each, hurt) => [
  each.service,
  hurt.length > 0 ? element("span", { class: "bad" }, `✕ ${hurt.map(({ impact, part }) => `${impact}: ${part}`).join(", ")}`) : null,
  count(each.hosts),
  count(each.rnics),
  count(each.flows),
  count(each.flows_probed),
];

// The names in a text of the evidence, such as "pod:train (lab/train-0), unit:big.service".
const namesOf = (services) => services.split(", ").map((each) => each.replace(/ \(.*$/, ""));

// answer: the services in the aggregator's answer; undefined: its release does not report them.
// hurting: open incidents as { part, impact, services: a text that names them }.
export function servicesOf([answer, hurting]) {
  if (!answer) return notReported("services");
  const { services, service_count } = answer;
  const hurtOf = ({ service }) => hurting.filter((each) => namesOf(each.services).includes(service));
  const order = services.map((each) => [each, hurtOf(each)]).sort(([, a], [, b]) => b.length - a.length);
  const hurt = order.filter(([, by]) => by.length > 0).length;
  const most = service_count > services.length ? `; the ${count(services.length)} with the most flows are listed` : "";
  return [
    element("p", { class: "quiet" }, `${several(service_count, "service")}${most}${hurt > 0 ? `, ${count(hurt)} of them on a part at fault` : ""}; ${tracedOf(answer)}.`),
    services.length === 0
      ? null
      : table("Services on the rack’s RNICs", [["Service"], ["On a part at fault"], ["Hosts", "number"], ["RNICs", "number"], ["Flows", "number"], ["Probed", "number"]], order.map(([each, by]) => row(each, by))),
  ];
}
