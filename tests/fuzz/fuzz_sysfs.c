/*
 * The kernel's folders of RDMA devices, with any content: any names of devices, files
 * that contain anything, are cut or are missing. The facts of a port are within their
 * bounds, and the selected GID is in its table.
 *
 * Input: files, each a byte that selects it and its content; then the requirements on
 * the GID.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host-agent/packet/gid.h"
#include "host-agent/rnic/rdma_facts.h"
#include "host-agent/rnic/rdma_index.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define PORT "class/infiniband/mlx5_0/ports/1/"

static const char *const folders[] = { "class", "class/net", "class/net/eth1",
	"class/infiniband", "class/infiniband/mlx5_0", "class/infiniband/mlx5_0/ports",
	"class/infiniband/mlx5_0/ports/1", "class/infiniband/mlx5_1", PORT "gids",
	PORT "gid_attrs", PORT "gid_attrs/types", PORT "gid_attrs/ndevs" };
/* A network device that has no GID of its own. */
static const char *const below[] = { "class/net/eth1/device",
	"class/net/eth1/device/infiniband", "class/net/eth1/device/infiniband/mlx5_0" };
static const char *const files[] = { "class/infiniband/mlx5_0/node_guid",
	"class/infiniband/mlx5_0/node_desc", "class/infiniband/mlx5_0/parent",
	PORT "state", PORT "lid", PORT "sm_lid", PORT "link_layer", PORT "gids/0",
	PORT "gids/1", PORT "gids/2", PORT "gid_attrs/types/0",
	PORT "gid_attrs/types/1", PORT "gid_attrs/types/2", PORT "gid_attrs/ndevs/0",
	PORT "gid_attrs/ndevs/1", PORT "gid_attrs/ndevs/2", "class/net/eth1/dev_port" };
static const char *const contents[] = { "5054:0000:0000:0001\n", "rxe\n", "eth1\n",
	"4: ACTIVE\n", "0x11\n", "Ethernet\n", "InfiniBand\n",
	"0000:0000:0000:0000:0000:ffff:0a00:0001\n",
	"fe80:0000:0000:0000:0000:0000:0000:0001\n",
	"fd00:0000:0000:0000:0000:0000:0000:0001\n", "RoCE v2\n", "IB/RoCE v1\n", "0\n",
	"Software iWARP stack\n", "" };

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Makes the links of a device, which a fuzzer cannot write into a file. */
static void
add_links(const char *root, uint8_t which)
{
	static const char *const drivers[] = { "mlx5_core", "bnxt_en", "strange",
		"a-name-that-is-much-longer-than-any-driver-may-have-and-then-some" };
	char path[256], target[128];

	for (size_t i = 0; which & 0x20 && i < COUNT(below); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, below[i]);
		if (mkdir(path, 0700) < 0)
			abort();
	}
	if (!(which & 0x80))
		return;
	snprintf(path, sizeof(path), "%s/class/infiniband/mlx5_0/device", root);
	if (mkdir(path, 0700) < 0)
		abort();
	snprintf(target, sizeof(target), "/x/%s", drivers[which % COUNT(drivers)]);
	strcat(path, "/driver");
	if (which & 0x40 && symlink(target, path) < 0)
		abort();
}

static void
build(const char *root, struct fuzz_bytes *bytes)
{
	char path[256];
	uint8_t which;

	for (size_t i = 0; i < COUNT(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		if (mkdir(path, 0700) < 0)
			abort();
	}
	add_links(root, fuzz_u8(bytes));
	while ((which = fuzz_u8(bytes)) != 0) {
		const char *file = files[(which - 1u) % COUNT(files)];
		uint8_t what = fuzz_u8(bytes);
		struct fuzz_bytes part;

		part = (struct fuzz_bytes){
			(const uint8_t *)contents[what % COUNT(contents)],
			strlen(contents[what % COUNT(contents)])
		};
		if (what >= 0xe0)
			part = fuzz_part(bytes, 255);
		fuzz_folder_write(root, file, part.at, part.left);
	}
}

static void
remove_links(const char *root)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/class/infiniband/mlx5_0/device/driver", root);
	unlink(path);
	*strrchr(path, '/') = 0;
	rmdir(path);
	for (size_t i = 0; i < COUNT(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, files[i]);
		unlink(path);
	}
	for (size_t i = COUNT(below); i > 0; i--) {
		snprintf(path, sizeof(path), "%s/%s", root, below[i - 1]);
		rmdir(path);
	}
	for (size_t i = COUNT(folders); i > 0; i--) {
		snprintf(path, sizeof(path), "%s/%s", root, folders[i - 1]);
		if (rmdir(path) < 0)
			abort();
	}
	fuzz_folder_remove(root);
}

static void
look_at(const struct rdma_facts *facts, struct fuzz_bytes *bytes)
{
	static const uint8_t families[] = { 4, 6, 5 };
	struct rdma_gid_wish wish = { .family = families[fuzz_below(bytes, 3)],
		.index = (int)fuzz_below(bytes, 5) - 1,
		.netdev = fuzz_u8(bytes) & 1 ? "eth1" : NULL };
	struct rdma_gid gid;
	int r;

	if (facts->gid_count > RDMA_MAX_GIDS ||
	    facts->netdev_count > RDMA_MAX_NETDEVS ||
	    strlen(facts->driver) >= RDMA_DRIVER_BYTES)
		abort();
	for (size_t i = 0; i < facts->netdev_count; i++)
		if (facts->netdevs[i][0] == 0 ||
		    strnlen(facts->netdevs[i], RDMA_NETDEV_BYTES) == RDMA_NETDEV_BYTES)
			abort();
	for (size_t i = 0; i < facts->gid_count; i++) {
		struct wire_address address;
		uint8_t back[GID_BYTES];

		gid_to_address(facts->gids[i].bytes, &address);
		if (gid_from_address(&address, back) < 0 ||
		    memcmp(back, facts->gids[i].bytes, GID_BYTES) != 0)
			abort();
	}
	r = rdma_facts_pick_gid(facts, &wish, &gid);
	if (r < 0) {
		if (rdma_facts_error(r)[0] == 0)
			abort();
		return;
	}
	for (size_t i = 0; i < facts->gid_count; i++)
		if (memcmp(&facts->gids[i], &gid, sizeof(gid)) == 0)
			return;
	abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const names[] = { "mlx5_0", "mlx5_1", "../mlx5_0", "" };
	struct fuzz_bytes bytes = { data, len };
	char root[FUZZ_FOLDER_BYTES], device[RDMA_DEVICE_BYTES] = "";
	struct rdma_facts facts;
	uint8_t port = 0;
	int r;

	fuzz_folder_make(root);
	build(root, &bytes);
	r = rdma_index_find_now(root, "eth1", device, &port);
	if (r == 0 && (strcmp(device, "mlx5_0") != 0 || port != 1))
		abort();
	r = rdma_facts_read(root, names[fuzz_u8(&bytes) / 64],
	    (uint8_t)(fuzz_below(&bytes, 8) != 7), &facts);
	if (r == 0)
		look_at(&facts, &bytes);
	else if (r != -ENODEV && r != -ENOENT)
		abort();
	remove_links(root);
	return 0;
}
