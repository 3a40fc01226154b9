#include "host-agent/report/counter_backlog.h"

#include <stdint.h>
#include <stdlib.h>

#include "schemas/wire/text.h"

/* values and value_room stay when the RNIC is taken out, for the next one. */
struct rnic_sum {
	struct wire_rnic_id id;
	rm_mono_t at; /* when the last report was added */
	uint64_t interval_ns;
	struct wire_counter_value *values;
	size_t value_count, value_room;
};

struct counter_sum {
	struct rnic_sum rnics[WIRE_MAX_HOST_RNICS];
	size_t count;
};

struct counter_backlog {
	struct counter_sum sums[2];
	struct counter_sum *missed, *unconfirmed; /* the two sums */
	/* the peer has all of unconfirmed if it has counted a batch from this number
	 * on */
	uint64_t confirming_seq;
};

struct counter_backlog *
counter_backlog_new(void)
{
	struct counter_backlog *backlog = calloc(1, sizeof(*backlog));

	if (backlog == NULL)
		return NULL;
	backlog->missed = &backlog->sums[0];
	backlog->unconfirmed = &backlog->sums[1];
	return backlog;
}

void
counter_backlog_free(struct counter_backlog *backlog)
{
	if (backlog == NULL)
		return;
	for (size_t i = 0; i < WIRE_MAX_HOST_RNICS; i++) {
		free(backlog->sums[0].rnics[i].values);
		free(backlog->sums[1].rnics[i].values);
	}
	free(backlog);
}

bool
counter_backlog_is_empty(const struct counter_backlog *backlog)
{
	return backlog->missed->count == 0;
}

/* An RNIC whose driver hangs, or that was removed, gets no further report. */
static void
forget_old(struct counter_sum *sum, rm_mono_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < sum->count; i++) {
		const struct rnic_sum rnic = sum->rnics[i];

		if (rm_mono_since(now, rnic.at) > COUNTER_BACKLOG_NS)
			continue;
		sum->rnics[i] = sum->rnics[kept]; /* keeps its memory */
		sum->rnics[kept++] = rnic;
	}
	sum->count = kept;
}

static bool
make_room(struct rnic_sum *rnic, size_t count)
{
	struct wire_counter_value *values;

	if (count <= rnic->value_room)
		return true;
	values = realloc(rnic->values, count * sizeof(*values));
	if (values == NULL)
		return false;
	rnic->values = values;
	rnic->value_room = count;
	return true;
}

static struct rnic_sum *
find_or_add(struct counter_sum *sum, struct wire_rnic_id id)
{
	struct rnic_sum *rnic;

	for (size_t i = 0; i < sum->count; i++)
		if (sum->rnics[i].id.guid == id.guid &&
		    sum->rnics[i].id.port == id.port)
			return &sum->rnics[i];
	if (sum->count == WIRE_MAX_HOST_RNICS)
		return NULL;
	rnic = &sum->rnics[sum->count++];
	rnic->id = id;
	rnic->interval_ns = 0;
	rnic->value_count = 0;
	return rnic;
}

/* *at: index at which the value is expected, as reports have the same order; moved
 * behind the value. NULL: there is no room. */
static struct wire_counter_value *
find_value(struct rnic_sum *rnic, const struct wire_counter_value *value, size_t *at)
{
	for (size_t i = 0; i < rnic->value_count; i++) {
		const size_t index = (*at + i) % rnic->value_count;
		struct wire_counter_value *own = &rnic->values[index];

		if (own->counter == value->counter && own->index == value->index) {
			*at = index + 1;
			return own;
		}
	}
	if (rnic->value_count == WIRE_MAX_COUNTER_VALUES ||
	    !make_room(rnic, rnic->value_count + 1))
		return NULL;
	*at = rnic->value_count + 1;
	rnic->values[rnic->value_count] = *value;
	rnic->values[rnic->value_count].value = 0;
	return &rnic->values[rnic->value_count++];
}

static void
add_rnic(struct rnic_sum *rnic, const struct wire_rnic_counters *from, rm_mono_t now)
{
	size_t at = 0;

	rnic->at = now;
	if (from->interval_ns > (uint64_t)COUNTER_BACKLOG_NS ||
	    rnic->interval_ns > (uint64_t)COUNTER_BACKLOG_NS - from->interval_ns) {
		rnic->interval_ns = 0;
		rnic->value_count = 0;
	}
	rnic->interval_ns += from->interval_ns;
	/* one allocation for all values; without it, each value tries again */
	if (from->value_count <= WIRE_MAX_COUNTER_VALUES)
		(void)make_room(rnic, from->value_count);
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

static void
add_report(
    struct counter_sum *sum, const struct wire_counter_report *report, rm_mono_t now)
{
	forget_old(sum, now);
	for (size_t i = 0; i < report->rnic_count; i++) {
		struct rnic_sum *rnic = find_or_add(sum, report->rnics[i].id);

		if (rnic != NULL)
			add_rnic(rnic, &report->rnics[i], now);
	}
}

void
counter_backlog_add(struct counter_backlog *backlog,
    const struct wire_counter_report *report, rm_mono_t now)
{
	add_report(backlog->missed, report, now);
}

struct wire_counter_report
counter_backlog_report(const struct counter_backlog *backlog,
    struct wire_rnic_counters rnics[WIRE_MAX_HOST_RNICS])
{
	const struct counter_sum *sum = backlog->missed;

	for (size_t i = 0; i < sum->count; i++)
		rnics[i] = (struct wire_rnic_counters){ .id = sum->rnics[i].id,
			.interval_ns = sum->rnics[i].interval_ns,
			.values = sum->rnics[i].values,
			.value_count = sum->rnics[i].value_count };
	return (struct wire_counter_report){ .rnics = rnics, .rnic_count = sum->count };
}

void
counter_backlog_sent(struct counter_backlog *backlog,
    const struct wire_counter_report *report, uint64_t next_seq, rm_mono_t now)
{
	add_report(backlog->unconfirmed, report, now);
	backlog->missed->count = 0;
	backlog->confirming_seq = next_seq;
}

void
counter_backlog_counted(struct counter_backlog *backlog, uint64_t seq)
{
	if (seq >= backlog->confirming_seq)
		backlog->unconfirmed->count = 0;
}

void
counter_backlog_delivered(struct counter_backlog *backlog)
{
	backlog->unconfirmed->count = 0;
}

void
counter_backlog_begin(
    struct counter_backlog *backlog, uint64_t counted_seq, rm_mono_t now)
{
	struct wire_rnic_counters rnics[WIRE_MAX_HOST_RNICS];
	struct wire_counter_report newer;
	struct counter_sum *older = backlog->unconfirmed;

	counter_backlog_counted(backlog, counted_seq);
	if (older->count == 0)
		return;
	/* The newer sum is added to the older one: gauges keep the newest value. */
	newer = counter_backlog_report(backlog, rnics);
	add_report(older, &newer, now);
	backlog->unconfirmed = backlog->missed;
	backlog->unconfirmed->count = 0;
	backlog->missed = older;
}
