// The activation functions that ONNX names for GRU and LSTM, and the three roles (f, g, h) that a
// node gives them: an expression in x for each direction, with its alpha and beta put in.
// Needs lib/math.wgsl. Variables: f0 f1 g0 g1 h0 h1 (direction 0 and 1), clip (0: none).

// A NaN passes through every function below: max() may drop it, and drivers turn a comparison with
// zero into max().
fn relu(x: f32) -> f32 {
  return select(max(x, 0.0), x, is_nan(x));
}

fn affine(x: f32, alpha: f32, beta: f32) -> f32 {
  return alpha * x + beta;
}

fn leaky_relu(x: f32, alpha: f32) -> f32 {
  return select(x, alpha * x, x < 0.0);
}

fn thresholded_relu(x: f32, alpha: f32) -> f32 {
  return select(x, 0.0, x < alpha);
}

fn scaled_tanh(x: f32, alpha: f32, beta: f32) -> f32 {
  return alpha * safe_tanh(beta * x);
}

fn hard_sigmoid(x: f32, alpha: f32, beta: f32) -> f32 {
  let line = alpha * x + beta;
  return select(select(line, 0.0, line < 0.0), 1.0, line > 1.0);
}

// exp(x) - 1 loses what is small: near 0 the series is used (its next term is below 1e-7 of it).
fn elu(x: f32, alpha: f32) -> f32 {
  let series = x * (1.0 + x * (0.5 + x * (0.16666667 + x * 0.041666667)));
  let below = alpha * select(exp(x) - 1.0, series, x > -0.0625);
  return select(x, below, x < 0.0);
}

fn softsign(x: f32) -> f32 {
  return x / (1.0 + abs(x));
}

// log(1 + e^x) without overflow; the tail is a series where log would lose it.
fn softplus(x: f32) -> f32 {
  let e = exp(-abs(x));
  let tail = select(log(1.0 + e), e * (1.0 - e * (0.5 - e * 0.33333334)), e < 0.015625);
  return select(0.0, x, x > 0.0) + select(tail, x, is_nan(x));
}

// What ONNX's clip bounds: the input of an activation of a gate.
fn clipped(x: f32) -> f32 {
{% if clip %}
  return select(clamp(x, -{{ clip }}, {{ clip }}), x, is_nan(x));
{% else %}
  return x;
{% endif %}
}

fn activation_f(x: f32, direction: u32) -> f32 {
{% if f1 != f0 %}
  if (direction == 1u) {
    return {{ f1 }};
  }
{% endif %}
  return {{ f0 }};
}

fn activation_g(x: f32, direction: u32) -> f32 {
{% if g1 != g0 %}
  if (direction == 1u) {
    return {{ g1 }};
  }
{% endif %}
  return {{ g0 }};
}
{% if h0 %}

fn activation_h(x: f32, direction: u32) -> f32 {
{% if h1 != h0 %}
  if (direction == 1u) {
    return {{ h1 }};
  }
{% endif %}
  return {{ h0 }};
}
{% endif %}
