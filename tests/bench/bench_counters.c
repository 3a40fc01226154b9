/*
 * Reads the counters of a replayed host with 8 RNICs: 600 names of ethtool, 60 each of
 * RDMA netlink and DCB, and files. Measures CPU time, allocations and processes of one
 * poll in the steady state.
 *
 * Yardstick: a poll that starts `ethtool -S` and `rdma statistic` for each RNIC, on
 * devices with almost no counters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/bench/figure.h"
#include "tests/unit/host-agent/counters/counters_fixture.h"

#define RNICS 8
#define ETHTOOL_NAMES 600
#define NETLINK_NAMES 60

extern char **environ;
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static uint64_t allocations;
static struct counters_fixture devices[RNICS];
static struct counter_port *ports[RNICS];
static struct counter_sample *samples;

void *
__wrap_malloc(size_t size)
{
	allocations++;
	return __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
	allocations++;
	return __real_calloc(count, size);
}

void *
__wrap_realloc(void *old, size_t size)
{
	allocations++;
	return __real_realloc(old, size);
}

/* All names that the table has for mlx5, and others up to the number. */
static void
make_device(struct counters_fixture *device)
{
	char name[32];

	counters_fixture_make(device, "mlx5");
	device->rdma_netlink = true;
	for (const struct counter_row *row = counter_rows; row->name != NULL; row++)
		for (unsigned i = 0; i < counter_row_values(row); i++)
			for (int any = 0; any < 2; any++) {
				const char *text =
				    row->source[any ? COUNTER_ANY : COUNTER_MLX5];
				struct counter_name at;

				while (text != NULL &&
				       counter_next_name(&text, i, &at) >= 0)
					counters_fixture_put(device,
					    "hHcpnedrm"[at.place], at.name, "123456");
			}
	while (device->count < ETHTOOL_NAMES) {
		snprintf(name, sizeof(name), "rx%u_other", device->count);
		counters_fixture_put(device, 'e', name, "1");
	}
	while (device->stats.count < NETLINK_NAMES) {
		snprintf(name, sizeof(name), "other_%zu", device->stats.count);
		counters_fixture_put(device, 'h', name, "1");
	}
}

static size_t
read_all(bool seldom, rm_mono_t now)
{
	size_t found = 0;

	for (size_t i = 0; i < RNICS; i++) {
		struct counter_reading reading;

		assert_int_equal(counter_port_read(ports[i], &devices[i].place, seldom,
				     now, samples, &reading),
		    0);
		found += reading.found;
	}
	return found;
}

static double
children_ms(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static void
start(const char *const *arguments)
{
	posix_spawn_file_actions_t quiet;
	pid_t pid;

	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, arguments[0], &quiet, NULL, (char *const *)arguments,
		environ) == 0)
		waitpid(pid, NULL, 0);
	posix_spawn_file_actions_destroy(&quiet);
}

/* CPU time of a poll that starts processes. */
static double
poll_by_processes(void)
{
	static const char *const ethtool[] = { "ethtool", "-S", "lo", NULL };
	static const char *const rdma[] = { "rdma", "-j", "statistic", "show", NULL };
	const double before = children_ms();

	for (size_t i = 0; i < RNICS; i++) {
		start(ethtool);
		start(rdma);
	}
	return children_ms() - before;
}

int
main(int argc, char **argv)
{
	const int rounds = figure_argument(argc, argv, "--smoke") ? 5 : 50;
	const rm_mono_t now = rm_mono_now();
	double read = 0, fast = 0, started = 0;
	uint64_t before;
	size_t found = 0;

	samples = calloc(counter_values(), sizeof(*samples));
	for (size_t i = 0; i < RNICS; i++) {
		make_device(&devices[i]);
		if (counter_port_new(&devices[i].kernel, &ports[i]) < 0)
			return EXIT_FAILURE;
	}
	(void)read_all(true, now);
	before = allocations;
	for (int i = 0; i < rounds; i++) {
		uint64_t begun = figure_cpu_ns();

		found = read_all(true, now);
		figure_keep_best(&read, (double)(figure_cpu_ns() - begun) / 1e6);
		begun = figure_cpu_ns();
		(void)read_all(false, rm_mono_add(now, 1));
		figure_keep_best(&fast, (double)(figure_cpu_ns() - begun) / 1e6);
	}
	before = allocations - before;
	for (int i = 0; i < (rounds < 10 ? 2 : 5); i++)
		figure_keep_best(&started, poll_by_processes());
	figure_print(&(struct figure){ .name = "a poll of 8 RNICs with 600 names",
	    .unit = "ms of CPU",
	    .value = read,
	    .yardstick_is = "starting ethtool and rdma for each",
	    .yardstick = started,
	    .gate = "ratio <= 0.5" });
	figure_print(&(struct figure){ .name = "a poll of what is judged alone",
	    .unit = "ms of CPU",
	    .value = fast,
	    .yardstick_is = "a poll of all",
	    .yardstick = read,
	    .gate = "ratio <= 1" });
	figure_print(&(struct figure){ .name = "counters found",
	    .unit = "in a poll",
	    .value = (double)found,
	    .gate = "value >= 1000" });
	figure_print(&(struct figure){ .name = "allocations",
	    .unit = "in all polls but the first",
	    .value = (double)before,
	    .gate = "value <= 0" });
	for (size_t i = 0; i < RNICS; i++) {
		counter_port_free(ports[i]);
		counters_fixture_free(&devices[i]);
	}
	free(samples);
	return EXIT_SUCCESS;
}
