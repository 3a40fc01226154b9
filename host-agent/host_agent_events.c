/* Handles the events of RNICs and aggregators. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/host_agent_counters.h"
#include "host-agent/host_agent_services.h"
#include "host-agent/host_agent_state.h"
#include "host-agent/packet/key_ring.h"
#include "host-agent/pinglist/brake_file.h"
#include "host-agent/pinglist/pinglist.h"
#include "host-agent/pinglist/pinglist_store.h"
#include "host-agent/rnic/rnic_facts.h"
#include "host-agent/rnic/rnic_names.h"
#include "host-agent/trace/tracer_io.h"
#include "rackmesh/core/log.h"
#include "rackmesh/identity/authority.h"
#include "rackmesh/identity/key_file.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/metrics/metrics.h"

#define PEER_ERROR_BYTES 1024

static int agent_on_keys(struct aggregator_link *aggregator_link, const uint8_t *data,
    size_t len, void *arg);

bool
agent_serves(size_t aggregator, const struct rnic *rnic)
{
	return rnic_aggregators(rnic) >> aggregator & 1;
}

static void
agent_register(struct host_agent *agent, size_t aggregator)
{
	struct wire_rnic rnics[WIRE_MAX_HOST_RNICS];
	struct wire_settings settings[WIRE_MAX_HOST_RNICS];
	size_t count = 0;
	int r;

	for (size_t i = 0; i < agent->rnic_count; i++) {
		if (!agent_serves(aggregator, agent->rnics[i]) ||
		    !rnic_describe(agent->rnics[i], &rnics[count]))
			continue;
		rnics[count].host = agent->config.host;
		rnics[count].incarnation = agent->incarnation;
		agent_counters_settings(
		    agent->counters, agent->rnics[i], &settings[count]);
		count++;
	}
	r = aggregator_link_register(
	    agent->aggregator_links[aggregator], rnics, settings, count);
	if (r < 0)
		rm_log_warn(r, "%s: cannot register",
		    aggregator_link_address(agent->aggregator_links[aggregator]));
}

void
agent_register_with(struct host_agent *agent, uint64_t aggregator_links)
{
	for (size_t i = 0; i < agent->aggregator_link_count; i++) {
		if ((aggregator_links >> i & 1) == 0)
			continue;
		/* First sends the results from before the registration: they belong to
		 * the RNIC's old identity. */
		aggregator_link_flush(agent->aggregator_links[i], rm_mono_now());
		agent_register(agent, i);
	}
}

void
agent_move_rnic(struct host_agent *agent, struct rnic *rnic)
{
	for (size_t i = 0; i < agent->aggregator_link_count; i++) {
		aggregator_link_flush(agent->aggregator_links[i], rm_mono_now());
		agent_register(agent, i);
	}
	agent_services_rnic(agent->services, rnic);
	agent_plan_rnic(agent, rnic);
}

/* ---- RNICs ---- */

void
agent_plan_rnic(struct host_agent *agent, struct rnic *rnic)
{
	const char *tors[WIRE_MAX_ATTACHMENTS];
	struct pinglist_sum sum = { 0 };
	size_t planned;
	int r;

	if (!rnic_up(rnic))
		return;
	for (size_t i = 0; i < rnic_tor_count(rnic); i++)
		tors[i] = rnic_tor(rnic, i);
	r = pinglist_store_sum(
	    agent->pinglists, tors, rnic_tor_count(rnic), rnic_facts(rnic)->id, &sum);
	planned = sum.target_count;
	if (r == 0)
		r = agent_services_add_probes(agent->services, rnic, &sum, planned);
	if (r == 0)
		r = agent_services_add_peers(agent->services, rnic, &sum);
	if (r == 0)
		r = rnic_plan(rnic, &sum);
	if (r == 0)
		r = agent_services_add_traces(agent->services, rnic, &sum, planned);
	if (r < 0)
		rm_log_warn(r, "%s: cannot take the pinglist", rnic_device(rnic));
	agent_trace_plan(agent, rnic, &sum);
	pinglist_sum_clear(&sum);
}

