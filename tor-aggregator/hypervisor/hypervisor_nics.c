#include "tor-aggregator/hypervisor/hypervisor_nics.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 64 /* bits of a counter in all drivers of ESXi */

struct hypervisor_nics {
	struct hypervisor_nic nics[HYPERVISOR_MAX_NICS];
	size_t count;
};

struct hypervisor_nics *
hypervisor_nics_new(void)
{
	return calloc(1, sizeof(struct hypervisor_nics));
}

static void
clear(struct hypervisor_nic *nic)
{
	free(nic->samples);
	free(nic->states);
}

void
hypervisor_nics_free(struct hypervisor_nics *nics)
{
	if (nics == NULL)
		return;
	for (size_t i = 0; i < nics->count; i++)
		clear(&nics->nics[i]);
	free(nics);
}

/* True: the name has no character that needs quotes in labels. */
static bool
is_plain(const char *name)
{
	const size_t len = strlen(name);

	if (len == 0 || len >= HYPERVISOR_NIC_BYTES)
		return false;
	for (; *name != '\0'; name++)
		if (!isalnum((unsigned char)*name) && strchr("._-", *name) == NULL)
			return false;
	return true;
}

static void
remove_at(struct hypervisor_nics *nics, size_t at)
{
	clear(&nics->nics[at]);
	nics->count--;
	memmove(&nics->nics[at], &nics->nics[at + 1],
	    (nics->count - at) * sizeof(nics->nics[0]));
}

/* Deletes the values and the new NICs of a reading that was not closed. */
void
hypervisor_nics_begin(struct hypervisor_nics *nics)
{
	for (size_t i = nics->count; i-- > 0;) {
		struct hypervisor_nic *nic = &nics->nics[i];

		if (!nic->there && nic->away == 0) {
			remove_at(nics, i);
			continue;
		}
		nic->seen = false;
		memset(nic->samples, 0, hypervisor_values() * sizeof(nic->samples[0]));
	}
}

static struct hypervisor_nic *
insert_at(struct hypervisor_nics *nics, size_t at, const char *name)
{
	struct hypervisor_nic *nic = &nics->nics[at];
	struct counter_sample *samples =
	    calloc(hypervisor_values(), sizeof(samples[0]));
	struct counter_state *states = calloc(hypervisor_values(), sizeof(states[0]));

	if (samples == NULL || states == NULL) {
		free(samples);
		free(states);
		return NULL;
	}
	memmove(nic + 1, nic, (nics->count - at) * sizeof(*nic));
	*nic = (struct hypervisor_nic){ .samples = samples, .states = states };
	memcpy(nic->name, name, strlen(name)); /* is_plain has checked that it fits */
	nics->count++;
	return nic;
}

struct hypervisor_nic *
hypervisor_nics_report(struct hypervisor_nics *nics, const char *name,
    struct hypervisor_nics_counts *counts)
{
	struct hypervisor_nic *nic = NULL;
	size_t at = 0;

	if (!is_plain(name)) {
		counts->parse_errors++;
		return NULL;
	}
	while (at < nics->count && strverscmp(nics->nics[at].name, name) < 0)
		at++;
	if (at < nics->count && strcmp(nics->nics[at].name, name) == 0)
		nic = &nics->nics[at];
	else if (nics->count < HYPERVISOR_MAX_NICS)
		nic = insert_at(nics, at, name);
	if (nic == NULL)
		counts->refused++;
	else
		nic->seen = true;
	return nic;
}

/* If several names have the same value, the name that is first in the table is used, in
 * whatever order they are read. */
static void
put(struct hypervisor_nic *nic, size_t at, int source, uint64_t value)
{
	struct counter_sample *sample = &nic->samples[at];

	if (sample->there && sample->source <= source)
		return;
	*sample = (struct counter_sample){ true, (uint16_t)source, value };
}

/* Reads a list with one number for each priority, such as "0 0 0 1 0 0 0 0". */
static void
take_list(struct hypervisor_nic *nic, size_t first, int source, const char *text,
    struct hypervisor_nics_counts *counts)
{
	for (unsigned i = 0; i < HYPERVISOR_PRIORITIES; i++) {
		const size_t len = strcspn(text, " ");
		char number[24] = "";
		uint64_t value;

		if (len == 0)
			break;
		if (len < sizeof(number))
			memcpy(number, text, len);
		if (hypervisor_value_read(number, &value) == 0)
			put(nic, first + i, source, value);
		else
			counts->parse_errors++;
		text += len + strspn(text + len, " ");
	}
}

static void
take_one(struct hypervisor_nic *nic, size_t at, int source, const char *text,
    struct hypervisor_nics_counts *counts)
{
	uint64_t value = 0;
	const int r = hypervisor_value_read(text, &value);

