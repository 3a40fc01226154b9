#include "host-agent/services/qp_hooks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bpf/qp_event.h"
#include "bpf/qp_trace.skel.h"
#include "host-agent/services/qp_btf.h"
#include "rackmesh/core/log.h"

struct qp_hooks {
	struct qp_trace *programs;
	struct ring_buffer *ring;
	enum qp_hooks_method method;
	uint64_t *per_cpu; /* scratch memory for one value per CPU */
	int cpus;
	uint64_t malformed;

	/* Set only during qp_hooks_take. */
	void (*fn)(const struct qp_event *event, void *arg);
	void *arg;
	size_t taken, max;
};

/* The first complaint of libbpf in this thread's qp_hooks_open. Later complaints only
 * say that loading failed. */
static _Thread_local char complaint[160];

static int
on_libbpf_log(enum libbpf_print_level level, const char *format, va_list args)
{
	char line[512];
	int len = vsnprintf(line, sizeof(line), format, args);

	if (len > 0 && (size_t)len < sizeof(line) && line[len - 1] == '\n')
		line[len - 1] = 0;
	if (level == LIBBPF_DEBUG)
		/* These messages are not logged: libbpf writes hundreds of debug
		 * messages at each start. */
		return 0;
	rm_log_debug("%s", line);
	if (level == LIBBPF_WARN && complaint[0] == 0)
		snprintf(complaint, sizeof(complaint), "%.*s",
		    (int)sizeof(complaint) - 1, line);
	return 0;
}

const char *
qp_hooks_method_name(enum qp_hooks_method method)
{
	static const char *const names[QP_HOOKS_METHODS] = { "any", "fexit", "kprobe",
		"fprobe" };

	return names[method];
}

/* The programs that kprobes and fprobes share. */
struct probe {
	struct bpf_program *program;
	struct bpf_link **link; /* the link; the skeleton destroys it */
	const char *function;
	bool at_return;
};

#define PROBES 3

static void
list_probes(struct qp_trace *trace, struct probe list[PROBES])
{
	list[0] = (struct probe){ trace->progs.qp_modify_called,
		&trace->links.qp_modify_called, "ib_modify_qp_with_udata", false };
	list[1] = (struct probe){ trace->progs.qp_modify_returned,
		&trace->links.qp_modify_returned, "ib_modify_qp_with_udata", true };
	list[2] = (struct probe){ trace->progs.qp_destroy_called,
		&trace->links.qp_destroy_called, "ib_destroy_qp_user", false };
}

/* Prepares the programs for fprobes, whose links are made by the names of functions. */
static int
prepare_fprobes(struct qp_trace *programs)
{
	struct probe list[PROBES];
	int r = 0;

	list_probes(programs, list);
	for (size_t i = 0; i < PROBES && r == 0; i++) {
		r = bpf_program__set_expected_attach_type(
		    list[i].program, BPF_TRACE_KPROBE_MULTI);
	}
	return r;
}

/* The names are given one by one: for a pattern libbpf would read addresses in
 * /proc/kallsyms, which the unit hides. */
static int
attach_fprobes(struct qp_trace *programs)
{
	struct probe list[PROBES];

	list_probes(programs, list);
	for (size_t i = 0; i < PROBES; i++) {
		LIBBPF_OPTS(bpf_kprobe_multi_opts, options, .syms = &list[i].function,
		    .cnt = 1, .retprobe = list[i].at_return);

		*list[i].link = bpf_program__attach_kprobe_multi_opts(
		    list[i].program, NULL, &options);
		if (*list[i].link == NULL)
			return -errno;
	}
	return 0;
}

/* Switches off the programs of all other methods. */
static int
choose(struct qp_trace *programs, enum qp_hooks_method method)
{
	bool fexit = method == QP_HOOKS_FEXIT;
	struct {
		struct bpf_program *program;
		bool wanted;
	} list[] = {
		{ programs->progs.qp_modified, fexit },
		{ programs->progs.qp_destroying, fexit },
		{ programs->progs.qp_modify_called, !fexit },
		{ programs->progs.qp_modify_returned, !fexit },
		{ programs->progs.qp_destroy_called, !fexit },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]) && r == 0; i++)
		r = bpf_program__set_autoload(list[i].program, list[i].wanted);
	if (r == 0 && fexit)
		r = bpf_map__set_autocreate(programs->maps.calls, false);
	if (r == 0 && method == QP_HOOKS_FPROBE)
		r = prepare_fprobes(programs);
	return r;
}

static int on_sample(void *arg, void *data, size_t size);

/*
 * Opens and loads the programs. For kprobes and fprobes the types in sysfs are enough,
 * so the agent needs no right to get those of modules from the kernel.
 */
static int
load(struct qp_hooks *hooks, enum qp_hooks_method method, const char **step)
{
	LIBBPF_OPTS(bpf_object_open_opts, options);
	int types = method != QP_HOOKS_FEXIT ? qp_btf_open("ib_core") : -ENOENT;
	char path[64];
	int r;

	*step = "open";
	snprintf(path, sizeof(path), "/proc/self/fd/%d", types);
	if (types >= 0)
		options.btf_custom_path = path;
	hooks->programs = qp_trace__open_opts(&options);
	r = hooks->programs == NULL ? -errno : choose(hooks->programs, method);
	if (r == 0) {
		*step = "load";
		r = qp_trace__load(hooks->programs);
	}
	if (types >= 0)
		close(types);
	return r;
}

