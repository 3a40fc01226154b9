#include "rackmesh/metrics/metrics.h"

#include <ctype.h>
#include <errno.h>
#include <event2/buffer.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/config/config_reload.h"
#include "rackmesh/metrics/decimal.h"

#define METRICS_MAX 65536

struct metric {
	const char *name;
	const char *help;
	char *labels;
	const void *owner;
	/* used if value is NULL; otherwise the metric is a gauge */
	const uint64_t *counter;
	bool in_ns; /* the counter is in nanoseconds */
	double (*read)(const void *arg);
	/* used if value and counter are both NULL: the metric is a family of series */
	const struct rm_metrics_family *family;
	const void *arg;
};

struct rm_metrics_out {
	const char *name;
	struct evbuffer *text;
	bool failed; /* out of memory */
	/* If set, gets each series, and no text is written. */
	void (*take)(const char *labels, const char *more, double value, void *to);
	void *to;
};

/* Sorted by name, and then by order of registration. */
struct rm_metrics {
	struct metric *metrics;
	size_t count, capacity;
};

int
rm_metrics_new(struct rm_metrics **ret)
{
	struct rm_metrics *metrics = calloc(1, sizeof(*metrics));

	if (metrics == NULL)
		return -ENOMEM;
	*ret = metrics;
	return 0;
}

void
rm_metrics_free(struct rm_metrics *metrics)
{
	if (metrics == NULL)
		return;
	for (size_t i = 0; i < metrics->count; i++)
		free(metrics->metrics[i].labels);
	free(metrics->metrics);
	free(metrics);
}

