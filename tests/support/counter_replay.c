/*
 * counter_replay - the agent of fabric tests, with counters that a test writes.
 *
 * It is host-agent, linked with --wrap=counter_port_read: after each reading of the
 * kernel's counters, the values in the file $COUNTER_REPLAY replace those of the RNIC.
 * The file has one line "NAME VALUE" for each, with names of the counter table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/counters/counter_port.h"
#include "host-agent/counters/counter_table.h"
#include "rackmesh/metrics/counter_delta.h"

int __real_counter_port_read(struct counter_port *port,
    const struct counter_port_place *place, bool all, rm_mono_t now,
    struct counter_sample *samples, struct counter_reading *ret);
int __wrap_counter_port_read(struct counter_port *port,
    const struct counter_port_place *place, bool all, rm_mono_t now,
    struct counter_sample *samples, struct counter_reading *ret);

static struct counter_sample *
sample_of(struct counter_sample *samples, const char *name)
{
	size_t at = 0;

	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		if (strcmp(row->name, name) == 0)
			return &samples[at];
		at += counter_row_values(row);
	}
	fprintf(stderr, "counter_replay: no counter is named %s\n", name);
	abort();
}

int
__wrap_counter_port_read(struct counter_port *port,
    const struct counter_port_place *place, bool all, rm_mono_t now,
    struct counter_sample *samples, struct counter_reading *ret)
{
	const char *path = getenv("COUNTER_REPLAY");
	FILE *file = path == NULL ? NULL : fopen(path, "re");
	unsigned long long value;
	char name[64];
	int r = __real_counter_port_read(port, place, all, now, samples, ret);

	if (file == NULL)
		return r;
	while (fscanf(file, "%63s %llu", name, &value) == 2) {
		*sample_of(samples, name) = (struct counter_sample){
			.there = true,
			.value = value,
		};
		ret->found++;
		r = 0;
	}
	fclose(file);
	return r;
}
