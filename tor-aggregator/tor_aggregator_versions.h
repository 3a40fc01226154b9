/*
 * tor_aggregator_versions - tells the controller which release each of our peers runs.
 * A part of the wiring.
 */
#ifndef TOR_AGGREGATOR_TOR_AGGREGATOR_VERSIONS_H
#define TOR_AGGREGATOR_TOR_AGGREGATOR_VERSIONS_H

struct tor_aggregator;

/* Once a second: sends all of them where the controller does not hold them as they are
 * now. */
void tor_aggregator_report_versions(struct tor_aggregator *aggregator);

#endif
