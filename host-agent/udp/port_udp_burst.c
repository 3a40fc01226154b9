#include "host-agent/udp/port_udp_burst.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <linux/errqueue.h> /* needs struct timespec */

#include "host-agent/packet/stamp.h"
#include "host-agent/udp/port_udp_socket.h"

#define CONTROL_BYTES 256
/* Bytes of a looped packet that are needed: headers (link, IP, UDP) and the start of
 * the payload. */
#define LOOPED_BYTES 160
#define ECN_CAPABLE 2 /* ECT(0), as RoCEv2 senders set it */

union control {
	struct cmsghdr align;
	uint8_t bytes[CONTROL_BYTES];
};

struct port_udp_burst {
	struct mmsghdr in[PORT_BURST];
	struct iovec in_data[PORT_BURST];
	union port_udp_address in_from[PORT_BURST];
	union control in_control[PORT_BURST];

	struct mmsghdr out[PORT_BURST];
	struct iovec out_data[PORT_BURST][2];
	union port_udp_address out_to[PORT_BURST];
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(int))];
	} out_control[PORT_BURST];
	size_t queued;

	struct mmsghdr err[PORT_BURST];
	struct iovec err_data[PORT_BURST];
	union control err_control[PORT_BURST];
	uint8_t looped[PORT_BURST][LOOPED_BYTES];

	/* the kernel gives memory only to the pages that packets have used */
	uint8_t data[PORT_BURST][STAMP_MAX_BYTES];
};

static uint8_t zeros[STAMP_MAX_BYTES]; /* never written to */

struct port_udp_burst *
port_udp_burst_new(void)
{
	struct port_udp_burst *burst = calloc(1, sizeof(*burst));

	if (burst == NULL)
		return NULL;
	for (size_t i = 0; i < PORT_BURST; i++) {
		burst->in_data[i].iov_base = burst->data[i];
		burst->in_data[i].iov_len = STAMP_MAX_BYTES;
		burst->in[i].msg_hdr.msg_iov = &burst->in_data[i];
		burst->in[i].msg_hdr.msg_iovlen = 1;
		burst->in[i].msg_hdr.msg_name = &burst->in_from[i];

		burst->out[i].msg_hdr.msg_iov = burst->out_data[i];
		burst->out[i].msg_hdr.msg_name = &burst->out_to[i];
		burst->out[i].msg_hdr.msg_control = &burst->out_control[i];
		burst->out[i].msg_hdr.msg_controllen = sizeof(burst->out_control[i]);

		burst->err_data[i].iov_base = burst->looped[i];
		burst->err_data[i].iov_len = LOOPED_BYTES;
		burst->err[i].msg_hdr.msg_iov = &burst->err_data[i];
		burst->err[i].msg_hdr.msg_iovlen = 1;
	}
	return burst;
}

void
port_udp_burst_free(struct port_udp_burst *burst)
{
	free(burst);
}

static int64_t
control_stamp(const struct cmsghdr *cmsg)
{
	struct scm_timestamping stamping;

	if (cmsg->cmsg_len < CMSG_LEN(sizeof(stamping)))
		return 0;
	memcpy(&stamping, CMSG_DATA(cmsg), sizeof(stamping));
	return stamping.ts[0].tv_sec * RM_NS_PER_S + stamping.ts[0].tv_nsec;
}

/* The control value of IP_TOS is one byte, the others are ints. */
static int
control_int(const struct cmsghdr *cmsg)
{
	int value = 0;

	if (cmsg->cmsg_len < CMSG_LEN(sizeof(value)))
		return cmsg->cmsg_len > CMSG_LEN(0) ? *CMSG_DATA(cmsg) : 0;
	memcpy(&value, CMSG_DATA(cmsg), sizeof(value));
	return value;
}

static bool
control_is(const struct cmsghdr *cmsg, int level, int type)
{
	return cmsg->cmsg_level == level && cmsg->cmsg_type == type;
}

static void
arrival_read_control(
    struct msghdr *msg, struct port_arrival *arrival, struct port_udp_read *read)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL;
	     c = CMSG_NXTHDR(msg, c)) {
		if (control_is(c, SOL_SOCKET, SCM_TIMESTAMPING)) {
			arrival->stamp_ns = control_stamp(c);
		} else if (control_is(c, SOL_SOCKET, SO_RXQ_OVFL)) {
			read->drops = (uint32_t)control_int(c);
			read->has_drops = true;
		} else if (control_is(c, SOL_IP, IP_TOS) ||
			   control_is(c, SOL_IPV6, IPV6_TCLASS)) {
			arrival->dscp = (uint8_t)(control_int(c) >> 2 & 0x3f);
			arrival->ecn = (uint8_t)(control_int(c) & 3);
		} else if (control_is(c, SOL_IP, IP_TTL) ||
			   control_is(c, SOL_IPV6, IPV6_HOPLIMIT)) {
			arrival->ttl = (uint8_t)control_int(c);
		}
	}
}

