/*
 * history_source - where the past is kept: a database, or files of line protocol.
 */
#ifndef CTL_HISTORY_HISTORY_SOURCE_H
#define CTL_HISTORY_HISTORY_SOURCE_H

struct history_rows;
struct history_subject;
struct influx_place;

/* Both: -errno, having said what is wrong. */
int history_from_influx(const struct influx_place *place,
    const struct history_subject *subject, struct history_rows *rows);
/* rackmesh.lp, incidents.lp and their elders. */
int history_from_files(const char *folder, const struct history_subject *subject,
    struct history_rows *rows);

/* "14d", "36h", "90m", "30s" in ns; -1: it is none, or longer than ten years. */
long long history_duration_ns(const char *text);

#endif
