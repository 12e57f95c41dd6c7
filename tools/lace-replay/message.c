// SPDX-License-Identifier: GPL-2.0
/*
 * What coordinator and node tell each other, over a SOCK_SEQPACKET pair: both
 * are one program, so a message is its structure.
 */
#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#include "replay.h"

/**
 * message_send() - sends a message
 * @fd:		socket
 * @message:	message
 *
 * Return: 0, or a negative errno; -EPIPE if the other side is gone.
 */
int message_send(int fd, const struct message *message)
{
	ssize_t len;

	do {
		len = send(fd, message, sizeof(*message), MSG_NOSIGNAL);
	} while (len < 0 && errno == EINTR);
	return len < 0 ? -errno : 0;
}

/**
 * message_receive() - waits for a message
 * @fd:		socket
 * @message:	result
 *
 * Return: 1, or 0 if the other side is gone.
 */
int message_receive(int fd, struct message *message)
{
	ssize_t len;

	do {
		len = recv(fd, message, sizeof(*message), 0);
	} while (len < 0 && errno == EINTR);
	return len == sizeof(*message);
}

/**
 * message_clock() - nanoseconds on a clock that all processes share
 */
uint64_t message_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}
