#include "rackmesh/http/own_names.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_ON_A_LINE 64

static const char spaces[] = " \t\r\n";

static bool
is_loopback(const char *address)
{
	struct in_addr in;
	struct in6_addr in6;

	if (inet_pton(AF_INET, address, &in) == 1)
		return ntohl(in.s_addr) >> 24 == IN_LOOPBACKNET;
	return inet_pton(AF_INET6, address, &in6) == 1 && IN6_IS_ADDR_LOOPBACK(&in6);
}

/* Or the short one of it. */
static bool
is_host(const struct own_names *names, const char *name)
{
	const size_t first = strcspn(names->host, ".");

	return names->host[0] != '\0' &&
	       (strcasecmp(name, names->host) == 0 ||
		   (strlen(name) == first &&
		       strncasecmp(name, names->host, first) == 0));
}

bool
own_names_have(const struct own_names *names, const char *name)
{
	if (is_host(names, name))
		return true;
	for (size_t i = 0; i < names->count; i++)
		if (strcasecmp(name, names->others[i]) == 0)
			return true;
	return false;
}

static void
add(struct own_names *names, const char *name, size_t most)
{
	if (names->count < most && strlen(name) < OWN_NAMES_BYTES &&
	    !own_names_have(names, name))
		strcpy(names->others[names->count++], name);
}

void
own_names_hosts_line(struct own_names *names, char *line)
{
	char *found[MAX_ON_A_LINE], *rest = line, *address, *name;
	bool loopback, is_ours = false;
	size_t count = 0;

	line[strcspn(line, "#")] = '\0';
	address = strtok_r(line, spaces, &rest);
	if (address == NULL)
		return;
	loopback = is_loopback(address);
	while (
	    count < MAX_ON_A_LINE && (name = strtok_r(NULL, spaces, &rest)) != NULL) {
		is_ours = is_ours || is_host(names, name);
		found[count++] = name;
	}
	for (size_t i = 0; (is_ours || loopback) && i < count; i++)
		add(names, found[i], is_ours ? OWN_NAMES_MAX : OWN_NAMES_MAX_LOOPBACK);
}

void
own_names_resolver_line(struct own_names *names, char *line)
{
	char *rest = line, *word = strtok_r(line, spaces, &rest);
	char name[2 * OWN_NAMES_BYTES];

	if (word == NULL ||
	    (strcmp(word, "search") != 0 && strcmp(word, "domain") != 0) ||
	    names->host[0] == '\0' || strchr(names->host, '.') != NULL)
		return;
	while ((word = strtok_r(NULL, spaces, &rest)) != NULL) {
		if (strlen(word) >= OWN_NAMES_BYTES || strspn(word, ".") > 0)
			continue; /* "." is no domain */
		snprintf(name, sizeof(name), "%s.%s", names->host, word);
		if (name[strlen(name) - 1] == '.')
			name[strlen(name) - 1] = '\0';
		add(names, name, OWN_NAMES_MAX);
	}
}

static void
read_lines(struct own_names *names, const char *path,
    void (*take)(struct own_names *names, char *line))
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;

	if (file == NULL)
		return;
	while (getline(&line, &room, file) > 0)
		take(names, line);
	free(line);
	fclose(file);
}

void
own_names_read(struct own_names *names)
{
	memset(names, 0, sizeof(*names));
	if (gethostname(names->host, sizeof(names->host)) < 0)
		names->host[0] = '\0';
	names->host[sizeof(names->host) - 1] = '\0';
	read_lines(names, "/etc/resolv.conf", own_names_resolver_line);
	read_lines(names, "/etc/hosts", own_names_hosts_line);
}
