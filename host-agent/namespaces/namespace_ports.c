#include "host-agent/namespaces/namespace_ports.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host-agent/kernel/counter_kernel.h"
#include "host-agent/kernel/netlink_reply.h"
#include "host-agent/services/process_name.h"

#define SHARED 1       /* of RDMA_NLDEV_SYS_ATTR_NETNS_MODE */
#define MAX_DEVICES 32 /* per namespace */
#define PATH_BYTES 512

/* The name becomes a label of a metric, so it is checked: the owner of a namespace may
 * give its devices any name. */
static bool
is_name(const char *text)
{
	const size_t len = strlen(text);

	if (len == 0 || text[0] == '.' || len >= COUNTER_NETNS_BYTES)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && strchr("-_.:", text[i]) == NULL)
			return false;
	return true;
}

struct question {
	struct nlmsghdr head;
	struct {
		struct nlattr head;
		uint32_t value;
		/* The length of the request includes these two attributes only if they
		 * are used. */
	} device, port;
};

struct device {
	uint32_t index, ports;
	char name[64];
};

struct search {
	struct namespace_ports *ret;
	const char *root;
	namespace_enter_fn *enter;
	struct stat own; /* the agent's own namespace */
	uint8_t reply[COUNTER_REPLY_BYTES];
};

static struct question
question_of(
    unsigned command, unsigned flags, size_t len, uint32_t device, uint32_t port)
{
	return (struct question){
		.head = { .nlmsg_len = (uint32_t)len,
		    .nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command),
		    .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags) },
		.device = { { NLA_HDRLEN + sizeof(device), RDMA_NLDEV_ATTR_DEV_INDEX },
		    device },
		.port = { { NLA_HDRLEN + sizeof(port), RDMA_NLDEV_ATTR_PORT_INDEX },
		    port },
	};
}

/* Sends a request, and calls take for each attribute of each message of the answer;
 * message is true for the first attribute of a message. */
static int
ask(const struct counter_kernel *kernel, const struct question *question,
    uint8_t *reply,
    void (*take)(const struct netlink_attribute *attribute, bool message, void *arg),
    void *arg)
{
	const uint8_t *at = reply;
	struct netlink_reader body;
	uint16_t type;
	size_t len;
	int r = kernel->netlink == NULL
		    ? -EOPNOTSUPP
		    : kernel->netlink(kernel->arg, NETLINK_RDMA, &question->head, reply,
			  COUNTER_REPLY_BYTES);

	if (r < 0)
		return r;
	len = (size_t)r;
	while ((r = netlink_message(&at, &len, 0, &type, &body)) > 0) {
		struct netlink_attribute attribute;
		bool message = true;

		for (; netlink_next(&body, &attribute); message = false)
			take(&attribute, message, arg);
	}
	return r;
}

static void
copy_text(char *to, size_t room, const struct netlink_attribute *attribute)
{
	const size_t len = strnlen((const char *)attribute->data, attribute->len);

	if (len >= room)
		return;
	memcpy(to, attribute->data, len);
	to[len] = '\0';
}

static void
take_mode(const struct netlink_attribute *attribute, bool message, void *arg)
{
	int *mode = arg;

	(void)message;
	if (attribute->type == RDMA_NLDEV_SYS_ATTR_NETNS_MODE && attribute->len >= 1)
		*mode = attribute->data[0];
}

static int
check_mode(struct search *search, const struct counter_kernel *kernel)
{
	const struct question question = question_of(
	    RDMA_NLDEV_CMD_SYS_GET, NLM_F_ACK, sizeof(struct nlmsghdr), 0, 0);
	int mode = SHARED;
	int r = ask(kernel, &question, search->reply, take_mode, &mode);

	return r < 0 ? r : mode == SHARED ? -EOPNOTSUPP : 0;
}

/* ---- the devices of one namespace ---- */

struct devices {
	struct device all[MAX_DEVICES];
	size_t count, left_out;
};

static void
take_device(const struct netlink_attribute *attribute, bool message, void *arg)
{
	struct devices *devices = arg;
	struct device *device;

	if (message && devices->count == MAX_DEVICES)
		devices->left_out++;
	else if (message)
		devices->all[devices->count++] = (struct device){ 0 };
	if (devices->left_out > 0)
		return;
	device = &devices->all[devices->count - 1];
	if (attribute->type == RDMA_NLDEV_ATTR_DEV_INDEX)
		(void)netlink_u32(attribute, &device->index);
	else if (attribute->type == RDMA_NLDEV_ATTR_PORT_INDEX)
		(void)netlink_u32(attribute, &device->ports);
	else if (attribute->type == RDMA_NLDEV_ATTR_DEV_NAME)
		copy_text(device->name, sizeof(device->name), attribute);
}

static void
take_netdev(const struct netlink_attribute *attribute, bool message, void *arg)
{
	struct counter_port_place *place = arg;

	(void)message;
	if (attribute->type == RDMA_NLDEV_ATTR_NDEV_NAME)
		copy_text(place->netdev, sizeof(place->netdev), attribute);
}

