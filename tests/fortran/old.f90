! OP2's modules: handles as output, numbers from 1, kernels that are procedures of a module, of the program, and of a
! procedure, whose variables they use.
module old_kernels
  implicit none
  real(8) :: weight = 2
contains
  subroutine spread(w, one, other)
    real(8), intent(in) :: w(1)
    real(8), intent(inout) :: one(1), other(1)
    one(1) = one(1) + weight*w(1)
    other(1) = other(1) + weight*w(1)
  end subroutine

  subroutine number(own, target, out)
    integer(4), intent(in) :: own, target
    integer(4), intent(out) :: out(2)
    out = [own, target]
  end subroutine

  subroutine top(v, most, own, where)
    real(8), intent(in) :: v
    real(8), intent(inout) :: most
    integer(4), intent(in) :: own
    integer(4), intent(inout) :: where
    if (v > most) then
      most = v
      where = own
    end if
  end subroutine

  subroutine add(g, h, v)
    real(8), intent(in) :: g, h(5)
    real(8), intent(inout) :: v
    v = v + g + h(1) + 10*h(5)
  end subroutine

  ! Ten arguments, of which one is scratch and one may be absent.
  subroutine wide(a, b, c, d, e, f, g, h, scratch, maybe)
    real(8), intent(in) :: a, b, c, d, e, f, g
    real(8), intent(inout) :: h, scratch(3), maybe(*)
    scratch(1) = scratch(1) + a
    h = h + a + b + c + d + e + f + g + scratch(1)
    if (weight < 0) maybe(1) = 0
  end subroutine
end module

module old_inside
  use op2_fortran_reference
  use op2_fortran_rt_support
  implicit none
