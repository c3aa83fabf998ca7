! A program in the manner of OP2: its kernels are procedures of modules and two of its own, which use variables of the
! program, one of them variables on its stack; constants change.
program jac
  use op2_fortran_reference
  use op2_fortran_declarations
  use op2_fortran_rt_support
  use jac_kernels
  implicit none
  integer, parameter :: n = 1000
  type(op_set) :: nodes, edges
  type(op_map) :: ppedge
  type(op_dat) :: p_a, p_r, p_u, p_du
  integer(4) :: table(2*n), i, iter
  real(8) :: a(n), r(n + 1), u(n + 1), du(n + 1), u_sum, u_max, beta = 1
  real(8), save :: pace
  real(8) :: tilt, drop
  integer(4) :: shift
  do i = 1, n
    table(2*i - 1) = i
    table(2*i) = i + 1
    a(i) = 0.25d0
  end do
  r = 1; u = 0; du = 0
  call op_init_base(0, 1)
  call op_decl_set(n + 1, nodes, 'nodes')
  call op_decl_set(n, edges, 'edges')
  call op_decl_map(edges, nodes, 2, table, ppedge, 'ppedge')
  call op_decl_dat(edges, 1, 'real(8)', a, p_a, 'p_a')
  call op_decl_dat(nodes, 1, 'real(8)', r, p_r, 'p_r')
  call op_decl_dat(nodes, 1, 'real(8)', u, p_u, 'p_u')
  call op_decl_dat(nodes, 1, 'real(8)', du, p_du, 'p_du')
  call op_decl_const(alpha, 1, 'real(8)')
  pace = 2
  do iter = 1, 2
    call op_par_loop_2(begin, nodes, op_arg_idx(-1, OP_ID), op_arg_dat(p_u, -1, OP_ID, 1, 'real(8)', OP_WRITE))
    if (iter == 1) call op_fetch_data(p_u, u)
    pace = 0
  end do
  print '(2f10.1)', u(1), u(n + 1)
  shift = 2
  call op_decl_const(tilt, 1, 'tilt')
  call op_decl_const(drop, 1, 'Drop')
  call op_decl_const(shift, 1, 'integer(4)')
  do iter = 1, 2
    tilt = iter
    drop = 2 - 1.5d0*iter
    call op_par_loop_1(lean, nodes, op_arg_dat(p_u, -1, OP_ID, 1, 'real(8)', OP_RW))
    if (iter == 1) call op_fetch_data(p_u, u)
    if (any(u /= 1)) stop 3
  end do
  do iter = 1, 4
    if (iter == 4) alpha = 0.25d0
    call op_par_loop_4(res, edges, &
        op_arg_dat(p_a, -1, OP_ID, 1, 'real(8)', OP_READ), op_arg_dat(p_u, 1, ppedge, 1, 'real(8)', OP_READ), &
        op_arg_dat(p_du, 2, ppedge, 1, 'real(8)', OP_INC), op_arg_gbl(beta, 1, 'real(8)', OP_READ))
    u_sum = 0; u_max = 0
    call op_par_loop_5(update, nodes, &
        op_arg_dat(p_r, -1, OP_ID, 1, 'real(8)', OP_READ), op_arg_dat(p_du, -1, OP_ID, 1, 'real(8)', OP_RW), &
        op_arg_dat(p_u, -1, OP_ID, 1, 'real(8)', OP_RW), op_arg_gbl(u_sum, 1, 'real(8)', OP_INC), &
        op_arg_gbl(u_max, 1, 'real(8)', OP_MAX))
  end do
  print '(2f14.8)', u_sum, u_max
  call op_exit()
contains
  subroutine begin(number, u)
    integer(4), intent(in) :: number(1)
    real(8), intent(out) :: u(1)
    u(1) = pace*number(1)
  end subroutine
  subroutine lean(u)
    real(8), intent(inout) :: u(1)
    u(1) = tilt*u(1) + drop*shift
  end subroutine
end program
