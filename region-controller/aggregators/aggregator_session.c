#include "region-controller/aggregators/aggregator_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/log.h"
#include "rackmesh/identity/authority.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/net/link.h"
#include "region-controller/plan/publish.h"
#include "region-controller/registry/registry.h"

#define QUOTED 128
#define REASON_BYTES 1024

/* ---- plans --------------------------------------------------------------------- */

int
session_deliver(struct session *session)
{
	struct aggregators *owner = session->owner;

	/* This checks the clock, too: a leader that was stopped for too long must not
	 * send plans any more. */
	if (owner->options.standby(owner->options.arg) != NULL)
		return 0;
	for (size_t i = 0; i < session->info.tor_count; i++) {
		struct aggregators_tor *tor = &session->info.tors[i];
		const struct publish_tor *plan =
		    publish_find(owner->options.publish, tor->tor);
		int r = 0;

		if (plan != NULL) /* the keys come first, because the plan needs them */
			r = session_deliver_keys(session, tor, plan);
		if (r < 0)
			return r;
		/* The aggregator would refuse a plan whose version is not higher than
		 * that of its own plan. An update that has begun already will give the
		 * plan a higher version. */
		if (plan == NULL || plan->digest == tor->digest ||
		    plan->version <= tor->version)
			continue;
		r = rm_link_send(session->conn.link, plan->bytes, plan->len);
		if (r < 0) {
			owner->counts.plans_not_sent++;
			return r;
		}
		tor->version = plan->version;
		tor->digest = plan->digest;
		owner->counts.plans_sent++;
		owner->counts.plan_bytes_sent += plan->len;
	}
	return 0;
}

/* ---- hello ------------------------------------------------------------------ */

static int
session_welcome(struct session *session, const char *refused)
{
	struct aggregators *owner = session->owner;
	struct wire_welcome welcome = {
		.version = WIRE_VERSION,
		.id = owner->options.name,
		.incarnation = owner->options.incarnation,
		.refused = refused,
		.software = RACKMESH_VERSION,
	};
	struct wire_bytes bytes;
	int r;

	r = wire_write_welcome(owner->writer, &welcome, &bytes);
	if (r == 0)
		r = rm_link_send(session->conn.link, bytes.data, bytes.len);
	if (r == 0 && refused[0] != '\0') {
		char quoted[QUOTED], who[RM_REFUSALS_TEXT];

		if (owner->options.standby(owner->options.arg) != NULL) {
			/* The refusal is not logged, because aggregators try one
			 * controller after the other. */
			owner->counts.refused_standby++;
			rm_link_close(session->conn.link, -EPERM);
			return 0;
		}
		owner->counts.refused_hellos++;
		rm_log_quote(quoted, sizeof(quoted), refused, strlen(refused));
		if (rm_refusals_report(&owner->refusals, &session->info.peer, refused,
			rm_mono_now(), who))
			rm_log_warn(0, "%s: refused: %s", who, quoted);
		rm_link_close(session->conn.link, -EPERM);
	}
	return r;
}

/* Returns "", or the reason why the hello is refused. */
static const char *
hello_refused(const struct session *session, const struct wire_hello *hello)
{
	const char *standby;

	if (session->info.is_welcome || session->is_agent)
		return "a second hello";
	if (hello->role != WIRE_ROLE_AGGREGATOR && hello->role != WIRE_ROLE_AGENT &&
	    hello->role != WIRE_ROLE_CHECK)
		return "a region-controller serves only tor-aggregators and "
		       "host-agents";
	if (!wire_hello_meets_us(hello))
		return "versions more than one apart do not work together; upgrade the "
		       "older side";
	if (strcmp(hello->region, session->owner->options.region) != 0)
		return "the region is not this controller's";
	if (!rm_name_valid(hello->id))
		return "the name is not valid";
	if (hello->role == WIRE_ROLE_CHECK) /* a standby also answers a check */
		return "";
	standby = session->owner->options.standby(session->owner->options.arg);
	return standby == NULL ? "" : standby;
}

