#include "rackmesh/net/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "rackmesh/core/clock.h"

/* A host that vanishes while we have nothing to say is noticed within some 15 s. A
 * frozen process's kernel still answers. */
int
rm_tcp_prepare(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 5 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 3 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 3 },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			sizeof(options[i].value)) < 0)
			return -errno;
	return 0;
}

int
rm_tcp_peer_ack(int fd, int64_t *since_ns, uint32_t *unacked)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);
	int queued, unsent;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return -errno;
	if (ioctl(fd, SIOCOUTQ, &queued) < 0 || ioctl(fd, SIOCOUTQNSD, &unsent) < 0)
		return -errno;
	*since_ns = (int64_t)info.tcpi_last_ack_recv * RM_NS_PER_MS;
	/* Behind a frozen process's full window bytes wait unsent: those wait for
	 * room and not for an ACK. */
	*unacked = queued > unsent ? (uint32_t)(queued - unsent) : 0;
	return 0;
}
