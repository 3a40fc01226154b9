#include "host-agent/controller/place_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/controller/place.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/core/version.h"
#include "rackmesh/identity/authority.h"
#include "rackmesh/net/dialer.h"
#include "rackmesh/net/link.h"

/* Each pause is lengthened by a random part, so that the hosts of a region do not all
 * ask at the same time. */
#define ASK_NS (300 * RM_NS_PER_S)
#define ASK_UNKNOWN_NS (15 * RM_NS_PER_S)
#define ASK_ALONE_NS (30 * RM_NS_PER_S)
#define ANSWER_NS (5 * RM_NS_PER_S)
#define BACKOFF_BASE_NS (500 * RM_NS_PER_MS)
#define BACKOFF_CAP_NS (30 * RM_NS_PER_S)
#define MAX_FRAME_BYTES (256u << 10)
#define REASON_BYTES 1024

struct place_link {
	struct place_link_options options;
	struct rm_loop *loop;
	struct wire_writer *writer;
	struct rm_dialer *dialer; /* NULL: no request is under way */
	uint64_t token; /* token of the request; 0: the request was not sent yet */
	bool answered, asked_before;
	rm_mono_t answered_at;
	bool unknown;              /* the last answer was an error */
	char reason[REASON_BYTES]; /* the last refusal or error, which was logged */
	struct place_link_counts counts;
};

/* Logs a reason when it differs from the last one that was logged. */
static void
place_link_complain(struct place_link *link, const char *what, const char *text)
{
	char quoted[REASON_BYTES];

	rm_log_quote(quoted, sizeof(quoted), text, strlen(text));
	if (strcmp(link->reason, quoted) == 0)
		return;
	strcpy(link->reason, quoted);
	rm_log_warn(0, "controllers: %s: %s", what, quoted);
}

static int
place_link_on_up(struct rm_link *up, void *arg)
{
	struct place_link *link = arg;
	const struct rm_request request = {
		.verb = RM_VERB_SERVE_PLACE,
		.region = link->options.region,
	};
	const struct wire_hello hello = {
		.role = WIRE_ROLE_AGENT,
		.version_min = WIRE_VERSION,
		.version_max = WIRE_VERSION,
		.region = link->options.region,
		.id = link->options.host,
		.incarnation = link->options.incarnation,
		.now_ns = (uint64_t)rm_mono_now().ns,
		.software = RACKMESH_VERSION,
	};
	struct wire_bytes bytes;
	char reason[REASON_BYTES];
	int r;

	link->token = 0;
	if (!rm_authority_admits(
		rm_link_identity(up), &request, reason, sizeof(reason))) {
		place_link_complain(
		    link, "refused: not a controller of this region", reason);
		return -EACCES;
	}
	r = wire_write_hello(link->writer, &hello, &bytes);
	return r < 0 ? r : rm_link_send(up, bytes.data, bytes.len);
}

static int
place_link_on_welcome(
    struct place_link *link, struct rm_link *up, const uint8_t *data, size_t len)
{
	struct wire_place question = { .host = link->options.host };
	struct wire_welcome welcome;
	struct wire_bytes bytes;
	int r;

	r = wire_open_welcome(&welcome, data, len);
	if (r < 0)
		return r;
	if (welcome.refused[0] != '\0') {
		place_link_complain(link, "refused this host", welcome.refused);
		return -EPERM;
	}
	while (question.token == 0)
		question.token = rm_random_u64();
	link->token = question.token;
	r = wire_write_place(link->writer, &question, &bytes);
	if (r == 0)
		r = rm_link_send(up, bytes.data, bytes.len);
	link->counts.asked += r == 0;
	return r;
}

