// SPDX-License-Identifier: GPL-2.0
/*
 * A fibre between two nodes that hands on what it gets, and puts in frames of
 * its own: copies of those that came by, changed at random.
 *
 * usage: random_frames --seed N NETNS NETNS PORTS
 *
 * Makes the ports of both nodes, TAP devices p0, p1, ... in their namespaces,
 * whose lanes lead straight over, and says "ready".  Then it hands frames on,
 * and for each number N that it reads from standard input it puts in N frames,
 * says how many frames it has put in since it began, and goes on.  It ends with
 * standard input.  How the kernel gets a frame, in one piece or in
 * several (a first part that may be short, and pages), is random, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "random.h"

#define MOST_PORTS 4
#define MOST_FRAME 9100
#define KEPT 256 /* frames that changed ones are made of */
#define AT_ONCE 4 /* changed ones for each that comes by */
#define MOST_PARTS 8
#define LANE_TYPE 0x88b5
#define LEAST_PART 14 /* the Ethernet header is in one piece */

struct frame {
	size_t len;
	uint8_t data[MOST_FRAME + 64];
};

static int taps[2][MOST_PORTS];
static unsigned int n_ports;
static struct frame kept[KEPT];
static unsigned long n_kept, put_in, wanted;
static uint64_t seed;

static void die(const char *what)
{
	fprintf(stderr, "random_frames: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- ports ---- */

static void enter(const char *netns)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(netns);
	close(fd);
}

static int open_tap(unsigned int port)
{
	struct ifreq request = {
		.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_NAPI | IFF_NAPI_FRAGS,
	};
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);

	snprintf(request.ifr_name, IFNAMSIZ, "p%u", port);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request))
		die("/dev/net/tun");
	return fd;
}

/* ---- frames ---- */

/* In one piece, or the rest in pages. */
static void hand_over(int tap, const struct frame *frame, struct random *random)
{
	struct iovec parts[MOST_PARTS];
	size_t at = 0, len, left;
	unsigned int n = 0;

	while (at < frame->len) {
		left = frame->len - at;
		len = left;
		if (n + 1 < MOST_PARTS && left > LEAST_PART &&
		    random_one_in(random, 2))
			len = LEAST_PART +
			      random_below(random, left - LEAST_PART);
		if (n && len > 4096)
			len = 4096;
		parts[n].iov_base = (void *)(frame->data + at);
		parts[n].iov_len = len;
		at += len;
		if (++n == MOST_PARTS)
			break;
	}
	/* What the kernel does not take, or not now, the fibre has lost. */
	if (writev(tap, parts, n) < 0 && errno != EINVAL && errno != EAGAIN &&
	    errno != EIO && errno != ENOBUFS && errno != ENOMEM)
		die("writev");
}

static void put_field(struct frame *frame, struct random *random)
{
	unsigned int width = 1 << random_below(random, 4);
	unsigned int fields = frame->len / width;
	uint64_t value = random_extreme(random);
	unsigned int at;

	if (!fields)
		return;
	/* Fields of the lane protocol are aligned behind the header. */
	at = random_below(random, fields) * width + ETH_HLEN % width;
	if (at + width <= frame->len)
		memcpy(frame->data + at, &value, width);
}

/* A big-endian number a little greater, or smaller. */
static void add_field(struct frame *frame, struct random *random)
{
	unsigned int words = (frame->len - ETH_HLEN) / 8, i;
	int64_t value = (int64_t)random_below(random, 200) - 100;
	uint64_t sum = 0;
	uint8_t *at;

	if (frame->len < ETH_HLEN + 8)
		return;
	at = frame->data + ETH_HLEN + 8 * random_below(random, words);
	for (i = 0; i < 8; i++)
		sum = sum << 8 | at[i];
	sum += value;
	for (i = 8; i--; sum >>= 8)
		at[i] = sum;
}

static void set_len(struct frame *frame, struct random *random)
{
	size_t len = random_below(random, random_one_in(random, 4) ?
						  MOST_FRAME :
						  frame->len + 16);

	while (frame->len < len)
		frame->data[frame->len++] = random_next(random);
	frame->len = len;
}

static void set_address(struct frame *frame, struct random *random)
{
	static const uint8_t group[ETH_ALEN] = {1, 0, 0x5e, 0, 0, 1};
	uint8_t *at = frame->data + (random_one_in(random, 2) ? ETH_ALEN : 0);

	if (random_one_in(random, 3))
		memset(at, 0xff, ETH_ALEN);
	else if (random_one_in(random, 2))
		memcpy(at, group, ETH_ALEN);
	else
		at[5 - random_below(random, 2)] ^= 1;
}

