#define HASH_NONFATAL_OOM 1
#include "region-controller/etcd/store_etcd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/http/http_client.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/metrics/metrics.h"
#include "region-controller/etcd/store_etcd_keys.h"
#include "region-controller/etcd/store_etcd_state.h"
#include "region-controller/store/store_status.h"
#include "region-controller/store/store_topology.h"
#include "region-controller/topology/traced.h"

/* ---- registrations that etcd has ---- */

static struct store_known *
store_etcd_known(const struct store_etcd *etcd, struct rm_rnic_id id)
{
	struct store_known *known = NULL, key = { .id = { id.guid, id.port } };

	HASH_FIND(hh, etcd->known, &key.id, sizeof(key.id), known);
	return known;
}

/* Notes a registration that etcd has. If memory runs out, it will be written once more
 * than necessary. */
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

/* ---- traced links ---- */

static void
key_of(const struct store_etcd *etcd, const struct traced_link *link,
    char key[STORE_KEY_BYTES])
{
	char name[2 * TRACED_NODE_BYTES + 2];

	snprintf(name, sizeof(name), "%s/%s", link->from, link->to);
	store_key(key, etcd->region, STORE_KEY_TRACED, name);
}

static int
store_etcd_put_traced(struct store *store, const struct traced_link *link)
{
	struct store_etcd *etcd = (struct store_etcd *)store;
	char key[STORE_KEY_BYTES], *text;
	int r;

	key_of(etcd, link, key);
	r = store_traced_write(link, &text);
	return r < 0 ? r : store_writes_put(etcd->writes, key, text, NULL);
}

static int
store_etcd_drop_traced(struct store *store, const struct traced_link *link)
{
	struct store_etcd *etcd = (struct store_etcd *)store;
	char key[STORE_KEY_BYTES];

	key_of(etcd, link, key);
	return store_writes_put(etcd->writes, key, NULL, NULL);
}

void
store_etcd_traced(
    struct store_etcd *etcd, const char *name, const struct rm_etcd_value *value)
{
	struct rm_error error = { 0 };
	struct traced_link link;

	if (store_traced_read(name, value->value, value->value_len, &link, &error) < 0)
		store_etcd_refuse(etcd, value->key, &error);
	else
		etcd->callbacks.on_traced(&link, etcd->callbacks.arg);
}

void
store_etcd_traced_gone(struct store_etcd *etcd, const char *name)
{
	const char *slash = strchr(name, '/');
	char from[TRACED_NODE_BYTES];

	if (slash == NULL || (size_t)(slash - name) >= sizeof(from) || etcd->is_restart)
		return;
	memcpy(from, name, (size_t)(slash - name));
	from[slash - name] = '\0';
	etcd->callbacks.on_traced_gone(from, slash + 1, etcd->callbacks.arg);
}

/* ---- controllers that run ---- */

/* Returns NULL if the controller is not in the list. */
static struct store_controller *
controller_find(struct store_etcd *etcd, const char *name)
{
	for (size_t i = 0; i < etcd->controller_count; i++)
		if (strcmp(etcd->controllers[i].name, name) == 0)
			return &etcd->controllers[i];
	return NULL;
}

void
store_etcd_controller(
    struct store_etcd *etcd, const char *name, const struct rm_etcd_value *value)
{
	struct store_controller *controller = controller_find(etcd, name);
	char software[RM_VERSION_BYTES];

	if (!rm_name_valid(name))
		return;
	store_controller_read(value->value, value->value_len, software);
	if (controller != NULL && strcmp(controller->software, software) == 0)
		return;
	if (controller == NULL && etcd->controller_count == STORE_MAX_CONTROLLERS) {
		etcd->counts.controllers_left_out++;
		return;
	}
	if (controller == NULL)
		controller = &etcd->controllers[etcd->controller_count++];
	*controller = (struct store_controller){ .since = rm_wall_now() };
	strcpy(controller->name, name);
	strcpy(controller->software, software);
}

void
store_etcd_controller_gone(struct store_etcd *etcd, const char *name)
{
	struct store_controller *controller = controller_find(etcd, name);

	if (controller != NULL)
		*controller = etcd->controllers[--etcd->controller_count];
	if (strcmp(name, etcd->name) == 0)
		rm_etcd_presence_gone(etcd->presence);
}

static size_t
etcd_controllers(const struct store *store, const struct store_controller **ret)
{
	const struct store_etcd *etcd = (const struct store_etcd *)store;

	*ret = etcd->controllers;
	return etcd->controller_count;
}

