/* Leading, and what goes with it: the fence of every write. */
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "region-controller/etcd/store_etcd_state.h"

/* ---- leading --------------------------------------------------------------------- */

void
store_etcd_right_brake(struct store_etcd *etcd)
{
	bool is_missing = !etcd->has_brake && etcd->brake.version > 0 &&
			  etcd->brake.rate_permille < 1000;

	if (!(is_missing || etcd->brake_by_hand) ||
	    !store_etcd_leads(&etcd->store, rm_mono_now()))
		return;
	rm_log_warn(0, "the brake in force is written into etcd again");
	(void)store_etcd_write_brake(etcd, &etcd->brake, NULL);
}

/* Another cluster has taken the old one's place: it gets what we know. */
static void
write_what_is_missing(struct store_etcd *etcd)
{
	if (!etcd->has_topology && etcd->topology.text != NULL) {
		rm_log_warn(0, "etcd has no topology: the one in use is written again");
		(void)store_etcd_write_topology(
		    etcd, etcd->topology.text, etcd->topology.len, NULL);
	}
	store_etcd_right_brake(etcd);
}

void
store_etcd_announce(struct store_etcd *etcd)
{
	if (etcd->announced || !store_inbox_is_empty(etcd->inbox) ||
	    !rm_etcd_leader_leads(etcd->leader, rm_mono_now()))
		return;
	/* What the leader before us wrote last came before our key. */
	if (!etcd->is_loaded || rm_etcd_mirror_revision(etcd->mirror) <
				    rm_etcd_leader_created(etcd->leader)) {
		rm_etcd_mirror_relist(etcd->mirror);
		return;
	}
	etcd->announced = true;
	etcd->callbacks.on_lead(etcd->callbacks.arg);
	write_what_is_missing(etcd);
}

void
store_etcd_announce_again(struct store_etcd *etcd)
{
	if (!etcd->announced)
		return;
	etcd->callbacks.on_lead(etcd->callbacks.arg);
	write_what_is_missing(etcd);
}

static void
on_lead(void *arg)
{
	struct store_etcd *etcd = arg;

	store_etcd_announce(etcd);
}

static void
on_follow(void *arg)
{
	struct store_etcd *etcd = arg;
	bool announced = etcd->announced;

	etcd->announced = false;
	store_writes_drop(etcd->asked);
	store_writes_drop(etcd->writes);
	if (announced)
		etcd->callbacks.on_follow(etcd->callbacks.arg);
}

bool
store_etcd_leads(struct store *store, rm_mono_t now)
{
	struct store_etcd *etcd = (struct store_etcd *)store;

	return etcd->announced && rm_etcd_leader_leads(etcd->leader, now);
}

/* ---- a leader's key that nobody holds ----------------------------------------------
 */

void
store_etcd_look_at_lease(struct store_etcd *etcd, int64_t lease)
{
	if (lease == 0) {
		rm_timer_after(etcd->unleased, etcd->lease_ttl_s * RM_NS_PER_S);
		return;
	}
	rm_timer_stop(etcd->unleased);
	etcd->is_unleased = false;
}

void
store_etcd_say_unleased(void *arg)
{
	struct store_etcd *etcd = arg;

	etcd->is_unleased = true;
	rm_log_error(0,
	    "the leader's key in etcd has no lease, so that nobody can lead; it was "
	    "put "
	    "by hand, delete it: etcdctl del /rackmesh/%s/leader",
	    etcd->region);
}

/* ---- what the writes ask for and tell of
 * ------------------------------------------------ */

static bool
writes_fence(struct rm_etcd_compare ret[RM_ETCD_FENCE], void *arg)
{
	struct store_etcd *etcd = arg;

	if (!store_etcd_leads(&etcd->store, rm_mono_now()))
		return false;
	rm_etcd_leader_fence(etcd->leader, ret);
	return true;
}

static bool
compact_leads(void *arg)
{
	return store_etcd_leads(arg, rm_mono_now());
}

static int64_t
known_revision(void *arg)
{
	const struct store_etcd *etcd = arg;

	return rm_etcd_mirror_revision(etcd->mirror);
}

static void
writes_too_large(const char *key, size_t len, void *arg)
{
	rm_log_error(0,
	    "%s: %zu bytes are more than etcd takes in one value; it stays as it was "
	    "there, and the rest goes on",
	    key, len);
}

static void
writes_fenced(void *arg)
{
	struct store_etcd *etcd = arg;

	rm_log_warn(0, "etcd refused a write: somebody else leads");
	rm_etcd_mirror_relist(etcd->mirror);
}

static void
writes_failing(int r, const char *error, void *arg)
{
	rm_log_warn(r, "cannot write into etcd, trying again%s%s",
	    error[0] != '\0' ? ": " : "", error);
}

const struct rm_etcd_leader_callbacks store_etcd_leader_callbacks = {
	.on_lead = on_lead,
	.on_follow = on_follow,
};

const struct store_writes_options store_etcd_writes_options = {
	.fence = writes_fence,
	.revision = known_revision,
	.on_too_large = writes_too_large,
	.on_fenced = writes_fenced,
	.on_failing = writes_failing,
};

const struct store_compact_options store_etcd_compact_options = {
	.leads = compact_leads,
	.revision = known_revision,
};
