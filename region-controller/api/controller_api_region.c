/* The HTTP API of the whole region; docs/api.md describes it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/http/http_server.h"
#include "region-controller/aggregators/aggregators.h"
#include "region-controller/api/api_context.h"
#include "region-controller/api/controller_show.h"
#include "region-controller/plan/plan_json.h"
#include "region-controller/registry/registry.h"
#include "region-controller/store/store.h"
#include "region-controller/store/store_status.h"
#include "region-controller/topology/rnic_address.h"

/* The store may be unreachable for a short time. */
#define STORED_TIMEOUT_NS (10 * RM_NS_PER_S)
#define DRILL_TIMEOUT_NS (5 * RM_NS_PER_S)
#define DRILL_SECONDS 10
#define DRILL_MAX_SECONDS 86400
#define DRILL_LIMIT 1000
#define DRILL_MAX_LIMIT 10000
#define MAX_IMPORT_BYTES (4u << 20)

/* ---- the leader ---- */

static void
get_leader(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	struct store_status status;
	json_t *object = json_object();

	store_status(context->store, rm_mono_now(), &status);
	json_object_set_new(object, "controller", json_string(context->name));
	json_object_set_new(object, "region", json_string(context->region));
	json_object_set_new(object, "leading", json_boolean(status.leads));
	json_object_set_new(object, "leader",
	    status.leader[0] != '\0' ? json_string(status.leader) : json_null());
	json_object_set_new(object, "since", show_wall(status.since));
	json_object_set_new(
	    object, "store", json_string(status.is_shared ? "etcd" : "file"));
	json_object_set_new(object, "endpoint",
	    status.is_shared ? json_string(status.endpoint) : json_null());
	show_u64(object, "revision", (uint64_t)status.revision);
	json_object_set_new(object, "fresh", json_boolean(status.is_fresh));
	json_object_set_new(
	    object, "probe_keys_differ", json_boolean(status.probe_keys_differ));
	json_object_set_new(object, "trouble",
	    status.trouble[0] != '\0' ? json_string(status.trouble) : json_null());
	rm_http_reply_json(request, 200, object);
}

/* Returns NULL if the request was answered already, or the controller is being freed.
 */
static struct rm_http_request *
deferred(const struct api_context *context, uint64_t token)
{
	return context->http == NULL ? NULL : rm_http_deferred(context->http, token);
}

/* Answers a request when the store has finished. */
static void
on_stored(int r, const char *sentence, uint64_t token, void *arg)
{
	const struct api_context *context = arg;
	struct rm_http_request *request = deferred(context, token);

	if (request == NULL)
		return;
	if (r == 0)
		rm_http_reply_json(request, 200, json_object());
	else if (r == -ETIMEDOUT)
		rm_http_reply_error(request, 503,
		    "%s: check whether it has changed, and ask the new leader",
		    sentence);
	else
		rm_http_reply_error(request, r == -EMSGSIZE ? 413 : 503,
		    "nothing has changed: %s", sentence);
}

/* False: too many requests wait, and this one was answered with 503. */
static bool
defer(struct rm_http_request *request, int64_t timeout_ns, uint64_t *token)
{
	if (rm_http_defer(request, timeout_ns, token) == 0)
		return true;
	rm_http_reply_error(request, 503, "too many requests wait for an answer");
	return false;
}

static void
refuse_later(
    const struct api_context *context, uint64_t token, int status, const char *text)
{
	struct rm_http_request *request = deferred(context, token);

	if (request != NULL)
		rm_http_reply_error(request, status, "%s", text);
}

/* ---- topology -------------------------------------------------------------------- */

static void
get_export(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	const char *text;
	size_t len;

	if (show_topology(request, context) == NULL)
		return;
	text = store_topology_text(context->store, &len);
	rm_http_reply_plain(request, 200, text, len);
}

