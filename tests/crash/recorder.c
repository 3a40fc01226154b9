#include "tests/crash/recorder.h"

#include <err.h>
#include <errno.h>
#include <string.h>

#include "tests/crash/recorder_state.h"

struct recorder recorder;
enum recorder_broken recorder_broken;

void
recorder_begin(const char *parent, const char *folder, const struct image *image,
    struct trace *trace)
{
	memset(&recorder, 0, sizeof(recorder));
	recorder.on = true;
	recorder.parent = parent;
	recorder.folder = folder;
	recorder.folder_len = strlen(folder);
	recorder.trace = trace;
	for (size_t i = 0; i < image->count; i++) {
		memcpy(recorder.names[i].name, image->files[i].name, TRACE_NAME);
		recorder.names[i].inode = (int)i;
	}
	recorder.name_count = image->count;
	trace->inodes = (int)image->count;
}

void
recorder_end(void)
{
	recorder.on = false;
}

void
recorder_fail(enum recorder_act act, unsigned after, unsigned count, int error)
{
	recorder.fail = act;
	recorder.fail_after = after;
	recorder.fail_count = count;
	recorder.fail_errno = error;
}

unsigned
recorder_failed(void)
{
	return recorder.failed;
}

void
recorder_die(unsigned after)
{
	recorder.mortal = true;
	recorder.die_after = after;
}

void
recorder_live(void)
{
	recorder.mortal = recorder.dead = recorder.short_write = false;
	recorder_fail(RECORDER_NOTHING, 0, 0, 0);
}

int
recorder_permit(enum recorder_act act)
{
	if (recorder.mortal && !recorder.dead && recorder.die_after-- == 0)
		recorder.dead = true;
	if (recorder.dead)
		return EIO;
	if (recorder.fail != act || recorder.fail_count == 0)
		return 0;
	if (recorder.fail_after > 0) {
		recorder.fail_after--;
		return 0;
	}
	recorder.fail_count--;
	recorder.failed++;
	return recorder.fail_errno;
}

const char *
recorder_inside(const char *path)
{
	if (!recorder.on)
		return NULL;
	if (strchr(path, '/') == NULL)
		return path; /* for unlinkat: the folder is the only one that is listed
			      */
	if (strncmp(path, recorder.folder, recorder.folder_len) != 0 ||
	    path[recorder.folder_len] != '/')
		return NULL;
	return path + recorder.folder_len + 1;
}

struct name *
recorder_find(const char *name)
{
	for (size_t i = 0; i < recorder.name_count; i++)
		if (strcmp(recorder.names[i].name, name) == 0)
			return &recorder.names[i];
	return NULL;
}

void
recorder_forget(const char *name)
{
	struct name *found = recorder_find(name);

	if (found != NULL)
		*found = recorder.names[--recorder.name_count];
}

void
recorder_name(const char *name, int inode)
{
	struct name *found = recorder_find(name);

	if (found == NULL) {
		if (recorder.name_count == IMAGE_MAX_FILES ||
		    strlen(name) >= TRACE_NAME)
			errx(2, "too many files, or too long a name: %s", name);
		found = &recorder.names[recorder.name_count++];
		strcpy(found->name, name);
	}
	found->inode = inode;
}

void
recorder_note(enum trace_kind kind, int inode, const char *name, const char *other)
{
	struct trace_op op = { .kind = kind, .inode = inode };

	strncpy(op.name, name, TRACE_NAME - 1);
	strncpy(op.other, other, TRACE_NAME - 1);
	trace_add(recorder.trace, &op);
}
