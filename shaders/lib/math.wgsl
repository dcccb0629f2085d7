// Functions whose WGSL built-ins are inexact or undefined where ONNX is not.
// NaN and infinity are told by their bits: compilers fold away comparisons such as x != x.

fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn is_inf(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u;
}

fn is_finite(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u;
}

// A float made of bits at run time: constants may not be NaN or infinite in WGSL.
fn from_bits(bits: u32) -> f32 {
  var made = bits;
  return bitcast<f32>(made);
}

fn nan_value() -> f32 {
  return from_bits(0x7fc00000u);
}

fn infinity() -> f32 {
  return from_bits(0x7f800000u);
}

// The larger; NaN if either is one (the built-in may drop it).
fn max_or_nan(x: f32, y: f32) -> f32 {
  return select(select(max(x, y), y, is_nan(y)), x, is_nan(x));
}

// The smaller; NaN if either is one.
fn min_or_nan(x: f32, y: f32) -> f32 {
  return select(select(min(x, y), y, is_nan(y)), x, is_nan(x));
}

// x - y * z to its last digit where the product is close to x. The halves' products are exact, so
// it does not matter whether the adapter fuses them (fma() may be two roundings).
fn residual(x: f32, y: f32, z: f32) -> f32 {
  let y_high = bitcast<f32>(bitcast<u32>(y) & 0xfffff000u);
  let z_high = bitcast<f32>(bitcast<u32>(z) & 0xfffff000u);
  let y_low = y - y_high;
  let z_low = z - z_high;
  return (((x - y_high * z_high) - y_high * z_low) - y_low * z_high) - y_low * z_low;
}

// WGSL allows an error of 2.5 units in the last place, and more for large divisors. One Newton step
// makes exact quotients exact. The inverse is cut short so that no compiler adds up the two
// divisions by y: (x + rest) / y would be as inexact as x / y.
fn divide(x: f32, y: f32) -> f32 {
  let scale = select(1.0, 5.9604645e-8, abs(y) > 1e30);
  let dividend = x * scale;
  let divisor = y * scale;
  let quotient = dividend / divisor;
  let inverse = bitcast<f32>(bitcast<u32>(1.0 / divisor) & 0xffffff00u);
  let refined = quotient + residual(dividend, quotient, divisor) * inverse;
  let safe = is_finite(refined) && is_finite(y) && min(abs(dividend), abs(quotient)) > 1e-28;
  return select(quotient, refined, safe);
}

// Square root, exact for exact squares; NaN below zero.
fn square_root(x: f32) -> f32 {
  let root = sqrt(max(x, 0.0));
  let refined = root + residual(x, root, root) / (2.0 * root);
  let positive = select(x, refined, x > 0.0 && is_finite(refined));
  return select(select(positive, root, is_inf(root)), nan_value(), x < 0.0);
}

// The built-in overflows to NaN for large arguments on some drivers and is coarse near zero.
fn safe_tanh(x: f32) -> f32 {
  let z = x * x;
  let near = x + x * z * ((((-5.70498872745e-3 * z + 2.06390887954e-2) * z
    - 5.37397155531e-2) * z + 1.33314422036e-1) * z - 3.33332819422e-1);
  let far = sign(x) * (1.0 - 2.0 / (exp(2.0 * min(abs(x), 10.0)) + 1.0));
  return select(select(far, near, abs(x) < 0.625), x, is_nan(x));
}

fn sigmoid(x: f32) -> f32 {
  return 1.0 / (1.0 + exp(-x));
}
