#include "tor-aggregator/plan/hello.h"

#include <errno.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/log.h"
#include "rackmesh/identity/authority.h"
#include "rackmesh/net/link.h"
#include "schemas/wire.h"

int
hello_check(
    const struct rm_link *link, const struct rm_request *request, const char *who)
{
	char reason[1024];

	if (rm_authority_admits(
		rm_link_identity(link), request, reason, sizeof(reason)))
		return 0;
	rm_log_warn(0, "peer refused: expected %s: %s", who, reason);
	return -EACCES;
}

int
hello_send(struct rm_link *link, const struct hello *hello,
    const struct wire_tor_state *held, struct wire_writer *writer)
{
	struct wire_tor_state tors[WIRE_MAX_TORS];
	const struct wire_hello wire = {
		.role = WIRE_ROLE_AGGREGATOR,
		.version_min = WIRE_VERSION,
		.version_max = WIRE_VERSION,
		.region = hello->region,
		.id = hello->name,
		.incarnation = hello->incarnation,
		.now_ns = (uint64_t)rm_mono_now().ns,
		.tors = held != NULL ? held : tors,
		.tor_count = hello->tor_count,
		.software = RACKMESH_VERSION,
		.summary_interval_s = hello->summary_interval_s,
	};
	struct wire_bytes bytes;
	int r;

	for (size_t i = 0; held == NULL && i < hello->tor_count; i++)
		tors[i] = (struct wire_tor_state){ .tor = hello->tors[i] };
	r = wire_write_hello(writer, &wire, &bytes);
	return r < 0 ? r : rm_link_send(link, bytes.data, bytes.len);
}
