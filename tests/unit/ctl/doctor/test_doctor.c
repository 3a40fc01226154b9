/* Each check, over a host whose files, programs and answers this test makes. */
#include "ctl/doctor/doctor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctl/doctor/checks.h"
#include "ctl/doctor/daemons.h"
#include "ctl/doctor/host.h"
#include "ctl/output/findings.h"
#include "rackmesh/config/yaml.h"
#include "tests/support/pki.h"

struct world {
	char root[64];
	struct host host;
	struct findings findings;
	/* Output of the programs that run() starts; NULL: -ENOENT. */
	const char *check_reports, *systemctl_reports, *lldpctl_reports;
	int check_status;
	const char *ran_as;
	int connected;
	bool hardware;
};

/* ---- calls ---- */

static int
run(void *arg, const char *const *argv, const char *user, struct host_output *ret)
{
	struct world *world = arg;
	const char *reports = world->check_reports;

	ret->status = 0;
	if (strcmp(argv[0], "systemctl") == 0)
		reports = world->systemctl_reports;
	else if (strcmp(argv[0], "lldpctl") == 0)
		reports = world->lldpctl_reports;
	else
		ret->status = world->check_status;
	if (reports == NULL)
		return -ENOENT;
	world->ran_as = user;
	ret->len = (size_t)snprintf(ret->text, sizeof(ret->text), "%s", reports);
	return 0;
}

static int
connect_to(void *arg, const char *address)
{
	return ((struct world *)arg)->connected;
}

static int
stamps(void *arg, const char *netdev, bool *ret)
{
	*ret = ((struct world *)arg)->hardware;
	return 0;
}

static const struct host_calls calls = { run, connect_to, stamps };

/* ---- a host ---- */

