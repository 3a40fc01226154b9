#include "rackmesh/http/http_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "rackmesh/core/address.h"

const char *
http_socket_path(const struct rm_address *address)
{
	const struct sockaddr_un *un = (const void *)&address->storage;

	return un->sun_family == AF_UNIX ? un->sun_path : NULL;
}

int
http_socket_bind(const struct rm_address *address, int *ret)
{
	const struct sockaddr *sa = (const void *)&address->storage;
	const char *path = http_socket_path(address);
	struct stat st;
	int fd, r = 0, on = 1;

	/* Only ever a socket: a slip in the config must not cost a file. */
	if (path != NULL && lstat(path, &st) == 0) {
		if (!S_ISSOCK(st.st_mode))
			return -EEXIST;
		unlink(path);
	}
	fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (path == NULL &&
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		r = -errno;
	if (r == 0 && sa->sa_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0)
		r = -errno;
	if (r == 0 && bind(fd, sa, address->len) < 0)
		r = -errno;
	if (r == 0 && path != NULL && chmod(path, 0600) < 0)
		r = -errno;
	if (r < 0) {
		close(fd);
		return r;
	}
	*ret = fd;
	return 0;
}

int
http_socket_port(int fd)
{
	struct sockaddr_storage storage;
	socklen_t len = sizeof(storage);

	if (getsockname(fd, (void *)&storage, &len) < 0)
		return -errno;
	/* The port lies at the same place in both families. */
	return ntohs(((struct sockaddr_in *)&storage)->sin_port);
}
