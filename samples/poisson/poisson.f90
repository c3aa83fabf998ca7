! Poisson's equation on tetrahedra, as poisson.c has it, with the same kernels: a loop makes the matrix, and op_solve
! solves with PETSc's solvers, conjugate gradients with multigrid unless options say something else
! (-poisson_pc_type hypre). The error must fall by four when the edges are halved.
program poisson
  use op2jit
  use, intrinsic :: iso_c_binding
  implicit none
  type(op_kernel) :: code
  integer :: n, failures
  real(8) :: coarse, fine
  integer(8) :: few, many

  interface
    integer(c_int) function setenv(name, value, again) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*), value(*)
      integer(c_int), value :: again
    end function
  end interface

  n = 16
  failures = 0
  call read_words()
  if (setenv('PETSC_OPTIONS'//c_null_char, &
      '-poisson_ksp_type cg -poisson_pc_type gamg -poisson_ksp_rtol 1e-9'//c_null_char, 0_c_int) /= 0) stop 1
  call op_init()
  code = op_kernel_file('poisson_kernels.h')
  call solve(n/2, coarse, few)
  call solve(n, fine, many)
  call expect('order of convergence', log(coarse/fine)/log(2d0), 1.8d0, 2.2d0)
  call expect('iterations, the fine mesh''s by the coarse''s', real(many, 8)/real(few, 8), 0d0, 1.7d0)
  call op_print('poisson: '//merge('FAILED', 'PASSED', failures > 0))
  call op_exit()
  if (failures > 0) error stop 1

contains

  subroutine read_words()
    character(200) :: word, value
    integer :: bad
    if (command_argument_count() < 2) return
    call get_command_argument(1, word)
    if (word /= '--n') return ! for the library, or PETSc
    call get_command_argument(2, value)
    read (value, *, iostat=bad) n
    if (bad == 0 .and. n >= 4 .and. mod(n, 2) == 0 .and. n <= 400) return
    print '(a)', 'usage: poisson [--n EVEN] [-poisson_OPTION ...]'
    stop 2
  end subroutine

  integer function node_at(n, i, j, k)
    integer, intent(in) :: n, i, j, k
    node_at = 1 + i + (n + 1)*(j + (n + 1)*k)
  end function

  ! Cubes of six tetrahedra each: the way from a cube's first corner to its last leads along its edges in six ways.
  subroutine make_cells(n, cell)
    integer, intent(in) :: n
    integer, allocatable, intent(out) :: cell(:,:)
    integer, parameter :: orders(3, 6) = reshape([1, 2, 3, 1, 3, 2, 2, 1, 3, 2, 3, 1, 3, 1, 2, 3, 2, 1], [3, 6])
    integer :: i, j, k, o, step, at(3), c
    allocate(cell(4, 6*n**3))
    c = 0
    do k = 0, n - 1
      do j = 0, n - 1
        do i = 0, n - 1
          do o = 1, 6
            c = c + 1
            at = [i, j, k]
            cell(1, c) = node_at(n, at(1), at(2), at(3))
            do step = 1, 3
              at(orders(step, o)) = at(orders(step, o)) + 1
              cell(step + 1, c) = node_at(n, at(1), at(2), at(3))
            end do
          end do
        end do
      end do
    end do
  end subroutine

  ! Triangles of the floor and the ceiling.
  subroutine make_faces(n, face)
    integer, intent(in) :: n
    integer, allocatable, intent(out) :: face(:,:)
    integer :: i, j, k, f
    allocate(face(3, 4*n*n))
    f = 0
    do k = 0, n, n
      do j = 0, n - 1
        do i = 0, n - 1
          face(:, f + 1) = [node_at(n, i, j, k), node_at(n, i + 1, j, k), node_at(n, i + 1, j + 1, k)]
          face(:, f + 2) = [node_at(n, i, j, k), node_at(n, i, j + 1, k), node_at(n, i + 1, j + 1, k)]
          f = f + 2
        end do
      end do
    end do
  end subroutine

  ! Places of nodes, and 1 on the four walls.
  subroutine make_nodes(n, place, wall)
    integer, intent(in) :: n
    real(8), allocatable, intent(out) :: place(:,:)
    integer, allocatable, intent(out) :: wall(:)
    integer :: i, j, k, node
    allocate(place(3, (n + 1)**3), wall((n + 1)**3))
    do k = 0, n
      do j = 0, n
        do i = 0, n
          node = node_at(n, i, j, k)
          place(:, node) = real([i, j, k], 8)/n
          wall(node) = merge(1, 0, i == 0 .or. i == n .or. j == 0 .or. j == n)
        end do
      end do
    end do
  end subroutine

  ! Under mpirun the first process declares everything, and op_partition shares it out.
  subroutine solve(n, error, iterations)
    integer, intent(in) :: n
    real(8), intent(out), target :: error
    integer(8), intent(out) :: iterations
    real(8), allocatable :: place(:,:)
    integer, allocatable :: cell_nodes(:,:), face_nodes(:,:), wall(:)
    type(op_set) :: nodes, cells, faces
    type(op_map) :: cell, face
    type(op_dat) :: x, fixed, given, b, u
    type(op_mat) :: k
    type(op_counters_t) :: counters
    integer :: here
    character(100) :: line
    call make_nodes(n, place, wall)
    call make_cells(n, cell_nodes)
    call make_faces(n, face_nodes)
    here = merge(1, 0, op_is_root())
    nodes = op_decl_set(here*size(wall), 'nodes')
    cells = op_decl_set(here*size(cell_nodes, 2), 'cells')
    faces = op_decl_set(here*size(face_nodes, 2), 'faces')
    cell = op_decl_map(cells, nodes, 4, cell_nodes(:, :here*size(cell_nodes, 2)), 'cell')
    face = op_decl_map(faces, nodes, 3, face_nodes(:, :here*size(face_nodes, 2)), 'face')
    x = op_decl_dat(nodes, 3, 'real(8)', place(:, :here*size(wall)), 'x')
    fixed = op_decl_dat(nodes, 1, 'integer(4)', wall(:here*size(wall)), 'fixed')
    given = op_decl_dat(nodes, 1, 'real(8)', name='given')
    b = op_decl_dat(nodes, 1, 'real(8)', name='b')
    u = op_decl_dat(nodes, 1, 'real(8)', name='u')
    call op_partition('rcb', '', cells, coords=x)

    call op_par_loop(code, 'start', nodes, [op_arg_dat(x, -1, OP_ID, 3, 'real(8)', OP_READ), &
        op_arg_dat(fixed, -1, OP_ID, 1, 'integer(4)', OP_READ), op_arg_dat(given, -1, OP_ID, 1, 'real(8)', OP_WRITE), &
        op_arg_dat(b, -1, OP_ID, 1, 'real(8)', OP_WRITE), op_arg_dat(u, -1, OP_ID, 1, 'real(8)', OP_WRITE)])
    k = op_decl_mat(cell, cell, 1, 1, 'real(8)', 'k')
    call op_fix_mat(k, fixed, fixed, 1d0)
    call op_par_loop(code, 'assemble', cells, [op_arg_dat(x, OP_ALL, cell, 3, 'real(8)', OP_READ), &
        op_arg_dat(given, OP_ALL, cell, 1, 'real(8)', OP_READ), op_arg_mat(k, cell, cell, 1, 1, 'real(8)', OP_INC), &
        op_arg_dat(b, OP_ALL, cell, 1, 'real(8)', OP_INC)])
    call op_par_loop(code, 'flow', faces, [op_arg_dat(x, OP_ALL, face, 3, 'real(8)', OP_READ), &
        op_arg_dat(b, OP_ALL, face, 1, 'real(8)', OP_INC)])
    call op_par_loop(code, 'put_given', nodes, [op_arg_dat(fixed, -1, OP_ID, 1, 'integer(4)', OP_READ), &
        op_arg_dat(given, -1, OP_ID, 1, 'real(8)', OP_READ), op_arg_dat(b, -1, OP_ID, 1, 'real(8)', OP_RW)])
    counters = op_counters()
    iterations = counters%iterations
    call op_solve(k, b, u, 'poisson_')
    counters = op_counters()
    iterations = counters%iterations - iterations
    error = 0
    call op_par_loop(code, 'compare', nodes, [op_arg_dat(x, -1, OP_ID, 3, 'real(8)', OP_READ), &
        op_arg_dat(u, -1, OP_ID, 1, 'real(8)', OP_READ), op_arg_gbl(error, 1, 'real(8)', OP_MAX)])
    write (line, '(i0, a, i0, a, es11.5, a, i0, a)') 6*n**3, ' tetrahedra, ', (n + 1)**3, ' nodes: largest error ', &
        error, ', ', iterations, ' iterations'
    call op_print(line)
    call op_free_mat(k)
  end subroutine

  subroutine expect(what, value, least, most)
    character(*), intent(in) :: what
    real(8), intent(in) :: value, least, most
    character(120) :: line
    logical :: holds
    holds = value >= least .and. value <= most
    write (line, '(2x, a43, f9.3, a, f4.1, a, f4.1, a, a)') what, value, ', from ', least, ' to ', most, ': ', &
        merge('yes', 'NO ', holds)
    call op_print(line)
    if (.not. holds) failures = failures + 1
  end subroutine

end program