int
port_udp_burst_receive(struct port_udp_burst *burst, int fd,
    struct port_arrival arrivals[PORT_BURST], struct port_udp_read *ret)
{
	struct port_udp_read read = { 0 };
	int n;

	for (size_t i = 0; i < PORT_BURST; i++) {
		burst->in[i].msg_hdr.msg_namelen = sizeof(burst->in_from[i]);
		burst->in[i].msg_hdr.msg_control = &burst->in_control[i];
		burst->in[i].msg_hdr.msg_controllen = CONTROL_BYTES;
	}
	n = recvmmsg(fd, burst->in, PORT_BURST, MSG_DONTWAIT, NULL);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		struct port_arrival *arrival = &arrivals[read.arrivals];

		memset(arrival, 0, sizeof(*arrival));
		arrival_read_control(&burst->in[i].msg_hdr, arrival, &read);
		if (burst->in[i].msg_hdr.msg_flags & MSG_TRUNC)
			continue;
		arrival->source = WIRE_STAMP_KERNEL;
		if (arrival->stamp_ns == 0) {
			arrival->source = WIRE_STAMP_USER;
			arrival->stamp_ns = rm_wall_now().ns;
		}
		port_udp_address_to_wire(&burst->in_from[i], &arrival->from);
		arrival->data = burst->data[i];
		arrival->len = burst->in[i].msg_len;
		read.arrivals++;
	}
	read.taken = (size_t)n;
	*ret = read;
	return 0;
}

void
port_udp_burst_add(struct port_udp_burst *burst, const struct port_packet *packet)
{
	size_t i = burst->queued++;
	struct msghdr *msg = &burst->out[i].msg_hdr;
	struct cmsghdr *cmsg = &burst->out_control[i].align;
	int class = packet->dscp << 2 | ECN_CAPABLE;

	msg->msg_namelen =
	    port_udp_address_from_wire(packet->to, packet->to->port, &burst->out_to[i]);
	/* The casts drop const only: sendmsg does not write to its data. */
	burst->out_data[i][0].iov_base = (void *)(uintptr_t)packet->data;
	burst->out_data[i][0].iov_len = packet->len;
	burst->out_data[i][1].iov_base = zeros;
	burst->out_data[i][1].iov_len =
	    packet->zeros < sizeof(zeros) ? packet->zeros : sizeof(zeros);
	msg->msg_iovlen = packet->zeros > 0 ? 2 : 1;

	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	cmsg->cmsg_level = packet->to->family == 4 ? SOL_IP : SOL_IPV6;
	cmsg->cmsg_type = packet->to->family == 4 ? IP_TOS : IPV6_TCLASS;
	memcpy(CMSG_DATA(cmsg), &class, sizeof(class));
}

int
port_udp_burst_send(struct port_udp_burst *burst, int fd, size_t first)
{
	int n = sendmmsg(
	    fd, burst->out + first, (unsigned)(burst->queued - first), MSG_DONTWAIT);

	return n < 0 ? -errno : n;
}

void
port_udp_burst_clear(struct port_udp_burst *burst)
{
	burst->queued = 0;
}

static void
stamp_read_control(struct msghdr *msg, struct port_udp_stamp_read *stamp)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL;
	     c = CMSG_NXTHDR(msg, c)) {
		if (control_is(c, SOL_SOCKET, SCM_TIMESTAMPING)) {
			stamp->stamp_ns = control_stamp(c);
		} else if (control_is(c, SOL_IP, IP_RECVERR) ||
			   control_is(c, SOL_IPV6, IPV6_RECVERR)) {
			struct sock_extended_err error;

			memcpy(&error, CMSG_DATA(c), sizeof(error));
			stamp->stamp = error.ee_errno == ENOMSG &&
				       error.ee_origin == SO_EE_ORIGIN_TIMESTAMPING;
			stamp->id = error.ee_data;
		}
	}
}

int
port_udp_burst_stamps(
    struct port_udp_burst *burst, int fd, struct port_udp_stamp_read stamps[PORT_BURST])
{
	int n;

	for (size_t i = 0; i < PORT_BURST; i++) {
		burst->err[i].msg_hdr.msg_control = &burst->err_control[i];
		burst->err[i].msg_hdr.msg_controllen = CONTROL_BYTES;
	}
	n = recvmmsg(fd, burst->err, PORT_BURST, MSG_ERRQUEUE | MSG_DONTWAIT, NULL);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		memset(&stamps[i], 0, sizeof(stamps[i]));
		stamp_read_control(&burst->err[i].msg_hdr, &stamps[i]);
		stamps[i].packet = burst->looped[i];
		stamps[i].len = burst->err[i].msg_len;
	}
	return n;
}
