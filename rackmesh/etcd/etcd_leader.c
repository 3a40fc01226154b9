#include "rackmesh/etcd/etcd_leader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/backoff.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"

#define LEADER_TTL_S 2
#define LEADER_MAX_TTL_S 3600
#define LEADER_RETRY_NS (50 * RM_NS_PER_MS)
#define LEADER_REFRESHES_PER_CHECK 3

/*
 * One call runs at a time. First the leader's key is read (state `look`). If the key
 * does not exist, this process gets a lease and creates the key with it. If the key has
 * this process's lease, the lease is refreshed, and this process leads. If a
 * transaction gets no answer, the next look shows its outcome: the key has our lease,
 * or it does not.
 */
struct rm_etcd_leader {
	struct rm_etcd *etcd;
	char *key, *value;
	int64_t ttl_ns;
	struct rm_etcd_leader_callbacks callbacks;
	struct rm_timer *step;   /* the next step */
	struct rm_timer *expiry; /* while leading: ends the leadership */
	void (*next)(struct rm_etcd_leader *leader);
	bool busy; /* a call is running */
	struct rm_backoff backoff;
	int64_t lease;   /* 0: no lease */
	rm_mono_t asked; /* when the last call was sent */
	/* the lease lives at least until then, by this host's clock */
	rm_mono_t good_till;
	/* create_revision of the key, which identifies the leadership */
	int64_t created;
	bool leading;
	/* a watcher has reported the deletion of the key while a call was running */
	bool found_deleted;
	unsigned refreshes; /* number of refreshes since the key was last read */
	bool is_stale;      /* the key in etcd does not have the new value yet */
	struct rm_etcd_leader_counts counts;
};

static void leader_look(struct rm_etcd_leader *leader);
static void leader_grant(struct rm_etcd_leader *leader);
static void leader_create(struct rm_etcd_leader *leader);
static void leader_refresh(struct rm_etcd_leader *leader);
static void leader_rewrite(struct rm_etcd_leader *leader);

static void
leader_then(struct rm_etcd_leader *leader, void (*next)(struct rm_etcd_leader *leader),
    int64_t after_ns)
{
	leader->next = next;
	rm_timer_after(leader->step, after_ns);
}

static void
leader_retry(struct rm_etcd_leader *leader, void (*next)(struct rm_etcd_leader *leader))
{
	leader_then(
	    leader, next, rm_backoff_next_ns(&leader->backoff, rm_random_u64()));
}

static void
leader_on_step(void *arg)
{
	struct rm_etcd_leader *leader = arg;

	if (!leader->busy)
		leader->next(leader);
}

/* Ends the time limit that leader_hurries has set, because other modules use the same
 * client. Returns r, the result of starting the call. */
static int
leader_calls(struct rm_etcd_leader *leader, int r)
{
	rm_etcd_hurry(leader->etcd, 0);
	leader->busy = r == 0;
	return r;
}

/* Limits the time of the next call: without a limit, a call to a member that does not
 * answer would use up the life of the lease. */
static void
leader_hurries(struct rm_etcd_leader *leader)
{
	leader->asked = rm_mono_now();
	rm_etcd_hurry(leader->etcd, leader->ttl_ns / 10 * 3);
}

static void
ignore_answer(const struct rm_etcd_answer *answer, void *arg)
{
}

/* Revokes a lease that is not used: a transaction that arrives late must not create the
 * key with it. */
static void
leader_drop_lease(struct rm_etcd_leader *leader)
{
	if (leader->lease != 0)
		rm_etcd_lease_revoke(leader->etcd, leader->lease, ignore_answer, NULL);
	leader->lease = 0;
}

static void
leader_step_down(struct rm_etcd_leader *leader)
{
	rm_timer_stop(leader->expiry);
	rm_etcd_forget(leader->etcd, leader);
	leader->busy = false;
	leader_then(leader, leader_look, 0);
	if (!leader->leading)
		return;
	leader->leading = false;
	leader->counts.lost++;
	if (leader->callbacks.on_follow != NULL)
		leader->callbacks.on_follow(leader->callbacks.arg);
}

static void
leader_on_expiry(void *arg)
{
	leader_step_down(arg);
}

static void
leader_lead(struct rm_etcd_leader *leader)
{
	leader->leading = true;
	leader->refreshes = 0;
	leader->counts.won++;
	rm_backoff_reset(&leader->backoff);
	rm_timer_at(leader->expiry, leader->good_till);
	leader_then(leader, leader_refresh, leader->ttl_ns / 3);
	if (leader->callbacks.on_lead != NULL)
		leader->callbacks.on_lead(leader->callbacks.arg);
}

static bool
leader_has_expired(const struct rm_etcd_leader *leader)
{
	return rm_mono_since(leader->good_till, rm_mono_now()) <= 0;
}

