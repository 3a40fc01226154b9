#define HASH_NONFATAL_OOM 1
#include "analyzer/racks/rack_rnics.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct key { /* without padding */
	uint64_t guid, port;
};

struct node {
	struct rack_rnic rnic; /* first */
	struct key key;
	UT_hash_handle hh;
};

struct rack_rnics {
	struct racks_counts *counts;
	struct node *by_id;
};

static struct node *
node_get(struct rack_rnics *rnics, struct wire_rnic_id id)
{
	struct key key = { id.guid, id.port };
	struct node *node = NULL;

	HASH_FIND(hh, rnics->by_id, &key, sizeof(key), node);
	if (node != NULL)
		return node;
	if (rnics->counts->rnics < RACKS_MAX_RNICS)
		node = calloc(1, sizeof(*node));
	if (node == NULL)
		return NULL;
	node->key = key;
	node->rnic.id = (struct rm_rnic_id){ id.guid, id.port };
	HASH_ADD(hh, rnics->by_id, key, sizeof(node->key), node);
	if (node->hh.tbl == NULL) {
		free(node);
		return NULL;
	}
	rnics->counts->rnics++;
	return node;
}

void
rack_rnics_take(struct rack_rnics *rnics, const struct wire_summary *summary,
    const struct wire_rnic_row *row, rm_mono_t now)
{
	struct node *node = NULL;

	if (rm_name_valid(row->host) && rm_name_valid(row->device))
		node = node_get(rnics, row->id);
	if (node == NULL) {
		rnics->counts->refused++;
		return;
	}
	strcpy(node->rnic.region, summary->head.region);
	strcpy(node->rnic.aggregator, summary->head.aggregator);
	strcpy(node->rnic.tor, summary->tor);
	strcpy(node->rnic.host, row->host);
	strcpy(node->rnic.device, row->device);
	node->rnic.heard = now;
}

void
rack_rnics_expire(struct rack_rnics *rnics, rm_mono_t now, int64_t forget_ns)
{
	struct node *node, *next;

	HASH_ITER (hh, rnics->by_id, node, next) {
		if (rm_mono_since(now, node->rnic.heard) <= forget_ns)
			continue;
		HASH_DEL(rnics->by_id, node);
		free(node);
		rnics->counts->rnics--;
	}
}

static bool
is_called(const struct rack_rnic *rnic, const char *text)
{
	size_t host_len = strlen(rnic->host);

	return strncmp(text, rnic->host, host_len) == 0 && text[host_len] == '/' &&
	       strcmp(text + host_len + 1, rnic->device) == 0;
}

const struct rack_rnic *
rack_rnics_find(const struct rack_rnics *rnics, const char *text)
{
	const struct node *node, *next;
	struct rm_rnic_id id = { 0 };

	if (rm_rnic_id_parse(text, &id) == 0) {
		struct key key = { id.guid, id.port };
		struct node *found = NULL;

		HASH_FIND(hh, rnics->by_id, &key, sizeof(key), found);
		return found != NULL ? &found->rnic : NULL;
	}
	HASH_ITER (hh, rnics->by_id, node, next) {
		if (is_called(&node->rnic, text))
			return &node->rnic;
	}
	return NULL;
}

struct rack_rnics *
rack_rnics_new(struct racks_counts *counts)
{
	struct rack_rnics *rnics = calloc(1, sizeof(*rnics));

	if (rnics != NULL)
		rnics->counts = counts;
	return rnics;
}

void
rack_rnics_free(struct rack_rnics *rnics)
{
	struct node *node, *next;

	if (rnics == NULL)
		return;
	HASH_ITER (hh, rnics->by_id, node, next) {
		HASH_DEL(rnics->by_id, node);
		free(node);
	}
	free(rnics);
}