/* True: the peer's certificate is for this name and all these ToRs. */
static bool
hello_is_its_own(const struct session *session, const struct wire_hello_view *view,
    char reason[REASON_BYTES])
{
	const char *uri = rm_link_identity(session->conn.link);
	struct rm_request request = {
		.verb = RM_VERB_AGGREGATOR_SESSION,
		.region = session->owner->options.region,
		.name = view->hello.id,
	};
	const bool agent = view->hello.role == WIRE_ROLE_AGENT;
	const size_t tors = agent ? 0 : view->hello.tor_count;
	bool own;

	if (agent)
		request.verb = RM_VERB_PLACE;
	own = rm_authority_admits(uri, &request, reason, REASON_BYTES);
	for (size_t i = 0; own && i < tors; i++) {
		struct wire_tor_state state;

		wire_hello_tor(view, i, &state);
		request.tor = state.tor;
		request.verb = RM_VERB_PLAN;
		own = rm_authority_admits(uri, &request, reason, REASON_BYTES);
		request.verb = RM_VERB_REGISTER;
		own = own && rm_authority_admits(uri, &request, reason, REASON_BYTES);
	}
	return own;
}

static void
replace_older(const struct session *session)
{
	struct session *other = rm_server_first(&session->owner->server), *next;
	char here[RM_ADDRESS_TEXT], there[RM_ADDRESS_TEXT];

	for (; other != NULL; other = next) {
		next = session_next(other);
		if (other == session || !other->info.is_welcome ||
		    strcmp(other->info.name, session->info.name) != 0)
			continue;
		rm_address_format(&session->info.peer, here);
		rm_address_format(&other->info.peer, there);
		rm_log_warn(0,
		    "%s: reconnected from %s, closed its older session from %s",
		    session->info.name, here, there);
		session->owner->counts.replaced++;
		rm_server_end(&other->conn);
	}
}

static int
session_take_tors(struct session *session, const struct wire_hello_view *view)
{
	struct aggregators_session *info = &session->info;
	bool outrun = false, keys_outrun = false;
	uint32_t epoch = 0;

	info->tors = calloc(view->hello.tor_count + 1, sizeof(*info->tors));
	if (info->tors == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < view->hello.tor_count; i++) {
		struct aggregators_tor *tor = &info->tors[info->tor_count];
		struct wire_tor_state state;

		wire_hello_tor(view, i, &state);
		if (!rm_name_valid(state.tor))
			continue;
		strcpy(tor->tor, state.tor);
		tor->version = state.plan_version;
		tor->digest = state.plan_digest;
		tor->keys_version = state.keys_version;
		tor->keys_epoch = state.keys_epoch;
		if (epoch < state.keys_epoch)
			epoch = state.keys_epoch;
		info->tor_count++;
		outrun |= publish_held(session->owner->options.publish, tor->tor,
		    tor->version, tor->digest);
		keys_outrun |= publish_keys_held(
		    session->owner->options.publish, tor->tor, state.keys_version);
	}
	keys_outrun |= aggregators_epoch_held(session->owner, epoch);
	if (keys_outrun) /* the other aggregators of the ToRs need the new keys, too */
		rm_timer_after(session->owner->deliver, 0);
	if (outrun)
		session->owner->options.on_change(session->owner->options.arg);
	return 0;
}

static int
session_on_hello(struct session *session, const uint8_t *data, size_t len)
{
	struct wire_hello_view view;
	const char *refused;
	char reason[REASON_BYTES];
	int r;

	r = wire_open_hello(&view, data, len);
	if (r < 0)
		return r;
	refused = hello_refused(session, &view.hello);
	if (refused[0] == '\0' && !hello_is_its_own(session, &view, reason))
		refused = reason;
	if (refused[0] != '\0' || view.hello.role == WIRE_ROLE_CHECK)
		return session_welcome(session, refused);
	strcpy(session->info.name, view.hello.id);
	/* An agent's connection stays pending: there are many agents, and each sends
	 * one request. */
	session->is_agent = view.hello.role == WIRE_ROLE_AGENT;
	if (session->is_agent)
		return session_welcome(session, "");
	rm_version_take(session->info.software, view.hello.software);
	r = session_take_tors(session, &view);
	if (r == 0)
		r = session_welcome(session, "");
	if (r < 0)
		return r;
	session->info.is_welcome = true;
	rm_server_settled(&session->conn);
	replace_older(session);
	rm_log_info("%s: connected, serves %zu ToRs", session->info.name,
	    session->info.tor_count);
	/* Planning may have waited for this aggregator. */
	session->owner->options.on_change(session->owner->options.arg);
	r = session_brake(session);
	return r < 0 ? r : session_deliver(session);
}

