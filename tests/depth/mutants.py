"""The arithmetic of depths, or of copies, with one fault: OUTPUT gets SOURCE with one piece of text replaced by another.

usage: mutants.py depth|copies NAME OUTPUT SOURCE, or mutants.py depth|copies for the list of names"""

import sys

DEPTH = {
    'half_layer_too_few': ('is_odd(run) ? run + 1 : run + 2;', 'is_odd(run) ? run : run + 1;'),
    'odd_depths_not_rounded_down': ('is_odd(run) ? run + 1 : run + 2;', 'run + 1;'),
    'sums_valid_as_far_as_run': ('is_mapped(a) ? depth_complete(run) : run);', 'is_mapped(a) ? depth_complete(99) * 0 + run : run);'),
    'sums_valid_a_half_layer_less': ('return is_odd(run) ? run - 1 : run - 2;', 'return run - 1;'),
    'mapped_changes_read_nothing': ('    if (reads(a))', '    if (a->use == CHAIN_READS || (reads(a) && !is_mapped(a)))'),
    'direct_changes_read_nothing': ('    if (reads(a))', '    if (a->use == CHAIN_READS || (reads(a) && is_mapped(a)))'),
    'subsets_overwrite_all': ('bool all = loop->whole;', 'bool all = true;'),
    'maps_overwrite_all': ('use == CHAIN_OVERWRITES && !is_mapped(&loop->accesses[i]);', 'use == CHAIN_OVERWRITES;'),
    'sums_need_no_old_value': ('all &= loop->accesses[i].use == CHAIN_OVERWRITES',
                               'all &= loop->accesses[i].use >= CHAIN_ADDS'),
    'foreign_sums_not_run': ('is_odd(need) ? need + 2 : need + 1;', 'is_odd(need) ? need + 1 : need;'),
    'odd_needs_met_by_the_next': ('is_odd(need) ? need + 2', 'is_odd(need) ? need + 1'),
    'direct_changes_owned_alone': ('return !mapped ? larger(need, 0)', 'return !mapped ? 0'),
    'depth_not_lowered': ('is_mapped(a) ? depth_complete(run) : run);', 'is_mapped(a) ? depth_complete(run) + 99 : run + 99);'),
    'depth_of_the_last_loop_alone': ('valid[a->dat] = smaller(valid[a->dat], is_mapped',
                                     'valid[a->dat] = smaller(run, is_mapped'),
    'rows_of_the_outermost_not_counted': ('if (a->map >= 0 && (b->changed', 'if (a->use == CHAIN_READS && a->map >= 0 && (b->changed'),
    'subsets_known_everywhere': ('loop->whole ? deepest : deepest - 1);', 'deepest);'),
    'constants_everywhere': ('(b->changed[a->dat] || !b->wish->fringe)', 'b->changed[a->dat]'),
    'needs_of_the_last_loop_alone': ('need[a->dat] = larger(need[a->dat], depth_read', 'need[a->dat] = larger(0, depth_read'),
    'limits_forgotten': ('adds && run > 1 && b->wish->limits', 'adds && run > 99 && b->wish->limits'),
    'not_kept_apart': ('(apart && end - first > 1))', '(apart && end - first > 99))'),
    'sums_through_maps_are_direct': ('a->map >= 0 && !a->own;', 'a->map >= 0 && !a->own && a->use != CHAIN_ADDS;'),
}

