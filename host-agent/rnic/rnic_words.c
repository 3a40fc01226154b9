#include "host-agent/rnic/rnic_words.h"

const char *
rnic_transport_word(enum rnic_transport transport)
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

const char *
rnic_stamps_word(enum wire_stamp_source stamps)
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
rnic_flows_word(enum port_flows flows)
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
