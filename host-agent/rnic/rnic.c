#include "host-agent/rnic/rnic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/pinglist/pinglist.h"
#include "host-agent/probe/port.h"
#include "host-agent/reflector/reflector.h"
#include "host-agent/rnic/rdma_index.h"
#include "host-agent/rnic/rnic_names.h"
#include "host-agent/udp/port_udp.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

struct rm_timer;

/* Most bytes of the name in answers; a long device name is cut so that ":254" fits
 * behind it. */
#define RNIC_NAME_BYTES 64

struct rnic {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rnic_options options;
	struct rnic_callbacks callbacks;
	void *arg;
	char name[RNIC_NAME_BYTES];
	char device[RNIC_RDMA_NAME_BYTES]; /* options.place.device */
	struct tor_choice tors;

	bool looking;     /* an examination runs on the worker */
	rm_mono_t looked; /* start of the running examination, or of the last one */
	int64_t look_cpu_ns;
	/* a change came during the examination: examine again after it */
	bool look_again;
	bool seen;        /* facts are valid */
	bool reported_up; /* RoCE: the last event was not RNIC_WAITS */
	/* reason of the last RNIC_WAITS; 0: the RNIC is not waiting */
	int waits_reason;
	/* waits_reason is the error of opening the RNIC; false: the error of searching
	 * for it */
	bool open_failed;
	/* another device has the RNIC's identity, so the RNIC uses this identity
	 * instead; guid 0: no other device has it */
	struct wire_rnic_id shared;
	bool paused;
	uint32_t brake_permille;
	struct rnic_facts facts; /* as last seen */
	uint64_t past_self_loss; /* overruns of sockets that were closed */

	/* The facts that were registered; they are kept when an RDMA port disappears.
	 */
	struct rnic_facts opened; /* guid 0: not opened yet */
	struct wire_address addresses[RNIC_FAMILIES];
	struct port_verbs_facts verbs;

	/* port, prober and reflector: either all three exist or none does */
	struct port *port;
	struct prober *prober;
	struct reflector *reflector;

	/* fires when the port has reported something that the loop has to handle */
	struct rm_timer *news;
	bool renumbered, gone;
	int gone_reason;
	bool reported_link_up;   /* as last reported */
	rm_mono_t fall_reported; /* when a link-down was last reported */
};

/* ---- the port of an RNIC (UDP or verbs), its prober and reflector ---- */

#define LINK_REPORT_NS RM_NS_PER_S

static void rnic_take_news(void *arg);

static uint64_t
rnic_overruns(const struct rnic *rnic)
{
	uint64_t sum = 0;

	for (int role = 0; rnic->port != NULL && role < PORT_ROLES; role++)
		sum += port_overruns(rnic->port, (enum port_role)role, true);
	return sum;
}

static void
rnic_close(struct rnic *rnic)
{
	if (rnic->port == NULL)
		return;
	rnic->callbacks.on_counters(rnic, false, rnic->arg);
	rnic->past_self_loss += rnic_overruns(rnic);
	prober_free(rnic->prober);
	reflector_free(rnic->reflector);
	port_free(rnic->port);
	rnic->prober = NULL;
	rnic->reflector = NULL;
	rnic->port = NULL;
	rnic->verbs.link_up = false;
	rm_timer_stop(rnic->news);
	rnic->renumbered = rnic->gone = false;
}

static void
rnic_on_result(const struct wire_result *result, rm_mono_t sent, void *arg)
{
	struct rnic *rnic = arg;

	rnic->callbacks.on_result(rnic, result, sent, rnic->arg);
}

static void
rnic_set_pace(struct rnic *rnic)
{
	bool down = rnic->facts.transport == RNIC_ROCE && !rnic->verbs.link_up;

	prober_set_permille(rnic->prober, rnic->brake_permille);
	prober_pause(rnic->prober, rnic->paused || rnic->brake_permille == 0 || down);
}

