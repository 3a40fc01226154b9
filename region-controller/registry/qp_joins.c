#define HASH_NONFATAL_OOM 1
#include "region-controller/registry/qp_joins.h"

#include <errno.h>
#include <stdlib.h>

#include <uthash.h>
#include <utlist.h>

struct key { /* There is no padding, because the struct is hashed as bytes. */
	uint32_t qpn, dst_qpn;
	uint64_t type;
};

struct asker {
	struct wire_rnic_id rnic;
	rm_mono_t asked;
	struct group *group;
	struct asker *next_alike;
	/* neighbours in the list of all askers, the oldest first */
	struct asker *prev, *next;
};

struct group { /* all askers with the same two QP numbers */
	UT_hash_handle hh;
	struct key key;
	struct asker *askers;
	size_t count;
};

struct qp_joins {
	struct group *groups;
	struct asker *oldest;
	size_t count, max;
	struct qp_joins_counts counts;
};

int
qp_joins_new(size_t max, struct qp_joins **ret)
{
	struct qp_joins *joins = calloc(1, sizeof(*joins));

	if (joins == NULL)
		return -ENOMEM;
	joins->max = max;
	*ret = joins;
	return 0;
}

static void
forget(struct qp_joins *joins, struct asker *asker)
{
	struct group *group = asker->group;

	DL_DELETE(joins->oldest, asker);
	LL_DELETE2(group->askers, asker, next_alike);
	free(asker);
	joins->count--;
	if (--group->count > 0)
		return;
	HASH_DEL(joins->groups, group);
	free(group);
}

void
qp_joins_free(struct qp_joins *joins)
{
	if (joins == NULL)
		return;
	while (joins->oldest != NULL)
		forget(joins, joins->oldest);
	free(joins);
}

static struct group *
find(const struct qp_joins *joins, uint32_t qpn, uint32_t dst_qpn, uint8_t type)
{
	const struct key key = { qpn, dst_qpn, type };
	struct group *group = NULL;

	HASH_FIND(hh, joins->groups, &key, sizeof(key), group);
	return group;
}

static bool
same_rnic(struct wire_rnic_id a, struct wire_rnic_id b)
{
	return a.guid == b.guid && a.port == b.port;
}

/* Returns NULL when out of memory. */
static struct group *
group_of(struct qp_joins *joins, const struct wire_join *join)
{
	struct group *group = find(joins, join->qpn, join->dst_qpn, join->qp_type);

	if (group != NULL)
		return group;
	group = calloc(1, sizeof(*group));
	if (group == NULL)
		return NULL;
	group->key = (struct key){ join->qpn, join->dst_qpn, join->qp_type };
	HASH_ADD(hh, joins->groups, key, sizeof(group->key), group);
	if (group->hh.tbl != NULL)
		return group;
	free(group); /* uthash could not grow */
	return NULL;
}

static struct asker *
add(struct qp_joins *joins, const struct wire_join *join)
{
	struct asker *asker = calloc(1, sizeof(*asker));
	struct group *group = asker == NULL ? NULL : group_of(joins, join);

	if (group == NULL) {
		free(asker);
		return NULL;
	}
	asker->rnic = join->rnic;
	asker->group = group;
	LL_PREPEND2(group->askers, asker, next_alike);
	group->count++;
	joins->count++;
	return asker;
}

/* Adds the asker to the end of the list, which is sorted by age. */
static void
remember(struct qp_joins *joins, const struct wire_join *join, rm_mono_t now)
{
	struct group *group = find(joins, join->qpn, join->dst_qpn, join->qp_type);
	struct asker *asker = group == NULL ? NULL : group->askers;

	while (asker != NULL && !same_rnic(asker->rnic, join->rnic))
		asker = asker->next_alike;
	if (asker != NULL)
		DL_DELETE(joins->oldest, asker);
	else if (joins->count < joins->max &&
		 (group == NULL || group->count < QP_JOINS_ALIKE))
		asker = add(joins, join);
	if (asker == NULL) {
		joins->counts.refused++;
		return;
	}
	asker->asked = now;
	DL_APPEND(joins->oldest, asker);
}

/* Returns the number of other RNICs in the group; *ret is one of them. */
static size_t
others_of(const struct group *group, struct wire_rnic_id rnic, struct wire_rnic_id *ret)
{
	size_t others = 0;

	if (group == NULL)
		return 0;
	for (const struct asker *asker = group->askers; asker != NULL;
	     asker = asker->next_alike) {
		if (same_rnic(asker->rnic, rnic))
			continue;
		*ret = asker->rnic;
		others++;
	}
	return others;
}

bool
qp_joins_ask(struct qp_joins *joins, const struct wire_join *join, rm_mono_t now,
    struct wire_rnic_id *ret)
{
	const struct group *alike, *fits;
	struct wire_rnic_id found, rival;
	size_t others;

	joins->counts.asked++;
	while (joins->oldest != NULL &&
	       rm_mono_since(now, joins->oldest->asked) > QP_JOINS_KEPT_NS)
		forget(joins, joins->oldest);
	remember(joins, join, now);
	alike = find(joins, join->qpn, join->dst_qpn, join->qp_type);
	fits = find(joins, join->dst_qpn, join->qpn, join->qp_type);
	others = others_of(fits, join->rnic, &found);
	if (others == 0)
		return false;
	/* If both QPs have the same number, the requests of both ends are in
	 * one group. */
	if (others > 1 ||
	    (fits != alike &&
		(fits->count > others || others_of(alike, join->rnic, &rival) > 0))) {
		joins->counts.several++;
		return false;
	}
	joins->counts.joined++;
	*ret = found;
	return true;
}

size_t
qp_joins_count(const struct qp_joins *joins)
{
	return joins->count;
}

const struct qp_joins_counts *
qp_joins_counts(const struct qp_joins *joins)
{
	return &joins->counts;
}
