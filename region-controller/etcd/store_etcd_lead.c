/* Leads or follows, and gives every write the fence of the leadership. */
#include "rackmesh/core/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/loop/loop.h"
#include "region-controller/etcd/store_etcd_keys.h"
#include "region-controller/etcd/store_etcd_state.h"
#include "region-controller/store/store_plan.h"
#include "region-controller/store/store_topology.h"

/* ---- leading ---- */

static void on_lead(void *arg);
static void on_put(const struct rm_etcd_value *value, void *arg);
static void on_delete(const char *key, void *arg);
static void on_synced(int64_t revision, void *arg);

static void
store_etcd_right_brake(struct store_etcd *etcd)
{
	bool is_missing = !etcd->has_brake && etcd->brake.version > 0 &&
			  etcd->brake.rate_permille < 1000;

	if (!(is_missing || etcd->brake_by_hand) ||
	    !store_etcd_leads(&etcd->store, rm_mono_now()))
		return;
	rm_log_warn(0, "brake: written again: etcd did not have the one in force");
	(void)store_etcd_write_brake(etcd, &etcd->brake, NULL);
}

/* A new cluster has replaced the old one: writes everything that this controller has in
 * memory and that the new cluster lacks. */
static void
write_what_is_missing(struct store_etcd *etcd)
{
	if (!etcd->has_topology && etcd->topology.text != NULL) {
		rm_log_warn(
		    0, "topology: written again: etcd did not have the one in use");
		(void)store_etcd_write_topology(
		    etcd, etcd->topology.text, etcd->topology.len, NULL);
	}
	store_etcd_right_brake(etcd);
}

/* Calls on_lead once this controller has read all that earlier leaders have written. */
static void
store_etcd_announce(struct store_etcd *etcd)
{
	if (etcd->announced || !store_inbox_is_empty(etcd->inbox) ||
	    !rm_etcd_leader_leads(etcd->leader, rm_mono_now()))
		return;
	/* The last writes of the earlier leader have lower revisions than our key. */
	if (!etcd->is_loaded || rm_etcd_mirror_revision(etcd->mirror) <
				    rm_etcd_leader_created(etcd->leader)) {
		rm_etcd_mirror_relist(etcd->mirror);
		return;
	}
	etcd->announced = true;
	etcd->callbacks.on_lead(etcd->callbacks.arg);
	write_what_is_missing(etcd);
}

/* Calls on_lead again if another etcd has replaced the old one during our leadership,
 * since it lacks what this controller knows. */
static void
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

/* ---- a leader's key that has no lease ---- */

static void
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
store_etcd_report_unleased(void *arg)
{
	struct store_etcd *etcd = arg;

	etcd->is_unleased = true;
	rm_log_error(0,
	    "leader's key in etcd: found without a lease, so no controller can lead: a "
	    "person put it there, delete it: etcdctl del /rackmesh/%s/leader",
	    etcd->region);
}

/* ---- the queue of writes calls these ---- */

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
	    "%s: not written: %zu bytes are more than etcd takes in one value; etcd "
	    "keeps the old value",
	    key, len);
}

static void
writes_fenced(void *arg)
{
	struct store_etcd *etcd = arg;

	rm_log_warn(0, "etcd: refused a write: another controller leads");
	rm_etcd_mirror_relist(etcd->mirror);
}

