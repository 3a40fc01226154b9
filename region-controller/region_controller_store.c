/* Passes the contents of the store to registry, plans and brake. */
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/log.h"
#include "rackmesh/topology/topology.h"
#include "region-controller/aggregators/aggregators.h"
#include "region-controller/plan/publish.h"
#include "region-controller/planner.h"
#include "region-controller/region_controller_internal.h"
#include "region-controller/registry/registry.h"
#include "region-controller/store/store_status.h"
#include "region-controller/topology/traced.h"

void
controller_log_warnings(const struct rm_topology *topology)
{
	for (size_t i = 0; i < rm_topology_warnings(topology); i++)
		rm_log_warn(0, "%s", rm_topology_warning(topology, i));
}

/* True: this controller leads. The clock is checked, too: a leader that was stopped for
 * too long may get values that its successor has written. */
static bool
leads_still(const struct region_controller *controller)
{
	return controller->leads && store_leads(controller->store, rm_mono_now());
}

static void
put_traced(const struct traced_link *link, void *arg)
{
	struct region_controller *controller = arg;

	(void)store_put_traced(controller->store, link);
}

static void
drop_traced(const struct traced_link *link, void *arg)
{
	struct region_controller *controller = arg;

	(void)store_drop_traced(controller->store, link);
}

/* Gives traced links their names, if their addresses have an alias now. Only the leader
 * writes the new names. */
static void
fold_traced(struct region_controller *controller, const struct rm_topology *topology)
{
	if (topology != NULL && leads_still(controller))
		traced_fold(
		    controller->traced, topology, drop_traced, put_traced, controller);
}

static int
topology_changed(const struct rm_topology *fresh, void *arg)
{
	struct region_controller *controller = arg;
	int r;

	r = registry_set_topology(controller->registry, fresh);
	if (r < 0)
		return r;
	/* the plans that are being made borrow the old topology */
	planner_drop(controller->planner);
	fold_traced(controller, fresh);
	controller->counts.topology_reloads++;
	rm_log_info("topology: replaced: %zu switches, %zu links",
	    rm_topology_switches(fresh), rm_topology_links(fresh));
	controller_log_warnings(fresh);
	planner_soon(controller->planner);
	return 0;
}

/* True: this controller leads. Then its own state is newer than the store's value:
 * either it has written that value itself, or it overwrites the value here. */
static bool
put_right(struct region_controller *controller, struct rm_rnic_id id)
{
	const struct registry_rnic *known;

	if (!leads_still(controller))
		return false;
	known = registry_find(controller->registry, id);
	if (known != NULL)
		controller_put_rnic(known, controller);
	return true;
}

static void
rnic_stored(const struct store_rnic *rnic, void *arg)
{
	const struct rm_rnic_id id = { rnic->rnic.id.guid, rnic->rnic.id.port };
	struct region_controller *controller = arg;

	if (!put_right(controller, id))
		(void)registry_load(controller->registry, rnic, rm_mono_now());
}

static void
rnic_gone(struct rm_rnic_id id, void *arg)
{
	struct region_controller *controller = arg;

	if (!put_right(controller, id))
		(void)registry_forget(controller->registry, id);
}

static void
plan_stored(const struct store_plan *plan, void *arg)
{
	struct region_controller *controller = arg;

	if (publish_stored(controller->publish, plan))
		planner_soon(controller->planner);
	if (controller->leads)
		aggregators_deliver_soon(controller->aggregators);
}

static void
plan_gone(const char *tor, void *arg)
{
	struct region_controller *controller = arg;

	publish_gone(controller->publish, tor);
	planner_soon(controller->planner);
}

static void
brake_stored(const struct store_brake *brake, void *arg)
{
	struct region_controller *controller = arg;
	struct controller_brake *mine = &controller->brake;

	if (brake->rate_permille != mine->rate_permille || mine->version == 0)
		rm_log_warn(0, "brake: changed: %u of 1000 probes are allowed",
		    (unsigned)brake->rate_permille);
	mine->rate_permille = brake->rate_permille;
	mine->version = brake->version;
	mine->when = brake->when;
	memset(mine->by, 0, sizeof(mine->by));
	if (rm_name_valid(brake->by))
		strcpy(mine->by, brake->by);
	aggregators_brake(controller->aggregators, brake);
}