contains
  ! Arguments of variables that are gone when this returns.
  function of_locals() result(args)
    type(op_arg) :: args(2)
    real(8) :: one, five(5)
    one = 7
    five = [1, 2, 3, 4, 5]
    args(1) = op_arg_gbl(one, 1, 'real(8)', OP_READ)
    args(2) = op_arg_gbl(five, 5, 'real(8)', OP_READ)
  end function

  ! The kernel uses a variable of the procedure around it: it is a procedure that is made on the stack.
  subroutine count_all(set, dat, n)
    type(op_set) :: set
    type(op_dat) :: dat
    integer, intent(out) :: n
    integer :: seen
    real(8) :: sum
    seen = 0
    sum = 0
    call op_par_loop_2(look, set, op_arg_dat(dat, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_gbl(sum, 1, 'real(8)', OP_INC))
    n = seen
  contains
    subroutine look(v, s)
      real(8), intent(in) :: v
      real(8), intent(inout) :: s
      seen = seen + 1
      s = s + v
    end subroutine
  end subroutine

  ! That procedure may be where another one was.
  subroutine count_again(set, dat, n)
    type(op_set) :: set
    type(op_dat) :: dat
    integer, intent(out) :: n
    integer :: seen
    real(8) :: sum
    seen = 0
    sum = 0
    call op_par_loop_2(look_again, set, op_arg_dat(dat, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_gbl(sum, 1, 'real(8)', OP_INC))
    n = seen
  contains
    subroutine look_again(v, s)
      real(8), intent(in) :: v
      real(8), intent(inout) :: s
      seen = seen + 2
      s = s + v
    end subroutine
  end subroutine
end module

program old
  use op2_fortran_declarations
  use op2_fortran_reference
  use op2_fortran_rt_support
  use check
  use old_kernels
  use old_inside
  implicit none
  integer, parameter :: n = 40000
  type(op_set) :: nodes, edges
  type(op_map) :: ends
  type(op_dat) :: w, sum, numbers, none
  type(op_arg) :: locals(2)
  integer(4), allocatable :: table(:), got(:)
  integer(4), pointer :: seen(:)
  real(8), allocatable :: back(:), expected(:)
  real(8) :: most, total, scratch(3), factor
  integer :: i, where, counted

  call op_init(0)
  allocate(table(2*n), back(n), expected(n), got(2*n))
  table = [(i, mod(i, n) + 1, i = 1, n)]
  call op_decl_set(n, nodes, 'nodes')
  call op_decl_set(n, edges, 'edges')
  call op_decl_map(edges, nodes, 2, table, ends, 'ends')
  call op_decl_dat(edges, 1, 'real(8)', [(real(i, 8), i = 1, n)], w, 'w')
  expected = 0
  call op_decl_dat(nodes, 1, 'real(8)', expected, sum, 'sum')
  call op_decl_dat(edges, 2, 'integer(4)', got, numbers, 'numbers')
  call op_decl_const(weight, 1, 'real(8)')
  call op_partition('', '', nodes, ends, none)
  call expect(op_get_size(nodes) == int(n, 8) .and. nodes%setptr%size == n, 'sizes')
  call expect(ends%mapptr%dim == 2 .and. sum%dataptr%dim == 1, 'fields')
  call c_f_pointer(ends%mapptr%map, seen, [2*n])
  call expect(all(seen == table - 1), 'the table from 0')

  call op_par_loop_3(spread, edges, op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_READ), &
      op_arg_dat(sum, 1, ends, 1, 'real(8)', OP_INC), op_arg_dat(sum, 2, ends, 1, 'real(8)', OP_INC))
  do i = 1, n
    expected(table(2*i - 1)) = expected(table(2*i - 1)) + weight*i
    expected(table(2*i)) = expected(table(2*i)) + weight*i
  end do
  call op_fetch_data(sum, back)
  call expect(all(back == expected), 'increments without conflicts')
  ! The program's own variable is what kernels use.
  weight = -weight
  call op_par_loop_3(spread, edges, op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_READ), &
      op_arg_dat(sum, 1, ends, 1, 'real(8)', OP_INC), op_arg_dat(sum, 2, ends, 1, 'real(8)', OP_INC))
  weight = 2
  call op_fetch_data(sum, back)
  call expect(all(back == 0), 'a variable that changed')

  call op_par_loop_3(number, edges, op_arg_idx(-1, OP_ID), op_arg_idx(2, ends), &
      op_arg_dat(numbers, -1, OP_ID, 2, 'integer(4)', OP_WRITE))
  call op_fetch_data(numbers, got)
  call expect(all(got(1::2) == [(i, i = 1, n)]) .and. all(got(2::2) == table(2::2)), 'numbers from 1')

  most = -1
  where = 0
  call op_par_loop_4(top, edges, op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_READ), op_arg_gbl(most, 1, 'real(8)', OP_MAX), &
      op_arg_idx(-1, OP_ID), op_arg_info(where, 1, 'integer(4)', 2))
  call expect(most == n .and. where == n, 'an extremum and its payload')

  total = 1
  scratch = 5
  call op_par_loop_10(wide, edges, op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_READ), &
      op_arg_dat(sum, 1, ends, 1, 'real(8)', OP_READ), op_arg_dat(sum, 2, ends, 1, 'real(8)', OP_READ), &
      op_arg_dat(sum, 1, ends, 1, 'real(8)', OP_READ), op_arg_dat(sum, 1, ends, 1, 'real(8)', OP_READ), &
      op_arg_dat(sum, 1, ends, 1, 'real(8)', OP_READ), op_arg_dat(sum, 1, ends, 1, 'real(8)', OP_READ), &
      op_arg_gbl(total, 1, 'real(8)', OP_INC), op_arg_gbl(scratch, 3, 'real(8)', OP_WORK), &
      op_opt_arg_dat(.false., none, -1, OP_ID, 1, 'real(8)', OP_RW))
  call expect(total == 1 + 5d0*n + real(n, 8)*(n + 1) .and. all(scratch == 5), 'ten arguments')

  ! What is only read is taken when the argument is made.
  total = 0.5d0
  locals = of_locals()
  call op_par_loop_3(add, edges, op_arg_gbl(2*total, 1, 'real(8)', OP_READ), &
      op_arg_gbl(total*[1d0, 2d0, 3d0, 4d0, 5d0], 5, 'real(8)', OP_READ), op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_RW))
  call op_par_loop_3(add, edges, locals(1), locals(2), op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_RW))
  call op_fetch_data(w, back)
  call expect(all(back == [(i + 26.5d0 + 58, i = 1, n)]), 'values of expressions and of variables that are gone')
  call op_par_loop_3(add, edges, op_arg_gbl(-26.5d0 - 58, 1, 'real(8)', OP_READ), &
      op_arg_gbl(0*[1d0, 2d0, 3d0, 4d0, 5d0], 5, 'real(8)', OP_READ), op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_RW))

  factor = 3
  total = 0
  call op_par_loop_2(of_program, edges, op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_READ), &
      op_arg_gbl(total, 1, 'real(8)', OP_INC))
  call expect(total == factor*n*(n + 1d0)/2, 'a kernel of the program')
  call count_all(edges, w, counted)
  call expect(counted == n, 'a kernel of a procedure')
  call count_again(edges, w, counted)
  call expect(counted == 2*n, 'a kernel of another procedure')
  call op_exit()
  call end_of('old')

contains

  subroutine of_program(v, s)
    real(8), intent(in) :: v
    real(8), intent(inout) :: s
    s = s + factor*v
  end subroutine

end program
