#include "host-agent/counters/counter_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MLX5 [COUNTER_MLX5]
#define BNXT [COUNTER_BNXT]
#define IRDMA [COUNTER_IRDMA]
#define RXE [COUNTER_RXE]
#define MANA [COUNTER_MANA]
#define EFA [COUNTER_EFA]
#define IONIC [COUNTER_IONIC]
#define ANY [COUNTER_ANY]

/* bnxt_re counts the errors that it finds as the responder in separate counters; newer
 * kernels have the sum of these as one counter. */
#define BNXT_RESPONDER                                                               \
	"h:res_exceed_max+h:res_length_mismatch+h:res_exceeds_wqe+h:res_opcode_err+" \
	"h:res_rx_invalid_rkey+h:res_rx_domain_err+h:res_rx_no_perm+"                \
	"h:res_rx_range_err+h:res_tx_invalid_rkey+h:res_tx_domain_err+"              \
	"h:res_tx_no_perm+h:res_tx_range_err+h:res_irrq_oflow+h:res_unsup_opcode+"   \
	"h:res_unaligned_atomic+h:res_rem_inv_err+h:res_mem_err+h:res_srq_err+"      \
	"h:res_cmp_err+h:res_invalid_dup_rkey+h:res_wqe_format_err+"                 \
	"h:res_cq_load_err+h:res_srq_load_err"