static void
agent_on_result(
    struct rnic *rnic, const struct wire_result *result, rm_mono_t sent, void *arg)
{
	struct host_agent *agent = arg;
	rm_mono_t now = rm_mono_now();

	agent_trace_result(agent, rnic, result);
	if (result->kind == WIRE_SERVICE)
		agent_services_result(agent->services, result, now);
	for (size_t i = 0; i < agent->aggregator_link_count; i++) {
		if (agent_serves(i, rnic))
			aggregator_link_result(
			    agent->aggregator_links[i], result, sent, now);
	}
}

static void
agent_on_rnic_event(struct rnic *rnic, enum rnic_event event, int reason, void *arg)
{
	struct host_agent *agent = arg;
	const char *device = rnic_device(rnic);
	char id[RM_RNIC_ID_TEXT];

	if (event == RNIC_WAITS) {
		rm_log_warn(0, "%s: not ready: %s", device, rnic_waits_error(rnic));
		return;
	}
	if (event == RNIC_LINK_DOWN)
		rm_log_warn(0, "%s: link down", device);
	if (event == RNIC_LINK_UP)
		rm_log_info("%s: link up", device);
	if (event == RNIC_UP) {
		const struct rnic_facts *facts = rnic_facts(rnic);

		rm_rnic_id_format(
		    (struct rm_rnic_id){ facts->id.guid, facts->id.port }, id);
		rm_log_info("%s: ready as %s over %s", device, id,
		    rnic_transport_str(facts->transport));
		agent_services_rnic(agent->services, rnic);
		agent_trace_rnic(agent, rnic);
		agent_plan_rnic(agent, rnic);
	}
	agent_register_with(agent, rnic_aggregators(rnic));
}

/* True: these facts are about the device with which the RNIC was opened or, if it is
 * not open, about the device that was found last. */
static bool
is_same_device(const struct rnic *rnic, const struct rnic_facts *facts)
{
	const struct rnic_facts *other = rnic_facts(rnic);

	if (other == NULL || other->transport != facts->transport)
		return false;
	if (facts->transport == RNIC_ROCE)
		return strcmp(other->rdma_device, facts->rdma_device) == 0;
	return other->netns_inode == facts->netns_inode &&
	       other->ifindex == facts->ifindex;
}

static enum rnic_identity
agent_on_identity(const struct rnic *rnic, const struct rnic_facts *facts, void *arg)
{
	const struct host_agent *agent = arg;
	struct wire_rnic other;

	for (size_t i = 0; i < agent->rnic_count; i++) {
		if (agent->rnics[i] == rnic ||
		    !rnic_describe(agent->rnics[i], &other) ||
		    other.id.guid != facts->id.guid || other.id.port != facts->id.port)
			continue;
		if (is_same_device(agent->rnics[i], facts))
			return RNIC_ID_TWICE;
		rm_log_warn(0,
		    "%s: found with the same %s as %s, identified by its name: give it "
		    "one of its own, so that it keeps its identity when it is renamed",
		    rnic_device(rnic), facts->id.port == 0 ? "MAC" : "node GUID",
		    rnic_device(agent->rnics[i]));
		return RNIC_ID_SHARED;
	}
	return RNIC_ID_FREE;
}

static void
agent_on_rnic_counters(struct rnic *rnic, bool there, void *arg)
{
	struct host_agent *agent = arg;
	int r = 0;

	if (!there)
		rm_metrics_forget(agent->metrics, rnic);
	else
		r = agent_metrics_rnic(agent->metrics, rnic);
	if (r < 0)
		rm_log_warn(r, "%s: cannot register all metrics", rnic_device(rnic));
}

/* ---- aggregators ---- */

static size_t
agent_aggregator_index(
    const struct host_agent *agent, const struct aggregator_link *aggregator_link)
{
	size_t i = 0;

	while (agent->aggregator_links[i] != aggregator_link)
		i++;
	return i;
}

