#include "tor-aggregator/controller/relay.h"

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
/* Of a controller that pings, every 500 ms: a standby may have taken over. */
#define SILENCE_NS (2500 * RM_NS_PER_MS)
#define BACKOFF_CAP_NS RM_NS_PER_S   /* they are few */
#define MAX_OUTPUT_BYTES (64u << 20) /* 1,024 hosts' registrations and to spare */

struct relay {
	struct relay_options options;
	struct agents *agents;
	struct plan_store *store;
	void (*on_plan)(size_t tor, void *arg);
	void *arg;
	int (*on_order)(
	    enum wire_kind kind, const uint8_t *data, size_t len, void *arg);
	void *order_arg;
	struct rm_dialer *dialer;
	struct wire_writer *writer;
	rm_mono_t up_at, last_seen;
	bool welcomed;
	bool pings; /* it does, and so its silence means something */
	char controller[RM_NAME_BYTES];
	uint64_t controller_ends_s;
	struct relay_counts counts;
};

static int
on_up(struct rm_link *link, void *arg)
{
	struct relay *relay = arg;
	const struct relay_options *options = &relay->options;
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
	relay->up_at = relay->last_seen = rm_mono_now();
	relay->pings = false;
	for (size_t i = 0; i < options->tor_count; i++) {
		const struct wire_plan_view *view = plan_store_view(relay->store, i);
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
	return hello_say(link, &hello, held, relay->writer);
}

static int
send_bytes(struct relay *relay, const uint8_t *data, size_t len)
{
	struct rm_link *link = rm_dialer_link(relay->dialer);
	int r;

	if (!relay->welcomed || link == NULL)
		return 0;
	r = rm_link_send(link, data, len);
	if (r < 0) {
		relay->counts.registrations_failed++;
		/* After the reconnect all of them go again. */
		rm_link_close(link, r);
		return r;
	}
	relay->counts.registrations++;
	return 0;
}

static int
send_registration(struct relay *relay, const struct agent *agent)
{
	if (agent->registration == NULL)
		return 0;
	return send_bytes(relay, agent->registration, agent->registration_len);
}

/* One that no agent of ours speaks for now: what another aggregator has heard from its
 * agent meanwhile is newer. */
static int
send_member(struct relay *relay, struct wire_rnic *rnic)
{
	const struct agent *agent = agents_find(relay->agents, rnic->host);
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
	r = wire_write_register(relay->writer, &reg, &bytes);
	if (r < 0) {
		relay->counts.registrations_failed++;
		return 0;
	}
	return send_bytes(relay, bytes.data, bytes.len);
}

static int
send_members(struct relay *relay, const struct wire_plan_view *view)
{
	int r = 0;

	for (size_t i = 0; i < view->plan.member_count && r == 0; i++) {
		struct wire_rnic rnic;

		wire_plan_member(view, i, &rnic);
		r = send_member(relay, &rnic);
	}
	return r;
}

static int
send_everything(struct relay *relay)
{
	int r = 0;

	for (size_t i = 0; i < relay->options.tor_count && r == 0; i++) {
		const struct wire_plan_view *view = plan_store_view(relay->store, i);

		if (view != NULL)
			r = send_members(relay, view);
	}
	for (const struct agent *agent = agents_first(relay->agents);
	     agent != NULL && r == 0; agent = agent->next)
		if (agent->link != NULL)
			r = send_registration(relay, agent);
	return r;
}

static int
take_welcome(struct relay *relay, const uint8_t *data, size_t len)
{
	struct wire_welcome welcome;
	char quoted[256];
	int r;

	r = wire_open_welcome(&welcome, data, len);
	if (r < 0) {
		relay->counts.bad_frames++;
		return r;
	}
	peer_versions_receive(relay->options.versions, WIRE_COMPONENT_CONTROLLER,
	    &welcome, welcome.refused[0] == 0, rm_wall_now());
	if (welcome.refused[0] != 0) {
		relay->counts.refused++;
		rm_log_warn(0, "refused by a controller: %s",
		    rm_log_quote(quoted, sizeof(quoted), welcome.refused,
			strlen(welcome.refused)));
		return -EPERM;
	}
	relay->welcomed = true;
	relay->counts.connected++;
	snprintf(relay->controller, sizeof(relay->controller), "%s",
	    rm_name_valid(welcome.id) ? welcome.id : "unnamed");
	rm_dialer_settled(relay->dialer);
	rm_log_info("controller %s: connected", relay->controller);
	send_everything(relay); /* or the link is closed */
	return 0;
}

static int
take_plan(struct relay *relay, const uint8_t *data, size_t len)
{
	size_t tor;
	int r;

	r = plan_store_take(relay->store, data, len, &tor);
	if (r > 0) {
		relay->counts.plans++;
		relay->on_plan(tor, relay->arg);
		return 0;
	}
	/* A plan that is not for us harms nobody; bytes that are no plan do. */
	if (r < 0)
		rm_log_warn(r, "controller %s: plan refused", relay->controller);
	return r == -EBADMSG || r == -EMSGSIZE ? r : 0;
}

static int
take_ping(struct relay *relay, const uint8_t *data, size_t len)
{
	struct wire_ping ping;
	int r = wire_open_ping_ending(&ping, data, len);

	relay->counts.bad_frames += r < 0;
	if (r < 0)
		return r;
	relay->pings = true;
	relay->controller_ends_s = ping.ends_s;
	return 0;
}

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct relay *relay = arg;
	enum wire_kind kind = wire_kind_of(data, len);
	int r = -EPROTO;

	relay->last_seen = rm_mono_now();
	if (kind == WIRE_PING)
		return take_ping(relay, data, len);
	if (!relay->welcomed && kind == WIRE_WELCOME)
		return take_welcome(relay, data, len);
	if (relay->welcomed && kind == WIRE_PLAN)
		return take_plan(relay, data, len);
	if (relay->welcomed && wire_is_newer(data, len)) {
		relay->counts.bad_frames++;
		return 0;
	}
	if (relay->welcomed && relay->on_order != NULL)
		r = relay->on_order(kind, data, len, relay->order_arg);
	relay->counts.bad_frames += r < 0;
	return r;
}

