! Airfoil: the inviscid flow round a wing section, as airfoil.c has it, with OP2's published residuals. The kernels are
! procedures of the module airfoil_native: the library compiles their text, which is in this file, and the native backend
! calls them.
module airfoil_native
  use, intrinsic :: iso_c_binding
  implicit none

  ! Single-precision numbers, as the published figures were made with them.
  real(c_double), parameter :: gam = real(1.4, c_double), gm1 = gam - 1, cfl = real(0.9, c_double), &
      eps = real(0.05, c_double), mach = real(0.4, c_double)
  real(c_double) :: qinf(4)

contains

  subroutine save_soln(q, old)
    real(c_double), intent(in) :: q(4)
    real(c_double), intent(out) :: old(4)
    old = q
  end subroutine

  ! Area over time step of a cell: the sum of the wave speeds through its four sides.
  subroutine adt_calc(x1, x2, x3, x4, q, adt)
    real(c_double), intent(in) :: x1(2), x2(2), x3(2), x4(2), q(4)
    real(c_double), intent(out) :: adt
    real(c_double) :: inverse, u, v, c
    inverse = 1/q(1)
    u = inverse*q(2)
    v = inverse*q(3)
    c = sqrt(gam*gm1*(inverse*q(4) - 0.5d0*(u*u + v*v)))
    adt = (speed(u, v, c, x2 - x1) + speed(u, v, c, x3 - x2) + speed(u, v, c, x4 - x3) + speed(u, v, c, x1 - x4))/cfl
  end subroutine

  pure real(c_double) function speed(u, v, c, d)
    real(c_double), intent(in) :: u, v, c, d(2)
    speed = abs(u*d(2) - v*d(1)) + c*sqrt(d(1)**2 + d(2)**2)
  end function

  pure real(c_double) function pressure(q, inverse)
    real(c_double), intent(in) :: q(4), inverse
    pressure = gm1*(q(4) - 0.5d0*inverse*(q(2)**2 + q(3)**2))
  end function

  ! The flux through an edge: the mean of both sides, and smoothing in proportion to their difference.
  pure function flux(d, q1, q2, mu) result(f)
    real(c_double), intent(in) :: d(2), q1(4), q2(4), mu
    real(c_double) :: f(4), inverse1, inverse2, p1, p2, v1, v2
    inverse1 = 1/q1(1)
    inverse2 = 1/q2(1)
    p1 = pressure(q1, inverse1)
    p2 = pressure(q2, inverse2)
    v1 = inverse1*(q1(2)*d(2) - q1(3)*d(1))
    v2 = inverse2*(q2(2)*d(2) - q2(3)*d(1))
    f(1) = v1*q1(1) + v2*q2(1)
    f(2) = v1*q1(2) + p1*d(2) + v2*q2(2) + p2*d(2)
    f(3) = v1*q1(3) - p1*d(1) + v2*q2(3) - p2*d(1)
    f(4) = v1*(q1(4) + p1) + v2*(q2(4) + p2)
    f = 0.5d0*f + mu*(q1 - q2)
  end function

  subroutine res_calc(x1, x2, q1, q2, adt1, adt2, res1, res2)
    real(c_double), intent(in) :: x1(2), x2(2), q1(4), q2(4), adt1, adt2
    real(c_double), intent(inout) :: res1(4), res2(4)
    real(c_double) :: f(4)
    f = flux(x1 - x2, q1, q2, 0.5d0*(adt1 + adt2)*eps)
    res1 = res1 + f
    res2 = res2 - f
  end subroutine

  ! A boundary edge: pressure only at the wall, else a flux against the free stream.
  subroutine bres_calc(x1, x2, q, adt, res, kind)
    real(c_double), intent(in) :: x1(2), x2(2), q(4), adt
    real(c_double), intent(inout) :: res(4)
    integer(c_int), intent(in) :: kind
    real(c_double) :: p
    if (kind == 1) then
      p = pressure(q, 1/q(1))
      res(2) = res(2) + p*(x1(2) - x2(2))
      res(3) = res(3) - p*(x1(1) - x2(1))
    else
      res = res + flux(x1 - x2, q, qinf, adt*eps)
    end if
  end subroutine

  subroutine update(old, q, res, adt, squares)
    real(c_double), intent(in) :: old(4), adt
    real(c_double), intent(out) :: q(4)
    real(c_double), intent(inout) :: res(4), squares
    real(c_double) :: step(4)
    step = 1/adt*res
    q = old - step
    squares = squares + sum(step**2)
    res = 0
  end subroutine

