/*
 * fuzz_link_input - frames over a link without TLS, by a script: cut anywhere, damaged,
 * while the owner pauses, sends, refuses, closes or frees.
 *
 * Every frame of a valid peer is handed over once, whole and in order, after on_open.
 * An orderly end is distinguished from an end within a frame. on_close is called once,
 * and no callback after it.
 */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rackmesh/loop/loop.h"
#include "rackmesh/net/frame.h"
#include "rackmesh/net/link.h"
#include "tests/fuzz/script.h"

#define MAX_FRAME 1024
#define MAX_EVENTS 64
#define LOOKS 4 /* turns of the loop after every event */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct run {
	struct rm_loop *loop;
	struct rm_link *link; /* NULL: it was freed */
	int peer;
	struct evbuffer *wire; /* bytes that the peer has yet to send */
	/* The ends of the frames in the stream, and the number of bytes sent. */
	size_t ends[MAX_EVENTS], lens[MAX_EVENTS], count, at, gone;
	size_t handed;
	size_t refuse_at;        /* the index of that frame; MAX_EVENTS: none */
	int refusal;             /* 0: the frame is accepted and the link paused */
	bool damaged;            /* any outcome is possible */
	bool refused, cancelled; /* the owner has ended it */
	bool paused, shut, opened, closed, frees;
	int reason;
};

static void
require(bool truth)
{
	if (!truth)
		abort();
}

static uint8_t
byte_of(size_t frame, size_t i)
{
	return (uint8_t)(31 * frame + i);
}

static int
on_open(struct rm_link *link, void *arg)
{
	struct run *run = arg;

	require(!run->opened && !run->closed && run->handed == 0);
	run->opened = true;
	return 0;
}

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct run *run = arg;
	const size_t frame = run->handed++;

	require(run->opened && !run->closed && len > 0 && len <= MAX_FRAME);
	require(!run->paused && !run->refused && !run->cancelled);
	require(((uintptr_t)data & 7) == 0);
	if (!run->damaged) {
		require(frame < run->count && len == run->lens[frame]);
		for (size_t i = 0; i < len; i++)
			require(data[i] == byte_of(frame, i));
	}
	if (frame != run->refuse_at)
		return 0;
	if (run->refusal == 0) {
		rm_link_pause(link);
		run->paused = true;
		return 0;
	}
	run->refused = true;
	return run->refusal;
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct run *run = arg;

	require(!run->closed);
	run->closed = true;
	run->reason = reason;
	if (!run->frees)
		return;
	rm_link_free(link);
	run->link = NULL;
}

static void
look(struct run *run)
{
	char received[4096];

	for (int i = 0; i < LOOKS; i++) {
		event_base_loop(rm_loop_base(run->loop), EVLOOP_NONBLOCK);
		while (read(run->peer, received, sizeof(received)) > 0)
			;
	}
}

static void
put_frame(struct run *run, size_t len)
{
	uint8_t data[MAX_FRAME];

	if (run->count == MAX_EVENTS)
		return;
	for (size_t i = 0; i < len; i++)
		data[i] = byte_of(run->count, i);
	require(rm_frame_put(run->wire, data, len) == 0);
	run->at += RM_FRAME_HEADER_BYTES + len;
	run->lens[run->count] = len;
	run->ends[run->count++] = run->at;
}

static void
move(struct run *run, size_t most)
{
	int n;

	if (run->shut || most == 0)
		return;
	n = evbuffer_write_atmost(run->wire, run->peer, (ev_ssize_t)most);
	if (n > 0)
		run->gone += (size_t)n;
}

static void
shut(struct run *run)
{
	shutdown(run->peer, SHUT_WR);
	run->shut = true;
}

static void
send_some(struct run *run, size_t len)
{
	static const uint8_t data[4 * MAX_FRAME];
	int r = rm_link_send(run->link, data, len);

	require(r == 0 || r == -ENOBUFS || r == -ENOTCONN || r == -EMSGSIZE);
	require(rm_link_output_bytes(run->link) <= 4 * MAX_FRAME);
}

static void
resume(struct run *run)
{
	run->paused = false;
	if (run->link != NULL)
		rm_link_resume(run->link);
}

static void
event(struct run *run, struct fuzz_bytes *bytes)
{
	struct fuzz_bytes part;

	switch (fuzz_below(bytes, 10)) {
	case 0:
	case 1:
		put_frame(run, 1 + fuzz_two(bytes) % MAX_FRAME);
		return;
	case 2:
		move(run, fuzz_u8(bytes));
		return;
	case 3:
		move(run, SIZE_MAX >> 1);
		return;
	case 4:
		part = fuzz_part(bytes, 64);
		run->damaged |= part.left > 0;
		evbuffer_add(run->wire, part.at, part.left);
		return;
	case 5:
		rm_link_pause(run->link);
		run->paused = true;
		return;
	case 6:
		resume(run);
		return;
	case 7:
		send_some(run, fuzz_two(bytes) % (4 * MAX_FRAME));
		return;
	case 8:
		shut(run);
		return;
	default:
		run->cancelled = true;
		rm_link_close(run->link, -ECANCELED);
	}
}

/* All valid frames were handed over, and the end was reported with the right reason. */
static void
check(const struct run *run)
{
	size_t whole = 0;
	bool in_order;

	require(run->closed);
	if (run->refused)
		require(run->reason == run->refusal);
	if (run->damaged || run->refused || run->cancelled)
		return;
	while (whole < run->count && run->ends[whole] <= run->gone)
		whole++;
	in_order = run->gone == (whole > 0 ? run->ends[whole - 1] : 0);
	require(run->opened && run->handed == whole);
	require(run->reason == (in_order ? 0 : -ECONNRESET));
}

static void
play(struct run *run, struct fuzz_bytes *bytes)
{
	for (int i = 0; i < MAX_EVENTS && bytes->left > 0 && run->link != NULL; i++) {
		event(run, bytes);
		look(run);
	}
	for (int i = 0; i < MAX_EVENTS && evbuffer_get_length(run->wire) > 0; i++) {
		resume(run);
		move(run, SIZE_MAX >> 1);
		look(run);
	}
	shut(run);
	for (int i = 0; i < MAX_EVENTS && !run->closed; i++) {
		resume(run);
		look(run);
	}
	check(run);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct rm_link_callbacks callbacks = {
		.on_frame = on_frame, .on_close = on_close, .on_open = on_open
	};
	static const int refusals[] = { -EPROTO, -EAGAIN, -EBADMSG, 0 };
	static const struct rm_link_limits limits = { .max_frame_bytes = MAX_FRAME,
		.max_output_bytes = 4 * MAX_FRAME };
	static struct rm_loop *loop;
	struct fuzz_bytes bytes = { data, len };
	struct run run = { .wire = evbuffer_new(), .refuse_at = MAX_EVENTS };
	const uint8_t mode = fuzz_u8(&bytes);
	int fds[2];

	require(loop != NULL || rm_loop_new(&loop) == 0);
	run.loop = loop;
	run.frees = mode & 1;
	if (mode & 2)
		run.refuse_at = mode >> 4;
	run.refusal = refusals[mode >> 2 & 3];
	require(run.wire != NULL &&
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
	run.peer = fds[1];
	require(rm_link_new(loop, fds[0], &limits, &callbacks, &run, &run.link) == 0);
	play(&run, &bytes);
	rm_link_free(run.link);
	close(run.peer);
	evbuffer_free(run.wire);
	return 0;
}
