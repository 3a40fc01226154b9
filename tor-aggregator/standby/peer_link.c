#include "tor-aggregator/standby/peer_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/log.h"
#include "rackmesh/identity/authority.h"
#include "rackmesh/net/dialer.h"
#include "rackmesh/net/link.h"
#include "tor-aggregator/plan/hello.h"

#define REASON_BYTES 1024
#define WELCOME_NS (3 * RM_NS_PER_S)
#define BACKOFF_CAP_NS RM_NS_PER_S
/* enough for the state of all ToRs, and for an incident */
#define MAX_FRAME_BYTES (64u << 10)
#define MAX_OUTPUT_BYTES (8u << 20) /* enough for all open incidents */

struct other {
	struct peer_links *links;
	struct peer_link_other is;
	struct rm_dialer *dialer; /* NULL: the other aggregator dials */
	struct rm_link *link;     /* NULL: there is no link */
	/* when the last message arrived, or the link came up */
	rm_mono_t last_seen;
};

struct peer_links {
	struct peer_link_options options;
	struct peer_link_callbacks callbacks;
	struct wire_writer *writer;
	struct other others[WIRE_MAX_TORS];
	size_t count;
	struct peer_link_counts counts;
};

static size_t
number_of(const struct other *other)
{
	return (size_t)(other - other->links->others);
}

static struct other *
find_link(struct peer_links *links, const struct rm_link *link)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->others[i].link == link)
			return &links->others[i];
	return NULL;
}

bool
peer_link_admits(const struct peer_link_other *other, const char *region,
    const char *uri, char *reason, size_t len)
{
	struct rm_request request = {
		.verb = RM_VERB_PEER_SESSION,
		.region = region,
		.name = other->name,
	};
	bool admits = other->tor_count > 0;

	for (size_t i = 0; admits && i < other->tor_count; i++) {
		request.tor = other->tors[i];
		admits = rm_authority_admits(uri, &request, reason, len);
	}
	return admits;
}

static bool
is_itself(
    const struct other *other, const struct rm_link *link, char reason[REASON_BYTES])
{
	return peer_link_admits(&other->is, other->links->options.region,
	    rm_link_identity(link), reason, REASON_BYTES);
}

static void
begin(struct other *other, struct rm_link *link)
{
	other->link = link;
	other->last_seen = rm_mono_now();
	other->links->counts.sessions++;
	rm_log_info("aggregator %s: connected", other->is.name);
}

/* ---- messages of the other aggregator ----------------------------------------- */

static int
take_standing(struct other *other, const uint8_t *data, size_t len)
{
	struct peer_links *links = other->links;
	struct wire_standing standing;
	int r;

	r = wire_open_standing(&standing, data, len);
	if (r < 0)
		return r;
	links->counts.standings++;
	links->callbacks.on_standing(number_of(other), &standing, links->callbacks.arg);
	return 0;
}

static int
take_incident(struct other *other, const uint8_t *data, size_t len)
{
	struct peer_links *links = other->links;
	struct wire_incident incident;
	int r;

	r = wire_open_incident(&incident, data, len);
	if (r < 0)
		return r;
	links->counts.incidents++;
	links->callbacks.on_incident(number_of(other), &incident, links->callbacks.arg);
	return 0;
}

static int
take_frame(struct other *other, const uint8_t *data, size_t len)
{
	int r;

	other->last_seen = rm_mono_now();
	switch (wire_kind_of(data, len)) {
	case WIRE_STANDING:
		r = take_standing(other, data, len);
		break;
	case WIRE_INCIDENT:
		r = take_incident(other, data, len);
		break;
	default: /* a newer aggregator may send kinds that are unknown here */
		r = wire_is_newer(data, len) ? 0 : -EPROTO;
	}
	other->links->counts.bad_frames += r < 0;
	return r;
}

/* ---- aggregators that this one dials ------------------------------------------ */

static int
on_up(struct rm_link *link, void *arg)
{
	struct other *other = arg;
	const struct peer_link_options *options = &other->links->options;
	const struct hello hello = { options->name, options->region,
		options->incarnation, options->tors, options->tor_count };
	char reason[REASON_BYTES];

	other->last_seen = rm_mono_now();
	if (!is_itself(other, link, reason)) {
		rm_log_warn(0, "aggregator %s: refused: not its certificate: %s",
		    other->is.name, reason);
		return -EACCES;
	}
	return hello_send(link, &hello, NULL, other->links->writer);
}

static int
take_welcome(struct other *other, struct rm_link *link, const uint8_t *data, size_t len)
{
	struct peer_links *links = other->links;
	struct wire_welcome welcome;
	char quoted[256];
	int r;

	r = wire_open_welcome(&welcome, data, len);
	if (r < 0)
		return r;
	if (welcome.refused[0] == 0 && strcmp(welcome.id, other->is.name) == 0) {
		rm_dialer_settled(other->dialer);
		begin(other, link);
		links->callbacks.on_session(number_of(other), links->callbacks.arg);
		return 0;
	}
	links->counts.refused++;
	rm_log_quote(quoted, sizeof(quoted),
	    welcome.refused[0] != 0 ? welcome.refused : welcome.id,
	    strlen(welcome.refused[0] != 0 ? welcome.refused : welcome.id));
	rm_log_warn(0,
	    welcome.refused[0] != 0 ? "aggregator %s: refused this aggregator: %s"
				    : "aggregator %s: refused: its name is %s",
	    other->is.name, quoted);
	return -EPERM;
}

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct other *other = arg;

	if (other->link != NULL)
		return take_frame(other, data, len);
	return wire_kind_of(data, len) == WIRE_WELCOME
		   ? take_welcome(other, link, data, len)
		   : -EPROTO;
}

