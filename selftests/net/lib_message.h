/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random messages to a generic netlink family, structured by its specification,
 * which is read from standard input; random_netlink.c says in which form.
 */
#ifndef SELFTESTS_NET_LIB_MESSAGE_H
#define SELFTESTS_NET_LIB_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"

#define MAX_ATTRS 32 /* of a set */
#define MAX_COMMANDS 32
#define MAX_GROUPS 4
#define ROOM 150000 /* bytes of a message: as many routes as there may be */

struct attr {
	uint16_t number;
	char name[32];
	char type[16];
	uint64_t least, most;
	unsigned int least_len, most_len;
	struct set *nested;
	bool many;
};

struct set {
	char name[32];
	unsigned int n;
	struct attr attrs[MAX_ATTRS];
};

struct command {
	uint8_t number;
	char name[32];
	struct set *set;
	unsigned int weight;
	bool dumpable;
	unsigned int n;
	struct attr *attrs[MAX_ATTRS];
	unsigned long sent, done;
};

struct specification {
	uint16_t family;
	unsigned int n_commands;
	struct command commands[MAX_COMMANDS];
	unsigned int weights; /* of all commands */
	unsigned int n_groups;
	unsigned int groups[MAX_GROUPS];
	unsigned int n_states;
	uint8_t states[MAX_GROUPS];
};

struct message {
	struct random random;
	const uint64_t *called; /* last call to the socket, by attribute */
	bool wild; /* values from anywhere */
	size_t len;
	uint8_t data[ROOM + 4096] __attribute__((aligned(8)));
};

void read_specification(struct specification *specification);
struct command *make_message(struct specification *specification,
			     struct message *message, const uint64_t *called,
			     uint64_t seed, uint64_t number);

#endif /* SELFTESTS_NET_LIB_MESSAGE_H */
