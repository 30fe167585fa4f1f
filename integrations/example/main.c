/* Packs a tensor and checks every element and every slot of padding. */
#include <inttypes.h>
#include <stdio.h>

#include "scores.h"

static float logical[SCORES_LOGICAL_ELEMENTS];
static float physical[SCORES_PHYSICAL_ELEMENTS];

int main(void) {
    int64_t padding = 0;
    for (int64_t k = 0; k < SCORES_LOGICAL_ELEMENTS; k++) {
        logical[k] = (float)(k + 1);
    }
    scores_pack(logical, physical);
    for (int64_t slot = 0; slot < SCORES_PHYSICAL_ELEMENTS; slot++) {
        int64_t row = 0, column = 0;
        float wanted = 0;
        if (scores_logical(slot, &row, &column)) {
            wanted = logical[row * SCORES_EXTENT_COLUMN + column];
        } else {
            padding++;
        }
        if (physical[slot] != wanted) {
            printf("slot %" PRId64 " holds %g, not %g\n", slot, (double)physical[slot], (double)wanted);
            return 1;
        }
    }
    printf("%d x %d scores, %" PRId64 " slots of padding\n", SCORES_EXTENT_ROW, SCORES_EXTENT_COLUMN, padding);
    return 0;
}
