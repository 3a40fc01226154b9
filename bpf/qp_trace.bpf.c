/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * qp_trace - reports when a connected QP gets a peer, and when it is destroyed.
 *
 * The programs hook those functions of ib_core that the verbs of user space call. They
 * run at the exit of a modify, when the result and the source GID that the kernel has
 * filled in are known. There are two sets of the same programs: fexit/fentry, and
 * kprobes for kernels without trampolines; the agent loads one set. The programs change
 * nothing, and read no user memory.
 */
#include <stdbool.h>
#include <stddef.h>

#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "qp_event.h"
#include "qp_kernel.h"

/* room for 5,700 events, as many as the start of a large job may cause */
#define RING_BYTES (1 << 20)
/* calls of modify that may be between kprobe and kretprobe */
#define CALLS_IN_PROGRESS 4096

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} events SEC(".maps");

/* The number of events that were lost, because the ring was full or because a modify
 * could not be followed from kprobe to kretprobe. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} dropped SEC(".maps");

struct modify_call {
	const struct ib_qp *qp;
	const struct ib_qp_attr *attr;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CALLS_IN_PROGRESS);
	__type(key, __u64); /* thread */
	__type(value, struct modify_call);
} calls SEC(".maps");

static __always_inline void
count_drop(void)
{
	__u32 key = 0;
	__u64 *count = bpf_map_lookup_elem(&dropped, &key);

	if (count != NULL)
		(*count)++;
}

/* True: QPs of this type have one peer. UD, raw packet and driver types have none. */
static __always_inline bool
is_connected(__u32 type)
{
	return type == QP_EVENT_RC || type == QP_EVENT_UC || type == QP_EVENT_XRC_INI ||
	       type == QP_EVENT_XRC_TGT;
}

static __always_inline struct qp_event *
event_start(const struct ib_qp *qp, __u32 kind, __u32 type)
{
	struct qp_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	const struct ib_device *device = BPF_CORE_READ(qp, device);
	__u64 thread = bpf_get_current_pid_tgid();

	if (event == NULL) {
		count_drop();
		return NULL;
	}
	__builtin_memset(event, 0, sizeof(*event));
	event->ktime_ns = bpf_ktime_get_ns();
	event->cgroup_id = bpf_get_current_cgroup_id();
	event->kind = kind;
	event->qp_type = type;
	event->pid = (__u32)thread;
	event->tgid = thread >> 32;
	event->qpn = BPF_CORE_READ(qp, qp_num);
	bpf_core_read_str(event->device, sizeof(event->device), &device->name);
	bpf_get_current_comm(event->comm, sizeof(event->comm));
	return event;
}

static __always_inline void
event_route(struct qp_event *event, const struct ib_qp_attr *attr)
{
	const struct rdma_ah_attr *ah = &attr->ah_attr;

	event->dest_qpn = BPF_CORE_READ(attr, dest_qp_num);
	/* Before Linux 5.13 the field has eight bits. */
	event->port = BPF_CORE_READ_BITFIELD_PROBED(ah, port_num);
	event->address_type = BPF_CORE_READ(ah, type);
	event->sl = BPF_CORE_READ(ah, sl);
	if (event->address_type == QP_EVENT_ADDRESS_IB)
		event->lid = BPF_CORE_READ(ah, ib.dlid);
	bpf_core_read(event->dgid, sizeof(event->dgid), &ah->grh.dgid);
	event->flow_label = BPF_CORE_READ(ah, grh.flow_label);
	event->sgid_index = BPF_CORE_READ(ah, grh.sgid_index);
	event->hop_limit = BPF_CORE_READ(ah, grh.hop_limit);
	event->traffic_class = BPF_CORE_READ(ah, grh.traffic_class);
}

/* The handle of a shared (XRC) QP points to another QP, which has the attributes. */
static __always_inline const struct ib_qp *
real_qp(const struct ib_qp *qp)
{
	const struct ib_qp *real = BPF_CORE_READ(qp, real_qp);

	return real != NULL ? real : qp;
}

/* True: the arguments of the call give a connected QP its peer. */
static __always_inline bool
connects(const struct ib_qp *qp, const struct ib_qp_attr *attr, int attr_mask)
{
	return (attr_mask & IB_QP_STATE) != 0 &&
	       BPF_CORE_READ(attr, qp_state) == IB_QPS_RTR &&
	       is_connected(BPF_CORE_READ(qp, qp_type));
}

static __always_inline void
connected(const struct ib_qp *qp, const struct ib_qp_attr *attr)
{
	const struct ib_qp *real = real_qp(qp);
	const struct ib_gid_attr *sgid = BPF_CORE_READ(real, av_sgid_attr);
	struct qp_event *event =
	    event_start(real, QP_EVENT_CONNECTED, BPF_CORE_READ(qp, qp_type));

	if (event == NULL)
		return;
	event_route(event, attr);
	if (sgid != NULL &&
	    bpf_core_read(event->sgid, sizeof(event->sgid), &sgid->gid) == 0)
		event->has_sgid = 1;
	bpf_ringbuf_submit(event, 0);
}

static __always_inline void
destroyed(const struct ib_qp *qp)
{
	__u32 type = BPF_CORE_READ(qp, qp_type);
	struct qp_event *event;

	/* If this is one of several handles of a shared QP, the QP itself is not
	 * destroyed. */
	if (real_qp(qp) != qp || !is_connected(type))
		return;
	event = event_start(qp, QP_EVENT_DESTROYED, type);
	if (event != NULL)
		bpf_ringbuf_submit(event, 0);
}

SEC("fexit/ib_modify_qp_with_udata")
int
BPF_PROG(qp_modified, struct ib_qp *qp, struct ib_qp_attr *attr, int attr_mask,
    void *udata, int ret)
{
	if (ret == 0 && connects(qp, attr, attr_mask))
		connected(qp, attr);
	return 0;
}

SEC("fentry/ib_destroy_qp_user")
int
BPF_PROG(qp_destroying, struct ib_qp *qp)
{
	destroyed(qp);
	return 0;
}

SEC("kprobe/ib_modify_qp_with_udata")
int
BPF_KPROBE(qp_modify_called, struct ib_qp *qp, struct ib_qp_attr *attr, int attr_mask)
{
	__u64 thread = bpf_get_current_pid_tgid();
	struct modify_call call = { qp, attr };

	if (connects(qp, attr, attr_mask) &&
	    bpf_map_update_elem(&calls, &thread, &call, BPF_ANY) != 0)
		count_drop();
	return 0;
}

SEC("kretprobe/ib_modify_qp_with_udata")
int
BPF_KRETPROBE(qp_modify_returned, int ret)
{
	__u64 thread = bpf_get_current_pid_tgid();
	struct modify_call *call = bpf_map_lookup_elem(&calls, &thread);

	if (call == NULL)
		return 0;
	if (ret == 0) /* if ret is 0, the caller still holds both */
		connected(call->qp, call->attr);
	bpf_map_delete_elem(&calls, &thread);
	return 0;
}

SEC("kprobe/ib_destroy_qp_user")
int
BPF_KPROBE(qp_destroy_called, struct ib_qp *qp)
{
	destroyed(qp);
	return 0;
}
