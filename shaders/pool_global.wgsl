// The maximum or the average of each channel.
// Bindings: 0 params; 1 x (channels, count); 2 y (channels).
// Grid: one workgroup of 256 a channel, folded into y; each invocation reduces every 256th element.
alias Element = {{ element }};
alias Index = {{ index }};

{% include 'lib/grid.wgsl' %}
{% include 'lib/math.wgsl' %}

struct Params {
  first: u32,     // first channel of this dispatch
  channels: u32,  // how many it holds
  count: Index,   // elements of a channel
  start: u32,     // bits of what a reduction starts from
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Element>;
@group(0) @binding(2) var<storage, read_write> y: array<Element>;

var<workgroup> partial: array<f32, 256>;

// A NaN beats every number.
fn join_max(a: f32, b: f32) -> f32 {
  return select(a, b, b > a || is_nan(b));
}

fn finish_max(value: f32) -> f32 {
  return value;
}

fn join_average(a: f32, b: f32) -> f32 {
  return a + b;
}

fn finish_average(value: f32) -> f32 {
  return value / f32(params.count);
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let channel = linear_index(group, groups, 0u, 1u);
  if (channel >= params.channels) {
    return;
  }
  let base = Index(params.first + channel) * params.count;
  var value = bitcast<f32>(params.start);
  // Four a turn: llvmpipe ends loops after 65,535 turns.
  let whole = params.count / 1024 * 1024;
  for (var i = Index(local); i < whole; i += 1024) {
    value = join_{{ mode }}(value, f32(x[base + i]));
    value = join_{{ mode }}(value, f32(x[base + i + 256]));
    value = join_{{ mode }}(value, f32(x[base + i + 512]));
    value = join_{{ mode }}(value, f32(x[base + i + 768]));
  }
  for (var i = whole + Index(local); i < params.count; i += 256) {
    value = join_{{ mode }}(value, f32(x[base + i]));
  }
  partial[local] = value;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
    if (local < half) {
      partial[local] = join_{{ mode }}(partial[local], partial[local + half]);
    }
    workgroupBarrier();
  }
  if (local == 0u) {
    y[params.first + channel] = Element(finish_{{ mode }}(partial[0]));
  }
}
