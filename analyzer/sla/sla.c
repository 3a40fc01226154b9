#define HASH_NONFATAL_OOM 1
#include "analyzer/sla/sla.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sla/sla_state.h"

int
sla_new(const struct sla_options *options, struct sla **ret)
{
	struct sla *sla = calloc(1, sizeof *sla);

	if (sla == NULL)
		return -ENOMEM;
	sla->options = *options;
	sla->scratch = rm_sketch_new();
	if (sla->scratch == NULL) {
		free(sla);
		return -ENOMEM;
	}
	*ret = sla;
	return 0;
}

static void
free_scope(struct sla_scope *scope)
{
	for (size_t i = 0; i < SLA_OPEN_MINUTES; i++)
		rm_sketch_free(scope->open[i].rtt);
	for (size_t i = 0; i < SLA_MINUTES; i++)
		rm_sketch_free(scope->minutes[i].rtt);
	for (size_t i = 0; i < SLA_HOURS; i++)
		rm_sketch_free(scope->hours[i].rtt);
	free(scope);
}

void
sla_free(struct sla *sla)
{
	struct sla_scope *scope, *next;
	struct sla_rack *rack, *next_rack;

	if (sla == NULL)
		return;
	HASH_ITER (hh, sla->scopes, scope, next) {
		HASH_DEL(sla->scopes, scope);
		free_scope(scope);
	}
	HASH_ITER (hh, sla->racks, rack, next_rack) {
		HASH_DEL(sla->racks, rack);
		free(rack);
	}
	rm_sketch_free(sla->scratch);
	free(sla);
}

static struct sla_scope *
get_scope(struct sla *sla, const char *region, uint8_t dscp, bool between)
{
	struct sla_scope *scope;
	char key[SLA_KEY_BYTES];

	snprintf(
	    key, sizeof key, "%.63s %u %s", region, dscp, between ? "fabric" : "rack");
	HASH_FIND_STR(sla->scopes, key, scope);
	if (scope != NULL || HASH_COUNT(sla->scopes) >= SLA_MAX_SCOPES)
		return scope;
	scope = calloc(1, sizeof *scope);
	if (scope == NULL)
		return NULL;
	snprintf(scope->key, sizeof scope->key, "%s", key);
	snprintf(scope->region, sizeof scope->region, "%.63s", region);
	scope->dscp = dscp;
	scope->between = between;
	HASH_ADD_STR(sla->scopes, key, scope);
	if (scope->hh.tbl == NULL) { /* uthash could not grow */
		free(scope);
		return NULL;
	}
	return scope;
}

/* Whom this scope expects figures from: a rack that sent once, until it is forgotten.
 */
static struct sla_rack *
get_rack(struct sla *sla, const struct sla_scope *scope, const char *tor)
{
	struct sla_rack *rack;
	char key[SLA_RACK_KEY_BYTES];

	snprintf(key, sizeof key, "%s %.63s", scope->key, tor);
	HASH_FIND_STR(sla->racks, key, rack);
	if (rack != NULL || HASH_COUNT(sla->racks) >= SLA_MAX_RACKS)
		return rack;
	rack = calloc(1, sizeof *rack);
	if (rack == NULL)
		return NULL;
	snprintf(rack->key, sizeof rack->key, "%s", key);
	HASH_ADD_STR(sla->racks, key, rack);
	if (rack->hh.tbl == NULL) {
		free(rack);
		return NULL;
	}
	return rack;
}

/* The open minute that began then. NULL: it is closed, or lies ahead of all clocks. */
static struct sla_open *
get_minute(struct sla *sla, struct sla_scope *scope, int64_t minute)
{
	struct sla_open *open = &scope->open[(uint64_t)minute % SLA_OPEN_MINUTES];

	if (sla->closed_any && minute <= sla->closed)
		return NULL;
	if (sla->now_known && minute > sla->now_minute + 1)
		return NULL;
	if (open->minute == minute)
		return open;
	if (open->minute > minute)
		return NULL;
	/* What was there before was not closed in time: a clock has jumped. */
	if (open->rtt == NULL)
		open->rtt = rm_sketch_new();
	if (open->rtt == NULL)
		return NULL;
	rm_sketch_reset(open->rtt);
	open->minute = minute;
	open->figures = (struct sla_figures){ 0 };
	return open;
}

static void
take_row(
    struct sla *sla, const char *region, const struct wire_row *row, int64_t minute)
{
	const bool between = strcmp(row->src_tor, row->dst_tor) != 0;
	struct sla_scope *scope = get_scope(sla, region, row->dscp, between);
	struct sla_open *open;
	struct sla_rack *rack;
	struct sla_slice *slice;
	uint64_t lost;

	if (scope == NULL)
		return;
	open = get_minute(sla, scope, minute);
	rack = get_rack(sla, scope, row->src_tor);
	if (open == NULL || rack == NULL)
		return;
	lost = row->outcomes[WIRE_NO_REPLY];
	open->figures.sent += row->sent;
	open->figures.lost += lost;
	open->figures.invalid += row->outcomes[WIRE_INVALID];
	open->figures.not_sent += row->outcomes[WIRE_SEND_FAILED];
	if (row->rtt.len > 0 &&
	    rm_sketch_decode(sla->scratch, row->rtt.data, row->rtt.len) == 0)
		rm_sketch_merge(open->rtt, sla->scratch);
	slice = &rack->slices[(uint64_t)minute % SLA_OPEN_MINUTES];
	if (slice->minute != minute)
		*slice = (struct sla_slice){ .minute = minute };
	slice->sent += row->sent;
	slice->lost += lost;
	if (minute > rack->last)
		rack->last = minute;
}

void
sla_summary(struct sla *sla, const struct wire_summary_view *view)
{
	const struct wire_summary *summary = &view->summary;
	const int64_t minute =
	    (int64_t)(summary->start_wall_ns / (uint64_t)SLA_MINUTE_NS);

	if (summary->start_wall_ns == 0 || !rm_name_valid(summary->head.region))
		return;
	for (size_t i = 0; i < summary->row_count; i++) {
		struct wire_row row;

		wire_summary_row(view, i, &row);
		if (row.src_tor != NULL && row.dst_tor != NULL &&
		    rm_name_valid(row.src_tor))
			take_row(sla, summary->head.region, &row, minute);
	}
}
