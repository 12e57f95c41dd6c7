// SPDX-License-Identifier: GPL-2.0
/*
 * Random messages to a generic netlink family: reads what the family knows, makes
 * messages that are sound, and changes them.
 */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib_message.h"

#define MAX_SETS 32
#define MOST_IDS 6 /* so few numbers that objects meet */
#define MOST_MSECS 300 /* deadlines that somebody can keep, or miss */

static struct set sets[MAX_SETS];
static unsigned int n_sets;

static void refuse(const char *what)
{
	fprintf(stderr, "random_netlink: specification: %s\n", what);
	exit(1);
}

/* ---- the specification ---- */

static struct set *find_set(const char *name)
{
	unsigned int i;

	for (i = 0; i < n_sets; i++) {
		if (!strcmp(sets[i].name, name))
			return &sets[i];
	}
	if (n_sets == MAX_SETS)
		refuse("too many sets");
	snprintf(sets[n_sets].name, sizeof(sets[0].name), "%s", name);
	return &sets[n_sets++];
}

static void read_attr(const char *line)
{
	char set_name[32], nested[32];
	struct attr attr = {};
	struct set *set;
	int many;

	if (sscanf(line, "attr %31s %hu %31s %15s %lu %lu %u %u %31s %d",
		   set_name, &attr.number, attr.name, attr.type, &attr.least,
		   &attr.most, &attr.least_len, &attr.most_len, nested,
		   &many) != 10)
		refuse(line);
	if (strcmp(nested, "-"))
		attr.nested = find_set(nested);
	attr.many = many;
	set = find_set(set_name);
	if (set->n == MAX_ATTRS)
		refuse("too many attributes");
	set->attrs[set->n++] = attr;
}

static struct attr *find_attr(struct set *set, const char *name)
{
	unsigned int i;

	for (i = 0; i < set->n; i++) {
		if (!strcmp(set->attrs[i].name, name))
			return &set->attrs[i];
	}
	refuse(name);
	return NULL;
}

static void read_command(struct specification *specification, char *line)
{
	struct command *command;
	char set_name[32], *word;
	int dumpable, at;

	if (specification->n_commands == MAX_COMMANDS)
		refuse("too many commands");
	command = &specification->commands[specification->n_commands++];
	if (sscanf(line, "command %hhu %31s %31s %u %d %n", &command->number,
		   command->name, set_name, &command->weight, &dumpable,
		   &at) != 5)
		refuse(line);
	command->set = find_set(set_name);
	command->dumpable = dumpable;
	specification->weights += command->weight;
	for (word = strtok(line + at, " \n"); word; word = strtok(NULL, " \n"))
		command->attrs[command->n++] = find_attr(command->set, word);
}

static void read_line(struct specification *specification, char *line)
{
	unsigned int *n_groups = &specification->n_groups;
	unsigned int *n_states = &specification->n_states;

	if (*n_groups == MAX_GROUPS || *n_states == MAX_GROUPS)
		refuse("too many groups or states");
	if (!strncmp(line, "attr ", 5))
		read_attr(line);
	else if (!strncmp(line, "command ", 8))
		read_command(specification, line);
	else if (sscanf(line, "group %u", &specification->groups[*n_groups]) ==
		 1)
		++*n_groups;
	else if (sscanf(line, "state %hhu",
			&specification->states[*n_states]) == 1)
		++*n_states;
	else if (sscanf(line, "family %hu", &specification->family) != 1)
		refuse(line);
}

void read_specification(struct specification *specification)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin))
		read_line(specification, line);
	if (!specification->family || !specification->weights)
		refuse("no family, or no command");
}

/* ---- attributes in a buffer ---- */

static struct nlattr *attr_at(struct message *message, size_t at)
{
	return (struct nlattr *)(message->data + at);
}

/* Where the attribute begins; it is ended by end_attr(). */
static size_t begin_attr(struct message *message, uint16_t type)
{
	size_t at = message->len;

	attr_at(message, at)->nla_type = type;
	message->len += NLA_HDRLEN;
	return at;
}

static void put_bytes(struct message *message, const void *data, size_t len)
{
	memcpy(message->data + message->len, data, len);
	message->len += len;
}

