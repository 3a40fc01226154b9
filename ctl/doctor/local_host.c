#include "ctl/doctor/local_host.h"

#include <errno.h>
#include <grp.h>
#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ctl/client/request.h"
#include "ctl/doctor/daemons.h"
#include "ctl/doctor/host.h"
#include "rackmesh/config/yaml.h"
#include "rackmesh/core/clock.h"

#define RUN_LIMIT_NS (15 * RM_NS_PER_S)
#define CONNECT_LIMIT_NS (3 * RM_NS_PER_S)
#define CONNECT_TRY_S 2 /* time-out for each address of a name */

/* ---- runs a child process with a time limit ---- */

/* Reads the output of the child until the child closes it, or until end_ns. */
static int
read_until(int fd, int64_t end_ns, struct host_output *ret)
{
	char waste[4096];

	ret->len = 0;
	for (;;) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		int64_t left = end_ns - rm_mono_now().ns;
		size_t room = sizeof(ret->text) - 1 - ret->len;
		ssize_t n;

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(&wait, 1, (int)(left / RM_NS_PER_MS) + 1) <= 0)
			continue;
		n = room > 0 ? read(fd, ret->text + ret->len, room)
			     : read(fd, waste, sizeof(waste));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		ret->len += room > 0 ? (size_t)n : 0;
	}
}

static int
collect(pid_t pid, int fd, int64_t limit_ns, struct host_output *ret)
{
	int status = 0, r;

	r = read_until(fd, rm_mono_now().ns + limit_ns, ret);
	ret->text[ret->len] = '\0';
	close(fd);
	/* The child has closed its output, or is killed here: so waitpid returns
	 * soon. */
	if (r < 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	ret->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return r;
}

/* Like fork(). *fd reads the output of the child; *fd is -1 after an error, and in the
 * child. */
static pid_t
fork_with_pipe(int *fd)
{
	int ends[2];
	pid_t pid;

	*fd = -1;
	if (pipe(ends) < 0)
		return -errno;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		*fd = ends[1];
		return 0;
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -errno;
	}
	*fd = ends[0];
	return pid;
}

/* ---- programs ---- */

/* Becomes the user if this process is root's, else changes nothing. */
static bool
become(const char *user)
{
	const struct passwd *who;

	if (user == NULL || geteuid() != 0)
		return true;
	who = getpwnam(user);
	return who == NULL || (initgroups(user, who->pw_gid) == 0 &&
				  setgid(who->pw_gid) == 0 && setuid(who->pw_uid) == 0);
}

static void
run_child(int out, const char *const *argv, const char *user)
{
	if (!become(user))
		_exit(126);
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		_exit(126);
	close(out);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(errno == ENOENT ? 127 : 126);
}

static int
run(void *arg, const char *const *argv, const char *user, struct host_output *ret)
{
	int fd, r;
	pid_t pid = fork_with_pipe(&fd);

	if (pid < 0)
		return pid;
	if (pid == 0)
		run_child(fd, argv, user);
	r = collect(pid, fd, RUN_LIMIT_NS, ret);
	if (r == 0 && ret->status == 127 && ret->len == 0)
		return -ENOENT;
	return r == 0 && ret->status == 126 && ret->len == 0 ? -EACCES : r;
}

/* ---- connections ---- */

/* Splits "http://host:port/path" or "[host]:port". False: the text is neither. */
static bool
split(const char *address, char host[256], char port[16])
{
	const char *scheme = strstr(address, "://"), *end, *colon;
	bool is_https = strncmp(address, "https://", 8) == 0;

	address = scheme == NULL ? address : scheme + 3;
	end = address + strcspn(address, "/");
	colon = end;
	while (colon > address && *colon != ':' && *colon != ']')
		colon--;
	snprintf(port, 16, "%s", is_https ? "443" : "80");
	if (*colon == ':')
		snprintf(port, 16, "%.*s", (int)(end - colon - 1), colon + 1);
	else if (scheme == NULL)
		return false;
	else
		colon = end;
	if (address[0] == '[' && colon > address + 1)
		return snprintf(host, 256, "%.*s", (int)(colon - address - 2),
			   address + 1) < 256;
	return snprintf(host, 256, "%.*s", (int)(colon - address), address) < 256;
}

