/* What the fake libraries share: their script.
 *
 * GPUENV_FAKE holds words with values, separated by commas: `cc=86,devices=2,cuInit=hang,1:reduce=wrong`. A word may
 * be the name of a call, `constructor` or `destructor`; its value is then the code to return, or what to do:
 *   hang, crash, abort, exit   as they say
 *   stubborn                   hang, and do not end when asked to
 *   noise                      print what could be taken for an answer, then go on
 *   flood                      print without end
 *   daemon                     leave a process behind that keeps the pipes open, then go on
 * Other words are what a call answers; each library says which. `1:` before a word: only on device 1. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The device that is worked on, for the words of one device. */
static int current = -1;
/* The code that every call returns after one that broke everything. */
static int broken = 0;

/* The value of a word of the script, on this device or on any. */
static const char *scripted(const char *word) {
  static char value[512];
  const char *script = getenv("GPUENV_FAKE");
  while (script && *script) {
    const char *name = script;
    size_t length = strcspn(script, ",");
    if (name[0] >= '0' && name[0] <= '9' && strchr(name, ':') && (size_t)(strchr(name, ':') - name) < length) {
      name = atoi(script) == current ? strchr(script, ':') + 1 : "";
    }
    size_t called = strlen(word);
    if (strncmp(name, word, called) == 0 && name[called] == '=') {
      size_t size = length - (size_t)(name - script) - called - 1;
      size = size < sizeof value ? size : sizeof value - 1;
      memcpy(value, name + called + 1, size);
      value[size] = 0;
      return value;
    }
    script += length;
    script += *script == ',';
  }
  return NULL;
}

static inline long long number(const char *word, long long otherwise) {
  const char *value = scripted(word);
  return value ? atoll(value) : otherwise;
}

/* A text; `endless` fills all the room and has no end. */
static inline void text(char *out, size_t room, const char *word, const char *otherwise) {
  const char *value = scripted(word);
  if (value && !strcmp(value, "endless")) {
    memset(out, 'A', room);
  } else {
    snprintf(out, room, "%s", value ? value : otherwise);
  }
}

/* Does what the script says at this word; the code to return. */
static int act(const char *word) {
  const char *value = scripted(word);
  if (!value) {
    return 0;
  }
  if (!strcmp(value, "stubborn")) {
    signal(SIGTERM, SIG_IGN);
  }
  if (!strcmp(value, "hang") || !strcmp(value, "stubborn")) {
    for (;;) {
      pause();
    }
  }
  if (!strcmp(value, "crash")) {
    *(volatile int *)8 = 1;
  }
  if (!strcmp(value, "abort")) {
    abort();
  }
  if (!strcmp(value, "exit")) {
    exit(0);
  }
  if (!strcmp(value, "noise")) {
    printf("={\"kernels\":\"lies\"}\n>nothing\n.\n");
    fflush(stdout);
    return 0;
  }
  if (!strcmp(value, "flood")) {
    for (;;) {
      fputs("\x1b[31mthis driver is talkative\xff\n", stderr);
    }
  }
  if (!strcmp(value, "daemon")) {
    if (fork() == 0) {
      setsid();
      sleep(30);
      _exit(0);
    }
    return 0;
  }
  return atoi(value);
}

#define CALL(name)             \
  do {                         \
    int code = act(name);      \
    if (code || broken) {      \
      return broken ? broken : code; \
    }                          \
  } while (0)

__attribute__((constructor)) static void begins(void) { act("constructor"); }
__attribute__((destructor)) static void ends(void) { act("destructor"); }