static void end_attr(struct message *message, size_t at)
{
	attr_at(message, at)->nla_len = message->len - at;
	while (message->len % NLA_ALIGNTO)
		message->data[message->len++] = 0;
}

static void put_attr(struct message *message, uint16_t type, const void *data,
		     size_t len)
{
	size_t at = begin_attr(message, type);

	put_bytes(message, data, len);
	end_attr(message, at);
}

/* ---- sound values ---- */

static unsigned int width(const struct attr *attr)
{
	if (!strcmp(attr->type, "u8"))
		return 1;
	if (!strcmp(attr->type, "u16"))
		return 2;
	if (!strcmp(attr->type, "u32") || !strcmp(attr->type, "s32"))
		return 4;
	return strcmp(attr->type, "u64") ? 0 : 8;
}

/* A number as the specification allows it, of those that mean something. */
static uint64_t sound_number(struct message *message, const struct set *set,
			     const struct attr *attr)
{
	struct random *random = &message->random;
	uint64_t most = attr->most;

	if (!strcmp(attr->name, "steer-fd") && !random_one_in(random, 4))
		return -1;
	if (!strcmp(attr->name, "error"))
		return random_one_in(random, 4);
	if (!strcmp(set->name, "deadline"))
		return 1 + random_below(random, MOST_MSECS);
	if (!strcmp(set->name, "hook") && strcmp(attr->name, "phases") &&
	    message->called[attr->number] && !random_one_in(random, 16))
		return message->called[attr->number];
	if (!strcmp(attr->name, "phases")) /* quiesce, switch, resume */
		return random_next(random) & 0x2a;
	if (!strcmp(attr->name, "node") && !strcmp(attr->type, "u16"))
		return random_one_in(random, 8);
	if (strstr(attr->name, "ack-msecs"))
		return random_one_in(random, 4) ? 0 :
						  10 + random_below(random, 90);
	if (!random_one_in(random, 16) && most > MOST_IDS)
		most = MOST_IDS;
	if (random_one_in(random, 64))
		return most;
	if (most < attr->least)
		return attr->least;
	return attr->least +
	       random_next(random) % (most - attr->least + 1 ?: UINT64_MAX);
}

static void put_number(struct message *message, const struct set *set,
		       const struct attr *attr)
{
	uint64_t value = message->wild && random_one_in(&message->random, 4) ?
				 random_extreme(&message->random) :
				 sound_number(message, set, attr);

	put_attr(message, attr->number, &value, width(attr));
}

static void put_string(struct message *message, const struct set *set,
		       const struct attr *attr)
{
	unsigned int n = random_below(&message->random, MOST_IDS);
	char text[256];

	if (!strcmp(attr->name, "ifname"))
		snprintf(text, sizeof(text), "%s%u",
			 strcmp(set->name, "port") ? "lace" : "p",
			 strcmp(set->name, "port") ? 0 : n);
	else
		snprintf(text, sizeof(text), "n%u", n);
	if (message->wild && random_one_in(&message->random, 8)) {
		n = random_below(&message->random, sizeof(text));
		memset(text, 'x', n);
		text[n] = 0;
	}
	put_attr(message, attr->number, text, strlen(text) + 1);
}

/* Bytes of the least length or of the most; a MAC address is unicast. */
static void put_binary(struct message *message, const struct attr *attr)
{
	unsigned int len = random_one_in(&message->random, 2) ?
				   attr->least_len :
				   attr->most_len;
	uint8_t bytes[64] = {2};

	if (len > sizeof(bytes))
		len = sizeof(bytes);
	if (len)
		bytes[len - 1] = random_below(&message->random, 64);
	put_attr(message, attr->number, bytes, len);
}

