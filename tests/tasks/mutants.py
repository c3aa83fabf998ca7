"""A file of the scheduler with one fault: OUTPUT gets FILE with one piece of text replaced by another.

usage: mutants.py NAME OUTPUT FILE, or mutants.py for the list: NAME FILE, a line each"""

import sys

FAULTS = {
    'ancestors_are_not_held': ('tasks/ready', 'if (!hold(&resources[a])) {', 'if (!hold(&resources[a]) && a < 0) {'),
    'below_does_not_count': ('tasks/ready', 'int unlocked = 0;', 'int unlocked = resources[r].state > 0 ? resources[r].state : 0;'),
    'nothing_is_undone': ('tasks/ready', 'while (l-- > locks.begin)', 'while (l-- > locks.begin && l < locks.begin)'),
    'parents_stay_held': ('tasks/ready', 'let_go(resources, r, -1);', 'let_go(resources, r, resources[r].parent);'),
    'locks_are_not_given_back': ('tasks/run', 'locks_give(g, task_locks(g, task));\n  if (r->phases)', ';\n  if (r->phases)'),
    'runs_before_the_last': ('tasks/run', '1, memory_order_acq_rel) == 1)\n          run_ready', '1, memory_order_acq_rel) == 2)\n          run_ready'),
    'counts_are_not_set_back': ('tasks/run', 'task->wait, task->before, memory_order_relaxed);', 'task->wait, 0, memory_order_relaxed);'),
    'parents_do_not_wait': ('tasks/added', 'atomic_fetch_add_explicit(&a->parent->wait, 1, memory_order_relaxed);', ''),
    'added_are_not_counted': ('tasks/added', 'atomic_fetch_add_explicit(&r->left, 1, memory_order_relaxed);', ''),
    'smallest_first': ('tasks/ready', 'q->heap[(i - 1) / 2].weight < e.weight', 'q->heap[(i - 1) / 2].weight > e.weight'),
    'lighter_child': ('tasks/ready', 'q->heap[child + 1].weight > q->heap[child].weight', 'q->heap[child + 1].weight < q->heap[child].weight'),
    'last_is_lost': ('tasks/ready', 'if (i < count - 1)\n      fill(q, i, count - 1, q->heap[count - 1]);', ''),
    'sums_in_place_of_the_longest': ('tasks/prepare', 'longest = g->tasks[*row.begin].weight;', 'longest += g->tasks[*row.begin].weight;'),
    'idle_tasks_weigh': ('tasks/prepare', 'tasks_type_works(&g->types[task->type]) ? task->cost : 0', 'task->cost'),
    'covered_locks_stay': ('tasks/prepare', 'if (!covered)', 'if (true || covered)'),
    'circles_are_not_seen': ('tasks/prepare', 'if (count < g->ntasks)', 'if (count < 0)'),
    'costs_are_not_measured': ('tasks/run', '(float)(cost + share', '(float)(cost + 0 * share'),
    'rows_lose_the_first': ('tasks/relation', 'for (size_t i = 0; i < r->nadded; i++)\n    at[r->added[i].task]++;', 'for (size_t i = 0; i < r->nadded; i++)\n    at[r->added[i].task] += i > 0 || r->nadded < 3;'),
    'nobody_is_woken': ('tasks/run', 'stop(r);\n    else\n', 'atomic_store(&r->stopped, true);\n    else\n'),
    'foreign_numbers_pass': ('tasks/number', 'top / 4 == g->serial && ', ''),
    'readers_do_not_keep_writers_off': ('plan/tasks', 'for (int r = t->readers; !code && r >= 0;', 'for (int r = -1; !code && r >= 0;'),
    'writers_do_not_keep_readers_off': ('plan/tasks', 'const int code = wait_for(b, block, t->writer, err);', 'const int code = OP_OK;'),
    'one_reader_is_enough': ('plan/tasks', '.next = t->readers};', '.next = -1};'),
    'blocks_that_meet_do_not_wait': ('plan/tasks', '{\n  int code = wait_for(b, block, t->writer, err);', '{\n  int code = OP_OK;'),
    'only_the_first_change_counts': ('plan/tasks', '(struct touched){.writer = block,', '(struct touched){.writer = t->writer >= 0 ? t->writer : block,'),
    'ready_one_too_early': ('exec/waits', 'memory_order_acq_rel) == 1) {', 'memory_order_acq_rel) == 2) {'),
    'bits_are_not_taken': ('exec/waits', 'atomic_fetch_and(&w->ready[i / BITS], ~bit(i)) & bit(i);', 'atomic_load(&w->ready[i / BITS]) & bit(i);'),
    'words_stay_hidden': ('exec/waits', 'word >= begin && word <= most;', 'word >= begin && word <= most && word != 5;'),
    'others_have_nothing': ('exec/waits', 'i = first < end ? take(w, first, end, true) : -1;', 'i = -1;'),
    'sleepers_sleep_on': ('exec/waits', 'gate_open(&w->gate);\n  else', 'gate_value(&w->gate);\n  else'),
    'nothing_goes_there': ('tasks/copies', 'p->device->copy_in(p->device->self, begin, p->staging + begin, end - begin, &err);', ''),
    'old_copies_stay': ('tasks/phases', 'copies_reach(p, task_locks(p->g, task), REACH_CHANGED);', 'copies_reach(p, task_locks(p->g, task), REACH_LOOK);'),
    'changes_stay_there': ('tasks/phases', 'atomic_store_explicit(&p->segments[s.begin].newest, NEWEST_DEVICE', 'atomic_store_explicit(&p->segments[s.begin].newest, NEWEST_BOTH'),
    'what_waits_comes_back_late': ('tasks/phases', 'if (!is_of_device(p, task) &&\n', 'if (!is_of_device(p, task) && task != NULL) return false;\n  if (!is_of_device(p, task) &&\n'),
    'phases_hold_nothing': ('tasks/phases', 'p->locks[p->nlocks++] = r;', 'locks_give(g, (struct row){&r, &r + 1});'),
    'the_check_sees_no_change': ('tasks/check', 'if (!locks_it(g, task, i))', 'if (!locks_it(g, task, i) && i < 0)'),
}


def main():
    if len(sys.argv) == 1:
        print('\n'.join(f'{name} {fault[0]}' for name, fault in FAULTS.items()))
        return
    name, output, source = sys.argv[1:]
    with open(source, encoding='utf-8') as file:
        text = file.read()
    _, old, new = FAULTS[name]
    if text.count(old) != 1:
        sys.exit(f'mutants.py: {name}: {source} has "{old}" {text.count(old)} times, expected once')
    with open(output, 'w', encoding='utf-8') as file:
        file.write(text.replace(old, new))


if __name__ == '__main__':
    main()
