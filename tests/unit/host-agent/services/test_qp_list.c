#include "host-agent/services/qp_list.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "bpf/qp_event.h"

#define SEQ 7
#define RXE0 3 /* the kernel's number of the device */

/* An answer in the kernel's format. */
struct answer {
	uint8_t bytes[8192];
	size_t len;
};

static size_t
open_message(struct answer *answer, unsigned command)
{
	struct nlmsghdr head = { .nlmsg_type =
				     (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command),
		.nlmsg_flags = NLM_F_MULTI,
		.nlmsg_seq = SEQ };
	size_t at = answer->len;

	memcpy(answer->bytes + at, &head, sizeof(head));
	answer->len += sizeof(head);
	return at;
}

static void
close_message(struct answer *answer, size_t at)
{
	uint32_t len = (uint32_t)(answer->len - at);

	memcpy(answer->bytes + at, &len, sizeof(len));
}

static size_t
put(struct answer *answer, unsigned type, const void *data, size_t len)
{
	struct nlattr head = { (uint16_t)(NLA_HDRLEN + len), (uint16_t)type };
	size_t at = answer->len;

	memset(answer->bytes + at, 0, NLA_ALIGN(head.nla_len));
	memcpy(answer->bytes + at, &head, sizeof(head));
	if (len > 0)
		memcpy(answer->bytes + at + NLA_HDRLEN, data, len);
	answer->len += NLA_ALIGN(head.nla_len);
	return at;
}

static void
put_u32(struct answer *answer, unsigned type, uint32_t value)
{
	put(answer, type, &value, sizeof(value));
}

static void
put_u8(struct answer *answer, unsigned type, uint8_t value)
{
	put(answer, type, &value, sizeof(value));
}

static size_t
open_nest(struct answer *answer, unsigned type)
{
	return put(answer, type | NLA_F_NESTED, NULL, 0);
}

static void
close_nest(struct answer *answer, size_t at)
{
	uint16_t len = (uint16_t)(answer->len - at);

	memcpy(answer->bytes + at, &len, sizeof(len));
}

static void
put_done(struct answer *answer, unsigned type, int32_t error)
{
	struct nlmsghdr head = { sizeof(head) + sizeof(error), (uint16_t)type,
		NLM_F_MULTI, SEQ, 0 };

	memcpy(answer->bytes + answer->len, &head, sizeof(head));
	memcpy(answer->bytes + answer->len + sizeof(head), &error, sizeof(error));
	answer->len += head.nlmsg_len;
}