/* The three attributes of a prefix fit together. */
static void put_prefix(struct message *message, struct set *set)
{
	bool v6 = random_one_in(&message->random, 3);
	uint16_t af = v6 ? AF_INET6 : AF_INET;
	uint8_t address[16] = {v6 ? 0xfd : 10};
	uint8_t length = 8 * (1 + random_below(&message->random, v6 ? 16 : 4));
	unsigned int i;

	for (i = 1; i < length / 8u; i++)
		address[i] = random_below(&message->random, MOST_IDS);
	put_attr(message, find_attr(set, "family")->number, &af, sizeof(af));
	put_attr(message, find_attr(set, "address")->number, address,
		 v6 ? 16 : 4);
	put_attr(message, find_attr(set, "length")->number, &length, 1);
}

static void put_value(struct message *message, struct set *set,
		      struct attr *attr);

static void put_nest(struct message *message, struct attr *attr)
{
	size_t at = begin_attr(message, attr->number | NLA_F_NESTED);
	unsigned int i;

	if (!strcmp(attr->nested->name, "prefix") && !message->wild) {
		put_prefix(message, attr->nested);
	} else {
		for (i = 0; i < attr->nested->n; i++) {
			struct attr *inner = &attr->nested->attrs[i];

			if (!random_one_in(&message->random,
					   strcmp(inner->type, "flag") ? 32 :
									 2))
				put_value(message, attr->nested, inner);
		}
	}
	end_attr(message, at);
}

static void put_value(struct message *message, struct set *set,
		      struct attr *attr)
{
	if (message->len > ROOM)
		return;
	if (attr->nested)
		put_nest(message, attr);
	else if (width(attr))
		put_number(message, set, attr);
	else if (!strcmp(attr->type, "string"))
		put_string(message, set, attr);
	else
		put_binary(message, attr);
}

/* Mostly few, as each must fit the others; rarely very many. */
static unsigned int how_many(struct random *random)
{
	if (random_one_in(random, 500))
		return random_below(random, 5000);
	return random_below(random, random_one_in(random, 4) ? 9 : 4);
}

/* The device is named, by its name, and most of the rest is there. */
static void put_attrs(struct message *message, const struct command *command)
{
	struct random *random = &message->random;
	unsigned int i, n;

	for (i = 0; i < command->n; i++) {
		struct attr *attr = command->attrs[i];

		if (!strcmp(attr->name, "ifindex") &&
		    !random_one_in(random, 32))
			continue;
		if (random_one_in(random,
				  strcmp(attr->name, "ifname") ? 8 : 64))
			continue;
		for (n = attr->many ? how_many(random) : 1; n; n--)
			put_value(message, command->set, attr);
	}
}

/* ---- what can be wrong ---- */

/* Where attributes begin, those in nests too, as the message is now. */
static unsigned int find_attrs(struct message *message, size_t from, size_t to,
			       size_t *found, unsigned int n, unsigned int max)
{
	const struct nlattr *attr;

	while (from + NLA_HDRLEN <= to && n < max) {
		attr = attr_at(message, from);
		if (attr->nla_len < NLA_HDRLEN || from + attr->nla_len > to)
			break;
		found[n++] = from;
		if (attr->nla_type & NLA_F_NESTED)
			n = find_attrs(message, from + NLA_HDRLEN,
				       from + attr->nla_len, found, n, max);
		from += NLA_ALIGN(attr->nla_len);
	}
	return n;
}

/* Make or take away room; nests around it grow or shrink if they are to. */
static void resize(struct message *message, size_t at, ssize_t change,
		   bool follow)
{
	size_t found[256];
	unsigned int i, n;

	n = find_attrs(message, GENL_HDRLEN, message->len, found, 0, 256);
	for (i = 0; follow && i < n; i++) {
		struct nlattr *attr = attr_at(message, found[i]);

		if (found[i] < at && found[i] + attr->nla_len > at)
			attr->nla_len += change;
	}
	if (change >= 0)
		memmove(message->data + at + change, message->data + at,
			message->len - at);
	else
		memmove(message->data + at, message->data + at - change,
			message->len - at + change);
	message->len += change;
}

static void change_header(struct message *message, struct nlattr *attr)
{
	static const uint16_t lengths[] = {0, 1, 3, 4, 5, 6, 8, 12, 0xffff};
	struct random *random = &message->random;

	switch (random_below(random, 5)) {
	case 0:
		attr->nla_len = lengths[random_below(random, 9)];
		break;
	case 1:
		attr->nla_len += random_below(random, 9) - 4;
		break;
	case 2:
		attr->nla_type = random_below(random, 40);
		break;
	case 3:
		attr->nla_type ^= NLA_F_NESTED;
		break;
	default:
		attr->nla_type ^= 1 << random_below(random, 16);
	}
}

