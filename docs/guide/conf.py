"""The site: Sphinx reads the pages of docs/, and Breathe what Doxygen made of the headers. ./dev docs calls it."""

import logging
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "..", "..", "meson.build"), encoding="utf-8") as file:
    release = re.search(r"version: '([^']+)'", file.read()).group(1)

project, version, author = "op2jit", release, "the authors of op2jit"
project_copyright = author
extensions = ["myst_parser", "breathe"]
breathe_projects = {"op2jit": os.environ.get("OP2JIT_DOXYGEN", "")}
breathe_default_project = "op2jit"
breathe_domain_by_extension = {"h": "c"}
myst_heading_anchors = 4
root_doc = "index"
source_suffix = {".md": "markdown"}
exclude_patterns = ["guide/steps/*.c"]
html_theme = "furo"
html_title = f"op2jit {release}"
html_show_sphinx = False
html_copy_source = False
# Pages link to files of the tree, which are no pages of the site; lint.py checks those.
suppress_warnings = ["myst.xref_missing"]


class NotTwice(logging.Filter):
    """Breathe declares what a header declares both in a section and outside, which Sphinx counts as twice."""

    def filter(self, record):
        return "Duplicate C declaration" not in str(record.msg)


logging.getLogger("sphinx.sphinx.domains.c").addFilter(NotTwice())


def setup(app):
    """The site's first page takes the place of the README, which is no page of it."""

    def lead_to_first_page(app, name, source):
        source[0] = re.sub(r"\]\((?:\.\./)+README\.md", f"]({'../' * name.count('/')}index.md", source[0])

    app.connect("source-read", lead_to_first_page)
