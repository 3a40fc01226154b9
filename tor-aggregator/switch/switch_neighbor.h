/*
 * switch_neighbor - reads the neighbour at a port of a switch, which the switch knows
 * from LLDP messages. Pure.
 *
 * The texts come from other devices: a text that is too long or not plain ASCII counts
 * as missing. Names are compared without their domains, and names of ports by any of
 * their short forms, because the two devices may use different forms.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SWITCH_NEIGHBOR_H
#define TOR_AGGREGATOR_SWITCH_SWITCH_NEIGHBOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWITCH_NEIGHBOR_BYTES 64 /* size of each text, with the final 0 */

struct switch_neighbor {
	/* system name of the neighbour; "": none */
	char name[SWITCH_NEIGHBOR_BYTES];
	/* id of the neighbour's port: a name or a MAC */
	char port[SWITCH_NEIGHBOR_BYTES];
	/* description of that port; "": none */
	char description[SWITCH_NEIGHBOR_BYTES];
};

/* True: there is a neighbour: it has sent its name or its port. */
bool switch_neighbor_is_there(const struct switch_neighbor *neighbor);

/* Checks and copies a text. -ENODATA: the text means "none"; -EBADMSG: it is too long,
 * or not plain ASCII; in both cases ret is "". */
int switch_neighbor_read(const char *text, size_t len, char ret[SWITCH_NEIGHBOR_BYTES]);

/* Compares two names without regard to case. A name without domain is equal to the same
 * name with one: "Leaf1.example" is leaf1. Two domains must be equal. */
bool switch_name_is_same(const char *a, const char *b);
/* Compares names of ports: "Eth1/1" is Ethernet1/1. */
bool switch_port_is_same(const char *a, const char *b);
/* True: the neighbour's port is the given port, by its id or its description. */
bool switch_neighbor_is_at(const struct switch_neighbor *neighbor, const char *port);

/* Reads the port's id as a MAC, such as "54:a2:74:cc:7f:42" or "54a2.74cc.7f42". False:
 * it is no MAC. */
bool switch_neighbor_mac(const struct switch_neighbor *neighbor, uint64_t *ret);
/* True: the GUID of an RNIC is derived from this MAC: it is the MAC itself, or the
 * EUI-64 made of it. */
bool switch_mac_is_of_guid(uint64_t mac, uint64_t guid);

#endif
