#include "region-controller/registry/registry_check.h"

#include <string.h>

/* True: the port is valid. Over UDP any port but 0 is valid, over RoCE only
 * WIRE_ROCE_PORT; InfiniBand has no UDP port. */
static bool
port_is_fine(const struct wire_rnic *rnic, uint16_t port)
{
	if (rnic->qpn == 0)
		return port != 0;
	return rnic->lid != 0 || port == WIRE_ROCE_PORT;
}

static bool
address_is_fine(const struct wire_rnic *rnic, const struct wire_address *address)
{
	static const uint8_t zero[16];

	if (!port_is_fine(rnic, address->port))
		return false;
	if (address->family == 4)
		return memcmp(address->bytes, zero, 4) != 0 && address->bytes[0] < 224;
	if (address->family == 6)
		return memcmp(address->bytes, zero, 16) != 0 &&
		       address->bytes[0] != 0xff;
	return false;
}

/* Returns the first invalid name; NULL: all are valid. */
static const char *
bad_name(const struct wire_rnic *rnic, const char *host)
{
	if (!rm_name_valid(host))
		return host;
	if (!rm_name_valid(rnic->device))
		return rnic->device;
	/* A registration must not contain RNICs of another host. */
	if (rnic->host[0] != '\0' && strcmp(rnic->host, host) != 0)
		return rnic->host;
	for (size_t i = 0; i < rnic->tor_count; i++) {
		if (!rm_name_valid(rnic->tors[i]) ||
		    (i > 0 && strcmp(rnic->tors[0], rnic->tors[i]) == 0))
			return rnic->tors[i];
	}
	return NULL;
}

/* True: an RNIC without a QP has no large QP and no LID; if it has both QPs, their
 * numbers differ. */
static bool
qps_are_fine(const struct wire_rnic *rnic)
{
	if (rnic->qpn > WIRE_MAX_QPN || rnic->large_qpn > WIRE_MAX_QPN ||
	    rnic->link > WIRE_LINK_DOWN)
		return false;
	if (rnic->qpn == 0)
		return rnic->large_qpn == 0 && rnic->lid == 0;
	return rnic->large_qpn != rnic->qpn;
}

enum registry_refusal
registry_check(const struct wire_rnic *rnic, const char *host, const char **name)
{
	const char *bad;

	if (rnic->id.guid == 0 || rnic->id.port == RM_PORT_SWITCH ||
	    (rnic->id.port == RM_PORT_MAC && rnic->id.guid >> 48 != 0))
		return REGISTRY_BAD_ID;
	if (rnic->tor_count == 0)
		return REGISTRY_NO_TOR;
	bad = rnic->tor_count > WIRE_MAX_ATTACHMENTS ? "" : bad_name(rnic, host);
	if (bad != NULL) {
		*name = bad;
		return REGISTRY_BAD_NAME;
	}
	if (rnic->address_count > WIRE_MAX_ADDRESSES || !qps_are_fine(rnic))
		return REGISTRY_BAD_ADDRESS;
	for (size_t i = 0; i < rnic->address_count; i++) {
		if (!address_is_fine(rnic, &rnic->addresses[i]))
			return REGISTRY_BAD_ADDRESS;
	}
	return REGISTRY_PLACED;
}

/* The text was checked before, so it is short enough for a name. */
static void
take_name(char ret[RM_NAME_BYTES], const char *text)
{
	memset(ret, 0, RM_NAME_BYTES);
	memcpy(ret, text, strnlen(text, RM_NAME_BYTES - 1));
}

/* Copies a driver's name, which is only displayed: unprintable characters become
 * '?'. */
static void
take_driver(char ret[RM_NAME_BYTES], const char *text)
{
	take_name(ret, text);
	for (char *at = ret; *at != '\0'; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

void
registry_take_over(
    struct registry_rnic *ret, const struct wire_rnic *rnic, const char *host)
{
	take_name(ret->host, host);
	take_name(ret->device, rnic->device);
	take_driver(ret->driver, rnic->driver);
	memset(ret->tors, 0, sizeof(ret->tors));
	for (size_t i = 0; i < rnic->tor_count; i++)
		take_name(ret->tors[i], rnic->tors[i]);
	ret->tor_count = rnic->tor_count;
	memset(ret->addresses, 0, sizeof(ret->addresses));
	for (size_t i = 0; i < rnic->address_count; i++) {
		const struct wire_address *from = &rnic->addresses[i];

		ret->addresses[i].family = from->family;
		ret->addresses[i].port = from->port;
		memcpy(
		    ret->addresses[i].bytes, from->bytes, from->family == 4 ? 4 : 16);
	}
	ret->address_count = rnic->address_count;
	ret->qpn = rnic->qpn;
	ret->large_qpn = rnic->large_qpn;
	ret->lid = rnic->lid;
	ret->link = rnic->link;
	ret->authenticates = rnic->authenticates;
	ret->mtu_bytes = rnic->mtu_bytes;
	ret->incarnation = rnic->incarnation;
}

static bool
same_address(const struct wire_address *a, const struct wire_address *b)
{
	return a->family == b->family && a->port == b->port &&
	       memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static bool
have_common_tor(const struct registry_rnic *a, const struct registry_rnic *b)
{
	for (size_t i = 0; i < a->tor_count; i++) {
		for (size_t j = 0; j < b->tor_count; j++) {
			if (strcmp(a->tors[i], b->tors[j]) == 0)
				return true;
		}
	}
	return false;
}

static bool
have_common_address(const struct registry_rnic *a, const struct registry_rnic *b)
{
	for (size_t i = 0; i < a->address_count; i++) {
		for (size_t j = 0; j < b->address_count; j++) {
			if (same_address(&a->addresses[i], &b->addresses[j]))
				return true;
		}
	}
	return false;
}

bool
registry_same_place(const struct registry_rnic *a, const struct registry_rnic *b)
{
	return have_common_tor(a, b) &&
	       (strcmp(a->device, b->device) == 0 || have_common_address(a, b));
}

bool
registry_same_addresses(const struct registry_rnic *a, const struct registry_rnic *b)
{
	for (size_t i = 0; i < WIRE_MAX_ADDRESSES; i++) {
		if (!same_address(&a->addresses[i], &b->addresses[i]))
			return false;
	}
	return a->address_count == b->address_count;
}

bool
registry_same_plan(const struct registry_rnic *a, const struct registry_rnic *b)
{
	return registry_same_addresses(a, b) && strcmp(a->host, b->host) == 0 &&
	       strcmp(a->device, b->device) == 0 && strcmp(a->driver, b->driver) == 0 &&
	       memcmp(a->tors, b->tors, sizeof(a->tors)) == 0 &&
	       a->tor_count == b->tor_count && a->qpn == b->qpn &&
	       a->large_qpn == b->large_qpn && a->lid == b->lid &&
	       a->mtu_bytes == b->mtu_bytes && a->authenticates == b->authenticates &&
	       (a->qpn == 0 || a->incarnation == b->incarnation);
}