/* ---- traced parts ---- */

static void
traced_stored(const struct traced_link *link, void *arg)
{
	struct region_controller *controller = arg;

	/* If this controller leads, its own state is newer: it has written the value
	 * itself, or has forgotten the link since. */
	if (!leads_still(controller))
		(void)traced_restore(controller->traced, link);
}

static void
traced_gone(const char *from, const char *to, void *arg)
{
	struct region_controller *controller = arg;

	if (!leads_still(controller))
		traced_drop(controller->traced, from, to);
}

void
controller_learn_paths(const struct wire_traced *traced, void *arg)
{
	struct region_controller *controller = arg;
	const struct rm_topology *topology = store_topology(controller->store);
	const rm_wall_t now = rm_wall_now();

	for (size_t i = 0; i < traced->path_count; i++)
		traced_learn(controller->traced, topology, traced->tor,
		    &traced->paths[i], now, put_traced, controller);
	traced_age(controller->traced, now, drop_traced, controller);
}

/* ---- registrations ---- */

void
controller_put_rnic(const struct registry_rnic *rnic, void *arg)
{
	struct region_controller *controller = arg;
	struct store_rnic put = {
		.rnic = registry_wire(NULL, rnic),
		.aggregator = rnic->aggregator,
		.registered = rnic->registered,
	};
	int r;

	r = store_put_rnic(controller->store, &put);
	if (r < 0)
		rm_log_error(r, "cannot keep an RNIC's registration");
}

static void
drop_rnic(const struct registry_rnic *rnic, void *arg)
{
	struct region_controller *controller = arg;

	if (controller->leads)
		(void)store_drop_rnic(controller->store, rnic->id);
}

/* Writes registrations that the store lacks: they came in an earlier leadership, or
 * were lost with another etcd. */
static void
put_missing(struct region_controller *controller)
{
	const struct registry_rnic **all = NULL;
	size_t count = 0;

	if (registry_sorted(controller->registry, &all, &count) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		controller_put_rnic(all[i], controller);
	free(all);
}

static void
on_lead(void *arg)
{
	struct region_controller *controller = arg;
	struct store_status status;

	controller->leads = true;
	store_status(controller->store, rm_mono_now(), &status);
	if (status.is_shared)
		rm_log_info("%s became leader of region %s", controller->config.name,
		    controller->config.region);
	put_missing(controller);
	fold_traced(controller, store_topology(controller->store));
	planner_lead(controller->planner,
	    status.is_shared && registry_count(controller->registry) > 0);
}

static void
on_follow(void *arg)
{
	struct region_controller *controller = arg;

	controller->leads = false;
	rm_log_warn(0, "%s lost leadership", controller->config.name);
	planner_follow(controller->planner);
	publish_forget_wanted(controller->publish);
	aggregators_close(controller->aggregators);
}

/* Returns the reason for refusing a hello; NULL: this controller leads. */
const char *
controller_standby(void *arg)
{
	struct region_controller *controller = arg;
	struct store_status status;

	if (controller->leads && store_leads(controller->store, rm_mono_now()))
		return NULL;
	store_status(controller->store, rm_mono_now(), &status);
	if (status.leads)
		status.leader = "";
	return show_standby(&status, controller->standby);
}

const struct rm_topology *
controller_topology(void *arg)
{
	return store_topology(((struct region_controller *)arg)->store);
}

void
controller_plan_soon(void *arg)
{
	planner_soon(((struct region_controller *)arg)->planner);
}

int
controller_start_store(struct region_controller *controller)
{
	const struct store_callbacks callbacks = {
		.on_topology = topology_changed,
		.on_rnic = rnic_stored,
		.on_rnic_gone = rnic_gone,
		.on_plan = plan_stored,
		.on_plan_gone = plan_gone,
		.on_brake = brake_stored,
		.on_traced = traced_stored,
		.on_traced_gone = traced_gone,
		.on_lead = on_lead,
		.on_follow = on_follow,
		.arg = controller,
	};

	registry_on_gone(controller->registry, drop_rnic, controller);
	return store_start(controller->store, &callbacks);
}
