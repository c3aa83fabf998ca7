// Not a header: the middle of a function.
const double f = gam * cbrt(sum) * (sum < limits[1] ? exp(-sum) : 0.0);
