#include "tor-aggregator/analyzer/analyzer_scout.h"

#include <errno.h>
#include <stdlib.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/identity/authority.h"
#include "rackmesh/net/dialer.h"
#include "rackmesh/net/link.h"
#include "schemas/wire.h"
#include "tor-aggregator/analyzer/analyzer_link_options.h"
#include "tor-aggregator/plan/hello.h"

#define WELCOME_NS (2 * RM_NS_PER_S)
#define BACKOFF_BASE_NS (500 * RM_NS_PER_MS)
#define BACKOFF_CAP_NS RM_NS_PER_S
#define MAX_FRAME_BYTES (64u << 10) /* a welcome */

struct analyzer_scout {
	const struct analyzer_link_options *options;
	struct wire_writer *writer;
	struct rm_dialer *dialer;
	bool found;
};

int
analyzer_scout_hello(struct rm_link *link, const struct analyzer_link_options *options,
    struct wire_writer *writer)
{
	const struct rm_request request = {
		.verb = RM_VERB_SERVE_LANES,
		.region = options->region,
	};
	const struct hello hello = { options->name, options->region,
		options->incarnation, options->tors, options->tor_count,
		options->summary_interval_s };
	int r = hello_check(link, &request, "an analyzer of this region");

	return r < 0 ? r : hello_send(link, &hello, NULL, writer);
}

static int
on_up(struct rm_link *link, void *arg)
{
	struct analyzer_scout *scout = arg;

	return analyzer_scout_hello(link, scout->options, scout->writer);
}

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct analyzer_scout *scout = arg;
	struct wire_welcome welcome;
	int r;

	(void)link;
	if (wire_kind_of(data, len) != WIRE_WELCOME)
		return scout->found ? 0 : -EPROTO;
	r = wire_open_welcome(&welcome, data, len);
	if (r < 0)
		return r;
	scout->found = welcome.refused[0] == 0;
	return scout->found ? 0 : -EPERM;
}

static void
on_down(int reason, void *arg)
{
	struct analyzer_scout *scout = arg;

	(void)reason;
	scout->found = false;
}

int
analyzer_scout_new(struct rm_loop *loop, const struct analyzer_link_options *options,
    size_t before, struct analyzer_scout **ret)
{
	static const struct rm_dialer_callbacks callbacks = {
		.on_up = on_up,
		.on_frame = on_frame,
		.on_down = on_down,
	};
	const struct rm_dialer_options dialer = {
		.peers = options->analyzers,
		.peer_count = before,
		.backoff_base_ns = BACKOFF_BASE_NS,
		.backoff_cap_ns = BACKOFF_CAP_NS,
		.limits = { .max_frame_bytes = MAX_FRAME_BYTES,
		    .max_output_bytes = MAX_FRAME_BYTES,
		    .tls = options->tls },
	};
	struct analyzer_scout *scout;
	int r = -ENOMEM;

	if (before == 0)
		return -ENOENT;
	scout = calloc(1, sizeof(*scout));
	if (scout == NULL)
		return r;
	scout->options = options;
	scout->writer = wire_writer_new();
	if (scout->writer != NULL)
		r = rm_dialer_new(loop, &dialer, &callbacks, scout, &scout->dialer);
	if (r < 0) {
		analyzer_scout_free(scout);
		return r;
	}
	*ret = scout;
	return 0;
}

void
analyzer_scout_free(struct analyzer_scout *scout)
{
	if (scout == NULL)
		return;
	rm_dialer_free(scout->dialer);
	wire_writer_free(scout->writer);
	free(scout);
}

bool
analyzer_scout_tick(struct analyzer_scout *scout, rm_mono_t now)
{
	if (!scout->found)
		rm_dialer_watch(scout->dialer, now, WELCOME_NS, 0);
	return scout->found;
}
