#include <curl/curl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"

static const struct command {
	const char *name;
	int (*run)(const struct ctl *ctl);
	const char *arguments;
	const char *help;
	const char *more; /* further text for the command's own --help; NULL: none */
} commands[] = {
	{ "health", ctl_health, "[--region REGION]", "every rack, the worst first",
	    "  --region REGION  only of this region; of several regions, the names of\n"
	    "                   racks begin with that of their region\n" },
	{ "incidents", ctl_incidents, "[--open] [--follow]",
	    "suspected faults; --follow: as they come",
	    "  --open    only open ones\n"
	    "  --follow  keep running and show every one that opens, changes or ends\n"
	    "  --region REGION  only of this region; only the analyzer knows several\n"
	    "  --through analyzer (default) or aggregator: daemon to ask\n" },
	{ "explain", ctl_explain, "INCIDENT", "one incident and its evidence" },
	{ "mesh", ctl_mesh, "TOR [--rtt] [--hour]",
	    "loss between each pair of a rack's RNICs",
	    "  A grid: who probes in rows, who answers in columns; the worst pairs "
	    "below.\n"
	    "  --rtt   P99 of the network RTT instead of loss\n"
	    "  --hour  of the last hour instead of the last minute\n"
	    "  --through analyzer (default) or aggregator: daemon to ask\n"
	    "  Exit status 1: no pair was probed. Incidents say what is wrong.\n" },
	{ "mesh", ctl_mesh, "[--region REGION] [--top 20]",
	    "loss between each pair of racks, the worst first",
	    "  --region REGION  only of this region; with a TOR: the region of the "
	    "ToR\n"
	    "  --top 20         this number of pairs, at most 1000\n"
	    "  --rtt            sort by the P99 of the RTT instead of loss\n"
	    "  --hour           of the last hour instead of the last minute\n"
	    "  Asks the analyzer.\n" },
	{ "racks", ctl_racks, "", "every rack of an aggregator, and its plan" },
	{ "rnics", ctl_rnics, "[--tor TOR]", "every RNIC, its health and RTT",
	    "  --tor TOR  those of this ToR only\n"
	    "  --through aggregator (default), or agent: the RNICs of one host, and\n"
	    "                       how they are probed from\n" },
	{ "hosts", ctl_hosts, "[--tor TOR]",
	    "every host, its agent's state and version",
	    "  --tor TOR  those of this ToR only\n"
	    "  Exit status 1: an agent is neither ok nor paused by hand.\n" },
	{ "drill", ctl_drill, "RNIC [--seconds N] [--limit N]",
	    "raw probe results of an RNIC",
	    "  --seconds N  of the last N seconds, 10 by default, at most 86400\n"
	    "  --limit N    at most N results, 1000 by default, at most 10000\n"
	    "  --region REGION  through the analyzer: the region of the RNIC's host\n"
	    "  --through aggregator (default), controller or analyzer: daemon to "
	    "ask\n" },
	{ "history", ctl_history,
	    "[RNIC|TOR|TOR->TOR] [--since 1h] [--at TIME] [--region REGION]",
	    "losses and incidents in the past, of a part or of a whole region",
	    "  --since 1h  how far back: 90s, 15m, 6h, 14d\n"
	    "  --at TIME   the time around TIME instead, half of --since before it "
	    "and\n"
	    "              half after it: UTC, 2026-01-31T04:10:00Z\n"
	    "  'tor1->tor2': from one rack to another, with the paths that lost the "
	    "most.\n"
	    "  Without an RNIC or a ToR: minutes of the service levels, and all\n"
	    "  incidents, of the region or of all regions. The name of a switch, a "
	    "link\n"
	    "  or a host finds the incidents of that part. For a rack it shows its "
	    "own\n"
	    "  incidents, those of its links, and those of switches between racks.\n"
	    "  If the RNIC or ToR is in one region only, --region is not needed.\n"
	    "  Reads what the analyzer has written to its database or files. "
	    "Incidents\n"
	    "  that were open before that time come first, if they ended within 31 "
	    "days\n"
	    "  or are still open. A time for which nothing was written has its own "
	    "line:\n"
	    "  it is not a time without losses.\n" },
	{ "history", ctl_history, "init --url URL",
	    "create the database, its retention policies and hourly queries",
	    "  --url URL                InfluxDB (or $RACKMESH_INFLUX); for https, "
	    "its\n"
	    "                           certificate must chain to --authorities, or "
	    "to\n"
	    "                           those of the system\n"
	    "  --database rackmesh      name of the database\n"
	    "  --user, --password-file  of an admin, if the database requires one\n"
	    "  --retention-raw 14d, --retention-incidents 400d\n" },
	{ "pinglist", ctl_pinglist, "RNIC",
	    "targets of an RNIC, and how it probes them" },
	{ "services", ctl_services, "[--host HOST] [--service NAME]",
	    "which service uses which RNICs, peers and paths",
	    "  --host HOST     only of this host\n"
	    "  --service NAME  only of this one, as the table names it\n"
	    "  --through aggregator (default) or agent: daemon to ask\n" },
	{ "counters", ctl_counters, "[DEVICE] [--all]",
	    "counters of the RNICs of this host",
	    "  DEVICE  only this RNIC\n"
	    "  --all   also counters that are 0\n"
	    "  LAST: increase between the last two readings. Asks the agent.\n" },
	{ "switch", ctl_switch, "[SWITCH [PORT]] [--all]",
	    "counters of the switches, and the neighbours of their ports",
	    "  SWITCH, PORT  only of this one: a ToR, or a name of the aggregator's\n"
	    "                switches[]; PORT as the switch calls it\n"
	    "  --all         also values of 0\n"
	    "  Asks the aggregator. Exit status 1: a switch could not be read just "
	    "now,\n"
	    "  and the values of its last good reading are shown.\n" },
	{ "hypervisors", ctl_hypervisors, "[HOST [NIC]] [--all]",
	    "counters of the racks' ESXi hosts, and what they mean",
	    "  HOST, NIC  only this host, or only this NIC of it\n"
	    "  --all      also values of 0\n"
	    "  Asks the aggregator. Exit status 1: there is a finding, or a host "
	    "could\n"
	    "  not be read just now, and the values of its last good reading are "
	    "shown.\n" },
	{ "drift", ctl_drift, "[HOST] [--all]",
	    "settings of RNICs that differ from the expected ones",
	    "  HOST   only this host\n"
	    "  --all  also settings that have the expected value\n"
	    "  unknown: the setting cannot be read. Asks the aggregator. Exit status "
	    "1: a\n"
	    "  setting is different.\n" },
	{ "diagnosis", ctl_diagnosis, "[HOST [DEVICE]] [--not-known] | --proof [TOR]",
	    "what the counters of the racks' RNICs mean",
	    "  HOST, DEVICE  only this host, or only this RNIC of it\n"
	    "  --not-known   of a host: diagnoses that cannot be made, and the "
	    "counter\n"
	    "                that is missing for it\n"
	    "  --proof       whether ECN, CNPs and PFC work, in the last minute; exit\n"
	    "                status 1: one of them is failing\n"
	    "  Asks the aggregator. No alerts: docs/counters.md says what to do.\n" },
	{ "resolve", ctl_resolve, "ADDRESS", "the RNIC that has this address or GID",
	    "  ADDRESS: IPv4, IPv6, or a GID as ibv_devinfo shows it\n" },
	{ "leader", ctl_leader, "", "the controller that leads the region" },
	{ "versions", ctl_versions, "", "release of every daemon of the region",
	    "  Asks the controller that leads. Exit status 1: not all are the same.\n"
	    "  unknown: a release that does not report its version yet.\n" },
	{ "topology", ctl_topology, "check FILE | show [FILE]",
	    "check a topology; show one" },
	{ "topology", ctl_topology, "import FILE | export",
	    "write a topology to the region's store; print the one there" },
	{ "brake", ctl_brake, "[on | off | rate PERCENT]",
	    "stop, resume or slow down all probing of the region",
	    "  Without an argument: the brake now. PERCENT: 0.1 to 100.\n" },
	{ "accept", ctl_accept, "TOR [--for 10m]", "test a new rack: PASS or FAIL",
	    "  --for 10m           how long: 90s, 15m, 6h\n"
	    "  --max-loss PERCENT  loss that an RNIC or a pair may have, 0.1 by "
	    "default\n"
	    "  --rnics N           expected number of RNICs; default: that of the "
	    "topology\n"
	    "  --no-paths          do not judge uplinks (switches that answer no "
	    "traces)\n"
	    "  Asks the rack's aggregator, and a controller for what is expected. The\n"
	    "  report has every RNIC; exit status 0: PASS, 1: FAIL.\n" },
	{ "pause", ctl_pause, "", "stop probing from this host" },
	{ "resume", ctl_resume, "", "resume probing from this host" },
	{ "doctor", ctl_doctor, "[--configs FOLDER]",
	    "what is wrong on this host, and what to do",
	    "  --configs FOLDER  of the daemons' configs, /etc/rackmesh by default\n"
	    "  As root: it looks at configs, certificates, units, clock, peers, RDMA\n"
	    "  devices, GIDs, MTU, time stamps, sysctls, tracing of services, LLDP "
	    "and\n"
	    "  the agent, and changes nothing. Exit status 1: something is wrong;\n"
	    "  warnings alone are 0.\n" },
};

