/*
 * A resolver for tests: the real getaddrinfo, in a mount namespace whose /etc contains
 * only the resolver's four files, and in a network namespace with loopback only. Needs
 * root.
 */
#ifndef TESTS_SUPPORT_RESOLVER_H
#define TESTS_SUPPORT_RESOLVER_H

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

/* No name server answers; resolver_silent may run. */
#define RESOLVER_SERVER "127.9.9.9"

static inline bool
resolver_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	return file != NULL && (fputs(text, file) >= 0) + (fclose(file) == 0) == 2;
}

/* Replaces the content of /etc/hosts. */
static inline void
resolver_hosts(const char *text)
{
	assert_true(resolver_write("/etc/hosts", text));
}

static inline bool
resolver_loopback_up(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int r = ioctl(fd, SIOCSIFFLAGS, &lo);

	close(fd);
	return r == 0;
}

/* Call it once, at the start of the program. False: the process has no right to do
 * it. */
static inline bool
resolver_own(void)
{
	return unshare(CLONE_NEWNS | CLONE_NEWNET) == 0 && resolver_loopback_up() &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", "/etc", "tmpfs", 0, "size=1m") == 0 &&
	       resolver_write("/etc/host.conf", "multi on\n") &&
	       resolver_write("/etc/nsswitch.conf", "hosts: files dns\n") &&
	       resolver_write("/etc/resolv.conf",
		   "nameserver " RESOLVER_SERVER "\noptions timeout:30 attempts:1\n") &&
	       resolver_write("/etc/hosts", "127.0.0.1 localhost\n");
}

/* Opens a socket as a name server that receives queries and never answers. Before it
 * is opened, and once it is closed, queries are refused at once. */
static inline int
resolver_silent(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(53) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	assert_int_equal(inet_pton(AF_INET, RESOLVER_SERVER, &in.sin_addr), 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	return fd;
}

/* Removes one query that it received. False: there is none. */
static inline bool
resolver_asked(int fd)
{
	char question[512];

	return recv(fd, question, sizeof(question), 0) > 0;
}

#endif