/* *step: the step that failed, for the log. */
static int
start(struct qp_hooks *hooks, enum qp_hooks_method method, const char **step)
{
	int r;

	r = load(hooks, method, step);
	if (r < 0)
		return r;
	*step = "ring buffer";
	hooks->ring = ring_buffer__new(
	    bpf_map__fd(hooks->programs->maps.events), on_sample, hooks, NULL);
	if (hooks->ring == NULL)
		return -errno;
	*step = "attach";
	r = method == QP_HOOKS_FPROBE ? attach_fprobes(hooks->programs)
				      : qp_trace__attach(hooks->programs);
	if (r == 0)
		hooks->method = method;
	return r;
}

static void
stop(struct qp_hooks *hooks)
{
	ring_buffer__free(hooks->ring);
	qp_trace__destroy(hooks->programs);
	hooks->ring = NULL;
	hooks->programs = NULL;
}

static void
explain(
    char reason[QP_HOOKS_TEXT], enum qp_hooks_method method, const char *step, int r)
{
	size_t len = strlen(reason);
	const char *text = strerrordesc_np(-r);

	snprintf(reason + len, QP_HOOKS_TEXT - len, "%s%s: %s: %s%s%s%s",
	    len == 0 ? "" : "; ", qp_hooks_method_name(method), step,
	    text == NULL ? "failed" : text, complaint[0] == 0 ? "" : " (", complaint,
	    complaint[0] == 0 ? "" : ")");
}

int
qp_hooks_open(
    enum qp_hooks_method method, struct qp_hooks **ret, char reason[QP_HOOKS_TEXT])
{
	struct qp_hooks *hooks = calloc(1, sizeof(*hooks));
	int r;

	reason[0] = 0;
	if (hooks == NULL)
		return -ENOMEM;
	libbpf_set_print(on_libbpf_log);
	hooks->cpus = libbpf_num_possible_cpus();
	r = hooks->cpus < 0 ? hooks->cpus : 0;
	if (r == 0) {
		hooks->per_cpu = calloc((size_t)hooks->cpus, sizeof(uint64_t));
		r = hooks->per_cpu == NULL ? -ENOMEM : 0;
	}
	if (r < 0) {
		qp_hooks_close(hooks);
		return r;
	}
	r = -EINVAL;
	for (enum qp_hooks_method w = QP_HOOKS_FEXIT; w < QP_HOOKS_METHODS && r < 0;
	     w++) {
		const char *step = "";

		if (method != QP_HOOKS_ANY && method != w)
			continue;
		complaint[0] = 0;
		r = start(hooks, w, &step);
		if (r == 0)
			break;
		stop(hooks);
		explain(reason, w, step, r);
	}
	if (r < 0) {
		qp_hooks_close(hooks);
		return r;
	}
	*ret = hooks;
	return 0;
}

void
qp_hooks_close(struct qp_hooks *hooks)
{
	if (hooks == NULL)
		return;
	stop(hooks);
	free(hooks->per_cpu);
	free(hooks);
}

enum qp_hooks_method
qp_hooks_method(const struct qp_hooks *hooks)
{
	return hooks->method;
}

int
qp_hooks_fd(const struct qp_hooks *hooks)
{
	return ring_buffer__epoll_fd(hooks->ring);
}

static bool
is_event(const struct qp_event *event, size_t size)
{
	return size == sizeof(*event) &&
	       (event->kind == QP_EVENT_CONNECTED ||
		   event->kind == QP_EVENT_DESTROYED) &&
	       memchr(event->device, 0, sizeof(event->device)) != NULL &&
	       memchr(event->comm, 0, sizeof(event->comm)) != NULL;
}

/* A result < 0 ends libbpf's loop; the event of that call is consumed. */
static int
on_sample(void *arg, void *data, size_t size)
{
	struct qp_hooks *hooks = arg;

	if (is_event(data, size))
		hooks->fn(data, hooks->arg);
	else
		hooks->malformed++;
	return ++hooks->taken >= hooks->max ? -EAGAIN : 0;
}

size_t
qp_hooks_take(struct qp_hooks *hooks, size_t max,
    void (*fn)(const struct qp_event *event, void *arg), void *arg)
{
	hooks->fn = fn;
	hooks->arg = arg;
	hooks->taken = 0;
	hooks->max = max;
	/* An error can only come from on_sample, which ends the loop with it. */
	ring_buffer__consume(hooks->ring);
	return hooks->taken;
}

uint64_t
qp_hooks_dropped(const struct qp_hooks *hooks)
{
	const uint32_t key = 0;
	uint64_t sum = 0;

	if (bpf_map__lookup_elem(hooks->programs->maps.dropped, &key, sizeof(key),
		hooks->per_cpu, (size_t)hooks->cpus * sizeof(uint64_t), 0) < 0)
		return 0;
	for (int i = 0; i < hooks->cpus; i++)
		sum += hooks->per_cpu[i];
	return sum;
}

uint64_t
qp_hooks_malformed(const struct qp_hooks *hooks)
{
	return hooks->malformed;
}