static int
try_address(const struct addrinfo *to)
{
	const struct timeval limit = { .tv_sec = CONNECT_TRY_S };
	int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), r = 0;

	if (fd < 0)
		return errno;
	/* SO_SNDTIMEO limits the time of connect(), too. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0 ||
	    connect(fd, to->ai_addr, to->ai_addrlen) < 0)
		r = errno == EINPROGRESS ? ETIMEDOUT : errno;
	close(fd);
	return r;
}

/* Returns an errno. It is called in a child process, because a name look-up has no time
 * limit. */
static int
try_connect(const char *address)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL;
	char host[256], port[16];
	int r = ENOENT;

	if (!split(address, host, port))
		return EINVAL;
	if (getaddrinfo(host, port, &hints, &list) != 0)
		return ENOENT;
	for (const struct addrinfo *at = list; at != NULL && r != 0; at = at->ai_next)
		r = try_address(at);
	freeaddrinfo(list);
	return r;
}

static int
connect_to(void *arg, const char *address)
{
	struct host_output *output = malloc(sizeof(*output));
	int fd, r;
	pid_t pid;

	if (output == NULL)
		return -ENOMEM;
	pid = fork_with_pipe(&fd);
	if (pid == 0)
		_exit(try_connect(address));
	r = pid < 0 ? pid : collect(pid, fd, CONNECT_LIMIT_NS, output);
	if (r == 0)
		r = -output->status;
	free(output);
	return r;
}

/* ---- time stamps ---- */

static int
stamps(void *arg, const char *netdev, bool *ret)
{
	struct ethtool_ts_info info = { .cmd = ETHTOOL_GET_TS_INFO };
	struct ifreq request = { 0 };
	int fd, r = 0;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", netdev);
	request.ifr_data = (char *)&info;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCETHTOOL, &request) < 0)
		r = -errno;
	else
		*ret = (info.so_timestamping & SOF_TIMESTAMPING_RX_HARDWARE) != 0 &&
		       (info.so_timestamping & SOF_TIMESTAMPING_TX_HARDWARE) != 0;
	close(fd);
	return r;
}

static const struct host_calls calls = { run, connect_to, stamps };

/* ---- answers of the daemons ---- */

/* Returns NULL if there is no answer; error then has the reason. */
static json_t *
ask(const char *address, const char *path, char error[HOST_TEXT])
{
	static const char prefix[] = "rackmeshctl: ";
	json_t *answer = NULL;
	char *reported = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&reported, &len);
	int r;

	if (stream == NULL)
		return NULL;
	request_complain_to(stream);
	r = request_get(address, path, &answer);
	request_complain_to(NULL);
	if (fclose(stream) == 0 && r < 0) {
		reported[strcspn(reported, "\n")] = '\0';
		snprintf(error, HOST_TEXT, "%s",
		    reported + (strncmp(reported, prefix, strlen(prefix)) == 0
				       ? strlen(prefix)
				       : 0));
	}
	free(reported);
	return answer;
}

static long
unit_pid(const char *name)
{
	const char *argv[] = { "systemctl", "show", "--property", "MainPID", "--value",
		name, NULL };
	struct host_output *output = malloc(sizeof(*output));
	long pid = 0;

	if (output != NULL && run(NULL, argv, NULL, output) == 0 && output->status == 0)
		pid = strtol(output->text, NULL, 10);
	free(output);
	return pid;
}

void
local_host_init(
    struct host *host, const char *configs, const char *agent, const char *controller)
{
	char ignored[HOST_TEXT];

	*host = (struct host){ .root = "", .configs = configs, .calls = &calls };
	host->now_s = time(NULL);
	host->clock_state = adjtimex(&host->clock);
	if (host->clock_state < 0)
		host->clock_state = -errno;
	host->rnics = ask(agent, "/v1/rnics", host->agent_error);
	if (host->rnics != NULL) {
		host->aggregators = ask(agent, "/v1/aggregators", ignored);
		host->services = ask(agent, "/v1/services?limit=1", ignored);
		host->refused = ask(controller, "/v1/refused", ignored);
	}
	host->agent_config = daemon_config(host, "host-agent");
	if (host_exists(host, "/run/systemd/system"))
		host->agent_pid = unit_pid("host-agent");
}

void
local_host_clear(struct host *host)
{
	json_decref(host->rnics);
	json_decref(host->aggregators);
	json_decref(host->services);
	json_decref(host->refused);
	rm_yaml_free(host->agent_config);
}
