#include "ctl/output/findings.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/output/printable.h"

void
findings_clear(struct findings *findings)
{
	free(findings->list);
	memset(findings, 0, sizeof(*findings));
}

static bool
grow(struct findings *findings)
{
	size_t allocated = findings->allocated == 0 ? 32 : 2 * findings->allocated;
	struct finding *list;

	if (findings->count < findings->allocated)
		return true;
	if (findings->count >= FINDINGS_MAX)
		return false;
	list = realloc(findings->list, allocated * sizeof(*list));
	if (list == NULL)
		return false;
	findings->list = list;
	findings->allocated = allocated;
	return true;
}

void
findings_add(
    struct findings *findings, enum finding_level level, const char *format, ...)
{
	struct finding *finding;
	va_list arguments;

	findings->counts[level]++;
	if (findings->dropped > 0 || !grow(findings)) {
		findings->dropped++;
		return;
	}
	finding = &findings->list[findings->count++];
	*finding = (struct finding){ .level = level, .check = findings->check };
	va_start(arguments, format);
	vsnprintf(finding->seen, sizeof(finding->seen), format, arguments);
	va_end(arguments);
	printable_text(finding->seen);
}

void
findings_remedy(struct findings *findings, const char *format, ...)
{
	struct finding *finding;
	va_list arguments;

	if (findings->count == 0 || findings->dropped > 0)
		return;
	finding = &findings->list[findings->count - 1];
	va_start(arguments, format);
	vsnprintf(finding->remedy, sizeof(finding->remedy), format, arguments);
	va_end(arguments);
	printable_text(finding->remedy);
}

const char *
finding_level_name(enum finding_level level)
{
	static const char *const names[] = { "good", "warning", "wrong" };

	return names[level];
}

void
findings_print(const struct findings *findings, FILE *out)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];

		fprintf(out, "%-7s  %-11s  %s\n", finding_level_name(finding->level),
		    finding->check, finding->seen);
		if (finding->remedy[0] != '\0')
			fprintf(out, "%-7s  %-11s  -> %s\n", "", "", finding->remedy);
	}
	if (findings->dropped > 0)
		fprintf(out, "and %zu more\n", findings->dropped);
	fprintf(out, "%zu good, %zu %s, %zu wrong\n", findings->counts[FINDING_GOOD],
	    findings->counts[FINDING_WARNING],
	    findings->counts[FINDING_WARNING] == 1 ? "warning" : "warnings",
	    findings->counts[FINDING_WRONG]);
}

/* A text that is not UTF-8, or that was cut within a character, is made valid. */
static json_t *
text_json(const char *text)
{
	json_t *string = json_string(text);
	char plain[FINDING_BYTES];
	size_t i;

	if (string != NULL)
		return string;
	for (i = 0; text[i] != '\0' && i + 1 < sizeof(plain); i++)
		plain[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
	plain[i] = '\0';
	return json_string(plain);
}

json_t *
findings_json(const struct findings *findings)
{
	json_t *list = json_array();

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];

		json_array_append_new(
		    list, json_pack("{s:s, s:s, s:o, s:o}", "check", finding->check,
			      "level", finding_level_name(finding->level), "seen",
			      text_json(finding->seen), "remedy",
			      text_json(finding->remedy)));
	}
	return list;
}
