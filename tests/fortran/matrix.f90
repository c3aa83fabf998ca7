! The module op2jit: matrices. What loops give against a dense sum, of blocks and by several pairs of maps; fixed rows;
! what is wrong; and a solution where the library has PETSc.
module matrix_kernels
  use, intrinsic :: iso_c_binding
  implicit none
contains
  ! Of two nodes with two components: row after row.
  subroutine give(w, a)
    real(c_double), intent(in) :: w
    real(c_double), intent(inout) :: a(16)
    integer :: i
    do i = 1, 16
      a(i) = a(i) + w*i
    end do
  end subroutine

  subroutine stiff(w, a)
    real(c_double), intent(in) :: w
    real(c_double), intent(inout) :: a(4)
    a = [w, -w, -w, w]
  end subroutine
end module

program matrix
  use op2jit
  use, intrinsic :: iso_c_binding
  use matrix_kernels
  use check
  implicit none
  integer, parameter :: n = 5
  character(*), parameter :: text = &
      'static void give(const double *w, double *a) { for (int i = 0; i < 16; i++) a[i] += *w * (i + 1); }'// &
      new_line('a')// &
      'static void stiff(const double *w, double *a) { a[0] = a[3] = *w; a[1] = a[2] = -*w; }'//new_line('a')
  type(op_set) :: nodes, edges
  type(op_map) :: ends, back
  type(op_dat) :: w, fixed
  type(op_kernel) :: code
  integer :: table(2, n - 1), e
  real(8) :: weights(n - 1)

  call op_init(diags=0)
  code = op_kernel_text(text)
  call op_kernel_native(code, 'give', give)
  call op_kernel_native(code, 'stiff', stiff)
  table = reshape([(e, e + 1, e = 1, n - 1)], [2, n - 1])
  weights = [(real(e, 8), e = 1, n - 1)]
  nodes = op_decl_set(n, 'nodes')
  edges = op_decl_set(n - 1, 'edges')
  ends = op_decl_map(edges, nodes, 2, table, 'ends')
  back = op_decl_map(edges, nodes, 2, reshape([(e + 1, e, e = 1, n - 1)], [2, n - 1]), 'back')
  w = op_decl_dat(edges, 1, 'real(8)', weights, 'w')
  fixed = op_decl_dat(nodes, 1, 'integer(4)', [1, 0, 0, 0, 1], 'fixed')
  call check_blocks()
  call check_pairs()
  call check_fixed()
  call check_errors()
  call op_exit()
  call end_of('matrix')

