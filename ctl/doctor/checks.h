/*
 * checks - each function checks one aspect of a host, adds its findings, and changes
 * nothing.
 */
#ifndef CTL_DOCTOR_CHECKS_H
#define CTL_DOCTOR_CHECKS_H

struct findings;
struct host;

/* Checks each daemon that is installed on this host. */
void check_config(const struct host *host, struct findings *findings);
void check_unit(const struct host *host, struct findings *findings);
void check_peers(const struct host *host, struct findings *findings);
void check_certificates(const struct host *host, struct findings *findings);

void check_clock(const struct host *host, struct findings *findings);

/* Checks the RNICs from which the agent has to probe. */
void check_rdma(const struct host *host, struct findings *findings);
void check_gids(const struct host *host, struct findings *findings);
void check_mtu(const struct host *host, struct findings *findings);
void check_stamps(const struct host *host, struct findings *findings);
void check_memlock(const struct host *host, struct findings *findings);
void check_sysctls(const struct host *host, struct findings *findings);
void check_tracing(const struct host *host, struct findings *findings);
void check_counters(const struct host *host, struct findings *findings);
void check_lldp(const struct host *host, struct findings *findings);
void check_agent(const struct host *host, struct findings *findings);

#endif
