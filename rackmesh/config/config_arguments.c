/* The command line that every daemon shares. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/config/config.h"
#include "rackmesh/config/user.h"
#include "rackmesh/core/log.h"

#define UNITS_USER "rackmesh" /* User= of the systemd units */

const struct rm_enum_name rm_config_log_levels[] = {
	{ "error", RM_LOG_ERROR },
	{ "warning", RM_LOG_WARNING },
	{ "info", RM_LOG_INFO },
	{ "debug", RM_LOG_DEBUG },
	{ 0 },
};

static bool is_verbose; /* set by --verbose, for the life of the process */

void
rm_config_log_level(const struct rm_config_type *type, const void *config)
{
	int level = *(const int *)((const char *)config + type->log_level);

	rm_log_set_level(is_verbose ? RM_LOG_DEBUG : (enum rm_log_level)level);
}

static void
print_usage(const char *program, const char *what)
{
	printf(
	    "%s - %s\n"
	    "\n"
	    "usage: %s [--config FILE] [--check [--connect] [--user NAME]] "
	    "[--verbose]\n"
	    "  --config FILE   read the options from this YAML file\n"
	    "  --check         check the config, certificates, files, folders and "
	    "addresses,\n"
	    "                  print the problems, and end\n"
	    "  --connect       with --check: try to reach the peers, too\n"
	    "  --user NAME     with --check, as root: test the access rights of this "
	    "user;\n"
	    "                  left out: " UNITS_USER ", if there is one\n"
	    "  --verbose       log more\n"
	    "  --help-config   list every option: type, default, range, reload\n"
	    "  --help          print this\n"
	    "  --version       print the version\n",
	    program, what, program);
}

/* Fails if the text could not be written. */
static int
printed(struct rm_error *error)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		return rm_error_set(error, -EIO, "cannot write to standard output");
	return 1;
}

/* Reads "--flag VALUE" or "--flag=VALUE" at argv[*i]. Returns 1 and the value, or 0: it
 * is another flag. */
static int
take_value(char **argv, int *i, const char *flag, const char *expected,
    const char **ret, struct rm_error *error)
{
	const size_t len = strlen(flag);
	const char *text;

	if (strncmp(argv[*i], flag, len) != 0 || strchr("=", argv[*i][len]) == NULL)
		return 0;
	text = argv[*i][len] == '=' ? argv[*i] + len + 1 : argv[++*i];
	if (text == NULL || text[0] == 0)
		return rm_error_set(error, -EINVAL, "%s needs %s", flag, expected);
	*ret = text;
	return 1;
}

int
rm_config_arguments(const struct rm_option *options, const char *what, int argc,
    char **argv, struct rm_config_command *command, struct rm_error *error)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *program = argc == 0 ? "" : slash != NULL ? slash + 1 : argv[0];
	int r;

	for (int i = 1; i < argc; i++) {
		const char *argument = argv[i];

		r = take_value(
		    argv, &i, "--config", "the name of a file", &command->path, error);
		if (r == 0)
			r = take_value(argv, &i, "--user", "the name of a user",
			    &command->user, error);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		if (strcmp(argument, "--check") == 0) {
			command->check = true;
		} else if (strcmp(argument, "--connect") == 0) {
			command->connect = true;
		} else if (strcmp(argument, "--verbose") == 0) {
			is_verbose = true;
			rm_log_set_level(RM_LOG_DEBUG);
		} else if (strcmp(argument, "--help-config") == 0) {
			rm_config_help(options, stdout);
			return printed(error);
		} else if (strcmp(argument, "--help") == 0) {
			print_usage(program, what);
			return printed(error);
		} else if (strcmp(argument, "--version") == 0) {
			printf("%s %s\n", program, RACKMESH_VERSION);
			return printed(error);
		} else {
			return rm_error_set(error, -EINVAL,
			    "unknown argument \"%s\"; --help lists all", argument);
		}
	}
	if (!command->check && (command->connect || command->user != NULL))
		return rm_error_set(error, -EINVAL, "%s goes with --check only",
		    command->connect ? "--connect" : "--user");
	return 0;
}

/* Root can read and write every file, but the daemon may run as another user: so the
 * checks run as that user. */
static int
become_user(const struct rm_config_command *command, struct rm_error *error)
{
	const char *user = command->user;
	int r;

	if (user == NULL && geteuid() != 0)
		return 0;
	r = rm_user_become(user != NULL ? user : UNITS_USER, error);
	if (r == -ENOENT && user == NULL)
		return 0;
	if (r == 0)
		printf("as user %s:\n", user != NULL ? user : UNITS_USER);
	return r;
}

static int
report_verdict(const char *path, unsigned errors, struct rm_error *error)
{
	if (path == NULL)
		path = "no config file";
	if (errors > 0)
		return rm_error_set(error, -EINVAL, "%s: %u error%s", path, errors,
		    errors == 1 ? "" : "s");
	printf("%s: good\n", path);
	return printed(error);
}

