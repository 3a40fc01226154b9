#include "rackmesh/loop/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "rackmesh/loop/worker.h"

#define FEEDS_PER_INTERVAL 4
/* Some days, in microseconds: a longer interval is not plausible. */
#define MAX_WATCHDOG_US UINT64_C(1000000000000)

struct rm_notify {
	int fd; /* -1: there is no service manager */
	struct sockaddr_un address;
	socklen_t address_len;
	int64_t interval_ns; /* interval of the watchdog; 0: there is none */
	rm_mono_t fed;
	bool ever_fed;
	struct rm_notify_counts counts;
};

/* The whole text must be digits. */
static bool
read_number(const char *name, uint64_t *ret)
{
	const char *text = getenv(name);
	char *end;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0';
}

static void
notify_read_watchdog(struct rm_notify *notify)
{
	uint64_t us, pid;

	if (!read_number("WATCHDOG_USEC", &us) || us == 0 || us > MAX_WATCHDOG_US)
		return;
	/* If WATCHDOG_PID is the pid of another process, the variables are for that
	 * process. */
	if (getenv("WATCHDOG_PID") != NULL &&
	    (!read_number("WATCHDOG_PID", &pid) || pid != (uint64_t)getpid()))
		return;
	notify->interval_ns = (int64_t)us * RM_NS_PER_US;
}

static int
notify_open(struct rm_notify *notify, const char *path)
{
	size_t len = strlen(path);

	if ((path[0] != '/' && path[0] != '@') || len < 2)
		return -EINVAL;
	if (len >= sizeof(notify->address.sun_path))
		return -ENAMETOOLONG;
	notify->address.sun_family = AF_UNIX;
	memcpy(notify->address.sun_path, path, len);
	if (path[0] == '@') /* the name of an abstract socket has no terminator */
		notify->address.sun_path[0] = '\0';
	notify->address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len +
					  (path[0] == '/'));
	notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return notify->fd < 0 ? -errno : 0;
}

int
rm_notify_new(struct rm_notify **ret)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct rm_notify *notify = calloc(1, sizeof(*notify));
	int r = 0;

	if (notify == NULL)
		return -ENOMEM;
	notify->fd = -1;
	if (path != NULL && path[0] != '\0')
		r = notify_open(notify, path);
	if (r < 0) {
		rm_notify_free(notify);
		return r;
	}
	notify_read_watchdog(notify);
	*ret = notify;
	return 0;
}

void
rm_notify_free(struct rm_notify *notify)
{
	if (notify == NULL)
		return;
	if (notify->fd >= 0)
		close(notify->fd);
	free(notify);
}

/* True: the message was sent. */
static bool
notify_send(struct rm_notify *notify, const char *state)
{
	ssize_t n;

	if (notify == NULL || notify->fd < 0)
		return false;
	n = sendto(notify->fd, state, strlen(state), MSG_NOSIGNAL,
	    (const struct sockaddr *)&notify->address, notify->address_len);
	if (n < 0)
		notify->counts.failed++;
	return n >= 0;
}

void
rm_notify_ready(struct rm_notify *notify)
{
	notify_send(notify, "READY=1");
}

void
rm_notify_reloading(struct rm_notify *notify, rm_mono_t now)
{
	char state[64];

	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
	    now.ns / RM_NS_PER_US);
	notify_send(notify, state);
}

void
rm_notify_stopping(struct rm_notify *notify)
{
	notify_send(notify, "STOPPING=1");
}

void
rm_notify_worked(
    struct rm_notify *notify, const struct rm_worker *worker, rm_mono_t now)
{
	if (notify == NULL || notify->fd < 0 || notify->interval_ns == 0)
		return;
	if (worker != NULL && rm_worker_behind_ns(worker, now) > RM_NOTIFY_STUCK_NS) {
		notify->counts.withheld++;
		return;
	}
	if (notify->ever_fed &&
	    rm_mono_since(now, notify->fed) < notify->interval_ns / FEEDS_PER_INTERVAL)
		return;
	/* If the message could not be sent, the next turn tries again. */
	if (!notify_send(notify, "WATCHDOG=1"))
		return;
	notify->fed = now;
	notify->ever_fed = true;
	notify->counts.fed++;
}

const struct rm_notify_counts *
rm_notify_counts(const struct rm_notify *notify)
{
	static const struct rm_notify_counts none;

	return notify == NULL ? &none : &notify->counts;
}
