! The values of what a loop only reads are those of the call of op_arg_gbl: of expressions, sections and variables that
! are gone or changed when the loop runs.
module taken_kernels
  use op2jit
  implicit none
  real(8) :: many(7) = [1, 2, 3, 4, 5, 6, 7]
contains
  subroutine put_one(g, b)
    real(8), intent(in) :: g
    real(8), intent(out) :: b
    b = g
  end subroutine

  subroutine put_two(g, b)
    real(8), intent(in) :: g(2)
    real(8), intent(out) :: b
    b = g(1) + 10*g(2)
  end subroutine

  subroutine put_seven(g, b)
    real(8), intent(in) :: g(7)
    real(8), intent(out) :: b
    b = g(1) + 10*g(2) + 100*g(7)
  end subroutine

  ! Of variables that are gone when it returns.
  function of_locals(by) result(args)
    real(8), intent(in) :: by
    type(op_arg) :: args(2)
    real(8) :: two(2), seven(7)
    two = [by, 2*by]
    seven = by*many
    args = [op_arg_gbl(two, 2, 'real(8)', OP_READ), op_arg_gbl(seven, 7, 'real(8)', OP_READ)]
  end function

  subroutine scribble(sum)
    real(8), intent(inout) :: sum
    real(8) :: room(500)
    room = sum + 1234
    sum = sum + room(int(room(1)) - 1000)
  end subroutine
end module

program taken
  use op2jit
  use taken_kernels
  use check
  implicit none
  character(*), parameter :: code = &
      'static void put_one(const double *g, double *b) { *b = *g; }'//new_line('a')// &
      'static void put_two(const double *g, double *b) { *b = g[0] + 10 * g[1]; }'//new_line('a')// &
      'static void put_seven(const double *g, double *b) { *b = g[0] + 10 * g[1] + 100 * g[6]; }'//new_line('a')
  type(op_set) :: set
  type(op_dat) :: b
  type(op_kernel) :: kernel
  type(op_arg) :: args(3), whole
  real(8) :: dt, q(14), junk, out(3)
  integer :: stat, i
  character(400) :: errmsg

  call op_init(diags=0)
  set = op_decl_set(3, 'set')
  b = op_decl_dat(set, 1, 'real(8)', name='b')
  kernel = op_kernel_text(code)
  call op_kernel_native(kernel, 'put_one', put_one)
  call op_kernel_native(kernel, 'put_two', put_two)
  call op_kernel_native(kernel, 'put_seven', put_seven)
  dt = 3
  q = [(i, i = 1, 14)]
  junk = 0
  call expressions()
  call kept()
  call graphs()
  call too_old()
  call op_exit()
  call end_of('taken')

contains

  subroutine gives(name, arg, value, what)
    character(*), intent(in) :: name, what
    type(op_arg), intent(in) :: arg
    real(8), intent(in) :: value
    call op_par_loop(kernel, name, set, [arg, op_arg_dat(b, -1, OP_ID, 1, 'real(8)', OP_WRITE)])
    call op_fetch_data(b, out)
    call expect(all(out == value), what)
  end subroutine

  subroutine expressions()
    call gives('put_one', op_arg_gbl(0.5d0*dt, 1, 'real(8)', OP_READ), 1.5d0, 'a product')
    call gives('put_one', op_arg_gbl(-dt, 1, 'real(8)', OP_READ), -3d0, 'a sign')
    call gives('put_one', op_opt_arg_gbl(.true., (dt), 1, 'real(8)', OP_READ), 3d0, 'brackets')
    call gives('put_two', op_arg_gbl([dt, 2*dt], 2, 'real(8)', OP_READ), 63d0, 'a list')
    call gives('put_seven', op_arg_gbl(sqrt(q(:7)**2), 7, 'real(8)', OP_READ), 721d0, 'a function''s result')
    call gives('put_seven', op_arg_gbl(q(1:13:2), 7, 'real(8)', OP_READ), 1331d0, 'a section')
  end subroutine

  ! In variables, for several loops.
  subroutine kept()
    args(1:2) = of_locals(2d0)
    args(3) = op_arg_gbl(q(1:3:2), 2, 'real(8)', OP_READ)
    whole = op_arg_gbl(q(2:14:2), 7, 'real(8)', OP_READ)
    call scribble(junk)
    q = 0
    do i = 1, 2
      call gives('put_two', args(1), 42d0, 'a procedure''s variable')
      call gives('put_seven', args(2), 1442d0, 'a procedure''s array')
      call gives('put_two', args(3), 31d0, 'a section in a second loop')
      call gives('put_seven', whole, 1442d0, 'a larger section in a second loop')
      call gives('put_one', op_arg_gbl(dt, 1, 'real(8)', OP_READ), 3d0, 'another loop')
    end do
    q = [(i, i = 1, 14)]
  end subroutine

  ! Loops of a graph have the values that there were when it was made.
  subroutine graphs()
    type(op_graph) :: graph
    type(op_dat) :: c
    integer(op_number) :: pieces(2), more(2)
    c = op_decl_dat(set, 1, 'real(8)', name='c')
    graph = op_decl_graph('taken')
    call op_graph_loop(graph, pieces, kernel, 'put_two', set, [op_arg_gbl(q(1:3:2), 2, 'real(8)', OP_READ), &
        op_arg_dat(b, -1, OP_ID, 1, 'real(8)', OP_WRITE)])
    call op_graph_loop(graph, more, kernel, 'put_seven', set, [op_arg_gbl(q(2:14:2), 7, 'real(8)', OP_READ), &
        op_arg_dat(c, -1, OP_ID, 1, 'real(8)', OP_WRITE)])
    do i = 1, 5000
      whole = op_arg_gbl(q(1:13:2), 7, 'real(8)', OP_READ)
    end do
    do i = 1, 2
      call gives('put_seven', whole, 1331d0, 'a loop between')
      call op_graph_run(graph)
      call op_fetch_data(b, out)
      call expect(all(out == 31), 'a section in a graph')
      call op_fetch_data(c, out)
      call expect(all(out == 1442), 'a larger section in a graph')
    end do
    call op_free_graph(graph)
  end subroutine

  ! Copies are kept of the newest arguments only; the others say so.
  subroutine too_old()
    args(1:2) = of_locals(1d0)
    do i = 1, 5000
      whole = op_arg_gbl(q(:7), 7, 'real(8)', OP_READ)
    end do
    call gives('put_two', args(1), 21d0, 'few values stay for ever')
    call op_par_loop(kernel, 'put_seven', set, [args(2), op_arg_dat(b, -1, OP_ID, 1, 'real(8)', OP_WRITE)], stat, errmsg)
    call expect(stat == op_err_argument .and. index(errmsg, 'argument 1: the values that op_arg_gbl took are gone') > 0, &
        'values that are gone: '//trim(errmsg))
    call gives('put_seven', whole, 721d0, 'the newest is there')
  end subroutine

end program
