// SPDX-License-Identifier: GPL-2.0
/*
 * An all-reduce whose sums are known: every rank adds a vector that follows
 * from its number and checks each element of the result, for short vectors
 * and for ones that Open MPI cuts up and sends round a ring. Rank 0 prints
 * "sums right: ROUNDS" if all ranks found all of them so.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define LONGEST (1 << 18)

static const int lengths[] = { 1, 1000, LONGEST };

/* What rank adds at place i: small enough for sums to be exact. */
static double term(int rank, int i)
{
	return (rank + 1) * (i % 1021) + rank;
}

static long wrong_sums(const double *sum, int length, int size)
{
	long wrong = 0;

	for (int i = 0; i < length; i++) {
		double due = size * (size + 1) / 2.0 * (i % 1021) +
			     size * (size - 1) / 2.0;

		wrong += sum[i] != due;
	}
	return wrong;
}

int main(int argc, char **argv)
{
	double *mine = malloc(LONGEST * sizeof(*mine));
	double *sum = malloc(LONGEST * sizeof(*sum));
	long wrong = 0, total = 0;
	int rank, size, rounds = 0;

	if (!mine || !sum)
		return 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < LONGEST; i++)
		mine[i] = term(rank, i);
	for (size_t k = 0; k < sizeof(lengths) / sizeof(*lengths); k++) {
		MPI_Allreduce(mine, sum, lengths[k], MPI_DOUBLE, MPI_SUM,
			      MPI_COMM_WORLD);
		wrong += wrong_sums(sum, lengths[k], size);
		rounds++;
	}
	MPI_Reduce(&wrong, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0 && total)
		printf("%ld sums wrong\n", total);
	else if (rank == 0)
		printf("sums right: %d of %d ranks\n", rounds, size);
	MPI_Finalize();
	free(mine);
	free(sum);
	return wrong || total;
}
