/*
 * A pinglist's copy on disk. First byte even: the file follows. First byte odd: a
 * pinglist follows, and the target adds a header with a right checksum, which no fuzzer
 * guesses.
 */
#include <stdlib.h>
#include <string.h>

#include "host-agent/pinglist/pinglist.h"
#include "host-agent/pinglist/pinglist_cache.h"

#define NOW_NS INT64_C(1700000000000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
act_on(const struct wire_pinglist_view *view, uint64_t guid)
{
	struct pinglist_sum sum;
	struct pinglist *pinglist;
	enum pinglist_status status;

	if (pinglist_new("tor-a", &pinglist) < 0)
		return;
	if (pinglist_take(pinglist, view, (rm_mono_t){ 1 }, &status) < 0 ||
	    status != PINGLIST_NEW)
		abort(); /* it was verified before */
	if (pinglist_sum((const struct pinglist *const[]){ pinglist }, 1,
		(struct wire_rnic_id){ .guid = guid }, &sum) == 0)
		pinglist_sum_clear(&sum);
	pinglist_free(pinglist);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire_pinglist_view opened;
	struct wire_bytes given;
	uint8_t *file = NULL;
	int64_t age_ns;
	size_t len;

	if (size == 0)
		return 0;
	given = (struct wire_bytes){ data + 1, size - 1 };
	if (data[0] & 1) {
		if (pinglist_cache_seal(&given, (rm_wall_t){ NOW_NS }, &file, &len) < 0)
			return 0;
	} else {
		len = given.len;
		file = malloc(len + 1);
		if (file == NULL)
			return 0;
		memcpy(file, given.data, len);
	}
	if (pinglist_cache_open(
		"tor-a", file, len, (rm_wall_t){ NOW_NS + 5 }, &age_ns, &opened) == 0) {
		if (age_ns < 0 || age_ns > PINGLIST_CACHE_LIFE_NS)
			abort();
		act_on(&opened, 0x020000000001);
	}
	free(file);
	return 0;
}
