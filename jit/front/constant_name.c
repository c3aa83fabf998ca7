#include "jit/front/constant_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "jit/front/lexer.h"
#include "jit/front/prelude.h"

static bool is_identifier(const char *name) {
  if (isdigit((unsigned char)*name) || !*name)
    return false;
  while (is_in_word(*name))
    name++;
  return !*name;
}

static const char keywords[] = " asm typeof auto break case char const continue default do double else enum "
                               "extern float for goto if inline "
                               "int long bool true false register restrict return short signed sizeof static "
                               "struct switch typedef union "
                               "unsigned void volatile while ";

/* True: the prelude declares the name. There a name stands behind #define, in front of its parameters, or at
 * the end of a typedef; all other words are in parentheses. The last lines, which depend on the compiler,
 * declare only names of the library. */
static bool is_in_prelude(const char *name) {
  static const char define[] = "#define ";
  const size_t length = strlen(name);
  int depth = 0;
  bool inside_define = false;
  for (const char *p = jit_prelude(); *p && strncmp(p, "#if", 3) != 0;) {
    const bool macro = strncmp(p, define, sizeof define - 1) == 0;
    inside_define = (inside_define && *p != '\n') || macro;
    p += macro ? sizeof define - 1 : 0;
    size_t n = 0;
    while (is_in_word(p[n]))
      n++;
    if (n == length && memcmp(p, name, n) == 0 &&
        (macro || (!inside_define && depth == 0 && (p[n] == '(' || p[n] == ';'))))
      return true;
    depth += inside_define ? 0 : (*p == '(') - (*p == ')');
    p += n ? n : 1;
  }
  return false;
}

const char *constant_name_wrong(const char *name) {
  if (!is_identifier(name))
    return "this is no C identifier; choose a name that kernels can use";
  if (word_is_among(name, strlen(name), keywords))
    return "this is a word of C itself; choose another name";
  if (strncmp(name, "op2", 3) == 0)
    return "names that begin with op2 are the library's own in kernels; choose another name";
  if (name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1])))
    return "names that begin with _ and another _ or a capital are the compilers' own; choose another name";
  if (is_in_prelude(name))
    return "every kernel has a function, macro or type of this name; choose another name";
  return NULL;
}