static int
rnic_start_prober(struct rnic *rnic)
{
	struct prober_options options = rnic->options.prober;
	int r;

	options.random_seed = rm_random_u64();
	/* A test with a fake provider may have only one RNIC, which probes itself. */
	if (rnic->options.calls == NULL)
		options.own_rnic.id = rnic->facts.id;
	for (size_t i = 0; i < rnic->facts.address_count && rnic->options.calls == NULL;
	     i++) {
		options.own_rnic.addresses[i] = rnic->facts.addresses[i];
		options.own_rnic.prefix_bits[i] = rnic->facts.prefix_bits[i];
	}
	r = prober_new(
	    rnic->loop, rnic->port, &options, rnic_on_result, rnic, &rnic->prober);
	if (r < 0)
		return r;
	prober_set_keys(rnic->prober, rnic->options.keys);
	rnic_set_pace(rnic);
	return 0;
}

/* ---- ports ---- */

static void
own_addresses(struct rnic *rnic, uint16_t port)
{
	memset(rnic->addresses, 0, sizeof(rnic->addresses));
	for (size_t i = 0; i < rnic->facts.address_count; i++) {
		rnic->addresses[i] = rnic->facts.addresses[i];
		rnic->addresses[i].port = port;
	}
}

static int
open_udp(struct rnic *rnic)
{
	struct port_udp_options options = {
		.device = rnic->facts.netdev,
		.netns = rnic->options.place.netns,
		.reflector_port = rnic->options.udp_port,
	};

	for (size_t i = 0; i < rnic->facts.address_count; i++)
		options.addresses[i] = rnic->facts.addresses[i];
	own_addresses(rnic, rnic->options.udp_port);
	return port_udp_new(rnic->loop, &options, &rnic->port);
}

/* The port calls this function in the middle of an operation, so the report is handled
 * by a timer that is due at once. */
static void
on_link(bool up, void *arg)
{
	struct rnic *rnic = arg;

	rm_timer_after(rnic->news, 0);
}

static void
on_renumbered(void *arg)
{
	struct rnic *rnic = arg;

	rnic->renumbered = true;
	rm_timer_after(rnic->news, 0);
}

static void
on_gone(int reason, void *arg)
{
	struct rnic *rnic = arg;

	rnic->gone = true;
	rnic->gone_reason = reason;
	rm_timer_after(rnic->news, 0);
}

/* Handles one report of the port. A flapping link is followed at once, but link-downs
 * are reported at most once a second, because each report causes a registration, which
 * is stored in etcd. A link-up is reported at once, because otherwise a short link-down
 * would look long. */
static bool
rnic_read_news(struct rnic *rnic, enum rnic_event *ret)
{
	const rm_mono_t now = rm_mono_now();
	const int64_t since = rm_mono_since(now, rnic->fall_reported);
	bool turned, fell;

	port_verbs_facts(rnic->port, &rnic->verbs);
	rnic_set_pace(rnic);
	turned = rnic->verbs.link_up != rnic->reported_link_up;
	fell = turned && !rnic->verbs.link_up;
	if (fell && !rnic->renumbered && since < LINK_REPORT_NS) {
		rm_timer_after(rnic->news, LINK_REPORT_NS - since);
		return false;
	}
	if (!turned && !rnic->renumbered)
		return false; /* the link went down and up again */
	if (fell)
		rnic->fall_reported = now;
	*ret = rnic->renumbered      ? RNIC_UP
	       : rnic->verbs.link_up ? RNIC_LINK_UP
				     : RNIC_LINK_DOWN;
	rnic->renumbered = false;
	return true;
}

