#include "ctl/accept/acceptance.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/accept/acceptance_state.h"
#include "ctl/accept/pair_counts.h"
#include "rackmesh/metrics/sketch.h"

#define MIN_LOST 3 /* a loss of fewer probes may be chance */

struct acceptance *
acceptance_new(const char *tor, const struct acceptance_limits *limits)
{
	struct acceptance *acceptance = calloc(1, sizeof(*acceptance));

	if (acceptance == NULL)
		return NULL;
	snprintf(acceptance->tor, sizeof(acceptance->tor), "%s", tor);
	acceptance->limits = *limits;
	acceptance->pairs = pair_counts_new();
	acceptance->refused = json_array();
	if (acceptance->pairs == NULL || acceptance->refused == NULL) {
		acceptance_free(acceptance);
		return NULL;
	}
	return acceptance;
}

void
acceptance_free(struct acceptance *acceptance)
{
	if (acceptance == NULL)
		return;
	for (size_t i = 0; i < acceptance->rnic_count; i++)
		rm_sketch_free(acceptance->rnics[i].rtt);
	free(acceptance->rnics);
	pair_counts_free(acceptance->pairs);
	json_decref(acceptance->refused);
	free(acceptance);
}

void
acceptance_look(struct acceptance *acceptance, bool answered)
{
	acceptance->looks++;
	acceptance->unanswered += !answered;
}

size_t
acceptance_rnics(const struct acceptance *acceptance)
{
	return acceptance->rnic_count;
}

const char *
acceptance_rnic_name(const struct acceptance *acceptance, size_t rnic)
{
	return acceptance->rnics[rnic].name;
}

size_t
acceptance_find(const struct acceptance *acceptance, const char *name)
{
	for (size_t i = 0; i < acceptance->rnic_count; i++)
		if (strcmp(acceptance->rnics[i].name, name) == 0)
			return i;
	return SIZE_MAX;
}

bool
acceptance_lossy(const struct acceptance *acceptance, uint64_t lost, uint64_t all)
{
	return lost >= MIN_LOST &&
	       (double)lost > acceptance->limits.max_loss * (double)all;
}

void
acceptance_progress(const struct acceptance *acceptance, FILE *out)
{
	unsigned expected = acceptance->limits.rnics > 0 ? acceptance->limits.rnics
							 : acceptance->expected_rnics;
	uint64_t probes = 0, lost = 0;
	size_t registered = 0;

	for (size_t i = 0; i < acceptance->rnic_count; i++) {
		const struct accept_rnic *rnic = &acceptance->rnics[i];

		registered += rnic->listed && rnic->registered;
		probes += rnic->out.answered + rnic->out.lost;
		lost += rnic->out.lost;
	}
	if (expected > 0)
		fprintf(out, "%zu of %u RNICs", registered, expected);
	else
		fprintf(out, "%zu RNICs", registered);
	fprintf(out, ", %" PRIu64 " probes, %" PRIu64 " lost, %zu %s\n", probes, lost,
	    acceptance->incident_count,
	    acceptance->incident_count == 1 ? "incident" : "incidents");
}

#define MORE_BYTES 26 /* of " and N more", for any N, with its 0 */

void
acceptance_racks(const json_t *racks, char out[ACCEPTANCE_RACKS_BYTES])
{
	size_t i, len = 0, left = 0;
	const json_t *rack;
	bool full = false;

	out[0] = '\0';
	json_array_foreach (racks, i, rack) {
		const char *tor = json_string_value(json_object_get(rack, "tor"));

		if (tor == NULL)
			continue;
		full = full || len + strlen(", ") + strlen(tor) + MORE_BYTES >
				   ACCEPTANCE_RACKS_BYTES;
		if (full)
			left++;
		else
			len += (size_t)snprintf(out + len, ACCEPTANCE_RACKS_BYTES - len,
			    "%s%s", len > 0 ? ", " : "", tor);
	}
	if (left > 0)
		snprintf(out + len, ACCEPTANCE_RACKS_BYTES - len, "%s%zu more",
		    len > 0 ? " and " : "", left);
	else if (len == 0)
		snprintf(out, ACCEPTANCE_RACKS_BYTES, "none");
}