/* ---- registration ------------------------------------------------------------- */

bool
session_serves(const struct session *session, const char *tor)
{
	for (size_t i = 0; i < session->info.tor_count; i++) {
		if (strcmp(session->info.tors[i].tor, tor) == 0)
			return true;
	}
	return false;
}

static bool
session_serves_any(const struct session *session, const struct wire_rnic *rnic)
{
	for (size_t i = 0; i < rnic->tor_count; i++) {
		if (session_serves(session, rnic->tors[i]))
			return true;
	}
	/* true: the registry refuses such an RNIC, with a reason */
	return rnic->tor_count == 0;
}

/* name: the name that is wrong, in quotes; or "". */
static void
log_refused(const struct session *session, const char *host,
    const struct wire_rnic *rnic, enum registry_refusal refusal, const char *name)
{
	char quoted_host[QUOTED], quoted_device[QUOTED], quoted_tor[QUOTED];
	const char *tor = rnic->tor_count > 0 ? rnic->tors[0] : "";

	rm_log_quote(quoted_host, sizeof(quoted_host), host, strlen(host));
	rm_log_quote(
	    quoted_device, sizeof(quoted_device), rnic->device, strlen(rnic->device));
	rm_log_quote(quoted_tor, sizeof(quoted_tor), tor, strlen(tor));
	rm_log_warn(0, "%s: RNIC %s of host %s, ToR %s: refused: %s%s%s",
	    session->info.name, quoted_device, quoted_host, quoted_tor,
	    registry_refusal_sentence(refusal), name[0] != '\0' ? ": " : "", name);
}

/* Logs both possible causes: the RNIC was connected to another ToR, or somebody uses an
 * aggregator's key. Only an operator knows which. */
static void
log_move(const struct session *session, const struct registry_rnic *before,
    const struct registry_rnic *now)
{
	char id[RM_RNIC_ID_TEXT];

	rm_rnic_id_format(now->id, id);
	rm_log_warn(0,
	    "%s: RNIC %s of host %s moved to ToR %s: it was at ToR %s, which %s "
	    "reported",
	    session->info.name, id, now->host, now->tors[0], before->tors[0],
	    before->aggregator);
}

/* As registry_report. */
static int
session_report(struct session *session, struct wire_rnic *rnic,
    const struct registry_source *source)
{
	const struct aggregators_options *options = &session->owner->options;
	const struct rm_rnic_id id = { rnic->id.guid, rnic->id.port };
	const struct registry_rnic *known = registry_find(options->registry, id);
	const struct registry_rnic before =
	    known != NULL ? *known : (struct registry_rnic){ .moves = 0 };
	enum registry_refusal refusal = REGISTRY_PLACED;
	int r = registry_report(options->registry, rnic, source, &refusal);

	if (r == -ENOMEM)
		return r;
	if (refusal != REGISTRY_PLACED)
		log_refused(session, source->host, rnic, refusal,
		    r < 0 ? registry_refused(options->registry, 0)->name : "");
	if (r < 0)
		return r;
	known = registry_find(options->registry, id);
	if (known->moves > before.moves)
		log_move(session, &before, known);
	options->on_rnic(known, options->arg);
	return r;
}

bool
session_serves_rnic(const struct session *session, const struct registry_rnic *rnic)
{
	for (size_t i = 0; rnic != NULL && i < rnic->tor_count; i++) {
		if (session_serves(session, rnic->tors[i]))
			return true;
	}
	return false;
}

/* Handles an RNIC whose entry in the registration of a host has the name of another
 * host: the aggregator reports that the host had that name before. (An agent cannot
 * report that.) True: the host was renamed. */
static bool
session_rename(struct session *session, struct wire_rnic *rnic, const char *host)
{
	struct registry *registry = session->owner->options.registry;
	const struct rm_rnic_id id = { rnic->id.guid, rnic->id.port };
	const struct registry_rnic *known = registry_find(registry, id);
	bool renamed;

	if (rnic->host[0] == '\0' || strcmp(rnic->host, host) == 0)
		return false;
	renamed = session_serves_rnic(session, known) &&
		  registry_rename(registry, rnic->id, rnic->host, host);
	if (renamed)
		rm_log_info(
		    "%s: RNIC %s of host %s moved to host %s: the host was renamed",
		    session->info.name, known->device, rnic->host, host);
	if (known == NULL || strcmp(known->host, host) == 0)
		rnic->host = host;
	return renamed;
}

