/* A region whose aggregators go to another analyzer. */
#include "analyzer/blind.h"
#include "analyzer/region_state.h"
#include "rackmesh/base/log.h"
#include "rackmesh/fabric/alert.h"
#include "rackmesh/fabric/incident_adopt.h"

#define LEFT_NS (2 * RM_NS_PER_S) /* before a rack or an aggregator is missed */

void
region_leave(struct region *region)
{
	const struct rm_incident *incident;

	while (rm_incidents_open(region->incidents) > 0) {
		incident = rm_incidents_get(region->incidents, 0);
		rm_alerts_withdraw(region->alerts, &incident->verdict.part);
		rm_incidents_end(
		    region->incidents, incident->id, rm_wall_now(), rm_mono_now());
		region->callbacks.on_incident(region->name, WIRE_RESOLVED,
		    rm_incidents_get(
			region->incidents, rm_incidents_open(region->incidents)),
		    region->callbacks.arg);
	}
	blind_clear(region->blind);
	region->silent_count = 0;
	region->is_dirty = true;
	rm_log_info("region %s: another analyzer judges it", region->name);
}

bool
region_is_left(struct region *region, rm_mono_t now)
{
	if (blind_is_connected(region->blind)) {
		region->connected = now;
		region->is_left = false;
	}
	if (!region->is_left && rm_mono_since(now, region->connected) >= LEFT_NS) {
		region_leave(region);
		region->is_left = true;
	}
	return region->is_left;
}