/* clang-format off */
const struct counter_row counter_rows[] = {
	/* ---- traffic of RDMA ---- */
	{ "rdma_rx_bytes", "rdma_rx_bytes_total", "bytes", 64, 0, "Bytes that RDMA received.",
	  { MLX5 = "e:rx_vport_rdma_unicast_bytes+e:rx_vport_rdma_multicast_bytes|h:rdma_rx_bytes", BNXT = "h:rx_roce_only_bytes|h:rx_bytes", IRDMA = "h:ip4InOctets+h:ip6InOctets", MANA = "h:rx_bytes", EFA = "h:rx_bytes", IONIC = "h:rx_rdma_ucast_bytes+h:rx_rdma_mcast_bytes|h:rx_rdma_ucast_bytes", ANY = "c:port_rcv_data*4" } },
	{ "rdma_tx_bytes", "rdma_tx_bytes_total", "bytes", 64, 0, "Bytes that RDMA sent.",
	  { MLX5 = "e:tx_vport_rdma_unicast_bytes+e:tx_vport_rdma_multicast_bytes|h:rdma_tx_bytes", BNXT = "h:tx_roce_only_bytes|h:tx_bytes", IRDMA = "h:ip4OutOctets+h:ip6OutOctets", MANA = "h:tx_bytes", EFA = "h:tx_bytes", IONIC = "h:tx_rdma_ucast_bytes+h:tx_rdma_mcast_bytes|h:tx_rdma_ucast_bytes", ANY = "c:port_xmit_data*4" } },
	{ "rdma_rx_pkts", "rdma_rx_packets_total", "packets", 64, 0, "Packets that RDMA received.",
	  { MLX5 = "e:rx_vport_rdma_unicast_packets+e:rx_vport_rdma_multicast_packets|h:rdma_rx_packets", BNXT = "h:rx_roce_only_pkts|h:rx_pkts", IRDMA = "h:ip4InPkts+h:ip6InPkts|h:RxUDP", RXE = "h:rcvd_pkts", MANA = "h:rx_packets|h:rx_pkt", EFA = "h:rx_pkts", IONIC = "h:rx_rdma_ucast_pkts+h:rx_rdma_mcast_pkts|h:rx_rdma_ucast_pkts", ANY = "c:port_rcv_packets" } },
	{ "rdma_tx_pkts", "rdma_tx_packets_total", "packets", 64, 0, "Packets that RDMA sent.",
	  { MLX5 = "e:tx_vport_rdma_unicast_packets+e:tx_vport_rdma_multicast_packets|h:rdma_tx_packets", BNXT = "h:tx_roce_only_pkts|h:tx_pkts", IRDMA = "h:ip4OutPkts+h:ip6OutPkts|h:TxUDP", RXE = "h:sent_pkts", MANA = "h:tx_packets|h:tx_pkt", EFA = "h:tx_pkts", IONIC = "h:tx_rdma_ucast_pkts+h:tx_rdma_mcast_pkts|h:tx_rdma_ucast_pkts", ANY = "c:port_xmit_packets" } },
	{ "rx_write_req", "rdma_rx_write_requests_total", "requests", 32, 0, "RDMA WRITE requests received.",
	  { MLX5 = "h:rx_write_requests", BNXT = "h:rx_write_req", IRDMA = "h:iwInRdmaWrites|h:InRdmaWrites", MANA = "h:rx_write_requests|h:rx_write_req" } },
	{ "rx_read_req", "rdma_rx_read_requests_total", "requests", 32, 0, "RDMA READ requests received.",
	  { MLX5 = "h:rx_read_requests", BNXT = "h:rx_read_req", IRDMA = "h:iwInRdmaReads|h:InRdmaReads", MANA = "h:rx_read_requests|h:rx_read_req" } },
	{ "rx_atomic_req", "rdma_rx_atomic_requests_total", "requests", 32, 0, "Atomic requests received.",
	  { MLX5 = "h:rx_atomic_requests", BNXT = "h:rx_atomic_req", IRDMA = "h:Rx atomics" } },
	{ "tx_write_req", "rdma_tx_write_requests_total", "requests", 64, 0, "RDMA WRITE requests sent.",
	  { BNXT = "h:tx_write_req", IRDMA = "h:iwOutRdmaWrites|h:OutRdmaWrites" } },
	{ "tx_read_req", "rdma_tx_read_requests_total", "requests", 64, 0, "RDMA READ requests sent.",
	  { BNXT = "h:tx_read_req", IRDMA = "h:iwOutRdmaReads|h:OutRdmaReads", EFA = "h:rdma_read_wrs" } },
	{ "tx_send_req", "rdma_tx_send_requests_total", "requests", 64, 0, "SEND requests sent.",
	  { BNXT = "h:tx_send_req", IRDMA = "h:iwOutRdmaSends|h:OutRdmaSends", RXE = "h:rdma_sends", EFA = "h:send_wrs" } },
	{ "tx_atomic_req", "rdma_tx_atomic_requests_total", "requests", 64, 0, "Atomic requests sent.",
	  { BNXT = "h:tx_atomic_req", IRDMA = "h:Tx atomics" } },

	{ "vport_rx_unicast_bytes", "rdma_rx_vport_rdma_unicast_bytes_total", "bytes", 64, 0, "Bytes that RDMA received as unicast.",
	  { MLX5 = "e:rx_vport_rdma_unicast_bytes" } },
	{ "vport_rx_unicast_packets", "rdma_rx_vport_rdma_unicast_packets_total", "packets", 64, 0, "Packets that RDMA received as unicast.",
	  { MLX5 = "e:rx_vport_rdma_unicast_packets" } },
	{ "vport_rx_multicast_bytes", "rdma_rx_vport_rdma_multicast_bytes_total", "bytes", 64, 0, "Bytes that RDMA received as multicast.",
	  { MLX5 = "e:rx_vport_rdma_multicast_bytes" } },
	{ "vport_rx_multicast_packets", "rdma_rx_vport_rdma_multicast_packets_total", "packets", 64, 0, "Packets that RDMA received as multicast.",
	  { MLX5 = "e:rx_vport_rdma_multicast_packets" } },
	{ "vport_tx_unicast_bytes", "rdma_tx_vport_rdma_unicast_bytes_total", "bytes", 64, 0, "Bytes that RDMA sent as unicast.",
	  { MLX5 = "e:tx_vport_rdma_unicast_bytes" } },
	{ "vport_tx_unicast_packets", "rdma_tx_vport_rdma_unicast_packets_total", "packets", 64, 0, "Packets that RDMA sent as unicast.",
	  { MLX5 = "e:tx_vport_rdma_unicast_packets" } },
	{ "vport_tx_multicast_bytes", "rdma_tx_vport_rdma_multicast_bytes_total", "bytes", 64, 0, "Bytes that RDMA sent as multicast.",
	  { MLX5 = "e:tx_vport_rdma_multicast_bytes" } },
	{ "vport_tx_multicast_packets", "rdma_tx_vport_rdma_multicast_packets_total", "packets", 64, 0, "Packets that RDMA sent as multicast.",
	  { MLX5 = "e:tx_vport_rdma_multicast_packets" } },
	{ "vport_rx_bytes", "rdma_vport_rx_bytes_total", "bytes", 64, 0, "Bytes that the function behind a switch port of the NIC sent.",
	  { MLX5 = "e:vport_rx_bytes" } },
	{ "vport_rx_packets", "rdma_vport_rx_packets_total", "packets", 64, 0, "Packets that the function behind a switch port of the NIC sent.",
	  { MLX5 = "e:vport_rx_packets" } },
	{ "vport_tx_bytes", "rdma_vport_tx_bytes_total", "bytes", 64, 0, "Bytes that the function behind a switch port of the NIC received.",
	  { MLX5 = "e:vport_tx_bytes" } },
	{ "vport_tx_packets", "rdma_vport_tx_packets_total", "packets", 64, 0, "Packets that the function behind a switch port of the NIC received.",
	  { MLX5 = "e:vport_tx_packets" } },
	{ "vport_loopback_bytes", "rdma_vport_loopback_bytes_total", "bytes", 64, 0, "Bytes that the NIC looped back: they did not leave its port.",
	  { MLX5 = "e:vport_loopback_bytes" } },
	{ "vport_loopback_packets", "rdma_vport_loopback_packets_total", "packets", 64, 0, "Packets that the NIC looped back: they did not leave its port.",
	  { MLX5 = "e:vport_loopback_packets" } },
	{ "vport_out_of_buffer", "rdma_vport_out_of_buffer_total", "packets", 32, 0, "Packets dropped because the function behind a switch port of the NIC had no receive buffer.",
	  { MLX5 = "e:rx_vport_out_of_buffer" } },
	{ "rx_dct_connect", "rdma_rx_dct_connect_total", "requests", 32, 0, "Connect requests of dynamically connected transport (DCT) received.",
	  { MLX5 = "h:rx_dct_connect" } },

	/* ---- congestion control ---- */
	{ "ecn_ce_rx", "rdma_np_ecn_marked_roce_packets_total", "packets", 64, 0, "RoCE packets received with a congestion mark (ECN CE).",
	  { MLX5 = "h:np_ecn_marked_roce_packets|h:cc_rx_ce_pkts", BNXT = "h:rx_ecn_marked_pkts", IRDMA = "h:RxECNMrkd", MANA = "H:received_ecns", IONIC = "h:rx_rdma_ecn_pkts" } },
	{ "cnp_tx", "rdma_np_cnp_sent_total", "packets", 64, 0, "CNPs sent, as the receiver of marked packets.",
	  { MLX5 = "h:np_cnp_sent|h:cc_tx_cnp_pkts", BNXT = "h:tx_cnp_pkts|h:np_cnp_pkts|h:cnp_tx_pkts", IRDMA = "h:cnpSent", MANA = "H:sent_cnps", IONIC = "h:tx_rdma_cnp_pkts" } },
	{ "cnp_rx_handled", "rdma_rp_cnp_handled_total", "packets", 64, 0, "CNPs received that slowed a flow down.",
	  { MLX5 = "h:rp_cnp_handled|h:cc_rx_cnp_pkts", BNXT = "h:rx_cnp_pkts|h:cnp_rx_pkts", IRDMA = "h:cnpHandled", MANA = "h:received_cnps", IONIC = "h:rx_rdma_cnp_pkts" } },
	{ "cnp_rx_ignored", "rdma_rp_cnp_ignored_total", "packets", 64, 0, "CNPs received that slowed no flow down.",
	  { MLX5 = "h:rp_cnp_ignored", IRDMA = "h:cnpIgnored" } },
	{ "rate_increases", "rdma_rate_increases_total", "events", 64, 0, "Times that congestion control raised a rate again.",
	  { MANA = "h:rate_inc_events" } },
	{ "qps_congested", "rdma_qps_congested_total", "events", 64, 0, "QPs that congestion control slowed down.",
	  { MANA = "h:num_qps_congested" } },
	{ "rate_limit_mbps", "rdma_rate_limit_megabits_per_second", "megabits per second", 0, 0, "Rate that congestion control allows now.",
	  { MANA = "h:current_rate" } },

	/* ---- retransmission ---- */
	{ "oos_rx", "rdma_out_of_sequence_total", "packets", 32, 0, "Packets received out of order.",
	  { MLX5 = "h:out_of_sequence", BNXT = "h:oos_drop_count|h:res_oos_drop_count", IRDMA = "h:Rcvd Out of order packets", RXE = "h:out_of_seq_request", MANA = "h:responder_oos", IONIC = "h:resp_rx_outouf_seq" } },
	{ "nak_seq_rx", "rdma_packet_seq_err_total", "packets", 32, 0, "NAKs received for a gap in the sequence.",
	  { MLX5 = "h:packet_seq_err", BNXT = "h:seq_err_naks_rcvd", IRDMA = "h:Nak Sequence Error", RXE = "h:rcvd_seq_err", MANA = "h:requester_oos_nak", IONIC = "h:req_rx_pkt_seq_err" } },
	{ "nak_implied", "rdma_implied_nak_seq_err_total", "events", 32, 0, "Acknowledgements that imply a lost response.",
	  { MLX5 = "h:implied_nak_seq_err", BNXT = "h:missing_resp", IRDMA = "h:Nak Sequence Error Implied", MANA = "h:requester_implicit_nak", IONIC = "h:req_rx_impl_nak_seq_err" } },
	{ "ack_timeout", "rdma_local_ack_timeout_err_total", "events", 32, 0, "Times that no acknowledgement arrived in time.",
	  { MLX5 = "h:local_ack_timeout_err", BNXT = "h:to_retransmits", IRDMA = "h:RTO", RXE = "h:completer_retry_err", MANA = "h:requester_timeout", IONIC = "h:tx_rdma_ack_timeout" } },
	{ "retry_exceeded", "rdma_req_transport_retries_exceeded_total", "events", 32, 0, "QPs that failed because no retransmission was acknowledged.",
	  { MLX5 = "h:req_transport_retries_exceeded", BNXT = "h:max_retry_exceeded", RXE = "h:retry_exceeded_err", MANA = "h:requester_retries_exceeded", IONIC = "h:req_tx_retry_excd_err" } },
	{ "rnr_nak_rx", "rdma_rnr_nak_retry_err_total", "packets", 32, 0, "RNR NAKs received: the other end had no receive buffer.",
	  { MLX5 = "h:rnr_nak_retry_err", BNXT = "h:rnr_naks_rcvd", IRDMA = "h:RNR received", RXE = "h:rcvd_rnr_err", MANA = "h:requester_rnr_nak", IONIC = "h:req_rx_rnr_retry_err" } },
	{ "rnr_nak_tx", "rdma_rnr_nak_sent_total", "packets", 64, 0, "RNR NAKs sent: this end had no receive buffer.",
	  { IRDMA = "h:RNR sent", RXE = "h:send_rnr_err", MANA = "h:responder_rnr_nak" } },
	{ "rnr_retry_exceeded", "rdma_req_rnr_retries_exceeded_total", "events", 32, 0, "QPs that failed because of too many RNR NAKs.",
	  { MLX5 = "h:req_rnr_retries_exceeded", RXE = "h:retry_rnr_exceeded_err", MANA = "h:requester_rnr_nak_retries_exceeded" } },
	{ "dup_req", "rdma_duplicate_request_total", "packets", 32, 0, "Requests received again.",
	  { MLX5 = "h:duplicate_request", BNXT = "h:dup_req|h:dup_reqs", RXE = "h:duplicate_request", MANA = "h:responder_dup_request", IONIC = "h:resp_rx_dup_request" } },
	{ "rx_out_of_buffer", "rdma_out_of_buffer_total", "packets", 32, 0, "Packets dropped because there was no receive buffer.",
	  { MLX5 = "h:out_of_buffer|e:rx_out_of_buffer", BNXT = "h:rx_out_of_buffer", IRDMA = "h:ip4InDiscards", EFA = "h:rx_drops", IONIC = "h:resp_rx_outof_buf" } },
	{ "icrc_err", "rdma_rx_icrc_encapsulated_total", "packets", 64, 0, "RoCE packets with a wrong ICRC.",
	  { MLX5 = "h:rx_icrc_encapsulated", IRDMA = "h:CRC errors" } },
	{ "retx_pkts", "rdma_tx_retransmitted_packets_total", "packets", 64, 0, "RDMA packets sent again.",
	  { IONIC = "h:tx_rdma_retx_pkts" } },
	{ "adp_retrans", "rdma_roce_adp_retrans_total", "events", 32, 0, "Adaptive retransmissions.",
	  { MLX5 = "h:roce_adp_retrans" } },
	{ "adp_retrans_to", "rdma_roce_adp_retrans_to_total", "events", 32, 0, "Time-outs of adaptive retransmission.",
	  { MLX5 = "h:roce_adp_retrans_to" } },
	{ "slow_restart", "rdma_roce_slow_restart_total", "events", 32, 0, "Slow restarts.",
	  { MLX5 = "h:roce_slow_restart" } },
	{ "slow_restart_cnps", "rdma_roce_slow_restart_cnps_total", "packets", 32, 0, "CNPs that slow restarts caused.",
	  { MLX5 = "h:roce_slow_restart_cnps" } },
	{ "slow_restart_trans", "rdma_roce_slow_restart_trans_total", "events", 32, 0, "Times that a QP went into slow restart.",
	  { MLX5 = "h:roce_slow_restart_trans" } },

	/* ---- completion queue entries (CQEs) with an error ---- */
	{ "cqe_err_req", "rdma_req_cqe_error_total", "completions", 32, 0, "Requests completed with an error.",
	  { MLX5 = "h:req_cqe_error", BNXT = "h:req_cqe_error", RXE = "h:send_err", IONIC = "h:req_rx_cqe_err" } },
	{ "cqe_err_resp", "rdma_resp_cqe_error_total", "completions", 32, 0, "Receives completed with an error.",
	  { MLX5 = "h:resp_cqe_error", BNXT = "h:resp_cqe_error|" BNXT_RESPONDER, IONIC = "h:resp_rx_cqe_err" } },
	{ "cqe_err_req_flush", "rdma_req_cqe_flush_error_total", "completions", 32, 0, "Requests flushed because their QP was in error.",
	  { MLX5 = "h:req_cqe_flush_error", IONIC = "h:req_rx_cqe_flush" } },
	{ "cqe_err_resp_flush", "rdma_resp_cqe_flush_error_total", "completions", 32, 0, "Receives flushed because their QP was in error.",
	  { MLX5 = "h:resp_cqe_flush_error", IONIC = "h:resp_rx_cqe_flush" } },
	{ "cqe_err_req_access", "rdma_req_remote_access_errors_total", "completions", 32, 0, "Requests that the other end refused: no access right.",
	  { MLX5 = "h:req_remote_access_errors", BNXT = "h:remote_access_err", MANA = "h:nak_access_error", IONIC = "h:req_rx_rmt_acc_err" } },
	{ "cqe_err_req_invalid", "rdma_req_remote_invalid_request_total", "completions", 32, 0, "Requests that the other end refused as invalid.",
	  { MLX5 = "h:req_remote_invalid_request", BNXT = "h:remote_invalid_req_err", MANA = "h:nak_inv_req", IONIC = "h:req_rx_rmt_req_err" } },
	{ "cqe_err_req_operation", "rdma_req_remote_operation_errors_total", "completions", 64, 0, "Requests that the other end could not execute.",
	  { BNXT = "h:remote_op_err", MANA = "h:nak_opp_error", IONIC = "h:req_rx_oper_err" } },
	{ "cqe_err_req_response", "rdma_req_bad_response_errors_total", "completions", 64, 0, "Requests with an invalid response.",
	  { BNXT = "h:bad_resp_err", MANA = "h:nak_inv_read" } },
	{ "cqe_err_req_local", "rdma_req_local_errors_total", "completions", 64, 0, "Requests that this end could not send.",
	  { BNXT = "h:local_qp_op_err+h:local_protection_err+h:mem_mgmt_op_err", MANA = "h:requestor_local_prot_error" } },
	{ "cqe_err_resp_length", "rdma_resp_local_length_error_total", "completions", 32, 0, "Receives whose buffer was too short.",
	  { MLX5 = "h:resp_local_length_error", BNXT = "h:res_length_mismatch", MANA = "h:responder_local_len_error" } },
	{ "cqe_err_resp_access", "rdma_resp_remote_access_errors_total", "completions", 32, 0, "Requests that this end refused: no access right.",
	  { MLX5 = "h:resp_remote_access_errors", BNXT = "h:resp_remote_access_errors", MANA = "h:responder_rem_access_error" } },
	{ "cqe_err_resp_local", "rdma_resp_local_errors_total", "completions", 64, 0, "Receives that this end could not execute.",
	  { MANA = "h:responder_local_qp_error+h:responder_malformed_wqe" } },
	{ "roce_discards", "rdma_rx_roce_discards_total", "packets", 64, 0, "RoCE packets discarded.",
	  { BNXT = "h:rx_roce_discards" } },
	{ "roce_errors", "rdma_rx_roce_errors_total", "packets", 64, 0, "RoCE packets with an error.",
	  { BNXT = "h:rx_roce_errors" } },
	{ "active_qp", "rdma_active_qps", "QPs", 0, 0, "QPs that exist on the device.",
	  { BNXT = "h:active_qps", ANY = "r:qp" } },

	/* ---- priorities and pauses ---- */
	{ "prio_rx_bytes", "rdma_rx_priority_bytes_total", "bytes", 64, COUNTER_PRIORITY, "Bytes received, by priority.",
	  { MLX5 = "e:rx_prio#_bytes", BNXT = "e:rx_bytes_pri#" } },
	{ "prio_tx_bytes", "rdma_tx_priority_bytes_total", "bytes", 64, COUNTER_PRIORITY, "Bytes sent, by priority.",
	  { MLX5 = "e:tx_prio#_bytes", BNXT = "e:tx_bytes_pri#" } },
	{ "prio_rx_pkts", "rdma_rx_priority_packets_total", "packets", 64, COUNTER_PRIORITY, "Packets received, by priority.",
	  { MLX5 = "e:rx_prio#_packets", BNXT = "e:rx_packets_pri#" } },
	{ "prio_tx_pkts", "rdma_tx_priority_packets_total", "packets", 64, COUNTER_PRIORITY, "Packets sent, by priority.",
	  { MLX5 = "e:tx_prio#_packets", BNXT = "e:tx_packets_pri#" } },
	{ "pfc_rx_frames", "rdma_rx_priority_pause_total", "frames", 64, COUNTER_PRIORITY, "PFC frames received: the switch paused this port.",
	  { MLX5 = "e:rx_prio#_pause", BNXT = "e:rx_pfc_ena_frames_pri#", IRDMA = "e:rx_priority_#_xoff.nic+e:rx_priority_#_xon.nic", ANY = "d:pfc_rx_#" } },
	{ "pfc_tx_frames", "rdma_tx_priority_pause_total", "frames", 64, COUNTER_PRIORITY, "PFC frames sent: this port paused the switch.",
	  { MLX5 = "e:tx_prio#_pause", BNXT = "e:tx_pfc_ena_frames_pri#", IRDMA = "e:tx_priority_#_xoff.nic+e:tx_priority_#_xon.nic", ANY = "d:pfc_tx_#" } },
	{ "pfc_rx_pause_us", "rdma_rx_priority_pause_microseconds_total", "microseconds", 64, COUNTER_PRIORITY, "Time that the switch paused this port.",
	  { MLX5 = "e:rx_prio#_pause_duration", BNXT = "e:pfc_pri#_rx_duration_us" } },
	{ "pfc_tx_pause_us", "rdma_tx_priority_pause_microseconds_total", "microseconds", 64, COUNTER_PRIORITY, "Time that this port paused the switch.",
	  { MLX5 = "e:tx_prio#_pause_duration", BNXT = "e:pfc_pri#_tx_duration_us" } },
	{ "pfc_rx_transitions", "rdma_rx_priority_pause_transitions_total", "transitions", 64, COUNTER_PRIORITY, "Changes from running to paused.",
	  { MLX5 = "e:rx_prio#_pause_transition", BNXT = "e:pfc_pri#_rx_transitions", IRDMA = "e:rx_priority_#_xon.nic" } },
	{ "pfc_enabled", "rdma_priority_flow_control_enabled", "0 or 1", 0, COUNTER_PRIORITY, "1: PFC is on for this priority.",
	  { ANY = "d:pfc_enabled_#" } },
	{ "prio_rx_discards", "rdma_rx_priority_discards_total", "packets", 64, COUNTER_PRIORITY, "Packets received and discarded, by priority.",
	  { MLX5 = "e:rx_prio#_discards", BNXT = "e:rx_discard_packets_cos#" } },
	{ "prio_tx_discards", "rdma_tx_priority_discards_total", "packets", 64, COUNTER_PRIORITY, "Packets discarded instead of sent, by priority.",
	  { MLX5 = "e:tx_prio#_discards" } },
	{ "prio_buf_discard", "rdma_rx_priority_buffer_discards_total", "packets", 64, COUNTER_PRIORITY, "Packets discarded because the buffer was full.",
	  { MLX5 = "e:rx_prio#_buf_discard" } },
	{ "prio_cong_discard", "rdma_rx_priority_congestion_discards_total", "packets", 64, COUNTER_PRIORITY, "Packets discarded because of congestion.",
	  { MLX5 = "e:rx_prio#_cong_discard" } },
	{ "prio_marked", "rdma_rx_priority_marked_total", "packets", 64, COUNTER_PRIORITY, "Packets that the NIC's receive buffer has marked.",
	  { MLX5 = "e:rx_prio#_marked" } },
	{ "gpause_rx_frames", "rdma_rx_global_pause_total", "frames", 64, 0, "Global pause frames (802.3x) received.",
	  { MLX5 = "e:rx_global_pause|-", BNXT = "e:rx_pause_frames", IRDMA = "e:link_xoff_rx.nic", ANY = "s:pause_rx" } },
	{ "gpause_tx_frames", "rdma_tx_global_pause_total", "frames", 64, 0, "Global pause frames (802.3x) sent.",
	  { MLX5 = "e:tx_global_pause|-", BNXT = "e:tx_pause_frames", IRDMA = "e:link_xoff_tx.nic", ANY = "s:pause_tx" } },
	{ "pause_ctrl_rx_frames", "rdma_rx_pause_control_total", "frames", 64, 0, "Pause frames received, global ones and PFC together.",
	  { MLX5 = "e:rx_pause_ctrl_phy" } },
	{ "pause_ctrl_tx_frames", "rdma_tx_pause_control_total", "frames", 64, 0, "Pause frames sent, global ones and PFC together.",
	  { MLX5 = "e:tx_pause_ctrl_phy" } },
	{ "gpause_rx_us", "rdma_rx_global_pause_microseconds_total", "microseconds", 64, 0, "Time that global pause stopped this port.",
	  { MLX5 = "e:rx_global_pause_duration" } },
	{ "gpause_rx_transitions", "rdma_rx_global_pause_transitions_total", "transitions", 64, 0, "Changes from running to paused, by global pause.",
	  { MLX5 = "e:rx_global_pause_transition" } },
	{ "pause_storm_warn", "rdma_tx_pause_storm_warnings_total", "events", 64, 0, "Times that this port has sent pauses for too long.",
	  { MLX5 = "e:tx_pause_storm_warning_events", BNXT = "e:continuous_roce_pause_events" } },
	{ "pause_storm_err", "rdma_tx_pause_storm_errors_total", "events", 64, 0, "Times that its own storm protection stopped its pauses.",
	  { MLX5 = "e:tx_pause_storm_error_events" } },

	/* ---- the port and its cable ---- */
	{ "phy_rx_discards", "rdma_rx_discards_phy_total", "packets", 64, 0, "Packets that the port received and discarded.",
	  { MLX5 = "e:rx_discards_phy", BNXT = "e:rx_stat_discard", IRDMA = "e:rx_dropped.nic" } },
	{ "phy_tx_discards", "rdma_tx_discards_phy_total", "packets", 64, 0, "Packets that the port discarded instead of sending.",
	  { MLX5 = "e:tx_discards_phy", BNXT = "e:tx_stat_discard", IRDMA = "e:tx_dropped_link_down.nic", ANY = "c:port_xmit_discards" } },
	{ "rx_buf_thresh", "rdma_rx_buffer_passed_threshold_total", "events", 64, 0, "Times that the receive buffer was nearly full.",
	  { MLX5 = "e:rx_buffer_passed_thres_phy", BNXT = "e:rx_buffer_passed_threshold" } },
	{ "crc_err", "rdma_rx_crc_errors_total", "frames", 64, 0, "Frames with a wrong checksum.",
	  { MLX5 = "e:rx_crc_errors_phy", BNXT = "e:rx_fcs_err_frames", IRDMA = "e:rx_crc_errors.nic", ANY = "s:fcs_errors|n:statistics/rx_crc_errors" } },
	{ "symbol_err", "rdma_rx_symbol_errors_total", "symbols", 64, 0, "Symbols that the port could not read.",
	  { MLX5 = "e:rx_symbol_err_phy", BNXT = "e:rx_align_err_frames", IRDMA = "e:illegal_bytes.nic", ANY = "s:symbol_errors|c:symbol_error" } },
	{ "fec_corrected_bits", "rdma_rx_corrected_bits_total", "bits", 64, 0, "Bits that FEC has corrected.",
	  { MLX5 = "e:rx_corrected_bits_phy", BNXT = "e:rx_corrected_bits", ANY = "s:fec_corrected_bits" } },
	{ "fec_corrected_blocks", "rdma_rx_fec_corrected_blocks_total", "blocks", 64, 0, "Blocks in which FEC has corrected bits.",
	  { BNXT = "e:rx_fec_corrected_blocks", ANY = "s:fec_corrected" } },
	{ "fec_uncorr", "rdma_rx_fec_uncorrectable_total", "blocks", 64, 0, "Blocks that FEC could not correct.",
	  { MLX5 = "e:rx_pcs_symbol_err_phy", BNXT = "e:rx_fec_uncorrectable_blocks|e:rx_pcs_symbol_err", ANY = "s:fec_uncorrected" } },
	{ "fec_lane_err", "rdma_rx_lane_errors_total", "bits", 64, COUNTER_LANE, "Bits that FEC has corrected, by lane.",
	  { MLX5 = "e:rx_err_lane_#_phy", ANY = "s:fec_lane_#" } },
	{ "phy_rx_bits", "rdma_rx_bits_phy_total", "bits", 64, 0, "Bits received: the base of bit error rates.",
	  { MLX5 = "e:rx_bits_phy", BNXT = "e:rx_bits" } },
	{ "phy_rx_bytes", "rdma_rx_bytes_phy_total", "bytes", 64, 0, "Bytes that the port received.",
	  { MLX5 = "e:rx_bytes_phy", BNXT = "e:rx_bytes", IRDMA = "e:rx_bytes.nic", ANY = "s:rx_bytes" } },
	{ "phy_tx_bytes", "rdma_tx_bytes_phy_total", "bytes", 64, 0, "Bytes that the port sent.",
	  { MLX5 = "e:tx_bytes_phy", BNXT = "e:tx_bytes", IRDMA = "e:tx_bytes.nic", ANY = "s:tx_bytes" } },
	{ "phy_rx_pkts", "rdma_rx_packets_phy_total", "packets", 64, 0, "Packets that the port received.",
	  { MLX5 = "e:rx_packets_phy", BNXT = "e:rx_total_frames", IRDMA = "e:rx_unicast.nic+e:rx_multicast.nic+e:rx_broadcast.nic", ANY = "s:rx_pkts" } },
	{ "phy_tx_pkts", "rdma_tx_packets_phy_total", "packets", 64, 0, "Packets that the port sent.",
	  { MLX5 = "e:tx_packets_phy", BNXT = "e:tx_total_frames", IRDMA = "e:tx_unicast.nic+e:tx_multicast.nic+e:tx_broadcast.nic", ANY = "s:tx_pkts" } },
	{ "link_down", "rdma_link_down_total", "events", 64, 0, "Times that the link went down.",
	  { MLX5 = "e:link_down_events_phy", BNXT = "e:link_down_events", RXE = "h:link_downed", ANY = "n:carrier_down_count|c:link_downed" } },
	{ "mac_faults", "rdma_mac_faults_total", "events", 64, 0, "Faults that this end or the other end has signalled.",
	  { IRDMA = "e:mac_local_faults.nic+e:mac_remote_faults.nic" } },
	{ "carrier_changes", "rdma_carrier_changes_total", "events", 64, 0, "Times that the link went up or down.",
	  { ANY = "n:carrier_changes" } },
	{ "module_bus_stuck", "rdma_module_bus_stuck_total", "events", 64, 0, "Times that the module's bus was stuck.",
	  { MLX5 = "e:module_bus_stuck" } },
	{ "module_high_temp", "rdma_module_high_temperature_total", "events", 64, 0, "Times that the module was too hot.",
	  { MLX5 = "e:module_high_temp" } },
	{ "module_shorted", "rdma_module_shorted_total", "events", 64, 0, "Times that the module had a short circuit.",
	  { MLX5 = "e:module_bad_shorted" } },
	{ "module_unplug", "rdma_module_unplugged_total", "events", 64, 0, "Times that the module was unplugged.",
	  { MLX5 = "e:module_unplug" } },
	{ "mtu_err", "rdma_rx_oversize_total", "packets", 64, 0, "Packets larger than the MTU.",
	  { MLX5 = "e:rx_oversize_pkts_phy+e:rx_out_of_range_len_phy", BNXT = "e:rx_ovrsz_frames+e:rx_mtu_err_frames", IRDMA = "e:rx_oversize.nic" } },
	{ "steer_missed", "rdma_rx_steer_missed_packets_total", "packets", 64, 0, "Packets that matched no steering rule of the NIC.",
	  { MLX5 = "e:rx_steer_missed_packets" } },

	/* ---- PCIe ---- */
	{ "pci_rx_overflow", "rdma_pci_buffer_overflow_total", "packets", 64, 0, "Packets dropped because the PCIe buffer was full.",
	  { MLX5 = "e:outbound_pci_buffer_overflow" } },
	{ "pci_stall_rd_pct", "rdma_pci_stalled_read_percent", "percent", 0, 0, "Share of the last second in which reads over PCIe had to wait.",
	  { MLX5 = "e:outbound_pci_stalled_rd" } },
	{ "pci_stall_wr_pct", "rdma_pci_stalled_write_percent", "percent", 0, 0, "Share of the last second in which writes over PCIe had to wait.",
	  { MLX5 = "e:outbound_pci_stalled_wr" } },
	{ "pci_stall_rd_s", "rdma_pci_stalled_read_seconds_total", "seconds", 64, 0, "Seconds in which reads over PCIe had to wait for more than 30 % of the time.",
	  { MLX5 = "e:outbound_pci_stalled_rd_events" } },
	{ "pci_stall_wr_s", "rdma_pci_stalled_write_seconds_total", "seconds", 64, 0, "Seconds in which writes over PCIe had to wait for more than 30 % of the time.",
	  { MLX5 = "e:outbound_pci_stalled_wr_events" } },
	{ "pci_signal_rx", "rdma_pci_rx_signal_errors_total", "events", 64, 0, "Errors of the PCIe signal received.",
	  { MLX5 = "e:rx_pci_signal_integrity", BNXT = "h:res_rx_pci_err" } },
	{ "pci_signal_tx", "rdma_pci_tx_signal_errors_total", "events", 64, 0, "Errors of the PCIe signal sent.",
	  { MLX5 = "e:tx_pci_signal_integrity", BNXT = "h:res_tx_pci_err" } },
	{ "pci_link_lanes", "rdma_pci_link_lanes", "lanes", 0, 0, "Lanes of the PCIe link in use.",
	  { ANY = "n:device/current_link_width" } },
	{ "pci_link_lanes_max", "rdma_pci_link_lanes_max", "lanes", 0, 0, "Lanes of PCIe that the NIC can use.",
	  { ANY = "n:device/max_link_width" } },
	{ "pci_slot_lanes_max", "rdma_pci_slot_lanes_max", "lanes", 0, 0, "Lanes of PCIe that the NIC's slot can use.",
	  { ANY = "n:device/../max_link_width" } },
	{ "pci_link_mts", "rdma_pci_link_megatransfers_per_second", "megatransfers per second", 0, 0, "Speed of one lane of the PCIe link.",
	  { ANY = "n:device/current_link_speed" } },
	{ "pci_link_mts_max", "rdma_pci_link_megatransfers_per_second_max", "megatransfers per second", 0, 0, "Highest speed of one PCIe lane that the NIC supports.",
	  { ANY = "n:device/max_link_speed" } },
	{ "pci_slot_mts_max", "rdma_pci_slot_megatransfers_per_second_max", "megatransfers per second", 0, 0, "Highest speed of one PCIe lane that the NIC's slot supports.",
	  { ANY = "n:device/../max_link_speed" } },
	{ "pci_err_correctable", "rdma_pci_correctable_errors_total", "errors", 64, 0, "Errors of PCIe that were corrected (AER).",
	  { ANY = "n:device/aer_dev_correctable" } },
	{ "pci_err_nonfatal", "rdma_pci_nonfatal_errors_total", "errors", 64, 0, "Errors of PCIe that lost a transaction (AER).",
	  { ANY = "n:device/aer_dev_nonfatal" } },
	{ "pci_err_fatal", "rdma_pci_fatal_errors_total", "errors", 64, 0, "Errors of PCIe after which the link is not reliable (AER).",
	  { ANY = "n:device/aer_dev_fatal" } },

	/* ---- values that have the same source for all drivers ---- */
	{ "port_state", "rdma_port_state", "state", 0, 0, "State of the port: 1 down, 2 init, 3 armed, 4 active.",
	  { ANY = "p:state" } },
	{ "port_phys_state", "rdma_port_physical_state", "state", 0, 0, "Physical state: 2 polling, 3 disabled, 5 link up, 6 link error recovery.",
	  { ANY = "p:phys_state" } },
	{ "port_rate_mbps", "rdma_port_rate_mbps", "megabits per second", 0, 0, "Rate of the port.",
	  { ANY = "p:rate|n:speed" } },
	{ "port_xmit_wait", "rdma_port_xmit_wait_total", "ticks", 64, 0, "Time that the port had data and could not send them.",
	  { ANY = "c:port_xmit_wait" } },
	{ "port_rcv_errors", "rdma_port_rcv_errors_total", "packets", 64, 0, "Packets received with an error.",
	  { ANY = "c:port_rcv_errors" } },
	{ "netdev_rx_bytes", "rdma_netdev_rx_bytes_total", "bytes", 64, 0, "Bytes that the network device received: without RDMA, with most drivers.",
	  { ANY = "n:statistics/rx_bytes" } },
	{ "netdev_tx_bytes", "rdma_netdev_tx_bytes_total", "bytes", 64, 0, "Bytes that the network device sent.",
	  { ANY = "n:statistics/tx_bytes" } },
	{ "netdev_rx_errors", "rdma_netdev_rx_errors_total", "packets", 64, 0, "Packets that the network device received with an error.",
	  { ANY = "n:statistics/rx_errors" } },
	{ "netdev_tx_errors", "rdma_netdev_tx_errors_total", "packets", 64, 0, "Packets that the network device could not send.",
	  { ANY = "n:statistics/tx_errors" } },
	{ "netdev_rx_dropped", "rdma_netdev_rx_dropped_total", "packets", 64, 0, "Packets that the network device received and dropped.",
	  { ANY = "n:statistics/rx_dropped" } },
	{ "netdev_rx_missed", "rdma_netdev_rx_missed_total", "packets", 64, 0, "Packets that the network device missed.",
	  { ANY = "n:statistics/rx_missed_errors" } },

	/* ---- the optical module ---- */
	{ "optics_rx_nw", "rdma_optics_rx_power_watts", "nanowatts", 0, COUNTER_LANE, "Optical power that the module receives, by lane.",
	  { ANY = "m:rx_nw_#" } },
	{ "optics_tx_nw", "rdma_optics_tx_power_watts", "nanowatts", 0, COUNTER_LANE, "Optical power that the module sends, by lane.",
	  { ANY = "m:tx_nw_#" } },
	{ "optics_bias_ua", "rdma_optics_bias_amperes", "microamperes", 0, COUNTER_LANE, "Bias current of the module's lasers, by lane.",
	  { ANY = "m:bias_ua_#" } },
	{ "optics_rx_lowest_nw", "rdma_optics_rx_power_lowest_watts", "nanowatts", 0, 0, "Optical power that the module receives on its darkest lane.",
	  { ANY = "m:rx_lowest_nw" } },
	{ "optics_rx_highest_nw", "rdma_optics_rx_power_highest_watts", "nanowatts", 0, 0, "Optical power that the module receives on its brightest lane.",
	  { ANY = "m:rx_highest_nw" } },
	{ "optics_tx_lowest_nw", "rdma_optics_tx_power_lowest_watts", "nanowatts", 0, 0, "Optical power that the module sends on its darkest lane.",
	  { ANY = "m:tx_lowest_nw" } },
	{ "optics_celsius", "rdma_optics_temperature_celsius", "degrees Celsius", 0, 0, "Temperature of the module.",
	  { ANY = "m:celsius" } },
	{ "optics_millivolts", "rdma_optics_supply_volts", "millivolts", 0, 0, "Supply voltage of the module.",
	  { ANY = "m:millivolts" } },
	{ "optics_rx_low_alarm_nw", "rdma_optics_rx_power_low_alarm_watts", "nanowatts", 0, 0, "Received power below which the module raises an alarm.",
	  { ANY = "m:rx_low_alarm_nw" } },
	{ "optics_rx_low_warning_nw", "rdma_optics_rx_power_low_warning_watts", "nanowatts", 0, 0, "Received power below which the module warns.",
	  { ANY = "m:rx_low_warning_nw" } },
	{ "optics_tx_low_alarm_nw", "rdma_optics_tx_power_low_alarm_watts", "nanowatts", 0, 0, "Sent power below which the module raises an alarm.",
	  { ANY = "m:tx_low_alarm_nw" } },
	{ "optics_high_alarm_celsius", "rdma_optics_temperature_high_alarm_celsius", "degrees Celsius", 0, 0, "Temperature above which the module raises an alarm.",
	  { ANY = "m:high_alarm_celsius" } },
	{ 0 },
};
/* clang-format on */

