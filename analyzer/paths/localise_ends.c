#include "analyzer/paths/localise_ends.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
localise_ends_release(struct localise_ends *ends)
{
	free(ends->names);
	*ends = (struct localise_ends){ 0 };
}

/* Returns the index of the end in the list, or ends->count if it is not in the list. */
static size_t
find(const struct localise_ends *ends, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ends->count; i++)
		if (strlen(ends->names[i]) == len &&
		    memcmp(ends->names[i], name, len) == 0)
			break;
	return i;
}

void
localise_ends_clear(struct localise_ends *ends)
{
	ends->count = 0;
}

static int
grow(struct localise_ends *ends)
{
	const size_t room = ends->room == 0 ? 8 : 2 * ends->room;
	void *names;

	if (ends->count < ends->room)
		return 0;
	if (ends->room >= LOCALISE_MAX_ENDS)
		return -ENOBUFS;
	names = realloc(ends->names, room * sizeof *ends->names);
	if (names == NULL)
		return -ENOMEM;
	ends->names = names;
	ends->room = room;
	return 0;
}

int
localise_ends_add(struct localise_ends *ends, const char *name)
{
	const size_t len = strlen(name);
	int r;

	if (len == 0 || len >= LOCALISE_END_BYTES)
		return -ENOBUFS;
	if (find(ends, name, len) < ends->count)
		return 0;
	r = grow(ends);
	if (r == 0)
		memcpy(ends->names[ends->count++], name, len + 1);
	return r;
}

/* True: the flow leads to a bad end. sample: its first len bytes, such as
 * "h1/r0>h9/r0:49153". False also if it is malformed. */
static bool
is_to_bad(const struct localise_ends *ends, const char *sample, size_t len)
{
	const char *to = memchr(sample, '>', len), *device, *end;

	if (to == NULL)
		return false;
	to++;
	len -= (size_t)(to - sample);
	device = memchr(to, '/', len);
	end = memrchr(to, ':', len);
	if (device == NULL || end == NULL || end < device)
		return false;
	return find(ends, to, (size_t)(end - to)) < ends->count ||
	       find(ends, to, (size_t)(device - to)) < ends->count;
}

#define MAX_SAMPLES 16 /* rows name 8 flows */

struct samples {             /* the lost flows that a row names */
	uint64_t named, bad; /* number of all named flows, and of those to bad ends */
	size_t len; /* length of the text of the flows that do not lead to bad ends */
};

static struct samples
read_samples(const struct localise_ends *ends, const char *from,
    char others[LOCALISE_SAMPLES_BYTES])
{
	struct samples ret = { 0 };

	others[0] = '\0';
	for (from += strspn(from, " "); *from != '\0' && ret.named < MAX_SAMPLES;
	     from += strspn(from, " ")) {
		const size_t len = strcspn(from, " ");

		ret.named++;
		if (is_to_bad(ends, from, len)) {
			ret.bad++;
		} else if (ret.len + len + 2 < LOCALISE_SAMPLES_BYTES) {
			if (ret.len > 0)
				others[ret.len++] = ' ';
			memcpy(others + ret.len, from, len);
			ret.len += len;
			others[ret.len] = '\0';
		}
		from += len;
	}
	return ret;
}

/* Subtracts the share bad/named of the losses, rounded up. Returns how many losses were
 * subtracted. */
static uint64_t
take_share(uint64_t *count, const struct samples *samples)
{
	const uint64_t taken =
	    (*count * samples->bad + samples->named - 1) / samples->named;

	*count -= taken;
	return taken;
}

/* Subtracts at most this many flows. Returns how many were subtracted. */
static uint32_t
take_flows(uint32_t *flows, uint64_t most)
{
	const uint32_t taken = *flows < most ? *flows : (uint32_t)most;

	*flows -= taken;
	return taken;
}

uint64_t
localise_ends_leave_out(const struct localise_ends *ends, struct wire_path_row *row,
    char others[LOCALISE_SAMPLES_BYTES])
{
	struct samples samples;
	uint64_t taken, bad;

	if (ends->count == 0 || row->samples == NULL ||
	    (ends->rnics > 0 && 2 * ends->count > ends->rnics))
		return 0;
	samples = read_samples(ends, row->samples, others);
	if (samples.bad == 0)
		return 0;
	row->samples = others;
	taken = take_share(&row->lost_forward, &samples) +
		take_share(&row->lost_reverse, &samples) +
		take_share(&row->lost_unknown, &samples);
	row->sent -= taken;
	/* if all named flows lead to bad ends, so do those that are not named */
	bad = samples.bad == samples.named ? UINT32_MAX : samples.bad;
	take_flows(&row->flows_dead, bad);
	bad -= take_flows(&row->flows_silent, bad);
	take_flows(&row->flows_partial, bad);
	take_flows(&row->flows, samples.bad);
	return taken;
}
