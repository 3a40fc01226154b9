/* Links, dialers, listeners. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/net/dialer.h"
#include "rackmesh/net/listener.h"
#include "schemas/wire.h"
#include "tests/support/fake_world_parts.h"

struct rm_link {
	struct rm_link_callbacks callbacks;
	void *arg;
	struct rm_link_limits limits;
	struct rm_link_counts counts;
	struct rm_address peer;
	const char *identity;
	int64_t ends_s;
	size_t queued;
	bool paused, blocks, closing;
	bool reported; /* on_close was called */
	int reason;
	struct rm_link *next;
};

struct rm_dialer {
	struct rm_endpoint *peers;
	size_t peer_count;
	size_t at;
	struct rm_link_limits limits;
	struct rm_dialer_callbacks callbacks;
	void *arg;
	struct rm_link *link;
	bool settled, pings;
	rm_mono_t up_at, last_frame;
	struct rm_dialer *next;
};

struct rm_listener {
	int (*on_accept)(int fd, const struct rm_address *peer, void *arg);
	void *arg;
	struct rm_listener *next;
};

static struct rm_link *links, *newest;
static struct rm_dialer *dialers;
static struct rm_listener *listeners;
static void (*on_sent)(struct rm_link *, const uint8_t *, size_t, void *);
static void *on_sent_arg;

void
fake_links_begin(void)
{
	on_sent = NULL;
}

void
fake_links_end(void)
{
	if (links != NULL || dialers != NULL || listeners != NULL)
		abort();
}

void
fake_world_on_sent(
    void (*fn)(struct rm_link *link, const uint8_t *data, size_t len, void *arg),
    void *arg)
{
	on_sent = fn;
	on_sent_arg = arg;
}

/* ---- called by the daemon ------------------------------------------------------- */

int
rm_link_new(struct rm_loop *loop, int fd, const struct rm_link_limits *limits,
    const struct rm_link_callbacks *callbacks, void *arg, struct rm_link **ret)
{
	struct rm_link *link = calloc(1, sizeof(*link));

	if (fd >= 0)
		close(fd);
	if (link == NULL)
		return -ENOMEM;
	link->limits = *limits;
	link->callbacks = *callbacks;
	link->arg = arg;
	link->identity = "";
	link->next = links;
	links = newest = link;
	*ret = link;
	return 0;
}

void
rm_link_free(struct rm_link *link)
{
	struct rm_link **at = &links;

	if (link == NULL)
		return;
	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
	free(link);
}

int
rm_link_send(struct rm_link *link, const uint8_t *data, size_t len)
{
	/* No peer would accept this frame. */
	if (len == 0 || wire_kind_of(data, len) == WIRE_UNKNOWN)
		abort();
	if (link->closing || link->reported)
		return -ENOTCONN;
	if (link->blocks || link->queued + len > link->limits.max_output_bytes) {
		link->counts.refused_sends++;
		return -ENOBUFS;
	}
	link->queued += len;
	link->counts.frames_out++;
	link->counts.bytes_out += len;
	if (on_sent != NULL)
		on_sent(link, data, len, on_sent_arg);
	return 0;
}

size_t
rm_link_output_bytes(const struct rm_link *link)
{
	return link->queued;
}

void
rm_link_close(struct rm_link *link, int reason)
{
	if (link->closing || link->reported)
		return;
	link->closing = true;
	link->reason = reason;
}

const char *
rm_link_identity(const struct rm_link *link)
{
	return link->identity;
}

int64_t
rm_link_certificate_ends_s(const struct rm_link *link)
{
	return link->ends_s;
}

bool
rm_link_certificate_ending(const struct rm_link *link, int64_t now_wall_s)
{
	return link->ends_s != 0;
}

const char *
rm_link_error(const struct rm_link *link)
{
	return link->reason == -EACCES ? "nobody knows it" : "";
}

void
rm_link_pause(struct rm_link *link)
{
	link->paused = true;
}

void
rm_link_resume(struct rm_link *link)
{
	link->paused = false;
}

int
rm_link_peer_ack(const struct rm_link *link, int64_t *since_ns, uint32_t *unacked)
{
	if (link->reported)
		return -ENOTCONN;
	*since_ns = link->blocks ? 10 * RM_NS_PER_S : 0;
	*unacked = (uint32_t)link->queued;
	return 0;
}

const struct rm_address *
rm_link_peer(const struct rm_link *link)
{
	return &link->peer;
}

const struct rm_link_counts *
rm_link_counts(const struct rm_link *link)
{
	return &link->counts;
}

