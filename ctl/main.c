#include <curl/curl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl.h"

static const struct command {
	const char *name;
	int (*run)(const struct ctl *ctl);
	const char *arguments;
	const char *help;
} commands[] = {
	{ "health", ctl_health, "", "every rack of the region, the worst first" },
	{ "incidents", ctl_incidents, "[--open] [--follow]",
	    "what is suspected, and the evidence; as it comes" },
	{ "explain", ctl_explain, "INCIDENT",
	    "one incident: how we know, what was ruled out" },
	{ "racks", ctl_racks, "", "every rack, its plan and who watches it" },
	{ "rnics", ctl_rnics, "[--tor TOR]",
	    "every RNIC, its health and round-trip times" },
	{ "drill", ctl_drill, "RNIC [--seconds N] [--limit N]",
	    "raw results out of the rack's ring" },
	{ "history", ctl_history, "RNIC|TOR [--since 1h]",
	    "what was: from InfluxDB (--url) or from files (--folder)" },
	{ "history", ctl_history, "init --url URL",
	    "the database and its retention policies" },
	{ "pinglist", ctl_pinglist, "RNIC",
	    "whom an RNIC probes, how often, along which flows" },
	{ "resolve", ctl_resolve, "ADDRESS", "whose address or GID this is" },
	{ "leader", ctl_leader, "", "which controller leads, and how it stands" },
	{ "topology", ctl_topology, "check FILE | show [FILE]",
	    "is the file good? what does it (or the controller) say?" },
	{ "topology", ctl_topology, "import FILE | export",
	    "into the region's store; out of it, as it was written" },
	{ "brake", ctl_brake, "[on | off | rate PERCENT]",
	    "no probe in the whole region; all; so many of them" },
	{ "pause", ctl_pause, "", "stop probing from this host; its reflectors go on" },
	{ "resume", ctl_resume, "", "probe again" },
};

#define COMMANDS (sizeof commands / sizeof commands[0])

static void
print_help(FILE *out)
{
	fprintf(out, "usage: rackmeshctl [OPTIONS] COMMAND [ARGUMENTS]\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-9s %-33s %s\n", commands[i].name,
		    commands[i].arguments, commands[i].help);
	fprintf(out,
	    "\nAn RNIC is named host/device or by its id.\n\n"
	    "  -z, --analyzer ADDRESS    the analyzer's HTTP address (or "
	    "$RACKMESH_ANALYZER;\n"
	    "                            default 127.0.0.1:9474)\n"
	    "  -a, --aggregator ADDRESS  a tor-aggregator's HTTP address (or "
	    "$RACKMESH_AGGREGATOR;\n"
	    "                            default 127.0.0.1:9472)\n"
	    "  -c, --controller ADDRESS  a region-controller's (or "
	    "$RACKMESH_CONTROLLER;\n"
	    "                            default 127.0.0.1:9473)\n"
	    "  -A, --agent ADDRESS       this host's agent (or $RACKMESH_AGENT; "
	    "default\n"
	    "                            unix:/run/rackmesh/host-agent.sock)\n"
	    "  -t, --through TIER        whom drill and incidents ask: aggregator, "
	    "controller\n"
	    "                            (drill only) or analyzer; default: drill the "
	    "aggregator,\n"
	    "                            incidents the analyzer unless -a is given\n"
	    "  -j, --json                the daemon's own JSON instead of a table\n"
	    "  -h, --help                this text\n"
	    "      --version\n\n"
	    "history takes --url URL (or $RACKMESH_INFLUX), --database, --user, "
	    "--password-file,\n--folder; init also --retention-raw 14d and "
	    "--retention-incidents 400d.\n"
	    "An ADDRESS is host:port, an http:// URL, or unix:/path.\n\n"
	    "Exit status: 0 all is well; 1 the answer is bad news (an open incident, a "
	    "bad\n"
	    "topology, an RNIC that is not good); 2 a wrong command line; 3 no "
	    "answer,\nor a refusal.\n");
}

int
ctl_usage(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "rackmeshctl: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nTry: rackmeshctl --help\n");
	return CTL_USAGE;
}

static const char *
from_environment(const char *name, const char *fallback)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : fallback;
}

/* Returns -1 to go on, or an exit code. */
static int
parse_options(int argc, char **argv, struct ctl *ctl)
{
	enum { OPTION_VERSION = 256 };
	static const struct option options[] = {
		{ "aggregator", required_argument, NULL, 'a' },
		{ "controller", required_argument, NULL, 'c' },
		{ "analyzer", required_argument, NULL, 'z' },
		{ "agent", required_argument, NULL, 'A' },
		{ "through", required_argument, NULL, 't' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, OPTION_VERSION },
		{ 0 },
	};
	int c;

	/* '+': options behind the command are the command's. */
	while ((c = getopt_long(argc, argv, "+a:c:z:A:t:jh", options, NULL)) != -1) {
		switch (c) {
		case 'a':
			ctl->aggregator = optarg;
			ctl->is_rack_asked = true;
			break;
		case 'c':
			ctl->controller = optarg;
			break;
		case 'z':
			ctl->analyzer = optarg;
			break;
		case 'A':
			ctl->agent = optarg;
			break;
		case 't':
			ctl->through = optarg;
			break;
		case 'j':
			ctl->json = true;
			break;
		case 'h':
			print_help(stdout);
			return CTL_GOOD;
		case OPTION_VERSION:
			printf("rackmeshctl %s\n", RACKMESH_VERSION);
			return CTL_GOOD;
		default:
			fprintf(stderr, "Try: rackmeshctl --help\n");
			return CTL_USAGE;
		}
	}
	return -1;
}

/* --json may stand anywhere: people type it last. */
static void
take_json(struct ctl *ctl)
{
	int kept = 0;

	for (int i = 0; i < ctl->argc; i++) {
		if (strcmp(ctl->argv[i], "--json") == 0)
			ctl->json = true;
		else
			ctl->argv[kept++] = ctl->argv[i];
	}
	ctl->argc = kept;
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
	};
	int status;

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
	take_json(&ctl);
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].name, argv[optind]) != 0)
			continue;
		curl_global_init(CURL_GLOBAL_DEFAULT);
		status = commands[i].run(&ctl);
		curl_global_cleanup();
		return status;
	}
	return ctl_usage("no such command: %s", argv[optind]);
}
