#include "region-controller/etcd/store_etcd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/http/http_client.h"
#include "rackmesh/loop/loop.h"
#include "region-controller/etcd/store_etcd_keys.h"
#include "region-controller/etcd/store_etcd_state.h"
#include "region-controller/store/store_status.h"

#define GATHER_NS (20 * RM_NS_PER_MS)
#define FRESH_NS (5 * RM_NS_PER_S)

static struct store_etcd *
etcd_of(struct store *store)
{
	return (struct store_etcd *)store;
}

/* ---- puts ----------------------------------------------------------------------- */

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

uint64_t
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

	/* Nobody tells us which version he holds: the clock is above those of another
	 * etcd, too, and of a controller without one. */
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
    const struct store_reply *reply, struct rm_why *why)
{
	struct store_etcd *etcd = etcd_of(store);
	struct store_topology topology;
	int r;

	if (!store_etcd_leads(store, rm_mono_now()))
		return rm_why(why, -EPERM, "another controller leads");
	if (len > RM_ETCD_MAX_VALUE_BYTES)
		return rm_why(why, -EFBIG,
		    "the topology has %zu bytes, and etcd takes %u in one value", len,
		    RM_ETCD_MAX_VALUE_BYTES);
	if (strnlen(text, len) != len)
		return rm_why(why, -EINVAL, "a zero byte in the topology");
	r = store_topology_read(&topology, "topology", etcd->region, text, len, why);
	if (r < 0)
		return r;
	store_topology_clear(&topology);
	r = store_etcd_write_topology(etcd, text, len, reply);
	return r < 0 ? rm_why(why, r, "out of memory") : 0;
}

static int
etcd_reload(struct store *store, struct rm_why *why)
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
		snprintf(out, len, "waiting for etcd; trying %s now", endpoint);
	else if (!is_fresh)
		snprintf(out, len,
		    "etcd does not answer; plans stay as they are; trying %s now",
		    endpoint);
	else if (etcd->is_unleased)
		snprintf(out, len,
		    "the leader's key has no lease, so that nobody can lead; "
		    "etcdctl del /rackmesh/%s/leader",
		    etcd->region);
	else if (etcd->bad_topology.text[0] != '\0')
		snprintf(out, len,
		    "the topology in etcd is wrong, and the old one stays in use: %s",
		    etcd->bad_topology.text);
	else if (etcd->topology.topology == NULL)
		snprintf(out, len,
		    "there is no topology yet; rackmeshctl topology import FILE");
	else if (!etcd->has_topology)
		snprintf(out, len,
		    "the topology is gone from etcd, and the old one stays in use; "
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
		.trouble = etcd->trouble,
	};
	/* Our key may be there before we know all, or for a moment after us. */
	if (leads)
		ret->leader = etcd->name;
	else if (strcmp(etcd->leader_name, etcd->name) == 0)
		ret->leader = "";
}

/* ---- life -------------------------------------------------------------------------
 */

static int
start_compact(struct store_etcd *etcd)
{
	struct store_compact_options options = store_etcd_compact_options;

	options.etcd = etcd->etcd;
	options.after_ns = etcd->compact_after_ns;
	options.arg = etcd;
	return store_compact_new(etcd->loop, &options, &etcd->compact);
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
	r = store_leader_write(etcd->name, &value);
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
	.status = etcd_status,
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
	     r == 0 && options->site != NULL && i < options->endpoint_count; i++)
		r = rm_http_client_site(
		    etcd->http, options->endpoints[i], options->site);
	if (r == 0)
		r = rm_etcd_new(etcd->loop, etcd->http, &client, &etcd->etcd);
	inbox.arg = etcd;
	if (r == 0)
		r = rm_timer_new(
		    etcd->loop, store_etcd_say_unleased, etcd, &etcd->unleased);
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