COPIES = {
    'foreign_sums_not_run': ('return e < set_of(f, dat)->owned || f->needed', 'return f->needed'),
    'copies_need_nothing': ('if (e < set->owned || f->runs[e])', 'if (e < set->owned)'),
    'changes_read_nothing': ('a->use != CHAIN_READS && a->use != CHAIN_WRITES)', 'a->use != CHAIN_READS)'),
    'border_needs_nothing': ('for (long e = set->core; e < set->all; e++)', 'for (long e = set->owned; e < set->all; e++)'),
    'some_overwrite_all': ('bool all = loop->whole;', 'bool all = true;'),
    'sums_overwrite_all': ('all &= loop->accesses[i].use == CHAIN_OVERWRITES', 'all &= loop->accesses[i].use >= CHAIN_ADDS'),
    'first_column_alone': ('for (long k = 0; e < f->sets[loop->set].rows && k < a->count; k++)\n    any', 'for (long k = 0; e < f->sets[loop->set].rows && k < 1; k++)\n    any'),
    'direct_changes_not_run': ('    return is_needed(f, a->dat, e);', '    return false;'),
    'without_rows_not_run': ('e < set->all; e++)\n      f->runs[e]', 'e < set->rows; e++)\n      f->runs[e]'),
    'first_loop_left_out': ('l >= first; l--)', 'l > first; l--)'),
}
EARLY = {
    'readers_mind_nothing': ('? CHANGED\n', '? 0\n'),
    'minds_no_readers': (': CHANGED | READ | ADDED;', ': CHANGED | ADDED;'),
    'what_adds_minds_no_readers': ('!w->ordered ? CHANGED | READ', '!w->ordered ? CHANGED'),
    'minds_readers_alone': (': CHANGED | READ | ADDED;', ': READ;'),
    'border_is_early': ('e >= w->sets[loop->set].core && i <', 'e >= w->sets[loop->set].all && i <'),
    'late_elements_leave_no_marks': ('    if (when[e] == WHEN_REST)\n      note(w, loop, e);', ''),
    'copies_leave_no_marks': ('    w->when[l - w->first][run->elements[i]] = WHEN_REST;\n    note(w, loop, run->elements[i]);',
                              '    w->when[l - w->first][run->elements[i]] = WHEN_REST;'),
    'parts_are_early_by_elements': ('w->segments[s].cuts && (first || second)', 'w->segments[s].cuts && (first && second)'),
    'first_parts_are_early_behind_a_late_one': ('note_late(w, l, first ? 0 : cut);', 'note_late(w, l, cut);'),
    'first_column_alone': ('w->sets[loop->set].rows && k < a->count; k++)', 'w->sets[loop->set].rows && k < 1; k++)'),
    'copies_by_one_column': ('w->changed[a->dat] && c < map->arity; c++)', 'w->changed[a->dat] && c < 1; c++)'),
    'sums_are_reads': ('return use == CHAIN_READS ? READ', 'return use != CHAIN_OVERWRITES ? READ'),
    'rim_forgets_what_is_sent': ('d < w->chain->ndats; d++)\n    for (long i', 'd < 0; d++)\n    for (long i'),
    'packing_between_segments_reads_nothing': ('      note_sent(w, w->segments[s - 1].sent);', '      note_sent(w, NULL);'),
    'sums_of_loops_are_not_told_apart': ('of[e] & ~(unsigned)ADDED) | CHANGED', 'of[e] & ~(unsigned)ADDED)'),
    'blocks_below_no_mark': ('  if (more && target < w->low[dat])\n    w->low[dat] = target;\n', ''),
    'blocks_by_their_first_rows': ('place) > high[e / BLOCK])', 'place) > high[e / BLOCK] && e % BLOCK == 0)'),
    'blocks_reach_copies': ('bool apart = end <= w->sets[loop->set].core;', 'bool apart = true;'),
    'rim_is_one_loop_deep': ('  *when = WHEN_RIM;\n  note(w, loop, e);', '  *when = WHEN_RIM;'),
    'rim_without_copies': ('    for (long i = run->count - 1; i >= 0; i--)\n      look_back(w, loop, run', '    for (long i = -1; i >= 0; i--)\n      look_back(w, loop, run'),
}
ALL = {'early': EARLY, 'depth': DEPTH, 'copies': COPIES}


def main():
    faults = ALL[sys.argv[1]]
    if len(sys.argv) == 2:
        print('\n'.join(faults))
        return
    name, output, source = sys.argv[2:]
    with open(source, encoding='utf-8') as file:
        text = file.read()
    old, new = faults[name]
    if text.count(old) != 1:
        sys.exit(f'mutants.py: {name}: the arithmetic has "{old}" {text.count(old)} times, expected once')
    with open(output, 'w', encoding='utf-8') as file:
        file.write(text.replace(old, new))


if __name__ == '__main__':
    main()
