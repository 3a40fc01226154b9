/*
 * incident_table_ends - tells the judgement over racks which RNICs and hosts their own
 * racks hold bad now, as the table of incidents has it. Pure.
 *
 * The table of incidents is the one that knows: an incident changes its kind, is told
 * by several aggregators, and goes on while an analyzer has left the region.
 */
#ifndef ANALYZER_INCIDENTS_INCIDENT_TABLE_ENDS_H
#define ANALYZER_INCIDENTS_INCIDENT_TABLE_ENDS_H

struct incident_table;
struct localise;

void incident_table_ends_tell(
    const struct incident_table *table, const char *region, struct localise *localise);

#endif
