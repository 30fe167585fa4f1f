/* Runs OpenCL kernels by a job file.
 *
 *     run_cl PLATFORM          prints the platform's first device: name, version, extensions, and the width, height and
 *                              layers of its largest images; one per line
 *     run_cl PLATFORM JOB...   runs job files, each from a clean state
 *
 * PLATFORM is a part of the platform's name ("Portable Computing Language", "Oclgrind"). A job file has one command per
 * line, with words separated by blanks, comment lines that start with `#`, and paths relative to the working folder:
 *
 *     options WORD...                       build options of the following programs; no words: none
 *     program FILE                          builds an OpenCL source for the following runs
 *     guard BYTES                           adds guards of at least BYTES bytes around the following buffers, and of
 *                                           8 texels right and below and one layer to images; a kernel must not write
 *                                           to them; 0, the default, allocates exactly
 *     host BYTES                            allocates the following buffers in host memory, BYTES bytes after a multiple
 *                                           of 4096; `host none`, the default, leaves it to the platform
 *     buffer NAME BYTES fill BYTE           a buffer of one byte repeated
 *     buffer NAME BYTES file FILE           a buffer with the contents of a file of BYTES bytes
 *     image NAME TYPE W H LAYERS fill BYTE  an RGBA image; LAYERS 0: image2d_t, else image2d_array_t; TYPE is one of
 *     image NAME TYPE W H LAYERS file FILE  i8 i16 i32 u8 u16 u32 f16 f32 unorm8 unorm16 snorm8 snorm16
 *     run KERNEL X [Y [Z]] [local X [Y [Z]]] [args ARG...]
 *                                           ARG: i32 VALUE, i64 VALUE, or mem NAME (a buffer or an image)
 *     save NAME FILE                        writes a buffer, or an image's texels row by row, layer by layer
 *     compare NAME FILE                     compares with a file; an error names the first byte that differs
 *     free NAME                             releases a buffer or an image
 *
 * Commands run in order, and all guards are checked after every run. An error is printed to standard error with the
 * line, and ends the program with status 1. RUN_CL_TIMES=1 prints the milliseconds of each build and run.
 */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORDS 256
#define MEMORIES 256
#define GUARD 0xA5
#define PAGE 4096

struct memory {
    char *name;
    cl_mem mem;
    size_t bytes;
    /* With a guard: the allocation that contains `mem`. */
    cl_mem whole;
    size_t before;
    size_t after;
    /* Host memory of the buffer, if it uses any. */
    unsigned char *host;
    /* For images. */
    int is_image;
    size_t width;
    size_t height;
    size_t layers;
    size_t texel;
    /* Allocated size of an image, with its guard. */
    size_t all[3];
};

struct text {
    unsigned char *bytes;
    size_t size;
};

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static char options[1024];
static size_t guard_bytes;
static size_t host_offset;
static int uses_host;
static size_t base_alignment;
static struct memory memories[MEMORIES];
static size_t memory_count;
static const char *job = "";
static int line_number;
static int times;

static void fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    (void)fflush(stdout);
    if (line_number > 0) {
        (void)fprintf(stderr, "%s:%d: ", job, line_number);
    }
    (void)vfprintf(stderr, format, list);
    (void)fprintf(stderr, "\n");
    va_end(list);
    exit(1);
}

static void must(cl_int status, const char *what) {
    if (status != CL_SUCCESS) {
        fail("%s: OpenCL error %d", what, (int)status);
    }
}

static void *allocate(size_t bytes) {
    void *made = malloc(bytes > 0 ? bytes : 1);
    if (made == NULL) {
        fail("no memory for %lu bytes", (unsigned long)bytes);
    }
    return made;
}

static double milliseconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* Bytes of a file, followed by a zero. */
static struct text read_file(const char *path) {
    struct text text = {NULL, 0};
    long size;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0) {
        fail("cannot read %s", path);
        return text;
    }
    text.size = (size_t)size;
    text.bytes = allocate(text.size + 1);
    if (fread(text.bytes, 1, text.size, file) != text.size) {
        fail("cannot read %s", path);
    }
    text.bytes[text.size] = 0;
    (void)fclose(file);
    return text;
}