#define COMMANDS (sizeof commands / sizeof commands[0])

/* False: there is no such command. */
static bool
print_command_help(const char *name)
{
	bool found = false;

	for (size_t i = 0; i < COMMANDS; i++) {
		const struct command *command = &commands[i];

		if (strcmp(command->name, name) != 0)
			continue;
		printf("%srackmeshctl %s%s%s\n  %s\n", found ? "\n" : "usage: ", name,
		    command->arguments[0] != '\0' ? " " : "", command->arguments,
		    command->help);
		if (command->more != NULL)
			printf("%s", command->more);
		found = true;
	}
	if (found)
		printf("\nAddresses of daemons, --json and exit status: rackmeshctl "
		       "--help\n");
	return found;
}

static void
print_help(FILE *out)
{
	fprintf(out, "usage: rackmeshctl [OPTIONS] COMMAND [ARGUMENTS]\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-9s %-30s  %s\n", commands[i].name,
		    commands[i].arguments, commands[i].help);
	fprintf(out,
	    "\nAn RNIC is named host/device or by its id. Options:\n\n"
	    "  -z, --analyzer ADDRESS    HTTP address of the analyzer (or "
	    "$RACKMESH_ANALYZER;\n"
	    "                            default 127.0.0.1:9474)\n"
	    "  -a, --aggregator ADDRESS  of a tor-aggregator (or "
	    "$RACKMESH_AGGREGATOR;\n"
	    "                            default 127.0.0.1:9472)\n"
	    "  -c, --controller ADDRESS  of a region-controller (or "
	    "$RACKMESH_CONTROLLER;\n"
	    "                            default 127.0.0.1:9473, for changes\n"
	    "                            unix:/run/rackmesh/"
	    "region-controller.sock)\n"
	    "  -A, --agent ADDRESS       of this host's agent (or $RACKMESH_AGENT; "
	    "default\n"
	    "                            unix:/run/rackmesh/host-agent.sock)\n"
	    "  -t, --through TIER        which daemon to ask: aggregator, the default "
	    "of "
	    "drill,\n"
	    "                            rnics and services; analyzer, the default of "
	    "mesh and\n"
	    "                            incidents (of incidents only without -a), "
	    "also for\n"
	    "                            drill; agent, for rnics and services; "
	    "controller,\n"
	    "                            for drill\n"
	    "      --certificate FILE    for https addresses: client certificate, PEM "
	    "(or\n"
	    "                            $RACKMESH_CERTIFICATE)\n"
	    "      --key FILE            its key (or $RACKMESH_KEY)\n"
	    "      --authorities FILE    CA bundle, PEM (or $RACKMESH_AUTHORITIES)\n"
	    "      --token-file FILE     a viewer's token, instead of certificate and "
	    "key (or\n"
	    "                            $RACKMESH_TOKEN_FILE, if the variables for\n"
	    "                            certificate and key are not set)\n"
	    "  -j, --json                print the daemon's JSON instead of a table\n"
	    "  -h, --help                this text; after a command, the text on the "
	    "command\n"
	    "      --version\n\n"
	    "An ADDRESS is host:port, an http:// or https:// URL, or unix:/path.\n\n"
	    "Exit status: 0 all is well; 1 the answer shows a problem (an open "
	    "incident,\n"
	    "an invalid topology, an RNIC that is not good); 2 wrong command line; 3 "
	    "no\n"
	    "answer, or the request was refused. --json does not change it.\n");
}