/* ---- events of a link ----------------------------------------------------------- */

void
fake_link_ends(struct rm_link *link, int reason)
{
	if (link->reported)
		return;
	link->reported = true;
	link->reason = reason;
	link->callbacks.on_close(link, reason, link->arg);
}

bool
fake_link_receives(struct rm_link *link, const uint8_t *data, size_t len)
{
	uint8_t *copy; /* aligned and of exact length */
	int r;

	if (link->paused || link->closing)
		return true;
	if (len == 0 || len > link->limits.max_frame_bytes) {
		link->counts.refused_frames++;
		fake_link_ends(link, len == 0 ? -EBADMSG : -EMSGSIZE);
		return false;
	}
	copy = malloc(len);
	if (copy == NULL)
		return true;
	memcpy(copy, data, len);
	link->counts.frames_in++;
	link->counts.bytes_in += len;
	r = link->callbacks.on_frame(link, copy, len, link->arg);
	free(copy);
	if (r < 0)
		fake_link_ends(link, r);
	return r >= 0;
}

void
fake_link_blocks(struct rm_link *link, bool blocks)
{
	link->blocks = blocks;
}

bool
fake_link_paused(const struct rm_link *link)
{
	return link->paused;
}

void
fake_link_expires(struct rm_link *link, int64_t ends_s)
{
	link->ends_s = ends_s;
}

/* Every callback may free any link, so start from the beginning after each. */
static bool
turn_one(void)
{
	for (struct rm_link *link = links; link != NULL; link = link->next) {
		if (link->closing && !link->reported) {
			fake_link_ends(link, link->reason);
			return true;
		}
		if (link->queued == 0 || link->blocks || link->reported)
			continue;
		link->queued = 0;
		if (link->callbacks.on_drained != NULL) {
			link->callbacks.on_drained(link, link->arg);
			return true;
		}
	}
	return false;
}

void
fake_links_turn(void)
{
	/* A daemon that sends whenever there is room may continue for a while. */
	for (int i = 0; i < 1000 && turn_one(); i++)
		;
}

/* ---- listeners ------------------------------------------------------------------ */

int
rm_listener_new(struct rm_loop *loop, const struct rm_address *address,
    int (*on_accept)(int fd, const struct rm_address *peer, void *arg), void *arg,
    struct rm_listener **ret)
{
	struct rm_listener *listener = calloc(1, sizeof(*listener));

	if (listener == NULL)
		return -ENOMEM;
	listener->on_accept = on_accept;
	listener->arg = arg;
	listener->next = listeners;
	listeners = listener;
	*ret = listener;
	return 0;
}

void
rm_listener_free(struct rm_listener *listener)
{
	struct rm_listener **at = &listeners;

	if (listener == NULL)
		return;
	while (*at != listener)
		at = &(*at)->next;
	*at = listener->next;
	free(listener);
}

int
rm_listener_port(const struct rm_listener *listener)
{
	return 1;
}

struct rm_link *
fake_world_connect(const char *identity)
{
	struct rm_address peer = { 0 };
	struct rm_link *link;

	if (listeners == NULL)
		return NULL;
	newest = NULL;
	if (listeners->on_accept(
		open("/dev/null", O_RDONLY | O_CLOEXEC), &peer, listeners->arg) < 0)
		return NULL;
	link = newest;
	link->identity = identity;
	if (link->closing || link->callbacks.on_open == NULL)
		return link;
	if (link->callbacks.on_open(link, link->arg) < 0)
		rm_link_close(link, -EACCES);
	return link;
}

static struct rm_link *
nth(size_t i, bool accepted)
{
	size_t count = 0;

	for (struct rm_link *link = links; link != NULL; link = link->next)
		count += link->limits.accepting == accepted && !link->reported;
	if (count == 0)
		return NULL;
	i %= count;
	for (struct rm_link *link = links; link != NULL; link = link->next)
		if (link->limits.accepting == accepted && !link->reported && i-- == 0)
			return link;
	return NULL;
}

struct rm_link *
fake_world_accepted(size_t i)
{
	return nth(i, true);
}

struct rm_link *
fake_world_dialed(size_t i)
{
	return nth(i, false);
}

/* ---- dialers -------------------------------------------------------------------- */

