! What a kernel costs that is a procedure of a program in Fortran: res_calc of airfoil over its edges, on the threads of
! OP2_THREADS, in turns in one process, by the clock. The first argument is the number of cells [45000], the second that
! of calls in a round [8]. bench/fortran.sh puts the modules of the sample in front of this file.
module bench_clock
  implicit none
contains
  real(8) function clock()
    integer(8) :: count, rate
    call system_clock(count, rate)
    clock = real(count, 8)/rate
  end function
end module

module bench_compiled
  use op2jit
  use airfoil_native
  use airfoil_mesh
  use bench_clock
  implicit none
  private
  public :: time_compiled
contains
  ! Seconds of a call, by the library's own text of the kernel or, on the native backend, by the procedure.
  real(8) function time_compiled(m, q0, adt0, calls, file) result(seconds)
    type(mesh), intent(in) :: m
    character(*), intent(in) :: file
    real(8), intent(in) :: q0(:,:), adt0(:)
    integer, intent(in) :: calls
    type(op_set) :: nodes, cells, edges
    type(op_map) :: en, ec
    type(op_dat) :: x, q, adt, res
    type(op_kernel) :: code
    real(8) :: start, now
    real(8), allocatable :: sum(:,:)
    integer :: i
    call op_init(diags=0)
    call op_decl_const('gam', 1, 'real(8)', gam)
    call op_decl_const('gm1', 1, 'real(8)', gm1)
    call op_decl_const('cfl', 1, 'real(8)', cfl)
    call op_decl_const('eps', 1, 'real(8)', eps)
    call op_decl_const('qinf', 4, 'real(8)', qinf)
    code = op_kernel_file(file)
    call op_kernel_native(code, 'res_calc', res_calc)
    nodes = op_decl_set(size(m%x, 2), 'nodes')
    cells = op_decl_set(size(m%cell, 2), 'cells')
    edges = op_decl_set(size(m%edge, 2), 'edges')
    en = op_decl_map(edges, nodes, 2, m%edge, 'en')
    ec = op_decl_map(edges, cells, 2, m%edge_cell, 'ec')
    x = op_decl_dat(nodes, 2, 'real(8)', m%x, 'x')
    q = op_decl_dat(cells, 4, 'real(8)', q0, 'q')
    adt = op_decl_dat(cells, 1, 'real(8)', adt0, 'adt')
    res = op_decl_dat(cells, 4, 'real(8)', 'res')
    start = 0
    do i = -2, calls
      if (i == 1) start = clock()
      call op_par_loop(code, 'res_calc', edges, [ &
          op_arg_dat(x, 1, en, 2, 'real(8)', OP_READ), op_arg_dat(x, 2, en, 2, 'real(8)', OP_READ), &
          op_arg_dat(q, 1, ec, 4, 'real(8)', OP_READ), op_arg_dat(q, 2, ec, 4, 'real(8)', OP_READ), &
          op_arg_dat(adt, 1, ec, 1, 'real(8)', OP_READ), op_arg_dat(adt, 2, ec, 1, 'real(8)', OP_READ), &
          op_arg_dat(res, 1, ec, 4, 'real(8)', OP_INC), op_arg_dat(res, 2, ec, 4, 'real(8)', OP_INC)])
    end do
    now = clock()
    seconds = (now - start)/calls
    allocate(sum(4, size(adt0)))
    call op_fetch_data(res, sum)
    if (.not. all(abs(sum) < huge(1d0))) error stop 'an answer that is no number'
    call op_exit()
  end function
end module

module bench_pointer
  use op2_fortran_declarations
  use op2_fortran_reference
  use airfoil_native
  use airfoil_mesh
  use bench_clock
  implicit none
  private
  public :: time_pointer
contains
  ! The same with OP2's modules: the procedure is called by its address for each element.
  real(8) function time_pointer(m, q0, adt0, calls) result(seconds)
    type(mesh), intent(in) :: m
    real(8), intent(in) :: q0(:,:), adt0(:)
    integer, intent(in) :: calls
    type(op_set) :: nodes, cells, edges
    type(op_map) :: en, ec
    type(op_dat) :: x, q, adt, res
    real(8) :: start, now
    real(8), allocatable :: sum(:)
    integer :: i
    call op_init(0)
    call op_decl_set(size(m%x, 2), nodes, 'nodes')
    call op_decl_set(size(m%cell, 2), cells, 'cells')
    call op_decl_set(size(m%edge, 2), edges, 'edges')
    call op_decl_map(edges, nodes, 2, reshape(m%edge, [size(m%edge)]), en, 'en')
    call op_decl_map(edges, cells, 2, reshape(m%edge_cell, [size(m%edge_cell)]), ec, 'ec')
    call op_decl_dat(nodes, 2, 'real(8)', m%x, x, 'x')
    call op_decl_dat(cells, 4, 'real(8)', q0, q, 'q')
    call op_decl_dat(cells, 1, 'real(8)', adt0, adt, 'adt')
    allocate(sum(4*size(adt0)))
    sum = 0
    call op_decl_dat(cells, 4, 'real(8)', sum, res, 'res')
    start = 0
    do i = -2, calls
      if (i == 1) start = clock()
      call op_par_loop_8(res_calc, edges, &
          op_arg_dat(x, 1, en, 2, 'real(8)', OP_READ), op_arg_dat(x, 2, en, 2, 'real(8)', OP_READ), &
          op_arg_dat(q, 1, ec, 4, 'real(8)', OP_READ), op_arg_dat(q, 2, ec, 4, 'real(8)', OP_READ), &
          op_arg_dat(adt, 1, ec, 1, 'real(8)', OP_READ), op_arg_dat(adt, 2, ec, 1, 'real(8)', OP_READ), &
          op_arg_dat(res, 1, ec, 4, 'real(8)', OP_INC), op_arg_dat(res, 2, ec, 4, 'real(8)', OP_INC))
    end do
    now = clock()
    seconds = (now - start)/calls
    call op_fetch_data(res, sum)
    if (.not. all(abs(sum) < huge(1d0))) error stop 'an answer that is no number'
    call op_exit()
  end function
