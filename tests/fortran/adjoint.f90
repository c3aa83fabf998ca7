! The module op2jit: derivatives. A gradient against differences, tangents, the loops alone, what is said of kernels, errors.
program adjoint
  use op2jit
  use, intrinsic :: iso_c_binding
  use check
  implicit none
  integer, parameter :: n = 12, steps = 20
  character(*), parameter :: code = &
      'static void spread(const double *a, const double *b, double *to_a, double *to_b) {'//new_line('a')// &
      '  const double heat = (*b - *a) * *a; *to_a += heat; *to_b -= heat; }'//new_line('a')// &
      'static void settle(const double *rate, double *flow, double *x) { *x += *rate * *flow; *flow = 0; }'//new_line('a')
  character(*), parameter :: square = 'static void square(const double *x, double *sum) { *sum += *x * *x; }'
  character(*), parameter :: square_b = &
      'static void square_b(const double *x, double *x_b, const double *sum_b) { *x_b += 2 * *x * *sum_b; }'
  character(*), parameter :: half_b = &
      'static void half_b(const double *x, double *x_b, const double *sum_b) { *x_b += *x * *sum_b; }'
  type(op_set) :: nodes, edges
  type(op_map) :: ends
  type(op_dat) :: x, flow
  type(op_gbl) :: rate, sum
  type(op_kernel) :: text
  real(8) :: start(n), line(n), gradient(n), by_rate, moves
  character(20) :: backend
  integer :: i

  call get_environment_variable('OP2_BACKEND', backend)
  if (backend == 'native') then ! which has no compiler for derivatives
    call end_of('adjoint')
    stop
  end if
  start = [(1 + 0.5d0*sin(real(i, 8)), i = 1, n)]
  line = [(cos(real(i, 8)), i = 1, n)]
  call op_init(diags=0)
  nodes = op_decl_set(n, 'nodes')
  edges = op_decl_set(n, 'edges')
  ends = op_decl_map(edges, nodes, 2, reshape([(i, mod(i, n) + 1, i = 1, n)], [2, n]), 'ends')
  x = op_decl_dat(nodes, 1, 'real(8)', start, 'x')
  flow = op_decl_dat(nodes, 1, 'real(8)', name='flow')
  rate = op_decl_gbl(1, 'real(8)', 0.1d0, 'rate')
  sum = op_decl_gbl(1, 'real(8)', 0d0, 'sum')
  text = op_kernel_text(code)
  call check_tape(0_8)
  call check_tape(400_8) ! what fits in is not all: steps run again
  call check_tangents()
  call check_alone()
  call check_said()
  call check_constant()
  call check_fixed()
  call check_errors()
  call op_exit()
  call end_of('adjoint')

