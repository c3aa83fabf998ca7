! The module op2jit: views, ragged maps, accesses that are found, preludes, reports.
module newer_tasks
  use op2jit
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_int) :: steps(6) = 0
  integer(op_number) :: more
contains
  ! Each adds to what the one before it left; the last one adds a task.
  subroutine step(running, data) bind(c)
    type(c_ptr), value :: running, data
    integer(c_int), pointer :: range(:)
    call c_f_pointer(data, range, [2])
    steps(range(1)) = steps(range(1) - 1) + range(2)
    if (range(1) == 4 .and. op_running_thread(running) < op_running_threads(running)) then
      if (op_running_add(running, more, [5, 10]) /= 0) steps = -1
    end if
  end subroutine
end module

program newer
  use op2jit
  use newer_tasks
  use, intrinsic :: iso_c_binding
  use check
  implicit none
  character(*), parameter :: code = &
      'static void grow(double *x) { x[0] += 1; x[1] *= 2; }'//new_line('a')// &
      'static void multiply(int n, const double **a, const double **x, double *y) {'//new_line('a')// &
      '  double sum = 0; for (int k = 0; k < n; k++) sum += *OP_ROW(a, k) * *OP_ROW(x, k); *y = sum; }'//new_line('a')// &
      'static void unsaid(const double *x, double *y, double *all) { *y = 2 * *x; *all += *x; }'//new_line('a')
  character(*), parameter :: shifted = 'static void shift(double *y) { *y += OFFSET; }'
  type(op_set) :: set, entries, empty
  type(op_map) :: rows
  type(op_dat) :: d, a, x, y
  type(op_gbl) :: kept
  type(op_arg) :: args(3)
  real(8), target :: array(2, 6), table(3, 4), out(6), total, value
  real(4), target :: wrong(12)
  real(8) :: cpu, wall
  integer(8) :: offsets(7)
  integer :: stat, targets(10)
  character(:), allocatable :: report
  character(400) :: errmsg
  logical :: compiles
  character(20) :: backend

  call get_environment_variable('OP2_BACKEND', backend)
  compiles = backend /= 'native'
  call op_init(diags=0)
  set = op_decl_set(6, 'six')
  call views()
  call ragged()
  if (compiles) call kernels()
  call tasks()
  kept = op_decl_gbl(1, 'real(8)', name='kept')
  value = 5
  call op_get_gbl(kept, value)
  call expect(value == 0, 'a global without a value begins as zeros')
  call op_timers(cpu, wall)
  call expect(cpu >= 0 .and. wall > 0, 'timers')
  call op_report_json(report)
  call expect(report(1:1) == '{' .and. index(report, '"loops"') > 0, 'a report: '//report(1:min(60, len(report))))
  call expect(op_get_size(empty, stat, errmsg) == -1 .and. stat == op_err_handle .and. index(errmsg, 'op_get_size') > 0, &
      'the size of no set: '//trim(errmsg))
  call op_barrier(stat)
  call expect(stat == 0, 'a barrier')
  call op_open_hdf5(stat, errmsg)
  call expect(stat == 0 .or. stat == op_err_not_built, 'files: '//trim(errmsg))
  call op_exit()
  call op_barrier(stat)
  call expect(stat == op_err_state, 'a barrier after the end')
  call end_of('newer')

contains

  subroutine views()
    array = reshape([1d0, 1d0, 2d0, 2d0, 3d0, 3d0, 4d0, 4d0, 5d0, 5d0, 6d0, 6d0], [2, 6])
    d = op_decl_dat_view(set, 2, 'real(8)', array, 'array')
    if (compiles) call op_par_loop(code, 'grow', set, [op_arg_dat(d, -1, OP_ID, 2, 'real(8)', OP_RW)])
    call op_acquire(d, OP_RW)
    if (compiles) call expect(all(array(1, :) == [2, 3, 4, 5, 6, 7]) .and. all(array(2, :) == [2, 4, 6, 8, 10, 12]), &
        'a view has what the loop made')
    array(2, :) = 10
    call op_acquire(d, OP_READ, stat, errmsg)
    call expect(stat == op_err_state .and. index(errmsg, '"array"') > 0, 'acquired twice: '//trim(errmsg))
    call op_release(d)
    call op_release(d, stat)
    call expect(stat == op_err_state, 'released twice')
    if (compiles) call op_par_loop(code, 'grow', set, [op_arg_dat(d, -1, OP_ID, 2, 'real(8)', OP_RW)])
    call op_free_dat(d)
    if (compiles) call expect(all(array(2, :) == 20) .and. all(array(1, :) == [3, 4, 5, 6, 7, 8]), &
        'a view that was freed leaves its values')
    d = op_decl_dat_view(set, 1, 'real(8)', array(1, :), 'section', stat, errmsg)
    call expect(stat == op_err_argument .and. index(errmsg, 'section') > 0, 'a section as a view: '//trim(errmsg))
    d = op_decl_dat_view(set, 2, 'real(8)', wrong, 'kind', stat, errmsg)
    call expect(stat == op_err_type .and. index(errmsg, 'real(4)') > 0, 'a view of another kind: '//trim(errmsg))
    d = op_decl_dat_view(set, 3, 'real(8)', array, 'short', stat, errmsg)
    call expect(stat == op_err_size .and. index(errmsg, 'has 18 values, and the array 12') > 0, 'a short view: '//trim(errmsg))
    d = op_decl_dat(set, 2, 'real(8)', array, 'copy')
    call op_acquire(d, OP_READ, stat, errmsg)
    call expect(stat == op_err_handle .and. index(errmsg, 'op_decl_dat_view') > 0, 'a dat that is no view: '//trim(errmsg))
    table = 0
  end subroutine

  ! A matrix by rows: row e has e mod 3 entries, in the columns e and those before it.
  subroutine ragged()
    integer :: e, k
    offsets(1) = 1
    do e = 1, 6
      offsets(e + 1) = offsets(e) + mod(e, 3)
      do k = 0, mod(e, 3) - 1
        targets(offsets(e) + k) = e - k
      end do
    end do
    rows = op_decl_map_ragged(set, set, offsets, targets, 'rows')
    entries = op_map_entries(rows)
    call expect(op_get_size(entries) == 6, 'entries of a ragged map')
    a = op_decl_dat(entries, 1, 'real(8)', [(real(k, 8), k = 1, 6)], 'a')
    x = op_decl_dat(set, 1, 'real(8)', [(10d0**k, k = 0, 5)], 'x')
    y = op_decl_dat(set, 1, 'real(8)', name='y')
    if (compiles) then
      call op_par_loop(code, 'multiply', set, [op_arg_dat(a, OP_ALL, rows, 1, 'real(8)', OP_READ), &
          op_arg_dat(x, OP_ALL, rows, 1, 'real(8)', OP_READ), op_arg_dat(y, -1, OP_ID, 1, 'real(8)', OP_WRITE)])
      call op_fetch_data(y, out)
      call expect(all(out == [1d0, 2*10d0 + 3, 0d0, 4*1d3, 5*1d4 + 6*1d3, 0d0]), 'a matrix times a vector')
    end if
    rows = op_decl_map_ragged(set, set, int(offsets(1:7) - 1), targets, 'zero', stat, errmsg)
    call expect(stat == op_err_argument .and. index(errmsg, 'expected 1') > 0, 'offsets from 0: '//trim(errmsg))
    rows = op_decl_map_ragged(set, set, offsets(1:6), targets, 'few', stat, errmsg)
    call expect(stat == op_err_size .and. index(errmsg, 'needs 7 offsets') > 0, 'too few offsets: '//trim(errmsg))
    rows = op_decl_map_ragged(set, set, offsets, targets(1:5), 'short', stat, errmsg)
    call expect(stat == op_err_size .and. index(errmsg, 'says 6 targets, and the array has 5') > 0, &
        'too few targets: '//trim(errmsg))
    targets(2) = 0
    rows = op_decl_map_ragged(set, set, offsets, targets(1:6), 'zero', stat, errmsg)
    call expect(stat == op_err_map_range .and. index(errmsg, 'count from 1') > 0, 'a target 0: '//trim(errmsg))
    targets(2) = 7
    rows = op_decl_map_ragged(set, set, offsets, targets, 'far', stat, errmsg)
    call expect(stat == op_err_map_range, 'a target beyond the set: '//trim(errmsg))
    entries = op_map_entries(OP_ID, stat, errmsg)
    call expect(stat == op_err_handle, 'entries of no ragged map: '//trim(errmsg))
  end subroutine

  ! A chain of steps, and a loop in pieces behind it.
  subroutine tasks()
    type(op_graph) :: graph, shared
    type(op_graph_facts_t) :: facts
    integer(op_number) :: kind, lock, task, before, pieces(2)
    integer :: i
    graph = op_decl_graph('steps')
    kind = op_graph_type(graph, 'step', step)
    more = kind
    call op_graph_kernel(graph, kind, op_kernel_text('void step(op_task_memory const int *n, op_task_memory double *x) { }'), &
        'step')
    lock = op_graph_resource(graph, 0_op_number, 'steps')
    call op_graph_memory(graph, lock, c_loc(out), 48_c_size_t)
    call op_graph_own(graph, lock, 0)
    before = op_graph_task(graph, op_graph_type(graph, 'join'))
    steps = 0
    do i = 2, 4
      task = op_graph_task(graph, kind, [i, i], cost=1d0)
      call op_graph_depend(graph, task, before)
      call op_graph_lock(graph, task, lock)
      before = task
    end do
    if (compiles) then
      call op_graph_loop(graph, pieces, op_kernel_text(shifted), 'shift', set, [op_arg_dat(y, -1, OP_ID, 1, 'real(8)', OP_RW)], &
          bounds=[1, 3, 7])
      call op_graph_depend(graph, pieces(1), before)
      call op_graph_use(graph, pieces(2), lock)
      call op_graph_loop(graph, pieces, op_kernel_text(shifted), 'shift', set, [op_arg_dat(y, -1, OP_ID, 1, 'real(8)', OP_RW)], &
          bounds=[1, 7], stat=stat, errmsg=errmsg)
      call expect(stat == op_err_size .and. index(errmsg, '2 tasks need 3 bounds') > 0, 'bounds of a loop: '//trim(errmsg))
      call op_graph_loop(graph, pieces, op_kernel_text(shifted), 'shift', set, [op_arg_dat(y, -1, OP_ID, 1, 'real(8)', OP_RW)], &
          bounds=[1, 3, 8], stat=stat, errmsg=errmsg)
      call expect(stat == op_err_range .and. index(errmsg, 'element 8; ') > 0 .and. index(errmsg, 'from 1 to 7') > 0, &
          'bounds beyond the set: '//trim(errmsg))
      call op_put_data(y, [1d0, 2d0, 3d0, 4d0, 5d0, 6d0])
    end if
    call op_graph_run(graph)
    call expect(all(steps == [0, 2, 5, 9, 19, 0]), 'steps of tasks')
    facts = op_graph_facts(graph)
    call expect(facts%executed == merge(7, 5, compiles) .and. facts%locks == 3 .and. facts%runs == 1, 'facts of a graph')
    call expect(op_graph_simulate(graph, 4) >= 0, 'what more threads would take')
    if (compiles) then
      call op_fetch_data(y, out)
      call expect(all(out == [101d0, 102d0, 103d0, 104d0, 105d0, 106d0]), 'a loop in tasks')
    end if
    call op_graph_depend(graph, op_graph_task(graph, kind, [2, 2]), 12345_op_number, stat, errmsg)
    call expect(stat == op_err_handle, 'a task of nobody: '//trim(errmsg))
    call op_graph_kernel(graph, kind, op_kernel_text('void step(op_task_memory int *n) { }'), 'step', 4, stat, errmsg)
    call expect(stat == op_err_state .and. index(errmsg, 'before the first task') > 0, 'a kernel behind tasks: '//trim(errmsg))
    shared = op_decl_graph('of ranks')
    call op_graph_ranks(shared, op_graph_parts)
    lock = op_graph_resource(shared, 0_op_number, 'all')
    call op_graph_owner(shared, lock, 0)
    task = op_graph_task(shared, op_graph_type(shared, 'join'))
    call op_graph_lock(shared, task, lock)
    call op_graph_place(shared, task, op_every_rank)
    call op_graph_key(shared, task, 5_op_number)
    call op_graph_depend_key(shared, op_graph_task(shared, op_graph_type(shared, 'join')), 5_op_number)
    call op_graph_run(shared)
    facts = op_graph_facts(shared)
    call expect(facts%executed == 2 .and. facts%ranks == 1, 'facts of a graph of ranks')
    call expect(op_graph_simulate_ranks(shared, 2, 2, 1d-6, 1d9) >= 0, 'what more ranks would take')
    call op_free_graph(graph)
    call op_graph_run(graph, stat, errmsg)
    call expect(stat == op_err_handle, 'a graph that was freed: '//trim(errmsg))
  end subroutine

  subroutine kernels()
    integer :: unit
    open (newunit=unit, file='offset.h', status='replace')
    write (unit, '(a)') '#define OFFSET 100'
    close (unit)
    call op_prelude_file('offset.h')
    call op_par_loop(shifted, 'shift', set, [op_arg_dat(y, -1, OP_ID, 1, 'real(8)', OP_RW)])
    call op_fetch_data(y, out)
    call expect(out(3) == 100, 'a prelude of a file')
    call op_prelude_file('nowhere.h', stat, errmsg)
    call expect(stat == op_err_file .and. index(errmsg, 'nowhere.h') > 0, 'no prelude: '//trim(errmsg))
    total = 0
    args = [op_arg_dat(x, -1, OP_ID, 1, 'real(8)', OP_READ), op_arg_dat(y, -1, OP_ID, 1, 'real(8)', OP_UNSAID), &
        op_arg_gbl(total, 1, 'real(8)', OP_UNSAID)]
    call op_find_accesses(code, 'unsaid', set, args)
    call op_par_loop(code, 'unsaid', set, args)
    call op_fetch_data(y, out)
    call expect(total == 111111d0 .and. out(6) == 2d5, 'accesses that were found')
    call op_par_loop(op_kernel_text(code), 'unsaid', set, [args(1:2), op_arg_gbl(table(1:2, 1:4:2), 4, 'real(8)', OP_INC)], &
        stat, errmsg)
    call expect(stat == op_err_dim .and. index(errmsg, 'a section whose values') > 0, 'a section for a result: '//trim(errmsg))
    call op_par_loop(code, 'unsaid', set, [args(1:2), op_arg_gbl(total, 2, 'real(8)', OP_INC)], stat, errmsg)
    call expect(stat == op_err_dim .and. index(errmsg, 'the dim is 2, and the variable has room for 1') > 0, &
        'a variable that is too short: '//trim(errmsg))
  end subroutine

end program