end module

program bench
  use, intrinsic :: iso_c_binding
  use airfoil_native
  use airfoil_mesh
  use bench_clock
  use bench_compiled
  use bench_pointer
  implicit none
  integer, parameter :: rounds = 9
  character(*), parameter :: names(5) = [character(30) :: 'by hand, a direct call', 'compiled C kernel', &
      'compiled Fortran kernel', 'procedure by its address', 'native backend']
  character(*), parameter :: in_c = 'airfoil_kernels.h', in_fortran = 'modules.f90'
  type(mesh) :: m
  real(8), allocatable :: q(:,:), adt(:), res(:,:)
  real(8) :: seconds(rounds, 5), ns(rounds)
  integer :: r, k, cells, calls
  interface
    integer(c_int) function setenv(name, value, replace) bind(c)
      import; character(kind=c_char), intent(in) :: name(*), value(*); integer(c_int), value :: replace
    end function
  end interface
  qinf = [1d0, sqrt(gam)*mach, 0d0, 1/gm1 + 0.5d0*gam*mach**2]
  cells = word(1, 45000)
  calls = word(2, 8)
  call make_mesh(cells, m)
  q = spread(qinf, 2, size(m%cell, 2))
  adt = [(1d0 + mod(k, 7), k = 1, size(m%cell, 2))]
  allocate(res, mold=q)
  do r = 1, rounds
    seconds(r, 1) = time_by_hand()
    call on('openmp')
    ! Who comes first in a round comes second in the next.
    if (mod(r, 2) == 0) seconds(r, 3) = time_compiled(m, q, adt, calls, in_fortran)
    seconds(r, 2) = time_compiled(m, q, adt, calls, in_c)
    if (mod(r, 2) == 1) seconds(r, 3) = time_compiled(m, q, adt, calls, in_fortran)
    seconds(r, 4) = time_pointer(m, q, adt, calls)
    call on('native')
    seconds(r, 5) = time_compiled(m, q, adt, calls, in_c)
  end do
  do k = 1, 5
    ns = 1d9*seconds(:, k)/size(m%edge, 2)
    call sort(ns)
    print '(2x, a30, f8.2, a, f7.2, a, f7.2, a, f6.2)', names(k), ns((rounds + 1)/2), ' ns an edge (', ns(1), ' to', &
        ns(rounds), ')   times the C kernel:', median(seconds(:, k)/seconds(:, 2))
  end do

contains

  integer function word(i, default)
    integer, intent(in) :: i, default
    character(20) :: said
    word = default
    call get_command_argument(i, said)
    if (said /= '') read (said, *) word
  end function

  subroutine on(backend)
    character(*), intent(in) :: backend
    if (setenv('OP2_BACKEND'//c_null_char, backend//c_null_char, 1_c_int) /= 0) error stop 'setenv'
  end subroutine

  real(8) function time_by_hand() result(seconds)
    real(8) :: start, now
    integer :: i, e
    res = 0
    start = 0
    do i = -2, calls
      if (i == 1) start = clock()
      do e = 1, size(m%edge, 2)
        call res_calc(m%x(:, m%edge(1, e)), m%x(:, m%edge(2, e)), q(:, m%edge_cell(1, e)), q(:, m%edge_cell(2, e)), &
            adt(m%edge_cell(1, e)), adt(m%edge_cell(2, e)), res(:, m%edge_cell(1, e)), res(:, m%edge_cell(2, e)))
      end do
    end do
    now = clock()
    seconds = (now - start)/calls
    if (.not. all(abs(res) < huge(1d0))) error stop 'an answer that is no number'
  end function

  subroutine sort(a)
    real(8), intent(inout) :: a(:)
    real(8) :: held
    integer :: i, best
    do i = 1, size(a) - 1
      best = i - 1 + minloc(a(i:), 1)
      held = a(i)
      a(i) = a(best)
      a(best) = held
    end do
  end subroutine

  real(8) function median(a)
    real(8), intent(in) :: a(:)
    real(8) :: sorted(size(a))
    sorted = a
    call sort(sorted)
    median = sorted((size(a) + 1)/2)
  end function

end program