static int
open_roce(struct rnic *rnic)
{
	const struct rnic_facts *facts = &rnic->facts;
	const struct port_verbs_events events = { on_link, on_renumbered, on_gone,
		rnic };
	struct port_verbs_options options = {
		.device = facts->rdma_device,
		.port_num = facts->id.port,
		.lid = facts->lid,
		.driver = facts->driver,
		.flow_qps = rnic->options.flow_qps,
		.software_stamps = rnic->options.software_stamps,
		.calls = rnic->options.calls,
		.pool = rnic->options.pool,
	};
	int r;

	for (size_t i = 0; i < facts->address_count; i++) {
		options.gids[i].address = facts->addresses[i];
		options.gids[i].index = facts->gid_index[i];
		memcpy(options.gids[i].gid, facts->gids[i], 16);
	}
	r = port_verbs_new(rnic->loop, &options, &events, &rnic->port);
	if (r < 0)
		return r;
	own_addresses(rnic, WIRE_ROCE_PORT);
	port_verbs_facts(rnic->port, &rnic->verbs);
	/* Once an RNIC was found to be RoCE it stays RoCE: its UDP identity would be
	 * that of another RNIC. */
	rnic->options.place.transport = RNIC_ROCE;
	return 0;
}

static int
rnic_open(struct rnic *rnic)
{
	int r;

	r = rnic->facts.transport == RNIC_ROCE ? open_roce(rnic) : open_udp(rnic);
	if (r < 0)
		return r;
	r = reflector_new(rnic->port, rnic->facts.id, 0, &rnic->reflector);
	if (r < 0)
		goto out;
	reflector_set_keys(rnic->reflector, rnic->options.keys, REFLECTOR_GRACE_NS);
	r = rnic_start_prober(rnic);
	if (r < 0)
		goto out;
	rnic->opened = rnic->facts;
	rnic->callbacks.on_counters(rnic, true, rnic->arg);
	return 0;
out:
	reflector_free(rnic->reflector);
	port_free(rnic->port);
	rnic->reflector = NULL;
	rnic->port = NULL;
	rnic->verbs.link_up = false;
	return r;
}

/* The job belongs to the worker until done is called. It borrows the strings of the
 * options, which live longer. */
struct look_job {
	struct rnic *rnic;
	struct rnic_place place;
	struct rnic_facts facts;
	int64_t cpu_ns;
};

int
rnic_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct rnic_options *options, const struct rnic_callbacks *callbacks,
    void *arg, struct rnic **ret)
{
	struct rnic *rnic = calloc(1, sizeof(*rnic));
	struct tor_set tors = { 0 };
	int r;

	if (rnic == NULL)
		return -ENOMEM;
	rnic->loop = loop;
	rnic->worker = worker;
	rnic->options = *options;
	rnic->callbacks = *callbacks;
	rnic->arg = arg;
	rnic->brake_permille = 1000;
	snprintf(rnic->device, sizeof(rnic->device), "%s", options->place.device);
	rnic->options.place.device = rnic->device;
	for (size_t i = 0; i < options->tor_count; i++)
		tor_set_add(&tors, options->tors[i]);
	(void)tor_choice_report(&rnic->tors, options->tor_source, &tors, rm_mono_now());
	if (options->place.rdma_port > 1)
		snprintf(rnic->name, sizeof(rnic->name), "%.*s:%u", RNIC_NAME_BYTES - 5,
		    options->place.device, (unsigned)options->place.rdma_port);
	else
		snprintf(rnic->name, sizeof(rnic->name), "%s", options->place.device);
	r = rm_timer_new(loop, rnic_take_news, rnic, &rnic->news);
	if (r < 0)
		free(rnic);
	else
		*ret = rnic;
	return r;
}

void
rnic_free(struct rnic *rnic)
{
	if (rnic == NULL)
		return;
	rnic_close(rnic);
	rm_timer_free(rnic->news);
	free(rnic);
}

static void
rnic_report(struct rnic *rnic, enum rnic_event event)
{
	rnic->reported_link_up = rnic->verbs.link_up;
	rnic->callbacks.on_event(rnic, event, 0, rnic->arg);
}

