#include "tor-aggregator/controller/controller_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/log.h"
#include "rackmesh/identity/authority.h"
#include "rackmesh/net/dialer.h"
#include "rackmesh/net/frame.h"
#include "schemas/wire.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/plan/hello.h"
#include "tor-aggregator/plan/key_store.h"
#include "tor-aggregator/plan/peer_versions.h"
#include "tor-aggregator/plan/plan_store.h"

#define WELCOME_NS (3 * RM_NS_PER_S)
/* Controllers send a ping every 500 ms. After this time without a message, a standby
 * may be active. */
#define SILENCE_NS (2500 * RM_NS_PER_MS)
/* This is short, because there are few controllers. */
#define BACKOFF_CAP_NS RM_NS_PER_S
#define MAX_OUTPUT_BYTES (64u << 20) /* enough for the registrations of 1,024 hosts */

struct controller_link {
	struct controller_link_options options;
	struct agents *agents;
	struct plan_store *store;
	void (*on_plan)(size_t tor, void *arg);
	void *arg;
	int (*on_request)(
	    enum wire_kind kind, const uint8_t *data, size_t len, void *arg);
	void *request_arg;
	struct rm_dialer *dialer;
	struct wire_writer *writer;
	bool welcomed;
	char controller[RM_NAME_BYTES];
	uint64_t controller_ends_s;
	struct controller_link_counts counts;
};

static int
on_up(struct rm_link *link, void *arg)
{
	struct controller_link *controller_link = arg;
	const struct controller_link_options *options = &controller_link->options;
	const struct rm_request request = {
		.verb = RM_VERB_SERVE_AGGREGATOR,
		.region = options->region,
	};
	const struct hello hello = { options->name, options->region,
		options->incarnation, options->tors, options->tor_count };
	struct wire_tor_state held[WIRE_MAX_TORS];
	int r;

	r = hello_check(link, &request, "a controller of this region");
	if (r < 0)
		return r;
	for (size_t i = 0; i < options->tor_count; i++) {
		const struct wire_plan_view *view =
		    plan_store_view(controller_link->store, i);
		const struct wire_keys *keys = key_store_view(options->keys, i);

		held[i] = (struct wire_tor_state){ .tor = options->tors[i] };
		if (view != NULL) {
			held[i].plan_version = view->plan.version;
			held[i].plan_digest = view->plan.digest;
		}
		if (keys != NULL) {
			held[i].keys_version = keys->version;
			held[i].keys_epoch = keys->epoch;
		}
	}
	return hello_send(link, &hello, held, controller_link->writer);
}

static int
send_bytes(struct controller_link *controller_link, const uint8_t *data, size_t len)
{
	struct rm_link *link = rm_dialer_link(controller_link->dialer);
	int r;

	if (!controller_link->welcomed || link == NULL)
		return 0;
	r = rm_link_send(link, data, len);
	if (r < 0) {
		controller_link->counts.registrations_failed++;
		/* Close the link: after the reconnect all registrations are sent
		 * again. */
		rm_link_close(link, r);
		return r;
	}
	controller_link->counts.registrations++;
	return 0;
}

static int
send_registration(struct controller_link *controller_link, const struct agent *agent)
{
	if (agent->registration == NULL)
		return 0;
	return send_bytes(
	    controller_link, agent->registration, agent->registration_len);
}

/* Sends a member for which no agent is connected here. Its incarnation is 0, because
 * another aggregator may have a newer registration from its agent. */
static int
send_member(struct controller_link *controller_link, struct wire_rnic *rnic)
{
	const struct agent *agent = agents_find(controller_link->agents, rnic->host);
	const struct wire_register reg = {
		.host = rnic->host,
		.rnics = rnic,
		.rnic_count = 1,
	};
	struct wire_bytes bytes;
	size_t hint = 0;
	int r;

	if (agent != NULL && agent->link != NULL &&
	    agent_owns(agent, rnic->id, &hint) != NULL)
		return 0;
	rnic->incarnation = 0;
	r = wire_write_register(controller_link->writer, &reg, &bytes);
	if (r < 0) {
		controller_link->counts.registrations_failed++;
		return 0;
	}
	return send_bytes(controller_link, bytes.data, bytes.len);
}

