#!/bin/bash
# site.sh ROOT SITE.PY: ./dev docs makes the site without a warning, and site.py finds all in it.
set -u
root=$1 look=$2
for tool in sphinx-build doxygen; do
  command -v $tool >/dev/null || {
    echo "skipped: there is no $tool; ./dev test --with docs installs it"
    exit 77
  }
done
for module in myst_parser breathe furo; do
  /usr/bin/python3 -c "import $module" 2>/dev/null || {
    echo "skipped: /usr/bin/python3 has no $module; ./dev test --with docs installs it"
    exit 77
  }
done
work=$(mktemp -d) || exit 99
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
# shellcheck source=.ci/docs.sh
. "$root/.ci/docs.sh"
docs_site "$root" "$work/site" || exit 1
python3 "$look" "$work/site/html"