static long long number(const char *word) {
    char *end;
    long long value = strtoll(word, &end, 0);
    if (*word == 0 || *end != 0) {
        fail("`%s` is not a number", word);
    }
    return value;
}

static size_t size_of(const char *word) {
    long long value = number(word);
    if (value < 0) {
        fail("`%s` is not a size", word);
    }
    return (size_t)value;
}

static void open_platform(const char *part) {
    cl_platform_id platforms[16];
    cl_uint count = 0;
    cl_uint k;
    cl_int status;
    cl_uint bits = 0;
    char names[4096] = "";
    must(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
    for (k = 0; k < count; k++) {
        char name[200] = "";
        must(clGetPlatformInfo(platforms[k], CL_PLATFORM_NAME, sizeof name, name, NULL), "clGetPlatformInfo");
        if (strstr(name, part) != NULL) {
            break;
        }
        (void)strncat(names, name, sizeof names - strlen(names) - 3);
        (void)strcat(names, "; ");
    }
    if (k == count) {
        fail("no platform like `%s` among: %s", part, names);
    }
    must(clGetDeviceIDs(platforms[k], CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    must(status, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &status);
    must(status, "clCreateCommandQueue");
    must(clGetDeviceInfo(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL), "clGetDeviceInfo");
    base_alignment = bits / 8 > 0 ? bits / 8 : 1;
}

static size_t limit(cl_device_info of) {
    size_t value = 0;
    must(clGetDeviceInfo(device, of, sizeof value, &value, NULL), "clGetDeviceInfo");
    return value;
}

static void print_device(void) {
    static const cl_device_info rows[3] = {CL_DEVICE_NAME, CL_DEVICE_VERSION, CL_DEVICE_EXTENSIONS};
    int k;
    for (k = 0; k < 3; k++) {
        char text[8192] = "";
        must(clGetDeviceInfo(device, rows[k], sizeof text, text, NULL), "clGetDeviceInfo");
        (void)printf("%s\n", text);
    }
    (void)printf("%zu %zu %zu\n", limit(CL_DEVICE_IMAGE2D_MAX_WIDTH), limit(CL_DEVICE_IMAGE2D_MAX_HEIGHT),
                 limit(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE));
}

static void build(const char *path) {
    struct text source = read_file(path);
    const char *bytes = (const char *)source.bytes;
    double start = milliseconds();
    cl_int status;
    if (program != NULL) {
        must(clReleaseProgram(program), "clReleaseProgram");
    }
    program = clCreateProgramWithSource(context, 1, &bytes, &source.size, &status);
    must(status, "clCreateProgramWithSource");
    status = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (status != CL_SUCCESS) {
        size_t size = 0;
        char *log;
        must(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size), "clGetProgramBuildInfo");
        log = allocate(size + 1);
        must(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL), "clGetProgramBuildInfo");
        log[size] = 0;
        fail("%s does not build (OpenCL error %d):\n%s", path, (int)status, log);
    }
    free(source.bytes);
    if (times) {
        (void)printf("%9.2f ms  build %s\n", milliseconds() - start, path);
    }
}

static struct memory *find(const char *name) {
    size_t k;
    for (k = 0; k < memory_count; k++) {
        if (strcmp(memories[k].name, name) == 0) {
            return &memories[k];
        }
    }
    fail("nothing is called `%s`", name);
    return NULL;
}

static struct memory *add(const char *name, size_t bytes) {
    struct memory *memory;
    size_t k;
    for (k = 0; k < memory_count; k++) {
        if (strcmp(memories[k].name, name) == 0) {
            fail("`%s` is there already", name);
        }
    }
    if (memory_count == MEMORIES) {
        fail("too many buffers");
    }
    memory = &memories[memory_count++];
    memset(memory, 0, sizeof *memory);
    memory->name = allocate(strlen(name) + 1);
    (void)strcpy(memory->name, name);
    memory->bytes = bytes;
    return memory;
}

static void release(struct memory *memory) {
    must(clReleaseMemObject(memory->mem), "clReleaseMemObject");
    if (memory->whole != NULL) {
        must(clReleaseMemObject(memory->whole), "clReleaseMemObject");
    }
    free(memory->host);
    free(memory->name);
    *memory = memories[--memory_count];
}

/* Contents of `fill BYTE` or `file FILE`, of `bytes` bytes. */
static unsigned char *content(char **words, size_t bytes) {
    if (strcmp(words[0], "fill") == 0) {
        unsigned char *made = allocate(bytes);
        memset(made, (int)(number(words[1]) & 255), bytes);
        return made;
    }
    if (strcmp(words[0], "file") == 0) {
        struct text text = read_file(words[1]);
        if (text.size != bytes) {
            fail("%s has %lu bytes, not %lu", words[1], (unsigned long)text.size, (unsigned long)bytes);
        }
        return text.bytes;
    }
    fail("`%s`: fill BYTE or file FILE", words[0]);
    return NULL;
}

/* Creates a buffer with these bytes, in memory of the platform or of the host. */
static cl_mem buffer_of(struct memory *memory, size_t bytes, const unsigned char *init) {
    cl_int status;
    cl_mem made;
    if (uses_host) {
        unsigned char *at;
        memory->host = allocate(bytes + 2 * PAGE);
        at = memory->host + (PAGE - (uintptr_t)memory->host % PAGE) + host_offset;
        memcpy(at, init, bytes);
        made = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, at, &status);
    } else {
        /* CL_MEM_COPY_HOST_PTR does not write to its source. */
        void *from = (void *)(uintptr_t)init;
        made = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, from, &status);
    }
    must(status, "clCreateBuffer");
    return made;
}