static void change_value(struct message *message, size_t at)
{
	struct nlattr *attr = attr_at(message, at);
	unsigned int len = attr->nla_len - NLA_HDRLEN;
	uint64_t value = random_extreme(&message->random);

	if (len)
		memcpy(message->data + at + NLA_HDRLEN, &value,
		       len < sizeof(value) ? len : sizeof(value));
}

static void repeat(struct message *message, size_t at)
{
	struct nlattr copy = *attr_at(message, at);
	size_t len = NLA_ALIGN(copy.nla_len);

	if (message->len + len > ROOM || at + len > message->len)
		return;
	resize(message, at, len, true);
	memcpy(message->data + at, message->data + at + len, len);
}

/* Nests around it may be left to claim what is not there. */
static void cut(struct message *message, size_t at)
{
	size_t len = NLA_ALIGN(attr_at(message, at)->nla_len);

	if (at + len > message->len)
		len = message->len - at;
	resize(message, at, -(ssize_t)len, !random_one_in(&message->random, 4));
}

/* A nest in a nest in a nest. */
static void wrap(struct message *message, size_t at)
{
	struct nlattr *attr = attr_at(message, at);
	struct nlattr outer = {.nla_len = attr->nla_len + NLA_HDRLEN,
			       .nla_type = attr->nla_type | NLA_F_NESTED};

	resize(message, at, NLA_HDRLEN, true);
	*attr_at(message, at) = outer;
}

static void insert(struct message *message, size_t at)
{
	struct nlattr stranger = {.nla_len = NLA_HDRLEN + 4,
				  .nla_type =
					  random_below(&message->random, 64)};

	resize(message, at, 8, true);
	memset(message->data + at, 0xff, 8);
	*attr_at(message, at) = stranger;
}

static void flip(struct message *message)
{
	unsigned int at = random_below(&message->random, message->len);

	message->data[at] ^= 1 << random_below(&message->random, 8);
}

static void change(struct message *message)
{
	struct random *random = &message->random;
	size_t found[256], at;
	unsigned int n;

	n = find_attrs(message, GENL_HDRLEN, message->len, found, 0, 256);
	if (!n) {
		flip(message);
		return;
	}
	at = found[random_below(random, n)];
	switch (random_below(random, 9)) {
	case 0:
		change_header(message, attr_at(message, at));
		break;
	case 1:
	case 2:
		change_value(message, at);
		break;
	case 3:
		repeat(message, at);
		break;
	case 4:
		cut(message, at);
		break;
	case 5:
		wrap(message, at);
		break;
	case 6:
		insert(message, at);
		break;
	case 7:
		message->len -= random_below(random, message->len / 2 + 1);
		break;
	default:
		flip(message);
	}
}

/* ---- messages ---- */

static struct command *choose(struct specification *specification,
			      struct random *random)
{
	unsigned int at = random_below(random, specification->weights), i;

	for (i = 0; at >= specification->commands[i].weight; i++)
		at -= specification->commands[i].weight;
	return &specification->commands[i];
}

/* Message number of a seed; called has the numbers of the last call to the hook
 * that its sender is.
 */
struct command *make_message(struct specification *specification,
			     struct message *message, const uint64_t *called,
			     uint64_t seed, uint64_t number)
{
	struct genlmsghdr header = {.version = 1};
	struct command *command;
	unsigned int kind, n;

	message->random = random_of(seed, number);
	message->called = called;
	message->len = 0;
	command = choose(specification, &message->random);
	kind = random_below(&message->random, 3);
	message->wild = kind == 2;
	header.cmd = command->number;
	put_bytes(message, &header, GENL_HDRLEN);
	put_attrs(message, command);
	for (n = kind == 1 ? 1 + random_below(&message->random, 3) : 0; n; n--)
		change(message);
	return command;
}
