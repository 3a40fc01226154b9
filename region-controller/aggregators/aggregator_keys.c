/* Keys of probes: to whom they are due, and when. */
#include "rackmesh/net/link.h"
#include "region-controller/aggregators/aggregator_session.h"
#include "region-controller/plan/publish.h"
#include "region-controller/registry/probe_keys.h"
#include "region-controller/registry/registry.h"

#define MAX_EPOCH (UINT32_MAX / 2) /* no clock of ours is near it */

static uint32_t
epoch_in_use(const struct aggregators *aggregators)
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
	struct wire_plan_view view;
	struct wire_bytes bytes;
	uint64_t version;
	uint32_t epoch;
	int r;

	if (keys == NULL || plan->bytes == NULL)
		return 0;
	epoch = epoch_in_use(owner);
	version = publish_keys_version(
	    owner->options.publish, plan->tor, epoch, rm_wall_now());
	if (tor->keys_version == version)
		return 0;
	r = wire_open_plan(&view, plan->bytes, plan->len);
	if (r == 0)
		r = probe_keys_write(
		    keys, &view, epoch, version, owner->writer, &bytes);
	if (r == 0)
		r = rm_link_send(session->link, bytes.data, bytes.len);
	if (r < 0)
		return r;
	tor->keys_version = version;
	tor->keys_epoch = epoch;
	owner->counts.keys_sent++;
	return 0;
}

/* Neighbours understand each other. */
static bool
is_near(uint32_t a, uint32_t b)
{
	return a <= b ? b - a <= 1 : a - b <= 1;
}

static size_t
sessions_near(const struct aggregators *aggregators, uint32_t epoch)
{
	size_t count = 0;

	for (const struct session *session = aggregators->sessions; session != NULL;
	     session = session->next) {
		bool near = false;

		for (size_t i = 0; i < session->info.tor_count; i++)
			near |= session->info.tors[i].keys_epoch != 0 &&
				is_near(session->info.tors[i].keys_epoch, epoch);
		count += near;
	}
	return count;
}

/* What most have goes on, whatever our clock says: those who have another epoch at once
 * and those who do not yet would not understand each other. Of two that as many have
 * the clock decides. */
bool
aggregators_epoch_held(struct aggregators *aggregators, uint32_t held)
{
	const struct probe_keys *keys = aggregators->options.keys;
	uint32_t current;
	size_t with, without;

	if (keys == NULL || held == 0 || held > MAX_EPOCH ||
	    is_near(held, epoch_in_use(aggregators)))
		return false;
	current = epoch_in_use(aggregators);
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

struct wire_pair_key
aggregators_pair_key(const struct aggregators *aggregators, struct wire_rnic_id prober,
    const struct registry_rnic *rnic)
{
	const struct probe_keys *keys = aggregators->options.keys;
	struct wire_pair_key key = { .epoch = 0 };

	if (keys != NULL && prober.guid != 0 && rnic != NULL && rnic->authenticates)
		probe_keys_pair(keys, epoch_in_use(aggregators), prober,
		    (struct wire_rnic_id){ rnic->id.guid, rnic->id.port }, &key);
	return key;
}
