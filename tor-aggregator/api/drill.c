#include "tor-aggregator/api/drill.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/part.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_health.h"
#include "tor-aggregator/api/aggregator_show.h"
#include "tor-aggregator/api/diagnosis_answer.h"
#include "tor-aggregator/api/drift_answer.h"
#include "tor-aggregator/api/hypervisor_answer.h"
#include "tor-aggregator/api/mesh_answer.h"
#include "tor-aggregator/api/proof_answer.h"
#include "tor-aggregator/api/switch_answer.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/tor_aggregator_state.h"
#include "tor-aggregator/window/ring.h"
#include "tor-aggregator/window/roster.h"

/* results that one request searches, which takes about 20 ms */
#define MAX_SCANNED 2000000

const struct roster_rnic *
drill_find(const struct tor_aggregator *aggregator, const char *text,
    const struct tor_rack **rack)
{
	struct rm_rnic_id id = { 0 };
	bool is_id = rm_rnic_id_parse(text, &id) == 0;

	for (size_t i = 0; i < aggregator->rack_count; i++) {
		const struct roster *roster = tor_rack_roster(aggregator->racks[i]);

		*rack = aggregator->racks[i];
		for (size_t m = 0; m < roster_members(roster); m++) {
			const struct roster_rnic *rnic = roster_member(roster, m);
			char name[2 * RM_NAME_BYTES];

			snprintf(name, sizeof(name), "%s/%s", rnic->host, rnic->device);
			if (is_id ? rnic->id.guid == id.guid && rnic->id.port == id.port
				  : strcmp(name, text) == 0)
				return rnic;
		}
	}
	return NULL;
}

static json_t *
error_of(int status, const char *sentence, int *ret)
{
	json_t *object = json_object();

	json_object_set_new(object, "error", json_string(sentence));
	*ret = status;
	return object;
}

/* Why the agent of this RNIC may not have answered a probe at that time; NULL: no
 * reason is known. */
static const char *
excuse_of(const struct tor_aggregator *aggregator, const struct tor_rack *rack,
    struct wire_rnic_id id, rm_mono_t sent, rm_mono_t now)
{
	const struct roster_rnic *rnic = roster_find(tor_rack_roster(rack), id);
	const struct agent *agent =
	    rnic == NULL ? NULL : agents_find(aggregator->agents, rnic->host);
	struct host_silence silence;

	if (agent == NULL)
		return NULL;
	switch (agent_health_state(
	    agent->watch, now, sent, sent, tor_rack_timeout_ns(rack), &silence)) {
	case HOST_STALLED:
		return "stalled";
	case HOST_RESTARTING:
		return "restarting";
	case HOST_PAUSED:
		return "paused";
	default:
		return NULL;
	}
}

static json_t *
show_probe(const struct tor_aggregator *aggregator, const struct tor_rack *rack,
    const struct ring_result *result, const struct show_now *now)
{
	json_t *object = show_result(tor_rack_roster(rack), result, now);
	const struct wire_rnic_id from = { result->src_guid, result->src_port_num };
	const struct wire_rnic_id to = { result->dst_guid, result->dst_port_num };
	const char *excuse = NULL;

	if (result->outcome != WIRE_OK)
		excuse = excuse_of(aggregator, rack, from, result->sent, now->mono);
	if (result->outcome != WIRE_OK && excuse == NULL)
		excuse = excuse_of(aggregator, rack, to, result->sent, now->mono);
	if (excuse != NULL)
		json_object_set_new(object, "excuse", json_string(excuse));
	return object;
}

static json_t *
list_results(const struct tor_aggregator *aggregator, const struct tor_rack *rack,
    struct wire_rnic_id id, uint64_t seconds, uint64_t limit)
{
	const struct show_now now = { rm_mono_now(), rm_wall_now() };
	const rm_mono_t since = rm_mono_add(now.mono, -(int64_t)seconds * RM_NS_PER_S);
	json_t *list = json_array();

	for (size_t i = 0; i < MAX_SCANNED && json_array_size(list) < limit; i++) {
		const struct ring_result *result = ring_get(tor_rack_ring(rack), i);

		/* Results arrive almost in the order of sending, so older ones need not
		 * be searched. */
		if (result == NULL ||
		    rm_mono_since(since, result->sent) > 2 * RM_NS_PER_S)
			break;
		if (result->sent.ns >= since.ns && ring_touches(result, id))
			json_array_append_new(
			    list, show_probe(aggregator, rack, result, &now));
	}
	return list;
}

json_t *
drill_results(const struct tor_aggregator *aggregator, const char *text,
    uint64_t seconds, uint64_t limit, int *status)
{
	const struct tor_rack *rack = NULL;
	const struct roster_rnic *rnic = drill_find(aggregator, text, &rack);
	json_t *all;

	if (rnic == NULL)
		return error_of(404,
		    "no such RNIC here: give its id or host/device, see /v1/rnics",
		    status);
	all = json_object();
	json_object_set_new(all, "rnic", show_id(rnic->id));
	json_object_set_new(all, "host", json_string(rnic->host));
	json_object_set_new(all, "device", json_string(rnic->device));
	json_object_set_new(all, "tor", json_string(tor_rack_tor(rack)));
	json_object_set_new(
	    all, "results", list_results(aggregator, rack, rnic->id, seconds, limit));
	*status = 200;
	return all;
}

