// Elementary functions in f32, each to a few units in the last place, built from exp, log and
// polynomials: WGSL's own trigonometry may be off by 4,096 units. Needs lib/math.wgsl before it.
// The polynomials of atan and asin are those of the Cephes library.

fn nan_unless(valid: bool, value: f32) -> f32 {
  return select(nan_value(), value, valid);
}

// log(1 + u) for u >= -1, through atanh of u / (2 + u) where 1 + u would lose digits.
fn log1p(u: f32) -> f32 {
  let s = u / (2.0 + u);
  let z = s * s;
  let near = 2.0 * s * (1.0 + z * (1.0 / 3.0 + z * (0.2 + z * (1.0 / 7.0 + z / 9.0))));
  return select(log(1.0 + u), near, u > -0.29 && u < 0.42);
}

// exp(x) - 1
fn expm1(x: f32) -> f32 {
  let near = x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0
    * (1.0 + x / 6.0 * (1.0 + x / 7.0 * (1.0 + x / 8.0)))))));
  return select(exp(x) - 1.0, near, abs(x) < 0.5);
}

fn natural_log(x: f32) -> f32 {
  let positive = select(log(x), log1p(x - 1.0), x > 0.75 && x < 1.4);
  let value = select(positive, x, is_inf(x));
  return select(nan_unless(x >= 0.0 && !is_nan(x), value), -infinity(), x == 0.0);
}

fn exponential(x: f32) -> f32 {
  let value = select(exp(x), 0.0, x < -104.0);
  return select(select(value, infinity(), x > 88.73), x, is_nan(x));
}

fn softplus(x: f32) -> f32 {
  return select(max(x, 0.0) + log1p(exp(-abs(x))), x, is_nan(x));
}

fn sine_hyperbolic(x: f32) -> f32 {
  let e = expm1(min(abs(x), 80.0));
  let large = exponential(abs(x) - 0.69314718);
  return sign(x) * select(select(0.5 * (e + e / (e + 1.0)), large, abs(x) > 20.0), x, is_nan(x));
}

fn cosine_hyperbolic(x: f32) -> f32 {
  return exponential(abs(x) - 0.69314718) + exponential(-abs(x) - 0.69314718);
}

fn arsinh(x: f32) -> f32 {
  let a = abs(x);
  let near = log1p(a + a * a / (1.0 + sqrt(a * a + 1.0)));
  return sign(x) * select(near, natural_log(a) + 0.69314718, a > 1e9);
}

fn arcosh(x: f32) -> f32 {
  let t = x - 1.0;
  let near = log1p(t + sqrt(max(t * (2.0 + t), 0.0)));
  return nan_unless(x >= 1.0, select(near, natural_log(x) + 0.69314718, x > 1e9));
}

fn artanh(x: f32) -> f32 {
  let inside = 0.5 * log1p(2.0 * abs(x) / (1.0 - min(abs(x), 0.99999994)));
  let value = sign(x) * select(inside, infinity(), abs(x) == 1.0);
  return nan_unless(abs(x) <= 1.0, value);
}

fn arcsine_core(x: f32) -> f32 {
  let z = x * x;
  return x + x * z * ((((4.2163199048e-2 * z + 2.4181311049e-2) * z + 4.5470025998e-2) * z
    + 7.4953002686e-2) * z + 1.6666752422e-1);
}

fn arcsine(x: f32) -> f32 {
  let a = abs(x);
  let near_one = 1.57079633 - 2.0 * arcsine_core(sqrt(max(0.5 * (1.0 - a), 0.0)));
  return nan_unless(a <= 1.0, sign(x) * select(arcsine_core(a), near_one, a > 0.5));
}

fn arccosine(x: f32) -> f32 {
  let half = 2.0 * arcsine_core(sqrt(max(0.5 * (1.0 - abs(x)), 0.0)));
  let far = select(half, 3.14159265 - half, x < 0.0);
  return nan_unless(abs(x) <= 1.0, select(1.57079633 - arcsine_core(x), far, abs(x) > 0.5));
}

fn arctangent(x: f32) -> f32 {
  let a = abs(x);
  let far = a > 2.41421356;
  let middle = a > 0.41421356;
  let start = select(select(0.0, 0.78539816, middle), 1.57079633, far);
  let t = select(select(a, (a - 1.0) / (a + 1.0), middle), -1.0 / a, far);
  let z = t * t;
  let rest = t + t * z * (((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z
    - 3.33329491539e-1);
  return select(sign(x) * (start + rest), x, is_nan(x));
}

// Taylor's series of erf, for |x| < 0.5.
fn error_near_zero(x: f32) -> f32 {
  let z = x * x;
  return 1.12837917 * x * (1.0 - z * (1.0 / 3.0 - z * (0.1 - z * (1.0 / 42.0 - z * (1.0 / 216.0
    - z * (1.0 / 1320.0 - z / 9360.0))))));
}

// 1 - erf(x) for x >= 0.5: Chebyshev's fit of Numerical Recipes.
fn complement_of_error(x: f32) -> f32 {
  let t = 1.0 / (1.0 + 0.5 * x);
  let p = -1.26551223 + t * (1.00002368 + t * (0.37409196 + t * (0.09678418 + t * (-0.18628806
    + t * (0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223
    + t * 0.17087277))))))));
  return t * exp(p - x * x);
}

fn error_function(x: f32) -> f32 {
  let far = sign(x) * (1.0 - complement_of_error(clamp(abs(x), 0.5, 9.0)));
  return select(select(far, error_near_zero(x), abs(x) < 0.5), x, is_nan(x));
}

// x times the normal distribution's function; its lower tail keeps its digits.
fn gelu(x: f32) -> f32 {
  let a = abs(x) * 0.70710678;
  let near = 1.0 - error_near_zero(a);
  let tail = 0.5 * select(complement_of_error(clamp(a, 0.5, 9.0)), near, a < 0.5);
  let value = select(x * tail, x * (1.0 - tail), x >= 0.0);
  let below = select(0.0, nan_value(), is_inf(x));  // the text's infinity times zero
  return select(select(value, below, x < -14.0), x, is_nan(x));
}

fn gelu_tanh(x: f32) -> f32 {
  return 0.5 * x * (1.0 + safe_tanh(0.79788456 * (x + 0.044715 * x * x * x)));
}
