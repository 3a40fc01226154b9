/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * qp_kernel - the fields of the kernel's RDMA structs that the tracer reads.
 *
 * Only the names and types must be right: the loader fills in offsets and sizes of the
 * running kernel (CO-RE). Enums must be declared as enums: else the loader finds no
 * match.
 */
#ifndef BPF_QP_KERNEL_H
#define BPF_QP_KERNEL_H

#include <linux/types.h>

#define IB_QP_STATE 1 /* bit 0 of attr_mask */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

enum ib_qp_state { IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR };
enum ib_qp_type { IB_QPT_RC = 2 };
enum rdma_ah_attr_type { RDMA_AH_ATTR_TYPE_UNDEFINED };

union ib_gid {
	__u8 raw[16];
};

struct ib_device {
	char name[64];
};

struct ib_gid_attr {
	union ib_gid gid;
};

struct ib_global_route {
	union ib_gid dgid;
	__u32 flow_label;
	__u8 sgid_index;
	__u8 hop_limit;
	__u8 traffic_class;
};

struct ib_ah_attr {
	__u16 dlid;
};

struct rdma_ah_attr {
	struct ib_global_route grh;
	__u8 sl;
	__u32 port_num;
	enum rdma_ah_attr_type type;
	struct ib_ah_attr ib;
};

struct ib_qp_attr {
	enum ib_qp_state qp_state;
	struct rdma_ah_attr ah_attr;
	__u32 dest_qp_num;
};

struct ib_qp {
	struct ib_device *device;
	struct ib_qp *real_qp;
	__u32 qp_num;
	const struct ib_gid_attr *av_sgid_attr;
	enum ib_qp_type qp_type;
};

#pragma clang attribute pop

#endif
