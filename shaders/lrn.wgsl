// y = x / (bias + alpha * sum of squares over neighbouring channels)^beta.
// Bindings: 0 params, 1 source, 2 target (batch, channels, inner). Grid: one invocation each.
struct Params {
  count: u32,
  channels: u32,
  inner: u32,
  before: u32,
  after: u32,
  alpha: f32,
  beta: f32,
  bias: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<{{ element }}>;
@group(0) @binding(2) var<storage, read_write> destination: array<{{ element }}>;

{% include 'lib/items.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/power.wgsl' %}

fn run_item(index: u32) {
  let c = index / params.inner % params.channels;
  let first = max(c, params.before) - params.before;
  let last = min(c + params.after, params.channels - 1u);
  var squares = 0.0;
  for (var k = first; k <= last; k++) {
    let x = f32(source[index + k * params.inner - c * params.inner]);
    squares += x * x;
  }
  let divisor = power(params.bias + params.alpha * squares, params.beta);
  destination[index] = {{ element }}(divide(f32(source[index]), divisor));
}
