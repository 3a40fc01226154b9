#include "host-agent/services/cgroup_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The part of a path between two slashes. */
struct part {
	const char *text;
	size_t len;
};

#define PREFIX "pod:"
/* length of 8-4-4-4-12 hex digits with dashes; systemd writes '_' instead of '-' */
#define UID_LEN 36
#define STATIC_UID_LEN 32 /* length of a static pod's UID: a hash without dashes */
#define CONTAINER_ID_LEN 64
/* characters of a container's id that are shown, as docker ps does */
#define CONTAINER_SHOWN 12
#define SLUID_LEN 14 /* Slurm's sortable id of a job: 's' and 13 digits of base 32 */

static bool
starts(const struct part *part, const char *with)
{
	return part->len >= strlen(with) && memcmp(part->text, with, strlen(with)) == 0;
}

static bool
ends(const struct part *part, const char *with)
{
	size_t len = strlen(with);

	return part->len >= len && memcmp(part->text + part->len - len, with, len) == 0;
}

static bool
is_hex(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* Reads a pod's UID at the start of text, and copies it to ret with dashes. */
static bool
take_uid(const char *text, size_t len, char ret[UID_LEN + 1])
{
	if (len == STATIC_UID_LEN && is_hex(text, len)) {
		memcpy(ret, text, len);
		ret[len] = 0;
		return true;
	}
	if (len != UID_LEN)
		return false;
	for (size_t i = 0; i < UID_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' && text[i] != '_'
			 : !isxdigit((unsigned char)text[i]))
			return false;
		ret[i] = dash ? '-' : text[i];
	}
	ret[UID_LEN] = 0;
	return true;
}

/*
 * cgroupfs driver: "pod<uid>" below "kubepods"; systemd driver:
 * "kubepods[-burstable|-besteffort]-pod<uid>.slice".
 */
static bool
name_pod(const struct part *part, bool below_kubepods, char ret[CGROUP_NAME_BYTES])
{
	/* With systemd's driver, containerd may call a cgroup
	 * "<slice>:<runtime>:<id>". */
	const char *colon = memchr(part->text, ':', part->len);
	struct part rest = { part->text,
		colon == NULL ? part->len : (size_t)(colon - part->text) };
	char uid[UID_LEN + 1];

	if (ends(&rest, ".slice")) { /* "kubelet-kubepods-..." in kind's nodes */
		const char *at;

		if (memmem(rest.text, rest.len, "kubepods", strlen("kubepods")) == NULL)
			return false;
		rest.len -= strlen(".slice");
		at = memmem(rest.text, rest.len, "-pod", strlen("-pod"));
		if (at == NULL)
			return false;
		rest.len -= (size_t)(at + 1 - rest.text);
		rest.text = at + 1;
	} else if (!below_kubepods) {
		return false;
	}
	if (!starts(&rest, "pod") ||
	    !take_uid(rest.text + strlen("pod"), rest.len - strlen("pod"), uid))
		return false;
	snprintf(ret, CGROUP_NAME_BYTES, PREFIX "%s", uid);
	return true;
}

/*
 * A container outside of a pod: "docker-<id>.scope", "libpod-<id>.scope",
 * "cri-containerd-<id>.scope", "crio-<id>.scope"; or "<id>" below "docker" and the
 * like.
 */
static bool
name_container(
    const struct part *part, const struct part *parent, char ret[CGROUP_NAME_BYTES])
{
	static const char *const runtimes[] = { "docker", "libpod", "cri-containerd",
		"crio", "containerd", "podman", "nerdctl" };
	const char *id = NULL;

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		size_t len = strlen(runtimes[i]);

		if (ends(part, ".scope") && starts(part, runtimes[i]) &&
		    part->len == len + 1 + CONTAINER_ID_LEN + strlen(".scope") &&
		    part->text[len] == '-')
			id = part->text + len + 1;
		else if (part->len == CONTAINER_ID_LEN && parent->len == len &&
			 starts(parent, runtimes[i]))
			id = part->text;
	}
	if (id == NULL || !is_hex(id, CONTAINER_ID_LEN))
		return false;
	snprintf(ret, CGROUP_NAME_BYTES, "container:%.*s", CONTAINER_SHOWN, id);
	return true;
}

/* v1: "slurm", or "slurm_<node>" where several slurmd share a host; v2:
 * "slurmstepd.scope", or "<node>_slurmstepd.scope". */
static bool
is_slurm(const struct part *part)
{
	return starts(part, "slurm") || ends(part, "_slurmstepd.scope");
}

static bool
is_number(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return len > 0 && len < CGROUP_NAME_BYTES / 2;
}

static bool
is_sluid(const char *text, size_t len)
{
	if (len != SLUID_LEN || text[0] != 's')
		return false;
	for (size_t i = 1; i < len; i++)
		if (text[i] == 0 ||
		    strchr("0123456789ABCDEFGHJKMNPQRSTVWXYZ", text[i]) == NULL)
			return false;
	return true;
}

