#include "region-controller/registry/registry_refused.h"

#include <string.h>

#include "rackmesh/core/log.h"

/* Foreign text, as far as it can be shown. */
static void
show(char ret[RM_NAME_BYTES], const char *text)
{
	rm_log_quote(ret, RM_NAME_BYTES, text, strlen(text));
}

void
registry_refused_note(struct registry_refusals *refusals, const struct wire_rnic *rnic,
    const struct registry_told *told, enum registry_refusal refusal)
{
	struct registry_refused entry = { .refusal = refusal, .last = told->wall };
	struct registry_refused *entries = refusals->entries;
	size_t i;

	rm_rnic_id_format(
	    (struct rm_rnic_id){ rnic->id.guid, rnic->id.port }, entry.id);
	show(entry.host, told->host);
	show(entry.device, rnic->device);
	show(entry.tor, rnic->tor_count > 0 ? rnic->tors[0] : "");
	show(entry.aggregator, told->aggregator);
	for (i = 0; i < refusals->count; i++) {
		if (entries[i].refusal == refusal &&
		    strcmp(entries[i].id, entry.id) == 0 &&
		    strcmp(entries[i].host, entry.host) == 0)
			break;
	}
	if (i < refusals->count)
		entry.times = entries[i].times;
	else if (refusals->count < REGISTRY_MAX_REFUSED)
		refusals->count++;
	else
		i--; /* the oldest makes room */
	entry.times++;
	memmove(&entries[1], &entries[0], i * sizeof(entry));
	entries[0] = entry;
}
