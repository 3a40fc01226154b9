#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include "rackmesh/net/dialer.h"
#include "rackmesh/net/listener.h"
#include "tests/support/tls_fixture.h"
#include "tests/support/trials.h"

#define ROTATIONS 200
#define ROTATIONS_SOAK 1000
#define LINKS 4

struct lane {
	struct end dialing, accepting;
	uint64_t sent, sum;
};

static unsigned
rotations(void)
{
	return trials_are_asked_for("RACKMESH_SOAK") ? ROTATIONS_SOAK
						     : trials_of(ROTATIONS);
}

static void
lane_send(struct lane *lane)
{
	if (lane->dialing.link == NULL || lane->dialing.opens == 0)
		return;
	for (int i = 0; i < 8; i++) {
		uint64_t number = lane->sent + 1;

		if (rm_link_send(lane->dialing.link, (const uint8_t *)&number,
			sizeof(number)) < 0)
			return;
		lane->sent++;
		lane->sum += number;
	}
}

/* What is rotated this time: leaf, intermediate, key type or root. */
struct wheel {
	struct pki_authority *root, *last_root, *by;
};

static void
wheel_turn(struct ends *ends, struct wheel *wheel, unsigned turn)
{
	struct pki_wish agent = { .uri = AGENT_URI }, tor = { .uri = TOR_URI };

	switch (turn % 8) {
	case 3: /* another intermediate */
		wheel->by = pki_authority(ends->pki, "middle", wheel->root);
		break;
	case 5: /* a new root: first it is trusted besides the old one */
		wheel->last_root = wheel->root;
		wheel->root = pki_authority(ends->pki, "next root", NULL);
		pki_trust(ends->pki, wheel->last_root, wheel->root);
		return;
	case 6: /* then it signs */
		wheel->by = wheel->root;
		break;
	case 7: /* then the old root is removed */
		pki_trust(ends->pki, wheel->root, NULL);
		return;
	default:
		break;
	}
	agent.by = tor.by = wheel->by;
	agent.rsa = turn % 16 == 1;
	pki_issue(ends->pki, "dialing", &agent);
	pki_issue(ends->pki, "accepting", &tor);
}

static void
lane_reopen(struct ends *ends, struct lane *lane)
{
	int fds[2];

	/* An orderly end: all frames sent before it must arrive. */
	if (lane->dialing.link != NULL)
		end_hang_up(&lane->dialing);
	if (lane->accepting.link != NULL)
		LOOPBACK_WAIT(ends->loop, lane->accepting.closes > 0);
	lane->dialing.opens = lane->accepting.opens = 0;
	lane->dialing.frames = lane->accepting.frames = 0;
	lane->dialing.closes = lane->accepting.closes = 0;
	loopback_pair(fds, 0);
	end_begin(ends->loop, &lane->dialing, fds[0], false);
	end_begin(ends->loop, &lane->accepting, fds[1], true);
	LOOPBACK_WAIT(ends->loop, lane->dialing.opens > 0 && lane->accepting.opens > 0);
}

/*
 * Links survive every rotation, and new links use the current files. Leaf,
 * intermediate, key type and root are rotated in turns.
 */
static void
no_frame_is_lost_by_rotations(void **state)
{
	struct ends *ends = *state;
	struct lane lanes[LINKS] = { 0 };
	struct wheel wheel = { .root = pki_root(ends->pki) };
	uint64_t seen = 0;
	unsigned turn = 0;

	wheel.by = wheel.root;
	for (size_t i = 0; i < LINKS; i++) {
		lanes[i].dialing.tls = ends->dialing.tls;
		lanes[i].accepting.tls = ends->accepting.tls;
		lane_reopen(ends, &lanes[i]);
	}
	while (turn < rotations()) {
		wheel_turn(ends, &wheel, turn++);
		rm_tls_look(ends->dialing.tls);
		rm_tls_look(ends->accepting.tls);
		for (size_t i = 0; i < LINKS; i++)
			lane_send(&lanes[i]);
		event_base_loop(rm_loop_base(ends->loop), EVLOOP_NONBLOCK);
		/* Before the old root is removed, all links reconnect, as they would
		 * before their certificates end. */
		for (size_t i = 0; i < LINKS; i++)
			if (turn % 8 == 7 || i == turn % LINKS)
				lane_reopen(ends, &lanes[i]);
	}
	for (size_t i = 0; i < LINKS; i++) {
		LOOPBACK_WAIT(ends->loop, lanes[i].accepting.sum == lanes[i].sum);
		seen += lanes[i].sent;
		assert_int_equal(lanes[i].accepting.closes, 0);
		end_hang_up(&lanes[i].dialing);
		end_hang_up(&lanes[i].accepting);
	}
	assert_true(seen >= 8ull * LINKS * rotations());
	assert_true(rm_tls_counts(ends->accepting.tls)->rotations >= turn);
	assert_int_equal(rm_tls_counts(ends->accepting.tls)->bad_files, 0);
	assert_int_equal(rm_tls_counts(ends->accepting.tls)->refused, 0);
	assert_int_equal(rm_tls_counts(ends->dialing.tls)->refused, 0);
	print_message(
	    "%u rotations, %llu frames, 0 lost\n", turn, (unsigned long long)seen);
}

