#include "host-agent/pinglist/pinglist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pinglist {
	char *tor;
	uint8_t *data;                  /* the message; NULL: none is held */
	struct wire_pinglist_view view; /* the opened message; borrows data */
	rm_mono_t until;
	/* result of the last pinglist_expire: the pinglist is probed slowly */
	bool slow;
};

int
pinglist_new(const char *tor, struct pinglist **ret)
{
	struct pinglist *pinglist = calloc(1, sizeof(*pinglist));

	if (pinglist == NULL)
		return -ENOMEM;
	pinglist->tor = strdup(tor);
	if (pinglist->tor == NULL) {
		free(pinglist);
		return -ENOMEM;
	}
	*ret = pinglist;
	return 0;
}

void
pinglist_free(struct pinglist *pinglist)
{
	if (pinglist == NULL)
		return;
	free(pinglist->tor);
	free(pinglist->data);
	free(pinglist);
}

const char *
pinglist_tor(const struct pinglist *pinglist)
{
	return pinglist->tor;
}

/* Two messages of one version and rotation may differ: the plan has more targets once
 * another RNIC of this host has registered. Then the later message is used. */
static enum pinglist_status
compare(const struct pinglist *held, const struct wire_pinglist_view *offered)
{
	const struct wire_pinglist *own = &held->view.pinglist,
				   *other = &offered->pinglist;

	if (held->data == NULL || other->version > own->version)
		return PINGLIST_NEW;
	if (other->version < own->version)
		return PINGLIST_OLD;
	if (other->rotation == own->rotation)
		return offered->bytes.len == held->view.bytes.len &&
			       memcmp(offered->bytes.data, held->data,
				   offered->bytes.len) == 0
			   ? PINGLIST_SAME
			   : PINGLIST_NEW;
	return other->rotation > own->rotation ? PINGLIST_NEW : PINGLIST_OLD;
}

int
pinglist_take(struct pinglist *pinglist, const struct wire_pinglist_view *offered,
    rm_mono_t until, enum pinglist_status *ret)
{
	enum pinglist_status status;
	uint8_t *copy;

	if (strcmp(offered->pinglist.tor, pinglist->tor) != 0)
		return -ENOENT;
	status = compare(pinglist, offered);
	if (status == PINGLIST_NEW) {
		/* Memory from malloc has the alignment that the view needs. */
		copy = malloc(offered->bytes.len);
		if (copy == NULL)
			return -ENOMEM;
		wire_copy_pinglist(offered, copy, &pinglist->view);
		free(pinglist->data);
		pinglist->data = copy;
		pinglist->slow = false;
	}
	if (status != PINGLIST_OLD)
		pinglist->until = until;
	*ret = status;
	return 0;
}

void
pinglist_renew(struct pinglist *pinglist, rm_mono_t until)
{
	pinglist->until = until;
}

enum pinglist_turn
pinglist_expire(struct pinglist *pinglist, rm_mono_t now)
{
	int64_t over = rm_mono_since(now, pinglist->until);
	bool was_slow = pinglist->slow;

	if (pinglist->data == NULL)
		return PINGLIST_STAYS;
	if (over > PINGLIST_SLOW_NS) {
		free(pinglist->data);
		pinglist->data = NULL;
		pinglist->slow = false;
		return PINGLIST_ENDS;
	}
	pinglist->slow = over > 0;
	if (pinglist->slow == was_slow)
		return PINGLIST_STAYS;
	return pinglist->slow ? PINGLIST_EXPIRES : PINGLIST_RECOVERS;
}

bool
pinglist_slow(const struct pinglist *pinglist)
{
	return pinglist->slow;
}

const struct wire_pinglist_view *
pinglist_view(const struct pinglist *pinglist)
{
	return pinglist->data == NULL ? NULL : &pinglist->view;
}

struct wire_bytes
pinglist_bytes(const struct pinglist *pinglist)
{
	return pinglist->data == NULL ? (struct wire_bytes){ 0 } : pinglist->view.bytes;
}

/* ---- the sum ----------------------------------------------------------------- */

/* A target of the sum: it is probed once, even if several pinglists contain it. */
struct wanted {
	struct wire_rnic_id dst;
	enum wire_probe_kind kind;
};

static int
by_wanted(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	if (x->dst.guid != y->dst.guid)
		return x->dst.guid < y->dst.guid ? -1 : 1;
	if (x->dst.port != y->dst.port)
		return x->dst.port < y->dst.port ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

static void
slow_down(struct wire_target *target)
{
	if (target->interval_us > UINT32_MAX / PINGLIST_SLOW_FACTOR)
		target->interval_us = UINT32_MAX;
	else
		target->interval_us *= PINGLIST_SLOW_FACTOR;
}

/* wanted: scratch memory for as many entries as sum->targets has. */
static void
sum_add(struct pinglist_sum *sum, struct wanted *wanted,
    const struct pinglist *pinglist, struct wire_rnic_id rnic)
{
	const struct wire_pinglist_view *view = &pinglist->view;
	size_t before = sum->target_count; /* one pinglist contains each pair once */

	if (before > 0)
		qsort(wanted, before, sizeof(*wanted), by_wanted);
	for (size_t i = 0; i < view->pinglist.target_count; i++) {
		struct wire_target target;
		struct wanted own;

		wire_pinglist_target(view, i, &target);
		if (target.src.guid != rnic.guid || target.src.port != rnic.port)
			continue;
		own = (struct wanted){ target.dst, target.kind };
		if (before > 0 &&
		    bsearch(&own, wanted, before, sizeof(*wanted), by_wanted) != NULL)
			continue;
		if (pinglist->slow)
			slow_down(&target);
		wanted[sum->target_count] = own;
		sum->targets[sum->target_count++] = target;
	}
	for (size_t i = 0; i < view->pinglist.roster_count; i++)
		wire_pinglist_peer(view, i, &sum->peers[sum->peer_count++]);
	sum->held = true;
}

int
pinglist_sum(const struct pinglist *const *pinglists, size_t count,
    struct wire_rnic_id rnic, struct pinglist_sum *ret)
{
	size_t targets = 0, peers = 0;
	struct pinglist_sum sum = { 0 };
	struct wanted *wanted;

	for (size_t i = 0; i < count; i++) {
		if (pinglists[i]->data == NULL)
			continue;
		targets += pinglists[i]->view.pinglist.target_count;
		peers += pinglists[i]->view.pinglist.roster_count;
	}
	sum.targets = calloc(targets + 1, sizeof(*sum.targets));
	sum.peers = calloc(peers + 1, sizeof(*sum.peers));
	wanted = calloc(targets + 1, sizeof(*wanted));
	if (sum.targets == NULL || sum.peers == NULL || wanted == NULL) {
		pinglist_sum_clear(&sum);
		free(wanted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < 2 * count; i++) {
		const struct pinglist *pinglist = pinglists[i % count];

		if (pinglist->data != NULL && pinglist->slow == (i >= count))
			sum_add(&sum, wanted, pinglist, rnic);
	}
	free(wanted);
	*ret = sum;
	return 0;
}

void
pinglist_sum_clear(struct pinglist_sum *sum)
{
	free(sum->targets);
	free(sum->peers);
	*sum = (struct pinglist_sum){ 0 };
}