static void
log_replaced(const struct registry_rnic *old, const struct registry_rnic *by, void *arg)
{
	const struct session *session = arg;
	char old_id[RM_RNIC_ID_TEXT], id[RM_RNIC_ID_TEXT];

	rm_rnic_id_format(old->id, old_id);
	rm_rnic_id_format(by->id, id);
	rm_log_info("%s: RNIC %s of host %s replaced by %s, device %s",
	    session->info.name, old_id, old->host, id, by->device);
}

static struct registry_named
look_up(const struct registry *registry, struct wire_rnic_id id)
{
	const struct rm_rnic_id key = { id.guid, id.port };

	return (struct registry_named){ id, registry_find(registry, key) != NULL };
}

static int
session_on_register(struct session *session, const uint8_t *data, size_t len)
{
	struct aggregators *owner = session->owner;
	struct wire_register_view view;
	struct registry_source source = {
		.aggregator = session->info.name,
		.session = session->info.id,
		.now = rm_mono_now(),
		.wall = rm_wall_now(),
	};
	struct registry_named firsthand[WIRE_MAX_HOST_RNICS];
	size_t firsthand_count = 0;
	bool changed = false;
	int r;

	r = wire_open_register(&view, data, len);
	if (r < 0)
		return r;
	source.host = view.reg.host;
	owner->counts.registrations++;
	session->info.registrations++;
	for (size_t i = 0; i < view.reg.rnic_count; i++) {
		struct registry_named named;
		struct wire_rnic rnic;

		wire_register_rnic(&view, i, &rnic);
		named = look_up(owner->options.registry, rnic.id);
		if (!session_serves_any(session, &rnic)) {
			owner->counts.rnics_of_other_tors++;
			continue;
		}
		changed |= session_rename(session, &rnic, source.host);
		r = session_report(session, &rnic, &source);
		if (r == -ENOMEM)
			return r;
		changed |= r > 0;
		if (r >= 0 && rnic.incarnation != 0)
			firsthand[firsthand_count++] = named;
	}
	changed |= registry_replace(owner->options.registry, source.host, firsthand,
		       firsthand_count, log_replaced, session) > 0;
	if (changed)
		owner->options.on_change(owner->options.arg);
	return 0;
}

/* ---- releases ------------------------------------------------------------------- */

static int
session_on_versions(struct session *session, const uint8_t *data, size_t len)
{
	struct aggregators_session *info = &session->info;
	struct wire_versions view;
	uint8_t *copy = malloc(len);
	int r = copy == NULL ? -ENOMEM : 0;

	if (r == 0) {
		memcpy(copy, data, len);
		r = wire_open_versions(&view, copy, len);
	}
	if (r < 0) {
		free(copy);
		return r;
	}
	free(info->versions_bytes);
	info->versions_bytes = copy;
	info->versions = view;
	session->owner->counts.versions++;
	return 0;
}

/* ---- messages ------------------------------------------------------------------- */

int
session_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct session *session = arg;
	int r = -EPROTO;

	switch (wire_kind_of(data, len)) {
	case WIRE_HELLO:
		r = session_on_hello(session, data, len);
		break;
	case WIRE_REGISTER:
		if (session->info.is_welcome)
			r = session_on_register(session, data, len);
		break;
	case WIRE_RESOLVE:
		if (session->info.is_welcome)
			r = session_on_resolve(session, data, len);
		break;
	case WIRE_PLACE:
		if (session->is_agent)
			r = session_on_place(session, data, len);
		break;
	case WIRE_JOIN:
		if (session->info.is_welcome)
			r = session_on_join(session, data, len);
		break;
	case WIRE_TRACED:
		if (session->info.is_welcome)
			r = session_on_traced(session, data, len);
		break;
	case WIRE_VERSIONS:
		if (session->info.is_welcome)
			r = session_on_versions(session, data, len);
		break;
	case WIRE_DRILL_ANSWER:
		if (session->info.is_welcome)
			r = session_on_drilled(session, data, len);
		break;
	default:
		/* Ignores an unknown message, which a newer aggregator may send. */
		r = session->info.is_welcome ? 0 : -EPROTO;
		session->owner->counts.refused_messages += r == 0;
		break;
	}
	if (r < 0)
		session->owner->counts.refused_messages++;
	return r;
}
