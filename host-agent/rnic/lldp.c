#include "host-agent/rnic/lldp.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Reads "name": [{"value": "sw-1"}]; NULL: there is no name. */
static const char *
value_of(const json_t *object, const char *key)
{
	const json_t *first = json_array_get(json_object_get(object, key), 0);

	return json_string_value(json_object_get(first, "value"));
}

static bool
forwards(const json_t *chassis)
{
	const json_t *list = json_object_get(chassis, "capability"), *capability;
	size_t i;

	json_array_foreach (list, i, capability) {
		const char *type =
		    json_string_value(json_object_get(capability, "type"));

		if (type != NULL &&
		    (strcmp(type, "Bridge") == 0 || strcmp(type, "Router") == 0) &&
		    json_is_true(json_object_get(capability, "enabled")))
			return true;
	}
	return false;
}

/* Copies text of a neighbour. False: it is not copied, because it goes into logs and
 * answers and is empty, too long, or has blanks, quotes, backslashes or characters that
 * cannot be printed. */
static bool
take_text(char *ret, size_t size, const char *text)
{
	size_t len = text == NULL ? 0 : strlen(text);

	if (len == 0 || len >= size)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] <= ' ' || text[i] > '~' || text[i] == '"' ||
		    text[i] == '\\')
			return false;
	}
	memcpy(ret, text, len + 1);
	return true;
}

static void
take_interface(struct lldp *lldp, const json_t *interface)
{
	const json_t *chassis =
	    json_array_get(json_object_get(interface, "chassis"), 0);
	struct lldp_neighbor neighbor = { .forwards = forwards(chassis) };

	if (lldp->count == LLDP_MAX_NEIGHBORS ||
	    !take_text(neighbor.netdev, sizeof(neighbor.netdev),
		json_string_value(json_object_get(interface, "name"))) ||
	    !take_text(
		neighbor.name, sizeof(neighbor.name), value_of(chassis, "name"))) {
		lldp->dropped++;
		return;
	}
	lldp->list[lldp->count++] = neighbor;
}

int
lldp_parse(const char *text, size_t len, struct lldp *ret)
{
	const json_t *interfaces, *interface;
	struct lldp *lldp;
	json_t *root;
	size_t i;
	int r = -EBADMSG;

	if (len > LLDP_MAX_BYTES)
		return -EFBIG;
	lldp = calloc(1, sizeof(*lldp));
	if (lldp == NULL)
		return -ENOMEM;
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	/* Without any neighbour the output is {"lldp": [{}]}. */
	interfaces = json_array_get(json_object_get(root, "lldp"), 0);
	if (json_is_object(interfaces)) {
		json_array_foreach (
		    json_object_get(interfaces, "interface"), i, interface)
			take_interface(lldp, interface);
		*ret = *lldp;
		r = 0;
	}
	json_decref(root);
	free(lldp);
	return r;
}

static int
read_all(int fd, char *text, size_t *len)
{
	*len = 0;
	while (*len <= LLDP_MAX_BYTES) {
		ssize_t n = read(fd, text + *len, LLDP_MAX_BYTES + 1 - *len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return 0;
		if (n > 0)
			*len += (size_t)n;
	}
	return -EFBIG;
}

int
lldp_read(const char *path, struct lldp *ret)
{
	struct stat about;
	char *text = NULL;
	size_t len;
	int fd, r = 0;

	/* O_NONBLOCK: if the file is a FIFO, opening it must not block the agent. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &about) < 0)
		r = -errno;
	else if (!S_ISREG(about.st_mode))
		r = -EBADMSG;
	else if (time(NULL) - about.st_mtime > LLDP_STALE_S)
		r = -ESTALE;
	if (r == 0) {
		text = malloc(LLDP_MAX_BYTES + 1);
		r = text == NULL ? -ENOMEM : read_all(fd, text, &len);
	}
	if (r == 0)
		r = lldp_parse(text, len, ret);
	free(text);
	close(fd);
	return r;
}

const char *
lldp_switch(const struct lldp *lldp, const char *netdev)
{
	const struct lldp_neighbor *best = NULL;
	bool several = false;

	for (size_t i = 0; i < lldp->count; i++) {
		const struct lldp_neighbor *neighbor = &lldp->list[i];

		if (strcmp(neighbor->netdev, netdev) != 0)
			continue;
		if (best == NULL || neighbor->forwards > best->forwards) {
			best = neighbor;
			several = false;
		} else if (neighbor->forwards == best->forwards &&
			   strcmp(neighbor->name, best->name) != 0) {
			several = true;
		}
	}
	return best == NULL || several ? NULL : best->name;
}
