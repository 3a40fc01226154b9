#include "tor-aggregator/rack/kept_ports.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "rackmesh/judge/recurrence.h"
#include "schemas/wire.h"
#include "tor-aggregator/judge/rack_judge.h"

json_t *
kept_ports_save(const struct rack_judge *judge, rm_mono_t now, rm_wall_t wall)
{
	json_t *list = json_array();
	struct port_flaps_of port;

	for (size_t i = 0; list != NULL && rack_judge_port(judge, i, now, &port); i++) {
		json_t *one = rm_recurrence_save(&port.flaps, now, wall);
		char rnic[RM_RNIC_ID_TEXT];

		rm_rnic_id_format(port.rnic, rnic);
		json_object_set_new(one, "rnic", json_string(rnic));
		if (port.down_at.ns != 0)
			json_object_set_new(one, "down_ns",
			    json_integer(wall.ns - rm_mono_since(now, port.down_at)));
		json_array_append_new(list, one);
	}
	return list;
}

/* Reads when the port was last known to be down; a time in the future becomes now. */
static bool
down_read(const json_t *object, rm_mono_t now, rm_wall_t wall, rm_mono_t *ret)
{
	const json_t *down = json_object_get(object, "down_ns");
	const int64_t at = json_integer_value(down);

	if (down == NULL) /* it was up, or an older release saved it */
		return true;
	if (!json_is_integer(down) || at < 0)
		return false;
	*ret = at < wall.ns ? rm_mono_add(now, at - wall.ns) : now;
	return true;
}

/* Reads one item of the saved list, whose bytes are not trusted. */
static const char *
port_read(
    const json_t *object, rm_mono_t now, rm_wall_t wall, struct port_flaps_of *ret)
{
	const char *rnic = json_string_value(json_object_get(object, "rnic"));

	*ret = (struct port_flaps_of){ 0 };
	if (rnic == NULL || rm_rnic_id_parse(rnic, &ret->rnic) < 0)
		return "rnic";
	if (!down_read(object, now, wall, &ret->down_at))
		return "down_ns";
	return rm_recurrence_restore(object, now, wall, &ret->flaps);
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
		if (wrong == NULL && (port_flaps_are_old(&port, now) ||
					 rack_judge_restore_port(judge, &port) == 0))
			continue;
		rm_error_set(error, -EINVAL, "ports[%zu].%s is not usable", i,
		    wrong != NULL ? wrong : "memory");
		return;
	}
}
