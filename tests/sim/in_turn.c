#include "tests/sim/in_turn.h"

#include <pthread.h>

struct turns {
	in_turn_fn *do_one;
	void *arg;
	pthread_mutex_t lock;
	size_t next, count;
	int failed;
};

static void *
take_turns(void *arg)
{
	struct turns *turns = arg;

	pthread_mutex_lock(&turns->lock);
	while (turns->failed == 0 && turns->next < turns->count) {
		const size_t number = turns->next++;
		int r;

		pthread_mutex_unlock(&turns->lock);
		r = turns->do_one(turns->arg, number);
		pthread_mutex_lock(&turns->lock);
		if (r < 0 && turns->failed == 0)
			turns->failed = r;
	}
	pthread_mutex_unlock(&turns->lock);
	return NULL;
}

int
in_turn(size_t count, size_t jobs, in_turn_fn *do_one, void *arg)
{
	struct turns turns = { .do_one = do_one, .arg = arg, .count = count };
	pthread_t threads[IN_TURN_MAX_JOBS];
	size_t started = 0;

	pthread_mutex_init(&turns.lock, NULL);
	while (started + 1 < jobs && started < IN_TURN_MAX_JOBS &&
	       pthread_create(&threads[started], NULL, take_turns, &turns) == 0)
		started++;
	take_turns(&turns);
	while (started > 0)
		pthread_join(threads[--started], NULL);
	pthread_mutex_destroy(&turns.lock);
	return turns.failed;
}
