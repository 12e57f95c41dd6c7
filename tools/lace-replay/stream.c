// SPDX-License-Identifier: GPL-2.0
/*
 * One end of a flow: moves the bytes of one op at a time, without blocking.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "replay.h"

/* Rounds that go out with one call; small rounds would cost a call each. */
#define BATCH 16
/* Bytes moved before other flows get their turn. */
#define TURN (4 * PATTERN_SPAN)

/**
 * stream_begin() - an op's bytes are due
 * @stream:	stream
 * @op:		number of the op
 * @repeat:	rounds
 * @bytes:	bytes of each
 */
void stream_begin(struct stream *stream, unsigned int op, uint64_t repeat,
		  uint64_t bytes)
{
	stream->place = (struct pattern_place){
		.op = op,
		.flow = stream->flow,
		.round_bytes = bytes,
	};
	stream->left = repeat * bytes;
	stream->state = STREAM_BUSY;
	stream->moved_ns = message_clock();
}

static ssize_t send_some(struct stream *stream)
{
	struct pattern_place ahead = stream->place;
	struct iovec pieces[BATCH];
	struct msghdr msg = { .msg_iov = pieces };
	size_t total = 0, len;
	ssize_t sent;

	while (msg.msg_iovlen < BATCH && total < PATTERN_SPAN &&
	       total < stream->left) {
		struct iovec *piece = pieces + msg.msg_iovlen++;

		piece->iov_base = (void *)pattern_run(&ahead,
						      PATTERN_SPAN - total,
						      &len);
		piece->iov_len = len;
		pattern_advance(&ahead, len);
		total += len;
	}
	sent = sendmsg(stream->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	for (ssize_t left = sent; left > 0; left -= len) {
		pattern_run(&stream->place, left, &len);
		pattern_advance(&stream->place, len);
	}
	return sent;
}

static ssize_t receive_some(struct stream *stream)
{
	static unsigned char buffer[PATTERN_SPAN];
	size_t max = stream->left < sizeof(buffer) ? stream->left :
						     sizeof(buffer);
	ssize_t got = recv(stream->fd, buffer, max, MSG_DONTWAIT);

	if (!got) {
		errno = ECONNRESET;
		return -1;
	}
	if (got > 0) {
		stream->totals.received += got;
		stream->totals.bad += pattern_check(&stream->place, buffer,
						    got);
	}
	return got;
}

/**
 * stream_move() - moves what can be moved now
 * @stream:	stream in the middle of an op
 *
 * Return: 1 if the op's bytes are all through, 0 if not, negative errno.
 */
int stream_move(struct stream *stream)
{
	size_t turn = 0;

	while (stream->left && turn < TURN) {
		ssize_t len = stream->outgoing ? send_some(stream) :
						 receive_some(stream);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (len < 0)
			return -errno;
		stream->left -= len;
		turn += len;
	}
	if (turn)
		stream->moved_ns = message_clock();
	if (stream->left)
		return 0;
	stream->state = STREAM_IDLE;
	return 1;
}

/**
 * stream_finish() - counts what only the end shows, and closes
 * @stream:	stream between ops
 */
void stream_finish(struct stream *stream)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);
	unsigned char buffer[4096];
	ssize_t got;

	if (stream->state == STREAM_CLOSED)
		return;
	if (!getsockopt(stream->fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		stream->totals.retransmits = info.tcpi_total_retrans;
	while ((got = recv(stream->fd, buffer, sizeof(buffer),
			   MSG_DONTWAIT)) > 0)
		stream->totals.extra += got;
	close(stream->fd);
	stream->state = STREAM_CLOSED;
}
