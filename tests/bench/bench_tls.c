/*
 * bench_tls - what TLS costs the aggregator per batch, from end to end: receive,
 * verify, window, judge.
 *
 * Another process sends the batches of a rack over one link as fast as they are taken,
 * alternately in plaintext and with TLS. The CPU time of the receiver is measured,
 * including the kernel's. A single link is the worst case for TLS, because the cost of
 * the socket, which both pay, is smallest then.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rackmesh/net/link.h"
#include "tests/bench/figure.h"
#include "tests/bench/sim_agents.h"
#include "tests/bench/sim_aggregator.h"
#include "tests/support/tls_fixture.h"

#define RNICS 64
#define RATE 100
#define FAR_TORS 4
#define ROUNDS 5
#define MOST_QUEUED (4 << 20)

struct message {
	size_t agent;
	rm_mono_t at;
	uint8_t *data;
	size_t len;
};

struct bench {
	struct sim_agents *agents;
	struct sim_aggregator aggregator;
	struct message *messages;
	size_t count, results, next;
	rm_mono_t now;
	struct rm_loop *loop;
	uint64_t begun_ns; /* CPU time at the first batch */
	int r;
	bool closed;
};

static int
encode(struct bench *bench, size_t seconds)
{
	const int64_t end_ns = SIM_START_NS + (int64_t)seconds * RM_NS_PER_S;
	struct sim_message message;
	int r = sim_agents_next(bench->agents, &message);

	bench->messages = calloc(RNICS * 5 * (seconds + 1), sizeof(*bench->messages));
	if (bench->messages == NULL)
		return -ENOMEM;
	while (r == 0 && message.at.ns < end_ns) {
		struct message *at = &bench->messages[bench->count++];

		*at = (struct message){ message.agent, message.at,
			malloc(message.bytes.len), message.bytes.len };
		if (at->data == NULL)
			return -ENOMEM;
		memcpy(at->data, message.bytes.data, at->len);
		bench->results += message.count;
		r = sim_agents_next(bench->agents, &message);
	}
	return r;
}

/* ---- the sender ------------------------------------------------------------------ */

static int
send_more(struct rm_link *link, void *arg)
{
	struct bench *bench = arg;

	while (bench->next < bench->count) {
		const struct message *message = &bench->messages[bench->next];
		int r = rm_link_send(link, message->data, message->len);

		if (r == -ENOBUFS)
			return 0;
		if (r < 0)
			return r;
		bench->next++;
	}
	return 0;
}

static void
on_drained(struct rm_link *link, void *arg)
{
	send_more(link, arg);
}

static int
ignore_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	return 0;
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct bench *bench = arg;

	bench->closed = true;
	rm_loop_stop(bench->loop);
}

static void
send_all(struct bench *bench, int fd, const struct rm_tls_files *files)
{
	static const struct rm_link_callbacks callbacks = { ignore_frame, on_close,
		on_drained, send_more };
	struct rm_link_limits limits = { 1 << 20, MOST_QUEUED, NULL, false };
	struct rm_link *link;

	if (rm_loop_new(&bench->loop) < 0)
		_exit(1);
	if (files != NULL)
		limits.tls = tls_of(bench->loop, files);
	if (rm_link_new(bench->loop, fd, &limits, &callbacks, bench, &link) < 0)
		_exit(1);
	rm_loop_run(bench->loop); /* until the receiver closes */
	_exit(bench->next == bench->count ? 0 : 1);
}

/* ---- the receiver ---------------------------------------------------------------- */

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct bench *bench = arg;
	const struct message *message = &bench->messages[bench->next];
	int r;

	/* The handshake's cost does not belong to a batch. */
	if (bench->next++ == 0)
		bench->begun_ns = figure_cpu_ns();
	for (; bench->now.ns < message->at.ns;
	     bench->now = rm_mono_add(bench->now, SIM_TICK_NS))
		sim_aggregator_tick(&bench->aggregator, bench->now);
	r = sim_aggregator_take(
	    &bench->aggregator, message->agent, message->at, data, len);
	if (r >= 0 && bench->next == bench->count)
		rm_link_close(link, 0);
	return r < 0 ? r : 0;
}

/* *ret: CPU time per batch in ns. */
static int
measure(struct bench *bench, const struct rm_tls_files *sender,
    const struct rm_tls_files *taker, double *ret)
{
	static const struct rm_link_callbacks callbacks = { on_frame, on_close, NULL,
		NULL };
	struct rm_link_limits limits = { 1 << 20, MOST_QUEUED, NULL, true };
	struct rm_link *link = NULL;
	int fds[2], status = 1, r;
	pid_t child;

	bench->next = 0;
	loopback_pair(fds, 0);
	child = fork();
	if (child == 0) {
		close(fds[0]);
		send_all(bench, fds[1], sender);
	}
	close(fds[1]);
	sim_aggregator_clear(&bench->aggregator);
	r = sim_aggregator_init(&bench->aggregator, bench->agents);
	bench->now = (rm_mono_t){ SIM_START_NS };
	if (r == 0)
		r = rm_loop_new(&bench->loop);
	if (r == 0 && taker != NULL)
		limits.tls = tls_of(bench->loop, taker);
	if (r == 0)
		r = rm_link_new(bench->loop, fds[0], &limits, &callbacks, bench, &link);
	if (r == 0)
		r = rm_loop_run(bench->loop);
	if (r == 0)
		figure_keep_best(ret,
		    (double)(figure_cpu_ns() - bench->begun_ns) / (double)bench->count);
	rm_link_free(link);
	rm_tls_free(limits.tls);
	rm_loop_free(bench->loop);
	waitpid(child, &status, 0);
	if (r == 0 && (status != 0 || bench->next != bench->count))
		r = -EPROTO;
	return r;
}

static void
report(const struct bench *bench, double plain, double sealed)
{
	const struct figure batch = {
		.name = "a batch over a link with TLS, all of it",
		.unit = "us",
		.value = sealed / 1000,
		.yardstick_is = "the same in plaintext, with a checksum",
		.yardstick = plain / 1000,
		.gate = "aim ratio <= 1.2",
	};
	const struct figure result = {
		.name = "TLS per result",
		.unit = "ns",
		.value =
		    (sealed - plain) * (double)bench->count / (double)bench->results,
	};

	figure_print(&batch);
	figure_print(&result);
}

int
main(int argc, char **argv)
{
	size_t seconds = figure_argument(argc, argv, "--smoke") ? 8 : 40;
	struct rm_tls_files sender, taker;
	struct pki *pki = pki_new();
	struct bench bench = { 0 };
	double plain = 0, sealed = 0;
	int r = sim_agents_new(RNICS, RATE, FAR_TORS, &bench.agents);

	if (r == 0)
		r = encode(&bench, seconds);
	sender = pki_issue(pki, "sender", &(struct pki_wish){ .uri = AGENT_URI });
	taker = pki_issue(pki, "taker", &(struct pki_wish){ .uri = TOR_URI });
	for (int i = 0; i < ROUNDS && r == 0; i++) {
		r = measure(&bench, NULL, NULL, &plain);
		if (r == 0)
			r = measure(&bench, &sender, &taker, &sealed);
	}
	if (r == 0)
		report(&bench, plain, sealed);
	else
		fprintf(stderr, "bench_tls: %s\n", strerror(-r));
	sim_aggregator_clear(&bench.aggregator);
	sim_agents_free(bench.agents);
	for (size_t i = 0; i < bench.count; i++)
		free(bench.messages[i].data);
	free(bench.messages);
	pki_free(pki);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
