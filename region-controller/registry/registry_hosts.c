#define HASH_NONFATAL_OOM 1
#include "region-controller/registry/registry_hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

struct registry_host {
	UT_hash_handle hh;
	char name[RM_NAME_BYTES];
	struct registry_rnic *rnics;
};

struct registry_hosts {
	struct registry_host *by_name;
};

int
registry_hosts_new(struct registry_hosts **ret)
{
	struct registry_hosts *hosts = calloc(1, sizeof(*hosts));

	if (hosts == NULL)
		return -ENOMEM;
	*ret = hosts;
	return 0;
}

void
registry_hosts_free(struct registry_hosts *hosts)
{
	struct registry_host *host, *next;

	if (hosts == NULL)
		return;
	HASH_ITER (hh, hosts->by_name, host, next) {
		HASH_DEL(hosts->by_name, host);
		free(host);
	}
	free(hosts);
}

static struct registry_host *
find(const struct registry_hosts *hosts, const char *name)
{
	struct registry_host *host = NULL;

	HASH_FIND_STR(hosts->by_name, name, host);
	return host;
}

/* Finds or adds it; NULL: out of memory. */
static struct registry_host *
host_of(struct registry_hosts *hosts, const char *name)
{
	struct registry_host *host = find(hosts, name);

	if (host != NULL)
		return host;
	host = calloc(1, sizeof(*host));
	if (host == NULL)
		return NULL;
	memcpy(host->name, name, strnlen(name, sizeof(host->name) - 1));
	HASH_ADD_STR(hosts->by_name, name, host);
	if (host->hh.tbl == NULL) { /* uthash could not grow */
		free(host);
		return NULL;
	}
	return host;
}

int
registry_hosts_add(struct registry_hosts *hosts, struct registry_rnic *rnic)
{
	struct registry_host *host = host_of(hosts, rnic->host);

	if (host == NULL)
		return -ENOMEM;
	DL_APPEND2(host->rnics, rnic, previous_of_host, next_of_host);
	rnic->of_host = host;
	return 0;
}

void
registry_hosts_drop(struct registry_hosts *hosts, struct registry_rnic *rnic)
{
	struct registry_host *host = rnic->of_host;

	if (host == NULL)
		return;
	rnic->of_host = NULL;
	DL_DELETE2(host->rnics, rnic, previous_of_host, next_of_host);
	if (host->rnics != NULL)
		return;
	HASH_DEL(hosts->by_name, host);
	free(host);
}

struct registry_rnic *
registry_hosts_rnics(const struct registry_hosts *hosts, const char *host)
{
	const struct registry_host *found = find(hosts, host);

	return found == NULL ? NULL : found->rnics;
}
