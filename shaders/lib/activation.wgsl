// Activations that a kernel applies as it stores, and those of GRU and LSTM:
// activate_<name>(x, alpha, beta) in f32. Needs lib/math.wgsl. Defaults of alpha and beta are the
// caller's business. A NaN stays one in all of them but thresholded_relu, which is 0 where x is not
// above alpha: max() and clamp() may drop it, and drivers turn a comparison with zero into max().

fn activate_identity(x: f32, alpha: f32, beta: f32) -> f32 {
  return x;
}

fn activate_relu(x: f32, alpha: f32, beta: f32) -> f32 {
  return select(max(x, 0.0), x, is_nan(x));
}

fn activate_leaky_relu(x: f32, alpha: f32, beta: f32) -> f32 {
  return select(x, alpha * x, x < 0.0 && !is_nan(x));
}

fn activate_thresholded_relu(x: f32, alpha: f32, beta: f32) -> f32 {
  return select(0.0, x, x > alpha && !is_nan(x));
}

// exp(x) - 1 loses what is small: near 0 the series is used (its next term is below 2e-7 of it).
fn activate_elu(x: f32, alpha: f32, beta: f32) -> f32 {
  let series = x * (1.0 + x * (0.5 + x * (0.16666667 + x * 0.041666667)));
  let below = alpha * select(exp(min(x, 0.0)) - 1.0, series, x > -0.0625);
  return select(x, below, x < 0.0 && !is_nan(x));
}

fn activate_sigmoid(x: f32, alpha: f32, beta: f32) -> f32 {
  return sigmoid(x);
}

fn activate_hard_sigmoid(x: f32, alpha: f32, beta: f32) -> f32 {
  return select(clamp(alpha * x + beta, 0.0, 1.0), x, is_nan(x));
}

fn activate_hard_swish(x: f32, alpha: f32, beta: f32) -> f32 {
  return x * clamp(x / 6.0 + 0.5, 0.0, 1.0);
}

fn activate_tanh(x: f32, alpha: f32, beta: f32) -> f32 {
  return safe_tanh(x);
}

fn activate_scaled_tanh(x: f32, alpha: f32, beta: f32) -> f32 {
  return alpha * safe_tanh(beta * x);
}

fn activate_affine(x: f32, alpha: f32, beta: f32) -> f32 {
  return alpha * x + beta;
}

fn activate_softsign(x: f32, alpha: f32, beta: f32) -> f32 {
  return divide(x, 1.0 + abs(x));
}

// log(1 + e^x) without overflow; the tail is a series where log would lose it.
fn activate_softplus(x: f32, alpha: f32, beta: f32) -> f32 {
  let e = exp(-abs(x));
  let tail = select(log(1.0 + e), e * (1.0 - e * (0.5 - e * 0.33333334)), e < 0.015625);
  return select(max(x, 0.0) + tail, x, is_nan(x));
}

// Clip: alpha is the lower bound, beta the upper; the upper wins where they cross.
fn activate_clip(x: f32, alpha: f32, beta: f32) -> f32 {
  return select(min(max(x, alpha), beta), x, is_nan(x));
}
