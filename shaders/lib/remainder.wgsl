// Remainders of integers. Vulkan leaves % undefined for negative ones.

// With the sign of the dividend.
fn signed_remainder(x: i32, y: i32) -> i32 {
  return x - x / y * y;
}

// With the sign of the divisor, as Python's %.
fn floor_remainder(x: i32, y: i32) -> i32 {
  let rest = signed_remainder(x, y);
  return select(rest, rest + y, rest != 0 && (rest < 0) != (y < 0));
}
