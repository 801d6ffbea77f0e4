/* SPDX-License-Identifier: MIT */
#include "check_reason.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "uvperf/error.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define MOST_BYTES      (sizeof(((uvperf_error_t *)0)->reason) - 2)

/* Stilted words and phrases, each with a space on both sides. */
static const char *const stilted[] = {
    " tell ",     " tells ",        " told ",        " give ",
    " gives ",    " gave ",         " whoever ",     " nobody ",
    " somebody ", " everybody ",    " anybody ",     " what has ",
    " that of ",  " those of the ", " no such has ", " but for ",
    " anew ",     " in spite of ",  " is of ",       " are of ",
    " whatever ", " so many ",      " ask for ",     " takes none ",
    " alone ",    " outside of ",   " wants ",
};

/* Words that begin a remedy, which comes after "; " and not after ": ". */
static const char *const remedies[] = {
    "add",   "call",  "choose", "clear", "close",   "compile", "create",
    "leave", "load",  "lower",  "make",  "measure", "mount",   "name",
    "open",  "pass",  "put",    "raise", "read",    "run",     "see",
    "set",   "start", "try",    "use",   "wait",    "write",
};

/* Copies the text with an x for each name in quotation marks, which may hold
 * anything. An apostrophe follows a letter. */
static void leave_out_quotes(const char *text, char *out) {
  const char *at = text;
  const char *end;

  while (*at != '\0') {
    end = NULL;
    if ((*at == '\'' || *at == '"') &&
        (at == text || !isalnum((unsigned char)at[-1])))
      end = strchr(at + 1, *at);
    *out++ = (char)(end != NULL ? 'x' : *at);
    at = end != NULL ? end + 1 : at + 1;
  }
  *out = '\0';
}

/* Copies the words in lower case, each with one space around it. */
static void take_words(const char *text, char *words) {
  int is_word;

  *words++ = ' ';
  for (; *text != '\0'; text++) {
    is_word = isalnum((unsigned char)*text) || *text == '-' || *text == '_';
    if (is_word)
      *words++ = (char)tolower((unsigned char)*text);
    else if (words[-1] != ' ')
      *words++ = ' ';
  }
  strcpy(words, words[-1] == ' ' ? "" : " ");
}

static int is_remedy(const char *at) {
  size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz");
  size_t i;

  for (i = 0; i < COUNT_OF(remedies); i++)
    if (strlen(remedies[i]) == length && at[length] == ' ' &&
        strncmp(at, remedies[i], length) == 0)
      return 1;
  return 0;
}

/* Whether a remedy begins after a colon. */
static int has_hidden_remedy(const char *text) {
  const char *at;

  for (at = strstr(text, ": "); at != NULL; at = strstr(at + 1, ": "))
    if (is_remedy(at + 2))
      return 1;
  return 0;
}

static int has_two_sentences(const char *text) {
  const char *stop = strstr(text, ". ");

  return stop != NULL && stop > text && stop[-1] != '.';
}

/* "PMU", "UVPERF_EVENT_CPU" and the like are names. */
static int begins_with_capital(const char *text) {
  return isupper((unsigned char)text[0]) && !isupper((unsigned char)text[1]);
}

const char *check_reason_text_fault(const char *text) {
  static char fault[64];
  char plain[1024], words[1024];
  size_t length = strlen(text);
  size_t i;

  if (length == 0)
    return "it is empty";
  if (length > MOST_BYTES)
    return "it is too long, or cut";
  if (begins_with_capital(text))
    return "it begins with a capital letter";
  if (text[length - 1] == '.' &&
      (length < 3 || strcmp(text + length - 3, "...") != 0))
    return "it ends with a full stop";
  leave_out_quotes(text, plain);
  if (strstr(plain, "  ") != NULL || strstr(plain, " ;") != NULL ||
      has_two_sentences(plain))
    return "it has two spaces, or two sentences";
  if (has_hidden_remedy(plain))
    return "a remedy comes after ': ' instead of '; '";
  take_words(plain, words);
  for (i = 0; i < COUNT_OF(stilted); i++)
    if (strstr(words, stilted[i]) != NULL) {
      snprintf(fault, sizeof(fault), "it has \"%s\"", stilted[i]);
      return fault;
    }
  return NULL;
}

const char *check_reason_fault(const char *reason) {
  size_t length = strlen(reason);

  if (length > 0 && strchr(" :;,", reason[length - 1]) != NULL)
    return "it ends in the middle";
  if (length > 0 && strchr(" :;,", reason[0]) != NULL)
    return "it begins in the middle";
  return check_reason_text_fault(reason);
}