end module

module airfoil_mesh
  implicit none

  type :: mesh
    real(8), allocatable :: x(:,:)
    integer, allocatable :: cell(:,:), edge(:,:), edge_cell(:,:), side(:,:), side_cell(:,:), kind(:)
  end type

contains

  ! Gauss, with the row of the largest pivot first.
  subroutine solve(a, b)
    real(8), intent(inout) :: a(:,:), b(:)
    real(8) :: row(size(b)), held
    integer :: i, k, best
    do k = 1, size(b)
      best = k - 1 + maxloc(abs(a(k:, k)), 1)
      row = a(k, :); a(k, :) = a(best, :); a(best, :) = row
      held = b(k); b(k) = b(best); b(best) = held
      do i = k + 1, size(b)
        if (a(i, k) == 0) cycle
        b(i) = b(i) - a(i, k)/a(k, k)*b(k)
        a(i, :) = a(i, :) - a(i, k)/a(k, k)*a(k, :)
      end do
    end do
    do k = size(b), 1, -1
      b(k) = (b(k) - dot_product(a(k, k + 1:), b(k + 1:)))/a(k, k)
    end do
  end subroutine

  ! The section, unfolded by a square root: a cubic spline ("not a knot") through 199 points of a smooth bump.
  function heights(at) result(y_at)
    real(8), intent(in) :: at(:)
    real(8) :: y_at(size(at)), x(199), y(199), h(198), c(199), along, thick, left, right
    real(8), allocatable :: a(:,:)
    complex(8) :: z
    integer :: k, i
    do k = 0, 99
      along = sin(k*acos(-1d0)/198)**2
      thick = 0.298222773d0*sqrt(along) - 0.127125232d0*along - 0.357907906d0*along**2 + 0.291984971d0*along**3
      thick = 0.594689181d0*(thick - 0.105174696d0*along**4)
      if (k == 99) thick = 0
      z = sqrt(cmplx(along - 0.0077d0, thick, 8))
      x(100 + k) = real(z)
      y(100 + k) = aimag(z)
      x(100 - k) = -real(z)
      y(100 - k) = aimag(z)
    end do
    ! The point in the middle is there once, as the first one of the right half.
    x(100) = real(sqrt(cmplx(-0.0077d0, 0d0, 8)))
    y(100) = aimag(sqrt(cmplx(-0.0077d0, 0d0, 8)))
    h = x(2:) - x(:198)
    allocate(a(199, 199))
    a = 0
    c = 0
    do k = 2, 198
      a(k, k - 1:k + 1) = [h(k - 1), 2*(h(k - 1) + h(k)), h(k)]
      c(k) = 6*((y(k + 1) - y(k))/h(k) - (y(k) - y(k - 1))/h(k - 1))
    end do
    a(1, :3) = [h(2), -h(1) - h(2), h(1)]
    a(199, 197:) = [h(198), -h(198) - h(197), h(197)]
    call solve(a, c)
    do i = 1, size(at)
      k = min(max(count(x < at(i)), 1), 198)
      left = (x(k + 1) - at(i))/h(k)
      right = (at(i) - x(k))/h(k)
      y_at(i) = left*y(k) + right*y(k + 1) + ((left**3 - left)*c(k) + (right**3 - right)*c(k + 1))*h(k)**2/6
    end do
  end function

  ! A grid of 3 wide x high cells over the upper half plane, folded round the section by squaring.
  subroutine make_mesh(cells, m)
    integer, intent(in) :: cells
    type(mesh), intent(out) :: m
    integer :: wide, high, columns, i, j, e, s, n
    real(8), allocatable :: along(:), up(:)
    complex(8) :: z
    wide = max(2, nint(400*sqrt(cells/720000d0)))
    high = max(2, nint(600*sqrt(cells/720000d0)))
    columns = 3*wide
    along = [(-3 + 6d0*i/columns, i = 0, columns)]
    allocate(up(columns + 1))
    up = 0
    up(wide + 2:2*wide) = heights(along(wide + 2:2*wide))
    allocate(m%x(2, (columns + 1)*(high + 1)), m%cell(4, columns*high))
    n = wide + columns*(high - 1) + (columns - 1)*high
    allocate(m%edge(2, n), m%edge_cell(2, n))
    n = wide + columns + 2*high
    allocate(m%side(2, n), m%side_cell(1, n), m%kind(n))
    do j = 0, high
      do i = 0, columns
        z = cmplx(along(i + 1), up(i + 1) + (3 - up(i + 1))*j/high, 8)**2
        m%x(:, node(i, j)) = anint(1d6*[real(z), aimag(z)])/1d6
      end do
    end do
    e = 0
    s = 0
    do j = 0, high - 1
      do i = 0, columns - 1
        m%cell(:, cell(i, j)) = [node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)]
        if (j == 0 .and. i < wide) call add(node(i, 0), node(i + 1, 0), cell(columns - 1 - i, 0), cell(i, 0))
        if (j > 0) call add(node(i, j), node(i + 1, j), cell(i, j - 1), cell(i, j))
        if (i > 0) call add(node(i, j), node(i, j + 1), cell(i, j), cell(i - 1, j))
      end do
    end do
    do i = wide, 2*wide - 1
      call bound(node(i + 1, 0), node(i, 0), cell(i, 0), 1)
    end do
    do j = 0, high - 1
      call bound(node(columns, j + 1), node(columns, j), cell(columns - 1, j), 2)
      call bound(node(0, j), node(0, j + 1), cell(0, j), 2)
    end do
    do i = 0, columns - 1
      call bound(node(i, high), node(i + 1, high), cell(i, high - 1), 2)
    end do

  contains

    integer function node(i, j)
      integer, intent(in) :: i, j
      node = j*(columns + 1) + i + 1
    end function

    integer function cell(i, j)
      integer, intent(in) :: i, j
      cell = j*columns + i + 1
    end function

    subroutine add(one, other, right, left)
      integer, intent(in) :: one, other, right, left
      e = e + 1
      m%edge(:, e) = [one, other]
      m%edge_cell(:, e) = [right, left]
    end subroutine

    subroutine bound(one, other, inside, kind)
      integer, intent(in) :: one, other, inside, kind
      s = s + 1
      m%side(:, s) = [one, other]
      m%side_cell(1, s) = inside
      m%kind(s) = kind
    end subroutine

  end subroutine