contains

  ! All of it, with zeros.
  function dense(mat, rows) result(found)
    type(op_mat), intent(in) :: mat
    integer, intent(in) :: rows
    real(8) :: found(rows, rows)
    integer(8), allocatable :: offsets(:), columns(:)
    real(8), allocatable :: values(:)
    integer :: r
    integer(8) :: k
    found = 0
    call op_fetch_mat(mat, offsets, columns, values)
    call expect(size(offsets) == rows + 1 .and. offsets(1) == 1, 'the rows begin with entry 1')
    call expect(offsets(rows + 1) == size(columns) + 1 .and. size(columns) == size(values), 'the rows end')
    do r = 1, rows
      do k = offsets(r), offsets(r + 1) - 1
        if (k > offsets(r)) call expect(columns(k) > columns(k - 1), 'columns ascend')
        found(r, int(columns(k))) = values(k)
      end do
    end do
  end function

  subroutine check_blocks()
    type(op_mat) :: mat
    real(8) :: expected(2*n, 2*n)
    integer :: i, j, to(4)
    mat = op_decl_mat(ends, ends, 2, 2, 'real(8)', 'blocks')
    call op_par_loop(code, 'give', edges, [op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_mat(mat, ends, ends, 2, 2, 'real(8)', OP_INC)])
    expected = 0
    do e = 1, n - 1
      to = [2*e - 1, 2*e, 2*e + 1, 2*e + 2]
      do i = 1, 4
        do j = 1, 4
          expected(to(i), to(j)) = expected(to(i), to(j)) + e*(4*(i - 1) + j)
        end do
      end do
    end do
    call expect(all(abs(dense(mat, 2*n) - expected) < 1d-12), 'blocks')
    call op_free_mat(mat)
  end subroutine

  function laplace() result(expected)
    real(8) :: expected(n, n)
    expected = 0
    do e = 1, n - 1
      expected(e, e) = expected(e, e) + e
      expected(e + 1, e + 1) = expected(e + 1, e + 1) + e
      expected(e, e + 1) = -e
      expected(e + 1, e) = -e
    end do
  end function

  subroutine give_stiff(mat, map)
    type(op_mat), intent(in) :: mat
    type(op_map), intent(in) :: map
    call op_par_loop(code, 'stiff', edges, [op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_mat(mat, map, map, 1, 1, 'real(8)', OP_INC)])
  end subroutine

  subroutine check_pairs()
    type(op_mat) :: mat
    mat = op_decl_mat([ends, back], [ends, back], 1, 1, 'real(8)', 'pairs')
    call give_stiff(mat, ends)
    call give_stiff(mat, back)
    call expect(all(abs(dense(mat, n) - 2*laplace()) < 1d-12), 'two pairs of maps')
    call op_zero_mat(mat)
    call give_stiff(mat, back)
    call expect(all(abs(dense(mat, n) - laplace()) < 1d-12), 'a matrix begins anew')
  end subroutine

  subroutine check_fixed()
    type(op_mat) :: mat
    type(op_dat) :: b, x
    real(8) :: expected(n, n), right(n), found(n)
    integer :: stat
    character(400) :: errmsg
    mat = op_decl_mat(ends, ends, 1, 1, 'real(8)', 'fixed')
    call op_fix_mat(mat, fixed, fixed, 3d0)
    call give_stiff(mat, ends)
    expected = laplace()
    expected([1, n], :) = 0
    expected(:, [1, n]) = 0
    expected(1, 1) = 3
    expected(n, n) = 3
    call expect(all(abs(dense(mat, n) - expected) < 1d-12), 'fixed rows and columns')
    found = [(real(e, 8), e = 1, n)]
    right = matmul(expected, found)
    b = op_decl_dat(nodes, 1, 'real(8)', right, 'b')
    x = op_decl_dat(nodes, 1, 'real(8)', name='x')
    call op_solve(mat, b, x, stat=stat, errmsg=errmsg)
    call expect(stat == 0 .or. stat == op_err_not_built, 'op_solve: '//trim(errmsg))
    if (stat == 0) then
      call op_fetch_data(x, right)
      call expect(all(abs(right - found) < 1d-3), 'the solution')
    else
      call expect(index(errmsg, 'petsc-dev') > 0, 'the package is named: '//trim(errmsg))
    end if
    call op_zero_mat(mat)
    call op_fix_mat(mat, diagonal=0d0)
    call give_stiff(mat, ends)
    call expect(all(abs(dense(mat, n) - laplace()) < 1d-12), 'nothing is fixed any more')
  end subroutine

  subroutine check_errors()
    type(op_mat) :: mat
    integer(8), allocatable :: offsets(:), columns(:)
    real(8), allocatable :: values(:)
    integer :: stat
    character(400) :: errmsg
    mat = op_decl_mat([ends, back], [ends], 1, 1, 'real(8)', 'few', stat, errmsg)
    call expect(stat == op_err_argument, 'more rows than columns: '//trim(errmsg))
    mat = op_decl_mat(ends, ends, 1, 1, 'real(4)', 'short', stat, errmsg)
    call expect(stat == op_err_type, 'a matrix of real(4): '//trim(errmsg))
    mat = op_decl_mat(ends, ends, 1, 1, 'real(8)', 'k')
    call op_fetch_mat(mat, offsets, columns, values, stat, errmsg)
    call expect(stat == op_err_state .and. size(values) == 0, 'before a loop filled it: '//trim(errmsg))
    call op_par_loop(code, 'stiff', edges, [op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_mat(mat, ends, back, 1, 1, 'real(8)', OP_INC)], stat, errmsg)
    call expect(stat == op_err_map_set, 'another pair: '//trim(errmsg))
    call op_par_loop(code, 'stiff', edges, [op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_mat(mat, ends, ends, 2, 1, 'real(8)', OP_INC)], stat, errmsg)
    call expect(stat == op_err_dim, 'another dim: '//trim(errmsg))
    call op_fix_mat(mat, w, diagonal=1d0, stat=stat, errmsg=errmsg)
    call expect(stat == op_err_map_set, 'fixed by a dat of the edges: '//trim(errmsg))
    call op_put_data(fixed, [1, 0, 2, 0, 0])
    call op_fix_mat(mat, fixed, diagonal=1d0, stat=stat, errmsg=errmsg)
    call expect(stat == op_err_range, 'neither 0 nor 1: '//trim(errmsg))
    call op_solve(mat, w, w, stat=stat)
    call expect(stat == op_err_state, 'a solution before a loop filled it')
    call op_free_mat(mat)
    call op_zero_mat(mat, stat, errmsg)
    call expect(stat == op_err_handle, 'a matrix that is gone: '//trim(errmsg))
  end subroutine

end program
