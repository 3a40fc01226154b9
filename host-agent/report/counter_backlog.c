#include "host-agent/report/counter_backlog.h"

#include <stdint.h>
#include <stdlib.h>

#include "schemas/wire/text.h"

struct rnic_backlog {
	struct wire_rnic_id id;
	rm_mono_t at; /* when the last report was added */
	uint64_t interval_ns;
	struct wire_counter_value *values;
	size_t value_count;
};

struct counter_backlog {
	struct rnic_backlog rnics[WIRE_MAX_HOST_RNICS];
	size_t count;
};

struct counter_backlog *
counter_backlog_new(void)
{
	return calloc(1, sizeof(struct counter_backlog));
}

void
counter_backlog_free(struct counter_backlog *backlog)
{
	if (backlog == NULL)
		return;
	counter_backlog_clear(backlog);
	free(backlog);
}

void
counter_backlog_clear(struct counter_backlog *backlog)
{
	for (size_t i = 0; i < backlog->count; i++)
		free(backlog->rnics[i].values);
	backlog->count = 0;
}

bool
counter_backlog_is_empty(const struct counter_backlog *backlog)
{
	return backlog->count == 0;
}

/* An RNIC whose driver hangs, or that was removed, gets no further report. */
static void
forget_old(struct counter_backlog *backlog, rm_mono_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < backlog->count; i++) {
		struct rnic_backlog *rnic = &backlog->rnics[i];

		if (rm_mono_since(now, rnic->at) > COUNTER_BACKLOG_NS)
			free(rnic->values);
		else
			backlog->rnics[kept++] = *rnic;
	}
	backlog->count = kept;
}

static struct rnic_backlog *
find_or_add(struct counter_backlog *backlog, struct wire_rnic_id id)
{
	struct rnic_backlog *rnic;

	for (size_t i = 0; i < backlog->count; i++)
		if (backlog->rnics[i].id.guid == id.guid &&
		    backlog->rnics[i].id.port == id.port)
			return &backlog->rnics[i];
	if (backlog->count == WIRE_MAX_HOST_RNICS)
		return NULL;
	rnic = &backlog->rnics[backlog->count];
	rnic->values = malloc(WIRE_MAX_COUNTER_VALUES * sizeof(rnic->values[0]));
	if (rnic->values == NULL)
		return NULL;
	backlog->count++;
	rnic->id = id;
	rnic->interval_ns = 0;
	rnic->value_count = 0;
	return rnic;
}

/* *at: index at which the value is expected, as reports have the same order; moved
 * behind the value. NULL: there is no room. */
static struct wire_counter_value *
find_value(
    struct rnic_backlog *rnic, const struct wire_counter_value *value, size_t *at)
{
	for (size_t i = 0; i < rnic->value_count; i++) {
		const size_t index = (*at + i) % rnic->value_count;
		struct wire_counter_value *own = &rnic->values[index];

		if (own->counter == value->counter && own->index == value->index) {
			*at = index + 1;
			return own;
		}
	}
	if (rnic->value_count == WIRE_MAX_COUNTER_VALUES)
		return NULL;
	*at = rnic->value_count + 1;
	rnic->values[rnic->value_count] = *value;
	rnic->values[rnic->value_count].value = 0;
	return &rnic->values[rnic->value_count++];
}

static void
add_rnic(
    struct rnic_backlog *rnic, const struct wire_rnic_counters *from, rm_mono_t now)
{
	size_t at = 0;

	rnic->at = now;
	if (from->interval_ns > (uint64_t)COUNTER_BACKLOG_NS ||
	    rnic->interval_ns > (uint64_t)COUNTER_BACKLOG_NS - from->interval_ns) {
		rnic->interval_ns = 0;
		rnic->value_count = 0;
	}
	rnic->interval_ns += from->interval_ns;
	for (size_t i = 0; i < from->value_count; i++) {
		const struct wire_counter_value *value = &from->values[i];
		struct wire_counter_value *own = find_value(rnic, value, &at);

		if (own == NULL)
			continue;
		if (wire_counter_is_gauge(value->counter))
			own->value = value->value;
		else if (__builtin_add_overflow(own->value, value->value, &own->value))
			own->value = UINT64_MAX;
	}
}

void
counter_backlog_add(struct counter_backlog *backlog,
    const struct wire_counter_report *report, rm_mono_t now)
{
	forget_old(backlog, now);
	for (size_t i = 0; i < report->rnic_count; i++) {
		struct rnic_backlog *rnic = find_or_add(backlog, report->rnics[i].id);

		if (rnic != NULL)
			add_rnic(rnic, &report->rnics[i], now);
	}
}

struct wire_counter_report
counter_backlog_report(const struct counter_backlog *backlog,
    struct wire_rnic_counters rnics[WIRE_MAX_HOST_RNICS])
{
	for (size_t i = 0; i < backlog->count; i++)
		rnics[i] = (struct wire_rnic_counters){ .id = backlog->rnics[i].id,
			.interval_ns = backlog->rnics[i].interval_ns,
			.values = backlog->rnics[i].values,
			.value_count = backlog->rnics[i].value_count };
	return (
	    struct wire_counter_report){ .rnics = rnics, .rnic_count = backlog->count };
}
