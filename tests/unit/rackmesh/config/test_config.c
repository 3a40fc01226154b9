#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/config/config.h"
#include "rackmesh/config/config_reload.h"
#include "rackmesh/core/log.h"

enum mode { MODE_ACTIVE, MODE_STANDBY };

struct rnic {
	char *device;
	uint64_t rate_pps;
};

struct sample {
	const char *path;
	char *name;
	int log_level;
	uint64_t interval_ms;
	uint64_t timeout_ms;
	bool enabled;
	char *address;
	char *key;
	char *label;
	int mode;
	struct rm_list peers;
	struct rm_list rnics;
};

#define AT(field) offsetof(struct sample, field)
#define RNIC(field) offsetof(struct rnic, field)

/* clang-format off */
static const struct rm_enum_name modes[] = {
	{ "active", MODE_ACTIVE }, { "standby", MODE_STANDBY }, { NULL, 0 },
};

static const struct rm_option rnic_options[] = {
	{ "device", RM_STRING, RNIC(device), NULL, 1, 15, RM_REQUIRED,
	  "network interface of the RNIC" },
	{ "rate_pps", RM_UINT, RNIC(rate_pps), "100", 1, 1000, RM_RELOAD,
	  "probes a second" },
	{ 0 }
};

static const struct rm_option options[] = {
	{ "probe.interval_ms", RM_UINT, AT(interval_ms), "1000", 10, 60000, RM_RELOAD,
	  "time between two probes to the same target" },
	{ "probe.timeout_ms", RM_UINT, AT(timeout_ms), "500", 1, 10000, 0,
	  "a probe with no answer after this long counts as lost" },
	{ "probe.enabled", RM_BOOL, AT(enabled), "true", 0, 0, RM_RELOAD,
	  "probe at all" },
	{ "tor.address", RM_STRING, AT(address), NULL, 0, 0, RM_REQUIRED,
	  "host:port of this rack's tor-aggregator" },
	{ "tls.key", RM_STRING, AT(key), "hunter2", 0, 8, RM_SECRET,
	  "file with this host's private key" },
	{ "label", RM_STRING, AT(label), NULL, 0, 0, 0,
	  "any text" },
	{ "mode", RM_ENUM, AT(mode), "standby", 0, 0, 0,
	  "which of the two speaks", modes },
	{ "peers", RM_LIST, AT(peers), "[one, two]", 0, 3, 0,
	  "who else" },
	{ "rnics", RM_TABLE, AT(rnics), NULL, 0, 4, 0,
	  "the RNICs to probe with", NULL, rnic_options, sizeof(struct rnic) },
	{ "name", RM_STRING, AT(name), NULL, 1, 63, 0, "its name" },
	{ 0 }
};
/* clang-format on */

static int
check_timeout(void *arg, struct rm_error *error)
{
	const struct sample *config = arg;

	return config->timeout_ms < config->interval_ms + 1000
		   ? 0
		   : rm_config_refuse(config->path, error, "too long", "probe");
}

static const struct rm_config_type type = {
	.options = options,
	.bytes = sizeof(struct sample),
	.path = AT(path),
	.name = AT(name),
	.log_level = AT(log_level),
	.name_option = "name",
	.check = check_timeout,
};

static void
load(const char *text, struct sample *config)
{
	struct rm_error error = { 0 };

	*config = (struct sample){ 0 };
	if (rm_config_parse(options, "a.yaml", text, strlen(text), config, &error) < 0)
		fail_msg("%s", error.text);
}

/* The text must be refused with exactly this message, and leave no allocated value. */
static void
refused(const char *text, const char *sentence)
{
	static const struct sample zero;
	struct sample config = { 0 };
	struct rm_error error = { 0 };

	assert_true(rm_config_parse(
			options, "a.yaml", text, strlen(text), &config, &error) < 0);
	assert_string_equal(error.text, sentence);
	assert_memory_equal(&config, &zero, sizeof(config));
}

static const char *
peer(const struct sample *config, size_t i)
{
	return ((char **)config->peers.items)[i];
}

