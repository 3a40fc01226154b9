/*
 * link_fixture - a link at one end of a loopback connection, a bare socket at the
 * other, and a record of the link's callbacks.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef TESTS_SUPPORT_LINK_FIXTURE_H
#define TESTS_SUPPORT_LINK_FIXTURE_H

#include <event2/buffer.h>
#include <stdlib.h>

#include "rackmesh/net/frame.h"
#include "rackmesh/net/link.h"
#include "tests/support/loopback.h"

#define MAX_FRAME 4096
#define MAX_OUTPUT (64 << 10)

struct fixture {
	struct rm_loop *loop;
	struct rm_link *link;
	int peer;

	unsigned frames;
	size_t bytes;
	unsigned misaligned;
	unsigned closes;
	int reason;
	unsigned drained;

	int frame_returns;
	bool close_in_frame;
	bool free_in_close;
	bool in_send;
	struct fixture *other; /* at our first frame, its count of frames is stored in
				  other_at_first */
	unsigned other_at_first;
};

static inline int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct fixture *f = arg;

	assert_int_equal(f->closes, 0);
	if (f->frames == 0 && f->other != NULL)
		f->other_at_first = f->other->frames;
	f->frames++;
	f->bytes += len;
	if ((uintptr_t)data & 7)
		f->misaligned++;
	if (f->close_in_frame) {
		rm_link_close(link, -ECANCELED);
		assert_int_equal(f->closes, 0);
	}
	return f->frame_returns;
}

static inline void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct fixture *f = arg;

	assert_false(f->in_send);
	f->closes++;
	f->reason = reason;
	if (f->free_in_close) {
		rm_link_free(link);
		f->link = NULL;
	}
}

static inline void
on_drained(struct rm_link *link, void *arg)
{
	struct fixture *f = arg;

	f->drained++;
}

static const struct rm_link_callbacks callbacks = { on_frame, on_close, on_drained };
static const struct rm_link_limits limits = { MAX_FRAME, MAX_OUTPUT };

static inline void
fixture_open(struct fixture *f, int buffer_bytes)
{
	int fds[2];

	loopback_pair(fds, buffer_bytes);
	assert_int_equal(
	    rm_link_new(f->loop, fds[0], &limits, &callbacks, f, &f->link), 0);
	f->peer = fds[1];
}

static inline void
fixture_shut(struct fixture *f)
{
	rm_link_free(f->link);
	f->link = NULL;
	if (f->peer >= 0)
		close(f->peer);
	f->peer = -1;
}

static inline int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || rm_loop_new(&f->loop) < 0)
		return -1;
	f->peer = -1;
	fixture_open(f, 0);
	*state = f;
	return 0;
}

static inline int
teardown(void **state)
{
	struct fixture *f = *state;

	fixture_shut(f);
	rm_loop_free(f->loop);
	free(f);
	return 0;
}

/* Builds count frames of len bytes in one buffer, as the peer sends them. */
static inline struct evbuffer *
frames_of(unsigned count, size_t len)
{
	struct evbuffer *out = evbuffer_new();
	uint8_t data[MAX_FRAME + 1] = { 7 };

	assert_non_null(out);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(rm_frame_put(out, data, len), 0);
	return out;
}

static inline void
peer_writes(struct fixture *f, struct evbuffer *bytes)
{
	size_t len = evbuffer_get_length(bytes);

	assert_int_equal(write(f->peer, evbuffer_pullup(bytes, -1), len), len);
	evbuffer_free(bytes);
}

static inline void
peer_resets(struct fixture *f)
{
	struct linger linger = { .l_onoff = 1 };

	setsockopt(f->peer, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(f->peer);
	f->peer = -1;
}

#endif
