/*
 * A whole region-controller with aggregators that send any message and an HTTP client
 * with any request. A name has at most one session, each link has its own session, the
 * plans of a ToR have growing numbers, keys are sent only to RNICs that they belong to,
 * and each request is answered once.
 *
 * Input: a script of events; see step().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/net/server.h"
#include "region-controller/aggregators/aggregators.h"
#include "region-controller/region_controller.h"
#include "region-controller/region_controller_internal.h"
#include "region-controller/registry/probe_keys.h"
#include "region-controller/registry/registry.h"
#include "tests/fuzz/damaged_send.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/fake_world.h"

#define MAX_EVENTS 96
#define SHORT_OF_MEMORY 0xff /* make an allocation of the next event fail */
#define NAMES 8
#define TORS 4

static const char *const names[NAMES] = { "tor1", "tor2", "tor3", "tor4", "agg1",
	"agg2", "", "a name\xff" };

static const char topology[] = "region: lab\n"
			       "switches:\n"
			       "- {name: tor1, role: tor, reflector: '10.9.0.1:862'}\n"
			       "- {name: tor2, role: tor}\n"
			       "- {name: tor3, role: tor}\n"
			       "- {name: tor4, role: tor}\n"
			       "- {name: s1, role: spine}\n"
			       "- {name: s2, role: spine}\n"
			       "links:\n"
			       "- [tor1, s1]\n- [tor2, s1]\n- [tor3, s1]\n"
			       "- [tor1, s2]\n- [tor2, s2]\n- [tor3, s2]\n"
			       "- [tor4, s2]\n"
			       "racks:\n"
			       "- {tor: tor1, hosts: 2, rnics: 4}\n";

struct world {
	struct rm_loop *loop;
	struct region_controller *controller;
	struct wire_writer *writer;
	uint64_t drill; /* the last number that was requested */
};

static int topology_file, config_file, secret_file; /* in memory */
static char config_path[32];

static void
quiet(enum rm_log_level level, const char *line, void *arg)
{
}

static int
file_of(const char *text)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || fchmod(fd, 0600) < 0 ||
	    pwrite(fd, text, strlen(text), 0) != (ssize_t)strlen(text))
		abort();
	return fd;
}

static void
write_topology(const void *text, size_t len)
{
	if (ftruncate(topology_file, 0) < 0 ||
	    pwrite(topology_file, text, len, 0) != (ssize_t)len)
		abort();
}

static void
make_files(void)
{
	char text[512];

	topology_file = file_of(topology);
	secret_file = file_of("0123456789abcdef0123456789abcdef0123456789a=\n");
	snprintf(text, sizeof(text),
	    "name: c1\nregion: lab\nplaintext: true\nlisten: 127.0.0.1:1\n"
	    "max_aggregators: 4\nsettle_ms: 1000\n"
	    "topology: /proc/self/fd/%d\n"
	    "probe_keys: {secret_file: /proc/self/fd/%d, epoch_s: 600}\n"
	    "http: {listen: '', socket: ''}\n",
	    topology_file, secret_file);
	config_file = file_of(text);
	snprintf(config_path, sizeof(config_path), "/proc/self/fd/%d", config_file);
}

/* ---- the invariants ------------------------------------------------------------- */

/* The controller sends only valid messages, and only data that the receiver may
 * have. */
static void
on_sent(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct world *world = arg;
	struct wire_resolve_answer resolved;
	struct wire_plan_view plan;
	struct wire_drill drill;
	struct wire_keys keys;

	switch (wire_kind_of(data, len)) {
	case WIRE_PLAN:
		if (wire_open_plan(&plan, data, len) < 0 || plan.plan.version == 0)
			abort();
		break;
	case WIRE_KEYS:
		if (wire_open_keys(&keys, data, len) < 0 || keys.epoch == 0 ||
		    keys.version == 0)
			abort();
		break;
	case WIRE_RESOLVE_ANSWER:
		if (wire_open_resolved(&resolved, data, len) < 0)
			abort();
		if (resolved.key.epoch != 0 &&
		    registry_find(world->controller->registry,
			(struct rm_rnic_id){
			    resolved.key.src_guid, resolved.key.src_port }) == NULL)
			abort();
		break;
	case WIRE_DRILL:
		if (wire_open_drill(&drill, data, len) < 0)
			abort();
		world->drill = drill.token;
		break;
	default:
		break;
	}
}

