! Ranks: a communicator of the program's own, as mpi_f08 has it and as an integer, and OP2's modules on it.
module ranks_kernels
  implicit none
contains
  subroutine spread(w, one, other)
    real(8), intent(in) :: w
    real(8), intent(inout) :: one, other
    one = one + w
    other = other + w
  end subroutine

  ! As OP2's program reduction has it: nobody knows here that all elements leave the same.
  subroutine clear(one, other, n)
    real(8), intent(out) :: one, other
    integer(4), intent(inout) :: n
    one = 0
    other = 0
    n = n + 1
  end subroutine

  subroutine add(v, s)
    real(8), intent(in) :: v
    real(8), intent(inout) :: s
    s = s + v
  end subroutine
end module

module ranks_old
  use op2_fortran_declarations
  use op2_fortran_reference
  use op2_fortran_rt_support
  use ranks_kernels
  use check
  implicit none
contains
  ! A ring of n edges and nodes, of which each rank declares its share.
  subroutine old_ring(comm, n, first, share)
    integer, intent(in) :: comm, n, first, share
    type(op_set) :: nodes, edges
    type(op_map) :: ends
    type(op_dat) :: w, sum
    integer(4), target :: table(2*share)
    real(8), target :: values(share), back(share)
    real(8) :: total
    integer :: i, rank
    integer(4) :: count
    call op_mpi_init_base(0, comm, 0, 1)
    call op_mpi_rank(rank)
    call op_decl_set(share, nodes, 'nodes')
    call op_decl_set(share, edges, 'edges')
    table(1::2) = [(first + i, i = 1, share)]
    table(2::2) = [(mod(first + i, n) + 1, i = 1, share)]
    values = table(1::2)
    call op_decl_map(edges, nodes, 2, table, ends, 'ends')
    call op_decl_dat(edges, 1, 'real(8)', values, w, 'w')
    back = 0
    call op_decl_dat(nodes, 1, 'real(8)', back, sum, 'sum')
    call op_partition('PTSCOTCH', 'KWAY', nodes, ends, sum)
    call op_par_loop_3(spread, edges, op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_dat(sum, 1, ends, 1, 'real(8)', OP_INC), op_arg_dat(sum, 2, ends, 1, 'real(8)', OP_INC))
    ! The same by the arrays of the declarations.
    call op_par_loop_3(spread, edges, op_arg_dat(values, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_dat(back, 1, table, 1, 'real(8)', OP_INC), op_arg_dat(back, 2, table, 1, 'real(8)', OP_INC))
    total = 0
    call op_par_loop_2(add, nodes, op_arg_dat(sum, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_gbl(total, 1, 'real(8)', OP_INC))
    call expect(total == 2*real(n, 8)*(n + 1), 'the sum of all ranks, OP2''s modules')
    call op_fetch_data(sum, back)
    do i = 1, share
      call expect(back(i) == 2*merge(real(n + 1, 8), 2d0*(first + i) - 1, first + i == 1), 'a value of a node')
    end do
    call expect(op_get_size(nodes) == int(n, 8), 'the size over all ranks')
    if (op_is_root() == 1) call expect(rank == 0, 'the root')
    count = 0
    call op_par_loop_3(clear, edges, op_arg_dat(sum, 1, ends, 1, 'real(8)', OP_RW), &
        op_arg_dat(sum, 2, ends, 1, 'real(8)', OP_RW), op_arg_gbl(count, 1, 'integer(4)', OP_INC))
    call op_fetch_data(sum, back)
    call expect(count == n .and. all(back == 0), 'elements that meet, and are counted')
    call op_exit()
  end subroutine
end module

program ranks
  use mpi_f08
  use op2jit
  use op2jit_mpi
  use ranks_kernels
  use ranks_old, only: old_ring
  use check
  implicit none
  integer, parameter :: n = 1000
  integer :: rank, size, first, share, i
  type(mpi_comm) :: comm
  call mpi_init()
  ! Other numbers of ranks than MPI's own.
  call mpi_comm_rank(mpi_comm_world, rank)
  call mpi_comm_size(mpi_comm_world, size)
  call mpi_comm_split(mpi_comm_world, 0, size - rank, comm)
  rank = size - 1 - rank
  first = n*rank/size
  share = n*(rank + 1)/size - first
  call ring(.true.)
  call ring(.false.)
  call old_ring(comm%mpi_val, n, first, share) ! which ends MPI
  call end_of('ranks')

contains

  subroutine ring(by_type)
    logical, intent(in) :: by_type
    character(*), parameter :: code = 'static void spread(const double *w, double *a, double *b) { *a += *w; *b += *w; }'// &
        new_line('a')//'static void add(const double *v, double *s) { *s += *v; }'
    type(op_set) :: nodes, edges
    type(op_map) :: ends
    type(op_dat) :: w, sum
    type(op_kernel) :: text
    real(8) :: back(share)
    real(8), target :: total
    if (by_type) then
      call op_init_comm(comm, diags=0)
    else
      call op_init_comm(comm%mpi_val, diags=0)
    end if
    call expect(op_rank() == rank .and. op_rank_count() == size, 'ranks as the communicator has them')
    text = op_kernel_text(code)
    call op_kernel_native(text, 'spread', spread)
    call op_kernel_native(text, 'add', add)
    nodes = op_decl_set(share, 'nodes')
    edges = op_decl_set(share, 'edges')
    ends = op_decl_map(edges, nodes, 2, reshape([(first + i, mod(first + i, n) + 1, i = 1, share)], [2, share]), 'ends')
    call refuse(edges)
    w = op_decl_dat(edges, 1, 'real(8)', [(real(first + i, 8), i = 1, share)], 'w')
    sum = op_decl_dat(nodes, 1, 'real(8)', name='sum')
    call op_par_loop(text, 'spread', edges, [op_arg_dat(w, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_dat(sum, 1, ends, 1, 'real(8)', OP_INC), op_arg_dat(sum, 2, ends, 1, 'real(8)', OP_INC)])
    total = 0
    call op_par_loop(text, 'add', nodes, [op_arg_dat(sum, -1, OP_ID, 1, 'real(8)', OP_READ), &
        op_arg_gbl(total, 1, 'real(8)', OP_INC)])
    call expect(total == real(n, 8)*(n + 1), 'the sum of all ranks')
    call op_fetch_data(sum, back)
    do i = 1, share
      call expect(back(i) == merge(real(n + 1, 8), 2d0*(first + i) - 1, first + i == 1), 'a value of a node')
    end do
    call op_exit()
  end subroutine

  ! What one rank refuses all do.
  subroutine refuse(edges)
    type(op_set), intent(in) :: edges
    type(op_dat) :: d
    real(8) :: right(2, share), turned(share, 2)
    character(200) :: errmsg
    integer :: stat
    right = 0
    turned = 0
    if (rank == size - 1) then
      d = op_decl_dat(edges, 2, 'real(8)', turned, 'turned', stat, errmsg)
    else
      d = op_decl_dat(edges, 2, 'real(8)', right, 'turned', stat, errmsg)
    end if
    call expect(stat == op_err_dim .and. index(errmsg, '"turned" has 2 values') > 0, 'refused together: '//trim(errmsg))
  end subroutine

end program
