// SPDX-License-Identifier: GPL-2.0
/*
 * Times MPI_Allreduce() and MPI_Alltoall() of BYTES for each rank, and checks
 * what they brought. Rank 0 prints JSON: seconds of each, the fastest of TIMES.
 *
 *	collectives BYTES TIMES
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct data {
	int rank, ranks;
	int count;	/* of numbers, a multiple of ranks */
	int *out, *in;
};

static void all_reduce(struct data *data)
{
	MPI_Allreduce(data->out, data->in, data->count, MPI_INT, MPI_SUM,
		      MPI_COMM_WORLD);
}

static void all_to_all(struct data *data)
{
	int each = data->count / data->ranks;

	MPI_Alltoall(data->out, each, MPI_INT, data->in, each, MPI_INT,
		     MPI_COMM_WORLD);
}

/* Number i of a rank. */
static int number(int rank, int i)
{
	return (rank + 1) * (i % 1000);
}

static int sums_are_right(const struct data *data)
{
	int i, times = data->ranks * (data->ranks + 1) / 2;

	for (i = 0; i < data->count; i++)
		if (data->in[i] != times * (i % 1000))
			return 0;
	return 1;
}

static int blocks_are_right(const struct data *data)
{
	int i, each = data->count / data->ranks;

	for (i = 0; i < data->count; i++)
		if (data->in[i] != number(i / each, data->rank * each + i % each))
			return 0;
	return 1;
}

/* Seconds of the fastest, or -1 if a rank got something wrong. */
static double measure(struct data *data, int times, void (*call)(struct data *),
		      int (*right)(const struct data *))
{
	double best = 1e9, start, took, slowest;
	int good = 1, all_good;

	while (times--) {
		MPI_Barrier(MPI_COMM_WORLD);
		start = MPI_Wtime();
		call(data);
		took = MPI_Wtime() - start;
		MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX,
			      MPI_COMM_WORLD);
		if (slowest < best)
			best = slowest;
		good &= right(data);
	}
	MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	return all_good ? best : -1;
}

int main(int argc, char **argv)
{
	struct data data;
	double reduce, exchange;
	int i;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &data.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &data.ranks);
	if (argc != 3)
		MPI_Abort(MPI_COMM_WORLD, 2);
	data.count = atoi(argv[1]) / (int)sizeof(int) / data.ranks * data.ranks;
	data.out = malloc(data.count * sizeof(int));
	data.in = malloc(data.count * sizeof(int));
	if (data.count <= 0 || !data.out || !data.in)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (i = 0; i < data.count; i++)
		data.out[i] = number(data.rank, i);
	reduce = measure(&data, atoi(argv[2]), all_reduce, sums_are_right);
	exchange = measure(&data, atoi(argv[2]), all_to_all, blocks_are_right);
	if (!data.rank)
		printf("{\"all_reduce_s\": %.4f, \"all_to_all_s\": %.4f}\n",
		       reduce, exchange);
	MPI_Finalize();
	return reduce < 0 || exchange < 0;
}