static void
check(const struct world *world)
{
	const struct aggregators *aggregators = world->controller->aggregators;
	const struct aggregators_session *one, *other;
	size_t n = 0;

	for (; (one = aggregators_get(aggregators, n)) != NULL; n++) {
		if (one->is_welcome &&
		    (!rm_name_valid(one->name) || one->tor_count > WIRE_MAX_TORS))
			abort();
		for (size_t i = n + 1; one->is_welcome && (other = aggregators_get(
							       aggregators, i)) != NULL;
		     i++)
			if (other->is_welcome && strcmp(one->name, other->name) == 0)
				abort();
	}
	if (n != aggregators_server(aggregators)->count || n > 4)
		abort();
}

/* ---- messages of aggregators ---------------------------------------------------- */

static struct wire_tor_state
tor_state(struct fuzz_bytes *script, const char *tor)
{
	const uint8_t held = fuzz_u8(script), keys = fuzz_u8(script);
	const uint64_t epoch = (uint64_t)(rm_wall_now().ns / RM_NS_PER_S) / 600 + 1;

	return (struct wire_tor_state){
		.tor = tor,
		.plan_version = held & 15,
		.plan_digest = held >> 4,
		.keys_version = keys & 15,
		.keys_epoch = (uint32_t)(keys < 16 ? 0 : epoch + (keys >> 4) - 8),
	};
}

static void
hello(struct world *world, struct fuzz_bytes *script, struct rm_link *link)
{
	const uint8_t flags = fuzz_u8(script), who = fuzz_u8(script);
	struct wire_tor_state tors[TORS];
	struct wire_hello out = {
		.role = flags & 1 ? (flags & 2 ? WIRE_ROLE_AGENT : WIRE_ROLE_CONTROLLER)
				  : WIRE_ROLE_AGGREGATOR,
		.version_min = flags & 4 ? WIRE_VERSION + 2 : WIRE_VERSION,
		.version_max = flags & 4 ? WIRE_VERSION + 3 : WIRE_VERSION,
		.region = flags & 8 ? "elsewhere" : "lab",
		.id = names[(who & 1) + 4 + (flags & 16 ? 2 : 0)],
		.incarnation = who >> 1 & 1,
		.tors = tors,
	};
	struct wire_bytes bytes;

	for (size_t i = 0; i < TORS; i++)
		if (who & 4 << i)
			tors[out.tor_count++] =
			    tor_state(script, names[flags & 32 ? i + 4 : i]);
	fuzz_send(script, link, wire_write_hello(world->writer, &out, &bytes), &bytes);
}

static struct wire_address
address(struct fuzz_bytes *script)
{
	const uint8_t what = fuzz_u8(script);
	struct wire_address ret = { .family = what & 1 ? 6 : 4,
		.port = what == 255 ? 0 : 862 };

	if (ret.family == 4)
		memcpy(ret.bytes, (uint8_t[]){ 10, 0, 0, what >> 2 }, 4);
	else
		memcpy(ret.bytes, (uint8_t[]){ 0xfd, [15] = what >> 2 }, 16);
	if (what & 2) /* any first byte, also of multicast addresses */
		ret.bytes[0] = what >> 2;
	return ret;
}

static void
send_register(struct world *world, struct fuzz_bytes *script, struct rm_link *link)
{
	const uint8_t host = fuzz_u8(script), count = fuzz_u8(script);
	struct wire_rnic rnics[4];
	struct wire_register out = { .rnics = rnics };
	struct wire_bytes bytes;
	char name[16], text[64];

	snprintf(name, sizeof(name), "h%u", host % 16);
	out.host = host == 255 ? fuzz_text(script, text, sizeof(text)) : name;
	for (uint8_t i = 0; i < 1 + count % 4; i++) {
		const uint8_t kind = fuzz_u8(script), tor = fuzz_u8(script);
		struct wire_rnic *rnic = &rnics[out.rnic_count++];

		*rnic = (struct wire_rnic){
			.id = { host == 254 ? 0 : host % 16 * 4 + 1 + kind % 4,
			    kind & 8 },
			.host = host == 253 ? "h9" : out.host,
			.device = kind & 16 ? names[6 + (kind & 1)] : "r0",
			.driver = tor & 128 ? names[7] : "d",
			.tors = { names[tor % NAMES], names[tor >> 3 & 3] },
			.tor_count = kind & 32    ? 2
				     : kind == 64 ? 0
						  : 1,
			.plane = "",
			.qpn = tor & 32 ? (host == 252 ? UINT32_MAX : 5) : 0,
			.large_qpn = tor & 32 ? 5u + (tor >> 6 & 1) : 0,
			.mtu_bytes = 1500,
			.incarnation = tor >> 7,
			.link = tor & 64 ? WIRE_LINK_DOWN : WIRE_LINK_UP,
			.authenticates = kind >> 7,
		};
		rnic->addresses[rnic->address_count++] = address(script);
		if (kind & 1)
			rnic->addresses[rnic->address_count++] = address(script);
		if (rnic->qpn != 0)
			rnic->addresses[0].port = WIRE_ROCE_PORT;
	}
	fuzz_send(
	    script, link, wire_write_register(world->writer, &out, &bytes), &bytes);
}

