#include "rackmesh/core/log_limit.h"

#include <string.h>

#include "rackmesh/core/fnv.h"

static struct rm_log_site *
limit_site(struct rm_log_limit *limit, const char *file, int line)
{
	uint64_t start =
	    ((uintptr_t)file + (uint64_t)line) * UINT64_C(0x9e3779b97f4a7c15);
	struct rm_log_site *site;

	for (unsigned i = 0; i < RM_LOG_LIMIT_SITES; i++) {
		site = &limit->sites[((start >> 32) + i) % RM_LOG_LIMIT_SITES];
		if (site->file == NULL) {
			site->file = file;
			site->line = line;
			return site;
		}
		if (site->file == file && site->line == line)
			return site;
	}
	return &limit->sites[RM_LOG_LIMIT_SITES];
}

bool
rm_log_limit_allows(struct rm_log_limit *limit, const char *file, int line,
    const char *text, rm_mono_t now, uint64_t *suppressed)
{
	struct rm_log_site *site = limit_site(limit, file, line);
	uint64_t hash = rm_fnv1a(RM_FNV1A, text, strlen(text));

	if (site->lines == 0 ||
	    rm_mono_since(now, site->since) >= RM_LOG_LIMIT_WINDOW_NS) {
		site->since = now;
		site->lines = 0;
		site->same = 0;
	}
	if (hash != site->text)
		site->same = 0;
	if (site->same >= RM_LOG_LIMIT_SAME || site->lines >= RM_LOG_LIMIT_LINES) {
		site->suppressed++;
		return false;
	}
	site->text = hash;
	site->same++;
	site->lines++;
	*suppressed = site->suppressed;
	site->suppressed = 0;
	return true;
}
