# shellcheck shell=bash
# ./dev format and ./dev lint. Sourced by ./dev.

source_files() { # PATTERN...: tracked files, or all files if this is not a git checkout
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@"
  else
    local pattern
    for pattern in "$@"; do find . -name "$pattern" -not -path './build*' -printf '%P\n'; done
  fi
}

c_files() { source_files '*.c' '*.h' '*.cc'; }

format() {
  case $# in
  0) ;;
  1) [ "$1" = --check ] || usage format "./dev format does not know '$1'" ;;
  *) usage format "./dev format does not know '$2'" ;;
  esac
  setup
  command -v clang-format >/dev/null || fail "there is no clang-format: apt-get install clang-format"
  case ${1:-} in
  --check) format_check && say "all files are laid out" ;;
  '') c_files | xargs -r clang-format -i ;;
  esac
}

format_check() { # names the files; ./dev format changes them
  c_files | xargs -r clang-format --dry-run -Werror 2>&1 | sed -n 's/:[0-9]*:[0-9]*: error: code should.*/: needs .\/dev format/p' |
    sort -u | { ! grep .; }
}

compiled_files() { # the C files that the ordinary build compiles, without the tests
  c_files | grep '\.c$' | grep -v '^tests/' | while read -r file; do
    if grep -q "/$file\"" build/compile_commands.json; then say "$file"; fi
  done
}

# Options that only gcc knows are left out of what clang is told.
lint_tidy() {
  local status
  mkdir -p "$STATE/commands"
  sed 's/ -mmemset-strategy=[^ "]*//g' build/compile_commands.json >"$STATE/commands/compile_commands.json"
  compiled_files | xargs -r -P 2 -n 4 clang-tidy -p "$STATE/commands" --quiet --warnings-as-errors='*' >"$STATE/tidy" 2>&1
  status=$?
  grep -v ' warnings\? generated\.$' "$STATE/tidy"
  return $status
}

# Leaks are the address sanitizer's: cppcheck does not follow a pointer into a struct's literal. Nor does it tell a
# member's name in one from a variable, and then asks about the order of evaluation.
lint_cppcheck() {
  # shellcheck disable=SC2046 # file names have no spaces here
  cppcheck --quiet --std=c11 --enable=warning,portability,performance -D__CPPCHECK__ --inline-suppr --error-exitcode=1 \
    --suppress=missingIncludeSystem --suppress=unknownMacro --suppress=memleak --suppress=unknownEvaluationOrder -j 2 -I runtime -I include -I . \
    $(c_files | grep '\.c$' | grep -v '^tests/')
}

lint_shell() {
  # shellcheck disable=SC2046
  shellcheck -x dev .ci/run $(source_files '*.sh')
}

lint() {
  local status=0
  takes_none lint "$@"
  setup
  build build || exit 1
  lint_with clang-format "layout" format_check || status=1
  lint_with python3 "lengths, unfinished work, pages" lint_text || status=1
  lint_with python3 "rooms, arrows, knots" lint_house || status=1
  lint_with python3 "facts as codes" lint_sentences || status=1
  lint_with shellcheck "shell scripts" lint_shell || status=1
  lint_with cppcheck "cppcheck" lint_cppcheck || status=1
  lint_with clang-tidy "clang-tidy" lint_tidy || status=1
  return $status
}

lint_text() {
  # shellcheck disable=SC2046
  python3 .ci/lint.py $(source_files '*.c' '*.h' '*.cc' '*.py' '*.sh' '*meson.build') dev .ci/run
}

lint_house() { # docs/rooms.md says what holds
  python3 .ci/house.py --check
}

lint_sentences() { # no code looks into a message
  python3 .ci/sentences.py
}

lint_with() { # TOOL LABEL FUNCTION
  if command -v "$1" >/dev/null; then
    step "lint: $2" "lint-$3" "$3"
  else
    say "lint: $2 left out: there is no $1 here"
  fi
}
