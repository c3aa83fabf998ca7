! op_init_comm with a communicator of mpi_f08. Compile it with the MPI library's compiler, behind op2jit.f90.
module op2jit_mpi
  use mpi_f08, only: mpi_comm
  use op2jit, only: op_init_comm
  implicit none
  private
  public :: op_init_comm

  interface op_init_comm
    module procedure init_comm_f08
  end interface

contains

  subroutine init_comm_f08(comm, diags, base, stat, errmsg)
    type(mpi_comm), intent(in) :: comm
    integer, intent(in), optional :: diags, base
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call op_init_comm(comm%mpi_val, diags, base, stat, errmsg)
  end subroutine

end module