static void
on_down(int reason, void *arg)
{
	struct relay *relay = arg;

	if (relay->welcomed) {
		relay->counts.disconnected++;
		rm_log_warn(reason,
		    "controller %s: disconnected, its plans stay in use",
		    relay->controller);
		peer_versions_gone(relay->options.versions, WIRE_COMPONENT_CONTROLLER,
		    relay->controller);
	}
	relay->welcomed = false;
	relay->controller[0] = 0;
	relay->controller_ends_s = 0;
}

int
relay_new(struct rm_loop *loop, const struct relay_options *options,
    struct agents *agents, struct plan_store *store,
    void (*on_plan)(size_t tor, void *arg), void *arg, struct relay **ret)
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
	struct relay *relay = calloc(1, sizeof(*relay));
	int r = 0;

	if (relay == NULL)
		return -ENOMEM;
	relay->options = *options;
	relay->agents = agents;
	relay->store = store;
	relay->on_plan = on_plan;
	relay->arg = arg;
	relay->writer = wire_writer_new();
	if (relay->writer == NULL)
		r = -ENOMEM;
	if (r == 0 && options->controller_count > 0)
		r = rm_dialer_new(loop, &dialer, &callbacks, relay, &relay->dialer);
	if (r < 0) {
		relay_free(relay);
		return r;
	}
	*ret = relay;
	return 0;
}

void
relay_free(struct relay *relay)
{
	if (relay == NULL)
		return;
	rm_dialer_free(relay->dialer);
	wire_writer_free(relay->writer);
	free(relay);
}

void
relay_listen(struct relay *relay,
    int (*on_order)(enum wire_kind kind, const uint8_t *data, size_t len, void *arg),
    void *arg)
{
	relay->on_order = on_order;
	relay->order_arg = arg;
}

int
relay_send(struct relay *relay, const struct wire_bytes *bytes)
{
	struct rm_link *link =
	    relay->dialer == NULL ? NULL : rm_dialer_link(relay->dialer);

	if (link == NULL || !relay->welcomed)
		return -ENOTCONN;
	return rm_link_send(link, bytes->data, bytes->len);
}

void
relay_registered(struct relay *relay, const struct agent *agent)
{
	if (relay->dialer != NULL)
		send_registration(relay, agent);
}

void
relay_watch(struct relay *relay, rm_mono_t now)
{
	struct rm_link *link =
	    relay->dialer == NULL ? NULL : rm_dialer_link(relay->dialer);

	if (link == NULL)
		return;
	if (relay->welcomed
		? relay->pings && rm_mono_since(now, relay->last_seen) > SILENCE_NS
		: rm_mono_since(now, relay->up_at) > WELCOME_NS)
		rm_link_close(link, -ETIMEDOUT);
}

void
relay_stalled(struct relay *relay, rm_mono_t now)
{
	relay->last_seen = relay->up_at = now;
}

bool
relay_connected(const struct relay *relay)
{
	return relay->welcomed;
}

const char *
relay_controller(const struct relay *relay)
{
	return relay->controller;
}

uint64_t
relay_controller_ends_s(const struct relay *relay)
{
	return relay->controller_ends_s;
}

const struct relay_counts *
relay_counts(const struct relay *relay)
{
	return &relay->counts;
}
