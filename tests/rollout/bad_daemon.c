/*
 * A daemon of a bad version. For --version, --help and --check it runs the good daemon,
 * which is in the same folder with ".good" after its name. Started as a daemon it
 * refuses to start, or (built with -DMUTE) tells systemd that it is ready and then does
 * not answer. Built with -DONLY_AT="h22" it is bad only on the host with that name.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef MUTE
#define BEAT_MS 1000

/* Notifies systemd like any daemon. Makes no call that the unit's filter forbids. */
static int
run(void)
{
	static const char message[] = "READY=1\nWATCHDOG=1\n";
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	socklen_t len;

	if (fd < 0 || path == NULL || strlen(path) >= sizeof(to.sun_path))
		return EXIT_FAILURE;
	strcpy(to.sun_path, path);
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	if (path[0] == '@')
		to.sun_path[0] = '\0';
	for (;;) {
		sendto(
		    fd, message, sizeof(message) - 1, 0, (struct sockaddr *)&to, len);
		poll(NULL, 0, BEAT_MS);
	}
}
#else
static int
run(void)
{
	fprintf(stderr, "<3>cannot start: this is a bad version\n");
	return EXIT_FAILURE;
}
#endif

static bool
is_bad_here(void)
{
#ifdef ONLY_AT
	char name[64] = "";
	FILE *file = fopen("/etc/hostname", "re");

	if (file == NULL)
		return true;
	if (fgets(name, sizeof(name), file) != NULL)
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
	return strcmp(name, ONLY_AT) == 0;
#else
	return true;
#endif
}

int
main(int argc, char **argv)
{
	char good[256];

	if (argc == 3 && strcmp(argv[1], "--config") == 0 && is_bad_here())
		return run();
	snprintf(good, sizeof(good), "/usr/bin/%s.good", program_invocation_short_name);
	execv(good, argv);
	perror(good);
	return EXIT_FAILURE;
}