static void
options_that_are_not_given_have_their_defaults(void **state)
{
	struct sample config;

	load("tor: {address: x}\nprobe:\n", &config);
	assert_int_equal(config.interval_ms, 1000);
	assert_int_equal(config.timeout_ms, 500);
	assert_true(config.enabled);
	assert_string_equal(config.address, "x");
	assert_string_equal(config.key, "hunter2");
	assert_null(config.label);
	assert_int_equal(config.mode, MODE_STANDBY);
	assert_int_equal(config.peers.count, 2);
	assert_string_equal(peer(&config, 1), "two");
	assert_int_equal(config.rnics.count, 0);
	rm_config_clear(options, &config);
	assert_null(config.address);
}

static void
all_kinds_are_read(void **state)
{
	struct sample config;
	struct rnic *rnics;

	load("probe: {interval_ms: 10, timeout_ms: 10000, enabled: false}\n"
	     "tor:\n  address: \"[fd00::1]:7471\"\n"
	     "label: \"\"\nmode: active\npeers: []\n"
	     "rnics:\n  - device: eth0\n  - {device: eth1, rate_pps: 5}\n",
	    &config);
	assert_int_equal(config.interval_ms, 10);
	assert_int_equal(config.timeout_ms, 10000);
	assert_false(config.enabled);
	assert_string_equal(config.address, "[fd00::1]:7471");
	assert_string_equal(config.label, "");
	assert_int_equal(config.mode, MODE_ACTIVE);
	assert_int_equal(config.peers.count, 0);
	assert_int_equal(config.rnics.count, 2);
	rnics = config.rnics.items;
	assert_string_equal(rnics[0].device, "eth0");
	assert_int_equal(rnics[0].rate_pps, 100);
	assert_string_equal(rnics[1].device, "eth1");
	assert_int_equal(rnics[1].rate_pps, 5);
	rm_config_clear(options, &config);
}

static void
an_unknown_option_names_its_neighbour(void **state)
{
	refused("probe:\n  intervall_ms: 5\n",
	    "a.yaml:2:3: unknown option \"probe.intervall_ms\"; did you mean "
	    "\"probe.interval_ms\"?");
	refused("prbe:\n  interval_ms: 5\n",
	    "a.yaml:1:1: unknown option \"prbe\"; did you mean \"probe\"?");
	refused("interval_ms: 5\n",
	    "a.yaml:1:1: unknown option \"interval_ms\"; did you mean "
	    "\"probe.interval_ms\"?");
	refused("quux: 5\n",
	    "a.yaml:1:1: unknown option \"quux\"; remove it, --help-config lists all");
	refused("rnics:\n  - devise: eth0\n",
	    "a.yaml:2:5: unknown option \"rnics[0].devise\"; did you mean "
	    "\"rnics[0].device\"?");
	refused("probe.interval_ms: 5\n",
	    "a.yaml:1:1: unknown option \"probe.interval_ms\"; a dot stands for a map "
	    "inside a map: put what follows the dot on a line of its own, indented");
}

static void
errors_of_values_out_of_range_name_the_range(void **state)
{
	refused("probe:\n  interval_ms: 9\n",
	    "a.yaml:2:16: probe.interval_ms: expected a whole number between 10 and "
	    "60000 (ms), found \"9\"");
	refused("probe: {interval_ms: 60001}\n",
	    "a.yaml:1:22: probe.interval_ms: expected a whole number between 10 and "
	    "60000 (ms), found \"60001\"");
	refused("probe: {interval_ms: \"99\"}\n",
	    "a.yaml:1:22: probe.interval_ms: expected a whole number between 10 and "
	    "60000 (ms), without quotes, found \"99\"");
	refused("probe:\n  interval_ms:\n",
	    "a.yaml:2:15: probe.interval_ms: expected a whole number between 10 and "
	    "60000 (ms), found nothing");
	refused("probe: {enabled: yes}\n",
	    "a.yaml:1:18: probe.enabled: expected true or false, found \"yes\"");
	refused("mode: passive\n",
	    "a.yaml:1:7: mode: expected one of active, standby, found \"passive\"");
	refused("tor: {address: \"\"}\n",
	    "a.yaml:1:16: tor.address: expected text, found \"\"");
	refused("rnics:\n  - device: eth0\n  - device: interface-name-16\n",
	    "a.yaml:3:13: rnics[1].device: expected text of 1 to 15 characters, found "
	    "\"interface-name-16\"");
}

