#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host-agent/agent_check.h"
#include "host-agent/agent_config.h"
#include "rackmesh/core/log.h"

#define AGGREGATORS \
	"aggregators:\n  - address: 10.0.0.1:9470\n    tors: [tor-a, tor-b]\n"

static char path[] = "/tmp/test_agent_config.XXXXXX";

static int
setup(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int
teardown(void **state)
{
	return unlink(path);
}

static int
read_text(const char *text, struct agent_config *config, struct rm_error *error)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	return agent_config_read(config, path, error);
}

static void
a_small_config_is_enough(void **state)
{
	struct rm_error error = { 0 };
	struct agent_config config;
	const struct agent_rnic_config *rnics;
	const struct agent_aggregator_config *aggregators;

	assert_int_equal(read_text(AGGREGATORS "rnics:\n"
					       "  - device: eth1\n"
					       "    tor: tor-a\n"
					       "  - device: eth2\n"
					       "    tors: [tor-a, tor-b]\n"
					       "    address: 'fd00::2'\n"
					       "    udp_port: 8620\n",
			     &config, &error),
	    0);
	rnics = config.rnics.items;
	assert_int_equal(config.rnics.count, 2);
	assert_int_equal(agent_rnic_tor_count(&rnics[0]), 1);
	assert_string_equal(agent_rnic_tor(&rnics[0], 0), "tor-a");
	assert_int_equal(rnics[0].udp_port, 862);
	assert_int_equal(agent_rnic_tor_count(&rnics[1]), 2);
	assert_string_equal(agent_rnic_tor(&rnics[1], 1), "tor-b");
	assert_int_equal(config.probe_timeout_ms, 500);
	assert_string_equal(config.http_listen, "127.0.0.1:9471");
	assert_true(config.host[0] != 0); /* the system's CA bundle */
	aggregators = config.aggregators.items;
	assert_true(agent_aggregator_serves(&aggregators[0], "tor-b"));
	assert_false(agent_aggregator_serves(&aggregators[0], "tor-c"));
	agent_config_clear(&config);
}

static void
an_aggregator_without_tors_serves_all_of_the_host(void **state)
{
	struct rm_error error = { 0 };
	struct agent_config config;
	const struct agent_aggregator_config *aggregators;

	assert_int_equal(read_text("aggregators: [{address: '10.0.0.1:1'}]\n"
				   "rnics: [{device: eth1, tor: any}]\n",
			     &config, &error),
	    0);
	aggregators = config.aggregators.items;
	assert_true(agent_aggregator_serves(&aggregators[0], "any"));
	agent_config_clear(&config);
}

static void
each_rnic_has_the_aggregators_of_its_tors(void **state)
{
	struct rm_error error = { 0 };
	struct agent_config config;
	char text[8192];
	size_t len;

	len = (size_t)snprintf(text, sizeof(text),
	    "rnics: [{device: eth1, tor: tor-a}, {device: eth2, tors: [tor-b, tor-c]}, "
	    "{device: eth3, tor: tor-d}]\n"
	    "aggregators:\n"
	    "  - {address: '10.0.0.1:1'}\n"
	    "  - {address: '10.0.0.1:2', tors: [tor-c, tor-a]}\n"
	    "  - {address: '10.0.0.1:3', tors: [tor-b]}\n");
	for (unsigned i = 3; i < AGENT_MAX_AGGREGATORS; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "  - {address: '10.0.0.1:%u', tors: [%s]}\n", 1 + i,
		    i == AGENT_MAX_AGGREGATORS - 1 ? "tor-d" : "tor-x");
	assert_int_equal(read_text(text, &config, &error), 0);
	assert_true(agent_tor_aggregators(&config, "tor-a") == 0x3);
	assert_true(agent_tor_aggregators(&config, "tor-b") == 0x5);
	assert_true(agent_tor_aggregators(&config, "tor-d") == 0x8000000000000001);
	agent_config_clear(&config);
	/* One value more than the bit mask has bits. */
	snprintf(text + len, sizeof(text) - len,
	    "  - {address: '10.0.0.1:65', tors: [tor-a]}\n");
	assert_int_equal(read_text(text, &config, &error), -EINVAL);
}