static int
send_members(struct controller_link *controller_link, const struct wire_plan_view *view)
{
	int r = 0;

	for (size_t i = 0; i < view->plan.member_count && r == 0; i++) {
		struct wire_rnic rnic;

		wire_plan_member(view, i, &rnic);
		r = send_member(controller_link, &rnic);
	}
	return r;
}

static int
send_everything(struct controller_link *controller_link)
{
	int r = 0;

	for (size_t i = 0; i < controller_link->options.tor_count && r == 0; i++) {
		const struct wire_plan_view *view =
		    plan_store_view(controller_link->store, i);

		if (view != NULL)
			r = send_members(controller_link, view);
	}
	for (const struct agent *agent = agents_first(controller_link->agents);
	     agent != NULL && r == 0; agent = agent->next)
		if (agent->link != NULL)
			r = send_registration(controller_link, agent);
	return r;
}

static int
take_welcome(struct controller_link *controller_link, const uint8_t *data, size_t len)
{
	struct wire_welcome welcome;
	char quoted[256];
	int r;

	r = wire_open_welcome(&welcome, data, len);
	if (r < 0) {
		controller_link->counts.bad_frames++;
		return r;
	}
	peer_versions_receive(controller_link->options.versions,
	    WIRE_COMPONENT_CONTROLLER, &welcome, welcome.refused[0] == 0,
	    rm_wall_now());
	if (welcome.refused[0] != 0) {
		controller_link->counts.refused++;
		rm_log_warn(0, "refused by a controller: %s",
		    rm_log_quote(quoted, sizeof(quoted), welcome.refused,
			strlen(welcome.refused)));
		return -EPERM;
	}
	controller_link->welcomed = true;
	controller_link->counts.connected++;
	snprintf(controller_link->controller, sizeof(controller_link->controller), "%s",
	    rm_name_valid(welcome.id) ? welcome.id : "unnamed");
	rm_dialer_settled(controller_link->dialer);
	rm_log_info("controller %s: connected", controller_link->controller);
	send_everything(controller_link); /* on failure the link is closed */
	return 0;
}

static int
take_plan(struct controller_link *controller_link, const uint8_t *data, size_t len)
{
	size_t tor;
	int r;

	r = plan_store_take(controller_link->store, data, len, &tor);
	if (r > 0) {
		controller_link->counts.plans++;
		controller_link->on_plan(tor, controller_link->arg);
		return 0;
	}
	/* Ignore a plan for another aggregator; bytes that are no plan close the
	 * link. */
	if (r < 0)
		rm_log_warn(
		    r, "controller %s: plan refused", controller_link->controller);
	return r == -EBADMSG || r == -EMSGSIZE ? r : 0;
}

static int
take_ping(struct controller_link *controller_link, const uint8_t *data, size_t len)
{
	struct wire_ping ping;
	int r = wire_open_ping_ending(&ping, data, len);

	controller_link->counts.bad_frames += r < 0;
	if (r < 0)
		return r;
	rm_dialer_pinged(controller_link->dialer);
	controller_link->controller_ends_s = ping.ends_s;
	return 0;
}

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct controller_link *controller_link = arg;
	enum wire_kind kind = wire_kind_of(data, len);
	int r = -EPROTO;

	if (kind == WIRE_PING)
		return take_ping(controller_link, data, len);
	if (!controller_link->welcomed && kind == WIRE_WELCOME)
		return take_welcome(controller_link, data, len);
	if (controller_link->welcomed && kind == WIRE_PLAN)
		return take_plan(controller_link, data, len);
	if (controller_link->welcomed && wire_is_newer(data, len)) {
		controller_link->counts.bad_frames++;
		return 0;
	}
	if (controller_link->welcomed && controller_link->on_request != NULL)
		r = controller_link->on_request(
		    kind, data, len, controller_link->request_arg);
	controller_link->counts.bad_frames += r < 0;
	return r;
}