static int
write_answer(const struct wire_drill *drill, int status, const json_t *all,
    struct wire_writer *writer, struct wire_bytes *out)
{
	char *text = json_dumps(all, JSON_COMPACT);
	struct wire_drill_answer answer = { .token = drill->token,
		.status = (uint16_t)status,
		.counted = drill->counted[0] != '\0' };
	int r;

	if (text == NULL)
		return -ENOMEM;
	answer.json = (struct wire_bytes){ (const uint8_t *)text, strlen(text) };
	r = wire_write_drilled(writer, &answer, out);
	free(text);
	return r;
}

static int
write_mesh(const struct tor_aggregator *aggregator, const struct wire_drill *drill,
    struct wire_writer *writer, struct wire_bytes *out)
{
	static const char too_large[] = "{\"error\":\"the rack has more pairs than an "
					"answer over a link holds: ask "
					"its aggregator\"}";
	const enum mesh_period period =
	    drill->seconds == 3600 ? MESH_HOUR : MESH_MINUTE;
	struct wire_drill_answer answer = { .token = drill->token, .mesh = true };
	size_t len = 0;
	int status, r;
	char *text = mesh_answer(aggregator, drill->mesh, period, &status, &len);

	if (text == NULL)
		return -ENOMEM;
	answer.status = (uint16_t)status;
	answer.json = (struct wire_bytes){ (const uint8_t *)text, len };
	r = wire_write_drilled(writer, &answer, out);
	free(text);
	if (r == -EMSGSIZE) {
		answer.status = 413;
		answer.json = (struct wire_bytes){ (const uint8_t *)too_large,
			sizeof(too_large) - 1 };
		r = wire_write_drilled(writer, &answer, out);
	}
	return r;
}

static json_t *
show_hosts(const struct tor_aggregator *aggregator, const struct tor_rack *rack)
{
	const struct show_now now = { rm_mono_now(), rm_wall_now() };
	json_t *list = json_array();

	for (size_t i = 0; i < roster_hosts(tor_rack_roster(rack)); i++)
		json_array_append_new(list, show_host(aggregator, rack, i, &now));
	return list;
}

/* Returns the diagnosis of a rack for the analyzer's page; hosts_only: only its list of
 * agents. */
static json_t *
show_counted(const struct tor_aggregator *aggregator, const char *tor, bool hosts_only,
    int *status)
{
	for (size_t i = 0; i < aggregator->rack_count; i++) {
		json_t *all;

		if (strcmp(aggregator->tors[i], tor) != 0)
			continue;
		all = json_object();
		*status = 200;
		json_object_set_new(all, "tor", json_string(tor));
		json_object_set_new(
		    all, "hosts", show_hosts(aggregator, aggregator->racks[i]));
		if (hosts_only)
			return all;
		json_object_set_new(all, "diagnosis", diagnosis_show(aggregator, i));
		json_object_set_new(all, "drift", drift_show(aggregator, i));
		json_object_set_new(all, "proof", proof_show(aggregator, i));
		json_object_set_new(all, "switch", switch_ports_show(aggregator, i));
		json_object_set_new(all, "switches", other_switches_show(aggregator));
		json_object_set_new(all, "hypervisors", hypervisors_show(aggregator));
		json_object_set_new(
		    all, "services", show_services(aggregator, aggregator->racks[i]));
		pauses_show(aggregator, all);
		return all;
	}
	return error_of(404, "this aggregator does not watch that ToR", status);
}

int
drill_write(const struct tor_aggregator *aggregator, const struct wire_drill *drill,
    struct wire_writer *writer, struct wire_bytes *out)
{
	const uint64_t seconds = drill->seconds == 0 ? DRILL_SECONDS : drill->seconds;
	const uint64_t limit = drill->limit == 0 ? DRILL_LIMIT : drill->limit;
	json_t *all;
	int status, r;

	if (drill->mesh[0] != '\0')
		return write_mesh(aggregator, drill, writer, out);
	if (drill->counted[0] != '\0')
		all = show_counted(
		    aggregator, drill->counted, drill->hosts_only, &status);
	else if (seconds > DRILL_MAX_SECONDS || limit > DRILL_MAX_LIMIT)
		all = error_of(400, "at most 86400 seconds and 10000 results", &status);
	else
		all = drill_results(aggregator, drill->rnic, seconds, limit, &status);
	r = write_answer(drill, status, all, writer, out);
	json_decref(all);
	if (r != -EMSGSIZE)
		return r;
	all = error_of(413, "more than an answer holds: ask for fewer", &status);
	r = write_answer(drill, status, all, writer, out);
	json_decref(all);
	return r;
}
