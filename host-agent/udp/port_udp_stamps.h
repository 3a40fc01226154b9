/*
 * port_udp_stamps - finds the packet of each transmit stamp of the kernel.
 *
 * The kernel numbers a socket's packets (OPT_ID), but a failed send may or may not use
 * up a number, so by the number alone a packet could get the time of its neighbour. The
 * stamp comes with a copy of the packet, so a match requires equal bytes, too, and a
 * number that is off by a few is corrected.
 */
#ifndef HOST_AGENT_UDP_PORT_UDP_STAMPS_H
#define HOST_AGENT_UDP_PORT_UDP_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most packets of a socket that wait for their stamps; a power of 2. */
#define PORT_UDP_STAMPS 128
#define PORT_UDP_KEY_BYTES 16

struct port_udp_stamps { /* all zero initially */
	struct {
		uint64_t key; /* 0: the entry is free */
		uint64_t token;
	} slots[PORT_UDP_STAMPS];
	uint32_t sent;    /* number that this module gives to the next packet */
	uint32_t stamped; /* number after the newest packet that has got its stamp */
	uint32_t shift;   /* the kernel's number of a packet minus the number here */
};

/* A hash of a packet's first PORT_UDP_KEY_BYTES, never 0; 0: the packet is shorter. */
uint64_t port_udp_stamps_key(const uint8_t *payload, size_t len);

/* A packet was sent. True: there was no room, so the oldest packet that waits for its
 * stamp was dropped. */
bool port_udp_stamps_add(struct port_udp_stamps *stamps, uint64_t key, uint64_t token);

enum port_udp_stamp { PORT_UDP_UNMATCHED, PORT_UDP_MATCHED, PORT_UDP_RESYNCED };

enum port_udp_stamp port_udp_stamps_match(
    struct port_udp_stamps *stamps, uint32_t id, uint64_t key, uint64_t *token);

/* True: the stamp of the newest packet has not been read yet. */
bool port_udp_stamps_waiting(const struct port_udp_stamps *stamps);

/* Returns the offset of the UDP payload in a looped packet, which begins with any link
 * header; 0: not found. It searches for an IP header that is followed by a UDP header
 * with source port sport. */
size_t port_udp_stamps_payload(
    const uint8_t *packet, size_t len, uint8_t family, uint16_t sport);

#endif