/*
 * A Slurm job: "<slurm>/uid_N/job_N/..." on v1, "<slurm>/job_N/..." on v2. From Slurm
 * 26.05 on the SLUID replaces "job_N", unless CgroupJobIdPaths=yes. The job is a better
 * name than the unit of the daemon.
 */
static bool
name_job(const struct part *part, bool below_slurm, char ret[CGROUP_NAME_BYTES])
{
	const size_t prefix = strlen("job_");
	struct part id = *part;

	if (!below_slurm)
		return false;
	if (starts(part, "job_")) {
		id.text += prefix;
		id.len -= prefix;
	}
	if (!is_sluid(id.text, id.len) &&
	    !(id.len < part->len && is_number(id.text, id.len)))
		return false;
	snprintf(ret, CGROUP_NAME_BYTES, "job:%.*s", (int)id.len, id.text);
	return true;
}

/* A unit that systemd made for a program, but not the session of a user. */
static bool
name_unit(const struct part *part, char ret[CGROUP_NAME_BYTES])
{
	if (!ends(part, ".service") && !ends(part, ".scope") && !ends(part, ".slice"))
		return false;
	if (starts(part, "session-") || starts(part, "user-") ||
	    starts(part, "user@") || starts(part, "init.scope") ||
	    starts(part, "-.slice") ||
	    (part->len == strlen("user.slice") && starts(part, "user.slice")) ||
	    (part->len == strlen("system.slice") && starts(part, "system.slice")))
		return false;
	for (size_t i = 0; i < part->len; i++)
		if (!isgraph((unsigned char)part->text[i]))
			return false;
	snprintf(ret, CGROUP_NAME_BYTES, "unit:%.*s", (int)part->len, part->text);
	return true;
}

/* What a part of a path names, from the least to the most specific. A job is more
 * specific than a pod, because a slurmd may run in a pod. */
enum named { NOTHING, UNIT, CONTAINER, POD, JOB };

static enum named
name_path(const char *path, size_t len, char found[CGROUP_NAME_BYTES])
{
	char name[CGROUP_NAME_BYTES];
	bool below_kubepods = false, below_slurm = false;
	enum named best = NOTHING;
	struct part part = { path, 0 }, parent = { path, 0 };

	for (size_t at = 0; at < len; at += part.len + 1, parent = part) {
		const char *slash = memchr(path + at, '/', len - at);

		part.text = path + at;
		part.len = slash == NULL ? len - at : (size_t)(slash - part.text);
		if (best < JOB && name_job(&part, below_slurm, found))
			best = JOB;
		else if (best < POD && name_pod(&part, below_kubepods, found))
			best = POD;
		else if (best < CONTAINER && name_container(&part, &parent, found))
			best = CONTAINER;
		else if (best <= UNIT && name_unit(&part, name)) {
			/* the innermost name replaces the outer ones */
			memcpy(found, name, sizeof(name));
			best = UNIT;
		}
		below_kubepods |= starts(&part, "kubepods");
		below_slurm |= is_slurm(&part);
	}
	return best;
}

bool
cgroup_name_from_path(const char *path, size_t len, char ret[CGROUP_NAME_BYTES])
{
	char found[CGROUP_NAME_BYTES];

	if (name_path(path, len, found) == NOTHING)
		return false;
	memcpy(ret, found, sizeof(found));
	return true;
}

const char *
cgroup_name_uid(const char *service)
{
	return strncmp(service, PREFIX, strlen(PREFIX)) == 0 ? service + strlen(PREFIX)
							     : NULL;
}

/* True: the path of this hierarchy is more specific than that of the other one. */
static bool
reports_more(const struct part *path, bool v2, const struct part *than)
{
	char unused[CGROUP_NAME_BYTES];
	enum named named = name_path(path->text, path->len, unused);
	enum named other = name_path(than->text, than->len, unused);

	if (named != other && (named > UNIT || other > UNIT))
		return named > other;
	return v2 ? path->len > 1 : path->len > than->len;
}

bool
cgroup_name_cgroup_path(
    const char *text, size_t text_len, const char **ret, size_t *len)
{
	const char *end = text + text_len;
	struct part best = { NULL, 0 };
	bool best_v2 = false;

	for (const char *line = text; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		const char *first, *second;

		if (stop == NULL)
			stop = end;
		first = memchr(line, ':', (size_t)(stop - line));
		second = first == NULL
			     ? NULL
			     : memchr(first + 1, ':', (size_t)(stop - first - 1));
		if (second != NULL && second + 1 < stop && second[1] == '/') {
			struct part path = { second + 1, (size_t)(stop - second - 1) };
			bool v2 =
			    line[0] == '0' && first == line + 1 && second == first + 1;

			if (best.text == NULL ||
			    (best_v2 ? !reports_more(&best, true, &path)
				     : reports_more(&path, v2, &best))) {
				best = path;
				best_v2 = v2;
			}
		}
		line = stop + 1;
	}
	if (best.text == NULL)
		return false;
	*ret = best.text;
	*len = best.len;
	return true;
}