end module

program airfoil
  use op2jit
  use airfoil_native
  use airfoil_mesh
  implicit none

  real(8), parameter :: published(10) = [5.02186d-4, 3.41746d-4, 2.63430d-4, 2.16288d-4, 1.84659d-4, 1.60866d-4, &
      1.42253d-4, 1.27627d-4, 1.15810d-4, 1.06011d-4]
  real(8), parameter :: small(4) = [8.078632254612656d-4, 4.930576949844269d-4, 3.512976319532475d-4, &
      2.678919462698765d-4]
  type(op_set) :: nodes, cells, edges, sides
  type(op_map) :: cell_nodes, edge_nodes, edge_cells, side_nodes, side_cell
  type(op_dat) :: x, q, old, adt, res, kind
  type(op_kernel) :: code
  type(op_gbl) :: squares(2) ! what the stages of all iterations changed, since it was last put
  integer :: wanted, iterations, i
  real(8) :: change, rms, all_cells
  logical :: good
  character(200) :: line, vtk, file

  wanted = 20000
  iterations = 200
  vtk = ''
  file = ''
  good = .true.
  call read_words()
  call op_init()
  qinf = [1d0, sqrt(gam)*mach, 0d0, 1/gm1 + 0.5d0*gam*mach**2]
  call op_decl_const('qinf', 4, 'real(8)', qinf)
  code = op_kernel_file('airfoil.f90')
  call op_kernel_native(code, 'save_soln', save_soln)
  call op_kernel_native(code, 'adt_calc', adt_calc)
  call op_kernel_native(code, 'res_calc', res_calc)
  call op_kernel_native(code, 'bres_calc', bres_calc)
  call op_kernel_native(code, 'update', update)
  call declare()
  all_cells = real(op_get_global_size(cells), 8)
  do i = 1, iterations
    if (mod(i, 50) /= 0 .and. i /= iterations) then
      call iterate()
      cycle
    end if
    call op_put_gbl(squares(2), 0d0)
    call iterate()
    call op_get_gbl(squares(2), change)
    rms = sqrt(change/all_cells)
    if (all_cells == 720000) call check(100, published)
    if (all_cells == 20100) call check(50, small)
  end do
  write (line, '(a, es17.10)') '  rms of the last iteration ', rms
  call op_print(line)
  if (file /= '') call op_dump_to_hdf5(file)
  if (vtk /= '') call op_write_vtk(vtk, -1, [x, q, adt])
  call op_timing_output()
  good = good .and. rms < 1
  call op_print('airfoil: '//merge('PASSED', 'FAILED', good))
  call op_exit()
  if (.not. good) error stop 1

contains

  subroutine read_words()
    character(200) :: word, value
    integer :: i, bad
    i = 1
    do while (i <= command_argument_count())
      call get_command_argument(i, word)
      i = i + 1
      if (word(1:4) == 'OP2_') cycle ! for the library
      call get_command_argument(i, value)
      i = i + 1
      bad = 0
      select case (word)
      case ('--cells'); read (value, *, iostat=bad) wanted
      case ('--iters'); read (value, *, iostat=bad) iterations
      case ('--write'); file = value
      case ('--vtk'); vtk = value
      case default; bad = 1
      end select
      if (bad /= 0 .or. wanted < 12 .or. iterations < 1) then
        print '(a)', 'usage: airfoil [--cells N, 720000: the published mesh] [--iters N] [--write FILE.h5] [--vtk NAME]'
        stop 2
      end if
    end do
  end subroutine

  ! Under mpirun the first process declares everything, and op_partition shares it out.
  subroutine declare()
    type(mesh) :: m
    integer :: n(4)
    call make_mesh(wanted, m)
    n = 0
    if (op_is_root()) n = [size(m%x, 2), size(m%cell, 2), size(m%edge, 2), size(m%side, 2)]
    nodes = op_decl_set(n(1), 'nodes')
    cells = op_decl_set(n(2), 'cells')
    edges = op_decl_set(n(3), 'edges')
    sides = op_decl_set(n(4), 'bedges')
    cell_nodes = op_decl_map(cells, nodes, 4, m%cell, 'pcell')
    edge_nodes = op_decl_map(edges, nodes, 2, m%edge, 'pedge')
    edge_cells = op_decl_map(edges, cells, 2, m%edge_cell, 'pecell')
    side_nodes = op_decl_map(sides, nodes, 2, m%side, 'pbedge')
    side_cell = op_decl_map(sides, cells, 1, m%side_cell, 'pbecell')
    x = op_decl_dat(nodes, 2, 'real(8)', m%x, 'p_x')
    kind = op_decl_dat(sides, 1, 'integer(4)', m%kind, 'p_bound')
    q = op_decl_dat(cells, 4, 'real(8)', spread(qinf, 2, n(2)), 'q')
    old = op_decl_dat(cells, 4, 'real(8)', 'old')
    adt = op_decl_dat(cells, 1, 'real(8)', 'adt')
    res = op_decl_dat(cells, 4, 'real(8)', 'res')
    squares = [op_decl_gbl(1, 'real(8)', 'squares'), op_decl_gbl(1, 'real(8)', 'squares')]
    call op_partition('rcb', '', cells, cell_nodes, x)
  end subroutine

  subroutine iterate()
    integer :: stage
    call op_par_loop(code, 'save_soln', cells, [ &
        op_arg_dat(q, -1, OP_ID, 4, 'real(8)', OP_READ), &
        op_arg_dat(old, -1, OP_ID, 4, 'real(8)', OP_WRITE)])
    do stage = 1, 2
      call op_par_loop(code, 'adt_calc', cells, [ &
          op_arg_dat(x, 1, cell_nodes, 2, 'real(8)', OP_READ), &
          op_arg_dat(x, 2, cell_nodes, 2, 'real(8)', OP_READ), &
          op_arg_dat(x, 3, cell_nodes, 2, 'real(8)', OP_READ), &
          op_arg_dat(x, 4, cell_nodes, 2, 'real(8)', OP_READ), &
          op_arg_dat(q, -1, OP_ID, 4, 'real(8)', OP_READ), &
          op_arg_dat(adt, -1, OP_ID, 1, 'real(8)', OP_WRITE)])
      call op_par_loop(code, 'res_calc', edges, [ &
          op_arg_dat(x, 1, edge_nodes, 2, 'real(8)', OP_READ), &
          op_arg_dat(x, 2, edge_nodes, 2, 'real(8)', OP_READ), &
          op_arg_dat(q, 1, edge_cells, 4, 'real(8)', OP_READ), &
          op_arg_dat(q, 2, edge_cells, 4, 'real(8)', OP_READ), &
          op_arg_dat(adt, 1, edge_cells, 1, 'real(8)', OP_READ), &
          op_arg_dat(adt, 2, edge_cells, 1, 'real(8)', OP_READ), &
          op_arg_dat(res, 1, edge_cells, 4, 'real(8)', OP_INC), &
          op_arg_dat(res, 2, edge_cells, 4, 'real(8)', OP_INC)])
      call op_par_loop(code, 'bres_calc', sides, [ &
          op_arg_dat(x, 1, side_nodes, 2, 'real(8)', OP_READ), &
          op_arg_dat(x, 2, side_nodes, 2, 'real(8)', OP_READ), &
          op_arg_dat(q, 1, side_cell, 4, 'real(8)', OP_READ), &
          op_arg_dat(adt, 1, side_cell, 1, 'real(8)', OP_READ), &
          op_arg_dat(res, 1, side_cell, 4, 'real(8)', OP_INC), &
          op_arg_dat(kind, -1, OP_ID, 1, 'integer(4)', OP_READ)])
      call op_par_loop(code, 'update', cells, [ &
          op_arg_dat(old, -1, OP_ID, 4, 'real(8)', OP_READ), &
          op_arg_dat(q, -1, OP_ID, 4, 'real(8)', OP_WRITE), &
          op_arg_dat(res, -1, OP_ID, 4, 'real(8)', OP_RW), &
          op_arg_dat(adt, -1, OP_ID, 1, 'real(8)', OP_READ), &
          op_arg_global(squares(stage), OP_INC)])
    end do
  end subroutine

  subroutine check(step, known)
    integer, intent(in) :: step
    real(8), intent(in) :: known(:)
    logical :: holds
    if (mod(i, step) /= 0 .or. i/step > size(known)) return
    holds = abs(rms/known(i/step) - 1) <= 5d-6
    good = good .and. holds
    write (line, '(a, i0, a, es17.10, a, es12.5, a, a)') '  rms after ', i, ' iterations ', rms, ' of ', known(i/step), &
        ': ', merge('yes', 'NO ', holds)
    call op_print(line)
  end subroutine

end program
