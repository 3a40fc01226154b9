/* The command line that every daemon shares. */
#include <errno.h>
#include <string.h>

#include "rackmesh/config/config.h"
#include "rackmesh/core/log.h"

static void
print_usage(const char *program, const char *what)
{
	printf("%s - %s\n"
	       "\n"
	       "usage: %s [--config FILE] [--check] [--verbose]\n"
	       "  --config FILE   read the options from this YAML file\n"
	       "  --check         check the config, say what is wrong, and end\n"
	       "  --verbose       log more\n"
	       "  --help-config   list every option: type, default, range, reload\n"
	       "  --help          print this\n"
	       "  --version       print the version\n",
	    program, what, program);
}

/* The process has done its job only if the text went out. */
static int
printed(struct rm_why *why)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		return rm_why(why, -EIO, "cannot write to standard output");
	return 1;
}

static int
take_path(char **argv, int *i, const char **path, struct rm_why *why)
{
	static const char flag[] = "--config";
	const char *text =
	    argv[*i][sizeof(flag) - 1] == '=' ? argv[*i] + sizeof(flag) : argv[++*i];

	if (text == NULL || text[0] == 0)
		return rm_why(why, -EINVAL, "--config needs the name of a file");
	*path = text;
	return 0;
}

int
rm_config_arguments(const struct rm_option *options, const char *what, int argc,
    char **argv, const char **path, bool *check, struct rm_why *why)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *program = argc == 0 ? "" : slash != NULL ? slash + 1 : argv[0];
	int r;

	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];

		if (strcmp(word, "--config") == 0 ||
		    strncmp(word, "--config=", 9) == 0) {
			r = take_path(argv, &i, path, why);
			if (r < 0)
				return r;
		} else if (strcmp(word, "--check") == 0) {
			*check = true;
		} else if (strcmp(word, "--verbose") == 0) {
			rm_log_set_level(RM_LOG_DEBUG);
		} else if (strcmp(word, "--help-config") == 0) {
			rm_config_help(options, stdout);
			return printed(why);
		} else if (strcmp(word, "--help") == 0) {
			print_usage(program, what);
			return printed(why);
		} else if (strcmp(word, "--version") == 0) {
			printf("%s %s\n", program, RACKMESH_VERSION);
			return printed(why);
		} else {
			return rm_why(why, -EINVAL,
			    "unknown argument \"%s\"; --help lists all", word);
		}
	}
	return 0;
}

int
rm_config_start(const struct rm_option *options, const char *what, int argc,
    char **argv, void *config,
    int (*read)(void *config, const char *path, struct rm_why *why),
    int (*check)(const void *config, struct rm_why *why))
{
	struct rm_why why = { 0 };
	const char *path = NULL;
	bool only_check = false;
	int r;

	r = rm_config_arguments(options, what, argc, argv, &path, &only_check, &why);
	if (r == 0) {
		r = read(config, path, &why);
		if (r == 0 && only_check) {
			if (check != NULL)
				r = check(config, &why);
			rm_config_clear(options, config);
			if (r == 0) {
				printf("%s: good\n",
				    path == NULL ? "no config file" : path);
				r = 1;
			}
		}
	}
	if (r < 0)
		rm_log_error(0, "%s", why.text);
	return r;
}
