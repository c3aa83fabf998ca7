/* The command op2jit mesh draw. */
#include <string.h>

#include "base/aside.h"
#include "cli/draw/draw.h"

enum { DRAW_OF, DRAW_PARTS, DRAW_MAP }; /* its options */

static const struct view *find_view(const char *word) {
  for (const struct view *v = draw_views; v->word; v++)
    if (strcmp(v->word, word) == 0)
      return v;
  return NULL;
}

static bool has_edges(const struct mesh_file *m) {
  for (int i = 0; i < m->ntables; i++)
    if (m->tables[i].to >= 0 && m->tables[i].columns == 2)
      return true;
  return false;
}

/* The loop that is drawn: over the edges, to the two cells of each; else any map to another set. */
static const struct mesh_table *find_loop(const struct mesh_file *m, const char *name) {
  const int points = mesh_find_points(m);
  const struct mesh_table *best = NULL;
  for (int i = 0; i < m->ntables; i++) {
    const struct mesh_table *t = &m->tables[i];
    if (t->to < 0 || (name && strcmp(t->name, name) != 0))
      continue;
    const bool to_cells = t->columns == 2 && points >= 0 && t->to != m->tables[points].set;
    if (!best || to_cells)
      best = t;
    if (to_cells)
      break;
  }
  return best;
}

static int draw(struct cli *cli, struct mesh_file *m, const struct view *view, int parts, struct error *err) {
  struct picture picture = {0};
  struct text panels = {0}, svg = {0};
  int code = has_edges(m) ? OP_OK : mesh_add_sides(m, err);
  const struct view_wish wish = {parts, find_loop(m, cli->values[DRAW_MAP])};
  if (!code && !wish.loop)
    code = error_set(err, OP_ERR_FILE, "there is no map%s%s; op2jit mesh info lists them",
                     cli->values[DRAW_MAP] ? " " : "", cli->values[DRAW_MAP] ? cli->values[DRAW_MAP] : "");
  if (!code)
    code = picture_open(&picture, m, &panels, err);
  if (!code)
    code = view->draw(&picture, &wish, err);
  if (!code)
    picture_close(&picture, &svg);
  if (!code && (!text_ok(&panels) || !text_ok(&svg)))
    code = error_memory(err, "a picture", svg.length);
  if (!code)
    code = aside_whole(cli->words[1], text_str(&svg), svg.length, err);
  picture_free(&picture);
  text_free(&panels);
  text_free(&svg);
  return code;
}

static int run_draw(struct cli *cli) {
  const char *word = cli->values[DRAW_OF] ? cli->values[DRAW_OF] : draw_views[0].word;
  const struct view *view = find_view(word);
  long long parts = view ? view->parts : 0;
  if (!view)
    return cli_fail(CLI_USAGE, "--of %s: expected sets, maps, colours, owners, tiles or halos", word);
  if (cli->values[DRAW_PARTS] && (!cli_number(cli->values[DRAW_PARTS], 1000, &parts) || parts < 1))
    return cli_fail(CLI_USAGE, "--parts %s: expected a number from 1 to 1000", cli->values[DRAW_PARTS]);
  struct mesh_file m = {0};
  struct error err = {0};
  int code = mesh_read(cli, &m, cli->words[0], &err);
  if (!code && (code = draw(cli, &m, view, (int)parts, &err)))
    error_prefix(&err, "%s: ", cli->words[0]);
  if (code)
    cli_fail(CLI_FAILED, "%s", error_message(&err));
  else if (cli->json)
    json_object(&cli->out, NULL, "file:t of:t parts:i", cli->words[1], view->word, parts);
  else
    text_addf(&cli->out, "%s: %s, %lld part%s\n", cli->words[1], view->word, parts, mesh_plural(parts));
  error_free(&err);
  mesh_file_free(&m);
  return code ? CLI_FAILED : CLI_OK;
}

const struct command cli_draw[] = {
    {.group = "mesh",
     .name = "draw",
     .arguments = "FILE NEW.svg",
     .least = 2,
     .most = 2,
     .help = "Draw a small mesh, and how loops run on it",
     .more =
         "WHAT is sets (each with its numbers), maps (as arrows), colours (blocks of N elements, those of "
         "one "
         "colour at the same time), owners (what each of N threads owns; dashed: what is between them), "
         "tiles "
         "(three loops in N tiles), halos (the parts of N ranks, and what the last of them has). The plans "
         "are those that loops run by, of a loop that adds through MAP: without --map, from edges to cells. "
         "Edges are made where the file has none. For meshes of up to 20000 elements, in two dimensions.",
     .run = run_draw,
     .options = {{"--of", "WHAT", "sets, maps, colours, owners, tiles or halos"},
                 {"--parts", "N", "block size, threads, tiles or ranks"},
                 {"--map", "MAP", "the map through which the loop adds"}}},
    {0}};