static void
agent_on_welcome(struct aggregator_link *aggregator_link, void *arg)
{
	struct host_agent *agent = arg;

	size_t i = agent_aggregator_index(agent, aggregator_link);

	rm_log_info("%s: connected to %s", aggregator_link_address(aggregator_link),
	    aggregator_link_peer(aggregator_link));
	brake_session(&agent->brake, i);
	tracer_report_all(tracer_io_tracer(agent->io), (unsigned)i);
	agent_register(agent, i);
	agent_services_report_all(agent->services, i);
}

/* Gives the RNICs of this ToR their targets and roster. */
static void
agent_plan_tor(struct host_agent *agent, const char *tor)
{
	for (size_t i = 0; i < agent->rnic_count; i++) {
		struct rnic *rnic = agent->rnics[i];

		for (size_t t = 0; t < rnic_tor_count(rnic); t++) {
			if (strcmp(rnic_tor(rnic, t), tor) == 0)
				agent_plan_rnic(agent, rnic);
		}
	}
}

static int
agent_on_pinglist(
    struct aggregator_link *aggregator_link, const uint8_t *data, size_t len, void *arg)
{
	struct host_agent *agent = arg;
	const struct agent_aggregator_config *list = agent->config.aggregators.items;
	struct wire_pinglist_view view;
	const char *tor;
	int r;

	r = pinglist_store_open(agent->pinglists, data, len, &view);
	/* The message may only be about ToRs that on_peer has checked against the
	 * certificate. */
	if (r == 0 && !agent_aggregator_serves(
			  &list[agent_aggregator_index(agent, aggregator_link)],
			  view.pinglist.tor)) {
		rm_log_warn(0,
		    "%s: pinglist refused: this aggregator does not serve its ToR",
		    aggregator_link_address(aggregator_link));
		return 0;
	}
	if (r == 0 && pinglist_store_take(agent->pinglists, &view, rm_wall_now(),
			  rm_mono_now(), &tor, &r))
		agent_plan_tor(agent, tor);
	agent_tune_probers(agent);
	if (r < 0)
		rm_log_warn(r, "%s: pinglist refused",
		    aggregator_link_address(aggregator_link));
	else /* the peer has a plan, and perhaps no service flows yet */
		tracer_report_all(tracer_io_tracer(agent->io),
		    (unsigned)agent_aggregator_index(agent, aggregator_link));
	/* A ToR of another host, or missing memory, is no fault of the link. */
	return r == -ENOENT || r == -ENOMEM ? 0 : r;
}

static void
agent_on_focus(
    struct aggregator_link *aggregator_link, const struct wire_focus *focus, void *arg)
{
	struct host_agent *agent = arg;

	for (size_t i = 0; i < agent->rnic_count; i++) {
		const struct rnic_facts *facts = rnic_facts(agent->rnics[i]);

		if (facts != NULL && facts->id.guid == focus->src.guid &&
		    facts->id.port == focus->src.port) {
			rnic_focus(agent->rnics[i], focus);
			return;
		}
	}
	agent->counts.focus_refused++;
}

void
agent_obey_brake(struct host_agent *agent)
{
	struct wire_brake now = brake_now(&agent->brake);
	bool same_rate = now.rate_permille == agent->brake_now.rate_permille;

	agent->brake_now = now;
	if (same_rate)
		return;
	if (now.rate_permille == 0)
		rm_log_warn(0, "brake: turned on: no probe is sent");
	else
		rm_log_info("brake: changed: %u of 1000 probes are sent",
		    (unsigned)now.rate_permille);
	agent_set_pace(agent);
}

static void
agent_on_brake(struct aggregator_link *aggregator_link,
    const struct wire_brake *received, void *arg)
{
	struct host_agent *agent = arg;
	struct wire_brake before = agent->brake_now;

	brake_take(
	    &agent->brake, agent_aggregator_index(agent, aggregator_link), received);
	agent_obey_brake(agent);
	if (agent->brake_now.version != before.version ||
	    agent->brake_now.rate_permille != before.rate_permille)
		brake_file_save(agent->brake_file, &agent->brake_now);
}

static void
agent_on_resolved(struct aggregator_link *aggregator_link,
    const struct wire_resolve_answer *answer, void *arg)
{
	struct host_agent *agent = arg;
	bool keyed =
	    answer->found && key_ring_receive(agent->keys, &answer->rnic, &answer->key);

	agent_services_answer(agent->services, answer);
	for (size_t i = 0; keyed && i < agent->rnic_count; i++)
		agent_plan_rnic(agent, agent->rnics[i]);
}