static void
an_rnic_may_be_an_rdma_port(void **state)
{
	struct rm_error error = { 0 };
	struct agent_config config;
	struct rnic_place place;

	assert_int_equal(
	    read_text(AGGREGATORS
		"roce: {flow_qps: 16, software_stamps: true}\n"
		"rnics:\n"
		"  - {device: mlx5_0, tor: tor-a, transport: roce, port: 2}\n"
		"  - {device: mlx5_0, tor: tor-b, gid_index: 3}\n"
		"  - {device: eth1, tor: tor-b, transport: udp, address: 10.0.0.1}\n",
		&config, &error),
	    0);
	assert_int_equal(config.roce_flow_qps, 16);
	assert_true(config.roce_software_stamps);
	place = agent_rnic_place(&config, 0);
	assert_int_equal(place.transport, RNIC_ROCE);
	assert_int_equal(place.rdma_port, 2);
	assert_int_equal(place.gid_index, -1);
	place = agent_rnic_place(&config, 1);
	assert_string_equal(place.device, "mlx5_0");
	assert_int_equal(place.transport, RNIC_AUTO);
	assert_int_equal(place.rdma_port, 1);
	assert_int_equal(place.gid_index, 3);
	place = agent_rnic_place(&config, 2);
	assert_int_equal(place.transport, RNIC_UDP);
	assert_string_equal(place.address, "10.0.0.1");
	assert_null(place.netns);
	agent_config_clear(&config);
}

static void
rnics_may_be_left_to_the_agent(void **state)
{
	struct rm_error error = { 0 };
	struct agent_config config;
	const struct agent_rnic_config *rnics;
	const struct agent_switch_config *switches;

	assert_int_equal(read_text("rnics: auto\n" AGGREGATORS, &config, &error), 0);
	rnics = config.rnics.items;
	assert_int_equal(config.rnics.count, 1);
	assert_true(agent_rnic_is_pattern(&rnics[0]));
	assert_int_equal(rnics[0].transport, RNIC_AUTO);
	assert_int_equal(agent_rnic_tor_count(&rnics[0]), 0);
	assert_string_equal(config.lldp_file, "/run/rackmesh-lldp/neighbors.json");
	agent_config_clear(&config);

	assert_int_equal(
	    read_text("lldp: {switches: [{name: sw-1.example, tor: tor-a}]}\n"
		      "rnics:\n"
		      "  - {device: 'mlx5_[0-3]', tor: tor-a}\n"
		      "  - {device: 'mlx5_*', tor: tor-b, except: [mlx5_bond_0]}\n"
		      "  - {device: auto, driver: 'bnxt*', netdev: 'ens*'}\n"
		      "  - {device: eth1}\n" AGGREGATORS,
		&config, &error),
	    0);
	rnics = config.rnics.items;
	assert_int_equal(config.rnics.count, 4);
	assert_true(agent_rnic_is_pattern(&rnics[0]));
	assert_false(agent_rnic_is_pattern(&rnics[3]));
	assert_int_equal(rnics[1].except.count, 1);
	switches = config.lldp_switches.items;
	assert_string_equal(switches[0].tor, "tor-a");
	agent_config_clear(&config);
}

/* Errors in RNICs or aggregators contain file, line and option. */
static void
assert_refused(const char *text, const char *place, const char *what)
{
	struct rm_error error = { 0 };
	struct agent_config config;
	char expected[128];

	assert_int_equal(read_text(text, &config, &error), -EINVAL);
	snprintf(expected, sizeof(expected), "%s:%s", path, place);
	if (strstr(error.text, expected) == NULL || strstr(error.text, what) == NULL)
		fail_msg(
		    "'%s' names neither '%s' nor '%s'", error.text, expected, what);
	assert_null(config.rnics.items);
}

