// Activations that a kernel applies as it stores: activate_<name>(x, alpha, beta) in f32.
// Needs lib/math.wgsl before it. Defaults of alpha and beta are the caller's business.

fn activate_identity(x: f32, alpha: f32, beta: f32) -> f32 {
  return x;
}

// A NaN stays one: max() may drop it, and drivers turn a comparison with zero into max().
fn activate_relu(x: f32, alpha: f32, beta: f32) -> f32 {
  return select(max(x, 0.0), x, is_nan(x));
}

fn activate_leaky_relu(x: f32, alpha: f32, beta: f32) -> f32 {
  return select(x, alpha * x, x < 0.0);
}

fn activate_thresholded_relu(x: f32, alpha: f32, beta: f32) -> f32 {
  return select(0.0, x, x > alpha || is_nan(x));
}

fn activate_elu(x: f32, alpha: f32, beta: f32) -> f32 {
  return select(x, alpha * (exp(min(x, 0.0)) - 1.0), x < 0.0);
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

fn activate_silu(x: f32, alpha: f32, beta: f32) -> f32 {
  return x * sigmoid(x);
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

// log(1 + exp(x)) without overflow for large x.
fn activate_softplus(x: f32, alpha: f32, beta: f32) -> f32 {
  return max(x, 0.0) + log(1.0 + exp(-abs(x)));
}

// Clip: alpha is the lower bound, beta the upper; the upper wins where they cross.
fn activate_clip(x: f32, alpha: f32, beta: f32) -> f32 {
  return select(min(max(x, alpha), beta), x, is_nan(x));
}
