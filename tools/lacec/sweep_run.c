// SPDX-License-Identifier: GPL-2.0
/*
 * The points of a sweep, each compiled by every scheduler asked for.  Points are
 * shared out among processes; which of them ends first makes no difference.
 */
#include "clock.h"
#include "sweep.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned int sweep_nr_points(const struct sweep *sweep)
{
	unsigned int nr = 1;

	for (unsigned int a = 0; a < SWEEP_NR_AXES; a++)
		nr *= sweep->axes[a].nr;
	return nr;
}

double sweep_value(const struct sweep *sweep, unsigned int point,
		   enum sweep_axis axis)
{
	for (unsigned int a = SWEEP_NR_AXES; --a > axis;)
		point /= sweep->axes[a].nr;
	return sweep->axes[axis].at[point % sweep->axes[axis].nr];
}

double sweep_gap(const struct sweep_row *row)
{
	return row->bound_s > 0 ? row->cct_s / row->bound_s - 1 : NAN;
}

/* ---- one point ---- */

struct point {
	struct lace_cluster cluster;
	struct lace_schedule schedule;
	struct lace_demand demand;
};

static void point_free(struct point *point)
{
	lace_demand_free(&point->demand);
	lace_schedule_free(&point->schedule);
	lace_cluster_free(&point->cluster);
}

/* The first lanes of each node. */
static int keep_ports(struct lace_cluster *cluster, unsigned int nr,
		      struct lace_error *err)
{
	for (unsigned int i = 0; i < cluster->nr_nodes; i++) {
		struct lace_node *node = &cluster->nodes[i];

		if (node->nr_ports < nr)
			return lace_fail(err, LACE_ERR_INPUT,
					 "--lanes %u: node %s has %u ports", nr,
					 node->name, node->nr_ports);
		while (node->nr_ports > nr)
			free(node->ports[--node->nr_ports].name);
	}
	return 0;
}

static int make_model(const struct sweep *sweep, unsigned int index,
		      struct point *point, struct lace_error *err)
{
	struct lace_generate model = sweep->model;
	unsigned int lanes = sweep_value(sweep, index, SWEEP_LANES);

	model.servers = sweep_value(sweep, index, SWEEP_SERVERS);
	if (lace_cluster_make(model.servers, lanes, sweep->rate_bps,
			      sweep->wiring,
			      sweep_value(sweep, index, SWEEP_RECONFIG),
			      &point->cluster, err))
		return -1;
	point->cluster.control_ratio = sweep_value(sweep, index, SWEEP_CONTROL);
	point->cluster.relay = sweep->relay;
	if (lace_generate(&model, &point->schedule, err))
		return -1;
	return lace_profile(&point->schedule, point->cluster.nr_nodes,
			    &point->demand, err);
}

static int take_files(const struct sweep *sweep, unsigned int index,
		      struct point *point, struct lace_error *err)
{
	unsigned int lanes = sweep_value(sweep, index, SWEEP_LANES);

	if (lace_cluster_copy(&sweep->input.cluster, &point->cluster, err))
		return -1;
	point->cluster.reconfig_s = sweep_value(sweep, index, SWEEP_RECONFIG);
	point->cluster.control_ratio = sweep_value(sweep, index, SWEEP_CONTROL);
	if (lanes && keep_ports(&point->cluster, lanes, err))
		return -1;
	return lace_profile(&sweep->input.schedule, point->cluster.nr_nodes,
			    &point->demand, err);
}

static int compile_row(const struct point *point, const char *scheduler,
		       struct sweep_row *row, struct lace_error *err)
{
	struct lace_plan plan;
	double start = now_s();
	int ret = lace_compile(&point->cluster, &point->demand, scheduler,
			       &plan, err);

	memset(row, 0, sizeof(*row));
	row->compile_s = now_s() - start;
	row->ratio = NAN;
	if (ret && err->kind != LACE_ERR_ANSWER)
		return ret;
	if (ret) {
		snprintf(row->why, sizeof(row->why), "%.*s",
			 (int)sizeof(row->why) - 1, err->text);
		return 0;
	}
	row->found = true;
	row->cct_s = plan.cct_s;
	row->transmit_s = plan.transmit_s;
	row->reconfig_s = plan.reconfig_s;
	row->bound_s = plan.bound_s;
	row->segments = plan.nr_segments;
	lace_plan_free(&plan);
	return 0;
}

/* lace is compiled in any case, for the ratio. */
static int compile_point(const struct sweep *sweep, const struct point *point,
			 struct sweep_row *rows, struct lace_error *err)
{
	const char *reference = lace_schedulers[0].name;
	struct sweep_row lace;

	if (compile_row(point, reference, &lace, err))
		return -1;
	if (lace.found)
		lace.ratio = 1;
	for (unsigned int i = 0; i < sweep->nr_schedulers; i++) {
		const char *name = sweep->schedulers[i]->name;

		if (!strcmp(name, reference)) {
			rows[i] = lace;
			continue;
		}
		if (compile_row(point, name, &rows[i], err))
			return -1;
		if (lace.found && rows[i].found && lace.cct_s > 0)
			rows[i].ratio = rows[i].cct_s / lace.cct_s;
	}
	return 0;
}

static int run_point(const struct sweep *sweep, unsigned int index,
		     struct sweep_row *rows, struct lace_error *err)
{
	struct point point = { 0 };
	int ret = sweep->model.model ? make_model(sweep, index, &point, err) :
				       take_files(sweep, index, &point, err);

	if (!ret)
		ret = compile_point(sweep, &point, rows, err);
	point_free(&point);
	return ret;
}

/* ---- processes ---- */