static void
post_import(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	struct store_reply reply = { .done = on_stored, .arg = arg };
	struct rm_error error = { 0 };
	size_t len = 0;
	const char *text = rm_http_body(request, &len);
	int r;

	if (!show_leads(request, context))
		return;
	if (len == 0) {
		rm_http_reply_error(
		    request, 400, "expected the text of a topology as the body");
		return;
	}
	if (!defer(request, STORED_TIMEOUT_NS, &reply.token))
		return;
	r = store_import(context->store, text, len, &reply, &error);
	if (r < 0)
		refuse_later(context, reply.token,
		    r == -EOPNOTSUPP || r == -EPERM ? 409
		    : r == -EFBIG                   ? 413
						    : 422,
		    error.text);
}

/* ---- the brake ---- */

static void
get_brake(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	const struct controller_brake *brake = context->brake;
	json_t *object = json_object();

	show_u64(
	    object, "rate_permille", brake->version == 0 ? 1000 : brake->rate_permille);
	show_u64(object, "version", brake->version);
	json_object_set_new(
	    object, "by", brake->by[0] != '\0' ? json_string(brake->by) : json_null());
	json_object_set_new(object, "when", show_wall(brake->when));
	rm_http_reply_json(request, 200, object);
}

struct braking { /* a request that waits until the store has written the brake */
	const struct api_context *context;
	uint64_t rate_permille;
};

static void
on_braked(int r, const char *sentence, uint64_t token, void *arg)
{
	struct braking *braking = arg;
	struct rm_http_request *request = deferred(braking->context, token);
	json_t *object;

	if (r < 0) {
		on_stored(r, sentence, token, (void *)braking->context);
	} else if (request != NULL) {
		object = json_object();
		show_u64(object, "rate_permille", braking->rate_permille);
		rm_http_reply_json(request, 200, object);
	}
	free(braking);
}

static void
brake(struct rm_http_request *request, const struct api_context *context,
    uint64_t rate_permille, const char *by)
{
	struct store_reply reply = { .done = on_braked };
	struct braking *braking = malloc(sizeof(*braking));

	if (braking == NULL) {
		rm_http_reply_error(request, 500, "out of memory");
		return;
	}
	*braking = (struct braking){ context, rate_permille };
	reply.arg = braking;
	if (!defer(request, STORED_TIMEOUT_NS, &reply.token)) {
		free(braking);
		return;
	}
	if (store_set_brake(context->store, (uint32_t)rate_permille, by, &reply) < 0) {
		refuse_later(context, reply.token, 503,
		    "this controller has just lost leadership");
		free(braking);
	}
}

static void
post_brake(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	const char *by = rm_http_query(request, "by");
	uint64_t rate = UINT64_MAX;

	if (!rm_http_query_number(request, "rate_permille", 0, 1000, &rate))
		return;
	if (rate == UINT64_MAX) {
		rm_http_reply_error(request, 400,
		    "expected ?rate_permille=, from 0 (no probe at all) to 1000");
		return;
	}
	if (by != NULL && !rm_name_valid(by)) {
		rm_http_reply_error(request, 400, "by: " RM_NAME_EXPECTED);
		return;
	}
	if (show_leads(request, context))
		brake(request, context, rate, by != NULL ? by : context->name);
}

/* ---- finds the RNIC of an address ---- */

static void
get_resolve(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	const struct registry_rnic *rnic;
	struct wire_address address;
	json_t *object;

	if (rnic_address_parse(rm_http_path_rest(request), &address) < 0) {
		rm_http_reply_error(
		    request, 400, "expected an address or a GID behind /v1/resolve/");
		return;
	}
	rnic = registry_resolve(context->registry, &address);
	if (rnic == NULL) {
		rm_http_reply_error(
		    request, 404, "no RNIC has this address; /v1/rnics lists all");
		return;
	}
	object = show_rnic(store_topology(context->store), rnic);
	address.port = 0;
	json_object_set_new(object, "address", plan_json_address(&address));
	rm_http_reply_json(request, 200, object);
}

/* ---- drill-down ---- */

