/* Handles the requests of aggregators, sends requests to them, and sends the brake. */
#include <errno.h>
#include <string.h>

#include "rackmesh/net/link.h"
#include "region-controller/aggregators/aggregator_session.h"
#include "region-controller/aggregators/aggregators.h"
#include "region-controller/plan/publish.h"
#include "region-controller/registry/probe_keys.h"
#include "region-controller/registry/qp_joins.h"
#include "region-controller/registry/registry.h"
#include "region-controller/store/store_record.h"

/* ---- probe keys: which aggregator gets which keys, and which epoch is in use ---- */

#define MAX_EPOCH (UINT32_MAX / 2) /* a later epoch would come from a wrong clock */

uint32_t
aggregators_epoch(const struct aggregators *aggregators)
{
	return aggregators->epoch != 0
		   ? aggregators->epoch
		   : probe_keys_epoch(aggregators->options.keys, rm_wall_now());
}

int
session_deliver_keys(struct session *session, struct aggregators_tor *tor,
    const struct publish_tor *plan)
{
	struct aggregators *owner = session->owner;
	const struct probe_keys *keys = owner->options.keys;
	struct wire_bytes bytes;
	uint64_t version;
	uint32_t epoch;
	int r;

	if (keys == NULL || plan->bytes == NULL)
		return 0;
	epoch = aggregators_epoch(owner);
	version = publish_keys_version(
	    owner->options.publish, plan->tor, epoch, rm_wall_now());
	if (tor->keys_version == version)
		return 0;
	r = probe_keys_write(keys, &plan->view, epoch, version, owner->writer, &bytes);
	if (r == 0)
		r = rm_link_send(session->conn.link, bytes.data, bytes.len);
	if (r < 0)
		return r;
	tor->keys_version = version;
	tor->keys_epoch = epoch;
	owner->counts.keys_sent++;
	return 0;
}

/* True: hosts with keys of these two epochs have a key in common. */
static bool
is_near(uint32_t a, uint32_t b)
{
	return a <= b ? b - a <= 1 : a - b <= 1;
}

static size_t
sessions_near(const struct aggregators *aggregators, uint32_t epoch)
{
	size_t count = 0;

	for (const struct session *session = rm_server_first(&aggregators->server);
	     session != NULL; session = session_next(session)) {
		bool near = false;

		for (size_t i = 0; i < session->info.tor_count; i++)
			near |= session->info.tors[i].keys_epoch != 0 &&
				is_near(session->info.tors[i].keys_epoch, epoch);
		count += near;
	}
	return count;
}

/* Chooses the epoch that most aggregators have, whatever the clock says: hosts with a
 * new epoch and hosts with the old one may have no key in common. If two epochs are
 * equally frequent, the clock decides. */
bool
aggregators_epoch_held(struct aggregators *aggregators, uint32_t held)
{
	const struct probe_keys *keys = aggregators->options.keys;
	uint32_t current;
	size_t with, without;

	if (keys == NULL || held == 0 || held > MAX_EPOCH ||
	    is_near(held, aggregators_epoch(aggregators)))
		return false;
	current = aggregators_epoch(aggregators);
	with = sessions_near(aggregators, held);
	without = sessions_near(aggregators, current);
	if (with < without ||
	    (with == without && !is_near(held, probe_keys_epoch(keys, rm_wall_now()))))
		return false;
	aggregators->epoch = held;
	aggregators->epoch_since = rm_mono_now();
	return true;
}

bool
aggregators_epoch_over(struct aggregators *aggregators)
{
	rm_mono_t now = rm_mono_now();
	uint32_t epoch;

	if (aggregators->options.keys == NULL)
		return false;
	epoch = probe_keys_follow(aggregators->options.keys, aggregators->epoch,
	    rm_mono_since(now, aggregators->epoch_since), rm_wall_now());
	if (epoch == aggregators->epoch)
		return false;
	aggregators->epoch = epoch;
	aggregators->epoch_since = now;
	return true;
}

/* Returns the key for probes from prober to rnic; epoch 0: there is no key. */
static struct wire_pair_key
aggregators_pair_key(const struct aggregators *aggregators, struct wire_rnic_id prober,
    const struct registry_rnic *rnic)
{
	const struct probe_keys *keys = aggregators->options.keys;
	struct wire_pair_key key = { .epoch = 0 };

	if (keys != NULL && prober.guid != 0 && rnic != NULL && rnic->authenticates)
		probe_keys_pair(keys, aggregators_epoch(aggregators), prober,
		    (struct wire_rnic_id){ rnic->id.guid, rnic->id.port }, &key);
	return key;
}

/* ---- the brake ---- */

int
session_brake(struct session *session)
{
	struct aggregators *owner = session->owner;
	struct wire_bytes bytes;
	int r;

	if (owner->brake.version == 0)
		return 0;
	r = wire_write_brake(owner->writer, &owner->brake, &bytes);
	return r < 0 ? r : rm_link_send(session->conn.link, bytes.data, bytes.len);
}

void
aggregators_brake(struct aggregators *aggregators, const struct store_brake *brake)
{
	aggregators->brake.version = brake->version;
	aggregators->brake.rate_permille = brake->rate_permille;
	if (aggregators->options.standby(aggregators->options.arg) != NULL)
		return;
	for (struct session *session = rm_server_first(&aggregators->server);
	     session != NULL; session = session_next(session)) {
		int r = session->info.is_welcome ? session_brake(session) : 0;

		/* The connection is lost; the aggregator gets the brake when it
		 * connects again. */
		if (r < 0)
			rm_link_close(session->conn.link, r);
	}
}

