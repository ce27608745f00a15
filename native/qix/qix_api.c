#include "qix_api.h"

int qix_format_version(void)
{
    return 4;
}