static void
read_driver(const struct counter_kernel *kernel, struct counter_port_place *place)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	if (place->netdev[0] != '\0' && kernel->ethtool != NULL &&
	    kernel->ethtool(kernel->arg, place->netdev, &info) == 0)
		snprintf(place->driver, sizeof(place->driver), "%.*s",
		    (int)sizeof(place->driver) - 1, info.driver);
}

static void
add_port(struct search *search, const struct counter_kernel *kernel, const char *netns,
    const struct device *device, uint32_t number, const char *service)
{
	const struct question question = question_of(RDMA_NLDEV_CMD_PORT_GET, NLM_F_ACK,
	    sizeof(struct question), device->index, number);
	struct namespace_ports *ret = search->ret;
	struct namespace_port *port = &ret->ports[ret->count];

	if (ret->count == NAMESPACE_PORTS_MAX || !is_name(device->name)) {
		ret->left_out++;
		return;
	}
	*port = (struct namespace_port){ .place.port = (uint8_t)number };
	snprintf(port->place.netns, sizeof(port->place.netns), "%.*s",
	    (int)sizeof(port->place.netns) - 1, netns);
	snprintf(port->place.rdma_device, sizeof(port->place.rdma_device), "%s",
	    device->name);
	snprintf(port->service, sizeof(port->service), "%s", service);
	(void)ask(kernel, &question, search->reply, take_netdev, &port->place);
	read_driver(kernel, &port->place);
	ret->count++;
}

/* ---- the owner of a namespace ---- */

/* The cgroup of a process in the namespace contains the name of the pod. Uses the first
 * process whose cgroup has such a name. */
static void
find_service(
    const struct search *search, const struct stat *netns, char *ret, size_t room)
{
	char path[PATH_BYTES];
	struct dirent *entry;
	DIR *proc;

	ret[0] = '\0';
	snprintf(path, sizeof(path), "%s/proc", search->root);
	proc = opendir(path);
	while (proc != NULL && ret[0] == '\0' && (entry = readdir(proc)) != NULL) {
		struct process_name name = { .comm = "" };
		struct stat of;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/proc/%.32s/ns/net", search->root,
		    entry->d_name);
		if (stat(path, &of) < 0 || of.st_ino != netns->st_ino ||
		    of.st_dev != netns->st_dev)
			continue;
		process_name_read(
		    search->root, (uint32_t)strtoul(entry->d_name, NULL, 10), 0, &name);
		if (strncmp(name.service, "pod:", 4) == 0)
			snprintf(ret, room, "%s", name.service);
	}
	if (proc != NULL)
		closedir(proc);
}

static void
look_into(
    struct search *search, const char *netns, const char *path, const struct stat *file)
{
	const struct question question =
	    question_of(RDMA_NLDEV_CMD_GET, NLM_F_DUMP, sizeof(struct nlmsghdr), 0, 0);
	char service[CGROUP_NAME_BYTES] = "";
	struct devices devices = { .count = 0 };
	struct counter_kernel kernel;
	int r;

	search->enter(path, &kernel);
	r = ask(&kernel, &question, search->reply, take_device, &devices);
	search->ret->refused += r == -EPERM || r == -EACCES;
	search->ret->left_out += devices.left_out;
	if (r < 0 || devices.count == 0)
		return;
	find_service(search, file, service, sizeof(service));
	for (size_t i = 0; i < devices.count; i++)
		for (uint32_t port = 1; port <= devices.all[i].ports && port < 256;
		     port++)
			add_port(
			    search, &kernel, netns, &devices.all[i], port, service);
}

int
namespace_ports_find(struct namespace_ports *ret, const char *root,
    const struct counter_kernel *kernel, namespace_enter_fn *enter)
{
	struct search *search;
	char path[PATH_BYTES];
	struct dirent *entry;
	size_t seen = 0;
	DIR *folder;
	int r;

	*ret = (struct namespace_ports){ .count = 0 };
	search = calloc(1, sizeof(*search));
	if (search == NULL)
		return -ENOMEM;
	search->ret = ret;
	search->root = root;
	search->enter = enter;
	r = check_mode(search, kernel);
	snprintf(path, sizeof(path), "%s/proc/self/ns/net", root);
	if (r == 0 && stat(path, &search->own) < 0)
		r = -errno;
	snprintf(path, sizeof(path), "%s/run/netns", root);
	folder = r < 0 ? NULL : opendir(path);
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		struct stat file;

		if (!is_name(entry->d_name))
			continue;
		if (seen++ == NAMESPACES_MAX) {
			ret->left_out++;
			break;
		}
		snprintf(path, sizeof(path), "%s/run/netns/%s", root, entry->d_name);
		if (stat(path, &file) == 0 && (file.st_ino != search->own.st_ino ||
						  file.st_dev != search->own.st_dev))
			look_into(search, entry->d_name, path, &file);
	}
	if (folder != NULL)
		closedir(folder);
	free(search);
	return r;
}
