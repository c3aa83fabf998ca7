! A dam breaks in a basin of n x n cells: what somebody who knows Fortran only writes. A word plants a mistake in its calls; those in
! its kernels are planted in their file (run.sh).
program shallow
  use op2jit
  use shallow_kernels
  implicit none
  integer, parameter :: n = 20
  type(op_kernel) :: code
  type(op_set) :: cells, edges, walls
  type(op_map) :: sides, inside
  type(op_dat) :: q, old, out, area, normal, outwards
  integer :: table(2, 2*n*(n - 1)), border(1, 4*n), i, j, e, w, round, wide
  real(wp) :: normals(2, 2*n*(n - 1)), normals_of_walls(2, 4*n), state(3, n*n)
  real(wp), target :: step, volume
  character(20) :: mistake
  type(op_arg) :: middle(3)

  call get_command_argument(1, mistake)
  e = 0
  w = 0
  do j = 1, n
    do i = 1, n
      call connect(i, j, i + 1, j, [1d0, 0d0])
      call connect(i, j, i, j + 1, [0d0, 1d0])
      if (i == 1) call close_off(i, j, [-1d0, 0d0])
      if (j == 1) call close_off(i, j, [0d0, -1d0])
      state(:, cell(i, j)) = [merge(2d0, 1d0, i <= n/2), 0d0, 0d0]
    end do
  end do
  if (mistake == 'entry') table(1, 7) = 0

  call op_init()
  cells = op_decl_set(n*n, 'cells')
  edges = op_decl_set(e, 'edges')
  walls = op_decl_set(w, 'walls')
  sides = op_decl_map(edges, cells, 2, table, 'sides')
  inside = op_decl_map(walls, cells, 1, border, 'inside')
  q = op_decl_dat(cells, 3, 'real(8)', state, 'q')
  old = op_decl_dat(cells, 3, 'real(8)', name='old')
  out = op_decl_dat(cells, 3, 'real(8)', name='out')
  area = op_decl_dat(cells, 1, 'real(8)', [(1d0, i = 1, n*n)], 'area')
  normal = op_decl_dat(edges, 2, 'real(8)', normals, 'normal')
  outwards = op_decl_dat(walls, 2, 'real(8)', normals_of_walls, 'outwards')
  gravity = 9.81d0
  courant = 0.4d0
  if (mistake /= 'constant') call op_decl_const('gravity', 1, 'real(8)', gravity)
  if (mistake == 'kind') then
    call op_decl_const('courant', 1, 'real(4)', real(courant, 4))
  else
    call op_decl_const('courant', 1, 'real(8)', courant)
  end if
  code = op_kernel_file('shallow_kernels.f90')
  wide = merge(2, 3, mistake == 'wide')
  middle = [op_arg_dat(q, 2, sides, 3, 'real(8)', OP_READ), &
      op_arg_dat(out, 1, sides, 3, 'real(8)', chosen('written', OP_INC)), &
      op_arg_dat(out, merge(0, 2, mistake == 'column'), sides, 3, 'real(8)', OP_INC)]
  if (mistake == 'order') middle = middle([2, 1, 3])
  do round = 1, 30
    call op_par_loop(code, 'keep', cells, [op_arg_dat(q, -1, OP_ID, wide, 'real(8)', OP_READ), &
        op_arg_dat(old, -1, OP_ID, 3, 'real(8)', chosen('read', OP_WRITE))])
    step = huge(step)
    call op_par_loop(code, 'longest', cells, [op_arg_dat(q, -1, OP_ID, 3, 'real(8)', OP_READ), &
        op_arg_dat(area, -1, OP_ID, 1, 'real(8)', OP_READ), op_arg_gbl(step, 1, 'real(8)', chosen('summed', OP_MIN))])
    call op_par_loop(code, merge('flex', 'flux', mistake == 'name'), edges, [ &
        op_arg_dat(normal, -1, OP_ID, 2, 'real(8)', OP_READ), op_arg_dat(q, 1, sides, 3, 'real(8)', OP_READ), &
        middle(:merge(2, 3, mistake == 'missing'))])
    call op_par_loop(code, 'wall', walls, [op_arg_dat(outwards, -1, OP_ID, 2, 'real(8)', OP_READ), &
        op_arg_dat(q, 1, inside, 3, 'real(8)', OP_READ), op_arg_dat(out, 1, inside, 3, 'real(8)', OP_INC)])
    volume = 0
    call op_par_loop(code, 'advance', cells, [op_arg_dat(old, -1, OP_ID, 3, 'real(8)', OP_READ), &
        op_arg_dat(out, -1, OP_ID, 3, 'real(8)', OP_RW), op_arg_dat(area, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_gbl(step, 1, 'real(8)', OP_READ), op_arg_dat(q, -1, OP_ID, 3, 'real(8)', OP_WRITE), &
        op_arg_gbl(volume, 1, 'real(8)', OP_INC)])
  end do
  call op_fetch_data(q, state)
  print '(f12.6, 2f10.6)', volume, minval(state(1, :)), maxval(state(1, :))
  call op_exit()

contains

  integer function chosen(planted, right)
    character(*), intent(in) :: planted
    integer, intent(in) :: right
    chosen = merge(merge(OP_INC, OP_READ, planted == 'summed'), right, mistake == planted)
  end function

  integer function cell(i, j)
    integer, intent(in) :: i, j
    cell = i + n*(j - 1)
  end function

  subroutine connect(i, j, i2, j2, to)
    integer, intent(in) :: i, j, i2, j2
    real(wp), intent(in) :: to(2)
    if (i2 > n .or. j2 > n) then
      call close_off(i, j, to)
    else
      e = e + 1
      table(:, e) = [cell(i, j), cell(i2, j2)]
      normals(:, e) = to
    end if
  end subroutine

  subroutine close_off(i, j, to)
    integer, intent(in) :: i, j
    real(wp), intent(in) :: to(2)
    w = w + 1
    border(1, w) = cell(i, j)
    normals_of_walls(:, w) = to
  end subroutine
end program