static void
on_look(const struct rm_etcd_answer *answer, void *arg)
{
	struct rm_etcd_leader *leader = arg;
	const struct rm_etcd_value *holder = answer->count > 0 ? answer->values : NULL;
	bool ours;

	leader->busy = false;
	if (answer->r < 0) {
		leader_retry(leader, leader->leading ? leader_refresh : leader_look);
		return;
	}
	ours = holder != NULL && leader->lease != 0 && holder->lease == leader->lease;
	if (leader->leading) {
		leader->refreshes = 0;
		if (ours && holder->create_revision == leader->created)
			leader_then(leader, leader_refresh, leader->ttl_ns / 3);
		else
			leader_step_down(leader);
		return;
	}
	rm_backoff_reset(&leader->backoff);
	if (holder == NULL) {
		leader->found_deleted = false;
		leader_grant(leader);
	} else if (ours) {
		leader->created = holder->create_revision;
		leader_refresh(leader);
	} else if (leader->found_deleted) {
		leader->found_deleted = false; /* the read may show an older state */
		leader_look(leader);
	} else {
		leader_drop_lease(leader);
		leader_then(leader, leader_look,
		    leader->ttl_ns / 4 +
			(int64_t)(rm_random_u64() % (uint64_t)(leader->ttl_ns / 4)));
	}
}

static void
leader_look(struct rm_etcd_leader *leader)
{
	leader_hurries(leader);
	if (leader_calls(leader, rm_etcd_range(leader->etcd, leader->key, false, 0,
				     false, on_look, leader)) < 0)
		leader_retry(leader, leader->leading ? leader_refresh : leader_look);
}

/* The life of the lease counts from the time of the request. The server may grant a
 * longer one. */
static void
leader_extend(struct rm_etcd_leader *leader, int64_t ttl_s)
{
	int64_t ns =
	    ttl_s < leader->ttl_ns / RM_NS_PER_S ? ttl_s * RM_NS_PER_S : leader->ttl_ns;

	leader->good_till = rm_mono_add(leader->asked, ns);
}

static void
on_grant(const struct rm_etcd_answer *answer, void *arg)
{
	struct rm_etcd_leader *leader = arg;

	leader->busy = false;
	if (answer->r < 0 || answer->lease == 0 || answer->ttl_s == 0) {
		leader_retry(leader, leader_look);
		return;
	}
	leader->lease = answer->lease;
	leader_extend(leader, answer->ttl_s);
	leader_create(leader);
}

static void
leader_grant(struct rm_etcd_leader *leader)
{
	leader_drop_lease(leader);
	leader_hurries(leader);
	if (leader_calls(leader, rm_etcd_lease_grant(leader->etcd,
				     leader->ttl_ns / RM_NS_PER_S, on_grant, leader)) <
	    0)
		leader_retry(leader, leader_look);
}

static void
on_create(const struct rm_etcd_answer *answer, void *arg)
{
	struct rm_etcd_leader *leader = arg;

	leader->busy = false;
	if (answer->r == 0 && answer->succeeded && !leader_has_expired(leader)) {
		leader->created = answer->revision;
		leader_lead(leader);
	} else if (answer->r == 0) {
		leader_look(leader);
	} else {
		leader_retry(leader, leader_look);
	}
}

static void
leader_create(struct rm_etcd_leader *leader)
{
	struct rm_etcd_compare free_key = { leader->key, RM_ETCD_CREATE_REVISION, 0 };
	struct rm_etcd_op put = {
		.key = leader->key,
		.value = leader->value,
		.value_len = strlen(leader->value),
		.lease = leader->lease,
	};

	leader->counts.campaigns++;
	leader->is_stale = false;
	rm_etcd_hurry(leader->etcd, leader->ttl_ns / 10 * 3);
	if (leader_calls(leader, rm_etcd_txn(leader->etcd, &free_key, 1, &put, 1,
				     on_create, leader)) < 0)
		leader_retry(leader, leader_look);
}

static void
on_refresh(const struct rm_etcd_answer *answer, void *arg)
{
	struct rm_etcd_leader *leader = arg;

	leader->busy = false;
	/* The lease has expired by this host's clock. The leadership ends even if the
	 * answer is a success, because its end may have been reported already. */
	if (leader->leading && leader_has_expired(leader)) {
		leader_step_down(leader);
		return;
	}
	if (answer->r == -ENOENT || (answer->r == 0 && answer->ttl_s == 0)) {
		leader->lease = 0; /* the lease has expired */
		leader_step_down(leader);
		return;
	}
	if (answer->r < 0) {
		leader_retry(leader, leader->leading ? leader_refresh : leader_look);
		return;
	}
	leader_extend(leader, answer->ttl_s);
	rm_backoff_reset(&leader->backoff);
	if (!leader->leading) {
		if (leader_has_expired(leader))
			leader_look(leader);
		else
			leader_lead(leader);
		return;
	}
	rm_timer_at(leader->expiry, leader->good_till);
	/* Reads the key now and then, because somebody may delete it by hand while the
	 * lease is alive. */
	if (leader->is_stale)
		leader_rewrite(leader);
	else if (++leader->refreshes >= LEADER_REFRESHES_PER_CHECK)
		leader_look(leader);
	else
		leader_then(leader, leader_refresh, leader->ttl_ns / 3);
}

