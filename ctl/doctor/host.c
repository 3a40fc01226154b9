#include "ctl/doctor/host.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/core/file.h"

#define MAX_FILE (1u << 20)

static int
path_build(
    const struct host *host, char path[PATH_MAX], const char *format, va_list arguments)
{
	int n = snprintf(path, PATH_MAX, "%s", host->root), m;

	if (n < 0 || n >= PATH_MAX)
		return -ENAMETOOLONG;
	m = vsnprintf(path + n, PATH_MAX - (size_t)n, format, arguments);
	return m < 0 || m >= PATH_MAX - n ? -ENAMETOOLONG : 0;
}

static char *
read_file(const struct host *host, int *r, const char *format, va_list arguments)
{
	char path[PATH_MAX];
	uint8_t *data = NULL;
	size_t len = 0;

	*r = path_build(host, path, format, arguments);
	if (*r == 0)
		*r = rm_file_read(path, MAX_FILE, &data, &len);
	return *r < 0 ? NULL : (char *)data;
}

char *
host_file(const struct host *host, int *r, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = read_file(host, r, format, arguments);
	va_end(arguments);
	return text;
}

static int
read_line(const struct host *host, char text[HOST_TEXT], const char *format,
    va_list arguments)
{
	char *all;
	int r;

	text[0] = '\0';
	all = read_file(host, &r, format, arguments);
	if (all == NULL)
		return r;
	all[strcspn(all, "\n")] = '\0';
	snprintf(text, HOST_TEXT, "%s", all);
	free(all);
	return 0;
}

int
host_text(const struct host *host, char text[HOST_TEXT], const char *format, ...)
{
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = read_line(host, text, format, arguments);
	va_end(arguments);
	return r;
}

int
host_number(const struct host *host, long *ret, const char *format, ...)
{
	char text[HOST_TEXT], *end;
	va_list arguments;
	long value;
	int r;

	va_start(arguments, format);
	r = read_line(host, text, format, arguments);
	va_end(arguments);
	if (r < 0)
		return r;
	value = strtol(text, &end, 0);
	if (end == text)
		return -EINVAL;
	*ret = value;
	return 0;
}

bool
host_exists(const struct host *host, const char *format, ...)
{
	char path[PATH_MAX];
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = path_build(host, path, format, arguments);
	va_end(arguments);
	return r == 0 && access(path, F_OK) == 0;
}

static int
by_name(const void *a, const void *b)
{
	return strverscmp(a, b);
}

static size_t
read_names(DIR *folder, char names[HOST_MAX_LIST][HOST_NAME])
{
	const struct dirent *entry;
	size_t count = 0;

	while (count < HOST_MAX_LIST && (entry = readdir(folder)) != NULL) {
		size_t len = strlen(entry->d_name);

		if (entry->d_name[0] == '.' || len >= HOST_NAME)
			continue;
		memcpy(names[count++], entry->d_name, len + 1);
	}
	return count;
}

size_t
host_list(const struct host *host, char names[HOST_MAX_LIST][HOST_NAME],
    const char *format, ...)
{
	char path[PATH_MAX];
	va_list arguments;
	size_t count;
	DIR *folder;
	int r;

	va_start(arguments, format);
	r = path_build(host, path, format, arguments);
	va_end(arguments);
	folder = r < 0 ? NULL : opendir(path);
	if (folder == NULL)
		return 0;
	count = read_names(folder, names);
	closedir(folder);
	qsort(names, count, HOST_NAME, by_name);
	return count;
}

bool
host_agent_capabilities(const struct host *host, unsigned long long *ret)
{
	char *text, *line;
	int r;

	if (host->agent_pid == 0)
		return false;
	text = host_file(host, &r, "/proc/%ld/status", host->agent_pid);
	line = text == NULL ? NULL : strstr(text, "\nCapEff:");
	if (line != NULL)
		*ret = strtoull(line + 8, NULL, 16);
	free(text);
	return line != NULL;
}

bool
host_has_capability(unsigned long long capabilities, int bit)
{
	return (capabilities >> bit & 1) != 0;
}