/* ---- metrics ---- */

#define COUNT(items) (sizeof(items) / sizeof((items)[0]))
#define NAME(name) "rackmesh_controller_etcd_" name

static double
read_revision(const void *arg)
{
	const struct store_etcd *etcd = arg;

	return (double)rm_etcd_mirror_revision(etcd->mirror);
}

static double
read_leads(const void *arg)
{
	return ((const struct store_etcd *)arg)->announced ? 1 : 0;
}

static double
read_waiting(const void *arg)
{
	const struct store_etcd *etcd = arg;

	return (double)(store_writes_counts(etcd->writes)->waiting +
			store_writes_counts(etcd->asked)->waiting);
}

static int
add_client(struct rm_metrics *metrics, const struct store_etcd *etcd)
{
	const struct rm_etcd_counts *c = rm_etcd_counts(etcd->etcd);
	const struct rm_etcd_leader_counts *l = rm_etcd_leader_counts(etcd->leader);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("calls_total"), "", "Requests to etcd", &c->calls },
		{ NAME("calls_failed_total"), "", "Requests to etcd that failed", &c->failed },
		{ NAME("rotations_total"), "", "Times that the controller went on to another endpoint of etcd", &c->rotations },
		{ NAME("authentications_total"), "", "Authentication tokens fetched from etcd", &c->authentications },
		{ NAME("watch_lines_total"), "", "Lines received from watches of etcd", &c->watch_lines },
		{ NAME("bad_answers_total"), "", "Malformed answers of etcd", &c->bad_answers },
		{ NAME("campaigns_total"), "", "Attempts to become the leader", &l->campaigns },
		{ NAME("leaderships_won_total"), "", "Times that this controller became the leader", &l->won },
		{ NAME("leaderships_lost_total"), "", "Times that this controller ceased to be the leader", &l->lost },
	};
	/* clang-format on */

	return rm_metrics_counters(metrics, etcd, counters, COUNT(counters));
}

static int
add_mirror(struct rm_metrics *metrics, const struct store_etcd *etcd)
{
	const struct rm_etcd_mirror_counts *m = rm_etcd_mirror_counts(etcd->mirror);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("lists_total"), "", "Times that all keys of etcd were listed", &m->lists },
		{ NAME("watches_total"), "", "Watches of etcd started", &m->watches },
		{ NAME("watch_breaks_total"), "", "Watches of etcd that ended", &m->breaks },
		{ NAME("puts_seen_total"), "", "Changes of keys received from etcd", &m->puts },
		{ NAME("deletes_seen_total"), "", "Deletions of keys received from etcd", &m->deletes },
		{ NAME("healed_total"), "", "Changes that a watch missed and a listing found", &m->healed },
		{ NAME("stale_total"), "", "Events and lists of etcd that are older than what is known", &m->stale },
		{ NAME("restarts_total"), "", "Times that etcd was found to be another cluster, or restored from a backup", &m->restarts },
		{ NAME("keys_refused_total"), "", "Keys of etcd not kept because the table is full", &m->refused_keys },
		{ NAME("values_refused_total"), "kind=\"any\"",
		  "Malformed values in etcd", &etcd->counts.bad_values },
		{ NAME("values_refused_total"), "kind=\"topology\"",
		  "Malformed values in etcd", &etcd->counts.bad_topologies },
	};
	/* clang-format on */

	return rm_metrics_counters(metrics, etcd, counters, COUNT(counters));
}

static int
add_writes(struct rm_metrics *metrics, const struct store_etcd *etcd,
    const struct store_writes *writes, const char *labels)
{
	const struct store_writes_counts *w = store_writes_counts(writes);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("transactions_total"), labels, "Transactions sent to etcd", &w->transactions },
		{ NAME("transactions_failed_total"), labels, "Transactions of etcd that failed; they are repeated", &w->failed },
		{ NAME("transactions_fenced_total"), labels,
		  "Transactions refused because another controller is the leader", &w->fenced },
		{ NAME("writes_total"), labels, "Keys of etcd written or deleted", &w->operations },
		{ NAME("written_bytes_total"), labels, "Bytes of values written to etcd", &w->bytes },
		{ NAME("writes_too_large_total"), labels, "Values not written because they are larger than etcd accepts",
		  &w->too_large },
	};
	/* clang-format on */

	return rm_metrics_counters(metrics, etcd, counters, COUNT(counters));
}

