/* A region whose aggregators go to another analyzer, or from which we are cut off. */
#include "analyzer/blind/blind.h"
#include "analyzer/incidents/region_state.h"
#include "analyzer/localise/localise.h"
#include "rackmesh/core/log.h"
#include "rackmesh/incident/alert.h"
#include "rackmesh/incident/incident_adopt.h"

#define ALONE_NS \
	(1 * RM_NS_PER_S) /* before receivers are asked whether they are there */
#define ANSWER_NS (2 * RM_NS_PER_S) /* they take no longer, where they are */
#define LEFT_NS (2 * RM_NS_PER_S)   /* before a rack or an aggregator is missed */

void
region_leave(struct region *region)
{
	const struct rm_incident *incident;

	while (rm_incidents_open(region->incidents) > 0) {
		incident = rm_incidents_get(region->incidents, 0);
		rm_alerts_withdraw(region->alerts, &incident->verdict.part);
		rm_incidents_end(region->incidents, incident->id, rm_wall_now(), true,
		    rm_mono_now());
		region->callbacks.on_incident(region->name, WIRE_RESOLVED,
		    rm_incidents_get(
			region->incidents, rm_incidents_open(region->incidents)),
		    region->callbacks.arg);
	}
	blind_clear(region->blind);
	localise_forget_named(region->localise);
	region->silent_count = 0;
	region->is_dirty = true;
	region->is_left = true;
	rm_log_info("region %s: another analyzer judges it", region->name);
}

bool
region_is_left(struct region *region, rm_mono_t now)
{
	if (blind_is_connected(region->blind)) {
		region->connected = now;
		region->is_left = false;
	}
	if (!region->is_left && rm_mono_since(now, region->connected) >= LEFT_NS)
		region_leave(region);
	return region->is_left;
}

bool
region_is_cut_off(struct region *region, rm_mono_t now)
{
	rm_mono_t heard;
	bool cut_off;

	if (!blind_last_heard(region->blind, &heard))
		return false;
	heard = rm_mono_add(heard, ALONE_NS);
	cut_off = rm_mono_since(now, heard) >= 0 &&
		  !rm_alerts_answered(region->alerts, heard);
	/* Whoever was silent meanwhile gets his grace anew. */
	if (!cut_off && region->cut_off.ns != 0 &&
	    rm_mono_since(now, region->cut_off) >= ANSWER_NS)
		blind_stalled(region->blind, now);
	if (!cut_off || region->cut_off.ns == 0)
		region->cut_off = cut_off ? now : (rm_mono_t){ 0 };
	return cut_off;
}
