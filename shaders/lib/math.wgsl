// Functions whose WGSL built-ins are inexact or undefined where ONNX is not.

fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn is_inf(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u;
}

// The built-in overflows to NaN for large arguments on some drivers; it is +-1 beyond 10 in f32.
fn safe_tanh(x: f32) -> f32 {
  return select(tanh(clamp(x, -10.0, 10.0)), x, is_nan(x));
}

fn sigmoid(x: f32) -> f32 {
  return 1.0 / (1.0 + exp(-x));
}
