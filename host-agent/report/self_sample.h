/*
 * self_sample - what this process uses of its host, as the kernel counts it.
 */
#ifndef HOST_AGENT_REPORT_SELF_SAMPLE_H
#define HOST_AGENT_REPORT_SELF_SAMPLE_H

struct self_sample;

/* Some microseconds. -EBADMSG: the kernel says what we do not understand. */
int self_sample_read(struct self_sample *ret);

#endif