int
rm_config_read(const struct rm_config_type *type, void *config, const char *path,
    struct rm_error *error)
{
	char *at = config;
	int r;

	memset(config, 0, type->bytes);
	r = rm_config_load(type->options, path, config, error);
	if (r < 0)
		return r;
	*(const char **)(at + type->path) = path;
	r = rm_config_host_name((char **)(at + type->name), type->name_option, error);
	if (r == 0)
		r = type->check(config, error);
	if (r < 0) {
		rm_config_clear(type->options, config);
		*(const char **)(at + type->path) = NULL;
	}
	return r;
}

int
rm_config_start(const struct rm_config_type *type, const char *what, int argc,
    char **argv, void *config, unsigned (*check)(const void *config, bool connect))
{
	struct rm_config_command command = { 0 };
	struct rm_error error = { 0 };
	int r;

	r = rm_config_arguments(type->options, what, argc, argv, &command, &error);
	if (r == 0 && command.check) {
		/* so that these lines and the lines of the log are in order */
		setvbuf(stdout, NULL, _IOLBF, 0);
		r = become_user(&command, &error);
	}
	if (r == 0)
		r = rm_config_read(type, config, command.path, &error);
	if (r == 0 && type->check_start != NULL) {
		r = type->check_start(config, &error);
		if (r < 0)
			rm_config_clear(type->options, config);
	}
	if (r == 0 && command.check) {
		unsigned errors = check(config, command.connect);

		rm_config_clear(type->options, config);
		r = report_verdict(command.path, errors, &error);
	}
	if (r < 0)
		rm_log_error(0, "%s", error.text);
	return r;
}

/* ---- --help-config: prints the option table for a person ---- */

static void
help_table(const struct rm_option *options, int indent, FILE *out)
{
	for (const struct rm_option *option = options; option->name != NULL; option++) {
		char accepts[RM_CONFIG_ACCEPTS];

		fprintf(out, "%*s%s: %s", indent, "", option->name,
		    rm_config_accepts(option, accepts));
		if (option->fallback == NULL)
			fprintf(out, option->flags & RM_REQUIRED ? "; required"
								 : "; default none");
		else if (option->flags & RM_SECRET)
			fprintf(out, "; default not shown");
		else
			fprintf(out, "; default %s",
			    option->fallback[0] != 0 ? option->fallback : "\"\"");
		fprintf(out, "; %s%s\n",
		    option->flags & RM_RELOAD ? "SIGHUP changes it" : "needs a restart",
		    option->flags & RM_SECRET ? "; secret" : "");
		fprintf(out, "%*s%s\n", indent + 4, "", option->help);
		if (option->kind == RM_TABLE)
			help_table(option->options, indent + 4, out);
	}
}

void
rm_config_help(const struct rm_option *options, FILE *out)
{
	fprintf(out, "# a.b means b inside the map a; YAML, one document.\n");
	help_table(options, 0, out);
}

#define NEAR_MAX 64 /* longer names are not compared */

static unsigned
min3(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;

	return least < c ? least : c;
}

/* Levenshtein's distance: the number of letters to add, remove or replace. */
static unsigned
near_distance(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);
	unsigned row[NEAR_MAX + 1];

	if (a_len > NEAR_MAX || b_len > NEAR_MAX)
		return NEAR_MAX;
	for (unsigned j = 0; j <= b_len; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a_len; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= b_len; j++) {
			unsigned changed = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = min3(changed, row[j] + 1, row[j - 1] + 1);
		}
	}
	return row[b_len];
}

static unsigned
count_dots(const char *text)
{
	unsigned dots = 0;

	for (; *text != 0; text++)
		dots += *text == '.';
	return dots;
}

/* The option's name, cut to the depth of the typed one: "prbe" is compared with
 * "probe", not with "probe.interval_ms". */
static void
near_cut(const char *name, unsigned dots, char cut[RM_CONFIG_NAME])
{
	size_t len = 0;

	while (name[len] != 0 && len + 1 < RM_CONFIG_NAME &&
	       (name[len] != '.' || dots-- > 0)) {
		cut[len] = name[len];
		len++;
	}
	cut[len] = 0;
}

bool
rm_config_near(
    const struct rm_option *options, const char *name, char ret[RM_CONFIG_NAME])
{
	unsigned dots = count_dots(name), best = 1 + (unsigned)strlen(name) / 4;
	bool found = false;

	if (strlen(name) < 3)
		best = 1;
	for (const struct rm_option *option = options; option->name != NULL; option++) {
		const char *last = strrchr(option->name, '.');
		char cut[RM_CONFIG_NAME];
		unsigned distance;

		/* The right name in the wrong map. */
		if (last != NULL && strcmp(last + 1, name) == 0) {
			near_cut(option->name, UINT32_MAX, ret);
			return true;
		}
		near_cut(option->name, dots, cut);
		distance = near_distance(name, cut);
		if (distance > best || (found && distance == best))
			continue;
		best = distance;
		found = true;
		memcpy(ret, cut, sizeof(cut));
	}
	return found;
}
