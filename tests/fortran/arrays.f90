! OP2's modules with arrays in the place of handles, and what else they know by arrays.
module arrays_kernels
  implicit none
contains
  subroutine spread(w, one, other)
    real(8), intent(in) :: w
    real(8), intent(inout) :: one(2), other(2)
    one = one + w
    other = other - w
  end subroutine

  subroutine mark(number, out)
    integer(4), intent(in) :: number
    integer(4), intent(out) :: out
    out = number
  end subroutine

  subroutine plain(a, b)
    real(4), intent(in) :: a
    real(4), intent(out) :: b
    b = 2*a
  end subroutine
end module

program arrays
  use op2_fortran_declarations
  use op2_fortran_hdf5_declarations
  use op2_fortran_reference
  use op2_fortran_rt_support
  use, intrinsic :: iso_c_binding
  use check
  use arrays_kernels
  implicit none
  integer, parameter :: n = 3000
  type(op_set) :: nodes, edges, no_set
  type(op_map) :: p_ends
  type(op_dat) :: p_w, p_sum, p_x, p_a, p_b, p_number, p_cube
  integer(4), target :: ends(2, n), flat(2*n), number(n)
  real(8), target :: w(n), sum(2, n), x(2*n), cube(2, 2, n)
  real(4), target :: a(n), b(n)
  real(8) :: back(2*n), expected(2, n)
  integer(4) :: seen(n)
  integer(4), pointer :: table(:)
  real(8), pointer :: rows(:)
  integer(8) :: address, known
  real(4) :: twice(n)
  character(20) :: word
  integer :: i, unit

  call get_command_argument(1, word)
  call op_init(0)
  do i = 1, n
    ends(:, i) = [i, mod(i, n) + 1]
  end do
  flat = reshape(ends, [2*n])
  w = [(real(i, 8), i = 1, n)]
  sum = 0
  x = [(real(i, 8), i = 1, 2*n)]
  a = 3
  b = 0
  number = 0
  cube = 1
  call op_decl_set(n, nodes, 'nodes')
  call op_decl_set(n, edges, 'edges')
  call op_decl_map(edges, nodes, 2, ends, p_ends, 'ends')
  call op_decl_dat(edges, 1, 'real(8)', w, p_w, 'w')
  call op_decl_dat(nodes, 2, 'real(8)', sum, p_sum, 'sum')
  call op_decl_dat(nodes, 2, 'real(8)', x, p_x, 'x')
  call op_decl_dat(nodes, 1, 'real(4)', a, p_a, 'a')
  call op_decl_dat(nodes, 1, 'real(4)', b, p_b, 'b')
  call op_decl_dat(edges, 1, 'integer(4)', number, p_number, 'number')
  call op_decl_dat(nodes, 4, 'real(8)', cube, p_cube, 'cube')
  if (word /= '') call mistakes()
  call op_partition2('PTSCOTCH', 'KWAY', nodes, ends, x)

  ! Arrays of every rank, direct and through a map that is an array of rank 2.
  call op_par_loop_3(spread, edges, op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_READ), &
      op_arg_dat(sum, 1, ends, 2, 'real(8)', OP_INC), op_arg_dat(sum, 2, ends, 2, 'real(8)', OP_INC))
  call op_par_loop_2(mark, edges, op_arg_idx(2, ends), op_arg_dat(number, -1, OP_ID, 1, 'integer(4)', OP_WRITE))
  call op_par_loop_2(plain, nodes, op_arg_dat(a, -1, OP_ID, 1, 'real(4)', OP_READ), &
      op_opt_arg_dat(.true., b, -1, OP_ID, 1, 'real(4)', OP_WRITE))
  expected = 0
  do i = 1, n
    expected(:, ends(1, i)) = expected(:, ends(1, i)) + i
    expected(:, ends(2, i)) = expected(:, ends(2, i)) - i
  end do
  call op_fetch_data(p_sum, back)
  call expect(all(back == reshape(expected, [2*n])), 'increments into an array of rank 2')
  call op_fetch_data(p_number, seen)
  call expect(all(seen == ends(2, :)), 'numbers of targets by an array')
  call op_fetch_data(p_b, twice)
  call expect(all(twice == 6), 'an argument that may be absent, and is there')
  call op_par_loop_2(plain, nodes, op_arg_dat(a, -1, OP_ID, 1, 'real(4)', OP_READ), &
      op_arg_dat(p_b, -1, OP_ID, 1, 'real(4)', OP_WRITE))

  ! Numbers and addresses in place of the program's arrays, which may then be freed.
  known = op_reset_data_ptr(w, 1)
  call by_number(transfer(known, c_null_ptr))
  address = op_get_data_ptr(known)
  call c_f_pointer(transfer(address, c_null_ptr), rows, [n])
  call expect(all(rows == w), 'the rows by a number')
  address = op_copy_map_to_fort(ends)
  call c_f_pointer(transfer(address, c_null_ptr), table, [2*n])
  call expect(all(table == flat), 'a copy of a table, from 1')
  call op_par_loop_3(spread, edges, op_arg_dat(p_w, -1, OP_ID, 1, 'real(8)', OP_READ), &
      op_arg_dat(sum, 1, table, 2, 'real(8)', OP_INC), op_arg_dat(sum, 2, table, 2, 'real(8)', OP_INC))
  call op_fetch_data(p_sum, back)
  call expect(all(back == 3*reshape(expected, [2*n])), 'increments by the copy of a table')
  address = op_reset_map_ptr(ends)
  call c_f_pointer(transfer(address, c_null_ptr), table, [2*n])
  call expect(all(table == flat - 1), 'the library''s table, from 0')
  call op_force_part(table)
  call op_renumber_ptr(table)
  call op_fetch_data(p_sum, back)
  call expect(all(back == 3*reshape(expected, [2*n])), 'nothing is renumbered that a program sees')
  call op_print_dat_to_txtfile2(x, 'x.txt')
  open (newunit=unit, file='x.txt', status='old')
  read (unit, *) i
  close (unit)
  call expect(i == n, 'a dat into a file, by its array')
  call op_exit()
  call end_of('arrays')

