/* Packs two tensors, and looks for every element where it should be. */
#include <inttypes.h>
#include <stdio.h>

#include "decoder/scores.h"
#include "encoder/scores.h"

static float encoder[ENCODER_SCORES_LOGICAL_ELEMENTS], encoder_packed[ENCODER_SCORES_PHYSICAL_ELEMENTS];
static float decoder[DECODER_SCORES_LOGICAL_ELEMENTS], decoder_packed[DECODER_SCORES_PHYSICAL_ELEMENTS];

int main(void) {
    for (int64_t k = 0; k < ENCODER_SCORES_LOGICAL_ELEMENTS; k++) {
        encoder[k] = (float)(k + 1);
    }
    for (int64_t k = 0; k < DECODER_SCORES_LOGICAL_ELEMENTS; k++) {
        decoder[k] = (float)(-k - 1);
    }
    encoder_scores_pack(encoder, encoder_packed);
    decoder_scores_pack(decoder, decoder_packed);
    int wrong = 0;
    for (int64_t row = 0; row < ENCODER_SCORES_EXTENT_ROW; row++) {
        for (int64_t column = 0; column < ENCODER_SCORES_EXTENT_COLUMN; column++) {
            wrong += encoder_packed[encoder_scores_offset(row, column)]
                     != encoder[row * ENCODER_SCORES_EXTENT_COLUMN + column];
        }
    }
    for (int64_t row = 0; row < DECODER_SCORES_EXTENT_ROW; row++) {
        for (int64_t column = 0; column < DECODER_SCORES_EXTENT_COLUMN; column++) {
            wrong += decoder_packed[decoder_scores_offset(row, column)]
                     != decoder[row * DECODER_SCORES_EXTENT_COLUMN + column];
        }
    }
    printf("%d and %d scores, %d wrong\n", (int)ENCODER_SCORES_LOGICAL_ELEMENTS,
           (int)DECODER_SCORES_LOGICAL_ELEMENTS, wrong);
    return wrong != 0;
}
