#include "ctl/doctor/host_rnics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/config/yaml.h"

static void
copy(char to[HOST_NAME], const char *from)
{
	snprintf(to, HOST_NAME, "%.63s", from == NULL ? "" : from);
}

static const char *
text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* ---- the device, from /sys ---- */

static void
find_netdev(const struct host *host, struct host_rnic *rnic)
{
	char line[HOST_TEXT];

	for (unsigned i = 0; i < HOST_MAX_LIST && rnic->netdev[0] == '\0'; i++) {
		if (host_text(host, line,
			"/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/%u",
			rnic->rdma, rnic->port, i) == 0)
			copy(rnic->netdev, line);
	}
}

/* The RDMA device of a netdev is the one with the same hardware, or one that has a GID
 * of the netdev. */
static void
find_rdma(const struct host *host, struct host_rnic *rnic)
{
	char devices[HOST_MAX_LIST][HOST_NAME];
	size_t count = host_list(host, devices, "/sys/class/infiniband");

	for (size_t i = 0; i < count && rnic->rdma[0] == '\0'; i++) {
		struct host_rnic other = { .port = 1 };

		copy(other.rdma, devices[i]);
		find_netdev(host, &other);
		if (strcmp(other.netdev, rnic->netdev) == 0 ||
		    host_exists(host, "/sys/class/net/%s/device/infiniband/%s",
			rnic->netdev, devices[i]))
			copy(rnic->rdma, devices[i]);
	}
}

static void
find_both(const struct host *host, struct host_rnic *rnic)
{
	if (host_exists(host, "/sys/class/infiniband/%s", rnic->device)) {
		copy(rnic->rdma, rnic->device);
		find_netdev(host, rnic);
	} else {
		copy(rnic->netdev, rnic->device);
		find_rdma(host, rnic);
	}
}

/* ---- finds the config that names the device ---- */

static void
take_reported(const struct host *host, const json_t *reported, struct host_rnic *rnic)
{
	const json_t *rdma = json_object_get(reported, "rdma");
	const json_t *tors = json_object_get(reported, "tors");
	json_int_t port = json_integer_value(json_object_get(rdma, "port"));

	rnic->reported = reported;
	copy(rnic->device, text(reported, "device"));
	copy(rnic->netdev, text(reported, "netdev"));
	copy(rnic->rdma, text(rdma, "device"));
	for (size_t i = 0; i < 2; i++)
		copy(rnic->tors[i], json_string_value(json_array_get(tors, i)));
	if (port > 0 && port < 255)
		rnic->port = (unsigned)port;
	if (rnic->netdev[0] == '\0' && rnic->rdma[0] == '\0')
		find_both(host, rnic);
}

static const char *
scalar(const struct rm_yaml_node *map, const char *key)
{
	const struct rm_yaml_node *node = rm_yaml_get(map, key);

	return node == NULL || rm_yaml_kind(node) != RM_YAML_SCALAR
		   ? NULL
		   : rm_yaml_text(node);
}

static void
take_written(
    const struct host *host, const struct rm_yaml_node *item, struct host_rnic *rnic)
{
	const struct rm_yaml_node *tors = rm_yaml_get(item, "tors");
	const char *port = scalar(item, "port");
	uint64_t number;

	copy(rnic->device, scalar(item, "device"));
	copy(rnic->tors[0], scalar(item, "tor"));
	for (size_t i = 0; tors != NULL && rm_yaml_kind(tors) == RM_YAML_LIST &&
			   i < rm_yaml_count(tors) && i < 2;
	     i++)
		if (rm_yaml_kind(rm_yaml_item(tors, i)) == RM_YAML_SCALAR)
			copy(rnic->tors[i], rm_yaml_text(rm_yaml_item(tors, i)));
	if (port != NULL && rm_yaml_number(port, &number) && number > 0 && number < 255)
		rnic->port = (unsigned)number;
	find_both(host, rnic);
}

static size_t
every_device(const struct host *host, struct host_rnic rnics[HOST_MAX_LIST])
{
	char devices[HOST_MAX_LIST][HOST_NAME];
	size_t count = host_list(host, devices, "/sys/class/infiniband");

	for (size_t i = 0; i < count; i++) {
		rnics[i] = (struct host_rnic){ .port = 1 };
		copy(rnics[i].device, devices[i]);
		find_both(host, &rnics[i]);
	}
	return count;
}

static size_t
written(const struct host *host, const struct rm_yaml_node *list,
    struct host_rnic rnics[HOST_MAX_LIST])
{
	size_t count = 0;

	for (size_t i = 0; i < rm_yaml_count(list) && count < HOST_MAX_LIST; i++) {
		const struct rm_yaml_node *item = rm_yaml_item(list, i);

		if (rm_yaml_kind(item) != RM_YAML_MAP || scalar(item, "device") == NULL)
			continue;
		rnics[count] = (struct host_rnic){ .port = 1 };
		take_written(host, item, &rnics[count++]);
	}
	return count;
}

size_t
host_rnics(const struct host *host, struct host_rnic rnics[HOST_MAX_LIST])
{
	const json_t *reported = json_object_get(host->rnics, "rnics");
	const struct rm_yaml_node *root = NULL, *list = NULL;
	size_t count = json_array_size(reported);

	if (count > HOST_MAX_LIST)
		count = HOST_MAX_LIST;
	for (size_t i = 0; i < count; i++) {
		rnics[i] = (struct host_rnic){ .port = 1 };
		take_reported(host, json_array_get(reported, i), &rnics[i]);
	}
	if (count > 0)
		return count;
	if (host->agent_config != NULL)
		root = rm_yaml_root(host->agent_config);
	if (root != NULL && rm_yaml_kind(root) == RM_YAML_MAP)
		list = rm_yaml_get(root, "rnics");
	if (list != NULL && rm_yaml_kind(list) == RM_YAML_LIST)
		return written(host, list, rnics);
	return every_device(host, rnics);
}
