/*
 * incident_table_ends - reports to localise the RNICs and hosts for which their own
 * racks have an open incident, from the table of incidents. Pure. The table is needed
 * because one message about an incident is not enough: an incident can change its kind,
 * several aggregators can report it, and it stays open while another analyzer judges
 * the region.
 */
#ifndef ANALYZER_INCIDENTS_INCIDENT_TABLE_ENDS_H
#define ANALYZER_INCIDENTS_INCIDENT_TABLE_ENDS_H

struct incident_table;
struct localise;

void incident_table_ends_report(
    const struct incident_table *table, const char *region, struct localise *localise);

#endif
