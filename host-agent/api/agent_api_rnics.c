#include "host-agent/api/agent_api_rnics.h"

#include <arpa/inet.h>

#include "host-agent/api/agent_api.h"
#include "host-agent/api/agent_show.h"
#include "host-agent/reflector/reflector.h"
#include "host-agent/report/self_limit.h"
#include "host-agent/rnic/rnic.h"
#include "host-agent/rnic/rnic_names.h"
#include "rackmesh/http/http_server.h"
#include "schemas/wire/text.h"

static json_t *
show_prober(const struct prober *prober)
{
	const struct prober_counts *counts = prober_counts(prober);
	json_t *object = json_object(), *results = json_object();

	agent_show_u64(object, "targets", prober_targets(prober));
	agent_show_u64(object, "asked", counts->due);
	agent_show_u64(object, "skipped", counts->skipped);
	agent_show_u64(object, "sent", counts->sent);
	agent_show_u64(object, "send_failed", counts->send_failed);
	for (unsigned i = 0; i < WIRE_OUTCOMES; i++)
		agent_show_u64(results, wire_outcome_str(i), counts->outcomes[i]);
	json_object_set_new(object, "results", results);
	return object;
}

static json_t *
show_reflector(const struct reflector *reflector)
{
	const struct reflector_counts *counts = reflector_counts(reflector);
	json_t *object = json_object();

	agent_show_u64(object, "received", counts->received);
	agent_show_u64(object, "replied", counts->replied);
	agent_show_u64(object, "refused",
	    counts->refused_unknown + counts->refused_port + counts->refused_malformed +
		counts->refused_full + counts->refused_mac + counts->refused_plain +
		counts->refused_replayed);
	agent_show_u64(object, "authenticated", counts->authenticated);
	agent_show_u64(object, "bad_mac", counts->refused_mac);
	agent_show_u64(object, "unauthenticated", counts->refused_plain);
	agent_show_u64(object, "replayed", counts->refused_replayed);
	agent_show_u64(object, "key_epoch", reflector_key_epoch(reflector));
	return object;
}

static json_t *
show_gids(const struct rnic_facts *facts)
{
	json_t *list = json_array();

	for (size_t i = 0; i < facts->address_count; i++) {
		char text[INET6_ADDRSTRLEN];
		json_t *object = json_object();

		inet_ntop(AF_INET6, facts->gids[i], text, sizeof(text));
		agent_show_u64(object, "index", facts->gid_index[i]);
		json_object_set_new(object, "gid", json_string(text));
		json_array_append_new(list, object);
	}
	return list;
}

static void
set_port_counts(json_t *object, const struct port_counts *counts)
{
	agent_show_u64(object, "overruns", counts->overruns);
	agent_show_u64(object, "errors", counts->errors);
	agent_show_u64(object, "no_header", counts->no_header);
	agent_show_u64(object, "receives_low", counts->receives_low);
	agent_show_u64(object, "rebuilt", counts->rebuilt);
	agent_show_u64(object, "reset", counts->reset);
	agent_show_u64(object, "handles_waited", counts->handles_waited);
	agent_show_u64(object, "handles_refused", counts->handles_refused);
	agent_show_u64(object, "refused_flows", counts->refused_flows);
}

/* Shows an RDMA port; the state of its QPs is shown only while they are open. */
static json_t *
show_rdma(const struct rnic *rnic, const struct rnic_facts *facts)
{
	struct port_verbs_facts verbs;
	json_t *object = json_object();

	json_object_set_new(object, "device", json_string(facts->rdma_device));
	agent_show_u64(object, "port", facts->id.port);
	json_object_set_new(object, "gids", show_gids(facts));
	if (facts->lid != 0)
		agent_show_u64(object, "lid", facts->lid);
	if (!rnic_verbs(rnic, &verbs))
		return object;
	agent_show_u64(object, "qpn", verbs.qpn);
	agent_show_u64(object, "large_qpn", verbs.large_qpn);
	agent_show_u64(object, "flow_qps", verbs.flow_count);
	agent_show_u64(object, "receives_lowest", verbs.receives_lowest);
	agent_show_u64(object, "handles", verbs.handles);
	set_port_counts(object, rnic_port_counts(rnic));
	return object;
}

