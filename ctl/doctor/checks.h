/*
 * checks - each checks one thing of a host, and adds its findings. They change nothing.
 * If something cannot be checked, that is a warning: a missing result is never good.
 */
#ifndef CTL_DOCTOR_CHECKS_H
#define CTL_DOCTOR_CHECKS_H

struct findings;
struct host;

/* Of each daemon that is installed here. */
void check_config(const struct host *host, struct findings *findings);
void check_unit(const struct host *host, struct findings *findings);
void check_peers(const struct host *host, struct findings *findings);
void check_certificates(const struct host *host, struct findings *findings);

void check_clock(const struct host *host, struct findings *findings);

/* Of the RNICs that the agent is to probe from. */
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