static void
errors_across_options_name_their_line_too(void **state)
{
	assert_refused(AGGREGATORS "rnics:\n  - device: eth1\n    tor: tor-x\n",
	    "6:", "rnics[0].tor: no aggregator");
	assert_refused(AGGREGATORS "rnics:\n  - device: eth1\n    tor: tor-a\n"
				   "  - device: eth1\n    tor: tor-a\n",
	    "7:", "rnics[1].device: listed twice");
	assert_refused("lldp: {file: ''}\n" AGGREGATORS "rnics:\n  - device: eth1\n",
	    "6:", "rnics[0].tor: missing");
	assert_refused(AGGREGATORS "rnics:\n  - device: eth1\n    tor: tor-a\n"
				   "    tors: [tor-b]\n",
	    "7:", "rnics[0].tors: tor is given too");
	assert_refused(AGGREGATORS
	    "rnics:\n  - device: eth1\n    tors: [tor-a, tor-a]\n",
	    "6:", "the same ToR twice");
	assert_refused(AGGREGATORS "rnics:\n  - device: eth1\n    tor: tor-a\n"
				   "    address: 10.0.0.1:862\n",
	    "7:", "rnics[0].address: expected");
	assert_refused(AGGREGATORS "rnics:\n  - device: 'eth 1'\n    tor: tor-a\n",
	    "5:", "rnics[0].device: expected a name");
	assert_refused("aggregators:\n  - address: here\n"
		       "rnics:\n  - device: eth1\n    tor: tor-a\n",
	    "2:", "aggregators[0].address: expected");
	assert_refused(
	    "aggregators:\n  - address: 10.0.0.1:9\n  - address: 10.0.0.1:9\n"
	    "rnics:\n  - device: eth1\n    tor: tor-a\n",
	    "3:", "aggregators[1].address: listed twice");
	assert_refused("host: '-'\n" AGGREGATORS
		       "rnics:\n  - device: eth1\n    tor: tor-a\n",
	    "1:", "host: expected a name");
	assert_refused("http:\n  listen: everywhere\n" AGGREGATORS
		       "rnics:\n  - device: eth1\n    tor: tor-a\n",
	    "2:", "http.listen: expected");
}

static void
a_kubelet_needs_https_and_client_credentials(void **state)
{
#define RNICS AGGREGATORS "rnics:\n  - device: eth1\n    tor: tor-a\n"
	struct rm_error error = { 0 };
	struct agent_config config;

	/* The agent starts without the files: probing does not depend on them. */
	assert_int_equal(read_text(RNICS "kubernetes:\n"
					 "  kubelet: https://127.0.0.1:10250\n"
					 "  token_file: /nonexistent\n",
			     &config, &error),
	    0);
	assert_int_equal(config.kubernetes_interval_s, 300);
	assert_string_equal(config.kubernetes_origin.token_file, "/nonexistent");
	agent_config_clear(&config);
	assert_refused(RNICS "kubernetes:\n  kubelet: http://127.0.0.1:10255\n"
			     "  token_file: /nonexistent\n",
	    "8:", "https://host:port");
	assert_refused(RNICS "kubernetes:\n  kubelet: https://me:word@127.0.0.1:10250\n"
			     "  token_file: /nonexistent\n",
	    "", "expected https://host:port of the kubelet");
	assert_refused(RNICS "kubernetes:\n  kubelet: https://127.0.0.1:10250\n",
	    "8:", "needs to know its client");
	assert_refused(RNICS "kubernetes:\n  kubelet: https://127.0.0.1:10250\n"
			     "  key: /nonexistent\n",
	    "8:", "kubernetes.key, or neither");
	assert_refused(RNICS "kubernetes:\n  token_file: /nonexistent\n", "",
	    "give the kubelet's https://host:port");
}