static void
rnic_report_waits(struct rnic *rnic, int reason)
{
	/* The RNIC of a RoCE device stays registered, with its link down. */
	if (rnic->reported_up && rnic->port == NULL) {
		rnic->reported_up = false;
		rnic_report(rnic, RNIC_CHANGED);
	}
	if (rnic->waits_reason == reason)
		return;
	rnic->waits_reason = reason;
	rnic->callbacks.on_event(rnic, RNIC_WAITS, reason, rnic->arg);
}

/* True: the RNIC may open with these facts. Replaces the identity in facts if another
 * device has the same one. */
static bool
rnic_identify(struct rnic *rnic, struct rnic_facts *facts)
{
	const bool known =
	    rnic->shared.guid == facts->id.guid && rnic->shared.port == facts->id.port;
	enum rnic_identity identity = RNIC_ID_SHARED;

	if (!known)
		identity = rnic->callbacks.identity == NULL
			       ? RNIC_ID_FREE
			       : rnic->callbacks.identity(rnic, facts, rnic->arg);
	if (identity != RNIC_ID_SHARED)
		return identity == RNIC_ID_FREE;
	rnic->shared = facts->id;
	facts->id = rnic_facts_id_apart(facts->id, rnic->name);
	return true;
}

static void
rnic_open_with(struct rnic *rnic, const struct rnic_facts *facts)
{
	bool same_place = rnic->seen && rnic_facts_same_place(&rnic->facts, facts);
	bool same = rnic->seen && rnic_facts_same(&rnic->facts, facts);
	int r;

	rnic->facts = *facts;
	rnic->seen = true;
	if (!same_place)
		rnic_close(rnic);
	if (rnic->port == NULL) {
		r = rnic_open(rnic);
		if (r < 0) {
			rnic->open_failed = true;
			rnic_report_waits(rnic, r);
			return;
		}
		rnic->waits_reason = 0;
		rnic->reported_up = facts->transport == RNIC_ROCE;
		rnic_report(rnic, RNIC_UP);
		return;
	}
	rnic->waits_reason = 0;
	rnic->opened = *facts;
	if (!same)
		rnic_report(rnic, RNIC_CHANGED);
}

static void
rnic_take_facts(struct rnic *rnic, struct rnic_facts *facts)
{
	if (rnic_identify(rnic, facts)) {
		rnic_open_with(rnic, facts);
		return;
	}
	rnic_close(rnic);
	rnic->open_failed = true;
	rnic_report_waits(rnic, -EEXIST);
}

/* Closes the port of a device that was removed, whatever state its QPs report. */
static void
rnic_lose(struct rnic *rnic, int reason)
{
	rnic_close(rnic);
	/* -ESTALE: the MTU has changed, and the RNIC opens again at once, so nothing is
	 * reported. */
	if (reason != -ESTALE)
		rnic_report_waits(rnic, reason);
}

/* Handles the reports of the port, outside of its callbacks. */
static void
rnic_take_news(void *arg)
{
	struct rnic *rnic = arg;

	if (rnic->port == NULL)
		return;
	if (rnic->gone) {
		rnic_lose(rnic, rnic->gone_reason);
	} else {
		enum rnic_event event;

		if (rnic_read_news(rnic, &event))
			rnic_report(rnic, event);
	}
	/* The RNIC's addresses may have changed with the link. */
	rnic->look_again = rnic->looking;
	rnic_look(rnic);
}

static int
look_run(void *arg)
{
	struct look_job *job = arg;
	const struct rdma_index *index = job->place.index;
	int64_t cpu_ns = rm_thread_cpu_ns(), searched_ns = rdma_index_cpu_ns(index);
	int r;

	r = rnic_facts_find(&job->place, &job->facts);
	job->cpu_ns =
	    rm_thread_cpu_ns() - cpu_ns - (rdma_index_cpu_ns(index) - searched_ns);
	return r;
}

/* True: the device has gone. -ENOTSUP also means this: without any GID the device has
 * lost its network device, and some drivers can remove a device only after all its
 * users have closed it. */
