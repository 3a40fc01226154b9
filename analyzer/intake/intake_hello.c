/* An aggregator says who it is, and whose racks it serves: is it welcome? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/intake/intake_session.h"
#include "rackmesh/core/log.h"
#include "rackmesh/identity/authority.h"
#include "rackmesh/net/link.h"

#define QUOTED 128
#define WHY 1024

static int
session_welcome(struct intake_session *session, const char *refused)
{
	struct intake *owner = session->owner;
	struct wire_welcome welcome = {
		.version = WIRE_VERSION,
		.id = owner->options.name,
		.incarnation = owner->options.incarnation,
		.refused = refused,
	};
	struct wire_bytes bytes;
	int r;

	r = wire_write_welcome(owner->writer, &welcome, &bytes);
	if (r == 0)
		r = rm_link_send(session->link, bytes.data, bytes.len);
	if (r == 0 && refused[0] != '\0') {
		char quoted[QUOTED], peer[RM_ADDRESS_TEXT];

		owner->counts.refused_hellos++;
		rm_address_format(&session->info.peer, peer);
		rm_log_quote(quoted, sizeof(quoted), refused, strlen(refused));
		rm_log_warn(0, "%s: refused: %s", peer, quoted);
		rm_link_close(session->link, -EPERM);
	}
	return r;
}

/* "" or what is wrong with it. */
static const char *
hello_refused(const struct intake_session *session, const struct wire_hello *hello)
{
	if (session->info.is_welcome)
		return "a second hello";
	if (hello->role != WIRE_ROLE_AGGREGATOR)
		return "only tor-aggregators speak to an analyzer";
	if (!wire_hello_meets_us(hello))
		return "versions more than one apart do not work together; upgrade the "
		       "older side";
	if (!rm_name_valid(hello->region))
		return "the region's name is not valid";
	if (!rm_name_valid(hello->id))
		return "the aggregator's name is not valid";
	return "";
}

/* By its certificate: is it who it says it is, and are all these ToRs its own? */
static bool
hello_is_its_own(const struct intake_session *session,
    const struct wire_hello_view *view, char why[WHY])
{
	const char *uri = rm_link_identity(session->link);
	struct rm_request request = {
		.verb = RM_VERB_AGGREGATOR_SESSION,
		.region = view->hello.region,
		.name = view->hello.id,
	};
	bool own = rm_authority_admits(uri, &request, why, WHY);

	request.verb = RM_VERB_REPORT;
	for (size_t i = 0; own && i < view->hello.tor_count; i++) {
		struct wire_tor_state state;

		wire_hello_tor(view, i, &state);
		request.tor = state.tor;
		own = rm_authority_admits(uri, &request, why, WHY);
	}
	return own;
}

static int
session_take_tors(struct intake_session *session, const struct wire_hello_view *view)
{
	struct intake_info *info = &session->info;

	info->tors = calloc(view->hello.tor_count + 1, sizeof(*info->tors));
	if (info->tors == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < view->hello.tor_count; i++) {
		struct wire_tor_state state;

		wire_hello_tor(view, i, &state);
		if (rm_name_valid(state.tor))
			strcpy(info->tors[info->tor_count++], state.tor);
	}
	return 0;
}

static void
peer_begin_life(struct intake_peer *peer, uint64_t life)
{
	if (peer->life == life)
		return;
	peer->life = life;
	for (int l = 0; l < LANES; l++)
		intake_lanes_forget(peer->lanes[l]);
	intake_racks_new_life(peer->racks);
}

/* Its numbers are known from now on, and an older session of it ends. */
static const char *
session_take_place(struct intake_session *session, uint64_t life)
{
	struct intake *owner = session->owner;
	struct intake_info *info = &session->info;
	struct intake_peer *peer;
	const char *refused;

	peer = intake_peer_get(owner, info->region, info->name);
	if (peer == NULL)
		return "no room for one more aggregator";
	if (intake_racks_serve(&peer->racks, info->tors, info->tor_count) < 0)
		return "no memory for its racks";
	refused = owner->callbacks.on_hello(info, owner->callbacks.arg);
	if (refused != NULL)
		return refused;
	peer_begin_life(peer, life);
	if (peer->session != NULL) {
		rm_log_warn(0, "%s: reconnected, closed its older session", info->name);
		owner->counts.replaced++;
		intake_session_free(peer->session);
	}
	peer->session = session;
	session->peer = peer;
	return "";
}

int
intake_session_hello(struct intake_session *session, const uint8_t *data, size_t len)
{
	struct intake_info *info = &session->info;
	struct wire_hello_view view;
	const char *refused;
	char why[WHY];
	int r;

	r = wire_open_hello(&view, data, len);
	if (r < 0)
		return r;
	refused = hello_refused(session, &view.hello);
	if (refused[0] == '\0' && !hello_is_its_own(session, &view, why))
		refused = why;
	if (refused[0] != '\0')
		return session_welcome(session, refused);
	strcpy(info->region, view.hello.region);
	strcpy(info->name, view.hello.id);
	free(info->tors); /* of a hello that was refused */
	info->tors = NULL;
	info->tor_count = 0;
	r = session_take_tors(session, &view);
	if (r < 0)
		return r;
	info->heard = rm_mono_now();
	refused = session_take_place(session, view.hello.incarnation);
	info->is_welcome = refused[0] == '\0';
	if (info->is_welcome)
		rm_strangers_remove(&session->owner->strangers, &session->stranger);
	if (info->is_welcome)
		rm_log_info("%s of region %s: connected, serves %zu ToRs", info->name,
		    info->region, info->tor_count);
	return session_welcome(session, refused);
}
