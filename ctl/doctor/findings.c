#include "ctl/doctor/findings.h"

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
