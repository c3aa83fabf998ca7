! The heat equation on a square plate by explicit steps, as heat.c has it, with its two checks: the solution of the
! equation, and the exact solution of the discrete equations.
! The kernels: the library compiles their text, which is in this file, and the native backend calls them.
module heat_kernels
  use, intrinsic :: iso_c_binding
  implicit none

contains

  subroutine diffuse(u, east, west, north, south, next, r)
    real(c_double), intent(in) :: u, east, west, north, south, r
    real(c_double), intent(out) :: next
    next = (1 - 4*r)*u + r*(east + west + north + south)
  end subroutine

  subroutine deviation(u, expected, squares, largest)
    real(c_double), intent(in) :: u, expected
    real(c_double), intent(inout) :: squares, largest
    squares = squares + (u - expected)**2
    largest = max(largest, abs(u - expected))
  end subroutine

end module

program heat
  use op2jit
  use heat_kernels
  implicit none

  real(8), parameter :: alpha = 0.1d0, length = 1000, pi = acos(-1d0)
  ! n x n points in a frame of points at the plate's edges, which have themselves for neighbours and stay at zero.
  type :: plate
    integer :: n
    real(8) :: dx
    type(op_set) :: points
    type(op_map) :: near
    type(op_dat) :: u, next
  end type
  type(op_kernel) :: code
  type(plate) :: whole
  integer :: n, steps, failures
  real(8) :: dt, r, errors(2)
  character(200) :: line, file

  n = 1000
  steps = 10
  dt = 0
  file = ''
  failures = 0
  call read_words()
  call op_init()
  code = op_kernel_file('heat.f90')
  call op_kernel_native(code, 'diffuse', diffuse)
  call op_kernel_native(code, 'deviation', deviation)
  call make(whole, n)
  if (dt <= 0) dt = 0.5d0/steps
  r = alpha*dt/whole%dx**2
  write (line, '(i0, a, i0, a, i0, a, g0.6, a, g0.4)') n, ' x ', n, ' points, ', steps, ' steps of ', dt, ', r = ', r
  call op_print(line)
  call run(whole, steps, r)
  errors = deviations(whole, exp(-2*alpha*pi**2*steps*dt/length**2))
  write (line, '(a, es12.6, a, es12.6)') '  against the solution of the equation: L2 ', errors(1), ', largest ', errors(2)
  call op_print(line)
  errors = deviations(whole, (1 - 8*r*sin(pi*whole%dx/(2*length))**2)**steps)
  call expect('largest error against the discrete solution', errors(2), 1d-12)
  call check_order()
  if (file /= '') call op_fetch_data_hdf5_file(whole%u, file, 'u')
  call op_print('heat: '//merge('FAILED', 'PASSED', failures > 0))
  call op_exit()
  if (failures > 0) error stop 1

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
      case ('--n'); read (value, *, iostat=bad) n
      case ('--steps'); read (value, *, iostat=bad) steps
      case ('--dt'); read (value, *, iostat=bad) dt
      case ('--write'); file = value
      case default; bad = 1
      end select
      if (bad /= 0 .or. n < 1 .or. n > 20000 .or. steps < 1) then
        print '(a)', 'usage: heat [--n POINTS-ON-A-SIDE] [--steps N] [--dt SECONDS] [--write FILE.h5]'
        stop 2
      end if
    end do
  end subroutine

  ! sin(pi x / l) sin(pi y / l) times a factor; the frame has zeros.
  function hill(n, factor) result(values)
    integer, intent(in) :: n
    real(8), intent(in) :: factor
    real(8), allocatable :: values(:,:), wave(:)
    integer :: i
    wave = [(sin(pi*i/(n + 1)), i = 1, n)]
    allocate(values(0:n + 1, 0:n + 1))
    values = 0
    do i = 1, n
      values(1:n, i) = factor*wave(i)*wave
    end do
  end function

  ! Under mpirun the first process declares everything, and op_partition shares it out.
  subroutine make(p, n)
    type(plate), intent(out) :: p
    integer, intent(in) :: n
    integer, allocatable :: near(:,:)
    integer :: width, points, k, i, j
    width = n + 2
    points = merge(width*width, 0, op_is_root())
    allocate(near(4, points))
    do k = 1, points
      i = mod(k - 1, width)
      j = (k - 1)/width
      near(:, k) = k
      if (i > 0 .and. i <= n .and. j > 0 .and. j <= n) near(:, k) = [k + 1, k - 1, k + width, k - width]
    end do
    p%n = n
    p%dx = length/(n + 1)
    p%points = op_decl_set(points, 'points')
    p%near = op_decl_map(p%points, p%points, 4, near, 'near')
    p%u = op_decl_dat_temp(p%points, 1, 'real(8)', hill(n, 1d0), 'u')
    p%next = op_decl_dat_temp(p%points, 1, 'real(8)', 'next')
    call op_partition('block', '', p%points)
  end subroutine

  ! The two dats change places after a step; nothing is copied.
  subroutine run(p, steps, r)
    type(plate), intent(inout) :: p
    integer, intent(in) :: steps
    real(8), intent(in), target :: r
    type(op_dat) :: held
    integer :: s
    do s = 1, steps
      call op_par_loop(code, 'diffuse', p%points, [ &
          op_arg_dat(p%u, -1, OP_ID, 1, 'real(8)', OP_READ), &
          op_arg_dat(p%u, 1, p%near, 1, 'real(8)', OP_READ), &
          op_arg_dat(p%u, 2, p%near, 1, 'real(8)', OP_READ), &
          op_arg_dat(p%u, 3, p%near, 1, 'real(8)', OP_READ), &
          op_arg_dat(p%u, 4, p%near, 1, 'real(8)', OP_READ), &
          op_arg_dat(p%next, -1, OP_ID, 1, 'real(8)', OP_WRITE), &
          op_arg_gbl(r, 1, 'real(8)', OP_READ)])
      held = p%u
      p%u = p%next
      p%next = held
    end do
  end subroutine

  ! L2 and the largest.
  function deviations(p, factor) result(errors)
    type(plate), intent(in) :: p
    real(8), intent(in) :: factor
    real(8) :: errors(2)
    real(8), target :: squares, largest
    type(op_dat) :: expected
    squares = 0
    largest = -1
    expected = op_decl_dat_temp(p%points, 1, 'real(8)', hill(p%n, factor), 'expected')
    call op_par_loop(code, 'deviation', p%points, [ &
        op_arg_dat(p%u, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_dat(expected, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_gbl(squares, 1, 'real(8)', OP_INC), &
        op_arg_gbl(largest, 1, 'real(8)', OP_MAX)])
    call op_free_dat_temp(expected)
    errors = [sqrt(squares), largest]
  end function

  ! One line for each thing that must hold.
  subroutine expect(what, error, most)
    character(*), intent(in) :: what
    real(8), intent(in) :: error, most
    logical :: holds
    holds = error >= 0 .and. error <= most
    write (line, '(2x, a48, 1x, es10.3, a, es8.1, a, a)') what//repeat(' ', 48), error, ', at most ', most, ': ', &
        merge('yes', 'NO ', holds)
    call op_print(line)
    if (.not. holds) failures = failures + 1
  end subroutine

  ! Three plates with the same r and the same time at the end: the error must fall by four.
  subroutine check_order()
    type(plate) :: p
    integer :: cells, steps
    real(8) :: before, dt
    before = 0
    cells = 25
    steps = 50
    call op_print('convergence at t = 160000:')
    do while (cells <= 100)
      call make(p, cells - 1)
      dt = 160000d0/steps
      call run(p, steps, alpha*dt/p%dx**2)
      errors = deviations(p, exp(-2*alpha*pi**2*steps*dt/length**2))
      write (line, '(a, f6.2, a, f7.2, a, es12.6)') '  dx ', p%dx, '  dt ', dt, '  largest error ', errors(2)
      call op_print(line)
      if (before > 0) call expect('order of convergence, from two', abs(log(before/errors(2))/log(2d0) - 2), 0.05d0)
      before = errors(2)
      call op_free_dat_temp(p%u)
      call op_free_dat_temp(p%next)
      cells = 2*cells
      steps = 4*steps
    end do
  end subroutine

end program