static void
options_of_patterns_are_refused_for_names_and_vice_versa(void **state)
{
	assert_refused(AGGREGATORS "rnics: some\n", "4:", "or the name auto");
	assert_refused(AGGREGATORS "rnics:\n  - device: eth1\n    driver: mlx5\n",
	    "6:", "only a pattern");
	assert_refused(AGGREGATORS "rnics:\n  - device: eth1\n    netdev: e*\n",
	    "6:", "only a pattern");
	assert_refused(AGGREGATORS "rnics:\n  - device: eth1\n    except: [e*]\n",
	    "6:", "only a pattern");
	assert_refused(AGGREGATORS "rnics:\n  - device: auto\n    address: 10.0.0.1\n",
	    "6:", "list this one by its name");
	assert_refused(AGGREGATORS "rnics:\n  - device: auto\n    port: 2\n",
	    "6:", "list this one by its name");
	assert_refused(AGGREGATORS "rnics: auto\nlldp:\n  switches:\n"
				   "    - {name: a, tor: a}\n"
				   "    - {name: a, tor: b}\n",
	    "8:", "listed twice");
}

static void
an_impossible_transport_is_refused(void **state)
{
	assert_refused(AGGREGATORS
	    "rnics:\n  - device: eth1\n    tor: tor-a\n    transport: rdma\n",
	    "7:", "rnics[0].transport: expected one of auto, udp, roce");
	assert_refused("netns: fabric\n" AGGREGATORS
		       "rnics:\n  - device: eth1\n    tor: tor-a\n"
		       "    transport: roce\n",
	    "8:", "rnics[0].transport: roce works only if the daemon");
	assert_refused(AGGREGATORS
	    "rnics:\n  - device: rocep129s0f0np01\n    tor: tor-a\n"
	    "    transport: udp\n",
	    "5:", "rnics[0].device: the name is too long for a network device");
	assert_refused(AGGREGATORS "rnics:\n  - device: eth1\n    tor: tor-a\n"
				   "    transport: udp\n    port: 2\n",
	    "8:", "rnics[0].port: only transport roce has ports");
	assert_refused(AGGREGATORS "rnics:\n  - device: eth1\n    tor: tor-a\n"
				   "    transport: udp\n    gid_index: 3\n",
	    "8:", "rnics[0].gid_index: only transport roce has GIDs");
	assert_refused(AGGREGATORS "rnics:\n  - device: mlx5_0\n    tor: tor-a\n"
				   "    address: 10.0.0.1\n    gid_index: 3\n",
	    "8:", "rnics[0].gid_index: address is given too");
	assert_refused(AGGREGATORS "rnics:\n  - device: mlx5_0\n    tor: tor-a\n"
				   "    port: 255\n",
	    "7:", "port");
	assert_refused(AGGREGATORS "rnics:\n"
				   "  - {device: mlx5_0, tor: tor-a, port: 2}\n"
				   "  - {device: mlx5_0, tor: tor-a, port: 2}\n",
	    "6:", "rnics[1].device: listed twice");
	assert_refused("roce: {flow_qps: 65}\n" AGGREGATORS
		       "rnics:\n  - device: eth1\n    tor: tor-a\n",
	    "1:", "roce.flow_qps");
}

static void
only_numbers_of_probing_change_without_a_restart(void **state)
{
	struct agent_config old, fresh;
	struct rm_error error = { 0 };

	assert_int_equal(read_text(AGGREGATORS "rnics: [{device: eth1, tor: tor-a}]\n",
			     &old, &error),
	    0);
	assert_int_equal(
	    read_text("probe: {timeout_ms: 400, max_rate_per_s: 9}\n" AGGREGATORS
		      "rnics: [{device: eth1, tor: tor-a}]\n",
		&fresh, &error),
	    0);
	assert_int_equal(rm_config_waiting(agent_options, &old, &fresh, &error), 0);
	agent_config_clear(&fresh);
	assert_int_equal(read_text(AGGREGATORS "rnics: [{device: eth1, tor: tor-b}]\n",
			     &fresh, &error),
	    0);
	assert_int_equal(rm_config_waiting(agent_options, &old, &fresh, &error), 1);
	assert_string_equal(error.text, "rnics[0].tor");
	agent_config_clear(&fresh);
	agent_config_clear(&old);
}

static void
the_example_is_good(void **state)
{
	struct agent_config config;
	struct rm_error error = { 0 };

	if (agent_config_read(&config, EXAMPLE, &error) < 0)
		fail_msg("%s", error.text);
	agent_config_clear(&config);
}

