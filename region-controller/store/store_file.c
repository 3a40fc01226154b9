#include "region-controller/store/store_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "region-controller/store/plan_copy.h"
#include "region-controller/store/store_status.h"
#include "region-controller/store/store_topology.h"

struct store_file {
	struct store store;
	char *path, *name, *region;
	struct store_topology topology;
	struct store_callbacks callbacks; /* all zero before the start */
	struct wire_writer *writer;
	rm_wall_t since;
	struct store_brake brake;
};

static struct store_file *
file_of(struct store *store)
{
	return (struct store_file *)store;
}

/* ---- topology ------------------------------------------------------------------- */

static int
read_topology(
    const struct store_file *file, struct store_topology *ret, struct rm_error *error)
{
	uint8_t *text = NULL;
	size_t len = 0;
	int r;

	r = rm_file_read(file->path, STORE_TOPOLOGY_MAX_BYTES, &text, &len);
	if (r < 0)
		return rm_error_set(error, r, "%s: %s", file->path, strerror(-r));
	r = store_topology_read(
	    ret, file->path, file->region, (const char *)text, len, error);
	free(text);
	return r;
}

static const struct rm_topology *
file_topology(const struct store *store)
{
	return ((const struct store_file *)store)->topology.topology;
}

static const char *
file_topology_text(const struct store *store, size_t *len)
{
	const struct store_file *file = (const struct store_file *)store;

	*len = file->topology.len;
	return file->topology.text;
}

static int
file_reload(struct store *store, struct rm_error *error)
{
	struct store_file *file = file_of(store);
	struct store_topology fresh;
	int r;

	r = read_topology(file, &fresh, error);
	if (r < 0)
		return r;
	if (file->callbacks.on_topology != NULL) {
		r = file->callbacks.on_topology(fresh.topology, file->callbacks.arg);
		if (r < 0) {
			store_topology_clear(&fresh);
			return rm_error_set(error, r, "%s: cannot be used", file->path);
		}
	}
	store_topology_clear(&file->topology);
	file->topology = fresh;
	return 0;
}

static int
file_import(struct store *store, const char *text, size_t len,
    const struct store_reply *reply, struct rm_error *error)
{
	return rm_error_set(error, -EOPNOTSUPP,
	    "the topology is the file %s: change it there, and reload",
	    file_of(store)->path);
}

/* ---- plans, brake, leadership ---- */

static uint64_t
version_above(uint64_t above)
{
	rm_wall_t now = rm_wall_now();
	uint64_t ms = now.ns > 0 ? (uint64_t)(now.ns / RM_NS_PER_MS) : 0;

	return ms > above ? ms : above + 1;
}

static int
file_put_plan(struct store *store, const struct store_draft *draft)
{
	struct store_file *file = file_of(store);
	struct store_plan plan = {
		.tor = draft->tor,
		.version = draft->is_held ? draft->above : version_above(draft->above),
		.digest = draft->digest,
		.since = rm_wall_now(),
	};
	int r;

	r = plan_copy_stamp(
	    &draft->bytes, plan.version, plan.digest, file->writer, &plan.bytes);
	if (r == 0 && file->callbacks.on_plan != NULL)
		file->callbacks.on_plan(&plan, file->callbacks.arg);
	return r;
}

static int
file_drop_plan(struct store *store, const char *tor)
{
	struct store_file *file = file_of(store);

	if (file->callbacks.on_plan_gone != NULL)
		file->callbacks.on_plan_gone(tor, file->callbacks.arg);
	return 0;
}

static int
file_put_rnic(struct store *store, const struct store_rnic *rnic)
{
	return 0;
}

static int
file_drop_rnic(struct store *store, struct rm_rnic_id id)
{
	return 0;
}

/* Traced links are not saved: racks report them again after a restart. */
static int
file_keep_traced(struct store *store, const struct traced_link *link)
{
	return 0;
}

static int
file_set_brake(struct store *store, uint32_t rate_permille, const char *by,
    const struct store_reply *reply)
{
	struct store_file *file = file_of(store);

	file->brake.rate_permille = rate_permille;
	file->brake.version = version_above(file->brake.version);
	file->brake.by = by;
	file->brake.when = rm_wall_now();
	if (file->callbacks.on_brake != NULL)
		file->callbacks.on_brake(&file->brake, file->callbacks.arg);
	file->brake.by = "";
	if (reply->done != NULL)
		reply->done(0, "", reply->token, reply->arg);
	return 0;
}

static bool
file_leads(struct store *store, rm_mono_t now)
{
	return true;
}

static void
file_status(const struct store *store, rm_mono_t now, struct store_status *ret)
{
	const struct store_file *file = (const struct store_file *)store;

	*ret = (struct store_status){
		.leads = true,
		.leader = file->name,
		.since = file->since,
		.endpoint = "",
		.is_fresh = true,
		.trouble = "",
	};
}

/* ---- creation and end ---- */

static int
file_start(struct store *store, const struct store_callbacks *callbacks)
{
	struct store_file *file = file_of(store);

	file->callbacks = *callbacks;
	if (callbacks->on_lead != NULL)
		callbacks->on_lead(callbacks->arg);
	return 0;
}

static int
file_add_metrics(struct store *store, struct rm_metrics *metrics)
{
	return 0;
}

static void
file_free(struct store *store)
{
	struct store_file *file = file_of(store);

	store_topology_clear(&file->topology);
	wire_writer_free(file->writer);
	free(file->path);
	free(file->name);
	free(file->region);
	free(file);
}

static const struct store_methods file_methods = {
	.topology = file_topology,
	.topology_text = file_topology_text,
	.start = file_start,
	.reload = file_reload,
	.import = file_import,
	.leads = file_leads,
	.put_rnic = file_put_rnic,
	.drop_rnic = file_drop_rnic,
	.put_plan = file_put_plan,
	.drop_plan = file_drop_plan,
	.put_traced = file_keep_traced,
	.drop_traced = file_keep_traced,
	.set_brake = file_set_brake,
	.status = file_status,
	.add_metrics = file_add_metrics,
	.free = file_free,
};

int
store_file_new(const char *path, const char *name, const char *region,
    struct store **ret, struct rm_error *error)
{
	struct store_file *file = calloc(1, sizeof(*file));
	int r = -ENOMEM;

	if (file == NULL)
		return rm_error_set(error, -ENOMEM, "out of memory");
	file->store.methods = &file_methods;
	file->since = rm_wall_now();
	file->writer = wire_writer_new();
	file->path = strdup(path);
	file->name = strdup(name);
	file->region = strdup(region);
	if (file->path == NULL || file->name == NULL || file->region == NULL ||
	    file->writer == NULL)
		rm_error_set(error, r, "out of memory");
	else
		r = read_topology(file, &file->topology, error);
	if (r < 0) {
		file_free(&file->store);
		return r;
	}
	*ret = &file->store;
	return 0;
}