static struct wire_rnic_id
rnic_id(struct fuzz_bytes *script)
{
	const uint8_t what = fuzz_u8(script);

	return (struct wire_rnic_id){ what & 63, what >> 6 == 1 ? 8 : 0 };
}

static void
report_traced(struct world *world, struct fuzz_bytes *script, struct rm_link *link)
{
	const uint8_t what = fuzz_u8(script);
	struct wire_path paths[2] = { 0 };
	const struct wire_traced out = {
		.tor = names[what % NAMES],
		.now_ns = (uint64_t)rm_mono_now().ns,
		.paths = paths,
		.path_count = 1 + (what >> 3 & 1),
	};
	struct wire_bytes bytes;

	for (size_t i = 0; i < out.path_count; i++) {
		struct wire_path *path = &paths[i];

		path->src_guid = fuzz_u8(script);
		path->dst_guid = fuzz_u8(script);
		path->family = what & 16 ? 6 : 4;
		path->flags = fuzz_u8(script) & 3;
		path->hop_count = what >> 5;
		for (uint8_t h = 0; h < path->hop_count; h++)
			path->hops[h][0] = fuzz_u8(script);
	}
	fuzz_send(script, link, wire_write_traced(world->writer, &out, &bytes), &bytes);
}

static void
report(
    struct world *world, struct fuzz_bytes *script, uint8_t what, struct rm_link *link)
{
	struct wire_resolve resolve = { .token = what };
	struct wire_join join = { .token = what };
	struct wire_drill_answer drilled = { 0 };
	struct wire_bytes bytes;
	struct fuzz_bytes part;

	switch (what % 8) {
	case 0:
	case 1:
		send_register(world, script, link);
		break;
	case 2:
		resolve.address = address(script);
		resolve.prober = rnic_id(script);
		fuzz_send(script, link,
		    wire_write_resolve(world->writer, &resolve, &bytes), &bytes);
		break;
	case 3:
		join.rnic = rnic_id(script);
		join.qpn = fuzz_u8(script) % 4;
		join.dst_qpn = fuzz_u8(script) % 4;
		join.qp_type = 1 + what % 3;
		fuzz_send(script, link, wire_write_join(world->writer, &join, &bytes),
		    &bytes);
		break;
	case 4:
		report_traced(world, script, link);
		break;
	case 5:
		drilled.token = world->drill - (what >> 6);
		drilled.status = fuzz_two(script);
		part = fuzz_part(script, 255);
		drilled.json = (struct wire_bytes){ part.at, part.left };
		fuzz_send(script, link,
		    wire_write_drilled(world->writer, &drilled, &bytes), &bytes);
		break;
	case 6:
		fuzz_send(
		    script, link, wire_write_ping(world->writer, what, &bytes), &bytes);
		break;
	default:
		part = fuzz_part(script, 255);
		if (link != NULL)
			(void)fake_link_receives(link, part.at, part.left);
	}
}

/* ---- HTTP requests -------------------------------------------------------------- */

static void
ask(struct fuzz_bytes *script, uint8_t what)
{
	static const struct {
		enum rm_http_verb verb;
		const char *path;
	} asked[] = {
		{ RM_HTTP_READ, "/v1/topology" },
		{ RM_HTTP_READ, "/v1/racks" },
		{ RM_HTTP_READ, "/v1/rnics" },
		{ RM_HTTP_READ, "/v1/refused" },
		{ RM_HTTP_READ, "/v1/aggregators" },
		{ RM_HTTP_READ, "/v1/leader" },
		{ RM_HTTP_READ, "/v1/topology/export" },
		{ RM_HTTP_READ, "/v1/brake" },
		{ RM_HTTP_READ, "/readyz" },
		{ RM_HTTP_READ, "/metrics" },
		{ RM_HTTP_READ, "/v1/plan/" },
		{ RM_HTTP_READ, "/v1/resolve/" },
		{ RM_HTTP_READ, "/v1/drill/" },
		{ RM_HTTP_CHANGE, "/v1/topology/reload" },
		{ RM_HTTP_CHANGE, "/v1/topology/import" },
		{ RM_HTTP_CHANGE, "/v1/brake" },
		{ RM_HTTP_CHANGE, "/v1/forget/" },
	};
	char path[96], rest[64], query[64], body[256];
	const size_t i = what % (sizeof(asked) / sizeof(asked[0]));

	snprintf(path, sizeof(path), "%s%s", asked[i].path,
	    asked[i].path[strlen(asked[i].path) - 1] == '/'
		? fuzz_text(script, rest, sizeof(rest))
		: "");
	fuzz_text(script, query, sizeof(query));
	fuzz_text(script, body, sizeof(body));
	(void)fake_world_ask(asked[i].verb, path, query, body, strlen(body));
}

