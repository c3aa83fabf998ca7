! The module op2jit: every type and rank in and out, what arguments there are, errors by stat=, sections, files.
module surface_kernels
  use, intrinsic :: iso_c_binding
  implicit none
contains
  subroutine twice(a, b, n)
    real(c_double), intent(in) :: a(2)
    real(c_double), intent(out) :: b(2)
    integer(c_int), intent(in) :: n
    b = 2*a + n
  end subroutine
end module

program surface
  use op2jit
  use, intrinsic :: iso_c_binding
  use check
  use surface_kernels
  implicit none
  character(*), parameter :: code = &
      'static void twice(const double *a, double *b, const int *n) { b[0] = 2 * a[0] + *n; b[1] = 2 * a[1] + *n; }'// &
      new_line('a')// &
      'static void spread(const double *w, double *one, double *other) { *one += *w; *other += *w; }'//new_line('a')// &
      'static void far(const double *v[2], double *sum) { *sum += *v[0] + *v[1]; }'//new_line('a')// &
      'static void top(const double *v, const int *n, double *most, int *where) {'// &
      '  if (*v > *most) { *most = *v; *where = *n; } }'//new_line('a')// &
      'static void kinds(const float *f, const int *i, const long long *l, const bool *b, const int *t, double *s) {'// &
      '  *s += *f + *i + *l + (*b ? 100 : 0) + (*t ? 1000 : 0); }'//new_line('a')
  character(*), parameter :: scaled = 'void scaled(double *x) { *x = factor * *x + offsets[1]; }'
  type(op_set) :: nodes, edges, some
  type(op_map) :: ends
  type(op_dat) :: a, b, w, sum
  type(op_kernel) :: text
  type(op_counters_t) :: before, after
  integer :: table(2, 4), i, stat
  real(8) :: values(2, 5), back(2, 5), sums(5)
  real(8), target :: total, most
  integer, target :: where
  character(400) :: errmsg

  call op_init(diags=0)
  nodes = op_decl_set(5, 'nodes')
  edges = op_decl_set(4, 'edges')
  table = reshape([1, 2, 2, 3, 3, 4, 4, 5], [2, 4])
  ends = op_decl_map(edges, nodes, 2, table, 'ends')
  text = op_kernel_text(code)
  call op_kernel_native(text, 'twice', twice)
  call expect(op_get_size(nodes) == 5 .and. op_get_global_size(edges) == 4_8, 'sizes of sets')

  values = reshape([(real(i, 8), i = 1, 10)], [2, 5])
  a = op_decl_dat(nodes, 2, 'real(8)', values, 'a')
  b = op_decl_dat(nodes, 2, 'real(8)', name='b')
  call op_par_loop(text, 'twice', nodes, [ &
      op_arg_dat(a, -1, OP_ID, 2, 'real(8)', OP_READ), &
      op_arg_may_meet(op_arg_dat(b, -1, OP_ID, 2, 'real(8)', OP_WRITE)), op_arg_idx(-1, OP_ID)])
  call op_fetch_data(b, back)
  call expect(all(back == 2*values + spread([0, 1, 2, 3, 4], 1, 2)), 'a kernel in both languages')

  if (compiles()) then
    w = op_decl_dat(edges, 1, 'r8', [1d0, 2d0, 3d0, 4d0], 'w')
    sum = op_decl_dat_temp(nodes, 1, 'real*8', [0d0, 0d0, 0d0, 0d0, 0d0], 'sum')
    call op_par_loop(code, 'spread', edges, [op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_dat(sum, 1, ends, 1, 'real(8)', OP_INC), op_arg_dat(sum, 2, ends, 1, 'real(8)', OP_INC)])
    call op_fetch_data(sum, sums)
    call expect(all(sums == [1d0, 3d0, 5d0, 7d0, 4d0]), 'increments through both columns')
    call op_fetch_data_idx(sum, sums(1:2), 2, 3)
    call expect(all(sums(1:2) == [3d0, 5d0]), 'elements 2 to 3')
    total = 0
    call op_par_loop(text, 'far', edges, [op_arg_dat(sum, -2, ends, 1, 'real(8)', OP_READ), &
        op_arg_gbl(total, 1, 'real(8)', OP_INC)])
    call expect(total == 35d0, 'all targets of a map')
    some = op_decl_subset(nodes, [2, 5], 'some')
    most = -1
    where = -1
    call op_par_loop(text, 'top', some, [op_arg_dat(sum, -1, OP_ID, 1, 'real(8)', OP_READ), op_arg_idx(-1, OP_ID), &
        op_arg_gbl(most, 1, 'real(8)', OP_MAX), op_arg_info(where, 1, 'integer(4)', 3)])
    call expect(most == 4d0 .and. where == 4, 'the largest of a subset, and its number, which C counts from 0')
    call check_kinds()
    call check_constants()
    before = op_counters()
    call op_renumber(ends)
    call op_fetch_data(sum, sums)
    after = op_counters()
    call expect(all(sums == [1d0, 3d0, 5d0, 7d0, 4d0]), 'nothing that the user sees is renumbered')
    call expect(after%loops == before%loops, 'counters')
    call op_free_dat_temp(sum)
    call op_fetch_data(sum, sums, stat, errmsg)
    call expect(stat == op_err_handle .and. index(errmsg, 'op_fetch_data') > 0, 'a freed dat: '//trim(errmsg))
  end if
  call check_types()
  if (.not. compiles()) then
    call op_par_loop('static void zero(double *x) { x[0] = x[1] = 0; }', 'zero', nodes, &
        [op_arg_dat(b, -1, OP_ID, 2, 'real(8)', OP_WRITE)], stat, errmsg)
    call expect(stat == op_err_backend .and. index(errmsg, 'name its procedure with op_kernel_native') > 0, &
        'a kernel without a native form: '//trim(errmsg))
  end if
  call check_errors()
  call check_files()
  call op_exit()
  call op_exit(stat)
  call expect(stat == op_err_state, 'op_exit twice')
  call check_base()
  call end_of('surface')

contains

  ! Without a compiler there are only kernels with a native form.
  logical function compiles()
    character(20) :: backend
    call get_environment_variable('OP2_BACKEND', backend)
    compiles = backend /= 'native'
  end function

  subroutine check_kinds()
    type(op_dat) :: f, n, l, y, t
    real(8), target :: sum
    f = op_decl_dat(edges, 1, 'real(4)', [1., 2., 3., 4.], 'f')
    n = op_decl_dat(edges, 1, 'integer(4)', [10, 20, 30, 40], 'n')
    l = op_decl_dat(edges, 1, 'integer(8)', [100_8, 200_8, 300_8, 400_8], 'l')
    y = op_decl_dat(edges, 1, 'logical(1)', logical([.true., .false., .true., .false.], c_bool), 'y')
    t = op_decl_dat(edges, 1, 'logical', [.true., .true., .true., .false.], 't')
    sum = 0
    call op_par_loop(text, 'kinds', edges, [op_arg_dat(f, -1, OP_ID, 1, 'real(4)', OP_READ), &
        op_arg_dat(n, -1, OP_ID, 1, 'integer(4)', OP_READ), op_arg_dat(l, -1, OP_ID, 1, 'integer(8)', OP_READ), &
        op_arg_dat(y, -1, OP_ID, 1, 'logical(1)', OP_READ), op_arg_dat(t, -1, OP_ID, 1, 'logical', OP_READ), &
        op_arg_gbl(sum, 1, 'real(8)', OP_INC)])
    call expect(sum == 10 + 100 + 1000 + 200 + 3000, 'all types in a kernel')
  end subroutine

  subroutine check_constants()
    real(8), target :: now(5)
    type(op_dat) :: x
    type(op_gbl) :: kept
    integer :: read
    x = op_decl_dat(nodes, 1, 'real(8)', [1d0, 2d0, 3d0, 4d0, 5d0], 'x')
    call op_decl_const('factor', 1, 'real(8)', 2d0)
    call op_decl_const('offsets', 2, 'real(8)', [5d0, 7d0])
    call op_par_loop(scaled, 'scaled', nodes, [op_arg_dat(x, -1, OP_ID, 1, 'real(8)', OP_RW)])
    call op_update_const('factor', 3d0)
    call op_par_loop(scaled, 'scaled', nodes, [op_arg_dat(x, -1, OP_ID, 1, 'real(8)', OP_RW)])
    call op_fetch_data(x, now)
    call expect(all(now == 3*(2*[1d0, 2d0, 3d0, 4d0, 5d0] + 7) + 7), 'constants, and new values of them')
    kept = op_decl_gbl(1, 'integer(4)', 5, 'kept')
    call op_put_gbl(kept, 6)
    call op_get_gbl(kept, read)
    call expect(read == 6, 'a global that the library keeps')
  end subroutine

  ! Each type of each rank, out as it went in, whole and as sections.
  subroutine check_types()
    integer :: k
    type(op_set) :: set
    type(op_dat) :: d
    real(8) :: r8(12)
    real(4) :: r4(2, 6), r4_back(2, 6)
    integer(4) :: i4(2, 2, 3), i4_back(2, 2, 3)
    integer(8) :: i8(24), i8_back(24)
    logical :: l4(12), l4_back(12)
    logical(c_bool) :: l1(2, 6), l1_back(2, 6)
    set = op_decl_set(6, 'six')
    r8 = [(k/4d0, k = 1, 12)]
    d = op_decl_dat(set, 2, 'real(8)', r8)
    r8 = 0
    call op_fetch_data(d, r8)
    call expect(all(r8 == [(k/4d0, k = 1, 12)]), 'real(8) of rank 1')
    r4 = reshape([(real(k), k = 1, 12)], [2, 6])
    d = op_decl_dat(set, 2, 'real(4)', r4, 'd')
    call op_fetch_data(d, r4_back)
    call expect(all(r4_back == r4), 'real(4) of rank 2')
    i4 = reshape([(k, k = 1, 12)], [2, 2, 3])
    d = op_decl_dat(set, 2, 'integer(4)', i4, 'd')
    call op_fetch_data(d, i4_back)
    call expect(all(i4_back == i4), 'integer(4) of rank 3')
    i8 = [(int(k, 8), k = 1, 24)]
    d = op_decl_dat(set, 2, 'integer(8)', i8(1:24:2), 'd')
    i8_back = 0
    call op_fetch_data(d, i8_back(2:24:2))
    call expect(all(i8_back(2:24:2) == i8(1:24:2)) .and. all(i8_back(1:24:2) == 0), 'sections of integer(8)')
    l4 = [(mod(k, 3) == 0, k = 1, 12)]
    d = op_decl_dat(set, 2, 'logical', l4, 'd')
    call op_put_data(d, .not. l4)
    call op_fetch_data(d, l4_back)
    call expect(all(l4_back .neqv. l4), 'logical')
    l1 = reshape(logical(l4, c_bool), [2, 6])
    d = op_decl_dat(set, 2, 'logical(1)', l1, 'd')
    call op_fetch_data(d, l1_back)
    call expect(all(logical(l1_back .eqv. l1)), 'logical(1) of rank 2')
  end subroutine

  subroutine check_errors()
    real(4) :: wrong(10)
    real(8), target :: two(2), few(4)
    type(op_dat) :: d
    type(op_map) :: m
    integer(8) :: long(2, 4)
    stat = 99
    d = op_decl_dat(nodes, 2, 'real(8)', wrong, 'wrong', stat, errmsg)
    call expect(stat == op_err_type .and. index(errmsg, '"wrong" is declared "real(8)"') > 0 .and. &
        index(errmsg, 'real(4)') > 0, 'kinds that differ: '//trim(errmsg))
    d = op_decl_dat(nodes, 2, 'real(16)', values, 'wrong', stat, errmsg)
    call expect(stat == op_err_type .and. index(errmsg, 'real(16)') > 0, 'an unknown type: '//trim(errmsg))
    d = op_decl_dat(nodes, 2, 'real(8)', few, 'few', stat, errmsg)
    call expect(stat == op_err_size .and. index(errmsg, 'has 10 values, and the array 4') > 0, 'too short: '//trim(errmsg))
    table(2, 3) = 0
    m = op_decl_map(edges, nodes, 2, table, 'zero', stat, errmsg)
    call expect(stat == op_err_map_range .and. index(errmsg, 'a 0 for element 3') > 0 .and. &
        index(errmsg, 'base=0') > 0, 'a map from 0: '//trim(errmsg))
    table(2, 3) = 6
    m = op_decl_map(edges, nodes, 2, table, 'far', stat, errmsg)
    call expect(stat == op_err_map_range, 'a map beyond its set: '//trim(errmsg))
    table(2, 3) = 4
    long = table
    m = op_decl_map(edges, nodes, 2, long, 'long', stat, errmsg)
    call expect(stat == 0, 'a table of integer(8)')
    m = op_decl_map(nodes, nodes, 2, [1, 2, 2, 3, 3, 4, 4, 5, 5, 1], 'next')
    call op_par_loop(text, 'twice', nodes, [op_arg_dat(a, -1, OP_ID, 2, 'real(8)', OP_READ), &
        op_arg_dat(b, 0, m, 2, 'real(8)', OP_WRITE), op_arg_idx(-1, OP_ID)], stat, errmsg)
    call expect(stat == op_err_index .and. index(errmsg, 'argument 2: the index is 0') > 0 .and. &
        index(errmsg, 'expected 1 .. 2 for one target') > 0, 'column 0 of a map: '//trim(errmsg))
    call op_par_loop(text, 'twice', nodes, [op_arg_dat(a, -1, OP_ID, 2, 'real(8)', OP_READ), &
        op_arg_dat(b, 3, m, 2, 'real(8)', OP_WRITE), op_arg_idx(-1, OP_ID)], stat, errmsg)
    call expect(stat == op_err_index .and. index(errmsg, 'the index is 3') > 0, 'a column beyond: '//trim(errmsg))
    two = 0
    call op_par_loop(text, 'twice', nodes, [op_arg_dat(a, -1, OP_ID, 2, 'real(8)', OP_READ), &
        op_arg_gbl(few(1:4:2), 2, 'real(8)', OP_INC), op_arg_idx(-1, OP_ID)], stat, errmsg)
    call expect(stat == op_err_dim .and. index(errmsg, 'argument 2') > 0, 'a section for a result: '//trim(errmsg))
    call op_par_loop(text, 'twice', nodes, [op_arg_dat(a, -1, OP_ID, 2, 'real(4)', OP_READ), &
        op_arg_dat(b, -1, OP_ID, 2, 'real(8)', OP_WRITE), op_arg_idx(-1, OP_ID)], stat, errmsg)
    call expect(stat == op_err_type .and. index(errmsg, 'argument 1') > 0, 'an argument of another type: '//trim(errmsg))
    text = op_kernel_file('nowhere.c', stat, errmsg)
    call expect(stat == op_err_file .and. index(errmsg, 'nowhere.c') > 0, 'a kernel file: '//trim(errmsg))
    errmsg = 'as it was'
    call op_put_data(a, values, stat, errmsg)
    call expect(stat == 0 .and. errmsg == 'as it was', 'a call that succeeds leaves errmsg')
  end subroutine

  ! The library again, with tables from 0: entries do, columns still count from 1.
  subroutine check_base()
    type(op_map) :: m
    ! In files all tables count from 0.
    call op_init(diags=0)
    nodes = op_decl_set(5, 'nodes')
    edges = op_decl_set(4, 'edges')
    m = op_decl_map(edges, nodes, 2, table, 'ends')
    call op_dump_to_hdf5('mesh.h5', stat, errmsg)
    if (stat /= op_err_not_built) then
      call expect(stat == 0, 'a mesh into a file: '//trim(errmsg))
      m = op_decl_map_hdf5(edges, nodes, 2, 'mesh.h5', 'ends', stat, errmsg)
      call expect(stat == 0, 'a map out of a file: '//trim(errmsg))
    end if
    call op_exit()
    call op_init(diags=0, base=0)
    nodes = op_decl_set(5, 'nodes')
    edges = op_decl_set(4, 'edges')
    m = op_decl_map(edges, nodes, 2, table - 1, 'from zero', stat, errmsg)
    call expect(stat == 0, 'a table from 0: '//trim(errmsg))
    m = op_decl_map(edges, nodes, 2, table, 'beyond', stat, errmsg)
    call expect(stat == op_err_map_range .and. index(errmsg, 'is 5; expected 0 .. 4') > 0 .and. &
        index(errmsg, 'leave base=0') > 0, 'a table from 1 where they count from 0: '//trim(errmsg))
    call op_exit()
  end subroutine

  subroutine check_files()
    type(op_set) :: again
    type(op_dat) :: d
    type(op_map) :: m
    real(8) :: rows(2, 5)
    call op_print_dat_to_txtfile(a, 'a.txt')
    call op_dump_to_hdf5('all.h5', stat, errmsg)
    if (stat == op_err_not_built) return
    call expect(stat == op_err_argument .or. stat == 0 .or. stat == op_err_file, 'a dump: '//trim(errmsg))
    call op_fetch_data_hdf5_file(a, 'a.h5')
    call op_write_const_hdf5('of_a', 1, 'integer(4)', 2, 'a.h5')
    again = op_decl_set_hdf5('nowhere.h5', 'nodes', stat, errmsg)
    call expect(stat == op_err_file .and. index(errmsg, 'nowhere.h5') > 0, 'a file that is not there: '//trim(errmsg))
    d = op_decl_dat_hdf5(nodes, 2, 'real(8)', 'a.h5', 'a')
    rows = 0
    call op_fetch_data(d, rows)
    call expect(all(rows == values), 'a dat out of a file')
    i = 0
    call op_get_const_hdf5('of_a', 1, 'integer(4)', i, 'a.h5')
    call expect(i == 2, 'a constant out of a file')
    m = ends
    call op_write_vtk('picture', -1, [a, b])
    call op_write_vtk('series', 0, [a, b], time=0.5d0)
  end subroutine

end program
