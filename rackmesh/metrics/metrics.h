/*
 * metrics - a registry of borrowed counters, rendered as Prometheus text 0.0.4.
 *
 * Modules have plain uint64_t counters; the registry has pointers to them, so counting
 * costs one addition. Names: rackmesh_<daemon>_<what>[_total|_<unit>].
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
 * name, help: borrowed for ever. labels: copied; "" or, for example, "class=\"ok\"".
 * value: borrowed until rm_metrics_forget(owner), or the end of the registry. owner:
 * any pointer, by which metrics are forgotten together. Metrics of one name form one
 * group, with the HELP and TYPE of the first one. -EEXIST: name and labels are
 * registered already; -EINVAL: name is not valid; -ENOSPC: too many metrics; -ENOMEM.
 */
int rm_metrics_counter(struct rm_metrics *metrics, const void *owner, const char *name,
    const char *labels, const char *help, const uint64_t *value);
/* A counter of nanoseconds, shown in seconds. */
int rm_metrics_counter_ns(struct rm_metrics *metrics, const void *owner,
    const char *name, const char *labels, const char *help, const uint64_t *ns);
int rm_metrics_gauge(struct rm_metrics *metrics, const void *owner, const char *name,
    const char *labels, const char *help, double (*read)(const void *arg),
    const void *arg);

struct rm_metric { /* name, help and labels are borrowed, as above */
	const char *name, *labels, *help;
	const uint64_t *value;
};

/* Registers the metrics of a list, until one fails. */
int rm_metrics_counters(struct rm_metrics *metrics, const void *owner,
    const struct rm_metric *list, size_t count);
int rm_metrics_gauges(struct rm_metrics *metrics, const void *owner,
    const struct rm_metric *list, size_t count);

/*
 * A family: all series of one name, for series that appear and disappear. report is
 * called at every rendering, and calls rm_metrics_series for each series; it has to
 * limit their number.
 */
struct rm_metrics_out;
struct rm_metrics_family {              /* borrowed, for ever */
	const char *name, *type, *help; /* type: "counter", "gauge", "summary" */
	void (*report)(struct rm_metrics_out *out, const void *arg);
};
int rm_metrics_family(struct rm_metrics *metrics, const void *owner,
    const struct rm_metrics_family *family, const void *arg);
/* labels and more are joined, as in metrics_table_add; at least one of them is not
 * "". */
void rm_metrics_series(
    struct rm_metrics_out *out, const char *labels, const char *more, double value);
/* Passes the series of a family to take, for another form of output than text. */
void rm_metrics_take(const struct rm_metrics_family *family, const void *arg,
    void (*take)(const char *labels, const char *more, double value, void *to),
    void *to);

void rm_metrics_forget(struct rm_metrics *metrics, const void *owner);

/* Registers the gauge rackmesh_build_info{version="...",component="..."} with the value
 * 1, which every daemon has. component: name of the program, of letters, digits and
 * '-'. -EINVAL: it is too long. */
int rm_metrics_build_info(struct rm_metrics *metrics, const char *component);

struct rm_reload;
/* Registers rackmesh_config_reloads_total and the other metrics of reloads. reload:
 * borrowed. */
int rm_metrics_reloads(struct rm_metrics *metrics, const struct rm_reload *reload);

int rm_metrics_render(const struct rm_metrics *metrics, struct evbuffer *out);

/* Structs of counters, shown as metrics by tables of their members. */
#define METRICS_LABEL_BYTES 320 /* enough for a DNS name with its port */

struct metrics_counter { /* a uint64_t at this offset in a struct of counters */
	const char *name, *label; /* label: "" or 'key="value"' */
	size_t offset;
	const char *help;
};

/* Registers all counters of a table, which ends with an entry of zeros. base: the
 * struct of counters, borrowed. more: a label for all of them, or "". */
int metrics_table_add(struct rm_metrics *metrics, const struct metrics_counter *table,
    const void *base, const char *more);
/* The same, registered by owner, for rm_metrics_forget. */
int metrics_table_add_owned(struct rm_metrics *metrics, const void *owner,
    const struct metrics_counter *table, const void *base, const char *more);

#endif