static void
set_addresses(json_t *object, const struct rnic *rnic)
{
	json_t *addresses = json_array();
	struct wire_rnic seen;

	json_object_set_new(object, "addresses", addresses);
	if (!rnic_describe(rnic, &seen))
		return;
	for (size_t i = 0; i < seen.address_count; i++)
		json_array_append_new(
		    addresses, agent_show_address(&seen.addresses[i]));
	json_object_set_new(object, "driver", json_string(seen.driver));
	agent_show_u64(object, "mtu_bytes", seen.mtu_bytes);
}

static void
set_transport(json_t *object, const struct rnic *rnic, const struct rnic_facts *facts)
{
	json_object_set_new(
	    object, "transport", json_string(rnic_transport_str(facts->transport)));
	json_object_set_new(object, "netdev", json_string(facts->netdev));
	if (facts->transport == RNIC_ROCE)
		json_object_set_new(object, "rdma", show_rdma(rnic, facts));
}

static json_t *
show_tors(const struct tor_set *set)
{
	json_t *list = json_array();

	for (size_t i = 0; i < set->count; i++)
		json_array_append_new(list, json_string(set->tors[i]));
	return list;
}

static void
set_tors(json_t *object, const struct tor_choice *tors)
{
	json_object_set_new(object, "tors", show_tors(&tors->chosen));
	json_object_set_new(
	    object, "tor_source", json_string(tor_source_str(tors->source)));
	json_object_set_new(object, "lldp_tors", show_tors(&tors->reported[TOR_LLDP]));
	json_object_set_new(
	    object, "lldp_mismatch", json_boolean(tor_choice_mismatch(tors)));
}

static json_t *
show_rnic(const struct rnic *rnic)
{
	const struct rnic_facts *facts = rnic_facts(rnic);
	json_t *object = json_object();

	json_object_set_new(object, "device", json_string(rnic_device(rnic)));
	set_tors(object, rnic_tors(rnic));
	json_object_set_new(object, "up", json_boolean(rnic_up(rnic)));
	if (!rnic_up(rnic))
		json_object_set_new(
		    object, "error", json_string(rnic_waits_error(rnic)));
	json_object_set_new(
	    object, "link", json_string(wire_link_str(rnic_link(rnic))));
	json_object_set_new(
	    object, "id", facts == NULL ? json_null() : agent_show_id(facts->id));
	if (facts != NULL)
		set_transport(object, rnic, facts);
	set_addresses(object, rnic);
	if (rnic_up(rnic)) {
		json_object_set_new(
		    object, "stamps", json_string(rnic_stamps_str(rnic_stamps(rnic))));
		json_object_set_new(
		    object, "flows", json_string(rnic_flows_str(rnic_flows(rnic))));
		json_object_set_new(object, "prober", show_prober(rnic_prober(rnic)));
		json_object_set_new(
		    object, "reflector", show_reflector(rnic_reflector(rnic)));
		json_object_set_new(object, "authenticated",
		    json_boolean(reflector_key_epoch(rnic_reflector(rnic)) != 0));
	}
	agent_show_u64(object, "self_loss", rnic_self_loss(rnic));
	return object;
}

void
agent_api_rnics(struct rm_http_request *request, void *arg)
{
	const struct agent_api *api = arg;
	json_t *all = json_object(), *list = json_array(), *waiting = json_array();

	for (size_t i = 0; i < api->waiting_count; i++)
		json_array_append_new(
		    waiting, json_pack("{s:s, s:s}", "device", api->waiting[i].device,
				 "reason", api->waiting[i].reason));
	for (size_t i = 0; i < api->rnic_count; i++)
		json_array_append_new(list, show_rnic(api->rnics[i]));
	json_object_set_new(all, "host", json_string(api->host));
	json_object_set_new(all, "paused", json_boolean(*api->paused));
	agent_show_u64(all, "brake_permille", api->brake->rate_permille);
	agent_show_u64(all, "slowed_permille", api->limit->permille);
	json_object_set_new(
	    all, "slowed", json_string(wire_slow_str(api->limit->reason)));
	json_object_set_new(all, "rnics", list);
	json_object_set_new(all, "waiting", waiting);
	rm_http_reply_json(request, 200, all);
}