static int
add_upkeep(struct rm_metrics *metrics, const struct store_etcd *etcd)
{
	const struct store_compact_counts *c = store_compact_counts(etcd->compact);
	const struct store_inbox_counts *i = store_inbox_counts(etcd->inbox);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("compactions_total"), "", "Compactions of etcd's history", &c->done },
		{ NAME("compactions_failed_total"), "", "Compactions of etcd's history that failed", &c->failed },
		{ NAME("inbox_deferred_total"), "",
		  "Changes in etcd put off to a later turn because there were too many", &i->deferred },
		{ NAME("inbox_undeferred_total"), "", "Changes in etcd read at once because the queue was full", &i->undeferred },
	};
	const struct rm_metric gauges[] = {
		{ NAME("inbox_waiting"), "", "Changes in etcd that wait to be processed", &i->waiting },
		{ NAME("inbox_waiting_bytes"), "", "Bytes of changes in etcd that wait to be processed", &i->waiting_bytes },
	};
	/* clang-format on */
	int r;

	r = rm_metrics_counters(metrics, etcd, counters, COUNT(counters));
	return r < 0 ? r : rm_metrics_gauges(metrics, etcd, gauges, COUNT(gauges));
}

static int
store_etcd_add_metrics(struct store *store, struct rm_metrics *metrics)
{
	struct store_etcd *etcd = (struct store_etcd *)store;
	int r;

	r = add_client(metrics, etcd);
	if (r == 0)
		r = add_mirror(metrics, etcd);
	if (r == 0)
		r = add_writes(metrics, etcd, etcd->writes, "kind=\"plans\"");
	if (r == 0)
		r = add_writes(metrics, etcd, etcd->asked, "kind=\"requests\"");
	if (r == 0)
		r = add_upkeep(metrics, etcd);
	if (r == 0)
		r = rm_metrics_counter(metrics, etcd, NAME("writes_unchanged_total"),
		    "", "Registrations not written because etcd has them already",
		    &etcd->counts.unchanged);
	if (r == 0)
		r = rm_metrics_counter(metrics, etcd,
		    NAME("controllers_left_out_total"), "",
		    "Running controllers left out of the list of versions because the "
		    "region has more than 16 controllers; counted each time that the "
		    "key of such a controller is read",
		    &etcd->counts.controllers_left_out);
	if (r == 0)
		r = rm_metrics_gauge(metrics, etcd, NAME("writes_waiting"), "",
		    "Keys that wait to be written to etcd", read_waiting, etcd);
	if (r == 0)
		r = rm_metrics_gauge(metrics, etcd, NAME("revision"), "",
		    "Revision of etcd up to which all changes are known", read_revision,
		    etcd);
	return r < 0 ? r
		     : rm_metrics_gauge(metrics, etcd, NAME("leading"), "",
			   "1 while this controller leads", read_leads, etcd);
}

#define GATHER_NS (20 * RM_NS_PER_MS)
#define FRESH_NS (5 * RM_NS_PER_S)

static struct store_etcd *
etcd_of(struct store *store)
{
	return (struct store_etcd *)store;
}

/* ---- writes ---------------------------------------------------------------------- */

static int
etcd_put_rnic(struct store *store, const struct store_rnic *rnic)
{
	struct store_etcd *etcd = etcd_of(store);
	struct rm_rnic_id id = { rnic->rnic.id.guid, rnic->rnic.id.port };
	const struct store_known *known = store_etcd_known(etcd, id);
	char key[STORE_KEY_BYTES], name[RM_RNIC_ID_TEXT], *text;
	uint64_t hash;
	int r;

	rm_rnic_id_format(id, name);
	store_key(key, etcd->region, STORE_KEY_RNIC, name);
	r = store_rnic_hash(rnic, &hash);
	if (r < 0)
		return r;
	if (known != NULL && known->hash == hash &&
	    !store_writes_waits(etcd->writes, key)) {
		etcd->counts.unchanged++;
		return 0;
	}
	r = store_rnic_write(rnic, &text);
	return r < 0 ? r : store_writes_put(etcd->writes, key, text, NULL);
}

static int
etcd_drop_rnic(struct store *store, struct rm_rnic_id id)
{
	struct store_etcd *etcd = etcd_of(store);
	char key[STORE_KEY_BYTES], name[RM_RNIC_ID_TEXT];

	rm_rnic_id_format(id, name);
	store_key(key, etcd->region, STORE_KEY_RNIC, name);
	return store_writes_put(etcd->writes, key, NULL, NULL);
}