/* True: the peer's certificate names it an aggregator of all those ToRs of this RNIC
 * that the config assigns to this connection. *asked is set if there is any such
 * ToR. */
static bool
agent_peer_serves(const struct host_agent *agent, size_t aggregator,
    const char *identity, const struct rnic *rnic, bool *asked,
    char reason[PEER_ERROR_BYTES])
{
	const struct agent_aggregator_config *list = agent->config.aggregators.items;
	struct rm_request request = {
		.verb = RM_VERB_SERVE_AGENT,
		.region = agent->config.region,
	};

	for (size_t t = 0; t < rnic_tor_count(rnic); t++) {
		request.tor = rnic_tor(rnic, t);
		if (!agent_aggregator_serves(&list[aggregator], request.tor))
			continue;
		*asked = true;
		if (!rm_authority_admits(identity, &request, reason, PEER_ERROR_BYTES))
			return false;
	}
	return true;
}

/* Takes the aggregator from this RNIC only: a wrong name from an LLDP neighbour must
 * not cost other RNICs their aggregator. */
static void
agent_withhold(
    struct host_agent *agent, size_t aggregator, struct rnic *rnic, const char *reason)
{
	rm_log_warn(0,
	    "%s: not used for %s: it does not serve the ToR that %s names: %s",
	    aggregator_link_address(agent->aggregator_links[aggregator]),
	    rnic_device(rnic), tor_source_str(rnic_tors(rnic)->source), reason);
	rnic_set_aggregators(
	    rnic, rnic_aggregators(rnic) & ~(UINT64_C(1) << aggregator));
}

void
agent_admit(struct host_agent *agent, struct rnic *rnic)
{
	char reason[PEER_ERROR_BYTES];
	bool asked = false;

	for (size_t i = 0; i < agent->aggregator_link_count; i++) {
		const char *identity =
		    aggregator_link_identity(agent->aggregator_links[i]);

		if (agent_serves(i, rnic) && identity[0] != '\0' &&
		    !agent_peer_serves(agent, i, identity, rnic, &asked, reason))
			agent_withhold(agent, i, rnic, reason);
	}
}

/* True: by the config alone, this aggregator serves a ToR of the RNIC; the last
 * certificate of the peer does not count. */
static bool
agent_is_for(const struct host_agent *agent, size_t aggregator, const struct rnic *rnic)
{
	uint64_t serving = 0;

	for (size_t t = 0; t < rnic_tor_count(rnic); t++)
		serving |= agent_tor_aggregators(&agent->config, rnic_tor(rnic, t));
	return serving >> aggregator & 1;
}

static int
agent_on_peer(struct aggregator_link *aggregator_link, const char *identity, void *arg)
{
	struct host_agent *agent = arg;
	size_t at = agent_aggregator_index(agent, aggregator_link);
	bool asked = false;
	char reason[PEER_ERROR_BYTES] = "it serves no ToR of this host";

	for (size_t i = 0; i < agent->rnic_count; i++) {
		struct rnic *rnic = agent->rnics[i];

		if (!agent_is_for(agent, at, rnic))
			continue;
		if (agent_peer_serves(agent, at, identity, rnic, &asked, reason))
			rnic_set_aggregators(
			    rnic, rnic_aggregators(rnic) | UINT64_C(1) << at);
		else if (rnic_tors(rnic)->source == TOR_CONFIG)
			goto refused;
		else
			agent_withhold(agent, at, rnic, reason);
	}
	if (asked || identity[0] == '\0')
		return 0;
refused:
	rm_log_warn(0, "%s: refused: not an aggregator of this host: %s",
	    aggregator_link_address(aggregator_link), reason);
	return -EACCES;
}

static void
agent_on_refused(struct aggregator_link *aggregator_link, const char *reason, void *arg)
{
	rm_log_warn(0, "%s: refused by the aggregator: %s",
	    aggregator_link_address(aggregator_link), reason);
}

