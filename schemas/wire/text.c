#include "schemas/wire/text.h"

#include <arpa/inet.h>
#include <stdio.h>

const char *
wire_outcome_word(unsigned outcome)
{
	static const char *const words[WIRE_OUTCOMES] = {
		[WIRE_OK] = "ok",
		[WIRE_NO_REPLY] = "no_reply",
		[WIRE_LATE_REPLY] = "late_reply",
		[WIRE_SEND_FAILED] = "send_failed",
		[WIRE_SENT_LATE] = "sent_late",
		[WIRE_STALE_QPN] = "stale_qpn",
		[WIRE_SELF_LOSS] = "self_loss",
		[WIRE_INVALID] = "invalid",
	};

	return outcome < WIRE_OUTCOMES ? words[outcome] : "unknown";
}

const char *
wire_invalid_word(unsigned reason)
{
	static const char *const words[WIRE_INVALID_REASONS] = {
		[WIRE_VALID] = "none",
		[WIRE_T4_BEFORE_T3] = "t4_before_t3",
		[WIRE_T5_BEFORE_T2] = "t5_before_t2",
		[WIRE_RTT_NEGATIVE] = "rtt_negative",
		[WIRE_DELAY_NEGATIVE] = "delay_negative",
		[WIRE_ABSURD] = "absurd",
	};

	return reason < WIRE_INVALID_REASONS ? words[reason] : "unknown";
}

const char *
wire_probe_kind_word(unsigned kind)
{
	static const char *const words[WIRE_PROBE_KINDS] = {
		[WIRE_TOR_MESH] = "tor_mesh",
		[WIRE_INTER_TOR] = "inter_tor",
		[WIRE_WITNESS] = "witness",
		[WIRE_TOR_REFLECTOR] = "tor_reflector",
		[WIRE_SERVICE] = "service",
	};

	return kind < WIRE_PROBE_KINDS ? words[kind] : "unknown";
}

const char *
wire_slow_word(unsigned why)
{
	static const char *const words[WIRE_SLOW_REASONS] = {
		[WIRE_SLOW_NOT] = "none",
		[WIRE_SLOW_CPU] = "cpu",
		[WIRE_SLOW_MEMORY] = "memory",
		[WIRE_SLOW_PLAN] = "plan",
	};

	return why < WIRE_SLOW_REASONS ? words[why] : "unknown";
}

const char *
wire_link_word(unsigned link)
{
	static const char *const words[] = {
		[WIRE_LINK_UNKNOWN] = "unknown",
		[WIRE_LINK_UP] = "up",
		[WIRE_LINK_DOWN] = "down",
	};

	return link <= WIRE_LINK_DOWN ? words[link] : "unknown";
}

const char *
wire_transport_word(uint32_t qpn, uint16_t lid)
{
	if (qpn == 0)
		return "udp";
	return lid != 0 ? "ib" : "roce";
}

const char *
wire_qp_type_word(unsigned type)
{
	static const char *const words[] = {
		[0] = "unknown",
		[WIRE_QP_RC] = "rc",
		[WIRE_QP_UC] = "uc",
		[WIRE_QP_XRC] = "xrc",
	};

	return type <= WIRE_QP_XRC ? words[type] : "unknown";
}

const char *
wire_service_state_word(unsigned state)
{
	static const char *const words[] = {
		[0] = "unknown",
		[WIRE_SERVICE_RESOLVING] = "resolving",
		[WIRE_SERVICE_PROBED] = "probed",
		[WIRE_SERVICE_WAITING] = "waiting",
		[WIRE_SERVICE_UNRESOLVED] = "unresolved",
	};

	return state <= WIRE_SERVICE_UNRESOLVED ? words[state] : "unknown";
}

void
wire_address_format(const struct wire_address *address, char text[WIRE_ADDRESS_TEXT])
{
	bool v4 = address->family == 4;
	char bare[INET6_ADDRSTRLEN] = "";

	inet_ntop(v4 ? AF_INET : AF_INET6, address->bytes, bare, sizeof(bare));
	if (address->port == 0)
		snprintf(text, WIRE_ADDRESS_TEXT, "%s", bare);
	else
		snprintf(text, WIRE_ADDRESS_TEXT, v4 ? "%s:%u" : "[%s]:%u", bare,
		    (unsigned)address->port);
}