static int
etcd_put_plan(struct store *store, const struct store_draft *draft)
{
	struct store_etcd *etcd = etcd_of(store);
	char key[STORE_KEY_BYTES];

	store_key(key, etcd->region, STORE_KEY_PLAN, draft->tor);
	return store_writes_put_plan(etcd->writes, key, draft);
}

static int
etcd_drop_plan(struct store *store, const char *tor)
{
	struct store_etcd *etcd = etcd_of(store);
	char key[STORE_KEY_BYTES];

	store_key(key, etcd->region, STORE_KEY_PLAN, tor);
	return store_writes_put(etcd->writes, key, NULL, NULL);
}

/* Returns the base for which base + revision is larger than `above`. */
static uint64_t
store_etcd_base(const struct store_etcd *etcd, uint64_t above)
{
	uint64_t revision = (uint64_t)rm_etcd_mirror_revision(etcd->mirror);

	return above > revision ? above - revision : 0;
}

int
store_etcd_write_brake(struct store_etcd *etcd, const struct store_brake *brake,
    const struct store_reply *reply)
{
	rm_wall_t now = rm_wall_now();
	uint64_t above = now.ns > 0 ? (uint64_t)(now.ns / RM_NS_PER_MS) : 0;
	char key[STORE_KEY_BYTES], *text;
	int r;

	/* If the versions that aggregators have are not known, the version comes from
	 * the clock. Such a version is larger than those of another etcd, and than
	 * those of a controller without etcd. */
	if (above < etcd->brake.version)
		above = etcd->brake.version;
	store_key(key, etcd->region, STORE_KEY_BRAKE, "");
	r = store_brake_write(brake, store_etcd_base(etcd, above), &text);
	return r < 0 ? r : store_writes_put(etcd->asked, key, text, reply);
}

static int
etcd_set_brake(struct store *store, uint32_t rate_permille, const char *by,
    const struct store_reply *reply)
{
	const struct store_brake brake = {
		.rate_permille = rate_permille, .by = by, .when = rm_wall_now()
	};

	if (!store_etcd_leads(store, rm_mono_now()))
		return -EPERM;
	return store_etcd_write_brake(etcd_of(store), &brake, reply);
}

/* ---- topology ------------------------------------------------------------------- */

static const struct rm_topology *
etcd_topology(const struct store *store)
{
	return ((const struct store_etcd *)store)->topology.topology;
}

static const char *
etcd_topology_text(const struct store *store, size_t *len)
{
	const struct store_etcd *etcd = (const struct store_etcd *)store;

	*len = etcd->topology.len;
	return etcd->topology.text;
}

int
store_etcd_write_topology(struct store_etcd *etcd, const char *text, size_t len,
    const struct store_reply *reply)
{
	char key[STORE_KEY_BYTES], *copy = strndup(text, len);

	if (copy == NULL)
		return -ENOMEM;
	store_key(key, etcd->region, STORE_KEY_TOPOLOGY, "");
	return store_writes_put(etcd->asked, key, copy, reply);
}

static int
etcd_import(struct store *store, const char *text, size_t len,
    const struct store_reply *reply, struct rm_error *error)
{
	struct store_etcd *etcd = etcd_of(store);
	struct store_topology topology;
	int r;

	if (!store_etcd_leads(store, rm_mono_now()))
		return rm_error_set(error, -EPERM, "another controller leads");
	if (len > RM_ETCD_MAX_VALUE_BYTES)
		return rm_error_set(error, -EFBIG,
		    "the topology has %zu bytes, and etcd takes %u in one value", len,
		    RM_ETCD_MAX_VALUE_BYTES);
	if (strnlen(text, len) != len)
		return rm_error_set(error, -EINVAL, "a zero byte in the topology");
	r = store_topology_read(&topology, "topology", etcd->region, text, len, error);
	if (r < 0)
		return r;
	store_topology_clear(&topology);
	r = store_etcd_write_topology(etcd, text, len, reply);
	return r < 0 ? rm_error_set(error, r, "out of memory") : 0;
}

static int
etcd_reload(struct store *store, struct rm_error *error)
{
	rm_etcd_mirror_relist(etcd_of(store)->mirror);
	return 0;
}

/* ---- status ---------------------------------------------------------------------- */

