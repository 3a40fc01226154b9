/*
 * fuzz_place - a controller's answer to a host about its ToRs, as received and as
 * saved.
 *
 * An accepted answer has ToRs with valid names for each device, and a copy equals it.
 */
#include <stdint.h>
#include <stdlib.h>

#include "host-agent/controller/place.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/judge/part.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
require(bool truth)
{
	if (!truth)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const devices[] = { "eth0", "bond0", "mlx5_0" };
	const char *tors[WIRE_MAX_ATTACHMENTS];
	struct place *place = NULL;

	if (place_new(data, len, &place) < 0) {
		require(place == NULL);
		return 0;
	}
	require(place_equal(place, place));
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		size_t count = place_tors(place, devices[i], "eth1", tors);

		require(count <= WIRE_MAX_ATTACHMENTS);
		while (count > 0)
			require(rm_name_valid(tors[--count]));
	}
	for (size_t i = 0; i < place_aggregators(place); i++) {
		struct wire_tor_aggregator aggregator;
		struct rm_endpoint endpoint;

		place_aggregator(place, i, &aggregator);
		require(rm_endpoint_parse(aggregator.address, &endpoint) == 0);
	}
	place_free(place);
	return 0;
}