struct worker {
	pid_t pid;		/* 0: idle */
	int fd;
	unsigned int point;
	size_t got;
	char *answer;		/* struct answer, then the rows */
};

struct answer {
	int ret;
	struct lace_error err;
};

static size_t answer_size(const struct sweep *sweep)
{
	return sizeof(struct answer) +
	       sweep->nr_schedulers * sizeof(struct sweep_row);
}

static void write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;
	ssize_t done;

	while (len) {
		done = write(fd, at, len);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			_exit(1);
		at += done;
		len -= done;
	}
}

static void work(const struct sweep *sweep, unsigned int point, int fd)
{
	struct sweep_row *rows = calloc(sweep->nr_schedulers, sizeof(*rows));
	struct answer answer = { 0 };

	if (!rows)
		_exit(1);
	answer.ret = run_point(sweep, point, rows, &answer.err);
	write_all(fd, &answer, sizeof(answer));
	write_all(fd, rows, sweep->nr_schedulers * sizeof(*rows));
	_exit(0);
}

static int fail_errno(const char *what, struct lace_error *err)
{
	return lace_fail(err, LACE_ERR_SYSTEM, "%s: %s", what, strerror(errno));
}

static int start(const struct sweep *sweep, struct worker *worker,
		 unsigned int point, struct lace_error *err)
{
	int fds[2];

	if (pipe(fds))
		return fail_errno("pipe", err);
	worker->pid = fork();
	if (worker->pid < 0) {
		worker->pid = 0;
		close(fds[0]);
		close(fds[1]);
		return fail_errno("fork", err);
	}
	if (!worker->pid) {
		close(fds[0]);
		work(sweep, point, fds[1]);
	}
	close(fds[1]);
	worker->fd = fds[0];
	worker->point = point;
	worker->got = 0;
	return 0;
}

static void reap(struct worker *worker)
{
	close(worker->fd);
	while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
		;
	worker->pid = 0;
}

/* Takes what has come; 1 when the worker is through. */
static int receive(const struct sweep *sweep, struct worker *worker,
		   struct sweep_row *rows, struct lace_error *err)
{
	size_t size = answer_size(sweep);
	struct answer answer;
	ssize_t got;

	got = read(worker->fd, worker->answer + worker->got,
		   size - worker->got);
	if (got < 0)
		return errno == EINTR ? 0 : fail_errno("read", err);
	worker->got += got;
	if (got && worker->got < size)
		return 0;
	reap(worker);
	if (worker->got < size)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "a process for a point of the sweep died");
	memcpy(&answer, worker->answer, sizeof(answer));
	if (answer.ret) {
		*err = answer.err;
		return -1;
	}
	memcpy(rows + (size_t)worker->point * sweep->nr_schedulers,
	       worker->answer + sizeof(answer),
	       sweep->nr_schedulers * sizeof(*rows));
	return 1;
}

static int wait_for_some(const struct sweep *sweep, struct worker *workers,
			 struct pollfd *fds, struct sweep_row *rows,
			 struct lace_error *err)
{
	int ret;

	for (unsigned int i = 0; i < sweep->jobs; i++)
		fds[i] = (struct pollfd){
			.fd = workers[i].pid ? workers[i].fd : -1,
			.events = POLLIN };
	if (poll(fds, sweep->jobs, -1) < 0)
		return errno == EINTR ? 0 : fail_errno("poll", err);
	for (unsigned int i = 0; i < sweep->jobs; i++) {
		if (fds[i].fd < 0 || !fds[i].revents)
			continue;
		ret = receive(sweep, &workers[i], rows, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static bool any_busy(const struct sweep *sweep, const struct worker *workers)
{
	for (unsigned int i = 0; i < sweep->jobs; i++)
		if (workers[i].pid)
			return true;
	return false;
}

static int share_out(const struct sweep *sweep, struct worker *workers,
		     struct pollfd *fds, struct sweep_row *rows,
		     struct lace_error *err)
{
	unsigned int nr = sweep_nr_points(sweep), next = 0;

	while (next < nr || any_busy(sweep, workers)) {
		for (unsigned int i = 0; i < sweep->jobs && next < nr; i++)
			if (!workers[i].pid &&
			    start(sweep, &workers[i], next++, err))
				return -1;
		if (wait_for_some(sweep, workers, fds, rows, err))
			return -1;
	}
	return 0;
}

static int run_workers(const struct sweep *sweep, struct sweep_row *rows,
		       struct lace_error *err)
{
	struct worker *workers = calloc(sweep->jobs, sizeof(*workers));
	struct pollfd *fds = calloc(sweep->jobs, sizeof(*fds));
	bool room = workers && fds;
	int ret = -1;

	for (unsigned int i = 0; room && i < sweep->jobs; i++) {
		workers[i].answer = malloc(answer_size(sweep));
		room = workers[i].answer;
	}
	if (room)
		ret = share_out(sweep, workers, fds, rows, err);
	else
		lace_no_memory(err);
	for (unsigned int i = 0; workers && i < sweep->jobs; i++) {
		if (workers[i].pid) {
			kill(workers[i].pid, SIGKILL);
			reap(&workers[i]);
		}
		free(workers[i].answer);
	}
	free(workers);
	free(fds);
	return ret;
}

int sweep_run(const struct sweep *sweep, struct sweep_row *rows,
	      struct lace_error *err)
{
	unsigned int nr = sweep_nr_points(sweep);

	if (sweep->jobs > 1)
		return run_workers(sweep, rows, err);
	for (unsigned int i = 0; i < nr; i++)
		if (run_point(sweep, i, rows + (size_t)i * sweep->nr_schedulers,
			      err))
			return -1;
	return 0;
}