static bool
metrics_name_ok(const char *name)
{
	if (!isalpha((unsigned char)name[0]) && name[0] != '_')
		return false;
	for (; *name != '\0'; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' && *name != ':')
			return false;
	return true;
}

/* Finds the index at which a metric with this name and these labels belongs. */
static int
metrics_place(const struct rm_metrics *metrics, const struct metric *fresh, size_t *ret)
{
	size_t place = metrics->count;

	for (size_t i = 0; i < metrics->count; i++) {
		const struct metric *metric = &metrics->metrics[i];

		if (strcmp(metric->name, fresh->name) == 0) {
			if (strcmp(metric->labels, fresh->labels) == 0)
				return -EEXIST;
			place = i + 1;
		} else if (place == i) {
			break; /* the group of this name has ended */
		}
	}
	*ret = place;
	return 0;
}

/* Adds a copy of *fresh; labels are copied. */
static int
metrics_add(struct rm_metrics *metrics, const struct metric *fresh)
{
	struct metric *at;
	size_t place = 0;
	char *labels;
	int r;

	if (!metrics_name_ok(fresh->name))
		return -EINVAL;
	r = metrics_place(metrics, fresh, &place);
	if (r < 0)
		return r;
	if (metrics->count == METRICS_MAX)
		return -ENOSPC;
	if (metrics->count == metrics->capacity) {
		size_t capacity = metrics->capacity == 0 ? 64 : metrics->capacity * 2;

		at = reallocarray(metrics->metrics, capacity, sizeof(*at));
		if (at == NULL)
			return -ENOMEM;
		metrics->metrics = at;
		metrics->capacity = capacity;
	}
	labels = strdup(fresh->labels);
	if (labels == NULL)
		return -ENOMEM;

	at = &metrics->metrics[place];
	memmove(at + 1, at, (metrics->count - place) * sizeof(*at));
	*at = *fresh;
	at->labels = labels;
	metrics->count++;
	return 0;
}

int
rm_metrics_counter(struct rm_metrics *metrics, const void *owner, const char *name,
    const char *labels, const char *help, const uint64_t *value)
{
	const struct metric fresh = {
		.name = name,
		.help = help,
		.labels = (char *)labels,
		.owner = owner,
		.counter = value,
	};

	return metrics_add(metrics, &fresh);
}

int
rm_metrics_counter_ns(struct rm_metrics *metrics, const void *owner, const char *name,
    const char *labels, const char *help, const uint64_t *ns)
{
	const struct metric fresh = {
		.name = name,
		.help = help,
		.labels = (char *)labels,
		.owner = owner,
		.counter = ns,
		.in_ns = true,
	};

	return metrics_add(metrics, &fresh);
}

int
rm_metrics_gauge(struct rm_metrics *metrics, const void *owner, const char *name,
    const char *labels, const char *help, double (*read)(const void *arg),
    const void *arg)
{
	const struct metric fresh = {
		.name = name,
		.help = help,
		.labels = (char *)labels,
		.owner = owner,
		.read = read,
		.arg = arg,
	};

	return metrics_add(metrics, &fresh);
}

int
rm_metrics_counters(struct rm_metrics *metrics, const void *owner,
    const struct rm_metric *list, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		r = rm_metrics_counter(metrics, owner, list[i].name, list[i].labels,
		    list[i].help, list[i].value);
	return r;
}

int
rm_metrics_family(struct rm_metrics *metrics, const void *owner,
    const struct rm_metrics_family *family, const void *arg)
{
	const struct metric fresh = {
		.name = family->name,
		.help = family->help,
		.labels = (char *)"",
		.owner = owner,
		.family = family,
		.arg = arg,
	};

	return metrics_add(metrics, &fresh);
}

static double
read_value(const void *value)
{
	return (double)*(const uint64_t *)value;
}

int
rm_metrics_build_info(struct rm_metrics *metrics, const char *component)
{
	static const uint64_t one = 1;
	char labels[METRICS_LABEL_BYTES];
	int len = snprintf(labels, sizeof(labels), "version=\"%s\",component=\"%s\"",
	    RACKMESH_VERSION, component);

	if (len < 0 || (size_t)len >= sizeof(labels))
		return -EINVAL;
	return rm_metrics_gauge(metrics, &one, "rackmesh_build_info", labels,
	    "Always 1; the labels are the version and the program", read_value, &one);
}

int
rm_metrics_reloads(struct rm_metrics *metrics, const struct rm_reload *reload)
{
	const struct rm_metric counters[] = {
		{ "rackmesh_config_reloads_total", "result=\"good\"",
		    "Reloads of the config, by result", &reload->taken },
		{ "rackmesh_config_reloads_total", "result=\"refused\"",
		    "Reloads of the config, by result", &reload->refused },
	};
	const struct rm_metric gauges[] = {
		{ "rackmesh_config_last_reload_successful", "",
		    "1: the last reload was good; 0: the file had an error, and the "
		    "former config is in use",
		    &reload->successful },
		{ "rackmesh_config_last_reload_success_timestamp_seconds", "",
		    "When the config in use was read, in seconds since 1970",
		    &reload->success_s },
		{ "rackmesh_config_options_need_restart", "",
		    "Options changed in the config file that take effect only after a "
		    "restart",
		    &reload->need_restart },
	};
	int r;

	r = rm_metrics_counters(
	    metrics, reload, counters, sizeof(counters) / sizeof(counters[0]));
	if (r == 0)
		r = rm_metrics_gauges(
		    metrics, reload, gauges, sizeof(gauges) / sizeof(gauges[0]));
	return r;
}

int
rm_metrics_gauges(struct rm_metrics *metrics, const void *owner,
    const struct rm_metric *list, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		r = rm_metrics_gauge(metrics, owner, list[i].name, list[i].labels,
		    list[i].help, read_value, list[i].value);
	return r;
}

void
rm_metrics_forget(struct rm_metrics *metrics, const void *owner)
{
	size_t kept = 0;

	for (size_t i = 0; i < metrics->count; i++) {
		if (metrics->metrics[i].owner == owner)
			free(metrics->metrics[i].labels);
		else
			metrics->metrics[kept++] = metrics->metrics[i];
	}
	metrics->count = kept;
}

static int
render_double(double value, struct evbuffer *out)
{
	char text[RM_DECIMAL_TEXT];

	if (isnan(value))
		return evbuffer_add_printf(out, " NaN\n");
	if (isinf(value))
		return evbuffer_add_printf(out, value > 0 ? " +Inf\n" : " -Inf\n");
	return evbuffer_add_printf(out, " %s\n", rm_decimal_format(value, text));
}

void
rm_metrics_series(
    struct rm_metrics_out *out, const char *labels, const char *more, double value)
{
	bool both = labels[0] != '\0' && more[0] != '\0';

	if (out->take != NULL)
		out->take(labels, more, value, out->to);
	else if (!out->failed)
		out->failed = evbuffer_add_printf(out->text, "%s{%s%s%s}", out->name,
				  labels, both ? "," : "", more) < 0 ||
			      render_double(value, out->text) < 0;
}

void
rm_metrics_take(const struct rm_metrics_family *family, const void *arg,
    void (*take)(const char *labels, const char *more, double value, void *to),
    void *to)
{
	struct rm_metrics_out out = { .name = family->name, .take = take, .to = to };

	family->report(&out, arg);
}

static int
metric_render_head(const struct metric *metric, struct evbuffer *out)
{
	const char *type = metric->family != NULL    ? metric->family->type
			   : metric->counter != NULL ? "counter"
						     : "gauge";

	return evbuffer_add_printf(out, "# HELP %s %s\n# TYPE %s %s\n", metric->name,
	    metric->help, metric->name, type);
}

static int
metric_render(const struct metric *metric, struct evbuffer *out)
{
	struct rm_metrics_out series = { .name = metric->name, .text = out };
	bool labelled = metric->labels[0] != '\0';

	if (metric->family != NULL) {
		metric->family->report(&series, metric->arg);
		return series.failed ? -ENOMEM : 0;
	}
	if (evbuffer_add_printf(out, "%s%s%s%s", metric->name, labelled ? "{" : "",
		metric->labels, labelled ? "}" : "") < 0)
		return -ENOMEM;
	if (metric->in_ns)
		return render_double((double)*metric->counter / 1e9, out);
	if (metric->counter != NULL)
		return evbuffer_add_printf(out, " %" PRIu64 "\n", *metric->counter);
	return render_double(metric->read(metric->arg), out);
}

int
rm_metrics_render(const struct rm_metrics *metrics, struct evbuffer *out)
{
	for (size_t i = 0; i < metrics->count; i++) {
		const struct metric *metric = &metrics->metrics[i];
		bool first = i == 0 || strcmp(metric[-1].name, metric->name) != 0;

		if ((first && metric_render_head(metric, out) < 0) ||
		    metric_render(metric, out) < 0)
			return -ENOMEM;
	}
	return 0;
}

int
metrics_table_add_owned(struct rm_metrics *metrics, const void *owner,
    const struct metrics_counter *table, const void *base, const char *more)
{
	char labels[METRICS_LABEL_BYTES];
	int r = 0;

	for (const struct metrics_counter *c = table; r == 0 && c->name != NULL; c++) {
		snprintf(labels, sizeof(labels), "%s%s%s", more,
		    more[0] != 0 && c->label[0] != 0 ? "," : "", c->label);
		r = rm_metrics_counter(metrics, owner, c->name, labels, c->help,
		    (const uint64_t *)(const void *)((const char *)base + c->offset));
	}
	return r;
}

int
metrics_table_add(struct rm_metrics *metrics, const struct metrics_counter *table,
    const void *base, const char *more)
{
	return metrics_table_add_owned(metrics, table, table, base, more);
}
