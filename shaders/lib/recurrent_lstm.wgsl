// The LSTM's equations for one unit (ONNX: i input, o output, f forget, c cell gate).
// Needs lib/recurrent_activation.wgsl, lib/recurrent_layout.wgsl, lib/recurrent_bindings.wgsl.
// Variable: input_forget.
struct LstmState {
  hidden: f32,
  cell: f32,
}

// The weights (i, o, f) by which the cell enters the gates; 0 where the node has none.
fn peepholes_of(direction: u32, unit: u32) -> vec3<f32> {
{% if at_peepholes %}
  let at = direction * 3u * HIDDEN + unit;
  return vec3<f32>(
    f32(peepholes[at]), f32(peepholes[at + HIDDEN]), f32(peepholes[at + 2u * HIDDEN]));
{% else %}
  return vec3<f32>();
{% endif %}
}

// x: the four gates' inputs (i, o, f, c), bias and recurrent product included.
// The clip bounds the gates' inputs; h(C) takes the cell as it is (ORT and OpenVINO alike).
fn lstm_cell(x: vec4<f32>, peephole: vec3<f32>, cell: f32, direction: u32) -> LstmState {
  let input = activation_f(clipped(x.x + peephole.x * cell), direction);
{% if input_forget %}
  let forget = 1.0 - input;
{% else %}
  let forget = activation_f(clipped(x.z + peephole.z * cell), direction);
{% endif %}
  let next = forget * cell + input * activation_g(clipped(x.w), direction);
  let output = activation_f(clipped(x.y + peephole.y * next), direction);
  return LstmState(output * activation_h(next, direction), next);
}