contains

  ! Programs have Cray pointers for that: here the array is one whose address is the number, which nobody follows.
  subroutine by_number(at)
    type(c_ptr), intent(in) :: at
    real(8), pointer :: nobody(:)
    call c_f_pointer(at, nobody, [n])
    call op_par_loop_3(spread, edges, op_arg_dat(nobody, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_dat(sum, 1, ends, 2, 'real(8)', OP_INC), op_arg_dat(sum, 2, ends, 2, 'real(8)', OP_INC))
  end subroutine

  ! Each ends the program.
  subroutine mistakes()
    real(8) :: stranger(n), total(2, 4), turned(n, 2)
    real(4) :: other(n)
    real(4), allocatable :: nothing(:), nothings(:, :)
    total = 0
    stranger = 0
    turned = 0
    other = 0
    select case (word)
    case ('stranger')
      call op_par_loop_1(plain, nodes, op_arg_dat(stranger, -1, OP_ID, 1, 'real(8)', OP_READ))
    case ('map')
      call op_par_loop_1(plain, edges, op_arg_dat(sum, 1, flat, 2, 'real(8)', OP_READ))
    case ('twice')
      call op_decl_dat(nodes, 1, 'real(4)', a, p_b, 'a again')
      call op_par_loop_1(plain, nodes, op_arg_dat(a, -1, OP_ID, 1, 'real(4)', OP_READ))
    case ('kind')
      call op_decl_dat(nodes, 1, 'real(8)', other, p_b, 'other')
    case ('type')
      call op_par_loop_1(plain, nodes, op_arg_dat(a, -1, OP_ID, 1, 'real(8)', OP_READ))
    case ('section')
      call op_par_loop_1(plain, nodes, op_arg_gbl(total(1:2, 1:4:2), 4, 'real(8)', OP_INC))
    case ('zero')
      ends(2, 7) = 0
      call op_decl_map(edges, nodes, 2, ends, p_ends, 'from zero')
    case ('turned')
      call op_decl_dat(nodes, 2, 'real(8)', turned, p_b, 'turned')
    case ('far')
      ends(2, 7) = n + 1
      call op_decl_map(edges, nodes, 2, ends, p_ends, 'far')
    case ('dim')
      call op_par_loop_1(plain, nodes, op_arg_dat(sum, -1, OP_ID, 3, 'real(8)', OP_READ))
    case ('self')
      call op_decl_map(nodes, nodes, 1, [(i, i = 1, n)], p_ends, 'self')
      call op_par_loop_1(plain, nodes, op_arg_dat(p_a, 0, p_ends, 1, 'real(4)', OP_READ))
    case ('none')
      call op_decl_dat(nodes, 1, 'real(4)', nothing, p_b, 'nothing')
    case ('none2')
      call op_decl_dat(nodes, 2, 'real(4)', nothings, p_b, 'nothings')
    case ('access')
      call op_par_loop_1(plain, nodes, op_arg_dat(p_a, -1, OP_ID, 1, 'real(4)', 99))
    case ('size')
      if (op_get_size(no_set) == 0) stop 'elements of no set'
    case ('copied')
      call op_decl_dat(nodes, 2, 'real(8)', cube(:, 1, :), p_b, 'layer')
      call op_decl_dat(nodes, 2, 'real(8)', cube(:, 2, :), p_b, 'other layer')
      call op_exit()
      stop
    end select
  end subroutine

end program
