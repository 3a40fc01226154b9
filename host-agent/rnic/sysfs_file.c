#include "host-agent/rnic/sysfs_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int
path_build(char path[SYSFS_PATH_BYTES], const char *format, va_list arguments)
{
	int n = vsnprintf(path, SYSFS_PATH_BYTES, format, arguments);

	return n < 0 || n >= SYSFS_PATH_BYTES ? -EMSGSIZE : 0;
}

/* Reads at most size bytes: len == size shows the caller that the text was cut. */
static int
read_some(const char *path, char *text, size_t size, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	int r = 0;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, text, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		r = -errno;
	else
		*len = (size_t)n;
	close(fd);
	return r;
}

int
sysfs_text(char *text, size_t size, const char *format, ...)
{
	char path[SYSFS_PATH_BYTES];
	va_list arguments;
	size_t len = 0;
	int r;

	text[0] = '\0';
	va_start(arguments, format);
	r = path_build(path, format, arguments);
	va_end(arguments);
	if (r == 0)
		r = read_some(path, text, size, &len);
	if (r < 0) {
		text[0] = '\0';
		return r;
	}
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n' || text[i] == '\0')
			len = i;
	}
	if (len == size) {
		text[0] = '\0';
		return -EMSGSIZE;
	}
	while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	text[len] = '\0';
	return 0;
}

int
sysfs_link(char *text, size_t size, const char *format, ...)
{
	char path[SYSFS_PATH_BYTES], target[PATH_MAX];
	const char *name;
	va_list arguments;
	ssize_t n;
	int r;

	text[0] = '\0';
	va_start(arguments, format);
	r = path_build(path, format, arguments);
	va_end(arguments);
	if (r < 0)
		return r;
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	name = strrchr(target, '/');
	name = name == NULL ? target : name + 1;
	if (strlen(name) >= size)
		return -EMSGSIZE;
	memcpy(text, name, strlen(name) + 1);
	return 0;
}

bool
sysfs_exists(const char *format, ...)
{
	char path[SYSFS_PATH_BYTES];
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = path_build(path, format, arguments);
	va_end(arguments);
	return r == 0 && access(path, F_OK) == 0;
}
