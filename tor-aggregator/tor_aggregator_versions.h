/*
 * tor_aggregator_versions - reports the release of each peer of this aggregator to the
 * controller.
 */
#ifndef TOR_AGGREGATOR_TOR_AGGREGATOR_VERSIONS_H
#define TOR_AGGREGATOR_TOR_AGGREGATOR_VERSIONS_H

struct tor_aggregator;

/* Call it once a second. If a version has changed since the last report, or the
 * connection is new, it sends all versions. */
void tor_aggregator_report_versions(struct tor_aggregator *aggregator);

#endif
