/* A `dotnet X.exe ARGS` made of libhostfxr.so alone, for runtimes that come without the muxer.
 * Lies beside host/fxr/FXR and shared/; `setup` compiles it and sets FXR.
 * libm, as in the stock muxer: libSystem.IO.Compression.Native.so takes log2 from it without saying so. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*main_fn)(int, const char **, const char *host, const char *root, const char *app);

int main(int argc, const char **argv)
{
    char self[PATH_MAX], root[PATH_MAX], lib[PATH_MAX], app[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0) return 1;
    self[n] = 0;
    strcpy(root, self);
    *strrchr(root, '/') = 0;
    if (snprintf(lib, sizeof lib, "%s/host/fxr/" FXR "/libhostfxr.so", root) >= (int)sizeof lib) return 1;
    if (snprintf(app, sizeof app, "%s.dll", self) >= (int)sizeof app) return 1;
    void *h = dlopen(lib, RTLD_LAZY);
    main_fn run = h ? (main_fn)dlsym(h, "hostfxr_main_startupinfo") : NULL;
    if (!run) { fprintf(stderr, "%s\n", dlerror()); return 1; }
    return run(argc, argv, self, root, app);
}