static void
put(struct world *world, const char *path, const char *text)
{
	char all[512];
	FILE *file;

	snprintf(all, sizeof(all), "%s%s", world->root, path);
	for (char *slash = all + strlen(world->root) + 1;
	     (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		assert_true(mkdir(all, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(all, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void
put_config(struct world *world, const char *text)
{
	put(world, "/etc/rackmesh/host-agent.yaml", text);
	rm_yaml_free(world->host.agent_config);
	world->host.agent_config = daemon_config(&world->host, "host-agent");
	assert_non_null(world->host.agent_config);
}

/* An RDMA device with a netdev and one GID. */
static void
put_rnic(struct world *world, const char *rdma, const char *netdev, const char *state,
    const char *gid, const char *type)
{
	char path[256];

#define PUT(text, ...) \
	(snprintf(path, sizeof(path), __VA_ARGS__), put(world, path, text))
	PUT(state, "/sys/class/infiniband/%s/ports/1/state", rdma);
	PUT("5: LinkUp\n", "/sys/class/infiniband/%s/ports/1/phys_state", rdma);
	PUT("Ethernet\n", "/sys/class/infiniband/%s/ports/1/link_layer", rdma);
	PUT(gid, "/sys/class/infiniband/%s/ports/1/gids/0", rdma);
	PUT(type, "/sys/class/infiniband/%s/ports/1/gid_attrs/types/0", rdma);
	PUT(netdev, "/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/0", rdma);
	PUT("up\n", "/sys/class/net/%s/operstate", netdev);
	PUT("9000\n", "/sys/class/net/%s/mtu", netdev);
#undef PUT
}

#define GID "0000:0000:0000:0000:0000:ffff:0a00:0001\n"

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	strcpy(world->root, "/tmp/test_doctor.XXXXXX");
	assert_non_null(mkdtemp(world->root));
	world->host = (struct host){ .root = world->root,
		.configs = "/etc/rackmesh",
		.calls = &calls,
		.arg = world,
		.now_s = time(NULL) };
	setenv("PATH", "/usr/bin", 1);
	*state = world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;
	char command[128];

	snprintf(command, sizeof(command), "/bin/rm -r %s", world->root);
	assert_int_equal(system(command), 0);
	json_decref(world->host.rnics);
	json_decref(world->host.aggregators);
	json_decref(world->host.services);
	json_decref(world->host.refused);
	rm_yaml_free(world->host.agent_config);
	findings_clear(&world->findings);
	free(world);
	return 0;
}

/* ---- findings of a check ---- */

typedef void check_fn(const struct host *host, struct findings *findings);

static void
look(struct world *world, check_fn *check)
{
	findings_clear(&world->findings);
	check(&world->host, &world->findings);
}

static const struct finding *
find(const struct world *world, enum finding_level level, const char *part)
{
	for (size_t i = 0; i < world->findings.count; i++) {
		const struct finding *finding = &world->findings.list[i];

		if (finding->level == level && strstr(finding->seen, part) != NULL)
			return finding;
	}
	for (size_t i = 0; i < world->findings.count; i++)
		print_message("%s: %s\n",
		    finding_level_name(world->findings.list[i].level),
		    world->findings.list[i].seen);
	return NULL;
}

/* Expects a finding of this level about this part; any level but good must have a
 * remedy. */
static void
expect(struct world *world, check_fn *check, enum finding_level level, const char *part)
{
	const struct finding *finding;

	look(world, check);
	finding = find(world, level, part);
	assert_non_null(finding);
	if (level == FINDING_GOOD) {
		assert_int_equal(world->findings.counts[FINDING_WRONG], 0);
		assert_int_equal(world->findings.counts[FINDING_WARNING], 0);
	} else {
		assert_string_not_equal(finding->remedy, "");
	}
}

static json_t *
json(const char *text)
{
	json_t *value = json_loads(text, 0, NULL);

	assert_non_null(value);
	return value;
}

/* ---- configs of daemons ---- */

static void
a_config_is_judged_by_the_daemons_own_check(void **state)
{
	struct world *world = *state;

	expect(world, check_config, FINDING_WRONG, "no daemon");
	put(world, "/usr/bin/host-agent", "");
	expect(
	    world, check_config, FINDING_WARNING, "host-agent is installed and has no");
	put_config(world, "rnics: []\n");
	expect(world, check_config, FINDING_WARNING, "could not be run");

	world->check_reports = "/etc/rackmesh/host-agent.yaml: good\n";
	expect(world, check_config, FINDING_GOOD, "host-agent.yaml: good");
	assert_string_equal(world->ran_as, "rackmesh");
	world->check_status = 1;
	world->check_reports = "<4>first: a word\n<3>host-agent.yaml:3:1: \x1b[31mno\n";
	expect(world, check_config, FINDING_WRONG,
	    "host-agent: host-agent.yaml:3:1: ?[31mno");

	put(world, "/etc/rackmesh/analyzer.yaml", "");
	expect(world, check_config, FINDING_WARNING, "analyzer is not installed");
}

static void
all_that_is_wrong_in_a_config_is_reported(void **state)
{
	struct world *world = *state;

	put(world, "/usr/bin/host-agent", "");
	put_config(world, "rnics: []\n");
	world->check_status = 1;
	world->check_reports = "<4>host-agent: a.yaml:1:1: first: a word\n"
			       "<3>host-agent: a.yaml:2:1: second: missing\n"
			       "<3>host-agent: a.yaml:3:1: third: has mode 0644\n"
			       "<3>host-agent: a.yaml: 2 errors\n";
	expect(
	    world, check_config, FINDING_WARNING, "host-agent: a.yaml:1:1: first: a");
	expect(world, check_config, FINDING_WRONG, "host-agent: a.yaml:2:1: second: m");
	expect(
	    world, check_config, FINDING_WRONG, "host-agent: a.yaml:3:1: third: has");
	assert_int_equal(world->findings.count, 3);

	/* A valid config may still have warnings. */
	world->check_status = 0;
	world->check_reports = "<4>host-agent: a.yaml:1:1: first: a word\n"
			       "a.yaml: good, 1 warning\n";
	expect(
	    world, check_config, FINDING_WARNING, "host-agent: a.yaml:1:1: first: a");
	assert_int_equal(world->findings.counts[FINDING_GOOD], 1);
	assert_int_equal(world->findings.counts[FINDING_WRONG], 0);
}

static void
a_certificate_that_expires_soon_is_reported(void **state)
{
	struct world *world = *state;
	struct pki_wish wish = { .uri = "rackmesh://r/agent/h1",
		.valid_s = 100 * 86400 };
	struct pki *pki = pki_new();
	struct rm_tls_files files = pki_issue(pki, "h1", &wish);
	char config[512];

	put(world, "/usr/bin/host-agent", "");
	put_config(world, "tls:\n  certificate: /nowhere.pem\n");
	expect(world, check_certificates, FINDING_WRONG, "No such file");
	put(world, "/broken.pem", "-----BEGIN CERTIFICATE-----\nx\n");
	put_config(world, "tls:\n  certificate: /broken.pem\n");
	expect(world, check_certificates, FINDING_WRONG, "no certificate in PEM");

	world->host.root =
	    ""; /* pki makes its files in a folder of its own, outside of world->root */
	snprintf(config, sizeof(config), "%s/etc/rackmesh", world->root);
	world->host.configs = config;
	setenv("PATH", world->root, 1);
	put(world, "/host-agent", "");
	{
		char text[512];

		snprintf(
		    text, sizeof(text), "tls:\n  certificate: %s\n", files.certificate);
		put(world, "/etc/rackmesh/host-agent.yaml", text);
	}
	expect(world, check_certificates, FINDING_GOOD, "is valid until");
	world->host.now_s += 85 * 86400;
	expect(world, check_certificates, FINDING_WARNING, "less than a fifth");
	world->host.now_s += 20 * 86400;
	expect(world, check_certificates, FINDING_WRONG, "has expired");
	world->host.now_s -= 200 * 86400;
	expect(world, check_certificates, FINDING_WRONG, "is not valid yet");

	put(world, "/etc/rackmesh/host-agent.yaml", "plaintext: true\n");
	expect(world, check_certificates, FINDING_WARNING, "plaintext");
	pki_free(pki);
}

static void
a_unit_that_is_inactive_disabled_or_restarted_is_reported(void **state)
{
	struct world *world = *state;

	put(world, "/usr/bin/host-agent", "");
	expect(world, check_unit, FINDING_WARNING, "systemd does not run here");
	put(world, "/run/systemd/system/x", "");
	expect(world, check_unit, FINDING_WARNING, "gave no answer");

#define UNIT(active, sub, file, restarts, result)                   \
	"Result=" result "\nNRestarts=" restarts                    \
	"\nLoadState=loaded\nActiveState=" active "\nSubState=" sub \
	"\nUnitFileState=" file "\n"
	world->systemctl_reports = UNIT("active", "running", "enabled", "0", "success");
	expect(world, check_unit, FINDING_GOOD, "is active and enabled");
	world->systemctl_reports =
	    UNIT("active", "running", "disabled", "0", "success");
	expect(world, check_unit, FINDING_WARNING, "disabled: it does not start");
	world->systemctl_reports = UNIT("active", "running", "enabled", "7", "success");
	expect(world, check_unit, FINDING_WARNING, "restarted 7 times");
	world->systemctl_reports =
	    UNIT("activating", "auto-restart", "enabled", "9", "exit-code");
	expect(world, check_unit, FINDING_WRONG,
	    "activating (auto-restart), result exit-code");
	world->systemctl_reports = "LoadState=not-found\nActiveState=inactive\n";
	expect(world, check_unit, FINDING_WARNING, "knows no unit host-agent.service");
#undef UNIT
}

static void
every_peer_of_every_config_is_tried(void **state)
{
	struct world *world = *state;

	put(world, "/usr/bin/host-agent", "");
	put(world, "/usr/bin/tor-aggregator", "");
	put_config(world, "aggregators:\n  - address: 10.0.0.1:7471\n    tors: [t1]\n");
	put(world, "/etc/rackmesh/tor-aggregator.yaml",
	    "controllers:\n  - 10.0.0.2:7481\n"
	    "alerts:\n  alertmanagers: ['http://10.0.0.3:9093']\n");
	expect(world, check_peers, FINDING_GOOD, "aggregator 10.0.0.1:7471 takes");
	assert_non_null(find(world, FINDING_GOOD, "controller 10.0.0.2:7481"));
	assert_non_null(find(world, FINDING_GOOD, "Alertmanager http://10.0.0.3:9093"));
	world->connected = -ECONNREFUSED;
	expect(world, check_peers, FINDING_WRONG, "10.0.0.1:7471 cannot be reached");
	assert_int_equal(world->findings.counts[FINDING_WRONG], 3);
	world->connected = -ENOENT;
	expect(world, check_peers, FINDING_WRONG, "its name is not known");
}

/* ---- clock ---- */

static void
an_unsynchronized_clock_is_a_warning(void **state)
{
	struct world *world = *state;

	world->host.clock.maxerror = 2500;
	expect(world, check_clock, FINDING_GOOD, "at most 2.500 ms");
	world->host.clock.maxerror = 3000000;
	expect(world, check_clock, FINDING_WARNING, "at most 3000.000 ms");
	world->host.clock.status = STA_UNSYNC;
	expect(world, check_clock, FINDING_WARNING, "not synchronised");
	world->host.clock_state = -EPERM;
	expect(world, check_clock, FINDING_WARNING, "cannot be read");
}

/* ---- RNICs ---- */

static void
a_port_that_is_not_active_is_reported(void **state)
{
	struct world *world = *state;

	expect(world, check_rdma, FINDING_WRONG, "no RNIC");
	put_config(
	    world, "rnics:\n  - device: eth1\n    tor: t1\n  - device: mlx5_1\n");
	expect(world, check_rdma, FINDING_WRONG, "eth1: there is no such device");
	put_rnic(world, "mlx5_0", "eth1", "4: ACTIVE\n", GID, "RoCE v2\n");
	put_rnic(world, "mlx5_1", "eth2", "1: DOWN\n", GID, "RoCE v2\n");
	expect(world, check_rdma, FINDING_WRONG, "mlx5_1: mlx5_1 port 1 is 1: DOWN");
	assert_non_null(find(world, FINDING_GOOD, "eth1: mlx5_0 port 1 is active"));
	assert_non_null(find(world, FINDING_WRONG, "/dev/infiniband is missing"));
	put(world, "/dev/infiniband/uverbs0", "");
	put_rnic(world, "mlx5_1", "eth2", "4: ACTIVE\n", GID, "RoCE v2\n");
	expect(world, check_rdma, FINDING_GOOD, "mlx5_1: mlx5_1 port 1 is active");

	put_config(world, "netns: fabric\nrnics: [{device: eth3}]\n");
	put(world, "/sys/class/net/eth3/operstate", "down\n");
	expect(world, check_rdma, FINDING_WRONG, "eth3: the interface is down");
	assert_non_null(find(world, FINDING_WARNING, "network namespace fabric"));
	put(world, "/sys/class/net/eth3/operstate", "up\n");
	expect(
	    world, check_rdma, FINDING_WARNING, "eth3: no RDMA device belongs to it");
}

static void
an_rnic_without_a_roce_v2_gid_with_an_address_is_reported(void **state)
{
	struct world *world = *state;

	put_rnic(world, "mlx5_0", "eth1", "4: ACTIVE\n", GID, "RoCE v2\n");
	expect(world, check_gids, FINDING_GOOD, "mlx5_0: 1 RoCE v2 GID");
	put_rnic(world, "mlx5_0", "eth1", "4: ACTIVE\n", GID, "IB/RoCE v1\n");
	expect(world, check_gids, FINDING_WRONG, "RoCE v1 only");
	put_rnic(world, "mlx5_0", "eth1", "4: ACTIVE\n",
	    "fe80:0000:0000:0000:0000:00ff:fe00:0001\n", "RoCE v2\n");
	expect(world, check_gids, FINDING_WRONG, "link-local");
	put_rnic(world, "mlx5_0", "eth1", "4: ACTIVE\n",
	    "0000:0000:0000:0000:0000:0000:0000:0000\n", "RoCE v2\n");
	expect(world, check_gids, FINDING_WRONG, "it has no GID");
}

static void
different_mtus_of_a_hosts_rnics_are_reported(void **state)
{
	struct world *world = *state;

	put_rnic(world, "mlx5_0", "eth1", "4: ACTIVE\n", GID, "RoCE v2\n");
	put_rnic(world, "mlx5_1", "eth2", "4: ACTIVE\n", GID, "RoCE v2\n");
	expect(world, check_mtu, FINDING_GOOD, "all 2 RNICs have an MTU of 9000");
	put(world, "/sys/class/net/eth2/mtu", "1500\n");
	expect(world, check_mtu, FINDING_WARNING, "mlx5_1 has an MTU of 1500");
}

static void
the_agent_or_the_driver_is_asked_for_the_source_of_timestamps(void **state)
{
	struct world *world = *state;

	put_rnic(world, "mlx5_0", "eth1", "4: ACTIVE\n", GID, "RoCE v2\n");
	expect(world, check_stamps, FINDING_WARNING, "eth1 cannot stamp");
	world->hardware = true;
	expect(world, check_stamps, FINDING_GOOD, "eth1 can stamp");
	world->host.rnics =
	    json("{\"rnics\": [{\"device\": \"eth1\", \"netdev\": \"eth1\", "
		 "\"rdma\": {\"device\": \"mlx5_0\", \"port\": 1}, "
		 "\"stamps\": \"user\"}]}");
	expect(world, check_stamps, FINDING_WARNING, "eth1: time stamps by software");
}

static void
an_agent_with_rdma_that_may_not_lock_memory_is_reported(void **state)
{
	struct world *world = *state;

	put_rnic(world, "mlx5_0", "eth1", "4: ACTIVE\n", GID, "RoCE v2\n");
	look(world, check_memlock);
	assert_int_equal(world->findings.count, 0); /* no agent runs */
	world->host.agent_pid = 77;
	expect(world, check_memlock, FINDING_WARNING, "cannot be read");
	put(world, "/proc/77/limits",
	    "Limit  Soft  Hard  Units\nMax locked memory         unlimited   unlimited "
	    "bytes\n");
	expect(world, check_memlock, FINDING_GOOD, "may lock memory");
	put(world, "/proc/77/limits",
	    "Max locked memory         65536    65536    bytes\n");
	expect(world, check_memlock, FINDING_WRONG, "may lock 64 KiB");
	put(world, "/proc/77/limits",
	    "Max locked memory     8388608    65536    bytes\n");
	expect(world, check_memlock, FINDING_GOOD, "may lock 8192 KiB");
}

static void
rnics_in_one_subnet_without_strict_arp_are_reported(void **state)
{
	struct world *world = *state;
	static const char head[] =
	    "Iface Destination Gateway Flags RefCnt Use Metric Mask\n";
	char routes[512];

	put_rnic(world, "mlx5_0", "eth1", "4: ACTIVE\n", GID, "RoCE v2\n");
	put_rnic(world, "mlx5_1", "eth2", "4: ACTIVE\n", GID, "RoCE v2\n");
	put(world, "/proc/sys/net/core/rmem_max", "4194304\n");
	snprintf(routes, sizeof(routes),
	    "%seth1\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
	    "eth2\t0001000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
	    "eth0\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n",
	    head);
	put(world, "/proc/net/route", routes);
	expect(world, check_sysctls, FINDING_GOOD, "no two RNICs share");

	snprintf(routes, sizeof(routes),
	    "%seth1\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
	    "eth2\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n",
	    head);
	put(world, "/proc/net/route", routes);
	expect(world, check_sysctls, FINDING_WRONG, "eth1 shares a subnet with eth2");
	put(world, "/proc/sys/net/ipv4/conf/all/arp_ignore", "1\n");
	put(world, "/proc/sys/net/ipv4/conf/eth1/arp_announce", "2\n");
	expect(world, check_sysctls, FINDING_WRONG, "eth2 shares a subnet with eth1");
	assert_non_null(find(world, FINDING_GOOD, "eth1 shares"));
	put(world, "/proc/sys/net/ipv4/conf/eth2/arp_announce", "2\n");
	expect(world, check_sysctls, FINDING_GOOD, "eth2 shares");
	put(world, "/proc/sys/net/ipv4/conf/all/rp_filter", "1\n");
	expect(world, check_sysctls, FINDING_WRONG, "rp_filter 1");
	put(world, "/proc/sys/net/core/rmem_max", "212992\n");
	expect(world, check_sysctls, FINDING_WARNING, "rmem_max is 212992");
}

/* ---- tracing ---- */

static void
tracing_reports_missing_requirements(void **state)
{
	struct world *world = *state;

	expect(world, check_tracing, FINDING_WARNING, "no BTF");
	put(world, "/sys/kernel/btf/vmlinux", "");
	put(world, "/sys/module/ib_core/sections/.text", "");
	expect(world, check_tracing, FINDING_WARNING, "ib_core has no BTF");
	put(world, "/sys/kernel/btf/ib_core", "");
	put(world, "/proc/sys/kernel/perf_event_paranoid", "3\n");
	expect(world, check_tracing, FINDING_WARNING, "capabilities cannot be seen");
	assert_non_null(find(world, FINDING_GOOD, "this kernel has BTF"));

	world->host.agent_pid = 77;
	put(world, "/proc/77/status", "Name:\thost-agent\nCapEff:\t0000000000002400\n");
	expect(world, check_tracing, FINDING_WARNING, "neither CAP_BPF");
	put(world, "/proc/77/status", "Name:\thost-agent\nCapEff:\t000000c000002400\n");
	put(world, "/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
	expect(
	    world, check_tracing, FINDING_WARNING, "kernel.perf_event_paranoid is 3");
	put(world, "/proc/sys/kernel/osrelease",
	    "6.8.0-31-generic\n"); /* this kernel has fprobe */
	expect(world, check_tracing, FINDING_GOOD, "capabilities that tracing needs");
	put(world, "/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
	put(world, "/proc/77/status", "Name:\thost-agent\nCapEff:\t000000c000202400\n");
	expect(world, check_tracing, FINDING_GOOD, "capabilities that tracing needs");
	put(world, "/proc/77/status", "Name:\thost-agent\nCapEff:\t000000c000002400\n");
	put(world, "/proc/sys/kernel/perf_event_paranoid", "2\n");
	expect(world, check_tracing, FINDING_GOOD, "perf_event_paranoid is 2");
}

static void
counters_that_need_a_drop_in_are_reported_without_it(void **state)
{
	struct world *world = *state;

	world->host.agent_pid = 77;
	put(world, "/proc/77/status", "Name:\thost-agent\nCapEff:\t000000c000002400\n");
	put_config(world, "rnics: auto\n");
	look(world, check_counters);
	assert_int_equal(world->findings.count, 0);
	put_config(world, "counters: {namespaces: true, optics_interval_s: 30}\n");
	expect(world, check_counters, FINDING_WARNING, "counters.namespaces is true");
	assert_non_null(find(world, FINDING_WARNING, "optics_interval_s is 30"));

	/* The capabilities that the drop-in for tracing grants. */
	put(world, "/proc/77/status", "Name:\thost-agent\nCapEff:\t000000c000202400\n");
	world->systemctl_reports = "RestrictNamespaces=yes\n";
	expect(world, check_counters, FINDING_WARNING, "counters.namespaces is true");
	world->systemctl_reports = "RestrictNamespaces=net\n";
	put(world, "/proc/77/status", "Name:\thost-agent\nCapEff:\t000000c000203400\n");
	expect(world, check_counters, FINDING_GOOD, "may enter the network namespaces");
	assert_non_null(find(world, FINDING_GOOD, "optical modules"));
	put_config(world, "counters: {enabled: false, namespaces: true}\n");
	look(world, check_counters);
	assert_int_equal(world->findings.count, 0);
}

static void
the_agents_report_on_tracing_counts_first(void **state)
{
	struct world *world = *state;

	world->host.services = json("{\"enabled\": false}");
	expect(world, check_tracing, FINDING_GOOD, "services.enabled is false");
	json_decref(world->host.services);
	world->host.services =
	    json("{\"enabled\": true, \"tracing\": true, \"by\": \"fexit\"}");
	expect(world, check_tracing, FINDING_GOOD, "traces services by fexit");
	json_decref(world->host.services);
	world->host.services = json("{\"enabled\": true, \"tracing\": false, "
				    "\"missing\": \"ib_core is not loaded\"}");
	expect(world, check_tracing, FINDING_WARNING, "ib_core is not loaded");
}

static void
the_state_of_a_configured_kubelet_is_reported(void **state)
{
	struct world *world = *state;

	world->host.services =
	    json("{\"enabled\": true, \"tracing\": true, \"by\": \"fexit\", "
		 "\"kubelet\": {\"up\": true, \"error\": null, \"pods\": 7}}");
	expect(
	    world, check_tracing, FINDING_GOOD, "names the pods of services: it has 7");
	json_decref(world->host.services);
	world->host.services =
	    json("{\"enabled\": true, \"tracing\": true, \"by\": \"fexit\", "
		 "\"kubelet\": {\"up\": false, \"error\": \"HTTP 403\", \"pods\": 0}}");
	expect(world, check_tracing, FINDING_WARNING, "pods of the kubelet: HTTP 403");
}

/* ---- LLDP ---- */

static void
a_cable_that_ends_at_another_switch_than_configured_is_reported(void **state)
{
	struct world *world = *state;

	put_config(world, "rnics:\n  - device: eth1\n    tor: leaf1\n");
	put(world, "/sys/class/net/eth1/operstate", "up\n");
	expect(world, check_lldp, FINDING_WARNING, "lldpd is not installed");
	world->lldpctl_reports = "[lldp] unable to connect";
	expect(world, check_lldp, FINDING_WARNING, "unable to connect");
	world->lldpctl_reports = "{\"lldp\": [{}]}";
	expect(world, check_lldp, FINDING_WARNING, "no neighbour on eth1");
#define LLDP(switch)                                                                  \
	"{\"lldp\": [{\"interface\": [{\"name\": \"eth1\", \"chassis\": [{\"name\": " \
	"[{\"value\": \"" switch "\"}]}], \"port\": [{\"id\": [{\"type\": "           \
				 "\"ifname\", "                                       \
				 "\"value\": \"Ethernet7\"}]}]}]}]}"
	world->lldpctl_reports = LLDP("leaf1.example.net");
	expect(world, check_lldp, FINDING_GOOD, "ends in leaf1.example.net, Ethernet7");
	world->lldpctl_reports = LLDP("leaf12");
	expect(world, check_lldp, FINDING_WRONG,
	    "ends in leaf12, Ethernet7 (LLDP), but the config names leaf1");
#undef LLDP
	/* If the agent itself receives LLDP, its result is used. */
	world->host.rnics =
	    json("{\"rnics\": [{\"device\": \"eth1\", \"netdev\": \"eth1\", "
		 "\"tors\": [\"leaf1\"], \"lldp_tors\": [\"leaf1\"], "
		 "\"lldp_mismatch\": false}]}");
	expect(world, check_lldp, FINDING_GOOD, "eth1: its cable ends in leaf1");
	json_decref(world->host.rnics);
	world->host.rnics =
	    json("{\"rnics\": [{\"device\": \"eth1\", \"netdev\": \"eth1\", "
		 "\"tors\": [\"leaf1\"], \"lldp_tors\": [\"leaf2\"], "
		 "\"lldp_mismatch\": true}]}");
	expect(world, check_lldp, FINDING_WRONG,
	    "ends in leaf2 (LLDP), but the config names leaf1");
}

/* ---- the agent ---- */

static void
the_agent_is_asked_for_rnics_and_aggregators(void **state)
{
	struct world *world = *state;

	strcpy(world->host.agent_error, "no socket");
	expect(world, check_agent, FINDING_WRONG, "does not answer: no socket");
	world->host.rnics =
	    json("{\"host\": \"h1\", \"paused\": false, \"brake_permille\": 1000, "
		 "\"slowed\": "
		 "\"none\", \"rnics\": [{\"device\": \"eth1\", \"up\": true, \"link\": "
		 "\"up\", "
		 "\"transport\": \"udp\", \"prober\": {\"targets\": 7}}]}");
	world->host.aggregators =
	    json("{\"aggregators\": [{\"address\": \"10.0.0.1:7471\", "
		 "\"name\": \"a1\", \"connected\": true}]}");
	expect(world, check_agent, FINDING_GOOD, "eth1: it probes 7 targets");
	assert_non_null(find(world, FINDING_GOOD, "connected to aggregator a1"));

	world->host.refused = json(
	    "{\"unplaced\": [{\"host\": \"h2\", \"device\": \"eth1\"}], \"malformed\": "
	    "[{\"host\": \"h1\", \"device\": \"eth1\", \"reason\": \"no_tor\", "
	    "\"sentence\": \"write the ToR into the topology\"}]}");
	expect(
	    world, check_agent, FINDING_WRONG, "the controller refuses eth1: no_tor");
	assert_int_equal(world->findings.counts[FINDING_WRONG], 1);

	json_decref(world->host.rnics);
	world->host.rnics = json(
	    "{\"host\": \"h1\", \"paused\": true, \"brake_permille\": 0, \"slowed\": "
	    "\"cpu\", "
	    "\"rnics\": [{\"device\": \"eth1\", \"up\": false}, {\"device\": \"eth2\", "
	    "\"up\": true, \"link\": \"down\"}, {\"device\": \"eth3\", \"up\": true, "
	    "\"link\": \"up\", \"prober\": {\"targets\": 0}}], \"waiting\": "
	    "[{\"device\": "
	    "\"eth9\", \"reason\": \"no GID\"}]}");
	json_decref(world->host.aggregators);
	world->host.aggregators =
	    json("{\"aggregators\": [{\"address\": \"10.0.0.1:7471\", "
		 "\"connected\": false, \"refusals\": 3}]}");
	expect(world, check_agent, FINDING_WARNING, "paused");
	assert_non_null(find(world, FINDING_WARNING, "brake allows 0 of 1000"));
	assert_non_null(find(world, FINDING_WARNING, "its own limit (cpu)"));
	assert_non_null(find(world, FINDING_WRONG, "eth1: the agent cannot use it"));
	assert_non_null(
	    find(world, FINDING_WRONG, "eth9: the agent waits for it: no GID"));
	assert_non_null(find(world, FINDING_WRONG, "eth2: its link is down"));
	assert_non_null(
	    find(world, FINDING_WRONG, "eth3: it is up, and has no target"));
	assert_non_null(
	    find(world, FINDING_WRONG, "not connected to aggregator 10.0.0.1"));
}

/* ---- all ---- */

static void
a_host_without_an_agent_is_not_asked_for_rnics(void **state)
{
	struct world *world = *state;
	json_t *answer;

	put(world, "/usr/bin/analyzer", "");
	doctor_look(&world->host, &world->findings);
	for (size_t i = 0; i < world->findings.count; i++)
		assert_string_not_equal(world->findings.list[i].check, "rdma");
	answer = findings_json(&world->findings);
	assert_int_equal(json_array_size(answer), world->findings.count);
	json_decref(answer);
}

static void
findings_beyond_the_limit_are_counted(void **state)
{
	struct world *world = *state;

	world->findings.check = "x";
	for (size_t i = 0; i < FINDINGS_MAX + 3; i++) {
		findings_add(&world->findings, FINDING_WRONG, "number %zu", i);
		findings_remedy(&world->findings, "of %zu", i);
	}
	assert_int_equal(world->findings.count, FINDINGS_MAX);
	assert_int_equal(world->findings.dropped, 3);
	assert_int_equal(world->findings.counts[FINDING_WRONG], FINDINGS_MAX + 3);
	assert_string_equal(world->findings.list[FINDINGS_MAX - 1].remedy, "of 511");
}

/* Each finding is one line, and its remedy another: operators and scripts read them. */
static void
the_report_has_this_text(void **state)
{
	struct world *world = *state;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	world->findings.check = "clock";
	findings_add(&world->findings, FINDING_GOOD, "it goes");
	world->findings.check = "certificate";
	findings_add(&world->findings, FINDING_WRONG, "it has\nexpired");
	findings_remedy(&world->findings, "renew it");
	findings_print(&world->findings, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, "good     clock        it goes\n"
				  "wrong    certificate  it has expired\n"
				  "                      -> renew it\n"
				  "1 good, 0 warnings, 1 wrong\n");
	free(text);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_config_is_judged_by_the_daemons_own_check),
		TEST(all_that_is_wrong_in_a_config_is_reported),
		TEST(a_certificate_that_expires_soon_is_reported),
		TEST(a_unit_that_is_inactive_disabled_or_restarted_is_reported),
		TEST(every_peer_of_every_config_is_tried),
		TEST(an_unsynchronized_clock_is_a_warning),
		TEST(a_port_that_is_not_active_is_reported),
		TEST(an_rnic_without_a_roce_v2_gid_with_an_address_is_reported),
		TEST(different_mtus_of_a_hosts_rnics_are_reported),
		TEST(the_agent_or_the_driver_is_asked_for_the_source_of_timestamps),
		TEST(an_agent_with_rdma_that_may_not_lock_memory_is_reported),
		TEST(rnics_in_one_subnet_without_strict_arp_are_reported),
		TEST(tracing_reports_missing_requirements),
		TEST(the_agents_report_on_tracing_counts_first),
		TEST(counters_that_need_a_drop_in_are_reported_without_it),
		TEST(the_state_of_a_configured_kubelet_is_reported),
		TEST(a_cable_that_ends_at_another_switch_than_configured_is_reported),
		TEST(the_agent_is_asked_for_rnics_and_aggregators),
		TEST(a_host_without_an_agent_is_not_asked_for_rnics),
		TEST(findings_beyond_the_limit_are_counted),
		TEST(the_report_has_this_text),
	};

	return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
