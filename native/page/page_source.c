#include "page_source.h"

bool page_has_unwanted(const uint8_t *data, size_t bytes, uint8_t allowed)
{
    uint8_t found = 0;
    for (size_t i = 0; i < bytes; i++)
        found |= (uint8_t)((data[i] < 0x20) & (data[i] != '\t') & (data[i] != '\n') & (data[i] != allowed)) |
                 (uint8_t)(data[i] == 0x7f);
    /* U+FFFE is EF BF BE, U+FFFF is EF BF BF. */
    for (size_t i = 2; i < bytes; i++)
        found |= (uint8_t)((data[i - 2] == 0xef) & (data[i - 1] == 0xbf) & (data[i] >= 0xbe));
    return found != 0;
}

void page_source_scan(const uint8_t *data, size_t bytes, page_source *ret_source)
{
    size_t count = bytes > 0 && data[bytes - 1] == '<';
    for (size_t i = 1; i < bytes; i++)
        count += (data[i - 1] == '<') & (data[i] != '/');
    ret_source->open_count = count;
    ret_source->has_unwanted = page_has_unwanted(data, bytes, '\r');
}
