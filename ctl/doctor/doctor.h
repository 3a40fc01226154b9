/* doctor - runs all checks of a host, one after the other. */
#ifndef CTL_DOCTOR_DOCTOR_H
#define CTL_DOCTOR_DOCTOR_H

struct findings;
struct host;

void doctor_look(const struct host *host, struct findings *findings);

#endif