	if (r == 0)
		put(nic, at, source, value);
	else if (r == -EBADMSG)
		counts->parse_errors++;
}

void
hypervisor_nic_take(struct hypervisor_nic *nic, enum hypervisor_place place,
    const char *name, const char *text, struct hypervisor_nics_counts *counts)
{
	size_t first = 0;

	if (place == HYPERVISOR_LIST && strcmp(name, "Driver") == 0) {
		nic->driver[0] = '\0';
		for (size_t i = 0; i < sizeof(nic->driver) - 1 &&
				   (isalnum((unsigned char)text[i]) || text[i] == '_');
		     i++) {
			nic->driver[i] = text[i];
			nic->driver[i + 1] = '\0';
		}
		return;
	}
	for (const struct hypervisor_row *row = hypervisor_rows; row->name != NULL;
	     row++) {
		unsigned priority = HYPERVISOR_PRIORITIES;
		const int source = hypervisor_source_find(row, place, name, &priority);

		if (source >= 0 && row->by_priority &&
		    priority == HYPERVISOR_PRIORITIES)
			take_list(nic, first, source, text, counts);
		else if (source >= 0)
			take_one(nic, first + (row->by_priority ? priority : 0), source,
			    text, counts);
		first += hypervisor_row_values(row);
	}
}

size_t
hypervisor_nics_seen(const struct hypervisor_nics *nics)
{
	size_t seen = 0;

	for (size_t i = 0; i < nics->count; i++)
		seen += nics->nics[i].seen;
	return seen;
}

static void
count_nic(struct hypervisor_nic *nic, struct hypervisor_nics_counts *counts)
{
	size_t at = 0;

	for (const struct hypervisor_row *row = hypervisor_rows; row->name != NULL;
	     row++)
		for (size_t i = 0; i < hypervisor_row_values(row); i++, at++) {
			const enum counter_change change =
			    counter_take(&nic->states[at], &nic->samples[at],
				row->gauge ? 0 : WIDTH, true);

			counts->values += nic->samples[at].there;
			counts->resets += change == COUNTER_RESET;
		}
}

void
hypervisor_nics_close(
    struct hypervisor_nics *nics, struct hypervisor_nics_counts *counts)
{
	for (size_t i = 0; i < nics->count;) {
		struct hypervisor_nic *nic = &nics->nics[i];

		nic->there = nic->seen;
		nic->away = nic->seen ? 0 : (uint8_t)(nic->away + 1);
		if (nic->away > HYPERVISOR_AWAY_READINGS) {
			remove_at(nics, i);
			continue;
		}
		count_nic(nic, counts);
		i++;
	}
}

/* ---- which values are on /metrics ---- */

bool
hypervisor_nic_reports(const struct hypervisor_nic *nic,
    const struct hypervisor_row *row, unsigned priority)
{
	const struct counter_state *state = nic->states;

	if (!row->by_priority)
		return true;
	for (const struct hypervisor_row *each = hypervisor_rows; each->name != NULL;
	     each++) {
		if (each->by_priority && state[priority].total != 0)
			return true;
		state += hypervisor_row_values(each);
	}
	return false;
}

static struct hypervisor_on_metrics
count_values(const struct hypervisor_nic *nic)
{
	const struct counter_state *state = nic->states;
	struct hypervisor_on_metrics count = { 0 };

	for (const struct hypervisor_row *row = hypervisor_rows; row->name != NULL;
	     row++)
		for (unsigned i = 0; i < hypervisor_row_values(row); i++, state++) {
			if (state->there && hypervisor_nic_reports(nic, row, i))
				count.exported++;
			else
				count.unused += state->there;
		}
	return count;
}

void
hypervisor_nics_choose(
    struct hypervisor_nics *nics, uint64_t limit, struct hypervisor_on_metrics *ret)
{
	struct hypervisor_on_metrics all = { 0 };

	for (size_t i = 0; i < nics->count; i++) {
		struct hypervisor_nic *nic = &nics->nics[i];
		struct hypervisor_on_metrics count = { 0 };

		if (nic->there)
			count = count_values(nic);
		nic->on_metrics = nic->there && all.exported + count.exported <= limit;
		all.unused += count.unused;
		if (nic->on_metrics)
			all.exported += count.exported;
		else
			all.refused += count.exported;
	}
	*ret = all;
}

size_t
hypervisor_nics_count(const struct hypervisor_nics *nics)
{
	return nics->count;
}

const struct hypervisor_nic *
hypervisor_nics_get(const struct hypervisor_nics *nics, size_t i)
{
	return &nics->nics[i];
}
