// The GRU's equations for one unit (ONNX: z update, r reset, h hidden gate).
// Needs lib/recurrent_activation.wgsl, lib/recurrent_layout.wgsl, lib/recurrent_bindings.wgsl.

// Rbh where the step itself needs it (linear_before_reset) and the node has it.
fn hidden_bias_of(direction: u32, unit: u32) -> f32 {
{% if at_bias %}
  return f32(bias[(direction * 6u + 5u) * HIDDEN + unit]);
{% else %}
  return 0.0;
{% endif %}
}

fn gru_gate(x: f32, direction: u32) -> f32 {
  return activation_f(clipped(x), direction);
}

// linear_before_reset != 0: the reset gate scales the finished product of state and weights.
fn gru_candidate_after(x: f32, product: f32, reset: f32, direction: u32) -> f32 {
  return activation_g(clipped(x + reset * product), direction);
}

// linear_before_reset = 0: the product was made from the state that the reset gate had scaled.
fn gru_candidate(x: f32, product: f32, direction: u32) -> f32 {
  return activation_g(clipped(x + product), direction);
}

fn gru_blend(update: f32, candidate: f32, state: f32) -> f32 {
  return (1.0 - update) * candidate + update * state;
}
