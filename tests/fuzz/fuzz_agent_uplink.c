/*
 * What an aggregator can say to an agent: frames, each behind two bytes of length,
 * taken by an uplink with batches in its outbox.
 */
#include <stdlib.h>
#include <string.h>

#include "host-agent/plans.h"
#include "host-agent/uplink.h"
#include "rackmesh/base/address.h"
#include "rackmesh/base/loop.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
on_welcome(struct uplink *uplink, void *arg)
{
	struct wire_rnic rnic = { .id = { .guid = 1 },
		.host = "h1",
		.device = "eth1",
		.driver = "",
		.plane = "",
		.tors = { "tor-a" },
		.tor_count = 1 };

	uplink_register(uplink, &rnic, 1);
}

static int
on_pinglist(struct uplink *uplink, const uint8_t *data, size_t len, void *arg)
{
	const char *tor;
	int r;

	plans_take(arg, data, len, (rm_wall_t){ 1 }, (rm_mono_t){ 1 }, &tor, &r);
	return r;
}

static void
on_focus(struct uplink *uplink, const struct wire_focus *focus, void *arg)
{
}

static void
on_refused(struct uplink *uplink, const char *why, void *arg)
{
	if (why[0] != '"')
		abort();
}

static void
on_caught_up(struct uplink *uplink, void *arg)
{
}

static void
on_down(struct uplink *uplink, int reason, bool had_session, void *arg)
{
}

static void
on_brake(struct uplink *uplink, const struct wire_brake *brake, void *arg)
{
}

static void
on_resolved(struct uplink *uplink, const struct wire_resolve_answer *answer, void *arg)
{
	if (!answer->found && answer->rnic.id.guid != 0)
		abort();
}

static void
check_conserved(const struct uplink *uplink)
{
	const struct outbox *outbox = uplink_outbox(uplink);
	const struct outbox_counts *counts = outbox_counts(outbox);

	if (counts->made.batches !=
	    counts->acked.batches + outbox_dropped(outbox).batches +
		counts->waiting.batches + counts->doubtful.batches)
		abort();
}

static void
feed(struct uplink *uplink, const uint8_t *data, size_t size)
{
	while (size >= 2) {
		size_t len = (size_t)(data[0] << 8 | data[1]);
		uint8_t *frame;
		int r;

		data += 2;
		size -= 2;
		if (len > size)
			len = size;
		frame = malloc(len + 1); /* aligned, as the link's are */
		if (frame == NULL)
			return;
		memcpy(frame, data, len);
		r = uplink_take_frame(uplink, frame, len);
		free(frame);
		check_conserved(uplink);
		if (r < 0)
			return; /* the link would be closed */
		data += len;
		size -= len;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct uplink_callbacks callbacks = { .on_welcome = on_welcome,
		.on_pinglist = on_pinglist,
		.on_focus = on_focus,
		.on_refused = on_refused,
		.on_caught_up = on_caught_up,
		.on_down = on_down,
		.on_brake = on_brake,
		.on_resolved = on_resolved };
	static struct rm_loop *loop; /* never runs: nobody is dialled */
	struct rm_address address;
	struct uplink_options options = {
		.address = &address,
		.host = "h1",
		.region = "default",
		.incarnation = 1,
		.batch_max_results = 1,
		.batch_max_age_ns = RM_NS_PER_S,
		.outbox = { 4, 1 << 16, RM_NS_PER_S },
	};
	struct plans *plans = NULL;
	struct uplink *uplink = NULL;

	if ((loop == NULL && rm_loop_new(&loop) < 0) ||
	    rm_address_parse("127.0.0.1:1", -1, &address) < 0 ||
	    plans_new("", NULL, &plans) < 0 || plans_add_tor(plans, "tor-a") < 0 ||
	    uplink_new(loop, &options, &callbacks, plans, &uplink) < 0)
		abort();
	for (uint32_t i = 0; i < 6; i++) {
		struct wire_result result = { .seq = i };

		uplink_result(uplink, &result, (rm_mono_t){ 1 }, (rm_mono_t){ 2 });
	}
	feed(uplink, data, size);
	uplink_free(uplink);
	plans_free(plans);
	return 0;
}