static void
keep_line(enum rm_log_level level, const char *line, void *arg)
{
	if (level == RM_LOG_ERROR)
		snprintf(arg, 512, "%s", line);
}

static void
a_host_that_was_never_named_does_not_start(void **state)
{
	static const char *const names[] = { "localhost.localdomain",
		"LocalHost.example", "localhost4", "localhost6.localdomain6",
		"localhost-live" };
	char *argv[] = { (char[]){ "host-agent" }, (char[]){ "--check" },
		(char[]){ "--config" }, path, NULL };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char line[512] = "";
		struct agent_config config;
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		fprintf(file,
		    "host: %s\n" AGGREGATORS "rnics: [{device: eth1, tor: tor-a}]\n",
		    names[i]);
		assert_int_equal(fclose(file), 0);
		rm_log_set_sink(keep_line, line);
		assert_true(rm_config_start(&agent_config_type, "", 4, argv, &config,
				agent_check) < 0);
		rm_log_set_sink(NULL, NULL);
		if (strstr(line, ":1:7: host: expected the name of this host") == NULL)
			fail_msg("%s: %s", names[i], line);
	}
}

static void
expect_of_host(const char *system, const char *config_text, const char *expected)
{
	struct agent_config config;
	struct rm_error error = { 0 };
	FILE *file = fopen(path, "w");
	int r;

	assert_non_null(file);
	fputs(config_text, file);
	fputs(AGGREGATORS "rnics: [{device: eth1, tor: tor-a}]\n", file);
	assert_int_equal(fclose(file), 0);
	if (system != NULL && sethostname(system, strlen(system)) < 0)
		skip();
	r = agent_config_read(&config, path, &error);
	if (expected == NULL)
		agent_config_clear(&config);
	assert_int_equal(r, expected == NULL ? 0 : -EINVAL);
	if (expected != NULL && strstr(error.text, expected) == NULL)
		fail_msg("%s", error.text);
}

static void
a_name_that_cannot_be_a_hosts_is_quoted_with_what_to_do(void **state)
{
	const char *longest =
	    "a123456789b123456789c123456789d123456789e123456789f123456789g123";

	expect_of_host(NULL, "host: _gpu17\n",
	    ":1:7: host: \"_gpu17\" cannot name this host: expected a name");
	expect_of_host(NULL, "host: GPU_17.Example\n", NULL);
	if (unshare(CLONE_NEWUTS) < 0)
		skip(); /* not running as root */
	expect_of_host(longest, "", "f123456789g123\" cannot name this host");
	expect_of_host(longest, "", "or give host here, as in host: gpu17");
	expect_of_host(longest, "host: gpu17\n", NULL);
	/* what some systems have before they are named, and a name with a blank */
	expect_of_host("(none)", "", "host: \"(none)\" cannot name this host");
	expect_of_host("gpu 17", "", "host: \"gpu 17\" cannot name this host");
	expect_of_host("GPU_17", "", NULL);
	/* as DHCP gives it */
	expect_of_host("gpu17.rack3.Example.", "", NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_config_is_enough),
		cmocka_unit_test(an_aggregator_without_tors_serves_all_of_the_host),
		cmocka_unit_test(each_rnic_has_the_aggregators_of_its_tors),
		cmocka_unit_test(an_rnic_may_be_an_rdma_port),
		cmocka_unit_test(rnics_may_be_left_to_the_agent),
		cmocka_unit_test(a_kubelet_needs_https_and_client_credentials),
		cmocka_unit_test(
		    options_of_patterns_are_refused_for_names_and_vice_versa),
		cmocka_unit_test(an_impossible_transport_is_refused),
		cmocka_unit_test(errors_across_options_name_their_line_too),
		cmocka_unit_test(only_numbers_of_probing_change_without_a_restart),
		cmocka_unit_test(a_host_that_was_never_named_does_not_start),
		cmocka_unit_test(
		    a_name_that_cannot_be_a_hosts_is_quoted_with_what_to_do),
		cmocka_unit_test(the_example_is_good),
	};

	return cmocka_run_group_tests_name("agent_config", tests, setup, teardown);
}
