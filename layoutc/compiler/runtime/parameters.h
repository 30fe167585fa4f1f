// Parameters of the runtime sources. Files `*.inc` are included once for each value of a parameter; the compiler
// replaces parameters and these macros in the text that it writes.
#ifndef PARAMETERS_H
#define PARAMETERS_H
#define PASTE_TOKENS(a, b) a##b
#define PASTE(a, b) PASTE_TOKENS(a, b)
// Name for elements of BYTES bytes: SIZED(layoutc_transpose) is layoutc_transpose_4.
#define SIZED(name) PASTE(PASTE(name, _), BYTES)
// Index type of the generated code.
#define INDEX int64_t
#endif