static void
a_wrong_shape_reports_which_is_right(void **state)
{
	refused("probe: 5\n",
	    "a.yaml:1:8: probe: expected a map, \"name: value\" lines indented below "
	    "it");
	refused("label: [a]\n", "a.yaml:1:8: label: expected text, found a list");
	refused("peers: one\n",
	    "a.yaml:1:8: peers: expected a list of at most 3 texts, found \"one\"; "
	    "write \"- \" before each item");
	refused("peers: [a, b, c, d]\n",
	    "a.yaml:1:8: peers: expected a list of at most 3 texts, found 4");
	refused("peers: [a, {b: c}]\n",
	    "a.yaml:1:12: peers[1]: expected text, found a map");
	refused("rnics: [eth0]\n",
	    "a.yaml:1:9: rnics[0]: expected a map, \"- name: value\"");
	refused("[]\n", "a.yaml:1:1: expected options, \"name: value\" lines");
}

static void
a_missing_required_option_is_named_with_its_file(void **state)
{
	struct sample config = { 0 };
	struct rm_error error = { 0 };

	refused("mode: active\n",
	    "a.yaml: required option \"tor.address\" is missing; add it (host:port of "
	    "this rack's tor-aggregator)");
	refused("tor: {address: x}\nrnics:\n  - device: eth0\n  - rate_pps: 5\n",
	    "a.yaml:4:5: required option \"rnics[1].device\" is missing; add it "
	    "(network interface of the RNIC)");
	assert_int_equal(rm_config_load(options, NULL, &config, &error), -EINVAL);
	assert_string_equal(error.text,
	    "no config file: required option \"tor.address\" is missing; add it "
	    "(host:port of this rack's tor-aggregator)");
	assert_int_equal(rm_config_load(options, "/nowhere", &config, &error), -ENOENT);
}

static void
a_name_may_replace_a_table_of_one_item(void **state)
{
	static const struct rm_enum_name autos[] = { { "auto", 1 }, { 0 } };
	static const struct rm_option worded[] = {
		{ "rnics", RM_TABLE, AT(rnics), NULL, 0, 4, RM_REQUIRED, "the RNICs",
		    autos, rnic_options, sizeof(struct rnic) },
		{ 0 },
	};
	static const char text[] = "rnics: auto\n", other[] = "rnics: all\n";
	struct sample config = { 0 };
	struct rm_error error = { 0 };
	const struct rnic *rnic;

	assert_int_equal(
	    rm_config_parse(worded, "file", text, strlen(text), &config, &error), 0);
	assert_int_equal(config.rnics.count, 1);
	rnic = config.rnics.items;
	assert_string_equal(rnic->device, "auto");
	rm_config_clear(worded, &config);
	assert_int_equal(
	    rm_config_parse(worded, "file", other, strlen(other), &config, &error),
	    -EINVAL);
	assert_non_null(strstr(error.text, "or the name auto, found \"all\""));
	/* Only if the table has enum names. */
	assert_int_equal(
	    rm_config_parse(options, "file", text, strlen(text), &config, &error),
	    -EINVAL);
}

static void
a_required_table_needs_an_item(void **state)
{
	static const struct rm_option needs[] = {
		{ "rnics", RM_TABLE, AT(rnics), NULL, 0, 4, RM_REQUIRED, "the RNICs",
		    NULL, rnic_options, sizeof(struct rnic) },
		{ 0 },
	};
	struct sample config = { 0 };
	struct rm_error error = { 0 };

	assert_int_equal(
	    rm_config_parse(needs, "a.yaml", "rnics: []", 9, &config, &error), -EINVAL);
	assert_string_equal(
	    error.text, "a.yaml:1:8: rnics: expected a list of 1 to 4 maps, found 0");
	assert_int_equal(
	    rm_config_parse(needs, "a.yaml", "rnics:", 6, &config, &error), -EINVAL);
}