static void
agent_on_caught_up(struct aggregator_link *aggregator_link, void *arg)
{
	struct host_agent *agent = arg;

	agent_beat_soon(agent, rm_mono_now());
}

static void
agent_on_down(
    struct aggregator_link *aggregator_link, int reason, bool had_session, void *arg)
{
	if (had_session)
		rm_log_warn(reason, "%s: disconnected",
		    aggregator_link_address(aggregator_link));
	else
		rm_log_warn(reason, "%s: cannot connect%s%s",
		    aggregator_link_address(aggregator_link),
		    aggregator_link_error(aggregator_link)[0] != '\0' ? ": " : "",
		    aggregator_link_error(aggregator_link));
}

const struct rnic_callbacks agent_rnic_callbacks = {
	.on_result = agent_on_result,
	.on_event = agent_on_rnic_event,
	.on_counters = agent_on_rnic_counters,
	.identity = agent_on_identity,
};

const struct aggregator_link_callbacks agent_aggregator_link_callbacks = {
	.on_peer = agent_on_peer,
	.on_welcome = agent_on_welcome,
	.on_pinglist = agent_on_pinglist,
	.on_keys = agent_on_keys,
	.on_focus = agent_on_focus,
	.on_refused = agent_on_refused,
	.on_caught_up = agent_on_caught_up,
	.on_down = agent_on_down,
	.on_brake = agent_on_brake,
	.on_resolved = agent_on_resolved,
};

/* ---- Keys of probes: from the aggregators to the RNICs, and to disk ---- */

int
agent_new_keys(struct host_agent *agent)
{
	int r = key_ring_new(&agent->keys);

	if (r == 0)
		r = rm_key_files_new(
		    agent->config.state_folder, agent->worker, &agent->key_files);
	return r;
}

void
agent_load_keys(struct host_agent *agent)
{
	for (size_t i = 0; i < pinglist_store_tors(agent->pinglists); i++) {
		const char *tor = pinglist_tor(pinglist_store_at(agent->pinglists, i));
		const uint8_t *data;
		uint8_t *file;
		size_t len;
		int r;

		r = rm_key_files_load(agent->key_files, tor, &file, &data, &len);
		if (r == 0) {
			struct wire_keys view;
			const char *taken;

			r = key_ring_open(agent->keys, data, len, &view);
			if (r == 0)
				(void)key_ring_take(agent->keys, &view, &taken, &r);
			explicit_bzero(file, len);
			free(file);
		}
		if (r < 0 && r != -ENOENT)
			rm_log_warn(r, "cannot read the probe keys of %s", tor);
	}
}

/* A message with keys, from an aggregator. */
static int
agent_on_keys(
    struct aggregator_link *aggregator_link, const uint8_t *data, size_t len, void *arg)
{
	struct host_agent *agent = arg;
	const struct agent_aggregator_config *list = agent->config.aggregators.items;
	uint32_t before = key_ring_epoch(agent->keys), epoch;
	struct wire_keys view;
	const char *tor;
	size_t at = 0;
	int r;

	while (agent->aggregator_links[at] != aggregator_link)
		at++;
	r = key_ring_open(agent->keys, data, len, &view);
	if (r == 0 && !agent_aggregator_serves(&list[at], view.tor)) {
		rm_log_warn(0,
		    "%s: probe keys refused: this aggregator does not serve their ToR",
		    aggregator_link_address(aggregator_link));
		return 0;
	}
	if (r == 0 && key_ring_take(agent->keys, &view, &tor, &r)) {
		rm_key_files_save(agent->key_files, tor, data, len);
		epoch = key_ring_epoch(agent->keys);
		if (epoch != before)
			rm_log_info("probes: authenticated with keys of epoch %u",
			    (unsigned)epoch);
		agent_plan_tor(agent, tor);
	}
	if (r < 0)
		rm_log_warn(r, "%s: probe keys refused",
		    aggregator_link_address(aggregator_link));
	/* A ToR of another host, or missing memory, is no fault of the link. */
	return r == -ENOENT || r == -ENOMEM ? 0 : r;
}