struct dial {
	struct rm_loop *loop;
	struct rm_dialer *dialer;
	struct end *accepting;
	unsigned ups, downs;
	int reason;
	char cause[512];
};

static int
dial_on_up(struct rm_link *link, void *arg)
{
	struct dial *dial = arg;

	dial->ups++;
	rm_dialer_settled(dial->dialer);
	return rm_link_send(link, (const uint8_t *)"hello", 5);
}

static int
dial_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	return 0;
}

static void
dial_on_down(int reason, void *arg)
{
	struct dial *dial = arg;

	dial->downs++;
	dial->reason = reason;
	snprintf(dial->cause, sizeof(dial->cause), "%s", rm_dialer_error(dial->dialer));
}

static int
dial_on_accept(int fd, const struct rm_address *peer, void *arg)
{
	struct dial *dial = arg;

	dial->accepting->opens = dial->accepting->frames = dial->accepting->closes = 0;
	end_begin(dial->loop, dial->accepting, fd, true);
	return 0;
}

static void
dial_begin(struct ends *ends, struct dial *dial, struct rm_listener **listener)
{
	static const struct rm_dialer_callbacks callbacks = { dial_on_up, dial_on_frame,
		dial_on_down, NULL };
	struct rm_address address = loopback_address(0);
	struct rm_endpoint endpoint;
	struct rm_dialer_options options = {
		.peers = &endpoint,
		.peer_count = 1,
		.limits = { ENDS_FRAME, ENDS_OUTPUT, ends->dialing.tls, false },
	};

	dial->loop = ends->loop;
	dial->accepting = &ends->accepting;
	assert_int_equal(
	    rm_listener_new(ends->loop, &address, dial_on_accept, dial, listener), 0);
	endpoint = loopback_endpoint(rm_listener_port(*listener));
	assert_int_equal(
	    rm_dialer_new(ends->loop, &options, &callbacks, dial, &dial->dialer), 0);
}

static void
the_dialing_side_reconnects_before_a_certificate_expires(void **state)
{
	struct ends *ends = *state;
	struct rm_listener *listener = NULL;
	struct dial dial = { 0 };
	struct rm_tls_files files;

	rm_tls_free(ends->accepting.tls);
	files = pki_issue(ends->pki, "accepting",
	    &(struct pki_wish){ .uri = TOR_URI, .valid_s = 11 });
	ends->accepting.tls = tls_of(ends->loop, &files);
	dial_begin(ends, &dial, &listener);
	LOOPBACK_WAIT(ends->loop, ends->accepting.frames == 1);
	assert_int_equal(dial.ups, 1);
	pki_issue(ends->pki, "accepting", &(struct pki_wish){ .uri = TOR_URI });
	LOOPBACK_WAIT(ends->loop, dial.downs == 1);
	assert_int_equal(dial.reason, -ESTALE);
	LOOPBACK_WAIT(ends->loop, dial.ups == 2 && ends->accepting.frames == 1);
	assert_int_equal(ends->accepting.reason, 0); /* not refused */
	assert_int_equal(rm_tls_counts(ends->accepting.tls)->refused, 0);
	rm_dialer_free(dial.dialer);
	rm_listener_free(listener);
}

static int64_t
now_s(void)
{
	return rm_wall_now().ns / RM_NS_PER_S;
}

/* The certificates began a minute ago: they last 240 s, of which 48 s are a fifth. */
static void
the_accepting_side_sees_when_the_peers_certificate_expires(void **state)
{
	struct ends *ends = *state;
	const struct rm_link *link;
	int64_t from_s = now_s(), ends_s;

	ends_credentials(
	    ends, &(struct pki_wish){ .uri = AGENT_URI, .valid_s = 180 }, NULL);
	ends_connect(ends);
	assert_int_equal(rm_link_certificate_ends_s(ends->accepting.link), 0);
	assert_false(rm_link_certificate_ending(ends->accepting.link, INT64_MAX));
	LOOPBACK_WAIT(ends->loop, ends->accepting.opens > 0);
	link = ends->accepting.link;
	ends_s = rm_link_certificate_ends_s(link);
	assert_true(ends_s >= from_s + 180 && ends_s <= now_s() + 180);
	assert_false(rm_link_certificate_ending(link, ends_s - 49));
	assert_true(rm_link_certificate_ending(link, ends_s - 47));
	assert_true(rm_link_certificate_ending(link, ends_s + 1));
}