int
rm_dialer_new(struct rm_loop *loop, const struct rm_dialer_options *options,
    const struct rm_dialer_callbacks *callbacks, void *arg, struct rm_dialer **ret)
{
	struct rm_dialer *dialer = calloc(1, sizeof(*dialer));

	if (dialer == NULL)
		return -ENOMEM;
	dialer->peers = calloc(options->peer_count + 1, sizeof(*dialer->peers));
	if (dialer->peers == NULL) {
		free(dialer);
		return -ENOMEM;
	}
	for (size_t i = 0; i < options->peer_count; i++)
		dialer->peers[i] = options->peers[i];
	dialer->peer_count = options->peer_count;
	dialer->limits = options->limits;
	dialer->limits.accepting = false;
	dialer->callbacks = *callbacks;
	dialer->arg = arg;
	dialer->next = dialers;
	dialers = dialer;
	*ret = dialer;
	return 0;
}

void
rm_dialer_free(struct rm_dialer *dialer)
{
	struct rm_dialer **at = &dialers;

	if (dialer == NULL)
		return;
	while (*at != dialer)
		at = &(*at)->next;
	*at = dialer->next;
	rm_link_free(dialer->link);
	free(dialer->peers);
	free(dialer);
}

struct rm_link *
rm_dialer_link(const struct rm_dialer *dialer)
{
	return dialer->link;
}

size_t
rm_dialer_peer(const struct rm_dialer *dialer)
{
	return dialer->at;
}

const char *
rm_dialer_error(const struct rm_dialer *dialer)
{
	return "";
}

void
rm_dialer_settled(struct rm_dialer *dialer)
{
	dialer->settled = true;
}

void
rm_dialer_pinged(struct rm_dialer *dialer)
{
	dialer->pings = true;
}

bool
rm_dialer_watch(
    struct rm_dialer *dialer, rm_mono_t now, int64_t welcome_ns, int64_t silence_ns)
{
	const rm_mono_t since = dialer->settled ? dialer->last_frame : dialer->up_at;

	if (dialer->link == NULL || (dialer->settled && !dialer->pings) ||
	    rm_mono_since(now, since) <= (dialer->settled ? silence_ns : welcome_ns))
		return false;
	rm_link_close(dialer->link, -ETIMEDOUT);
	return true;
}

void
rm_dialer_stalled(struct rm_dialer *dialer, rm_mono_t now)
{
	dialer->up_at = dialer->last_frame = now;
}

static int
dialer_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct rm_dialer *dialer = arg;

	dialer->last_frame = rm_mono_now();
	return dialer->callbacks.on_frame(link, data, len, dialer->arg);
}

static void
dialer_on_close(struct rm_link *link, int reason, void *arg)
{
	struct rm_dialer *dialer = arg;

	dialer->link = NULL;
	rm_link_free(link);
	dialer->callbacks.on_down(reason, dialer->arg);
}

static void
dialer_on_drained(struct rm_link *link, void *arg)
{
	struct rm_dialer *dialer = arg;

	if (dialer->callbacks.on_drained != NULL)
		dialer->callbacks.on_drained(link, dialer->arg);
}

static struct rm_dialer *
nth_without_link(size_t i)
{
	size_t count = 0;

	for (struct rm_dialer *dialer = dialers; dialer != NULL; dialer = dialer->next)
		count += dialer->link == NULL;
	if (count == 0)
		return NULL;
	i %= count;
	for (struct rm_dialer *dialer = dialers; dialer != NULL; dialer = dialer->next)
		if (dialer->link == NULL && i-- == 0)
			return dialer;
	return NULL;
}

struct rm_link *
fake_world_answer(size_t i, size_t which, const char *identity)
{
	static const struct rm_link_callbacks callbacks = {
		.on_frame = dialer_on_frame,
		.on_close = dialer_on_close,
		.on_drained = dialer_on_drained,
	};
	struct rm_dialer *dialer = nth_without_link(i);
	struct rm_link *link;
	int r;

	if (dialer == NULL ||
	    rm_link_new(NULL, -1, &dialer->limits, &callbacks, dialer, &link) < 0)
		return NULL;
	link->identity = identity;
	if (dialer->peer_count > 0) {
		dialer->at = which % dialer->peer_count;
		link->peer = dialer->peers[dialer->at].address;
	}
	dialer->link = link;
	dialer->settled = dialer->pings = false;
	dialer->up_at = dialer->last_frame = rm_mono_now();
	r = dialer->callbacks.on_up(link, dialer->arg);
	if (r < 0) {
		fake_link_ends(link, r);
		return NULL;
	}
	return link;
}

void
fake_world_unreachable(size_t i)
{
	struct rm_dialer *dialer = nth_without_link(i);

	if (dialer != NULL)
		dialer->callbacks.on_down(-ECONNREFUSED, dialer->arg);
}
