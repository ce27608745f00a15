/* Runs a fuzz target on the files that are named, so that an ordinary compiler can repeat what the fuzzer found. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return 1;
    long bytes = ftell(file);
    uint8_t *data = malloc((size_t)bytes + 1);
    rewind(file);
    if (!data || fread(data, 1, (size_t)bytes, file) != (size_t)bytes)
        return 1;
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)bytes);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (replay(argv[i]) != 0) {
            fprintf(stderr, "%s cannot be read\n", argv[i]);
            return 2;
        }
    printf("%d inputs\n", argc - 1);
    return 0;
}