static void
lost(struct other *other, int reason)
{
	if (other->link != NULL)
		rm_log_warn(reason, "aggregator %s: disconnected", other->is.name);
	other->link = NULL;
}

static void
on_down(int reason, void *arg)
{
	lost(arg, reason);
}

static int
dial(struct rm_loop *loop, struct other *other)
{
	static const struct rm_dialer_callbacks callbacks = {
		.on_up = on_up,
		.on_frame = on_frame,
		.on_down = on_down,
	};
	const struct rm_dialer_options options = {
		.peers = &other->is.endpoint,
		.peer_count = 1,
		.backoff_cap_ns = BACKOFF_CAP_NS,
		.limits = { .max_frame_bytes = MAX_FRAME_BYTES,
		    .max_output_bytes = MAX_OUTPUT_BYTES,
		    .tls = other->links->options.tls },
	};

	return rm_dialer_new(loop, &options, &callbacks, other, &other->dialer);
}

/* ---- aggregators that dial this one ------------------------------------------- */

static bool
shares_a_tor(const struct peer_links *links, const struct wire_hello_view *view)
{
	for (size_t i = 0; i < view->hello.tor_count; i++) {
		struct wire_tor_state state;

		wire_hello_tor(view, i, &state);
		for (size_t t = 0; t < links->options.tor_count; t++)
			if (strcmp(links->options.tors[t], state.tor) == 0)
				return true;
	}
	return false;
}

const char *
peer_links_on_hello(struct rm_link *link, const struct wire_hello_view *view, void *arg)
{
	struct peer_links *links = arg;
	struct other *other = NULL;
	char reason[REASON_BYTES];

	for (size_t i = 0; i < links->count; i++)
		if (strcmp(links->others[i].is.name, view->hello.id) == 0)
			other = &links->others[i];
	if (other == NULL || !shares_a_tor(links, view))
		return "no ToR in this aggregator's config has that one as its other "
		       "aggregator";
	if (other->dialer != NULL)
		return "the aggregator whose name comes first in the alphabet dials "
		       "the other one";
	if (!is_itself(other, link, reason)) {
		rm_log_warn(0, "aggregator %s: refused: %s", other->is.name, reason);
		return "the certificate is not that of this aggregator";
	}
	if (other->link != NULL)
		rm_link_close(other->link, -ECONNABORTED);
	begin(other, link);
	return NULL;
}

void
peer_links_on_up(struct rm_link *link, void *arg)
{
	struct peer_links *links = arg;
	const struct other *other = find_link(links, link);

	if (other != NULL)
		links->callbacks.on_session(number_of(other), links->callbacks.arg);
}

int
peer_links_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct other *other = find_link(arg, link);

	/* other is NULL if a newer link has replaced this one. */
	return other == NULL ? -ECONNABORTED : take_frame(other, data, len);
}

void
peer_links_on_gone(struct rm_link *link, void *arg)
{
	struct other *other = find_link(arg, link);

	if (other != NULL)
		lost(other, 0);
}

/* ---- creation -------------------------------------------------------------------- */

int
peer_links_new(struct rm_loop *loop, const struct peer_link_options *options,
    const struct peer_link_callbacks *callbacks, struct peer_links **ret)
{
	struct peer_links *links = calloc(1, sizeof(*links));
	int r;

	if (links == NULL)
		return -ENOMEM;
	links->options = *options;
	links->options.others = NULL;
	links->callbacks = *callbacks;
	links->writer = wire_writer_new();
	r = links->writer == NULL ? -ENOMEM : 0;
	for (size_t i = 0; r == 0 && i < options->other_count; i++) {
		struct other *other = &links->others[links->count++];

		other->links = links;
		other->is = options->others[i];
		if (strcmp(options->name, other->is.name) < 0)
			r = dial(loop, other);
	}
	if (r < 0) {
		peer_links_free(links);
		return r;
	}
	*ret = links;
	return 0;
}

void
peer_links_free(struct peer_links *links)
{
	if (links == NULL)
		return;
	for (size_t i = 0; i < links->count; i++)
		rm_dialer_free(links->others[i].dialer);
	wire_writer_free(links->writer);
	free(links);
}

int
peer_links_send(struct peer_links *links, size_t i, const struct wire_bytes *bytes)
{
	struct rm_link *link = links->others[i].link;
	int r;

	if (link == NULL)
		return -ENOTCONN;
	r = rm_link_send(link, bytes->data, bytes->len);
	links->counts.sent += r == 0;
	links->counts.unsent += r < 0;
	/* On failure nothing is stored: the next link gets everything again. */
	if (r < 0)
		rm_link_close(link, r);
	return r;
}

bool
peer_links_connected(const struct peer_links *links, size_t i)
{
	return links->others[i].link != NULL;
}

void
peer_links_tick(struct peer_links *links, rm_mono_t now)
{
	for (size_t i = 0; i < links->count; i++) {
		struct other *other = &links->others[i];
		struct rm_link *link = other->link;

		if (link == NULL && other->dialer != NULL)
			link = rm_dialer_link(other->dialer);
		if (link == NULL || rm_mono_since(now, other->last_seen) <= WELCOME_NS)
			continue;
		links->counts.silent++;
		rm_link_close(link, -ETIMEDOUT);
		other->last_seen = now; /* count each link only once */
	}
}

void
peer_links_stalled(struct peer_links *links, rm_mono_t now)
{
	for (size_t i = 0; i < links->count; i++)
		links->others[i].last_seen = now;
}

const struct peer_link_counts *
peer_links_counts(const struct peer_links *links)
{
	return &links->counts;
}
