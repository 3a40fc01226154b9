/*
 * incident_table_ends - lists, for the judgement over racks, the RNICs and hosts that
 * their own racks hold bad now, from the table of incidents. Pure. Only that table has
 * this: an incident changes its kind, is reported by several aggregators, and stays
 * open while another analyzer has the region.
 */
#ifndef ANALYZER_INCIDENTS_INCIDENT_TABLE_ENDS_H
#define ANALYZER_INCIDENTS_INCIDENT_TABLE_ENDS_H

struct incident_table;
struct localise;

void incident_table_ends_report(
    const struct incident_table *table, const char *region, struct localise *localise);

#endif
