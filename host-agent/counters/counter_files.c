#include "host-agent/counters/counter_files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "host-agent/counters/counter_table.h"

int
counter_files_open(struct counter_files *files, const char *path)
{
	int fd;

	if (files->count == COUNTER_MAX_FILES)
		return -ENFILE;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	files->files[files->count] = (struct counter_file){ .fd = fd };
	return (int)files->count++;
}

bool
counter_files_read(struct counter_files *files, bool all)
{
	bool whole = true;

	for (size_t i = 0; i < files->count; i++) {
		struct counter_file *file = &files->files[i];
		char text[COUNTER_FILE_BYTES];
		ssize_t n;

		if (file->seldom && !all)
			continue;
		do
			n = pread(file->fd, text, sizeof(text), 0);
		while (n < 0 && errno == EINTR);
		/* Any other error only means that the file has no value now: the speed
		 * of a link that is down, for example. */
		if (n < 0 && errno == ENODEV)
			whole = false;
		file->there =
		    n > 0 && counter_text_read(text, (size_t)n, &file->value) == 0 &&
		    (!file->lanes ||
			(file->value > 0 && file->value <= COUNTER_MAX_LANES));
	}
	return whole;
}

void
counter_files_close(struct counter_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		close(files->files[i].fd);
	files->count = 0;
}