static void
writes_failing(int r, const char *error, void *arg)
{
	rm_log_warn(r, "cannot write to etcd, trying again%s%s",
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

/* ---- calls the controller's callbacks for keys and values in etcd ---- */

#define SHOWN_BYTES 320

void
store_etcd_refuse(
    struct store_etcd *etcd, const char *key, const struct rm_error *error)
{
	char quoted[SHOWN_BYTES];

	etcd->counts.bad_values++;
	rm_log_quote(quoted, sizeof(quoted), key, strlen(key));
	rm_log_warn(0, "etcd key %s: ignored, malformed: %s", quoted, error->text);
}

/* True: the key has this prefix; *name is the rest of the key. */
static bool
is_below(const char *rest, const char *kind, const char **name)
{
	size_t len = strlen(kind);

	*name = rest + len;
	return strncmp(rest, kind, len) == 0;
}

/* ---- topology ---- */

static void
topology_put(struct store_etcd *etcd, const struct rm_etcd_value *value)
{
	struct store_topology fresh;
	int r;

	etcd->has_topology = true;
	if (etcd->topology.text != NULL && etcd->topology.len == value->value_len &&
	    memcmp(etcd->topology.text, value->value, value->value_len) == 0) {
		etcd->bad_topology.text[0] = '\0';
		return;
	}
	r = store_topology_read(&fresh, STORE_KEY_TOPOLOGY, etcd->region, value->value,
	    value->value_len, &etcd->bad_topology);
	if (r == 0) {
		r = etcd->callbacks.on_topology(fresh.topology, etcd->callbacks.arg);
		if (r < 0) {
			store_topology_clear(&fresh);
			rm_error_set(&etcd->bad_topology, r, "cannot be used");
		}
	}
	if (r < 0) {
		etcd->counts.bad_topologies++;
		store_etcd_refuse(etcd, value->key, &etcd->bad_topology);
		return;
	}
	store_topology_clear(&etcd->topology);
	etcd->topology = fresh;
	etcd->bad_topology.text[0] = '\0';
}

static void
topology_gone(struct store_etcd *etcd)
{
	etcd->has_topology = false;
	rm_log_warn(0, "topology: deleted from etcd, the old one stays in use");
}

/* ---- registrations, plans, brake, leader ---- */

/* Accepts only the spelling that controllers write: an RNIC must not have two keys. */
static int
read_id(const char *name, struct rm_rnic_id *ret)
{
	char again[RM_RNIC_ID_TEXT];
	int r;

	r = rm_rnic_id_parse(name, ret);
	if (r < 0)
		return r;
	rm_rnic_id_format(*ret, again);
	return strcmp(name, again) == 0 ? 0 : -EINVAL;
}

static void
rnic_put(struct store_etcd *etcd, const char *name, const struct rm_etcd_value *value)
{
	struct rm_error error = { 0 };
	struct rm_rnic_id id;
	struct store_rnic rnic;
	json_t *object = NULL;
	uint64_t hash;
	int r;

	r = read_id(name, &id);
	if (r < 0)
		rm_error_set(&error, r, "the key does not end in the id of an RNIC");
	else
		r = store_rnic_read(
		    value->value, value->value_len, id, &object, &rnic, &error);
	if (r < 0) {
		store_etcd_refuse(etcd, value->key, &error);
		return;
	}
	if (store_rnic_hash(&rnic, &hash) == 0)
		store_etcd_know(etcd, id, hash);
	/* If this controller is about to overwrite the value, it is ignored. */
	if (!store_writes_waits(etcd->writes, value->key))
		etcd->callbacks.on_rnic(&rnic, etcd->callbacks.arg);
	json_decref(object);
}

static void
rnic_gone(struct store_etcd *etcd, const char *key, const char *name)
{
	struct rm_rnic_id id;

	if (read_id(name, &id) < 0)
		return;
	store_etcd_forget(etcd, id);
	if (!etcd->is_restart && !store_writes_waits(etcd->writes, key))
		etcd->callbacks.on_rnic_gone(id, etcd->callbacks.arg);
}

static void
plan_put(struct store_etcd *etcd, const char *name, const struct rm_etcd_value *value)
{
	struct store_plan_read read = { 0 };
	struct rm_error error = { 0 };
	struct wire_bytes bytes;
	int r;

	r = store_plan_read(value->value, value->value_len,
	    (uint64_t)value->mod_revision, etcd->writer, &read, &bytes, &error);
	if (r == 0 && strcmp(read.tor, name) != 0)
		r = rm_error_set(
		    &error, -EBADMSG, "tor: it differs from the one in the key");
	if (r < 0) {
		store_etcd_refuse(etcd, value->key, &error);
		etcd->callbacks.on_plan_gone(name, etcd->callbacks.arg);
		return;
	}
	etcd->callbacks.on_plan(
	    &(struct store_plan){
		.tor = name,
		.bytes = bytes,
		.version = read.version,
		.digest = read.digest,
		.since = rm_wall_now(),
	    },
	    etcd->callbacks.arg);
}

static void
brake_set(struct store_etcd *etcd, const struct store_brake *brake)
{
	struct store_brake fresh = *brake;

	/* A value without a base was probably written by hand. It still counts as
	 * newer. */
	if (fresh.version <= etcd->brake.version)
		fresh.version = etcd->brake.version + 1;
	etcd->callbacks.on_brake(&fresh, etcd->callbacks.arg);
	memset(etcd->brake_by, 0, sizeof(etcd->brake_by));
	if (rm_name_valid(fresh.by))
		strcpy(etcd->brake_by, fresh.by);
	etcd->brake = fresh;
	etcd->brake.by = etcd->brake_by;
}

static void
brake_put(struct store_etcd *etcd, const struct rm_etcd_value *value)
{
	struct rm_error error = { 0 };
	struct store_brake brake;
	json_t *object = NULL;

	if (store_brake_read(value->value, value->value_len,
		(uint64_t)value->mod_revision, &object, &brake, &error) < 0) {
		store_etcd_refuse(etcd, value->key, &error);
		return;
	}
	etcd->has_brake = true;
	/* The version that a controller writes is taken from the clock, so it differs
	 * from the revision. */
	etcd->brake_by_hand = brake.version == (uint64_t)value->mod_revision;
	brake_set(etcd, &brake);
	json_decref(object);
	if (!store_writes_waits(etcd->asked, value->key))
		store_etcd_right_brake(etcd);
}

static void
brake_gone(struct store_etcd *etcd, const char *key)
{
	const struct store_brake none = { .rate_permille = 1000, .by = "" };

	etcd->has_brake = false;
	if (etcd->is_restart)
		return;
	etcd->brake_by_hand = true;
	brake_set(etcd, &none);
	if (!store_writes_waits(etcd->asked, key))
		store_etcd_right_brake(etcd);
}

/* Compares fingerprints, because all controllers of a region must derive the same keys.
 * A difference has no effect while the same controller leads. When another one becomes
 * leader, probes are refused until all agents have the keys of the new leader. */
static void
compare_keys(struct store_etcd *etcd)
{
	const bool differ = etcd->leader_keys[0] != '\0' && etcd->keys[0] != '\0' &&
			    strcmp(etcd->leader_name, etcd->name) != 0 &&
			    strcmp(etcd->leader_keys, etcd->keys) != 0;

	if (differ && !etcd->keys_differ)
		rm_log_warn(0,
		    "probes: %s, which leads, has another secret or epoch than this "
		    "controller: give all controllers the same probe_keys",
		    etcd->leader_name);
	etcd->keys_differ = differ;
}

int
store_etcd_set_keys(struct store *store, const char *print)
{
	struct store_etcd *etcd = (struct store_etcd *)store;
	char *value = NULL;
	int r;

	if (strcmp(etcd->keys, print) == 0)
		return 0;
	r = store_leader_write(etcd->name, print, &value);
	if (r == 0)
		r = rm_etcd_leader_set_value(etcd->leader, value);
	free(value);
	if (r < 0)
		return r;
	snprintf(etcd->keys, sizeof(etcd->keys), "%s", print);
	compare_keys(etcd);
	return 0;
}

static void
leader_put(struct store_etcd *etcd, const struct rm_etcd_value *value)
{
	struct store_leader leader;

	store_leader_read(value->value, value->value_len, &leader);
	if (strcmp(leader.name, etcd->leader_name) != 0)
		etcd->since = rm_wall_now();
	memcpy(etcd->leader_name, leader.name, sizeof(etcd->leader_name));
	memcpy(etcd->leader_keys, leader.keys, sizeof(etcd->leader_keys));
	compare_keys(etcd);
	store_etcd_look_at_lease(etcd, value->lease);
	rm_etcd_leader_seen(etcd->leader, true);
}

static void
leader_gone(struct store_etcd *etcd)
{
	etcd->leader_name[0] = etcd->leader_keys[0] = '\0';
	etcd->since = rm_wall_now();
	store_etcd_look_at_lease(etcd, -1);
	rm_etcd_leader_seen(etcd->leader, false);
}

/* ---- from the inbox to the controller ---- */

static void
look_for_restart(struct store_etcd *etcd, uint64_t restarts)
{
	if (restarts != etcd->restarts) {
		etcd->restarts = restarts;
		etcd->is_restart = true;
	}
}

static void
take_put(const struct rm_etcd_value *value, uint64_t restarts, void *arg)
{
	struct store_etcd *etcd = arg;
	const char *rest = store_key_rest(etcd->region, value->key), *name;

	look_for_restart(etcd, restarts);
	if (rest == NULL)
		return;
	if (strcmp(rest, STORE_KEY_TOPOLOGY) == 0)
		topology_put(etcd, value);
	else if (is_below(rest, STORE_KEY_RNIC, &name))
		rnic_put(etcd, name, value);
	else if (is_below(rest, STORE_KEY_PLAN, &name))
		plan_put(etcd, name, value);
	else if (strcmp(rest, STORE_KEY_BRAKE) == 0)
		brake_put(etcd, value);
	else if (is_below(rest, STORE_KEY_TRACED, &name))
		store_etcd_traced(etcd, name, value);
	else if (is_below(rest, STORE_KEY_CONTROLLER, &name))
		store_etcd_controller(etcd, name, value);
}

static void
take_delete(const char *key, uint64_t restarts, void *arg)
{
	struct store_etcd *etcd = arg;
	const char *rest = store_key_rest(etcd->region, key), *name;

	look_for_restart(etcd, restarts);
	if (rest == NULL)
		return;
	if (strcmp(rest, STORE_KEY_TOPOLOGY) == 0)
		topology_gone(etcd);
	else if (is_below(rest, STORE_KEY_RNIC, &name))
		rnic_gone(etcd, key, name);
	else if (is_below(rest, STORE_KEY_PLAN, &name))
		etcd->callbacks.on_plan_gone(name, etcd->callbacks.arg);
	else if (strcmp(rest, STORE_KEY_BRAKE) == 0)
		brake_gone(etcd, key);
	else if (is_below(rest, STORE_KEY_TRACED, &name))
		store_etcd_traced_gone(etcd, name);
	else if (is_below(rest, STORE_KEY_CONTROLLER, &name))
		store_etcd_controller_gone(etcd, name);
}

static void
take_synced(int64_t revision, uint64_t restarts, void *arg)
{
	struct store_etcd *etcd = arg;
	bool was_restart;

	look_for_restart(etcd, restarts);
	was_restart = etcd->is_restart;
	etcd->is_loaded = true;
	etcd->is_restart = false;
	/* The election may have found the new cluster before the mirror has. */
	if (was_restart)
		store_etcd_announce_again(etcd);
	store_etcd_announce(etcd);
}

const struct store_inbox_callbacks store_etcd_inbox_callbacks = {
	.on_put = take_put,
	.on_delete = take_delete,
	.on_synced = take_synced,
};

/* ---- from the mirror to the inbox ---- */

/* The leader's key skips the inbox: it must be known at once, and does not depend on
 * other keys. */
static bool
is_leader_key(const struct store_etcd *etcd, const char *key)
{
	const char *rest = store_key_rest(etcd->region, key);

	return rest != NULL && strcmp(rest, STORE_KEY_LEADER) == 0;
}

static uint64_t
restarts_of(const struct store_etcd *etcd)
{
	return rm_etcd_mirror_counts(etcd->mirror)->restarts;
}

static void
on_put(const struct rm_etcd_value *value, void *arg)
{
	struct store_etcd *etcd = arg;

	if (is_leader_key(etcd, value->key))
		leader_put(etcd, value);
	else
		store_inbox_put(etcd->inbox, value, restarts_of(etcd));
}

static void
on_delete(const char *key, void *arg)
{
	struct store_etcd *etcd = arg;

	if (is_leader_key(etcd, key))
		leader_gone(etcd);
	else
		store_inbox_delete(etcd->inbox, key, restarts_of(etcd));
}

static void
on_synced(int64_t revision, void *arg)
{
	struct store_etcd *etcd = arg;

	store_inbox_synced(etcd->inbox, revision, restarts_of(etcd));
}

const struct rm_etcd_mirror_callbacks store_etcd_mirror_callbacks = {
	.on_put = on_put,
	.on_delete = on_delete,
	.on_synced = on_synced,
};
