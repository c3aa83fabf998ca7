# shellcheck shell=bash
# ./dev docs: the manual as a site, in .cache/dev/site. Sourced by ./dev; docs_site is also what the tests call.

# docs_site ROOT WORK: pages and drawings are gathered in WORK/source, and the site is made in WORK/html.
# What Sphinx finds fault with is an error.
docs_site() {
  local root=$1 work=$2
  rm -rf "$work" && mkdir -p "$work/source" "$work/doxygen" || return 1
  # Links lead out of docs/: what they name lies beside it, as in the tree.
  cp -R "$root/docs" "$work/source/" && cp -R "$root/include" "$root/samples" "$root"/*.md "$root/CITATION.cff" "$work/source/" || return 1
  (cd "$root" && { cat docs/guide/Doxyfile && echo "OUTPUT_DIRECTORY = $work/doxygen"; } | doxygen - >"$work/doxygen.log" 2>&1) ||
    { cat "$work/doxygen.log"; return 1; }
  cp "$root/meson.build" "$work/source/"
  OP2JIT_DOXYGEN=$work/doxygen/xml sphinx-build -q -W --keep-going -c "$work/source/docs/guide" "$work/source/docs" "$work/html"
}

docs() {
  [ $# -eq 0 ] || usage docs "./dev docs does not know '$1'"
  setup
  setup_with docs
  wait_for_packages
  if ! command -v sphinx-build >/dev/null || ! command -v doxygen >/dev/null; then
    fail "there is no sphinx-build or no doxygen: the packages of 'docs' could not be installed"
  fi
  # shellcheck disable=SC2153 # of ./dev
  step "read the headers, make the site" docs docs_site "$ROOT" "$STATE/site" || exit 1
  say "The site begins at .cache/dev/site/html/index.html"
}
