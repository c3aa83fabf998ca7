! The module op2jit: what is refused, and that it is told in Fortran's words and numbers.
module refused_kernels
  use op2jit
  implicit none
contains
  subroutine twice(a, b)
    real(8), intent(in) :: a(2)
    real(8), intent(out) :: b(2)
    b = 2*a
  end subroutine

  ! The procedure inside is gone when this one returns.
  subroutine name_inside(text, by, stat, errmsg)
    type(op_kernel), intent(in) :: text
    real(8), intent(in) :: by
    integer, intent(out) :: stat
    character(*), intent(inout) :: errmsg
    real(8) :: factor
    factor = by
    call op_kernel_native(text, 'twice', inside, stat, errmsg)
    factor = factor + 1
  contains
    subroutine inside(a, b)
      real(8), intent(in) :: a(2)
      real(8), intent(out) :: b(2)
      b = factor*a
    end subroutine
  end subroutine
end module

program refused
  use op2jit
  use refused_kernels
  use check
  implicit none
  character(*), parameter :: code = 'static void twice(const double *a, double *b) { b[0] = 2 * a[0]; b[1] = 2 * a[1]; }'
  type(op_set) :: nodes, edges, some
  type(op_map) :: ends
  type(op_dat) :: a, b
  type(op_gbl) :: kept
  type(op_kernel) :: text, none
  integer :: stat
  character(600) :: errmsg

  call op_init(diags=0)
  nodes = op_decl_set(6, 'nodes')
  edges = op_decl_set(4, 'edges')
  ends = op_decl_map(edges, nodes, 2, reshape([1, 2, 2, 3, 3, 4, 4, 6], [2, 4]), 'ends')
  call handles()
  call shapes()
  call larger()
  call nothing()
  call numbers()
  call types()
  call kernels()
  call kernels_in_fortran()
  call checked()
  call op_exit()
  call end_of('refused')

