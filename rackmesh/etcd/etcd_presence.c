#include "rackmesh/etcd/etcd_presence.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/backoff.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/core/random.h"
#include "rackmesh/etcd/etcd.h"
#include "rackmesh/loop/loop.h"

#define PRESENCE_TTL_S 10
#define PRESENCE_RETRY_NS (100 * RM_NS_PER_MS)

/* One call runs at a time: first the lease is granted, then the key is written, then
 * the lease is refreshed. */
struct rm_etcd_presence {
	struct rm_etcd *etcd;
	char *key, *value;
	int64_t ttl_s;
	struct rm_timer *step;
	struct rm_backoff backoff;
	int64_t lease;   /* 0: none */
	bool busy;       /* a call is running */
	bool is_written; /* the key is written with this lease */
	bool is_gone;    /* the key was deleted while a call was running */
};

static void
presence_retry(struct rm_etcd_presence *presence)
{
	rm_timer_after(
	    presence->step, rm_backoff_next_ns(&presence->backoff, rm_random_u64()));
}

static void
presence_refresh_later(struct rm_etcd_presence *presence)
{
	rm_backoff_reset(&presence->backoff);
	rm_timer_after(presence->step, presence->ttl_s * RM_NS_PER_S / 3);
}

static void
on_grant(const struct rm_etcd_answer *answer, void *arg)
{
	struct rm_etcd_presence *presence = arg;

	presence->busy = false;
	if (answer->r < 0 || answer->lease == 0) {
		presence_retry(presence);
		return;
	}
	presence->lease = answer->lease;
	presence->is_written = presence->is_gone = false;
	rm_timer_after(presence->step, 0);
}

static void
on_put(const struct rm_etcd_answer *answer, void *arg)
{
	struct rm_etcd_presence *presence = arg;

	presence->busy = false;
	if (answer->r == -ENOENT)
		presence->lease = 0; /* the lease has expired */
	if (answer->r < 0) {
		presence_retry(presence);
		return;
	}
	presence->is_written = !presence->is_gone;
	presence->is_gone = false;
	if (presence->is_written)
		presence_refresh_later(presence);
	else
		rm_timer_after(presence->step, 0);
}

static void
on_refresh(const struct rm_etcd_answer *answer, void *arg)
{
	struct rm_etcd_presence *presence = arg;
	const bool expired =
	    answer->r == -ENOENT || (answer->r == 0 && answer->ttl_s == 0);

	presence->busy = false;
	if (expired)
		presence->lease = 0;
	if (expired || answer->r < 0)
		presence_retry(presence);
	else if (!presence->is_written)
		rm_timer_after(presence->step, 0);
	else
		presence_refresh_later(presence);
	/* is_written is false now, which has the same effect */
	presence->is_gone = false;
}

static int
presence_put(struct rm_etcd_presence *presence)
{
	const struct rm_etcd_op put = {
		.key = presence->key,
		.value = presence->value,
		.value_len = strlen(presence->value),
		.lease = presence->lease,
	};

	return rm_etcd_txn(presence->etcd, NULL, 0, &put, 1, on_put, presence);
}

static void
on_step(void *arg)
{
	struct rm_etcd_presence *presence = arg;
	int r;

	if (presence->busy)
		return;
	if (presence->lease == 0)
		r = rm_etcd_lease_grant(
		    presence->etcd, presence->ttl_s, on_grant, presence);
	else if (!presence->is_written)
		r = presence_put(presence);
	else
		r = rm_etcd_lease_keepalive(
		    presence->etcd, presence->lease, on_refresh, presence);
	presence->busy = r == 0;
	if (r < 0)
		presence_retry(presence);
}

int
rm_etcd_presence_new(struct rm_loop *loop, struct rm_etcd *etcd,
    const struct rm_etcd_presence_options *options, struct rm_etcd_presence **ret)
{
	struct rm_etcd_presence *presence = calloc(1, sizeof(*presence));
	int r = -ENOMEM;

	if (presence == NULL)
		return -ENOMEM;
	presence->etcd = etcd;
	presence->ttl_s = options->ttl_s > 0 ? options->ttl_s : PRESENCE_TTL_S;
	presence->backoff = (struct rm_backoff){ PRESENCE_RETRY_NS,
		presence->ttl_s * RM_NS_PER_S / 8, 0 };
	presence->key = strdup(options->key);
	presence->value = strdup(options->value);
	if (presence->key != NULL && presence->value != NULL)
		r = rm_timer_new(loop, on_step, presence, &presence->step);
	if (r < 0) {
		rm_etcd_presence_free(presence);
		return r;
	}
	rm_timer_after(presence->step, 0);
	*ret = presence;
	return 0;
}

void
rm_etcd_presence_free(struct rm_etcd_presence *presence)
{
	if (presence == NULL)
		return;
	rm_etcd_forget(presence->etcd, presence);
	/* The request is sent at once, because the caller's loop may not run again. */
	if (presence->lease != 0)
		rm_etcd_lease_revoke_now(presence->etcd, presence->lease);
	rm_timer_free(presence->step);
	free(presence->key);
	free(presence->value);
	free(presence);
}

void
rm_etcd_presence_gone(struct rm_etcd_presence *presence)
{
	presence->is_written = false;
	if (presence->busy)
		presence->is_gone = true;
	else
		rm_timer_after(presence->step, 0);
}