static void
on_down(int reason, void *arg)
{
	struct controller_link *controller_link = arg;

	if (controller_link->welcomed) {
		controller_link->counts.disconnected++;
		rm_log_warn(reason,
		    "controller %s: disconnected, its plans stay in use",
		    controller_link->controller);
		peer_versions_gone(controller_link->options.versions,
		    WIRE_COMPONENT_CONTROLLER, controller_link->controller);
	}
	controller_link->welcomed = false;
	controller_link->controller[0] = 0;
	controller_link->controller_ends_s = 0;
}

int
controller_link_new(struct rm_loop *loop, const struct controller_link_options *options,
    struct agents *agents, struct plan_store *store,
    void (*on_plan)(size_t tor, void *arg), void *arg, struct controller_link **ret)
{
	const struct rm_dialer_options dialer = {
		.peers = options->controllers,
		.peer_count = options->controller_count,
		.backoff_cap_ns = BACKOFF_CAP_NS,
		.limits = { .max_frame_bytes = RM_FRAME_MAX_BYTES,
		    .max_output_bytes = MAX_OUTPUT_BYTES,
		    .tls = options->tls },
	};
	const struct rm_dialer_callbacks callbacks = {
		.on_up = on_up,
		.on_frame = on_frame,
		.on_down = on_down,
	};
	struct controller_link *controller_link = calloc(1, sizeof(*controller_link));
	int r = 0;

	if (controller_link == NULL)
		return -ENOMEM;
	controller_link->options = *options;
	controller_link->agents = agents;
	controller_link->store = store;
	controller_link->on_plan = on_plan;
	controller_link->arg = arg;
	controller_link->writer = wire_writer_new();
	if (controller_link->writer == NULL)
		r = -ENOMEM;
	if (r == 0 && options->controller_count > 0)
		r = rm_dialer_new(loop, &dialer, &callbacks, controller_link,
		    &controller_link->dialer);
	if (r < 0) {
		controller_link_free(controller_link);
		return r;
	}
	*ret = controller_link;
	return 0;
}

void
controller_link_free(struct controller_link *controller_link)
{
	if (controller_link == NULL)
		return;
	rm_dialer_free(controller_link->dialer);
	wire_writer_free(controller_link->writer);
	free(controller_link);
}

void
controller_link_listen(struct controller_link *controller_link,
    int (*on_request)(enum wire_kind kind, const uint8_t *data, size_t len, void *arg),
    void *arg)
{
	controller_link->on_request = on_request;
	controller_link->request_arg = arg;
}

int
controller_link_send(
    struct controller_link *controller_link, const struct wire_bytes *bytes)
{
	struct rm_link *link = controller_link->dialer == NULL
				   ? NULL
				   : rm_dialer_link(controller_link->dialer);

	if (link == NULL || !controller_link->welcomed)
		return -ENOTCONN;
	return rm_link_send(link, bytes->data, bytes->len);
}

void
controller_link_registered(
    struct controller_link *controller_link, const struct agent *agent)
{
	if (controller_link->dialer != NULL)
		send_registration(controller_link, agent);
}

void
controller_link_watch(struct controller_link *controller_link, rm_mono_t now)
{
	if (controller_link->dialer != NULL)
		rm_dialer_watch(controller_link->dialer, now, WELCOME_NS, SILENCE_NS);
}

void
controller_link_stalled(struct controller_link *controller_link, rm_mono_t now)
{
	if (controller_link->dialer != NULL)
		rm_dialer_stalled(controller_link->dialer, now);
}

bool
controller_link_connected(const struct controller_link *controller_link)
{
	return controller_link->welcomed;
}

const char *
controller_link_controller(const struct controller_link *controller_link)
{
	return controller_link->controller;
}

uint64_t
controller_link_controller_ends_s(const struct controller_link *controller_link)
{
	return controller_link->controller_ends_s;
}

const struct controller_link_counts *
controller_link_counts(const struct controller_link *controller_link)
{
	return &controller_link->counts;
}
