// y = (x - mean[c]) / sqrt(variance[c] + epsilon) * scale[c] + bias[c], then an activation.
// Bindings: 0 params, 1 source (batch, channels, inner), 2 scale, 3 bias, 4 mean, 5 variance
// (channels), 6 target. Grid: one invocation for each element or four neighbours of a channel.
struct Params {
  count: u32,
  channels: u32,
  inner: u32,
  epsilon: f32,
  alpha: f32,
  beta: f32,
  unused_0: u32,
  unused_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<{{ source }}>;
@group(0) @binding(2) var<storage, read> scale: array<{{ scale }}>;
@group(0) @binding(3) var<storage, read> bias: array<{{ bias }}>;
@group(0) @binding(4) var<storage, read> mean: array<{{ mean }}>;
@group(0) @binding(5) var<storage, read> variance: array<{{ variance }}>;
@group(0) @binding(6) var<storage, read_write> destination: array<{{ target }}>;

{% include 'lib/items.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/activation.wgsl' %}

fn activate(y: f32) -> f32 {
  return activate_{{ activation }}(y, params.alpha, params.beta);
}

fn run_item(index: u32) {
  let c = index / params.inner % params.channels;
  let factor = divide(f32(scale[c]), square_root(f32(variance[c]) + params.epsilon));
  let x = {{ value }}(source[index]);
  let y = (x - f32(mean[c])) * factor + f32(bias[c]);
  destination[index] = {{ target }}({{ call }});
}