bool
counter_row_is_own(const struct counter_row *row, enum counter_driver driver)
{
	const char *source = row->source[driver];

	return source != NULL && source[strlen(source) - 1] == '-';
}

size_t
counter_row_values(const struct counter_row *row)
{
	return row->index == COUNTER_ONE ? 1 : COUNTER_INDEXES;
}

size_t
counter_values(void)
{
	size_t count = 0;

	for (const struct counter_row *row = counter_rows; row->name != NULL; row++)
		count += counter_row_values(row);
	return count;
}

enum counter_driver
counter_driver_of(const char *driver)
{
	static const struct {
		const char *prefix;
		enum counter_driver driver;
	} drivers[] = {
		{ "mlx5", COUNTER_MLX5 },
		{ "bnxt", COUNTER_BNXT },
		{ "irdma", COUNTER_IRDMA },
		{ "ice", COUNTER_IRDMA },
		{ "idpf", COUNTER_IRDMA },
		{ "i40e", COUNTER_IRDMA },
		{ "rxe", COUNTER_RXE },
		{ "rdma_rxe", COUNTER_RXE },
		{ "mana", COUNTER_MANA },
		{ "efa", COUNTER_EFA },
		{ "ionic", COUNTER_IONIC },
	};

	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (strncmp(driver, drivers[i].prefix, strlen(drivers[i].prefix)) == 0)
			return drivers[i].driver;
	return COUNTER_ANY;
}