static int
place_link_on_answer(struct place_link *link, const uint8_t *data, size_t len)
{
	struct wire_place_answer answer;
	struct place *place = NULL;
	int r;

	r = wire_open_placed(&answer, data, len);
	if (r == 0 && answer.token != link->token)
		r = -EPROTO;
	if (r == 0)
		r = place_new(data, len, &place);
	if (r < 0 && r != -ENOENT) {
		link->counts.refused++;
		return r;
	}
	link->answered = true;
	link->unknown = r == -ENOENT;
	if (link->unknown) {
		link->counts.unknown++;
		place_link_complain(link, "found no ToR for this host", answer.error);
		return 0;
	}
	link->counts.placed++;
	link->reason[0] = '\0';
	link->options.on_place(place, link->options.arg);
	return 0;
}

static int
place_link_on_frame(struct rm_link *up, const uint8_t *data, size_t len, void *arg)
{
	struct place_link *link = arg;
	enum wire_kind kind = wire_kind_of(data, len);
	int r = wire_is_newer(data, len) || kind == WIRE_PING ? 0 : -EPROTO;

	if (link->answered)
		return 0;
	if (kind == WIRE_WELCOME && link->token == 0)
		r = place_link_on_welcome(link, up, data, len);
	else if (kind == WIRE_PLACE_ANSWER && link->token != 0)
		r = place_link_on_answer(link, data, len);
	if (link->answered)
		rm_link_close(up, 0);
	return r;
}

static void
place_link_on_down(int reason, void *arg)
{
	struct place_link *link = arg;

	(void)reason; /* the dialer continues until there is an answer */
	if (!link->answered)
		return;
	rm_dialer_free(link->dialer);
	link->dialer = NULL;
	link->answered_at = rm_mono_now();
}

static int
place_link_ask(struct place_link *link)
{
	static const struct rm_dialer_callbacks callbacks = {
		.on_up = place_link_on_up,
		.on_frame = place_link_on_frame,
		.on_down = place_link_on_down,
	};
	const struct rm_dialer_options options = {
		.peers = link->options.controllers,
		.peer_count = link->options.controller_count,
		.backoff_base_ns = BACKOFF_BASE_NS,
		.backoff_cap_ns = BACKOFF_CAP_NS,
		.limits = { .max_frame_bytes = MAX_FRAME_BYTES,
		    .max_output_bytes = MAX_FRAME_BYTES,
		    .tls = link->options.tls },
	};

	link->answered = false;
	link->asked_before = true;
	return rm_dialer_new(link->loop, &options, &callbacks, link, &link->dialer);
}

int
place_link_new(struct rm_loop *loop, const struct place_link_options *options,
    struct place_link **ret)
{
	struct place_link *link = calloc(1, sizeof(*link));
	size_t bytes = options->controller_count * sizeof(*options->controllers);
	struct rm_endpoint *controllers;

	if (link == NULL)
		return -ENOMEM;
	link->loop = loop;
	link->options = *options;
	link->writer = wire_writer_new();
	controllers = malloc(bytes);
	link->options.controllers = controllers;
	if (link->writer == NULL || controllers == NULL) {
		place_link_free(link);
		return -ENOMEM;
	}
	memcpy(controllers, options->controllers, bytes);
	*ret = link;
	return 0;
}

void
place_link_free(struct place_link *link)
{
	if (link == NULL)
		return;
	rm_dialer_free(link->dialer);
	wire_writer_free(link->writer);
	free((void *)link->options.controllers);
	free(link);
}

void
place_link_tick(struct place_link *link, bool alone, rm_mono_t now)
{
	int64_t pause_ns = link->unknown ? ASK_UNKNOWN_NS
			   : alone       ? ASK_ALONE_NS
					 : ASK_NS;

	if (link->dialer != NULL) {
		rm_dialer_watch(link->dialer, now, ANSWER_NS, 0);
		return;
	}
	/* The pause is up to a quarter longer, by a length that differs for each host
	 * and each time. */
	pause_ns += (int64_t)(link->token % 256) * (pause_ns / 1024);
	/* If memory runs out, the next tick tries again. */
	if (!link->asked_before || rm_mono_since(now, link->answered_at) > pause_ns)
		(void)place_link_ask(link);
}

const struct place_link_counts *
place_link_counts(const struct place_link *link)
{
	return &link->counts;
}
