/* Whole runtime, without the conversions of runs, whose elements are converted by functions of the generated code. */
#include "parameters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vectors.h"

#include "alignment.h"

#include "dispatch.h"

#include "stream.h"

#include "zero_runs.h"

#include "copy_runs.h"

#include "registers.h"

#include "loads.h"

#include "stream_buffer.h"

#include "consecutive_blocks.h"

#define BYTES 1
#include "lanes.inc"

#include "interleave.inc"

#include "tiles.inc"

#include "transpose.inc"

#include "transpose_stream.inc"

#include "transpose_blocks.inc"

#undef BYTES
#define BYTES 2
#include "lanes.inc"

#include "interleave.inc"

#include "tiles.inc"

#include "transpose.inc"

#include "transpose_stream.inc"

#include "transpose_blocks.inc"

#undef BYTES
#define BYTES 4
#include "lanes.inc"

#include "interleave.inc"

#include "tiles.inc"

#include "transpose.inc"

#include "transpose_stream.inc"

#include "transpose_blocks.inc"

#undef BYTES
#define BYTES 8
#include "lanes.inc"

#include "interleave.inc"

#include "tiles.inc"

#include "transpose.inc"

#include "transpose_stream.inc"

#include "transpose_blocks.inc"

#undef BYTES
#define BYTES 16
#include "tiles.inc"

#include "transpose.inc"

#include "transpose_stream.inc"

#include "transpose_blocks.inc"

#undef BYTES
#define CAST f32_to_f16
#define SATURATES 0
#include "cast_f32_to_f16.inc"

#undef CAST
#undef SATURATES
#define CAST f32_to_f16_saturate
#define SATURATES 1
#include "cast_f32_to_f16.inc"

#undef CAST
#undef SATURATES
#define CAST f16_to_f32
#include "cast_f16_to_f32.inc"

#undef CAST
#define CAST f32_to_bf16
#define SATURATES 0
#include "cast_f32_to_bf16.inc"

#undef CAST
#undef SATURATES
#define CAST f32_to_bf16_saturate
#define SATURATES 1
#include "cast_f32_to_bf16.inc"

#undef CAST
#undef SATURATES
#define CAST bf16_to_f32
#include "cast_bf16_to_f32.inc"

#undef CAST
#define CAST f32_to_i8
#define SIGNED 1
#include "cast_f32_to_byte.inc"

#undef CAST
#undef SIGNED
#define CAST f32_to_u8
#define SIGNED 0
#include "cast_f32_to_byte.inc"

#undef CAST
#undef SIGNED
#define CAST i8_to_f32
#define SIGNED 1
#include "cast_byte_to_f32.inc"

#undef CAST
#undef SIGNED
#define CAST u8_to_f32
#define SIGNED 0
#include "cast_byte_to_f32.inc"

#undef CAST
#undef SIGNED
#include "kernels.h"
