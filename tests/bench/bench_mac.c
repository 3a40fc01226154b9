/*
 * bench_mac - what authentication adds to a probe at either end.
 *
 * A prober signs a probe and verifies the reply, a reflector verifies and signs: each
 * figure is one of these four, for the smallest packet of its port.
 *
 * Yardstick: OpenSSL's one-shot HMAC() of the same bytes, which sets up its key each
 * time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "host-agent/packet/probe_format.h"
#include "rackmesh/identity/probe_key.h"
#include "tests/bench/figure.h"

#define PASSES 20000

static uint8_t packet[2048];
static size_t packet_len;
static struct probe_macs macs;
static volatile unsigned
    kept; /* never read: keeps the compiler from removing the work */

static double
measure_sign(const struct probe_format *format)
{
	uint64_t start = figure_cpu_ns();

	for (int i = 0; i < PASSES; i++) {
		packet[3] = (uint8_t)i;
		format->sign(packet, &macs.probe);
	}
	return (double)(figure_cpu_ns() - start) / PASSES;
}

static double
measure_verify(const struct probe_format *format)
{
	uint64_t start = figure_cpu_ns();

	for (int i = 0; i < PASSES; i++)
		kept += format->verify(packet, packet_len, &macs.probe);
	return (double)(figure_cpu_ns() - start) / PASSES;
}

/* A probe signed with another key, in a new session. */
static double
measure_derive(const uint8_t responder_key[PROBE_KEY_BYTES])
{
	uint64_t start = figure_cpu_ns();

	for (int i = 0; i < PASSES; i++) {
		uint8_t key[PROBE_KEY_BYTES];
		struct probe_macs made;

		probe_key_pair(responder_key,
		    (struct rm_rnic_id){ .guid = (uint64_t)i, .port = 1 }, key);
		probe_macs_init(&made, key);
		kept += made.reply.outer[0];
	}
	return (double)(figure_cpu_ns() - start) / PASSES;
}

static double
measure_one_shot(const uint8_t key[PROBE_KEY_BYTES], size_t signed_bytes)
{
	uint64_t start = figure_cpu_ns();

	for (int i = 0; i < PASSES / 10; i++) {
		uint8_t out[PROBE_HMAC_BYTES];
		unsigned len;

		HMAC(EVP_sha256(), key, PROBE_KEY_BYTES, packet, signed_bytes, out,
		    &len);
		kept += out[0];
	}
	return (double)(figure_cpu_ns() - start) / (PASSES / 10);
}

static void
measure_format(const struct probe_format *format, const char *of,
    const uint8_t key[PROBE_KEY_BYTES], int rounds)
{
	double sign = 0, verify = 0, plain = 0;

	packet_len = format->size(0);
	memset(packet, 0, sizeof(packet));
	format->write_probe(&(struct probe_ask){ .seq = 1 }, packet_len, packet);
	for (int i = 0; i < rounds; i++) {
		figure_keep_best(&sign, measure_sign(format));
		figure_keep_best(&verify, measure_verify(format));
		figure_keep_best(&plain, measure_one_shot(key, packet_len));
	}
	figure_print(&(struct figure){ .name = "sign",
	    .unit = "ns/packet",
	    .value = sign,
	    .yardstick_is = "one-shot HMAC()",
	    .yardstick = plain,
	    .gate = "value <= 1000",
	    .of = of });
	figure_print(&(struct figure){ .name = "verify",
	    .unit = "ns/packet",
	    .value = verify,
	    .yardstick_is = "one-shot HMAC()",
	    .yardstick = plain,
	    .gate = "value <= 1000",
	    .of = of });
}

int
main(int argc, char **argv)
{
	int rounds = figure_argument(argc, argv, "--smoke") ? 5 : 25;
	static const uint8_t key[PROBE_KEY_BYTES] = { 1, 2, 3 };
	double derive = 0;

	probe_macs_init(&macs, key);
	measure_format(&stamp_auth_format, "UDP", key, rounds);
	measure_format(&roce_keyed_format, "RoCE", key, rounds);
	for (int i = 0; i < rounds; i++)
		figure_keep_best(&derive, measure_derive(key));
	figure_print(&(struct figure){ "derive a prober's keys", "ns/pair", derive });
	return EXIT_SUCCESS;
}