int
ctl_usage(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "rackmeshctl: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nTry: rackmeshctl --help, or COMMAND --help\n");
	return CTL_USAGE;
}

static const char *
from_environment(const char *name, const char *fallback)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : fallback;
}

static const char options_short[] = "+a:c:z:A:t:jh";

enum {
	OPTION_VERSION = 256,
	OPTION_CERTIFICATE,
	OPTION_KEY,
	OPTION_AUTHORITIES,
	OPTION_TOKEN
};

static const struct option options_long[] = {
	{ "aggregator", required_argument, NULL, 'a' },
	{ "controller", required_argument, NULL, 'c' },
	{ "analyzer", required_argument, NULL, 'z' },
	{ "agent", required_argument, NULL, 'A' },
	{ "through", required_argument, NULL, 't' },
	{ "certificate", required_argument, NULL, OPTION_CERTIFICATE },
	{ "key", required_argument, NULL, OPTION_KEY },
	{ "authorities", required_argument, NULL, OPTION_AUTHORITIES },
	{ "token-file", required_argument, NULL, OPTION_TOKEN },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ 0 },
};

static void
take_option(struct ctl *ctl, int c, const char *value)
{
	switch (c) {
	case 'a':
		ctl->aggregator = value;
		ctl->is_rack_asked = true;
		break;
	case 'c':
		ctl->controller = ctl->controller_changes = value;
		break;
	case 'z':
		ctl->analyzer = value;
		break;
	case 'A':
		ctl->agent = value;
		break;
	case 't':
		ctl->through = value;
		break;
	case OPTION_CERTIFICATE:
		ctl->certificate = value;
		break;
	case OPTION_KEY:
		ctl->key = value;
		break;
	case OPTION_AUTHORITIES:
		ctl->authorities = value;
		break;
	case OPTION_TOKEN:
		ctl->token = value;
		break;
	default:
		ctl->json = true;
	}
}

