/* The users of an RDMA device's QPs: the largest users, and the number of QPs of all
 * others. */
#include <stdlib.h>
#include <string.h>

#include "host-agent/services/services_state.h"

static size_t
count_all(const struct services *services)
{
	struct process *process, *next;
	size_t n = 0;

	HASH_ITER (hh, services->processes, process, next) {
		for (size_t i = 0; i < SERVICES_MAX_RNICS; i++)
			n += process->on[i] > 0;
	}
	return n;
}

static void
list_all(const struct services *services, struct services_user *out)
{
	struct process *process, *next;

	HASH_ITER (hh, services->processes, process, next) {
		for (size_t i = 0; i < SERVICES_MAX_RNICS; i++)
			if (process->on[i] > 0)
				*out++ = (struct services_user){
					.device = services->owners[i].device,
					.port = services->owners[i].port,
					.service = process->name.service,
					.comm = process->name.comm,
					.qps = process->on[i],
				};
	}
}

/* Compares pointers: equal devices have the same string, that of the owner. */
static int
by_name(const void *left, const void *right)
{
	const struct services_user *a = left, *b = right;
	int r;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	r = strcmp(a->service, b->service);
	return r != 0 ? r : strcmp(a->comm, b->comm);
}

static int
by_qps(const void *left, const void *right)
{
	const struct services_user *a = left, *b = right;

	if (a->qps != b->qps)
		return a->qps > b->qps ? -1 : 1;
	return by_name(left, right); /* so that every reading has the same order */
}

/* Merges users with the same name, and sorts by number of QPs, the largest first.
 * Returns the number of users. */
static size_t
merge(struct services_user *users, size_t count)
{
	size_t n = 0;

	qsort(users, count, sizeof(*users), by_name);
	for (size_t i = 0; i < count; i++) {
		if (n > 0 && by_name(&users[n - 1], &users[i]) == 0)
			users[n - 1].qps += users[i].qps;
		else
			users[n++] = users[i];
	}
	qsort(users, n, sizeof(*users), by_qps);
	return n;
}

/* Returns the number of connected QPs of a device that belong to none of the listed
 * users. */
static uint64_t
others_of(const struct services *services, size_t owner,
    const struct services_user *users, size_t count)
{
	uint64_t others = services->owners[owner].no_record;
	struct process *process, *next;

	HASH_ITER (hh, services->processes, process, next)
		others += process->on[owner];
	for (size_t i = 0; i < count; i++)
		if (users[i].device == services->owners[owner].device)
			others -= users[i].qps;
	return others;
}

size_t
services_users(const struct services *services, struct services_user *out, size_t max)
{
	size_t all = count_all(services), shown = 0, n;
	struct services_user *users = calloc(all + 1, sizeof(*users));

	if (users != NULL) { /* without memory all users count as others */
		list_all(services, users);
		shown = merge(users, all);
		if (shown > max)
			shown = max;
		memcpy(out, users, shown * sizeof(*users));
		free(users);
	}
	n = shown;
	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++) {
		const struct owner *owner = &services->owners[i];
		uint64_t others =
		    owner->present ? others_of(services, i, out, shown) : 0;

		if (others > 0)
			out[n++] = (struct services_user){ owner->device, owner->port,
				SERVICES_OTHERS, "", others };
	}
	return n;
}
