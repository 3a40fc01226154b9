#include "host-agent/udp/port_udp_socket.h"

#include <errno.h>
#include <linux/net_tstamp.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rackmesh/core/netns.h"

#define SEND_BUFFER_BYTES (1 << 20)
#define HOPS 255

socklen_t
port_udp_address_from_wire(
    const struct wire_address *address, uint16_t port, union port_udp_address *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (address->family == 4) {
		ret->in.sin_family = AF_INET;
		ret->in.sin_port = htons(port);
		memcpy(&ret->in.sin_addr, address->bytes, 4);
		return sizeof(ret->in);
	}
	if (address->family == 6) {
		ret->in6.sin6_family = AF_INET6;
		ret->in6.sin6_port = htons(port);
		memcpy(&ret->in6.sin6_addr, address->bytes, 16);
		return sizeof(ret->in6);
	}
	return 0;
}

void
port_udp_address_to_wire(
    const union port_udp_address *address, struct wire_address *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (address->any.sa_family == AF_INET) {
		ret->family = 4;
		memcpy(ret->bytes, &address->in.sin_addr, 4);
		ret->port = ntohs(address->in.sin_port);
	} else if (address->any.sa_family == AF_INET6) {
		ret->family = 6;
		memcpy(ret->bytes, &address->in6.sin6_addr, 16);
		ret->port = ntohs(address->in6.sin6_port);
	}
}

struct option_value {
	int level, name, value;
};

static int
set_options(int fd, const struct option_value *options, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			sizeof(options[i].value)) < 0)
			return -errno;
	return 0;
}

/*
 * The stamps come with the bytes of the packet (no OPT_TSONLY): see port_udp_stamps.
 * PMTUDISC_PROBE sets "do not fragment" and ignores path MTUs from ICMP messages. The
 * IPv6 flow label is 0, as in traces, because some switches choose the path by the
 * label, too.
 */
static int
socket_set_options(int fd, uint8_t family)
{
	static const struct option_value both[] = {
		{ SOL_SOCKET, SO_TIMESTAMPING,
		    SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE |
			SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID },
		{ SOL_SOCKET, SO_RXQ_OVFL, 1 },
	};
	static const struct option_value ipv4[] = {
		{ SOL_IP, IP_RECVTOS, 1 },
		{ SOL_IP, IP_RECVTTL, 1 },
		{ SOL_IP, IP_TTL, HOPS },
		{ SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE },
	};
	static const struct option_value ipv6[] = {
		{ SOL_IPV6, IPV6_V6ONLY, 1 },
		{ SOL_IPV6, IPV6_RECVTCLASS, 1 },
		{ SOL_IPV6, IPV6_RECVHOPLIMIT, 1 },
		{ SOL_IPV6, IPV6_UNICAST_HOPS, HOPS },
		{ SOL_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE },
		{ SOL_IPV6, IPV6_DONTFRAG, 1 },
		{ SOL_IPV6, IPV6_AUTOFLOWLABEL, 0 },
	};
	int r = set_options(fd, both, sizeof(both) / sizeof(both[0]));

	if (r < 0)
		return r;
	if (family == 4)
		return set_options(fd, ipv4, sizeof(ipv4) / sizeof(ipv4[0]));
	return set_options(fd, ipv6, sizeof(ipv6) / sizeof(ipv6[0]));
}

/* With CAP_NET_ADMIN the buffers have the requested size; without it, at most the size
 * of the system's limit. */
static void
socket_set_buffers(int fd, int receive_bytes)
{
	int send_bytes = SEND_BUFFER_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &receive_bytes,
		sizeof(receive_bytes)) < 0)
		(void)setsockopt(
		    fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
	if (setsockopt(
		fd, SOL_SOCKET, SO_SNDBUFFORCE, &send_bytes, sizeof(send_bytes)) < 0)
		(void)setsockopt(
		    fd, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof(send_bytes));
}

struct open_call {
	const struct port_udp_binding *binding;
	int fd; /* result */
};

static int
socket_open_here(void *arg)
{
	struct open_call *call = arg;
	const struct port_udp_binding *binding = call->binding;
	union port_udp_address own;
	socklen_t len =
	    port_udp_address_from_wire(&binding->address, binding->port, &own);
	size_t device_len = strlen(binding->device);
	int fd, r;

	if (len == 0)
		return -EAFNOSUPPORT;
	fd = socket(own.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	r = socket_set_options(fd, binding->address.family);
	if (r < 0)
		goto fail;
	socket_set_buffers(fd, binding->receive_buffer_bytes);
	if (device_len > 0 && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE,
				  binding->device, (socklen_t)device_len) < 0) {
		r = -errno;
		goto fail;
	}
	if (bind(fd, &own.any, len) < 0) {
		r = -errno;
		goto fail;
	}
	call->fd = fd;
	return 0;
fail:
	close(fd);
	return r;
}

int
port_udp_socket_open(const struct port_udp_binding *binding, int *ret)
{
	struct open_call call = { .binding = binding, .fd = -1 };
	int r = rm_netns_call(binding->netns_fd, socket_open_here, &call);

	if (r < 0)
		return r;
	*ret = call.fd;
	return 0;
}

int
port_udp_socket_drops(int fd, uint32_t *ret)
{
	uint32_t values[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(values);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, values, &len) < 0)
		return -errno;
	*ret = values[SK_MEMINFO_DROPS];
	return 0;
}
