/* --help-config: the option table as a person reads it. */
#include "rackmesh/config/config_value.h"

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
