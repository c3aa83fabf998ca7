"""Rings with one fault: OUTPUT gets RINGS.C with one piece of text replaced by another.

usage: mutants.py NAME OUTPUT RINGS.C, or mutants.py for the list of names"""

import sys

FAULTS = {
    'odd_depths_not_asked_for': ('add_layer(b, 2 * k - 3, 2 * k - 2,', 'add_layer(b, 2 * k - 2, 2 * k - 2,'),
    'even_depths_not_asked_for': ('add_layer(b, 2 * k - 3, 2 * k - 2,', 'add_layer(b, 2 * k - 3, 2 * k - 3,'),
    'one_layer_too_few': ('k <= b->layers; k++)', 'k < b->layers; k++)'),
    'all_maps_followed': ('if (map->to != s || !map->followed)', 'if (map->to != s)'),
    'targets_of_all_maps_followed': ('map->followed ? depth : fringe_of(b)', 'depth'),
    'no_fringe': ('(int)word[1], map->followed ? depth : fringe_of(b));', '(int)word[1], map->followed ? depth : fringe_of(b) - 1);'),
    'elements_as_deep_as_their_targets': ('2 * k - 1, 2 * k, false', '2 * k, 2 * k, false'),
    'depth_of_the_first_way': ('else if (depth < k->depth[id])', 'else if (depth < 0)'),
    'owned_elements_alone_told': ('i < b->first[m][id + 1]; i++)', 'i < b->first[m][id + 1] && b->sources[m][i] < '
                                  'b->mesh->sets[map->from].extents[EXTENT_OWNED]; i++)'),
    'told_to_one_rank_only': ('if (*of == t->rank + 1)', 'if (*of)'),
    'owner_is_who_answers': ('add_word(out, rank, k->owner[id]);', 'add_word(out, rank, b->comm->rank);'),
    'order_by_number_alone': ('    return a->owner < b->owner ? -1 : 1;', '    return (a->number > b->number) - (a->number < b->number);'),
}


def main():
    if len(sys.argv) == 1:
        print('\n'.join(FAULTS))
        return
    name, output, source = sys.argv[1:]
    with open(source, encoding='utf-8') as file:
        text = file.read()
    old, new = FAULTS[name]
    if text.count(old) != 1:
        sys.exit(f'mutants.py: {name}: rings.c has "{old}" {text.count(old)} times, expected once')
    with open(output, 'w', encoding='utf-8') as file:
        file.write(text.replace(old, new))


if __name__ == '__main__':
    main()
