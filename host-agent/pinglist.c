#include "host-agent/pinglist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pinglist {
	char *tor;
	uint8_t *data; /* NULL: none */
	size_t len;
	struct wire_pinglist_view view; /* on data */
	rm_mono_t until;
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

/* One plan means more targets once another RNIC of ours has registered. */
static enum pinglist_says
compare(const struct pinglist *held, const struct wire_pinglist *offered,
    const uint8_t *data, size_t len)
{
	const struct wire_pinglist *own = &held->view.pinglist;

	if (held->data == NULL || offered->version > own->version)
		return PINGLIST_NEW;
	if (offered->version < own->version)
		return PINGLIST_OLD;
	if (offered->rotation == own->rotation)
		return len == held->len && memcmp(data, held->data, len) == 0
			   ? PINGLIST_SAME
			   : PINGLIST_NEW;
	return offered->rotation > own->rotation ? PINGLIST_NEW : PINGLIST_OLD;
}

int
pinglist_take(struct pinglist *pinglist, const uint8_t *data, size_t len,
    rm_mono_t until, enum pinglist_says *ret)
{
	struct wire_pinglist_view view;
	enum pinglist_says says;
	uint8_t *copy;
	int r;

	r = wire_open_pinglist(&view, data, len);
	if (r < 0)
		return r;
	if (strcmp(view.pinglist.tor, pinglist->tor) != 0)
		return -ENOENT;
	says = compare(pinglist, &view.pinglist, data, len);
	if (says == PINGLIST_NEW) {
		copy = malloc(len); /* aligned, as the view wants it */
		if (copy == NULL)
			return -ENOMEM;
		memcpy(copy, data, len);
		r = wire_open_pinglist(&view, copy, len);
		if (r < 0) {
			free(copy);
			return r;
		}
		free(pinglist->data);
		pinglist->data = copy;
		pinglist->len = len;
		pinglist->view = view;
	}
	if (says != PINGLIST_OLD)
		pinglist->until = until;
	*ret = says;
	return 0;
}

void
pinglist_renew(struct pinglist *pinglist, rm_mono_t until)
{
	pinglist->until = until;
}

bool
pinglist_expire(struct pinglist *pinglist, rm_mono_t now)
{
	if (pinglist->data == NULL || rm_mono_since(now, pinglist->until) <= 0)
		return false;
	free(pinglist->data);
	pinglist->data = NULL;
	pinglist->len = 0;
	return true;
}

const struct wire_pinglist_view *
pinglist_view(const struct pinglist *pinglist)
{
	return pinglist->data == NULL ? NULL : &pinglist->view;
}

struct wire_bytes
pinglist_bytes(const struct pinglist *pinglist)
{
	return (struct wire_bytes){ pinglist->data, pinglist->len };
}

static bool
id_equal(struct wire_rnic_id a, struct wire_rnic_id b)
{
	return a.guid == b.guid && a.port == b.port;
}

static bool
sum_has_target(
    const struct pinglist_sum *sum, size_t among, const struct wire_target *target)
{
	for (size_t i = 0; i < among; i++) {
		if (sum->targets[i].kind == target->kind &&
		    id_equal(sum->targets[i].dst, target->dst))
			return true;
	}
	return false;
}

static void
sum_add(struct pinglist_sum *sum, const struct wire_pinglist_view *view,
    struct wire_rnic_id rnic)
{
	size_t before = sum->target_count; /* one pinglist names each pair once */

	for (size_t i = 0; i < view->pinglist.target_count; i++) {
		struct wire_target target;

		wire_pinglist_target(view, i, &target);
		if (!id_equal(target.src, rnic) || sum_has_target(sum, before, &target))
			continue;
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

	for (size_t i = 0; i < count; i++) {
		if (pinglists[i]->data == NULL)
			continue;
		targets += pinglists[i]->view.pinglist.target_count;
		peers += pinglists[i]->view.pinglist.roster_count;
	}
	sum.targets = calloc(targets + 1, sizeof(*sum.targets));
	sum.peers = calloc(peers + 1, sizeof(*sum.peers));
	if (sum.targets == NULL || sum.peers == NULL) {
		pinglist_sum_clear(&sum);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		if (pinglists[i]->data != NULL)
			sum_add(&sum, &pinglists[i]->view, rnic);
	}
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
