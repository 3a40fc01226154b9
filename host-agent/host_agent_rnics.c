#include "host-agent/host_agent_rnics.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/controller/place.h"
#include "host-agent/host_agent_state.h"
#include "host-agent/packet/key_ring.h"
#include "host-agent/pinglist/pinglist_store.h"
#include "host-agent/rnic/look_pace.h"
#include "host-agent/rnic/rdma_facts.h"
#include "host-agent/rnic/rdma_index.h"
#include "host-agent/rnic/rnic_find.h"
#include "host-agent/rnic/rnic_names.h"
#include "host-agent/rnic/rnic_pattern.h"
#include "rackmesh/core/log.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/loop/worker.h"
#include "rackmesh/metrics/metrics.h"

struct agent_finder {
	struct host_agent *agent;
	struct rnic_find find;
	bool running; /* a search runs on the worker */
	bool changed; /* an event came after the search had begun */
	rm_mono_t begun;
	int logged_lldp, logged_error; /* the errors that were logged last */
	struct agent_waiting waiting[AGENT_MAX_WAITING], before[AGENT_MAX_WAITING];
	size_t waiting_count, before_count;
	/* too_many: RNICs beyond the limit of an agent */
	size_t too_many, too_many_logged;
};

static const struct agent_rnic_config *
entry_at(const struct agent_config *config, size_t i)
{
	return (const struct agent_rnic_config *)config->rnics.items + i;
}

/* ---- Adding an RNIC ---- */

static struct rnic_options
options_of(struct host_agent *agent, size_t entry)
{
	const struct agent_rnic_config *about = entry_at(&agent->config, entry);
	struct rnic_options options = {
		.place = agent_rnic_place(&agent->config, entry),
		.udp_port = (uint16_t)about->udp_port,
		.flow_qps = agent->config.roce_flow_qps,
		.software_stamps = agent->config.roce_software_stamps,
		.pool = agent->pool,
		.keys = agent->keys,
		.prober = agent_prober_options(agent),
	};

	options.place.index = agent->rdma;
	return options;
}

/* Prepares the modules that need the ToRs of an RNIC before the RNIC registers. */
static int
know_tors(struct host_agent *agent, const struct tor_set *set, uint64_t *aggregators)
{
	int r = 0;

	*aggregators = 0;
	for (size_t t = 0; t < set->count && r == 0; t++) {
		*aggregators |= agent_tor_aggregators(&agent->config, set->tors[t]);
		r = pinglist_store_add_tor(agent->pinglists, set->tors[t]);
		if (r == 0)
			r = key_ring_add_tor(agent->keys, set->tors[t]);
	}
	return r;
}

static int
add_rnic(struct host_agent *agent, struct rnic_options *options, enum tor_source source,
    const struct tor_set *set)
{
	struct rnic *rnic;
	int r;

	if (agent->rnic_count == WIRE_MAX_HOST_RNICS)
		return -ENOSPC;
	options->tor_source = source;
	options->tor_count = set->count;
	for (size_t t = 0; t < set->count; t++)
		options->tors[t] = set->tors[t];
	r = know_tors(agent, set, &options->aggregators);
	if (r == 0)
		r = rnic_new(agent->loop, agent->worker, options, &agent_rnic_callbacks,
		    agent, &rnic);
	if (r < 0)
		return r;
	agent->rnics[agent->rnic_count++] = rnic;
	agent->api.rnic_count = agent->rnic_count;
	return agent_metrics_rnic_state(agent->metrics, rnic);
}

