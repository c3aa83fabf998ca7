"""The builder of tiles with one fault: OUTPUT gets its files as one, with one piece of text replaced by another.

usage: mutants.py NAME OUTPUT CLOSURE.C TILES.C, or mutants.py for the list of names"""

import sys

FAULTS = {
    'sums_do_not_meet': ('met = larger(met, touching(b, two, touched(b, one, end)));', 'met = met + 0;'),
    'sums_meet_alone': ('two->dat == one->dat)', 'two->dat == one->dat && two == one)'),
    'gaps_may_meet': ('closure_meet(b, l, right[l]) > next_left[l]', 'right[l] > next_left[l]'),
    'readers_do_not_count': ('r->written : larger(r->written, r->read)', 'r->written : r->written'),
    'writers_do_not_count_for_readers': ('use == CHAIN_READS ? r->written : larger', 'use == CHAIN_READS ? 0 : larger'),
    'one_column_only': ('most = larger(most, prefix_targets(b->prefixes[a->map], c, end));',
                        'most = prefix_targets(b->prefixes[a->map], c, end);'),
    'first_column_only': ('for (int c = a->first; a->map >= 0 && c < a->first + a->count; c++)\n'
                          '    most = larger(most, prefix_elements(', 
                          'for (int c = a->first; a->map >= 0 && c < a->first + 1; c++)\n'
                          '    most = larger(most, prefix_elements('),
    'only_sums_change': ('chain_note_changed(chain, changes);',
                         'for (int l = 0; l < chain->nloops; l++)\n'
                         '    for (int a = 0; a < chain->loops[l].naccesses; a++)\n'
                         '      changes[chain->loops[l].accesses[a].dat] |= chain->loops[l].accesses[a].use == CHAIN_ADDS;'),
    'rounds_down': ('up = (end + step - 1) / step * step', 'up = end / step * step'),
    'reach_is_not_noted': ('note(&b->reach[loop->accesses[a].dat], loop->accesses[a].use, touched(b',
                           'note(&b->reach[loop->accesses[a].dat], loop->accesses[a].use, 0 * touched(b'),
    'ends_may_meet': ('while (c->count > 1 && !is_apart(', 'while (c->count > 9999 && !is_apart('),
    'ends_do_not_mind': ('left[l]) > minds_high(', 'left[l]) - 99999 > minds_high('),
    'beginnings_do_not_mind': ('touching(b, a, minds(&ends[a->dat].low', '0 * touching(b, a, minds(&ends[a->dat].low'),
    'round_in_time': ('(a->map >= 0 && left[l] > b->prefixes[a->map]->ends.high_element)', 'false'),
    'no_gaps': ('memcpy(m->from, right_of(&m->cuts, chunk)', 'memcpy(m->from, left_of(&m->cuts, chunk)'),
    'gaps_begin_late': ('memcpy(m->from, left_of(c, cut)', 'memcpy(m->from, right_of(c, cut)'),
    'slots_are_split': ('b->step[l] = loop->combines ? b->block[l] : own;', 'b->step[l] = own;'),
    'small_sets_in_two_orders': ('add(m, loop, element[p], element[next - 1] + 1, slot, owner);',
                                 'add(m, loop, p, next, slot, owner);'),
    'no_new_positions': ('.new_position = to->position', '.new_position = NULL'),
    'loops_backwards': ('for (int l = 0; l < m->cuts.nloops; l++) {\n    add_range(m, l, from',
                        'for (int l = m->cuts.nloops - 1; l >= 0; l--) {\n    add_range(m, l, from'),
    'right_side_forgets': ('begin[l] = extend(b, l, closure_meet(b, l, left[l]));',
                           'begin[l] = round_up(b, l, closure_meet(b, l, left[l]));'),
}


def main():
    if len(sys.argv) == 1:
        print('\n'.join(FAULTS))
        return
    name, output, *sources = sys.argv[1:]
    text = ''
    for source in sources:
        with open(source, encoding='utf-8') as file:
            part = file.read()
        text += part
    old, new = FAULTS[name]
    if text.count(old) != 1:
        sys.exit(f'mutants.py: {name}: the builder has "{old}" {text.count(old)} times, expected once')
    with open(output, 'w', encoding='utf-8') as file:
        file.write(text.replace(old, new))


if __name__ == '__main__':
    main()