static void
find_trouble(struct store_etcd *etcd, bool is_fresh)
{
	const char *endpoint = rm_etcd_endpoint(etcd->etcd);
	char *out = etcd->trouble;
	size_t len = sizeof(etcd->trouble);

	out[0] = '\0';
	if (!etcd->is_loaded)
		snprintf(out, len, "waiting for etcd; connecting to %s", endpoint);
	else if (!is_fresh)
		snprintf(out, len,
		    "etcd does not answer; plans do not change; connecting to %s",
		    endpoint);
	else if (etcd->is_unleased)
		snprintf(out, len,
		    "the leader's key has no lease, so no controller can lead; etcdctl "
		    "del /rackmesh/%s/leader",
		    etcd->region);
	else if (etcd->bad_topology.text[0] != '\0')
		snprintf(out, len,
		    "the topology in etcd is wrong, and the old one stays in use: %s",
		    etcd->bad_topology.text);
	else if (etcd->topology.topology == NULL)
		snprintf(out, len,
		    "there is no topology yet; run rackmeshctl topology import FILE");
	else if (!etcd->has_topology)
		snprintf(out, len,
		    "the topology was deleted from etcd, and the old one stays in use; "
		    "import it again");
}

static void
etcd_status(const struct store *store, rm_mono_t now, struct store_status *ret)
{
	struct store_etcd *etcd = (struct store_etcd *)store;
	bool is_fresh = rm_etcd_mirror_is_fresh(etcd->mirror, now, FRESH_NS);
	bool leads = etcd->announced && rm_etcd_leader_leads(etcd->leader, now);

	find_trouble(etcd, is_fresh);
	*ret = (struct store_status){
		.is_shared = true,
		.leads = leads,
		.leader = etcd->leader_name,
		.since = etcd->since,
		.endpoint = rm_etcd_endpoint(etcd->etcd),
		.revision = rm_etcd_mirror_revision(etcd->mirror),
		.is_fresh = is_fresh,
		.probe_keys_differ = etcd->keys_differ,
		.trouble = etcd->trouble,
	};
	/* The key of this controller may exist before everything is loaded, and for a
	 * moment after it has stopped leading. */
	if (leads)
		ret->leader = etcd->name;
	else if (strcmp(etcd->leader_name, etcd->name) == 0)
		ret->leader = "";
}

/* ---- creation and end ---- */

static int
start_compact(struct store_etcd *etcd)
{
	struct store_compact_options options = store_etcd_compact_options;

	options.etcd = etcd->etcd;
	options.after_ns = etcd->compact_after_ns;
	options.arg = etcd;
	return store_compact_new(etcd->loop, &options, &etcd->compact);
}

/* A standby has no connection to an aggregator. Its key shows the leader that it runs.
 */
static int
start_presence(struct store_etcd *etcd)
{
	char key[STORE_KEY_BYTES], *value = NULL;
	int r;

	store_key(key, etcd->region, STORE_KEY_CONTROLLER, etcd->name);
	r = store_controller_write(RACKMESH_VERSION, &value);
	if (r == 0)
		r = rm_etcd_presence_new(etcd->loop, etcd->etcd,
		    &(struct rm_etcd_presence_options){ .key = key, .value = value },
		    &etcd->presence);
	free(value);
	return r;
}

static int
start_all(struct store_etcd *etcd)
{
	char prefix[STORE_KEY_BYTES], key[STORE_KEY_BYTES], *value = NULL;
	struct rm_etcd_mirror_callbacks mirror = store_etcd_mirror_callbacks;
	struct rm_etcd_leader_callbacks leader = store_etcd_leader_callbacks;
	int r;

	mirror.arg = leader.arg = etcd;
	store_key(prefix, etcd->region, "", "");
	store_key(key, etcd->region, STORE_KEY_LEADER, "");
	r = store_leader_write(etcd->name, etcd->keys, &value);
	if (r == 0)
		r = rm_etcd_mirror_new(etcd->loop, etcd->etcd,
		    &(struct rm_etcd_mirror_options){
			.prefix = prefix, .relist_ns = etcd->relist_ns },
		    &mirror, &etcd->mirror);
	if (r == 0)
		r = rm_etcd_leader_new(etcd->loop, etcd->etcd,
		    &(struct rm_etcd_leader_options){
			.key = key, .value = value, .ttl_s = etcd->lease_ttl_s },
		    &leader, &etcd->leader);
	free(value);
	if (r == 0)
		r = start_presence(etcd);
	return r == 0 ? start_compact(etcd) : r;
}

