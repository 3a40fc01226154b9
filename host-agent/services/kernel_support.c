#include "host-agent/services/kernel_support.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/core/file.h"

#define FILE_MAX_BYTES 8192
#define CAPABILITY_SYS_ADMIN 21
#define CAPABILITY_PERFMON 38
#define CAPABILITY_BPF 39
/* Debian and Ubuntu set kernel.perf_event_paranoid to higher values; with such a value
 * CAP_PERFMON is not enough to open the perf events that kprobes need. */
#define PARANOID_MAX 2

struct look {
	const char *root;
	char *missing;
	enum kernel_support worst;
};

static void __attribute__((format(printf, 3, 4)))
miss(struct look *look, enum kernel_support what, const char *format, ...)
{
	size_t len = strlen(look->missing);
	va_list args;

	if (len > 0)
		len += (size_t)snprintf(
		    look->missing + len, KERNEL_SUPPORT_TEXT - len, "; ");
	if (len < KERNEL_SUPPORT_TEXT) {
		va_start(args, format);
		vsnprintf(look->missing + len, KERNEL_SUPPORT_TEXT - len, format, args);
		va_end(args);
	}
	if (what > look->worst)
		look->worst = what;
}

static bool
is_there(const struct look *look, const char *path)
{
	char whole[PATH_MAX];

	snprintf(whole, sizeof(whole), "%s%s", look->root, path);
	return access(whole, F_OK) == 0;
}

/* Returns NULL if the file cannot be read. The caller frees the text. */
static char *
text_of(const struct look *look, const char *path)
{
	char whole[PATH_MAX];
	uint8_t *text;
	size_t len;

	snprintf(whole, sizeof(whole), "%s%s", look->root, path);
	return rm_file_read(whole, FILE_MAX_BYTES, &text, &len) < 0 ? NULL
								    : (char *)text;
}

static void
look_at_kernel(struct look *look)
{
	char *release = text_of(look, "/proc/sys/kernel/osrelease");
	char *lockdown = text_of(look, "/sys/kernel/security/lockdown");
	unsigned major, minor;

	if (release != NULL && sscanf(release, "%u.%u", &major, &minor) == 2 &&
	    (major < 5 || (major == 5 && minor < 8)))
		miss(look, KERNEL_SUPPORT_NONE,
		    "kernel %u.%u has no BPF ring buffer, it came with 5.8", major,
		    minor);
	if (!is_there(look, "/sys/kernel/btf/vmlinux"))
		miss(look, KERNEL_SUPPORT_NONE,
		    "no BTF of this kernel (CONFIG_DEBUG_INFO_BTF)");
	if (lockdown != NULL && strstr(lockdown, "[confidentiality]") != NULL)
		miss(look, KERNEL_SUPPORT_NONE, "the kernel's lockdown forbids BPF");
	free(release);
	free(lockdown);
}

/* A module that is built into the kernel has no initstate. */
static void
look_at_module(struct look *look)
{
	bool module = is_there(look, "/sys/module/ib_core/initstate");

	if (!is_there(look, "/sys/module/ib_core"))
		miss(
		    look, KERNEL_SUPPORT_NO_MODULE, "the module ib_core is not loaded");
	else if (module && !is_there(look, "/sys/kernel/btf/ib_core"))
		miss(look, KERNEL_SUPPORT_NONE,
		    "no BTF of the module ib_core (built apart from its kernel, or "
		    "without CONFIG_DEBUG_INFO_BTF_MODULES)");
}

static bool
has(uint64_t capabilities, unsigned which)
{
	return (capabilities >> which & 1) != 0;
}

/* True: fprobes or fexit work without perf events. Fprobes find functions of modules
 * from Linux 6.2 on; for functions built into the kernel fexit needs no more than
 * CAP_BPF and CAP_PERFMON. */
static bool
can_do_without_perf(const struct look *look)
{
	char *release = text_of(look, "/proc/sys/kernel/osrelease");
	unsigned major = 0, minor = 0;

	if (release != NULL)
		(void)sscanf(release, "%u.%u", &major, &minor);
	free(release);
	return major > 6 || (major == 6 && minor >= 2) ||
	       !is_there(look, "/sys/module/ib_core/initstate");
}

static void
look_at_rights(struct look *look)
{
	char *status = text_of(look, "/proc/self/status");
	const char *line = status == NULL ? NULL : strstr(status, "\nCapEff:");
	uint64_t own =
	    line == NULL ? 0 : strtoull(line + strlen("\nCapEff:"), NULL, 16);

	char *paranoid;

	free(status);
	if (line == NULL || has(own, CAPABILITY_SYS_ADMIN))
		return; /* The state is not known: attaching the hooks will show it. */
	paranoid = text_of(look, "/proc/sys/kernel/perf_event_paranoid");
	if (!has(own, CAPABILITY_BPF) || !has(own, CAPABILITY_PERFMON))
		miss(look, KERNEL_SUPPORT_NO_PRIVILEGES,
		    "no CAP_BPF and CAP_PERFMON, nor CAP_SYS_ADMIN");
	else if (paranoid != NULL && atoi(paranoid) > PARANOID_MAX &&
		 !can_do_without_perf(look))
		miss(look, KERNEL_SUPPORT_NO_PRIVILEGES,
		    "no CAP_SYS_ADMIN, which kernel.perf_event_paranoid above %d asks "
		    "for before Linux 6.2",
		    PARANOID_MAX);
	free(paranoid);
}

enum kernel_support
kernel_support_look(const char *root, char missing[KERNEL_SUPPORT_TEXT])
{
	struct look look = { root, missing, KERNEL_SUPPORT_FULL };

	missing[0] = 0;
	look_at_kernel(&look);
	look_at_module(&look);
	look_at_rights(&look);
	return look.worst;
}
