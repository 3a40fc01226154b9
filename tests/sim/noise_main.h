/*
 * noise_main - the command sim noise: its options, and what it prints.
 */
#ifndef TESTS_SIM_NOISE_MAIN_H
#define TESTS_SIM_NOISE_MAIN_H

/* argv[0] is the command. Returns an exit status. */
int noise_main(int argc, char **argv);

#endif
