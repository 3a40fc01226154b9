/* RNICs elsewhere that services of our rack talk to, whether a plan names them or not.
 */
#include <errno.h>

#include "tor-aggregator/window/roster_state.h"

int
roster_learn(struct roster *roster, const struct wire_rnic *rnic, rm_mono_t now)
{
	struct roster_entry *entry = roster_entry(roster, rnic->id);
	bool changed = false;
	int r = 0;

	if (entry != NULL && (entry->member || entry->rnic.planned)) {
		entry->rnic.served = true;
		return 0;
	}
	for (size_t i = 0; i < rnic->tor_count; i++)
		if (strcmp(rnic->tors[i], roster->tors[0]) == 0)
			return -EINVAL; /* it is for its agent to say so */
	entry = roster_place(roster, rnic, false, &changed, &r);
	if (entry != NULL) {
		entry->rnic.served = true;
		entry->rnic.learned = now;
	}
	return r;
}

bool
roster_serve(struct roster *roster, struct wire_rnic_id id)
{
	struct roster_entry *entry = roster_entry(roster, id);

	if (entry != NULL)
		entry->rnic.served = true;
	return entry != NULL;
}

void
roster_unserve(struct roster *roster)
{
	struct roster_entry *entry, *next;

	HASH_ITER (hh, roster->by_id, entry, next)
		entry->rnic.served = false;
}
