#include "tor-aggregator/analyzer_hello.h"

#include <errno.h>

#include "rackmesh/base/link.h"
#include "rackmesh/base/log.h"
#include "rackmesh/fabric/authority.h"
#include "tor-aggregator/analyzer_link.h"

#define WHY 1024

/* Before a word is said to it. */
static int
check_peer(const struct analyzer_link_options *options, const struct rm_link *link)
{
	const struct rm_request request = {
		.verb = RM_VERB_SERVE_LANES,
		.region = options->region,
	};
	char why[WHY];

	if (rm_authority_admits(rm_link_identity(link), &request, why, sizeof(why)))
		return 0;
	rm_log_warn(0, "this is not an analyzer of ours: %s", why);
	return -EACCES;
}

int
analyzer_hello_say(struct rm_link *link, const struct analyzer_link_options *options,
    struct wire_writer *writer)
{
	struct wire_tor_state tors[WIRE_MAX_TORS];
	struct wire_hello hello = {
		.role = WIRE_ROLE_AGGREGATOR,
		.version_min = WIRE_VERSION,
		.version_max = WIRE_VERSION,
		.region = options->region,
		.id = options->name,
		.incarnation = options->incarnation,
		.now_ns = (uint64_t)rm_mono_now().ns,
		.tors = tors,
		.tor_count = options->tor_count,
	};
	struct wire_bytes bytes;
	int r;

	r = check_peer(options, link);
	if (r < 0)
		return r;
	for (size_t i = 0; i < hello.tor_count; i++)
		tors[i] = (struct wire_tor_state){ .tor = options->tors[i] };
	r = wire_write_hello(writer, &hello, &bytes);
	return r < 0 ? r : rm_link_send(link, bytes.data, bytes.len);
}
