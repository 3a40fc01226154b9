#include "tor-aggregator/rack/kept_ports.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "schemas/wire.h"
#include "tor-aggregator/judge/rack_judge.h"
#include "tor-aggregator/suspect/port_flaps.h"

/* ---- output ---- */

static json_int_t
at_wall(rm_mono_t at, rm_mono_t now, rm_wall_t wall)
{
	return at.ns == 0 ? 0 : (json_int_t)(wall.ns - rm_mono_since(now, at));
}

json_t *
kept_ports_save(const struct rack_judge *judge, rm_mono_t now, rm_wall_t wall)
{
	json_t *list = json_array();
	struct port_flaps_of port;

	for (size_t i = 0; list != NULL && rack_judge_port(judge, i, now, &port); i++) {
		const struct port_flaps *flaps = &port.flaps;
		char rnic[RM_RNIC_ID_TEXT];

		rm_rnic_id_format(port.rnic, rnic);
		json_array_append_new(list,
		    json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I}", "rnic", rnic,
			"flapping", flaps->flaps, "falls", (json_int_t)flaps->falls,
			"since_ns", at_wall(flaps->since, now, wall), "last_ns",
			at_wall(flaps->at[0], now, wall), "before_ns",
			at_wall(flaps->at[1], now, wall), "longest_ns",
			(json_int_t)flaps->longest_ns));
	}
	return list;
}

/* ---- reads the saved list, whose bytes are not trusted ---- */

static bool
take_number(const json_t *object, const char *key, int64_t max, int64_t *ret)
{
	const json_t *number = json_object_get(object, key);

	*ret = json_integer_value(number);
	return json_is_integer(number) && *ret >= 0 && *ret <= max;
}

/* Converts a wall-clock time to this monotonic clock; 0 stays 0. A time in the future
 * becomes now, because the wall clock may have been set back. */
static bool
take_time(const json_t *object, const char *key, rm_mono_t now, rm_wall_t wall,
    rm_mono_t *ret)
{
	int64_t at, ago;

	if (!take_number(object, key, INT64_MAX, &at))
		return false;
	ago = wall.ns - at;
	*ret = (rm_mono_t){ 0 };
	if (at == 0)
		return true;
	*ret = rm_mono_add(now, ago > 0 ? -ago : 0);
	if (ret->ns == 0)
		ret->ns = 1;
	return true;
}

static const char *
port_read(
    const json_t *object, rm_mono_t now, rm_wall_t wall, struct port_flaps_of *ret)
{
	const char *rnic = json_string_value(json_object_get(object, "rnic"));
	struct port_flaps *flaps = &ret->flaps;
	int64_t falls;

	*ret = (struct port_flaps_of){ 0 };
	if (rnic == NULL || rm_rnic_id_parse(rnic, &ret->rnic) < 0)
		return "rnic";
	if (!json_is_boolean(json_object_get(object, "flapping")))
		return "flapping";
	flaps->flaps = json_is_true(json_object_get(object, "flapping"));
	if (!take_number(object, "falls", UINT32_MAX, &falls) ||
	    (flaps->flaps && falls < PORT_FLAPS_FALLS))
		return "falls";
	flaps->falls = (uint32_t)falls;
	if (!take_time(object, "last_ns", now, wall, &flaps->at[0]) ||
	    flaps->at[0].ns == 0)
		return "last_ns";
	if (!take_time(object, "before_ns", now, wall, &flaps->at[1]) ||
	    (flaps->at[1].ns != 0 && rm_mono_since(flaps->at[0], flaps->at[1]) < 0))
		return "before_ns";
	if (!take_time(object, "since_ns", now, wall, &flaps->since) ||
	    (flaps->flaps && rm_mono_since(flaps->at[0], flaps->since) < 0))
		return "since_ns";
	if (!take_number(
		object, "longest_ns", PORT_FLAPS_QUIET_MAX_NS, &flaps->longest_ns))
		return "longest_ns";
	flaps->observed_since = now;
	return NULL;
}

void
kept_ports_restore(struct rack_judge *judge, const json_t *list, rm_mono_t now,
    rm_wall_t wall, struct rm_error *error)
{
	if (list != NULL && !json_is_array(list)) {
		rm_error_set(error, -EINVAL, "ports: not valid");
		return;
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *wrong = "number"; /* more items than the limit */
		struct port_flaps_of port;

		if (i < WIRE_MAX_MEMBERS)
			wrong = port_read(json_array_get(list, i), now, wall, &port);
		if (wrong == NULL && (port_flaps_is_old(&port.flaps, now) ||
					 rack_judge_restore_port(judge, &port) == 0))
			continue;
		rm_error_set(error, -EINVAL, "ports[%zu].%s is not usable", i,
		    wrong != NULL ? wrong : "memory");
		return;
	}
}
