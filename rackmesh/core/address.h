/*
 * address - a socket address and its text, "10.0.0.1:7471", "[fd00::1]:7471",
 * "unix:/run/rackmesh/agent.sock". Numeric only: no name is looked up.
 */
#ifndef RACKMESH_CORE_ADDRESS_H
#define RACKMESH_CORE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

struct rm_address {
	struct sockaddr_storage storage;
	socklen_t len;
};

#define RM_ADDRESS_TEXT 128
#define RM_ADDRESS_EXPECTED \
	"expected a numeric address with a port, as 127.0.0.1:7471 or [::1]:7471"

/* default_port < 0: the text must have a port. -EINVAL: not an address. */
int rm_address_parse(const char *text, int default_port, struct rm_address *ret);
void rm_address_format(const struct rm_address *address, char text[RM_ADDRESS_TEXT]);
bool rm_address_equal(const struct rm_address *a, const struct rm_address *b);

#endif
