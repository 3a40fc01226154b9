#include "host-agent/counters/counter_kernel.h"

#include <errno.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int
call_ethtool(void *arg, const char *netdev, void *command)
{
	struct ifreq request = { .ifr_data = command };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int r = 0;

	if (fd < 0)
		return -errno;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", netdev);
	if (ioctl(fd, SIOCETHTOOL, &request) < 0)
		r = -errno;
	close(fd);
	return r;
}

const struct counter_kernel counter_kernel = {
	.sysfs = "/sys",
	.ethtool = call_ethtool,
};
