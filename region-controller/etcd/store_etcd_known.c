#define HASH_NONFATAL_OOM 1
#include <stdlib.h>

#include "region-controller/etcd/store_etcd_state.h"

struct store_known *
store_etcd_known(const struct store_etcd *etcd, struct rm_rnic_id id)
{
	struct store_known *known = NULL, key = { .id = { id.guid, id.port } };

	HASH_FIND(hh, etcd->known, &key.id, sizeof(key.id), known);
	return known;
}

/* Out of memory: it is written once more than need be. */
void
store_etcd_know(struct store_etcd *etcd, struct rm_rnic_id id, uint64_t hash)
{
	struct store_known *known = store_etcd_known(etcd, id);

	if (known == NULL) {
		known = calloc(1, sizeof(*known));
		if (known == NULL)
			return;
		known->id.guid = id.guid;
		known->id.port = id.port;
		HASH_ADD(hh, etcd->known, id, sizeof(known->id), known);
		if (known->hh.tbl == NULL) { /* uthash could not grow */
			free(known);
			return;
		}
	}
	known->hash = hash;
}

void
store_etcd_forget(struct store_etcd *etcd, struct rm_rnic_id id)
{
	struct store_known *known = store_etcd_known(etcd, id);

	if (known == NULL)
		return;
	HASH_DEL(etcd->known, known);
	free(known);
}
