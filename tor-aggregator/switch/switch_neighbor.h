/*
 * switch_neighbor - the neighbour at a port of a switch, from the neighbour's LLDP
 * messages. Pure.
 *
 * The texts come from outside: they are bounded and plain ASCII, other texts count as
 * missing. Names are compared without their domain, port names without regard to short
 * forms, because the two ends may use different forms.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SWITCH_NEIGHBOR_H
#define TOR_AGGREGATOR_SWITCH_SWITCH_NEIGHBOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWITCH_NEIGHBOR_BYTES 64 /* size of each text */

struct switch_neighbor {
	char name[SWITCH_NEIGHBOR_BYTES];        /* its system name; "": it has none */
	char port[SWITCH_NEIGHBOR_BYTES];        /* id of its port: a name, a MAC */
	char description[SWITCH_NEIGHBOR_BYTES]; /* of that port; "": none */
};

/* True: it has sent its name or its port. */
bool switch_neighbor_is_there(const struct switch_neighbor *neighbor);

/* -ENODATA: a text that means "none"; -EBADMSG: too long, or not plain. ret is then
 * "". */
int switch_neighbor_read(const char *text, size_t len, char ret[SWITCH_NEIGHBOR_BYTES]);

/* "Leaf1.example" is leaf1, and the other way round; two domains must agree. */
bool switch_name_is_same(const char *a, const char *b);
/* "Eth1/1" is Ethernet1/1. */
bool switch_port_is_same(const char *a, const char *b);
/* True: it is the port, by its id or its description. */
bool switch_neighbor_is_at(const struct switch_neighbor *neighbor, const char *port);

/* Its port's id as a MAC: "54:a2:74:cc:7f:42", "54a2.74cc.7f42". False: it is not
 * one. */
bool switch_neighbor_mac(const struct switch_neighbor *neighbor, uint64_t *ret);
/* True: this RNIC id is derived from the MAC: the MAC itself, or its 64 bits as an
 * EUI. */
bool switch_mac_is_of_guid(uint64_t mac, uint64_t guid);

#endif