/* Returns -1 to continue, or an exit code. */
static int
parse_options(int argc, char **argv, struct ctl *ctl)
{
	int c;

	/* '+': stops at the command, as options after it may be its own. */
	while ((c = getopt_long(argc, argv, options_short, options_long, NULL)) != -1) {
		switch (c) {
		case 'h':
			print_help(stdout);
			return CTL_GOOD;
		case OPTION_VERSION:
			printf("rackmeshctl %s\n", RACKMESH_VERSION);
			return CTL_GOOD;
		case '?':
			fprintf(stderr, "Try: rackmeshctl --help\n");
			return CTL_USAGE;
		default:
			take_option(ctl, c, optarg);
		}
	}
	return -1;
}

/* Returns the global option in this argument; NULL: there is none. *value: the text
 * after its '='. */
static const struct option *
option_of(const char *argument, const char **value)
{
	const struct option *o = options_long;
	size_t len;

	*value = NULL;
	for (; o->name != NULL; o++) {
		if (argument[0] == '-' && argument[1] == o->val && argument[2] == '\0')
			return o;
		len = strlen(o->name);
		if (strncmp(argument, "--", 2) != 0 ||
		    strncmp(argument + 2, o->name, len) != 0)
			continue;
		if (argument[2 + len] == '\0')
			return o;
		if (argument[2 + len] == '=' && o->has_arg == required_argument) {
			*value = argument + 2 + len + 1;
			return o;
		}
	}
	return NULL;
}

/* Reads global options after the command, where people often type them. Returns -1 to
 * continue, or an exit code. */
static int
take_late_options(struct ctl *ctl, const char *command)
{
	int kept = 0;

	for (int i = 0; i < ctl->argc; i++) {
		const char *value;
		const struct option *o = option_of(ctl->argv[i], &value);

		/* An empty name would select everything. */
		if (ctl->argv[i][0] == '\0')
			return ctl_usage(
			    "an argument is empty: is a variable not set?");
		if (o == NULL || o->val == OPTION_VERSION) {
			ctl->argv[kept++] = ctl->argv[i];
			continue;
		}
		if (o->val == 'h') {
			print_command_help(command);
			return CTL_GOOD;
		}
		if (o->has_arg == required_argument && value == NULL) {
			if (++i == ctl->argc)
				return ctl_usage("--%s needs a value", o->name);
			value = ctl->argv[i];
		}
		take_option(ctl, o->val, value);
	}
	ctl->argc = kept;
	return -1;
}