static void make_buffer(char **words) {
    size_t bytes = size_of(words[1]);
    unsigned char *init = content(words + 2, bytes);
    struct memory *memory = add(words[0], bytes);
    /* OpenCL has no empty buffers. */
    size_t there = bytes > 0 ? bytes : 1;
    cl_int status;
    if (guard_bytes > 0) {
        size_t before = (guard_bytes + base_alignment - 1) / base_alignment * base_alignment;
        cl_buffer_region region;
        unsigned char *all = allocate(before + there + guard_bytes);
        memset(all, GUARD, before + there + guard_bytes);
        memcpy(all + before, init, bytes);
        memory->before = before;
        memory->after = there - bytes + guard_bytes;
        memory->whole = buffer_of(memory, before + there + guard_bytes, all);
        region.origin = before;
        region.size = there;
        memory->mem =
            clCreateSubBuffer(memory->whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
        must(status, "clCreateSubBuffer");
        free(all);
    } else if (uses_host) {
        memory->mem = buffer_of(memory, there, init);
    } else {
        memory->mem = clCreateBuffer(context, CL_MEM_READ_WRITE, there, NULL, &status);
        must(status, "clCreateBuffer");
        if (bytes > 0) {
            must(clEnqueueWriteBuffer(queue, memory->mem, CL_TRUE, 0, bytes, init, 0, NULL, NULL),
                 "clEnqueueWriteBuffer");
        }
    }
    free(init);
}

static void make_image(char **words) {
    static const struct {
        const char *name;
        cl_channel_type type;
        size_t bytes;
    } types[12] = {
        {"i8", CL_SIGNED_INT8, 1},    {"i16", CL_SIGNED_INT16, 2},    {"i32", CL_SIGNED_INT32, 4},
        {"u8", CL_UNSIGNED_INT8, 1},  {"u16", CL_UNSIGNED_INT16, 2},  {"u32", CL_UNSIGNED_INT32, 4},
        {"f16", CL_HALF_FLOAT, 2},    {"f32", CL_FLOAT, 4},           {"unorm8", CL_UNORM_INT8, 1},
        {"unorm16", CL_UNORM_INT16, 2}, {"snorm8", CL_SNORM_INT8, 1}, {"snorm16", CL_SNORM_INT16, 2},
    };
    size_t k = 0;
    size_t width = size_of(words[2]);
    size_t height = size_of(words[3]);
    size_t layers = size_of(words[4]);
    size_t origin[3] = {0, 0, 0};
    size_t region[3];
    cl_image_format format;
    cl_image_desc about;
    struct memory *memory;
    unsigned char *init;
    cl_int status;
    while (k < 12 && strcmp(types[k].name, words[1]) != 0) {
        k++;
    }
    if (k == 12) {
        fail("`%s` is no channel type", words[1]);
    }
    region[0] = width;
    region[1] = height;
    region[2] = layers > 0 ? layers : 1;
    memory = add(words[0], width * height * region[2] * 4 * types[k].bytes);
    init = content(words + 5, memory->bytes);
    memory->is_image = 1;
    memory->width = width;
    memory->height = height;
    memory->layers = layers;
    memory->texel = 4 * types[k].bytes;
    memory->all[0] = guard_bytes > 0 ? width + 8 : width;
    memory->all[1] = guard_bytes > 0 ? height + 8 : height;
    memory->all[2] = guard_bytes > 0 && layers > 0 ? layers + 1 : region[2];
    format.image_channel_order = CL_RGBA;
    format.image_channel_data_type = types[k].type;
    memset(&about, 0, sizeof about);
    about.image_type = layers > 0 ? CL_MEM_OBJECT_IMAGE2D_ARRAY : CL_MEM_OBJECT_IMAGE2D;
    about.image_width = memory->all[0];
    about.image_height = memory->all[1];
    about.image_depth = 1;
    about.image_array_size = memory->all[2];
    memory->mem = clCreateImage(context, CL_MEM_READ_WRITE, &format, &about, NULL, &status);
    must(status, "clCreateImage");
    if (guard_bytes > 0) {
        size_t size = memory->all[0] * memory->all[1] * memory->all[2] * memory->texel;
        unsigned char *all = allocate(size);
        memset(all, GUARD, size);
        must(clEnqueueWriteImage(queue, memory->mem, CL_TRUE, origin, memory->all, 0, 0, all, 0, NULL, NULL),
             "clEnqueueWriteImage");
        free(all);
    }
    must(clEnqueueWriteImage(queue, memory->mem, CL_TRUE, origin, region, 0, 0, init, 0, NULL, NULL),
         "clEnqueueWriteImage");
    free(init);
}

static unsigned char *contents(const struct memory *memory) {
    unsigned char *bytes = allocate(memory->bytes);
    if (memory->is_image) {
        size_t origin[3] = {0, 0, 0};
        size_t region[3];
        region[0] = memory->width;
        region[1] = memory->height;
        region[2] = memory->layers > 0 ? memory->layers : 1;
        must(clEnqueueReadImage(queue, memory->mem, CL_TRUE, origin, region, 0, 0, bytes, 0, NULL, NULL),
             "clEnqueueReadImage");
    } else if (memory->bytes > 0) {
        must(clEnqueueReadBuffer(queue, memory->mem, CL_TRUE, 0, memory->bytes, bytes, 0, NULL, NULL),
             "clEnqueueReadBuffer");
    }
    return bytes;
}

static void look_at_guard_of_image(const char *kernel, const struct memory *memory) {
    size_t origin[3] = {0, 0, 0};
    size_t size = memory->all[0] * memory->all[1] * memory->all[2] * memory->texel;
    size_t layers = memory->layers > 0 ? memory->layers : 1;
    unsigned char *all = allocate(size);
    size_t at;
    must(clEnqueueReadImage(queue, memory->mem, CL_TRUE, origin, memory->all, 0, 0, all, 0, NULL, NULL),
         "clEnqueueReadImage");
    for (at = 0; at < size; at++) {
        size_t x = at / memory->texel % memory->all[0];
        size_t y = at / memory->texel / memory->all[0] % memory->all[1];
        size_t z = at / memory->texel / memory->all[0] / memory->all[1];
        if ((x >= memory->width || y >= memory->height || z >= layers) && all[at] != GUARD) {
            fail("%s wrote outside `%s`: texel (%lu, %lu), layer %lu", kernel, memory->name, (unsigned long)x,
                 (unsigned long)y, (unsigned long)z);
        }
    }
    free(all);
}

static void look_at_guard_of_buffer(const char *kernel, const struct memory *memory) {
    size_t size = memory->before + memory->bytes + memory->after;
    unsigned char *all = allocate(size);
    size_t at;
    must(clEnqueueReadBuffer(queue, memory->whole, CL_TRUE, 0, size, all, 0, NULL, NULL), "clEnqueueReadBuffer");
    for (at = 0; at < size; at++) {
        int inside = at >= memory->before && at < memory->before + memory->bytes;
        if (!inside && all[at] != GUARD) {
            fail("%s wrote outside `%s`: byte %ld of %lu", kernel, memory->name, (long)at - (long)memory->before,
                 (unsigned long)memory->bytes);
        }
    }
    free(all);
}

static void look_at_guards(const char *kernel) {
    size_t k;
    for (k = 0; k < memory_count; k++) {
        if (memories[k].whole != NULL) {
            look_at_guard_of_buffer(kernel, &memories[k]);
        } else if (memories[k].is_image && memories[k].all[0] > memories[k].width) {
            look_at_guard_of_image(kernel, &memories[k]);
        }
    }
}

/* Parses up to three sizes. Returns their number. */
static cl_uint sizes(char **words, int count, size_t size[3]) {
    cl_uint found = 0;
    while ((int)found < count && found < 3 && words[found][0] >= '0' && words[found][0] <= '9') {
        size[found] = size_of(words[found]);
        found++;
    }
    return found;
}

static void run(char **words, int count) {
    const char *name = words[0];
    size_t global[3];
    size_t local[3];
    cl_uint rank = sizes(words + 1, count - 1, global);
    int at = 1 + (int)rank;
    int with_local = 0;
    cl_uint index = 0;
    cl_uint takes = 0;
    cl_int status;
    cl_kernel kernel;
    double start = milliseconds();
    if (program == NULL || rank == 0) {
        fail("run needs a program before it, and a global size");
    }
    kernel = clCreateKernel(program, name, &status);
    must(status, name);
    if (at < count && strcmp(words[at], "local") == 0) {
        if (sizes(words + at + 1, count - at - 1, local) != rank) {
            fail("a local size of another rank");
        }
        with_local = 1;
        at += 1 + (int)rank;
    }
    if (at < count && strcmp(words[at], "args") == 0) {
        at++;
    }
    for (; at + 1 < count; at += 2, index++) {
        if (strcmp(words[at], "i32") == 0) {
            cl_int value = (cl_int)number(words[at + 1]);
            status = clSetKernelArg(kernel, index, sizeof value, &value);
        } else if (strcmp(words[at], "i64") == 0) {
            cl_long value = (cl_long)number(words[at + 1]);
            status = clSetKernelArg(kernel, index, sizeof value, &value);
        } else if (strcmp(words[at], "mem") == 0) {
            status = clSetKernelArg(kernel, index, sizeof(cl_mem), &find(words[at + 1])->mem);
        } else {
            fail("`%s`: i32, i64 or mem", words[at]);
        }
        if (status != CL_SUCCESS) {
            fail("%s does not take `%s %s` as argument %u: OpenCL error %d", name, words[at], words[at + 1],
                 (unsigned)index, (int)status);
        }
    }
    must(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof takes, &takes, NULL), "clGetKernelInfo");
    if (at != count || index != takes) {
        fail("%s takes %u arguments", name, (unsigned)takes);
    }
    must(clEnqueueNDRangeKernel(queue, kernel, rank, NULL, global, with_local ? local : NULL, 0, NULL, NULL), name);
    must(clFinish(queue), name);
    must(clReleaseKernel(kernel), "clReleaseKernel");
    if (times) {
        (void)printf("%9.2f ms  run %s\n", milliseconds() - start, name);
    }
    look_at_guards(name);
}

