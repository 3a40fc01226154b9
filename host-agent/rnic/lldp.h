/*
 * lldp - the switch at the other end of each network device's cable, from lldpd.
 *
 * A separate systemd unit writes the output of `lldpcli -f json0 show neighbors` to a
 * file, and the agent reads that file. So the agent needs no access to lldpd's socket,
 * which would allow it to change lldpd's settings. The neighbours' data is not trusted:
 * it is bounded, and only names are used.
 */
#ifndef HOST_AGENT_RNIC_LLDP_H
#define HOST_AGENT_RNIC_LLDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LLDP_MAX_BYTES (1u << 20)
#define LLDP_MAX_NEIGHBORS 512
#define LLDP_NETDEV_BYTES 16
#define LLDP_NAME_BYTES 256 /* maximum number of bytes of a system's name in LLDP */

struct lldp_neighbor {
	char netdev[LLDP_NETDEV_BYTES];
	char name[LLDP_NAME_BYTES]; /* the system's name, printable; "" when it has none
				     */
	bool forwards; /* the neighbour reports that it is a bridge or a router */
};

struct lldp {
	struct lldp_neighbor list[LLDP_MAX_NEIGHBORS];
	size_t count;
	/* neighbours that were left out: beyond the limit, or without a valid name */
	uint64_t dropped;
};

/* -EBADMSG: not the output of that command; -ENOMEM. On failure *ret is unchanged. */
int lldp_parse(const char *text, size_t len, struct lldp *ret);

/* Blocks. -ENOENT: there is no file; -ESTALE: its last write was more than LLDP_STALE_S
 * seconds ago; -EFBIG: it is too large; else as lldp_parse. */
int lldp_read(const char *path, struct lldp *ret);
#define LLDP_STALE_S 300

/* Returns the switch at the other end of this network device's cable; NULL: not known.
 * There may be several neighbours, for example if the NIC itself sends LLDP: then the
 * result is the neighbour that forwards, or NULL if several do. */
const char *lldp_switch(const struct lldp *lldp, const char *netdev);

#endif
