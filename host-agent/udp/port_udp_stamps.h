/*
 * port_udp_stamps - which packet a transmit stamp of the kernel belongs to.
 *
 * The kernel numbers a socket's packets (OPT_ID), but a failed send may or may not use
 * up a number, so by the number alone a packet could get the time of its neighbour. The
 * stamp comes with a copy of the packet: a match requires the packet's own bytes too,
 * and a number that is off by a few is corrected.
 */
#ifndef HOST_AGENT_UDP_PORT_UDP_STAMPS_H
#define HOST_AGENT_UDP_PORT_UDP_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Packets of a socket that wait for their stamps; power of 2. */
#define PORT_UDP_STAMPS 128
#define PORT_UDP_KEY_BYTES 16

struct port_udp_stamps { /* all zero initially */
	struct {
		uint64_t key; /* 0: free */
		uint64_t token;
	} slots[PORT_UDP_STAMPS];
	uint32_t sent;    /* own number of the next packet */
	uint32_t stamped; /* the number after the newest packet that has its stamp */
	uint32_t shift;   /* the kernel's number of a packet minus the own number */
};

/* Key of a packet's first bytes; never 0. Fewer than PORT_UDP_KEY_BYTES: 0. */
uint64_t port_udp_stamps_key(const uint8_t *payload, size_t len);

/* A packet was sent. True: the oldest packet without a stamp was dropped for it. */
bool port_udp_stamps_add(struct port_udp_stamps *stamps, uint64_t key, uint64_t token);

enum port_udp_stamp { PORT_UDP_UNMATCHED, PORT_UDP_MATCHED, PORT_UDP_RESYNCED };

enum port_udp_stamp port_udp_stamps_match(
    struct port_udp_stamps *stamps, uint32_t id, uint64_t key, uint64_t *token);

/* True: the newest packet's stamp has not been read yet. */
bool port_udp_stamps_waiting(const struct port_udp_stamps *stamps);

/*
 * Where the UDP payload begins in a looped packet, whatever link header precedes it; 0:
 * not found. Looks for a UDP header from sport behind an IP header.
 */
size_t port_udp_stamps_payload(
    const uint8_t *packet, size_t len, uint8_t family, uint16_t sport);

#endif