static void
leader_refresh(struct rm_etcd_leader *leader)
{
	leader_hurries(leader);
	if (leader->leading && leader_has_expired(leader)) {
		rm_etcd_hurry(leader->etcd, 0);
		leader_step_down(leader);
		return;
	}
	if (leader_calls(leader, rm_etcd_lease_keepalive(leader->etcd, leader->lease,
				     on_refresh, leader)) < 0)
		leader_retry(leader, leader->leading ? leader_refresh : leader_look);
}

static void
on_rewrite(const struct rm_etcd_answer *answer, void *arg)
{
	struct rm_etcd_leader *leader = arg;

	leader->busy = false;
	if (answer->r == 0 && answer->succeeded) {
		leader_then(leader, leader_refresh, leader->ttl_ns / 3);
		return;
	}
	leader->is_stale = true;
	if (answer->r < 0)
		leader_retry(leader, leader_refresh);
	else
		leader_look(leader);
}

/* The key keeps its create revision and its lease, so the leadership goes on. */
static void
leader_rewrite(struct rm_etcd_leader *leader)
{
	struct rm_etcd_compare fence[RM_ETCD_FENCE];
	struct rm_etcd_op put = {
		.key = leader->key,
		.value = leader->value,
		.value_len = strlen(leader->value),
		.lease = leader->lease,
	};

	leader->is_stale = false;
	rm_etcd_leader_fence(leader, fence);
	rm_etcd_hurry(leader->etcd, leader->ttl_ns / 10 * 3);
	if (leader_calls(leader, rm_etcd_txn(leader->etcd, fence, RM_ETCD_FENCE, &put,
				     1, on_rewrite, leader)) < 0) {
		leader->is_stale = true;
		leader_retry(leader, leader_refresh);
	}
}

int
rm_etcd_leader_set_value(struct rm_etcd_leader *leader, const char *value)
{
	char *copy = strdup(value);

	if (copy == NULL)
		return -ENOMEM;
	free(leader->value);
	leader->value = copy;
	leader->is_stale = true;
	return 0;
}

int
rm_etcd_leader_new(struct rm_loop *loop, struct rm_etcd *etcd,
    const struct rm_etcd_leader_options *options,
    const struct rm_etcd_leader_callbacks *callbacks, struct rm_etcd_leader **ret)
{
	struct rm_etcd_leader *leader;
	int64_t ttl_s = options->ttl_s > 0 ? options->ttl_s : LEADER_TTL_S;
	int r = -ENOMEM;

	if (ttl_s > LEADER_MAX_TTL_S || options->key[0] == 0)
		return -EINVAL;
	leader = calloc(1, sizeof(*leader));
	if (leader == NULL)
		return -ENOMEM;
	leader->etcd = etcd;
	leader->callbacks = *callbacks;
	leader->ttl_ns = ttl_s * RM_NS_PER_S;
	leader->backoff = (struct rm_backoff){ LEADER_RETRY_NS, leader->ttl_ns / 8, 0 };
	leader->key = strdup(options->key);
	leader->value = strdup(options->value);
	if (leader->key == NULL || leader->value == NULL)
		goto out;
	r = rm_timer_new(loop, leader_on_step, leader, &leader->step);
	if (r == 0)
		r = rm_timer_new(loop, leader_on_expiry, leader, &leader->expiry);
	if (r < 0)
		goto out;
	leader_then(leader, leader_look, 0);
	*ret = leader;
	return 0;
out:
	rm_etcd_leader_free(leader);
	return r;
}

void
rm_etcd_leader_free(struct rm_etcd_leader *leader)
{
	if (leader == NULL)
		return;
	rm_etcd_forget(leader->etcd, leader);
	/* The request is sent at once: the caller is about to exit, and its loop may
	 * not run again. */
	if (leader->lease != 0)
		rm_etcd_lease_revoke_now(leader->etcd, leader->lease);
	rm_timer_free(leader->step);
	rm_timer_free(leader->expiry);
	free(leader->key);
	free(leader->value);
	free(leader);
}

void
rm_etcd_leader_seen(struct rm_etcd_leader *leader, bool there)
{
	if (there)
		return;
	if (leader->busy)
		leader->found_deleted = true;
	else
		leader_then(leader, leader_look, 0);
}

bool
rm_etcd_leader_leads(struct rm_etcd_leader *leader, rm_mono_t now)
{
	return leader->leading && rm_mono_since(leader->good_till, now) > 0;
}

void
rm_etcd_leader_fence(
    const struct rm_etcd_leader *leader, struct rm_etcd_compare ret[RM_ETCD_FENCE])
{
	ret[0] = (struct rm_etcd_compare){ leader->key, RM_ETCD_CREATE_REVISION,
		leader->leading ? leader->created : -1 };
	ret[1] = (struct rm_etcd_compare){ leader->key, RM_ETCD_LEASE, leader->lease };
}

int64_t
rm_etcd_leader_created(const struct rm_etcd_leader *leader)
{
	return leader->created;
}

const struct rm_etcd_leader_counts *
rm_etcd_leader_counts(const struct rm_etcd_leader *leader)
{
	return &leader->counts;
}