static void save(const char *name, const char *path) {
    const struct memory *memory = find(name);
    unsigned char *bytes = contents(memory);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, memory->bytes, file) != memory->bytes || fclose(file) != 0) {
        fail("cannot write %s", path);
    }
    free(bytes);
}

static void compare(const char *name, const char *path) {
    const struct memory *memory = find(name);
    unsigned char *bytes = contents(memory);
    struct text wanted = read_file(path);
    size_t k;
    if (wanted.size != memory->bytes) {
        fail("%s has %lu bytes, `%s` %lu", path, (unsigned long)wanted.size, name, (unsigned long)memory->bytes);
    }
    for (k = 0; k < wanted.size; k++) {
        if (bytes[k] != wanted.bytes[k]) {
            fail("byte %lu of `%s` is 0x%02x, not 0x%02x as in %s", (unsigned long)k, name, (unsigned)bytes[k],
                 (unsigned)wanted.bytes[k], path);
        }
    }
    free(bytes);
    free(wanted.bytes);
}

static void obey(char **words, int count) {
    const char *command = words[0];
    if (strcmp(command, "options") == 0) {
        int k;
        options[0] = 0;
        for (k = 1; k < count; k++) {
            if (strlen(options) + strlen(words[k]) + 2 > sizeof options) {
                fail("too many options");
            }
            (void)strcat(strcat(options, " "), words[k]);
        }
    } else if (strcmp(command, "program") == 0 && count == 2) {
        build(words[1]);
    } else if (strcmp(command, "guard") == 0 && count == 2) {
        guard_bytes = size_of(words[1]);
    } else if (strcmp(command, "host") == 0 && count == 2) {
        uses_host = strcmp(words[1], "none") != 0;
        host_offset = uses_host ? size_of(words[1]) % PAGE : 0;
    } else if (strcmp(command, "buffer") == 0 && count == 5) {
        make_buffer(words + 1);
    } else if (strcmp(command, "image") == 0 && count == 8) {
        make_image(words + 1);
    } else if (strcmp(command, "run") == 0 && count >= 3) {
        run(words + 1, count - 1);
    } else if (strcmp(command, "save") == 0 && count == 3) {
        save(words[1], words[2]);
    } else if (strcmp(command, "compare") == 0 && count == 3) {
        compare(words[1], words[2]);
    } else if (strcmp(command, "free") == 0 && count == 2) {
        release(find(words[1]));
    } else {
        fail("not understood: %s with %d words", command, count - 1);
    }
}

