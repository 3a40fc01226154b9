#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "rackmesh/core/queue.h"

static int
push(struct rm_queue *queue, uint64_t seq, uint32_t records, size_t len)
{
	uint8_t data[64];

	memset(data, (int)seq, sizeof(data));
	return rm_queue_push(queue, seq, records, data, len);
}

static void
assert_item(
    const struct rm_queue *queue, size_t i, uint64_t seq, uint32_t records, size_t len)
{
	struct rm_queue_item item;

	assert_int_equal(rm_queue_peek(queue, i, &item), 0);
	assert_int_equal(item.seq, seq);
	assert_int_equal(item.records, records);
	assert_int_equal(item.len, len);
	for (size_t k = 0; k < len; k++)
		assert_int_equal(item.data[k], (uint8_t)seq);
}

static void
messages_come_out_as_they_went_in(void **state)
{
	struct rm_queue *queue;
	struct rm_queue_item item;

	assert_int_equal(rm_queue_new(100, 1000, &queue), 0);
	for (uint64_t i = 0; i < 50; i++)
		assert_int_equal(push(queue, i, (uint32_t)i, i % 8), 0);
	for (uint64_t i = 0; i < 50; i++) {
		assert_int_equal(rm_queue_items(queue), 50 - i);
		assert_item(queue, 0, i, (uint32_t)i, i % 8);
		assert_item(queue, 49 - i, 49, 49, 1);
		assert_int_equal(rm_queue_peek(queue, 50 - i, &item), -ENOENT);
		rm_queue_pop(queue);
	}
	assert_int_equal(rm_queue_bytes(queue), 0);
	rm_queue_pop(queue); /* nothing there: nothing happens */
	assert_int_equal(rm_queue_counts(queue)->dropped_items, 0);
	rm_queue_free(queue);
}

static void
too_many_messages_push_out_the_oldest_and_count_their_records(void **state)
{
	const struct rm_queue_counts *counts;
	struct rm_queue *queue;

	assert_int_equal(rm_queue_new(3, 1000, &queue), 0);
	for (uint64_t i = 1; i <= 5; i++)
		assert_int_equal(push(queue, i, (uint32_t)(10 * i), 1), 0);
	assert_int_equal(rm_queue_items(queue), 3);
	assert_item(queue, 0, 3, 30, 1);
	assert_item(queue, 2, 5, 50, 1);
	counts = rm_queue_counts(queue);
	assert_int_equal(counts->pushed_items, 5);
	assert_int_equal(counts->pushed_records, 150);
	assert_int_equal(counts->dropped_items, 2);
	assert_int_equal(counts->dropped_records, 30);
	rm_queue_free(queue);
}

static void
too_many_bytes_push_out_as_many_as_are_needed(void **state)
{
	const struct rm_queue_counts *counts;
	struct rm_queue *queue;

	assert_int_equal(rm_queue_new(100, 40, &queue), 0);
	assert_int_equal(push(queue, 1, 1, 10), 0);
	assert_int_equal(push(queue, 2, 2, 10), 0);
	assert_int_equal(push(queue, 3, 4, 20), 0); /* full to the byte: none dropped */
	counts = rm_queue_counts(queue);
	assert_int_equal(counts->dropped_items, 0);
	assert_int_equal(push(queue, 4, 8, 11), 0);
	assert_int_equal(counts->dropped_items, 2);
	assert_int_equal(counts->dropped_records, 3);
	assert_int_equal(rm_queue_bytes(queue), 31);
	assert_item(queue, 0, 3, 4, 20);
	assert_int_equal(push(queue, 5, 16, 40), 0);
	assert_int_equal(rm_queue_items(queue), 1);
	assert_int_equal(counts->dropped_records, 15);
	rm_queue_free(queue);
}

static void
a_message_larger_than_the_queue_is_dropped_alone(void **state)
{
	const struct rm_queue_counts *counts;
	struct rm_queue *queue;

	assert_int_equal(rm_queue_new(100, 40, &queue), 0);
	assert_int_equal(push(queue, 1, 1, 40), 0);
	assert_int_equal(push(queue, 2, 7, 41), -EMSGSIZE);
	counts = rm_queue_counts(queue);
	assert_int_equal(counts->pushed_items, 2);
	assert_int_equal(counts->pushed_records, 8);
	assert_int_equal(counts->dropped_items, 1);
	assert_int_equal(counts->dropped_records, 7);
	assert_item(queue, 0, 1, 1, 40);
	rm_queue_free(queue);
}

static void
every_record_is_taken_waiting_or_dropped(void **state)
{
	const struct rm_queue_counts *counts;
	uint64_t taken = 0, waiting = 0;
	struct rm_queue *queue;
	struct rm_queue_item item;
	uint32_t random = 1;

	assert_int_equal(rm_queue_new(7, 100, &queue), 0);
	for (uint64_t i = 0; i < 10000; i++) {
		random = random * 1664525u + 1013904223u;
		if ((random >> 16) % 3 > 0) {
			push(queue, i, (random >> 20) % 9, (random >> 24) % 60);
		} else if (rm_queue_peek(queue, 0, &item) == 0) {
			taken += item.records;
			rm_queue_pop(queue);
		}
		assert_true(rm_queue_items(queue) <= 7);
		assert_true(rm_queue_bytes(queue) <= 100);
	}
	for (size_t i = 0; rm_queue_peek(queue, i, &item) == 0; i++)
		waiting += item.records;
	counts = rm_queue_counts(queue);
	assert_true(counts->dropped_records > 0);
	assert_true(taken > 0);
	assert_int_equal(
	    counts->pushed_records, taken + waiting + counts->dropped_records);
	rm_queue_free(queue);
}

static void
a_queue_without_room_is_refused(void **state)
{
	struct rm_queue *queue;

	assert_int_equal(rm_queue_new(0, 100, &queue), -EINVAL);
	assert_int_equal(rm_queue_new(SIZE_MAX, 100, &queue), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_come_out_as_they_went_in),
		cmocka_unit_test(
		    too_many_messages_push_out_the_oldest_and_count_their_records),
		cmocka_unit_test(too_many_bytes_push_out_as_many_as_are_needed),
		cmocka_unit_test(a_message_larger_than_the_queue_is_dropped_alone),
		cmocka_unit_test(every_record_is_taken_waiting_or_dropped),
		cmocka_unit_test(a_queue_without_room_is_refused),
	};

	return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
