/* SPDX-License-Identifier: Apache-2.0 */
/* A program with threads, as many are: locks, condition variables, thread-local data, barriers, signals, many short ones. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define WORKERS 16
#define ROUNDS 2000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t start;
static long shared, turn;
static atomic_long counted, signals;
static _Thread_local long mine;

static void on_signal(int sig)
{
	(void)sig;
	atomic_fetch_add(&signals, 1);
}

static void *work(void *arg)
{
	long me = (long)arg;

	(void)pthread_barrier_wait(&start);
	for (int i = 0; i < ROUNDS; i++) {
		(void)pthread_mutex_lock(&lock);
		shared++;
		(void)pthread_mutex_unlock(&lock);
		mine++;
	}
	(void)pthread_mutex_lock(&lock);
	while (turn != me)
		(void)pthread_cond_wait(&moved, &lock);
	turn++;
	(void)pthread_cond_broadcast(&moved);
	(void)pthread_mutex_unlock(&lock);
	atomic_fetch_add(&counted, mine);
	return NULL;
}

static void *brief(void *arg)
{
	(void)pthread_kill(pthread_self(), SIGUSR1);
	return arg;
}

int main(void)
{
	pthread_t t[WORKERS];

	(void)signal(SIGUSR1, on_signal);
	(void)pthread_barrier_init(&start, NULL, WORKERS);
	for (long i = 0; i < WORKERS; i++)
		if (pthread_create(&t[i], NULL, work, (void *)i) != 0)
			return 1;
	for (int i = 0; i < WORKERS; i++)
		(void)pthread_join(t[i], NULL);
	for (int i = 0; i < 500; i++)
		if (pthread_create(&t[0], NULL, brief, NULL) != 0 || pthread_join(t[0], NULL) != 0)
			return 2;
	printf("%ld %ld %ld %ld\n", shared, turn, atomic_load(&counted), atomic_load(&signals));
	return shared == WORKERS * ROUNDS && turn == WORKERS && signals == 500 ? 0 : 3;
}
