// OpenMP runtime for gcc's -fopenmp on pthreads: ThreadSanitizer does not understand libgomp.
#include <pthread.h>
#include <stdbool.h>

enum { threads = 4 };

struct part {
    void (*run)(void *);
    void *data;
    int number;
};

static __thread int number;
// For `single`: number of constructs that this thread has reached, and number that some thread has executed.
static __thread int met;
static int taken;
static void *copied;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;

void GOMP_parallel(void (*run)(void *), void *data, unsigned count, unsigned flags);
void GOMP_barrier(void);
bool GOMP_single_start(void);
void *GOMP_single_copy_start(void);
void GOMP_single_copy_end(void *data);
int omp_get_num_threads(void);
int omp_get_thread_num(void);

int omp_get_num_threads(void) {
    return threads;
}

int omp_get_thread_num(void) {
    return number;
}

void GOMP_barrier(void) {
    pthread_barrier_wait(&together);
}

bool GOMP_single_start(void) {
    pthread_mutex_lock(&lock);
    const bool is_first = taken < ++met;
    taken += is_first ? 1 : 0;
    pthread_mutex_unlock(&lock);
    return is_first;
}

void *GOMP_single_copy_start(void) {
    if (GOMP_single_start()) {
        return 0;
    }
    GOMP_barrier();
    return copied;
}

void GOMP_single_copy_end(void *data) {
    copied = data;
    GOMP_barrier();
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
    taken = 0;
    pthread_barrier_init(&together, 0, threads);
    for (int k = 0; k < threads; ++k) {
        parts[k] = (struct part){ run, data, k };
        pthread_create(&all[k], 0, start, &parts[k]);
    }
    for (int k = 0; k < threads; ++k) {
        pthread_join(all[k], 0);
    }
    pthread_barrier_destroy(&together);
}
