#include "host-agent/controller/place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/file.h"
#include "rackmesh/judge/part.h"

#define PLACE_FILE "place.bin"
#define PLACE_MAX_BYTES (256u << 10)

struct place {
	uint8_t *data;
	size_t len;
	struct wire_place_answer answer; /* on data */
};

static bool
place_is_sensible(const struct wire_place_answer *answer)
{
	for (size_t i = 0; i < answer->cable_count; i++) {
		struct wire_cable cable;

		wire_placed_cable(answer, i, &cable);
		if (!rm_name_valid(cable.tor) ||
		    (cable.device[0] != '\0' && !rm_name_pattern_valid(cable.device)))
			return false;
	}
	for (size_t i = 0; i < answer->aggregator_count; i++) {
		struct wire_tor_aggregator aggregator;
		struct rm_endpoint endpoint;

		wire_placed_aggregator(answer, i, &aggregator);
		if (!rm_name_valid(aggregator.tor) ||
		    rm_endpoint_parse(aggregator.address, &endpoint) < 0 ||
		    endpoint.address.storage.ss_family == AF_UNIX)
			return false;
	}
	return true;
}

int
place_new(const uint8_t *data, size_t len, struct place **ret)
{
	struct place *place;
	int r = -ENOMEM;

	if (len > PLACE_MAX_BYTES)
		return -EBADMSG;
	place = calloc(1, sizeof(*place));
	if (place == NULL)
		return -ENOMEM;
	place->data = malloc(len > 0 ? len : 1);
	if (place->data == NULL)
		goto fail;
	memcpy(place->data, data, len);
	place->len = len;
	r = wire_open_placed(&place->answer, place->data, len) < 0 ? -EBADMSG : 0;
	if (r == 0 && !place_is_sensible(&place->answer))
		r = -EBADMSG;
	if (r == 0 && place->answer.error[0] != '\0')
		r = -ENOENT;
	if (r < 0)
		goto fail;
	*ret = place;
	return 0;
fail:
	place_free(place);
	return r;
}

void
place_free(struct place *place)
{
	if (place == NULL)
		return;
	free(place->data);
	free(place);
}

bool
place_equal(const struct place *a, const struct place *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	if (a->answer.cable_count != b->answer.cable_count ||
	    a->answer.aggregator_count != b->answer.aggregator_count)
		return false;
	for (size_t i = 0; i < a->answer.cable_count; i++) {
		struct wire_cable of_a, of_b;

		wire_placed_cable(&a->answer, i, &of_a);
		wire_placed_cable(&b->answer, i, &of_b);
		if (strcmp(of_a.device, of_b.device) != 0 ||
		    strcmp(of_a.tor, of_b.tor) != 0)
			return false;
	}
	for (size_t i = 0; i < a->answer.aggregator_count; i++) {
		struct wire_tor_aggregator of_a, of_b;

		wire_placed_aggregator(&a->answer, i, &of_a);
		wire_placed_aggregator(&b->answer, i, &of_b);
		if (strcmp(of_a.tor, of_b.tor) != 0 ||
		    strcmp(of_a.address, of_b.address) != 0)
			return false;
	}
	return true;
}

static bool
place_names(const struct wire_cable *cable, const char *device, const char *netdev)
{
	return cable->device[0] != '\0' &&
	       (rm_name_matches(device, cable->device) ||
		   (netdev[0] != '\0' && rm_name_matches(netdev, cable->device)));
}

size_t
place_tors(const struct place *place, const char *device, const char *netdev,
    const char *tors[WIRE_MAX_ATTACHMENTS])
{
	size_t count = 0;

	for (int named = 1; named >= 0 && count == 0; named--) {
		for (size_t i = 0; i < place->answer.cable_count; i++) {
			struct wire_cable cable;
			bool known = false;

			wire_placed_cable(&place->answer, i, &cable);
			if (named ? !place_names(&cable, device, netdev)
				  : cable.device[0] != '\0')
				continue;
			for (size_t t = 0; t < count; t++)
				known |= strcmp(tors[t], cable.tor) == 0;
			if (!known && count < WIRE_MAX_ATTACHMENTS)
				tors[count++] = cable.tor;
		}
	}
	return count;
}

size_t
place_aggregators(const struct place *place)
{
	return place->answer.aggregator_count;
}

void
place_aggregator(const struct place *place, size_t i, struct wire_tor_aggregator *ret)
{
	wire_placed_aggregator(&place->answer, i, ret);
}

/* ---- the file ---- */

static void
place_path(const char *folder, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/" PLACE_FILE, folder);
}

int
place_load(const char *folder, struct place **ret)
{
	char path[PATH_MAX];
	uint8_t *data;
	size_t len;
	int r;

	place_path(folder, path);
	r = rm_file_read(path, PLACE_MAX_BYTES, &data, &len);
	if (r < 0)
		return r;
	r = place_new(data, len, ret);
	free(data);
	return r == -ENOENT ? -EBADMSG : r;
}

int
place_save(const char *folder, const struct place *place)
{
	char path[PATH_MAX];

	place_path(folder, path);
	return rm_file_replace(path, place->data, place->len);
}