static void
a_bad_built_in_default_is_an_error(void **state)
{
	static const struct rm_option broken[] = {
		{ "timeout_ms", RM_UINT, AT(timeout_ms), "5", 10, 20, 0, "too small" },
		{ 0 },
	};
	struct sample config = { 0 };
	struct rm_error error = { 0 };

	assert_int_equal(rm_config_load(broken, NULL, &config, &error), -EINVAL);
	assert_string_equal(error.text,
	    "no config file: built-in default of timeout_ms: expected a whole number "
	    "between 10 and 20 (ms)");
}

static void
a_secret_is_never_printed(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	refused("tls:\n  key: correct horse battery\n",
	    "a.yaml:2:8: tls.key: expected text of at most 8 characters, found "
	    "something else");
	out = open_memstream(&text, &len);
	assert_non_null(out);
	rm_config_help(options, out);
	fclose(out);
	assert_null(strstr(text, "hunter2"));
	assert_non_null(strstr(text, "tls.key"));
	free(text);
}

static void
a_reload_only_changes_options_marked_for_it(void **state)
{
	struct sample old, fresh;
	struct rm_error error = { 0 };

	load("tor: {address: x}\nrnics: [{device: a, rate_pps: 1}]\n", &old);
	load("tor: {address: x}\nrnics: [{device: a, rate_pps: 2}]\n"
	     "probe: {interval_ms: 50, enabled: false}\n",
	    &fresh);
	assert_int_equal(rm_config_waiting(options, &old, &fresh, &error), 0);
	assert_string_equal(error.text, "");
	rm_config_clear(options, &fresh);

	load("tor: {address: x}\nrnics: [{device: b}]\n", &fresh);
	assert_int_equal(rm_config_waiting(options, &old, &fresh, &error), 1);
	assert_string_equal(error.text, "rnics[0].device");
	rm_config_clear(options, &fresh);

	load("tor: {address: x}\n", &fresh);
	assert_int_equal(rm_config_waiting(options, &old, &fresh, &error), 1);
	assert_string_equal(error.text, "rnics");
	rm_config_clear(options, &fresh);

	load("tor: {address: y}\nlabel: z\npeers: [one]\nmode: active\n", &fresh);
	assert_int_equal(rm_config_waiting(options, &old, &fresh, &error), 5);
	assert_string_equal(error.text, "tor.address, label, mode, peers, rnics");
	rm_config_clear(options, &fresh);
	rm_config_clear(options, &old);
}

static void
keep_line(enum rm_log_level level, const char *line, void *arg)
{
	snprintf(arg, 256, "%d %s", (int)level, line);
}

static void
write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* Refuses the interval 77 and replaces 78 by 79. */
static int
amend(void *arg, struct rm_error *error, void *count)
{
	struct sample *fresh = arg;

	++*(unsigned *)count;
	if (fresh->interval_ms == 78)
		fresh->interval_ms = 79;
	return fresh->interval_ms == 77 ? rm_error_set(error, -ENOENT, "no such pace")
					: 0;
}