static bool
look_reports_gone(const struct rnic *rnic, int r)
{
	return (r == -ENODEV || r == -ENOENT || r == -ENOTSUP) && rnic->port != NULL &&
	       rnic->opened.transport == RNIC_ROCE;
}

static void
look_done(void *arg, int r)
{
	struct look_job *job = arg;
	struct rnic *rnic = job->rnic;

	rnic->looking = false;
	rnic->open_failed = false;
	if (r != -ECANCELED)
		rnic->look_cpu_ns = job->cpu_ns;
	if (r == 0)
		rnic_take_facts(rnic, &job->facts);
	else if (look_reports_gone(rnic, r))
		rnic_lose(rnic, r);
	/* -EAGAIN: the index has not searched for the device yet */
	else if (r != -ECANCELED && r != -EAGAIN)
		rnic_report_waits(rnic, r);
	if (rnic->look_again && r != -ECANCELED) {
		rnic->look_again = false;
		rnic_look(rnic);
	}
	free(job);
}

void
rnic_look(struct rnic *rnic)
{
	struct look_job *job;

	if (rnic->looking)
		return;
	/* Out of memory, or the worker is busy: the next examination comes soon. */
	job = calloc(1, sizeof(*job));
	if (job == NULL)
		return;
	job->rnic = rnic;
	job->place = rnic->options.place;
	if (rm_worker_submit(rnic->worker, look_run, look_done, job) < 0)
		free(job);
	else
		rnic->looking = true;
	rnic->looked = rm_mono_now();
}

int
rnic_plan(struct rnic *rnic, const struct pinglist_sum *sum)
{
	int r;

	if (rnic->port == NULL)
		return 0;
	r = reflector_set_roster(rnic->reflector, sum->peers, sum->peer_count);
	if (r < 0)
		return r;
	return prober_set_targets(rnic->prober, sum->targets, sum->target_count);
}

void
rnic_focus(struct rnic *rnic, const struct wire_focus *focus)
{
	if (rnic->port != NULL)
		prober_focus(
		    rnic->prober, focus->dst, focus->interval_us, focus->duration_ms);
}

void
rnic_pause(struct rnic *rnic, bool paused)
{
	rnic->paused = paused;
	if (rnic->port != NULL)
		rnic_set_pace(rnic);
}

void
rnic_brake(struct rnic *rnic, uint32_t permille)
{
	rnic->brake_permille = permille;
	if (rnic->port != NULL)
		rnic_set_pace(rnic);
}

int
rnic_retune(struct rnic *rnic, const struct prober_options *options)
{
	int r;

	rnic->options.prober = *options;
	if (rnic->port == NULL)
		return 0;
	/* The old prober is freed first, because a port has one listener per role. */
	rnic->callbacks.on_counters(rnic, false, rnic->arg);
	prober_free(rnic->prober);
	rnic->prober = NULL;
	r = rnic_start_prober(rnic);
	if (r < 0) {
		rnic_close(rnic); /* the next examination opens everything again */
		return r;
	}
	rnic->callbacks.on_counters(rnic, true, rnic->arg);
	rnic->callbacks.on_event(rnic, RNIC_UP, 0, rnic->arg);
	return 0;
}

rm_mono_t
rnic_looked(const struct rnic *rnic)
{
	return rnic->looked;
}

int64_t
rnic_look_cpu_ns(const struct rnic *rnic)
{
	return rnic->look_cpu_ns;
}

const char *
rnic_device(const struct rnic *rnic)
{
	return rnic->name;
}

const struct rnic_place *
rnic_place(const struct rnic *rnic)
{
	return &rnic->options.place;
}

size_t
rnic_tor_count(const struct rnic *rnic)
{
	return rnic->tors.chosen.count;
}

const char *
rnic_tor(const struct rnic *rnic, size_t i)
{
	return rnic->tors.chosen.tors[i];
}

