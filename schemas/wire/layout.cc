/*
 * layout - checks at compile time that C's structs and the schema's have the same
 * layout. flatc --conform does not notice a struct that has grown. This file contains
 * no code. The generated members are private, so this is the only way to get their
 * offsets.
 */
#include "schemas/wire.h"

#include <cstddef>

#include <flatbuffers/flatbuffers.h>

#define private public
#include "agent_generated.h"
#include "asks_generated.h"
#include "identity_generated.h"
#include "incident_generated.h"
#include "keys_generated.h"
#include "paths_generated.h"
#include "results_generated.h"
#include "services_generated.h"
#undef private

static_assert(FLATBUFFERS_LITTLEENDIAN, "fixed structs are read in place");

#define SAME_PLACE(ours, theirs, field)                                             \
	static_assert(                                                              \
	    offsetof(struct ours, field) == offsetof(rackmesh::theirs, field##_) && \
		sizeof(ours::field) == sizeof(rackmesh::theirs::field##_),          \
	    #ours "." #field)

static_assert(sizeof(struct wire_result) == WIRE_RESULT_BYTES, "result");
static_assert(sizeof(rackmesh::Result) == WIRE_RESULT_BYTES, "result");
static_assert(WIRE_RESULT_BYTES == 72, "a change means a new identifier");
SAME_PLACE(wire_result, Result, src_guid);
SAME_PLACE(wire_result, Result, dst_guid);
SAME_PLACE(wire_result, Result, sent_age_ns);
SAME_PLACE(wire_result, Result, rtt_ns);
SAME_PLACE(wire_result, Result, prober_delay_ns);
SAME_PLACE(wire_result, Result, responder_delay_ns);
SAME_PLACE(wire_result, Result, round_trip_ns);
SAME_PLACE(wire_result, Result, seq);
SAME_PLACE(wire_result, Result, dst_qpn);
SAME_PLACE(wire_result, Result, flow_label);
SAME_PLACE(wire_result, Result, responder_count);
SAME_PLACE(wire_result, Result, src_port);
SAME_PLACE(wire_result, Result, size_bytes);
SAME_PLACE(wire_result, Result, src_port_num);
SAME_PLACE(wire_result, Result, dst_port_num);
SAME_PLACE(wire_result, Result, outcome);
SAME_PLACE(wire_result, Result, invalid_reason);
SAME_PLACE(wire_result, Result, kind);
SAME_PLACE(wire_result, Result, dscp);
SAME_PLACE(wire_result, Result, arrived_dscp);
SAME_PLACE(wire_result, Result, arrived_ecn);
SAME_PLACE(wire_result, Result, arrived_ttl);
SAME_PLACE(wire_result, Result, stamp_source);
SAME_PLACE(wire_result, Result, flags);
SAME_PLACE(wire_result, Result, reserved);

static_assert(sizeof(struct wire_count) == WIRE_COUNT_BYTES, "count");
static_assert(sizeof(rackmesh::Count) == WIRE_COUNT_BYTES, "count");
static_assert(WIRE_COUNT_BYTES == 32, "a change means a new identifier");
SAME_PLACE(wire_count, Count, own_guid);
SAME_PLACE(wire_count, Count, prober_guid);
SAME_PLACE(wire_count, Count, received);
SAME_PLACE(wire_count, Count, own_port_num);
SAME_PLACE(wire_count, Count, prober_port_num);
SAME_PLACE(wire_count, Count, dscp);
SAME_PLACE(wire_count, Count, reserved);

static_assert(sizeof(struct wire_counter_value) == WIRE_COUNTER_VALUE_BYTES, "value");
static_assert(sizeof(rackmesh::CounterValue) == WIRE_COUNTER_VALUE_BYTES, "value");
static_assert(WIRE_COUNTER_VALUE_BYTES == 16, "a change means a new identifier");
SAME_PLACE(wire_counter_value, CounterValue, value);
SAME_PLACE(wire_counter_value, CounterValue, counter);
SAME_PLACE(wire_counter_value, CounterValue, index);
SAME_PLACE(wire_counter_value, CounterValue, reserved);

static_assert(sizeof(struct wire_stall) == 16, "stall");
static_assert(sizeof(rackmesh::Stall) == 16, "stall");
SAME_PLACE(wire_stall, Stall, start_ns);
SAME_PLACE(wire_stall, Stall, end_ns);

static_assert(sizeof(struct wire_path) == WIRE_PATH_BYTES, "path");
static_assert(sizeof(rackmesh::Path) == WIRE_PATH_BYTES, "path");
static_assert(WIRE_PATH_BYTES == 160, "a change means a new identifier");
SAME_PLACE(wire_path, Path, src_guid);
SAME_PLACE(wire_path, Path, dst_guid);
SAME_PLACE(wire_path, Path, age_ns);
SAME_PLACE(wire_path, Path, src_port);
SAME_PLACE(wire_path, Path, src_port_num);
SAME_PLACE(wire_path, Path, dst_port_num);
SAME_PLACE(wire_path, Path, dscp);
SAME_PLACE(wire_path, Path, family);
SAME_PLACE(wire_path, Path, flags);
SAME_PLACE(wire_path, Path, hop_count);
SAME_PLACE(wire_path, Path, hops);

static_assert(sizeof(struct wire_responder_key) == WIRE_RESPONDER_KEY_BYTES, "key");
static_assert(sizeof(rackmesh::ResponderKey) == WIRE_RESPONDER_KEY_BYTES, "key");
static_assert(WIRE_RESPONDER_KEY_BYTES == 32, "a change means a new identifier");
SAME_PLACE(wire_responder_key, ResponderKey, guid);
SAME_PLACE(wire_responder_key, ResponderKey, port);
SAME_PLACE(wire_responder_key, ResponderKey, reserved);
SAME_PLACE(wire_responder_key, ResponderKey, epoch);
SAME_PLACE(wire_responder_key, ResponderKey, key);

static_assert(sizeof(struct wire_pair_key) == WIRE_PAIR_KEY_BYTES, "key");
static_assert(sizeof(rackmesh::PairKey) == WIRE_PAIR_KEY_BYTES, "key");
static_assert(WIRE_PAIR_KEY_BYTES == 40, "a change means a new identifier");
SAME_PLACE(wire_pair_key, PairKey, src_guid);
SAME_PLACE(wire_pair_key, PairKey, dst_guid);
SAME_PLACE(wire_pair_key, PairKey, src_port);
SAME_PLACE(wire_pair_key, PairKey, dst_port);
SAME_PLACE(wire_pair_key, PairKey, reserved);
SAME_PLACE(wire_pair_key, PairKey, epoch);
SAME_PLACE(wire_pair_key, PairKey, key);

#define SAME_VALUE(ours, theirs)                                                    \
	static_assert(                                                              \
	    static_cast<unsigned>(ours) == static_cast<unsigned>(rackmesh::theirs), \
	    #ours)

SAME_VALUE(WIRE_ROLE_AGENT, Role::Agent);
SAME_VALUE(WIRE_ROLE_AGGREGATOR, Role::Aggregator);
SAME_VALUE(WIRE_ROLE_CONTROLLER, Role::Controller);
SAME_VALUE(WIRE_ROLE_CHECK, Role::Check);
SAME_VALUE(WIRE_ROLE_CHECK, Role::MAX);
SAME_VALUE(WIRE_COMPONENT_AGENT, Component::Agent);
SAME_VALUE(WIRE_COMPONENT_AGGREGATOR, Component::Aggregator);
SAME_VALUE(WIRE_COMPONENT_CONTROLLER, Component::Controller);
SAME_VALUE(WIRE_COMPONENT_ANALYZER, Component::MAX);

SAME_VALUE(WIRE_LANE_BATCH, LaneKind::Batch);
SAME_VALUE(WIRE_LANE_SUMMARY, LaneKind::Summary);
SAME_VALUE(WIRE_LANE_INCIDENT, LaneKind::Incident);
SAME_VALUE(WIRE_LANE_INCIDENT, LaneKind::MAX);

SAME_VALUE(WIRE_OK, Outcome::Ok);
SAME_VALUE(WIRE_NO_REPLY, Outcome::NoReply);
SAME_VALUE(WIRE_LATE_REPLY, Outcome::LateReply);
SAME_VALUE(WIRE_SEND_FAILED, Outcome::SendFailed);
SAME_VALUE(WIRE_SENT_LATE, Outcome::SentLate);
SAME_VALUE(WIRE_STALE_QPN, Outcome::StaleQpn);
SAME_VALUE(WIRE_SELF_LOSS, Outcome::SelfLoss);
SAME_VALUE(WIRE_INVALID, Outcome::Invalid);
SAME_VALUE(WIRE_OUTCOMES - 1, Outcome::MAX);

SAME_VALUE(WIRE_VALID, InvalidReason::Valid);
SAME_VALUE(WIRE_T4_BEFORE_T3, InvalidReason::T4BeforeT3);
SAME_VALUE(WIRE_T5_BEFORE_T2, InvalidReason::T5BeforeT2);
SAME_VALUE(WIRE_RTT_NEGATIVE, InvalidReason::RttNegative);
SAME_VALUE(WIRE_DELAY_NEGATIVE, InvalidReason::DelayNegative);
SAME_VALUE(WIRE_ABSURD, InvalidReason::Absurd);
SAME_VALUE(WIRE_INVALID_REASONS - 1, InvalidReason::MAX);

SAME_VALUE(WIRE_TOR_MESH, ProbeKind::TorMesh);
SAME_VALUE(WIRE_INTER_TOR, ProbeKind::InterTor);
SAME_VALUE(WIRE_WITNESS, ProbeKind::Witness);
SAME_VALUE(WIRE_TOR_REFLECTOR, ProbeKind::TorReflector);
SAME_VALUE(WIRE_SERVICE, ProbeKind::Service);
SAME_VALUE(WIRE_PROBE_KINDS - 1, ProbeKind::MAX);

SAME_VALUE(WIRE_STAMP_NIC, StampSource::Nic);
SAME_VALUE(WIRE_STAMP_WALLCLOCK, StampSource::Wallclock);
SAME_VALUE(WIRE_STAMP_KERNEL, StampSource::Kernel);
SAME_VALUE(WIRE_STAMP_USER, StampSource::User);
SAME_VALUE(WIRE_STAMP_USER, StampSource::MAX);

SAME_VALUE(WIRE_OPENED, IncidentState::Opened);
SAME_VALUE(WIRE_UPDATED, IncidentState::Updated);
SAME_VALUE(WIRE_RESOLVED, IncidentState::Resolved);
SAME_VALUE(WIRE_RESOLVED, IncidentState::MAX);

SAME_VALUE(WIRE_LINK_UNKNOWN, PortLink::Unknown);
SAME_VALUE(WIRE_LINK_UP, PortLink::Up);
SAME_VALUE(WIRE_LINK_DOWN, PortLink::Down);
SAME_VALUE(WIRE_LINK_DOWN, PortLink::MAX);

SAME_VALUE(WIRE_QP_RC, QpType::Rc);
SAME_VALUE(WIRE_QP_UC, QpType::Uc);
SAME_VALUE(WIRE_QP_XRC, QpType::Xrc);
SAME_VALUE(WIRE_QP_XRC, QpType::MAX);

SAME_VALUE(WIRE_SERVICE_RESOLVING, ServiceState::Resolving);
SAME_VALUE(WIRE_SERVICE_PROBED, ServiceState::Probed);
SAME_VALUE(WIRE_SERVICE_WAITING, ServiceState::Waiting);
SAME_VALUE(WIRE_SERVICE_UNRESOLVED, ServiceState::Unresolved);
SAME_VALUE(WIRE_SERVICE_UNRESOLVED, ServiceState::MAX);
