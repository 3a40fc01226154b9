/*
 * lldp - the switch at the other end of each network device's cable, from lldpd.
 *
 * Reads the output of `lldpcli -f json0 show neighbors`, which a separate unit writes
 * to a file: with access to lldpd's socket the agent could change lldpd's settings, and
 * the command needs more rights. The neighbours' data is not trusted: it is bounded,
 * and only names are used.
 */
#ifndef HOST_AGENT_RNIC_LLDP_H
#define HOST_AGENT_RNIC_LLDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LLDP_MAX_BYTES (1u << 20)
#define LLDP_MAX_NEIGHBORS 512
#define LLDP_NETDEV_BYTES 16
#define LLDP_NAME_BYTES 256 /* of a system's name, as LLDP bounds it */

struct lldp_neighbor {
	char netdev[LLDP_NETDEV_BYTES];
	char name[LLDP_NAME_BYTES]; /* the system's name, printable; "" when it has none
				     */
	bool forwards;              /* it reports that it is a bridge or a router */
};

struct lldp {
	struct lldp_neighbor list[LLDP_MAX_NEIGHBORS];
	size_t count;
	uint64_t dropped; /* beyond the limit, or without a usable name */
};

/* -EBADMSG: the text is not such output. *ret is then unchanged. -ENOMEM. */
int lldp_parse(const char *text, size_t len, struct lldp *ret);

/* -ENOENT: there is no file. -ESTALE: it was last written more than LLDP_STALE_S ago.
 * -EFBIG. Blocks. */
int lldp_read(const char *path, struct lldp *ret);
#define LLDP_STALE_S 300

/* The switch behind this network device; NULL: none is known. If there are several
 * neighbours, as when the NIC itself sends LLDP, the one that forwards; NULL when
 * several forward. */
const char *lldp_switch(const struct lldp *lldp, const char *netdev);

#endif