static void set_type(struct frame *frame, struct random *random)
{
	static const uint16_t types[] = {
		LANE_TYPE, ETH_P_IP, ETH_P_IPV6, ETH_P_ARP, ETH_P_8021Q, 60,
	};
	uint16_t type = types[random_below(random, 6)];

	frame->data[12] = type >> 8;
	frame->data[13] = type;
}

static void add_tag(struct frame *frame, struct random *random)
{
	memmove(frame->data + 16, frame->data + 12, frame->len - 12);
	frame->data[12] = ETH_P_8021Q >> 8;
	frame->data[13] = ETH_P_8021Q & 0xff;
	frame->data[14] = 0;
	frame->data[15] = random_below(random, 3);
	frame->len += 4;
}

/* As another message of the lane protocol would look. */
static void set_kind(struct frame *frame, struct random *random)
{
	static const uint8_t lengths[] = {0, 72, 112, 48, 48, 0};
	unsigned int kind = random_below(random, 6);
	size_t len = ETH_HLEN + lengths[kind];

	frame->data[12] = LANE_TYPE >> 8;
	frame->data[13] = LANE_TYPE & 0xff;
	frame->data[ETH_HLEN] = 1;
	frame->data[ETH_HLEN + 1] = kind;
	frame->data[ETH_HLEN + 4] = 0;
	frame->data[ETH_HLEN + 5] = lengths[kind];
	while (frame->len < len)
		frame->data[frame->len++] = random_next(random);
	frame->len = len;
}

static void change(struct frame *frame, struct random *random)
{
	switch (random_below(random, 10)) {
	case 0:
	case 1:
		put_field(frame, random);
		break;
	case 2:
	case 3:
		add_field(frame, random);
		break;
	case 4:
		set_len(frame, random);
		break;
	case 5:
		set_address(frame, random);
		break;
	case 6:
		set_type(frame, random);
		break;
	case 7:
		add_tag(frame, random);
		break;
	case 8:
		set_kind(frame, random);
		break;
	default:
		frame->data[random_below(random, frame->len)] ^=
			1 << random_below(random, 8);
	}
}

/* Without a change, it is a copy that comes again, late. */
static void put_one_in(void)
{
	struct random random = random_of(seed, put_in++);
	unsigned int n = n_kept < KEPT ? n_kept : KEPT, changes;
	struct frame frame = kept[random_below(&random, n)];

	for (changes = random_below(&random, 4); changes; changes--) {
		if (frame.len < LEAST_PART || frame.len > MOST_FRAME)
			break;
		change(&frame, &random);
	}
	hand_over(
		taps[random_below(&random, 2)][random_below(&random, n_ports)],
		&frame, &random);
}

static void keep(const struct frame *frame)
{
	kept[n_kept++ % KEPT] = *frame;
}

/* All that has come by this lane. */
static void carry(unsigned int node, unsigned int port)
{
	struct random random = random_of(~seed, n_kept);
	static struct frame frame;
	ssize_t len;
	int i;

	while ((len = read(taps[node][port], frame.data, MOST_FRAME)) > 0) {
		frame.len = len;
		keep(&frame);
		hand_over(taps[!node][port], &frame, &random);
		for (i = 0; i < AT_ONCE && put_in < wanted; i++)
			put_one_in();
	}
}

/* A number of frames to put in; false at the end. */
static bool take_order(void)
{
	char line[64];
	ssize_t len = read(STDIN_FILENO, line, sizeof(line) - 1);

	if (len <= 0)
		return false;
	line[len] = 0;
	wanted = put_in + strtoul(line, NULL, 10);
	return true;
}

static void run(void)
{
	struct pollfd fds[2 * MOST_PORTS + 1] = {};
	bool told = true;
	unsigned int i;

	for (i = 0; i < 2 * n_ports; i++)
		fds[i] = (struct pollfd){.fd = taps[i % 2][i / 2],
					 .events = POLLIN};
	fds[i] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
	for (;;) {
		if (poll(fds, 2 * n_ports + 1, -1) < 0)
			die("poll");
		for (i = 0; i < 2 * n_ports; i++)
			carry(i % 2, i / 2);
		if (!told && put_in >= wanted) {
			printf("%lu\n", put_in);
			fflush(stdout);
			told = true;
		}
		if (!fds[2 * n_ports].revents)
			continue;
		if (!take_order())
			return;
		told = false;
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"seed", required_argument, NULL, 's'}, {}};
	unsigned int node, port;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option != 's')
			return 2;
		seed = strtoull(optarg, NULL, 10);
	}
	if (argc - optind != 3)
		return 2;
	n_ports = atoi(argv[optind + 2]);
	if (!n_ports || n_ports > MOST_PORTS)
		return 2;
	for (node = 0; node < 2; node++) {
		enter(argv[optind + node]);
		for (port = 0; port < n_ports; port++)
			taps[node][port] = open_tap(port);
	}
	printf("ready\n");
	fflush(stdout);
	run();
	return 0;
}
