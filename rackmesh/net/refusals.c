#include "rackmesh/net/refusals.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/fnv.h"

/* The address without the port, which differs in each attempt. */
static void
format_host(const struct rm_address *address, char text[RM_ADDRESS_TEXT])
{
	char *port;

	rm_address_format(address, text);
	port = strrchr(text, ':');
	if (address->storage.ss_family != AF_UNIX && port != NULL)
		*port = '\0';
}

bool
rm_refusals_report(struct rm_refusals *refusals, const struct rm_address *peer,
    const char *reason, rm_mono_t now, char who[RM_REFUSALS_TEXT])
{
	char host[RM_ADDRESS_TEXT], since[48] = "";
	size_t at = 0;
	uint64_t key;

	format_host(peer, host);
	key = rm_fnv1a(RM_FNV1A, host, strlen(host) + 1);
	key = rm_fnv1a(key, reason, strlen(reason));
	for (size_t i = 0; i < RM_REFUSALS; i++) {
		if (refusals->rows[i].logged_at.ns != 0 &&
		    refusals->rows[i].key == key) {
			at = i;
			break;
		}
		if (refusals->rows[i].logged_at.ns < refusals->rows[at].logged_at.ns)
			at = i;
	}
	if (refusals->rows[at].logged_at.ns == 0 || refusals->rows[at].key != key)
		refusals->rows[at].unlogged = 0;
	else if (rm_mono_since(now, refusals->rows[at].logged_at) <
		 RM_REFUSALS_AGAIN_NS) {
		refusals->rows[at].unlogged++;
		return false;
	}
	if (refusals->rows[at].unlogged > 0)
		snprintf(since, sizeof(since), " (%" PRIu64 " more times since)",
		    refusals->rows[at].unlogged);
	snprintf(who, RM_REFUSALS_TEXT, "%.100s%s", host, since);
	refusals->rows[at].key = key;
	refusals->rows[at].logged_at = now;
	refusals->rows[at].unlogged = 0;
	return true;
}