/* ---- Requests for the RNIC of an address ---- */

/* rnic: NULL if no RNIC has the address. */
static int
answer(struct session *session, uint64_t token, struct wire_rnic_id prober,
    const struct registry_rnic *rnic)
{
	struct aggregators *owner = session->owner;
	struct wire_resolve_answer out = { .token = token, .found = rnic != NULL };
	struct wire_bytes bytes;
	int r;

	if (rnic != NULL)
		out.rnic =
		    registry_wire(owner->options.topology(owner->options.arg), rnic);
	out.key = aggregators_pair_key(owner, prober, rnic);
	r = wire_write_resolved(owner->writer, &out, &bytes);
	return r < 0 ? r : rm_link_send(session->conn.link, bytes.data, bytes.len);
}

static const struct registry_rnic *
find_rnic(const struct aggregators *owner, struct wire_rnic_id id)
{
	return registry_find(
	    owner->options.registry, (struct rm_rnic_id){ id.guid, id.port });
}

int
session_on_resolve(struct session *session, const uint8_t *data, size_t len)
{
	struct aggregators *owner = session->owner;
	const struct registry_rnic *rnic;
	struct wire_resolve resolve;
	int r;

	r = wire_open_resolve(&resolve, data, len);
	if (r < 0)
		return r;
	rnic = registry_resolve(owner->options.registry, &resolve.address);
	owner->counts.resolved += rnic != NULL;
	owner->counts.unresolved += rnic == NULL;
	/* Leaves out the key if the aggregator does not serve the prober. */
	if (!session_serves_rnic(session, find_rnic(owner, resolve.prober)))
		resolve.prober.guid = 0;
	return answer(session, resolve.token, resolve.prober, rnic);
}

/* ---- Requests for the RNIC at the other end of a QP ---- */

int
session_on_join(struct session *session, const uint8_t *data, size_t len)
{
	struct aggregators *owner = session->owner;
	const struct registry_rnic *rnic = NULL;
	struct wire_rnic_id other;
	struct wire_join join;
	int r;

	r = wire_open_join(&join, data, len);
	if (r < 0)
		return r;
	/* Refuses to join an RNIC that the aggregator does not serve: that could spoil
	 * joins of the RNIC's own aggregator. */
	if (!session_serves_rnic(session, find_rnic(owner, join.rnic)))
		owner->counts.joins_unauthorized++;
	else if (qp_joins_ask(owner->joins, &join, rm_mono_now(), &other))
		rnic = find_rnic(owner, other);
	return answer(session, join.token, join.rnic, rnic);
}

/* ---- paths that traces have found ---- */

int
session_on_traced(struct session *session, const uint8_t *data, size_t len)
{
	struct aggregators *owner = session->owner;
	struct wire_traced traced;
	int r;

	r = wire_open_traced(&traced, data, len);
	if (r < 0)
		return r;
	/* An aggregator may report only paths of ToRs that it serves. */
	if (!session_serves(session, traced.tor)) {
		owner->counts.refused_messages++;
		return 0;
	}
	owner->counts.traced += traced.path_count;
	owner->options.on_traced(&traced, owner->options.arg);
	return 0;
}

/* ---- drill-down ---- */

static struct session *
find_serving(struct aggregators *aggregators, const char *tor)
{
	struct session *session = rm_server_first(&aggregators->server);

	while (session != NULL &&
	       (!session->info.is_welcome || !session_serves(session, tor)))
		session = session_next(session);
	return session;
}

/* Returns a free slot, or else the slot of the oldest query: its client has already got
 * the answer that the query timed out. */
static struct drill *
free_place(struct aggregators *aggregators)
{
	struct drill *best = &aggregators->drills[0];

	for (size_t i = 1; i < AGGREGATORS_MAX_DRILLS; i++) {
		if (aggregators->drills[i].number < best->number)
			best = &aggregators->drills[i];
	}
	return best;
}

int
aggregators_ask_drill(
    struct aggregators *aggregators, const struct aggregators_drill *drill)
{
	struct session *session = find_serving(aggregators, drill->tor);
	struct wire_drill asked = {
		.token = aggregators->last_drill + 1,
		.rnic = drill->rnic,
		.seconds = drill->seconds,
		.limit = drill->limit,
	};
	struct wire_bytes bytes;
	int r;

	if (session == NULL)
		return -ENOTCONN;
	r = wire_write_drill(aggregators->writer, &asked, &bytes);
	if (r == 0)
		r = rm_link_send(session->conn.link, bytes.data, bytes.len);
	if (r < 0)
		return r;
	aggregators->last_drill++;
	aggregators->counts.drills++;
	*free_place(aggregators) = (struct drill){
		.number = asked.token,
		.session = session->info.id,
		.done = drill->done,
		.token = drill->token,
		.arg = drill->arg,
	};
	return 0;
}

int
session_on_drilled(struct session *session, const uint8_t *data, size_t len)
{
	struct aggregators *owner = session->owner;
	struct wire_drill_answer answer;
	int r;

	r = wire_open_drilled(&answer, data, len);
	if (r < 0)
		return r;
	for (size_t i = 0; i < AGGREGATORS_MAX_DRILLS; i++) {
		struct drill drill = owner->drills[i];

		if (drill.number == 0 || drill.number != answer.token ||
		    drill.session != session->info.id)
			continue;
		owner->drills[i] = (struct drill){ 0 };
		owner->counts.drill_answers++;
		drill.done(&answer, drill.token, drill.arg);
		return 0;
	}
	owner->counts.refused_messages++;
	return 0;
}
