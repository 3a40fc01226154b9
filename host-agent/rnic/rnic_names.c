#include "host-agent/rnic/rnic_names.h"

#include <errno.h>
#include <string.h>

#include "host-agent/rnic/rdma_facts.h"

const char *
rnic_transport_str(enum rnic_transport transport)
{
	switch (transport) {
	case RNIC_UDP:
		return "udp";
	case RNIC_ROCE:
		return "roce";
	default:
		return "auto";
	}
}

static const char *
netdev_error(int r)
{
	switch (-r) {
	case ENODEV:
		return "no such network device";
	case ENOENT:
		return "no such network namespace";
	case ENXIO:
		return "it has no MAC";
	case EADDRNOTAVAIL:
		return "it has no global address, or not the configured one";
	default:
		return strerror(-r);
	}
}

/* True: the error comes only from a search for GIDs, so it is about RDMA even if
 * transport is auto. */
static bool
is_of_rdma(int r)
{
	return r == -ENOTSUP || r == -EPROTONOSUPPORT || r == -ENETUNREACH ||
	       r == -ENOTUNIQ || r == -E2BIG || r == -EAFNOSUPPORT;
}

const char *
rnic_find_error(enum rnic_transport transport, int r)
{
	if (transport == RNIC_UDP || (transport == RNIC_AUTO && !is_of_rdma(r)))
		return transport == RNIC_AUTO && r == -ENODEV
			   ? "no such network or RDMA device"
			   : netdev_error(r);
	return r == -ENOTSUP ? "no RoCE v2 GID yet: has the interface an address?"
			     : rdma_facts_error(r);
}

const char *
rnic_open_error(enum rnic_transport transport, int r)
{
	if (r == -EEXIST)
		return "the config has this device twice, under different names: "
		       "remove one";
	if (transport == RNIC_UDP)
		return strerror(-r);
	switch (-r) {
	case ENODEV:
		return "libibverbs does not know the device: is the module ib_uverbs "
		       "loaded, and its provider installed (ibverbs-providers)?";
	case ENOENT:
		return "no /dev/infiniband/uverbs* for this device: is the module "
		       "ib_uverbs loaded, and may the agent see the device?";
	case EACCES:
	case EPERM:
		return "no right to use /dev/infiniband/uverbs*: its unit needs "
		       "DeviceAllow=char-infiniband_verbs rw";
	case ENOMEM:
		return "cannot lock enough memory, about 4 MiB per port: its unit "
		       "needs LimitMEMLOCK=infinity";
	default:
		return strerror(-r);
	}
}

const char *
rnic_stamps_str(enum wire_stamp_source stamps)
{
	switch (stamps) {
	case WIRE_STAMP_NIC:
		return "nic";
	case WIRE_STAMP_WALLCLOCK:
		return "wallclock";
	case WIRE_STAMP_KERNEL:
		return "kernel";
	case WIRE_STAMP_USER:
		return "user";
	default:
		return "none";
	}
}

const char *
rnic_flows_str(enum port_flows flows)
{
	switch (flows) {
	case PORT_FLOWS_SOURCE_PORT:
		return "source-port";
	case PORT_FLOWS_LABEL:
		return "label";
	case PORT_FLOWS_QP:
		return "qp";
	default:
		return "unknown";
	}
}
