// The three roles (f, g, h) that a GRU or LSTM gives to activations of lib/activation.wgsl: an
// expression in x for each direction, with its alpha and beta put in.
// Needs lib/math.wgsl. Variables: f0 f1 g0 g1 h0 h1 (direction 0 and 1), clip (0: none).
{% include 'lib/activation.wgsl' %}

// ONNX lets GRU's and LSTM's begin at alpha, the operator ThresholdedRelu above it.
fn activate_relu_from_threshold(x: f32, alpha: f32, beta: f32) -> f32 {
  return select(0.0, x, x >= alpha || is_nan(x));
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
