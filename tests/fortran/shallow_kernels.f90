! Water in a basin: the five kernels of shallow.f90.
module shallow_kernels
  implicit none
  integer, parameter :: wp = kind(1d0)
  real(wp) :: gravity, courant
contains
  ! The state (height, and height times velocity) before the step.
  subroutine keep(q, old)
    real(wp), intent(in) :: q(3)
    real(wp), intent(out) :: old(3)
    old = q
  end subroutine

  ! The longest step that waves allow.
  subroutine longest(q, area, step)
    real(wp), intent(in) :: q(3), area
    real(wp), intent(inout) :: step
    real(wp) :: speed
    speed = norm2(q(2:3))/q(1) + sqrt(gravity*q(1))
    step = min(step, courant*sqrt(area)/speed)
  end subroutine

  ! What goes through the edge between two cells.
  subroutine flux(normal, left, right, out_left, out_right)
    real(wp), intent(in) :: normal(2), left(3), right(3)
    real(wp), intent(inout) :: out_left(3), out_right(3)
    real(wp) :: f(3), speed
    integer :: i
    speed = max(wave(left, normal), wave(right, normal))
    f = (through(left, normal) + through(right, normal))/2
    do i = 1, 3
      f(i) = f(i) + speed*(left(i) - right(i))/2
    end do
    out_left = out_left - f
    out_right = out_right + f
  end subroutine

  ! A wall: pressure alone.
  subroutine wall(normal, q, out)
    real(wp), intent(in) :: normal(2), q(3)
    real(wp), intent(inout) :: out(3)
    out(2:3) = out(2:3) - gravity*q(1)**2/2*normal
  end subroutine

  subroutine advance(old, out, area, step, q, volume)
    real(wp), intent(in) :: old(3), area, step
    real(wp), intent(inout) :: out(3), volume
    real(wp), intent(out) :: q(3)
    q = old + step/area*out
    out = 0
    volume = volume + area*q(1)
  end subroutine

  pure function through(q, normal) result(f)
    real(wp), intent(in) :: q(3), normal(2)
    real(wp) :: f(3), across
    across = dot_product(q(2:3), normal)/q(1)
    f = across*q
    f(2:3) = f(2:3) + gravity*q(1)**2/2*normal
  end function

  pure real(wp) function wave(q, normal)
    real(wp), intent(in) :: q(3), normal(2)
    wave = abs(dot_product(q(2:3), normal))/q(1) + sqrt(gravity*q(1))*norm2(normal)
  end function
end module
