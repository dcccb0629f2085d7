// Pow, and Mod of floats. Needs lib/math.wgsl before it.

// x^n by repeated multiplication, modulo 2^32: right for i32 bits too.
fn integer_power(x: u32, exponent: u32) -> u32 {
  var result = 1u;
  var base = x;
  for (var n = exponent; n > 0u; n >>= 1u) {
    result = select(result, result * base, (n & 1u) == 1u);
    base *= base;
  }
  return result;
}

// A negative exponent leaves a fraction, which an integer drops.
fn signed_power(x: i32, y: i32) -> i32 {
  if (y >= 0) {
    return bitcast<i32>(integer_power(bitcast<u32>(x), u32(y)));
  }
  let unit = select(1, x, (y & 1) == 1);
  return select(0, unit, x == 1 || x == -1);
}

// x^y as IEEE has it. WGSL's pow is exp2(y log2(x)): undefined for x < 0, inexact for squares.
fn power(x: f32, y: f32) -> f32 {
  if (y == 0.0 || x == 1.0) {
    return 1.0;
  }
  if (is_nan(x) || is_nan(y)) {
    return nan_value();
  }
  let size = abs(x);
  let whole = y == floor(y);
  if (whole && abs(y) <= 128.0) {
    var result = 1.0;
    var base = x;
    for (var n = u32(abs(y)); n > 0u; n >>= 1u) {
      result = select(result, result * base, (n & 1u) == 1u);
      base *= base;
    }
    return select(result, divide(1.0, result), y < 0.0);
  }
  if (y == 0.5 && x >= 0.0) {
    return square_root(x);
  }
  var magnitude = exp2(y * log2(size));
  if (size == 0.0 || is_inf(x) || is_inf(y)) {
    magnitude = select(0.0, infinity(), (size > 1.0) == (y > 0.0));
  }
  magnitude = select(magnitude, 1.0, size == 1.0);
  if (x < 0.0 && !whole && !is_inf(x)) {
    return nan_value();
  }
  let odd = whole && abs(y) < 16777216.0 && (u32(min(abs(y), 16777215.0)) & 1u) == 1u;
  return select(magnitude, -magnitude, odd && (bitcast<u32>(x) >> 31u) == 1u);
}

// Remainder with the sign of the dividend, as C's fmod. Each turn takes off a whole multiple of y.
fn float_remainder(x: f32, y: f32) -> f32 {
  if (!is_finite(x) || is_nan(y) || y == 0.0) {
    return nan_value();
  }
  let size = abs(y);
  var rest = abs(x);
  for (var turn = 0u; turn < 300u && rest >= size; turn++) {
    // The largest size * 2^k that is not above the rest: the difference is exact.
    let gap = max(i32(bitcast<u32>(rest) >> 23u) - i32(bitcast<u32>(size) >> 23u), 0);
    let step = ldexp(size, gap);
    rest -= select(step, ldexp(size, max(gap - 1, 0)), step > rest);
  }
  return select(rest, -rest, x < 0.0);
}

// Remainder with the sign of the divisor: of unlike signs the divisor itself where it is infinite.
fn float_floor_remainder(x: f32, y: f32) -> f32 {
  let rest = float_remainder(x, y);
  let unlike = rest != 0.0 && (rest < 0.0) != (y < 0.0);
  return select(select(rest, rest + y, unlike), select(0.0, -0.0, y < 0.0), rest == 0.0);
}