const char *
counter_driver_str(enum counter_driver driver)
{
	static const char *const names[COUNTER_DRIVERS] = { "mlx5", "bnxt_re", "irdma",
		"rxe", "mana", "efa", "ionic", "any" };

	return names[driver];
}

const char *
counter_index_str(enum counter_index index)
{
	static const char *const names[] = { "", "priority", "lane" };

	return names[index];
}

unsigned
counter_width(const struct counter_row *row, enum counter_driver driver)
{
	return driver == COUNTER_MLX5 ? row->width : 64;
}

bool
counter_row_is_optics(const struct counter_row *row)
{
	const char *source = row->source[COUNTER_ANY];

	return source != NULL && source[0] == 'm';
}

int
counter_next_name(const char **text, unsigned index, struct counter_name *ret)
{
	static const char places[] = "hHcpnedrsm";
	const char *at = *text, *place;
	size_t len = 0;

	if (*at == '|' || *at == '+')
		at++;
	place = *at == '\0' ? NULL : strchr(places, *at);
	if (place == NULL || at[1] != ':')
		return -ENOENT;
	ret->place = (enum counter_place)(place - places);
	ret->scale = 1;
	for (at += 2; *at != '\0' && *at != '|' && *at != '+' && *at != '*'; at++) {
		if (len == COUNTER_NAME_BYTES - 1)
			return -ENOENT;
		ret->name[len++] = *at == '#' ? (char)('0' + index) : *at;
	}
	ret->name[len] = '\0';
	if (*at == '*') {
		ret->scale = (uint8_t)(at[1] - '0');
		at += 2;
	}
	*text = at;
	return *at == '+';
}