/* With 12 of 72 s left, long before the link must reconnect. */
static void
a_renewed_certificate_is_shown_before_a_renewal_is_missed(void **state)
{
	struct ends *ends = *state;
	struct rm_listener *listener = NULL;
	struct dial dial = { 0 };
	struct rm_tls_files files;

	rm_tls_free(ends->dialing.tls);
	files = pki_issue(ends->pki, "dialing",
	    &(struct pki_wish){ .uri = AGENT_URI, .valid_s = 12 });
	ends->dialing.tls = tls_of(ends->loop, &files);
	dial_begin(ends, &dial, &listener);
	LOOPBACK_WAIT(ends->loop, ends->accepting.frames == 1);
	assert_true(rm_link_certificate_ending(ends->accepting.link, now_s()));
	pki_issue(ends->pki, "dialing", &(struct pki_wish){ .uri = AGENT_URI });
	LOOPBACK_WAIT(ends->loop, dial.downs == 1);
	assert_int_equal(dial.reason, -ESTALE);
	assert_string_equal(dial.cause, "certificate renewed, reconnecting");
	LOOPBACK_WAIT(ends->loop, dial.ups == 2 && ends->accepting.frames == 1);
	assert_int_equal(ends->accepting.reason, 0); /* not refused */
	assert_false(rm_link_certificate_ending(ends->accepting.link, now_s()));
	rm_dialer_free(dial.dialer);
	rm_listener_free(listener);
}

static void
a_refused_dialer_reports_the_reason_and_is_not_connected(void **state)
{
	struct ends *ends = *state;
	struct rm_listener *listener = NULL;
	struct dial dial = { 0 };
	struct rm_tls_files files;

	rm_tls_free(ends->accepting.tls);
	files = pki_issue(ends->pki, "accepting",
	    &(struct pki_wish){ .uri = TOR_URI, .client_only = true });
	ends->accepting.tls = tls_of(ends->loop, &files);
	dial_begin(ends, &dial, &listener);
	LOOPBACK_WAIT(ends->loop, dial.downs > 0 && ends->accepting.closes > 0);
	assert_int_equal(dial.ups, 0);
	assert_int_equal(dial.reason, -EACCES);
	assert_non_null(strstr(dial.cause, TOR_URI ": its extended key usage"));
	assert_int_equal(ends->accepting.reason, -EACCES);
	assert_non_null(
	    strstr(ends->accepting.cause, "the peer refused the certificate"));
	rm_dialer_free(dial.dialer);
	rm_listener_free(listener);
}

/* The peer is connected, but makes no handshake. */
static void
a_dialer_gives_up_on_a_peer_without_a_handshake(void **state)
{
	struct ends *ends = *state;
	struct rm_listener *listener = NULL;
	struct dial dial = { 0 };

	rm_tls_free(ends->accepting.tls);
	ends->accepting.tls = NULL;
	dial_begin(ends, &dial, &listener);
	LOOPBACK_WAIT(ends->loop, ends->accepting.link != NULL);
	rm_link_pause(ends->accepting.link);
	LOOPBACK_WAIT(ends->loop, dial.downs > 0);
	assert_int_equal(dial.ups, 0);
	assert_true(dial.reason == -ETIMEDOUT);
	assert_int_equal(rm_tls_counts(ends->dialing.tls)->timed_out, 1);
	rm_dialer_free(dial.dialer);
	rm_listener_free(listener);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, ends_setup, ends_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_frame_is_lost_by_rotations),
		TEST(the_dialing_side_reconnects_before_a_certificate_expires),
		cmocka_unit_test_setup_teardown(
		    the_accepting_side_sees_when_the_peers_certificate_expires,
		    ends_setup_bare, ends_teardown),
		TEST(a_renewed_certificate_is_shown_before_a_renewal_is_missed),
		TEST(a_refused_dialer_reports_the_reason_and_is_not_connected),
		TEST(a_dialer_gives_up_on_a_peer_without_a_handshake),
	};

	return cmocka_run_group_tests_name("link_tls_rotation", tests, NULL, NULL);
}