static void run_job(const char *path) {
    char *words[WORDS];
    char *line;
    char *next;
    struct text text;
    line_number = 0;
    text = read_file(path);
    job = path;
    for (line = (char *)text.bytes; line != NULL; line = next) {
        int count = 0;
        char *word;
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = 0;
        }
        line_number++;
        if (*line == '#') {
            continue;
        }
        for (word = strtok(line, " \t\r"); word != NULL; word = strtok(NULL, " \t\r")) {
            if (count == WORDS) {
                fail("too many words");
            }
            words[count++] = word;
        }
        if (count > 0) {
            obey(words, count);
        }
    }
    line_number = 0;
    free(text.bytes);
    while (memory_count > 0) {
        release(&memories[memory_count - 1]);
    }
    if (program != NULL) {
        must(clReleaseProgram(program), "clReleaseProgram");
        program = NULL;
    }
    options[0] = 0;
    guard_bytes = 0;
    uses_host = 0;
}

int main(int count, char **words) {
    const char *flag = getenv("RUN_CL_TIMES");
    int k;
    times = flag != NULL && strcmp(flag, "1") == 0;
    if (count < 2) {
        (void)fprintf(stderr, "usage: run_cl PLATFORM [JOB...]\n");
        return 2;
    }
    open_platform(words[1]);
    if (count == 2) {
        print_device();
    }
    for (k = 2; k < count; k++) {
        run_job(words[k]);
    }
    must(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
    must(clReleaseContext(context), "clReleaseContext");
    return 0;
}
