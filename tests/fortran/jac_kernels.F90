module jac_constants
  implicit none
  real(8) :: alpha = 0.5d0
end module
module jac_kernels
  use jac_constants
  implicit none
contains
  subroutine res(a, u, du, beta)
    real(8), intent(in) :: a(1), u(1), beta(1)
    real(8), intent(inout) :: du(1)
    du(1) = du(1) + beta(1)*alpha*a(1)*u(1)
  end subroutine
  subroutine update(r, du, u, u_sum, u_max)
    real(8), intent(in) :: r(1)
    real(8), intent(inout) :: du(1), u(1), u_sum(1), u_max(1)
    u(1) = u(1) + du(1) + alpha*r(1)
#ifdef SPEAKS
    if (u(1) > 1d300) write (*, *) u(1)
#endif
#ifdef PRINTS
    if (u_sum(1) == 0) print *, '100% isn''t "all":', 2 + int(alpha), u(1) < u(1), real(alpha), alpha + 1
#endif
    du(1) = 0
    u_sum(1) = u_sum(1) + u(1)**2
    u_max(1) = max(u_max(1), u(1))
  end subroutine
end module
#ifdef TWICE
subroutine other
contains
  subroutine lean(u)
    real(8), intent(inout) :: u(1)
    u(1) = 3*u(1)
  end subroutine
end subroutine
#endif