static void
put_device(struct answer *answer, uint32_t index, const char *name)
{
	size_t at = open_message(answer, RDMA_NLDEV_CMD_GET);

	put_u32(answer, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	put(answer, RDMA_NLDEV_ATTR_DEV_NAME, name, strlen(name) + 1);
	put_u32(answer, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	close_message(answer, at);
}

static void
put_qp(struct answer *answer, const struct qp_list_row *row)
{
	size_t at = open_nest(answer, RDMA_NLDEV_ATTR_RES_QP_ENTRY);

	put_u32(answer, RDMA_NLDEV_ATTR_RES_LQPN, row->qpn);
	if (row->dst_qpn != 0)
		put_u32(answer, RDMA_NLDEV_ATTR_RES_RQPN, row->dst_qpn);
	put_u8(answer, RDMA_NLDEV_ATTR_RES_TYPE, row->type);
	put_u8(answer, RDMA_NLDEV_ATTR_RES_STATE, row->state);
	put_u32(answer, 9999, 1); /* an attribute of a newer kernel */
	if (row->pid != 0)
		put_u32(answer, RDMA_NLDEV_ATTR_RES_PID, row->pid);
	else
		put(answer, RDMA_NLDEV_ATTR_RES_KERN_NAME, row->kernel,
		    strlen(row->kernel) + 1);
	close_nest(answer, at);
}

static void
put_qps(struct answer *answer, const struct qp_list_row *rows, size_t count)
{
	size_t at = open_message(answer, RDMA_NLDEV_CMD_RES_QP_GET), table;

	put_u32(answer, RDMA_NLDEV_ATTR_DEV_INDEX, RXE0);
	put(answer, RDMA_NLDEV_ATTR_DEV_NAME, "rxe0", 5);
	table = open_nest(answer, RDMA_NLDEV_ATTR_RES_QP);
	for (size_t i = 0; i < count; i++)
		put_qp(answer, &rows[i]);
	close_nest(answer, table);
	close_message(answer, at);
}

static void
put_connection(struct answer *answer, uint32_t qpn, const char *src, const char *dst)
{
	size_t at = open_message(answer, RDMA_NLDEV_CMD_RES_CM_ID_GET), table, entry;
	struct sockaddr_storage storage = { 0 };
	struct sockaddr_in *v4 = (struct sockaddr_in *)&storage;

	put_u32(answer, RDMA_NLDEV_ATTR_DEV_INDEX, RXE0);
	table = open_nest(answer, RDMA_NLDEV_ATTR_RES_CM_ID);
	entry = open_nest(answer, RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY);
	put_u32(answer, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	put_u32(answer, RDMA_NLDEV_ATTR_RES_LQPN, qpn);
	v4->sin_family = AF_INET;
	inet_pton(AF_INET, src, &v4->sin_addr);
	put(answer, RDMA_NLDEV_ATTR_RES_SRC_ADDR, &storage, sizeof(storage));
	inet_pton(AF_INET, dst, &v4->sin_addr);
	put(answer, RDMA_NLDEV_ATTR_RES_DST_ADDR, &storage, sizeof(storage));
	close_nest(answer, entry);
	close_nest(answer, table);
	close_message(answer, at);
}

static int
take(struct qp_list *list, enum qp_list_ask ask, const struct answer *answer)
{
	return qp_list_take(list, ask, SEQ, answer->bytes, answer->len);
}

static void
take_rxe0(struct qp_list *list)
{
	struct answer answer = { .len = 0 };

	put_device(&answer, 1, "mlx5_0");
	put_device(&answer, RXE0, "rxe0");
	assert_int_equal(take(list, QP_LIST_DEVICES, &answer), 0);
	answer.len = 0;
	put_done(&answer, NLMSG_DONE, 0);
	assert_int_equal(take(list, QP_LIST_DEVICES, &answer), 1);
	assert_int_equal(list->device_count, 2);
	assert_string_equal(list->devices[1].name, "rxe0");
}

static const struct qp_list_row rows[] = {
	{ .qpn = 1, .type = 1, .state = 3, .kernel = "ib_core" }, /* GSI */
	{ .qpn = 17, .dst_qpn = 18, .type = QP_EVENT_RC, .state = 3, .pid = 4711 },
	{ .qpn = 19, .type = 4, .state = 3, .pid = 4711 }, /* UD */
	{ .qpn = 20, .dst_qpn = 5, .type = QP_EVENT_UC, .state = 2, .pid = 12 },
	{ .qpn = 21, .type = QP_EVENT_XRC_TGT, .state = 2, .kernel = "nvmet_rdma" },
};

static void
connected_qps_are_listed_with_both_numbers_and_their_process(void **state)
{
	struct qp_list list = { 0 };
	struct answer answer = { .len = 0 };

	take_rxe0(&list);
	put_qps(&answer, rows, 5);
	put_done(&answer, NLMSG_DONE, 0);
	assert_int_equal(take(&list, QP_LIST_QPS, &answer), 1);
	assert_int_equal(list.row_count, 3);
	assert_int_equal(list.rows[0].device, 1);
	assert_int_equal(list.rows[0].qpn, 17);
	assert_int_equal(list.rows[0].dst_qpn, 18);
	assert_int_equal(list.rows[0].pid, 4711);
	assert_int_equal(list.rows[0].state, 3);
	assert_int_equal(list.rows[1].type, QP_EVENT_UC);
	assert_int_equal(list.rows[2].pid, 0);
	assert_string_equal(list.rows[2].kernel, "nvmet_rdma");
	assert_int_equal(list.rows[2].dst.family, 0);
	assert_int_equal(list.malformed, 0);
	assert_false(list.cut);
	qp_list_clear(&list);
	assert_null(list.rows);
}

static void
connections_give_their_qps_the_addresses(void **state)
{
	struct qp_list list = { 0 };
	struct answer answer = { .len = 0 };

	take_rxe0(&list);
	put_qps(&answer, rows, 5);
	put_connection(&answer, 20, "10.0.0.1", "10.0.0.2");
	put_connection(&answer, 17, "10.0.0.1", "10.0.0.3");
	/* A listening connection, without a peer. */
	put_connection(&answer, 0, "10.0.0.1", "0.0.0.0");
	put_connection(&answer, 99, "10.0.0.1", "10.0.0.9");
	assert_int_equal(
	    qp_list_take(&list, QP_LIST_QPS, SEQ, answer.bytes, answer.len), 0);
	assert_int_equal(take(&list, QP_LIST_CONNECTIONS, &answer), 0);
	assert_int_equal(list.row_count, 3);
	assert_int_equal(list.rows[0].dst.family, 4);
	assert_memory_equal(list.rows[0].dst.bytes, "\x0a\0\0\x03", 4);
	assert_memory_equal(list.rows[1].dst.bytes, "\x0a\0\0\x02", 4);
	assert_memory_equal(list.rows[1].src.bytes, "\x0a\0\0\x01", 4);
	assert_int_equal(list.rows[1].port, 1);
	assert_int_equal(list.rows[2].dst.family, 0);
	qp_list_clear(&list);
}

static void
an_error_of_the_kernel_is_returned(void **state)
{
	struct qp_list list = { 0 };
	struct answer answer = { .len = 0 };

	put_done(&answer, NLMSG_ERROR, -ENODEV);
	assert_int_equal(take(&list, QP_LIST_QPS, &answer), -ENODEV);
	answer.len = 0;
	put_done(&answer, NLMSG_DONE, -EPERM);
	assert_int_equal(take(&list, QP_LIST_QPS, &answer), -EPERM);
	answer.len = 0;
	put_done(&answer, NLMSG_ERROR, 5);
	assert_int_equal(take(&list, QP_LIST_QPS, &answer), -EBADMSG);
}

static void
an_answer_to_another_question_is_passed_over(void **state)
{
	struct qp_list list = { 0 };
	struct answer answer = { .len = 0 };

	put_device(&answer, RXE0, "rxe0");
	put_done(&answer, NLMSG_DONE, 0);
	assert_int_equal(
	    qp_list_take(&list, QP_LIST_DEVICES, SEQ + 1, answer.bytes, answer.len), 0);
	assert_int_equal(list.device_count, 0);
}

static void
damaged_answers_are_refused_and_counted(void **state)
{
	struct qp_list list = { 0 };
	struct answer answer = { .len = 0 };
	uint32_t len;

	take_rxe0(&list);
	put_qps(&answer, rows, 5);
	assert_int_equal(
	    qp_list_take(&list, QP_LIST_QPS, SEQ, answer.bytes, answer.len - 1),
	    -EBADMSG);
	assert_int_equal(
	    qp_list_take(&list, QP_LIST_QPS, SEQ, answer.bytes, 7), -EBADMSG);
	len = 3;
	memcpy(answer.bytes, &len, sizeof(len));
	assert_int_equal(take(&list, QP_LIST_QPS, &answer), -EBADMSG);

	/* An attribute that is longer than the attribute that contains it. */
	answer.len = 0;
	put_qps(&answer, rows, 5);
	answer.bytes[sizeof(struct nlmsghdr)] = 0xff;
	answer.bytes[sizeof(struct nlmsghdr) + 1] = 0xff;
	assert_int_equal(take(&list, QP_LIST_QPS, &answer), 0);
	assert_int_equal(list.malformed, 1);
	assert_int_equal(list.row_count, 0);
	qp_list_clear(&list);
}

static void
a_device_that_is_not_known_gives_no_rows(void **state)
{
	struct qp_list list = { 0 };
	struct answer answer = { .len = 0 };

	put_qps(&answer, rows, 5);
	assert_int_equal(take(&list, QP_LIST_QPS, &answer), 0);
	assert_int_equal(list.row_count, 0);
	assert_int_equal(list.malformed, 1);
}

static void
more_than_the_bounds_allow_is_reported(void **state)
{
	struct qp_list list = { 0 };
	struct qp_list_row many[64];

	take_rxe0(&list);
	for (uint32_t n = 0; n < QP_LIST_MAX_ROWS + 64; n += 64) {
		struct answer answer = { .len = 0 };

		for (uint32_t i = 0; i < 64; i++)
			many[i] = (struct qp_list_row){ .qpn = n + i + 1,
				.dst_qpn = 5,
				.type = QP_EVENT_RC,
				.state = 3,
				.pid = 1 };
		put_qps(&answer, many, 64);
		assert_int_equal(take(&list, QP_LIST_QPS, &answer), 0);
	}
	assert_int_equal(list.row_count, QP_LIST_MAX_ROWS);
	assert_int_equal(list.rows[QP_LIST_MAX_ROWS - 1].qpn, QP_LIST_MAX_ROWS);
	assert_true(list.cut);
	qp_list_clear(&list);
}

/* This kernel may or may not support RDMA. */
static void
the_running_kernel_is_asked(void **state)
{
	struct qp_list list = { 0 };
	int r = qp_list_read(&list);

	assert_true(r <= 0);
	if (r < 0)
		assert_null(list.rows);
	qp_list_clear(&list);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    connected_qps_are_listed_with_both_numbers_and_their_process),
		cmocka_unit_test(connections_give_their_qps_the_addresses),
		cmocka_unit_test(an_error_of_the_kernel_is_returned),
		cmocka_unit_test(an_answer_to_another_question_is_passed_over),
		cmocka_unit_test(damaged_answers_are_refused_and_counted),
		cmocka_unit_test(a_device_that_is_not_known_gives_no_rows),
		cmocka_unit_test(more_than_the_bounds_allow_is_reported),
		cmocka_unit_test(the_running_kernel_is_asked),
	};

	return cmocka_run_group_tests_name("qp_list", tests, NULL, NULL);
}
