/*
** The runner and the checks of harness.h.
*/
#include "harness.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A failing loop says what is wrong with its first cases, not with all of them. */
enum { MAX_REPORTS = 20 };

static struct {
    const char *program;
    int failures; /* of the running test */
    char context[256];
    char directory[512]; /* of the running test */
    int keep;
    char **texts;
    int textCount;
} g;

/* ---- texts ------------------------------------------------------------------------------------ */

static char *keepText(char *text) {
    char **more = realloc(g.texts, sizeof(char *) * (size_t)(g.textCount + 1));
    if (!more || !text) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    g.texts = more;
    g.texts[g.textCount++] = text;
    return text;
}

static void dropTexts(void) {
    for (int i = 0; i < g.textCount; i++) {
        free(g.texts[i]);
    }
    free(g.texts);
    g.texts = 0;
    g.textCount = 0;
}

/* Not from SQLite's allocator: the tests of failing allocations use texts too. */
static char *formatText(const char *fmt, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(0, 0, fmt, args);
    char *text = malloc((size_t)n + 1);
    if (text) {
        vsnprintf(text, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    return keepText(text);
}

const char *textf(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const char *text = formatText(fmt, args);
    va_end(args);
    return text;
}

const char *path(const char *name) {
    return textf("%s/%s", g.directory, name);
}

const char *uri(const char *file, const char *params) {
    return textf("file:%s?%s", file, params);
}

char *fileLoad(const char *file, sqlite3_int64 *size) {
    sqlite3_int64 n = fileSize(file);
    char *data = n < 0 ? 0 : malloc((size_t)n + 1);
    if (!data || fileRead(file, 0, data, (int)n) != (int)n) {
        free(data);
        checkTrue(0, __FILE__, __LINE__, "cannot read %s", file);
        *size = 0;
        return keepText(calloc(1, 1));
    }
    data[n] = 0;
    *size = n;
    return keepText(data);
}

/* ---- checks ----------------------------------------------------------------------------------- */

static int report(const char *file, int line) {
    const char *base = strrchr(file, '/');
    g.failures++;
    if (g.failures > MAX_REPORTS) {
        return 0;
    }
    printf("  %s:%d: %s%s", base ? base + 1 : file, line, g.context, g.context[0] ? ": " : "");
    return 1;
}

int checkTrue(int held, const char *file, int line, const char *fmt, ...) {
    if (!held && report(file, line)) {
        va_list args;
        va_start(args, fmt);
        vprintf(fmt, args);
        va_end(args);
        printf("\n");
    }
    return held;
}

int checkInt(sqlite3_int64 got, sqlite3_int64 want, const char *file, int line, const char *what) {
    if (got != want && report(file, line)) {
        printf("%s is %lld, wanted %lld\n", what, (long long)got, (long long)want);
    }
    return got == want;
}

int checkText(const char *got, const char *want, const char *file, int line, const char *what) {
    int same = got && want && !strcmp(got, want);
    if (!same && report(file, line)) {
        printf("%s is \"%s\", wanted \"%s\"\n", what, got ? got : "(null)", want ? want : "(null)");
    }
    return same;
}

int checkHas(const char *got, const char *part, const char *file, int line, const char *what) {
    int has = got && strstr(got, part);
    if (!has && report(file, line)) {
        printf("%s is \"%s\", wanted a text with \"%s\"\n", what, got ? got : "(null)", part);
    }
    return has;
}

int checkRc(sqlite3 *db, int got, int want, const char *file, int line, const char *what) {
    if (got != want && report(file, line)) {
        printf("%s is %d (%s), wanted %d\n", what, got, db && got ? sqlite3_errmsg(db) : sqlite3_errstr(got), want);
    }
    return got == want;
}

void testContext(const char *fmt, ...) {
    g.context[0] = 0;
    if (fmt) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(g.context, sizeof g.context, fmt, args);
        va_end(args);
    }
}

int testFailed(void) {
    return g.failures > 0;
}

/* ---- the runner ------------------------------------------------------------------------------- */

static void makeDirectory(void) {
    const char *root = getenv("TMPDIR");
    snprintf(g.directory, sizeof g.directory, "%s/sqlite3mc-%s-XXXXXX", root && *root ? root : "/tmp", g.program);
    if (!mkdtemp(g.directory)) {
        perror(g.directory);
        exit(2);
    }
}

static void removeDirectory(void) {
    DIR *dir = g.keep ? 0 : opendir(g.directory);
    if (!dir) {
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir)) != 0;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            const char *file = path(entry->d_name);
            chmod(file, 0600);
            if (remove(file) != 0) {
                perror(file);
            }
        }
    }
    closedir(dir);
    rmdir(g.directory);
}

static int runOne(const Test *test, const Scheme *scheme, const char *name) {
    g.failures = 0;
    testContext(0);
    makeDirectory();
    if (scheme) {
        test->runScheme(scheme);
    } else {
        test->run();
    }
    testContext(0);
    printf("%s %s\n", g.failures ? "FAILED" : "ok    ", name);
    if (g.failures > MAX_REPORTS) {
        printf("  %d more checks failed\n", g.failures - MAX_REPORTS);
    }
    if (g.failures && g.keep) {
        printf("  files: %s\n", g.directory);
    }
    fflush(stdout);
    removeDirectory();
    dropTexts();
    return !g.failures;
}

int testMain(int argc, char **argv, const Test *tests, size_t count) {
    const char *filter = "";
    int list = 0, passed = 0, failed = 0;
    const char *slash = strrchr(argv[0], '/');
    g.program = "test";
    if (slash && slash[1]) {
        g.program = slash + 1;
    }
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--list")) {
            list = 1;
        } else if (!strcmp(argv[i], "--keep")) {
            g.keep = 1;
        } else {
            filter = argv[i];
        }
    }
    if (sqlite3_initialize() != SQLITE_OK) {
        fprintf(stderr, "sqlite3_initialize failed\n");
        return 2;
    }
    for (size_t i = 0; i < count; i++) {
        const Scheme *scheme = tests[i].runScheme ? schemeAt(0) : 0;
        for (int s = 0; s == 0 || (scheme = schemeAt(s)) != 0; s++) {
            char name[300];
            snprintf(name, sizeof name, "%s%s%s%s", tests[i].name, scheme ? " [" : "", scheme ? scheme->name : "",
                     scheme ? "]" : "");
            if (!strstr(name, filter) || (tests[i].taggedOnly && scheme && !scheme->authenticated)) {
                continue;
            }
            if (list) {
                printf("%s\n", name);
            } else if (runOne(&tests[i], scheme, name)) {
                passed++;
            } else {
                failed++;
            }
            if (!scheme) {
                break;
            }
        }
    }
    if (list) {
        return 0;
    }
    if (passed + failed == 0) {
        printf("no test has \"%s\" in its name\n", filter);
        failed = 1;
    }
    sqlite3_shutdown();
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