/* Writes the key file of another controller, with another secret. */
static void
read_secret(struct fuzz_bytes *script)
{
	const struct fuzz_bytes text = fuzz_part(script, 255);
	struct probe_keys *keys = NULL;
	struct rm_error error = { 0 };
	char path[32];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || fchmod(fd, 0600) < 0 ||
	    pwrite(fd, text.at, text.left, 0) != (ssize_t)text.left)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (probe_keys_new(path, 600, &error, &keys) < 0 && error.text[0] == '\0')
		abort();
	probe_keys_free(keys);
	close(fd);
}

/* Replaces the file by bytes of the script, or by the valid file. */
static void
reload(struct world *world, struct fuzz_bytes *script)
{
	struct fuzz_bytes text = fuzz_part(script, 255);

	if (text.left == 0)
		text =
		    (struct fuzz_bytes){ (const uint8_t *)topology, strlen(topology) };
	write_topology(text.at, text.left);
	region_controller_reload(world->controller);
}

/* ---- the script ----------------------------------------------------------------- */

static void
step(struct world *world, struct fuzz_bytes *script)
{
	static const char *const identities[] = { "", "", "",
		"rackmesh://lab/aggregator/agg1/tor1,tor2" };
	const uint8_t what = fuzz_u8(script);
	struct rm_link *link = fake_world_accepted(what >> 4 & 3);

	switch (what % 16) {
	case 0:
	case 1:
		link = fake_world_connect(identities[what >> 6]);
		if (link != NULL && what % 16 == 1)
			hello(world, script, link);
		break;
	case 2:
		if (link != NULL)
			hello(world, script, link);
		break;
	case 3:
	case 4:
	case 5:
	case 6:
		report(world, script, fuzz_u8(script), link);
		break;
	case 7:
		if (link != NULL && what & 64)
			fake_link_ends(link, what & 128 ? -ECONNRESET : 0);
		else if (link != NULL)
			fake_link_blocks(link, what & 128);
		break;
	case 8:
		fake_world_turn();
		break;
	case 9:
	case 10:
		fake_world_pass((what >> 4) * 100 * RM_NS_PER_MS);
		break;
	case 11:
		fake_world_pass((what >> 4) * 61 * RM_NS_PER_S);
		break;
	case 12:
		if (what & 128)
			read_secret(script);
		else
			reload(world, script);
		break;
	default:
		ask(script, fuzz_u8(script));
	}
	check(world);
}

static void
begin(struct world *world)
{
	struct controller_config config;
	struct rm_error error = { 0 };

	rm_log_set_sink(getenv("LOUD") != NULL ? NULL : quiet, NULL);
	if (topology_file == 0)
		make_files();
	write_topology(topology, strlen(topology));
	fake_world_begin();
	fake_world_on_sent(on_sent, world);
	world->writer = wire_writer_new();
	if (world->writer == NULL || rm_loop_new(&world->loop) < 0 ||
	    controller_config_read(&config, config_path, &error) < 0 ||
	    region_controller_new(world->loop, &config, &world->controller) < 0) {
		fprintf(stderr, "%s\n", error.text);
		abort();
	}
	world->controller->config.path = config_path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes script = { data, size };
	struct world world = { 0 };

	begin(&world);
	for (int i = 0; i < MAX_EVENTS && script.left > 0; i++) {
		if (*script.at == SHORT_OF_MEMORY) {
			(void)fuzz_u8(&script);
			failing_malloc_arm(1 + fuzz_u8(&script));
		}
		step(&world, &script);
		(void)failing_malloc_disarm();
	}
	region_controller_free(world.controller);
	wire_writer_free(world.writer);
	rm_loop_free(world.loop);
	fake_world_end();
	return 0;
}