static bool
is_called(const struct registry_rnic *rnic, const char *name)
{
	size_t host = strlen(rnic->host);

	return strncmp(name, rnic->host, host) == 0 && name[host] == '/' &&
	       strcmp(name + host + 1, rnic->device) == 0;
}

/* Finds an RNIC by its id, or by "host/device". */
static const struct registry_rnic *
find_rnic(const struct registry *registry, const char *name)
{
	const struct registry_rnic **all = NULL, *found = NULL;
	struct rm_rnic_id id;
	size_t count = 0;

	if (rm_rnic_id_parse(name, &id) == 0)
		return registry_find(registry, id);
	if (registry_sorted(registry, &all, &count) < 0)
		return NULL;
	for (size_t i = 0; i < count && found == NULL; i++) {
		if (is_called(all[i], name))
			found = all[i];
	}
	free(all);
	return found;
}

static void
on_drilled(const struct wire_drill_answer *answer, uint64_t token, void *arg)
{
	const struct api_context *context = arg;
	struct rm_http_request *request = deferred(context, token);

	if (request == NULL)
		return;
	if (answer->status < 200 || answer->status > 599)
		rm_http_reply_error(
		    request, 502, "the aggregator's answer is malformed");
	else
		rm_http_reply_text(request, answer->status,
		    (const char *)answer->json.data, answer->json.len);
}

static void
ask_drill(const struct api_context *context, const struct registry_rnic *rnic,
    const struct aggregators_drill *drill)
{
	struct aggregators_drill asked = *drill;
	char id[RM_RNIC_ID_TEXT];
	int r = -ENOTCONN;

	rm_rnic_id_format(rnic->id, id);
	asked.rnic = id;
	for (size_t i = 0; i < rnic->tor_count && r < 0; i++) {
		asked.tor = rnic->tors[i];
		r = aggregators_ask_drill(context->aggregators, &asked);
	}
	if (r < 0)
		refuse_later(context, drill->token, 503,
		    "no aggregator of its ToR is connected to this controller");
}

static void
get_drill(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	const struct registry_rnic *rnic;
	struct aggregators_drill drill = { .done = on_drilled, .arg = arg };
	uint64_t seconds = DRILL_SECONDS, limit = DRILL_LIMIT;

	if (!rm_http_query_number(request, "seconds", 1, DRILL_MAX_SECONDS, &seconds) ||
	    !rm_http_query_number(request, "limit", 1, DRILL_MAX_LIMIT, &limit) ||
	    !show_leads(request, context))
		return;
	rnic = find_rnic(context->registry, rm_http_path_rest(request));
	if (rnic == NULL) {
		rm_http_reply_error(request, 404, "no such RNIC; /v1/rnics lists all");
		return;
	}
	drill.seconds = (uint32_t)seconds;
	drill.limit = (uint32_t)limit;
	if (defer(request, DRILL_TIMEOUT_NS, &drill.token))
		ask_drill(context, rnic, &drill);
}

int
controller_api_serve_region(
    struct rm_http_server *server, const struct api_context *context)
{
	static const struct {
		enum rm_http_verb verb;
		const char *path;
		rm_http_handler *handler;
	} routes[] = {
		{ RM_HTTP_READ, "/v1/leader", get_leader },
		{ RM_HTTP_READ, "/v1/topology/export", get_export },
		{ RM_HTTP_READ, "/v1/brake", get_brake },
		{ RM_HTTP_READ, "/v1/resolve/", get_resolve },
		{ RM_HTTP_READ, "/v1/drill/", get_drill },
		{ RM_HTTP_CHANGE, "/v1/topology/import", post_import },
		{ RM_HTTP_CHANGE, "/v1/brake", post_brake },
	};
	int r = 0;

	rm_http_server_max_body(server, MAX_IMPORT_BYTES);
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]) && r == 0; i++)
		r = rm_http_route(server, routes[i].verb, routes[i].path,
		    routes[i].handler, (void *)context);
	return r;
}