/* Reads a number, which needs at least one digit. -ERANGE: the number does not fit. */
static int
read_digits(const char **at, const char *end, uint64_t *ret)
{
	uint64_t value = 0;

	if (*at == end || **at < '0' || **at > '9')
		return -EBADMSG;
	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
		if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(**at - '0'), &value))
			return -ERANGE;
	*ret = value;
	return 0;
}

static bool
begins_with(const char *at, const char *end, const char *text)
{
	const size_t len = strlen(text);

	return (size_t)(end - at) >= len && memcmp(at, text, len) == 0;
}

/* Reads " Gb/sec" or " GT/s", perhaps after a decimal point and one digit. *value:
 * before the call in whole units, after it in thousandths. */
static int
read_rate(const char *at, const char *end, uint64_t *value)
{
	uint64_t tenths = 0;

	if (at < end && *at == '.') {
		at++;
		if (at == end || *at < '0' || *at > '9')
			return -EBADMSG;
		tenths = (uint64_t)(*at++ - '0');
	}
	if ((!begins_with(at, end, " Gb/sec") && !begins_with(at, end, " GT/s")) ||
	    *value > UINT32_MAX)
		return -EBADMSG;
	*value = *value * 1000 + tenths * 100;
	return 0;
}

/* Adds up a list of PCIe errors, which has a kind of error and its number in each line.
 */
static int
read_total(const char *at, const char *end, uint64_t *ret)
{
	while (at < end && !begins_with(at, end, "TOTAL_ERR_")) {
		const char *line = memchr(at, '\n', (size_t)(end - at));

		at = line == NULL ? end : line + 1;
	}
	at = at == end ? NULL : memchr(at, ' ', (size_t)(end - at));
	if (at == NULL)
		return -EBADMSG;
	at++;
	return read_digits(&at, end, ret) < 0 || at < end ? -EBADMSG : 0;
}

int
counter_text_read(const char *text, size_t len, uint64_t *ret)
{
	const char *at = text, *end = text + len;
	uint64_t value;
	int r;

	while (end > at && (end[-1] == '\n' || end[-1] == ' ' || end[-1] == '\0'))
		end--;
	if (end == at || *at == '-' || begins_with(at, end, "N/A") ||
	    begins_with(at, end, "Unknown"))
		return -ENODATA;
	if (*at >= 'A' && *at <= 'Z')
		return read_total(at, end, ret);
	r = read_digits(&at, end, &value);
	if (r == 0 && at < end && *at != ':')
		r = read_rate(at, end, &value);
	if (r < 0)
		return -EBADMSG;
	*ret = value;
	return 0;
}