bool
rnic_report_tors(
    struct rnic *rnic, enum tor_source source, const struct tor_set *set, rm_mono_t now)
{
	return tor_choice_report(&rnic->tors, source, set, now);
}

const struct tor_choice *
rnic_tors(const struct rnic *rnic)
{
	return &rnic->tors;
}

void
rnic_set_aggregators(struct rnic *rnic, uint64_t aggregators)
{
	rnic->options.aggregators = aggregators;
}

uint64_t
rnic_aggregators(const struct rnic *rnic)
{
	return rnic->options.aggregators;
}

bool
rnic_up(const struct rnic *rnic)
{
	return rnic->port != NULL;
}

const char *
rnic_waits_error(const struct rnic *rnic)
{
	if (rnic->open_failed)
		return rnic_open_error(rnic->facts.transport, rnic->waits_reason);
	return rnic_find_error(rnic->options.place.transport, rnic->waits_reason);
}

const struct rnic_facts *
rnic_facts(const struct rnic *rnic)
{
	return rnic->seen ? &rnic->facts : NULL;
}

enum wire_link
rnic_link(const struct rnic *rnic)
{
	if (rnic->options.place.transport != RNIC_ROCE || rnic->opened.id.guid == 0)
		return WIRE_LINK_UNKNOWN;
	return rnic->verbs.link_up ? WIRE_LINK_UP : WIRE_LINK_DOWN;
}

bool
rnic_verbs(const struct rnic *rnic, struct port_verbs_facts *ret)
{
	if (rnic->port == NULL || rnic->opened.transport != RNIC_ROCE)
		return false;
	port_verbs_facts(rnic->port, ret);
	return true;
}

enum wire_stamp_source
rnic_stamps(const struct rnic *rnic)
{
	struct port_verbs_facts verbs;

	if (rnic->opened.transport != RNIC_ROCE)
		return WIRE_STAMP_KERNEL;
	/* Asks the port, because at any time software stamps may replace the stamps of
	 * a NIC whose clock cannot be trusted. */
	return rnic_verbs(rnic, &verbs) ? verbs.stamps : rnic->verbs.stamps;
}

enum port_flows
rnic_flows(const struct rnic *rnic)
{
	return rnic->port == NULL ? PORT_FLOWS_UNKNOWN : port_flows(rnic->port);
}

bool
rnic_describe(const struct rnic *rnic, struct wire_rnic *ret)
{
	const struct rnic_facts *facts = &rnic->opened;
	bool roce = facts->transport == RNIC_ROCE;

	if (facts->id.guid == 0 || (rnic->port == NULL && !roce))
		return false;
	*ret = (struct wire_rnic){
		.id = facts->id,
		.device = rnic->name,
		.driver = facts->driver,
		.tor_count = rnic->tors.chosen.count,
		.plane = "",
		.address_count = facts->address_count,
		.mtu_bytes = roce ? rnic->verbs.mtu_bytes : facts->mtu_bytes,
		.qpn = roce ? rnic->verbs.qpn : 0,
		.large_qpn = roce ? rnic->verbs.large_qpn : 0,
		.lid = facts->lid,
		.link = (uint8_t)rnic_link(rnic),
		.authenticates = rnic->options.keys != NULL,
	};
	for (size_t i = 0; i < ret->tor_count; i++)
		ret->tors[i] = rnic->tors.chosen.tors[i];
	memcpy(ret->addresses, rnic->addresses, sizeof(rnic->addresses));
	return true;
}

uint64_t
rnic_self_loss(const struct rnic *rnic)
{
	return rnic->past_self_loss + rnic_overruns(rnic);
}

struct prober *
rnic_prober(const struct rnic *rnic)
{
	return rnic->prober;
}

struct reflector *
rnic_reflector(const struct rnic *rnic)
{
	return rnic->reflector;
}

const struct port_counts *
rnic_port_counts(const struct rnic *rnic)
{
	return rnic->port == NULL ? NULL : port_counts(rnic->port);
}