static int
etcd_start(struct store *store, const struct store_callbacks *callbacks)
{
	struct store_etcd *etcd = etcd_of(store);

	etcd->callbacks = *callbacks;
	return start_all(etcd);
}

static void
etcd_free(struct store *store)
{
	struct store_etcd *etcd = etcd_of(store);
	struct store_known *known, *next;

	store_compact_free(etcd->compact);
	rm_timer_free(etcd->unleased);
	rm_etcd_leader_free(etcd->leader);
	rm_etcd_presence_free(etcd->presence);
	rm_etcd_mirror_free(etcd->mirror);
	store_inbox_free(etcd->inbox);
	rm_etcd_free(etcd->etcd);
	store_writes_free(etcd->asked);
	store_writes_free(etcd->writes);
	rm_http_client_free(etcd->http);
	HASH_ITER (hh, etcd->known, known, next) {
		HASH_DEL(etcd->known, known);
		free(known);
	}
	store_topology_clear(&etcd->topology);
	wire_writer_free(etcd->writer);
	free(etcd);
}

static const struct store_methods etcd_methods = {
	.topology = etcd_topology,
	.topology_text = etcd_topology_text,
	.start = etcd_start,
	.reload = etcd_reload,
	.import = etcd_import,
	.leads = store_etcd_leads,
	.put_rnic = etcd_put_rnic,
	.drop_rnic = etcd_drop_rnic,
	.put_plan = etcd_put_plan,
	.drop_plan = etcd_drop_plan,
	.put_traced = store_etcd_put_traced,
	.drop_traced = store_etcd_drop_traced,
	.set_brake = etcd_set_brake,
	.set_keys = store_etcd_set_keys,
	.status = etcd_status,
	.controllers = etcd_controllers,
	.add_metrics = store_etcd_add_metrics,
	.free = etcd_free,
};

static int
build(struct store_etcd *etcd, const struct store_etcd_options *options)
{
	const struct rm_etcd_options client = {
		.endpoints = options->endpoints,
		.endpoint_count = options->endpoint_count,
		.user = options->user[0] != '\0' ? options->user : NULL,
		.password = options->user[0] != '\0' ? options->password : NULL,
		.timeout_ns = options->timeout_ns,
		.random_seed = options->random_seed,
	};
	struct store_writes_options writes = store_etcd_writes_options;
	struct store_inbox_callbacks inbox = store_etcd_inbox_callbacks;
	int r = -ENOMEM;

	etcd->writer = wire_writer_new();
	if (etcd->writer != NULL)
		r = rm_http_client_new(etcd->loop, &etcd->http);
	for (size_t i = 0;
	     r == 0 && options->origin != NULL && i < options->endpoint_count; i++)
		r = rm_http_client_origin(
		    etcd->http, options->endpoints[i], options->origin);
	if (r == 0)
		r = rm_etcd_new(etcd->loop, etcd->http, &client, &etcd->etcd);
	inbox.arg = etcd;
	if (r == 0)
		r = rm_timer_new(
		    etcd->loop, store_etcd_report_unleased, etcd, &etcd->unleased);
	if (r == 0)
		r = store_inbox_new(etcd->loop, &inbox, &etcd->inbox);
	writes.etcd = etcd->etcd;
	writes.arg = etcd;
	if (r == 0)
		r = store_writes_new(etcd->loop, &writes, &etcd->asked);
	writes.gather_ns = GATHER_NS;
	if (r == 0)
		r = store_writes_new(etcd->loop, &writes, &etcd->writes);
	return r;
}

int
store_etcd_new(
    struct rm_loop *loop, const struct store_etcd_options *options, struct store **ret)
{
	struct store_etcd *etcd = calloc(1, sizeof(*etcd));
	int r;

	if (etcd == NULL)
		return -ENOMEM;
	etcd->store.methods = &etcd_methods;
	etcd->loop = loop;
	etcd->relist_ns = options->relist_ns;
	etcd->lease_ttl_s = options->lease_ttl_s;
	snprintf(etcd->keys, sizeof(etcd->keys), "%s", options->keys);
	etcd->compact_after_ns = options->compact_after_ns;
	snprintf(etcd->name, sizeof(etcd->name), "%s", options->name);
	snprintf(etcd->region, sizeof(etcd->region), "%s", options->region);
	r = build(etcd, options);
	if (r < 0) {
		etcd_free(&etcd->store);
		return r;
	}
	*ret = &etcd->store;
	return 0;
}
