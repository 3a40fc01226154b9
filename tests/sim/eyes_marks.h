/*
 * eyes_marks - which way a probe was lost, as the fate knows it: written into what no
 * judgement looks at, for the baselines, where a real receiver could tell.
 */
#ifndef TESTS_SIM_EYES_MARKS_H
#define TESTS_SIM_EYES_MARKS_H

enum eyes_mark { EYES_FORWARD = 1, EYES_REVERSE };

#endif
