! What tests in Fortran say of themselves.
module check
  implicit none
  integer :: failures = 0
contains
  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    print '(a)', 'FAILED: '//what
  end subroutine

  subroutine end_of(name)
    character(*), intent(in) :: name
    if (failures > 0) error stop 1
    print '(a)', name//': all held'
  end subroutine
end module
