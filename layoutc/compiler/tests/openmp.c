// What gcc's -fopenmp calls, on threads that a race detector can see: its own library's it cannot.
#include <pthread.h>

enum { threads = 4 };

struct part {
    void (*run)(void *);
    void *data;
    int number;
};

static __thread int number;

void GOMP_parallel(void (*run)(void *), void *data, unsigned count, unsigned flags);
int omp_get_num_threads(void);
int omp_get_thread_num(void);

int omp_get_num_threads(void) {
    return threads;
}

int omp_get_thread_num(void) {
    return number;
}

static void *start(void *argument) {
    struct part *part = argument;
    number = part->number;
    part->run(part->data);
    return 0;
}

void GOMP_parallel(void (*run)(void *), void *data, unsigned count, unsigned flags) {
    pthread_t all[threads];
    struct part parts[threads];
    (void)count;
    (void)flags;
    for (int k = 0; k < threads; ++k) {
        parts[k] = (struct part){ run, data, k };
        pthread_create(&all[k], 0, start, &parts[k]);
    }
    for (int k = 0; k < threads; ++k) {
        pthread_join(all[k], 0);
    }
}