static void
a_reload_names_all_options_that_it_may_not_change(void **state)
{
	char path[] = "/tmp/test_config_XXXXXX";
	struct rm_reload reload = { 0 };
	struct sample config;
	struct rm_error error = { 0 };
	unsigned amended = 0;
	char line[256] = "";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	rm_log_set_sink(keep_line, line);
	rm_reload_start(&reload, (rm_wall_t){ 7 * RM_NS_PER_S });
	write_file(path, "tor: {address: x}\nrnics: [{device: a, rate_pps: 1}]\n");
	assert_int_equal(rm_config_read(&type, &config, path, &error), 0);
	assert_string_equal(config.path, path);
	assert_non_null(config.name);
	config.log_level = RM_LOG_INFO; /* no option of this table */
	write_file(path,
	    "tor: {address: y}\nlabel: z\nrnics: [{device: b, rate_pps: 2}]\n"
	    "probe: {interval_ms: 50}\n");
	assert_true(rm_reload_read(
	    &reload, &type, &config, (rm_wall_t){ 9 * RM_NS_PER_S }, NULL, NULL));
	assert_non_null(strstr(line, "config: reloaded, except what needs a restart: "
				     "tor.address, label, rnics[0].device"));
	assert_int_equal(config.interval_ms, 50);
	assert_string_equal(config.address, "x");
	assert_int_equal(((struct rnic *)config.rnics.items)->rate_pps, 2);
	assert_string_equal(((struct rnic *)config.rnics.items)->device, "a");
	assert_int_equal(reload.need_restart, 3);
	assert_int_equal(reload.taken, 1);
	assert_int_equal(reload.success_s, 9);

	/* A file with an error changes nothing. Neither do values that a check or
	 * the caller refuses. */
	write_file(path, "tor: {address: x}\nnonsense: 1\n");
	assert_false(rm_reload_read(
	    &reload, &type, &config, (rm_wall_t){ 11 * RM_NS_PER_S }, NULL, NULL));
	assert_non_null(strstr(line, "config: refused, the old one stays in use: "));
	assert_non_null(strstr(line, "nonsense"));
	write_file(path, "tor: {address: x}\nprobe: {timeout_ms: 9000}\n");
	assert_false(rm_reload_read(
	    &reload, &type, &config, (rm_wall_t){ 11 * RM_NS_PER_S }, amend, &amended));
	assert_non_null(strstr(line, "too long"));
	assert_int_equal(amended, 0);
	write_file(path, "tor: {address: x}\nprobe: {interval_ms: 77}\n");
	assert_false(rm_reload_read(
	    &reload, &type, &config, (rm_wall_t){ 11 * RM_NS_PER_S }, amend, &amended));
	assert_non_null(strstr(line, "stays in use: no such pace"));
	assert_int_equal(amended, 1);
	assert_int_equal(config.interval_ms, 50);
	assert_int_equal(reload.refused, 3);
	assert_int_equal(reload.successful, 0);
	assert_int_equal(reload.success_s, 9);

	/* The file contains the values in use again: no change is pending. */
	write_file(path, "tor: {address: x}\nrnics: [{device: a, rate_pps: 2}]\n"
			 "probe: {interval_ms: 78}\n");
	assert_true(rm_reload_read(
	    &reload, &type, &config, (rm_wall_t){ 12 * RM_NS_PER_S }, amend, &amended));
	assert_non_null(strstr(line, "config: reloaded"));
	assert_null(strstr(line, "restart"));
	assert_int_equal(config.interval_ms, 79);
	assert_int_equal(reload.need_restart, 0);
	assert_int_equal(reload.successful, 1);
	rm_config_clear(options, &config);
	rm_log_set_sink(NULL, NULL);
	unlink(path);
}

static void
more_names_than_fit_are_cut(void **state)
{
	static const char name[] =
	    "a_name_of_an_option_that_is_as_long_as_they_come_xyz";
	struct rm_option many[41] = { 0 };
	uint64_t old[40] = { 0 }, fresh[40];
	struct rm_error error = { 0 };

	memset(fresh, 1, sizeof(fresh));
	for (size_t i = 0; i < 40; i++)
		many[i] = (struct rm_option){
			.name = name, .kind = RM_UINT, .offset = i * sizeof(uint64_t)
		};
	assert_int_equal(rm_config_waiting(many, old, fresh, &error), 40);
	assert_string_equal(error.text + strlen(error.text) - 3, "...");
}

static void
help_lists_every_option_from_the_table(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	rm_config_help(options, out);
	fclose(out);
	assert_non_null(strstr(text,
	    "\nprobe.interval_ms: a whole number between 10 and 60000 (ms); default "
	    "1000; SIGHUP changes it\n"
	    "    time between two probes to the same target\n"));
	assert_non_null(
	    strstr(text, "\ntor.address: text; required; needs a restart\n"));
	assert_non_null(strstr(text,
	    "\nmode: one of active, standby; default standby; needs a restart\n"));
	assert_non_null(strstr(text,
	    "\nrnics: a list of at most 4 maps; default none; needs a restart\n"
	    "    the RNICs to probe with\n"
	    "    device: text of 1 to 15 characters; required; needs a restart\n"
	    "        network interface of the RNIC\n"));
	free(text);
}

static int
arguments(char **argv, struct rm_config_command *command, struct rm_error *error)
{
	int argc = 0;

	while (argv[argc] != NULL)
		argc++;
	*command = (struct rm_config_command){ 0 };
	return rm_config_arguments(options, "probes", argc, argv, command, error);
}