contains

  ! Arguments' intents on every backend; constants where the text is compiled.
  subroutine kernels_in_fortran()
    character(*), parameter :: nl = new_line('a')
    character(16) :: backend
    type(op_dat) :: c, d
    type(op_kernel) :: k
    c = op_decl_dat(nodes, 2, 'real(8)', name='c')
    d = op_decl_dat(nodes, 2, 'real(8)', name='d')
    k = op_kernel_text('module m'//nl//'real(8) :: rate'//nl//'contains'//nl//'subroutine k(a, b)'//nl// &
        'real(8), intent(in) :: a(2)'//nl//'real(8), intent(out) :: b(2)'//nl//'b = rate*a'//nl//'end'//nl//'end')
    call op_par_loop(k, 'k', nodes, [op_arg_dat(c, -1, OP_ID, 2, 'real(8)', OP_READ), &
        op_arg_dat(d, -1, OP_ID, 2, 'real(8)', OP_INC)], stat, errmsg)
    call told(op_err_kernel, 'argument 2 (b) is intent(out), which forgets what it held, and the loop passes it OP_INC', &
        'intent(out) that is added to')
    call op_par_loop(k, 'k', nodes, [op_arg_dat(c, -1, OP_ID, 2, 'real(8)', OP_READ)], stat, errmsg)
    call told(op_err_kernel, 'write "subroutine k(a)"', 'an argument too many')
    call get_environment_variable('OP2_BACKEND', backend)
    if (backend == 'native') return
    call op_par_loop(k, 'k', nodes, [op_arg_dat(c, -1, OP_ID, 2, 'real(8)', OP_READ), &
        op_arg_dat(d, -1, OP_ID, 2, 'real(8)', OP_WRITE)], stat, errmsg)
    call told(op_err_const, 'rate is a variable of module m, and kernels read of these only constants of the library; '// &
        'write `call op_decl_const(''rate'', 1, ''real(8)'', rate)` before the loop', 'a variable that is no constant')
    call op_decl_const('rate', 1, 'real(4)', 1.5)
    call op_par_loop(k, 'k', nodes, [op_arg_dat(c, -1, OP_ID, 2, 'real(8)', OP_READ), &
        op_arg_dat(d, -1, OP_ID, 2, 'real(8)', OP_WRITE)], stat, errmsg)
    call told(op_err_const, 'op_decl_const declared rate with dim 1 and type real(4), and in module m it has dim 1 and '// &
        'type real(8)', 'a constant of another type')
  end subroutine

  ! What is found while loops run: with Fortran's lines, names and numbers, which are from 1 for elements, too.
  subroutine checked()
    character(*), parameter :: nl = new_line('a'), inout = nl//'real(8), intent(inout) :: '
    character(80) :: names, other
    type(op_dat) :: c, d
    type(op_kernel) :: k
    call get_environment_variable('OP2_CHECK', names)
    call get_environment_variable('OP2_SHADOW', other)
    c = op_decl_dat(nodes, 2, 'real(8)', [0d0, 0d0, 1d0, 0d0, 3d0, 0d0, 0d0, 0d0, 0d0, 0d0, 0d0, 0d0], 'c')
    d = op_decl_dat(nodes, 1, 'real(8)', name='d')
    k = op_kernel_text('subroutine reaches(a)'//inout//'a(2)'//nl//'real(8) :: register(0:2)'//nl//'register = 0'//nl// &
        'register(int(a(1))) = 1'//nl//'a(2) = register(1)'//nl//'end'//nl//'subroutine sets(a, new)'//nl// &
        'real(8), intent(in) :: a(2)'//inout//'new'//nl//'new = a(1)'//nl//'end'//nl// &
        'subroutine put(a, b)'//inout//'a, b'//nl//'a = 2*b'//nl//'b = a + 1'//nl//'end'//nl// &
        'subroutine twice(a, b)'//nl//'real(8), intent(in) :: a(2)'//nl// &
        'real(8), intent(out) :: b(2)'//nl//'b = 2*a'//nl//'if (a(1) > 2) b(2) = 5'//nl//'end')
    call op_par_loop(k, 'put', edges, [op_arg_dat(d, 1, ends, 1, 'real(8)', OP_READ), &
        op_arg_dat(d, 2, ends, 1, 'real(8)', OP_WRITE)], stat, errmsg)
    if (stat /= op_err_kernel) call told(op_err_alias, 'both reach element 2 of set "nodes" (argument 2 from element 1 of '// &
        'set "edges")', 'one dat read and written')
    if (other /= '') then
      call op_kernel_native(k, 'twice', twice)
      call op_par_loop(k, 'twice', nodes, [op_arg_dat(c, -1, OP_ID, 2, 'real(8)', OP_READ), &
          op_arg_dat(b, -1, OP_ID, 2, 'real(8)', OP_WRITE)], stat, errmsg)
      call told(op_err_violation, 'dat "b", element 3 of set "nodes", component 2, is 5 with', 'another answer of the procedure')
    end if
    if (names == '') return
    call op_par_loop(k, 'reaches', nodes, [op_arg_dat(c, -1, OP_ID, 2, 'real(8)', OP_RW)], stat, errmsg)
    call told(op_err_violation, 'element 3 of set "nodes" (kernel text:5:1): the kernel uses element 4 of the array register, '// &
        'which has 3', 'an index out of bounds')
    call op_par_loop(k, 'sets', edges, [op_arg_dat(c, 1, ends, 2, 'real(8)', OP_READ), &
        op_arg_dat(d, 1, ends, 1, 'real(8)', OP_INC)], stat, errmsg)
    call told(op_err_violation, 'argument 2 (new) is declared OP_INC', 'a sum that is set')
    call expect(index(errmsg, 'kernel text:11:7') > 0 .and. index(errmsg, '`x = x + ...`') > 0, 'its line: '//trim(errmsg))
    call op_par_loop(k, 'put', edges, [op_arg_dat(d, 1, ends, 1, 'real(8)', OP_RW), &
        op_arg_dat(d, 2, ends, 1, 'real(8)', OP_RW)], stat, errmsg)
    call told(op_err_violation, 'elements 1 and 2 of set "edges" both write element 2 of set "nodes"', 'elements that meet')
  end subroutine

  subroutine told(code, part, what)
    integer, intent(in) :: code
    character(*), intent(in) :: part, what
    call expect(stat == code .and. index(errmsg, part) > 0, what//': '//trim(errmsg))
    call expect(index(errmsg, 'void') + index(errmsg, 'subtract') + index(errmsg, 'C variable') + &
        index(errmsg, 'type double') + index(errmsg, 'double[') == 0, what//' in the words of C: '//trim(errmsg))
  end subroutine

  ! What a declaration that failed left.
  subroutine handles()
    type(op_dat) :: d
    type(op_map) :: m
    real(8) :: out(12)
    call op_fetch_data(d, out, stat, errmsg)
    call told(op_err_handle, 'the dat is NULL; expected', 'a dat that was never declared')
    d = op_decl_dat(nodes, 0, 'real(8)', name='thin', stat=stat)
    call op_fetch_data(d, out, stat, errmsg)
    call told(op_err_handle, 'a declaration that failed leaves it ("dat "thin": the dim is 0', 'a dat that was refused')
    m = op_decl_map(edges, nodes, 0, [1], 'flat', stat)
    call op_renumber(m, stat, errmsg)
    call told(op_err_handle, 'map "flat": the arity is 0', 'a map that was refused')
  end subroutine

  ! Components come first.
  subroutine shapes()
    integer :: table(4, 2), right(2, 4), cube(1, 2, 4), e
    integer(8) :: long(4, 2)
    real(8) :: x(6, 2), y(2, 6), wide(3, 6), grid(2, 3), deep(2, 2, 6), out(24)
    real(8), target :: view(6, 2)
    type(op_map) :: m
    type(op_dat) :: d
    table = 1
    long = 1
    m = op_decl_map(edges, nodes, 2, table, 'ends', stat, errmsg)
    call told(op_err_dim, '"ends" has 2 targets for each element', 'a table the wrong way round')
    call expect(index(errmsg, 'it is declared (4, 2); declare it (2, 4)') > 0, 'the right declaration: '//trim(errmsg))
    m = op_decl_map(edges, nodes, 2, long, 'ends', stat, errmsg)
    call told(op_err_dim, 'declare it (2, 4)', 'a table of integer(8) the wrong way round')
    m = op_decl_map(edges, nodes, 2, transpose(table), 'ends', stat)
    call expect(stat == 0, 'a table that was turned')
    m = op_decl_map(edges, nodes, 1, table(:, 1:1), 'column', stat)
    call expect(stat == 0, 'a table of one column')
    right = 1
    cube = 1
    m = op_decl_map(edges, nodes, 2, right(:, 4:1:-1), 'back', stat)
    call expect(stat == 0, 'a section of a table')
    x = 1
    wide = 1
    view = 1
    d = op_decl_dat(nodes, 2, 'real(8)', x, 'x', stat, errmsg)
    call told(op_err_dim, '"x" has 2 values for each element, which lie side by side', 'data the wrong way round')
    call expect(index(errmsg, 'it is declared (6, 2); declare it (2, 6)') > 0, 'the right declaration: '//trim(errmsg))
    d = op_decl_dat_temp(nodes, 2, 'real(8)', x, 'x', stat, errmsg)
    call told(op_err_dim, 'declare it (2, 6)', 'a temporary the wrong way round')
    d = op_decl_dat(nodes, 2, 'real(8)', wide, 'wide', stat, errmsg)
    call told(op_err_dim, 'it is declared (3, 6); declare it (2, 6)', 'data with more rows than components')
    d = op_decl_dat_view(nodes, 2, 'real(8)', view, 'view', stat, errmsg)
    call told(op_err_dim, 'declare it (2, 6)', 'a view the wrong way round')
    deep = 1
    d = op_decl_dat(nodes, 3, 'real(8)', deep, 'deep', stat, errmsg)
    call told(op_err_dim, 'it is declared (2, 2, 6); declare it (3, 6)', 'an array of rank 3')
    d = op_decl_dat(nodes, 4, 'real(8)', deep, 'deep', stat)
    call expect(stat == 0, 'a small matrix for each element')
    grid = reshape([(real(e, 8), e = 1, 6)], [2, 3])
    d = op_decl_dat(nodes, 1, 'real(8)', grid, 'grid', stat)
    call expect(stat == 0, 'a number for each element of a grid')
    d = op_decl_dat(op_decl_set(0, 'nothing'), 2, 'real(8)', x, 'unused', stat)
    call expect(stat == 0, 'any array where there are no elements')
    y = reshape([(real(e, 8), e = 1, 12)], [2, 6])
    a = op_decl_dat(nodes, 2, 'real(8)', y, 'a')
    b = op_decl_dat(nodes, 2, 'real(8)', name='b')
    call op_fetch_data(a, x, stat, errmsg)
    call told(op_err_dim, '"a" has 2 values for each element', 'data out the wrong way round')
    call op_fetch_data_idx(a, x, 2, 4, stat, errmsg)
    call told(op_err_dim, 'declare it (2, 3)', 'some data out the wrong way round')
    call op_put_data(a, x, stat, errmsg)
    call told(op_err_dim, 'declare it (2, 6)', 'data in the wrong way round')
    call op_fetch_data(a, out(13:), stat)
    call expect(stat == 0 .and. all(out(13:) == reshape(y, [12])), 'an array of rank 1 has no way round')
  end subroutine

  ! Arrays of rank 1 may be larger, and those that data are fetched into.
  subroutine larger()
    integer :: table(2, 5)
    real(8) :: x(2, 7), deep(2, 2, 6), flat(20), out(2, 7), two(2)
    real(8), target :: view(2, 7)
    type(op_map) :: m
    type(op_dat) :: d
    type(op_gbl) :: g
    table = 1
    x = 1
    deep = 1
    flat = 1
    view = 1
    two = 1
    m = op_decl_map(edges, nodes, 2, table, 'long', stat, errmsg)
    call told(op_err_dim, '"long" has 2 targets for each of 4 elements, and the array is declared (2, 5), which is larger; ' &
        //'declare it (2, 4)', 'a table for more elements')
    m = op_decl_map(edges, nodes, 2, table(:, :4), 'part', stat)
    call expect(stat == 0, 'the part of a table that is meant')
    d = op_decl_dat(nodes, 2, 'real(8)', x, 'long', stat, errmsg)
    call told(op_err_dim, 'declare it (2, 6)', 'data for more elements')
    d = op_decl_dat_view(nodes, 2, 'real(8)', view, 'long', stat, errmsg)
    call told(op_err_dim, 'is larger', 'a view of more elements')
    d = op_decl_dat(nodes, 2, 'real(8)', deep, 'deep', stat, errmsg)
    call told(op_err_dim, 'it is declared (2, 2, 6); declare it (2, 6)', 'small matrices for a vector')
    d = op_decl_dat(nodes, 2, 'real(8)', flat, 'flat', stat)
    call expect(stat == 0, 'a list that is longer')
    out = -1
    call op_fetch_data(d, out, stat)
    call expect(stat == 0 .and. all(out(:, :6) == 1) .and. all(out(:, 7) == -1), 'data into a larger array')
    call op_decl_const('one', 1, 'real(8)', two, stat, errmsg)
    call told(op_err_size, '"one" has 1 value, and the array 2', 'a constant of more values')
    call op_decl_const('one', 1, 'real(8)', two(1:1))
    call op_update_const('one', two, stat, errmsg)
    call told(op_err_size, '"one" has 1 value, and the array 2', 'more new values')
    g = op_decl_gbl(1, 'real(8)', two, 'g', stat, errmsg)
    call told(op_err_size, '"g" has 1 value, and the array 2', 'a global of more values')
  end subroutine

  ! Arrays that are not there.
  subroutine nothing()
    real(8), allocatable :: x(:), y(:, :), z(:, :, :), one
    real(8), allocatable, target :: view(:)
    real(8), pointer :: p(:, :)
    integer, allocatable :: list(:), table(:, :)
    integer, pointer :: to(:, :)
    logical, allocatable :: flags(:)
    type(op_map) :: m
    type(op_dat) :: d
    p => null()
    to => null()
    d = op_decl_dat(nodes, 1, 'real(8)', x, 'x', stat, errmsg)
    call told(op_err_argument, 'op_decl_dat: the array for "x" is not allocated', 'no data')
    d = op_decl_dat(nodes, 2, 'real(8)', y, 'y', stat, errmsg)
    call told(op_err_argument, 'is not allocated', 'no data of rank 2')
    d = op_decl_dat(nodes, 4, 'real(8)', z, 'z', stat, errmsg)
    call told(op_err_argument, 'is not allocated', 'no data of rank 3')
    d = op_decl_dat(nodes, 2, 'real(8)', p, 'p', stat, errmsg)
    call told(op_err_argument, 'a pointer that is not associated', 'a pointer to no data')
    d = op_decl_dat(nodes, 1, 'logical', flags, 'flags', stat, errmsg)
    call told(op_err_argument, 'is not allocated', 'no logicals')
    d = op_decl_dat_view(nodes, 1, 'real(8)', view, 'view', stat, errmsg)
    call told(op_err_argument, 'is not allocated', 'a view of nothing')
    m = op_decl_map(edges, nodes, 2, table, 'table', stat, errmsg)
    call told(op_err_argument, 'op_decl_map: the array for "table" is not allocated', 'no table')
    m = op_decl_map(edges, nodes, 2, to, 'to', stat, errmsg)
    call told(op_err_argument, 'is not allocated', 'a pointer to no table')
    m = op_decl_map_ragged(edges, nodes, list, list, 'ragged', stat, errmsg)
    call told(op_err_size, 'needs 5 offsets', 'no offsets')
    some = op_decl_subset(nodes, list, 'some', stat, errmsg)
    call told(op_err_argument, 'the elements are NULL', 'no elements')
    d = op_decl_dat(nodes, 1, 'real(8)', name='there')
    call op_fetch_data(d, x, stat, errmsg)
    call told(op_err_argument, 'is not allocated', 'data out to nothing')
    call op_fetch_data(d, y, stat, errmsg)
    call told(op_err_argument, 'is not allocated', 'data out to nothing of rank 2')
    call op_put_data(d, x, stat, errmsg)
    call told(op_err_argument, 'is not allocated', 'data in from nothing')
    call op_decl_const('none', 1, 'real(8)', one, stat, errmsg)
    call told(op_err_argument, 'the value is NULL', 'a constant of no value')
    call op_decl_const('none', 2, 'real(8)', x, stat, errmsg)
    call told(op_err_argument, 'is not allocated', 'a constant of no values')
    call loop_with(op_arg_gbl(x, 2, 'real(8)', OP_READ))
    call told(op_err_argument, 'argument 2: the data is NULL', 'a global that is nowhere')
    d = op_decl_dat(op_decl_set(0, 'none'), 2, 'real(8)', y, 'none', stat)
    call expect(stat == 0, 'no data for no elements')
  end subroutine

  ! All count from 1.
  subroutine numbers()
    integer :: table(2, 4), targets(3)
    real(8) :: out(2, 6)
    type(op_map) :: m
    table = reshape([1, 2, 2, 3, 3, 7, 4, 6], [2, 4])
    m = op_decl_map(edges, nodes, 2, table, 'far', stat, errmsg)
    call told(op_err_map_range, 'entry 2 of element 3 of set "edges" is 7; expected 1 .. 6', 'a map beyond its set')
    table = reshape([2, 3, 3, 4, 4, 5, 5, 7], [2, 4]) - 1
    m = op_decl_map(edges, nodes, 2, table + 1, 'shifted', stat, errmsg)
    call told(op_err_map_range, 'entry 2 of element 4 of set "edges" is 7; expected 1 .. 6', 'a table that is one too large')
    targets = [1, 9, 2]
    m = op_decl_map_ragged(edges, nodes, [1, 2, 2, 4, 4], targets, 'ragged', stat, errmsg)
    call told(op_err_map_range, 'target 1 of element 3 of set "edges" is 9; expected 1 .. 6', 'a target of a ragged map')
    m = op_decl_map_ragged(edges, op_decl_set(0, 'nobody'), [1, 1, 1, 2, 2], [4], 'ragged', stat, errmsg)
    call told(op_err_map_range, 'element 3 of set "edges" has the target 4', 'a ragged map into an empty set')
    m = op_decl_map_ragged(edges, nodes, [1, 3, 2, 4, 4], targets, 'ragged', stat, errmsg)
    call told(op_err_argument, 'offset 3 of map "ragged" is 2, and the one before it 3', 'offsets that go back')
    some = op_decl_subset(nodes, [2, 7], 'some', stat, errmsg)
    call told(op_err_range, 'elements(2) is 7; expected 1 .. 6', 'an element of a subset')
    some = op_decl_subset(nodes, [2, 3, 2], 'some', stat, errmsg)
    call told(op_err_argument, 'elements(3) is 2, as elements(1) is', 'an element of a subset twice')
    some = op_decl_subset_range(nodes, 4, 4, 'some', stat, errmsg)
    call told(op_err_range, 'begins at 4; expected 1 .. 3', 'a range of a subset')
    call op_fetch_data_idx(a, out, 5, 7, stat, errmsg)
    call told(op_err_range, 'elements 5 .. 7 of dat "a"; expected 1 <= low <= high <= 6', 'elements that are not there')
    call op_fetch_data_idx(a, out, 0, 0, stat, errmsg)
    call told(op_err_range, 'elements 0 .. 0 of dat "a"; expected 1 <=', 'element 0')
  end subroutine

  ! Of constants, globals and arguments.
  subroutine types()
    real(4), target :: single(2)
    real(8), target :: double(2)
    single = 1
    double = 1
    call op_decl_const('ratio', 2, 'real(8)', single, stat, errmsg)
    call told(op_err_type, '"ratio" is declared "real(8)", and the variable is of type real(4)', 'a constant of another kind')
    call op_decl_const('ratio', 2, 'real(8)', double)
    call op_update_const('ratio', single, stat, errmsg)
    call told(op_err_type, 'of type real(4)', 'a new value of another kind')
    call op_update_const('ratio', 3d0, stat, errmsg)
    call told(op_err_size, '"ratio" has 2 values, and the array 1', 'a new value that is too short')
    kept = op_decl_gbl(2, 'real(8)', double, 'kept')
    call op_get_gbl(kept, single, stat, errmsg)
    call told(op_err_type, 'of type real(4)', 'a global into another kind')
    call op_put_gbl(kept, single, stat, errmsg)
    call told(op_err_type, 'of type real(4)', 'a global from another kind')
    call op_put_gbl(kept, 3d0, stat, errmsg)
    call told(op_err_size, '"kept" has 2 values, and the array 1', 'a global from too short a one')
    call loop_with(op_arg_gbl(single, 2, 'real(8)', OP_INC))
    call told(op_err_type, 'argument 2: the type is "real(8)", and the variable is of type real(4)', 'a global of a loop')
    call loop_with(op_arg_gbl(double, 2, 'real(16)', OP_INC))
    call told(op_err_type, 'the type "real(16)" is unknown; expected one of "real(8)"', 'a type that nobody knows')
    call loop_with(op_arg_dat(b, -1, OP_ID, 2, 'real(4)', OP_RW))
    call told(op_err_type, 'the type is "real(4)", but dat "b" was declared as "real(8)"', 'another type than the dat''s')
  end subroutine

  subroutine loop_with(arg)
    type(op_arg), intent(in) :: arg
    call op_par_loop(code, 'twice', nodes, [op_arg_dat(a, -1, OP_ID, 2, 'real(8)', OP_READ), arg], stat, errmsg)
  end subroutine

  subroutine kernels()
    real(8) :: out(12)
    text = op_kernel_text(code)
    call op_kernel_native(text, 'twise', twice, stat, errmsg)
    call told(op_err_kernel, 'op_kernel_native: ', 'a kernel that the text has not')
    call expect(index(errmsg, 'twise') > 0 .and. index(errmsg, 'twice') > 0, 'the names of both: '//trim(errmsg))
    call op_kernel_native(none, 'twice', twice, stat, errmsg)
    call told(op_err_argument, 'the kernel is NULL; expected', 'a procedure for no text')
    none = op_kernel_file('nowhere.c', stat)
    call op_kernel_native(none, 'twice', twice, stat, errmsg)
    call told(op_err_argument, 'a declaration that failed leaves it ("', 'a procedure for a text that was not found')
    call op_par_loop(none, 'twice', nodes, [op_arg_dat(a, -1, OP_ID, 2, 'real(8)', OP_RW)], stat, errmsg)
    call told(op_err_argument, 'nowhere.c', 'a kernel that was not found')
    call name_inside(text, 3d0, stat, errmsg)
    call told(op_err_argument, 'is an internal procedure', 'an internal procedure')
    call op_kernel_native(text, 'twice', twice, stat)
    call expect(stat == 0, 'a procedure of a module')
    call op_par_loop(text, 'twice', nodes, [op_arg_dat(a, -1, OP_ID, 2, 'real(8)', OP_READ), &
        op_arg_dat(b, -1, OP_ID, 2, 'real(8)', OP_WRITE)])
    call op_fetch_data(b, out)
    call expect(out(12) == 24, 'a loop behind all that was refused')
  end subroutine

end program
