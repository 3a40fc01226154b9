/*
 * eyes_marks - the direction in which a probe was lost, from the simulation. It is
 * written into fields that none of our judges reads, for the other schemes, in cases in
 * which a real receiver would know the direction.
 */
#ifndef TESTS_SIM_EYES_MARKS_H
#define TESTS_SIM_EYES_MARKS_H

enum eyes_mark { EYES_FORWARD = 1, EYES_REVERSE };

#endif
