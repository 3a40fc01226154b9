/* Keys of probes: to whom they are due, and when. */
#include "rackmesh/base/link.h"
#include "region-controller/aggregator_session.h"
#include "region-controller/probe_keys.h"
#include "region-controller/publish.h"
#include "region-controller/registry.h"

/* Only grows, also from one leader to the next: by the clock, in ms. */
static uint64_t
next_version(struct aggregators *aggregators)
{
	uint64_t now = (uint64_t)(rm_wall_now().ns / RM_NS_PER_MS);

	if (now <= aggregators->keys_version)
		now = aggregators->keys_version + 1;
	aggregators->keys_version = now;
	return now;
}

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
	uint32_t epoch;
	int r;

	if (keys == NULL || plan->bytes == NULL)
		return 0;
	epoch = epoch_in_use(owner);
	if (tor->keys_epoch == epoch && tor->keys_digest == plan->digest)
		return 0;
	r = wire_open_plan(&view, plan->bytes, plan->len);
	if (r == 0)
		r = probe_keys_write(
		    keys, &view, epoch, next_version(owner), owner->writer, &bytes);
	if (r == 0)
		r = rm_link_send(session->link, bytes.data, bytes.len);
	if (r < 0)
		return r;
	tor->keys_epoch = epoch;
	tor->keys_digest = plan->digest;
	owner->counts.keys_sent++;
	return 0;
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
