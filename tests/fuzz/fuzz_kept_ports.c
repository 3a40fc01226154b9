/*
 * fuzz_kept_ports - any JSON as the link-downs of ports that a previous run saved: an
 * accepted text is saved again, and the result is accepted too.
 */
#include <stdint.h>
#include <stdlib.h>

#include "rackmesh/judge/recurrence.h"
#include "tor-aggregator/judge/rack_judge.h"
#include "tor-aggregator/rack/kept_ports.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const rm_mono_t now = { 5000 * RM_NS_PER_S };
static const rm_wall_t wall = { 5000 * RM_NS_PER_S };

static size_t
count(const struct rack_judge *judge)
{
	struct port_flaps_of port;
	size_t n = 0;

	while (rack_judge_port(judge, n, now, &port)) {
		rm_recurrence_note(&port.flaps, now, 1, true);
		n++;
	}
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	json_t *list = json_loadb((const char *)data, len, JSON_DECODE_ANY, NULL);
	struct rack_judge *judge, *again;
	struct rm_error error = { 0 };
	json_t *saved;

	if (list == NULL)
		return 0;
	if (rack_judge_new(&judge) < 0 || rack_judge_new(&again) < 0)
		abort();
	kept_ports_restore(judge, list, now, wall, &error);
	saved = kept_ports_save(judge, now, wall);
	error = (struct rm_error){ 0 };
	kept_ports_restore(again, saved, now, wall, &error);
	if (error.text[0] != '\0' || count(again) != count(judge))
		abort();
	json_decref(saved);
	json_decref(list);
	rack_judge_free(again);
	rack_judge_free(judge);
	return 0;
}