contains

  subroutine run(taped)
    logical, intent(in) :: taped
    do i = 1, steps
      if (taped) call op_tape_step()
      call op_par_loop(text, 'spread', edges, [op_arg_dat(x, 1, ends, 1, 'real(8)', OP_READ), &
          op_arg_dat(x, 2, ends, 1, 'real(8)', OP_READ), op_arg_dat(flow, 1, ends, 1, 'real(8)', OP_INC), &
          op_arg_dat(flow, 2, ends, 1, 'real(8)', OP_INC)])
      call op_par_loop(text, 'settle', nodes, [op_arg_global(rate, OP_READ), &
          op_arg_dat(flow, -1, OP_ID, 1, 'real(8)', OP_RW), op_arg_dat(x, -1, OP_ID, 1, 'real(8)', OP_RW)])
    end do
    call op_par_loop(square, 'square', nodes, squared())
  end subroutine

  function squared() result(args)
    type(op_arg) :: args(2)
    args = [op_arg_dat(x, -1, OP_ID, 1, 'real(8)', OP_READ), op_arg_global(sum, OP_INC)]
  end function

  subroutine begin_anew(by, by_of_rate)
    real(8), intent(in) :: by, by_of_rate
    call op_put_data(x, start + by*line)
    call op_put_gbl(rate, 0.1d0 + by_of_rate)
    call op_put_gbl(sum, 0d0)
  end subroutine

  real(8) function result_with(by, by_of_rate) result(value)
    real(8), intent(in) :: by, by_of_rate
    call begin_anew(by, by_of_rate)
    call run(.false.)
    call op_get_gbl(sum, value)
  end function

  logical function close_to(is, should, most)
    real(8), intent(in) :: is, should, most
    close_to = abs(is - should) <= most*(1 + abs(should))
  end function

  subroutine clear_bars()
    call op_put_data(op_bar(x), 0*start)
    call op_put_gbl(op_bar_gbl(rate), 0d0)
  end subroutine

  subroutine check_tape(bytes)
    integer(c_size_t), intent(in) :: bytes
    real(8), parameter :: by = 1d-5
    type(op_tape) :: tape
    type(op_tape_facts_t) :: facts
    real(8) :: difference
    call begin_anew(0d0, 0d0)
    call clear_bars()
    if (bytes > 0) then
      tape = op_tape_begin([x], bytes*n)
    else
      tape = op_tape_begin([x])
    end if
    call op_tape_input_gbl(rate)
    call run(.true.)
    call op_tape_end(tape)
    call op_tape_check(tape, 1, difference)
    call expect(difference < 1d-13 .and. difference >= 0, 'tangents and adjoints agree')
    call op_put_gbl(op_bar_gbl(sum), 1d0)
    call op_tape_reverse(tape, .true.)
    facts = op_tape_facts(tape)
    call expect(facts%steps == steps .and. facts%reversed >= 2*steps + 1, 'what a tape has and did')
    call expect((facts%again > 0) .eqv. (bytes > 0), 'steps run again where memory is short')
    call op_fetch_data(op_bar(x), gradient)
    call op_get_gbl(op_bar_gbl(rate), by_rate)
    call op_tape_free(tape)
    moves = (result_with(by, 0d0) - result_with(-by, 0d0))/(2*by)
    call expect(close_to(dot_product(gradient, line), moves, 1d-8), 'a gradient')
    call expect(close_to(by_rate, (result_with(0d0, by) - result_with(0d0, -by))/(2*by), 1d-7), &
        'a derivative by a global')
  end subroutine

  subroutine check_tangents()
    real(8) :: value
    call begin_anew(0d0, 0d0)
    call op_tangent(.true.)
    call op_put_data(op_dot(x), line)
    call run(.false.)
    call op_tangent(.false.)
    call op_get_gbl(op_dot_gbl(sum), value)
    call expect(close_to(value, dot_product(gradient, line), 1d-12), 'tangents')
  end subroutine

  ! The derivatives of one loop, by its text and by a kernel that the library keeps.
  subroutine check_alone()
    real(8) :: bars(n), value
    type(op_kernel) :: kept
    kept = op_kernel_text(square)
    call begin_anew(0d0, 0d0)
    call clear_bars()
    call op_put_gbl(op_bar_gbl(sum), 3d0)
    call op_adjoint_loop(square, 'square', nodes, squared())
    call op_adjoint_loop(kept, 'square', nodes, squared())
    call op_fetch_data(op_bar(x), bars)
    call expect(all(abs(bars - 2*6*start) < 1d-13), 'the adjoint of a loop')
    call op_put_data(op_dot(x), line)
    call op_put_gbl(op_dot_gbl(sum), 0d0)
    call op_tangent_loop(square, 'square', nodes, squared())
    call op_tangent_loop(kept, 'square', nodes, squared())
    call op_get_gbl(op_dot_gbl(sum), value)
    call expect(close_to(value, 4*dot_product(start, line), 1d-13), 'the tangent of a loop')
  end subroutine

  ! An adjoint by hand counts: the right one, and one that gives half. A frozen kernel gives nothing.
  subroutine check_said()
    real(8) :: bars(n)
    call op_kernel_adjoint(square, 'square', square_b, 'square_b')
    call bars_of_squares(bars)
    call expect(all(abs(bars - 2*start) < 1d-13), 'an adjoint by hand')
    call op_kernel_adjoint(op_kernel_text(square), 'square', op_kernel_text(half_b), 'half_b')
    call bars_of_squares(bars)
    call expect(all(abs(bars - start) < 1d-13), 'another adjoint by hand')
    call op_freeze_kernel(square, 'square')
    call bars_of_squares(bars)
    call expect(all(bars == 0), 'a frozen kernel')
    call op_freeze_kernel(op_kernel_text(square), 'square')
  end subroutine

  subroutine bars_of_squares(bars)
    real(8), intent(out) :: bars(n)
    type(op_tape) :: tape
    call begin_anew(0d0, 0d0)
    call clear_bars()
    tape = op_tape_begin([x])
    call op_par_loop(square, 'square', nodes, squared())
    call op_tape_end(tape)
    call op_put_gbl(op_bar_gbl(sum), 1d0)
    call op_tape_reverse(tape, .true.)
    call op_fetch_data(op_bar(x), bars)
    call op_tape_free(tape)
  end subroutine

  ! By a constant, in both directions.
  subroutine check_constant()
    character(*), parameter :: scaled = &
        'static void scaled(const double *x, double *sum) { *sum += scale * scale * *x; }'
    type(op_tape) :: tape
    real(8) :: value
    call op_decl_const('scale', 1, 'real(8)', 3d0)
    call begin_anew(0d0, 0d0)
    tape = op_tape_begin([x])
    call op_tape_input_const('scale')
    call op_par_loop(scaled, 'scaled', nodes, squared())
    call op_tape_end(tape)
    call op_put_gbl(op_bar_gbl(sum), 1d0)
    call op_tape_reverse(tape, .true.)
    call op_get_gbl(op_bar_const('scale'), value)
    call expect(close_to(value, 6*sum_of(start), 1d-12), 'a derivative by a constant')
    call op_tape_free(tape)
    call op_tangent(.true.)
    call begin_anew(0d0, 0d0) ! what is put does not move
    call op_put_gbl(op_dot_const('scale'), 2d0)
    call op_par_loop(scaled, 'scaled', nodes, squared())
    call op_get_gbl(op_dot_gbl(sum), value)
    call op_tangent(.false.)
    call expect(close_to(value, 12*sum_of(start), 1d-12), 'a constant that moves')
  end subroutine

  real(8) function sum_of(values)
    real(8), intent(in) :: values(:)
    integer :: k
    sum_of = 0
    do k = 1, size(values)
      sum_of = sum_of + values(k)
    end do
  end function

  ! u = cos(u) * x / 3: du/dx = cos(u) / (3 + x*sin(u)).
  subroutine check_fixed()
    character(*), parameter :: turn = &
        'static void turn(const double *x, double *u) { *u = cos(*u) * *x / 3; }'
    type(op_tape) :: tape
    type(op_tape_facts_t) :: facts
    real(8) :: u(n), bars(n)
    call begin_anew(0d0, 0d0)
    call clear_bars()
    call op_put_data(flow, 0*start)
    tape = op_tape_begin([x])
    call op_tape_fixed_begin(1d-14, 100)
    do i = 1, 60
      call op_tape_round()
      call op_par_loop(turn, 'turn', nodes, [op_arg_dat(x, -1, OP_ID, 1, 'real(8)', OP_READ), &
          op_arg_dat(flow, -1, OP_ID, 1, 'real(8)', OP_RW)])
    end do
    call op_tape_fixed_end()
    call op_tape_end(tape)
    call op_fetch_data(flow, u)
    call op_put_data(op_bar(flow), 0*start + 1)
    call op_tape_reverse(tape, .true.)
    facts = op_tape_facts(tape)
    call op_fetch_data(op_bar(x), bars)
    call expect(all(abs(bars - cos(u)/(3 + start*sin(u))) < 1d-12), 'a fixed point')
    call expect(facts%rounds > 1, 'it goes back through the last round again and again')
    call op_tape_free(tape)
  end subroutine

  subroutine check_errors()
    type(op_tape) :: tape, none
    integer :: stat
    character(400) :: errmsg
    call op_tape_step(stat, errmsg)
    call expect(stat == op_err_state, 'a step without a tape: '//trim(errmsg))
    call begin_anew(0d0, 0d0)
    tape = op_tape_begin([x])
    none = op_tape_begin([x], stat=stat, errmsg=errmsg)
    call expect(stat == op_err_state, 'a second tape: '//trim(errmsg))
    call op_tape_passive()
    call op_tape_reverse(tape, .true., stat, errmsg)
    call expect(stat == op_err_state .and. index(errmsg, 'op_tape_end') > 0, 'reverse before the end: '//trim(errmsg))
    call op_tape_free(tape)
    call op_tape_end(tape, stat, errmsg)
    call expect(stat == op_err_handle, 'a tape that is gone: '//trim(errmsg))
  end subroutine

end program