static void
the_command_line_is_read(void **state)
{
	char program[] = "/usr/bin/x", config[] = "--config", file[] = "f.yaml";
	char joined[] = "--config=g.yaml", check[] = "--check", odd[] = "--chekc";
	char connect[] = "--connect", user[] = "--user=ann";
	char version[] = "--version", help[] = "--help",
	     help_config[] = "--help-config";
	struct rm_config_command command;
	struct rm_error error = { 0 };

	assert_int_equal(
	    arguments((char *[]){ program, config, file, NULL }, &command, &error), 0);
	assert_string_equal(command.path, "f.yaml");
	assert_false(command.check);
	assert_int_equal(
	    arguments((char *[]){ program, check, joined, NULL }, &command, &error), 0);
	assert_string_equal(command.path, "g.yaml");
	assert_true(command.check);
	assert_false(command.connect);
	assert_null(command.user);
	assert_int_equal(arguments((char *[]){ program, check, connect, user, NULL },
			     &command, &error),
	    0);
	assert_true(command.connect);
	assert_string_equal(command.user, "ann");
	assert_int_equal(
	    arguments((char *[]){ program, version, NULL }, &command, &error), 1);
	assert_int_equal(
	    arguments((char *[]){ program, help, NULL }, &command, &error), 1);
	assert_int_equal(
	    arguments((char *[]){ program, help_config, NULL }, &command, &error), 1);
	assert_int_equal(
	    arguments((char *[]){ program, odd, NULL }, &command, &error), -EINVAL);
	assert_string_equal(
	    error.text, "unknown argument \"--chekc\"; --help lists all");
	assert_int_equal(
	    arguments((char *[]){ program, config, NULL }, &command, &error), -EINVAL);
	assert_string_equal(error.text, "--config needs the name of a file");
	assert_int_equal(
	    arguments((char *[]){ program, connect, NULL }, &command, &error), -EINVAL);
	assert_string_equal(error.text, "--connect goes with --check only");
}

/* Writes a file that the test removes. */
static void
refuses_at(const char *place, const char *where)
{
	static const char text[] = "tor:\n  address: x\nrnics:\n  - device: a\n"
				   "  - device: b\n    tors: [p, q]\n";
	char path[] = "/tmp/test_config_XXXXXX", wanted[128];
	struct rm_error error = { 0 };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(
	    rm_config_refuse(path, &error, "no good", "%s", place), -EINVAL);
	snprintf(wanted, sizeof(wanted), "%s:%s: %s: no good", path, where, place);
	assert_string_equal(error.text, wanted);
	unlink(path);
}

static void
a_value_refused_after_parsing_is_found_in_the_file(void **state)
{
	struct rm_error error = { 0 };

	refuses_at("tor.address", "2:12");
	refuses_at("rnics[1].device", "5:13");
	refuses_at("rnics[1].tors[1]", "6:15");
	/* The key is missing: the position of its map. */
	refuses_at("rnics[1].tor", "5:5");
	refuses_at("rnics[7].device", "4:3"); /* the position of its list */
	assert_int_equal(rm_config_refuse(NULL, &error, "no good", "host"), -EINVAL);
	assert_string_equal(error.text, "no config file: host: no good");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_refused_after_parsing_is_found_in_the_file),
		cmocka_unit_test(options_that_are_not_given_have_their_defaults),
		cmocka_unit_test(all_kinds_are_read),
		cmocka_unit_test(an_unknown_option_names_its_neighbour),
		cmocka_unit_test(errors_of_values_out_of_range_name_the_range),
		cmocka_unit_test(a_wrong_shape_reports_which_is_right),
		cmocka_unit_test(a_missing_required_option_is_named_with_its_file),
		cmocka_unit_test(a_name_may_replace_a_table_of_one_item),
		cmocka_unit_test(a_required_table_needs_an_item),
		cmocka_unit_test(a_bad_built_in_default_is_an_error),
		cmocka_unit_test(a_secret_is_never_printed),
		cmocka_unit_test(a_reload_only_changes_options_marked_for_it),
		cmocka_unit_test(a_reload_names_all_options_that_it_may_not_change),
		cmocka_unit_test(more_names_than_fit_are_cut),
		cmocka_unit_test(help_lists_every_option_from_the_table),
		cmocka_unit_test(the_command_line_is_read),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