/* Adds the RNICs that the config names with their ToRs. */
static int
add_configured(struct host_agent *agent)
{
	for (size_t i = 0; i < agent->config.rnics.count; i++) {
		const struct agent_rnic_config *entry = entry_at(&agent->config, i);
		struct rnic_options options = options_of(agent, i);
		struct tor_set set = { 0 };
		int r;

		if (agent_rnic_is_pattern(entry) || agent_rnic_tor_count(entry) == 0)
			continue;
		for (size_t t = 0; t < agent_rnic_tor_count(entry); t++)
			tor_set_add(&set, agent_rnic_tor(entry, t));
		r = add_rnic(agent, &options, TOR_CONFIG, &set);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- Found devices that cannot be used yet ---- */

static void __attribute__((format(printf, 3, 4)))
wait_for(struct agent_finder *finder, const char *device, const char *format, ...)
{
	struct agent_waiting *waiting = &finder->waiting[finder->waiting_count];
	va_list arguments;

	if (finder->waiting_count == AGENT_MAX_WAITING)
		return;
	finder->waiting_count++;
	snprintf(waiting->device, sizeof(waiting->device), "%s", device);
	va_start(arguments, format);
	vsnprintf(waiting->reason, sizeof(waiting->reason), format, arguments);
	va_end(arguments);
}

/* Logs each reason once for as long as it lasts. */
static void
log_waiting(struct agent_finder *finder)
{
	for (size_t i = 0; i < finder->waiting_count; i++) {
		const struct agent_waiting *now = &finder->waiting[i];
		bool known = false;

		for (size_t j = 0; j < finder->before_count && !known; j++)
			known = memcmp(now, &finder->before[j], sizeof(*now)) == 0;
		if (!known)
			rm_log_warn(0, "%s: not ready: %s", now->device, now->reason);
	}
	memcpy(finder->before, finder->waiting, sizeof(finder->before));
	finder->before_count = finder->waiting_count;
}

/* ---- ToRs ---- */

/* Writes to tor the name of the ToR for the switch that LLDP names; "": the switch has
 * no valid name. */
static void
tor_of_switch(
    const struct agent_config *config, const char *name, char tor[TOR_NAME_BYTES])
{
	const struct agent_switch_config *list = config->lldp_switches.items;
	const size_t len = strcspn(name, ".");

	for (size_t i = 0; i < config->lldp_switches.count; i++) {
		if (strcmp(list[i].name, name) == 0) {
			snprintf(tor, TOR_NAME_BYTES, "%s", list[i].tor);
			return;
		}
	}
	tor[0] = '\0';
	if (len < TOR_NAME_BYTES)
		snprintf(tor, TOR_NAME_BYTES, "%.*s", (int)len, name);
	if (!rm_name_valid(tor))
		tor[0] = '\0';
}

static struct tor_set
tors_of_lldp(const struct agent_config *config, const struct rnic_found *found)
{
	struct tor_set set = { 0 };
	char tor[TOR_NAME_BYTES];

	for (size_t i = 0; i < found->switch_count; i++) {
		tor_of_switch(config, found->switches[i], tor);
		if (tor[0] != '\0')
			tor_set_add(&set, tor);
	}
	return set;
}

/* Finds the ToRs of a device by the name of the RDMA device, or by that of its network
 * device. */
static struct tor_set
tors_of_place(const struct place *place, const struct rnic_found *found)
{
	const char *tors[WIRE_MAX_ATTACHMENTS];
	struct tor_set set = { 0 };
	size_t count = 0;

	if (place != NULL)
		count = place_tors(place, found->device, found->netdev, tors);
	for (size_t t = 0; t < count; t++)
		tor_set_add(&set, tors[t]);
	return set;
}

/* Collects the ToRs of a found device from each source. Add a new source here. */
static void
tors_of(const struct host_agent *agent, size_t entry, const struct rnic_found *found,
    struct tor_choice *ret)
{
	const struct agent_rnic_config *about = entry_at(&agent->config, entry);
	struct tor_set config = { 0 }, lldp = tors_of_lldp(&agent->config, found);
	const struct tor_set controller = tors_of_place(agent->place, found);

	*ret = (struct tor_choice){ 0 };
	for (size_t t = 0; t < agent_rnic_tor_count(about); t++)
		tor_set_add(&config, agent_rnic_tor(about, t));
	(void)tor_choice_report(ret, TOR_CONFIG, &config, (rm_mono_t){ 0 });
	(void)tor_choice_report(ret, TOR_LLDP, &lldp, (rm_mono_t){ 0 });
	(void)tor_choice_report(ret, TOR_CONTROLLER, &controller, (rm_mono_t){ 0 });
}

static void
log_mismatch(const struct rnic *rnic)
{
	const struct tor_choice *tors = rnic_tors(rnic);
	char config[TOR_SET_TEXT], lldp[TOR_SET_TEXT];

	if (tor_choice_mismatch(tors))
		rm_log_warn(0,
		    "%s: ToR differs: %s by LLDP, %s by the config, which is used: "
		    "correct one of the two",
		    rnic_device(rnic), tor_set_text(&tors->reported[TOR_LLDP], lldp),
		    tor_set_text(&tors->reported[TOR_CONFIG], config));
	else
		rm_log_info(
		    "%s: ToR agrees again: LLDP and the config name the same one",
		    rnic_device(rnic));
}

static void
note_lldp(struct host_agent *agent, struct rnic *rnic, const struct rnic_found *found,
    rm_mono_t now)
{
	const struct tor_set set = tors_of_lldp(&agent->config, found);
	const struct tor_set before = rnic_tors(rnic)->reported[TOR_LLDP];
	const bool mismatch = tor_choice_mismatch(rnic_tors(rnic));
	char text[TOR_SET_TEXT];
	uint64_t aggregators;
	bool moved;
	int r;

	/* If a source names no ToR now, the ToRs that it named last stay. */
	if (set.count == 0)
		return;
	moved = rnic_report_tors(rnic, TOR_LLDP, &set, now);
	if (tor_choice_mismatch(rnic_tors(rnic)) != mismatch ||
	    (mismatch && !tor_set_equal(&before, &set)))
		log_mismatch(rnic);
	if (!moved)
		return;
	r = know_tors(agent, &rnic_tors(rnic)->chosen, &aggregators);
	if (r < 0)
		rm_log_warn(r, "%s: cannot change its ToR", rnic_device(rnic));
	rm_log_warn(0, "%s: moved to ToR %s: LLDP names it", rnic_device(rnic),
	    tor_set_text(&rnic_tors(rnic)->chosen, text));
	rnic_set_aggregators(rnic, aggregators);
	agent_admit(agent, rnic);
	agent_move_rnic(agent, rnic);
}

/* ---- Found devices and their entries in the config ---- */

static bool
is_of(const struct rnic_found *found, const struct rnic *rnic)
{
	const struct rnic_place *place = rnic_place(rnic);
	const struct rnic_facts *facts = rnic_facts(rnic);

	if (strcmp(place->device, found->netdev) == 0)
		return true;
	if (strcmp(place->device, found->device) == 0)
		return found->transport == RNIC_UDP || place->rdma_port == found->port;
	if (facts == NULL)
		return false;
	if (facts->transport == RNIC_ROCE && found->transport == RNIC_ROCE)
		return strcmp(facts->rdma_device, found->device) == 0 &&
		       facts->id.port == found->port;
	return strcmp(facts->netdev, found->netdev) == 0 && found->netdev[0] != '\0';
}

/* True: the RDMA port of this network device became an RNIC earlier in this search. */
static bool
is_behind_taken(const struct agent_finder *finder, const struct rnic_found *found)
{
	for (const struct rnic_found *at = finder->find.list; at < found; at++) {
		if (at->taken && strcmp(at->netdev, found->netdev) == 0 &&
		    found->netdev[0] != '\0')
			return true;
	}
	return false;
}

static bool
entry_means(const struct agent_rnic_config *entry, const struct rnic_found *found)
{
	const struct rnic_pattern pattern = { .device = entry->device,
		.driver = entry->driver,
		.netdev = entry->netdev,
		.except = entry->except.items,
		.except_count = entry->except.count };
	const bool udp = found->transport == RNIC_UDP;

	if (agent_rnic_is_pattern(entry))
		return (entry->transport == RNIC_UDP) == udp &&
		       rnic_pattern_matches(
			   &pattern, found->device, found->netdev, found->driver);
	if (udp ? entry->transport == RNIC_ROCE : entry->transport == RNIC_UDP)
		return false;
	return strcmp(entry->device, found->netdev) == 0 ||
	       (strcmp(entry->device, found->device) == 0 &&
		   (udp || entry->port == found->port));
}

/* Finds the entry of the config for a device; an entry with the device's own name comes
 * before patterns. */
static bool
find_entry(
    const struct agent_config *config, const struct rnic_found *found, size_t *ret)
{
	for (int pattern = 0; pattern < 2; pattern++)
		for (size_t i = 0; i < config->rnics.count; i++) {
			const struct agent_rnic_config *entry = entry_at(config, i);

			if (agent_rnic_is_pattern(entry) != (pattern == 1) ||
			    !entry_means(entry, found))
				continue;
			*ret = i;
			return true;
		}
	return false;
}

static void
start_found(struct agent_finder *finder, size_t entry, const struct rnic_found *found,
    const struct tor_choice *tors)
{
	struct host_agent *agent = finder->agent;
	struct rnic_options options = options_of(agent, entry);
	char text[TOR_SET_TEXT];
	struct rnic *rnic;
	int r;

	if (agent_rnic_is_pattern(entry_at(&agent->config, entry))) {
		options.place.device = found->device;
		options.place.transport = found->transport;
		options.place.rdma_port =
		    found->transport == RNIC_ROCE ? found->port : 1;
	}
	r = add_rnic(agent, &options, tors->source, &tors->chosen);
	if (r == -ENOSPC)
		finder->too_many++;
	else if (r < 0)
		rm_log_warn(r, "%s: cannot add the RNIC", found->device);
	if (r < 0)
		return;
	rnic = agent->rnics[agent->rnic_count - 1];
	rm_log_info("%s: found at ToR %s, by %s", rnic_device(rnic),
	    tor_set_text(&tors->chosen, text), tor_source_str(tors->source));
	(void)rnic_report_tors(
	    rnic, TOR_LLDP, &tors->reported[TOR_LLDP], rm_mono_now());
	if (tor_choice_mismatch(rnic_tors(rnic)))
		log_mismatch(rnic);
	if (rnic_aggregators(rnic) == 0)
		rm_log_warn(0,
		    "%s: not served: no aggregator in the config has ToR %s: add the "
		    "ToR to the tors of its aggregators",
		    rnic_device(rnic), tor_set_text(&tors->chosen, text));
	agent_admit(agent, rnic);
	rnic_pause(rnic, agent->paused);
	rnic_brake(rnic, agent_pace(agent));
	rnic_look(rnic);
}

static void
take_found(struct agent_finder *finder, struct rnic_found *found, rm_mono_t now)
{
	struct host_agent *agent = finder->agent;
	struct tor_choice tors;
	size_t entry;

	for (size_t i = 0; i < agent->rnic_count; i++) {
		if (!is_of(found, agent->rnics[i]))
			continue;
		found->taken = true;
		note_lldp(agent, agent->rnics[i], found, now);
		return;
	}
	if (is_behind_taken(finder, found) ||
	    !find_entry(&agent->config, found, &entry))
		return;
	found->taken = true;
	tors_of(agent, entry, found, &tors);
	if (found->error != 0)
		wait_for(finder, found->device, "%s",
		    rnic_find_error(found->transport, found->error));
	else if (tors.chosen.count == 0)
		wait_for(finder, found->device,
		    "its ToR is not known: give it a tor in the config or in the "
		    "controllers' topology, or make LLDP work on its cable (%s)",
		    finder->find.lldp_error == 0 ? "no LLDP neighbor on its cable"
		    : finder->find.lldp_error == -ENOENT ? "there is no lldp.file"
							 : "lldp.file cannot be used");
	else
		start_found(finder, entry, found, &tors);
}

/* Reports entries without a ToR that name one device, if that device does not exist. */
static void
wait_for_missing(struct agent_finder *finder)
{
	const struct agent_config *config = &finder->agent->config;

	for (size_t i = 0; i < config->rnics.count; i++) {
		const struct agent_rnic_config *entry = entry_at(config, i);
		bool found =
		    agent_rnic_is_pattern(entry) || agent_rnic_tor_count(entry) > 0;

		for (size_t k = 0; k < finder->find.count && !found; k++)
			found = entry_means(entry, &finder->find.list[k]);
		if (!found)
			wait_for(
			    finder, entry->device, "no such network or RDMA device");
	}
	if (finder->agent->rnic_count == 0 && finder->waiting_count == 0)
		wait_for(finder, "rnics", "no device of this host matches yet");
}

static void
log_errors(struct agent_finder *finder)
{
	const struct rnic_find *find = &finder->find;

	if (find->lldp_error != finder->logged_lldp && find->lldp_error != -ENOENT &&
	    find->lldp_error != 0)
		rm_log_warn(0, "%s: cannot read ToRs from it: %s", find->lldp_file,
		    find->lldp_error == -ESTALE
			? "not written for minutes: does rackmesh-lldp.timer run?"
		    : find->lldp_error == -EBADMSG
			? "expected the output of lldpcli -f json0 show neighbors"
			: strerror(-find->lldp_error));
	finder->logged_lldp = find->lldp_error;
	if (find->error != finder->logged_error && find->error != 0 &&
	    find->error != -EAGAIN)
		rm_log_warn(
		    0, "cannot search for RNICs: %s", rdma_facts_error(find->error));
	finder->logged_error = find->error;
	if (finder->too_many > finder->too_many_logged)
		rm_log_error(0,
		    "RNICs: %zu not probed, more than the %d that one agent probes: "
		    "choose by rnics: device, netdev, except",
		    finder->too_many, WIRE_MAX_HOST_RNICS);
	finder->too_many_logged = finder->too_many;
}

static void
take_all(struct agent_finder *finder, rm_mono_t now)
{
	finder->waiting_count = 0;
	memset(finder->waiting, 0, sizeof(finder->waiting));
	finder->too_many = 0;
	for (size_t i = 0; i < finder->find.count; i++)
		take_found(finder, &finder->find.list[i], now);
	if (finder->find.error == 0)
		wait_for_missing(finder);
	finder->agent->api.waiting_count = finder->waiting_count;
	log_waiting(finder);
	log_errors(finder);
}

/* ---- The search ---- */

/* This function runs on the worker, so it reads only those parts of the config that
 * never change. */
static bool
wants_netdev(const char *netdev, const void *arg)
{
	const struct agent_config *config = arg;

	for (size_t i = 0; i < config->rnics.count; i++) {
		const struct agent_rnic_config *entry = entry_at(config, i);
		struct rnic_found found = { .transport = RNIC_UDP };

		snprintf(found.device, sizeof(found.device), "%s", netdev);
		snprintf(found.netdev, sizeof(found.netdev), "%s", netdev);
		if (entry->driver == NULL ? entry_means(entry, &found)
					  : entry->transport == RNIC_UDP)
			return true;
	}
	return false;
}

static int
find_run(void *arg)
{
	rnic_find_run(&((struct agent_finder *)arg)->find);
	return 0;
}

static void
find_done(void *arg, int r)
{
	struct agent_finder *finder = arg;

	finder->running = false;
	if (r != -ECANCELED)
		take_all(finder, rm_mono_now());
}

void
agent_find(struct host_agent *agent, bool changed, rm_mono_t now)
{
	struct agent_finder *finder = agent->finder;
	int64_t pace_ns;

	finder->changed |= changed;
	if (finder->running) /* the worker owns find as long as the search runs */
		return;
	pace_ns = finder->changed ? look_pace_event_ns(finder->find.cpu_ns)
				  : look_pace_ns(true, finder->find.cpu_ns);
	if (rm_mono_since(now, finder->begun) < pace_ns ||
	    rm_worker_submit(agent->worker, find_run, find_done, finder) < 0)
		return;
	finder->running = true;
	finder->changed = false;
	finder->begun = now;
}

static double
read_waiting(const void *arg)
{
	return (double)((const struct agent_finder *)arg)->waiting_count;
}

static double
read_refused(const void *arg)
{
	return (double)((const struct agent_finder *)arg)->too_many;
}

static int
add_metrics(const struct agent_finder *finder)
{
	struct rm_metrics *metrics = finder->agent->metrics;
	int r;

	r = rm_metrics_gauge(metrics, finder, "rackmesh_agent_rnics_waiting", "",
	    "Devices that match the config and that cannot be probed yet.",
	    read_waiting, finder);
	if (r == 0)
		r = rm_metrics_gauge(metrics, finder, "rackmesh_agent_rnics_refused",
		    "", "RNICs not monitored because one agent cannot have more.",
		    read_refused, finder);
	return r;
}

int
agent_finder_new(struct host_agent *agent, struct agent_finder **ret)
{
	const struct agent_config *config = &agent->config;
	struct agent_finder *finder = calloc(1, sizeof(*finder));
	int r;

	if (finder == NULL)
		return -ENOMEM;
	*ret = finder;
	finder->agent = agent;
	finder->find = (struct rnic_find){ .index = agent->rdma,
		.netns = config->netns,
		.wants = wants_netdev,
		.arg = config,
		.lldp_file = config->lldp_file };
	for (size_t i = 0; i < config->rnics.count; i++) {
		const struct agent_rnic_config *entry = entry_at(config, i);

		finder->find.rdma |=
		    entry->transport != RNIC_UDP && config->netns == NULL &&
		    (agent_rnic_is_pattern(entry) || agent_rnic_tor_count(entry) == 0);
	}
	agent->api.rnics = agent->rnics;
	agent->api.waiting = finder->waiting;
	r = add_metrics(finder);
	if (r == 0)
		r = add_configured(agent);
	if (r < 0)
		return r;
	finder->begun = rm_mono_now();
	rnic_find_run(&finder->find);
	take_all(finder, finder->begun);
	return 0;
}

void
agent_finder_free(struct agent_finder *finder)
{
	if (finder == NULL)
		return;
	rnic_find_clear(&finder->find);
	free(finder);
}
