/*
 * tls_fixture - two links over one loopback connection, each with its own certificate,
 * and a record of their callbacks.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef TESTS_SUPPORT_TLS_FIXTURE_H
#define TESTS_SUPPORT_TLS_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>

#include "rackmesh/core/error.h"
#include "rackmesh/net/link.h"
#include "rackmesh/tls/tls.h"
#include "tests/support/loopback.h"
#include "tests/support/pki.h"

#define ENDS_FRAME (64 << 10)
#define ENDS_OUTPUT (1 << 20)
#define AGENT_URI "rackmesh://r1/agent/h1"
#define TOR_URI "rackmesh://r1/aggregator/a1/tor1"

struct end {
	struct rm_tls *tls;
	struct rm_link *link;
	unsigned opens, frames, closes, drained;
	size_t bytes;
	uint64_t sum; /* sum of the first eight bytes of all frames */
	int reason;
	char identity[128], cause[512];
	int open_returns;
	bool greets; /* sends "hello" from on_open */
	bool echoes;
};

struct ends {
	struct rm_loop *loop;
	struct pki *pki;
	struct end dialing, accepting;
};

static inline int
end_on_open(struct rm_link *link, void *arg)
{
	struct end *end = arg;

	assert_int_equal(end->frames, 0);
	assert_int_equal(end->closes, 0);
	end->opens++;
	snprintf(end->identity, sizeof(end->identity), "%s", rm_link_identity(link));
	if (end->greets)
		assert_int_equal(rm_link_send(link, (const uint8_t *)"hello", 5), 0);
	return end->open_returns;
}

static inline int
end_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct end *end = arg;
	uint64_t first = 0;

	assert_int_equal(end->opens, 1);
	assert_int_equal((uintptr_t)data & 7, 0);
	memcpy(&first, data, len < sizeof(first) ? len : sizeof(first));
	end->sum += first;
	end->frames++;
	end->bytes += len;
	return end->echoes ? rm_link_send(link, data, len) : 0;
}

static inline void
end_on_close(struct rm_link *link, int reason, void *arg)
{
	struct end *end = arg;

	end->closes++;
	end->reason = reason;
	snprintf(end->cause, sizeof(end->cause), "%s", rm_link_error(link));
	rm_link_free(link);
	end->link = NULL;
}

static inline void
end_on_drained(struct rm_link *link, void *arg)
{
	struct end *end = arg;

	end->drained++;
}

static inline void
end_begin(struct rm_loop *loop, struct end *end, int fd, bool accepting)
{
	static const struct rm_link_callbacks callbacks = { end_on_frame, end_on_close,
		end_on_drained, end_on_open };
	struct rm_link_limits limits = { ENDS_FRAME, ENDS_OUTPUT, end->tls, accepting };

	assert_int_equal(
	    rm_link_new(loop, fd, &limits, &callbacks, end, &end->link), 0);
}

static inline struct rm_tls *
tls_of(struct rm_loop *loop, const struct rm_tls_files *files)
{
	struct rm_error error = { .text = "" };
	struct rm_tls *tls = NULL;

	if (rm_tls_new(loop, files, &error, &tls) < 0)
		fail_msg("%s", error.text);
	return tls;
}

static inline void
ends_credentials(
    struct ends *ends, const struct pki_wish *dialing, const struct pki_wish *accepting)
{
	static const struct pki_wish agent = { .uri = AGENT_URI };
	static const struct pki_wish tor = { .uri = TOR_URI };
	struct rm_tls_files files;

	files = pki_issue(ends->pki, "dialing", dialing != NULL ? dialing : &agent);
	ends->dialing.tls = tls_of(ends->loop, &files);
	files = pki_issue(ends->pki, "accepting", accepting != NULL ? accepting : &tor);
	ends->accepting.tls = tls_of(ends->loop, &files);
}

static inline void
ends_connect(struct ends *ends)
{
	int fds[2];

	loopback_pair(fds, 0);
	end_begin(ends->loop, &ends->dialing, fds[0], false);
	end_begin(ends->loop, &ends->accepting, fds[1], true);
}

static inline void
ends_open(struct ends *ends)
{
	ends_connect(ends);
	LOOPBACK_WAIT(ends->loop, ends->dialing.opens > 0 && ends->accepting.opens > 0);
}

static inline void
end_hang_up(struct end *end)
{
	rm_link_free(end->link);
	end->link = NULL;
}

static inline void
end_clear(struct end *end)
{
	end_hang_up(end);
	rm_tls_free(end->tls);
	*end = (struct end){ 0 };
}

static inline int
ends_setup_bare(void **state)
{
	struct ends *ends = calloc(1, sizeof(*ends));

	if (ends == NULL || rm_loop_new(&ends->loop) < 0)
		return -1;
	ends->pki = pki_new();
	*state = ends;
	return 0;
}

static inline int
ends_setup(void **state)
{
	if (ends_setup_bare(state) < 0)
		return -1;
	ends_credentials(*state, NULL, NULL);
	return 0;
}

static inline int
ends_teardown(void **state)
{
	struct ends *ends = *state;

	end_clear(&ends->dialing);
	end_clear(&ends->accepting);
	rm_loop_free(ends->loop);
	pki_free(ends->pki);
	free(ends);
	return 0;
}

#endif
