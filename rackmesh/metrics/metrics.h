/*
 * metrics - a registry of borrowed counters, rendered as Prometheus text 0.0.4.
 *
 * Modules keep plain uint64_t counters; the registry only points at them, so
 * counting costs one addition. Names: rackmesh_<daemon>_<what>[_total|_<unit>].
 */
#ifndef RACKMESH_METRICS_METRICS_H
#define RACKMESH_METRICS_METRICS_H

#include <stddef.h>
#include <stdint.h>

struct evbuffer;
struct rm_metrics;

int rm_metrics_new(struct rm_metrics **ret);
void rm_metrics_free(struct rm_metrics *metrics);

/*
 * name, help: borrowed, for ever. labels: copied; "" or e.g. "class=\"ok\"".
 * value: borrowed until rm_metrics_forget(owner) or the registry ends. owner:
 * any pointer that groups registrations. Same name: one contiguous group with
 * one HELP and TYPE (the first's). -EEXIST: same name and labels twice.
 */
int rm_metrics_counter(struct rm_metrics *metrics, const void *owner, const char *name,
    const char *labels, const char *help, const uint64_t *value);
/* A counter of nanoseconds, shown in seconds. */
int rm_metrics_counter_ns(struct rm_metrics *metrics, const void *owner,
    const char *name, const char *labels, const char *help, const uint64_t *ns);
int rm_metrics_gauge(struct rm_metrics *metrics, const void *owner, const char *name,
    const char *labels, const char *help, double (*read)(const void *arg),
    const void *arg);

struct rm_metric { /* all borrowed as above */
	const char *name, *labels, *help;
	const uint64_t *value;
};

/* Many at a time, until the first that fails. */
int rm_metrics_counters(struct rm_metrics *metrics, const void *owner,
    const struct rm_metric *list, size_t count);
int rm_metrics_gauges(struct rm_metrics *metrics, const void *owner,
    const struct rm_metric *list, size_t count);

/*
 * All series of one name, if series appear and disappear: report is called at every
 * rendering, and calls rm_metrics_series for each series. report has to limit their
 * number.
 */
struct rm_metrics_out;
struct rm_metrics_family {              /* borrowed, for ever */
	const char *name, *type, *help; /* type: "counter", "gauge", "summary" */
	void (*report)(struct rm_metrics_out *out, const void *arg);
};
int rm_metrics_family(struct rm_metrics *metrics, const void *owner,
    const struct rm_metrics_family *family, const void *arg);
/* labels, more: as metrics_table_add puts them together; one of them is not "". */
void rm_metrics_series(
    struct rm_metrics_out *out, const char *labels, const char *more, double value);
/* For another output than text: passes the family's series to take. */
void rm_metrics_take(const struct rm_metrics_family *family, const void *arg,
    void (*take)(const char *labels, const char *more, double value, void *to),
    void *to);

void rm_metrics_forget(struct rm_metrics *metrics, const void *owner);

/* The gauge rackmesh_build_info{version="...",component="..."} of every daemon: 1.
 * component: the program's name, of letters, digits and '-'. -EINVAL: too long. */
int rm_metrics_build_info(struct rm_metrics *metrics, const char *component);

struct rm_reload;
/* rackmesh_config_reloads_total and the other metrics of reloads; borrowed.
 */
int rm_metrics_reloads(struct rm_metrics *metrics, const struct rm_reload *reload);

int rm_metrics_render(const struct rm_metrics *metrics, struct evbuffer *out);

/* Structs of counters shown as metrics, by tables of their fields. */
#define METRICS_LABEL_BYTES 320 /* a DNS name with its port fits */

struct metrics_counter { /* a uint64_t at an offset of some struct of counters */
	const char *name, *label; /* label: "" or 'key="value"' */
	size_t offset;
	const char *help;
};

/* table ends with a zeroed one. base: the struct of counters, borrowed; more: "" or a
 * label that all of the table carry. */
int metrics_table_add(struct rm_metrics *metrics, const struct metrics_counter *table,
    const void *base, const char *more);
/* The same, registered by owner, for rm_metrics_forget. */
int metrics_table_add_owned(struct rm_metrics *metrics, const void *owner,
    const struct metrics_counter *table, const void *base, const char *more);

#endif