/* Returns -1 to continue, or an exit code. */
static int
check_addresses(const struct ctl *ctl)
{
	const char *const addresses[] = { ctl->aggregator, ctl->controller,
		ctl->analyzer, ctl->agent };

	for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++)
		if (addresses[i][0] == '\0')
			return ctl_usage("the address of a daemon is empty: is a "
					 "variable not set?");
	return -1;
}

/* Chooses the certificate or the token. Options have priority over the config. A
 * certificate with its key identifies a person, or a token does. Returns -1 to
 * continue, or an exit code. */
static int
take_credentials(struct ctl *ctl)
{
	const bool person = ctl->certificate != NULL || ctl->key != NULL;

	if (person && ctl->token != NULL)
		return ctl_usage("--token-file is instead of --certificate and --key: "
				 "expected one of the two");
	if (ctl->token != NULL)
		return -1;
	if (!person)
		ctl->token = from_environment("RACKMESH_TOKEN_FILE", NULL);
	if (ctl->certificate == NULL)
		ctl->certificate = from_environment("RACKMESH_CERTIFICATE", NULL);
	if (ctl->key == NULL)
		ctl->key = from_environment("RACKMESH_KEY", NULL);
	return -1;
}

static int
run(struct ctl *ctl, const char *name)
{
	size_t i = 0;
	int status;

	while (i < COMMANDS && strcmp(commands[i].name, name) != 0)
		i++;
	if (i == COMMANDS && strcmp(name, "help") == 0) {
		if (ctl->argc > 0 && print_command_help(ctl->argv[0]))
			return CTL_GOOD;
		print_help(stdout);
		return CTL_GOOD;
	}
	if (i == COMMANDS)
		return ctl_usage("no such command: %s", name);
	status = take_late_options(ctl, name);
	if (status < 0)
		status = check_addresses(ctl);
	if (status < 0)
		status = take_credentials(ctl);
	if (status >= 0)
		return status;
	request_tls_files(ctl->certificate, ctl->key, ctl->authorities, ctl->token);
	request_place(ctl->aggregator, RM_ROLE_AGGREGATOR);
	request_place(ctl->controller, RM_ROLE_CONTROLLER);
	request_place(ctl->controller_changes, RM_ROLE_CONTROLLER);
	request_place(ctl->analyzer, RM_ROLE_ANALYZER);
	request_place(ctl->agent, RM_ROLE_AGENT);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	status = commands[i].run(ctl);
	curl_global_cleanup();
	/* If the output cannot be written, for example on a full disk, the command
	 * fails. */
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "rackmeshctl: cannot write the answer\n");
		return CTL_NO_ANSWER;
	}
	return status;
}

int
main(int argc, char **argv)
{
	struct ctl ctl = {
		.aggregator = from_environment("RACKMESH_AGGREGATOR", "127.0.0.1:9472"),
		.controller = from_environment("RACKMESH_CONTROLLER", "127.0.0.1:9473"),
		.analyzer = from_environment("RACKMESH_ANALYZER", "127.0.0.1:9474"),
		.agent = from_environment(
		    "RACKMESH_AGENT", "unix:/run/rackmesh/host-agent.sock"),
		.authorities = from_environment("RACKMESH_AUTHORITIES", NULL),
	};
	int status;

	/* Without TLS, changes are accepted on the Unix socket of this host only. */
	ctl.controller_changes = from_environment(
	    "RACKMESH_CONTROLLER", "unix:/run/rackmesh/region-controller.sock");
	ctl.is_rack_asked = from_environment("RACKMESH_AGGREGATOR", NULL) != NULL;
	status = parse_options(argc, argv, &ctl);

	if (status >= 0)
		return status;
	if (optind >= argc) {
		print_help(stderr);
		return CTL_USAGE;
	}
	ctl.argc = argc - optind - 1;
	ctl.argv = argv + optind + 1;
	return run(&ctl, argv[optind]);
}
